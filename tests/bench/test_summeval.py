"""SummEval by the path of `judgegraph bench summeval`: the figures of Shen et al. 2023, and the levels."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from judgegraph.bench.summeval import COLLECTION, NAMES, ours, theirs
from judgegraph.errors import DataError

GPT_4, GPT_35, LLAMA = "gpt-4-0314 rts", "gpt-3.5-turbo-0301", "llama-2-70b-chat-hf rts"
TABLE = {  # judge -> Spearman, Pearson, Kendall over all items: coherence, consistency (../shared/data/README.md)
    GPT_4: ((0.448, 0.428, 0.373), (0.556, 0.618, 0.522)),
    f"{GPT_35} rts": ((0.444, 0.467, 0.349), (0.423, 0.532, 0.378)),
    f"{GPT_35} mcq": ((0.424, 0.416, 0.350), (0.343, 0.487, 0.320)),
    f"{GPT_35} stareval": ((0.418, 0.417, 0.341), (0.297, 0.421, 0.264)),
    LLAMA: ((0.234, 0.254, 0.186), (0.357, 0.395, 0.319)),
}
STATISTICS = ("spearman", "pearson", "kendall-b")


@pytest.fixture(scope="module")
def by_authors(shared: Path, recorded):
    return recorded(shared / "data", "summeval", "--reading", "authors")


@pytest.mark.parametrize("judge", TABLE)
def test_by_the_authors_reading_each_figure_of_the_five_judges_comes_out_as_printed(by_authors, judge):
    for criterion, figures in zip(("Coherence", "Consistency"), TABLE[judge], strict=True):
        cells = [by_authors[judge, criterion, name, "dataset"] for name in STATISTICS]
        assert tuple(round(cell["value"], 3) for cell in cells) == figures
        assert [(cell["n"], cell["equal"]) for cell in cells] == [(1200, True)] * 3


def test_systems_are_ranked_pair_by_pair_as_published(by_authors):
    for criterion, right in (("Coherence", 54), ("Consistency", 56)):
        cell = by_authors[f"{GPT_35} rts", criterion, "pairs", "system"]
        assert (round(cell["value"] * cell["units"], 9), cell["units"], cell["equal"]) == (right, 66, True)


def test_nothing_published_differs_by_the_authors_reading(by_authors):
    assert by_authors.unequal == {}
    assert len(by_authors.equal) == 32


def test_documents_and_systems_are_levels_of_their_own(shared: Path, by_authors):
    """By the stored replies themselves, a second time."""
    found = {one.criterion: one for one in COLLECTION.authors(shared / "data/summeval")[""]}["Coherence"]
    human = np.array([np.mean(row) for row in found.human])
    said = np.array(found.metrics[GPT_4])
    articles = [np.array(found.groups) == name for name in dict.fromkeys(found.groups)]
    rhos = [spearmanr(human[at], said[at])[0] for at in articles if np.ptp(human[at]) and np.ptp(said[at])]
    assert by_authors[GPT_4, "Coherence", "spearman", "group"]["value"] == pytest.approx(np.mean(rhos))
    assert by_authors[GPT_4, "Coherence", "spearman", "group"]["units"] == len(rhos)
    systems = [np.array(found.systems) == name for name in dict.fromkeys(found.systems)]
    means = [[column[at].mean() for at in systems] for column in (human, said)]
    assert by_authors[GPT_4, "Coherence", "kendall-b", "system"]["value"] == pytest.approx(kendalltau(*means)[0])


@pytest.mark.long
def test_our_own_reading_differs_where_a_reply_ends_in_the_scale(shared: Path, recorded):
    """ "4 out of 5" is 5 by the authors' rule for replies without "Score:", which are Llama's mostly."""
    cells = recorded(shared / "data", "summeval")
    llama = [cells[LLAMA, "Coherence", name, "dataset"]["value"] for name in STATISTICS]
    assert llama == pytest.approx([0.2815, 0.2988, 0.2242], abs=0.0005)
    apart = {key: abs(one - other) for key, (one, other) in cells.unequal.items() if key[:2] != (LLAMA, "Coherence")}
    assert max(apart.values(), default=0) < 0.02
    assert cells[GPT_4, "Consistency", "pearson", "dataset"]["unread"] == {"unreadable": 2}


@pytest.mark.parametrize(
    ("text", "prompt", "ours_says", "theirs_say"),
    [
        ("Score: 4", "rts", 4, 4),
        ("I rate it 4 out of 5, as it reads well.", "rts", 4, 5),
        ("The summary deserves a score of four.", "rts", 4, 4),
        ("It earns a score of 3 out of 5.", "altrts", 3, 3),
        ("It says nothing.", "rts", None, -1),
        ("The score is low. Its one flaw costs 2 points.", "rts", None, 2),
        ("Scoring this is easy, it is a three.", "rts", 3, 3),
        ("Score: 4.5", "rts", 4.5, 4.5),
        ("It scores poorly, 15 facts of 16 are wrong.", "rts", None, 1),
        ("D", "mcq", 4, 4),
        ("B: It is dull.", "altmcq", 2, 2),
        ("Four stars. The summary is good.", "stareval", 4, 4),
        ("no verdict at all", "stareval", None, None),
        ("", "mcq", None, None),
    ],
)
def test_the_two_readings_part_where_the_scale_s_own_number_is_named(text, prompt, ours_says, theirs_say):
    assert (ours(text, prompt)[0], theirs(text, prompt)[0]) == (ours_says, theirs_say)


def test_of_a_summary_that_was_asked_for_twice_the_last_line_counts(tmp_path: Path):
    expert = {"coherence": 3, "consistency": 5, "fluency": 5, "relevance": 4}
    people = [{"id": "d1", "system_id": f"M{k}", "expert_annotations": [expert]} for k in (1, 2)]
    lines = [("M1", "Score: 1"), ("M2", "Score: 2"), ("M1", "Score: 5")]
    replies = [{"id": "d1", "system_id": system, "resp": text} for system, text in lines]
    (tmp_path / "annotations_12systems.jsonl").write_text("\n".join(map(json.dumps, people)))
    (tmp_path / "judges/J").mkdir(parents=True)
    (tmp_path / "judges/J/consistency_rts.jsonl").write_text("\n".join(map(json.dumps, replies)))
    (found,) = COLLECTION.recorded(tmp_path)[""]
    assert (found.criterion, found.metrics["J rts"]) == ("Consistency", (5.0, 2.0))


def test_samples_hold_article_system_and_the_mean_of_four_criteria(shared: Path):
    samples = list(COLLECTION.samples(shared / "data/summeval"))
    assert len(samples) == len({s.id for s in samples}) == 1600
    assert len({s.meta["group"] for s in samples}) == 100
    assert len({s.meta["system"] for s in samples}) == 16
    four = [sum(v for k, v in s.human.items() if k != "Overall") / 4 for s in samples]
    assert [s.human["Overall"] for s in samples] == pytest.approx(four)


def test_each_figure_of_the_fusion_paper_can_be_what_it_is_called(shared: Path):
    """Of 16 systems tau-b has steps of its own; they are others where two systems have one mean, which tells columns.

    Two systems tie on fluency and over all. What our copy misprints, such as .007 or .902, is no such step. The overall
    of metrics down to BARTScore is no coefficient, but the mean of their four.
    """
    means: dict[str, dict[str, list[float]]] = {}
    for sample in COLLECTION.samples(shared / "data/summeval"):
        for name, value in sample.human.items():
            means.setdefault(name, {}).setdefault(sample.meta["system"], []).append(value)
    figures = {(f.judge, f.criterion): f.value for f in COLLECTION.published if "Fusion-Eval" in f.source}
    assert len(figures) == 111
    averaged = 0
    for (judge, criterion), value in figures.items():
        of = [round(float(np.mean(values)), 9) for values in means[criterion].values()]
        step = 1 / np.sqrt(120 * (120 - (len(of) - len(set(of)))))
        least = 0.51 * 10 ** -len(str(value).partition(".")[2])
        four = [figures.get((judge, name), np.nan) for name in NAMES]
        if criterion == "Overall" and abs(np.mean(four) - value) <= 0.002:
            averaged += 1
        else:
            assert abs(round(value / step) * step - value) <= least, (judge, criterion, value)
    assert averaged == 11


def test_a_figure_that_our_copy_misprints_says_where_it_is_from():
    (noted,) = [figure for figure in COLLECTION.published if figure.value == 0.962]
    assert (noted.judge, noted.criterion) == ("FE-PaLM2", "Overall")
    assert ".962 is from a note; our copy prints .902" in noted.source


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"src": "a"}, "key 'sys_summs': expected an object, got nothing"),
        ({"src": "a", "sys_summs": {"M0": 1}}, "'M0': expected an object, got int"),
        (
            {"src": "a", "sys_summs": {"M0": {"sys_summ": "b", "scores": {"coherence": "5"}}}},
            "scores, key 'coherence': expected a finite number, got '5'",
        ),
    ],
)
def test_a_broken_row_is_told_with_its_place(tmp_path: Path, row, said):
    (tmp_path / "summeval_human.json").write_text(json.dumps({"doc-7": row}))
    with pytest.raises(DataError, match=r"summeval_human\.json.*doc-7") as error:
        list(COLLECTION.samples(tmp_path))
    assert said in str(error.value)
