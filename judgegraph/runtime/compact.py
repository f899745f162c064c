"""Superseded lines leave `items.jsonl` when a run ends in order."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from judgegraph.runtime.journal import Journal
from judgegraph.runtime.lines import id_of_line, lines


def compact(journal: Journal, path: Path) -> None:
    """Write the file anew with the last line of each sample, and put it in the old one's place at once.

    The journal says so before and until all offsets are those of the new file: a process that is killed in between
    leaves the old file or the new one, each whole, and whoever opens the folder next indexes all its lines again.
    Where there is no room for a second file, the old one stays as it is, which reads the same.
    """
    if not journal.state.superseded:
        return
    new = path.with_name(f".{path.name}.new")
    try:
        _write(journal, path, new)
    except OSError:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        return
    journal.note(moving=True)
    try:
        new.replace(path)
    except OSError:
        journal.note(moving=False)
        return
    _move(journal, path)


def _write(journal: Journal, path: Path, new: Path) -> None:
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with path.open("rb") as old, os.fdopen(handle, "wb") as out:
        for at, line in lines(old):
            known = journal.known(id_of_line(line, f"{path}, at byte {at}"))
            if known is not None and known.offset == at:
                out.write(line)
        out.flush()
        os.fsync(out.fileno())


def _move(journal: Journal, path: Path) -> None:
    end = 0
    with path.open("rb") as file:
        for at, line in lines(file):
            journal.moved(id_of_line(line, f"{path}, at byte {at}"), offset=at)
            end = at + len(line)
    journal.state.end = end
    journal.note(superseded=False, moving=False)
