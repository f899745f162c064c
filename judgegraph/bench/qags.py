"""QAGS on CNN/DailyMail: is a summary true to its article, judged by people and by UniEval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from judgegraph.bench.files import Collection, ResultRow, judged_by_unieval, read_results, sample_of, unieval_published
from judgegraph.meta.cells import Judgements
from judgegraph.types import Sample

FILE = "qags_cnndm_result.json"


def _rows(folder: Path) -> list[ResultRow]:
    return read_results(folder / FILE, {"consistency": "Consistency"}, ("source", "system_output"), systems=False)


def samples(folder: Path) -> Iterator[Sample]:
    """One for each summary; each is of an article of its own, so there are no groups."""
    for row in _rows(folder):
        source, output = row.texts["source"], row.texts["system_output"]
        yield sample_of(row.where, id=row.id, source=source, output=output, human=row.human)


def recorded(folder: Path) -> Mapping[str, list[Judgements]]:
    """UniEval's scores."""
    return {"": judged_by_unieval(_rows(folder), grouped=False)}


COLLECTION = Collection(
    name="qags",
    title="QAGS-CNNDM (Wang et al. 2020)",
    items="235 summaries of as many articles",
    origin="maszhongming/UniEval, reproduce/unieval_predict/fact/qags_cnndm_result.json (MIT)",
    files=(FILE,),
    criteria="summary",
    preset="unieval",
    samples=samples,
    recorded=recorded,
    published=unieval_published({"Consistency": (0.681681, 0.662255, 0.531636)}),
    folder="fact",
    notes=("people's consistency is a share from 0 to 1, the criteria set asks for 1 to 5: coefficients stand that",),
)
