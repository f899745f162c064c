"""How far a run is, on stderr: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from judgegraph.views.screen import Pace, details, state_line

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import Progress as Bar

    from judgegraph.runs.worker import Progress


EVERY = 10.0  # seconds between two plain lines at least
BAR = 24  # columns; the words need the rest


class Teller:
    """Told of every step of a run, tells people now and then. What cannot be written must not end the run.

    Attributes:
        now: the latest that is known, None before the first; in a retry without what it leaves as it is.
        cut: a limit may leave out some of the samples that failed.
    """

    def __init__(self, total: Callable[[], int | None], cut: bool = False) -> None:
        self._total, self.cut = total, cut
        self.now: Progress | None = None
        self.pace = Pace()

    def __call__(self, now: Progress) -> None:
        """The run has come so far."""
        if now.again is not None:
            now = replace(now, done=now.done - now.resumed, resumed=0)
        self.now = now
        self.pace.add(now.seconds, now.done)

    def total(self) -> int | None:
        """How many samples there are; None where the folder has finished ones that are not among them."""
        if self.now is None:
            return self._total()
        found = self._total() if self.now.again is None else None if self.cut else self.now.again
        return found if found is not None and found >= self.now.done else None

    def say(self, text: str) -> None:
        """A line of its own, at once."""
        with suppress(OSError, ValueError, RuntimeError):  # a full disk, a closed pipe, or a signal amid a write
            click.echo(text, err=True)

    def end(self) -> None:
        """The last line, where there was a first."""
        if self.now is not None:
            self.say(state_line(self.now, self.total(), self.pace, ended=True))


class Lines(Teller):
    """A plain line every `EVERY` seconds at most."""

    def __init__(self, total: Callable[[], int | None], cut: bool = False) -> None:
        super().__init__(total, cut)
        self._told = time.monotonic()
        self._out = False

    def __call__(self, now: Progress) -> None:
        super().__call__(now)
        out, self._out = self._out, bool(now.outages)
        if self.now is not None and ((self._out and not out) or time.monotonic() - self._told >= EVERY):
            self._told = time.monotonic()
            self.say(state_line(self.now, self.total(), self.pace))


class Live(Teller):
    """A bar, drawn anew four times a second from the latest that is known."""

    def __init__(self, total: Callable[[], int | None], cut: bool = False) -> None:
        super().__init__(total, cut)
        self.bar = _bar(self)

    def say(self, text: str) -> None:
        with suppress(OSError, ValueError, RuntimeError):
            self.bar.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def words(self) -> list[str]:
        """What stands behind the number of samples."""
        return details(self.now, self.total(), self.pace) if self.now else []


@contextmanager
def progress(start: str, total: Callable[[], int | None], *, cut: bool = False) -> Iterator[Teller]:
    """Gives what to call with a run's `Progress`; the bar is gone afterwards.

    Args:
        start: the first line. total: the number of samples as far as it is known, None before. cut: as `Teller` has it.
    """
    live = sys.stderr is not None and sys.stderr.isatty()
    teller: Teller = Live(total, cut) if live else Lines(total, cut)
    if not live:
        teller.say(start)
    try:
        with teller.bar if isinstance(teller, Live) else nullcontext():
            yield teller
    finally:
        if not live:
            teller.end()


def _bar(teller: Live) -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task
    from rich.table import Column
    from rich.text import Text

    class Drawn(Progress):
        def get_renderables(self) -> Iterable[RenderableType]:
            done = teller.now.done if teller.now else 0
            for task in self.task_ids:  # the one, once it is there
                self.update(task, completed=done, total=teller.total())
            return super().get_renderables()

    class Words(ProgressColumn):
        def render(self, task: Task) -> Text:
            of = f"/{task.total:,.0f}" if task.total is not None else ""
            words = ", ".join([f"{task.completed:,.0f}{of}", *teller.words()])
            return Text(words, no_wrap=True, overflow="ellipsis")

    console = Console(stderr=True)
    wide = min(BAR, console.width // 5)
    bar = Drawn(
        BarColumn(wide, table_column=Column(min_width=wide)), Words(Column(no_wrap=True, overflow="ellipsis")),
        console=console, transient=True, refresh_per_second=4,
    )  # fmt: skip
    bar.add_task("", total=None)
    return bar
