"""SAGEval: draft and final side by side, and what the critic may and may not do."""

import json
import sys

import pytest
from drawing import arrows, figure
from langgraph.graph import END, START, StateGraph

from judgegraph.calls import Endpoint
from judgegraph.graphs import sageval as factory
from judgegraph.graphs.sageval import builder
from judgegraph.testing import scripted
from judgegraph.types import Criterion, EvalState, Rectification, Sample, Scale

MODULE = sys.modules["judgegraph.graphs.sageval"]
SAMPLE = Sample(id="s1", query="A survey on lunch.", output={"title": "Lunch", "questions": [{"text": "Hungry?"}]})
CLARITY = Criterion(name="Clarity", definition="One reading only.")
TONE = Criterion(name="Tone", scale=Scale(labels=("warm", "cold")))
DRAFT = {"clarity": {"reason": "fine", "score": 4}, "tone": {"reason": "kind words", "label": "warm"}}
NEW = [{"name": f"New {i}", "definition": "d", "reason": "r"} for i in range(5)]


def review(score=4, verdict="keep", label="warm", tone="keep", **lists):
    said = {
        "clarity": {"reason": "looked again", "verdict": verdict, "score": score},
        "tone": {"reason": "looked again", "verdict": tone, "label": label},
    }
    return {"rectifications": said, "definitions": [], "new_criteria": [], **lists}


async def finals(*replies, criteria=(CLARITY, TONE), **settings):
    state = await factory(scripted(*replies), criteria=criteria, samples=1, **settings).ainvoke({"sample": SAMPLE})
    return state, {s.criterion: s for s in state["scores"].values() if s.stage == "final"}


@pytest.mark.parametrize(
    ("critique", "final", "action", "direction"),
    [
        (review(), 4.0, "keep", "none"),
        (review(2, "lower"), 2.0, "change", "down"),
        (review(5, "raise"), 5.0, "change", "up"),
        (review(2, "keep"), 4.0, "keep", "none"),
        (review(5, "lower"), 4.0, "keep", "none"),
        (review(None, "lower"), 4.0, "keep", "none"),
    ],
    ids=["kept", "lowered", "raised", "a kept score ignores the value", "a value against its verdict", "no value"],
)
async def test_a_score_moves_only_where_verdict_and_value_agree(critique, final, action, direction):
    state, scores = await finals(DRAFT, critique)
    said = state["rectifications"]["Clarity/sage"]
    assert (scores["Clarity"].value, said.action, said.direction) == (final, action, direction)
    assert state["scores"]["Clarity/evaluator/draft/0"].value == 4.0


async def test_a_label_is_changed_for_another_label_of_its_scale():
    state, scores = await finals(DRAFT, review(label="cold", tone="change"))
    assert (scores["Tone"].label, state["scores"]["Tone/evaluator/draft/0"].label) == ("cold", "warm")


async def test_a_rectified_score_stays_on_its_scale():
    off = review(9, "raise")
    _, scores = await finals(DRAFT, off, off, off)
    assert (scores["Clarity"].status, scores["Clarity"].value) == ("unreadable", None)
    assert scores["Tone"].label == "warm"


async def test_advice_changes_no_score_of_the_same_run():
    edits = [{"criterion": "Clarity", "definition": "better", "reason": "r"}]
    plain, without = await finals(DRAFT, review(3, "lower"))
    advised, with_advice = await finals(DRAFT, review(3, "lower", definitions=edits, new_criteria=NEW))
    assert without == with_advice
    assert plain["suggestions"] == []
    kinds = [(s.kind, s.criterion) for s in advised["suggestions"]]
    assert kinds == [("definition", "Clarity"), ("criterion", "New 0"), ("criterion", "New 1"), ("criterion", "New 2")]


@pytest.mark.parametrize(
    "advice",
    [
        {"definitions": [{"criterion": "Unknown", "definition": "d", "reason": ""}]},
        {"new_criteria": [{"name": "Clarity", "definition": "d", "reason": ""}]},
        {"new_criteria": "none", "definitions": None},
        {"new_criteria": [{"name": "", "definition": "d"}, {"name": "x"}, 7]},
    ],
    ids=["a change of an unknown criterion", "a new one that exists", "no lists", "malformed entries"],
)
async def test_advice_that_makes_no_sense_is_left_out(advice):
    state, _ = await finals(DRAFT, review(**advice))
    assert state["suggestions"] == []


async def test_a_critic_that_fails_leaves_the_draft_and_no_final_score():
    state, scores = await finals(DRAFT, *["I would rather not."] * 3)
    assert {s.status for s in scores.values()} == {"unreadable"}
    assert state["scores"]["Clarity/evaluator/draft/0"].status == "ok"


async def test_a_draft_that_could_not_be_read_gets_no_score_from_the_critic():
    broken = {"clarity": {"reason": "?", "score": 17}, "tone": DRAFT["tone"]}
    _, scores = await finals(broken, broken, broken, review(5, "raise"))
    assert (scores["Clarity"].status, scores["Clarity"].value, scores["Tone"].label) == ("unreadable", None, "warm")


async def test_an_abstention_is_kept():
    _, scores = await finals({**DRAFT, "clarity": {"reason": "nothing to read", "score": None}}, review(3, "lower"))
    assert (scores["Clarity"].status, scores["Clarity"].reason) == ("abstained", "nothing to read")


async def test_three_calls_see_the_same_and_do_one_duty_each():
    full = review(2, "lower", new_criteria=NEW[:1])
    judge = scripted(DRAFT, *({part: full[part]} for part in ("rectifications", "definitions", "new_criteria")))
    state = await factory(judge, criteria=(CLARITY, TONE), samples=1, critic_calls="three").ainvoke({"sample": SAMPLE})
    assert state["scores"]["Clarity/sage/final/0"].value == 2.0
    assert [s.criterion for s in state["suggestions"]] == ["New 0"]
    asked = [set(kw["response_format"]["json_schema"]["schema"]["properties"]) for kw in judge.asked[1:]]
    assert asked == [{"rectifications"}, {"definitions"}, {"new_criteria"}]


async def test_one_call_per_criterion_scores_the_same_criteria():
    judge = scripted({"clarity": DRAFT["clarity"]}, {"tone": DRAFT["tone"]}, review())
    state = await factory(judge, criteria=(CLARITY, TONE), samples=1, each=True).ainvoke({"sample": SAMPLE})
    assert sorted(state["scores"]) == [
        "Clarity/evaluator/draft/0", "Clarity/sage/final/0", "Tone/evaluator/draft/0", "Tone/sage/final/0",
    ]  # fmt: skip
    assert len(judge.calls) == 3


async def test_evaluator_and_critic_may_have_different_judges():
    first, second = scripted(DRAFT), scripted(review())
    await factory(first, critic_judge=second, criteria=(CLARITY, TONE), samples=1).ainvoke({"sample": SAMPLE})
    assert (len(first.calls), len(second.calls)) == (1, 1)


async def test_another_critic_takes_the_place_of_sage():
    async def agrees(state):
        return {"rectifications": {}, "suggestions": []}

    _, scores = await finals(DRAFT, critic=agrees)
    assert {s.status for s in scores.values()} == {"skipped"}


@pytest.mark.parametrize("key", ["Clarity", "1", "Clarity/strict"])
async def test_another_critics_verdicts_count_under_any_key(key):
    async def lowers(state):
        said = Rectification(criterion="Clarity", agent="strict", action="change", direction="down", value=2.0)
        return {"rectifications": {key: said}, "suggestions": []}

    _, scores = await finals(DRAFT, critic=lowers)
    assert (scores["Clarity"].value, scores["Tone"].status) == (2.0, "skipped")


async def test_a_final_score_names_its_draft():
    broken = {**DRAFT, "tone": {"reason": "?", "label": "lukewarm"}}
    _, scores = await finals(broken, broken, broken, review(2, "lower"))
    assert [s.draft for s in scores.values()] == ["Clarity/evaluator/draft/0", "Tone/evaluator/draft/0"]
    _, scores = await finals(DRAFT, *["no"] * 3)
    assert [s.draft for s in scores.values()] == ["Clarity/evaluator/draft/0", "Tone/evaluator/draft/0"]


async def test_nested_in_another_graph_it_scores_the_same_and_once():
    outer = StateGraph(EvalState)
    outer.add_node("sage", factory(scripted(DRAFT, review(3, "lower")), criteria=(CLARITY, TONE), samples=1))
    outer.add_edge(START, "sage")
    outer.add_edge("sage", END)
    nested = await outer.compile().ainvoke({"sample": SAMPLE})
    _, alone = await finals(DRAFT, review(3, "lower"))
    assert {s.criterion: s for s in nested["scores"].values() if s.stage == "final"} == alone
    assert len(nested["scores"]) == 4


def test_the_graph_is_the_figure_of_the_docstring():
    assert arrows(factory()) == figure(MODULE.__doc__)
    assert arrows(factory(each=True)) == figure(MODULE.__doc__)


def test_building_needs_no_key_and_makes_no_judge(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert builder(Endpoint(model="openai:any")).compile().get_graph()


async def test_the_form_that_is_sent_puts_reasons_before_scores():
    judge = scripted(DRAFT, review())
    await factory(judge, criteria=(CLARITY, TONE), samples=1).ainvoke({"sample": SAMPLE})
    sent = judge.asked[0]["response_format"]["json_schema"]["schema"]["properties"]["clarity"]
    assert list(sent["properties"]) == ["reason", "score"]
    assert json.dumps(DRAFT)[:20] not in judge.calls[0][0].content
