"""BAGEL: utterances about restaurants and hotels generated from meaning representations, judged by people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from judgegraph.bench.files import Collection, field, numbers, rows_of, sample_of
from judgegraph.meta.cells import Judgements
from judgegraph.types import Sample

FILE = "bagel.json"
CRITERIA = {"informativeness": "Informativeness", "naturalness": "Naturalness", "quality": "Quality"}


def samples(folder: Path) -> Iterator[Sample]:
    """One for each utterance, those of one meaning together; its group is the meaning, its reference the first."""
    rows = rows_of(folder / FILE)
    first: dict[str, int] = {}
    for where, row in rows:
        first.setdefault(field(row, "src", where, str), len(first))
    for number, (where, row) in sorted(enumerate(rows), key=lambda pair: first[pair[1][1]["src"]]):
        references = [text for text in field(row, "ref_summs", where, list) if isinstance(text, str) and text]
        human = numbers(row, "scores", where, tuple(CRITERIA))
        yield sample_of(
            where, id=str(number), source=row["src"], output=field(row, "sys_summ", where, str),
            reference=references[0] if references else None,
            human={CRITERIA[key]: value for key, value in human.items()}, meta={"group": str(first[row["src"]])},
        )  # fmt: skip


def recorded(folder: Path) -> Mapping[str, list[Judgements]]:
    """None: no judge's answers are published with it."""
    return {}


COLLECTION = Collection(
    name="bagel",
    title="BAGEL (Mairesse et al. 2010)",
    items="404 utterances for 202 meanings",
    origin="neulab/BARTScore, D2T/BAGEL/data.pkl, converted to JSON (Apache-2.0)",
    files=(FILE,),
    criteria="data-to-text",
    preset="coascore",
    samples=samples,
    recorded=recorded,
)
