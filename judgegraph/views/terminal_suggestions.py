"""What critics suggest, by topic, on a terminal; and whether one of their criteria earned its place."""

from __future__ import annotations

import math
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table

from judgegraph.errors import one_line
from judgegraph.meta.criterion_worth import CriteriaWorth, CriterionWorth, Gain
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


# Whether criteria earn their place.


UNLABELLED = "Nobody judged these samples, so no criterion can be shown to earn its place."


def print_worth(found: CriteriaWorth) -> None:
    """Print it; everything judged is made inert first."""
    console = screen()
    console.print(plain(_verdicts(found)), style="bold")
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("criterion", overflow="fold")
    for name in ("verdict", "n", "without", "with", "gain", "p", "most alike", "explained"):
        if found.target or name in ("verdict", "most alike", "explained"):
            table.add_column(name, justify="left" if name in ("verdict", "most alike") else "right", overflow="fold")
    for one in found.criteria:
        table.add_row(*map(plain, _row(one, bool(found.target))))
    console.print()
    console.print(table)
    for line in _remarks(found):
        console.print(plain(line), style="dim")
    for line in (*(f"{one_line(o.criterion, 60)}: {o.why}" for o in found.criteria if o.why), *found.notes):
        console.print(plain(f"note: {line}"), style="yellow")
    console.print(plain(found.signature), style="dim", soft_wrap=True)


def _verdicts(found: CriteriaWorth) -> str:
    by: dict[str, list[str]] = {}
    for one in found.criteria:
        by.setdefault(one.verdict.partition(" with ")[0], []).append(one_line(one.criterion, 60))
    told = [f"{verdict}: {', '.join(by[verdict])}" for verdict in ("earned", "redundant", "not shown") if verdict in by]
    held = f"Agreement is with people, by {one_line(found.target, 60)}."
    return f"{'; '.join(told)}. {held if found.target else UNLABELLED}"


def _row(one: CriterionWorth, labelled: bool) -> Iterable[str]:
    yield one_line(one.criterion, 40)
    yield one_line(one.verdict, 60)
    if labelled:
        gain = one.gains[0] if one.gains else None
        yield f"{one.n:,}"
        yield _number(gain.without if gain else math.nan)
        yield _number(gain.with_it if gain else math.nan)
        yield _within(gain)
        yield _number(gain.p_holm if gain else math.nan)
    near = one.alike[0] if one.alike else None
    yield f"{one_line(near.criterion, 40)} {near.value:.2f}" if near else "-"
    yield "-" if math.isnan(one.explained) else f"{100 * one.explained:.0f} %"


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"


def _within(gain: Gain | None) -> str:
    if gain is None or math.isnan(gain.gain):
        return "-"
    ends = "" if math.isnan(gain.low) else f" [{gain.low:+.3f}, {gain.high:+.3f}]"
    return f"{gain.gain:+.3f}{ends}"


def _remarks(found: CriteriaWorth) -> Iterable[str]:
    if found.fitted:
        yield f"without, with: Pearson's r with people, criteria combined by {found.fitted}; --json has Spearman's too"
        yield "gain: with its interval, paired bootstrap; p: paired permutation test, for all criteria tried (Holm)"
    yield "most alike: Spearman's with the nearest other criterion; explained: variance that the others explain"
