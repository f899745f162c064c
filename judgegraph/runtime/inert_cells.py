"""Texts in cells of CSV files, marked so that no spreadsheet takes one for a formula, and read back as they were.

A mark is one single quote. It stands before a cell that a spreadsheet may start to calculate: one that begins with
= + - @, with these in full width, or with a tab, an end of a line or a NUL, also behind white space, invisible
characters and quotes. Where lists are separated by semicolons or tabs, a spreadsheet cuts our cells anew at those and
at ends of lines, so a mark stands there too before what would be a formula. Every text has one marked form, and no two
texts have the same: what begins like a marked text gets a mark more.
"""

from __future__ import annotations

import re

COLUMNS = (
    "id", "criterion", "agent", "stage", "repeat", "of", "value", "label", "status", "reader", "unseen", "reason",
    "role",
)  # fmt: skip
PAIR_COLUMNS = ("id", "criterion", "agent", "order", "verdict", "score_a", "score_b", "status", "reason")
FORMULA = r"=+\-@\uff1d\uff0b\uff0d\uff20"
CUT = r";\t\r\n"  # where a cell begins that we did not begin
SKIPPED = r"(?:(?![\t\r\n])[\s\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2060\ufeff\"'])*"
_BEGINS = rf"(?={SKIPPED}[{FORMULA}\t\r\n\0])"
_GOES_ON = rf"(?={SKIPPED}[{FORMULA}])"
_UNMARKED = re.compile(rf"\A{_BEGINS}|(?<=[{CUT}]){_GOES_ON}")
_MARKED = re.compile(rf"\A'{_BEGINS}|(?<=[{CUT}])'{_GOES_ON}")


def marked(text: str) -> str:
    """A text as it may stand in a cell."""
    return _UNMARKED.sub("'", text)


def unmarked(cell: str) -> str:
    """The text that `marked` gave this cell for."""
    return _MARKED.sub("", cell)
