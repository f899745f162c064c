"""The reverse writers: from a query, its responses and a foreign judgement back to the criterion and the guideline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from pydantic import ValidationError, model_validator
from typing_extensions import TypedDict

from judgegraph import prompts
from judgegraph.agents.criteria import FORMS as GUIDELINE
from judgegraph.agents.criteria import LONGEST, Guided, Topic
from judgegraph.calls import Form, JudgeLike, ask
from judgegraph.calls.asking import STRING, record
from judgegraph.errors import DataError, ReplyError, one_line, settings_checked
from judgegraph.prompts.template import criterion_text, inset
from judgegraph.types import (
    Criterion,
    Note,
    Notes,
    Number,
    Sample,
    Scale,
    Value,
    Verdict,
    keyed,
    sample_of,
    text_of,
)

FOREIGN = "judgement"  # the key of a sample's `meta` that holds a foreign judgement
FIVE = Scale(low=1, high=5)


class ForeignJudgement(Value):
    """What a judge of another project, or a person, said of one response or of two; often without a criterion.

    Attributes:
        verdict: of a pair, A is `Sample.output` and B `Sample.rival`. score: of the output, rival_score: of the rival,
            in the units of `scale`, which stands wherever a score does.
        reason: in the judge's words, "" for none. judge: who said it, "" where that is not known.
        criterion: what it was judged by, with its guideline, as far as the record says so.
    """

    verdict: Verdict | None = None
    score: Number | None = None
    rival_score: Number | None = None
    scale: Scale | None = None
    reason: str = ""
    judge: str = ""
    criterion: Criterion | None = None

    @model_validator(mode="after")
    def _sound(self) -> Self:
        given = [score for score in (self.score, self.rival_score) if score is not None]
        if not given and self.verdict is None:
            raise ValueError("a judgement has a verdict or a score")
        if given and self.scale is None:
            raise ValueError("a score stands on a scale")
        for score in given:
            self.scale.check(score)  # type: ignore[union-attr]  # there is one where there is a score
        return self

    @property
    def of_pair(self) -> bool:
        """Whether it is of two responses."""
        return self.verdict is not None

    def in_words(self) -> str:
        """As the reverse writers read it: the verdict, the scores, the reason."""
        lines = []
        if self.verdict is not None:
            better = {"A": "Response A", "B": "Response B"}
            lines.append(f"Better: {better.get(self.verdict, 'neither; the two are about equally good')}")
        one = "Score of Response A" if self.of_pair or self.rival_score is not None else "Score"
        named = {one: self.score, "Score of Response B": self.rival_score}
        lines += [f"{name}: {score:g} on {self.scale}" for name, score in named.items() if score is not None]
        lines += [f"Reason: {inset(self.reason)}"] if self.reason.strip() else []
        return "\n".join(lines)


def carried_over(score: float, scale: Scale, to: Scale = FIVE) -> float:
    """A score at the same place of another scale: 7 on 1-10 is 3.67 on 1-5.

    Raises:
        ValueError: one of the scales has labels.
    """
    if scale.low is None or scale.high is None or to.low is None or to.high is None:
        raise ValueError("a scale of labels has no places to carry a score over to")
    return to.low + (score - scale.low) / (scale.high - scale.low) * (to.high - to.low)


def foreign_judgement(sample: Sample) -> ForeignJudgement:
    """The judgement that a sample brings in `meta["judgement"]`.

    Raises:
        DataError: there is none, or it is none that can be read.
    """
    found = sample.meta.get(FOREIGN)
    if isinstance(found, ForeignJudgement):
        return found
    if not isinstance(found, Mapping):
        raise DataError(f"sample {one_line(sample.id, 60)}: no foreign judgement in meta.{FOREIGN}")
    try:
        return ForeignJudgement.model_validate(found)
    except ValidationError as error:
        why = one_line(error.errors(include_url=False)[0]["msg"])
        raise DataError(f"sample {one_line(sample.id, 60)}: meta.{FOREIGN}: {why}") from None


class Foreign(TypedDict):  # what the writer of criteria reads
    sample: Sample


class Named(TypedDict):  # what it writes
    criteria: list[Criterion]
    notes: Notes


def _criterion(said: Any) -> Criterion:
    name, definition = (
        " ".join(str(said.get(key) or "").split()) if isinstance(said, Mapping) else ""
        for key in ("name", "definition")
    )
    if not name.strip(" *_:"):
        raise ValueError("the criterion has no name")
    return Criterion(name=name.strip(" *_:")[:LONGEST], definition=definition)


CRITERION: Form[Criterion] = Form("criterion", record({"name": STRING, "definition": STRING}), _criterion)


def _material(sample: Sample, task: str) -> dict[str, Any]:
    """What both writers are shown."""
    output, pair = text_of(sample.output), sample.rival is not None
    return {
        "task": task, **{name: value for name, value in prompts.material(sample).items() if name != "output"},
        "response": "" if pair else output, "response_a": output if pair else "",
        "response_b": text_of(sample.rival) if sample.rival is not None else "",
        "judgement": foreign_judgement(sample).in_words(),
    }  # fmt: skip


@settings_checked
@dataclass(frozen=True, kw_only=True)
class ReverseCriteriaWriter:
    """Writes the criterion that a foreign judgement was made by; one that brings its own is handed on without a call.

    Source: Fennec, section 3.2, eq. 6 (the reverse model, Prompt_rc): it sees query, responses and judgement.

    Attributes:
        judge: who answers. task: one sentence that says what kind of text was judged.
        rewrite: write it anew also where the record brings one.
        temperature: paper: 0; None leaves it to the judge.
    """

    judge: JudgeLike = "embedded"
    task: str = "an assistant's response to a user's query"
    rewrite: bool = False
    prompt: str = "reverse_criterion"
    temperature: float | None = 0.0
    name: str = "reverse-criteria-writer"

    async def __call__(self, state: Foreign) -> Named:
        sample = sample_of(state)
        given = foreign_judgement(sample).criterion
        if given is not None and not self.rewrite:
            return {"criteria": [given], "notes": {}}
        messages = prompts.load(self.prompt).render(**_material(sample, self.task))
        try:
            written = await ask(self.judge, messages, CRITERION, temperature=self.temperature)
        except ReplyError as error:
            about = {"agent": self.name, "status": error.status, "kind": "criteria-failed"}
            return {"criteria": [], "notes": keyed(Note.model_validate(about | {"text": one_line(error)}))}
        return {"criteria": [written], "notes": {}}


@settings_checked
@dataclass(frozen=True, kw_only=True)
class ReverseGuidelineWriter:
    """Writes the guideline by which a judge comes to the foreign verdict; a criterion with its own needs no call.

    Source: Fennec, section 3.2, eq. 6 (Prompt_rs): it sees what the writer of criteria saw, and the criterion.
    Attributes as of `ReverseCriteriaWriter`.
    """

    judge: JudgeLike = "embedded"
    task: str = "an assistant's response to a user's query"
    prompt: str = "reverse_guideline"
    temperature: float | None = 0.0
    name: str = "reverse-guideline-writer"

    async def __call__(self, state: Topic) -> Guided:
        sample, criterion = sample_of(state), state["criterion"]
        if criterion.guideline:
            return {"guidelines": {criterion.name: criterion.guideline}, "notes": {}}
        messages = prompts.load(self.prompt).render(
            **_material(sample, self.task), criterion=criterion_text(criterion)
        )  # fmt: skip
        try:
            text = await ask(self.judge, messages, GUIDELINE["form"], temperature=self.temperature)
        except ReplyError as error:
            about = {"agent": self.name, "status": error.status, "kind": "guideline-failed"}
            return {"guidelines": {}, "notes": keyed(Note.model_validate(about | {"text": one_line(error)}))}
        return {"guidelines": {criterion.name: text}, "notes": {}}
