"""What MATEval's transcripts say of each kind of error: question, answer, explanation, score.

    Question: Does the above story contain 'Repetition'?
    Answer: Yes
    ...
    Score for individual questions: -1

Some blocks say "Deduction: 1 point" instead of a score, or end after "Answer: No".
"""

from __future__ import annotations

import re

_ASKED = r"^[ \t*]*Question[ \t]*:"
_BLOCK = re.compile(rf"{_ASKED}(?P<question>[^\n]*)(?P<rest>.*?)(?={_ASKED}|\Z)", re.MULTILINE | re.DOTALL)
_SCORE = re.compile(r"Score for individual questions?[ \t]*:[ \t]*(-?\d+(?:\.\d+)?)")
_DEDUCTION = re.compile(r"Deductions?[ \t]*:[ \t]*-?(\d+(?:\.\d+)?)")
_NO = re.compile(r"Answer[ \t]*:[ \t]*No\b")


def scores_of(text: str, errors: tuple[str, ...], *, every_block: bool = False) -> dict[str, float | None]:
    """Kind of error -> its score, None where its block is missing or has none.

    Args:
        errors: as the questions name them. Where a question is asked twice its last block counts.
        every_block: a block without a score line is read by its deduction, else a "No" as 0.
    """
    found: dict[str, float | None] = dict.fromkeys(errors)
    for block in _BLOCK.finditer(text):
        asked = [error for error in errors if error.casefold() in block["question"].casefold()]
        if len(asked) == 1:
            found[asked[0]] = _score(block["rest"], every_block)
    return found


def _score(block: str, every_block: bool) -> float | None:
    stated = _SCORE.search(block)
    if stated:
        return float(stated[1])
    if not every_block:
        return None
    deducted = _DEDUCTION.search(block)
    if deducted:
        return -float(deducted[1])
    return 0.0 if _NO.search(block) else None
