"""Evaluation steps that a model writes: once for a criterion, shown to the judge, kept in a set of another digest."""

import json

import pytest
from click.testing import CliRunner

import judgegraph as jg
from judgegraph.agents.steps import StepsWriter, with_steps
from judgegraph.cli import main
from judgegraph.graphs import g_eval
from judgegraph.prompts.criteria import criteria_set
from judgegraph.prompts.template import criterion_text, known, load
from judgegraph.testing import scripted
from judgegraph.types import Criterion, Sample

BARE = Criterion(name="Clarity", definition="One reading is enough.")
READY = Criterion(name="Brevity", definition="Nothing is said twice.", steps=("Count what is said twice.", "Choose."))
SAMPLES = [Sample(id=str(n), output=f"The library opens at nine, from Monday to Friday, week {n}.") for n in range(3)]
WRITTEN = {"steps": ["1. Read it once.", "Mark what had to be read twice.", "- Choose: 5 where nothing had to be."]}


async def test_missing_steps_are_written_and_given_ones_stay():
    judge = scripted(WRITTEN)
    found = await StepsWriter(judge=judge, criteria=(BARE, READY))({})
    assert [c.steps for c in found["criteria"]] == [
        ("Read it once.", "Mark what had to be read twice.", "Choose: 5 where nothing had to be."), READY.steps,
    ]  # fmt: skip
    assert len(judge.calls) == 1


async def test_all_are_written_anew_and_the_old_ones_are_not_shown():
    judge = scripted(WRITTEN)
    (found,) = (await StepsWriter(judge=judge, criteria=(READY,), which="all")({}))["criteria"]
    assert found.steps != READY.steps
    assert "said twice." in judge.calls[0][1].content  # its definition
    assert "Count what" not in judge.calls[0][1].content


@pytest.mark.parametrize(
    "reply", ["no form at all", {"steps": []}, {"steps": ["one"]}, {"steps": [str(n) for n in range(40)]}]
)
async def test_a_reply_without_usable_steps_leaves_the_criterion_and_says_so(reply):
    found = await StepsWriter(judge=scripted(*[reply] * 9), criteria=(BARE,))({})
    assert found["criteria"] == [BARE]
    (note,) = found["notes"].values()
    assert (note.kind, note.status) == ("steps-failed", "unreadable")
    assert note.text.startswith("Clarity: no steps were written, it is judged without steps: ")


def test_a_run_pays_for_the_steps_of_a_criterion_once_and_the_judge_sees_them():
    run = jg.evaluate(g_eval(criteria=[BARE, READY], steps="all"), SAMPLES)
    bills = {name: node["calls"] for name, node in run.manifest["calls"]["by_node"].items()}
    assert bills == {"steps": 2, "score": 6}
    assert "|steps:all|" in run.signature
    assert "steps:" not in jg.evaluate(g_eval(criteria=[BARE]), SAMPLES[:1]).signature


async def test_a_set_with_steps_is_another_set_and_reads_back_as_it_is(tmp_path):
    chosen = criteria_set([BARE, READY])
    made, failed = await with_steps(chosen)
    assert not failed
    assert made.digest != chosen.digest
    shown = CliRunner().invoke(main, ["criteria", "summary", "--steps", "all"])
    assert shown.exit_code == 0, shown.output
    assert "steps written of 4 of 4 criteria" in shown.stderr
    (tmp_path / "mine.yaml").write_text(shown.stdout)
    assert criteria_set(tmp_path / "mine.yaml").digest in shown.stderr
    again = CliRunner().invoke(main, ["criteria", str(tmp_path / "mine.yaml"), "--steps", "missing", "--json"])
    assert "is as it was" in again.stderr
    assert [c["steps"] for c in json.loads(again.stdout)["criteria"]]


def test_a_criterion_without_steps_is_never_told_to_follow_any():
    assert "Steps" not in criterion_text(BARE)
    assert "Steps, in this order:\n1. Count" in criterion_text(READY)
    for name in known():
        text = "\n".join(part for _, part in load(name).parts)
        assert not any(said in text for said in ("its steps", "the steps in", "follow the steps")), name
