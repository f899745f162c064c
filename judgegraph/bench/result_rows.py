"""Result files as UniEval's authors publish them: a row for each output, with people's scores and UniEval's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgegraph.bench.collection import Published
from judgegraph.bench.files import field, numbers, rows_of
from judgegraph.errors import DataError
from judgegraph.meta.judgements import Judgements
from judgegraph.stats.arrays import Coefficient

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
