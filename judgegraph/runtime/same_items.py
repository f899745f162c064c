"""Whether `items.jsonl` is still the file that the journal was made from: somebody may have sorted or edited it."""

from __future__ import annotations

import os
from pathlib import Path

from judgegraph.errors import DataError
from judgegraph.runtime.journal import Journal
from judgegraph.runtime.lines import id_of_line

PROBES = range(0, 256, 16)  # first bytes of digests, which fall anywhere in the file


def same_items(journal: Journal, path: Path) -> bool:
    """As far as can be told without reading all of it.

    After an end in order the file must have the size and the time it had then. After another, some samples' lines
    must stand where the journal says.
    """
    about = path.stat()
    if journal.state.moving or journal.state.end > about.st_size:  # a power cut took lines it knew
        return False
    if (seen := journal.seen()) is not None:
        return seen == (about.st_size, about.st_mtime_ns)
    with path.open("rb") as file:
        for first in PROBES:
            found = journal.at_or_after(bytes([first]))
            if found is None:
                break
            id, offset = found
            file.seek(max(0, offset - 1))
            if offset and file.read(1) != b"\n":
                return False
            try:
                if id_of_line(file.readline(), "") != id:
                    return False
            except DataError:
                return False
    return True


def stamp(journal: Journal, handle: int, path: Path) -> None:
    """All that was written is on the disk, and what the file looks like now is what it must look like later."""
    os.fsync(handle)
    journal.commit()
    about = path.stat()
    if journal.state.end == about.st_size:
        journal.saw(about.st_size, about.st_mtime_ns)
