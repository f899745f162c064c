"""One sample's trace on a terminal: what was judged, its scores from draft to final, and what was done for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from judgegraph.cli.print_sample import heading, print_comparisons
from judgegraph.cli.print_scores import print_scores
from judgegraph.cli.screen import screen
from judgegraph.cli.table import plain
from judgegraph.runtime.folder_traces import FolderTrace
from judgegraph.runtime.item import Item
from judgegraph.runtime.outcome import ending, overalls
from judgegraph.runtime.traces import LOST, UNTRACED, SampleTrace
from judgegraph.trace.tree import Look, excerpt, inert, tree_of
from judgegraph.types import text_of

PARTS = ("query", "source", "output", "rival", "reference")
WHY = {
    UNTRACED: "No spans were recorded (run --no-trace, or a run in memory); here is what its item says.",
    LOST: "The last attempt was not recorded (run --no-trace); here is what its item says.",
}


def print_trace(found: SampleTrace, signature: str, *, criterion: str | None = None, full: bool = False) -> None:
    """All of it; everything judged is made inert first. Of `criterion` alone its scores are shown."""
    console, look = _console(full)
    item = found.item
    attempts = f", {found.attempts} attempts" if found.attempts > 1 else ""
    console.print(plain(f"{item.id}: {ending(item)}{attempts}"), style="bold")
    if item.reason:
        console.print(Text(excerpt(item.reason, look)), style="red")
    console.print(Text(inert(signature)), style="dim")
    for part in PARTS:
        if value := getattr(item.sample, part):
            _said(console, part, text_of(value), look)
    if item.sample.human:
        console.print(Text(inert(f"people: {_human(item.sample.human)}")))
    console.print()
    _answers(console, item, look, criterion)
    console.print()
    if found.root is None:
        console.print(Text(WHY[found.untraced]), style="yellow")
    else:
        console.print(tree_of(found.root, look))


def print_journey(found: FolderTrace, *, full: bool = False) -> None:
    """A journey of a folder without items."""
    console, look = _console(full)
    console.print(plain(f"{found.sample}: {found.root.status} (journey {found.number})"), style="bold")
    console.print(tree_of(found.root, look))


def _console(full: bool) -> tuple[Console, Look]:
    console = screen()
    return console, Look(full, plain=console.options.ascii_only)


def _said(console: Console, who: str, text: str, look: Look) -> None:
    said = Text(f"{who}: ", style="dim")
    said.append(excerpt(text, look), "default")
    console.print(said)


def _human(human: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name} {'/'.join(map(_plain, value)) if isinstance(value, list) else _plain(value)}"
        for name, value in human.items()
    )


def _plain(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _answers(console: Console, item: Item, look: Look, criterion: str | None) -> None:
    """Scores, comparisons and what else was found."""
    print_scores(console, item, look, criterion)
    if criterion is not None:
        return
    print_comparisons(console, item)
    for name, value in (("overall", overalls(item)), ("verdict", item.verdict)):
        if value:
            console.print(Text(f"{name}: {value}"))
    for correction in item.corrections:
        _said(console, heading(correction), correction.text or correction.reason or correction.status, look)
    for advice in item.suggestions:
        what = "new criterion" if advice.kind == "criterion" else "definition to change"
        _said(console, f"{what} suggested, {inert(advice.criterion, 80)}", advice.definition, look)
    for note in item.notes:
        console.print(Text(inert(f"note: {note.agent}: {excerpt(note.text, look)}")), style="yellow")
