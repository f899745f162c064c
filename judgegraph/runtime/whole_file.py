"""Files that are written whole: the old one or the new one, never half of it."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path

from judgegraph.errors import ConfigError


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


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """A whole file at once, which a power cut cannot leave empty either: it is on the disk before it has its name.

    Raises:
        ConfigError: it cannot be written.
    """
    new = path.with_name(f".{path.name}.new")
    with writing(path):
        try:
            handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in lines)
                file.flush()
                os.fsync(file.fileno())
            new.replace(path)
        except BaseException:
            with suppress(OSError):
                new.unlink(missing_ok=True)
            raise
