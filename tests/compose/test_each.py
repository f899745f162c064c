"""`each`: one run per criterion, side by side, joined once."""

import asyncio
import json
from dataclasses import dataclass, field

import pytest
from drawing import arrows, comments, figure
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

import judgegraph as jg
from judgegraph.agents.evaluator import Evaluator
from judgegraph.agents.judge import Judge
from judgegraph.compose import panel as module
from judgegraph.errors import ConfigError, CriteriaError
from judgegraph.graphs import fusion_eval
from judgegraph.testing import scripted
from judgegraph.types import Correction, Criterion, EvalState, Note, Sample, Score, Scores, keyed

SAMPLE = Sample(id="s1", source="The bridge closed on Monday. Repairs take a year.", output="It is closed for a year.")
CRITERIA = [Criterion(name=name, definition=f"About {name}.") for name in ("Wit", "Care", "Order")]


class Case(TypedDict):
    sample: Sample
    criterion: Criterion
    guideline: str


class Scored(TypedDict):
    scores: Scores


@dataclass(frozen=True, kw_only=True)
class Length:
    """Scores by the length of the criterion's name, later criteria first."""

    name: str = "length"
    seen: list = field(default_factory=list, compare=False)

    async def __call__(self, state: Case) -> Scored:
        self.seen.append(dict(state))
        await asyncio.sleep(0.02 / len(self.seen))
        criterion = state["criterion"]
        score = Score(criterion=criterion.name, agent=self.name, value=float(len(criterion.name)))
        return {"scores": keyed(score)}


def placed(node, **before):
    graph = StateGraph(EvalState)
    graph.add_node("judged", node)
    graph.add_edge(START, "judged")
    graph.add_edge("judged", END)
    return graph.compile(), {"sample": SAMPLE, **before}


async def run(node, **before):
    graph, state = placed(node, **before)
    return await graph.ainvoke(state)


async def test_every_criterion_is_asked_by_itself_and_results_are_in_the_order_of_criteria():
    agent = Length()
    final = await run(jg.each(agent, criteria=CRITERIA))
    assert [(s.criterion, s.value) for s in final["scores"].values()] == [("Wit", 3.0), ("Care", 4.0), ("Order", 5.0)]
    assert [set(seen) for seen in agent.seen] == [{"sample", "criterion", "guideline"}] * 3
    assert final["sample"] is SAMPLE
    assert "criteria" not in final


@pytest.mark.parametrize(
    ("own", "criterion", "guideline"),
    [
        (None, Criterion(name="Wit", definition="It is funny."), "It is funny."),
        (None, Criterion(name="Wit", definition="It is funny.", guideline="1 dull, 5 funny"), "1 dull, 5 funny"),
        ({"Wit": "as written"}, Criterion(name="Wit", guideline="1 dull"), "as written"),
    ],
    ids=["its definition", "its own guideline", "what stands in the state"],
)
async def test_a_node_that_reads_a_guideline_gets(own, criterion, guideline):
    class Guided(EvalState):
        guidelines: dict[str, str]

    agent = Length()
    graph = StateGraph(Guided)
    graph.add_node("judged", jg.each(agent, criteria=[criterion]))
    graph.add_edge(START, "judged")
    await graph.compile().ainvoke({"sample": SAMPLE} | ({"guidelines": own} if own else {}))
    assert [seen["guideline"] for seen in agent.seen] == [guideline]


async def test_criteria_of_the_state_come_before_the_graphs_and_these_before_the_agents_own():
    for given, before, names in (
        (None, {}, ["Own"]), (CRITERIA[:1], {}, ["Wit"]), (CRITERIA[:1], {"criteria": CRITERIA[1:]}, ["Care", "Order"]),
    ):  # fmt: skip
        agent = Evaluator(criteria=[Criterion(name="Own")])
        final = await run(jg.each(agent, criteria=given), **before)
        assert [s.criterion for s in final["scores"].values()] == names


async def test_without_criteria_nothing_is_asked_and_the_graph_goes_on():
    went_on = []

    async def after(state: EvalState) -> EvalState:
        went_on.append(state)
        return {}

    graph = StateGraph(EvalState)
    graph.add_node("judged", jg.each(Length()))
    graph.add_node("after", after)
    graph.add_edge(START, "judged")
    graph.add_edge("judged", "after")
    final = await graph.compile().ainvoke({"sample": SAMPLE})
    assert len(went_on) == 1
    assert list(final["notes"].values()) == [
        Note(agent="each", text="no criteria: nothing was asked", status="skipped", kind="no-criteria")
    ]


async def test_the_judge_of_fennec_works_as_it_is():
    replies = [{"reason": "r", "score": 4}] * 3
    judge = scripted(*replies)
    final = await run(jg.each(Judge(judge=judge), criteria=CRITERIA))
    assert {key: s.value for key, s in final["scores"].items()} == dict.fromkeys(
        [f"{c.name}/judge/final/0" for c in CRITERIA], 4.0
    )
    assert len(judge.calls) == 3


@pytest.mark.parametrize("method", ["g-eval", "llm-score", "sageval", "fennec", "coascore"])
async def test_a_method_by_name_scores_every_criterion_once(method):
    final = await run(jg.each(method, criteria="summary"))
    finals = [s.criterion for s in final["scores"].values() if s.stage == "final"]
    assert finals == ["Coherence", "Consistency", "Fluency", "Relevance"]
    assert not {"overall", "verdict", "plan"} & set(final)


async def test_a_method_that_judges_criteria_one_by_one_scores_as_it_does_alone():
    final = await run(jg.each("g-eval", criteria="summary"))
    alone = await run(jg.each(as_graph("g-eval"), criteria="summary"))
    assert final["scores"] == alone["scores"] == (await as_graph("g-eval").ainvoke({"sample": SAMPLE}))["scores"]


def as_graph(method):
    return jg.compose.nodes.as_node(method)


async def test_an_answer_that_is_not_of_one_criterion_is_left_out_with_a_note():
    final = await run(jg.each(fusion_eval(), criteria=CRITERIA))
    assert [s.criterion for s in final["scores"].values()] == ["Wit", "Care", "Order"]
    assert "scores: overall/fusion-judge/final/0: several runs differ, left out" in {
        note.text for note in final["notes"].values()
    }


async def test_what_runs_write_alike_stands_once_and_what_they_write_differently_does_not():
    async def both(state: Case) -> EvalState:
        same = Score(criterion="same", agent="a", value=1.0)
        name = state["criterion"].name
        return {
            "scores": keyed(same, Score(criterion="other", agent="a", value=float(len(name)))),
            "corrections": {"output": Correction(text=name)},
        }

    final = await run(jg.each(both, criteria=CRITERIA))
    assert list(final["scores"]) == ["same/a/final/0"]
    assert final["corrections"] == {}
    assert {n.text for n in final["notes"].values()} == {
        "scores: other/a/final/0: several runs differ, left out", "corrections: output: several runs differ, left out",
    }  # fmt: skip


async def test_the_order_of_criteria_changes_no_score():
    there = await run(jg.each("llm-score", criteria=CRITERIA))
    back = await run(jg.each("llm-score", criteria=CRITERIA[::-1]))
    assert there["scores"] == back["scores"]
    assert list(there["scores"]) == list(back["scores"])[::-1]


async def test_what_stood_in_the_state_is_kept_and_nothing_doubles():
    before = keyed(Score(criterion="Old", agent="x", value=1.0))
    advice = [jg.Suggestion(kind="criterion", criterion="New", definition="d", agent="x")]

    async def critic(state: EvalState) -> EvalState:
        return {"suggestions": advice, "scores": {}}

    final = await run(jg.each(critic, criteria=CRITERIA), scores=before, suggestions=advice)
    assert (final["scores"], final["suggestions"]) == (before, advice)


async def test_a_node_may_write_anew_what_stood_in_the_state():
    before = keyed(*(Score(criterion=c.name, agent="x", value=1.0) for c in CRITERIA))

    async def again(state: EvalState) -> Scored:
        (criterion,) = state["criteria"]
        return {"scores": keyed(Score(criterion=criterion.name, agent="x", value=2.0))}

    final = await run(jg.each(again, criteria=CRITERIA), scores=before)
    assert [s.value for s in final["scores"].values()] == [2.0, 2.0, 2.0]


async def test_a_critic_is_asked_criterion_by_criterion():
    drafts = await run(Evaluator(criteria=CRITERIA))
    final = await run(jg.each("sage", criteria=CRITERIA), scores=drafts["scores"])
    assert [r.criterion for r in final["rectifications"].values()] == ["Wit", "Care", "Order"]


async def test_two_criteria_of_one_name_are_told_apart_by_leaving_both_out():
    twice = [Criterion(name="Wit"), Criterion(name="Wit", definition="another")]

    async def by_definition(state: Case) -> Scored:
        value = float(len(state["criterion"].definition))
        return {"scores": keyed(Score(criterion="Wit", agent="a", value=value))}

    final = await run(jg.each(by_definition), criteria=twice)
    assert (final["scores"], len(final["notes"])) == ({}, 1)


async def test_branches_of_different_length_join_once():
    async def slow(state: EvalState) -> EvalState:
        return {}

    async def fast(state: EvalState) -> EvalState:
        return {}

    joined = []

    async def after(state: EvalState) -> EvalState:
        joined.append(len(state["scores"]))
        return {}

    graph = StateGraph(EvalState)
    graph.add_node("slow", slow)
    graph.add_node("judged", jg.each(Length(), criteria=CRITERIA))
    graph.add_node("fast", fast)
    graph.add_node("after", after, defer=True)
    graph.add_edge(START, "slow")
    graph.add_edge("slow", "judged")
    graph.add_edge(START, "fast")
    graph.add_edge("fast", "after")
    graph.add_edge("judged", "after")
    await graph.compile().ainvoke({"sample": SAMPLE})
    assert joined == [3]


def test_the_drawing_is_the_figure():
    graph = jg.each(Length(), criteria=CRITERIA)
    assert arrows(graph) == figure(comments(module))
    assert all(edge in graph.get_graph().draw_mermaid() for edge in ("brief -.-> run", "brief -.-> join"))
    assert not {":", "|"} & set("".join(graph.builder.nodes))


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: jg.each("nobody"), ConfigError, "nobody"),
        (lambda: jg.each(Length), ConfigError, r"write Length\(\.\.\.\)"),
        (lambda: jg.each(7), ConfigError, "got 7"),
        (lambda: jg.each(Length(), judge="embedded"), ConfigError, "made already: judge"),
        (lambda: jg.each("evaluator", tone=1), ConfigError, "no setting tone"),
        (lambda: jg.each("g-eval", tone=1), ConfigError, "no setting tone"),
        (lambda: jg.each("g-eval", criteria="nothing"), CriteriaError, "nothing"),
    ],
    ids=["no name", "a class", "a number", "settings of an agent", "agent's setting", "method's setting", "criteria"],
)
def test_what_cannot_be_is_said_when_it_is_built(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_it_runs_in_evaluate_with_a_ledger_and_plan_counts_its_calls(tmp_path):
    samples = [Sample(id=f"s{i}", output=f"Text {i}.") for i in range(3)]
    graph = jg.each("llm-score", criteria=CRITERIA)
    forecast = jg.plan(graph, samples)
    run = jg.evaluate(graph, samples, out=tmp_path / "run")
    assert [len(item.scores) for item in run.items] == [3, 3, 3]
    spent = json.loads((tmp_path / "run" / "manifest.json").read_text())["spent"]
    assert (forecast.total.exact, spent["calls"], forecast.own_code) == (9, 9, ())
