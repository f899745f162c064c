"""How a method reads its scores: stated, mean of n, or probability-weighted; the rung is kept in each score.

It hides where an answer stands among a reply's tokens, what makes log-probabilities a distribution over the points of a
scale, and when they are none.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from judgegraph.calls.asking import (
    DECLINED,
    Form,
    Messages,
    Reply,
    answer_key,
    answer_of,
    is_in_ledger,
    off_points,
    replies,
)
from judgegraph.calls.types import Token
from judgegraph.errors import ConfigError, ReplyError, counted, settings_checked
from judgegraph.models.judges import JudgeLike, resolve
from judgegraph.replies.reply import PROSE, RETAKEN, JsonPath, parts, spans
from judgegraph.types import Scale, Status

if TYPE_CHECKING:  # many expressions, which only what is no form needs: no part of an import
    from judgegraph.replies.text import Reading

# How one answer is read from a reply, rung by rung: as written, or by token probabilities.


FLOOR = 0.5  # least probability that valid points must hold for a weighted score (design, contract 4)
NO_LOGPROBS = "the judge gives no log-probabilities"
NOT_FOUND = "the answer could not be found among the tokens"
SEVERAL = "of different answers in one reply the last counts"
RECANTED = "its own reason gives another answer"
_TAKES_BACK = re.compile(
    r"\b(?:retract|withdraw|actually|wait|correction|scratch that|on reflection|should be|instead"
    r"|take (?:that|it) back)\b",
    re.I,
)
CONTRARY = ", its scores say "  # in a note on a reply whose verdict is another than its scores give
GAINSAID = " but gave "  # in a note on a critic's verdict that goes against its own score
TOO_LITTLE = "log-probabilities hold too little on the scale"


@dataclass(frozen=True)
class Slot:
    """Where one answer stands: the path to its entry in the form, None for a free text reply; its scale; and the
    name of the criterion, by which a free text may call its rating.
    """

    scale: Scale
    path: JsonPath | None = None
    first_digit: bool = False  # see Reader
    name: str = ""


@dataclass(frozen=True)
class Rated:
    """One answer as read; the fields are those of `types.Score`, to be passed on as they are."""

    value: float | None = None
    label: str | None = None
    status: Status = "ok"
    reason: str = ""
    distribution: dict[str, float] | None = None
    unseen: float | None = None
    reader: str = ""
    raw: str | None = None
    notes: tuple[str, ...] = ()

    def fields(self, *notes: str) -> dict[str, Any]:
        """As keyword arguments of a Score, with more notes."""
        return {**self.__dict__, "notes": (*self.notes, *notes)}


def entry_of(data: Any, path: JsonPath) -> Any:
    """The part of parsed JSON at a path, None where it is not there."""
    for step in path:
        data = data.get(step) if isinstance(data, Mapping) else None
    return data


def stated(reply: Reply[Any], slot: Slot) -> Rated:
    """The answer as written."""
    answer = _stated(reply, slot)
    if reply.ends is not None:
        reply.ends.end(answer.status)
    return answer


def _stated(reply: Reply[Any], slot: Slot) -> Rated:
    if slot.path is None:
        return _stated_in_text(reply, slot)
    entry = entry_of(reply.data, slot.path)
    try:
        answer = answer_of(entry, slot.scale, slot.name)
    except ValueError as error:
        return Rated(status="unreadable", reason=str(error), raw=reply.text, notes=reply.notes)
    reason = str(entry.get("reason") or "")
    if answer is None:
        return Rated(status="abstained", reason=reason, reader="stated", notes=reply.notes)
    beside = None
    if PROSE in reply.notes:  # "Score: 5 - no, {"score": 2}"
        from judgegraph.replies.free_text import text_reading

        beside = text_reading(reply.text, slot.scale)
    given = _given(answer, reply, slot, reason, beside)
    said = _taken_back_inside(reason, answer, slot) if _TAKES_BACK.search(reason) else None
    return given if said is None else replace(given, notes=(*given.notes, f"{RECANTED} ({_shown(said)})"))


def _taken_back_inside(reason: str, answer: float | str, slot: Slot) -> float | str | None:
    """Another answer that its own reason gives: "Actually this deserves a 2"; None where it gives none."""
    from judgegraph.replies.free_text import text_reading

    said = text_reading(reason, slot.scale, name=slot.name)
    sure = said.status == "ok" and said.rule in ("marked", "named", "own line", "counted", "phrase", "said")
    return said.value if sure and said.value != answer else None


def _given(answer: float | str, reply: Reply[Any], slot: Slot, reason: str, reading: Reading | None) -> Rated:
    """The answer with its notes; `reading`: of the words that state it, or that stand around its JSON."""
    notes = reply.notes
    if reading and reading.value == answer and not _retaken(notes):
        if reading.earlier is not None:
            notes = (f"{RETAKEN} ({_shown(reading.earlier)})", *notes)
        elif reading.other is not None:
            notes = (f"{SEVERAL} ({_shown(reading.other)} stands before it)", *notes)
    if isinstance(answer, str):
        return Rated(label=answer, reason=reason, reader="stated", notes=notes)
    return Rated(value=answer, reason=reason, reader="stated", notes=(*notes, *off_points(answer, slot.scale)))


def _shown(answer: float | str) -> str:
    return answer if isinstance(answer, str) else f"{answer:g}"


def _retaken(notes: Iterable[str]) -> bool:
    return any(note.startswith(RETAKEN) for note in notes)


def _stated_in_text(reply: Reply[Any], slot: Slot) -> Rated:
    from judgegraph.replies.free_text import text_reading

    reading = text_reading(reply.text, slot.scale, slot.first_digit, slot.name)
    if reading.status == "abstained":
        return Rated(
            status="abstained", reason=parts(reply.text).answer_text.strip(), reader="stated", notes=reply.notes
        )
    if reading.value is None:
        reason = DECLINED if reading.status == "refused" else "no rating found in the reply"
        return Rated(status=reading.status, reason=reason, raw=reply.text, notes=reply.notes)
    return _given(reading.value, reply, slot, _reason(reply, reading.span), reading)


def _reason(reply: Reply[Any], span: tuple[int, int] | None) -> str:
    """What the answer says beside its value; nothing of what was thought."""
    from judgegraph.replies.free_text import reason_without_value

    found = parts(reply.text)
    if not found.spans:
        return reason_without_value(reply.text, span)
    start = len(found.answer) - len(found.answer.lstrip())
    beside = reason_without_value(found.answer[start:], (span[0] - start, span[1] - start) if span else None)
    return re.sub(r"[ ]{9,}", " ", beside)  # the place of a thought


def weighted(reply: Reply[Any], slot: Slot, answer: Rated, greedy: bool = False) -> Rated:
    """The first rung, where the judge gave log-probabilities that hold enough; else the answer as it was.

    Args:
        greedy: the judge was asked at temperature 0, so that it chose what is most probable.
    """
    if answer.status != "ok":
        return answer
    found: Weighted | str = "the scale has no points to weigh"
    if slot.scale.labels or slot.scale.points:
        found = _found(reply, slot, answer, greedy)
    if isinstance(found, str):
        return replace(answer, notes=(*answer.notes, found))
    return _by(answer, found, "logprobs")


def _found(reply: Reply[Any], slot: Slot, answer: Rated, greedy: bool) -> Weighted | str:
    """What the tokens say of an answer, or why they say nothing."""
    if reply.tokens is None:
        return NO_LOGPROBS
    at = offset(reply.tokens, reply.text, last=bool(reply.reasoning))
    span = _span(reply, slot)
    if at is None or span is None or not _same(reply.text[slice(*span)], answer):
        return NOT_FOUND
    place = (span[0] + at, span[1] + at)
    if why := unsound(reply.tokens, place):
        return why
    if alone(reply.tokens, place):
        return f"{TOO_LITTLE}: no alternatives came with them"
    masses = masses_at(reply.tokens, place, slot.scale)
    chosen = answer.label if answer.value is None else answer.value
    if greedy and chosen is not None and (why := unlikely(masses, chosen)):
        return why
    return expected(masses, slot.scale, FLOOR) or TOO_LITTLE


def fallback_reason(notes: Iterable[str]) -> str:
    """Why a score was not read by its first rung, as its notes say; "" where it was, or had none."""
    return next((note for note in notes if note.startswith((NO_LOGPROBS, NOT_FOUND, TOO_LITTLE, UNSOUND))), "")


def _same(written: str, answer: Rated) -> bool:
    """What stands at the place found is the answer that was read: never a weight of another number."""
    if answer.value is None:
        return answer.label is not None and written.casefold() == answer.label.casefold()
    try:
        return float(written) == answer.value
    except ValueError:
        return False


def _by(answer: Rated, found: Weighted, reader: str) -> Rated:
    seen: dict[str, Any] = {"distribution": found.distribution, "unseen": round(found.unseen, 6)}
    if found.value is None:
        notes = (*answer.notes, *tied(found.distribution, answer.label))
        return replace(answer, reader=reader, notes=notes, **seen)
    return replace(answer, value=found.value, reader=reader, **seen)


def _span(reply: Reply[Any], slot: Slot) -> tuple[int, int] | None:
    """Characters of the value in the reply."""
    if slot.path is None:
        from judgegraph.replies.free_text import text_reading

        return text_reading(reply.text, slot.scale, slot.first_digit, slot.name).span
    found = spans(reply.answer)
    path = (*slot.path, answer_key(slot.scale))
    inner = [at for at in found if at[-len(path) :] == path]  # a surplus level may stand before it
    return found[inner[0]] if len(inner) == 1 else None


def tied(shares: Mapping[str, float], label: str | None) -> tuple[str, ...]:
    """A note where other labels have the chosen one's share: the order of names decided."""
    best = shares.get(label or "", 0.0)
    others = [other for other, share in shares.items() if other != label and math.isclose(share, best, abs_tol=1e-6)]
    return (f"tied with {', '.join(others)}",) if others and best else ()


# The rung of samples: one answer from several replies to the same question.


def averaged(got: Sequence[Reply[Any]], slot: Slot, wanted: int) -> Rated:
    """Mean and distribution of the replies that could be read; of labels the most frequent, ties by name.

    Args:
        got: one reply or more. wanted: how many were asked for; what is missing is noted.

    Returns:
        "unreadable" where fewer than half of those wanted could be read: a mean of what is left would say more
        than was heard; where some never came, as the budget or the server kept them back, the status of that.
        "abstained" where more replies abstain than answer.
    """
    answers = [stated(reply, slot) for reply in got]
    good = [a for a in answers if a.status == "ok"]
    left_out = Counter[str](a.status for a in answers if a.status != "ok")
    missing = got[0].missing
    left_out[missing.status if missing else "unreadable"] += wanted - len(got)  # these did not even come this far
    notes = tuple(
        f"{count} of {counted(wanted, 'reply', 'replies')} left out: {status}"
        for status, count in left_out.items()
        if count > 0
    )
    if not good or left_out["abstained"] > len(good) or 2 * (len(good) + left_out["abstained"]) < wanted:
        return _unaveraged(answers, len(good), wanted, notes, missing)
    written = [a.label if a.value is None else f"{a.value:g}" for a in good]
    shares = {str(point): count / len(good) for point, count in sorted(Counter(written).items())}
    said = dict.fromkeys(note for a in good for note in a.notes)
    if slot.scale.labels:
        label = max(sorted(shares), key=lambda label: shares[label])
        notes = (*said, *notes, *tied(shares, label))
        return replace(good[0], label=label, reader="samples", distribution=shares, notes=notes)
    value = mean_of([a.value for a in good if a.value is not None])
    return replace(good[0], value=value, reader="samples", distribution=shares, notes=(*said, *notes))


def _unaveraged(
    answers: Sequence[Rated], good: int, wanted: int, notes: tuple[str, ...], missing: ReplyError | None
) -> Rated:
    """Why there is no mean: what kept replies back, the status of all that came, else abstained or unreadable."""
    lost = [a for a in answers if a.status != "ok"]
    abstained = [a for a in lost if a.status == "abstained"]
    readable = good + len(abstained)
    if abstained and 2 * readable >= wanted:
        told = notes if len(abstained) < wanted else ()
        return replace(abstained[0], reader="samples", notes=(*abstained[0].notes, *told))
    raw = next((a.raw for a in lost if a.raw), None)
    reason = f"{readable} of {counted(wanted, 'reply', 'replies')} could be read, fewer than half"
    if missing is not None:
        status: Any = missing.status
        return Rated(status=status, reason=f"{reason}: {missing}", raw=raw, notes=notes)
    if not readable and len({a.status for a in lost}) == 1:
        return lost[0]
    return Rated(status="unreadable", reason=reason, raw=raw, notes=notes)


def mean_of(values: Sequence[float]) -> float:
    """Their mean; identical ones give that number, not its float sum."""
    return values[0] if min(values) == max(values) else math.fsum(values) / len(values)


T = TypeVar("T")


@settings_checked
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
        if not self.temperature >= 0:
            raise ConfigError(f"a reader's temperature is 0 or more, got {self.temperature:g}")

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
    bare = weigh and reader.samples > 1 and _skips_logprobs(judge, messages, form, reader, settings, cold)
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
            noted(answers, slots, _stated_note(error.status))
    elif weigh:
        greedy = cold["temperature"] == 0 and "temperature" not in resolve(judge).support.refused
        answers = {name: weighted(first, slots[name], answer, greedy) for name, answer in answers.items()}
        sampled = await _sample_the_rest(judge, messages, form, slots, reader, answers, settings)
    return Rating(first.value, answers, sampled or (first.value,))


def _skips_logprobs(
    judge: JudgeLike, messages: Messages, form: Form[T], reader: Reader, settings: dict[str, Any], cold: dict[str, Any]
) -> bool:
    """Whether to skip log-probabilities: as the ledger shows this question was read before, else as the
    judge is known by now. So a rerun asks for the same, whatever it learns and when.
    """

    def sampled() -> bool:
        return is_in_ledger(judge, messages, form, n=reader.samples, logprobs=True, **_warm(reader, settings))

    def tried() -> bool:
        return is_in_ledger(judge, messages, form, logprobs=True, **cold)

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


def _stated_note(status: str) -> str:
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
        noted(answers, rest, _stated_note(error.status))
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


# From token log-probabilities to a distribution over the points of a scale.


UNSOUND = "the log-probabilities are no distribution"
CONTRADICTED = "positive, no numbers, or at odds with one another"
SURE = 0.99  # probability of a token from which on it may be the only one that is listed
UNLIKELY = 0.1  # of the probability of another point: a judge at temperature 0 chooses none that has less
MOST = 1.01  # that the alternatives of one place may hold together: above 1 by rounding alone, else no distribution
_LEAD = re.compile(r"[\s:=\"'*\[(]*")
_END = re.compile(r"(?:\s|<[|/][^<>\n]{0,30}>)+\Z")  # of a reply in tokens: blanks, and marks of its end
_TAIL = 200  # characters in which such marks are looked for
_DIGITS = re.compile(r"-?[0-9]*")


@dataclass(frozen=True)
class Weighted:
    """A weighted score.

    Attributes:
        value: sum of p_i * s_i in the units of the scale; None on a label scale.
        distribution: point or label (as text) -> p, renormalised over the valid ones, sums to 1.
        unseen: probability, 0 to 1, that lay on no valid point before renormalising.
    """

    value: float | None
    distribution: dict[str, float]
    unseen: float


def expected(masses: Mapping[str, float], scale: Scale, floor: float = 0.5) -> Weighted | None:
    """Probability-weighted score: score = sum_i p(s_i) * s_i.

    Source: Liu et al. 2023 (G-Eval), arXiv:2303.16634, "Scoring function"; SAGEval eq. 1. Ours: p is
    renormalised over the k valid points seen, as an API returns only its top tokens.

    Args:
        masses: point or label of the scale, as text -> probability, sums to at most 1.
        scale: of the score.
        floor: least total probability, 0 to 1, that the points must hold.

    Returns:
        None where they hold less: a mean of leftovers is noise. None too where they hold more than 1.01: that is no
        distribution.
    """
    total = math.fsum(masses.values())
    if not masses or not floor <= total <= MOST:
        return None
    order = scale.labels or tuple(sorted(masses, key=float))
    shares = {point: masses[point] / total for point in order if point in masses}
    value = None if scale.labels else math.fsum(float(point) * p for point, p in shares.items())
    if value is not None and scale.low is not None and scale.high is not None:
        value = min(max(value, scale.low), scale.high)  # a sum of floats may end a hair beside the scale
    return Weighted(value, shares, min(1.0, max(0.0, 1 - total)))


def masses_at(tokens: Sequence[Token], span: tuple[int, int], scale: Scale) -> dict[str, float]:
    """Probability per point of the scale, as text, at the value that stands at `span` of the joined tokens.

    Variants of one point ("4", " 4", ":4", "4,") are summed. Where a value is written in several tokens ("1"
    then "0"), every token of it is a fork: what could have stood there counts with the probability of the
    tokens before it. What could still become two different points counts for none.

    Args:
        tokens: of the reply, in order; joined they are its text.
        span: (start, end) of the value in characters.
        scale: a whole scale or one of labels.

    Returns:
        Empty where no point of the scale stands at the span, as in "4.5".
    """
    options = {label.casefold(): label for label in scale.labels} or {str(p): str(p) for p in scale.points}
    written = "".join(token.text for token in tokens)[slice(*span)].casefold()
    first, lead = _token_at(tokens, span[0])
    if written not in options or first < 0:
        return {}
    fit = _label if scale.labels else _number
    masses: dict[str, float] = {}
    before, sure = "", 1.0  # what earlier tokens wrote of the value, and their probability
    for token in tokens[first:]:
        prefix, own = token.text[:lead], (before + token.text[lead:]).casefold()
        pieces = {text: _piece(text, prefix, before) for text in token.top if text != token.text}
        whole = not before and any(len(_digits(piece or "")) > 1 for piece in [*pieces.values(), own])
        for text, piece in pieces.items():
            if piece and (point := fit(piece, options, whole)):
                masses[options[point]] = masses.get(options[point], 0.0) + sure * math.exp(token.top[text])
        sure *= math.exp(token.top.get(token.text, -math.inf))
        before, lead = own, 0
        if len(own) > len(written) or not any(o != written and o.startswith(own) for o in options):
            break
    masses[options[written]] = masses.get(options[written], 0.0) + sure
    return masses


def unsound(tokens: Sequence[Token], span: tuple[int, int]) -> str:
    """Why the log-probabilities at a value are none, "" where they can be.

    Each token of the value is a place with alternatives of its own, which hold at most 1 together.
    """
    index, at = _token_at(tokens, span[0])
    end = span[0] - at
    while 0 <= index < len(tokens) and end < span[1]:
        token = tokens[index]
        mass = math.fsum(map(math.exp, token.top.values()))
        if not token.top or not mass <= MOST:
            return f"{UNSOUND}: {f'its alternatives hold {mass:.2f} together' if token.top else CONTRADICTED}"
        index, end = index + 1, end + len(token.text)
    return ""


def alone(tokens: Sequence[Token], span: tuple[int, int]) -> bool:
    """Whether no alternatives came with the first token of a value: none were listed, or itself alone, not certain."""
    index, _ = _token_at(tokens, span[0])
    top = tokens[index].top if index >= 0 else {}
    return len(top) == 1 and (not tokens[index].listed or math.exp(*top.values()) < SURE)


def unlikely(masses: Mapping[str, float], value: float | str) -> str:
    """Why the log-probabilities cannot be those of a value that was chosen at temperature 0, "" where they can.

    Args:
        masses: as of `masses_at`. value: the point or label that was written.
    """
    written = masses.get(value if isinstance(value, str) else f"{value:.0f}", 0.0)
    best = max(masses, key=lambda point: masses[point], default="")
    if not best or written >= UNLIKELY * masses[best]:
        return ""
    return f"{UNSOUND}: at temperature 0 {best} has {masses[best]:.2f}, and what was chosen {written:.2f}"


def offset(tokens: Sequence[Token], text: str, *, last: bool = False) -> int | None:
    """Where a reply's text begins in the joined tokens, in characters; None where they do not hold it just once.

    Some servers strip the text, or give a token for its end.

    Args:
        last: the model thought before; where the tokens end with the text, it is that one.
    """
    joined = "".join(token.text for token in tokens)
    if last and text.strip():
        bare = joined[:-_TAIL] + _END.sub("", joined[-_TAIL:])
        if bare.endswith(text.rstrip()):
            return len(bare) - len(text.rstrip())
    at = joined.find(text)
    return at if text and at >= 0 and joined.find(text, at + 1) < 0 else None


def _token_at(tokens: Sequence[Token], place: int) -> tuple[int, int]:
    """The token that holds the character at `place`, and how many of its characters stand before it."""
    at = 0
    for index, token in enumerate(tokens):
        if at + len(token.text) > place:
            return index, place - at
        at += len(token.text)
    return -1, 0


def _piece(text: str, prefix: str, before: str) -> str | None:
    """What the value would begin with, had this token stood there; None where it is no value of that kind."""
    if before:
        return (before + text).casefold()
    if prefix and text.startswith(prefix):
        return text[len(prefix) :].casefold()
    lead = _LEAD.match(text)
    start = lead.end() if lead else 0
    if ('"' in text[:start]) != ('"' in prefix):
        return None  # a text for a number, or null for a label
    return text[start:].casefold()


def _number(piece: str, options: Mapping[str, str], whole: bool) -> str | None:
    """The point a piece can only mean: "4", "4,"; not "4.", not "1" where 10 is a point and written digit by digit.

    Args:
        whole: this tokenizer writes numbers of several digits as one token, so that "1" is not the start of "10".
    """
    digits = _digits(piece)
    rest = piece[len(digits) :]
    if digits not in options or re.match(r"[.\w]", rest):
        return None
    longer = any(option != digits and option.startswith(digits) for option in options)
    return digits if rest or whole or not longer else None


def _digits(piece: str) -> str:
    match = _DIGITS.match(piece)
    return match[0] if match else ""


def _label(piece: str, options: Mapping[str, str], _: bool) -> str | None:
    """The label that a piece begins or is, and no other."""
    piece, quote, _rest = piece.partition('"')
    if quote:
        return piece if piece in options else None
    fitting = [option for option in options if option.startswith(piece)]
    if len(fitting) == 1:
        return fitting[0]
    closed = [o for o in options if piece.startswith(o) and not piece[len(o) : len(o) + 1].isalnum() and piece != o]
    return max(closed, key=len) if closed and not fitting else None
