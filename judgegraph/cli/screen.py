"""Where a command draws: as wide as the terminal, or as COLUMNS says, or as wide as a page."""

from __future__ import annotations

import os

from rich.console import Console

PAGE = 100


def screen() -> Console:
    """Colours are for terminals alone, and none where NO_COLOR is set."""
    known = Console().is_terminal or os.environ.get("COLUMNS", "").isdigit()
    return Console(width=None if known else PAGE, highlight=False)
