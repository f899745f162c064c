"""OpenMEVA, SFRES, QAGS and BAGEL by the path of `judgegraph bench`; each figure as ../shared/data/README.md has it."""

import json
from pathlib import Path

import pytest

from judgegraph.bench.files import collection
from judgegraph.bench.openmeva import COLLECTION as OPENMEVA
from judgegraph.bench.unieval import COLLECTIONS
from judgegraph.errors import DataError

ORDER = ("pearson", "spearman", "kendall-b")
UNIEVAL = [
    ("sfres", "Naturalness", 1181, (0.367252, 0.333399, 0.247094)),
    ("sfres", "Informativeness", 1181, (0.282079, 0.224918, 0.169297)),
    ("sfres", "Quality", 1181, (0.370815, 0.291593, 0.214708)),
    ("qags", "Consistency", 235, (0.681681, 0.662255, 0.531636)),
]


@pytest.mark.parametrize(("name", "criterion", "n", "figures"), UNIEVAL)
def test_unieval_s_figures_come_out_to_six_digits(shared: Path, recorded, name, criterion, n, figures):
    cells = recorded(shared / "data", name)
    found = [cells["UniEval", criterion, statistic, "dataset"] for statistic in ORDER]
    assert tuple(round(cell["value"], 6) for cell in found) == figures
    assert [(cell["n"], cell["equal"]) for cell in found] == [(n, True)] * 3
    assert cells.unequal == {}
    assert len(cells.equal) == 3 * sum(row[0] == name for row in UNIEVAL)


def test_llm_rubric_s_distributions_give_the_two_rows_of_its_authors(shared: Path, recorded):
    cells = recorded(shared / "data", "llm-rubric")
    readings = {"expected": (0.1773, 0.0867, 0.0659), "likeliest": (0.1401, 0.0870, 0.0811)}
    for reading, figures in readings.items():
        found = [cells[f"gpt-3.5-turbo-16k, {reading} answer", "Overall", name, "dataset"] for name in ORDER]
        assert tuple(round(cell["value"], 4) for cell in found) == figures
        assert [(cell["n"], cell["equal"]) for cell in found] == [(223, True)] * 3
    samples = list(collection("llm_rubric").samples(shared / "data/llm_rubric"))
    assert len({sample.id for sample in samples}) == len(samples) == 223
    assert all(sample.turns and sample.output == sample.turns[-1].text for sample in samples)


def test_chatgpt_on_stories_at_both_levels(shared: Path, recorded):
    """Of 100 of the 200 prompts that the published figures are of, so those stand beside it, not equal."""
    cells = recorded(shared / "data", "openmeva")
    half = {"dataset": (0.412, 0.430, 0.342), "group": (0.456, 0.466, 0.411)}
    whole = {"dataset": (0.415, 0.439, 0.342), "group": (0.472, 0.490, 0.427)}
    for level, figures in half.items():
        found = [cells["ChatGPT", "Overall", name, level] for name in ("spearman", "pearson", "kendall-b")]
        assert tuple(round(cell["value"], 3) for cell in found) == figures
        assert tuple(cell["published"]["value"] for cell in found) == whole[level]
        assert {cell["units"] for cell in found if level == "group"} <= {87}


@pytest.mark.parametrize(
    ("collection", "folder", "count", "groups"),
    [
        (OPENMEVA, "openmeva", 500, 100),
        (COLLECTIONS["sfres"], "data2text", 1181, 580),
        (COLLECTIONS["bagel"], "bagel", 202, 101),
    ],
)
def test_samples_of_a_group_stand_together_or_share_its_name(shared: Path, collection, folder, count, groups):
    samples = list(collection.samples(shared / "data" / folder))
    assert len(samples) == len({sample.id for sample in samples}) == count
    assert len({sample.meta["group"] for sample in samples}) == groups
    first = {sample.source or sample.query: sample.meta["group"] for sample in samples}
    assert all(first[sample.source or sample.query] == sample.meta["group"] for sample in samples)


def test_each_summary_of_qags_is_of_an_article_of_its_own(shared: Path):
    samples = list(COLLECTIONS["qags"].samples(shared / "data/fact"))
    assert len({sample.id for sample in samples}) == 235
    assert not any(sample.meta for sample in samples)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"doc_id": "1"}], "item 1, key 'source': expected text, got nothing"),
        ([{"doc_id": "1", "source": "a", "system_output": "b", "scores": {"consistency": True}}], "expected a finite"),
        ([{"doc_id": "1", "source": "a", "system_output": 3}], "item 1, key 'system_output': expected text, got int"),
        ([3], "item 1: expected an object, got int"),
        (7, "expected a list of objects, got int"),
        ([], "holds no rows"),
        ([{"doc_id": "1", "source": "a", "system_output": "b", "scores": {"consistency": 1}}] * 2, "item 2: the same"),
    ],
)
def test_a_broken_result_file_is_told_with_item_and_key(tmp_path: Path, rows, said):
    (tmp_path / "qags_cnndm_result.json").write_text(json.dumps(rows))
    with pytest.raises(DataError, match=r"qags_cnndm_result\.json") as error:
        list(COLLECTIONS["qags"].samples(tmp_path))
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("gen", "said"),
    [
        (None, "key 'gen': expected an object, got NoneType"),
        ({"s": "a text"}, "gen, 's': expected an object with text and score, got str"),
        (
            {"s": {"text": "t", "score": {"human": float("nan")}}},
            "score, key 'human': expected a finite number, got nan",
        ),
    ],
)
def test_a_broken_story_is_told_with_its_place(tmp_path: Path, gen, said):
    row = {"doc_id": "1", "prompt": "p", "reference": "r", "gen": gen}
    (tmp_path / "openmeva.json").write_text(json.dumps([row]))
    with pytest.raises(DataError) as error:
        list(OPENMEVA.samples(tmp_path))
    assert said in str(error.value)
