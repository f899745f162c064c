"""Methods as parts of other graphs, with LangGraph as it is."""

from typing import Annotated

import pytest
from langgraph.errors import InvalidUpdateError
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

import judgegraph as jg
from judgegraph.agents.sage import Rectify, Sage
from judgegraph.graphs import coascore, fennec, g_eval, sageval
from judgegraph.testing import scripted
from judgegraph.types import Criterion, EvalState, Sample

SAMPLE = Sample(id="s1", source="The bridge closed on Monday. Repairs take a year.", output="It is closed for a year.")
CLARITY = Criterion(name="Clarity", definition="One reading only.", guideline="1 unclear, 5 clear")


class Aspects(TypedDict):
    aspects: dict[str, list[Criterion]]


class Chosen(TypedDict):
    criteria: list[Criterion]


def finals(state, agent):
    return {s.criterion: s.value for s in state["scores"].values() if (s.agent, s.stage) == (agent, "final")}


async def test_sageval_is_one_judge_among_three():
    own = sageval(criteria="summary")
    graph = StateGraph(EvalState)
    graph.add_node("jury", jg.panel(own, "g-eval", "embedded", combine="median", criteria="summary"))
    graph.add_node("rouge", jg.metric_node("novelty"))
    graph.add_edge(START, "jury")
    graph.add_edge(START, "rouge")
    graph.add_edge("jury", END)
    graph.add_edge("rouge", END)
    state = await graph.compile().ainvoke({"sample": SAMPLE})

    jury = finals(state, "panel")
    alone = finals(await own.ainvoke({"sample": SAMPLE}), "sage")
    ballots = {s.criterion: s.value for s in state["scores"].values() if s.agent == "panel-sageval"}
    assert ballots == alone
    for name, value in jury.items():
        cast = sorted(s.value for s in state["scores"].values() if s.criterion == name and s.stage == "ballot")
        assert (len(cast), value) == (3, cast[1])


async def test_a_critic_reviews_what_fennec_judged():
    judge = scripted({"reason": "clear", "score": 5})
    said = {"rectifications": {"clarity": {"reason": "it says nothing of when", "verdict": "lower", "score": 3}}}
    critic = Sage(
        judge=scripted({**said, "definitions": [], "new_criteria": []}),
        stage="final",
        criteria=[CLARITY],
        reader=jg.Reader(),
    )
    graph = StateGraph(EvalState)
    graph.add_node("fennec", fennec(judge, criteria=[CLARITY], correct="off"))
    graph.add_node("critique", critic)
    graph.add_node("rectify", Rectify(stage="final"))
    graph.add_edge(START, "fennec")
    graph.add_edge("fennec", "critique")
    graph.add_edge("critique", "rectify")
    graph.add_edge("rectify", END)
    state = await graph.compile().ainvoke({"sample": SAMPLE})

    assert (finals(state, "judge"), finals(state, "sage")) == ({"Clarity": 5.0}, {"Clarity": 3.0})
    assert state["scores"]["Clarity/sage/final/0"].draft == "Clarity/judge/final/0"
    assert state["overall"] == 5.0  # what Fennec merged stays what it said


async def test_the_aspects_of_coascore_become_the_criteria_of_fennec():
    async def aspects_as_criteria(state: Aspects) -> Chosen:
        return {"criteria": [aspect for chain in state["aspects"].values() for aspect in chain]}

    graph = StateGraph(EvalState)
    graph.add_node("chain", coascore(criteria=[CLARITY], aspects=3))
    graph.add_node("choose", aspects_as_criteria)
    graph.add_node("judge", fennec(correct="off"))
    graph.add_edge(START, "chain")
    graph.add_edge("chain", "choose")
    graph.add_edge("choose", "judge")
    graph.add_edge("judge", END)
    state = await graph.compile().ainvoke({"sample": SAMPLE})

    aspects = [aspect.name for aspect in state["aspects"]["Clarity"]]
    judged = [s.criterion for s in state["scores"].values() if s.agent == "judge"]
    assert len(aspects) == 3
    assert judged == aspects


async def test_the_three_compose_with_one_another_and_run_over_samples(tmp_path):
    graph = StateGraph(EvalState)
    graph.add_node("judged", jg.each(fennec(correct="off"), criteria="summary"))
    graph.add_node("jury", jg.panel({"one": coascore(aspects=2), "two": g_eval()}, criteria="summary"))
    graph.add_node("critique", Sage(stage="ballot"), defer=True)
    graph.add_edge(START, "judged")
    graph.add_edge(START, "jury")
    graph.add_edge("judged", "critique")
    graph.add_edge("jury", "critique")
    graph.add_node("rectify", Rectify(stage="ballot"))
    graph.add_edge("critique", "rectify")
    graph.add_edge("rectify", END)
    compiled = graph.compile()
    samples = [SAMPLE.model_copy(update={"id": f"s{i}"}) for i in range(2)]
    run = jg.evaluate(compiled, samples, out=tmp_path)
    assert {item.status for item in run.items} == {"ok"}
    assert all({"judge", "panel", "one", "two"} <= {s.agent for s in item.scores} for item in run.items)


def own(name, **schemas):
    made = StateGraph(jg.EvalState, **schemas)
    made.add_node("judge", jg.judge_agent(name, f"You look for what is {name}.", scores=[CLARITY]))
    made.add_edge(START, "judge")
    made.add_edge("judge", END)
    return made.compile(name=name)


def beside(state=EvalState, **schemas):
    graph = StateGraph(state)
    for name in ("missing", "helpful"):
        graph.add_node(name, own(name, **schemas))
        graph.add_edge(START, name)
        graph.add_edge(name, END)
    return graph


@pytest.mark.parametrize(
    "schemas", [{}, {"output_schema": jg.Result}, {"input_schema": jg.Asked, "output_schema": jg.Result}]
)
async def test_graphs_of_ones_own_stand_side_by_side_as_they_are(schemas):
    graph = beside(**schemas)
    assert jg.check(graph).ok
    given = {"sample": SAMPLE, "criteria": [CLARITY], "task": "a sentence"}
    for asked in ({"sample": SAMPLE}, given, {"sample": SAMPLE.model_dump()}):
        state = await graph.compile().ainvoke(asked)
        assert sorted(state["scores"]) == ["Clarity/helpful/final/0", "Clarity/missing/final/0"]
        assert {key: state[key] for key in asked} == asked
    (item,) = jg.evaluate(graph.compile(), [SAMPLE]).items
    assert (item.status, len(item.scores)) == ("ok", 2)


class OwnState(TypedDict, total=False):
    sample: Sample
    scores: Annotated[dict[str, jg.Score], jg.merged]


def test_in_a_state_of_ones_own_check_names_the_word_that_helps():
    graph = beside(state=OwnState)
    (told,) = [one for one in jg.check(graph, strict=False).findings if one.severity == "error"]
    assert told.key == "sample"
    assert "hand it back as it came; write StateGraph(..., output_schema=jg.Result) there" in told.message


class Summed(TypedDict):
    overall: float | None


def test_an_answer_of_before_that_a_neighbour_hands_back_is_no_later_one():
    async def sum_up(state: OwnState) -> Summed:
        return {"overall": 5.0}

    def graph(**schemas):
        inner = StateGraph(EvalState)
        inner.add_node("sum", sum_up)
        inner.add_edge(START, "sum")
        made = StateGraph(EvalState)
        made.add_node("before", sum_up)
        made.add_node("a", inner.compile(name="a"))
        made.add_node("b", own("missing", **schemas))
        made.add_edge(START, "before")
        made.add_edge("before", "a")
        made.add_edge("before", "b")
        return made

    (told,) = [one for one in jg.check(graph(), strict=False).findings if one.code == "two-writers"]
    assert "'b' hands it back as it came; write StateGraph(..., input_schema=jg.Asked) there" in told.message
    assert "both write 'overall', and an earlier answer may come back in its place" in told.message
    assert jg.check(graph(input_schema=jg.Asked)).ok


async def test_what_graphs_side_by_side_change_differently_is_refused():
    def choosing(name):
        async def choose(state: Aspects) -> Chosen:
            return {"criteria": [CLARITY.model_copy(update={"name": name})]}

        made = StateGraph(jg.EvalState)
        made.add_node("choose", choose)
        made.add_edge(START, "choose")
        return made.compile(name=name)

    graph = StateGraph(EvalState)
    for name in ("one", "two"):
        graph.add_node(name, choosing(name))
        graph.add_edge(START, name)
    assert [one.key for one in jg.check(graph, strict=False).findings if one.code == "two-writers"] == ["criteria"]
    with pytest.raises(InvalidUpdateError, match="criteria"):
        await graph.compile().ainvoke({"sample": SAMPLE})


def test_asked_and_result_are_the_shared_state():
    assert {*jg.Asked.__annotations__} | {*jg.Result.__annotations__} == {*EvalState.__annotations__}
    assert not {*jg.Asked.__annotations__} & {*jg.Result.__annotations__}
