"""Files that are written whole: the old one or the new one, never half of it."""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp

from judgegraph.errors import ConfigError

SUFFIX = ".new"
NAMED = 40  # characters of a file's name in that of its new version: a system may take no more than 255 bytes
STALE = 3600.0  # seconds without a write, after which nobody writes it any more


@contextmanager
def writing(path: Path) -> Generator[None]:
    """What the system says of a write is told in one line."""
    try:
        yield
    except OSError as error:
        raise unwritable(error, path) from None


def unwritable(error: OSError, path: Path) -> ConfigError:
    """What the system says of a write, in one line; it would meet every sample alike."""
    found = ConfigError(f"cannot write {error.filename or path}: {error.strerror or error}")
    found.ends_run = True
    return found


def write_lines(path: Path, lines: Iterable[str], end: str = "\n") -> int:
    """A whole file at once, which a power cut cannot leave empty either: it is on the disk before it has its name.

    Args:
        end: what is written behind each line, the same on every system.

    Returns:
        How many lines.

    Raises:
        ConfigError: it cannot be written.
    """
    count = 0
    with writing(path):
        _sweep(path)
        handle, new = _made(path)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
                for line in lines:
                    file.write(f"{line}{end}")
                    count += 1
                file.flush()
                os.fsync(file.fileno())
            new.replace(path)
        except BaseException as error:
            with suppress(OSError):
                new.unlink(missing_ok=True)
            if isinstance(error, OSError) and error.filename == str(new):
                error.filename = None  # it means nothing to anybody, the file that was asked for does
            raise
    return count


def _made(path: Path) -> tuple[int, Path]:
    """A new file beside it, of a name that nobody can foresee: a link laid there would lead the write elsewhere."""
    try:
        handle, name = mkstemp(prefix=_prefix(path), suffix=SUFFIX, dir=path.parent)
    except OSError as error:
        raise OSError(error.errno, error.strerror) from None
    return handle, Path(name)


def _sweep(path: Path) -> None:
    """What killed processes left; what is still being written was touched just now."""
    with suppress(OSError), os.scandir(path.parent) as there:
        for one in there:
            ours = one.name.startswith(_prefix(path)) and one.name.endswith(SUFFIX)
            if ours and one.is_file(follow_symlinks=False) and time.time() - one.stat().st_mtime > STALE:
                with suppress(OSError):
                    os.unlink(one)


def _prefix(path: Path) -> str:
    return f".{path.name[:NAMED]}."
