"""A finished run: its items, its summary, its traces, and its scores and comparisons as tables and exports."""

from __future__ import annotations

import csv
import json
import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgegraph.answers import roles_of
from judgegraph.data.samples import COLUMNS, PAIR_COLUMNS, marked
from judgegraph.errors import ConfigError, ExtraError, printable
from judgegraph.runs.folder import LOCK, REJECTED, Folder, write_lines
from judgegraph.runs.item import Item
from judgegraph.runs.summary import Summary, criteria_names, summarise
from judgegraph.shown import Shown
from judgegraph.types import Comparison, Correction, Sample, Score, Verdict

if TYPE_CHECKING:
    import pandas

    from judgegraph.traces.read import SampleTrace


# A run's scores or comparisons as rows: for pandas, and as CSV that a spreadsheet can open without harm.


@dataclass(frozen=True)
class Table(Shown):
    """Rows of a run.

    Attributes:
        rows: each by its columns. columns: of scores as in `COLUMNS`. what: one row, in a word.
    """

    rows: list[dict[str, Any]]
    columns: Sequence[str] = COLUMNS
    what: str = "score"

    def to_pandas(self) -> pandas.DataFrame:
        """As a DataFrame.

        Raises:
            ExtraError: pandas is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise ExtraError("to_pandas()", "pandas") from None
        return pandas.DataFrame(self.rows, columns=list(self.columns))

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """As a CSV file in UTF-8; our own readers give its texts back as they were.

        A text that a spreadsheet would calculate has a single quote before it (see `inert_cells`); numbers are plain.

        Raises:
            ConfigError: the file cannot be written; one that is there stays as it is then.
        """
        write_csv(Path(path), self.rows, self.columns)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __str__(self) -> str:
        return f"a table of {len(self):,} {self.what}s"


def row_of(id: str, score: Score, role: str = "answer") -> dict[str, Any]:
    """A score of a sample as a row."""
    held = {"id": id, "role": role}
    return {name: held[name] if name in held else getattr(score, name) for name in COLUMNS}


def rows_of(item: Item) -> Iterator[dict[str, Any]]:
    """A row for each score of a sample; `role` says what it is: "answer", "vote", "draft" (`judgegraph.answers`)."""
    roles = roles_of(item)
    yield from (row_of(item.id, score, roles[score.key]) for score in item.scores)


def write_csv(path: Path, rows: Iterable[Mapping[str, Any]], columns: Sequence[str] = COLUMNS) -> int:
    """Write rows as `Table.to_csv` does, one in memory at a time; gives how many."""
    return write_lines(path, _lines(rows, columns), end="") - 1


class _Echo:
    """A file that gives back what is written to it."""

    def write(self, text: str) -> str:
        return text


def _lines(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> Iterator[str]:
    """The head and the rows as RFC 4180 has them; without the mark before them Excel takes UTF-8 for another code."""
    line = csv.writer(_Echo(), lineterminator="\r\n").writerow
    yield f"\ufeff{line(columns)}"
    for row in rows:
        yield str(line(marked(cell) if isinstance(cell, str) else cell for cell in map(row.get, columns)))


# A run's comparisons as rows: who won by each criterion, in which order, and over all.


OVERALL = "overall"  # the criterion of what is merged over all


def pair_rows(item: Item) -> Iterator[dict[str, Any]]:
    """A row per comparison of a sample, in the order of judging.

    Where the sample has a verdict, its last "overall" row has the same: if the graph wrote it without such a
    comparison, or beside another one, a row without agent and order stands there for it.
    """
    last: Verdict | None = None
    for comparison in item.comparisons:
        if comparison.criterion == OVERALL:
            last = comparison.verdict
        yield _row(item.id, comparison)
    if item.verdict not in (None, last):
        yield {
            **dict.fromkeys(PAIR_COLUMNS),
            "id": item.id,
            "criterion": OVERALL,
            "verdict": item.verdict,
            "status": "ok",
        }


def _row(id: str, comparison: Comparison) -> dict[str, Any]:
    return {"id": id, **{name: getattr(comparison, name) for name in PAIR_COLUMNS[1:]}}


# Corrections of a run as samples of their own, each beside what it corrected, so that the gain can be judged.


def corrected(items: Iterable[Item], signature: str) -> Iterator[Sample]:
    """A sample per correction that changed a text: `output` is the correction, `rival` the original.

    Its id is the item's with ":output" or ":rival" behind it, whichever was corrected, and the corrector's name where
    it has one of its own. Query, source and reference stay; people's judgements do not, as they are of the original.
    `meta["corrected"]` says of what sample and side it is, by which criteria, rule and scores, and the signature of the
    run.
    """
    for item in items:
        for correction in item.corrections:
            if correction.changed:
                yield _sample(item.sample, correction, signature)


def _sample(judged: Sample, correction: Correction, signature: str) -> Sample:
    said = [
        {"criterion": s.criterion, "value": s.value, "agent": s.agent, "reason": s.reason} for s in correction.by
    ]  # fmt: skip
    about: dict[str, Any] = {"id": judged.id, "of": correction.of, "criteria": list(correction.criteria)}
    about |= {"rule": correction.rule, "by": said, "run": signature}
    about |= {"agent": correction.agent} if correction.agent else {}
    name = ":".join(filter(None, (judged.id, correction.of, correction.agent)))
    return Sample(
        id=name, query=judged.query, source=judged.source, reference=judged.reference,
        output=correction.text, rival=judged.output if correction.of == "output" else judged.rival,
        meta={**judged.meta, "corrected": about},
    )  # fmt: skip


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
        return self.folder.items_in_order() if self.folder else iter(sorted(self.held, key=lambda i: i.place))

    @property
    def signature(self) -> str:
        """All that the numbers depend on, in one line."""
        return str(self.manifest["signature"])

    def trace(self, sample: str, *, redact: bool = False) -> SampleTrace:
        """What was done for one sample, step by step; arguments and errors as `traces.read.trace_of`."""
        from judgegraph.traces.read import trace_of

        return trace_of(self, sample, redact=redact)

    def export_otel(
        self, endpoint: str | None = None, *, exporter: Any = None, samples: Iterable[str] | None = None,
        redact: bool = False,
    ) -> int:  # fmt: skip
        """Send the traces to an OpenTelemetry collector; arguments and errors as `traces.otel.export_otel`."""
        from judgegraph.traces.otel import export_otel

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
        summary = summarise(self.items, self.signature, criteria_names(self.manifest))
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


# Whether a run came to its end: numbers of one that did not are of a part of its samples.


GONE = "its process is gone"
WHY = {"over_budget": "; its budget is spent"}


def incomplete_run(run: Run, done: int | None = None) -> str:
    """One phrase such as "unfinished: 12 of 32 samples", "" where the run came to its end.

    Args:
        done: samples that came to an end, a budget's refusals left out; None: they are counted here.

    Raises:
        DataError: they cannot be read.
    """
    state = str(run.manifest.get("state") or "finished")
    if state == "finished":
        return ""
    done = _done(run, state) if done is None else done
    total = total_of(run.manifest)
    known = total is not None and total >= done
    found = f"unfinished: {done:,} of {_samples(total)}" if known and total else f"unfinished after {_samples(done)}"
    return found + (_process(run) if state == "running" else WHY.get(state, ""))


def rejected_rows(run: Run) -> list[dict[str, Any]]:
    """Rows of the data that were no samples; none where that is not known."""
    if run.folder is None:
        return []
    try:
        found = json.loads((run.folder.path / REJECTED).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def total_of(manifest: Mapping[str, Any]) -> int | None:
    """How many samples the run was given; None where its manifest does not know that."""
    told = _sample_counts(manifest)
    total = told.get("total")
    if total is None and manifest.get("state") == "over_budget":  # nothing was left: each refused one is an item too
        total = told.get("done")
    return total if isinstance(total, int) and total > 0 else None


def _done(run: Run, state: str) -> int:
    """The manifest of a run under way, or killed, is of its beginning."""
    told = _sample_counts(run.manifest)
    done, refused = told.get("done"), told.get("over_budget")
    if state != "running" and isinstance(done, int) and isinstance(refused, int):
        return done - refused
    return sum(item.status != "over_budget" for item in run.items)


def _process(run: Run) -> str:
    """Whether anyone still writes to it, as far as the lock of its folder tells."""
    if run.folder is None:
        return ""
    return {True: " so far", False: f"; {GONE}", None: ""}[_locked(run.folder.path / LOCK)]


def _locked(path: Path) -> bool | None:
    """None where it cannot be looked at, as in a folder that is only read. Nothing is made."""
    from filelock import FileLock, Timeout

    if not path.is_file():
        return False
    lock = FileLock(path, timeout=0, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        return True
    except (OSError, NotImplementedError):
        return None
    with suppress(OSError):
        lock.release()
    return False


def _samples(number: int | None) -> str:
    return f"{number:,} sample{'' if number == 1 else 's'}"


def _sample_counts(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    told = manifest.get("samples")
    return told if isinstance(told, Mapping) else {}
