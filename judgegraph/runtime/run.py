"""What came of a run: its items, its scores as a table, its summary."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgegraph.errors import ConfigError, ExtraError
from judgegraph.runtime.corrected import corrected
from judgegraph.runtime.folder import Folder
from judgegraph.runtime.item import Item
from judgegraph.runtime.summary import Summary, summarise
from judgegraph.runtime.whole_file import write_lines
from judgegraph.types import Sample

if TYPE_CHECKING:
    import pandas

TIMES = {"ms", "place"}  # what an export leaves out: its lines stand in order
COLUMNS = (
    "id", "criterion", "agent", "stage", "repeat", "of", "value", "label", "status", "reader", "unseen", "reason",
)  # fmt: skip


@dataclass(frozen=True)
class Table:
    """Scores as rows, one a score; columns as in `COLUMNS`."""

    rows: list[dict[str, Any]]

    def to_pandas(self) -> pandas.DataFrame:
        """As a DataFrame.

        Raises:
            ExtraError: pandas is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise ExtraError("to_pandas()", "pandas") from None
        return pandas.DataFrame(self.rows, columns=list(COLUMNS))

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)


@dataclass(frozen=True)
class Run:
    """A finished run. Its items are read from its folder each time, or held where it has none.

    Attributes:
        manifest: what was run, what it cost. folder: where it lies, None for a run in memory.
    """

    manifest: dict[str, Any]
    held: Sequence[Item] = ()
    folder: Folder | None = None

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Run:
        """A run from its folder.

        Raises:
            DataError: it is none.
        """
        folder = Folder(path)
        return cls(folder.manifest(), (), folder)

    @property
    def damaged(self) -> int:
        """Lines of the run's `items.jsonl` that hold no item, and are left out wherever items are read."""
        found: list[str] = []
        if self.folder:
            deque(self.folder.items(found.append), 0)
        return len(found)

    @property
    def items(self) -> Iterator[Item]:
        """The finished samples, in the order of finishing."""
        return self.folder.items() if self.folder else iter(self.held)

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write the items as JSON lines in the order of the dataset, without times: the same for the same results.

        Raises:
            ConfigError: the file cannot be written, or is one of the run's own; one that is there stays as it is then.
            DataError: the run's folder cannot be read.
        """
        self._refuse_own(path)
        write_lines(Path(path), map(_without_times, self._in_order()))

    def corrected(self) -> Iterator[Sample]:
        """The corrections that were made, in the order of the dataset, each a sample beside its original.

        `output` is the correction and `rival` the original, so that a pairwise or a single method can judge what it
        gained; `meta["corrected"]` says of what it is, and by which criteria, rule and scores.
        """
        return corrected(self._in_order(), self.signature)

    def export_corrected(self, path: str | os.PathLike[str]) -> int:
        """Write `corrected()` as JSON lines that `jg.load` reads; gives how many. Errors as `export`."""
        self._refuse_own(path)
        samples = [sample.model_dump_json(exclude_defaults=True) for sample in self.corrected()]
        write_lines(Path(path), samples)
        return len(samples)

    def _refuse_own(self, path: str | os.PathLike[str]) -> None:
        if self.folder and self.folder.owns(path, self.manifest.get("ledger")):
            raise ConfigError(f"{path} is a file of the run itself; export to another one")

    def _in_order(self) -> Iterator[Item]:
        """The items in the order of the dataset."""
        return self.folder.items_by_place() if self.folder else iter(sorted(self.held, key=lambda i: i.place))

    @property
    def signature(self) -> str:
        """All that the numbers depend on, in one line."""
        return str(self.manifest["signature"])

    def scores(self) -> Table:
        """Every score of every sample, drafts and finals."""
        rows = []
        for item in self.items:
            for score in item.scores:
                rows.append({"id": item.id, **{c: getattr(score, c) for c in COLUMNS[1:]}})
        return Table(rows)

    def summary(self) -> Summary:
        """Per criterion and stage: how many could be read, their mean, and what the missing could do to it."""
        found: list[str] = []
        summary = summarise(self.folder.items(found.append) if self.folder else self.held, self.signature)
        summary.notes.update(f"left out: {where}" for where in found)
        return summary


def _without_times(item: Item) -> str:
    """A line of an export; Python writes a float the same in all its versions, not so the libraries below pydantic."""
    plain = item.model_dump(mode="json", exclude_defaults=True, exclude=TIMES)
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
