"""What MATEval's transcripts say of each kind of error.

A transcript is lines of the form NAME: VALUE. A question that names one kind of error opens its block, which holds the
answer and mostly a score; where the score is missing, a block may say how much is deducted, or no more than that there
is no such error. What is summed up over all questions stands behind the last block.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

_LINE = re.compile(r"[ \t*]*([^:\n]*?)[ \t*]*:(.*)")
_BREAK = re.compile(r"\n|\\n")  # some ends of lines stand there as two characters
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
Line = tuple[str, str]  # name in small letters, and value


def scores_of(text: str, errors: tuple[str, ...], *, every_block: bool = False) -> dict[str, float | None]:
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


def _blocks(text: str) -> Iterator[tuple[str, list[Line]]]:
    """Each question, with the lines up to the next one."""
    blocks: list[tuple[str, list[Line]]] = []
    for found in map(_LINE.match, _BREAK.split(text)):
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
    said_no = any(name == "answer" and re.match(r"\s*no\b", value, re.IGNORECASE) for name, value in lines)
    return 0.0 if said_no else None


def _number(lines: Sequence[Line], named: Callable[[str], bool]) -> float | None:
    """The number that the first line so named starts with."""
    read = (_NUMBER.match(value.strip()) for name, value in lines if named(name))
    return next((float(found[0]) for found in read if found is not None), None)
