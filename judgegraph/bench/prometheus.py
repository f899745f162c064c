"""Prometheus' Vicuna set: one response scored by a rubric of its own; the scores are GPT-4's, three times over.

No person scored these items: what is measured is agreement with GPT-4. Each item's prompt is taken apart: the task is
the sample's query, the reference answer its reference, the rubric its source, so that one criterion, "Rubric", serves
all items (criteria set `rubric`). `criterion_of` gives the item's own criterion, with its guideline.

Source: Kim et al. 2023 (arXiv:2310.08491).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from judgegraph.bench.files import Collection, distinct, field, number, rows_of, sample_of
from judgegraph.errors import DataError, one_line
from judgegraph.meta.cells import Judgements
from judgegraph.types import Criterion, Sample, Scale, text_of

ITEMS, RUBRIC, RUNS = "vicuna_eval.json", "Rubric", 3
PARTS = {  # of a prompt, in their order: heading -> what stands under it
    "Task Description:": "about", "The instruction to evaluate:": "task", "Response to evaluate:": "response",
    "Reference Answer (Score 5):": "reference", "Score Rubrics:": "rubric", "Feedback:": "end",
}  # fmt: skip
_HEADING = re.compile("^###(" + "|".join(map(re.escape, PARTS)) + ")[ \\t]*$", re.MULTILINE)
_RUBRIC = re.compile(r"\[(?P<question>[^\n]+)\]\n(?P<points>Score 1: .*)", re.DOTALL)


def parts_of(prompt: str, where: str) -> dict[str, str]:
    """The task, response, reference and rubric of a prompt.

    Raises:
        DataError: a heading is missing, stands twice or out of its order; no rubric under its heading.
    """
    found = list(_HEADING.finditer(prompt))
    if [heading[1] for heading in found] != list(PARTS):
        got = one_line(", ".join(heading[1] for heading in found), 300) or "none"
        raise DataError(f"{where}, key 'instruction': expected the headings {', '.join(PARTS)}; got {got}")
    ends = [heading.start() for heading in found[1:]] + [len(prompt)]
    texts = [prompt[heading.end() : end].strip() for heading, end in zip(found, ends, strict=True)]
    parts = dict(zip(PARTS.values(), texts, strict=True))
    if not _RUBRIC.fullmatch(parts["rubric"]):
        raise DataError(f"{where}, key 'instruction': expected a rubric '[question]' and lines 'Score 1: ...' to 5")
    return parts


def criterion_of(sample: Sample) -> Criterion:
    """The criterion of one item: its rubric's question, what each score means as its guideline.

    Raises:
        DataError: the sample's source holds no such rubric.
    """
    rubric = _RUBRIC.fullmatch(text_of(sample.source))
    if rubric is None:
        raise DataError(f"sample {sample.id}: its source is no rubric of Prometheus")
    return Criterion(name=RUBRIC, definition=rubric["question"], scale=Scale.of("1-5"), guideline=rubric["points"])


def _id(row: Mapping[str, Any], where: str) -> tuple[str, str]:
    """Which query, and whose response."""
    return str(int(number(row, "idx", where))), field(row, "response_source", where, str)


def _items(folder: Path) -> list[tuple[str, dict[str, Any]]]:
    rows = rows_of(folder / ITEMS)
    distinct(folder / ITEMS, ((where, "/".join(_id(row, where))) for where, row in rows))
    return rows


def _scores(row: Mapping[str, Any], where: str) -> list[float]:
    scores = field(row, "gpt4_score", where, list)
    if len(scores) != RUNS:
        raise DataError(f"{where}, key 'gpt4_score': expected {RUNS} scores, got {len(scores)}")
    return [number({"gpt4_score": score}, "gpt4_score", where) for score in scores]


def _samples(folder: Path) -> Iterable[Sample]:
    for where, row in _items(folder):
        parts = parts_of(field(row, "instruction", where, str), where)
        query, system = _id(row, where)
        yield sample_of(
            where, id=f"{query}/{system}", query=parts["task"], source=parts["rubric"], output=parts["response"],
            reference=parts["reference"], human={RUBRIC: _scores(row, where)},
            meta={"group": query, "system": system, "category": row.get("category", "")},
        )  # fmt: skip


def _recorded(folder: Path) -> Mapping[str, list[Judgements]]:
    """Each run of GPT-4 against every later one: the three pairs that there are; and all three as annotators."""
    rows = [(_id(row, where), _scores(row, where)) for where, row in _items(folder)]
    ids = tuple("/".join(name) for name, _ in rows)
    runs = Judgements(RUBRIC, "number", ids, human=tuple(tuple(scores) for _, scores in rows), metrics={})
    return {"": [runs]} | {
        f"against GPT-4's run {run + 1}": [Judgements(
            criterion=RUBRIC, kind="number", ids=ids,
            human=tuple((scores[run],) for _, scores in rows),
            metrics={f"GPT-4, run {k + 1}": tuple(scores[k] for _, scores in rows) for k in range(run + 1, RUNS)},
            groups=tuple(query for (query, _), _ in rows), systems=tuple(system for (_, system), _ in rows),
        )]
        for run in range(RUNS - 1)
    }  # fmt: skip


COLLECTION = Collection(
    name="prometheus",
    title="Prometheus, Vicuna set (scores by GPT-4)",
    items="320 responses with a rubric of their own, scored three times by GPT-4",
    origin="prometheus-eval/prometheus-eval @ dcfb442, eval/benchmark/data/ (Apache-2.0)",
    files=(ITEMS,),
    criteria="rubric",
    preset="prometheus",
    samples=_samples,
    recorded=_recorded,
    judges="GPT-4's runs",
)
