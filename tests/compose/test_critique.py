"""A critique: finals beside what was reviewed, and nothing changed where the critic was not asked."""

import pytest
from drawing import arrows, figure
from langgraph.graph import END, START, StateGraph

import judgegraph as jg
from judgegraph import registry
from judgegraph.agents.evaluator import Case, Evaluator
from judgegraph.agents.sage import Rectify, Sage
from judgegraph.agents.under_review import Critique, Reviewed
from judgegraph.calls.ratings import STATED
from judgegraph.compose import critique as module
from judgegraph.errors import ConfigError
from judgegraph.graphs import fennec, sageval
from judgegraph.prompts.criteria import criteria_set
from judgegraph.testing import scripted
from judgegraph.types import Criterion, Rectification, Sample, Scale, Score, keyed

SAMPLE = Sample(id="s1", query="Say when it opens.", source="It opens in May.", output="It opens in May.")
CLARITY, WIT = Criterion(name="Clarity", definition="One reading only."), Criterion(name="Wit")
FIVE = Scale.of("1-5")
SETTINGS = {"criteria": [CLARITY, WIT], "samples": 1}


def review(**scores):
    said = {
        name: {"reason": "looked again", "verdict": "keep" if value is None else "lower", "score": value}
        for name, value in scores.items()
    }
    return {"rectifications": said, "definitions": [], "new_criteria": []}


def score(value, criterion="Clarity", agent="evaluator", stage="draft", **more):
    return Score(criterion=criterion, agent=agent, stage=stage, value=value, scale=FIVE, **more)


DRAFTS = (
    score(4.0, distribution={"4": 1.0}, reader="logprobs", reason="fine"),
    score(3.0, "Wit", distribution={"1": 0.5, "5": 0.5}),
)


async def critiqued(node, *scores, **state):
    given = {"sample": SAMPLE, "scores": keyed(*(scores or DRAFTS)), **state}
    final = await node.ainvoke(given)
    return final, {s.criterion: s for s in final["scores"].values() if s.key not in given["scores"]}


async def test_an_open_gate_asks_about_what_is_in_doubt_alone():
    judge = scripted(review(wit=2))
    _, finals = await critiqued(jg.critique(judge=judge, when="wide", **SETTINGS))
    assert (finals["Clarity"].value, finals["Wit"].value) == (4.0, 2.0)
    (asked,) = judge.calls
    assert "## Wit" in asked[-1].content
    assert "Clarity" not in asked[-1].content
    assert finals["Clarity"].notes == ("the critic was not asked: nothing was in doubt",)
    why = "the standard deviation as a share of the range is 0.5, above 0.15"
    assert finals["Wit"].notes[-1] == f"the critic was asked: {why}"


async def test_a_critic_made_with_criteria_is_shown_them():
    judge = scripted(review(clarity=None, wit=2))
    await critiqued(jg.critique(Sage(judge=judge, criteria=SETTINGS["criteria"], reader=STATED)))
    assert CLARITY.definition in judge.calls[0][-1].content


async def test_a_closed_gate_is_the_identity():
    _, finals = await critiqued(jg.critique(judge=scripted(), when={"wide": 0.5}, **SETTINGS))
    for draft in DRAFTS:
        final = finals[draft.criterion]
        changed = {"agent": "sage", "stage": "final", "draft": draft.key, "notes": final.notes}
        assert final == draft.model_copy(update=changed)


async def test_without_a_condition_all_is_reviewed_as_in_sageval():
    samples = [Sample(id=str(n), source="It opens in May.", output="It opens. " * n) for n in range(1, 4)]
    chosen = criteria_set("summary")
    graph = StateGraph(jg.EvalState)
    graph.add_node("evaluate", Evaluator(criteria=chosen.criteria, task=chosen.task))
    graph.add_node("critique", jg.critique("sage", criteria="summary"))
    graph.add_edge(START, "evaluate")
    graph.add_edge("evaluate", "critique")
    graph.add_edge("critique", END)
    compiled = graph.compile()
    assert jg.check(compiled)
    ours, theirs = (
        {item.id: item for item in jg.evaluate(g, samples).items} for g in (compiled, sageval(criteria="summary"))
    )
    for id in ours:
        assert ours[id].scores == theirs[id].scores
        assert (ours[id].rectifications, ours[id].suggestions) == (theirs[id].rectifications, theirs[id].suggestions)


async def test_a_failing_critic_leaves_its_status_in_the_final_alone():
    final, finals = await critiqued(jg.critique(judge=scripted(*["no"] * 3), **SETTINGS))
    assert {s.status for s in finals.values()} == {"unreadable"}
    assert all(final["scores"][d.key] == d for d in DRAFTS)


async def test_scores_of_another_stage_and_agent_are_reviewed_as_drafts():
    judge = scripted(review(clarity=2))
    held = (*DRAFTS, score(5.0, agent="a", stage="ballot"), score(3.0, agent="panel", stage="final"))
    state, finals = await critiqued(jg.critique(judge=judge, of="panel", stage="final", **SETTINGS), *held)
    assert list(finals) == ["Clarity"]
    assert (finals["Clarity"].key, finals["Clarity"].draft) == ("Clarity/sage/final/0", "Clarity/panel/final/0")
    assert state["scores"]["Clarity/panel/final/0"] == held[-1]
    assert "Score: 3" in judge.calls[0][-1].content
    assert "Score: 4" not in judge.calls[0][-1].content


async def test_of_several_evaluators_the_last_one_is_reviewed_unless_one_is_named():
    two = (score(2.0, agent="a"), score(5.0, agent="b"))
    for of, draft in ((None, "Clarity/b/draft/0"), ("a", "Clarity/a/draft/0")):
        _, finals = await critiqued(jg.critique(judge=scripted(review(clarity=None)), of=of, **SETTINGS), *two)
        assert finals["Clarity"].draft == draft


async def test_the_condition_looks_at_what_is_reviewed():
    panel = score(3.0, agent="panel", stage="final", distribution={"1": 0.5, "5": 0.5})
    judge = scripted(review(clarity=2))
    _, finals = await critiqued(jg.critique(judge=judge, when="wide", of="panel", stage="final", **SETTINGS), panel)
    assert finals["Clarity"].value == 2.0


async def test_a_critic_that_reviews_its_own_finals_is_refused_until_it_has_another_name():
    held = score(3.0, agent="sage", stage="final")
    with pytest.raises(ConfigError, match="name='second-sage'"):
        await critiqued(jg.critique(judge=scripted(review(clarity=2)), stage="final", **SETTINGS), held)
    node = jg.critique(judge=scripted(review(clarity=2)), stage="final", name="second-sage", **SETTINGS)
    state, finals = await critiqued(node, held)
    assert (finals["Clarity"].agent, finals["Clarity"].value) == ("second-sage", 2.0)
    assert state["scores"][held.key] == held
    assert list(state["rectifications"]) == ["Clarity/second-sage"]


async def test_what_a_critic_said_before_is_no_verdict_now():
    async def silent(state: Reviewed) -> Critique:
        return {"rectifications": {}, "suggestions": []}

    stale = Rectification(criterion="Clarity", agent="silent", action="change", direction="down", value=1.0)
    _, finals = await critiqued(jg.critique(silent), rectifications=keyed(stale))
    assert (finals["Clarity"].status, finals["Clarity"].value) == ("skipped", None)


def as_graph(critic, output):
    graph = StateGraph(jg.EvalState, output_schema=output)
    graph.add_node("critic", critic)
    graph.add_edge(START, "critic")
    graph.add_edge("critic", END)
    return graph.compile(name="inner")


@pytest.mark.parametrize("output", [jg.EvalState, Critique], ids=["all it has", "a critique"])
async def test_a_critic_may_be_a_graph_and_what_it_was_shown_stays_inside(output):
    inner = as_graph(Sage(judge=scripted(review(clarity=2)), criteria=[CLARITY], reader=jg.Reader()), output)
    held = score(3.0, agent="panel", stage="final")
    state, finals = await critiqued(jg.critique(inner, stage="final"), held)
    assert (finals["Clarity"].agent, finals["Clarity"].value) == ("inner", 2.0)
    assert set(state["scores"]) == {held.key, "Clarity/inner/final/0"}


async def test_a_critic_over_fennecs_scores_knows_the_criteria_that_were_written():
    graph = StateGraph(jg.EvalState)
    graph.add_node("fennec", fennec(branches=2))
    graph.add_node("critique", jg.critique("sage", of="judge", stage="final"))
    graph.add_edge(START, "fennec")
    graph.add_edge("fennec", "critique")
    graph.add_edge("critique", END)
    final = await graph.compile().ainvoke({"sample": SAMPLE})
    judged = {s.key for s in final["scores"].values() if s.agent == "judge"}
    assert judged
    assert {s.draft for s in final["scores"].values() if s.agent == "sage"} == judged

    judge = scripted(review(**{s.criterion.lower().replace(" ", "_"): None for s in final["scores"].values()}))
    held = {k: s for k, s in final["scores"].items() if s.agent == "judge"}
    await jg.critique(judge=judge, stage="final", samples=1).ainvoke({**final, "scores": held})
    for written in final["branches"].values():
        assert written.definition in judge.calls[0][-1].content + judge.calls[0][0].content


async def test_a_score_keeps_the_scale_it_was_given_on():
    ten = score(8.0).model_copy(update={"scale": Scale.of("1-10")})
    _, finals = await critiqued(jg.critique(judge=scripted(review(clarity=7)), **SETTINGS), ten)
    assert (finals["Clarity"].value, str(finals["Clarity"].scale)) == (7.0, "1-10")


async def test_without_a_score_to_review_there_is_a_note_and_no_call():
    judge = scripted()
    for when in (None, "wide"):
        final = await jg.critique(judge=judge, when=when).ainvoke({"sample": SAMPLE, "scores": {}})
        assert list(final["notes"]) == ["sage/no score at stage 'draft': nothing to review"]
    assert judge.calls == []


async def test_a_draft_that_failed_keeps_its_status():
    lost = Score(criterion="Clarity", agent="evaluator", stage="draft", status="refused", reason="no", scale=FIVE)
    for when in (None, "wide"):
        judge = scripted(review(clarity=2, wit=None))
        _, finals = await critiqued(jg.critique(judge=judge, when=when, **SETTINGS), lost, score(3.0, "Wit"))
        assert (finals["Clarity"].status, finals["Clarity"].value) == ("refused", None)


async def reads_nothing(state: Case) -> Critique:
    raise AssertionError


async def says_nothing_of_itself(state):
    return {"rectifications": keyed(Rectification(criterion="Clarity", agent="own", reason="fine"))}


@pytest.mark.parametrize("helper", [jg.critique, jg.refine])
@pytest.mark.parametrize(
    ("critic", "said"),
    [
        ("evaluator", "'evaluator' is no critic: it reads no scores and writes no rectifications"),
        ("g-eval", "'g-eval' is no critic: it reads no scores and writes no rectifications"),
        ("rouge-l", "'rouge-l' is no critic: it reads no scores and writes no rectifications"),
        ("sageval", "'sageval' is no critic: it reads no scores; `judgegraph agents` lists critics"),
        (Rectify(), "'sage' is no critic: it writes no rectifications"),
        (reads_nothing, "'reads_nothing' is no critic: it reads no scores"),
    ],
    ids=["an agent", "a method", "a metric", "a method with a critic", "one behind a critic", "a function"],
)
def test_what_reviews_no_scores_is_refused(helper, critic, said):
    with pytest.raises(ConfigError) as raised:
        helper(critic, criteria="summary")
    assert said in str(raised.value)


async def test_a_critic_that_says_nothing_of_itself_serves():
    _, finals = await critiqued(jg.critique(says_nothing_of_itself, criteria=[CLARITY]), DRAFTS[0])
    assert finals["Clarity"].value == 4.0


def test_the_graph_is_the_figure_of_the_docstring():
    plain, gated = module.__doc__.split("With a condition")
    assert arrows(jg.critique()) == figure(plain)
    assert arrows(jg.critique(when="wide")) == figure(gated)


@pytest.mark.parametrize("critic", registry.names("critic"))
def test_every_critic_serves_and_is_wired(critic):
    graph = StateGraph(jg.EvalState)
    graph.add_node("evaluate", Evaluator(criteria=criteria_set("summary").criteria))
    graph.add_node("critique", jg.critique(critic, when=jg.either(jg.wide(0.1), "failed"), criteria="summary"))
    graph.add_edge(START, "evaluate")
    graph.add_edge("evaluate", "critique")
    graph.add_edge("critique", END)
    compiled = graph.compile()
    jg.check(compiled)
    (item,) = jg.evaluate(compiled, [SAMPLE]).items
    finals = {s.criterion: s for s in item.scores if s.stage == "final"}
    assert {s.agent for s in finals.values()} == {critic}
    assert {s.draft for s in finals.values()} == {s.key for s in item.scores if s.agent == "evaluator"}
    assert {s.status for s in finals.values()} <= {"ok", "abstained"}


@pytest.mark.parametrize(("value", "asked"), [(4.0, 0), (1.0, 1)])
async def test_a_gate_looks_at_the_score_that_is_reviewed_and_at_no_other_judges_draft(value, asked):
    judge = scripted(*[review(clarity=None)] * asked)
    earlier = (score(1.0, agent="inner"), score(2.0, agent="another"))
    node = jg.critique("sage", judge=judge, criteria=[CLARITY], samples=1, when=jg.low(below=2.5))
    state = {"sample": SAMPLE, "scores": keyed(*earlier, score(value, agent="panel"))}
    final = (await node.ainvoke(state))["scores"]["Clarity/sage/final/0"]
    assert len(judge.calls) == asked
    assert (final.value, final.draft) == (value, "Clarity/panel/draft/0")


async def test_a_condition_by_itself_still_looks_at_every_judges_draft():
    scores = keyed(score(1.0, agent="inner"), score(4.0, agent="panel"))
    assert list(jg.low(below=2.5)({"scores": scores})) == ["Clarity"]
