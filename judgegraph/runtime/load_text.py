"""The lines of a text file, gzipped or not, in bounded memory."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, TypeAlias

from judgegraph.errors import DataError, one_line
from judgegraph.runtime.load_value import Fault

Line: TypeAlias = tuple[int, bytes | Fault]  # its number from 1, and what stands there

MOST_LINE = 16 * 2**20  # bytes; no model reads more
FREE_UNPACKED, MOST_RATIO = 64 * 2**20, 100  # bytes a gzip file may always unpack to; beyond: times its size
CUT = "; rows after it cannot be read"


def lines(path: Path) -> Iterator[Line]:
    """The lines of a file; one that is too long is a fault, and the next is read.

    Raises:
        DataError: no readable file, UTF-16, or a gzip file that unpacks to far more than its size.
    """
    number, left = 0, most_unpacked(path)
    with opened(path) as file:
        while True:
            number += 1
            try:
                line = file.readline(MOST_LINE + 1)
                left -= len(line)
                whole = len(line) <= MOST_LINE or line.endswith(b"\n")
                rest = not whole
                while rest and left >= 0:
                    part = file.readline(MOST_LINE)
                    left -= len(part)
                    rest = bool(part) and not part.endswith(b"\n")
            except (EOFError, gzip.BadGzipFile, zlib.error):
                yield number, Fault("", f"the gzip file is damaged or cut off here{CUT}")
                return
            if left < 0:
                raise bomb(path)
            if not line:
                return
            if number == 1 and line[:2] in (b"\xff\xfe", b"\xfe\xff"):
                raise DataError(f"{one_line(path)}: is UTF-16; save the file as UTF-8")
            yield number, line if whole else Fault("", f"is longer than {MOST_LINE:,} bytes")


def opened(path: Path) -> BinaryIO | gzip.GzipFile:
    """The file for reading, unpacked on the way where it is gzip (by its first bytes, whatever its name)."""
    try:
        file = path.open("rb")
        if file.read(2) == b"\x1f\x8b":
            file.close()
            return gzip.open(path)
    except OSError as error:
        raise DataError(f"{one_line(path)}: {error.strerror}") from None
    file.seek(0)
    return file


def most_unpacked(path: Path) -> int:
    """How many bytes may be read: all of a plain file (it may grow), of a gzip file what its size makes likely.

    The size that a gzip file declares is not asked: where the file is cut off, other bytes stand in its place.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):  # a pipe would be waited for, and cannot be read twice
        raise DataError(f"{one_line(path)}: is no file, but a pipe or a device; save what it gives to a file first")
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
            size = file.seek(0, 2)
    except OSError as error:
        raise DataError(f"{one_line(path)}: {error.strerror}") from None
    return max(FREE_UNPACKED, MOST_RATIO * size) if packed else sys.maxsize


def bomb(path: Path) -> DataError:
    """The error for a file that unpacks to far more than its size."""
    return DataError(
        f"{one_line(path)}: unpacks to over {MOST_RATIO} times its size and {FREE_UNPACKED:,} bytes; "
        "unpack it yourself if you trust it"
    )


def decoded(raw: bytes) -> str:
    """UTF-8 text, without a byte order mark before it.

    Raises:
        Fault: it is not UTF-8.
    """
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise Fault("", f"is not UTF-8 (byte {byte:#x} at {error.start}); save the file as UTF-8") from None
