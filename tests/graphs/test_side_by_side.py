"""Methods in one graph: side by side, one after the other, two of a kind; and none changes another's scores."""

from functools import lru_cache
from itertools import product

import pytest
from langgraph.graph import END, START, StateGraph

import judgegraph as jg
from judgegraph.compiled import run_sync
from judgegraph.graphs.sageval import sageval
from judgegraph.registry import METHODS, factory
from judgegraph.testing import scripted
from judgegraph.types import Criterion, Finding, Plan, Rectification, Sample, Score, Suggestion, keyed

SAMPLE = Sample(
    id="s1", query="Say when it opens.", source="The bridge closed on Monday. Repairs take a year.",
    output="The bridge is closed for a year.",
)  # fmt: skip
NAMES = tuple(METHODS)
PAIRS = list(product(NAMES, NAMES))


def composed(nodes, side_by_side=True, state=jg.EvalState):
    graph = StateGraph(state)
    before = START
    for name, node in nodes.items():
        graph.add_node(name, node)
        graph.add_edge(START if side_by_side else before, name)
        before = name
        if side_by_side:
            graph.add_edge(name, END)
    graph.add_edge(before, END)
    return graph.compile()


def made(method, name=""):
    return factory(method)(name=name)


@lru_cache
def alone(method, name=""):
    return run_sync(made(method, name).ainvoke({"sample": SAMPLE}))


@pytest.mark.parametrize("side_by_side", [True, False], ids=["side by side", "in a row"])
@pytest.mark.parametrize(("one", "two"), PAIRS, ids=lambda name: name)
@pytest.mark.sampled(6)
async def test_two_methods_score_as_each_does_alone(one, two, side_by_side):
    graph = composed({"a": made(one, "a"), "b": made(two, "b")}, side_by_side)
    final = await graph.ainvoke({"sample": SAMPLE})
    assert final["scores"] == {**alone(one, "a")["scores"], **alone(two, "b")["scores"]}
    for key in ("comparisons", "notes", "branches"):
        assert final[key] == {**alone(one, "a").get(key, {}), **alone(two, "b").get(key, {})}
    assert final["sample"] is SAMPLE
    assert "criteria" not in final


@pytest.mark.parametrize("side_by_side", [True, False], ids=["side by side", "in a row"])
@pytest.mark.parametrize(("one", "two"), [(a, b) for a, b in PAIRS if a != b], ids=lambda name: name)
@pytest.mark.sampled(6)
async def test_different_methods_need_no_names(one, two, side_by_side):
    final = await composed({"a": made(one), "b": made(two)}, side_by_side).ainvoke({"sample": SAMPLE})
    assert final["scores"] == {**alone(one)["scores"], **alone(two)["scores"]}


@pytest.mark.parametrize("method", NAMES)
async def test_a_name_stands_before_every_agents_name_and_changes_nothing_else(method):
    plain, named = alone(method), alone(method, "a")
    assert [f"a-{s.agent}" for s in plain["scores"].values()] == [s.agent for s in named["scores"].values()]
    assert [s.answer for s in plain["scores"].values()] == [s.answer for s in named["scores"].values()]
    assert {n.agent.partition("-")[0] for n in named.get("notes", {}).values()} <= {"a"}


async def test_two_judges_of_one_method_keep_all_their_scores():
    def judged(by):
        score = {"clarity": {"reason": "r", "score": by}}
        kept = {"rectifications": {"clarity": {"reason": "r", "verdict": "keep", "score": by}}}
        judge = scripted(score, {**kept, "definitions": [], "new_criteria": []})
        return sageval(judge, criteria=[Criterion(name="Clarity")], samples=1, name=f"by-{by}")

    final = await composed({"two": judged(2), "four": judged(4)}).ainvoke({"sample": SAMPLE})
    assert {key: s.value for key, s in final["scores"].items()} == {
        "Clarity/by-2-evaluator/draft/0": 2.0, "Clarity/by-2-sage/final/0": 2.0,
        "Clarity/by-4-evaluator/draft/0": 4.0, "Clarity/by-4-sage/final/0": 4.0,
    }  # fmt: skip


PAIR = SAMPLE.model_copy(update={"rival": "It is open."})
ROWS_OF_ONE = [
    ("coascore-5", "coascore-10"), ("coascore-5", "coascore-inter"), ("coascore-inter", "coascore-no-scores"),
    ("coascore-random", "coascore-no-scores"), ("fennec-pair", "fennec-apart"), ("fennec-1", "fennec-5"),
    ("fennec-both", "fennec-single"), ("g-eval", "g-eval-20"), ("sageval-sr", "sageval-cot"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("one", "two"), ROWS_OF_ONE)
async def test_two_rows_of_one_method_keep_all_they_write_under_names(one, two):
    graph = composed({"a": made(one, "p"), "b": made(two, "q")})
    assert jg.check(graph).findings == ()
    final = await graph.ainvoke({"sample": PAIR})
    apart = [await made(row, name).ainvoke({"sample": PAIR}) for row, name in ((one, "p"), (two, "q"))]
    for key in ("scores", "comparisons", "corrections", "aspects", "branches", "rectifications", "notes"):
        both = [state.get(key, {}) for state in apart]
        assert final[key] == {**both[0], **both[1]}
        assert len(final[key]) == len(both[0]) + len(both[1])


ALIKE = [
    ("coascore", "coascore"), ("fennec", "fennec-5"), ("coascore", "coascore-average"),
    ("coascore-random", "coascore-average"), ("fennec-pair", "fennec-pair"),
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("one", "two"), [*ROWS_OF_ONE, *ALIKE])
async def test_without_names_it_is_told_where_one_row_may_overwrite_the_other_and_nowhere_else(one, two):
    graph = composed({"a": made(one), "b": made(two)})
    final = await graph.ainvoke({"sample": PAIR})
    apart = [await made(row).ainvoke({"sample": PAIR}) for row in (one, two)]
    kept = ("scores", "comparisons", "corrections", "aspects", "rectifications")
    lost = [k for k in kept for state in apart if not state.get(k, {}).items() <= final[k].items()]
    found = jg.check(graph, strict=False).findings
    told = [finding for finding in found if finding.code != "same-opinion"]
    assert bool(told) == ((one, two) not in ALIKE)
    assert bool(lost) <= bool(told)
    assert lost or (one, two) in ALIKE or one == "sageval-sr"  # the embedded judge thinks no other way
    assert all("give the method at 'b' a name, such as name='b'" in finding.message for finding in told)


def test_of_drawn_scores_no_stage_is_told_that_they_do_not_have():
    graph = composed({name: factory("coascore-random")(seed=seed) for name, seed in (("a", 1), ("b", 2))})
    first = jg.check(graph, strict=False).findings[0].message
    assert "'a/chain/rate' and 'b/chain/rate' both write scores under the name 'random-rater', so" in first


async def test_a_name_stands_behind_what_is_corrected_and_without_one_there_is_the_side_alone():
    plain, named = [await made("fennec-pair", name).ainvoke({"sample": PAIR}) for name in ("", "p")]
    assert [*plain["corrections"]] == ["output", "rival"]
    assert [*named["corrections"]] == ["output/p-corrector", "rival/p-corrector"]
    assert [c.text for c in plain["corrections"].values()] == [c.text for c in named["corrections"].values()]


async def test_a_name_stands_behind_the_target_of_a_chain():
    target = Criterion(name="Facts and/or 100%", definition="Whether the source says so.")
    graphs = (factory("coascore")(criteria=[target], aspects=3, name=name) for name in ("", "p/q"))
    plain, named = [await graph.ainvoke({"sample": SAMPLE}) for graph in graphs]
    assert [*plain["aspects"]] == ["Facts and/or 100%"]
    assert [*named["aspects"]] == ["Facts and%2For 100%25/p%2Fq"]
    assert [s.answer for s in plain["scores"].values()] == [s.answer for s in named["scores"].values()]
    assert {s.stage for s in named["scores"].values()} == {"aspects:Facts and/or 100%", "final"}


async def test_two_critics_keep_all_their_rectifications_and_finals_meet_their_own_drafts():
    run = jg.evaluate(composed({"a": made("sageval", "a"), "b": made("sageval", "b")}), [SAMPLE])
    (item,) = run.items
    criteria = {s.criterion for s in item.scores}
    assert len(item.rectifications) == len({r.key for r in item.rectifications}) == 2 * len(criteria)
    finals = [s for s in item.scores if s.stage == "final"]
    assert {s.draft for s in finals} == {s.key for s in item.scores if s.stage == "draft"}
    assert all(s.draft == f"{s.criterion}/{s.agent[0]}-evaluator/draft/0" for s in finals)


async def test_what_stood_in_the_state_before_does_not_reach_a_method():
    before = {
        "scores": keyed(Score(criterion="Old", agent="e", stage="draft", value=1.0)),
        "rectifications": keyed(Rectification(criterion="Old", agent="x")),
        "findings": {"old": Finding(assistant="old", value=9.0)},
        "plan": Plan(text="old"),
    }
    for method in NAMES:
        final = await composed({"method": made(method)}).ainvoke({"sample": SAMPLE, **before})
        assert final["scores"] == {**before["scores"], **alone(method)["scores"]}


async def test_criteria_of_the_state_reach_every_method():
    given = [Criterion(name="Wit", definition="It makes one smile.")]
    nodes = {name.replace("-", "_"): made(name) for name in NAMES}
    final = await composed(nodes).ainvoke({"sample": SAMPLE, "criteria": given})
    finals = {s.criterion for s in final["scores"].values() if s.stage == "final"}
    assert finals == {"Wit", "overall"}  # the fusing judge adds an overall score
    assert final["criteria"] == given


async def test_of_one_answer_the_node_last_by_name_stands_whoever_was_quicker():
    def node(value):
        async def says(state: jg.EvalState) -> jg.EvalState:
            advice = Suggestion(kind="criterion", criterion=f"C{value}", definition="d", agent="x")
            return {"overall": value, "plan": Plan(text=str(value)), "suggestions": [advice]}

        return says

    final = await composed({"z": node(2.0), "a": node(1.0)}).ainvoke({"sample": SAMPLE})
    assert (final["overall"], final["plan"].text) == (2.0, "2.0")
    assert [s.criterion for s in final["suggestions"]] == ["C1.0", "C2.0"]


async def test_suggestions_double_through_no_subgraph():
    advice = [Suggestion(kind="criterion", criterion="New", definition="d", agent="x")]

    async def critic(state: jg.EvalState) -> jg.EvalState:
        return {"suggestions": advice}

    async def after(state: jg.EvalState) -> jg.EvalState:
        return {}

    nested = StateGraph(jg.EvalState)
    nested.add_node("after", after)
    nested.add_edge(START, "after")
    final = await composed({"critic": critic, "nested": nested.compile()}, False).ainvoke({"sample": SAMPLE})
    assert final["suggestions"] == advice
