"""The paper's table: a section for each statistic at its level, a line for each judge, a column for each criterion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from judgegraph.bench.cell import PAIRS, Cell

NAMES = {"pearson": "Pearson", "spearman": "Spearman", "kendall-b": "Kendall tau-b", "kendall-c": "Kendall tau-c"}
LEVELS = {
    "dataset": "over all items", "group": "mean over groups", "system": "over means of systems",
}  # fmt: skip
MAIN = ("accuracy", "accuracy-mean", "agreement", "consistency", "kappa")  # of verdicts and labels
UNITS = {"group": "groups", "system": "systems"}


@dataclass(frozen=True)
class Line:
    """A judge's row. cells: by criterion. ours: of a run of the user's own."""

    judge: str
    cells: dict[str, Cell]

    @property
    def ours(self) -> bool:
        return any(cell.ours for cell in self.cells.values())

    @property
    def measured(self) -> bool:
        """Whether any of its numbers is ours."""
        return any(cell.measured for cell in self.cells.values())

    @property
    def n(self) -> str:
        """Items that its numbers rest on, and groups or systems among them; "" where none is ours."""
        own = [cell for cell in self.cells.values() if cell.measured]
        items = _range([cell.n for cell in own])
        return f"{items} / {_range([cell.units for cell in own])}" if own and own[0].level in UNITS else items

    @property
    def sources(self) -> tuple[str, ...]:
        """Where its published figures are from."""
        found = [cell.published.source for cell in self.cells.values() if cell.published is not None]
        return tuple(dict.fromkeys(found))


@dataclass(frozen=True)
class Section:
    """One statistic: its title, the columns in their order, and the lines, ours last."""

    heading: str
    statistic: str
    level: str
    criteria: tuple[str, ...]
    lines: tuple[Line, ...]
    judges: str = "people"  # who gave what all is held against

    @property
    def counted(self) -> str:
        """What stands in the last column."""
        return "n" if self.level not in UNITS else f"n / {'pairs' if self.statistic == PAIRS else UNITS[self.level]}"

    @property
    def title(self) -> str:
        """Such as "Spearman, over all items"."""
        ranked = f"Pairs of systems ranked as {self.judges} rank them"
        name = ranked if self.statistic == PAIRS else self.statistic
        level = "" if self.statistic == PAIRS else LEVELS.get(self.level, self.level)
        said = ", ".join(part for part in (NAMES.get(name, name), level) if part)
        return f"{self.heading}: {said}" if self.heading else said


def sections(cells: Iterable[Cell], judges: str = "people") -> list[Section]:
    """The cells sorted into tables; lines in the order of the cells, those of the user's own run last."""
    found: dict[tuple[str, str, str], list[Cell]] = {}
    for cell in cells:
        found.setdefault((cell.heading, cell.statistic, cell.level), []).append(cell)
    return [
        Section(*key, tuple(dict.fromkeys(c.criterion for c in held)), _lines(held), judges)
        for key, held in found.items()
    ]


def _lines(cells: Sequence[Cell]) -> tuple[Line, ...]:
    """A run's metric is a line of its own, even where a published judge has its name."""
    found: dict[tuple[bool, str], dict[str, Cell]] = {}
    for cell in cells:
        found.setdefault((cell.ours, cell.judge), {})[cell.criterion] = cell
    lines = [Line(judge, held) for (_, judge), held in found.items()]
    return tuple(sorted(lines, key=lambda line: (line.ours, line.measured)))


def worth_printing(section: Section) -> bool:
    """Of verdicts and labels there are more statistics than a terminal should hold; JSON has them all."""
    published = any(line.sources for line in section.lines)
    return bool(section.level) or published or section.statistic in MAIN


def shown(cell: Cell) -> str:
    """ ".448 =" where the published figure is equal, ".282 (.234)" where it is not, "(.575)" without ours."""
    digits = cell.published.digits if cell.published is not None else 3
    known = f"({figure(cell.published.value, digits)})" if cell.published is not None else ""
    if cell.statistic == PAIRS:
        ours = f"{round(cell.value * cell.units)} of {cell.units}" if cell.measured else ""
    else:
        ours = figure(cell.value, digits) if cell.measured else ""
    if not ours:
        return known or "-"
    return f"{ours} =" if cell.equal else f"{ours} {known}".rstrip()


def figure(value: float, digits: int = 3) -> str:
    """Without the zero before the point, as papers print it: ".448", "-.048", "1.000"."""
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 and text.lstrip("-").startswith("0.") else text


def spread(cell: Cell) -> str:
    """Its interval, such as "[.40,.49]", "" where it has none."""
    low, high = cell.interval
    return f"[{figure(low, 2)},{figure(high, 2)}]" if low == low and high == high else ""


def _range(counts: Sequence[int]) -> str:
    low, high = (min(counts), max(counts)) if counts else (0, 0)
    return "" if not counts else f"{low:,}" if low == high else f"{low:,}-{high:,}"
