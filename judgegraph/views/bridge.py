"""A bridge: how many foreign judgements became rows of a training set, why others did not, and under what licence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from judgegraph.bridging.bridge import UNSTATED, Bridge, Gathered, is_unclear
from judgegraph.bridging.consistency import KINDS, Reject, counted_kinds
from judgegraph.bridging.training_set import SPLITS, TASKS
from judgegraph.views.blocks import Block, Grid, Para, counted

NAMED = 10  # rejects that are listed
FEW = 8  # queries that no share splits in three


def gathered(found: Gathered, every: bool = False) -> Iterator[Block]:
    """What was read, before anything is asked."""
    rejects = [one for of in found.rejects for one in of]
    said = f"{counted(len(found.samples), 'judgement')} to bridge, of {found.read:,} read"
    yield Para(said, "lead")
    for name, of, out in zip(found.names, found.records, found.rejects, strict=True):
        left = f", {counted(len(out), 'reject')}" if out else ""
        yield Para(f"  {name}: {counted(len(of.samples), 'judgement')}, read as {of.format}{left}")
    yield from _rejects(rejects, every)


def bridge(found: Bridge, every: bool = False) -> Iterator[Block]:
    """How many judgements hold, the rejects, and the rows of each split."""
    yield from _conclusion(found)
    yield from _rejects(found.training_set.rejects, every)
    yield from _counts(found)
    for line in _notes(found):
        yield Para(f"note: {line}", "note")
    if found.signature:
        yield Para(found.signature, "fine", whole=True)


def _conclusion(found: Bridge) -> Iterator[Block]:
    made = found.training_set
    pairs = sum(map(len, made.preferences.values()))
    rows = f"{counted(made.size, 'row')} and {counted(pairs, 'preference')}"
    if found.read:
        share = f"{100 * found.consistent / found.read:.0f} %"
        held = f"{found.consistent:,} of {counted(found.read, 'judgement')} ({share}) hold under what was written for "
        yield Para(f"{held}them: {rows}", "lead")
    else:
        yield Para(f"{rows}, all made by branching", "lead")
    for one in made.sources:
        said = f"{counted(one.records, 'sample')}"
        if one.way == "bridging":
            said = f"{found.consistent_of.get(one.name, 0):,} of {counted(one.records, 'judgement')} hold"
        left = f", {counted(len(one.rejects), 'reject')}" if one.rejects else ""
        yield Para(f"  {one.name} ({one.way}): {said}{left}")


def _rejects(rejects: Sequence[Reject], every: bool) -> Iterator[Block]:
    if not rejects:
        return
    yield Para(f"\n{counted(len(rejects), 'reject')}")
    for kind, count in counted_kinds(rejects).items():
        yield Para(f"  {count:>6,}  {KINDS[kind]}")
    shown = rejects if every else _some_of_each(rejects)
    for one in shown:
        yield Para(f"  {one.where}: {one.kind}: {one.reason}", whole=True)
    if len(shown) < len(rejects):
        yield Para(f"  and {len(rejects) - len(shown):,} more; --all lists them, --json and --to keep them")


def _some_of_each(rejects: Sequence[Reject]) -> list[Reject]:
    """The first of every kind, filled up in their order."""
    firsts = {one.kind: at for at, one in reversed(list(enumerate(rejects)))}
    places = sorted({*firsts.values(), *range(max(0, min(NAMED - len(firsts), len(rejects))))})
    return [rejects[at] for at in places]


def _counts(found: Bridge) -> Iterator[Block]:
    counts = found.training_set.counts()
    rows = tuple(
        (split, f"{counts['queries'][split]:,}", *(f"{counts['rows'][split][task]:,}" for task in TASKS),
         f"{counts['preferences'][split]:,}")
        for split in SPLITS
    )  # fmt: skip
    head = ("split", "queries", *TASKS, "preferences")
    yield Grid("", head, rows, frozenset(range(1, len(head))))
    orders = counts["orders"]
    yield Para(
        f"pairs in both orders: {counted(orders.get('AB', 0), 'row')} with A printed first, {orders.get('BA', 0):,} "
        "with B; no query and no source is in two splits; "
        f"{counted(found.training_set.doubled, 'row')} left out as doubled",
        "fine",
    )


def _empty_splits(found: Bridge) -> Iterable[str]:
    """Which splits are empty, why, and what fills them."""
    made = found.training_set
    wanted = dict(zip(SPLITS[1:], made.shares, strict=True)) | {"train": 1 - sum(made.shares)}
    empty = [split for split in SPLITS if wanted[split] and not made.queries[split]]
    if not empty or not made.groups:
        return
    all_of, verb = counted(sum(made.queries.values()), "query", "queries"), "is" if len(empty) == 1 else "are"
    joined = (
        "" if made.groups == sum(made.queries.values()) else f", {made.groups:,} without those that share a source,"
    )
    drawn = ", ".join(f"{wanted[split] * made.groups:.2g} in {split}" for split in empty)
    cure = "bridge more data" if made.groups < FEW else "--seed N draws anew, and more data fills all"
    if "train" not in empty and made.groups >= FEW:
        share = max(*made.shares, min(0.25, math.ceil(200 / made.groups) / 100))
        cure = f"--shares {share:g},{share:g} puts about {share * made.groups:.2g} in each, {cure}"
    elif "train" in empty and made.groups >= FEW:
        cure = f"--shares 0.05,0.05 leaves more in train, {cure}"
    yield f"{' and '.join(empty)} {verb} empty: each of {all_of}{joined} is drawn by chance, on average {drawn}; {cure}"


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
