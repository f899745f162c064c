"""PandaLM: majority, kappas and GPT-3.5's figures, by the path of `judgegraph bench pandalm --recorded`."""

import json
from collections import Counter

import pytest

from judgegraph.bench.measure import measured
from judgegraph.bench.pandalm import COLLECTION
from judgegraph.errors import DataError
from judgegraph.meta.agreement import agreement
from judgegraph.meta.annotators import people
from judgegraph.meta.conventions import chosen
from judgegraph.stats.labels import cohen_kappa

PANDALM = chosen("pandalm", resamples=0)
NAMES = ("accuracy", "macro-precision", "macro-recall", "macro-f1")
ITEM = {
    "idx": 0, "cmp_key": "x_y", "instruction": "Add.", "input": "1 1", "response1": True, "response2": "2",
    "annotator1": 2, "annotator2": 0, "annotator3": 2,
}  # fmt: skip


@pytest.fixture(scope="module")
def recorded(shared):
    (only,) = COLLECTION.recorded(shared / "data/pandalm")[""]
    return only


def test_the_majority_splits_as_published(recorded):
    assert Counter(people(recorded, PANDALM)) == {"tie": 105, "A": 422, "B": 472}


def test_the_annotators_agree_as_published(recorded):
    first, second, third = zip(*recorded.human, strict=True)
    kappas = [cohen_kappa(a, b) for a, b in ((first, second), (first, third), (second, third))]
    assert sorted(round(kappa, 3) for kappa in kappas) == [0.852, 0.862, 0.879]


@pytest.mark.parametrize(
    ("unreadable", "figures"),
    [("tie", (0.7107, 0.5879, 0.5736, 0.5755)), ("zero", (0.6977, 0.5365, 0.5324, 0.5274))],
    ids=["garbage is a tie, as the authors count", "garbage is wrong"],
)
def test_gpt_agrees_with_the_majority_as_published(recorded, unreadable, figures):
    found = agreement([recorded], PANDALM.replaced(unreadable=unreadable))
    assert tuple(round(found.row(name).value, 4) for name in NAMES) == figures
    assert found.row("accuracy").unread == {"unreadable": 25}


def test_the_printed_figures_are_met(shared):
    table = measured(COLLECTION.recorded(shared / "data/pandalm"), COLLECTION, PANDALM)
    assert [cell.statistic for cell in table.cells if cell.equal] == list(NAMES)
    assert not table.unequal


def test_every_item_is_a_pair_of_two_named_systems(shared):
    samples = list(COLLECTION.samples(shared / "data/pandalm"))
    assert len(samples) == len({sample.id for sample in samples}) == 999
    assert len({s.meta[key] for s in samples for key in ("system", "rival_system")}) == 5
    assert all(len(sample.human["overall"]) == 3 for sample in samples)


def _written(folder, items, answers=None):
    (folder / "testset-v1.json").write_text(json.dumps(items))
    if answers is not None:
        (folder / "gpt-3.5-turbo-testset-v1.json").write_text(json.dumps(answers))
    return folder


def test_a_reply_stored_as_true_is_a_text_again(tmp_path):
    (sample,) = COLLECTION.samples(_written(tmp_path, [ITEM]))
    assert (sample.output, sample.rival, sample.human) == ("True", "2", {"overall": ["B", "tie", "B"]})
    assert sample.meta == {"system": "x", "rival_system": "y"}


def test_without_the_judges_file_nobody_was_recorded(tmp_path):
    assert COLLECTION.recorded(_written(tmp_path, [ITEM])) == {}


@pytest.mark.parametrize(
    ("item", "answers", "said"),
    [
        ({**ITEM, "annotator2": 3}, [{"idx": "0", "gpt_result": "1"}], r"item 1, key 'annotator2': .* got 3"),
        ({**ITEM, "annotator2": True}, [{"idx": "0", "gpt_result": "1"}], r"key 'annotator2'"),
        (ITEM, [{"idx": "0", "gpt_result": "?"}], r"key 'gpt_result': expected one of 1, 2, Tie, garbage; got '\?'"),
        (ITEM, [{"idx": "0"}], r"key 'gpt_result': .* got nothing"),
        (ITEM, [{"idx": "1", "gpt_result": "1"}], r"another idx"),
        (ITEM, [], r"0 rows, but 1"),
        ({**ITEM, "idx": None}, [{"idx": "0", "gpt_result": "1"}], r"key 'idx'"),
    ],
)
def test_a_broken_file_is_told_with_its_place(tmp_path, item, answers, said):
    folder = _written(tmp_path, [item], answers)
    with pytest.raises(DataError, match=said):
        COLLECTION.recorded(folder)
