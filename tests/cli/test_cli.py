"""The command line: parse, call, print."""

import json

import pytest
from click.testing import CliRunner

from judgegraph.cli import main
from judgegraph.errors import printable
from judgegraph.graphs import llm_score
from judgegraph.prompts.criteria import criteria_set, known_sets
from judgegraph.registry import VARIANTS
from judgegraph.runs.evaluate import evaluate
from judgegraph.runs.item import nothing_judged

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
        "sageval", "coascore", "fennec", "fusion-eval", "g-eval", "llm-score", "judge-form", "trajectory", "find-fault",
        "checkeval", "mateval", "chateval", "bsm", "poll",
    ]  # fmt: skip
    assert [line.split()[0] for line in variants.splitlines()] == list(VARIANTS)


def test_every_list_comes_as_json_too():
    assert json.loads(call("methods", "--json").output)["sageval"]
    assert json.loads(call("criteria", "--json").output)["forms"]
    assert json.loads(call("criteria", "forms", "--json").output)["criteria"][0]["name"] == "Accuracy"


@pytest.mark.parametrize("name", known_sets())
def test_a_criteria_set_is_printed_as_a_file_that_reads_as_the_same_set(name, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(call("criteria", name).output)
    assert criteria_set(path) == criteria_set(name)


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
from judgegraph.types import EvalState, Note, Score, keyed

class State(EvalState, total=False):
    log: int

async def node(state: State):
    return {"scores": keyed(Score(criterion="C", agent="a", status="provider_error", reason="HTTP 500"))}

def graph(judge=None):
    assert judge is None, judge
    made = StateGraph(State)
    made.add_node("node", node)
    made.add_edge(START, "node")
    made.add_edge("node", END)
    return made.compile()
"""


SCORED = 'return {"scores": keyed(Score(criterion="C", agent="a", status="provider_error", reason="HTTP 500"))}'
NOTHING = {  # what the node does -> why nothing was judged
    SCORED: "no score or comparison has an answer that counts (2 provider error); the commonest reason (2): HTTP 500",
    SCORED.replace("status=", "stage='draft', status=").replace("keyed(", "keyed(Score(criterion='C', agent='b', "
        "status='unreadable'), "):
        "no score or comparison has an answer that counts (2 unreadable scores, 2 provider error drafts); the ",
    SCORED.replace("provider_error", "skipped"): "no score or comparison has an answer that counts (2 skipped)",
    SCORED.replace("provider_error", "abstained"): "no score or comparison has an answer that counts (2 abstained)",
    "return {}": "of all 2 samples the graph wrote nothing",
    "return None": "of all 2 samples the graph wrote nothing",
    'return {"notes": keyed(Note(agent="a", text="no criteria", status="skipped"))}':
        "the graph wrote notes, and no scores, comparisons, overall or verdict, which a run counts; "
        "note (2): a: no criteria",
    'return {"log": {"a": {}}}': "the graph wrote log (its own), and no scores, comparisons, overall or verdict",
    'raise ValueError("sample " + state["sample"].id)':
        "all 2 samples ended early (agent error): ValueError: sample s1",
    'return dict([("score", 4)])': "all 2 samples ended early (agent error): node 'node' wrote 'score', a key that",
    'return {} if state["sample"].id == "s1" else 1 / 0':
        "1 of 2 samples ended early (agent error): ZeroDivisionError: division by zero (node 'node'); of 1 of 2 ",
    'if state["sample"].id == "s1": raise KeyError("x")\n    raise ValueError("y")':
        "1 of 2 samples ended early (agent error): KeyError: 'x' (node 'node') (1 failed for other reasons)",
}  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("does", NOTHING, ids=range(len(NOTHING)))
@pytest.mark.parametrize("more", [(), ("--json",)], ids=["terminal", "json"])
def test_a_run_that_judged_nothing_has_failed_and_says_why(more, does, data, tmp_path):
    (tmp_path / "mine.py").write_text(MINE.replace(SCORED, does))
    done = call("run", f"{tmp_path}/mine.py:graph", data, *more)
    assert done.exit_code == 1
    (said,) = [line for line in done.stderr.splitlines() if line.startswith("nothing was judged")]
    assert said.startswith(f"nothing was judged: {NOTHING[does]}")
    if more:
        told = json.loads(done.stdout)
        assert (told["judged"], told["nothing_judged"]) == (0, said.removeprefix("nothing was judged: "))


@pytest.mark.parametrize("more", [(), ("--json",)], ids=["terminal", "json"])
def test_a_method_for_pairs_says_that_the_samples_have_no_rival(more, tmp_path):
    folder = tmp_path / "run"
    done = call("run", "fennec-pair", "examples/articles.jsonl", "-n", 2, "-c", "summary", "-o", folder, *more)
    assert done.exit_code == 1
    assert "(2 skipped); the commonest reason (2): the sample has no rival" in done.stderr
    assert call("report", folder, "-o", tmp_path / "page.html").exit_code == 0
    assert "the sample has no rival" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("rows", "why"),
    [('{"id": "s1"}\n', "the one row of the data was rejected: "),
     ('{"id": "s1"}\n{"id": "s2"}\n', "all 2 rows of the data were rejected; the first: ")],
    ids=["one rejected", "all rejected"],
)  # fmt: skip
def test_data_without_a_sample_is_told_as_such(rows, why, tmp_path):
    (tmp_path / "data.jsonl").write_text(rows)
    done = call("run", "llm-score", tmp_path / "data.jsonl", "--json")
    assert done.exit_code == 1
    assert why in done.stderr
    assert why in json.loads(done.stdout)["nothing_judged"]


def test_an_empty_file_and_no_samples_at_all_are_told(tmp_path):
    (tmp_path / "data.jsonl").write_text("")
    done = call("run", "llm-score", tmp_path / "data.jsonl")
    assert (done.exit_code, "holds no rows" in done.stderr) == (1, True)
    assert nothing_judged(evaluate(llm_score(), []).items) == "the data holds no samples"


@pytest.mark.parametrize("more", [(), ("--json",)], ids=["terminal", "json"])
def test_a_probe_whose_graph_fails_says_why(more, data, tmp_path):
    (tmp_path / "mine.py").write_text(MINE.replace(SCORED, 'raise ValueError("out of order")'))
    done = call("probe", f"{tmp_path}/mine.py:graph", data, *more)
    why = "all 8 samples ended early (agent error): ValueError: out of order"
    assert done.exit_code == 1
    assert f"nothing was judged: {why}" in done.stderr
    if more:
        told = json.loads(done.stdout)
        assert told["failures"][0] == {
            "status": "agent_error",
            "reason": "ValueError: out of order (node 'node')",
            "count": 8,
        }
        assert all(why in told[name]["note"] for name in ("swap", "padded") if name in told)
    else:
        assert "8 ended early (agent error): ValueError: out of order" in done.output


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
