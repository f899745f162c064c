"""Cells of tables, and labels of samples, as answers: numbers, labels, verdicts."""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterable, Mapping
from typing import Any

from judgegraph.errors import ConfigError, one_line
from judgegraph.meta.judgements import Answer, Kind
from judgegraph.types import Verdict

MISSING = frozenset(("", "nan", "na", "n/a", "null", "none", "-"))  # unless it is one of people's labels
NOTHING = MISSING - {"none", "-"}  # never a label of people but by an order: these two may well be some
WORDS: Mapping[str, Verdict] = {
    **dict.fromkeys(("a", "[[a]]", "first", "output", "response 1", "response1", "output_1", "model_a", "a wins"), "A"),
    **dict.fromkeys(("b", "[[b]]", "second", "rival", "response 2", "response2", "output_2", "model_b", "b wins"), "B"),
    **dict.fromkeys(("tie", "c", "[[c]]", "equal", "draw", "same", "both", "tie (inconsistent)"), "tie"),
}  # type: ignore[dict-item, unused-ignore]
ANEW = "and run it again into another folder, with --ledger RUN/ledger.sqlite: replies that it has cost nothing"
MOST = 1e100  # of a number, so that sums of squares stay numbers
_NUMBER = re.compile(r"[+-]?(\d{1,300}(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")
_FIGURE = re.compile(r"[+-]?\d{1,9}([.,]\d{1,9})?\s?(%|/\s?\d{1,9}|)")  # such as 1,5 and 4/5: meant as a number
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


def said(cell: Any, words: Container[str] = ()) -> bool:
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
        if said(cell):
            shown = f"'{one_line(cell, 30)}'" + (f", {place}" if of_run else "")
            (numbers if number(cell) is not None else words).setdefault(word(cell).casefold(), shown)
    if not words:
        return "number"
    if words.keys() <= WORDS.keys():
        return "verdict"
    if not numbers and all(_FIGURE.fullmatch(key) for key in words):
        raise ConfigError(
            f"{where}: people's judgements are written as {next(iter(words.values()))}, which is no number; write "
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
    if not said(cell, words) or isinstance(cell, list | dict):
        return None
    if kind == "number":
        return number(cell)
    return words.get(word(cell).casefold(), word(cell) if kind == "label" else None)
