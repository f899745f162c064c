"""Auto-J: agreement and consistency by scenario group, by the path of `judgegraph bench autoj --recorded`."""

import json

import pytest

from judgegraph.bench.autoj import COLLECTION
from judgegraph.bench.table import measured
from judgegraph.errors import DataError
from judgegraph.meta.agreement import agreement
from judgegraph.meta.conventions import chosen

AUTOJ = chosen("auto-j", resamples=0)
ITEM = {
    "row": 5, "group": "Code", "scenario": "debugging", "label": 0, "prompt": "Why?",
    "response 1": "a", "response 2": "b",
}  # fmt: skip


@pytest.mark.parametrize(
    ("group", "agrees", "same", "accurate"),
    [
        ("Summarization", 45.83, 73.61, 56.94),
        ("Code", 47.50, 75.83, 54.17),
        ("Creative Writing", 59.72, 87.04, 63.43),
        ("General Communication", 55.21, 92.36, 57.29),
    ],
)
def test_a_groups_figures_are_the_leaderboards(shared, group, agrees, same, accurate):
    found = agreement(COLLECTION.recorded(shared / "data/autoj")[""], AUTOJ)
    values = [found.row(name, criterion=group).value for name in ("agreement", "consistency", "accuracy")]
    assert [round(100 * value, 2) for value in values] == [agrees, same, accurate]


def test_the_printed_figures_of_the_groups_are_met(shared):
    table = measured(COLLECTION.recorded(shared / "data/autoj"), COLLECTION, AUTOJ)
    groups = [cell for cell in table.cells if cell.equal is not None and cell.criterion != "overall"]
    assert len(groups) == 8
    assert all(cell.equal for cell in groups)


def test_every_item_is_a_pair_with_its_group(shared):
    samples = list(COLLECTION.samples(shared / "data/autoj"))
    assert len(samples) == len({sample.id for sample in samples}) == 696
    labels = [sample.human["overall"] for sample in samples]
    assert [labels.count(label) for label in ("A", "B", "tie")] == [265, 245, 186]


def _written(folder, items, given=(), exchanged=()):
    names = ("testdata_pairwise.jsonl", "pairwise_output.jsonl", "pairwise_exchange_output.jsonl")
    for name, rows in zip(names, (items, given, exchanged), strict=True):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_the_exchanged_order_is_swapped_back(tmp_path):
    items = [{**ITEM, "row": row} for row in range(3)]
    given, exchanged = ([{"output": k} for k in order] for order in ((0, 1, 2), (1, 1, 2)))
    overall, code = COLLECTION.recorded(_written(tmp_path, items, given, exchanged))[""]
    assert overall.metrics == code.metrics == {"Auto-J": ("A", "B", "tie")}
    assert overall.exchanged == {"Auto-J": ("A", "A", "tie")}
    assert (overall.criterion, code.criterion) == ("overall", "Code")


def test_the_authors_own_file_has_scenarios_for_groups(tmp_path):
    bare = {key: value for key, value in ITEM.items() if key not in ("row", "group")}
    (sample,) = COLLECTION.samples(_written(tmp_path, [bare]))
    assert (sample.id, sample.meta["group"]) == ("1", "debugging")


def test_a_row_that_stands_twice_is_told_before_anything_is_judged(tmp_path):
    folder = _written(tmp_path, [ITEM, {**ITEM, "row": 6}, ITEM], [{"output": 0}] * 3, [{"output": 1}] * 3)
    said = r"testdata_pairwise.jsonl, row 3: the id '5' again, as row 1 has it; keep one"
    with pytest.raises(DataError, match=said):
        COLLECTION.recorded(folder)
    with pytest.raises(DataError, match=said):
        list(COLLECTION.samples(folder))


@pytest.mark.parametrize(
    ("item", "given", "said"),
    [
        ({**ITEM, "label": 4}, [{"output": 0}], r"row 1, key 'label': expected one of 0, 1, 2; got 4"),
        (ITEM, [{"output": "A"}], r"pairwise_output.jsonl, row 1, key 'output'"),
        (ITEM, [], r"pairwise_output.jsonl: 0 rows, but 1 in testdata_pairwise.jsonl"),
        (ITEM, [{"output": 0}, {"output": 0}], r"2 rows, but 1"),
    ],
)
def test_a_broken_file_is_told_with_its_place(tmp_path, item, given, said):
    folder = _written(tmp_path, [item], given, [{"output": 1}])
    with pytest.raises(DataError, match=said):
        COLLECTION.recorded(folder)
