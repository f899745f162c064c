"""The traces of a run: its spans joined with what its items and its ledger hold, sample by sample."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from judgegraph.calls.kept import Kept
from judgegraph.errors import DataError, one_line
from judgegraph.runtime.claim import ITEMS, JOURNAL
from judgegraph.runtime.folder import Folder
from judgegraph.runtime.item import Item
from judgegraph.runtime.journeys import belongs, id_of
from judgegraph.runtime.known_names import Names, known_names
from judgegraph.runtime.lines import DamagedLine, id_digest, id_of_line, item_of_line
from judgegraph.runtime.read_items import lines_that_stand
from judgegraph.runtime.redacted import redacted_item, redacted_root
from judgegraph.runtime.steps import tree
from judgegraph.shown import Shown, drawn
from judgegraph.trace.file import SPANS, journey, lines
from judgegraph.trace.step import Step

UNTRACED, LOST = "no spans were recorded", "the last attempt was not recorded"
LOOKED_AT = 20_000


class RunRecord(Protocol):
    """What a trace is read from: a run."""

    @property
    def manifest(self) -> dict[str, Any]: ...
    @property
    def folder(self) -> Folder | None: ...
    @property
    def items(self) -> Iterator[Item]: ...
    @property
    def signature(self) -> str: ...


@dataclass(frozen=True)
class SampleTrace(Shown):
    """What was done for one sample.

    Attributes:
        item: what came of it. root: the graph's step with all below it; None where no spans were recorded of the
            attempt that it came of.
        attempts: journeys that came to an end, 1 unless the sample was taken up again; 0 where none was recorded.
    """

    item: Item
    root: Step | None
    attempts: int = 0

    @property
    def untraced(self) -> str:
        """Why there is no root, "" where there is one."""
        return "" if self.root is not None else LOST if self.attempts else UNTRACED

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; a step's own steps stand in it."""
        item = self.item.model_dump(mode="json", exclude_defaults=True)
        told = {"attempts": self.attempts, "item": item, "root": self.root.to_dict() if self.root else None}
        return told | ({"untraced": self.untraced} if self.untraced else {})

    def __str__(self) -> str:
        """Its tree as plain text; the first lines of each text."""
        return drawn(self, "text")


def trace_of(run: RunRecord, sample: str, *, redact: bool = False) -> SampleTrace:
    """The trace of one sample.

    Args:
        redact: texts that were judged or generated are replaced by their length, and names that the run was not set up
            with by numbers.

    Raises:
        DataError: the run has no such sample; the run's folder or its ledger cannot be read.
    """
    for found in traces_of(run, [sample], redact=redact):
        return found
    for what in run.folder.left_out if run.folder else ():
        if f"sample {one_line(sample, 80)!r}" in what:
            raise DataError(what)
    raise DataError(f"the run has no sample {one_line(sample, 80)!r}{near(sample, (item.id for item in run.items))}")


def near(name: str, names: Iterable[str]) -> str:
    """For an error: which names may have been meant, else which there are; of very many the first are looked at."""
    known = list(dict.fromkeys(islice(names, LOOKED_AT)))
    asked = name.casefold()
    same = [one for one in known if one.casefold() == asked]
    holding = [one for one in known if asked and asked in one.casefold()]
    if like := same or difflib.get_close_matches(name, known, 3, 0.5) or holding[:3]:
        return f"; did you mean {' or '.join(map(_named, like))}?"
    more = f" and {len(known) - 3:,} more" if len(known) > 3 else ""
    return f"; there {'is' if len(known) == 1 else 'are'} {', '.join(map(_named, known[:3]))}{more}" if known else ""


def _named(name: str) -> str:
    return repr(one_line(name, 60))


def traces_of(run: RunRecord, samples: Iterable[str], *, redact: bool | Names = False) -> Iterator[SampleTrace]:
    """The traces of some samples, in the order asked for; those that the run has not are left out.

    The run's files are read once; `redact` may be the names of a whole run. Raises as `trace_of`.
    """
    wanted = dict.fromkeys(samples)
    items = _items(run, wanted)
    found, attempts = _journeys(run, items)
    with closing(Kept(ledger_of(run))) as ledger:
        agents = run.manifest.get("nodes") or {}
        known = redact if isinstance(redact, Names) else known_names(run.manifest) if redact else frozenset()
        for sample in wanted:
            if (item := items.get(sample)) is None:
                continue
            told = journey(found[sample]) if sample in found else None
            root = tree(told, item, agents, ledger) if told is not None else None
            if redact:
                root = redacted_root(root, known, item) if root is not None else None
                item = redacted_item(item, known)
            yield SampleTrace(item, root, attempts[sample])


def _items(run: RunRecord, wanted: Collection[str]) -> dict[str, Item]:
    """Those of some samples; of the others' lines only the beginning is read, which is far quicker."""
    if run.folder is None:
        return {item.id: item for item in run.items if item.id in wanted}
    digests = {id_digest(name) for name in wanted}
    found: dict[str, Item] = {}
    path = run.folder.path / ITEMS
    damaged: dict[str, str] = {}
    for number, line in lines_that_stand(path, run.folder.path / JOURNAL, run.folder.leave_out):
        try:
            if id_of_line(line, "") in digests:
                item = item_of_line(line, f"{path}, line {number}")
                found[item.id] = item  # the latest line of a sample stands
                damaged.pop(item.id, None)
        except DamagedLine as error:
            if error.sample is not None and error.sample in wanted:
                found.pop(error.sample, None)
                damaged[error.sample] = str(error)
    for where in damaged.values():
        run.folder.leave_out(f"left out: {where}")
    return found


def _journeys(run: RunRecord, items: Mapping[str, Item]) -> tuple[dict[str, bytes], Counter[str]]:
    """Of each sample the line of the journey that its item came of, if that was recorded; and how many it has."""
    found: dict[str, bytes] = {}
    attempts: Counter[str] = Counter()
    kept: set[str] = set()
    for _, line in lines(spans_of(run)):
        told = journey(line) if id_of(line) in items else None
        if told is not None:
            attempts[told.sample] += 1
            if belongs(told, items[told.sample]) and (told.kept or told.sample not in kept):
                found[told.sample] = line
                kept |= {told.sample} if told.kept else set()
    return found, attempts


def spans_of(run: RunRecord) -> Path | None:
    """Where a run's spans lie; there may be no such file. None for a run in memory, which has none."""
    return run.folder.path / SPANS if run.folder else None


def ledger_of(run: RunRecord) -> Path | None:
    """The ledger that a run used, None if it was none that is a file."""
    name: Any = run.manifest.get("ledger")
    if not isinstance(name, str) or run.folder is None:
        return None
    return run.folder.path / name
