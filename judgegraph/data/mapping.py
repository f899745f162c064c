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
HINTS: Mapping[str, frozenset[str]] = {  # field -> words of a column's name that speak for it
    "output": frozenset(("reply", "answer", "response", "output", "completion", "translation")),
    "query": frozenset(("asked", "question", "query", "prompt", "request", "inquiry", "enquiry")),
    "source": frozenset(("source", "article", "document", "context", "passage", "grounds", "transcript")),
}  # fmt: skip
EXPECTED = frozenset(("gold", "reference", "expected", "ideal", "correct", "target"))  # of an answer: no output
NUMBERED = frozenset(("id", "ticket", "number", "no", "nr", "case", "key", "ref"))  # of a column of numbers: an id
MEASURED = re.compile(  # what a column of numbers may be beside a judgement
    r"len|token|word|char|sec|time|latency|duration|cost|usd|price|count|total|year|date|age|turn|step|version|index|rank"
    r"|row|page|model|temp|seed|prob|confidence|size|amount|ms\b|\bn\b|num|\bid\b", re.I,
)  # fmt: skip
RANGE = re.compile(r"[\s,;:(\[]*\d+\s*[-\u2013/]\s*\d+[)\]\s]*\Z")  # of a scale, at the end of a name: ", 0-100"
RATED = re.compile(  # what stands before a criterion's name in a column of judgements, and behind it
    r"\A(?:(?:human|people|gold|expert|annotator|annotation|crowd)[ _.-]?)?(?:(?:scores?|ratings?|labels?)[ _.-])?"
    r"|[ _.-](?:scores?|ratings?|labels?)\Z",
    re.I,
)
RATING = re.compile(r"(?<![^\W_])(?:score|rating|label|grade|verdict|likert|quality|stars)s?(?![^\W_])", re.I)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
LONG = 20  # characters: a column of texts that are longer on average may hold outputs


@dataclass(frozen=True)
class ColumnMapping:
    """What is proposed for a file.

    Attributes:
        rows: that were looked at. columns: of the file, in their order. fields: a sample's field, or "human.NAME" ->
            its column. guessed: fields for which no name spoke -> what did. examples: column -> what stands in its
            first row.
    """

    rows: int
    columns: tuple[str, ...]
    fields: Mapping[str, str]
    guessed: Mapping[str, str]
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
        of_text = re.search(r"article|document", source, re.I) and not asked.rstrip().endswith("?")
        about = of_text or re.search(r"\bsummar", asked, re.I)
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
    guessed: dict[str, str] = {}
    for field in HINTS:
        if field not in fields and (column := _hinted(field, rows, _left(columns, fields))):
            fields[field] = column
    if "output" not in fields and (longest := _longest(rows, _left(columns, fields))):
        fields["output"], guessed["output"] = longest, "its texts are the longest"
    if "id" not in fields and (column := _id(rows, _left(columns, fields))):
        fields["id"], guessed["id"] = column, "no two rows have the same"
    if "output" not in fields:
        listed = one_line(", ".join(columns), 200)
        raise DataError(f"{one_line(path)}: no column may be what is judged (output); there are {listed}")
    judged = _judged(rows, _left(columns, fields))
    if not judged and (numbers := _numbers(rows, _left(columns, fields))):
        name = _bare(numbers)
        judged = {f"human.{name}": numbers}
        guessed[f"human.{name}"] = "numbers on a scale"
    fields |= judged
    if "source" not in fields and (column := _repeated(rows, _left(columns, fields))):
        fields["source"], guessed["source"] = column, "its long texts come again"
    examples = {column: one_line(rows[0].get(column, ""), 60) for column in columns}
    order = ("id", "query", "source", "output", "rival", "reference")
    known = {name: fields[name] for name in order if name in fields}
    return ColumnMapping(len(rows), columns, {**known, **fields}, guessed, examples)


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


def _left(columns: Sequence[str], fields: Mapping[str, str]) -> list[str]:
    """The columns that are no field yet, and are not people's by their name."""
    return [c for c in columns if c not in fields.values() and c != "human" and not c.startswith("human.")]


def _values(rows: Sequence[Mapping[str, Any]], column: str) -> list[str]:
    """What stands in a column, as texts."""
    return [str(row[column]).strip() for row in rows if row.get(column) not in (None, "")]


def _is_repeated(rows: Sequence[Mapping[str, Any]], column: str) -> bool:
    """Its values come again and again, as those of a source with several outputs do."""
    values = _values(rows, column)
    return len(values) > 1 and 2 * len(set(values)) <= len(values)


def _words(column: str) -> set[str]:
    return set(re.findall(r"[^\W\d_]+", column.casefold()))


def _hinted(field: str, rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """The column of texts in whose name a word speaks for a field; of several one whose values differ."""
    found = [column for column in columns if _words(column) & HINTS[field] and not _words(column) & EXPECTED]
    found = [column for column in found if not all(map(NUMBER.fullmatch, _values(rows, column)))]
    return min(found, key=lambda column: _is_repeated(rows, column), default="")


def _id(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """A column with another short word in every row; of plain numbers only where its name says so."""
    for column in columns:
        values = _values(rows, column)
        plain = all(map(NUMBER.fullmatch, values))
        named = bool(_words(column) & NUMBERED) or "#" in column
        unique = len(rows) > 1 and len(set(values)) == len(rows)
        if unique and all(re.fullmatch(r"\S{1,40}", value) for value in values) and (named or not plain):
            return column
    return ""


def _numbers(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """A column of numbers from 0 to 100 that is nothing else by its name, and in which some come again."""
    for column in columns:
        values = _values(rows, column)
        found = [float(value) for value in values if re.fullmatch(r"\d{1,3}(?:\.\d+)?", value)]
        few = len(values) >= 5 and 1 < len(set(found)) < len(found)
        if few and len(found) >= 0.8 * len(values) and max(found) <= 100 and not MEASURED.search(column):
            return column
    return ""


def _repeated(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """The column with the longest texts among those that come again."""
    return _longest(rows, [column for column in columns if len(rows) > 3 and _is_repeated(rows, column)])


def _longest(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """The column with the longest texts on average, "" where none are long; texts that come again are no outputs."""
    lengths = {column: fmean(len(str(row.get(column) or "")) for row in rows) for column in columns}
    own = {c: length for c, length in lengths.items() if length >= LONG and not _is_repeated(rows, c)}
    lengths = own or lengths
    best = max(lengths, key=lambda column: lengths[column], default="")
    return best if best and lengths[best] >= LONG else ""


def _judged(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> dict[str, str]:
    """Columns of people's judgements, as "human.NAME": called so, or a rating by name, with numbers or few words."""
    found = {}
    for column in columns:
        values = [row.get(column) for row in rows if row.get(column) not in (None, "")]
        name = _bare(column)
        told = RATED.sub("", column.strip()) != column.strip() or RATING.search(column) is not None
        if column != "human" and not column.startswith("human.") and told and values and _are_ratings(values):
            found[f"human.{name}"] = column
    return found


def _bare(column: str) -> str:
    """The name of what is judged: "human_fluency" is of fluency, "QA score, 0-100" of QA."""
    name = RANGE.sub("", column.strip()) or column.strip()
    return RATED.sub("", name) or name


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
