"""LLMBar: which of two outputs follows the instruction; no ties; each judge was asked in both orders.

Source: Zeng et al. 2023 (arXiv:2310.07641).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from judgegraph.bench.files import (
    OVERALL,
    Collection,
    Published,
    as_long,
    field,
    present,
    rows_of,
    sample_of,
    verdict_of,
)
from judgegraph.errors import DataError
from judgegraph.meta.cells import Judgements
from judgegraph.types import Sample, Verdict

SUBSETS = {  # as it is called -> its folder
    "Natural": "Natural", "Neighbor": "Adversarial/Neighbor", "GPTInst": "Adversarial/GPTInst",
    "GPTOut": "Adversarial/GPTOut", "Manual": "Adversarial/Manual", "FairEval": "Processed/FairEval",
    "LLMEval^2": "Processed/LLMEval^2", "MT-Bench": "Processed/MT-Bench",
}  # fmt: skip
ORDERS = ("swap = False", "swap = True")
LABELS: dict[str, Verdict] = {"1": "A", "2": "B"}
WINNERS: dict[str, Verdict | None] = {"1": "A", "2": "B", "None": None}  # mapped back to the given order by the authors
Row = tuple[str, dict[str, Any]]


def _items(folder: Path) -> Iterator[tuple[str, list[Row]]]:
    """Each subset that is there, with its rows; the first is asked for where there is none."""
    there = [name for name, below in SUBSETS.items() if present(folder / below / "dataset.json")]
    for name in there or ["Natural"]:
        yield name, rows_of(folder / SUBSETS[name] / "dataset.json")


def _samples(folder: Path) -> Iterable[Sample]:
    for subset, rows in _items(folder):
        for number, (where, row) in enumerate(rows):
            yield sample_of(
                where, id=f"{subset}/{number}", query=field(row, "input", where, str),
                output=field(row, "output_1", where, str), rival=field(row, "output_2", where, str),
                human={OVERALL: verdict_of(row, "label", where, LABELS)}, meta={"group": subset},
            )  # fmt: skip


def _recorded(folder: Path) -> Mapping[str, list[Judgements]]:
    return {"": [_subset(folder / SUBSETS[name], name, rows) for name, rows in _items(folder)]}


def _subset(folder: Path, name: str, rows: list[Row]) -> Judgements:
    """A subset is a criterion of its own: judges were asked of some alone, and figures are printed per subset."""
    asked = {run: _verdicts(path, rows) for run, path in _runs(folder)}
    return Judgements(
        criterion=name, kind="verdict", ids=tuple(f"{name}/{number}" for number in range(len(rows))),
        human=tuple((verdict_of(row, "label", where, LABELS),) for where, row in rows),
        metrics={run: given for run, (given, _) in asked.items()},
        exchanged={run: swapped for run, (_, swapped) in asked.items()},
    )  # fmt: skip


def _runs(folder: Path) -> list[tuple[str, Path]]:
    """Judge/strategy -> its file, in alphabetical order."""
    found = sorted({path.parent for path in folder.glob("evaluators/*/*/result.json*")})
    return [(f"{path.parent.name}/{path.name}", path / "result.json") for path in found]


def _verdicts(path: Path, rows: list[Row]) -> tuple[tuple[Verdict | None, ...], tuple[Verdict | None, ...]]:
    """What one judge said in the given and in the exchanged order."""
    replies = rows_of(path)
    as_long(replies, rows, str(path), "dataset.json")
    for (where, row), (_, item) in zip(replies, rows, strict=True):
        if any(row.get(key) != item.get(key) for key in ("input", "output_1", "output_2")):
            raise DataError(f"{where}: another item than dataset.json has there; take both from one version")
    first, second = ([_winner(where, row, order) for where, row in replies] for order in ORDERS)
    return tuple(first), tuple(second)


def _winner(where: str, row: dict[str, Any], order: str) -> Verdict | None:
    """The last stage is the judge's; what stands before it are criteria or a reference that it was given."""
    stages = field(row, "results", where, list)
    if not stages or not isinstance(stages[-1], dict):
        raise DataError(f"{where}, key 'results': expected a list that ends in the judge's object")
    return verdict_of(field(stages[-1], order, where, dict), "winner", f"{where}, {order!r}", WINNERS)


def _published() -> tuple[Published, ...]:
    """Accuracy, the mean of both orders, and how often both orders had one verdict, in percent as printed."""
    figures = {
        ("GPT-4/Vanilla_NoRules", "Natural"): (93.5, 97.0), ("GPT-4/Metrics_Reference", "Natural"): (96.0, 96.0),
        ("GPT-4/Vanilla_NoRules", "Neighbor"): (64.2, 89.6), ("GPT-4/Metrics_Reference", "Neighbor"): (85.4, 94.8),
        ("GPT-4/Vanilla_NoRules", "Manual"): (75.0, 89.1), ("GPT-4/Metrics_Reference", "Manual"): (83.7, 84.8),
        ("GPT-4/Vanilla_NoRules", "MT-Bench"): (81.0, 87.0), ("GPT-4/Metrics_Reference", "MT-Bench"): (81.0, 84.0),
    }  # fmt: skip
    source = "princeton-nlp/LLMBar @ 900616b, statistics.json"
    return tuple(
        Published(judge, subset, statistic, round(percent / 100, 3), source)
        for (judge, subset), pair in figures.items()
        for statistic, percent in zip(("accuracy-mean", "consistency"), pair, strict=True)
    )


COLLECTION = Collection(
    name="llmbar",
    title="LLMBar",
    items="pairs of outputs without ties, in subsets: Natural 100, Neighbor 134, Manual 46, MT-Bench 200, and others",
    origin="princeton-nlp/LLMBar @ 900616b, Dataset/ (MIT): the subsets of LLMBar/ and Processed/ in one folder",
    files=tuple(f"{below}/dataset.json" for below in SUBSETS.values()),
    criteria="general",
    preset="llmbar",
    samples=_samples,
    recorded=_recorded,
    published=_published(),
    method="fennec",
    settings=("orders=both",),
    columns="groups",
)
