"""Which samples are under way: a few bytes of file that outlive a killed process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from struct import Struct
from typing import NamedTuple

RECORD = Struct(">16s8sq?")


class Mark(NamedTuple):
    """A sample that was started: digests of its id and of its content, its place in the dataset.

    `waiting`: for a model's reply, as far as that is told; its own code was not running then.
    """

    id: bytes
    content: bytes
    place: int
    waiting: bool = False


class InFlight:
    """One slot for each worker, in a file that is written in place.

    A write of a few bytes costs far less than a transaction, needs no free disk, and what the system took stays when
    the process is killed. An end in order empties it, so a mark that is found belongs to an unclean exit.

    Raises:
        OSError: from all methods.
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)

    def left(self) -> Iterator[Mark]:
        """What was under way when the process before this one ended uncleanly."""
        data = os.pread(self._file, os.fstat(self._file).st_size, 0)
        for values in RECORD.iter_unpack(data[: len(data) // RECORD.size * RECORD.size]):
            if any(values[0]):
                yield Mark(*values)

    def clear(self, slots: int) -> None:
        """So many empty slots."""
        os.pwrite(self._file, bytes(RECORD.size * slots), 0)
        os.ftruncate(self._file, RECORD.size * slots)

    def enter(self, slot: int, mark: Mark) -> None:
        """The worker of this slot begins."""
        os.pwrite(self._file, RECORD.pack(*mark), slot * RECORD.size)

    def leave(self, slot: int) -> None:
        """It has ended, and what came of it is written."""
        os.pwrite(self._file, bytes(RECORD.size), slot * RECORD.size)

    def close(self) -> None:
        """Its marks stay; call `clear` first where the run ended in order."""
        os.close(self._file)
