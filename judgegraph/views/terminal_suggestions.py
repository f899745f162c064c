"""What critics suggest, by topic, on a terminal; and whether one of their criteria earned its place."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table

from judgegraph.errors import one_line
from judgegraph.runs.suggestions import LETTERS, Suggestions, Topic
from judgegraph.views.screen import counted, plain, screen

MOST, MEMBERS = 20, 4  # topics that are listed; names of one
KINDS = (("criterion", "new criteria"), ("definition", "changed definitions"))


def print_suggestions(found: Suggestions, every: bool = False) -> None:
    """Print them; everything judged is made inert first."""
    console = screen()
    console.print(plain(_conclusion(found)), style="bold")
    for kind, title in KINDS:
        _topics(console, found, kind, title, every)
    for line in _notes(found):
        console.print(plain(f"note: {line}"), style="yellow")
    if found.signature:
        console.print(plain(found.signature), style="dim", soft_wrap=True)


def _conclusion(found: Suggestions) -> str:
    if not found.topics:
        return f"No critic suggests anything, over {counted(found.samples, 'sample')}."
    new, changed = (counted(len(found.of_kind(kind)), "topic") for kind, _ in KINDS)
    first = found.topics[0]
    most = f"{first.kind if first.kind == 'criterion' else 'definition of'} '{one_line(first.label, 60)}'"
    return (
        f"{new} of new criteria and {changed} of changed definitions, from {found.advised:,} of "
        f"{counted(found.samples, 'sample')}; most often {most} ({counted(first.samples, 'sample')})."
    )


def _topics(console: Console, found: Suggestions, kind: str, title: str, every: bool) -> None:
    topics = found.of_kind(kind)
    if not topics:
        return
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in (title, "samples", "suggestions"):
        table.add_column(name, justify="left" if name == title else "right", overflow="fold")
    table.add_column("names in it" if kind == "criterion" else "definition of most", overflow="fold")
    shown = topics if every else topics[:MOST]
    for one in shown:
        table.add_row(*map(plain, (one_line(one.label, 60), f"{one.samples:,}", f"{one.count:,}", _contents(one))))
    console.print()
    console.print(table)
    if len(topics) > len(shown):
        console.print(plain(f"and {len(topics) - len(shown):,} more; --all lists them, --json has them all"))


def _contents(topic: Topic) -> str:
    if topic.kind == "definition":
        wordings = f" ({len(topic.members)} wordings)" if len(topic.members) > 1 else ""
        return one_line(topic.definition, 160) + wordings
    names = [f"{one_line(one.name, 60)} ({one.count:,})" for one in topic.members[:MEMBERS]]
    more = len(topic.members) - MEMBERS
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")


def _notes(found: Suggestions) -> Iterable[str]:
    if found.by == LETTERS and found.topics:
        yield f"topics by {found.by}: words that are spelt alike; other words for the same are other topics"
    if found.why:
        yield f"not by embeddings: {one_line(found.why, 300)}"
    if found.beyond:
        yield f"{counted(found.beyond, 'later suggestion')} of yet other names are in no topic"
