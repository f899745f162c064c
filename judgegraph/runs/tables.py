"""Tables of a run: its scores and comparisons as rows, with what their samples hold, or counted by group."""

from __future__ import annotations

import csv
import json
import math
import os
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgegraph.answers import answers_of, roles_of
from judgegraph.data.samples import COLUMNS, PAIR_COLUMNS, marked
from judgegraph.errors import ConfigError, ExtraError, one_line
from judgegraph.runs.folder import write_lines
from judgegraph.runs.item import Item
from judgegraph.shown import Shown
from judgegraph.types import Comparison, Sample, Score, Verdict, text_of

if TYPE_CHECKING:
    import pandas

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


def rows_of(item: Item, more: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """A row for each score of a sample; `role` says what it is: "answer", "vote", "draft" (`judgegraph.answers`).

    Args:
        more: columns of its sample behind these, as `of_sample` knows them.
    """
    roles = roles_of(item)
    for score in item.scores:
        own = of_sample(item.sample, more, score.criterion) if more else {}
        yield {**row_of(item.id, score, roles[score.key]), **own}


def of_sample(sample: Sample, names: Iterable[str], criterion: str = "") -> dict[str, Any]:
    """What a sample holds under each name; None where it holds nothing.

    Args:
        names: "query", "source", "output", "rival", "reference"; "human": people's judgement by the criterion, of
            several numbers their mean; any other is a key of `meta`, such as "system" or "group".
    """
    return {name: _held(sample, name, criterion) for name in names}


def _held(sample: Sample, name: str, criterion: str) -> Any:
    if name == "human":
        return _human(sample.human.get(criterion))
    if name in TEXTS:
        text = getattr(sample, name)
        return text_of(text) if text else None
    if name in BESIDE and getattr(sample, name):
        return sample.shown_evidence().get(name)
    value = sample.meta.get(name)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def _human(value: Any) -> Any:
    """One judgement: the mean of several numbers; labels that differ stand beside one another."""
    given = [one for one in value if one is not None] if isinstance(value, list | tuple) else [value]
    if given and all(isinstance(one, int | float) and not isinstance(one, bool) for one in given):
        return statistics.fmean(given)
    return " / ".join(dict.fromkeys(map(str, given))) if given != [None] and given else None


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
    return write_lines(path, _lines(rows, columns), end="") - 1


class _Echo:
    """A file that gives back what is written to it."""

    def write(self, text: str) -> str:
        return text


def _lines(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> Iterator[str]:
    """The head and the rows as RFC 4180 has them; without the mark before them Excel takes UTF-8 for another code."""
    line = csv.writer(_Echo(), lineterminator="\r\n").writerow
    yield f"\ufeff{line(map(marked, columns))}"
    for row in rows:
        yield str(line(marked(cell) if isinstance(cell, str) else cell for cell in map(row.get, columns)))


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
    value = _held(sample, name, "")
    return "" if value is None else str(value)


def _counted(group: str, criterion: str, scores: Sequence[Score]) -> dict[str, Any]:
    scales = {str(score.scale) for score in scores if score.scale is not None}
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
