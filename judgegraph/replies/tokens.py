"""From token log-probabilities to a distribution over the points of a scale."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judgegraph.types import Scale

UNSOUND = "the log-probabilities are no distribution"
CONTRADICTED = "positive, no numbers, or at odds with one another"
SURE = 0.99  # probability of a token from which on it needs no alternatives
UNLIKELY = 0.1  # of the probability of another point: a judge at temperature 0 chooses none that has less
MOST = 1.01  # that the alternatives of one place may hold together: above 1 by rounding alone, else no distribution
_LEAD = re.compile(r"[\s:=\"'*\[(]*")
_END = re.compile(r"(?:\s|<[|/][^<>\n]{0,30}>)+\Z")  # of a reply in tokens: blanks, and marks of its end
_TAIL = 200  # characters in which such marks are looked for
_DIGITS = re.compile(r"-?[0-9]*")


@dataclass(frozen=True)
class Token:
    """One token of a reply: its text, and text -> natural log of probability of what could have stood there.

    An empty `top` means that what the server told of this place are no log-probabilities, or contradict one another.
    """

    text: str
    top: Mapping[str, float]


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
    """Whether no alternatives came with the first token of a value, which is not certain by itself."""
    index, _ = _token_at(tokens, span[0])
    top = tokens[index].top if index >= 0 else {}
    return len(top) == 1 and math.exp(*top.values()) < SURE


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
