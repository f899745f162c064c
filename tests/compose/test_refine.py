"""Refining: a critic is asked again while it changes something, never more often than it may be."""

from dataclasses import dataclass, field

import pytest
from drawing import arrows, comments, figure
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.graph import END, START, StateGraph

import judgegraph as jg
from judgegraph.agents.evaluator import Evaluator
from judgegraph.agents.under_review import Critique, Reviewed
from judgegraph.compiled import run_sync
from judgegraph.compose import critique as module
from judgegraph.errors import ConfigError
from judgegraph.prompts.criteria import criteria_set
from judgegraph.runs.identity import configuration, differences, signature
from judgegraph.types import Rectification, Sample, Scale, Score, keyed

SAMPLE = Sample(id="s1", query="Say when it opens.", source="It opens in May.", output="It opens in May.")
FIVE = Scale.of("1-5")
KEEP, SILENT, FAIL = "keep", "silent", "fail"


@dataclass(frozen=True, kw_only=True)
class Told:
    """Says round by round what it is told to: a value, "keep", nothing, or that it failed; then it keeps all."""

    script: tuple[dict[str, object], ...]
    name: str = "told"
    shown: list[dict[str, object]] = field(default_factory=list)

    async def __call__(self, state: Reviewed) -> Critique:
        drafts = {s.criterion: s.answer for s in state["scores"].values() if s.stage == "draft"}
        round_ = self.script[len(self.shown)] if len(self.shown) < len(self.script) else {}
        self.shown.append(drafts)
        said = [self._said(c, round_.get(c, KEEP)) for c in drafts if round_.get(c) != SILENT]
        return {"rectifications": keyed(*said), "suggestions": []}

    def _said(self, criterion, what):
        about = {"criterion": criterion, "agent": self.name, "reason": f"round {len(self.shown)}"}
        if what == FAIL:
            return Rectification(**about, status="refused")
        if what == KEEP:
            return Rectification(**about)
        answer = {"label": what} if isinstance(what, str) else {"value": what}
        return Rectification(**about, action="change", direction="down", **answer)


def score(value, criterion="Clarity"):
    given = {"label": value} if isinstance(value, str) else {"value": value}
    return Score(criterion=criterion, agent="evaluator", stage="draft", scale=FIVE, **given)


DRAFTS = (score(4.0), score(3.0, "Wit"))


async def refined(*script, drafts=DRAFTS, **more):
    critic = Told(script=script)
    final = await jg.refine(critic, **more).ainvoke({"sample": SAMPLE, "scores": keyed(*drafts)})
    finals = {s.criterion: s for s in final["scores"].values() if s.stage == "final"}
    return final, finals, critic.shown


async def test_a_critic_that_agrees_is_asked_once_and_is_the_identity():
    _, finals, shown = await refined(rounds=20)
    assert len(shown) == 1
    for draft in DRAFTS:
        changed = {"agent": "told", "stage": "final", "draft": draft.key, "reason": "round 1"}
        assert finals[draft.criterion] == draft.model_copy(update=changed)


async def test_each_round_shows_what_the_last_one_came_to_as_drafts():
    final, finals, shown = await refined({"Clarity": 3.0}, {"Clarity": 2.0, "Wit": 1.0})
    assert shown == [{"Clarity": 4.0, "Wit": 3.0}, {"Clarity": 3.0, "Wit": 3.0}, {"Clarity": 2.0, "Wit": 1.0}]
    assert {c: s.value for c, s in finals.items()} == {"Clarity": 2.0, "Wit": 1.0}
    assert {s.draft for s in finals.values()} == {d.key for d in DRAFTS}
    assert all(final["scores"][d.key] == d for d in DRAFTS)
    kept = {s.stage: (s.value, s.draft) for s in final["scores"].values() if s.criterion == "Clarity"}
    assert kept == {
        "draft": (4.0, None), "final": (2.0, "Clarity/evaluator/draft/0"),
        "round-1": (3.0, "Clarity/evaluator/draft/0"), "round-2": (2.0, "Clarity/told/round-1/0"),
        "round-3": (2.0, "Clarity/told/round-2/0"),
    }  # fmt: skip
    assert finals["Clarity"].notes == ()


@pytest.mark.parametrize(
    ("script", "rounds", "calls", "value", "note"),
    [
        ([2.0], 1, 1, 2.0, "stopped after 1 round: the critic was still changing scores"),
        ([2.0, 3.0, 1.0], 3, 3, 1.0, "stopped after 3 rounds: the critic was still changing scores"),
        ([2.0, 3.0], 3, 3, 3.0, None),
        ([2.0, 3.0, 2.0], 9, 3, 2.0, "stopped after 3 rounds: the answers are those of round 1 again"),
        ([2.0, 4.0], 9, 2, 4.0, "stopped after 2 rounds: the answers are those of the draft again"),
        ([2.0, FAIL], 9, 2, 2.0, "round 2: the critic failed (refused), what it said before stands"),
        ([2.0, SILENT], 9, 2, 2.0, None),
        ([2.0, FAIL, 1.0], 9, 2, 2.0, "round 2: the critic failed (refused), what it said before stands"),
    ],
    ids=["one round", "the cap", "settled", "a circle", "back to the draft", "a later failure", "a later silence",
         "no round after a failure alone"],
)  # fmt: skip
async def test_what_ends_the_rounds(script, rounds, calls, value, note):
    _, finals, shown = await refined(*({"Clarity": said} for said in script), rounds=rounds)
    assert (len(shown), finals["Clarity"].value) == (calls, value)
    assert finals["Clarity"].notes == ((note,) if note else ())
    assert (finals["Wit"].value, finals["Wit"].notes) == (3.0, ())


@pytest.mark.parametrize(("said", "status"), [(FAIL, "refused"), (SILENT, "skipped")])
async def test_a_failure_in_the_first_round_is_the_score_and_is_asked_about_no_more(said, status):
    final, finals, shown = await refined({"Clarity": said, "Wit": 2.0}, {"Wit": 1.0})
    assert (finals["Clarity"].status, finals["Clarity"].value, finals["Wit"].value) == (status, None, 1.0)
    assert shown[1:] == [{"Wit": 2.0}, {"Wit": 1.0}]
    assert "Clarity/told/round-2/0" not in final["scores"]


async def test_where_all_fails_there_is_no_second_round():
    _, finals, shown = await refined({"Clarity": FAIL, "Wit": FAIL})
    assert ({s.status for s in finals.values()}, len(shown)) == ({"refused"}, 1)


async def test_labels_are_refined_too():
    labels = Scale.of(["warm", "cold", "odd"])
    draft = score("warm", "Tone").model_copy(update={"scale": labels})
    _, finals, shown = await refined({"Tone": "cold"}, {"Tone": "odd"}, drafts=[draft])
    assert (finals["Tone"].label, len(shown)) == ("odd", 3)


async def test_the_verdict_in_the_end_is_from_draft_to_final():
    final, _, _ = await refined({"Clarity": 2.0, "Wit": 2.0}, {"Wit": 3.0}, {"Wit": 3.0})
    said = {r.criterion: (r.action, r.direction, r.value) for r in final["rectifications"].values()}
    assert said == {"Clarity": ("change", "down", 2.0), "Wit": ("keep", "none", None)}


async def test_a_gate_decides_once_what_is_refined():
    wide = score(3.0, "Wit").model_copy(update={"distribution": {"1": 0.5, "5": 0.5}})
    sure = score(4.0).model_copy(update={"distribution": {"4": 1.0}})
    _, finals, shown = await refined({"Wit": 2.0, "Clarity": 1.0}, drafts=[sure, wide], when="wide")
    assert shown == [{"Wit": 3.0}, {"Wit": 2.0}]
    assert (finals["Clarity"].value, finals["Wit"].value) == (4.0, 2.0)
    assert finals["Clarity"].notes == ("the critic was not asked: nothing was in doubt",)
    assert finals["Wit"].notes[0].startswith("the critic was asked: ")
    _, finals, shown = await refined({"Wit": 2.0}, drafts=[sure], when="wide")
    assert (shown, finals["Clarity"].value) == ([], 4.0)


async def test_without_a_score_there_is_a_note_and_no_round():
    final, finals, shown = await refined(drafts=())
    assert (finals, shown) == ({}, [])
    assert list(final["notes"]) == ["told/no score at stage 'draft': nothing to review"]


@pytest.mark.parametrize("rounds", [0, 21, 2.0, True, "3", None])
def test_rounds_are_a_whole_number_from_1_to_20(rounds):
    with pytest.raises(ConfigError, match="rounds: expected a whole number from 1 to 20"):
        jg.refine(rounds=rounds)


answers = st.one_of(st.sampled_from([KEEP, SILENT, FAIL]), st.integers(1, 5).map(float), st.floats(1, 5))
rounds_of = st.lists(st.dictionaries(st.sampled_from(["Clarity", "Wit"]), answers), max_size=8)


@settings(max_examples=60)
@given(script=rounds_of, rounds=st.integers(1, 6))
def test_whatever_a_critic_says_it_is_asked_no_more_than_it_may_be_and_every_draft_has_its_final(script, rounds):
    final, finals, shown = run_sync(refined(*script, rounds=rounds))
    assert 1 <= len(shown) <= rounds
    assert {s.draft for s in finals.values()} == {d.key for d in DRAFTS}
    assert all(final["scores"][d.key] == d for d in DRAFTS)
    for criterion, last in finals.items():
        spoken = script[0].get(criterion, KEEP) if script else KEEP
        assert (last.answer is None) == (spoken in (FAIL, SILENT))
    stages = {s.stage for s in final["scores"].values()} - {"draft", "final"}
    assert stages == {f"round-{n}" for n in range(1, len(shown) + 1)}


def graph_of(node):
    chosen = criteria_set("summary")
    graph = StateGraph(jg.EvalState)
    graph.add_node("evaluate", Evaluator(criteria=chosen.criteria, task=chosen.task))
    graph.add_node("refine", node)
    graph.add_edge(START, "evaluate")
    graph.add_edge("evaluate", "refine")
    graph.add_edge("refine", END)
    return graph.compile()


@pytest.mark.slow
def test_refined_by_the_embedded_judge_and_planned(tmp_path):
    samples = [Sample(id=str(n), source="It opens in May.", output="It opens. " * n) for n in range(1, 4)]
    graph, ledger = graph_of(jg.refine(criteria="summary", rounds=4)), tmp_path / "ledger.sqlite"
    jg.check(graph)
    before = jg.plan(graph, samples)
    run = jg.evaluate(graph, samples, ledger=ledger)
    sent = run.manifest["calls"]["replies"]
    assert before.complete
    assert before.total.exact + before.total.rest[0] == 2 * len(samples)
    readable = before.total.exact + before.total.rest[1]
    assert readable == len(samples) * 2 * (1 + 4), "each may ask for samples too, where tokens say nothing"
    assert 2 * len(samples) <= sent <= readable
    after = jg.plan(graph, samples, ledger=ledger)
    assert (after.total.exact, after.total.rest) == (sent, (0, 0, 0))
    again = jg.evaluate(graph, samples, ledger=ledger)
    assert again.manifest["calls"]["replies"] == 0
    for item in again.items:
        finals = [s for s in item.scores if s.stage == "final"]
        assert {s.draft for s in finals} == {s.key for s in item.scores if s.stage == "draft"}
        assert item.other == {}


def test_the_number_of_rounds_is_one_line_of_the_configuration_and_stands_in_the_signature():
    three, four = graph_of(jg.refine(rounds=3)), graph_of(jg.refine(rounds=4))
    assert differences(configuration(three), configuration(four)) == ["nodes.refine/round.options.most: 3 -> 4"]
    assert "|refine/rounds:3|" in signature(three)


def test_the_graph_is_the_figure_of_the_docstring():
    assert arrows(jg.refine()) == figure(comments(module))
    gated = arrows(jg.refine(when="wide"))
    assert {"__start__ > doubt", "doubt > critic", "doubt > round", "round > critic"} <= gated
    jg.check(graph_of(jg.refine(when="wide")))
