"""Whether a metric and people speak of the same things: what is refused, and what is noted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from judgegraph.errors import ConfigError, one_line
from judgegraph.meta.cells import empty, said, word
from judgegraph.meta.judgements import Answer, Kind

TIES = ("tie", "draw")  # where one of these stands among numbers, the numbers are verdicts


def foreign(cells: Iterable[Any], labels: Mapping[str, Answer]) -> list[int]:
    """Places of the cells that say something, and none of the labels (by casefolded word)."""
    return [at for at, cell in enumerate(cells) if said(cell, labels) and word(cell).casefold() not in labels]


def strange(cells: Sequence[Any], labels: Mapping[str, Answer]) -> bool:
    """Whether a metric says something, and never one of the labels that people know."""
    return bool(labels) and 0 < len(foreign(cells, labels)) == sum(said(cell, labels) for cell in cells)


def refuse_other(
    name: str, cells: Sequence[Any], answers: Sequence[Answer | None], kind: Kind, words: Mapping[str, Answer],
    places: Sequence[str], where: str,
) -> None:  # fmt: skip
    """A metric that says much and of which nothing can be read, or is a label of people's, speaks another language.

    Raises:
        ConfigError: it does.
    """
    full = [at for at, cell in enumerate(cells) if said(cell, words)]
    if kind == "label":
        mute = full if strange(cells, words) else []
        gave, says = f"people's labels are {listed(words)}", "never says one, but"
        hint = "write both in the same words, or name all labels, such as --order poor,fair,good"
    else:
        ties = [at for at in full if word(cells[at]).casefold() in TIES]
        mute = full if all(a is None for a in answers) else ties if kind == "number" else []
        gave, says = f"people gave {kind}s", "says"
        hint = "say what they are: --kind number, label or verdict, --verdicts A=WORD,B=WORD"
    if mute:
        cell = one_line(cells[mute[0]], 40)
        raise ConfigError(
            f"{where}: {gave}, and metric '{one_line(name, 60)}' {says} '{cell}' ({places[mute[0]]}); {hint}"
        )


def notes(
    criterion: str, human: Iterable[Sequence[Any]], metrics: Mapping[str, Sequence[Any]], labels: Mapping[str, Answer]
) -> Iterator[str]:  # fmt: skip
    """Of labels: cells of people that count as none, and metrics that mostly say what people never do."""
    of = f"{one_line(criterion, 60)}: " if criterion else ""
    silent = Counter(cell.strip() for cells in human for cell in cells if _silent(cell, labels))
    for text, count in silent.items():
        yield (
            f"{of}'{text}' counts as no judgement of people ({count:,} of them); it is a label where --order names it"
        )
    for name, cells in metrics.items():
        full, other = sum(said(cell, labels) for cell in cells), foreign(cells, labels)
        if 2 * len(other) > full:
            yield (
                f"{of}{one_line(name, 60)}: {len(other):,} of {full:,} answers are none of people's labels, such as "
                f"'{one_line(cells[other[0]], 40)}', and count as wrong"
            )


def _silent(cell: Any, labels: Mapping[str, Answer]) -> bool:
    return isinstance(cell, str) and not empty(cell) and not said(cell, labels)


def listed(labels: Mapping[str, Answer]) -> str:
    """A few of the labels."""
    shown = ", ".join(one_line(label, 30) for label in list(labels.values())[:6])
    return shown + (", ..." if len(labels) > 6 else "")
