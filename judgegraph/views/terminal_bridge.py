"""What bridging came to, on a terminal: how many judgements hold, then the rejects, then the training set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

from judgegraph.bridging.bridge import Bridge, Gathered
from judgegraph.bridging.card import UNSTATED, is_unclear
from judgegraph.bridging.consistency import KINDS, Reject, counted_kinds
from judgegraph.bridging.training_set import SPLITS, TASKS
from judgegraph.views.screen import counted, plain, screen

NAMED = 10  # rejects that are listed


def print_gathered(found: Gathered, every: bool = False) -> None:
    """What was read, before anything is asked."""
    console = screen()
    rejects = [one for of in found.rejects for one in of]
    said = f"{counted(len(found.samples), 'judgement')} to bridge, of {found.read:,} read"
    console.print(plain(said), style="bold")
    for name, of, out in zip(found.names, found.records, found.rejects, strict=True):
        left = f", {counted(len(out), 'reject')}" if out else ""
        console.print(plain(f"  {name}: {counted(len(of.samples), 'judgement')}, read as {of.format}{left}"))
    _rejects(console, rejects, every)


def print_bridge(found: Bridge, every: bool = False) -> None:
    """Print it; everything judged is made inert first."""
    console = screen()
    _conclusion(console, found)
    _rejects(console, found.training_set.rejects, every)
    _counts(console, found)
    for line in _notes(found):
        console.print(plain(f"note: {line}"), style="yellow")
    if found.signature:
        console.print(plain(found.signature), style="dim", soft_wrap=True)


def _conclusion(console: Console, found: Bridge) -> None:
    made = found.training_set
    pairs = sum(map(len, made.preferences.values()))
    rows = f"{counted(made.size, 'row')} and {counted(pairs, 'preference')}"
    if found.read:
        share = f"{100 * found.consistent / found.read:.0f} %"
        held = f"{found.consistent:,} of {counted(found.read, 'judgement')} ({share}) hold under what was written for "
        console.print(plain(f"{held}them: {rows}"), style="bold")
    else:
        console.print(plain(f"{rows}, all made by branching"), style="bold")
    for one in made.sources:
        said = f"{counted(one.records, 'sample')}"
        if one.way == "bridging":
            said = f"{found.consistent_of.get(one.name, 0):,} of {counted(one.records, 'judgement')} hold"
        left = f", {counted(len(one.rejects), 'reject')}" if one.rejects else ""
        console.print(plain(f"  {one.name} ({one.way}): {said}{left}"))


def _rejects(console: Console, rejects: Sequence[Reject], every: bool) -> None:
    if not rejects:
        return
    console.print(plain(f"\n{counted(len(rejects), 'reject')}"))
    for kind, count in counted_kinds(rejects).items():
        console.print(plain(f"  {count:>6,}  {KINDS[kind]}"))
    shown = rejects if every else _some_of_each(rejects)
    for one in shown:
        console.print(plain(f"  {one.where}: {one.kind}: {one.reason}"), soft_wrap=True)
    if len(shown) < len(rejects):
        console.print(plain(f"  and {len(rejects) - len(shown):,} more; --all lists them, --json and --to keep them"))


def _some_of_each(rejects: Sequence[Reject]) -> list[Reject]:
    """The first of every kind, filled up in their order."""
    firsts = {one.kind: at for at, one in reversed(list(enumerate(rejects)))}
    places = sorted({*firsts.values(), *range(max(0, min(NAMED - len(firsts), len(rejects))))})
    return [rejects[at] for at in places]


def _counts(console: Console, found: Bridge) -> None:
    counts = found.training_set.counts()
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("split")
    for name in ("queries", *TASKS, "preferences"):
        table.add_column(name, justify="right")
    for split in SPLITS:
        tasks = [f"{counts['rows'][split][task]:,}" for task in TASKS]
        table.add_row(split, f"{counts['queries'][split]:,}", *tasks, f"{counts['preferences'][split]:,}")
    console.print()
    console.print(table)
    orders = counts["orders"]
    console.print(plain(
        f"pairs in both orders: {orders.get('AB', 0):,} rows with A printed first, {orders.get('BA', 0):,} with B; "
        f"no query and no source is in two splits; {counted(found.training_set.doubled, 'row')} left out as doubled"
    ), style="dim")  # fmt: skip


def _empty_splits(found: Bridge) -> Iterable[str]:
    made = found.training_set
    wanted = dict(zip(SPLITS[1:], made.shares, strict=True)) | {"train": 1 - sum(made.shares)}
    empty = [split for split in SPLITS if wanted[split] and not made.queries[split]]
    total = sum(made.queries.values())
    if empty and total:
        verb = "is" if len(empty) == 1 else "are"
        all_of = counted(total, "query", "queries")
        yield f"{' and '.join(empty)} {verb} empty, of {all_of} in all: more data, --shares or --seed changes that"


def _notes(found: Bridge) -> Iterable[str]:
    if found.unjudged:
        yield f"{counted(found.unjudged, 'judgement')} not judged anew"
    if found.unfinished:
        yield f"{found.unfinished}; with --out the same command goes on"
    yield from _empty_splits(found)
    if any("embedded" in one.split(", ") for one in found.judges):
        yield (
            "the embedded judge wrote this: it looks for what its own measures bear out, so that it shows the way and "
            "teaches nothing; -j openai:MODEL asks a model"
        )
    for one in found.training_set.sources:
        yield from (f"{one.name}: {note}" for note in one.notes)
        if is_unclear(one):
            licence = "unclear" if one.origin else UNSTATED
            yield f"{one.name}: licence {licence}; --origin TEXT puts it into the card"
