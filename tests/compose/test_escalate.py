"""Escalation: the strong judge is asked for what the cheap one leaves in doubt, and for nothing else."""

import pytest
from drawing import arrows, figure
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.graph import END, START, StateGraph

import judgegraph as jg
from judgegraph import registry
from judgegraph.agents.evaluator import Case, Evaluator, Scored
from judgegraph.compiled import run_sync
from judgegraph.compose import gate as module
from judgegraph.errors import ConfigError
from judgegraph.graphs import fennec, sageval
from judgegraph.prompts.criteria import criteria_set
from judgegraph.runs.identity import configuration, differences
from judgegraph.testing import scripted
from judgegraph.types import Criterion, Sample, Score, keyed

SAMPLE = Sample(id="s1", query="Say when it opens.", source="It opens in May.", output="It opens in May.")
CLARITY, WIT = Criterion(name="Clarity", definition="One reading only."), Criterion(name="Wit")
CRITERIA = [CLARITY, WIT]
LOW = jg.low(3)


def reply(**scores):
    return {name: {"reason": f"because {value}", "score": value} for name, value in scores.items()}


async def judged(cheap, strong, when=LOW, criteria=CRITERIA, **more):
    node = jg.escalate(cheap, strong, when=when, criteria=criteria, samples=1, **more)
    final = await node.ainvoke({"sample": SAMPLE})
    return final, {s.criterion: s for s in final["scores"].values() if s.stage == "final"}


async def test_the_strong_judge_is_asked_for_what_is_in_doubt_alone():
    strong = scripted(reply(clarity=4))
    final, finals = await judged(scripted(reply(clarity=2, wit=5)), strong)
    assert {c: (s.agent, s.value) for c, s in finals.items()} == {
        "Clarity": ("escalate", 4.0),
        "Wit": ("escalate", 5.0),
    }
    (asked,) = strong.calls
    assert "## Clarity" in asked[0].content + asked[-1].content
    assert "## Wit" not in asked[0].content + asked[-1].content
    assert list(final["scores"]) == [
        "Clarity/escalate-cheap/draft/0", "Wit/escalate-cheap/draft/0", "Clarity/escalate-strong/escalated/0",
        "Clarity/escalate/final/0", "Wit/escalate/final/0",
    ]  # fmt: skip
    assert finals["Clarity"].notes[-1] == "escalated: 2 is below 3"
    assert finals["Wit"].notes[-1] == "not escalated: nothing was in doubt"
    assert finals["Clarity"].draft == "Clarity/escalate-cheap/draft/0"
    assert finals["Clarity"].reason == "because 4"


async def test_where_nothing_is_in_doubt_the_scores_are_the_cheap_judges():
    strong = scripted()
    final, finals = await judged(scripted(reply(clarity=4, wit=5)), strong)
    assert strong.calls == []
    for name, made in finals.items():
        draft = final["scores"][f"{name}/escalate-cheap/draft/0"]
        changed = {"agent": "escalate", "stage": "final", "draft": draft.key, "notes": made.notes, "member": ""}
        assert made == draft.model_copy(update=changed)


@pytest.mark.parametrize(
    ("cheap", "strong", "status", "value", "note"),
    [
        (2, 4, "ok", 4.0, "escalated: 2 is below 3"),
        (2, "no", "ok", 2.0, "the strong judge failed (unreadable), the cheap judge's score stands"),
        (2, None, "ok", 2.0, "the strong judge failed (abstained), the cheap judge's score stands"),
        (None, 4, "ok", 4.0, "escalated: there is no answer (abstained)"),
        (None, "no", "unreadable", None, "escalated: there is no answer (abstained); the strong judge failed"),
        (None, None, "abstained", None, "the strong judge failed (abstained)"),
    ],
)
async def test_whose_score_counts_when_one_of_them_fails(cheap, strong, status, value, note):
    second = scripted(*(["no"] * 3 if strong == "no" else [reply(clarity=strong)]))
    first = scripted(reply(clarity=cheap))
    _, finals = await judged(first, second, when=["failed", LOW], criteria=[CLARITY])
    assert (finals["Clarity"].status, finals["Clarity"].value) == (status, value)
    assert note in finals["Clarity"].notes[-1]


async def test_a_cheap_judge_that_fails_altogether_is_escalated_by_default():
    strong = scripted(reply(clarity=4, wit=2))
    node = jg.escalate(scripted(*["no"] * 3), strong, criteria=CRITERIA, samples=1)
    final = await node.ainvoke({"sample": SAMPLE})
    assert final["scores"]["Clarity/escalate/final/0"].value == 4.0
    assert len(strong.calls) == 1


async def test_each_criterion_in_doubt_may_have_a_run_of_its_own():
    strong = scripted(lambda messages: reply(**{"clarity" if "## Clarity" in str(messages) else "wit": 4}), *[
        lambda messages: reply(**{"clarity" if "## Clarity" in str(messages) else "wit": 4})
    ])  # fmt: skip
    _, finals = await judged(scripted(reply(clarity=1, wit=2)), strong, each=True)
    assert [s.value for s in finals.values()] == [4.0, 4.0]
    assert len(strong.calls) == 2


async def test_an_agent_that_says_nothing_of_a_criterion_is_missed():
    async def half(state: Case) -> Scored:
        return {"scores": keyed(Score(criterion="Clarity", agent="half", value=4.0))}

    _, finals = await judged(half, scripted(reply(wit=3)), when="failed")
    assert {c: s.value for c, s in finals.items()} == {"Clarity": 4.0, "Wit": 3.0}
    assert finals["Wit"].draft is None
    assert finals["Wit"].notes[-1] == "escalated: it has no score"
    _, finals = await judged(scripted(reply(clarity=2, wit=2)), half)
    assert finals["Wit"].value == 2.0
    assert "the strong judge gave no score, the cheap judge's score stands" in finals["Wit"].notes[-1]


@pytest.mark.parametrize("place", ["cheap", "strong"])
async def test_a_judge_that_does_not_say_what_it_reads_and_writes_is_told_all_that_a_method_is(place):
    inner = StateGraph(jg.EvalState)
    rater = Evaluator(judge=scripted(reply(clarity=4)), reader=jg.Reader(), name="rater", stage="final")
    inner.add_node("rate", rater)
    inner.add_edge(START, "rate")

    async def silent(state):
        agent = f"silent-{state['sample'].id}"
        return {"scores": keyed(*(Score(criterion=c.name, agent=agent, value=4.0) for c in state["criteria"]))}

    for judge in (inner.compile(), silent):
        cheap, strong = (judge, scripted()) if place == "cheap" else (scripted(reply(clarity=2)), judge)
        final, finals = await judged(cheap, strong, criteria=[CLARITY])
        assert finals["Clarity"].value == 4.0
        assert "criteria" not in final
    graph = StateGraph(jg.EvalState)
    graph.add_node("judge", jg.escalate(inner.compile(), silent, when=LOW, criteria=[CLARITY]))
    graph.add_edge(START, "judge")
    assert [f for f in jg.check(graph.compile(), strict=False).findings if f.severity == "error"] == []


@pytest.mark.parametrize(
    ("broken", "value", "note"),
    [
        ("cheap", 4.0, "escalated: there is no answer (agent_error)"),
        ("strong", 2.0, "the strong judge failed (agent_error), the cheap judge's score stands"),
    ],
)
async def test_a_judge_that_raises_has_failed_and_the_other_one_counts(broken, value, note):
    async def breaks(state: Case) -> Scored:
        raise ZeroDivisionError("by zero")

    judges = {"cheap": scripted(reply(clarity=2)), "strong": scripted(reply(clarity=4)), broken: breaks}
    _, finals = await judged(**judges, when=["failed", LOW], criteria=[CLARITY])
    assert finals["Clarity"].value == value
    assert note in finals["Clarity"].notes[-1]


async def test_graphs_answer_with_their_finals_and_keep_their_own_scores():
    cheap, strong = (sageval(criteria="summary", name=name) for name in ("a", "b"))
    alone = await cheap.ainvoke({"sample": SAMPLE})
    final, finals = await judged(cheap, strong, when=jg.low(5), criteria="summary")
    own = {key: score.model_copy(update={"member": "escalate-cheap"}) for key, score in alone["scores"].items()}
    assert own.items() <= final["scores"].items()
    for name, made in finals.items():
        assert made.value == alone["scores"][f"{name}/a-sage/final/0"].value


async def test_what_a_graph_wrote_to_judge_by_is_what_the_strong_judge_is_asked():
    strong = scripted(lambda messages: {}, *[lambda messages: {}] * 2)
    final = await jg.escalate(fennec(branches=2), strong, when=lambda state: True, samples=1).ainvoke(
        {"sample": SAMPLE}
    )
    asked = " ".join(m.content for m in strong.calls[0])
    assert all(c.definition in asked for c in final["branches"].values())


async def test_without_criteria_there_is_a_note_and_no_call():
    first, second = scripted(), scripted()
    final, finals = await judged(first, second, criteria=None)
    assert (finals, first.calls, second.calls) == ({}, [], [])
    assert list(final["notes"]) == ["escalate/no criteria and no scores: there was nothing to decide"]


async def test_criteria_of_the_state_come_before_its_own():
    node = jg.escalate(scripted(reply(new=2)), scripted(reply(new=5)), when=LOW, criteria=CRITERIA, samples=1)
    final = await node.ainvoke({"sample": SAMPLE, "criteria": [Criterion(name="New")]})
    assert final["scores"]["New/escalate/final/0"].value == 5.0


values = st.dictionaries(st.sampled_from(["clarity", "wit", "tone"]), st.sampled_from([None, 1, 2, 3, 4, 5]))


@settings(max_examples=40)
@given(given=values, chosen=st.sets(st.sampled_from(["Clarity", "Wit", "Tone"])))
def test_exactly_the_criteria_in_doubt_are_asked_for(given, chosen):
    criteria = [*CRITERIA, Criterion(name="Tone")]
    cheap = {"clarity": 3, "wit": 3, "tone": 3} | given
    strong = scripted(reply(**{name.lower(): 5 for name in chosen}))
    final, finals = run_sync(
        judged(scripted(reply(**cheap)), strong, when=lambda state: list(chosen), criteria=criteria)
    )
    assert {s.criterion for s in final["scores"].values() if s.agent == "escalate-strong"} == chosen
    assert len(strong.calls) == bool(chosen)
    assert {name: s.value for name, s in finals.items()} == {
        c.name: 5.0 if c.name in chosen else cheap[c.name.lower()] for c in criteria
    }


@pytest.mark.slow
def test_two_side_by_side_by_the_embedded_judge_in_a_run_and_planned(tmp_path):
    samples = [Sample(id=str(n), source="It opens in May.", output="It opens. " * n) for n in range(1, 5)]
    graph = StateGraph(jg.EvalState)
    for name, above in (("a", 0.13), ("b", 0.14)):
        node = jg.escalate("embedded", "g-eval", when=jg.wide(above), criteria="summary", name=name)
        graph.add_node(name, node)
        graph.add_edge(START, name)
        graph.add_edge(name, END)
    compiled, ledger = graph.compile(), tmp_path / "ledger.sqlite"
    jg.check(compiled)
    before = jg.plan(compiled, samples)
    run = jg.evaluate(compiled, samples, ledger=ledger)
    sent = run.manifest["calls"]["replies"]
    assert before.complete
    assert before.total.exact + before.total.rest[0] <= sent <= before.total.exact + before.total.rest[1]
    after = jg.plan(compiled, samples, ledger=ledger)
    assert (after.total.exact, after.total.rest) == (sent, (0, 0, 0))
    names = {c.name for c in criteria_set("summary").criteria}
    doubted = set()
    for item in run.items:
        for agent in ("a", "b"):
            assert {s.criterion for s in item.scores if s.agent == agent} == names
            doubted.add((agent, sum(s.stage == "escalated" and s.agent == f"{agent}-strong" for s in item.scores)))
    assert len(doubted) > 2, "some are escalated, some are not"


def test_a_setting_of_the_condition_changes_the_configuration_by_a_line():
    old, new = (jg.escalate(when=jg.wide(above), criteria="summary") for above in (0.2, 0.3))
    assert differences(configuration(old), configuration(new)) == ["nodes.doubt.options.when.above: 0.2 -> 0.3"]


@pytest.mark.parametrize(
    ("cheap", "said"),
    [("sage", "writes no scores"), ("nobody", "no agent, critic, method or assistant 'nobody'"), (7, "a node is")],
)
def test_what_is_no_judge_is_refused(cheap, said):
    with pytest.raises(ConfigError, match=said):
        jg.escalate(cheap, "embedded")


def test_the_graph_is_the_figure_of_the_docstring():
    assert arrows(jg.escalate()) == figure((module.__doc__ or "").split("Escalated:")[1])
    assert {"__start__ > brief", "brief > cheap"} <= arrows(jg.escalate(criteria="summary"))


def test_it_is_there_by_name_as_are_the_others():
    settings = {"critique": {"when": "wide"}, "refine": {"rounds": 2}, "escalate": {"strong": "g-eval"}}
    for name, own in settings.items():
        assert registry.make("agent", name, own, judge="embedded", criteria=CRITERIA).get_name() == name


def test_two_judges_of_other_criteria_are_refused():
    cheap, strong = Evaluator(criteria=CRITERIA), Evaluator(criteria=[CLARITY, Criterion(name="Tone")])
    with pytest.raises(ConfigError, match="its own 'Tone' is not among them"):
        jg.escalate(cheap, strong)
    assert jg.escalate(cheap, Evaluator(criteria=[CLARITY]))
    assert jg.escalate(cheap, strong, criteria=CRITERIA)


def test_one_model_as_both_judges_is_refused_where_it_would_repeat_itself():
    with pytest.raises(ConfigError, match=r"are both 'openai:x': the strong judge would repeat .* name another judge"):
        jg.escalate("openai:x", "openai:x", criteria="summary")
    with pytest.raises(ConfigError, match="are both 'openai:x'"):
        jg.escalate(jg.Endpoint(model="openai:x"), jg.Endpoint(model="openai:x"), criteria="summary")
    jg.escalate("openai:x", "openai:x", criteria="summary", each=True)  # of each criterion alone
    jg.escalate("openai:x", "openai:y", criteria="summary")
