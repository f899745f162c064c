"""All journeys of a file of spans, each with whether it stands: of a sample's several the last that was kept."""

from __future__ import annotations

from collections.abc import Iterator
from json import JSONDecoder
from pathlib import Path

from judgegraph.runtime.disk_index import DiskIndex
from judgegraph.runtime.item import Item
from judgegraph.runtime.lines import id_digest
from judgegraph.trace.file import journey, line_at, lines
from judgegraph.trace.span import Journey

_START = b'{"id":'  # as we write it
_decoder = JSONDecoder()


def told_journeys(path: Path | None) -> Iterator[tuple[Journey, bool]]:
    """(journey, whether it stands) in the order of their ends; a line that holds none is left out.

    A sample that was taken up again has several: the last whose item was kept stands, else its last. The file is read
    twice, as a stream; memory stays flat. Nothing where there is no file, or `path` is None.
    """
    if path is None:
        return
    with DiskIndex() as stands:
        end = _index(path, stands)
        for at, line in lines(path):
            if at >= end:  # came meanwhile
                return
            if (told := journey(line)) is not None:
                yield told, stands.get(id_digest(told.sample)) == at


def belongs(told: Journey, item: Item) -> bool:
    """Whether the item came of this journey: the last attempt may have left none, as without spans.

    Its milliseconds are the item's own. Older lines do not say them: they end as the item does, and what they wrote
    stands in it.
    """
    root = told.spans[0]
    if (ms := root.about.get("item_ms")) is not None:
        return bool(ms == item.ms)
    if root.status != item.status:
        return False
    writes = [span.about.get("writes") for span in told.spans if span.parent == 0 and span.kind == "node"]
    wrote = [one.get("scores") for one in writes if isinstance(one, dict)]
    keys = {str(key) for one in wrote if isinstance(one, list) for key in one}
    return item.status != "ok" or keys <= {score.key for score in item.scores}


def indexed(path: Path) -> DiskIndex:
    """Digest of a sample's id -> where the line of its journey that stands begins; to be closed."""
    stands = DiskIndex()
    try:
        _index(path, stands)
    except BaseException:
        stands.close()
        raise
    return stands


def _index(path: Path, stands: DiskIndex) -> int:
    """Gives where the file ended."""
    end = 0
    for at, line in lines(path):
        _look(path, stands, at, line)
        end = at + len(line)
    return end


def _look(path: Path, stands: DiskIndex, at: int, line: bytes) -> None:
    """Nearly every sample has one line, whose id is all that is read here."""
    if (name := id_of(line)) is None:
        return
    key = id_digest(name)
    if (before := stands.first(key, at)) == at:
        return
    told, earlier = journey(line), journey(line_at(path, before))
    if told is not None and (told.kept or earlier is None or not earlier.kept):
        stands.put(key, at)


def id_of(line: bytes) -> str | None:
    """The sample that a line is of, by its first bytes; None where they are none of ours."""
    if not line.startswith(_START):
        return None
    try:
        return str(_decoder.raw_decode(line.decode(), len(_START))[0])
    except (ValueError, RecursionError):
        return None
