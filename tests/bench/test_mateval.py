"""MATEval: points off for errors, read from transcripts by the path of `judgegraph bench mateval --recorded`."""

import csv
import json

import pytest

from judgegraph.agents.discussion import scores_by_authors, scores_of
from judgegraph.bench.mateval import COLLECTION, ERRORS
from judgegraph.bench.table import measured
from judgegraph.errors import DataError
from judgegraph.meta.agreement import agreement
from judgegraph.meta.conventions import chosen

MATEVAL = chosen("mateval", resamples=0)
LINES = "\n".join(f"{error}:-1" for error in ERRORS)


@pytest.fixture(scope="module")
def found(shared):
    return agreement(COLLECTION.recorded(shared / "data/mateval")[""], MATEVAL, tests=False)


@pytest.mark.parametrize(
    ("judge", "error", "spearman", "kendall"),
    [
        ("single agent", "Repetition", 0.699, 0.694),
        ("single agent", "Logical Inconsistency", 0.268, 0.253),
        ("single agent", "Factual Error", 0.545, 0.538),
        ("single agent", "Discontinuity", 0.373, 0.366),
        ("single agent", "Inappropriate Lexical Choice", 0.263, 0.260),
        ("one-by-one", "Repetition", 0.698, 0.692),
        ("CoT", "Repetition", 0.739, 0.734),
    ],
)
def test_agreement_with_people_is_as_reproduced(found, judge, error, spearman, kendall):
    values = [found.row(name, judge, error).value for name in ("spearman", "kendall-b")]
    assert [round(value, 3) for value in values] == [spearman, kendall]


@pytest.mark.parametrize(
    ("reading", "equal", "other"),
    [
        (COLLECTION.authors, 29, {("CoT", "Repetition", "kendall-b"): 0.740}),
        (COLLECTION.recorded, 8, None),
    ],
    ids=["as the authors read", "block by block"],
)
def test_29_of_the_30_published_figures_come_out_as_the_authors_read(shared, reading, equal, other):
    table = measured(reading(shared / "data/mateval"), COLLECTION, MATEVAL)
    assert len(table.unequal) == 30 - equal
    assert sum(cell.equal is True for cell in table.cells) == equal
    apart = {(cell.judge, cell.criterion, cell.statistic): round(cell.value, 3) for cell in table.unequal}
    assert other is None or apart == other


def test_blocks_without_a_score_line_are_unread_and_none_is_where_every_block_is_read(found):
    unread = {row.metric: 0 for row in found.rows}
    for row in found.rows:
        if row.statistic == "spearman":
            unread[row.metric] += sum(row.unread.values())
    assert unread["single agent"] == 31
    assert all(count == 0 for metric, count in unread.items() if metric.endswith("every block read"))


def test_every_story_has_five_scores_and_its_premise(shared):
    samples = list(COLLECTION.samples(shared / "data/mateval"))
    assert len(samples) == 200
    assert all(tuple(sample.human) == ERRORS and sample.query for sample in samples)


BLOCK = "Question: any '{}' here?\nAnswer: {}\n{}\n"


@pytest.mark.parametrize(
    ("text", "stated", "every"),
    [
        (BLOCK.format("Repetition", "Yes", "Score: -1"), -1, -1),
        (BLOCK.format("repetition", "Yes", "Its score: -0.5 point"), -0.5, -0.5),
        (BLOCK.format("Repetition", "Yes", "**Score**: -2 points (1 each)"), -2, -2),
        (BLOCK.format("Repetition", "Yes", "Deduction: 1 point"), None, -1),
        (BLOCK.format("Repetition", "Yes", "Deductions: -2"), None, -2),
        (BLOCK.format("Repetition", "No", ""), None, 0),
        (BLOCK.format("Repetition", "None can say", ""), None, None),
        (BLOCK.format("Repetition or Factual Error", "No", "Score: -1"), None, None),
        (BLOCK.format("Wit", "Yes", "Score: -1"), None, None),
        ("The story asks a Question: is it Repetition? Score: -1", None, None),
        ("Final Score: -3", None, None),
        (BLOCK.format("Repetition", "Yes", "Final Score: -3"), None, None),
        ("Question: any 'Repetition'?\\nAnswer: No.\\nScore: 0", 0, 0),
        ("", None, None),
    ],
)
def test_a_block_is_read_by_its_score_line_else_by_what_it_says(text, stated, every):
    assert scores_of(text, ERRORS)["Repetition"] == stated
    assert scores_of(text, ERRORS, every_block=True)["Repetition"] == every


def test_a_score_is_taken_from_its_own_block_alone_and_by_the_authors_from_the_next():
    text = BLOCK.format("Repetition", "No", "") + BLOCK.format("Factual Error", "Yes", "Score: -1")
    found, theirs = scores_of(text, ERRORS), scores_by_authors(text, ERRORS)
    assert (found["Repetition"], found["Factual Error"], found["Discontinuity"]) == (None, -1, None)
    assert (theirs["Repetition"], theirs["Factual Error"], theirs["Discontinuity"]) == (-1, -1, 0)


def test_the_authors_cut_a_half_point_off():
    assert scores_by_authors(BLOCK.format("Repetition", "Yes", "Score: -0.5"), ERRORS)["Repetition"] == 0


def _written(folder, scores=LINES, story="Once.", transcripts=None):
    (folder / "ROC/dataset").mkdir(parents=True)
    (folder / "ROC/result").mkdir()
    with (folder / "ROC/dataset/ROC_test_change_new.csv").open("w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file).writerows([("Original Story", "Story", "Score_new"), ("x", story, scores)])
    if transcripts is not None:
        (folder / "ROC/result/no_multi.json").write_text(json.dumps(transcripts))
    return folder


def test_missing_transcripts_and_premises_leave_the_stories(tmp_path):
    folder = _written(tmp_path)
    (sample,) = COLLECTION.samples(folder)
    assert (sample.query, sample.output, sample.human["Repetition"]) == ("", "Once.", -1)
    assert all(not one.metrics for one in COLLECTION.recorded(folder)[""])


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"scores": "Repetition:-1"}, r"row 1, 'Score_new': expected a line 'NAME:-1' for each of"),
        ({"scores": LINES.replace("Factual Error:-1", "Factual Error:many")}, r"row 1, 'Score_new'"),
        ({"scores": ""}, r"row 1: expected the columns 'Story' and 'Score_new'"),
        ({"transcripts": []}, r"0 rows, but 1"),
        ({"transcripts": [{"story": "Twice.", "no_multi_agent": ""}]}, r"item 1: another story"),
        ({"transcripts": [{"story": "Once."}]}, r"item 1, key 'no_multi_agent': expected text, got nothing"),
    ],
)
def test_a_broken_file_is_told_with_its_place(tmp_path, changed, said):
    folder = _written(tmp_path, **changed)
    with pytest.raises(DataError, match=said):
        COLLECTION.recorded(folder)
