"""Where a command draws: as wide as the terminal, or as COLUMNS says, or as wide as a page."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from rich.console import Console

PAGE = 100


def screen() -> Console:
    """Colours are for terminals alone, and none where NO_COLOR is set."""
    known = Console().is_terminal or os.environ.get("COLUMNS", "").isdigit()
    return Console(width=None if known else PAGE, highlight=False)


def side_by_side(widths: Sequence[int], room: int) -> Iterator[range]:
    """Which columns fit beside one another, in their order: a range of places for each table that is needed.

    Args:
        widths: of each column, the gap before it included. room: what the columns that every table repeats leave.
    """
    start = taken = 0
    for place, width in enumerate(widths):
        if taken + width > room and place > start:
            yield range(start, place)
            start, taken = place, 0
        taken += width
    yield range(start, len(widths))
