"""Recorded comparisons of two systems' summaries, in both orders."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judgegraph.bench.files import field, number, read_lines
from judgegraph.calls.reading import read_choice
from judgegraph.errors import DataError
from judgegraph.meta.judgements import Judgements

VERDICTS = {"A": "A", "B": "B", "C": "tie"}  # of the first system and the second, where they stand in that order
TURNED = {"A": "B", "B": "A", "tie": "tie"}


def head_to_head(folder: Path, name: str) -> Judgements | None:
    """One criterion's comparisons: people prefer the summary with the higher mean; None where there are no files."""
    read = [_read(path) for path in sorted((folder / "judges").glob(f"*/{name.lower()}_h2h.jsonl*"))]
    if not read:
        return None
    people = {key: verdict for _, humans, _, _ in read for key, verdict in humans.items()}
    return Judgements(
        criterion=name, kind="verdict", ids=tuple(people), human=tuple((verdict,) for verdict in people.values()),
        metrics={metric: tuple(first.get(key) for key in people) for metric, _, first, _ in read},
        exchanged={metric: tuple(second.get(key) for key in people) for metric, _, _, second in read},
        groups=tuple(key.partition("/")[0] for key in people),
    )  # fmt: skip


def _read(path: Path) -> tuple[str, dict[str, str], dict[str, str | None], dict[str, str | None]]:
    """The judge, and by pair: people's verdict, its own, and its own in the exchanged order, mapped back."""
    people: dict[str, str] = {}
    first: dict[str, str | None] = {}
    second: dict[str, str | None] = {}
    for line, row in enumerate(read_lines(path), 1):
        where = f"{path}, row {line}"
        key = f"{field(row, 'id', where, str)}/{'-'.join(field(row, f'system_{n}', where, str) for n in (1, 2))}"
        letter = read_choice(field(row, "resp", where, str), "ABC").value
        verdict = VERDICTS.get(str(letter))
        swapped = field(row, "swapped", where, bool)
        (second if swapped else first)[key] = TURNED.get(verdict or "") if swapped else verdict
        preferred = _preferred(row, where)
        if people.setdefault(key, preferred) != preferred:
            raise DataError(f"{where}: other human scores than where this pair stood before")
    return f"{path.parent.name} h2h", people, first, second


def _preferred(row: Mapping[str, Any], where: str) -> str:
    one, two = (number(row, f"human_score_{n}", where) for n in (1, 2))
    return "tie" if one == two else "A" if one > two else "B"
