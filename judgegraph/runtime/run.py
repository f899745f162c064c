"""What came of a run: its items, its scores as a table, its summary."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgegraph.errors import ConfigError, printable
from judgegraph.runtime.corrected import corrected
from judgegraph.runtime.folder import Folder
from judgegraph.runtime.inert_cells import PAIR_COLUMNS
from judgegraph.runtime.item import Item
from judgegraph.runtime.pair_rows import pair_rows
from judgegraph.runtime.summary import Summary, summarise
from judgegraph.runtime.table import Table, rows_of, write_csv
from judgegraph.runtime.whole_file import write_lines
from judgegraph.shown import Shown
from judgegraph.types import Sample

if TYPE_CHECKING:
    from judgegraph.runtime.traces import SampleTrace

TIMES = {"ms", "place"}  # what an export leaves out: its lines stand in order


@dataclass(frozen=True)
class Run(Shown):
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
        """Lines of the run's `items.jsonl` that hold no item, or another than was written; they are left out."""
        found: list[str] = []
        if self.folder:
            deque(self.folder.items(found.append), 0)
        return len(found)

    @property
    def items(self) -> Iterator[Item]:
        """The finished samples, in the order of finishing."""
        return self.folder.items() if self.folder else iter(self.held)

    def export(self, path: str | os.PathLike[str]) -> int:
        """Write the items as JSON lines in the order of the dataset, without times: the same for the same results.

        Returns:
            How many items.

        Raises:
            ConfigError: the file cannot be written, or is one of the run's own; one that is there stays as it is then.
            DataError: the run's folder cannot be read.
        """
        self._refuse_own(path)
        return write_lines(Path(path), map(_without_times, self._in_order()))

    def export_scores(self, path: str | os.PathLike[str]) -> int:
        """Write the scores as `Table.to_csv` does, in the order of the dataset; gives how many. Errors as `export`."""
        self._refuse_own(path)
        return write_csv(Path(path), (row for item in self._in_order() for row in rows_of(item)))

    def export_comparisons(self, path: str | os.PathLike[str]) -> int:
        """Write the comparisons, as `export_scores` does the scores."""
        self._refuse_own(path)
        return write_csv(Path(path), (row for item in self._in_order() for row in pair_rows(item)), PAIR_COLUMNS)

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
        return write_lines(Path(path), samples)

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

    def trace(self, sample: str, *, redact: bool = False) -> SampleTrace:
        """What was done for one sample, step by step; arguments and errors as `runtime.traces.trace_of`."""
        from judgegraph.runtime.traces import trace_of

        return trace_of(self, sample, redact=redact)

    def export_otel(
        self, endpoint: str | None = None, *, exporter: Any = None, samples: Iterable[str] | None = None,
        redact: bool = False,
    ) -> int:  # fmt: skip
        """Send the traces to an OpenTelemetry collector; arguments and errors as `runtime.otel_export.export_otel`."""
        from judgegraph.runtime.otel_export import export_otel

        return export_otel(self, endpoint, exporter=exporter, samples=samples, redact=redact)

    def scores(self) -> Table:
        """Every score of every sample; of answers, the rows whose `role` is "answer"."""
        return Table([row for item in self.items for row in rows_of(item)])

    def comparisons(self) -> Table:
        """Every verdict on a pair: a row per sample, criterion, agent and order; none where no pairs were judged.

        Columns: `id`, `criterion` ("overall" for what was merged over all criteria), `agent`, `order` ("AB" and "BA":
        which response stood first; "both": merged of the two), `verdict` ("A", "B" or "tie"), `score_a` and `score_b`
        (each of the three None where there is none), `status`, `reason`. A is `Sample.output` and B `Sample.rival`, in
        either order. The last "overall" row of a sample has its verdict (`Item.verdict`), where there is one.
        """
        return Table([row for item in self.items for row in pair_rows(item)], PAIR_COLUMNS, "comparison")

    def summary(self) -> Summary:
        """Per criterion and stage: how many could be read, their mean, and what the missing could do to it."""
        summary = summarise(self.items, self.signature)
        summary.notes.update(list(self.folder.left_out) if self.folder else ())
        return summary

    def __str__(self) -> str:
        calls, samples = self.manifest.get("calls") or {}, self.manifest.get("samples") or {}
        where = f", kept in {self.folder.path}" if self.folder else ""
        done = f"{samples.get('done', 0):,} samples, {calls.get('replies', 0):,} calls"
        return printable(f"run of {self.manifest.get('method')}: {done}{where}")


def _without_times(item: Item) -> str:
    """A line of an export; Python writes a float the same in all its versions, not so the libraries below pydantic."""
    plain = item.model_dump(mode="json", exclude_defaults=True, exclude=TIMES)
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
