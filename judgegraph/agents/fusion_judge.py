"""The fusing judge: scores a sample by its own reading, the plan, and what assistants said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NotRequired

from typing_extensions import TypedDict

from judgegraph import prompts
from judgegraph.agents.plan_form import assistants_text, plan_text
from judgegraph.calls import JudgeLike, Rated, Reader, Slot, rate
from judgegraph.calls.form import ratings_form
from judgegraph.errors import one_line
from judgegraph.prompts.sections import criteria_text, finding_text, slug, slugs
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
    given_criteria,
    keyed,
    sample_of,
    text_of,
)

MEAN_OF_EIGHT = Reader("mean", samples=8)
OVERALL = "overall"


class Evidence(TypedDict):  # what a fusing judge reads
    sample: Sample
    criteria: NotRequired[list[Criterion]]  # else its own
    plan: NotRequired[Plan]
    findings: NotRequired[dict[str, Finding]]


class Fused(TypedDict):  # what it writes
    scores: Scores
    overall: float | None  # the overall score's value, None where it could not be read
    notes: NotRequired[Notes]  # where there is no evidence, or less than the plan names


@dataclass(frozen=True, kw_only=True)
class FusionJudge:
    """Scores every criterion and the whole in one question, reasons before numbers.

    Source: Fusion-Eval (arXiv:2311.09204), figure 1: plan, sample and the assistants' raw values in view; any floating
    value on a criterion's range, and an overall score. The final score is the mean of eight predictions.
    A criterion with labels is judged by label, the most frequent of the predictions.

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

    async def __call__(self, state: Evidence) -> Fused:
        given = list(given_criteria(state) or self.criteria)
        if not given:
            return {"scores": {}, "overall": None}
        asked = slugs(map(floating, with_overall(given)))
        messages = prompts.load(self.prompt).render(**self._fields(state, asked))
        slots = {key: Slot(criterion.scale, (key,)) for key, criterion in asked.items()}
        rating = await rate(self.judge, messages, ratings_form(asked), slots, self.reader)
        notes = _without_plan(state.get("plan"))
        scores = [self._score(asked[key], answer, notes) for key, answer in rating.answers.items()]
        whole = next(score for score in scores if slug(score.criterion) == OVERALL)
        silent = without_evidence(self.name, list(self.assistants), state.get("findings") or {}, state.get("plan"))
        return {"scores": keyed(*scores), "overall": whole.value, "notes": keyed(*silent)}

    def _fields(self, state: Evidence, asked: Mapping[str, Criterion]) -> dict[str, Any]:
        sample, said = sample_of(state), state.get("findings") or {}
        return {
            "task": self.task, "criteria": criteria_text(asked),
            "assistants": assistants_text(self.assistants), "plan": plan_text(state.get("plan")),
            "query": sample.query, "source": sample.source, "output": sample.output,
            "compared": _compared(sample), "findings": findings_text(self.assistants, said),
        }  # fmt: skip

    def _score(self, criterion: Criterion, answer: Rated, notes: tuple[str, ...]) -> Score:
        fields = answer.fields()
        fields["notes"] = (*answer.notes, *notes)
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
    agent: str, offered: Sequence[str], findings: Mapping[str, Finding], plan: Plan | None
) -> list[Note]:  # fmt: skip
    """Notes where no assistant was consulted or gave a value, and where some that the plan names were not consulted."""
    said = {name: findings[name] for name in offered if name in findings}
    named = {name for by in plan.alignment.values() for name in by} if plan and plan.status == "ok" else set()
    notes = []
    if offered and not said and not named:
        text = f"none of {len(offered)} assistants was consulted" + (", and the plan names none" if plan else "")
        notes.append(Note(agent=agent, text=text, status="skipped", kind="assistants-unused"))
    if lost := [name for name in offered if name in named and name not in said]:
        text = f"not consulted: {', '.join(lost)}; the plan names {len(named)} assistants, {len(said)} were consulted"
        notes.append(Note(agent=agent, text=text, status="skipped", kind="assistants-not-consulted"))
    if said and all(finding.value is None for finding in said.values()):
        failed = [finding.status for finding in said.values() if finding.status != "skipped"]
        kind = "assistants-failed" if failed else "assistants-skipped"
        notes.append(Note(agent=agent, text=whys(said), status=failed[0] if failed else "skipped", kind=kind))
    return notes


def whys(findings: Mapping[str, Finding]) -> str:
    """Why assistants gave no value, those with one reason together."""
    by: dict[str, list[str]] = {}
    for name, finding in findings.items():
        by.setdefault(one_line(finding.reason or finding.status, 100), []).append(one_line(name, 60))
    return "; ".join(f"{', '.join(names)}: {why}" for why, names in by.items())


def _compared(sample: Sample) -> str:
    """Which text "the reference, else the source" is; the judge is not shown the reference."""
    if text_of(sample.reference or "").strip():
        return "; where they compare it with a reference or else the source, with a reference"
    held = text_of(sample.source).strip()
    return "; where they compare it with a reference or else the source, with the source" if held else ""


def _without_plan(plan: Plan | None) -> tuple[str, ...]:
    return (f"judged without a plan: planning ended as {plan.status}",) if plan and plan.status != "ok" else ()
