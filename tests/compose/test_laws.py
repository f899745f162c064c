"""Laws of composing: nesting, order and a critic that agrees change no score."""

from itertools import permutations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langgraph.graph import END, START, StateGraph

import judgegraph as jg
from judgegraph.agents.evaluator import Case, Evaluator, Scored
from judgegraph.agents.under_review import Critique, Reviewed
from judgegraph.compiled import run_sync
from judgegraph.compose.nodes import as_node
from judgegraph.graphs import sageval
from judgegraph.types import Criterion, EvalState, Rectification, Sample, Scale, Score, keyed

QUICK = settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow])
SAID = ("the", "bridge", "closed", "on", "Monday", "repairs", "take", "a", "year", ".")
WORDS = st.lists(st.sampled_from(SAID), min_size=3)
SAMPLES = st.builds(
    lambda source, output: Sample(id="s", source=" ".join(source), output=" ".join(output)), WORDS, WORDS
)
METHODS = st.sampled_from(["sageval", "coascore", "fennec", "fusion-eval", "g-eval", "llm-score"])
NAMES = ("Relevance", "Coherence", "Fluency", "Consistency", "Tone")
SCALES = {"Tone": Scale(labels=("cold", "warm")), "Fluency": Scale.of("1-3"), "Relevance": Scale.of("0-1 any")}
CRITERIA = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True).map(
    lambda names: [Criterion(name=n, definition=f"Its {n}.", scale=SCALES.get(n, Scale.of("1-5"))) for n in names]
)


class Fixed:
    """A judge of fixed answers: criterion -> value, label or None where it abstains."""

    def __init__(self, name, answers):
        self.name, self.answers = name, answers

    async def __call__(self, state: Case) -> Scored:
        return {"scores": keyed(*map(self._score, state["criteria"]))}

    def _score(self, criterion):
        answer = self.answers.get(criterion.name)
        what = {"label": answer} if isinstance(answer, str) else {"value": answer}
        what = {"status": "abstained"} if answer is None else what
        return Score(criterion=criterion.name, agent=self.name, scale=criterion.scale, **what)


class Agrees:
    """A critic that keeps every score."""

    name = "agrees"

    async def __call__(self, state: Reviewed) -> Critique:
        said = [Rectification(criterion=s.criterion, agent=self.name) for s in state["scores"].values()]
        return {"rectifications": keyed(*said), "suggestions": []}


ANSWERS = st.fixed_dictionaries({
    "Relevance": st.one_of(st.none(), st.floats(0, 1)), "Coherence": st.one_of(st.none(), st.integers(1, 5)),
    "Fluency": st.one_of(st.none(), st.floats(1, 3)), "Consistency": st.one_of(st.none(), st.floats(1, 5)),
    "Tone": st.one_of(st.none(), st.sampled_from(["cold", "warm"])),
})  # fmt: skip


def wrapped(node, times=1):
    for _ in range(times):
        graph = StateGraph(EvalState)
        graph.add_node("inner", node)
        graph.add_edge(START, "inner")
        graph.add_edge("inner", END)
        node = graph.compile()
    return node


def side_by_side(nodes):
    graph = StateGraph(EvalState)
    for name, node in nodes.items():
        graph.add_node(name, node)
        graph.add_edge(START, name)
        graph.add_edge(name, END)
    return graph.compile()


def run(node, sample, **before):
    return run_sync(node.ainvoke({"sample": sample, **before}))


def answers(scores):
    return {s.criterion: (s.answer, s.status) for s in scores}


def of(final, agent):
    return answers(s for s in final["scores"].values() if (s.agent, s.stage) == (agent, "final"))


@QUICK
@given(METHODS, SAMPLES, CRITERIA, st.integers(1, 3))
def test_nesting_a_method_changes_none_of_its_scores(method, sample, criteria, depth):
    node = as_node(method, criteria=criteria)
    alone = run(node, sample)
    nested = run(wrapped(node, depth), sample)
    assert list(nested["scores"].items()) == list(alone["scores"].items())
    for key in ("notes", "rectifications", "suggestions", "comparisons", "corrections", "branches", "aspects"):
        assert nested.get(key) == alone.get(key) or not (nested.get(key) or alone.get(key))


@QUICK
@given(st.sampled_from(["sageval", "fennec", "g-eval", "llm-score", "coascore"]), SAMPLES, CRITERIA)
def test_a_panel_of_one_says_what_its_judge_says(method, sample, criteria):
    node = as_node(method, criteria=criteria)
    alone = {s.criterion: (s.answer, s.status) for s in run(node, sample)["scores"].values() if s.stage == "final"}
    panel = run(jg.panel(node, criteria=criteria), sample)
    assert of(panel, "panel") == alone


@QUICK
@given(ANSWERS, CRITERIA, st.integers(1, 5), st.sampled_from(["mean", "median", "vote"]))
def test_a_panel_of_judges_that_say_the_same_says_that(said, criteria, count, combine):
    sample = Sample(id="s", output="t")
    judges = [Fixed(f"j{i}", said) for i in range(count)]
    panel = run(jg.panel(*judges, combine=combine, criteria=criteria), sample)
    assert of(panel, "panel") == answers(run(judges_alone(judges[0], criteria), sample)["scores"].values())


def judges_alone(judge, criteria):
    return jg.each(judge, criteria=criteria)


@QUICK
@given(st.lists(ANSWERS, min_size=2, max_size=3), CRITERIA, st.sampled_from(["mean", "median", "vote"]))
def test_the_order_of_a_panels_members_changes_nothing(said, criteria, combine):
    judges = [Fixed(f"j{i}", one) for i, one in enumerate(said)]
    found = []
    for order in permutations(judges):
        final = run(jg.panel(*order, combine=combine, criteria=criteria), Sample(id="s", output="t"))
        consensus = [s for s in final["scores"].values() if s.agent == "panel"]
        rest = {key: s for key, s in final["scores"].items() if s.agent != "panel"}
        found.append((answers(consensus), [s.distribution for s in consensus], rest))
    assert all(one == found[0] for one in found)


@pytest.mark.slow
@QUICK
@given(SAMPLES, st.permutations(["sageval", "llm-score", "fennec"]))
def test_the_order_in_which_branches_are_added_changes_nothing(sample, order):
    alike = [run(side_by_side({n.replace("-", "_"): as_node(n, criteria="summary") for n in names}), sample)
             for names in (order, sorted(order))]  # fmt: skip
    assert alike[0]["scores"] == alike[1]["scores"]
    assert alike[0]["notes"] == alike[1]["notes"]


@pytest.mark.slow
@QUICK
@given(SAMPLES, CRITERIA, st.randoms(use_true_random=False))
def test_the_order_of_criteria_changes_no_score(sample, criteria, random):
    shuffled = random.sample(criteria, len(criteria))
    for node in (as_node("llm-score"), jg.each("evaluator"), jg.panel("llm-score", "g-eval")):
        there, back = run(node, sample, criteria=criteria), run(node, sample, criteria=shuffled)
        assert there["scores"] == back["scores"]


@QUICK
@given(SAMPLES, CRITERIA, st.integers(0, 2))
def test_a_critic_that_agrees_with_everything_is_the_identity(sample, criteria, depth):
    node = wrapped(sageval(criteria=criteria, critic=Agrees()), depth)
    scores = run(node, sample)["scores"].values()
    drafts = {s.criterion: s for s in scores if s.stage == "draft"}
    finals = {s.criterion: s for s in scores if s.stage == "final"}
    assert {n: (s.value, s.label, s.status) for n, s in finals.items()} == {
        n: (s.value, s.label, s.status) for n, s in drafts.items()
    }
    assert len(drafts) == len(criteria)


@QUICK
@given(SAMPLES, CRITERIA)
def test_each_over_an_agent_that_asks_one_by_one_changes_nothing(sample, criteria):
    alone = run(as_node("llm-score", criteria=criteria), sample)
    assert run(jg.each("llm-score", criteria=criteria), sample)["scores"] == alone["scores"]
    one = Evaluator(criteria=criteria[:1])
    assert run(jg.each(one), sample)["scores"] == run(wrapped(one), sample)["scores"]
