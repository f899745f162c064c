"""Smaller collections: QAGS (is a summary true to its article), SFRES and BAGEL (utterances for a meaning).

The first two are judged by people and by UniEval, as its authors publish them, in one file of results each.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from judgegraph.bench.files import (
    Collection,
    ResultRow,
    field,
    judged_by_unieval,
    numbers,
    read_results,
    rows_of,
    sample_of,
    unieval_published,
)
from judgegraph.types import Sample

QAGS_FILE, SFRES_FILE = "qags_cnndm_result.json", "sfres_result.json"
SFRES_CRITERIA = {"informativeness": "Informativeness", "naturalness": "Naturalness", "overall": "Quality"}


def _summaries(folder: Path) -> list[ResultRow]:
    path = folder / QAGS_FILE
    return read_results(path, {"consistency": "Consistency"}, ("source", "system_output"), systems=False)


def _utterances(folder: Path) -> list[ResultRow]:
    return read_results(
        folder / SFRES_FILE, SFRES_CRITERIA, ("source", "reference", "system_output"), systems=False
    )  # fmt: skip


def qags(folder: Path) -> Iterator[Sample]:
    """One for each summary; each is of an article of its own, so there are no groups."""
    for row in _summaries(folder):
        source, output = row.texts["source"], row.texts["system_output"]
        yield sample_of(row.where, id=row.id, source=source, output=output, human=row.human)


def sfres(folder: Path) -> Iterator[Sample]:
    """One for each utterance, those of one dialogue act together; the act is its group."""
    for row in sorted(_utterances(folder), key=lambda row: int(row.group)):
        texts = row.texts
        yield sample_of(
            row.where, id=row.id, source=texts["source"], output=texts["system_output"],
            reference=texts["reference"] or None, human=row.human, meta={"group": row.group},
        )  # fmt: skip


# BAGEL, as BARTScore's authors hold it: utterances about restaurants and hotels for meaning representations.


BAGEL_FILE = "bagel.json"
BAGEL_CRITERIA = {"informativeness": "Informativeness", "naturalness": "Naturalness", "quality": "Quality"}


def bagel(folder: Path) -> Iterator[Sample]:
    """One for each utterance, those of one meaning together; its group is the meaning, its reference the first."""
    rows = rows_of(folder / BAGEL_FILE)
    first: dict[str, int] = {}
    for where, row in rows:
        first.setdefault(field(row, "src", where, str), len(first))
    for number, (where, row) in sorted(enumerate(rows), key=lambda pair: first[pair[1][1]["src"]]):
        references = [text for text in field(row, "ref_summs", where, list) if isinstance(text, str) and text]
        human = numbers(row, "scores", where, tuple(BAGEL_CRITERIA))
        yield sample_of(
            where, id=str(number), source=row["src"], output=field(row, "sys_summ", where, str),
            reference=references[0] if references else None,
            human={BAGEL_CRITERIA[key]: value for key, value in human.items()}, meta={"group": str(first[row["src"]])},
        )  # fmt: skip


COLLECTIONS = {
    "qags": Collection(
        name="qags",
        title="QAGS-CNNDM (Wang et al. 2020)",
        items="235 summaries of as many articles",
        origin="maszhongming/UniEval, reproduce/unieval_predict/fact/qags_cnndm_result.json (MIT)",
        files=(QAGS_FILE,),
        criteria="summary",
        preset="unieval",
        samples=qags,
        recorded=lambda folder: {"": judged_by_unieval(_summaries(folder), grouped=False)},
        published=unieval_published({"Consistency": (0.681681, 0.662255, 0.531636)}),
        folder="fact",
        notes=(
            "people's consistency is a share from 0 to 1, the criteria set asks for 1 to 5: coefficients stand that",
        ),
    ),
    "sfres": Collection(
        name="sfres",
        title="SFRES (Wen et al. 2015)",
        items="1,181 utterances for 580 dialogue acts",
        origin="maszhongming/UniEval, reproduce/unieval_predict/data2text/sfres_result.json (MIT)",
        files=(SFRES_FILE,),
        criteria="data-to-text",
        preset="unieval",
        samples=sfres,
        recorded=lambda folder: {"": judged_by_unieval(_utterances(folder))},
        published=unieval_published({
            "Naturalness": (0.367252, 0.333399, 0.247094),
            "Informativeness": (0.282079, 0.224918, 0.169297),
            "Quality": (0.370815, 0.291593, 0.214708),
        }),
        folder="data2text",
    ),
    "bagel": Collection(
        name="bagel",
        title="BAGEL (Mairesse et al. 2010)",
        items="404 utterances for 202 meanings",
        origin="neulab/BARTScore, D2T/BAGEL/data.pkl, converted to JSON (Apache-2.0)",
        files=(BAGEL_FILE,),
        criteria="data-to-text",
        preset="coascore",
        samples=bagel,
        recorded=lambda folder: {},  # no judge's answers are published with it
    ),
}  # fmt: skip
