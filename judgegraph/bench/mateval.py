"""MATEval on ROC stories: points off for five kinds of error; transcripts of one agent and of two that confer.

A block of a transcript without its score line is unread; the preset counts it as 0. The metrics called "every block
read" read it by its deduction or its "No" instead.

Source: Li et al. 2024 (arXiv:2403.19305).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from judgegraph.bench.files import Collection, Published, as_long, field, present, read_text, rows_of, sample_of
from judgegraph.errors import DataError, one_line
from judgegraph.meta.cells import Judgements
from judgegraph.types import Sample

# What MATEval's transcripts say of each kind of error.
#
# A transcript is lines of the form NAME: VALUE. A question that names one kind of error opens its block, which holds
# the
# answer and mostly a score; where the score is missing, a block may say how much is deducted, or no more than that
# there
# is no such error. What is summed up over all questions stands behind the last block.


_FIELD = re.compile(r"[ \t*]*([^:\n]*?)[ \t*]*:(.*)")
_BREAK = re.compile(r"\n|\\n")  # some ends of lines stand there as two characters
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
Line = tuple[str, str]  # name in small letters, and value


def scores_of(text: str, errors: tuple[str, ...], *, every_block: bool = False) -> dict[str, float | None]:
    """Kind of error -> its score, None where its block is missing or has none.

    Args:
        errors: as the questions name them. Where a question is asked twice its last block counts.
        every_block: a block without a score is read by its deduction, else a "No" as 0.
    """
    found: dict[str, float | None] = dict.fromkeys(errors)
    for question, lines in _blocks(text):
        asked = [error for error in errors if error.casefold() in question.casefold()]
        if len(asked) == 1:
            found[asked[0]] = _score(lines, every_block)
    return found


def _blocks(text: str) -> Iterator[tuple[str, list[Line]]]:
    """Each question, with the lines up to the next one."""
    blocks: list[tuple[str, list[Line]]] = []
    for found in map(_FIELD.match, _BREAK.split(text)):
        if found is not None:
            name, value = found[1].casefold(), found[2]
            if name == "question":
                blocks.append((value, []))
            elif blocks:
                blocks[-1][1].append((name, value))
    return iter(blocks)


def _score(lines: Sequence[Line], every_block: bool) -> float | None:
    stated = _number(lines, lambda name: "score" in name and "final" not in name)
    if stated is not None or not every_block:
        return stated
    deducted = _number(lines, lambda name: name.startswith("deduction"))
    if deducted is not None:
        return -abs(deducted)
    denied = any(name == "answer" and re.match(r"\s*no\b", value, re.IGNORECASE) for name, value in lines)
    return 0.0 if denied else None


def _number(lines: Sequence[Line], named: Callable[[str], bool]) -> float | None:
    """The number that the first line so named starts with."""
    read = (_NUMBER.match(value.strip()) for name, value in lines if named(name))
    return next((float(found[0]) for found in read if found is not None), None)


ERRORS = ("Repetition", "Logical Inconsistency", "Discontinuity", "Inappropriate Lexical Choice", "Factual Error")
STORIES, PREMISES = "ROC/dataset/ROC_test_change_new.csv", "ROC/dataset/ROC_test_change_final.json"
TRANSCRIPTS = {  # judge -> file, key of its last word
    "single agent": ("ROC/result/no_multi.json", "no_multi_agent"),
    "one-by-one": ("ROC/result/ROC_one_by_one+FB.json", "one_by_one_agent_summary"),
    "CoT": ("ROC/result/ROC_COT+FB.json", "COT_FB_agent_summary"),
}
_LINE = re.compile(r"\s*([^::]+?)\s*[::]\s*(-?\d{1,3})\s*")
Story = tuple[str, dict[str, float]]  # and people's score by kind of error


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
    stories = _stories(folder)
    by_judge: dict[str, list[dict[str, float | None]]] = {}
    for judge, (name, key) in TRANSCRIPTS.items():
        if present(folder / name):
            texts = _texts(folder / name, key, stories)
            by_judge[judge] = [scores_of(text, ERRORS) for text in texts]
            by_judge[f"{judge}, every block read"] = [scores_of(text, ERRORS, every_block=True) for text in texts]
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


def _published() -> tuple[Published, ...]:
    """Spearman and Kendall as the authors print them; their rule for blocks without a score is not told."""
    figures = {
        ("single agent", "Repetition"): (0.699, 0.694), ("single agent", "Logical Inconsistency"): (0.268, 0.253),
        ("single agent", "Discontinuity"): (0.318, 0.312),
        ("single agent", "Inappropriate Lexical Choice"): (0.240, 0.236),
        ("single agent", "Factual Error"): (0.545, 0.538), ("one-by-one", "Repetition"): (0.698, 0.692),
        ("CoT", "Repetition"): (0.743, 0.737),
    }  # fmt: skip
    return tuple(
        Published(judge, error, statistic, value, "kse-ElEvEn/MATEval @ 8ba4d10, README.md", level="dataset")
        for (judge, error), pair in figures.items()
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
    notes=(
        "people take up to 3 points off for Logical Inconsistency; the criteria set's scale ends at -2, where a judge "
        "can only meet their rank",
    ),
)
