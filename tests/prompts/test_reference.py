"""A sample's reference: in a section of its own wherever the output is judged, in none where it is left out."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from langgraph.graph import END, START, StateGraph

import judgegraph as jg
from judgegraph.agents.evaluator import Evaluator
from judgegraph.cli import main
from judgegraph.cli.options import graph_of
from judgegraph.prompts.template import COMPARED, HERE, JUDGED, load, watched
from judgegraph.types import EvalState

REFERENCE = "At nine, says the sign on the door."
SAMPLE = jg.Sample(
    id="a", query="When does it open?", source="The library opens at nine.", rival="It is open from nine.",
    output="The library opens at nine every day, and closes at six; on Sundays nobody is there.", reference=REFERENCE,
)  # fmt: skip
METHODS = (
    "sageval", "sageval-sr", "coascore", "coascore-no-scores", "fennec", "fennec-apart", "fusion-eval", "g-eval",
    "llm-score",
)  # fmt: skip


def rendered(method, sample, **settings):
    """(run, [(prompt's name, field -> text)]) of one sample."""
    seen = []
    token = watched.set(lambda prompt, texts: seen.append((prompt.name, dict(texts))))
    try:
        return jg.evaluate(graph_of(method, criteria=None, judge="embedded", settings=()), [sample], **settings), seen
    finally:
        watched.reset(token)


@pytest.mark.parametrize("method", METHODS)
def test_it_is_shown_wherever_the_output_is_judged_and_nowhere_once_it_is_left_out(method):
    run, seen = rendered(method, SAMPLE)
    judging = [(name, texts) for name, texts in seen if (JUDGED - {"response"}) & texts.keys()]
    assert judging
    for name, texts in judging:
        assert texts["reference"] == f"{COMPARED}\n\n{REFERENCE}", name
    assert "reference:" not in run.signature
    bare, seen = rendered(method, SAMPLE, reference=False)
    assert not any(REFERENCE in text for _, texts in seen for text in texts.values())
    assert "|reference:left-out" in bare.signature
    assert (
        next(iter(bare.items)).sample.reference == REFERENCE
    )  # kept, so that both runs can be held against each other


def test_every_template_that_shows_the_output_has_a_place_for_it():
    shows = {path.stem for path in HERE.glob("*.md") if {"output", "source"} <= load(path.stem).fields}
    assert {name for name in shows if "reference" not in load(name).fields} == set()
    assert "reference" not in load("correct").fields  # a corrector would copy it


def test_a_prompt_without_a_reference_is_as_it_was():
    values = {"task": "t", "criteria": "c", "query": "q", "source": "", "output": "o", "reference": ""}
    texts = [text for _, text in load("evaluate").render(**values).messages]
    assert not any("reference" in text for text in texts)


def test_a_template_of_ones_own_may_leave_it_out_and_the_run_says_so(tmp_path: Path):
    mine = tmp_path / "mine.md"
    mine.write_text((HERE / "evaluate.md").read_text().replace("<reference?>$reference</reference>\n\n", ""))
    made = StateGraph(EvalState)
    made.add_node("evaluate", Evaluator(criteria=jg.criteria_set("summary").criteria, prompt=str(mine)))
    made.add_edge(START, "evaluate")
    made.add_edge("evaluate", END)
    graph, other = made.compile(), SAMPLE.without_reference()
    assert list(jg.evaluate(graph, [SAMPLE]).manifest["calls"]["unshown"]) == [f"$reference in {mine}"]
    assert "unshown" not in jg.evaluate(graph, [other]).manifest["calls"]


def test_the_command_says_what_was_left_out(tmp_path: Path):
    data, out = tmp_path / "data.jsonl", tmp_path / "run"
    data.write_text(SAMPLE.model_dump_json() + "\n")
    words = ["run", "llm-score", str(data), "-c", "summary", "-o", str(out)]
    told = CliRunner().invoke(main, [*words, "--no-reference"])
    assert told.exit_code == 0, told.output
    assert "reference:left-out" in json.loads((out / "manifest.json").read_text())["signature"]
    again = CliRunner().invoke(main, words)  # not the same run
    assert again.exit_code == 1
    assert "reference: left out -> not there" in again.output
    plan = ["plan", "llm-score", str(data), "--json"]
    planned = [CliRunner().invoke(main, [*plan, *more]) for more in ([], ["--no-reference"])]
    shown, left_out = (json.loads(one.stdout)["total"]["to_pay"]["lowest"]["prompt_tokens"] for one in planned)
    assert shown > left_out


def test_no_reference_and_a_blank_one_are_shown_to_nobody():
    assert jg.Sample(id="1", output="x", reference=[]).reference is None
    blank = jg.Sample(id="1", output="x", reference=["At nine.", " "])
    assert blank.shown_evidence()["references"] == "At nine."
    assert "reference" not in jg.Sample(id="1", output="x", references=["", " "]).shown_evidence()
