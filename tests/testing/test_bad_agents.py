"""Agents that each make one mistake people make: each is caught by its own finding, and by no other."""

from __future__ import annotations

import asyncio
import itertools
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NotRequired

import pytest
from pydantic import BaseModel
from typing_extensions import TypedDict

from judgegraph import prompts
from judgegraph.agents.evaluator import Evaluator
from judgegraph.agents.planner import Planner
from judgegraph.agents.sage import Sage
from judgegraph.agents.under_review import Critique, Reviewed
from judgegraph.calls import JudgeLike, ask
from judgegraph.errors import ConfigError, ReplyError
from judgegraph.testing import assert_conforms, check_agent, rules, scripted
from judgegraph.testing import conformance as trial
from judgegraph.testing.rules import name_of
from judgegraph.testing.scripted import Answering
from judgegraph.types import Criterion, Note, Notes, Rectification, Sample, Score, Scores, keyed


class Case(TypedDict):
    sample: Sample
    criteria: NotRequired[list[Criterion]]


class Scored(TypedDict):
    scores: Scores


class Noted(TypedDict):
    notes: Notes


class ScoredOrNoted(TypedDict):
    scores: Scores
    notes: NotRequired[Notes]


class ReviewedAlone(TypedDict):
    sample: Sample
    scores: Scores


class Reply(BaseModel):
    reason: str
    value: float


def asked(sample: Sample) -> prompts.Rendered:
    fields = {"query": sample.query, "source": sample.source, "output": sample.output}
    return prompts.load("evaluate").render(task="a notice", criteria="Clarity", **fields)


async def said(judge: JudgeLike, sample: Sample) -> Score:
    """What a good agent writes."""
    try:
        reply = await ask(judge, asked(sample), Reply)
        return Score(criterion="Clarity", agent="one", value=reply.value, reason=reply.reason)
    except ReplyError as error:
        return Score(criterion="Clarity", agent="one", status=error.status, reason=str(error))


@dataclass(frozen=True, kw_only=True)
class Good:
    judge: JudgeLike = "embedded"

    async def __call__(self, state: Case) -> Scored:
        return {"scores": keyed(await said(self.judge, state["sample"]))}


@dataclass(kw_only=True)
class Soft:
    judge: JudgeLike = "embedded"

    async def __call__(self, state: Case) -> Scored:
        return {"scores": keyed(await said(self.judge, state["sample"]))}


class Plain:
    async def __call__(self, state: Case) -> Scored:
        return {"scores": keyed(await said("embedded", state["sample"]))}


@dataclass(frozen=True, eq=False)
class Unequal:
    async def __call__(self, state: Case) -> Scored:
        return {"scores": keyed(await said("embedded", state["sample"]))}


async def unannotated(state):
    return {"scores": keyed(await said("embedded", state["sample"]))}


async def reads_more(state: Case) -> Scored:
    state.get("plan")
    return {"scores": keyed(await said("embedded", state["sample"]))}


async def writes_more(state: Case) -> Scored:
    return {"scores": keyed(await said("embedded", state["sample"])), "overall": None}  # type: ignore[typeddict-unknown-key]


async def writes_a_list(state: Case) -> Scored:
    return [await said("embedded", state["sample"])]  # type: ignore[return-value]


async def changes_the_state(state: Case) -> Scored:
    state.get("criteria", []).clear()
    return {"scores": keyed(await said("embedded", state["sample"]))}


@dataclass(frozen=True)
class Counting:
    seen: list[str] = field(default_factory=list)

    async def __call__(self, state: Case) -> Scored:
        self.seen.append(state["sample"].id)
        return {"scores": keyed(await said("embedded", state["sample"]))}


async def writes_a_set(state: Case) -> Noted:
    await said("embedded", state["sample"])
    return {"notes": {"a": {1, 2}}}  # type: ignore[dict-item]


async def writes_under_another_key(state: Case) -> Scored:
    return {"scores": {"Clarity": await said("embedded", state["sample"])}}


async def writes_what_the_judge_says(state: Case) -> Scored:
    score = await said("embedded", state["sample"])
    return {"scores": keyed(score.model_copy(update={"scale": Criterion(name="Clarity").scale}))}


async def scores_a_failure_as_zero(state: Case) -> Scored:
    score = await said("embedded", state["sample"])
    lost = Score(criterion="Clarity", agent="one", value=0.0, reason=score.reason)
    return {"scores": keyed(score if score.status == "ok" else lost)}


async def lets_errors_out(state: Case) -> Scored:
    reply = await ask("embedded", asked(state["sample"]), Reply)
    return {"scores": keyed(Score(criterion="Clarity", agent="one", value=reply.value))}


async def hangs(state: Case) -> Scored:
    await asyncio.sleep(60)
    return {"scores": {}}


COUNT = itertools.count()


async def writes_anew(state: Case) -> Noted:
    await said("embedded", state["sample"])
    return {"notes": keyed(Note(agent="one", text=f"call {next(COUNT)}"))}


async def asks_anew(state: Case) -> Scored:
    sample = state["sample"].model_copy(update={"query": f"try {next(COUNT)}"})
    return {"scores": keyed(await said("embedded", sample))}


async def shows_the_text_bare(state: Case) -> Noted:
    try:
        text = await ask("embedded", f"Say what you think of: <output>{state['sample'].output}</output>")
    except ReplyError as error:
        return {"notes": keyed(Note(agent="one", text="no opinion", status=error.status))}
    return {"notes": keyed(Note(agent="one", text=text))}


async def uses_a_fixed_code(state: Case) -> Noted:
    text = f"What of this?\n<output-12ab34cd>\n{state['sample'].output}\n</output-12ab34cd>"
    try:
        text = await ask("embedded", text)
    except ReplyError as error:
        return {"notes": keyed(Note(agent="one", text="no opinion", status=error.status))}
    return {"notes": keyed(Note(agent="one", text=text))}


async def swallows_its_cancellation(state: Case) -> Scored:
    try:
        return {"scores": keyed(await said("embedded", state["sample"]))}
    except asyncio.CancelledError:
        return {"scores": {}}


TASKS: set[asyncio.Task[Any]] = set()


async def leaves_a_task(state: Case) -> Scored:
    TASKS.add(asyncio.ensure_future(asyncio.sleep(60)))
    return {"scores": keyed(await said("embedded", state["sample"]))}


async def needs_what_it_calls_optional(state: Case) -> Scored:
    return {"scores": keyed(await said("embedded", state["sample"]))} if state["criteria"] else {"scores": {}}


async def stumbles_over_nothing(state: Case) -> Scored:
    text = state.get("sample").query  # type: ignore[union-attr]
    return {"scores": keyed(await said("embedded", state["sample"]))} if text is not None else {"scores": {}}


@dataclass(frozen=True)
class AgreesWhereTheJudgeFailed(Sage):
    async def __call__(self, state: Reviewed) -> Critique:
        told = await super().__call__(state)
        kept = [
            r if r.status == "ok" else Rectification(criterion=r.criterion, agent=r.agent)
            for r in told["rectifications"].values()
        ]
        return {**told, "rectifications": keyed(*kept)}


async def drops_what_failed(state: Case) -> Scored:
    score = await said("embedded", state["sample"])
    return {"scores": keyed(score) if score.status == "ok" else {}}


async def drops_what_is_off_the_scale(state: Case) -> Scored:
    score = await said("embedded", state["sample"])
    return {"scores": keyed(score) if score.value is None or 0 <= score.value <= 9 else {}}


async def clamps(state: Case) -> Scored:
    score = await said("embedded", state["sample"])
    value = None if score.value is None else min(5.0, max(1.0, score.value))
    return {"scores": keyed(score.model_copy(update={"value": value, "scale": Criterion(name="Clarity").scale}))}


async def makes_a_status_of_everything(state: Case) -> Scored:
    try:
        return {"scores": keyed(await said("embedded", state["sample"]))}
    except Exception as error:
        return {"scores": keyed(Score(criterion="Clarity", agent="one", status="agent_error", reason=str(error)))}


async def makes_an_error_of_its_own(state: Case) -> Scored:
    try:
        return {"scores": keyed(await said("embedded", state["sample"]))}
    except ConfigError as error:
        raise ValueError("no judge") from error


async def shows_a_reply_bare(state: Case) -> Scored:
    score = await said("embedded", state["sample"])
    with suppress(ReplyError):
        await ask("embedded", f"Is this a good reason? <reason>{score.reason}</reason>")
    return {"scores": keyed(score)}


async def spins(state: Case) -> Scored:
    for _ in itertools.count():
        await asyncio.sleep(0)
    return {"scores": {}}


@dataclass(frozen=True, kw_only=True)
class Keeps:
    """A critic that agrees; those below it each do so wrongly."""

    name: str = "keeps"
    stage: str = "draft"

    def verdict(self, score: Score) -> Rectification:
        return Rectification(criterion=score.criterion, agent=self.name)

    def reviewed(self, state: Reviewed) -> list[Score]:
        return [score for score in state["scores"].values() if score.stage == self.stage]

    async def __call__(self, state: Reviewed) -> Critique:
        return {"rectifications": keyed(*map(self.verdict, self.reviewed(state))), "suggestions": []}


class InventsACriterion(Keeps):
    async def __call__(self, state: Reviewed) -> Critique:
        told = await super().__call__(state)
        more = Rectification(criterion="Verve", agent=self.name, status="refused", reason="none")
        return {**told, "rectifications": {**told["rectifications"], **keyed(more)}}


class SaysNothing(Keeps):
    def reviewed(self, state: Reviewed) -> list[Score]:
        return []


class SkipsALabel(Keeps):
    def reviewed(self, state: Reviewed) -> list[Score]:
        return [score for score in super().reviewed(state) if score.criterion != "Tone"]


class ReviewsEverything(Keeps):
    def reviewed(self, state: Reviewed) -> list[Score]:
        return list(state["scores"].values())


class ReviewsDraftsAlone(Keeps):
    def reviewed(self, state: Reviewed) -> list[Score]:
        return [score for score in state["scores"].values() if score.stage == "draft"]


class SignsAsAnother(Keeps):
    def verdict(self, score: Score) -> Rectification:
        return Rectification(criterion=score.criterion, agent="sage")


class SaysUpAndGoesDown(Keeps):
    def verdict(self, score: Score) -> Rectification:
        low = score.scale.low if score.scale else None
        if low is None or score.value is None:
            return super().verdict(score)
        about: Any = {"criterion": score.criterion, "agent": self.name}
        return Rectification(**about, action="change", direction="up", value=low)


BAD: list[tuple[Any, str]] = [
    (Soft(), "shape"),
    (Plain(), "shape"),
    (Unequal(), "not-equal"),
    (unannotated, "signature"),
    (reads_more, "undeclared-read"),
    (writes_more, "undeclared-write"),
    (writes_a_list, "undeclared-write"),
    (changes_the_state, "mutates-state"),
    (Counting(), "mutates-itself"),
    (writes_a_set, "not-json"),
    (writes_under_another_key, "wrong-key"),
    (writes_what_the_judge_says, "off-scale"),
    (scores_a_failure_as_zero, "failure-scored"),
    (AgreesWhereTheJudgeFailed(), "failure-scored"),
    (lets_errors_out, "raises"),
    (hangs, "hangs"),
    (spins, "hangs"),
    (writes_anew, "not-deterministic"),
    (asks_anew, "prompt-differs"),
    (shows_the_text_bare, "open-section"),
    (uses_a_fixed_code, "open-section"),
    (swallows_its_cancellation, "cancellation"),
    (leaves_a_task, "leaked-task"),
    (needs_what_it_calls_optional, "missing-optional"),
    (stumbles_over_nothing, "missing-required"),
    (InventsACriterion(), "unknown-criterion"),
    (drops_what_failed, "failure-vanishes"),
    (drops_what_is_off_the_scale, "failure-vanishes"),
    (clamps, "clamped"),
    (makes_a_status_of_everything, "config-swallowed"),
    (makes_an_error_of_its_own, "config-swallowed"),
    (shows_a_reply_bare, "open-section"),
    (SaysNothing(), "unreviewed"),
    (SkipsALabel(), "unreviewed"),
    (ReviewsEverything(), "other-stage"),
    (ReviewsDraftsAlone(), "other-stage"),
    (SignsAsAnother(), "other-name"),
    (SaysUpAndGoesDown(), "wrong-direction"),
]


async def asks_in_a_group(state: Case) -> Scored:
    async def one() -> Score:
        return await said("embedded", state["sample"])

    async with asyncio.TaskGroup() as group:
        task = group.create_task(one())
    return {"scores": keyed(task.result())}


async def measures_and_lets_a_judge_word_it(state: Case) -> Scored:
    score = await said("embedded", state["sample"])
    counted = Score(criterion="Length", agent="one", value=len(str(state["sample"].output)), reader="plain")
    return {"scores": keyed(counted.model_copy(update={"reason": score.reason}))}


async def writes_a_note_in_place_of_a_score(state: Case) -> ScoredOrNoted:
    score = await said("embedded", state["sample"])
    if score.status == "ok":
        return {"scores": keyed(score)}
    return {"scores": {}, "notes": keyed(Note(agent="one", text=f"no score: {score.status}"))}


async def takes_points_off(state: Case) -> Scored:
    """A number on no scale, of which more than enough is the least score and no error."""
    score = await said("embedded", state["sample"])
    value = None if score.value is None else max(1.0, 5.0 - score.value)
    return {"scores": keyed(score.model_copy(update={"value": value, "scale": Criterion(name="Clarity").scale}))}


async def reviews_without_a_stage(state: Reviewed) -> Critique:
    verdicts = [Rectification(criterion=s.criterion, agent="plain") for s in state["scores"].values()]
    return {"rectifications": keyed(*verdicts), "suggestions": []}


@dataclass(frozen=True, kw_only=True)
class ReviewsByItsOwnCriteria(Keeps):
    criteria: tuple[Criterion, ...] = (Criterion(name="Clarity"),)

    async def __call__(self, state: ReviewedAlone) -> Critique:  # type: ignore[override]
        names = {criterion.name for criterion in self.criteria}
        drafts = [s for s in state["scores"].values() if s.stage == self.stage and s.criterion in names]
        return {"rectifications": keyed(*map(self.verdict, drafts)), "suggestions": []}


GOOD: list[Any] = [
    Good(), Keeps(), asks_in_a_group, measures_and_lets_a_judge_word_it, writes_a_note_in_place_of_a_score,
    takes_points_off, reviews_without_a_stage, ReviewsByItsOwnCriteria(),
]  # fmt: skip


@pytest.mark.parametrize("agent", GOOD, ids=name_of)
def test_an_honest_agent_conforms(agent):
    report = check_agent(agent)
    assert report.ok, str(report)


@pytest.mark.parametrize(("agent", "code"), BAD, ids=lambda v: v if isinstance(v, str) else name_of(v))
@pytest.mark.sampled(8)
def test_a_mistake_is_caught_by_its_own_finding(agent, code, monkeypatch):
    if code == "hangs":
        monkeypatch.setattr(trial, "PATIENCE", 0.3)
        monkeypatch.setattr(rules, "PATIENCE", 0.3)
    report = check_agent(agent)
    assert report.codes == {code}, str(report)
    assert not report.ok


def test_a_good_agent_has_no_finding_and_its_report_says_so():
    report = assert_conforms(Good)
    assert str(report).startswith("Good: conforms (")
    assert report.runs > 50


async def test_an_agent_that_the_machine_keeps_waiting_does_not_hang(monkeypatch):
    """Somebody else holds the loop for far longer than an agent may take: no time of the agent's."""
    monkeypatch.setattr(trial, "PATIENCE", 0.3)
    monkeypatch.setattr(rules, "PATIENCE", 0.3)

    async def is_kept_waiting(state: Case) -> Scored:
        for _ in range(3):
            asyncio.get_running_loop().call_soon(time.sleep, 0.2)
            await asyncio.sleep(0.001)
        return {"scores": {}}

    found = await trial.tried(is_kept_waiting, {"sample": Sample(id="a", output="x")}, Answering(), "kept waiting")
    assert (found.hung, found.error) == (False, None)


def test_a_metric_is_told_how_to_say_that_it_is_one():
    said = str(check_agent(scores_a_failure_as_zero))
    assert "a score that no judge gives, whose reason alone a judge words, has reader='plain'" in said


def test_a_finding_says_what_was_seen_where_and_what_is_wanted():
    with pytest.raises(AssertionError) as caught:
        assert_conforms(scores_a_failure_as_zero)
    said = str(caught.value)
    assert "scores_a_failure_as_zero: " in said
    assert "failure-scored: a Score says criterion='Clarity', value=0.0 [sample 'text', refused]" in said
    assert "an agent that conforms writes a status, never an answer, where the judge gave none" in said


def test_findings_can_be_left_out_by_their_code():
    assert check_agent(Soft(), ignore=["shape"]).ok
    with pytest.raises(ConfigError, match="no code shapes; known: shape, signature"):
        check_agent(Soft(), ignore=["shapes"])


class Odd(TypedDict):
    sample: Sample
    weather: Note
    mood: NotRequired[Note]


async def reads_an_odd_key(state: Odd) -> Noted:
    return {"notes": keyed(state["weather"])}


def test_a_key_that_no_value_can_be_invented_for_is_asked_for():
    with pytest.raises(ConfigError, match=r"reads_an_odd_key reads 'weather', for which .*; give state=\{...\}"):
        check_agent(reads_an_odd_key)
    assert check_agent(reads_an_odd_key, state={"weather": Note(agent="sky", text="rain")}).ok


def test_an_agent_that_needs_settings_is_to_be_given_with_them():
    with pytest.raises(ConfigError, match=r"Planner\(\) fails .*give an agent with its settings"):
        check_agent(Planner)


def test_whatever_judge_an_agent_has_none_of_them_is_asked():
    judge = scripted()
    assert check_agent(Evaluator(judge=judge)).ok
    assert check_agent(Evaluator(judge="openai:a-model-without-a-key")).ok
    assert judge.calls == []


class Spoken(TypedDict):
    sample: Sample


async def reads_a_form_of_its_own(state: Spoken) -> Scored:
    try:
        text = await ask("embedded", asked(state["sample"]))
    except ReplyError as error:
        return {"scores": keyed(Score(criterion="Clarity", agent="one", status=error.status, reason="none"))}
    if not text.startswith("~"):
        return {"scores": keyed(Score(criterion="Clarity", agent="one", status="unreadable", reason="no ~"))}
    return {"scores": keyed(Score(criterion="Clarity", agent="one", value=float(text[1:])))}


def test_a_form_that_no_reply_can_be_invented_for_is_noted_and_answered_by_the_author():
    assert any("give answer=" in note for note in check_agent(reads_a_form_of_its_own).notes)
    assert check_agent(reads_a_form_of_its_own, answer=lambda messages: "~4").notes == []


async def test_it_can_be_checked_where_a_loop_is_running():
    from judgegraph.testing import acheck_agent

    other = asyncio.ensure_future(asyncio.sleep(60))
    assert (await acheck_agent(Good)).ok
    assert check_agent(Good).ok
    assert not other.done(), "a task of somebody else's"
    other.cancel()
