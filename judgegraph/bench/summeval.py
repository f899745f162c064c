"""SummEval: summaries of 100 articles by 16 systems, judged by three experts; recorded judges of 12 of the systems."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

from judgegraph.bench.collection import Collection
from judgegraph.bench.files import field, numbers, read_json, sample_of
from judgegraph.bench.summeval_figures import PUBLISHED
from judgegraph.bench.summeval_judges import ANNOTATIONS, recorded_judges
from judgegraph.bench.summeval_reading import ours, theirs
from judgegraph.errors import DataError
from judgegraph.types import Sample

FILE = "summeval_human.json.gz"
NAMES = ("Coherence", "Consistency", "Fluency", "Relevance")


def samples(folder: Path) -> Iterator[Sample]:
    """One for each summary, those of an article together; its group is the article. Overall is the mean of four."""
    path = folder / FILE
    whole = read_json(path)
    if not isinstance(whole, dict):
        raise DataError(f"{path}: expected an object of articles, got {type(whole).__name__}")
    for article, row in whole.items():
        where = f"{path}, {article!r}"
        if not isinstance(row, dict):
            raise DataError(f"{where}: expected an object, got {type(row).__name__}")
        source, reference = field(row, "src", where, str), row.get("ref_summ")
        for system, held in field(row, "sys_summs", where, dict).items():
            place = f"{where}, sys_summs, {system!r}"
            if not isinstance(held, dict):
                raise DataError(f"{place}: expected an object, got {type(held).__name__}")
            scores = numbers(held, "scores", place, tuple(name.lower() for name in NAMES))
            human = {name: scores[name.lower()] for name in NAMES}
            yield sample_of(
                place, id=f"{article}/{system}", source=source, output=field(held, "sys_summ", place, str),
                reference=reference if isinstance(reference, str) and reference else None,
                human={**human, "Overall": fmean(human.values())}, meta={"group": article, "system": system},
            )  # fmt: skip


COLLECTION = Collection(
    name="summeval",
    title="SummEval (Fabbri et al. 2021)",
    items="1,600 summaries of 100 articles by 16 systems; recorded judges of 12 systems",
    origin=(
        "neulab/BARTScore, SUM/SummEval/data.pkl, converted to JSON (Apache-2.0); "
        "DAMO-NLP-SG/LLM_summeval (no licence stated)"
    ),
    files=(FILE, ANNOTATIONS, "judges/gpt-3.5-turbo-0301/coherence_rts.jsonl"),
    criteria="summary",
    preset="summeval-llm",
    samples=samples,
    recorded=lambda folder: recorded_judges(folder, NAMES, ours),
    published=PUBLISHED,
    authors=lambda folder: recorded_judges(folder, NAMES, theirs),
)
