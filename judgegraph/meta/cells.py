"""Judgements of items by one criterion, and how cells of a table become numbers, labels and verdicts."""

from __future__ import annotations

import difflib
import math
import re
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, localcontext
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeVar

from judgegraph.data.samples import Samples, column_list, spelt
from judgegraph.errors import ONE_NAME, ConfigError, DataError, one_line
from judgegraph.types import MEANT_AS_NUMBER, SAY_NOTHING, Criterion, Verdict, names_of

if TYPE_CHECKING:
    from judgegraph.meta.conventions import Conventions, Duplicates

# What is compared: people's judgements of items by one criterion, and what metrics said of the same items.


Answer: TypeAlias = float | str
Kind = Literal["number", "label", "verdict"]


class Unjudged(ConfigError):
    """There is nothing that people judged, or nothing to hold against it."""


@dataclass(frozen=True)
class Judgements:
    """One criterion of a run or table, item by item; all sequences are of equal length.

    Attributes:
        criterion: its name. kind: "number", "label", or "verdict" (of pairs: "A", "B", "tie").
        ids: of the items; an id may stand more than once only where each system's output has the same one.
        human: per item one answer per annotator, () where none judged it. An annotator keeps his place;
            where he left an item out it holds nan.
        metrics: metric -> its answer per item, None where none could be read.
        exchanged: metric -> of pairs asked for in both orders, the verdict in the exchanged order, mapped back so
            that "A" is the same response in both; None where none could be read.
        statuses: metric -> per item why there is no answer ("refused", "truncated", ...), "ok" where there is one.
        groups, systems: of the items (document, dialogue; generator), None where there are none.
        label_order: of ordinal labels, least first; () where they have no order.
        thin: ids of the items whose text gives nothing to judge, so that no score of it can be trusted.
        notes: what to know of how they were read.
    """

    criterion: str
    kind: Kind
    ids: tuple[str, ...]
    human: tuple[tuple[Answer, ...], ...]
    metrics: Mapping[str, tuple[Answer | None, ...]]
    exchanged: Mapping[str, tuple[Answer | None, ...]] = field(default_factory=dict)
    statuses: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    groups: tuple[str, ...] | None = None
    systems: tuple[str, ...] | None = None
    label_order: tuple[str, ...] = ()
    thin: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        held = [self.human, *self.metrics.values(), *self.exchanged.values(), *self.statuses.values()]
        held += [column for column in (self.groups, self.systems) if column is not None]
        if any(len(column) != len(self.ids) for column in held):
            raise ValueError(f"{self.criterion}: columns of different lengths")

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def in_both_orders(self) -> frozenset[str]:
        """Metrics that were asked for verdicts in both orders."""
        asked = {name for name, answers in self.exchanged.items() if any(answer is not None for answer in answers)}
        return frozenset(asked & self.metrics.keys() if self.kind == "verdict" else ())

    def in_one_verdict(self) -> Judgements:
        """With one verdict of both orders, for the metrics that have two: what both say, else a tie.

        Where one order could not be read there is no verdict: nobody knows whether the orders agree.
        """
        if not self.in_both_orders:
            return self
        metrics, statuses = dict(self.metrics), dict(self.statuses)
        for name in self.in_both_orders:
            both = list(zip(self.metrics[name], self.exchanged[name], strict=True))
            metrics[name] = tuple(None if None in (a, b) else a if a == b else "tie" for a, b in both)
            given = statuses.get(name) or ("ok",) * len(both)
            statuses[name] = tuple(
                "unread when exchanged" if a is not None and b is None else status
                for (a, b), status in zip(both, given, strict=True)
            )
        return replace(self, metrics=metrics, statuses=statuses, exchanged={})


# Means and medians of a few judgements, equal wherever the written numbers have equal ones.


def mean(values: Sequence[float]) -> float:
    """The mean of one number or more, by their decimals.

    In floating point 0.1, 0.2, 0.3 have another mean than 0.2, 0.2, 0.2, which would break ties of ranks.
    """
    if len(values) == 1:
        return float(values[0])
    if not all(map(math.isfinite, values)):
        return fmean(values)
    with localcontext(prec=40):
        return float(sum((Decimal(repr(float(value))) for value in values), Decimal()) / len(values))


def median(values: Sequence[float]) -> float:
    """The middle of one number or more, or the mean of the two there."""
    ordered, half = sorted(values), len(values) // 2
    return mean(ordered[half : half + 1] if len(ordered) % 2 else ordered[half - 1 : half + 1])


MISSING = SAY_NOTHING  # unless it is one of people's labels
NOTHING = MISSING - {"none", "-"}  # never a label of people but by an order: these two may well be some
WORDS: Mapping[str, Verdict] = {
    **dict.fromkeys(("a", "[[a]]", "first", "output", "response 1", "response1", "output_1", "model_a", "a wins"), "A"),
    **dict.fromkeys(("b", "[[b]]", "second", "rival", "response 2", "response2", "output_2", "model_b", "b wins"), "B"),
    **dict.fromkeys(("tie", "c", "[[c]]", "equal", "draw", "same", "both", "tie (inconsistent)"), "tie"),
}  # type: ignore[dict-item, unused-ignore]
ANEW = "and run it again into another folder, with --ledger RUN/ledger.sqlite: replies that it has cost nothing"
MOST = 1e100  # of a number, so that sums of squares stay numbers
_NUMBER = re.compile(r"[+-]?(\d{1,300}(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")
SWAPPED: Mapping[Answer, Answer] = {"A": "B", "B": "A"}


def empty(cell: Any) -> bool:
    """Whether nothing stands there."""
    return (
        cell is None or (isinstance(cell, str) and not cell.strip()) or (isinstance(cell, float) and math.isnan(cell))
    )


def number(cell: Any) -> float | None:
    """The number in a cell, None where there is none; true and false are none, nor is what squares cannot hold."""
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return float(cell) if abs(cell) < MOST else None
    if isinstance(cell, str) and len(cell) < 400 and _NUMBER.fullmatch(cell.strip()):
        found = float(cell)
        return found if abs(found) < MOST else None
    return None


def word(cell: Any) -> str:
    """A cell as a label: 1, 1.0 and "1" are one label, and white space around it is none of it."""
    found = number(cell)
    if found is not None:
        return f"{found:.15g}"
    return str(cell).lower() if isinstance(cell, bool) else str(cell).strip()


def is_given(cell: Any, words: Container[str] = ()) -> bool:
    """Whether something is said at all, readable or not; NA and the like say nothing, unless they are among `words`."""
    if not isinstance(cell, str):
        return not empty(cell)
    key = cell.strip().casefold()
    return key not in MISSING or key in words


def verdict_words(given: Mapping[str, Verdict], cells: Iterable[Any], where: str) -> dict[str, Answer]:
    """Word -> verdict: the usual words, 1 and 2 where no third number is met, and those that are given.

    Raises:
        ConfigError: numbers that may mean anything, and nothing given says what.
    """
    words: dict[str, Answer] = {**WORDS, **{word(key).casefold(): value for key, value in given.items()}}
    numbers = {word(cell) for cell in cells if number(cell) is not None}
    if not numbers or any(number(key) is not None for key in given):
        return words  # another number is an answer that cannot be read
    if numbers <= {"1", "2"}:
        return {**words, "1": "A", "2": "B"}
    listed = ", ".join(sorted(numbers)[:5])
    raise ConfigError(
        f"{where}: verdicts are written as {listed}: say which is which, such as --verdicts A=1,B=2,tie=0 "
        '(Python: verdicts={"1": "A", "2": "B", "0": "tie"})'
    )


def kind_of(cells: Iterable[tuple[Any, str]], where: str, *, of_run: bool = False) -> Kind:
    """What people's judgements are, by how they are written.

    Args:
        cells: each with the place where it stands. of_run: messages name places, and no option says what cells are.

    Raises:
        ConfigError: numbers and words are mixed, or words are meant as numbers.
    """
    numbers: dict[str, str] = {}
    words: dict[str, str] = {}
    for cell, place in cells:
        if is_given(cell):
            shown = f"'{one_line(cell, 30)}'" + (f", {place}" if of_run else "")
            (numbers if number(cell) is not None else words).setdefault(word(cell).casefold(), shown)
    if not words:
        return "number"
    if words.keys() <= WORDS.keys():
        return "verdict"
    figures = [shown for key, shown in words.items() if MEANT_AS_NUMBER.fullmatch(key)]
    if not numbers and 2 * len(figures) > len(words):
        raise ConfigError(
            f"{where}: people's judgements are written as {figures[0]}, which is no number; write "
            f"plain ones, such as 1.5 or 4, {ANEW if of_run else 'or say that they are labels: --kind label'}"
        )
    if not numbers:
        return "label"
    one, other = next(iter(numbers.values())), next(iter(words.values()))
    raise ConfigError(
        f"{where}: people's judgements hold numbers ({one}) and words ({other}); mend the data, "
        f"{ANEW if of_run else 'or say what they are: --kind number, label or verdict'}"
    )


def known_labels(order: Iterable[str], cells: Iterable[Any]) -> dict[str, Answer]:
    """Casefolded label -> the label as it is spelt in the order, else as people spell it first."""
    found: dict[str, Answer] = {label.strip().casefold(): label.strip() for label in order}
    if not found:
        for cell in cells:
            if not empty(cell) and word(cell).casefold() not in NOTHING:
                found.setdefault(word(cell).casefold(), word(cell))
    return found


def answer(cell: Any, kind: Kind, words: Mapping[str, Answer]) -> Answer | None:
    """What a cell says; None where it cannot be read. Of labels, those that are not known are read as they are."""
    if not is_given(cell, words) or isinstance(cell, list | dict):
        return None
    if kind == "number":
        return number(cell)
    return words.get(word(cell).casefold(), word(cell) if kind == "label" else None)


# Which columns of a table hold what, by their names or by the obvious ones.


OBVIOUS = {
    "id": ("id", "sample", "sample_id", "item_id", "idx"),
    "human": ("human", "human_score", "human_label"),
    "group": ("group", "doc_id", "document", "dialogue"),
    "system": ("system", "system_id"),
    "criterion": ("criterion", "aspect"),
    "metrics": ("metric", "judge"),
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Names of columns ("a.b" is b in the object a), and how their cells are read.

    Attributes:
        id, group, system, criterion: of the item; None for the obvious name, where there is such a column.
        human: one, or one per annotator; a cell may hold a list of annotators. () for the obvious name.
        metrics: whose answers are compared. exchanged: metric -> column of its verdicts in the exchanged order.
        kind: "number", "label" or "verdict"; None: told by what people wrote.
        verdicts: word -> "A", "B" or "tie", beside the usual words.
        order: of ordinal labels, least first.
        swap_back: verdicts in exchanged columns name the place, so that "first" there is the second response.
    """

    id: str | None = None
    human: Annotated[tuple[str, ...], ONE_NAME] = ()
    metrics: Annotated[tuple[str, ...], ONE_NAME] = ()
    group: str | None = None
    system: str | None = None
    criterion: str | None = None
    exchanged: Mapping[str, str] = field(default_factory=dict)
    kind: Kind | None = None
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    order: Annotated[tuple[str, ...], ONE_NAME] = ()
    swap_back: bool = False

    def __post_init__(self) -> None:
        for name in ("human", "metrics", "order"):
            object.__setattr__(self, name, names_of(getattr(self, name)))

    @property
    def texts(self) -> tuple[str, ...]:
        """Columns that every row has to fill."""
        return tuple(name for name in (self.id, self.group, self.system, self.criterion) if name is not None)

    @property
    def named(self) -> tuple[str, ...]:
        """All columns that are read."""
        return tuple(dict.fromkeys([*self.texts, *self.human, *self.metrics, *self.exchanged.values()]))

    def spelt(self, known: Sequence[str]) -> Columns:
        """With the names of columns as the table has them."""
        texts = (self.id, self.group, self.system, self.criterion)
        id, group, system, criterion = (None if text is None else spelt(text, known) for text in texts)
        return replace(
            self, id=id, group=group, system=system, criterion=criterion,
            human=tuple(spelt(name, known) for name in self.human),
            metrics=tuple(spelt(name, known) for name in self.metrics),
            exchanged={spelt(name, known): spelt(column, known) for name, column in self.exchanged.items()},
        )  # fmt: skip

    def completed(self, known: Sequence[str], file: str) -> Columns:
        """With the obvious columns where none is named.

        Raises:
            DataError: no column of people's judgements, or none of a metric, is named or obvious; one is given twice;
                an exchanged order of a metric that is not compared.
        """
        taken = set(self.named)
        found = {
            name: next((c for c in names if c in known and c not in taken), None) for name, names in OBVIOUS.items()
        }
        dotted = {
            word: tuple(c for c in known if c.startswith(f"{word}.") and c not in taken) for word in ("human", "metric")
        }
        human = self.human or ((found["human"],) if found["human"] else dotted["human"])
        metrics = (
            self.metrics or tuple(self.exchanged) or ((found["metrics"],) if found["metrics"] else dotted["metric"])
        )
        has = f"the table has {column_list(known, 200)}"
        if not human:
            raise DataError(f"{file}: which column holds people's judgements? Name it with --human COLUMN; {has}")
        if not metrics:
            raise DataError(f"{file}: which column is compared with them? Name it with --metric COLUMN; {has}")
        for option, names in (("--metric", metrics), ("--human", human)):
            if twice := [name for name in names if names.count(name) > 1]:
                raise DataError(f"{file}: {option} '{one_line(twice[0], 60)}' is given twice")
        for name in self.exchanged:
            if name not in metrics:
                raise DataError(f"{file}: exchanged order of '{one_line(name, 60)}', which is no --metric")
        return replace(
            self, human=human, metrics=metrics, id=self.id or found["id"], group=self.group or found["group"],
            system=self.system or found["system"], criterion=self.criterion or found["criterion"],
        )  # fmt: skip


def refuse_unknown(
    wanted: Iterable[str], met: Collection[str], known: Collection[str], where: str, what: str = "table"
) -> None:  # fmt: skip
    """Refuse columns that are not met, with what they may be called among the known ones.

    Raises:
        DataError: there are some.
    """
    for name in wanted:
        if name not in met:
            has = column_list(known, 200)
            raise DataError(f"{where}: no column '{one_line(name, 60)}'{near(name, known)} The {what} has {has}")


def near(name: str, known: Collection[str]) -> str:
    """How a sentence on an unknown name goes on: with the one that may have been meant, if there is one."""
    same = [c for c in known if c.casefold() == name.casefold()]
    found = same or difflib.get_close_matches(name, list(known), 1)
    return f"; did you mean '{one_line(found[0], 60)}'?" if found else "."


# Several annotators of one item: what counts as people's judgement.


def answered(value: Answer) -> bool:
    """Whether an annotator's place is filled."""
    return not (isinstance(value, float) and math.isnan(value))


def width(judgements: Judgements) -> int:
    """How many annotators there are, each with a place of his own."""
    return max((len(places) for places in judgements.human), default=0)


def rule_of(judgements: Judgements, conventions: Conventions) -> str:
    """The rule that is really followed, in words for the signature."""
    count, rule = width(judgements), conventions.annotators
    if count < 2 and not isinstance(rule, int):
        return "single"
    if isinstance(rule, int):
        return f"{rule} of {count}"
    return f"{rule if judgements.kind == 'number' else 'majority'} of {count}"


def people(judgements: Judgements, conventions: Conventions) -> list[Answer | None]:
    """People's judgement of each item, None where there is none.

    A majority is what more annotators say than anything else; where there is none, a verdict is a tie, and of numbers
    and labels there is no judgement.

    Raises:
        ConfigError: there is no n-th annotator.
    """
    rule, count = conventions.annotators, width(judgements)
    if isinstance(rule, int):
        if count and rule > count:
            raise ConfigError(f"annotators: the annotator {rule} is wanted, and there {_are(count)}")
        return [_nth(places, rule) for places in judgements.human]
    if judgements.kind == "number" and rule != "majority":
        middle = mean if rule == "mean" else median
        known = ([float(v) for v in places if answered(v)] for places in judgements.human)
        return [middle(values) if values else None for values in known]
    return [_majority(places, judgements.kind) for places in judgements.human]


def _are(count: int) -> str:
    return "is one" if count == 1 else f"are {count}"


def _nth(places: Sequence[Answer], n: int) -> Answer | None:
    return places[n - 1] if len(places) >= n and answered(places[n - 1]) else None


def _majority(places: Sequence[Answer], kind: str) -> Answer | None:
    ranked = Counter(value for value in places if answered(value)).most_common(2)
    if not ranked:
        return None
    if len(ranked) == 2 and ranked[0][1] == ranked[1][1]:
        return "tie" if kind == "verdict" else None
    return ranked[0][0]


# Several records of one item: which of them counts.


Cell = TypeVar("Cell")


def single(judgements: Judgements, rule: Duplicates) -> tuple[Judgements, int]:
    """One record per id and system, in the order in which they are first met; and how many others there were.

    Raises:
        DataError: there are some and the rule is to refuse, or it is the mean and the answers are no numbers.
    """
    places: dict[tuple[str, str], list[int]] = {}
    for at, id in enumerate(judgements.ids):
        places.setdefault((id, judgements.systems[at] if judgements.systems else ""), []).append(at)
    more = len(judgements) - len(places)
    if not more:
        return judgements, 0
    if rule == "refuse":
        raise _refusal(judgements, places)
    if rule == "mean":
        return _meant(judgements, list(places.values())), more
    chosen = [found[-1 if rule == "last" else 0] for found in places.values()]
    return taken(judgements, chosen), more


def taken(judgements: Judgements, places: Sequence[int]) -> Judgements:
    """The records at these places."""

    def at(column: Sequence[Cell]) -> tuple[Cell, ...]:
        return tuple(column[place] for place in places)

    j = judgements
    return replace(
        j, ids=at(j.ids), human=at(j.human), metrics={name: at(column) for name, column in j.metrics.items()},
        exchanged={name: at(column) for name, column in j.exchanged.items()},
        statuses={name: at(column) for name, column in j.statuses.items()},
        groups=None if j.groups is None else at(j.groups), systems=None if j.systems is None else at(j.systems),
    )  # fmt: skip


def _refusal(judgements: Judgements, places: dict[tuple[str, str], list[int]]) -> DataError:
    doubled = {key: found for key, found in places.items() if len(found) > 1}
    (id, system), found = next(iter(doubled.items()))
    of = f" of system '{one_line(system, 60)}'" if system else ""
    many = f", and {len(doubled) - 1:,} more so" if len(doubled) > 1 else ""
    hint = "" if judgements.systems else "; if systems share ids, name their column (--system)"
    criterion = f"{one_line(judgements.criterion, 60)}: " if judgements.criterion else ""
    return DataError(
        f"{criterion}'{one_line(id, 80)}'{of} stands there {len(found)} times{many}; say which counts: "
        f"--duplicates last, first or mean{hint}"
    )


def _meant(judgements: Judgements, places: Sequence[Sequence[int]]) -> Judgements:
    if judgements.kind != "number":
        raise DataError(
            f"{judgements.criterion}: {judgements.kind}s have no mean; --duplicates takes last or first then"
        )
    first = taken(judgements, [found[0] for found in places])
    human = tuple(_annotators([judgements.human[at] for at in found]) for found in places)
    metrics = {
        name: tuple(_mean(column[at] for at in found) for found in places)
        for name, column in judgements.metrics.items()
    }
    statuses = {
        name: tuple("ok" if value is not None else was for value, was in zip(metrics[name], column, strict=True))
        for name, column in first.statuses.items()
    }
    return replace(first, human=human, metrics=metrics, statuses=statuses)


def _annotators(records: Sequence[tuple[Answer, ...]]) -> tuple[Answer, ...]:
    width = max(map(len, records))
    means = [_mean(record[k] for record in records if len(record) > k) for k in range(width)]
    return tuple(math.nan if one is None else one for one in means)


def _mean(answers: Iterable[Answer | None]) -> float | None:
    known = [float(value) for value in answers if isinstance(value, float | int) and not math.isnan(value)]
    return mean(known) if known else None


# Under which name people judged a criterion.


OVERALL = "overall"
OVER_ALL = ("verdict", "preference", "winner", "label")  # what people's "overall" is also called, of pairs
BOTH = " (both orders)"  # behind the agent, of a verdict of both orders


def unmatched(people: Iterable[str], scored: Iterable[str]) -> list[str]:
    """What people judged under a name that is none of the criteria's; case does not count."""
    known = {name.casefold() for name in scored}
    return [name for key, name in first_of_each(people).items() if asked_of(key, known) not in known]


def asked_of(name: str, judged: Container[str]) -> str:
    """The criterion that people judged under a name, among those that were judged; all are casefolded."""
    return OVERALL if name in OVER_ALL and name not in judged else name


def first_of_each(names: Iterable[str]) -> dict[str, str]:
    """Casefolded name -> the name as it is spelt first."""
    found: dict[str, str] = {}
    for name in names:
        found.setdefault(name.casefold(), name)
    return found


# What `meta` would refuse, told before a run is paid for.


LOOKED = 10_000  # rows that are looked at before a run begins


def before_a_run(samples: Samples, criteria: Iterable[Criterion] = ()) -> list[str]:
    """What is odd in the first rows of a data file: misspelt columns, and people's labels that `meta` will refuse.

    Args:
        criteria: that outputs are judged by; a name of people's that is none of theirs is told.
    """
    single: set[str] = set()
    cells: dict[str, list[tuple[Any, str]]] = {}  # criterion -> (cell, its place)
    more = False
    for count, (place, unit, sample) in enumerate(samples.first(LOOKED + 1), 1):
        if more := count > LOOKED:
            break
        for name, given in sample.human.items():
            for cell in given if isinstance(given, list | tuple) else (given,):
                if is_given(cell):
                    single |= {name} if sample.rival is None else set()
                    cells.setdefault(name, []).append((cell, f"{unit} {place}"))
    found = [str(one) for one in samples.misspelt.values()]
    for name, known in cells.items():
        try:
            kind_of(known, one_line(name, 60))
        except ConfigError:
            found.append(_refused(name, known))
    found += _why_unmatched([name for name in cells if name in single], [one.name for one in criteria])
    if more and cells:
        found.append(f"people's labels were looked at in the first {LOOKED:,} rows alone")
    return found


def _why_unmatched(people: Sequence[str], criteria: Sequence[str]) -> Iterator[str]:
    """Where people judged by what no criterion is called; nothing where criteria are not known beforehand.

    What people say over all is no mistake: some methods answer it without a criterion of that name.
    """
    known = {name.casefold(): name for name in criteria}
    for name in unmatched(people, [*criteria, OVERALL]) if known else ():
        near = difflib.get_close_matches(name.casefold(), known, 3, 0.6)
        nearest = f"the nearest: {', '.join(known[one] for one in near)}"
        meant = nearest if near else f"it judges by {', '.join(criteria)}"
        yield (
            f"human.{one_line(name, 60)}: no criterion of this run is called so, and judgegraph meta will not "
            f"compare it ({one_line(meant, 200)}); name the column by its criterion (-f human.CRITERION=COLUMN), "
            "or judge by a set that has it (-c; judgegraph init DATA writes one)"
        )


def _refused(name: str, cells: Sequence[tuple[Any, str]]) -> str:
    """The rarer of numbers and words, by their rows."""
    kinds: dict[bool, list[str]] = {True: [], False: []}
    for cell, place in cells:
        kinds[number(cell) is not None].append(f"'{one_line(cell, 30)}' in {place}")
    numbers, words = kinds[True], kinds[False]
    few, what = (numbers, "no words") if words and 0 < len(numbers) < len(words) else (words, "no numbers")
    shown = ", ".join(few[:5]) + (f" and {len(few) - 5:,} more" if len(few) > 5 else "")
    why = "where others are" if numbers and words else "as it is written"
    verb = "is" if len(few) == 1 else "are"
    said_so = f"human.{one_line(name, 60)}: {shown} {verb} {what}, {why}"
    return f"{said_so}, and judgegraph meta refuses that: mend the data"
