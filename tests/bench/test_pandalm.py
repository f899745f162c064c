"""PandaLM: majority, kappas and GPT-3.5's figures, by the path of `judgegraph bench pandalm --recorded`."""

import json

import pytest
from click.testing import CliRunner

from judgegraph.bench.pandalm import COLLECTION
from judgegraph.bench.table import measured
from judgegraph.cli import main
from judgegraph.errors import DataError
from judgegraph.meta.agreement import agreement
from judgegraph.meta.conventions import chosen

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


def test_the_annotators_agree_and_their_majority_splits_as_published(shared):
    """Cohen's kappa .852 / .879 / .862 and 105 / 422 / 472, as ../shared/data/README.md has them."""
    command = ["bench", "pandalm", "--data", str(shared / "data"), "--recorded", "--resamples", "0"]
    (told,) = json.loads(CliRunner().invoke(main, [*command, "--json"]).stdout)["among"]
    assert [round(kappa, 3) for kappa in told["pairs"]["kappa"]] == [0.852, 0.879, 0.862]
    assert told["split"] == {"tie": 105, "A": 422, "B": 472}
    text = " ".join(CliRunner().invoke(main, command).stdout.split())
    assert "two by two (1-2, 1-3, 2-3), n 999: kappa .852 .879 .862, mean .864; A 422, B 472, tie 105" in text


def test_both_references_are_printed_and_told_apart(recorded, shared):
    table = measured({"": [recorded]}, COLLECTION, PANDALM)
    found = {cell.judge: cell.value for cell in table.cells if cell.statistic == "accuracy" and cell.measured}
    first = [row[0] for row in recorded.human]
    said = [answer or "tie" for answer in recorded.metrics["GPT-3.5"]]
    by_hand = sum(a == b for a, b in zip(first, said, strict=True)) / 999
    assert found == {"GPT-3.5": pytest.approx(0.71071, abs=1e-5), "GPT-3.5, against annotator 1": by_hand}
    fennec = {figure.source for figure in COLLECTION.published if figure.judge == "Fennec"}
    assert all("annotator 1 alone" in source for source in fennec)


def test_a_pair_that_stands_twice_is_told_before_anything_is_judged(tmp_path):
    folder = _written(tmp_path, [ITEM, {**ITEM, "idx": 1}, ITEM], [])
    for read in (COLLECTION.recorded, lambda where: list(COLLECTION.samples(where))):
        with pytest.raises(DataError, match=r"testset-v1.json, item 3: the id '0' again, as item 1 has it; keep one"):
            read(folder)


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
