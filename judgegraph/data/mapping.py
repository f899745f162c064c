"""Which column of a file is meant for which field of a sample: proposed by names, and by what stands in the columns."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from judgegraph.data.load import READERS, format_of
from judgegraph.data.samples import NAMES, Fault, likely_column
from judgegraph.errors import DataError, one_line

ROWS = 200  # looked at
SIDES = (("a", "b"), ("1", "2"), ("one", "two"), ("left", "right"))
RATED = re.compile(  # what stands before a criterion's name in a column of judgements, and behind it
    r"\A(?:(?:human|people|gold|expert|annotator|annotation|crowd)[ _.-]?)?(?:(?:scores?|ratings?|labels?)[ _.-])?"
    r"|[ _.-](?:scores?|ratings?|labels?)\Z",
    re.I,
)
RATING = re.compile(r"(?:\A|[ _.-])(?:score|rating|label|grade|verdict|likert|quality)s?(?:\Z|[ _.-])", re.I)
LONG = 20  # characters: a column of texts that are longer on average may hold outputs


@dataclass(frozen=True)
class ColumnMapping:
    """What is proposed for a file.

    Attributes:
        rows: that were looked at. columns: of the file, in their order. fields: a sample's field, or "human.NAME" ->
            its column. guessed: fields for which no name spoke. examples: column -> what stands in its first row.
    """

    rows: int
    columns: tuple[str, ...]
    fields: Mapping[str, str]
    guessed: frozenset[str]
    examples: Mapping[str, str]

    @property
    def options(self) -> list[str]:
        """The -f options of a command; fields whose columns have their names need none."""
        told = [f"{field}={column}" for field, column in self.fields.items() if field != column]
        return [word for one in told for word in ("-f", one)]

    @property
    def is_of_pairs(self) -> bool:
        """Each row has two outputs."""
        return "rival" in self.fields

    def criteria(self, sets: Mapping[str, Sequence[str]]) -> str:
        """Of criteria sets, name -> its criteria, the one that people judged by, else by what the rows hold."""
        judged = {field.partition(".")[2].casefold() for field in self.fields if field.startswith("human.")}
        hits = {name: len(judged & {one.casefold() for one in held}) for name, held in sets.items()}
        source = self.fields.get("source", "")
        asked = self.examples.get(self.fields.get("query", ""), "")
        about = re.search(r"article|document", source, re.I) or re.search(r"\bsummar", asked, re.I)
        usual = "summary" if about else "general"
        best = max(hits, key=lambda name: (hits[name], name == usual), default=usual)
        return best if hits.get(best) else usual


def proposed_mapping(path: Path) -> ColumnMapping:
    """Of a data file, from its first rows.

    Raises:
        DataError: it cannot be read, has no row, or no column that may be what is judged.
    """
    rows: list[dict[str, Any]] = []
    for _, row in READERS[format_of(path)](path):
        if not isinstance(row, Fault):
            rows.append(row)
        if len(rows) >= ROWS:
            break
    if not rows:
        raise DataError(f"{one_line(path)} has no row that can be read")
    columns = tuple(dict.fromkeys(key for row in rows for key in row))
    fields = _named(columns)
    guessed = set[str]()
    if "output" not in fields and (longest := _longest(rows, [c for c in columns if c not in fields.values()])):
        fields["output"] = longest
        guessed.add("output")
    if "output" not in fields:
        listed = one_line(", ".join(columns), 200)
        raise DataError(f"{one_line(path)}: no column may be what is judged (output); there are {listed}")
    fields |= _judged(rows, [column for column in columns if column not in fields.values()])
    examples = {column: one_line(rows[0].get(column, ""), 60) for column in columns}
    order = ("id", "query", "source", "output", "rival", "reference")
    known = {name: fields[name] for name in order if name in fields}
    return ColumnMapping(len(rows), columns, {**known, **fields}, frozenset(guessed), examples)


def _named(columns: Sequence[str]) -> dict[str, str]:
    """Fields by the names of columns; of two outputs the first is the output, the other its rival."""
    found = _sides(columns)
    for field in NAMES:
        left = [column for column in columns if column not in found.values()]
        if field not in found and (column := likely_column(field, left)):
            found[field] = column
    if "rival" in columns:
        found["rival"] = "rival"
    return found


def _sides(columns: Sequence[str]) -> dict[str, str]:
    """The two outputs of pairs: response_a and response_b, chosen and rejected."""
    folded = {re.sub(r"[\W_]", "", column).casefold(): column for column in columns}
    if {"chosen", "rejected"} <= folded.keys():
        return {"output": folded["chosen"], "rival": folded["rejected"]}
    for stem in (*NAMES["output"], "model", "assistant", "text"):
        for first, second in SIDES:
            if f"{stem}{first}" in folded and f"{stem}{second}" in folded:
                return {"output": folded[f"{stem}{first}"], "rival": folded[f"{stem}{second}"]}
    return {}


def _longest(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """The column with the longest texts on average, "" where none are long."""
    lengths = {column: fmean(len(str(row.get(column) or "")) for row in rows) for column in columns}
    best = max(lengths, key=lambda column: lengths[column], default="")
    return best if best and lengths[best] >= LONG else ""


def _judged(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> dict[str, str]:
    """Columns of people's judgements, as "human.NAME": called so, or a rating by name, with numbers or few words."""
    found = {}
    for column in columns:
        values = [row.get(column) for row in rows if row.get(column) not in (None, "")]
        name = RATED.sub("", column.strip()) or column.strip()
        told = name != column.strip() or RATING.search(column) is not None
        if column != "human" and not column.startswith("human.") and told and values and _are_ratings(values):
            found[f"human.{name}"] = column
    return found


def _are_ratings(values: Sequence[Any]) -> bool:
    """Numbers, or a handful of short words that come again."""
    texts = [str(value).strip() for value in values if not isinstance(value, Mapping | list)]
    numbers = sum(re.fullmatch(r"-?\d{1,3}(?:\.\d+)?", text) is not None for text in texts)
    few = len(set(texts)) <= max(2, min(12, len(texts) // 2)) and all(len(text) <= 30 for text in texts)
    return len(texts) == len(values) and (numbers >= 0.8 * len(texts) or few)


def run_command(path: str, found: ColumnMapping, criteria: str) -> list[str]:
    """The first lines to try: three samples of a method that fits, then what a whole run would take."""
    method = "fennec" if found.is_of_pairs else "sageval"
    more = ["-s", "orders=both"] if found.is_of_pairs else ["-c", criteria]
    words = [method, path, *more, *found.options]
    return [shlex.join(["judgegraph", "run", *words, "--limit", "3"]), shlex.join(["judgegraph", "plan", *words])]
