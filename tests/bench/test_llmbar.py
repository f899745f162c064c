"""LLMBar: the authors' figures for all recorded runs, by the path of `judgegraph bench llmbar --recorded`."""

import json
import re

import pytest

from judgegraph.bench.llmbar import COLLECTION, SUBSETS
from judgegraph.bench.table import measured
from judgegraph.errors import DataError
from judgegraph.meta.agreement import agreement
from judgegraph.meta.conventions import chosen

LLMBAR = chosen("llmbar", resamples=0)
ITEM = {"input": "Name a prime.", "output_1": "7", "output_2": "8", "label": 1}


@pytest.fixture(scope="module")
def folder(shared):
    return shared / "data/llmbar"


@pytest.fixture(scope="module")
def found(folder):
    return agreement(COLLECTION.recorded(folder)[""], LLMBAR, tests=False)


def _stated(text):
    """The share behind "92 / 100 = 92.0%", or the percentage alone."""
    whole = re.match(r"(\d+) / (\d+)", text)
    return int(whole[1]) / int(whole[2]) if whole else float(text.rstrip("%")) / 100


def test_accuracy_and_agreement_of_the_orders_are_the_authors_in_all_runs(folder, found):
    files = sorted(folder.rglob("statistics.json"))
    assert len(files) == 111
    subset_of = {folder / below: name for name, below in SUBSETS.items()}
    for file in files:
        stated = json.loads(file.read_text())
        run = f"{file.parent.parent.name}/{file.parent.name}"
        subset = subset_of[file.parents[3]]
        for statistic, key in (
            ("accuracy", "correct_False"), ("accuracy-exchanged", "correct_True"),
            ("accuracy-mean", "correct_average"), ("agreement", "correct_both"), ("consistency", "equal"),
        ):  # fmt: skip
            ours = found.row(statistic, run, subset).value
            assert ours == pytest.approx(_stated(stated[key]), abs=1e-12), (subset, run, key)


def test_the_printed_figures_are_met(folder):
    table = measured(COLLECTION.recorded(folder), COLLECTION, LLMBAR)
    met = [cell for cell in table.cells if cell.equal is not None]
    assert len(met) == len(COLLECTION.published) == 16
    assert not table.unequal


def test_two_empty_replies_are_equal_only_where_it_is_said(folder):
    recorded = COLLECTION.recorded(folder)[""]
    run = ("consistency", "PaLM2/Vanilla_NoRules", "Neighbor")
    counts = {
        equal: agreement(recorded, LLMBAR.replaced(unread_equal=equal), tests=False).row(*run).value * 134
        for equal in (True, False)
    }
    assert counts[True] == pytest.approx(95)
    assert counts[False] < 95


def test_every_item_is_a_pair_without_ties(folder):
    samples = list(COLLECTION.samples(folder))
    assert len(samples) == len({sample.id for sample in samples}) == 480
    assert {sample.human["overall"] for sample in samples} == {"A", "B"}
    assert [s.meta["group"] for s in samples].count("Neighbor") == 134
    assert all(sample.rival is not None for sample in samples)


def _written(tmp_path, items, results=None):
    (tmp_path / "Natural").mkdir()
    (tmp_path / "Natural/dataset.json").write_text(json.dumps(items))
    if results is not None:
        below = tmp_path / "Natural/evaluators/J/S"
        below.mkdir(parents=True)
        (below / "result.json").write_text(json.dumps(results))
    return tmp_path


BOTH = {"swap = False": {"winner": "1"}, "swap = True": {"winner": None}}


def test_the_last_stage_is_the_judges_and_none_is_unread(tmp_path):
    results = [{**ITEM, "results": [["a criterion", "stop"], BOTH]}]
    (only,) = COLLECTION.recorded(_written(tmp_path, [ITEM], results))[""]
    assert (only.metrics, only.exchanged) == ({"J/S": ("A",)}, {"J/S": (None,)})


@pytest.mark.parametrize(
    ("items", "results", "said"),
    [
        ([{**ITEM, "label": 3}], None, r"item 1, key 'label': expected one of 1, 2; got 3"),
        ([{"input": "x"}], None, r"dataset.json, item 1"),
        ({"a": "b"}, None, r"dataset.json, 'a': expected an object"),
        ([ITEM], [], r"result.json: 0 rows, but 1 in dataset.json"),
        ([ITEM], [{**ITEM, "output_1": "9", "results": [BOTH]}], r"item 1: another item than dataset.json"),
        ([ITEM], [{**ITEM, "results": []}], r"item 1, key 'results'"),
        ([ITEM], [{**ITEM, "results": [{}]}], r"key 'swap = False'"),
        ([ITEM], [{**ITEM, "results": [{**BOTH, "swap = True": {"winner": "3"}}]}], r"'swap = True', key 'winner'"),
    ],
)
def test_a_broken_file_is_told_with_its_place(tmp_path, items, results, said):
    folder = _written(tmp_path, items, results)
    with pytest.raises(DataError, match=said):
        COLLECTION.recorded(folder)


def test_an_empty_folder_is_told(tmp_path):
    with pytest.raises(DataError, match=r"Natural/dataset.json"):
        list(COLLECTION.samples(tmp_path))
