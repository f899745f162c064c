"""A collection: where its files lie, how they become samples, what recorded judges said, what was published."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from judgegraph.meta.judgements import Judgements
from judgegraph.types import Sample


@dataclass(frozen=True)
class Published:
    """One published figure.

    Attributes:
        judge: as the paper names it. criterion: in our spelling. statistic: a coefficient's name, "accuracy", ...
        value: as printed, shares from 0 to 1. level: "dataset", "group", "system", "" where it has none.
        source: paper and table, or repository and file.
        digits: behind the point, as printed: ours is equal where it rounds to `value` at that.
    """

    judge: str
    criterion: str
    statistic: str
    value: float
    source: str
    level: str = ""
    digits: int = 3


@dataclass(frozen=True)
class Collection:
    """One benchmark.

    Attributes:
        name: on the command line. title: as its authors call it.
        origin: where the originals are, and their licence as it is stated there.
        files: that are looked for in the collection's folder; any of them may be missing but the first. A name
            stands for itself and for itself with or without ".gz".
        folder: that holds them below the folder of collections; "" where it is called like the collection.
        criteria: name of a criteria set, or of its criteria the ones that people judged.
        preset: the conventions of the paper whose table is printed.
        samples: folder -> samples with `human`; `meta["group"]` and `meta["system"]` where there are some.
        recorded: folder -> recorded judges as metrics, one Judgements per criterion (and per set of items, where
            judges saw different ones, told apart by the key: a line above the table, "" where there is one set).
            A metric that was published is called as `Published.judge` calls it.
        authors: the same, read by the authors' own rules, where these are other than ours.
        published: figures to print beside ours.
        items: what there is in it, such as "1,600 summaries of 100 articles by 16 systems".
        method: that is run where none is named, and settings: KEY=VALUE, with which it is.
        judges: who gave the scores that all is held against, in the plural.
        alone: the annotator whom a published figure is held against alone, where the preset takes several together:
            rows against him are printed too; None where there is no such figure.
        notes: what to know beside the table, such as scales that differ.
        columns: of the table: its criteria, or, where one is judged in several sets (`meta["group"]`), these sets.
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
    authors: Callable[[Path], Mapping[str, list[Judgements]]] | None = None
    folder: str = ""
    items: str = ""
    method: str = "g-eval"
    settings: tuple[str, ...] = ()
    judges: str = "people"
    alone: int | None = None
    notes: tuple[str, ...] = ()
    columns: Literal["criteria", "groups"] = "criteria"
