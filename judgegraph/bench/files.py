"""A collection and its files: checked rows, published figures, the collections by name."""

from __future__ import annotations

import gzip
import importlib
import json
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from judgegraph.errors import ConfigError, DataError, ValueRefused, one_line
from judgegraph.meta.cells import Judgements
from judgegraph.stats.correlation import Coefficient
from judgegraph.types import Sample, Verdict

# Verdicts of pairs as collections spell them, made into ours.


Read = TypeVar("Read", Verdict, Verdict | None)
OVERALL = "overall"  # people compared the responses as wholes
SWAPPED: dict[Verdict, Verdict] = {"A": "B", "B": "A", "tie": "tie"}


def verdict_of(row: Mapping[str, Any], key: str, where: str, words: Mapping[str, Read]) -> Read:
    """The verdict under a key, by its spelling.

    Raises:
        DataError: no such key, or none of the spellings.
    """
    value = row.get(key)
    spelt = str(value) if key in row and not isinstance(value, bool | float) else ""
    if spelt in words:
        return words[spelt]
    got = "nothing" if key not in row else one_line(repr(value), 40)
    raise DataError(f"{where}, key {key!r}: expected one of {', '.join(words)}; got {got}")


def as_long(rows: Sequence[object], other: Sequence[object], where: str, than: str) -> None:
    """Two files whose rows belong together, one by one.

    Raises:
        DataError: one has more rows.
    """
    if len(rows) != len(other):
        raise DataError(f"{where}: {len(rows)} rows, but {len(other)} in {than}; they belong together one by one")


LARGEST = 1 << 29  # bytes of a file when unpacked: more is no collection that we know
LARGEST_NUMBER = 1e300  # nan is no smaller, and a whole number may be too long for a float
Kind = TypeVar("Kind")
_KINDS = {str: "text", dict: "an object", list: "a list", bool: "true or false"}


def stored(path: Path) -> Path | None:
    """The file as it lies there: with or without ".gz"; None where there is neither."""
    other = path.with_suffix("") if path.suffix == ".gz" else path.with_name(path.name + ".gz")
    return next((found for found in (path, other) if found.is_file()), None)


def present(path: Path) -> bool:
    """Whether there is such a file, with or without ".gz"."""
    return stored(path) is not None


def read_text(path: Path) -> str:
    """A file's text, unpacked where its name ends in ".gz".

    Raises:
        DataError: no such file, one that cannot be unpacked, or is no UTF-8 text.
    """
    found = stored(path)
    if found is None:
        raise DataError(
            f"no {path}; `judgegraph bench` lists the files of each collection, and where the originals are"
        )
    try:
        with gzip.open(found) if found.suffix == ".gz" else found.open("rb") as file:
            raw = file.read(LARGEST + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{found}: cannot be read: {one_line(error)}") from None
    if len(raw) > LARGEST:
        raise DataError(f"{found}: larger than {LARGEST >> 20} MiB; expected a file of the collection")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise DataError(f"{found}, line {line}: no UTF-8 text; a pickle is never read, save it as JSON") from None


def read_json(path: Path) -> Any:
    """The one JSON value of a file.

    Raises:
        DataError: as `read_text` does, or no JSON; with line and column.
    """
    return _parsed(read_text(path), str(stored(path) or path), 1)


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a file of JSON lines; empty lines are passed over.

    Raises:
        DataError: as `read_text` does, or a line that is no JSON object.
    """
    rows, name = [], str(stored(path) or path)
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if line.strip():
            row = _parsed(line, name, number)
            if not isinstance(row, dict):
                raise DataError(f"{name}, line {number}: expected a JSON object, got {type(row).__name__}")
            rows.append(row)
    return rows


def _parsed(text: str, name: str, line: int) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        at = f"line {line + error.lineno - 1}, column {error.colno}"
        raise DataError(f"{name}, {at}: no JSON: {error.msg}") from None
    except (RecursionError, ValueError) as error:
        raise DataError(f"{name}, line {line}: no JSON that we read: {one_line(error, 80)}") from None


def rows_of(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """Place and object of each row of a JSON list, or of each value of a JSON object.

    Raises:
        DataError: as `read_json` does, or the file holds something else.
    """
    whole, name = read_json(path), str(stored(path) or path)
    if isinstance(whole, Mapping):
        pairs = [(f"{name}, {one_line(key, 60)!r}", row) for key, row in whole.items()]
    elif isinstance(whole, list):
        pairs = [(f"{name}, item {number}", row) for number, row in enumerate(whole, 1)]
    else:
        raise DataError(f"{name}: expected a list of objects, got {type(whole).__name__}")
    for where, row in pairs:
        if not isinstance(row, dict):
            raise DataError(f"{where}: expected an object, got {type(row).__name__}")
    return pairs


def distinct(path: Path, ids: Iterable[tuple[str, str]]) -> None:
    """Refuses two rows of one id.

    Args:
        ids: of each row its place, for messages, and its id.

    Raises:
        DataError: there are two; with file and both places.
    """
    seen: dict[str, str] = {}
    for where, id in ids:
        if (first := seen.setdefault(id, where)) != where:
            name, here = one_line(id, 60), where.rpartition(", ")[2]
            raise DataError(
                f"{stored(path) or path}, {here}: the id '{name}' again, as {first.rpartition(', ')[2]} has it; "
                "keep one of the two rows"
            )


def field(row: Mapping[str, Any], key: str, where: str, kind: type[Kind]) -> Kind:
    """The value of a key, of the kind that it has to be.

    Raises:
        DataError: no such key, or another kind of value.
    """
    value = row.get(key)
    if isinstance(value, kind):
        return value
    got = "nothing" if key not in row else type(value).__name__
    raise DataError(f"{where}, key {key!r}: expected {_KINDS.get(kind, kind.__name__)}, got {got}")


def number(row: Mapping[str, Any], key: str, where: str) -> float:
    """The finite number of a key.

    Raises:
        DataError: no such key, or no finite number.
    """
    value = row.get(key)
    fits = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST_NUMBER
    if not fits:
        got = "nothing" if key not in row else one_line(repr(value), 40)
        raise DataError(f"{where}, key {key!r}: expected a finite number, got {got}")
    return float(value)  # type: ignore[arg-type]  # `fits` has seen to it


def numbers(row: Mapping[str, Any], key: str, where: str, names: Sequence[str]) -> dict[str, float]:
    """The named numbers of an object under a key."""
    held = field(row, key, where, dict)
    return {name: number(held, name, f"{where}, {key}") for name in names}


def sample_of(where: str, **fields: Any) -> Sample:
    """A sample of what a row holds.

    Raises:
        DataError: the values make none.
    """
    try:
        return Sample(**fields)
    except ValueRefused as error:
        first = error.errors()[0]
        raise DataError(f"{where}: no sample: {'.'.join(map(str, first['loc']))}: {one_line(first['msg'])}") from None


# A collection: where its files lie, how they become samples, what recorded judges said, what was published.


@dataclass(frozen=True)
class Published:
    """One published figure.

    Attributes:
        judge: as the paper names it. criterion: in our spelling. statistic: a coefficient's name, "accuracy", ...
        value: as printed, shares from 0 to 1. level: "dataset", "group", "system", "" where it has none.
        source: paper and table, or repository and file.
        digits: behind the point, as printed: ours is equal where it rounds to `value` at that.
    """

    judge: str
    criterion: str
    statistic: str
    value: float
    source: str
    level: str = ""
    digits: int = 3


@dataclass(frozen=True)
class Collection:
    """One benchmark.

    Attributes:
        name: on the command line. title: as its authors call it.
        origin: where the originals are, and their licence as it is stated there.
        files: that are looked for in the collection's folder; any of them may be missing but the first. A name
            stands for itself and for itself with or without ".gz".
        folder: that holds them below the folder of collections; "" where it is called like the collection.
        criteria: name of a criteria set, or of its criteria the ones that people judged.
        preset: the conventions of the paper whose table is printed.
        samples: folder -> samples with `human`; `meta["group"]` and `meta["system"]` where there are some.
        recorded: folder -> recorded judges as metrics, one Judgements per criterion (and per set of items, where
            judges saw different ones, told apart by the key: a line above the table, "" where there is one set).
            A metric that was published is called as `Published.judge` calls it.
        authors: the same, read by the authors' own rules, where these are other than ours.
        published: figures to print beside ours.
        items: what there is in it, such as "1,600 summaries of 100 articles by 16 systems".
        method: that is run where none is named, and settings: KEY=VALUE, with which it is.
        judges: who gave the scores that all is held against, in the plural.
        alone: the annotator whom a published figure is held against alone, where the preset takes several together:
            rows against him are printed too; None where there is no such figure.
        notes: what to know beside the table, such as scales that differ.
        columns: of the table: its criteria, or, where one is judged in several sets (`meta["group"]`), these sets; with
            "headings" there is a table for each set.
        statistics: that are printed, () for all.
        baselines: criterion -> judge that looks at nothing -> sample -> its answer, to be held beside a run;
            baseline_names: what these judges are called. chance: what drawing at random reaches, in a sentence.
    """

    name: str
    title: str
    origin: str
    files: tuple[str, ...]
    criteria: str
    preset: str
    samples: Callable[[Path], Iterable[Sample]]
    recorded: Callable[[Path], Mapping[str, list[Judgements]]]
    published: tuple[Published, ...] = ()
    authors: Callable[[Path], Mapping[str, list[Judgements]]] | None = None
    folder: str = ""
    items: str = ""
    method: str = "g-eval"
    settings: tuple[str, ...] = ()
    judges: str = "people"
    alone: int | None = None
    notes: tuple[str, ...] = ()
    columns: Literal["criteria", "groups", "headings"] = "criteria"
    statistics: tuple[str, ...] = ()
    baselines: Callable[[Sequence[Sample]], Mapping[str, Mapping[str, Mapping[str, str]]]] | None = None
    baseline_names: tuple[str, ...] = ()
    chance: Callable[[Sequence[Sample]], str] | None = None


# Result files as UniEval's authors publish them: a row for each output, with people's scores and UniEval's.


JUDGE = "UniEval"
TRIPLE: tuple[Coefficient, ...] = ("pearson", "spearman", "kendall-b")


@dataclass(frozen=True)
class ResultRow:
    """One output.

    Attributes:
        where: file and item, for messages. id: unique in its file. group, system: "" where there is none.
        texts: what the row holds of `source`, `context`, `reference`, `system_output`.
        human, predicted: criterion in our spelling -> score; predicted is {} where the file has none.
    """

    where: str
    id: str
    group: str
    system: str
    texts: dict[str, str]
    human: dict[str, float]
    predicted: dict[str, float]


def read_results(path: Path, criteria: Mapping[str, str], texts: Sequence[str], *, systems: bool) -> list[ResultRow]:
    """The rows of a result file, in its order.

    Args:
        criteria: a score's key in the file -> our spelling. texts: the keys of texts that each row must have.
        systems: whether the rows are of several systems' outputs for one source; then they are told apart by both.

    Raises:
        DataError: a broken file, a key missing, two rows of one id; with file, item and key.
    """
    found: list[ResultRow] = []
    groups: dict[str, str] = {}
    seen: dict[str, str] = {}
    for where, row in rows_of(path):
        held = {key: field(row, key, where, str) for key in texts}
        group = groups.setdefault(held["source"], str(len(groups)))
        system = field(row, "system_id", where, str) if systems else ""
        id = f"{group}/{system}" if systems else _name(row, where)
        if first := seen.get(id):
            raise DataError(f"{where}: the same source and system, or id, as {first}")
        seen[id] = where
        human = numbers(row, "scores", where, tuple(criteria))
        predicted = numbers(row, "predict_scores", where, tuple(criteria)) if "predict_scores" in row else {}
        named = [{criteria[key]: value for key, value in side.items()} for side in (human, predicted)]
        found.append(ResultRow(where, id, group, system, held, *named))
    if not found:
        raise DataError(f"{path}: holds no rows; expected one for each output")
    return found


def judged_by_unieval(rows: Sequence[ResultRow], *, grouped: bool = True) -> list[Judgements]:
    """UniEval's scores beside people's, one for each criterion; [] where the file has none of them."""
    if not all(row.predicted for row in rows):
        return []
    systems = tuple(row.system for row in rows)
    return [
        Judgements(
            criterion=name, kind="number", ids=tuple(row.id for row in rows),
            human=tuple((row.human[name],) for row in rows),
            metrics={JUDGE: tuple(row.predicted[name] for row in rows)},
            groups=tuple(row.group for row in rows) if grouped else None,
            systems=systems if any(systems) else None,
        )
        for name in rows[0].human
    ]  # fmt: skip


def unieval_published(table: Mapping[str, tuple[float, float, float]]) -> tuple[Published, ...]:
    """UniEval's README: criterion -> Pearson, Spearman, Kendall over all outputs, to six digits."""
    source = "UniEval, README of maszhongming/UniEval (reproduce)"
    return tuple(
        Published(JUDGE, name, statistic, value, source, "dataset", 6)
        for name, values in table.items()
        for statistic, value in zip(TRIPLE, values, strict=True)
    )


def _name(row: Mapping[str, Any], where: str) -> str:
    """A row's own id, a text or a whole number."""
    held = row.get("doc_id")
    return str(held) if isinstance(held, int) and not isinstance(held, bool) else field(row, "doc_id", where, str)


# The collections by name, each imported when it is wanted.


COLLECTIONS = {  # name -> module with its COLLECTION, or with several by name as COLLECTIONS
    "summeval": "judgegraph.bench.summeval",
    "topical_chat": "judgegraph.bench.topical_chat",
    "openmeva": "judgegraph.bench.openmeva",
    "bagel": "judgegraph.bench.unieval",
    "sfres": "judgegraph.bench.unieval",
    "qags": "judgegraph.bench.unieval",
    "llmbar": "judgegraph.bench.llmbar",
    "pandalm": "judgegraph.bench.pandalm",
    "autoj": "judgegraph.bench.autoj",
    "prometheus": "judgegraph.bench.prometheus",
    "mateval": "judgegraph.bench.mateval",
    "llm_rubric": "judgegraph.bench.llm_rubric",
    "whoandwhen": "judgegraph.bench.whoandwhen",
}


def collection(name: str) -> Collection:
    """A collection by its name; case, "-" and "_" do not matter.

    Raises:
        ConfigError: there is none of that name.
    """
    wanted = _bare(name)
    known = next((one for one in COLLECTIONS if _bare(one) == wanted), None)
    if known is None:
        raise ConfigError(f"no collection {one_line(name, 60)!r}; known: {', '.join(COLLECTIONS)}")
    module = importlib.import_module(COLLECTIONS[known])
    made: Collection = module.COLLECTIONS[known] if hasattr(module, "COLLECTIONS") else module.COLLECTION
    return made


def folder_of(data: Path, known: Collection) -> Path:
    """The collection's own folder: `data` itself, or below it.

    Raises:
        DataError: none of the collection's files is there.
    """
    places = dict.fromkeys((data / (known.folder or known.name), data / known.name, data))
    for place in places:
        if any(present(place / name) for name in known.files):
            return place
    where = " or ".join(str(place) for place in places)
    raise DataError(f"{known.title}: no {known.files[0]} in {where}; the original is {known.origin}; see docs/bench.md")


def _bare(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "").replace(" ", "")
