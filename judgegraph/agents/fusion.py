"""The blend: a mean of what assistants said, on a criterion's scale; plain code, the baseline of a fusing judge."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from judgegraph import prompts
from judgegraph.agents.aspects import Chain, Chained, Fused
from judgegraph.agents.judge import ReplyKind, ask_score, chain_key, named
from judgegraph.agents.planner import assistants_text, plan_text
from judgegraph.calls import JudgeLike, Reader, Slot, rate
from judgegraph.calls.asking import ratings_form
from judgegraph.calls.ratings import STATED, Rated
from judgegraph.errors import counted, one_line, settings_checked
from judgegraph.prompts.criteria import same_key
from judgegraph.prompts.template import (
    criteria_text,
    criterion_text,
    finding_text,
    left_out_examples,
    scores_text,
    slug,
    slugs,
)
from judgegraph.types import (
    Criterion,
    Finding,
    Note,
    Notes,
    Plan,
    Sample,
    Scale,
    Score,
    Scores,
    Status,
    given_criteria,
    keyed,
    sample_of,
    text_of,
)

# The fuser: scores a target with its chain's definitions and scores in view.


@settings_checked
@dataclass(frozen=True, kw_only=True)
class Fuser:
    """Gives each target its score, one call per target.

    Source: CoAScore section 3.4, eq. 4: K_i = name_i: (definition_i, score_i). The paper has no rule for failures.
    Ours: an aspect without a score is left out and noted (definitions alone did worse than none, the ablation
    "w/o score"); with no scored aspect at all nothing is asked, as that would be an LLMScore under CoAScore's
    name: the target's score has the status of what failed.

    Attributes:
        judge: who answers. criteria: the targets, where the state brings none.
        task: one sentence that says what kind of text is judged.
        reply: "form" asks for JSON, score first; "text" for free text.
        reader: how the score is read; the paper's is the stated number at temperature 0.
        chains: the name of the chains that it reads; "" for those without one.
    """

    judge: JudgeLike = "embedded"
    criteria: Sequence[Criterion] = ()
    task: str = "a generated text"
    prompt: str = "fuse"
    reply: ReplyKind = "form"
    reader: Reader = STATED
    name: str = "fuser"
    stage: str = "final"
    chains: str = ""

    async def __call__(self, state: Chained) -> Fused:
        targets = given_criteria(state) or self.criteria
        done = await asyncio.gather(*(self._fused(state, target) for target in targets))
        return {
            "scores": keyed(*(score for score, _ in done)),
            "notes": keyed(*(note for _, notes in done for note in notes)),
        }

    async def _fused(self, state: Chained, target: Criterion) -> tuple[Score, list[Note]]:
        chain = Chain.of(state, target, self.chains)
        if not (known := chain.known):
            return chain.unscored(self.name, self.stage, state.get("notes") or {})
        shown = scores_text(chain.rated[aspect.name] for aspect in known)
        answer = await self._asked(sample_of(state), target, known, scores=shown)
        answer = replace(answer, notes=(*answer.notes, *chain.left_out))
        return self._score(target, answer), chain.unrated(self.name)

    async def _asked(self, sample: Sample, target: Criterion, aspects: Sequence[Criterion], **shown: Any) -> Rated:
        plain = target.model_copy(update={"steps": ()})
        prompt = prompts.load(self.prompt)
        messages = prompt.render(
            task=self.task, criterion=criterion_text(plain), **named(prompt, target), aspects=criteria_text(aspects),
            **shown, **prompts.material(sample, (target,)),
        )  # fmt: skip
        answer = await ask_score(
            self.judge, messages, target, self.reader, reply=self.reply, explain="after", temperature=0.0
        )
        return replace(answer, notes=(*answer.notes, *left_out_examples(target, sample)))

    def _score(self, target: Criterion, answer: Rated) -> Score:
        return Score(
            criterion=target.name, agent=self.name, stage=self.stage, scale=target.scale, **answer.fields()
        )  # fmt: skip


# The fuser without scores: a target is scored with its chain's definitions alone in view.


class Proposed(TypedDict):  # what it reads: no scores
    sample: Sample
    aspects: dict[str, list[Criterion]]  # target, target/chains -> its chain
    criteria: NotRequired[list[Criterion]]  # the targets, else its own
    notes: NotRequired[Notes]  # why a chain is empty


@settings_checked
@dataclass(frozen=True, kw_only=True)
class DefinitionFuser(Fuser):
    """As Fuser, but nobody scored the aspects.

    Source: CoAScore section 4.6 and figure 2, the ablation "w/o score", which the paper found below no aspects at all.
    The prompt is the fuser's without its section of scores, and without the words about them.
    """

    prompt: str = "fuse_definitions"

    async def __call__(self, state: Proposed) -> Fused:
        targets = given_criteria(state) or self.criteria
        done = await asyncio.gather(*(self._defined(state, target) for target in targets))
        return {
            "scores": keyed(*(score for score, _ in done)),
            "notes": keyed(*(note for _, notes in done for note in notes)),
        }

    async def _defined(self, state: Proposed, target: Criterion) -> tuple[Score, list[Note]]:
        chain = state["aspects"].get(chain_key(target.name, self.chains)) or []
        if not chain:
            return Chain(target, (), {}).unscored(self.name, self.stage, state.get("notes") or {})
        return self._score(target, await self._asked(sample_of(state), target, chain)), []


# The fusing judge: scores a sample by its own reading, the plan, and what assistants said.


MEAN_OF_EIGHT = Reader("mean", samples=8)
OVERALL = "overall"


class Evidence(TypedDict):  # what a fusing judge reads
    sample: Sample
    criteria: NotRequired[list[Criterion]]  # else its own
    plan: NotRequired[Plan]
    findings: NotRequired[dict[str, Finding]]


class FusedScores(TypedDict):  # what it writes
    scores: Scores
    overall: float | None  # the overall score's value, None where it could not be read
    notes: NotRequired[Notes]  # where there is no evidence, or less than the plan names


@settings_checked
@dataclass(frozen=True, kw_only=True)
class FusionJudge:
    """Scores every criterion and the whole in one question, reasons before numbers.

    Source: Fusion-Eval (arXiv:2311.09204), figure 1: plan, sample and the assistants' raw values in view; any floating
    value on a criterion's range, and an overall score. The final score is the mean of eight predictions.
    A criterion with labels is judged by label, the most frequent of the predictions. With a plan, which says what to
    look for in which order, the criteria stand without their steps.

    Attributes:
        judge: who answers.
        assistants: name -> description, of those on offer; one that said nothing is shown as absent.
        criteria: what to judge by, where the state brings none; without an overall criterion one is added.
        reader: how scores are read. stage: of the scores it writes.
    """

    judge: JudgeLike = "embedded"
    assistants: Mapping[str, str]
    criteria: Sequence[Criterion] = ()
    task: str = "a generated text"
    prompt: str = "fusion_judge"
    reader: Reader = MEAN_OF_EIGHT
    name: str = "fusion-judge"
    stage: str = "final"

    async def __call__(self, state: Evidence) -> FusedScores:
        given = list(given_criteria(state) or self.criteria)
        if not given:
            return {"scores": {}, "overall": None}
        asked = slugs(map(floating, with_overall(given)))
        messages = prompts.load(self.prompt).render(**self._fields(state, asked))
        slots = {key: Slot(criterion.scale, (key,)) for key, criterion in asked.items()}
        rating = await rate(self.judge, messages, ratings_form(asked), slots, self.reader)
        sample, notes = sample_of(state), _without_plan(state.get("plan"))
        scores = [
            self._score(asked[key], answer, (*left_out_examples(asked[key], sample), *notes))
            for key, answer in rating.answers.items()
        ]
        whole = next(score for score in scores if slug(score.criterion) == OVERALL)
        silent = without_evidence(self.name, self.assistants, state.get("findings") or {}, state.get("plan"))
        return {"scores": keyed(*scores), "overall": whole.value, "notes": keyed(*silent)}

    def _fields(self, state: Evidence, asked: Mapping[str, Criterion]) -> dict[str, Any]:
        sample, said, plan = sample_of(state), state.get("findings") or {}, state.get("plan")
        if plan is not None and plan.status == "ok":
            asked = {key: one.model_copy(update={"steps": ()}) for key, one in asked.items()}
        return {
            "task": self.task, "criteria": criteria_text(asked),
            "assistants": assistants_text(self.assistants), "plan": plan_text(plan),
            **prompts.material(sample, asked.values()),
            "compared": _compared(sample), "findings": findings_text(self.assistants, said),
        }  # fmt: skip

    def _score(self, criterion: Criterion, answer: Rated, notes: tuple[str, ...]) -> Score:
        fields = answer.fields(*notes)
        return Score(criterion=criterion.name, agent=self.name, stage=self.stage, scale=criterion.scale, **fields)


def floating(criterion: Criterion) -> Criterion:
    """The criterion with every number of its range allowed; one with labels as it is."""
    if criterion.scale.labels:
        return criterion
    return criterion.model_copy(update={"scale": criterion.scale.model_copy(update={"whole": False})})


def with_overall(criteria: Sequence[Criterion]) -> list[Criterion]:
    """The criteria with an overall one at the end, on their common range, else 1-5; as they are if they have one."""
    if any(slug(c.name) == OVERALL for c in criteria):
        return list(criteria)
    ranges = {(c.scale.low, c.scale.high) for c in criteria if not c.scale.labels}
    low, high = ranges.pop() if len(ranges) == 1 else (1.0, 5.0)
    definition = "How good the output is as a whole, by all criteria together, each as heavy as the task makes it."
    return [*criteria, Criterion(name=OVERALL, definition=definition, scale=Scale(low=low, high=high, whole=False))]


def findings_text(assistants: Mapping[str, str], said: Mapping[str, Finding]) -> str:
    """A line per assistant on offer, and for any other that said something; who was not asked is absent."""
    silent = {name: Finding(assistant=name, status="skipped", reason="not consulted") for name in assistants}
    return "\n".join(map(finding_text, {**silent, **said}.values()))


def without_evidence(
    agent: str, offered: Mapping[str, str], findings: Mapping[str, Finding], plan: Plan | None
) -> list[Note]:  # fmt: skip
    """Notes where no assistant was consulted or gave a value, where some that the plan names were not consulted, and
    where a value lies off the range that its description says.
    """
    said = {name: findings[name] for name in offered if name in findings}
    named = {name for by in plan.alignment.values() for name in by} if plan and plan.status == "ok" else set()
    notes = []
    if offered and not said and not named:
        text = f"none of {len(offered)} assistants was consulted" + (", and the plan names none" if plan else "")
        notes.append(Note(agent=agent, text=text, status="skipped", kind="assistants-unused"))
    if lost := [name for name in offered if name in named and name not in said]:
        how_many = counted(len(named), "assistant")
        text = f"not consulted: {', '.join(lost)}; the plan names {how_many}, {len(said)} consulted"
        notes.append(Note(agent=agent, text=text, status="skipped", kind="assistants-not-consulted"))
    if said and all(finding.value is None for finding in said.values()):
        failed = [finding.status for finding in said.values() if finding.status != "skipped"]
        kind = "assistants-failed" if failed else "assistants-skipped"
        notes.append(Note(agent=agent, text=whys(said), status=failed[0] if failed else "skipped", kind=kind))
    if off := [f"{one_line(name, 60)}: {why}" for name, one in said.items() if (why := off_range(offered[name], one))]:
        notes.append(Note(agent=agent, text="; ".join(off), kind="assistants-off-range"))
    return notes


USUAL = re.compile(r"\bof usual\b")  # in a range that is none to hold a value against


def off_range(about: str, finding: Finding) -> str:
    """What is wrong with an assistant's value that is off the range of its description, "" for nothing."""
    from judgegraph.embedded.families import stated_range

    value, ends = finding.value, stated_range(about)
    if isinstance(value, str) or value is None or ends is None or USUAL.search(about):
        return ""
    low, high = ends
    near = 1e-6 * (high - low)  # what floats make of 1
    if low - near <= value <= high + near:
        return ""
    return f"{value:.4g} is off the range {low:g} to {high:g} that its description says"


def whys(findings: Mapping[str, Finding]) -> str:
    """Why assistants gave no value, those with one reason together."""
    by: dict[str, list[str]] = {}
    for name, finding in findings.items():
        by.setdefault(one_line(finding.reason or finding.status, 100), []).append(one_line(name, 60))
    return "; ".join(f"{', '.join(names)}: {why}" for why, names in by.items())


def _compared(sample: Sample) -> str:
    """Which text "the reference, else the source" is."""
    if text_of(sample.reference or "").strip():
        return "; where they compare it with a reference or else the source, with a reference"
    held = text_of(sample.source).strip()
    return "; where they compare it with a reference or else the source, with the source" if held else ""


def _without_plan(plan: Plan | None) -> tuple[str, ...]:
    return (f"judged without a plan: planning ended as {plan.status}",) if plan and plan.status != "ok" else ()


Rule = Literal["average", "selected", "weighted"]
Share = tuple[str, float]  # who says it, and 0 (worst) to 1 (best)


class Consulted(TypedDict):  # what it reads
    criteria: NotRequired[list[Criterion]]  # else its own
    plan: NotRequired[Plan]
    findings: NotRequired[dict[str, Finding]]
    scores: NotRequired[Scores]  # a direct judge's


class Blended(TypedDict):  # what it writes
    scores: Scores
    overall: float | None
    notes: NotRequired[Notes]  # where there is no evidence, or less than the plan names


@settings_checked
@dataclass(frozen=True, kw_only=True)
class Blend:
    """Scores every criterion by a mean of the assistants' values, a direct judge's score among them.

    Source: Fusion-Eval (arXiv:2311.09204), tables 2 and 3: AVG, LLMSel and CorrW, of assistants alone and with a
    direct evaluation. The paper does not say how values on different scales are brought together; here each is carried
    from its own range to the criterion's, worst to lowest and best to highest, and one beyond its range stands at its
    end, noted. Who said nothing is left out of the mean and noted, never a zero.

    `overall` is the score of a criterion of that name, else the mean of all criteria; None where one has no score
    (the paper's dash) or their scales differ.

    Attributes:
        ranges: assistant -> (worst, best).
        rule: "average" of all; "selected": of those that the plan aligns with the criterion, undefined where there are
            none; "weighted" by `weights`: criterion -> assistant (or `direct`) -> 0 or more, of those that answered
            brought to a sum of 1.
        direct: name of the agent whose scores join the mean as one more voice, "" for none; `direct_key` is what
            weights call it. criteria: what to score, where the state brings none.
    """

    ranges: Mapping[str, tuple[float, float]]
    rule: Rule = "average"
    weights: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    direct: str = ""
    direct_key: str = ""
    criteria: Sequence[Criterion] = ()
    name: str = "blend"
    stage: str = "final"

    def __call__(self, state: Consulted) -> Blended:
        scores = [self._score(state, floating(c)) for c in given_criteria(state) or self.criteria]
        plan = state.get("plan") if self.rule == "selected" else None
        silent = without_evidence(self.name, dict.fromkeys(self.ranges, ""), state.get("findings") or {}, plan)
        return {"scores": keyed(*scores), "overall": _overall(scores), "notes": keyed(*silent)}

    def _score(self, state: Consulted, criterion: Criterion) -> Score:
        about: dict[str, Any] = {"criterion": criterion.name, "agent": self.name, "stage": self.stage}
        about |= {"scale": criterion.scale, "reader": "plain"}
        weights, why = self._weights(state.get("plan"), criterion)
        if why:
            return Score(**about, status="skipped", reason=why)
        shares, notes, failed = self._shares_of(state, criterion, weights)
        weights = _within_reach({name: weights[name] for name, _ in shares})
        total = math.fsum(weights.values())
        if not total:
            return Score(**about, status=failed, reason="; ".join(notes) or "no assistant on offer", notes=notes)
        low, high = criterion.scale.low or 0.0, criterion.scale.high or 0.0
        mean = math.fsum(weights[name] / total * share for name, share in shares)
        said = ", ".join(f"{name} {low + share * (high - low):.4g}" for name, share in shares)
        value = min(max(low + mean * (high - low), low), high)  # a float's last digits lead off no scale
        return Score(**about, value=value, reason=f"{self.rule} of {said} on {low:g}-{high:g}", notes=notes)

    def _weights(self, plan: Plan | None, criterion: Criterion) -> tuple[dict[str, float], str]:
        """Who counts how much, or why nobody can."""
        voices = [*self.ranges, *([self.direct_key] if self.direct else [])]
        if criterion.scale.labels:
            return {}, "a scale of labels has no mean"
        if self.rule == "average":
            return dict.fromkeys(voices, 1.0), ""
        if self.rule == "weighted":
            given = {same_key(name): by for name, by in self.weights.items()}.get(same_key(criterion.name))
            if not given:
                return {}, "no weights are given for it"
            counted = {name: given[name] for name in voices if given.get(name)}
            return counted, "" if counted else "all its weights are 0: nobody agreed with people on it"
        if plan is None or plan.status != "ok":
            return {}, f"no plan selects assistants for it ({plan.status if plan else 'none was made'})"
        aligned = {same_key(name): by for name, by in plan.alignment.items()}.get(same_key(criterion.name), ())
        chosen = [name for name in self.ranges if name in aligned]
        direct = [self.direct_key] if self.direct else []
        return dict.fromkeys([*chosen, *direct], 1.0), "" if chosen else "the plan selects no assistant for it"

    def _shares_of(
        self, state: Consulted, criterion: Criterion, weights: Iterable[str]
    ) -> tuple[list[Share], tuple[str, ...], Status]:
        """What those who count say, notes on the others, and the status where nobody says anything."""
        findings, scores = state.get("findings") or {}, state.get("scores") or {}
        shares: list[Share] = []
        notes: list[str] = []
        failed: list[Status] = ["skipped"]
        for name in weights:
            if name in self.ranges:
                silent = Finding(assistant=name, status="skipped", reason="not consulted")
                said, ends = findings.get(name, silent), self.ranges[name]
                value, status, reason = said.value, said.status, said.reason
            else:
                score = _direct(scores, self.direct, criterion.name)
                value, status, reason = score.value, score.status, score.reason
                scale = score.scale or criterion.scale
                ends = (scale.low or 0.0, scale.high or 0.0)
            if isinstance(value, int | float):
                inside, beyond = share_of(value, ends)
                shares.append((name, inside))
                said_of = f"{name}: {value:g} lies beyond its range {min(ends):g} to {max(ends):g}"
                notes += [f"{said_of} and stands at its end"] if beyond else []
                continue
            why = status if not reason else f"{status}: {reason}"
            notes.append(f"{name}: left out of the mean ({why if value is None else f'no number: {value!r:.40}'})")
            failed += [status] if status not in ("ok", "skipped") else []
        return shares, tuple(notes), failed[-1]


def share_of(value: float, ends: tuple[float, float]) -> tuple[float, bool]:
    """A value from worst (0) to best (1), and whether it lies beyond its range: it stands at its end then."""
    worst, best = ends
    share = (value - worst) / (best - worst)
    inside = min(max(share, 0.0), 1.0)
    return inside, share != inside


def _within_reach(weights: Mapping[str, float]) -> dict[str, float]:
    """The same proportions, none over 1: the sum of the largest numbers that there are is none."""
    _, exponent = math.frexp(max(weights.values(), default=0.0))
    return {name: math.ldexp(weight, -exponent) for name, weight in weights.items()}


def _direct(scores: Scores, agent: str, criterion: str) -> Score:
    """The direct judge's score of a criterion."""
    found = (s for s in scores.values() if s.agent == agent and s.criterion == criterion and s.of == "output")
    return next(found, Score(criterion=criterion, agent=agent, status="skipped", reason="the judge gave no score"))


def _overall(scores: Sequence[Score]) -> float | None:
    whole = [s.value for s in scores if slug(s.criterion) == OVERALL]
    if whole:
        return whole[0]
    values = [s.value for s in scores if s.value is not None]
    if not values or len(values) < len(scores) or len({s.scale for s in scores}) > 1:
        return None
    return math.fsum(values) / len(values)
