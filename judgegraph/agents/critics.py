"""The devil's advocate: argues against every score before it decides on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judgegraph import prompts
from judgegraph.agents.sage import PARTS, WEIGHTED, critique_form, read_verdicts, verdicts_of
from judgegraph.agents.under_review import Critique, Reviewed, UnderReview
from judgegraph.calls import Form, JudgeLike, Reader, rate
from judgegraph.calls.asking import STRING, Incomplete, answer_key, answer_schema, enum_of, record
from judgegraph.calls.ratings import Rating
from judgegraph.errors import settings_checked
from judgegraph.types import Criterion, keyed

ARGUED = ("case_against", "answer")


@settings_checked
@dataclass(frozen=True, kw_only=True)
class DevilsAdvocate:
    """Must make the strongest case that a score is wrong, then answer it, then decide; all in one call.

    Ours. A decision without a case, or without an answer to it, counts as unreadable. The case and the answer stand in
    the reason of each rectification. Read as SAGE's scores are (SAGEval section 4.4).

    Attributes:
        judge: who answers. criteria: what was judged by, where the state brings none. stage: of the scores it attacks.
    """

    judge: JudgeLike = "embedded"
    criteria: Sequence[Criterion] = ()
    task: str = "a generated text"
    prompt: str = "devils_advocate"
    reader: Reader = WEIGHTED
    name: str = "devils-advocate"
    stage: str = "draft"

    async def __call__(self, state: Reviewed) -> Critique:
        held = UnderReview.of(state, self.criteria, self.stage)
        if (idle := held.idle(self.name)) is not None:
            return idle
        messages = prompts.load(self.prompt).render(task=self.task, **held.fields)
        rating = await rate(self.judge, messages, advocate_form(held.asked), held.slots(), self.reader)
        return {"rectifications": keyed(*held.verdicts(self.name, _argued(rating))), "suggestions": []}


def advocate_form(criteria: Mapping[str, Criterion]) -> Form[dict[str, Any]]:
    """Per criterion the case against its score, the answer to that case, the reason, then verdict and value."""

    def read(data: Any) -> dict[str, Any]:
        try:
            return _with_reasons(read_verdicts(data, criteria, ARGUED))
        except Incomplete as error:
            raise Incomplete(str(error), _with_reasons(error.value), error.got) from None

    return Form("advocate", record({key: _schema(c) for key, c in criteria.items()}), read)


def _schema(criterion: Criterion) -> dict[str, Any]:
    decision = {
        "verdict": enum_of(verdicts_of(criterion)),
        answer_key(criterion.scale): answer_schema(criterion.scale),
    }
    return record({**dict.fromkeys((*ARGUED, "reason"), STRING), **decision}, title=criterion.name)


def _with_reasons(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Each with all of its argument as its reason."""
    return {key: {**entry, "reason": _reason(entry)} for key, entry in entries.items()}


def _reason(entry: Mapping[str, Any]) -> str:
    case, answer = (str(entry[key]).strip() for key in ARGUED)
    return f"Case against it: {case} Answer: {answer} Decision: {str(entry.get('reason') or '').strip()}".strip()


def _argued(rating: Rating[dict[str, Any]]) -> Rating[dict[str, Any]]:
    """An answer read from the first reply has that reply's argument as its reason."""
    said = rating.value or {}
    answers = {
        key: replace(a, reason=said[key]["reason"]) if key in said and a.reader != "samples" else a
        for key, a in rating.answers.items()
    }
    return replace(rating, answers=answers)


# The self-reflection critic: the evaluator looks at its own scores and reasons again.


@settings_checked
@dataclass(frozen=True, kw_only=True)
class SelfReflection:
    """Asks the judge that scored to check its scores against the text, and to revise what does not hold.

    Source: SAGEval section 6 names a self-reflection (SR) version beside the vanilla one; it says neither how SR was
    asked nor what it reached. Ours: one call to the evaluator's judge, which is shown its scores and reasons as its
    own, no second role and no suggestions; read as SAGE's scores are (section 4.4).

    Attributes:
        judge: who scored, and answers again: give it the evaluator's. criteria: what was judged by, where the state
            brings none. stage: of the scores it looks at again.
    """

    judge: JudgeLike = "embedded"
    criteria: Sequence[Criterion] = ()
    task: str = "a generated text"
    prompt: str = "self_reflection"
    reader: Reader = WEIGHTED
    name: str = "self-reflection"
    stage: str = "draft"

    async def __call__(self, state: Reviewed) -> Critique:
        held = UnderReview.of(state, self.criteria, self.stage)
        if (idle := held.idle(self.name)) is not None:
            return idle
        form = critique_form(held.asked, PARTS[:1], "reflection")
        messages = prompts.load(self.prompt).render(task=self.task, **held.fields)
        rating = await rate(self.judge, messages, form, held.slots(PARTS[0]), self.reader)
        return {"rectifications": keyed(*held.verdicts(self.name, rating, PARTS[0])), "suggestions": []}
