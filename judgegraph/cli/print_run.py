"""A finished run on a terminal: a table of criteria, the sample that changed most, what the critic suggests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from judgegraph.cli.print_end import print_end
from judgegraph.cli.print_sample import MOST, cut, more, print_sample, telling
from judgegraph.cli.screen import screen
from judgegraph.cli.table import GAP, counted, plain, rejected_lines, score_table
from judgegraph.runtime.display import members
from judgegraph.runtime.notices import by_count, told_in_words
from judgegraph.runtime.run import Run
from judgegraph.runtime.summary import Summary, headlines
from judgegraph.trace.shell import command

LINES = 60  # of the table


def print_run(
    run: Run,
    summary: Summary,
    rejected: Sequence[Any] = (),
    gate: float | None = None,
    unjudged: int | None = None,
) -> None:
    """Print what came of a run; everything judged is made inert first.

    Args:
        rejected: rows of the data that are no samples. gate: the least coverage, 0 to 1; None where none was asked for.
        unjudged: samples of the data without an item, None where that is not known.
    """
    console = screen()
    answers = summary.shown
    if answers:
        console.print(score_table(summary, answers[:LINES], console.width))
        more(console, len(answers) - LINES, "criterion; --json has it too", "criteria; --json has them all", indent="")
    for said in headlines(summary):
        console.print(plain(said), style="yellow" if said == summary.side_by_side else "bold")
    _members(console, summary)
    _pairs(console, summary)
    shown = telling(run.items)
    if shown is not None:
        print_sample(console, shown)
    _advice(console, summary)
    _notices(console, run, summary)
    _troubles(console, summary, rejected)
    console.print(plain(f"\n{run.signature}"), style="dim")
    print_end(console, run, summary, rejected, gate, unjudged)


def _members(console: Console, summary: Summary) -> None:
    """What the answers were combined from, criterion x judge."""
    head, rows = members(summary)
    if not rows:
        return
    console.print(plain("\nmembers:"))
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, GAP, 0, 0))
    for name in head:
        table.add_column(plain(cut(name, 40)), overflow="fold", justify="left" if name == head[0] else "right")
    for row in rows[:LINES]:
        table.add_row(*(plain(cut(cell, 60)) for cell in row))
    console.print(table)
    more(console, len(rows) - LINES, "criterion; --json has it too", "criteria; --json has them all", indent="")


def _pairs(console: Console, summary: Summary) -> None:
    if not summary.verdicts:
        return
    counts = ", ".join(f"{name} {count}" for name, count in summary.verdicts.most_common())
    console.print(plain(f"\nverdicts: {counts}"))
    if summary.both:
        console.print(plain(f"same verdict in both orders: {summary.consistent} of {summary.both}"))
    if summary.corrections:
        counts = ", ".join(f"{name} {count}" for name, count in summary.corrections.most_common())
        console.print(plain(f"corrections: {counts}"))


def _advice(console: Console, summary: Summary) -> None:
    for kind, title in (("definition", "definitions to change"), ("criterion", "new criteria suggested")):
        found = [(key, n) for key, n in summary.suggestions.most_common() if key[0] == kind]
        if found:
            console.print(plain(f"\n{title}:"))
        for key, n in found[:5]:
            console.print(plain(f"  {key[1]} ({n}): {cut(summary.wordings[key], 200)}"))
        more(console, len(found) - 5)


def _notices(console: Console, run: Run, summary: Summary) -> None:
    """A line for each kind of what was skipped, dropped or not applied, with where to see one such sample."""
    for notice in by_count(summary.notices):
        see = command(str(run.folder.path), notice.sample) if run.folder else ""
        where = f" (see: {see})" if see else ""
        console.print(plain(f"{notice.line(summary.samples.total())}{where}"), style="yellow", soft_wrap=True)
    if said := told_in_words(run.manifest):
        console.print(plain(said), style="yellow", soft_wrap=True)


def _troubles(console: Console, summary: Summary, rejected: Sequence[Any]) -> None:
    for (status, reason), count in summary.failures.most_common(MOST):
        console.print(plain(f"{counted(count, 'sample')} ended with {status}: {cut(reason, 300)}"), style="red")
    more(console, len(summary.failures) - MOST, "kind of failure", "kinds of failure", indent="")
    for line in summary.lines.values():
        bad = {s: n for s, n in (line.statuses - line.lost).items() if s != "ok"}
        if bad:
            said = ", ".join(f"{n} {status}" for status, n in bad.items())
            side = " (rival)" if line.of == "rival" else ""
            console.print(plain(f"{line.criterion}{side} ({line.agent}, {line.stage}): {said}"), style="yellow")
    notes = [(note, count) for note, count in summary.notes.most_common() if note not in summary.noticed]
    for note, count in notes[:MOST]:
        console.print(plain(f"note ({count}): {cut(note, 200)}"), style="yellow")
    more(console, len(notes) - MOST, "note", indent="")
    if rejected:
        console.print(plain(f"{counted(len(rejected), 'row')} rejected:"), style="red")
    for row in rejected_lines(rejected, MOST):
        console.print(plain(row))
