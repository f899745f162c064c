"""OpenMEVA: short stories of five systems for a first sentence, judged by people, ChatGPT and automatic metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from judgegraph.bench.files import Collection, Published, distinct, field, number, rows_of, sample_of
from judgegraph.errors import DataError
from judgegraph.meta.cells import Judgements
from judgegraph.types import Sample

FILE = "openmeva.json"
METRICS = {  # key in the file -> the metric; precision and recall of those with an F are left out
    "chatgpt": "ChatGPT", "rouge1-f": "ROUGE-1", "rouge2-f": "ROUGE-2", "rougel-f": "ROUGE-L",
    "bertscore-f": "BERTScore", "meteor": "METEOR", "bartscore_cnn_pa": "BARTScore-CNN-para",
}  # fmt: skip
SOURCE = "krystalan/chatgpt_as_nlg_evaluator, data/openmeva.json, all 200 prompts"


def _stories(folder: Path) -> Iterator[tuple[str, dict[str, Any], str, dict[str, Any]]]:
    """Place, prompt's row, system and its story."""
    rows = rows_of(folder / FILE)
    distinct(folder / FILE, ((where, field(row, "doc_id", where, str)) for where, row in rows))
    for where, row in rows:
        for system, held in field(row, "gen", where, dict).items():
            place = f"{where}, gen, {system!r}"
            if not isinstance(held, dict):
                raise DataError(f"{place}: expected an object with text and score, got {type(held).__name__}")
            yield place, row, system, held


def samples(folder: Path) -> Iterator[Sample]:
    """One for each story; its group is the prompt."""
    for where, row, system, held in _stories(folder):
        group = field(row, "doc_id", where, str)
        human = number(field(held, "score", where, dict), "human", f"{where}, score")
        query = f"Continue this into a short story: {field(row, 'prompt', where, str)}"
        yield sample_of(
            where, id=f"{group}/{system}", query=query,
            output=field(held, "text", where, str), reference=field(row, "reference", where, str) or None,
            human={"Overall": human}, meta={"group": group, "system": system},
        )  # fmt: skip


def recorded(folder: Path) -> Mapping[str, list[Judgements]]:
    """ChatGPT's stars, and automatic metrics that compare with the one reference."""
    found = [
        (field(row, "doc_id", where, str), system, field(held, "score", where, dict), f"{where}, score")
        for where, row, system, held in _stories(folder)
    ]
    known = [key for key in METRICS if all(key in scores for _, _, scores, _ in found)]
    return {"": [
        Judgements(
            criterion="Overall", kind="number", ids=tuple(f"{group}/{system}" for group, system, _, _ in found),
            human=tuple((number(scores, "human", where),) for _, _, scores, where in found),
            metrics={METRICS[key]: tuple(number(scores, key, where) for _, _, scores, where in found) for key in known},
            groups=tuple(group for group, _, _, _ in found), systems=tuple(system for _, system, _, _ in found),
        )
    ]}  # fmt: skip


COLLECTION = Collection(
    name="openmeva",
    title="OpenMEVA-ROC (Guan et al. 2021)",
    items="1,000 stories for 200 prompts by 5 systems",
    origin="krystalan/chatgpt_as_nlg_evaluator, data/openmeva.json (no licence stated)",
    files=(FILE,),
    criteria="story",
    preset="coascore",
    samples=samples,
    recorded=recorded,
    published=tuple(
        Published("ChatGPT", "Overall", statistic, value, SOURCE, level)
        for level, values in (("dataset", (0.415, 0.439, 0.342)), ("group", (0.472, 0.490, 0.427)))
        for statistic, value in zip(("spearman", "pearson", "kendall-b"), values, strict=True)
    ),
)
