"""MATEval on ROC stories: points off for five kinds of error; transcripts of one agent and of two that confer.

A block of a transcript without its score line is unread; the preset counts it as 0. The metrics called "every block
read" read it by its deduction or its "No" instead. The authors took the next score line there is, be it another
question's, and cut it to a whole number: with `--reading authors` 29 of their 30 figures come out.

Source: Li et al. 2024 (arXiv:2403.19305).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

from judgegraph.agents.discussion import scores_by_authors, scores_of
from judgegraph.bench.files import Collection, Published, as_long, field, present, read_text, rows_of, sample_of
from judgegraph.errors import DataError, one_line
from judgegraph.meta.cells import Judgements
from judgegraph.types import Sample

ERRORS = ("Repetition", "Logical Inconsistency", "Discontinuity", "Inappropriate Lexical Choice", "Factual Error")
STORIES, PREMISES = "ROC/dataset/ROC_test_change_new.csv", "ROC/dataset/ROC_test_change_final.json"
TRANSCRIPTS = {  # judge -> file, key of its last word
    "single agent": ("ROC/result/no_multi.json", "no_multi_agent"),
    "one-by-one": ("ROC/result/ROC_one_by_one+FB.json", "one_by_one_agent_summary"),
    "CoT": ("ROC/result/ROC_COT+FB.json", "COT_FB_agent_summary"),
}
_LINE = re.compile(r"\s*([^::]+?)\s*[::]\s*(-?\d{1,3})\s*")
Story = tuple[str, dict[str, float]]  # and people's score by kind of error
Reader = Callable[[str, tuple[str, ...]], dict[str, float | None]]  # a last word and the kinds of error -> their scores


def _stories(folder: Path) -> list[Story]:
    path = folder / STORIES
    try:
        rows = list(csv.DictReader(io.StringIO(read_text(path), newline=""), strict=True))
    except csv.Error as error:
        raise DataError(f"{path}: no CSV: {one_line(error)}") from None
    return [_story(row, f"{path}, row {at}") for at, row in enumerate(rows, 1)]


def _story(row: Mapping[str, str | None], where: str) -> Story:
    story, lines = row.get("Story"), row.get("Score_new")
    if not story or not lines:
        raise DataError(f"{where}: expected the columns 'Story' and 'Score_new' to be filled")
    read = [_LINE.fullmatch(line) for line in lines.splitlines() if line.strip()]
    scores = {line[1]: float(line[2]) for line in read if line}
    if set(scores) != set(ERRORS) or len(read) != len(ERRORS):
        raise DataError(f"{where}, 'Score_new': expected a line 'NAME:-1' for each of {', '.join(ERRORS)}")
    return story, scores


def _samples(folder: Path) -> Iterable[Sample]:
    stories = _stories(folder)
    premises = rows_of(folder / PREMISES) if present(folder / PREMISES) else []
    if premises:
        as_long(premises, stories, str(folder / PREMISES), STORIES)
    for at, (story, scores) in enumerate(stories):
        query = field(premises[at][1], "prompt", premises[at][0], str) if premises else ""
        where = f"{folder / STORIES}, row {at + 1}"
        yield sample_of(where, id=str(at), query=query, output=story, human=dict(scores))


def _recorded(folder: Path) -> Mapping[str, list[Judgements]]:
    return _read_by(folder, {"": scores_of, ", every block read": partial(scores_of, every_block=True)})


def _by_authors(folder: Path) -> Mapping[str, list[Judgements]]:
    return _read_by(folder, {"": scores_by_authors})


def _read_by(folder: Path, readers: Mapping[str, Reader]) -> Mapping[str, list[Judgements]]:
    """Every transcript by every reader, whose name stands behind the judge's."""
    stories = _stories(folder)
    by_judge: dict[str, list[dict[str, float | None]]] = {}
    for judge, (name, key) in TRANSCRIPTS.items():
        if present(folder / name):
            texts = _texts(folder / name, key, stories)
            by_judge |= {f"{judge}{more}": [read(text, ERRORS) for text in texts] for more, read in readers.items()}
    return {"": [_judgements(error, stories, by_judge) for error in ERRORS]}


def _texts(path: Path, key: str, stories: list[Story]) -> list[str]:
    rows = rows_of(path)
    as_long(rows, stories, str(path), STORIES)
    for (where, row), (story, _) in zip(rows, stories, strict=True):
        if field(row, "story", where, str) != story:
            raise DataError(f"{where}: another story than {STORIES} has there; take both from one version")
    return [field(row, key, where, str) for where, row in rows]


def _judgements(error: str, stories: list[Story], by_judge: Mapping[str, list[dict[str, float | None]]]) -> Judgements:
    metrics = {judge: tuple(scores[error] for scores in rows) for judge, rows in by_judge.items()}
    return Judgements(
        criterion=error, kind="number", ids=tuple(map(str, range(len(stories)))),
        human=tuple((scores[error],) for _, scores in stories), metrics=metrics,
        statuses={judge: tuple("unreadable" if v is None else "ok" for v in row) for judge, row in metrics.items()},
    )  # fmt: skip


_FIGURES = {  # judge -> Spearman and Kendall of each kind of error
    "single agent": ((0.699, 0.694), (0.268, 0.253), (0.318, 0.312), (0.240, 0.236), (0.545, 0.538)),
    "one-by-one": ((0.698, 0.692), (0.170, 0.160), (0.356, 0.349), (0.259, 0.248), (0.484, 0.473)),
    "CoT": ((0.743, 0.737), (0.189, 0.180), (0.288, 0.282), (0.213, 0.205), (0.502, 0.491)),
}


def _published() -> tuple[Published, ...]:
    """Spearman and Kendall as the authors print them, of the three settings whose transcripts are public."""
    return tuple(
        Published(judge, error, statistic, value, "kse-ElEvEn/MATEval @ 8ba4d10, README.md", level="dataset")
        for judge, pairs in _FIGURES.items()
        for error, pair in zip(ERRORS, pairs, strict=True)
        for statistic, value in zip(("spearman", "kendall-b"), pair, strict=True)
    )


COLLECTION = Collection(
    name="mateval",
    title="MATEval, ROC stories",
    items="200 stories, five kinds of error",
    origin="kse-ElEvEn/MATEval @ 8ba4d10, ROC/ (MIT)",
    files=(STORIES, PREMISES, *(name for name, _ in TRANSCRIPTS.values())),
    criteria="story-errors",
    preset="mateval",
    samples=_samples,
    recorded=_recorded,
    published=_published(),
    authors=_by_authors,
    notes=(
        "people take up to 3 points off for Logical Inconsistency; the criteria set's scale ends at -2, where a judge "
        "can only meet their rank",
    ),
)
