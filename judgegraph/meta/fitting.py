"""What can be held against what people said: numbers, labels and verdicts do not mix, and an annotator may lack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judgegraph.errors import ConfigError, one_line
from judgegraph.meta.annotators import width
from judgegraph.meta.cells import known_labels, said
from judgegraph.meta.judgements import Judgements, Kind
from judgegraph.meta.raw import Raw
from judgegraph.meta.vocabulary import listed, strange
from judgegraph.types import Verdict

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
        said_first = next(cell for cell in raw.metrics.pop(name) if said(cell, labels))
        del raw.statuses[name]
        what = f"{one_line(raw.criterion, 60)}: {one_line(name, 60)}"
        notes.append(
            f"{what} never says one of people's labels ({listed(labels)}), but '{one_line(said_first, 40)}', left out"
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
    return (str(cell).strip().casefold() for cell in people if said(cell))
