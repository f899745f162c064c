"""Samples written within a number of bytes: as much of each as fits, the same for all of a kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from judgegraph.report.samples.detail import SHORT, WHOLE, Detail
from judgegraph.report.samples.groups import Groups
from judgegraph.runtime.item import Item

GUESSED = 40  # samples
MIDDLING = 2
Write = Callable[[Item, Detail], str]


@dataclass
class Shown:
    """Attributes: groups: (title, samples of the run, those shown as HTML). shown, total: samples. step: every k-th.

    detail: how much is told of each.
    """

    groups: list[tuple[str, int, list[str]]] = field(default_factory=list)
    shown: int = 0
    total: int = 0
    step: int = 1
    detail: Detail = SHORT[0]


def size(texts: Sequence[str]) -> int:
    """In bytes, as they will be written."""
    return sum(len(text.encode("utf-8", "replace")) for text in texts)


def whole(write: Callable[[Detail], list[str]], room: int) -> tuple[list[str], Detail]:
    """The samples of the lists in the greatest detail that fits; the least one where none does."""
    for detail in WHOLE:
        found = write(detail)
        if size(found) <= room:
            break
    return found, detail


def least(groups: Groups, write: Write) -> float:
    """The bytes that all samples take in a middling detail, about."""
    items = [item for found in groups.items.values() for item in found]
    return _guess(items, write, SHORT[MIDDLING])


def short(groups: Groups, write: Write, room: int) -> Shown:
    """All samples in the greatest detail that fits; where none does, every k-th of them, with the least k that fits."""
    items = sorted((item for found in groups.items.values() for item in found), key=lambda item: item.place)
    detail = next((d for d in SHORT if _guess(items, write, d) <= room), SHORT[-1])
    written = {item.place: write(item, detail) for item in items}
    if detail is not SHORT[-1] and size(list(written.values())) > room:  # the guess was wrong
        detail = SHORT[-1]
        written = {item.place: write(item, detail) for item in items}
    step, written = _thinned(written, groups.step, room)
    shown = Shown([], len(written), groups.total, step, detail)
    for (rank, title), count in sorted(groups.counts.items()):
        listed = [written[i.place] for i in groups.items.get((rank, title), ()) if i.place in written]
        shown.groups.append((title, count, listed))
    return shown


def _guess(items: Sequence[Item], write: Write, detail: Detail) -> float:
    """The bytes of all, by those of some, with a margin."""
    some = items[:: max(1, len(items) // GUESSED)]
    return 1.05 * size([write(item, detail) for item in some]) * len(items) / max(1, len(some))


def _thinned(written: dict[int, str], step: int, room: int) -> tuple[int, dict[int, str]]:
    """Every k-th sample of the dataset, all where they fit."""
    sizes = {place: size([text]) for place, text in written.items()}
    k = 1
    while (kept := [place for place in sizes if place % (step * k) == 0]) and sum(map(sizes.__getitem__, kept)) > room:
        k += 1 if k < 8 else k // 4
    return step * k, {place: written[place] for place in kept}
