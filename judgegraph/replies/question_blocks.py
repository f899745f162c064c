"""Replies of MATEval's form: a question for each kind of error, its answer, and mostly the points taken off for it.

A reply is lines of the form NAME: VALUE. A question that names one kind of error opens its block, which holds the
answer and mostly a score; where the score is missing, a block may say how much is deducted, or no more than that there
is no such error. What is summed up over all questions stands behind the last block.

Source: Li et al. 2024 (MATEval, arXiv:2403.19305); the authors' own reading is told from their figures, as their code
holds none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

_FIELD = re.compile(r"[ \t*]*([^:\n]*?)[ \t*]*:(.*)")
_BREAK = re.compile(r"\n|\\n")  # some ends of lines stand there as two characters
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_WHOLE = re.compile(r"[Ss]core[^:\n]*:\s*(-?\d+)")
Line = tuple[str, str]  # name in small letters, and value


def scores_of(text: str, errors: Sequence[str], *, every_block: bool = False) -> dict[str, float | None]:
    """Kind of error -> its score, None where its block is missing or has none.

    Args:
        errors: as the questions name them. Where a question is asked twice its last block counts.
        every_block: a block without a score is read by its deduction, else a "No" as 0.
    """
    found: dict[str, float | None] = dict.fromkeys(errors)
    for question, lines in _blocks(text):
        asked = [error for error in errors if error.casefold() in question.casefold()]
        if len(asked) == 1:
            found[asked[0]] = _score(lines, every_block)
    return found


def scores_by_authors(text: str, errors: Sequence[str]) -> dict[str, float | None]:
    """Kind of error -> its score as MATEval's published figures have it; for reproducing them, and nothing else.

    From the first place where a kind of error is named, the first line with a whole score counts, also where that line
    belongs to a later question; without any left the score is 0. A half point is cut: "-0.5" is 0.
    """
    read = (_WHOLE.search(text, at) if (at := text.find(error)) >= 0 else None for error in errors)
    return {error: float(found[1]) if found else 0.0 for error, found in zip(errors, read, strict=True)}


def _blocks(text: str) -> Iterator[tuple[str, list[Line]]]:
    """Each question, with the lines up to the next one."""
    blocks: list[tuple[str, list[Line]]] = []
    for found in map(_FIELD.match, _BREAK.split(text)):
        if found is not None:
            name, value = found[1].casefold(), found[2]
            if name == "question":
                blocks.append((value, []))
            elif blocks:
                blocks[-1][1].append((name, value))
    return iter(blocks)


def _score(lines: Sequence[Line], every_block: bool) -> float | None:
    stated = _number(lines, lambda name: "score" in name and "final" not in name)
    if stated is not None or not every_block:
        return stated
    deducted = _number(lines, lambda name: name.startswith("deduction"))
    if deducted is not None:
        return -abs(deducted)
    denied = any(name == "answer" and re.match(r"\s*no\b", value, re.IGNORECASE) for name, value in lines)
    return 0.0 if denied else None


def _number(lines: Sequence[Line], named: Callable[[str], bool]) -> float | None:
    """The number that the first line so named starts with."""
    read = (_NUMBER.match(value.strip()) for name, value in lines if named(name))
    return next((float(found[0]) for found in read if found is not None), None)
