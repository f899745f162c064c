"""`judgegraph plan` on the command line."""

import html
import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import judgegraph as jg
from judgegraph.cli import main
from judgegraph.graphs import llm_score
from judgegraph.views.plan import AT_WORST


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    rows = [{"id": f"p{i}", "query": f"q{i}", "output": f"one {i}", "rival": f"two {i}"} for i in range(6)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def planned(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["plan", *map(str, arguments)])


def test_a_plan_prints_a_line_per_node_the_sum_and_what_it_rests_on(data: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    before = set(data.parent.iterdir())
    result = planned("fennec", data, "-j", "openai:gpt-4.1-mini", "-s", "branches=2")
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0] == "plan for 6 samples"
    assert lines[1].startswith("to pay: "), "the sum stands first"
    head = next(at for at, line in enumerate(lines) if line.startswith("node "))
    assert lines[head].split() == [
        "node",
        "exact",
        "more",
        "at",
        "worst",
        "in",
        "ledger",
        "tokens",
        "to",
        "pay",
        "cost",
    ]
    rows = {line.split()[0]: line.split()[1:] for line in lines[head + 1 : head + 6]}
    assert list(rows) == ["branch", "weigh/guide", "weigh/compare", "correct", "all"]
    assert rows["branch"][:2] == ["6", "0"]
    assert rows["weigh/guide"][:2] == ["0", "6\u201312"]
    assert "to pay: 18\u201342 calls (6 of the exact ones and 12\u201336 more)" in result.output
    flat = result.output.replace(" \n", " ").replace("\n", " ")
    assert "more: lowest\u2013highest beside these when every reply can be read" in flat
    assert "at worst: instead of more, if each reply can be read only at the last of its asks (3 unless set)" in flat
    assert "Tokens of replies: 256 for each choice, an assumption" in result.output
    assert "are no calls" in result.output.replace("\n", " ")
    assert set(data.parent.iterdir()) == before, "nothing is written"


def test_what_the_worst_means_is_told_only_where_there_is_one_and_in_a_notebook_too(data: Path):
    for asks in (1, 3):
        judge = jg.Endpoint(model="openai:x", asks=asks, base_url="http://localhost:1/v1")
        plan = jg.plan(llm_score(judge=judge, criteria="summary"), jg.load(data))
        assert plan.total.exact + plan.total.rest[2] == asks * plan.total.exact
        assert (AT_WORST in html.unescape(plan._repr_html_())) == (asks > 1)


def test_that_a_judge_thinks_is_told_where_its_tokens_are_assumed(data: Path):
    for judge, thinks in (("openai:o3", True), ("openai:gpt-4o", False)):
        asked = planned("llm-score", data, "-j", judge, "--base-url", "http://localhost:1/v1", "-c", "summary")
        assert ("thinks before it answers" in asked.output.replace("\n", " ")) is thinks


def test_an_unknown_price_leaves_tokens_only(data: Path):
    result = planned("llm-score", data, "-j", "openai:mine", "--base-url", "http://localhost:1/v1", "-c", "summary")
    assert result.exit_code == 0, result.output
    assert "No price is known for openai:mine" in result.output
    assert "cost" not in result.output.splitlines()[1]
    assert "Prices as of" not in result.output


def test_prices_and_settings_are_those_of_a_run(data: Path, tmp_path: Path):
    prices = tmp_path / "p.yaml"
    prices.write_text('prices:\n  "openai:mine": {prompt: 1000000, completion: 0}\n')
    given = ("-j", "openai:mine", "-n", 2, "--prices", prices, "--json", "-c", "summary")
    found = json.loads(planned("llm-score", data, *given).output)
    pay = found["total"]["to_pay"]["lowest"]
    assert found["samples"] == 2
    assert pay["calls"] == 8
    assert pay["usd"] == pay["prompt_tokens"]


@pytest.mark.parametrize("option", ["--ledger", "--out"])
def test_a_pilot_is_kept_for_the_run(option: str, data: Path, tmp_path: Path):
    refused = planned("fennec", data, "--pilot", 2)
    assert refused.exit_code == 2
    assert "--pilot pays for its calls: name --ledger FILE or --out FOLDER" in refused.output
    place = tmp_path / ("calls.sqlite" if option == "--ledger" else "run")
    first = planned("fennec", data, "--pilot", 2, option, place)
    assert first.exit_code == 0, first.output
    assert "pilot of 2 samples (2 ok): paid " in first.output
    assert "projected for the 4 samples left: " in first.output
    run = CliRunner().invoke(main, ["run", "fennec", str(data), option, str(place)])
    assert run.exit_code == 0, run.output
    after = json.loads(planned("fennec", data, option, place, "--json").output)
    assert after["total"]["exact_missing"] == 0
    assert after["total"]["rest"] == {"lowest": 0, "readable": 0, "highest": 0}
    assert after["total"]["in_ledger"] == after["total"]["exact"]
    assert (after["samples"], after["finished"]) == ((6, 0) if option == "--ledger" else (0, 6))


def test_a_ledger_that_is_only_looked_into_is_not_made(data: Path, tmp_path: Path):
    result = planned("fennec", data, "-o", tmp_path / "run", "--ledger", tmp_path / "l.sqlite")
    assert result.exit_code == 0, result.output
    assert sorted(os.listdir(tmp_path)) == ["pairs.jsonl"]


FAILING = """
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict
import judgegraph as jg
class State(TypedDict, total=False):
    sample: jg.Sample
def broken(state: State) -> State:
    raise RuntimeError("needs the real thing")
def make():
    graph = StateGraph(State)
    graph.add_node("broken", broken)
    graph.add_edge(START, "broken")
    graph.add_edge("broken", END)
    return graph
"""


def test_a_graph_that_fails_is_told_without_a_traceback(data: Path, tmp_path: Path):
    graph = tmp_path / "mine.py"
    graph.write_text(FAILING)
    result = planned(f"{graph}:make", data)
    assert result.exit_code == 1
    said = result.output.replace("\n", " ")
    assert "incomplete: for 6 samples the graph failed with invented replies" in said
    assert "node 'broken', sample 'p0' and 5 more: RuntimeError: needs the real thing" in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("nothing",), 1, "no method 'nothing'"),
        (("fennec", "-j", "gpt"), 1, "no judge 'gpt'"),
        (("fennec", "--base-url", "http://x/v1"), 2, "give it too, as --judge openai:MODEL"),
        (("fennec", "--pilot", "0"), 2, "--pilot"),
        (("fennec", "-s", "branches=0"), 1, "a whole number from 1 to 50"),
    ],
    ids=lambda x: "" if isinstance(x, int | str) else " ".join(x),
)
def test_a_mistake_is_told_in_a_line(arguments: tuple[str, ...], code: int, said: str, data: Path):
    method, *options = arguments
    result = planned(method, data, *options)
    assert result.exit_code == code, result.output
    assert said in result.output
    assert "Traceback" not in result.output


def test_a_price_is_told_with_its_sum(data: Path, tmp_path: Path):
    prices = tmp_path / "p.yaml"
    prices.write_text('prices:\n  "openai:mine": {prompt: 0, completion: 1000}\n')
    result = planned("llm-score", data, "-j", "openai:mine", "-n", 2, "--prices", prices, "-c", "summary")
    assert result.exit_code == 0, result.output
    assert "tokens, $2.05\n" in result.output, "8 calls of 256 tokens for 1,000 USD a million"
    head, row = result.output[result.output.index("\nnode ") + 1 :].splitlines()[:2]
    assert (head.split()[-1], row.split()[-1]) == ("cost", "$2.05")
    assert "Prices as of" in result.output


def test_what_is_free_is_told_without_money(data: Path, tmp_path: Path):
    result = planned("llm-score", data, "-n", 2, "--pilot", 1, "--ledger", tmp_path / "l.sqlite")
    assert result.exit_code == 0, result.output
    assert "$" not in result.output
    assert "Prices as of" not in result.output
    assert "projected for the 1 sample left: 4 calls, " in result.output, "one sample has no interval"
    assert "95 %" not in result.output


def test_bad_rows_are_named_and_are_all_there_is_to_say_where_no_row_is_good(data: Path):
    good = data.read_text()
    data.write_text(good + '{"id": "x"}\n' * 7)
    some = planned("llm-score", data)
    assert some.exit_code == 0
    assert "7 rows of the data left out:" in some.output
    assert f"{data},line7,id'x',fieldoutput:" in "".join(some.output.split())
    assert "and 6 more for this reason: line 8, 9, 10, 11, 12, 13" in " ".join(some.output.split())
    data.write_text('{"id": "x"}\n{"id": "y"}\n')
    none = planned("llm-score", data)
    assert none.exit_code == 1
    assert f"{data}, line 1, id 'x', field output: " in none.output
    assert "all 2 rows are bad" in none.output
    assert "plan for" not in none.output


def test_what_a_folder_has_finished_is_left_out(data: Path, tmp_path: Path):
    out = tmp_path / "run"
    run = CliRunner().invoke(main, ["run", "llm-score", str(data), "-n", "4", "-o", str(out)])
    assert run.exit_code == 0, run.output
    before = {path: path.read_bytes() for path in out.iterdir()}
    result = planned("llm-score", data, "-o", out)
    assert result.exit_code == 0, result.output
    assert result.output.startswith("plan for 2 samples\n4 samples are finished in ")
    assert {path: path.read_bytes() for path in out.iterdir()} == before
    (out / "ledger.sqlite").unlink()
    assert "to pay: 8 calls" in planned("llm-score", data, "-o", out).output, "a run would make no more"
    other = planned("llm-score", data, "-o", out, "-c", "dialogue")
    assert other.exit_code == 1
    assert "holds a run of another configuration" in other.output


def test_a_pilot_without_a_key_makes_no_folder(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    result = planned("fennec", data, "-j", "openai:gpt-4.1-mini", "--pilot", 2, "-o", tmp_path / "new")
    assert result.exit_code == 1
    assert "OPENAI_API_KEY" in result.output
    assert not (tmp_path / "new").exists()


def test_a_pilot_on_a_failing_server_is_no_success(site: Any, tmp_path: Path):
    failing = site("400")
    options = ("-j", "openai:stub", "--base-url", failing.url, "--pilot", 3, "--ledger", tmp_path / "l.sqlite")
    result = planned("llm-score", failing.data, *options)
    assert result.exit_code == 1
    assert "pilot of 3 samples (3 provider error): paid 0 calls" in result.output
    assert "no score could be read: provider error: " in result.output
    assert "projected" not in result.output


def test_a_pilot_has_the_brakes_of_a_run(site: Any, tmp_path: Path):
    fine = site("ok")
    options = ("-j", "openai:stub", "--base-url", fine.url, "--pilot", 5, "--ledger", tmp_path / "l.sqlite")
    result = planned("llm-score", fine.data, *options, "--budget-calls", 8, "--concurrency", 1)
    assert result.exit_code == 3, result.output
    assert fine.count == 8
    said = result.output.replace(" \n", " ")
    assert "2 ok" in said
    assert "3 over the budget" in said
    assert "stopped by the budget" in said
    assert "projected for the 1 sample left: 4 calls" in said, "by the two that had all their replies"
    for option in (("--timeout", "0.000001"), ("--rpm", "0"), ("--tpm", "x")):
        assert planned("llm-score", fine.data, *options, *option).exit_code in (1, 2)
    assert fine.count == 8


def test_a_plan_says_where_the_run_would_go_over_its_budget(data: Path):
    calls = planned("llm-score", data, "-c", "summary", "--budget-calls", 3, "--json")
    assert calls.exit_code == 0
    assert json.loads(calls.stdout)["basis"][0] == (
        "Over the budget of 3 calls: the samples take 24 calls at least, so the run ends before all are judged."
    )
    printed = planned("llm-score", data, "-c", "summary", "--budget-calls", 3).stdout
    assert printed.index("Over the budget of 3 calls") < printed.index("\nnode ") < printed.index("Tokens of prompts")
    for cap, told in ((1000, "at least"), (10**9, "")):
        basis = json.loads(planned("llm-score", data, "-c", "summary", "--budget-tokens", cap, "--json").stdout)[
            "basis"
        ]
        assert ("Over the budget" in basis[0], told in basis[0]) == (bool(told), True)
