"""The judgements of people and of metrics: in a run, its samples' beside its agents', or in any table."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import Any

from judgegraph.data.samples import ABSENT, UNTRUSTED, Fault, column_list, grouping_value, plain, value_at
from judgegraph.errors import ConfigError, DataError, handing_on, one_line
from judgegraph.meta.answers import ItemAnswers, answers_in, join_answers, listed, notes, refuse_other, strange
from judgegraph.meta.cells import (
    OVER_ALL,
    OVERALL,
    SWAPPED,
    Answer,
    Columns,
    Judgements,
    Kind,
    Unjudged,
    answer,
    asked_of,
    empty,
    first_of_each,
    is_given,
    kind_of,
    known_labels,
    near,
    refuse_unknown,
    verdict_words,
    width,
    word,
)
from judgegraph.runs.item import Item
from judgegraph.runs.run import Run
from judgegraph.types import Criterion, Sample, Scale, Verdict, names_of

# People's judgements and metrics from any table: CSV, TSV, JSON, JSON Lines or Parquet.


# What stands in a table or a run, before it is known to be numbers, labels or verdicts.


UNSAID = math.nan  # an annotator's place that is empty


@dataclass
class Raw:
    """One criterion, cell by cell; all lists are of equal length.

    Attributes:
        source: what messages begin with. places: where each item stands, for messages.
        human: per item one cell per annotator. statuses: of metrics whose cells do not tell why they are empty.
    """

    criterion: str
    source: str
    places: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    human: list[list[Any]] = field(default_factory=list)
    metrics: dict[str, list[Any]] = field(default_factory=dict)
    exchanged: dict[str, list[Any]] = field(default_factory=dict)
    statuses: dict[str, list[str]] = field(default_factory=dict)
    groups: list[str] | None = None
    systems: list[str] | None = None

    def judgements(
        self, kind: Kind | None = None, verdicts: Mapping[str, Verdict] | None = None, order: Sequence[str] = (),
        swap_back: bool = False,
    ) -> Judgements:  # fmt: skip
        """As answers.

        Raises:
            DataError: a judgement of people that cannot be read, with its place.
            ConfigError: it cannot be told what the answers are.
        """
        where = f"{self.source}, {one_line(self.criterion, 60)}" if self.criterion else self.source
        given = verdicts or {}
        found = kind or self._kind(bool(given), bool(order), where)
        words = self._words(found, given, order, where)

        def read(cell: Any) -> Answer | None:
            found_answer = answer(cell, found, words)
            return None if order and found == "label" and found_answer not in words.values() else found_answer

        human = tuple(self._human(found, read, words))
        metrics = {name: tuple(map(read, cells)) for name, cells in self.metrics.items()}
        for name, answers in metrics.items():
            refuse_other(name, self.metrics[name], answers, found, words, self.places, where)
        exchanged = {name: tuple(map(read, cells)) for name, cells in self.exchanged.items()}
        if swap_back:
            exchanged = {m: tuple(a and SWAPPED.get(a, a) for a in answers) for m, answers in exchanged.items()}
        statuses = {name: self._statuses(name, answers, words) for name, answers in metrics.items()}
        return Judgements(
            criterion=self.criterion, kind=found, ids=tuple(self.ids), human=human, metrics=metrics,
            exchanged=exchanged, statuses=statuses, groups=None if self.groups is None else tuple(self.groups),
            systems=None if self.systems is None else tuple(self.systems),
            label_order=tuple(map(str, words.values())) if order else (), notes=self._notes(found, order, words),
        )  # fmt: skip

    def _kind(self, verdicts: bool, order: bool, where: str) -> Kind:
        if verdicts or self.exchanged:
            return "verdict"
        return "label" if order else self.kind_of_people(where)

    def kind_of_people(self, where: str, *, of_run: bool = False) -> Kind:
        """What people's cells are, by how they are written; ConfigError where that cannot be told."""
        cells = ((cell, place) for place, cells in zip(self.places, self.human, strict=True) for cell in cells)
        return kind_of(cells, where, of_run=of_run)

    def _people(self) -> Iterator[Any]:
        return (cell for cells in self.human for cell in cells)

    def _words(
        self, kind: Kind, given: Mapping[str, Verdict], order: Sequence[str], where: str
    ) -> dict[str, Answer]:  # fmt: skip
        if order and kind != "label":
            raise ConfigError(f"{where}: an order is of labels, and these are {kind}s")
        if kind == "verdict":
            read = [cell for cells in (*self.metrics.values(), *self.exchanged.values()) for cell in cells]
            return verdict_words(given, [*self._people(), *read], where)
        if kind == "label":
            return known_labels(order, self._people())
        if given:
            raise ConfigError(f"{where}: words are of verdicts, and these are numbers")
        return {}

    def _human(
        self, kind: Kind, read: Callable[[Any], Answer | None], words: Mapping[str, Answer]
    ) -> Iterator[tuple[Answer, ...]]:  # fmt: skip
        for place, cells in zip(self.places, self.human, strict=True):
            found = [read(cell) if is_given(cell, words) else UNSAID for cell in cells]
            if None in found:
                cell = one_line(cells[found.index(None)], 40)
                known = {"number": "a number", "label": listed(words)}.get(kind)
                wanted = known or "A, B, tie or the like (--verdicts A=WORD, or B=WORD, tie=WORD, says more words)"
                of = f" by {one_line(self.criterion, 60)}" if self.criterion else ""
                cure = "mend it in the data, or leave it empty"
                raise DataError(f"{place}: people's judgement '{cell}'{of} cannot be read; expected {wanted}; {cure}")
            judged = any(value is not UNSAID for value in found)
            yield tuple(value for value in found if value is not None) if judged else ()

    def _notes(self, kind: Kind, order: Sequence[str], words: Mapping[str, Answer]) -> tuple[str, ...]:
        if kind == "verdict":
            return self._as_verdicts(words)
        if kind != "label":
            return ()
        return tuple(notes(self.criterion, self.human, {} if order else self.metrics, words))

    def _as_verdicts(self, words: Mapping[str, Answer]) -> tuple[str, ...]:
        """Which words were read as which verdict, where they do not say it themselves."""
        met: Counter[str] = Counter()  # how often people wrote a word, or the first metric that did
        for cells in ([*self._people()], *self.metrics.values()):
            given = Counter(word(cell) for cell in cells if is_given(cell, words) and not isinstance(cell, list | dict))
            met |= Counter({said: count for said, count in given.items() if said not in met})
        shown = [
            f"'{one_line(said, 30)}' as {words[said.casefold()]} ({count:,})"
            for said, count in met.most_common()
            if said.casefold() in words and said.casefold() != str(words[said.casefold()]).casefold()
        ]
        of = f"{one_line(self.criterion, 60)}: " if self.criterion else ""
        return (f"{of}verdicts were read so: {', '.join(shown[:8])}",) if shown else ()

    def _statuses(
        self, name: str, answers: Sequence[Answer | None], words: Mapping[str, Answer]
    ) -> tuple[str, ...]:  # fmt: skip
        given = self.statuses.get(name) or [""] * len(answers)
        return tuple(
            "ok"
            if a is not None
            else status
            if status not in ("", "ok")
            else "unreadable"
            if is_given(cell, words)
            else "missing"
            for a, status, cell in zip(answers, given, self.metrics[name], strict=True)
        )


Row = dict[str, Any]


@handing_on(Columns)
def read_table(path: str | os.PathLike[str], columns: Columns | None = None, /, **named: Any) -> list[Judgements]:
    """The judgements in a table, one `Judgements` per criterion.

    Args:
        path: as for `jg.load`; text files may be gzipped.
        columns: which columns hold what; `named` are its fields one by one (`human=("a1", "a2")`).

    Returns:
        In the order in which the criteria are met; one, named "", where there is no column for them.

    Raises:
        DataError: no such file or column, a row or a judgement that cannot be read; names file and line.
        ConfigError: it cannot be told what the answers are.
    """
    from judgegraph.data.load import format_of  # here, as a run is no table

    chosen = columns or Columns(**named)
    path = Path(path)
    file, format = one_line(path), format_of(path)
    unit = "row" if format in ("json", "parquet") else "line"
    rows = _rows(path, format, file, unit)
    first = next(rows, None)
    if first is None:
        raise DataError(f"{file}: holds no rows; expected one item per row")
    known = list(first[1])
    chosen = chosen.spelt(known).completed(known, file)
    if format in ("csv", "tsv"):  # where a column that the first row lacks is nowhere
        refuse_unknown(chosen.named, known, known, file)
    found = _read(chain([first], rows), chosen, known, file)
    return [
        raw.judgements(chosen.kind, chosen.verdicts, chosen.order, chosen.swap_back) for raw in found.values()
    ]  # fmt: skip


def _read(rows: Iterator[tuple[str, Row]], columns: Columns, known: list[str], file: str) -> dict[str, Raw]:
    """Criterion -> its cells.

    Raises:
        DataError: a row without an id, group, system or criterion, or a column that no row has.
    """
    met: set[str] = set()
    found: dict[str, Raw] = {}
    for place, row in rows:
        known = known if len(known) >= len(row) else list(row)
        cells = {name: value_at(row, name) for name in columns.named}
        here = {name for name, cell in cells.items() if cell is not ABSENT}
        refuse_unknown(columns.texts, here, row, place, "row")
        met |= here
        _add(found, cells, columns, place, file)
    refuse_unknown(columns.named, met, known, file)
    return found


def _rows(path: Path, format: str, file: str, unit: str) -> Iterator[tuple[str, Row]]:
    """(place, row); the first that is none ends it.

    Raises:
        DataError: it is none.
    """
    from judgegraph.data.load import READERS

    for number, row in READERS[format](path):
        place = f"{file}, {unit} {number}"
        if isinstance(row, Fault):
            raise DataError(f"{place}{', column ' + row.field if row.field else ''}: {row.reason}")
        yield place, row


def _add(found: dict[str, Raw], cells: Row, columns: Columns, place: str, file: str) -> None:
    """Put one row's cells to its criterion."""

    def text(name: str | None, otherwise: str) -> str:
        return otherwise if name is None else _text(cells[name], name, place)

    criterion = text(columns.criterion, "")
    raw = found.get(criterion) or found.setdefault(criterion, _started(criterion, columns, file))
    raw.places.append(place)
    raw.ids.append(text(columns.id, place))
    human: list[Any] = []
    for name in columns.human:
        cell = _value(cells, name, place)
        human += cell if isinstance(cell, list) else [cell]
    raw.human.append(human)
    for name in columns.metrics:
        raw.metrics[name].append(_value(cells, name, place))
    for name, column in columns.exchanged.items():
        raw.exchanged[name].append(_value(cells, column, place))
    if raw.groups is not None:
        raw.groups.append(text(columns.group, ""))
    if raw.systems is not None:
        raw.systems.append(text(columns.system, ""))


def _started(criterion: str, columns: Columns, file: str) -> Raw:
    return Raw(
        criterion, file, metrics={name: [] for name in columns.metrics},
        exchanged={name: [] for name in columns.exchanged},
        groups=None if columns.group is None else [], systems=None if columns.system is None else [],
    )  # fmt: skip


def _value(cells: Row, name: str, place: str) -> Any:
    """A cell; one that is not there is empty."""
    return None if cells[name] is ABSENT else _plain(_written(cells[name]), name, place)


def _written(cell: Any) -> Any:
    """Numbers that JSON has not as a CSV file would hold them: nan is no answer, inf is one that cannot be read."""
    if isinstance(cell, list):
        return [_written(one) for one in cell]
    if not isinstance(cell, float | Decimal) or math.isfinite(cell):
        return cell
    return None if math.isnan(cell) else str(cell)


def _plain(cell: Any, name: str, place: str) -> Any:
    try:
        return plain(cell, name)
    except Fault as fault:
        raise DataError(f"{place}, column {fault.field}: {fault.reason}") from None


def _text(cell: Any, name: str, place: str) -> str:
    """An id, group, system or criterion.

    Raises:
        DataError: it is empty, or neither text nor a whole number.
    """
    where = f"{place}, column {one_line(name, 60)}"
    if empty(cell):
        raise DataError(f"{where}: expected text or a whole number, got nothing")
    plain = None if isinstance(cell, bool | float | list | dict) else _plain(cell, name, place)
    if not isinstance(plain, str | int):
        raise DataError(f"{where}: expected text or a whole number, got {type(cell).__name__}")
    return str(plain).strip()


# What can be held against what people said: numbers, labels and verdicts do not mix, and an annotator may lack.


SIDES = ("A", "B", "tie")


def fitted(
    raw: Raw, verdicts: Mapping[str, Verdict] | None, order: Sequence[str] = (), labelled: bool = False
) -> tuple[Kind, list[str]]:  # fmt: skip
    """What people's judgements are; metrics of another kind leave `raw`, and are named in a line each.

    Args:
        order: of the labels, where it is known.
        labelled: the criterion has a scale of labels, whatever these look like.

    Raises:
        ConfigError: people's judgements are of two kinds.
    """
    kinds = {name: _kind(cells) for name, cells in raw.metrics.items()}
    if labelled:
        kinds = {name: "label" if kind == "verdict" else kind for name, kind in kinds.items()}
    people = [cell for cells in raw.human for cell in cells]
    compared = "verdict" in kinds.values()
    kind: Kind = (
        "verdict"
        if compared and (verdicts or _sides(people))
        else raw.kind_of_people(f"{raw.source}, {one_line(raw.criterion, 60)}", of_run=True)
    )
    if kind == "number" and compared and "number" not in kinds.values():
        kind = "verdict"  # 1, 2 and 0 beside a method that compares: verdict_words asks which is which
    if (kind == "verdict" and not compared) or labelled:
        kind = "label"
    notes = []
    for name, own in kinds.items():
        if own not in (kind, None):
            del raw.metrics[name], raw.statuses[name]
            raw.exchanged.pop(name, None)
            what = f"{one_line(raw.criterion, 60)}: {one_line(name, 60)}"
            notes.append(f"{what} gave {own}s where people gave {kind}s, left out")
    if kind != "verdict":
        raw.exchanged.clear()
    return kind, notes + (_strangers(raw, order) if kind == "label" else [])


def with_annotator(judged: Sequence[Judgements], rule: str | int) -> tuple[list[Judgements], list[str]]:
    """The criteria that have an n-th annotator, where only this one counts; the others in a line each.

    Raises:
        ConfigError: none has.
    """
    found, notes = [], []
    for one in judged:
        if isinstance(rule, int) and 0 < width(one) < rule:
            of = f"{one_line(one.criterion, 60)}: " if one.criterion else ""
            are = "is one" if width(one) == 1 else f"are {width(one)}"
            notes.append(f"{of}the annotator {rule} is wanted, and there {are}")
        else:
            found.append(one)
    if notes and not found:
        raise ConfigError(f"annotators: {'; '.join(notes[:6])}")
    return found, [f"{note}, left out" for note in notes]


def _strangers(raw: Raw, order: Sequence[str]) -> list[str]:
    """Metrics whose labels are of something else leave, too: an assistant may well tell languages, say."""
    labels = known_labels(order, (cell for cells in raw.human for cell in cells))
    notes = []
    for name in [name for name, cells in raw.metrics.items() if strange(cells, labels)]:
        first_cell = next(cell for cell in raw.metrics.pop(name) if is_given(cell, labels))
        del raw.statuses[name]
        what = f"{one_line(raw.criterion, 60)}: {one_line(name, 60)}"
        notes.append(
            f"{what} never says one of people's labels ({listed(labels)}), but '{one_line(first_cell, 40)}', left out"
        )
    return notes


def _kind(cells: Sequence[Any]) -> Kind | None:
    """Of a metric's answers; None where it gave none."""
    given = [cell for cell in cells if cell is not None]
    if not given:
        return None
    if all(isinstance(cell, float | int) for cell in given):
        return "number"
    return "verdict" if all(cell in SIDES for cell in given) else "label"


def _sides(people: Sequence[Any]) -> bool:
    """Whether people's words are of pairs: A, B, tie, or 1 and 2 for the two."""
    found = set(_words(people))
    return bool(found) and (
        found <= {"1", "2", "1.0", "2.0"} or not any(word.replace(".", "").isdigit() for word in found)
    )


def _words(people: Sequence[Any]) -> Iterator[str]:
    return (str(cell).strip().casefold() for cell in people if is_given(cell))


_LOST = {"group": "the bootstrap draws items (unit:item)", "system": "nothing is told of them"}


@dataclass(frozen=True)
class ReadRun:
    """Judgements of a run, and what was left out."""

    judgements: list[Judgements]
    notes: tuple[str, ...]


def of_run(run: Run, **how: Any) -> list[Judgements]:
    """A run's judgements, one per criterion that people judged; arguments as of `read_run`."""
    return read_run(run, **how).judgements


def read_run(
    run: Run, *, group: str | None = None, system: str | None = None, agents: str | Sequence[str] = (),
    stages: str | Sequence[str] | None = None, assistants: bool = False, verdicts: Mapping[str, Verdict] | None = None,
    order: Sequence[str] = (),
) -> ReadRun:  # fmt: skip
    """A run's judgements, and what was left out.

    A criterion is met by people's of the same name, whatever its case. Without `stages` the graph's answers are the
    metrics (`judgegraph.answers`), not its votes and drafts; where a gate decides who answers, that is one metric,
    "critic or judge". Scores of stages beside "final" that are named are metrics
    of their own ("evaluator (draft)"); what a method says over all, and its verdict on a pair, is held against people's
    "overall" (of pairs also "verdict", "preference", "winner" or "label").

    Args:
        group, system: key of a sample's `meta` ("a.b" is b in the object a); None for "group" and "system", where all
            samples have it. agents: only these. stages: whose scores count; None: the answers, and the
            final scores of `agents`. assistants: their findings count too.
        verdicts: word of people -> "A", "B" or "tie". order: of ordinal labels, least first; else as on the scale.

    Raises:
        Unjudged: no sample holds a judgement of people, or none of a criterion that was scored.
        ConfigError: no such agent, or a sample without a key of meta that is named.
    """
    agents, stages = names_of(agents), stages if stages is None else names_of(stages)
    seen = [seen_of(item, answers_in(item, stages, assistants, agents), group, system) for item in run.items]
    return read_seen(run, seen, agents, stages, verdicts, order)


def read_seen(
    run: Run, seen: list[Seen], agents: Sequence[str] = (), stages: Sequence[str] | None = None,
    verdicts: Mapping[str, Verdict] | None = None, order: Sequence[str] = (),
) -> ReadRun:  # fmt: skip
    """As `read_run`, of what was kept of a run's items (`seen_of`), whose order is changed."""
    join_answers([one.answers for one in seen])
    seen.sort(key=lambda one: one.place)  # an interval draws by place, and samples finish in any order
    _refuse_nobody(agents, seen)
    people = first_of_each(name for one in seen for name in one.human)
    if not people:
        raise Unjudged(
            "no sample of the run holds people's judgements; give them as columns human.CRITERION (or -f "
            "human.CRITERION=COLUMN) when it is judged, or in a file of their own, --labels FILE.jsonl; one judgement "
            "of the whole answer is human.overall=COLUMN, beside a criteria set of one criterion, overall"
        )
    found, notes = [], [*_without(people, seen), *_partly(seen), *_unjoined(seen)]
    scales = _scales(run)
    for key, name in people.items():
        raw = _raw(name, key, seen, agents)
        scale = next((s.answers.scales[key] for s in seen if key in s.answers.scales), ())
        judged = bool(raw.metrics)
        notes += _off_scale(raw, scales.get(key)) if judged else ()
        kind, other = fitted(raw, verdicts, order or scale, bool(scale))
        notes += other
        if not judged:
            why = f"people judged it, and {_why_not(key, agents, stages, seen)}"
            notes.append(f"{one_line(name, 60)}: {why}; {_cure(people, seen)}")
        if not raw.metrics:
            continue
        rated_sides = verdicts if kind == "verdict" else None
        judged_here = raw.judgements(kind, rated_sides, (order or scale) if kind == "label" else ())
        found.append(replace(judged_here, thin=frozenset(one.id for one in seen if one.thin)))
    if not found:
        raise Unjudged("; ".join(["nothing that people judged can be compared", *notes][:6]))
    return ReadRun(found, tuple(notes))


def _unjoined(seen: Sequence[Seen]) -> Iterator[str]:
    """Pairs whose verdict nobody wrote: what is held against people is one order's, or one judge's."""
    if many := sum(one.answers.unjoined for one in seen):
        yield (
            f"{many:,} of {len(seen):,} pairs were compared and have no verdict: what stands here is of single orders "
            "or judges, and not the run's answer"
        )


def _why_not(key: str, agents: Sequence[str], stages: Sequence[str] | None, seen: Sequence[Seen]) -> str:
    """Why a criterion of people's has nothing to be held against, in words."""
    there = dict.fromkeys(stage for one in seen for stage in one.answers.stages.get(key, ()))
    if not there:
        return "no criterion of the run has that name"
    if stages is not None:
        return f"the run has no score of it at stage {', '.join(stages)}, but at {one_line(', '.join(there), 80)}"
    others = one_line(", ".join(stage for stage in there if stage != "final"), 80)
    who = "these agents give" if agents else "the run gives"
    return f"{who} no answer by it" + (f", only scores of stage {others}: --stage takes these" if others else "")


def _cure(people: Mapping[str, str], seen: Sequence[Seen]) -> str:
    """How people's judgements meet a criterion of the run, where it has one that they did not judge."""
    ours = first_of_each(name for one in seen for name in one.answers.names)
    known = [name for key, name in ours.items() if key not in people]
    if not known:
        return "judge by a criteria set that has it"
    theirs = one_line(", ".join(known), 120)
    return f"name its column human.CRITERION of the run's ({theirs}), or judge by a criteria set that has it"


@dataclass(frozen=True)
class Seen:
    """What is kept of an item. agents: whoever said something of it, at any stage.

    Attributes:
        thin: its text gives nothing to judge.
    """

    id: str
    status: str
    human: Mapping[str, Any]
    answers: ItemAnswers
    group: str | None
    system: str | None
    agents: frozenset[str]
    place: int
    thin: bool = False


def seen_of(item: Item, answers: ItemAnswers, group: str | None = None, system: str | None = None) -> Seen:
    """What `read_seen` needs of an item. group, system: as of `read_run`."""
    document, writer = _meta(item.sample, group, "group"), _meta(item.sample, system, "system")
    metrics = {m for by in (*answers.by.values(), answers.everywhere) for m in by}
    agents = frozenset(map(_agent, metrics)) | {score.agent for score in item.scores}
    thin = any(note.kind in UNTRUSTED for note in item.notes)
    return Seen(item.id, item.status, dict(item.sample.human), answers, document, writer, agents, item.place, thin)


def _refuse_nobody(agents: Sequence[str], seen: Sequence[Seen]) -> None:
    known = dict.fromkeys(sorted({name for one in seen for name in one.agents}))
    for name in agents:
        if name not in known:
            hint, there = near(name, known), one_line(", ".join(known), 200) or "none"
            raise ConfigError(f"the run has no agent '{one_line(name, 60)}'{hint} There are {there}")


def _partly(seen: Sequence[Seen]) -> Iterable[str]:
    """Keys of meta that some samples have and others have not: these are not used, which is said."""
    for name in ("group", "system"):
        without = [one for one in seen if getattr(one, name) is None]
        if 0 < len(without) < len(seen):
            first = f"'{one_line(without[0].id, 60)}' first"
            yield f"{len(without):,} of {len(seen):,} samples without meta.{name} ({first}): no {name}s, {_LOST[name]}"


def _meta(sample: Sample, key: str | None, fallback: str) -> str | None:
    value = grouping_value(sample, key or fallback)
    if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
        return str(value)
    if key is None:
        return None
    has = column_list(sample.meta, 120) or "nothing"
    raise ConfigError(
        f"sample '{one_line(sample.id, 60)}': expected text in meta.{one_line(key, 60)}; its meta has {has}"
    )


def _without(people: Mapping[str, str], seen: Sequence[Seen]) -> Iterable[str]:
    scored = first_of_each(name for one in seen for name in one.answers.names)
    met = {*people, *((OVERALL,) if people.keys() & set(OVER_ALL) else ())}
    lacking = [name for key, name in scored.items() if key not in met]
    if lacking:
        more = f" and {len(lacking) - 8} more" if len(lacking) > 8 else ""
        yield f"not judged by people: {one_line(', '.join(lacking[:8]), 400)}{more}"


def _raw(name: str, key: str, seen: Sequence[Seen], agents: Sequence[str]) -> Raw:
    """One criterion; a metric that a sample lacks has the sample's status there, or "missing"."""
    ours = asked_of(key, {judged for one in seen for judged in one.answers.by})
    by_item = [one.answers.answers(ours) for one in seen]
    turned = [one.answers.exchanged.get(ours, {}) for one in seen]
    metrics = [m for m in dict.fromkeys(m for found in by_item for m in found) if not agents or _agent(m) in agents]
    exchanged = [m for m in metrics if any(m in found for found in turned)]
    raw = Raw(name, "the run", metrics={m: [] for m in metrics}, exchanged={m: [] for m in exchanged})
    raw.statuses = {m: [] for m in metrics}
    for one, found, second in zip(seen, by_item, turned, strict=True):
        raw.places.append(f"sample '{one_line(one.id, 60)}'")
        raw.ids.append(one.id)
        human = _theirs(one, key)
        raw.human.append(human if isinstance(human, list) else [human])
        for metric in metrics:
            value, status = found.get(metric, (None, one.status if one.status != "ok" else "missing"))
            raw.metrics[metric].append(value)
            raw.statuses[metric].append(status)
        for metric in exchanged:
            raw.exchanged[metric].append(second.get(metric))
    raw.groups, raw.systems = (_column([one.group for one in seen]), _column([one.system for one in seen]))
    return raw


def _theirs(one: Seen, key: str) -> Any:
    """What people said by a criterion, None where they did not.

    Raises:
        DataError: they said two things, under names that differ in their case alone.
    """
    found = {label: value for label, value in one.human.items() if label.casefold() == key}
    values = list(found.values())
    if any(value != values[0] for value in values[1:]):
        names = " and ".join(f"human.{one_line(label, 60)}" for label in found)
        raise DataError(
            f"sample '{one_line(one.id, 60)}': {names} are one criterion, whose case does not count, and differ: keep "
            "one of them in the data"
        )
    return values[0] if values else None


def _off_scale(raw: Raw, scale: Scale | None) -> Iterator[str]:
    """That some judgements of people lie off the criterion's scale; where most do theirs is another one."""
    if scale is None or scale.low is None or scale.high is None:
        return
    given = [(place, cell) for place, cells in zip(raw.places, raw.human, strict=True) for cell in cells]
    known = [(place, cell) for place, cell in given if isinstance(cell, int | float) and not isinstance(cell, bool)]
    off = [(place, cell) for place, cell in known if not scale.low <= cell <= scale.high]
    if off and 2 * len(off) <= len(known):
        place, cell = off[0]
        yield (
            f"{one_line(raw.criterion, 60)}: off the scale {scale}: {len(off):,} of {len(known):,} judgements of "
            f"people ({cell:g} of {place} first), counted as given; leave them empty in the data if nothing "
            "was judged"
        )


def _scales(run: Run) -> dict[str, Scale]:
    """Criterion, casefolded -> its scale of numbers, as the run's manifest has it."""
    found: dict[str, Scale] = {}
    for one in run.manifest.get("criteria") or ():
        if isinstance(one, Mapping) and "name" in one:
            with suppress(ValueError):
                found[str(one["name"]).casefold()] = Criterion.model_validate(one).scale
    return found


def _column(values: Sequence[str | None]) -> list[str] | None:
    """The values, None where not every item has one."""
    known = [value for value in values if value is not None]
    return known if len(known) == len(values) else None


def _agent(metric: str) -> str:
    return metric.partition(" (")[0]
