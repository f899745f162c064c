"""The judge: one response, one criterion and its guideline, one score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from judgegraph import prompts
from judgegraph.calls import Form, JudgeLike, Reader, Slot, rate
from judgegraph.calls.form import answer_of, bare_schema, rating_schema
from judgegraph.calls.ratings import STATED, text_reading
from judgegraph.errors import ReplyError
from judgegraph.prompts.sections import criterion_text
from judgegraph.types import Criterion, Sample, Scale, Score, Scores, Side, keyed, sample_of

TEXT_TOKENS = 1000  # of a rating with its explanation
PROMPTS = {"form": "judge_single", "text": "judge_single_text"}


class Case(TypedDict):  # what the judge reads
    sample: Sample
    criterion: Criterion
    guidelines: NotRequired[dict[str, str]]  # criterion -> guideline; else the criterion's own


class Judged(TypedDict):  # what it writes
    scores: Scores


def guideline_for(criterion: Criterion, guidelines: Mapping[str, str] | None) -> str:
    """The guideline written for a criterion, its own, or none ("")."""
    return (guidelines or {}).get(criterion.name) or criterion.guideline or ""


@lru_cache(maxsize=1024)
def bare(criterion: Criterion) -> str:
    """A criterion as its section shows it where the guideline has a section of its own."""
    return criterion_text(criterion.model_copy(update={"guideline": None}))


@dataclass(frozen=True, kw_only=True)
class Judge:
    """Scores one criterion of one response, in the units of its scale, by its guideline.

    Source: Fennec, section 3.1, eq. 3, single evaluation. A reply that cannot be read is a status, never a number.

    Attributes:
        judge: who answers. task: one sentence that says what kind of text is judged.
        reader: how the score is read (paper: the stated number).
        reply: "form" asks for JSON, "text" for "Response Score: n" and an explanation, read by `read_rating`.
        prompt: a template, by default the reply's own. stage: of the score it writes.
        temperature: paper: 0; None leaves it to the judge.
        of: which response of a pair is scored, by a question that does not show the other.
    """

    judge: JudgeLike = "embedded"
    task: str = "an assistant's response to a user's query"
    reader: Reader = STATED
    reply: Literal["form", "text"] = "form"
    prompt: str = ""
    temperature: float | None = 0.0
    name: str = "judge"
    stage: str = "final"
    of: Side = "output"

    def __post_init__(self) -> None:
        if self.prompt in ("", *PROMPTS.values()):  # so that `replace(agent, reply=...)` changes both
            object.__setattr__(self, "prompt", PROMPTS[self.reply])

    async def __call__(self, state: Case) -> Judged:
        sample, criterion = sample_of(state), state["criterion"]
        output = sample.output if self.of == "output" else sample.rival
        if output is None:  # no rival, no score of it
            return {"scores": {}}
        messages = prompts.load(self.prompt).render(
            task=self.task, criterion=bare(criterion),
            guideline=guideline_for(criterion, state.get("guidelines")),
            query=sample.query, source=sample.source, output=output,
        )  # fmt: skip
        form = rating_form(criterion) if self.reply == "form" else rating_text(criterion.scale)
        slots = {"": Slot(criterion.scale, () if self.reply == "form" else None)}
        settings: dict[str, Any] = {"temperature": self.temperature}
        rating = await rate(self.judge, messages, form, slots, self.reader, **settings)
        about: dict[str, Any] = {"agent": self.name, "stage": self.stage, "of": self.of, "scale": criterion.scale}
        return {"scores": keyed(Score(criterion=criterion.name, **about, **rating.answers[""].fields()))}


@lru_cache(maxsize=1024)
def rating_form(criterion: Criterion) -> Form[Any]:
    """A reason, then a value of the criterion's scale or null."""

    def read(data: Any) -> Any:
        answer_of(data, criterion.scale)
        return data

    return Form("rating", rating_schema(criterion), read)


def rating_text(scale: Scale) -> Form[Any]:
    """A plain reply that holds one rating on the scale; without one the judge is asked again, unless it abstains."""

    def read(text: str) -> str:
        reading = text_reading(text, scale)
        if reading.status == "refused":
            raise ReplyError("the model declined to score", "refused", text)
        if reading.status == "unreadable":
            raise ValueError(f"no rating on the scale {scale} in the reply ({reading.rule})")
        return text

    return Form("rating", None, read, tokens=TEXT_TOKENS, again=bare_schema(scale))
