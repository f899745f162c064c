"""What a pairwise judge is asked to return: a score for each response and what sets them apart, or a bare verdict."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from judgegraph.calls import Form
from judgegraph.calls.form import STRING, Incomplete, answer_schema, record
from judgegraph.errors import ReplyError, ScaleError
from judgegraph.types import Scale, Status, Verdict

SWAPPED: dict[Verdict | None, Verdict | None] = {"A": "B", "B": "A", "tie": "tie", None: None}
SPOKEN: dict[str, tuple[str, ...]] = {"A": (), "B": (), "tie": ("tie", "tied")}

_SCORE = re.compile(r"(?<![a-z])(?:response|output|answer|assistant)\s+\(?([AB])\)?(?:['’]s)?\s+score\s*[:：]", re.I)
_COMPARISON = re.compile(r"(?<![a-z])comparison\s*[:：]", re.I)
_VERDICT = re.compile(r"(?<![a-z])(?:final\s+)?verdict\s*[:：]", re.I)
_EXPLANATION = re.compile(r"\s*explanation\s*[:：]\s*", re.I)


@dataclass(frozen=True)
class Side:
    """What a reply says of one response: a score on the scale, or why there is none.

    Beside a bare verdict the status is "skipped": no score was due.
    """

    value: float | None = None
    reason: str = ""
    status: Status = "unreadable"


@dataclass(frozen=True)
class Judgement:
    """What a reply says of two responses.

    Attributes:
        a, b: the sides as the reply labels them.
        comparison: what sets them apart. stated: a verdict said in words, None where there is none.
    """

    a: Side
    b: Side
    comparison: str = ""
    stated: Verdict | None = None

    @property
    def verdict(self) -> Verdict | None:
        """The greater score, equal scores are a tie; without two scores the verdict said in words."""
        if self.a.value is None or self.b.value is None:
            return self.stated
        return greater(self.a.value, self.b.value)

    @property
    def status(self) -> Status:
        """ok with a verdict; else the status of a side that has no score."""
        if self.verdict is not None:
            return "ok"
        statuses: list[Status] = [side.status for side in (self.a, self.b) if side.status != "ok"]
        return "unreadable" if "unreadable" in statuses else statuses[0]

    def swapped(self) -> Judgement:
        """The same judgement with its labels exchanged."""
        return replace(self, a=self.b, b=self.a, stated=SWAPPED[self.stated])


def greater(a: float, b: float) -> Verdict:
    """The verdict of two sums or scores; equal ones are a tie (a float's last digits aside)."""
    if math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9):
        return "tie"
    return "A" if a > b else "B"


def pairwise_form(scale: Scale) -> Form[Judgement]:
    """Explanation and score of each response, then a comparison; a null score is an abstention."""
    score = answer_schema(scale)
    properties = {"explanation_a": STRING, "score_a": score, "explanation_b": STRING, "score_b": score}

    def read(data: Any) -> Judgement:
        said: Mapping[str, Any] = data if isinstance(data, Mapping) else {}
        (a, bad_a), (b, bad_b) = _side(said, "a", scale), _side(said, "b", scale)
        judgement = Judgement(a, b, str(said.get("comparison") or ""))
        return _complete(judgement, [problem for problem in (bad_a, bad_b) if problem])

    return Form("pairwise", record({**properties, "comparison": STRING}), read)


def _side(said: Mapping[str, Any], label: str, scale: Scale) -> tuple[Side, str]:
    """One side, and what is wrong with it."""
    key, reason = f"score_{label}", str(said.get(f"explanation_{label}") or "")
    if key not in said:
        return Side(reason=reason), f"{key} is missing"
    if said[key] is None:
        return Side(reason=reason, status="abstained"), ""
    try:
        given = said[key]
        value = scale.check(float(given) if isinstance(given, str) else given)
    except ScaleError as error:
        return Side(reason=reason), f"{key}: {error}"
    except ValueError:
        return Side(reason=reason), f"{key} is no number on the scale {scale}"
    return Side(value, reason, "ok"), ""


def _complete(judgement: Judgement, problems: list[str]) -> Judgement:
    """The judgement, if nothing is wrong with it; half of one is kept in case asking again does not help."""
    if not problems or judgement.status == "ok":
        return judgement
    if len(problems) == 2:
        raise ValueError("; ".join(problems))
    raise Incomplete("; ".join(problems), judgement, 1)


def pairwise_text(scale: Scale) -> Form[Judgement]:
    """A plain reply: "Response A Score: n", "Response B Score: n" with explanations, "Comparison:", or a verdict.

    Source: Fennec's reply form (table 9). Its parser takes one character behind each mark and 0 where that fails; ours
    reads a number on the scale or none. A reply without scores is read for its verdict alone ("Output (a)", "tie").
    """

    def read(text: str) -> Judgement:
        judgement = judgement_in(text, scale)
        if judgement.status == "refused":
            raise ReplyError("the model declined to judge", "refused", text)
        sides = {"A": judgement.a, "B": judgement.b}
        missing = [label for label, side in sides.items() if side.value is None and side.status != "abstained"]
        bad = [f"no score of Response {label} on {scale}" for label in missing]
        return _complete(judgement, bad)

    return Form("pairwise", None, read)


def judgement_in(text: str, scale: Scale) -> Judgement:
    """What a plain reply says; sides without a score abstained ("N/A"), are unreadable, or refused with the reply."""
    from judgegraph.calls.quotation import attributed, disowned, unquoted
    from judgegraph.calls.reading import read_choice
    from judgegraph.calls.reasoning import parts

    plain = parts(text).said.replace("*", "")
    own = unquoted(plain)
    marks = [mark for kind in (_SCORE, _COMPARISON, _VERDICT) for mark in kind.finditer(own)]
    marks = [mark for mark in marks if not (attributed(own, mark.start()) or disowned(own, mark.start(), mark.end()))]
    marks.sort(key=lambda mark: mark.start())
    if not any(mark.re is _SCORE for mark in marks):
        choice = read_choice(text, SPOKEN)
        side = Side(status="skipped" if choice.status == "ok" else choice.status, reason=choice.rule)
        return Judgement(side, side, text.strip(), _verdict(choice.value))
    ends = [mark.start() for mark in marks[1:]] + [len(plain)]
    pieces = [(mark, plain[mark.end() : end].strip()) for mark, end in zip(marks, ends, strict=True)]
    sides = {label: _side_in(label, pieces, scale) for label in "AB"}
    comparison = next((piece for mark, piece in pieces if mark.re is _COMPARISON), "")
    said = next((piece for mark, piece in reversed(pieces) if mark.re is _VERDICT), "")
    stated = _verdict(read_choice(f"Verdict: {said}", SPOKEN).value) if said else None
    return Judgement(sides["A"], sides["B"], comparison, stated)


def _side_in(label: str, pieces: list[tuple[re.Match[str], str]], scale: Scale) -> Side:
    """The score and the explanation under a response's mark; two different scores for one response are none."""
    from judgegraph.calls.reading import read_rating

    read = []
    for mark, piece in pieces:
        if mark.re is _SCORE and mark[1].upper() == label:
            head, *rest = _EXPLANATION.split(piece, maxsplit=1)
            stated, _, below = head.strip().partition("\n")
            read.append((read_rating(f"Score: {stated[:60]}", scale), rest[0] if rest else below.strip()))
    reason = read[0][1] if read else ""
    if read and all(reading.status == "abstained" for reading, _ in read):
        return Side(reason=reason, status="abstained")
    values = {reading.value for reading, _ in read}
    if len(values) != 1 or not isinstance(value := values.pop(), float):
        return Side(reason=reason)
    return Side(value, reason, "ok")


def _verdict(value: float | str | None) -> Verdict | None:
    return value if value in ("A", "B", "tie") else None  # type: ignore[return-value]
