"""Whether a folder may be a run's: what others put there is left alone, and a refused start leaves nothing behind."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from judgegraph.calls.leases import leases_of
from judgegraph.calls.texts import texts_of
from judgegraph.errors import ConfigError
from judgegraph.trace.file import SPANS

MANIFEST, ITEMS, REJECTED = "manifest.json", "items.jsonl", "rejected.json"
NOTES = "notes.sqlite"  # what `tracing` writes down of calls; no run is answered from there
LEDGER, JOURNAL, IN_FLIGHT, LOCK = "ledger.sqlite", "journal.sqlite", ".inflight", ".lock"
TEXTS = texts_of(Path(LEDGER)).name
FILES = (
    MANIFEST,
    ITEMS,
    REJECTED,
    SPANS,
    TEXTS,
    leases_of(Path(LEDGER)).name,
    IN_FLIGHT,
    LOCK,
    *(f"{n}{e}" for n in (LEDGER, JOURNAL) for e in ("", "-wal", "-shm")),
)
LITTER = tuple(name for name in FILES if name not in (MANIFEST, REJECTED))


def is_manifest(data: Any) -> bool:
    """Whether it is a manifest that a run of ours wrote."""
    return isinstance(data, dict) and all(isinstance(data.get(key), str) for key in ("judgegraph", "signature"))


def refuse_others(path: Path, manifest: dict[str, Any]) -> None:
    """Look before anything is written.

    Args:
        manifest: what is there and can be read, else empty.

    Raises:
        ConfigError: the folder holds files of these names that no run of ours wrote, or lost what says of which.
    """
    if is_manifest(manifest) and isinstance(manifest.get("configuration"), dict):
        return
    ledger = path / LEDGER
    save = f"; with --ledger {ledger} (ledger=) what was paid for is not paid again" if ledger.is_file() else ""
    advice = f"; it was left as it is: choose another folder (--out, out=){save}; `judgegraph repair` salvages it"
    if _there(path / MANIFEST):
        raise ConfigError(f"{path / MANIFEST} is no manifest of a run, or a damaged one{advice}")
    for name in (ITEMS, REJECTED):
        if _there(path / name) and (name != ITEMS or _size(path / name)):
            raise ConfigError(f"{path / name} is there, but no manifest that says of which configuration{advice}")
    if _there(path / NOTES) or _size(path / SPANS):
        raise ConfigError(f"{path} holds traces of plain runs (jg.tracing), and no run{advice}")


def _there(path: Path) -> bool:
    return path.exists() or path.is_symlink()


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


class Traces:
    """What a start adds to a folder, until the run has begun: taken away again where it is refused."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._made = [folder for folder in (path, *path.parents) if not _there(folder)]
        self._files = [path / LOCK] if not _there(path / LOCK) else []

    def look(self) -> None:
        """Which files are not there yet; from here on nobody else makes them."""
        self._files += [self._path / name for name in LITTER if not _there(self._path / name)]

    def keep(self) -> None:
        """The run has begun."""
        self._made, self._files = [], []

    def remove_files(self) -> None:
        """While the folder is still locked."""
        with suppress(OSError):
            for file in self._files:
                file.unlink(missing_ok=True)

    def remove_folders(self) -> None:
        """Those that hold nothing, which another may have put there meanwhile."""
        with suppress(OSError):
            for folder in self._made:
                folder.rmdir()
