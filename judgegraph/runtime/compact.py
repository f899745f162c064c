"""Superseded lines leave `items.jsonl` when a run ends in order."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from judgegraph.errors import DataError
from judgegraph.runtime.disk_index import DiskIndex
from judgegraph.runtime.journal import Journal
from judgegraph.runtime.lines import blank, id_of_line, index, item_of_line, lines


def compact(journal: Journal, path: Path) -> None:
    """Write the file anew with the last line of each sample, and put it in the old one's place at once.

    The journal says so before and until all offsets are those of the new file: a process that is killed in between
    leaves the old file or the new one, each whole, and whoever opens the folder next indexes all its lines again.
    Where there is no room for a second file, the old one stays as it is, which reads the same. So it does where the
    new one would lack a sample that is finished. Lines that hold no item are taken along, unless their sample was
    judged again.
    """
    if not journal.state.superseded:
        return
    new = path.with_name(f".{path.name}.new")
    with DiskIndex() as starts:
        try:
            whole = _write(journal, path, new, starts) or _written_again(journal, path, new, starts)
        except OSError:
            whole = False
        if not whole:
            with suppress(OSError):
                new.unlink(missing_ok=True)
            return
        journal.note(moving=True)
        try:
            new.replace(path)
        except OSError:
            journal.note(moving=False)
            return
        _move(journal, path, starts)


def _written_again(journal: Journal, path: Path, new: Path, starts: DiskIndex) -> bool:
    """Somebody changed the file beneath the journal, which is made anew from it."""
    journal.forget_lines()
    index(journal, path)
    return _write(journal, path, new, starts)


def _write(journal: Journal, path: Path, new: Path, starts: DiskIndex) -> bool:
    """Whether every finished sample's line was written; `starts` gets where each begins."""
    finished, end = sum(count for _, _, count in journal.statuses()), 0
    new.unlink(missing_ok=True)  # of a process that was killed; a link that somebody laid there is not followed
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with path.open("rb") as old, os.fdopen(handle, "wb") as out:
        for at, line in lines(old):
            try:
                id = id_of_line(line, "")
            except DataError:
                end += 0 if blank(line) else out.write(line)
                continue
            known = journal.known(id)
            if known is not None and known.offset == at:
                starts.put(id, end)
                end += out.write(line)
                finished -= 1
            elif not _holds_item(line) and not (known is not None and known.offset is not None and known.offset > at):
                end += out.write(line)  # of a sample that was not judged again since
        out.flush()
        os.fsync(out.fileno())
    return finished == 0


def _holds_item(line: bytes) -> bool:
    try:
        item_of_line(line, "")
    except DataError:
        return False
    return True


def _move(journal: Journal, path: Path, starts: DiskIndex) -> None:
    end = 0
    with path.open("rb") as file:
        for at, line in lines(file):
            end = at + len(line)
            with suppress(DataError):
                if starts.get(id := id_of_line(line, "")) == at:
                    journal.moved(id, offset=at)
    journal.state.end = end
    journal.note(superseded=False, moving=False)
