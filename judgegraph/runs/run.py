"""A finished run: its items, its summary, its traces, its tables, and what is exported of it.

It hides whether the items lie in a folder or in memory, what a row of a table holds of a score and its sample, and how
it is known whether the run came to its end.
"""

from __future__ import annotations

import csv
import gc
import json
import math
import os
import statistics
import threading
from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from judgegraph.answers import answers_of, roles_of
from judgegraph.data.samples import COLUMNS, PAIR_COLUMNS, marked
from judgegraph.errors import ConfigError, ExtraError, counted, one_line, printable, settings_checked
from judgegraph.prompts.criteria import CriteriaSet
from judgegraph.runs.item import Item
from judgegraph.shown import Shown, drawn
from judgegraph.types import (
    SAY_NOTHING,
    Comparison,
    Correction,
    Finding,
    Sample,
    Score,
    Verdict,
    names_of,
    text_of,
)

if TYPE_CHECKING:
    import pandas

    from judgegraph.runs.folder import Folder
    from judgegraph.runs.suggestions import By, Suggestions
    from judgegraph.runs.summary import Summary
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
        from judgegraph.runs.folder import Folder  # here, as a run in memory does without

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

    @settings_checked
    def export(self, path: str | os.PathLike[str]) -> int:
        """Write the items as JSON lines in the order of the dataset, without times: the same for the same results.

        Returns:
            How many items.

        Raises:
            ConfigError: the file cannot be written, or is one of the run's own; one that is there stays as it is then.
            DataError: the run's folder cannot be read.
        """
        self._refuse_own(path)
        from judgegraph.runs.folder import write_lines

        return write_lines(Path(path), map(_without_times, self._in_order()))

    @settings_checked
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

    @settings_checked
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

    @settings_checked
    def export_corrected(self, path: str | os.PathLike[str]) -> int:
        """Write `corrected()` as JSON lines that `jg.load` reads; gives how many. Errors as `export`."""
        self._refuse_own(path)
        samples = [sample.model_dump_json(exclude_defaults=True) for sample in self.corrected()]
        from judgegraph.runs.folder import write_lines

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

    @settings_checked
    def trace(self, sample: str, *, redact: bool = False) -> SampleTrace:
        """What was done for one sample, step by step; arguments and errors as `traces.read.trace_of`."""
        from judgegraph.traces.read import trace_of

        return trace_of(self, sample, redact=redact)

    @settings_checked
    def export_otel(
        self, endpoint: str | None = None, *, exporter: Any = None, samples: Iterable[str] | None = None,
        redact: bool = False, scores: Literal["auto", "none", "phoenix", "langfuse"] = "auto",
    ) -> Sent:  # fmt: skip
        """Send the traces to an OpenTelemetry collector, and the scores to Phoenix or Langfuse.

        Arguments and errors are as `traces.otel.export_otel`; gives how many spans, with how many `annotations`.
        """
        from judgegraph.traces.otel import export_otel

        return export_otel(self, endpoint, exporter=exporter, samples=samples, redact=redact, scores=scores)

    @settings_checked
    def scores(self, more: str | Sequence[str] = ()) -> Table:
        """Every score of every sample; of answers, the rows whose `role` is "answer".

        Args:
            more: columns of their samples: "query", "source", "output", "rival", "reference"; "human": people's
                judgement by the row's criterion, of several numbers their mean; any other is a key of `meta`, such as
                "system". None where a sample has none.
        """
        more = self._columns(more, COLUMNS)
        return Table([row for item in self.items for row in rows_of(item, more)], (*COLUMNS, *more))

    @settings_checked
    def by_group(self, name: str) -> Table:
        """Means of the answers by criterion in each group of samples: a row per group and criterion.

        Args:
            name: a key of `meta`, such as "system" or "language", or a field of the samples.

        Raises:
            ConfigError: no sample holds it.
        """
        self._columns(name)
        return by_group(self.items, name)

    @settings_checked
    def pairs_by_group(self, name: str) -> Table:
        """Verdicts on pairs in each group of samples: how many A, B, ties and none; arguments as `by_group`."""
        self._columns(name)
        return pairs_by_group(self.items, name)

    @settings_checked
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

        A row for each criterion and assistant; columns as of `Alignment.rows`. No rows where no sample has a plan.
        """
        counted = Alignment()
        for item in self.items:
            counted.add(item)
        return Table(counted.rows, ALIGNMENT, "pair of criterion and assistant")

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

    @settings_checked
    def suggestions(self, by: By = "auto") -> Suggestions:
        """New criteria and changed definitions that the critics suggest, by topic, with how often each comes.

        Arguments and errors as `runs.suggestions.suggestions_of`.
        """
        from judgegraph.runs.suggestions import suggestions_of

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
        from judgegraph.runs.summary import criteria_names, has_weights, summarise

        names = criteria_names(self.manifest)
        summary = summarise(self.items, self.signature, names, weighted=has_weights(self.manifest))
        summary.notes.update(list(self.folder.left_out) if self.folder else ())
        return summary

    def __str__(self) -> str:
        calls, samples = self.manifest.get("calls") or {}, self.manifest.get("samples") or {}
        where = f", kept in {self.folder.path}" if self.folder else ""
        done = f"{counted(samples.get('done', 0), 'sample')}, {counted(calls.get('replies', 0), 'call')}"
        return printable(f"run of {self.manifest.get('method')}: {done}{where}")


def _without_times(item: Item) -> str:
    """A line of an export; Python writes a float the same in all its versions, not so the libraries below pydantic."""
    plain = item.model_dump(mode="json", exclude_defaults=True, exclude=TIMES)
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))


# Whether a run came to its end: numbers of one that did not are of a part of its samples.


GONE = "its process is gone"
WHY = {"over_budget": "; its budget is spent"}


def incomplete_run(run: Run, done: int | None = None) -> str:
    """One phrase such as "unfinished: 12 of 32 samples done", "" where the run came to its end.

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
    found = (
        f"unfinished: {done:,} of {_samples(total)} done" if known and total else f"unfinished after {_samples(done)}"
    )
    return found + (_process(run) if state == "running" else WHY.get(state, ""))


def rejected_rows(run: Run) -> list[dict[str, Any]]:
    """Rows of the data that were no samples; none where that is not known."""
    if run.folder is None:
        return []
    found = run.folder.rejected()
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
    return {True: " so far", False: f"; {GONE}", None: ""}[_locked(run.folder.lock)]


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


# Tables of a run: scores and comparisons as rows, with what their samples hold, by group, and by assistant.


MOST_KNOWN = 20  # names of columns in a message
TEXTS = ("query", "source", "output", "rival", "reference")  # columns that a sample has of its own, beside "human"
BESIDE = ("references", "contexts", "turns", "images", "facts")  # and of its other evidence, as texts


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

    @settings_checked
    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """As a CSV file in UTF-8; our own readers give its texts back as they were.

        A text that a spreadsheet would calculate has a single quote before it (see `inert_cells`); numbers are plain.
        Control characters, by which a cell drives the terminal that prints it, stand as their pictures (ESC as \u241b).

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


def rows_of(item: Item, more: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """A row for each score of a sample; `role` says what it is: "answer", "vote", "draft" (`judgegraph.answers`).

    Args:
        more: columns of its sample behind these, as `of_sample` knows them.
    """
    roles = roles_of(item)
    for score in item.scores:
        labels = (score.scale.labels or ()) if score.scale else ()
        own = of_sample(item.sample, more, score.criterion, labels) if more else {}
        yield {**row_of(item.id, score, roles[score.key]), **own}


def of_sample(
    sample: Sample, names: Iterable[str], criterion: str = "", labels: Sequence[str] = ()
) -> dict[str, Any]:  # fmt: skip
    """What a sample holds under each name; None where it holds nothing.

    Args:
        names: "query", "source", "output", "rival", "reference"; "human": people's judgement by the criterion, of
            several numbers their mean, None for "-", "n/a" and the like; any other is a key of `meta`.
        labels: of the criterion's scale, which may be such words.
    """
    return {name: _held(sample, name, criterion, labels) for name in names}


def _held(sample: Sample, name: str, criterion: str, labels: Sequence[str]) -> Any:
    if name == "human":
        return _human(sample.human.get(criterion), labels)
    if name in TEXTS:
        text = getattr(sample, name)
        return text_of(text) if text else None
    if name in BESIDE and getattr(sample, name):
        return sample.shown_evidence().get(name)
    value = sample.meta.get(name)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def _human(value: Any, labels: Sequence[str]) -> Any:
    """One judgement: the mean of several numbers; labels that differ stand beside one another."""
    several = value if isinstance(value, list | tuple) else [value]
    given = [
        one for one in several if one is not None and (one in labels or str(one).strip().casefold() not in SAY_NOTHING)
    ]
    if given and all(isinstance(one, int | float) and not isinstance(one, bool) for one in given):
        return statistics.fmean(given)
    return " / ".join(dict.fromkeys(map(str, given))) if given else None


def refuse_unknown(items: Iterable[Item], names: Sequence[str], taken: Sequence[str] = ()) -> None:
    """That no sample holds what is asked for, or that a row has such a column already.

    Raises:
        ConfigError: it names the column, and what samples do hold.
    """
    if clash := [name for name in names if name in taken or names.count(name) > 1]:
        raise ConfigError(f"column {clash[0]}: a row has it already")
    missing, known = set(names), dict[str, None]()
    for item in items:
        sample = item.sample
        texts = [name for name in (*TEXTS, *BESIDE) if getattr(sample, name)]
        held = dict.fromkeys([*texts, *["human"] * bool(sample.human), *sample.meta])
        missing -= held.keys()
        known |= held
        if not missing:
            return
    for name in names:
        if name in missing:
            near = get_close_matches(name, known, 1)
            listed = ", ".join(one_line(one, 60) for one in [*known][:MOST_KNOWN])
            hint = f"; did you mean '{near[0]}'?" if near else f"; samples have {listed}"
            raise ConfigError(f"column {one_line(name, 60)}: no sample of the run holds it{hint}")


def write_csv(path: Path, rows: Iterable[Mapping[str, Any]], columns: Sequence[str] = COLUMNS) -> int:
    """Write rows as `Table.to_csv` does, one in memory at a time; gives how many."""
    from judgegraph.runs.folder import write_lines

    return write_lines(path, _lines(rows, columns), end="") - 1


class _Echo:
    """A file that gives back what is written to it."""

    def write(self, text: str) -> str:
        return text


PICTURES = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n\r"} | {127: 0x2421}
PICTURES |= dict.fromkeys(
    range(0x80, 0xA0), 0xFFFD
)  # control characters, by which a cell that is printed drives a terminal


def _lines(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> Iterator[str]:
    """The head and the rows as RFC 4180 has them, in UTF-8 without a mark before them, which readers take for text."""
    line = csv.writer(_Echo(), lineterminator="\r\n").writerow
    yield str(line(marked(column.translate(PICTURES)) for column in columns))
    for row in rows:
        yield str(line(marked(cell.translate(PICTURES)) if isinstance(cell, str) else cell
                       for cell in map(row.get, columns)))  # fmt: skip


# A run's comparisons as rows: who won by each criterion, in which order, and over all.


OVERALL = "overall"  # the criterion of what is merged over all


def pair_rows(item: Item, more: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """A row per comparison of a sample, in the order of judging; `more` as of `rows_of`.

    Where the sample has a verdict, its last "overall" row has the same: if the graph wrote it without such a
    comparison, or beside another one, a row without agent and order stands there for it.
    """
    last: Verdict | None = None
    for comparison in item.comparisons:
        if comparison.criterion == OVERALL:
            last = comparison.verdict
        yield {**_row(item.id, comparison), **of_sample(item.sample, more, comparison.criterion)}
    if item.verdict not in (None, last):
        yield {
            **dict.fromkeys(PAIR_COLUMNS),
            "id": item.id,
            "criterion": OVERALL,
            "verdict": item.verdict,
            "status": "ok",
            **of_sample(item.sample, more, OVERALL),
        }


def _row(id: str, comparison: Comparison) -> dict[str, Any]:
    return {"id": id, **{name: getattr(comparison, name) for name in PAIR_COLUMNS[1:]}}


# A run counted by groups of its samples: systems, documents, languages, whatever its data holds.


GROUP_COLUMNS = ("group", "samples", "criterion", "scale", "n", "ok", "mean", "sd", "labels")
PAIR_GROUP_COLUMNS = ("group", "n", "A", "B", "tie", "none")


def by_group(items: Iterable[Item], name: str) -> Table:
    """A row per group and criterion: how many answers, how many of them could be read, their mean.

    Columns: `group`: what `meta` (or the sample) holds under the name, "" where it holds nothing; `samples`: all of the
    group, those that failed too; `criterion`, None of a group without any answer; `scale`, None where a group's answers
    are on several; `n`: answers; `ok`: those that could be read; `mean` and `sd` (of a sample; None of fewer than two)
    of these numbers; `labels`: of labels, each with its count.

    Raises:
        ConfigError: "human": a judgement is of a criterion, and no group.
    """
    _refuse_human(name)
    found: dict[tuple[str, str], list[Score]] = {}
    samples: Counter[str] = Counter()
    for item in items:
        group = _group(item.sample, name)
        samples[group] += 1
        for score in answers_of(item):
            rival = " (rival)" if score.of == "rival" else ""
            found.setdefault((group, score.criterion + rival), []).append(score)
    rows = [
        {"samples": samples[group], **_counted(group, criterion, scores)}
        for (group, criterion), scores in found.items()
    ]
    without = samples.keys() - {group for group, _ in found}
    rows += [{"group": group, "samples": samples[group], "n": 0, "ok": 0} for group in without]
    rows.sort(key=lambda row: (row["group"], row.get("criterion") or ""))
    return Table(rows, GROUP_COLUMNS, "group")


def _refuse_human(name: str) -> None:
    if name == "human":
        raise ConfigError("group human: a judgement is of a criterion, and no group; as a column it can be had")


def _group(sample: Sample, name: str) -> str:
    value = _held(sample, name, "", ())
    return "" if value is None else str(value)


def _counted(group: str, criterion: str, scores: Sequence[Score]) -> dict[str, Any]:
    scales = {score.scale.unit for score in scores if score.scale is not None}
    numbers = [score.value for score in scores if score.status == "ok" and score.value is not None]
    labels = Counter(score.label for score in scores if score.status == "ok" and score.label is not None)
    alike = len(scales) <= 1  # numbers on several scales have no mean
    return {
        "group": group, "criterion": criterion, "scale": next(iter(scales)) if len(scales) == 1 else None,
        "n": len(scores), "ok": len(numbers) + labels.total(),
        "mean": math.fsum(numbers) / len(numbers) if numbers and alike else None,
        "sd": statistics.stdev(numbers) if len(numbers) > 1 and alike else None,
        "labels": ", ".join(f"{label} {count}" for label, count in labels.most_common()) or None,
    }  # fmt: skip


def pairs_by_group(items: Iterable[Item], name: str) -> Table:
    """A row per group: how many pairs were judged, and how many verdicts were A, B, a tie, or none; as `by_group`."""
    _refuse_human(name)
    found: dict[str, Counter[str]] = {}
    for item in items:
        if item.sample.rival is not None:
            found.setdefault(_group(item.sample, name), Counter())[item.verdict or "none"] += 1
    rows: list[dict[str, Any]] = [
        {"group": group, "n": count.total(), **{one: count[one] for one in PAIR_GROUP_COLUMNS[2:]}}
        for group, count in sorted(found.items())
    ]
    return Table(rows, PAIR_GROUP_COLUMNS, "group")


# Which assistant the plans of a run assigned to which criterion, and what came of asking it (Fusion-Eval, table 4).


ALIGNMENT = ("criterion", "assistant", "plans", "assigned", "consulted", "ok", "absent")
REASONS = 100  # of one pair: what is told is the most frequent


class Alignment:
    """Counts of what plans assigned, item by item; its memory does not grow with their number.

    Source: Shu et al. 2023, arXiv:2311.09204, table 4, which has a mark where the plan assigns.
    """

    def __init__(self) -> None:
        self._plans = 0
        self._criteria: dict[str, None] = {}
        self._offered: dict[str, None] = {}
        self._counts: dict[tuple[str, str], Counter[str]] = {}
        self._absent: dict[tuple[str, str], Counter[str]] = {}

    def add(self, item: Item) -> None:
        """Count an item, where it has a plan that could be read."""
        plan = item.plan
        if plan is None or plan.status != "ok":
            return
        self._plans += 1
        said = {finding.assistant: finding for finding in item.findings}
        self._criteria |= dict.fromkeys(plan.alignment)
        serving = (name for names in plan.alignment.values() for name in names)
        self._offered |= dict.fromkeys((*serving, *plan.usage, *said))
        for criterion, names in plan.alignment.items():
            for name in names:
                self._assigned((criterion, name), said.get(name))

    def _assigned(self, pair: tuple[str, str], finding: Finding | None) -> None:
        counts = self._counts.setdefault(pair, Counter())
        counts.update(["assigned"] + ["consulted"] * (finding is not None))
        if finding is not None and finding.status == "ok":
            counts["ok"] += 1
            return
        why = "not consulted" if finding is None else f"{finding.status}: {finding.reason}"
        reasons = self._absent.setdefault(pair, Counter())
        if why in reasons or len(reasons) < REASONS:
            reasons[why] += 1

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row for each criterion and assistant of the plans, assigned or not, in the order of the plans.

        Columns: `plans`, samples with a plan that could be read; `assigned`, in how many of them the plan names the
        assistant for the criterion; of those `consulted`, it was asked, and `ok`, it gave a value; `absent`: the most
        frequent reason why not, "" where it always did. An assistant that is offered and that no plan names has rows.
        """
        return [self._row((criterion, name)) for criterion in self._criteria for name in self._offered]

    def _row(self, pair: tuple[str, str]) -> dict[str, Any]:
        counts, why = self._counts.get(pair, Counter()), self._absent.get(pair, Counter())
        return {
            "criterion": pair[0], "assistant": pair[1], "plans": self._plans,
            **{name: counts[name] for name in ("assigned", "consulted", "ok")},
            "absent": why.most_common(1)[0][0] if why else "",
        }  # fmt: skip


# Less searching for garbage while a run is under way or read: what was there before it is not looked at again.


THRESHOLDS = (20_000, 20, 20)  # containers made between two searches: of the youngest, then so many of those, ...
_lock = threading.Lock()
_runs = 0
_before: tuple[int, int, int] | None = None


@contextmanager
def seldom() -> Generator[None]:
    """Within it Python's collector of reference cycles runs seldom, and leaves out what was there when it began.

    Every call makes thousands of short-lived objects, so that with Python's own settings the collector walks through
    all imported modules some hundred times a minute: a quarter of a run's CPU. Runs may overlap; the last one to end
    puts things back. A collector that its owner switched off, froze or made still rarer is left as it is.
    """
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    global _runs, _before
    with _lock:
        _runs += 1
        if _runs > 1 or not gc.isenabled() or not 0 < gc.get_threshold()[0] < THRESHOLDS[0] or gc.get_freeze_count():
            return
        _before = gc.get_threshold()
        gc.freeze()
        gc.set_threshold(*THRESHOLDS)


def _leave() -> None:
    global _runs, _before
    with _lock:
        _runs -= 1
        if _runs or _before is None:
            return
        if gc.get_threshold() == THRESHOLDS:  # else somebody set it since
            gc.set_threshold(*_before)
        gc.unfreeze()
        _before = None
