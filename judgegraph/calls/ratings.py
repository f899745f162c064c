"""How a method reads its scores: stated, mean of n, or probability-weighted; the rung is kept in each score."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar

from judgegraph.calls.door import Messages, answered, replies
from judgegraph.calls.form import Form
from judgegraph.calls.rungs import NO_LOGPROBS, Rated, Slot, stated, weighted
from judgegraph.calls.samples import averaged
from judgegraph.calls.stated_text import text_reading
from judgegraph.errors import ConfigError, ReplyError
from judgegraph.models.resolve import JudgeLike, resolve

__all__ = ["STATED", "Rated", "Rating", "Reader", "Slot", "noted", "rate", "text_reading"]

T = TypeVar("T")


@dataclass(frozen=True)
class Reader:
    """Which rungs a score may be read by, best first.

    Attributes:
        kind: "weighted" = token log-probabilities, then `samples` replies, then the stated number
            (G-Eval, both agents of SAGEval); "mean" = mean of `samples` replies (Fusion-Eval);
            "stated" = the number as written (CoAScore, Fennec).
        samples: replies to average, 1 or more; 1 leaves the samples rung out.
        temperature, top_p: of sampled replies; G-Eval's paper says 1 and 1. A top_p of None is not sent.
        first_digit: of a text reply take the first digit that is on the scale, whatever else it says ("2.5" is 2),
            as public re-runs of G-Eval do; else `read_rating`'s rules.
    """

    kind: Literal["weighted", "mean", "stated"] = "stated"
    samples: int = 1
    temperature: float = 1.0
    first_digit: bool = False
    top_p: float | None = None

    def __post_init__(self) -> None:
        if self.samples < 1:
            raise ConfigError(f"a reader takes 1 sample or more, got {self.samples}")

    def __str__(self) -> str:
        text = self.kind if self.samples == 1 else f"{self.kind}:{self.samples}"
        text += "" if self.top_p is None else f":p{self.top_p:g}"
        return f"{text}:first-digit" if self.first_digit else text


STATED = Reader()


@dataclass(frozen=True)
class Rating(Generic[T]):
    """All answers of one question to a judge.

    Attributes:
        value: what the form made of the first reply, None where none could be read.
        answers: slot -> answer, one for every slot asked for.
        values: what the form made of every reply in order: of the samples where there are any, else of the one reply.
            An answer whose reader is "samples" is read from these.
    """

    value: T | None
    answers: dict[str, Rated]
    values: tuple[T, ...] = ()


async def rate(
    judge: JudgeLike, messages: Messages, form: Form[T], slots: Mapping[str, Slot],
    reader: Reader = STATED, **settings: Any,
) -> Rating[T]:  # fmt: skip
    """Ask for a form and read every slot by the reader's best rung; never raises for a bad reply.

    Raises:
        AuthError, ConfigError: as `replies`.
    """
    weigh = reader.kind == "weighted"
    cold = {"temperature": 0.0, **settings} if weigh else settings
    bare = weigh and reader.samples > 1 and _bare(judge, messages, form, reader, settings, cold)
    if reader.samples > 1 and (reader.kind == "mean" or bare):
        try:
            return await _sampled(judge, messages, form, slots, reader, bare, settings)
        except ReplyError as error:
            return Rating(None, {name: failed(error) for name in slots})
    try:
        (first,) = await replies(judge, messages, form, logprobs=weigh, **cold)
    except ReplyError as error:
        return Rating(None, {name: failed(error) for name in slots})
    answers = {name: stated(first, slot) for name, slot in slots.items()}
    sampled: tuple[T, ...] = ()
    if weigh and reader.samples > 1 and first.tokens is None:  # it is read as all later ones
        try:
            return await _sampled(judge, messages, form, slots, reader, True, settings)
        except ReplyError as error:
            noted(answers, slots, NO_LOGPROBS)
            noted(answers, slots, _stands(error.status))
    elif weigh:
        answers = {name: weighted(first, slots[name], answer) for name, answer in answers.items()}
        sampled = await _sample_the_rest(judge, messages, form, slots, reader, answers, settings)
    return Rating(first.value, answers, sampled or (first.value,))


def _bare(
    judge: JudgeLike, messages: Messages, form: Form[T], reader: Reader, settings: dict[str, Any], cold: dict[str, Any]
) -> bool:
    """Whether there is no first rung to try: as this question was read when its replies were paid for, else as the
    judge is known by now. So a rerun asks for the same, whatever it learns and when.
    """

    def sampled() -> bool:
        return answered(judge, messages, form, n=reader.samples, logprobs=True, **_warm(reader, settings))

    def tried() -> bool:
        return answered(judge, messages, form, logprobs=True, **cold)

    if resolve(judge).support.logprobs is False:
        return not tried()
    return sampled() and not tried()


async def _sampled(
    judge: JudgeLike, messages: Messages, form: Form[T], slots: Mapping[str, Slot],
    reader: Reader, bare: bool, settings: dict[str, Any],
) -> Rating[T]:  # fmt: skip
    """Every slot by the rung of samples.

    Bare ones have an address of their own, as calls for log-probabilities that the judge will not give: samples
    that were asked for as such say nothing of what it gives.
    """
    got = await replies(judge, messages, form, n=reader.samples, logprobs=bare, **_warm(reader, settings))
    answers = {name: averaged(got, slot, reader.samples) for name, slot in slots.items()}
    if bare:
        answers = {name: _without_logprobs(answer) for name, answer in answers.items()}
    return Rating(got[0].value, answers, tuple(reply.value for reply in got))


def _without_logprobs(answer: Rated) -> Rated:
    return replace(answer, notes=(NO_LOGPROBS, *answer.notes)) if answer.status == "ok" else answer


def _stands(status: str) -> str:
    return f"sampling failed ({status}), the stated answer stands"


def failed(error: ReplyError) -> Rated:
    """The answer of a call that gave none."""
    status: Any = error.status
    return Rated(status=status, reason=str(error), raw=error.text or None)


def _warm(reader: Reader, settings: dict[str, Any]) -> dict[str, Any]:
    own = {"temperature": reader.temperature, **({} if reader.top_p is None else {"top_p": reader.top_p})}
    return own | {k: v for k, v in settings.items() if k not in own}


async def _sample_the_rest(
    judge: JudgeLike, messages: Messages, form: Form[T], slots: Mapping[str, Slot],
    reader: Reader, answers: dict[str, Rated], settings: dict[str, Any],
) -> tuple[T, ...]:  # fmt: skip
    """The second rung, for the slots whose log-probabilities would not do: one request for all of them.

    Where most samples abstain, so does the answer: the stated one was one draw of theirs.
    """
    rest = [name for name, a in answers.items() if a.status == "ok" and a.reader == "stated"]
    if not rest or reader.samples < 2:
        return ()
    try:
        got = await replies(judge, messages, form, n=reader.samples, **_warm(reader, settings))
    except ReplyError as error:
        noted(answers, rest, _stands(error.status))
        return ()
    for name in rest:
        mean, first = averaged(got, slots[name], reader.samples), answers[name]
        if mean.status in ("ok", "abstained"):
            notes = tuple(dict.fromkeys((*first.notes, *mean.notes)))
            reason = first.reason if mean.status == "ok" else mean.reason
            answers[name] = replace(mean, reason=reason, notes=notes)
        else:
            noted(answers, [name], f"sampling ended as {mean.status}, the stated answer stands")
    return tuple(reply.value for reply in got)


def noted(answers: dict[str, Rated], names: Iterable[str], note: str) -> None:
    """Add a note to those of the answers that hold a value or a label."""
    for name in names:
        if answers[name].status == "ok":
            answers[name] = replace(answers[name], notes=(*answers[name].notes, note))
