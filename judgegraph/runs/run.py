"""A finished run: its items, its summary, its traces, its tables, and what is exported of it."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from judgegraph.data.samples import COLUMNS, PAIR_COLUMNS
from judgegraph.errors import ConfigError, printable
from judgegraph.prompts.criteria import CriteriaSet
from judgegraph.runs.alignment import ALIGNMENT, alignment_rows
from judgegraph.runs.folder import LOCK, REJECTED, Folder, write_lines
from judgegraph.runs.item import Item
from judgegraph.runs.suggestions import By, Suggestions, suggestions_of
from judgegraph.runs.summary import Summary, criteria_names, has_weights, summarise
from judgegraph.runs.tables import Table, by_group, pair_rows, pairs_by_group, refuse_unknown, rows_of, write_csv
from judgegraph.shown import Shown, drawn
from judgegraph.types import Correction, Sample, names_of

if TYPE_CHECKING:
    from judgegraph.traces.otel import Sent
    from judgegraph.traces.read import SampleTrace


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

    def export_scores(self, path: str | os.PathLike[str], more: str | Sequence[str] = ()) -> int:
        """Write the scores as `Table.to_csv` does, in the order of the dataset; gives how many.

        Args:
            more: columns of their samples, as of `scores`.

        Raises:
            ConfigError: as `export`, or no sample holds what a column asks for.
            DataError: the run's folder cannot be read.
        """
        self._refuse_own(path)
        more = self._columns(more, COLUMNS)
        return write_csv(
            Path(path), (row for item in self._in_order() for row in rows_of(item, more)), (*COLUMNS, *more)
        )

    def export_comparisons(self, path: str | os.PathLike[str], more: str | Sequence[str] = ()) -> int:
        """Write the comparisons, as `export_scores` does the scores."""
        self._refuse_own(path)
        more = self._columns(more, PAIR_COLUMNS)
        rows = (row for item in self._in_order() for row in pair_rows(item, more))
        return write_csv(Path(path), rows, (*PAIR_COLUMNS, *more))

    def _columns(self, more: str | Sequence[str], taken: Sequence[str] = ()) -> tuple[str, ...]:
        """Columns of samples that were asked for, where samples hold them."""
        names = names_of(more)
        if names:
            refuse_unknown(self.items, names, taken)
        return names

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
        redact: bool = False, scores: Literal["auto", "none", "phoenix", "langfuse"] = "auto",
    ) -> Sent:  # fmt: skip
        """Send the traces to an OpenTelemetry collector, and the scores to Phoenix or Langfuse.

        Arguments and errors are as `traces.otel.export_otel`; gives how many spans, with how many `annotations`.
        """
        from judgegraph.traces.otel import export_otel

        return export_otel(self, endpoint, exporter=exporter, samples=samples, redact=redact, scores=scores)

    def scores(self, more: str | Sequence[str] = ()) -> Table:
        """Every score of every sample; of answers, the rows whose `role` is "answer".

        Args:
            more: columns of their samples: "query", "source", "output", "rival", "reference"; "human": people's
                judgement by the row's criterion, of several numbers their mean; any other is a key of `meta`, such as
                "system". None where a sample has none.
        """
        more = self._columns(more, COLUMNS)
        return Table([row for item in self.items for row in rows_of(item, more)], (*COLUMNS, *more))

    def by_group(self, name: str) -> Table:
        """Means of the answers by criterion in each group of samples: a row per group and criterion.

        Args:
            name: a key of `meta`, such as "system" or "language", or a field of the samples.

        Raises:
            ConfigError: no sample holds it.
        """
        self._columns(name)
        return by_group(self.items, name)

    def pairs_by_group(self, name: str) -> Table:
        """Verdicts on pairs in each group of samples: how many A, B, ties and none; arguments as `by_group`."""
        self._columns(name)
        return pairs_by_group(self.items, name)

    def comparisons(self, more: str | Sequence[str] = ()) -> Table:
        """Every verdict on a pair: a row per sample, criterion, agent and order; none where no pairs were judged.

        Columns: `id`, `criterion` ("overall" for what was merged over all criteria), `agent`, `order` ("AB" and "BA":
        which response stood first; "both": merged of the two), `verdict` ("A", "B" or "tie"), `score_a` and `score_b`
        (each of the three None where there is none), `status`, `reason`. A is `Sample.output` and B `Sample.rival`, in
        either order. The last "overall" row of a sample has its verdict (`Item.verdict`), where there is one.

        Args:
            more: columns of their samples, as of `scores`.
        """
        more = self._columns(more, PAIR_COLUMNS)
        rows = [row for item in self.items for row in pair_rows(item, more)]
        return Table(rows, (*PAIR_COLUMNS, *more), "comparison")

    def alignment(self) -> Table:
        """Which assistant the plans assigned to which criterion, and what came of asking it: Fusion-Eval's table 4.

        A row for each criterion and assistant; columns as of `runs.alignment.alignment_rows`. No rows where no sample
        has a plan.
        """
        return Table(alignment_rows(self.items), ALIGNMENT, "pair of criterion and assistant")

    @property
    def criteria(self) -> CriteriaSet | None:
        """What it was judged by, with the task of its first agent that tells one; None where no agent held criteria."""
        listed = self.manifest.get("criteria")
        if not listed:
            return None
        settings = self.manifest.get("configuration") or {}
        task = next((str(v) for k, v in settings.items() if k.endswith(".options.task") and v), "")
        name = str(self.manifest.get("criteria_set") or "custom")
        return CriteriaSet.model_validate({"name": name, "criteria": listed, **({"task": task} if task else {})})

    def suggestions(self, by: By = "auto") -> Suggestions:
        """New criteria and changed definitions that the critics suggest, by topic, with how often each comes.

        Arguments and errors as `runs.suggestions.suggestions_of`.
        """
        return suggestions_of(self._in_order(), by, str(self.manifest.get("signature", "")))

    @property
    def plot(self) -> Any:
        """Charts of the run as SVG: `run.plot.scores()`, `.critic()`, `.agreement()`, `.people()`, `.overlap()` and
        `.cost()`. Each is shown by a notebook, says itself in words (`str`), and is written by `save("file.svg")`: see
        `judgegraph.report.plots.Plots`.
        """
        return drawn(self, "plot")

    def summary(self) -> Summary:
        """Per criterion and stage: how many could be read, their mean, and what the missing could do to it."""
        summary = summarise(
            self.items, self.signature, criteria_names(self.manifest), weighted=has_weights(self.manifest)
        )
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
