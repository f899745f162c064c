"""A bar with rate and time left, for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def progress(total: int | None) -> Iterator[Callable[[Any], None]]:
    """Gives a function to call with every finished item; the bar is gone afterwards."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("judging", total=total, rate="")

        def tick(item: Any) -> None:
            done, seconds = bar.tasks[0].completed + 1, bar.tasks[0].elapsed or 0.0
            bar.update(task, advance=1, rate=f"{done / seconds:.1f}/s" if seconds else "")

        yield tick
