"""What a run keeps: its folder and its ledger, open while it runs and in order however it ends."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator, Iterable
from contextlib import closing, contextmanager, suppress
from functools import partial

from judgegraph.calls.ledger import Ledger
from judgegraph.calls.limits import limits_of_run
from judgegraph.errors import ConfigError
from judgegraph.runtime.configuration import configuration, data_of
from judgegraph.runtime.folder import LEDGER, MANIFEST, REJECTED, Folder
from judgegraph.runtime.manifest import Record
from judgegraph.runtime.resume import goes_on, plain, taken_again
from judgegraph.runtime.samples import how_many
from judgegraph.runtime.work import Work
from judgegraph.types import Sample


@contextmanager
def kept(
    work: Work, slots: int, samples: Iterable[Sample], ledger: str | os.PathLike[str] | None, *, retry: bool
) -> Generator[Record]:
    """The folder is taken and its ledger open; however the run ends, its manifest says so.

    Raises:
        ConfigError, DataError: as `Folder.open`, `goes_on` and `Ledger`; the folder is left as it was.
    """
    folder = work.folder
    if folder is None:
        record = Record(work, {}, {}, None, partial(how_many, samples))
        with _paying(work, record, ledger):
            yield record
            record.of(record.ended(retry))
        return
    folder.open(slots, spans=work.traced)
    try:
        settings, data = plain(configuration(work.graph)), data_of(samples)
        record = Record(work, goes_on(folder, settings, data, samples), settings, data, partial(how_many, samples))
        _count(work, folder, retry)
        with _paying(work, record, ledger or folder.path / LEDGER):
            try:
                folder.write(MANIFEST, record.of("running"))
                folder.begun()
                yield record
            except BaseException:
                if not folder.is_run:
                    raise
                with suppress(ConfigError):  # what ended the run is worth more than what became of its manifest
                    _end(folder, record, "stopped", samples)
                raise
            _end(folder, record, record.ended(retry), samples)
    finally:
        folder.close()


@contextmanager
def _paying(work: Work, record: Record, ledger: str | os.PathLike[str] | None) -> Generator[None]:
    calls = work.calls
    with limits_of_run(calls.limits) as calls.limits, closing(Ledger(ledger, run=record.run)) as calls.ledger:
        record.pays(calls.ledger)
        yield


def _count(work: Work, folder: Folder, retry: bool) -> None:
    """What earlier processes finished, and this one leaves as it is."""
    found: Counter[str] = Counter()
    again = 0
    for status, failed, count in folder.journal.statuses():
        if not taken_again(status, failed, retry):
            found[status] += count
        else:
            again += count
    work.again = again if retry else None
    work.statuses, work.resumed = found, found.total()


def _end(folder: Folder, record: Record, state: str, samples: Iterable[Sample]) -> None:
    try:
        folder.settle()
    finally:
        folder.write(REJECTED, [rejection.model_dump() for rejection in getattr(samples, "rejected", ())])
        folder.write(MANIFEST, record.of(state))
