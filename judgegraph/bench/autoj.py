"""Auto-J's pairwise test: which of two responses is better, or neither, by scenario; Auto-J asked in both orders.

Source: Li et al. 2023 (arXiv:2310.05470). Fennec calls it Auto-P.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from judgegraph.bench.files import (
    OVERALL,
    SWAPPED,
    Collection,
    Published,
    as_long,
    distinct,
    field,
    present,
    read_lines,
    sample_of,
    verdict_of,
)
from judgegraph.meta.cells import Judgements
from judgegraph.types import Sample, Verdict

ITEMS = "testdata_pairwise.jsonl"
GIVEN, EXCHANGED = "pairwise_output.jsonl", "pairwise_exchange_output.jsonl"
LABELS: dict[str, Verdict] = {"0": "A", "1": "B", "2": "tie"}
JUDGE = "Auto-J"


def _rows(path: Path) -> list[tuple[str, dict[str, Any]]]:
    return [(f"{path}, row {number}", row) for number, row in enumerate(read_lines(path), 1)]


def _items(folder: Path) -> list[tuple[str, dict[str, Any]]]:
    rows = _rows(folder / ITEMS)
    distinct(folder / ITEMS, ((where, _id(row, where)) for where, row in rows))
    return rows


def _id(row: Mapping[str, Any], where: str) -> str:
    return str(row["row"]) if isinstance(row.get("row"), int) else where.rpartition(" ")[2]


def _group(row: Mapping[str, Any], where: str) -> str:
    """The scenario's group; the authors' own file has none, there the scenario stands for it."""
    return field(row, "group" if "group" in row else "scenario", where, str)


def _samples(folder: Path) -> Iterable[Sample]:
    for where, row in _items(folder):
        yield sample_of(
            where, id=_id(row, where), query=field(row, "prompt", where, str),
            output=field(row, "response 1", where, str), rival=field(row, "response 2", where, str),
            human={OVERALL: verdict_of(row, "label", where, LABELS)},
            meta={"group": _group(row, where), "scenario": row.get("scenario", "")},
        )  # fmt: skip


def _verdicts(folder: Path, name: str, items: int) -> list[Verdict]:
    rows = _rows(folder / name)
    as_long(rows, range(items), str(folder / name), ITEMS)
    return [verdict_of(row, "output", where, LABELS) for where, row in rows]


def _recorded(folder: Path) -> Mapping[str, list[Judgements]]:
    """All items, then each group by itself: the leaderboard's figures are by group."""
    rows = _items(folder)
    if not (present(folder / GIVEN) and present(folder / EXCHANGED)):
        return {}
    given = _verdicts(folder, GIVEN, len(rows))
    exchanged = [SWAPPED[verdict] for verdict in _verdicts(folder, EXCHANGED, len(rows))]
    groups = [_group(row, where) for where, row in rows]

    def judged(criterion: str, places: list[int]) -> Judgements:
        return Judgements(
            criterion=criterion, kind="verdict", ids=tuple(_id(rows[at][1], rows[at][0]) for at in places),
            human=tuple((verdict_of(rows[at][1], "label", rows[at][0], LABELS),) for at in places),
            metrics={JUDGE: tuple(given[at] for at in places)},
            exchanged={JUDGE: tuple(exchanged[at] for at in places)},
        )  # fmt: skip

    each = {name: [at for at, group in enumerate(groups) if group == name] for name in dict.fromkeys(groups)}
    return {"": [judged(OVERALL, list(range(len(rows)))), *(judged(name, places) for name, places in each.items())]}


def _published() -> tuple[Published, ...]:
    groups = {
        "Summarization": (45.83, 73.61), "Code": (47.50, 75.83),
        "Creative Writing": (59.72, 87.04), "General Communication": (55.21, 92.36),
    }  # fmt: skip
    fennec = {
        "GPT-4": (62.28, 86.28), "GPT-3.5": (42.74, 62.43), "Zephyr": (31.15, 57.21),
        "Zephyr, Auto-J's data": (51.67, 82.06), "Zephyr, JudgeLM's data": (46.98, 84.48),
        "PandaLM": (39.44, 66.88), "JudgeLM": (46.96, 72.30), JUDGE: (54.96, 83.41),
        "Fennec": (56.63, 86.32), "Fennec-bridging": (57.40, 87.00),
    }  # fmt: skip
    board, table = "GAIR-NLP/auto-j @ 2ae17a3, README.md, leaderboard", "Fennec (arXiv:2405.12163), table 2"
    rows = [(JUDGE, group, pair, board) for group, pair in groups.items()]
    rows += [(judge, OVERALL, pair, f"{table}: all 1,392 items") for judge, pair in fennec.items()]
    return tuple(
        Published(judge, criterion, name, round(percent / 100, 4), source, digits=4)
        for judge, criterion, pair, source in rows
        for name, percent in zip(("agreement", "consistency"), pair, strict=True)
    )


COLLECTION = Collection(
    name="autoj",
    title="Auto-J pairwise (Auto-P)",
    items="1,392 pairs of responses in eight groups of scenarios",
    origin="prometheus-eval/prometheus-eval @ dcfb442, eval/benchmark/autoj_utils/ (Apache-2.0), or "
    "GAIR-NLP/auto-j @ 2ae17a3 (no licence stated); `group` in each row is of the scenario's",
    files=(ITEMS, GIVEN, EXCHANGED),
    criteria="general",
    preset="auto-j",
    samples=_samples,
    recorded=_recorded,
    published=_published(),
    method="fennec",
    settings=("orders=both",),
    columns="groups",
)
