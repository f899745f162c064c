"""`judgegraph show`: a graph as Mermaid, text, a picture or JSON."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

import judgegraph as jg
from judgegraph.cli import main
from judgegraph.graphs import g_eval

HOSTILE = """
from langgraph.graph import END, START, StateGraph
import judgegraph as jg

async def nothing(state: jg.EvalState) -> jg.EvalState:
    return {}

def mine():
    g = StateGraph(jg.EvalState)
    g.add_node("red\\x1b[31m\\u202e<script>", nothing)
    g.add_edge(START, "red\\x1b[31m\\u202e<script>")
    g.add_edge("red\\x1b[31m\\u202e<script>", END)
    return g.compile(name="evil\\x1b]0;title\\x07")
"""


def call(*arguments: object) -> Result:
    return CliRunner().invoke(main, list(map(str, arguments)))


def test_mermaid_is_what_is_printed_unless_told_otherwise():
    assert call("show", "sageval").output == call("show", "sageval", "--as", "mermaid").output
    assert "evaluate --> critique;" in call("show", "sageval").output


def test_no_line_of_mermaid_is_spoilt_on_the_terminal():
    said = call("show", "fennec").output
    assert not {"\t", "\ufffd"} & set(said)
    assert "    branch(branch)" in said.splitlines()


def test_text_has_a_line_per_node():
    assert call("show", "sageval", "--as", "text").output.splitlines() == [
        "sageval", "  START -> evaluate", "  evaluate -> critique", "  critique -> rectify", "  rectify -> END",
    ]  # fmt: skip


def test_a_picture_is_printed_as_svg():
    root = ElementTree.fromstring(call("show", "fennec", "--as", "svg").output)
    assert root.tag.endswith("svg")


def test_settings_change_what_is_drawn():
    assert "correct ->" not in call("show", "fennec", "-s", "correct=off", "--as", "text").output


@pytest.mark.parametrize(
    ("file", "form", "begins"),
    [
        ("g.svg", (), "<svg"), ("g.SVG", (), "<svg"), ("g.png", ("--as", "svg"), "<svg"),
        ("g.txt", (), "sageval\n"), ("g.mmd", (), "---"), ("g", (), "---"),
        ("g.md", ("--as", "text"), "sageval\n"), ("g.json", ("--json",), "{"),
    ],
)  # fmt: skip
def test_a_file_gets_the_form_of_its_suffix_or_the_one_that_is_named(
    file: str, form: tuple[str, ...], begins: str, tmp_path: Path
):
    path = tmp_path / file
    path.write_text("of yesterday")
    done = call("show", "sageval", *form, "-o", path)
    assert done.output == f"{path}: written\n"
    assert path.read_text(encoding="utf-8").startswith(begins)


def test_a_file_that_cannot_be_written_is_said(tmp_path: Path):
    done = call("show", "sageval", "-o", tmp_path / "none\x1b[2J" / "g.svg")
    assert done.exit_code == 1
    assert "cannot be written: No such file or directory" in done.output
    assert "\x1b" not in done.output


@pytest.mark.parametrize("name", ["g.png", "g.html", "g.md"])
def test_a_suffix_that_names_no_form_is_refused(name: str, tmp_path: Path):
    done = call("show", "sageval", "-o", tmp_path / name)
    assert (done.exit_code, (tmp_path / name).exists()) == (2, False)
    assert ".svg, .mmd, .txt" in done.output


@pytest.mark.parametrize("name", ["run/manifest.json", "run/items.jsonl", "link.svg"])
def test_a_file_of_a_run_is_not_written_over(name: str, tmp_path: Path):
    sample = jg.Sample(id="s", query="q", output="o")
    jg.evaluate(g_eval(criteria="general"), [sample], out=tmp_path / "run")
    (tmp_path / "link.svg").symlink_to("run/items.jsonl")
    before = (tmp_path / name).read_bytes()
    done = call("show", "sageval", "--as", "svg", "-o", tmp_path / name)
    assert (done.exit_code, "is a file of a run" in done.output) == (1, True)
    assert (tmp_path / name).read_bytes() == before


def test_two_forms_at_once_are_refused():
    done = call("show", "sageval", "--json", "--as", "svg")
    assert done.exit_code == 2
    assert "give one" in done.output


@pytest.mark.parametrize("form", [(), ("--as", "text"), ("--as", "svg"), ("--json",)])
def test_a_hostile_graph_never_drives_the_terminal(form: tuple[str, ...], tmp_path: Path):
    path = tmp_path / "mine.py"
    path.write_text(HOSTILE)
    done = call("show", f"{path}:mine", *form)
    assert done.exit_code == 0, done.output
    assert "red" in done.output
    assert not {c for c in done.output if c != "\n" and (not c.isprintable() or c in "\u202e\u2066")}


def test_json_gives_nodes_and_edges():
    graph: dict[str, Any] = json.loads(call("show", "sageval", "--json").output)
    assert {"source": "evaluate", "target": "critique"} in graph["edges"]
