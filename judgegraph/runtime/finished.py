"""The samples that a run's folder has finished, looked up without writing there: a run would not judge them again."""

from __future__ import annotations

import os
from typing import Any

from judgegraph.errors import ConfigError, DataError, one_line
from judgegraph.runtime.configuration import configuration
from judgegraph.runtime.differences import differences
from judgegraph.runtime.folder import ITEMS, Folder
from judgegraph.runtime.inflight import Mark
from judgegraph.runtime.item import failures
from judgegraph.runtime.lines import mark_of
from judgegraph.runtime.resume import plain, taken_again
from judgegraph.types import Sample


class Finished:
    """Of a folder; of one that is not there, or None, nothing is.

    Raises:
        ConfigError: the folder holds a run of another configuration, with which a run would not go on.
        DataError: its items cannot be read.
    """

    def __init__(self, path: str | os.PathLike[str] | None, graph: Any) -> None:
        self.count = 0
        self._known: dict[bytes, bytes] = {}  # digests: id -> content
        if path is None or not (Folder(path).path / ITEMS).exists():
            return
        self._folder = Folder(path)
        for item in self._folder.items():
            if not taken_again(item.status, failures(item) > 0, retry=False):
                mark = _mark(item.sample, item.place)
                self._known[mark.id] = mark.content
        if self._known:
            self._same(graph)

    def _same(self, graph: Any) -> None:
        earlier = self._folder.manifest().get("configuration")
        if changed := differences(earlier, plain(configuration(graph))) if isinstance(earlier, dict) else []:
            lines = "".join(f"\n  {line}" for line in changed)
            raise ConfigError(
                f"{self._folder.path} holds a run of another configuration:{lines}\nA run would not go on there: "
                "choose another folder (--out, out=), or name the ledger alone (--ledger, ledger=)"
            )

    def holds(self, sample: Sample) -> bool:
        """Whether a run would pass it over; counts those.

        Raises:
            DataError: it was judged with another content.
        """
        if not self._known:
            return False
        mark = _mark(sample, 0)
        content = self._known.get(mark.id)
        if content is not None and content != mark.content:
            raise DataError(
                f"sample '{one_line(sample.id, 80)}' is not what it was when it was judged in {self._folder.path}; "
                "choose another folder, or give it an id of its own"
            )
        self.count += content is not None
        return content is not None


def _mark(sample: Sample, place: int) -> Mark:
    """Without people's labels, which a run takes as they are now."""
    return mark_of(sample.model_copy(update={"human": {}}), place)
