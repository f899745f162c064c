"""What a method is asked of a collection: the criteria that people judged by, and the first items."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any

from judgegraph.bench.collection import Collection
from judgegraph.prompts.criteria_file import same_key
from judgegraph.prompts.criteria_sets import CriteriaSet, criteria_set
from judgegraph.types import Sample


def criteria_of(known: Collection, samples: Sequence[Sample], build: Callable[..., Any]) -> CriteriaSet | None:
    """Of its criteria set those that people judged: others cost calls and meet no human score.

    Where people judged by none of them, such as where they compared outputs as wholes, a method that goes without
    criteria is given none, and writes its own or takes those of its file; any other has the whole set.

    Args:
        build: what builds the method's graph.
    """
    whole = criteria_set(known.criteria)
    judged = {same_key(name) for sample in samples for name in sample.human}
    kept = tuple(criterion for criterion in whole.criteria if same_key(criterion.name) in judged)
    if not kept:
        return None if _goes_without(build) else whole
    return CriteriaSet(name=whole.name, task=whole.task, criteria=kept, source=whole.source)


def _goes_without(build: Callable[..., Any]) -> bool:
    """Whether None is the default of its criteria; settings that it passes on are the `builder`'s of its module."""
    for made in (build, getattr(inspect.getmodule(build), "builder", None)):
        setting = inspect.signature(made).parameters.get("criteria") if callable(made) else None
        if setting is not None:
            return setting.default is None
    return False


@dataclass(frozen=True)
class Part:
    """The items that are taken. told: in words, how many of how many groups; "" where all are taken."""

    samples: list[Sample]
    told: str = ""


def part_of(known: Collection, samples: Iterable[Sample], limit: int | None) -> Part:
    """The first items; where a table has a column for each set of items, one of each set in turn."""
    if limit is None:
        return Part(list(samples))
    everything = list(samples)
    if known.columns == "groups":
        everything = _in_turn(everything)
    taken = everything[:limit]
    if len(taken) == len(everything):
        return Part(taken)
    return Part(taken, f"{len(taken):,} of {len(everything):,} items{_groups(known, taken, everything)}")


def _in_turn(samples: Sequence[Sample]) -> list[Sample]:
    sets: dict[str, list[Sample]] = {}
    for sample in samples:
        sets.setdefault(_group(sample), []).append(sample)
    return [sample for sample in chain.from_iterable(zip_longest(*sets.values())) if sample is not None]


def _groups(known: Collection, taken: Sequence[Sample], everything: Sequence[Sample]) -> str:
    groups = dict.fromkeys(map(_group, taken))
    if not taken or set(groups) == {""}:
        return ""
    if known.columns == "groups":
        return f", in turn from {', '.join(groups)}"
    last = _group(taken[-1])
    whole, got = (sum(_group(sample) == last for sample in found) for found in (everything, taken))
    cut = f", the last with {got:,} of its {whole:,}" if got < whole else ", all whole"
    return f" of {len(groups):,} {'group' if len(groups) == 1 else 'groups'}{cut}"


def _group(sample: Sample) -> str:
    return str(sample.meta.get("group", ""))
