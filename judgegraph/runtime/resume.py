"""What an earlier process left in a folder: whether this run may go on there, and which samples are still to judge."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Mapping
from typing import Any, NamedTuple

from judgegraph.errors import ConfigError, DataError, one_line
from judgegraph.runtime.differences import differences
from judgegraph.runtime.folder import LEDGER, Folder
from judgegraph.runtime.inflight import Mark
from judgegraph.runtime.journal import Known
from judgegraph.runtime.lines import mark_of
from judgegraph.runtime.samples import Samples
from judgegraph.types import Sample

SKIPPED = 256  # finished samples passed over at a stretch before others have their turn


class Unit(NamedTuple):
    """A sample that is to be judged; `before` is what the journal knows of it."""

    sample: Sample
    mark: Mark
    before: Known | None = None

    @property
    def strikes(self) -> int:
        """Thirds of strikes: unclean exits that it was in flight at, since it last made progress."""
        return self.before.strikes if self.before else 0


def taken_again(status: str, failed: bool, retry: bool) -> bool:
    """Whether a finished sample is judged again: one that a budget kept from its end, in a retry every failed one."""
    return failed if retry else status == "over_budget"


def units(samples: Iterable[Sample], folder: Folder | None, retry: bool) -> Generator[Unit | None]:
    """The samples that are to be judged, in the order of the dataset; None now and then while others are passed over.

    Raises:
        DataError: a sample was judged by another content than it has now, people's labels aside.
    """
    if folder is None:
        yield from (Unit(sample, Mark(b"", b"", place)) for place, sample in enumerate(samples))
        return
    passed, fresh = 0, folder.journal.empty()
    for place, sample in enumerate(samples):
        mark = mark_of(sample, place)
        known = None if fresh else _known(folder, sample, mark)
        if _wanted(known, retry):
            yield Unit(sample, mark, known)
        else:
            passed += 1
            if passed % SKIPPED == 0:
                yield None


def _known(folder: Folder, sample: Sample, mark: Mark) -> Known | None:
    known = folder.journal.known(mark.id)
    if known is not None and known.content != mark.content and folder.only_labels(sample, known):
        return folder.relabel(sample, known, mark)
    if known is not None and known.content != mark.content:
        raise DataError(
            f"sample '{one_line(sample.id, 80)}' (number {mark.place + 1}) is not what it was when {folder.path} was "
            "begun; choose another folder, or give it an id of its own"
        )
    if known is not None and known.place != mark.place:
        folder.journal.moved(mark.id, place=mark.place)
    return known


def _wanted(known: Known | None, retry: bool) -> bool:
    if known is None or known.status is None:
        return not retry
    return taken_again(known.status, known.failed > 0, retry)


def goes_on(
    folder: Folder, configuration: Mapping[str, Any], data: Mapping[str, Any] | None, samples: Iterable[Sample]
) -> dict[str, Any]:
    """The manifest of the run that this one goes on with; what is finished there must stay true.

    Returns:
        The manifest, empty for a new run; one without a finished sample binds nobody.

    Raises:
        ConfigError: another configuration, which the message tells line by line, or none to compare with.
        DataError: samples that were judged are changed or gone.
    """
    earlier = folder.earlier()  # without a manifest of ours there are no items either: `Folder.open` saw to it
    if not folder.journal.statuses():
        return earlier
    if changed := differences(earlier["configuration"], configuration):
        lines = "".join(f"\n  {line}" for line in changed)
        raise ConfigError(
            f"{folder.path} holds a run of another configuration:{lines}\nChoose another folder (--out, out=); with "
            f"{folder.path / LEDGER} as its ledger (--ledger, ledger=) what did not change is not paid for again"
        )
    if data is not None and earlier.get("data") is not None and data != earlier["data"]:
        _compare(folder, samples)
    return earlier


def _compare(folder: Folder, samples: Iterable[Sample]) -> None:
    """Read the changed file once, before anything is paid for: what was judged must be there as it was."""
    journal = folder.journal
    changed, new, same, first = 0, 0, 0, ""
    for place, sample in enumerate(samples.whole() if isinstance(samples, Samples) else samples):
        mark = mark_of(sample, place)
        known = journal.known(mark.id)
        if known is None or known.status is None:
            new += 1
        elif known.content == mark.content or folder.only_labels(sample, known):
            same += 1
        else:
            changed += 1
            first = first or f"; the first changed one is '{one_line(sample.id, 80)}' (number {place + 1})"
    gone = sum(count for _, _, count in journal.statuses()) - same - changed
    if changed or gone:
        raise DataError(
            f"the data is not what it was when {folder.path} was begun: {changed} judged samples changed, {gone} gone, "
            f"{new} new{first}; choose another folder, or give the data as it was (new rows may be added)"
        )


def plain(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """As it comes back from a manifest."""
    found: dict[str, Any] = json.loads(json.dumps(configuration))
    return found
