"""Which columns of a table hold what, by their names or by the obvious ones."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from judgegraph.errors import DataError, one_line
from judgegraph.meta.judgements import Kind
from judgegraph.types import Verdict, names_of

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
    human: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    group: str | None = None
    system: str | None = None
    criterion: str | None = None
    exchanged: Mapping[str, str] = field(default_factory=dict)
    kind: Kind | None = None
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    order: tuple[str, ...] = ()
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
        has = f"the table has {one_line(', '.join(known), 200)}"
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
            has = one_line(", ".join(known), 200)
            raise DataError(f"{where}: no column '{one_line(name, 60)}'{near(name, known)} The {what} has {has}")


def near(name: str, known: Collection[str]) -> str:
    """How a sentence on an unknown name goes on: with the one that may have been meant, if there is one."""
    same = [c for c in known if c.casefold() == name.casefold()]
    found = same or difflib.get_close_matches(name, list(known), 1)
    return f"; did you mean '{one_line(found[0], 60)}'?" if found else "."
