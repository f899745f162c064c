"""The command line: parse, call, print."""

import json

import pytest
from click.testing import CliRunner

from judgegraph.cli import main
from judgegraph.cli.main import printable

ROW = {"id": "s1", "query": "A form.", "output": {"title": "T", "questions": [{"text": "Why?"}]}}


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "forms.jsonl"
    path.write_text(json.dumps(ROW) + "\n" + json.dumps({**ROW, "id": "s2"}) + "\n")
    return path


def call(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))


def test_methods_are_listed_one_a_line():
    lines = call("methods").output.splitlines()
    assert [line.split()[0] for line in lines] == [
        "sageval", "coascore", "fennec", "fusion-eval", "g-eval", "llm-score",
    ]  # fmt: skip


def test_every_list_comes_as_json_too():
    assert json.loads(call("methods", "--json").output)["sageval"]
    assert json.loads(call("criteria", "--json").output)["forms"]
    assert json.loads(call("criteria", "forms", "--json").output)["criteria"][0]["name"] == "Accuracy"


def test_a_criteria_set_is_printed_as_a_judge_reads_it():
    assert "## Fairness\nScale: 1-5" in call("criteria", "forms").output


def test_a_graph_is_printed_as_mermaid():
    assert "evaluate --> critique;" in call("show", "sageval").output


def test_a_run_prints_scores_reasons_and_its_signature(data, tmp_path):
    done = call("run", "sageval", data, "--out", tmp_path / "run")
    assert done.exit_code == 0, done.output
    assert "Fairness" in done.output
    assert "sageval|v:" in done.output
    assert (tmp_path / "run/items.jsonl").read_text().count("\n") == 2


def test_a_run_as_json_is_one_object(data):
    done = call("run", "sageval", data, "--json", "--limit", 1)
    assert json.loads(done.output)["samples"] == {"ok": 1}


def test_rejected_rows_are_named_and_the_neighbours_scored(data):
    data.write_text(data.read_text() + '{"id": "s3"}\n')
    done = call("run", "sageval", data)
    assert "1 rows rejected" in done.output
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
    ],
)
def test_a_wrong_call_is_told_in_one_line_what_to_do(arguments, said, data):
    done = call(*[data if a == "DATA" else a for a in arguments])
    assert done.exit_code in (1, 2)
    assert said in done.output
    assert "Traceback" not in done.output


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
