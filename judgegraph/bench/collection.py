"""A collection: where its files lie, how they become samples, what recorded judges said, what was published."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from judgegraph.meta.judgements import Judgements
from judgegraph.types import Sample


@dataclass(frozen=True)
class Published:
    """One published figure.

    Attributes:
        judge: as the paper names it. criterion: in our spelling. statistic: a coefficient's name, "accuracy", ...
        value: as printed. level: "dataset", "group", "system", "" where it has none.
        source: paper and table, or repository and file.
    """

    judge: str
    criterion: str
    statistic: str
    value: float
    source: str
    level: str = ""


@dataclass(frozen=True)
class Collection:
    """One benchmark.

    Attributes:
        name: on the command line. title: as its authors call it.
        origin: where the originals are, and their licence as it is stated there.
        files: that are looked for below the user's folder; any of them may be missing but the first.
        criteria: name of a criteria set, or of its criteria the ones that people judged.
        preset: the conventions of the paper whose table is printed.
        samples: folder -> samples with `human`; `meta["group"]` and `meta["system"]` where there are some.
        recorded: folder -> recorded judges as metrics, one Judgements per criterion (and per set of items, where
            judges saw different ones).
        published: figures to print beside ours.
    """

    name: str
    title: str
    origin: str
    files: tuple[str, ...]
    criteria: str
    preset: str
    samples: Callable[[Path], Iterable[Sample]]
    recorded: Callable[[Path], Mapping[str, list[Judgements]]]
    published: tuple[Published, ...] = ()
