"""The command line: parse, call, print."""

import json

import pytest
from click.testing import CliRunner

from judgegraph.cli import main
from judgegraph.cli.main import printable
from judgegraph.registry import VARIANTS

ROW = {"id": "s1", "query": "A form.", "output": {"title": "T", "questions": [{"text": "Why?"}]}}


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "forms.jsonl"
    path.write_text(json.dumps(ROW) + "\n" + json.dumps({**ROW, "id": "s2"}) + "\n")
    return path


def call(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))


def test_methods_are_listed_one_a_line():
    methods, _, variants = call("methods").output.partition("variants\n")
    assert [line.split()[0] for line in methods.splitlines()] == [
        "sageval", "coascore", "fennec", "fusion-eval", "g-eval", "llm-score",
    ]  # fmt: skip
    assert [line.split()[0] for line in variants.splitlines()] == list(VARIANTS)


def test_every_list_comes_as_json_too():
    assert json.loads(call("methods", "--json").output)["sageval"]
    assert json.loads(call("criteria", "--json").output)["forms"]
    assert json.loads(call("criteria", "forms", "--json").output)["criteria"][0]["name"] == "Accuracy"


def test_a_criteria_set_is_printed_as_a_judge_reads_it():
    assert "## Fairness\nScale: 1-5" in call("criteria", "forms").output


def test_a_graph_is_printed_as_mermaid():
    assert "evaluate --> critique;" in call("show", "sageval").output


def test_a_graph_comes_as_json_too():
    graph = json.loads(call("show", "sageval", "--json").output)
    assert {"source": "evaluate", "target": "critique"} in graph["edges"]
    assert {"evaluate", "critique", "rectify"} <= {node["id"] for node in graph["nodes"]}


def test_a_run_prints_scores_reasons_and_its_signature(data, tmp_path):
    done = call("run", "sageval", data, "--out", tmp_path / "run")
    assert done.exit_code == 0, done.output
    assert "Fairness" in done.output
    assert "sageval|v:" in done.output
    assert (tmp_path / "run/items.jsonl").read_text().count("\n") == 2


def test_a_run_as_json_is_one_object(data):
    done = call("run", "sageval", data, "--json", "--limit", 1)
    assert json.loads(done.stdout)["samples"] == {"ok": 1}


def test_rejected_rows_are_named_and_the_neighbours_scored(data):
    data.write_text(data.read_text() + '{"id": "s3"}\n')
    done = call("run", "sageval", data)
    assert "1 row rejected" in done.output
    assert "line 3" in done.output
    assert "output" in done.output
    assert "2 samples" in done.output


def test_strict_stops_before_anything_is_called(data, tmp_path):
    data.write_text(data.read_text() + '{"id": "s3"}\n')
    done = call("run", "sageval", data, "--strict", "--out", tmp_path / "run")
    assert done.exit_code == 1
    assert "line 3" in done.output
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "sagevall", "DATA"], "no method 'sagevall'"),
        (["run", "sageval", "DATA", "-s", "aspects=5"], "sageval has no setting aspects; known: "),
        (["run", "sageval", "DATA", "-c", "formz"], "formz"),
        (["run", "sageval", "DATA", "-j", "gpt-4"], "no judge 'gpt-4'"),
        (["run", "nowhere.py:graph", "DATA"], "no file nowhere.py"),
        (["show", "sageval", "-s", "each"], "KEY=VALUE"),
        (["run", "sageval", "DATA", "-o", ""], "it is empty; name a folder"),
        (["run", "sageval", "DATA", "--base-url", "http://localhost:1/v1"], "--judge openai:MODEL"),
        (["run", "sageval", "DATA", "-j", "embedded", "--base-url", "http://localhost:1/v1"], "--judge openai:MODEL"),
        (["run", "sageval", "DATA", "-j", "openai:m", "--base-url", "localhost:1/v1"], "starts with http://"),
        (["run", "sageval", "DATA", "-j", "openai:m", "--base-url", "http://"], "starts with http://"),
        (["run", "sageval", "DATA", "--timeout", "0"], "0.0 is not in the range"),
        (["run", "sageval", "DATA", "--timeout", "-5"], "-5.0 is not in the range"),
        (["run", "sageval", "DATA", "--timeout", "nan"], "nan is no finite number"),
        (["run", "sageval", "DATA", "--temperature", "nan"], "nan is no finite number"),
        (["run", "sageval", "DATA", "--temperature", "inf"], "inf is no finite number"),
        (["run", "sageval", "DATA", "--temperature", "-3"], "-3.0 is not in the range"),
    ],
)
def test_a_wrong_call_is_told_in_one_line_what_to_do(arguments, said, data):
    done = call(*[data if a == "DATA" else a for a in arguments])
    assert done.exit_code in (1, 2)
    assert said in done.output
    assert "Traceback" not in done.output


def test_a_row_without_an_output_is_told_how_to_name_its_column_here_and_in_python(data):
    data.write_text('{"id": "s1", "text": "t"}\n')
    done = call("run", "sageval", data, "--strict")
    assert "map it: fields={'output': COLUMN}, or -f output=COLUMN" in done.output


@pytest.mark.parametrize(
    ("name", "content", "arguments"),
    [("d.jsonl", "", ()), ("d.jsonl", None, ("-j", "gpt-4")), ("d.jsonl", None, ("-j", "openai:m"))],
    ids=["no rows", "no such judge", "no key"],
)
def test_a_run_that_failed_before_it_began_can_be_called_again(name, content, arguments, data, tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    wrong = data if content is None else tmp_path / "wrong.jsonl"
    wrong.write_text(data.read_text() if content is None else content)
    assert call("run", "sageval", wrong, "-o", tmp_path / "run", *arguments).exit_code == 1
    assert call("run", "sageval", data, "-o", tmp_path / "run").exit_code == 0


MINE = """
from langgraph.graph import END, START, StateGraph
from judgegraph.types import EvalState, Score, keyed

async def node(state: EvalState) -> EvalState:
    return {"scores": keyed(Score(criterion="C", agent="a", status="provider_error", reason="HTTP 500"))}

def graph(judge=None):
    assert judge is None, judge
    made = StateGraph(EvalState)
    made.add_node("node", node)
    made.add_edge(START, "node")
    made.add_edge("node", END)
    return made.compile()
"""


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_run_that_judged_nothing_has_failed(more, data, tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    done = call("run", f"{tmp_path}/mine.py:graph", data, *more)
    assert done.exit_code == 1
    assert done.stderr.splitlines()[-1] == "nothing was judged: no score and no comparison could be read"
    if more:
        assert json.loads(done.stdout)["judged"] == 0


def test_a_method_of_ones_own_is_named_by_file_and_function(data, tmp_path):
    (tmp_path / "mine.py").write_text(
        "from judgegraph.graphs import sageval\n\ndef fair(judge='embedded'):\n"
        "    return sageval(judge, criteria='general')\n"
    )
    done = call("run", f"{tmp_path}/mine.py:fair", data, "--limit", 1)
    assert done.exit_code == 0, done.output
    assert "Helpfulness" in done.output


def test_nothing_printed_can_drive_a_terminal():
    shown = printable("a\x1b[31mred\x07\x9b\u202eevil\nnext")
    assert "\x1b" not in shown
    assert not {"\x07", "\x9b", "\u202e"} & set(shown)
    assert shown.endswith("evil\nnext")
