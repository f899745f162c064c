"""CoAScore: one chain per target, side by side, joined once."""

import asyncio
import sys

import pytest
from drawing import arrows, figure
from langgraph.graph import END, START, StateGraph

from judgegraph.calls import Endpoint
from judgegraph.graphs.coascore import builder, coascore
from judgegraph.testing import scripted
from judgegraph.types import Criterion, EvalState, Sample, Score, keyed

MODULE = sys.modules["judgegraph.graphs.coascore"]
SAMPLE = Sample(id="s1", query="QUERY-MARK", source="SOURCE-MARK", output="OUTPUT-MARK")
TARGETS = (Criterion(name="Relevance", definition="Holds what matters."), Criterion(name="Overall", definition="All."))


def kind(messages):
    text = str(messages[-1].content)
    return "propose" if "<target-" in text else "fuse" if "<scores-" in text else "rate"


def answer(messages):
    """What a willing judge says, whichever agent asks; the aspects of all targets have equal names."""
    text = str(messages[-1].content)
    aspects = [{"name": "Focus", "definition": "No side issue."}, {"name": "Coverage", "definition": "All there."}]
    fused = {"score": 2 if ">\n## Overall\n" in text else 5, "reason": "so"}
    rates = {"focus": {"score": 3}, "coverage": {"score": 4}}
    return {"propose": {"aspects": aspects}, "rate": rates, "fuse": fused}[kind(messages)]


async def run(judge, criteria=TARGETS, **settings):
    return await coascore(judge, criteria=criteria, aspects=2, **settings).ainvoke({"sample": SAMPLE})


def test_the_graph_is_the_figure_of_its_docstring():
    assert arrows(coascore()) == figure(MODULE.__doc__)


def test_a_chain_is_propose_rate_fuse():
    assert "`propose -> rate -> fuse`" in MODULE.__doc__
    drawn = coascore().get_graph(xray=True)
    assert {(e.source, e.target) for e in drawn.edges} == {
        ("__start__", "chain:propose"), ("chain:propose", "chain:rate"), ("chain:rate", "chain:fuse"),
        ("chain:fuse", "__end__"),
    }  # fmt: skip


async def test_every_target_has_a_chain_and_a_score_of_its_own():
    judge = scripted(*[answer] * 6)
    final = await run(judge)
    assert {key: s.value for key, s in final["scores"].items()} == {
        "Focus/rater/aspects:Relevance/0": 3.0, "Coverage/rater/aspects:Relevance/0": 4.0,
        "Relevance/fuser/final/0": 5.0,
        "Focus/rater/aspects:Overall/0": 3.0, "Coverage/rater/aspects:Overall/0": 4.0,
        "Overall/fuser/final/0": 2.0,
    }  # fmt: skip
    assert {target: len(chain) for target, chain in final["aspects"].items()} == {"Relevance": 2, "Overall": 2}
    assert sorted(map(kind, judge.calls)) == ["fuse", "fuse", "propose", "propose", "rate", "rate"]


async def test_the_proposer_never_sees_the_item():
    judge = scripted(*[answer] * 6)
    await run(judge)
    for messages in judge.calls:
        seen = [mark in str(messages) for mark in ("QUERY-MARK", "SOURCE-MARK", "OUTPUT-MARK")]
        assert seen == [kind(messages) != "propose"] * 3


async def test_its_first_question_is_the_same_for_every_sample():
    asked = []
    for i in range(2):
        judge = scripted(*[answer] * 3)
        graph = coascore(judge, criteria=TARGETS[:1], aspects=2)
        await graph.ainvoke({"sample": Sample(id=f"s{i}", output=f"text {i}")})
        asked.append((str(judge.calls[0]), judge.asked[0]))
    assert asked[0] == asked[1]


async def test_no_chain_waits_for_another():
    order = []
    slow = asyncio.Event()

    class Slow(type(scripted())):
        async def _agenerate(self, messages, stop=None, run_manager=None, **kwargs):
            text = str(messages[-1].content)
            if kind(messages) == "propose" and "Holds what matters." in text:
                await asyncio.wait_for(slow.wait(), 5)
            order.append(kind(messages))
            if kind(messages) == "fuse" and ">\n## Overall\n" in text:
                slow.set()  # the slow chain begins only when the quick one has ended
            return await super()._agenerate(messages, stop, None, **kwargs)

    final = await run(Slow(script=[answer] * 6))
    assert order == ["propose", "rate", "fuse"] * 2
    assert len(final["scores"]) == 6


@pytest.mark.parametrize(
    ("replies", "status", "calls"),
    [
        (["nothing"] * 3, "unreadable", 3),
        ([ValueError("broken")], "provider_error", 1),
        ([answer, *["nothing"] * 3], "unreadable", 4),
        ([answer, {"focus": {"score": None}, "coverage": {"score": None}}], "abstained", 2),
    ],
    ids=["no aspects", "no answer", "no aspect's score", "aspects abstain"],
)
async def test_a_broken_chain_is_a_status_and_a_note_never_a_plain_score(replies, status, calls):
    judge = scripted(*replies)
    final = await run(judge, criteria=TARGETS[:1])
    score = final["scores"]["Relevance/fuser/final/0"]
    assert (score.status, score.value, len(judge.calls)) == (status, None, calls)
    assert any(note.status == status and note.text.startswith("Relevance: ") for note in final["notes"].values())


async def test_one_broken_chain_leaves_the_other_alone():
    def moody(messages):
        broken = kind(messages) == "propose" and "Holds what matters." in str(messages)
        return "nothing" if broken or "could not be used" in str(messages) else answer(messages)

    final = await run(scripted(*[moody] * 6))
    assert final["scores"]["Relevance/fuser/final/0"].status == "unreadable"
    assert final["scores"]["Overall/fuser/final/0"].value == 2.0


async def test_the_states_criteria_replace_the_graphs_own():
    graph = coascore(scripted(*[answer] * 3), criteria="summary", aspects=2)
    final = await graph.ainvoke({"sample": SAMPLE, "criteria": [TARGETS[1]]})
    assert list(final["aspects"]) == ["Overall"]


async def test_nested_it_doubles_nothing_and_two_stand_side_by_side():
    def before(state: EvalState) -> EvalState:
        return {"scores": keyed(Score(criterion="Relevance", agent="earlier", value=1.0))}

    graph = StateGraph(EvalState)
    graph.add_node("before", before)
    for name, target in zip(("one", "two"), TARGETS, strict=True):
        graph.add_node(name, coascore(scripted(*[answer] * 3), criteria=[target], aspects=2))
        graph.add_edge("before", name)
        graph.add_edge(name, END)
    graph.add_edge(START, "before")
    final = await graph.compile().ainvoke({"sample": SAMPLE})
    assert sorted(s.agent for s in final["scores"].values()) == ["earlier", "fuser", "fuser", *["rater"] * 4]
    assert final["sample"] is SAMPLE


async def test_text_replies_run_through_all_stages():
    def said(messages):
        lines = "Some aspects:\n1. Focus: No side issue.\n2. Coverage: All there."
        return {"propose": lines, "fuse": "Score for Relevance: 4", "rate": answer(messages)}[kind(messages)]

    final = await run(scripted(*[said] * 3), criteria=TARGETS[:1], reply="text")
    assert final["scores"]["Relevance/fuser/final/0"].value == 4.0
    assert final["notes"] == {}


async def test_the_proposer_can_have_a_judge_of_its_own():
    proposer, judge = scripted(answer), scripted(answer, answer)
    await run(judge, criteria=TARGETS[:1], proposer_judge=proposer)
    assert [kind(c) for c in proposer.calls] == ["propose"]
    assert [kind(c) for c in judge.calls] == ["rate", "fuse"]


def test_building_needs_no_key_and_no_network(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert builder("openai:any").compile()
    assert coascore(Endpoint(model="openai:any")).get_name() == "coascore"


async def test_the_embedded_judge_answers_every_stage():
    sample = Sample(id="s1", source="The bridge closed on Monday. Repairs take a year.", output="The bridge is closed.")
    final = await coascore(aspects=5).ainvoke({"sample": sample})
    finals = [s for s in final["scores"].values() if s.stage == "final"]
    assert [s.status for s in finals] == ["ok"] * 4
    assert {len(chain) for chain in final["aspects"].values()} == {5}
