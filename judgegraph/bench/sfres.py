"""SFRES: utterances about restaurants generated from dialogue acts, judged by people and by UniEval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from judgegraph.bench.files import Collection, ResultRow, judged_by_unieval, read_results, sample_of, unieval_published
from judgegraph.meta.cells import Judgements
from judgegraph.types import Sample

FILE = "sfres_result.json"
CRITERIA = {"informativeness": "Informativeness", "naturalness": "Naturalness", "overall": "Quality"}


def _rows(folder: Path) -> list[ResultRow]:
    return read_results(folder / FILE, CRITERIA, ("source", "reference", "system_output"), systems=False)


def samples(folder: Path) -> Iterator[Sample]:
    """One for each utterance, those of one dialogue act together; the act is its group."""
    for row in sorted(_rows(folder), key=lambda row: int(row.group)):
        texts = row.texts
        yield sample_of(
            row.where, id=row.id, source=texts["source"], output=texts["system_output"],
            reference=texts["reference"] or None, human=row.human, meta={"group": row.group},
        )  # fmt: skip


def recorded(folder: Path) -> Mapping[str, list[Judgements]]:
    """UniEval's scores."""
    return {"": judged_by_unieval(_rows(folder))}


COLLECTION = Collection(
    name="sfres",
    title="SFRES (Wen et al. 2015)",
    items="1,181 utterances for 580 dialogue acts",
    origin="maszhongming/UniEval, reproduce/unieval_predict/data2text/sfres_result.json (MIT)",
    files=(FILE,),
    criteria="data-to-text",
    preset="unieval",
    samples=samples,
    recorded=recorded,
    published=unieval_published({
        "Naturalness": (0.367252, 0.333399, 0.247094),
        "Informativeness": (0.282079, 0.224918, 0.169297),
        "Quality": (0.370815, 0.291593, 0.214708),
    }),
    folder="data2text",
)  # fmt: skip
