"""Labels and verdicts: by hand, against statsmodels and krippendorff, and the published figures on real data."""

import gzip
import json
import math
import time
from collections import Counter

import krippendorff
import numpy as np
import pytest
from statsmodels.stats.inter_rater import cohens_kappa

from judgegraph.stats.agreement import Macro, accuracy, both_orders, cohen_kappa, krippendorff_alpha, macro


def test_accuracy_counts_what_was_not_read_as_wrong():
    assert accuracy(["A", "B", "tie", "A"], ["A", "A", "tie", None]) == 0.5
    assert math.isnan(accuracy([], []))


def test_macro_by_hand():
    # A: 1 of 2 given, 1 of 2 wanted; B: 1 of 1 given, 1 of 1 wanted; C is never given
    found = macro(["A", "A", "B", "C"], ["A", None, "B", "A"])
    assert found == Macro(precision=0.5, recall=0.5, f1=0.5)
    of_two = macro(["A", "A", "B", "C"], ["A", None, "B", "A"], classes=["A", "B"])
    assert of_two == Macro(precision=0.75, recall=0.75, f1=0.75)
    of_four = macro(["A", "A", "B", "C"], ["A", None, "B", "A"], classes=["A", "B", "C", "D"])
    assert of_four.f1 == 0.375
    assert all(map(math.isnan, vars(macro([], [])).values()))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("weights", "theirs"), [(None, None), ("linear", "linear"), ("quadratic", "quadratic")])
def test_kappa_is_that_of_statsmodels(weights, theirs, seed):
    rng = np.random.default_rng(seed)
    a = rng.integers(1, 6, size=80)
    b = np.where(rng.random(80) < 0.5, a, rng.integers(1, 6, size=80))
    table = np.zeros((5, 5))
    np.add.at(table, (a - 1, b - 1), 1)
    expected = cohens_kappa(table, return_results=False, wt=theirs)
    assert cohen_kappa(a.tolist(), b.tolist(), weights) == pytest.approx(expected)
    words = ["bad", "poor", "fair", "good", "best"]
    named = ([words[i - 1] for i in side] for side in (a, b))
    assert cohen_kappa(*named, weights, order=words) == pytest.approx(expected)


def test_kappa_weighs_by_the_order_that_is_given_though_a_label_never_occurs():
    with_gap = cohen_kappa([1, 2, 4, 4], [1, 4, 4, 2], "linear", order=[1, 2, 3, 4])
    without = cohen_kappa([1, 2, 4, 4], [1, 4, 4, 2], "linear")
    assert with_gap != without


def test_kappa_leaves_out_items_that_one_did_not_label():
    assert cohen_kappa(["A", "B", "A", None], ["A", "B", None, "B"]) == 1


@pytest.mark.parametrize(("a", "b"), [([], []), (["A", "A"], ["A", "A"]), ([None], ["A"])])
def test_kappa_without_variation_is_undefined(a, b):
    assert math.isnan(cohen_kappa(a, b))


@pytest.mark.parametrize(
    ("settings", "why"), [({"weights": "linear"}, "no order"), ({"order": ["A"]}, "not in the order")]
)
def test_kappa_refuses_words_that_have_no_place(settings, why):
    with pytest.raises(ValueError, match=why):
        cohen_kappa(["A", "B"], ["B", "B"], **settings)


@pytest.mark.parametrize("missing", [0, 0.2, 0.7])
@pytest.mark.parametrize("metric", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_is_that_of_the_krippendorff_package(metric, missing):
    rng = np.random.default_rng(3)
    for raters in (2, 3, 7):
        truth = rng.integers(0, 5, size=40)
        ratings = np.where(rng.random((raters, 40)) < 0.6, truth, rng.integers(0, 5, size=(raters, 40))).astype(float)
        ratings[rng.random(ratings.shape) < missing] = np.nan
        expected = krippendorff.alpha(ratings, level_of_measurement=metric)
        assert krippendorff_alpha(ratings, metric) == pytest.approx(expected)
        lists = [[None if math.isnan(r) else r for r in rater] for rater in ratings.tolist()]
        assert krippendorff_alpha(lists, metric) == pytest.approx(expected)


def test_alpha_of_krippendorff_s_own_example():
    # Krippendorff 2011, "Computing Krippendorff's alpha-reliability": four observers, twelve units
    rows = ["1 2 3 3 2 1 4 1 2 * * *", "1 2 3 3 2 2 4 1 2 5 * 3", "* 3 3 3 2 3 4 2 2 5 1 *", "1 2 3 3 2 4 4 1 2 5 1 *"]
    ratings = [[None if r == "*" else int(r) for r in row.split()] for row in rows]
    found = [krippendorff_alpha(ratings, metric) for metric in ("nominal", "ordinal", "interval", "ratio")]
    assert [round(alpha, 3) for alpha in found] == [0.743, 0.815, 0.849, 0.797]


def test_ordinal_alpha_of_words_goes_by_their_order():
    numbers = [[1, 2, 3, 3, None], [1, 3, 3, 2, 1]]
    words = [[None if r is None else {1: "low", 2: "mid", 3: "high"}[r] for r in rater] for rater in numbers]
    expected = krippendorff_alpha(numbers, "ordinal")
    assert krippendorff_alpha(words, "ordinal", order=["low", "mid", "high"]) == pytest.approx(expected)
    assert krippendorff_alpha(words) == pytest.approx(krippendorff_alpha(numbers))


@pytest.mark.parametrize("ratings", [[[1, 1], [1, 1]], [[1, None], [None, 2]], [[], []], [[3, 4]]], ids=str)
def test_alpha_of_nothing_to_compare_is_undefined(ratings):
    assert all(math.isnan(krippendorff_alpha(ratings, m)) for m in ("nominal", "ordinal", "interval", "ratio"))


@pytest.mark.parametrize(
    ("ratings", "metric", "why"),
    [
        ([["a", "b"], ["a", "b"]], "interval", "numbers, not words"),
        ([["a", "b"], ["a", "b"]], "ordinal", "no order"),
        ([[-1, 2], [1, 2]], "ratio", "from 0"),
        (np.ones(3), "nominal", "raters x items"),
    ],
)
def test_alpha_refuses_what_its_distance_cannot_measure(ratings, metric, why):
    with pytest.raises(ValueError, match=why):
        krippendorff_alpha(ratings, metric)


@pytest.mark.parametrize("metric", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_of_ten_thousand_items_with_fine_ratings_is_quick(metric):
    ratings = np.random.default_rng(4).random((3, 10_000)).round(3)
    ratings[:, ::7] = np.nan
    before = time.process_time()
    krippendorff_alpha(ratings, metric)
    assert time.process_time() - before < 2


def test_both_orders_by_hand():
    human, first, second = ["A", "A", "B", "tie"], ["A", "B", "B", None], ["A", "A", "A", None]
    found = both_orders(human, first, second)
    assert (found.accuracy_first, found.accuracy_second, found.accuracy_mean) == (0.5, 0.5, 0.5)
    assert (found.agreement, found.consistency, found.n) == (0.25, 0.25, 4)
    assert (found.unread_first, found.unread_second) == (1, 1)
    assert both_orders(human, first, second, unread_agree=True).consistency == 0.5
    assert math.isnan(both_orders([], [], []).agreement)


def read(path):
    data = path.read_bytes()
    return [json.loads(line) for line in (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines()]


@pytest.fixture(scope="module")
def pandalm(shared):
    """Labels by annotator, and what GPT-3.5 said."""
    items = json.loads((shared / "data/pandalm/testset-v1.json").read_text())
    said = json.loads((shared / "data/pandalm/gpt-3.5-turbo-testset-v1.json").read_text())
    said = {item["idx"]: item["gpt_result"] for item in said}
    annotators = [[item[f"annotator{n}"] for item in items] for n in (1, 2, 3)]
    return annotators, [said[item["idx"]] for item in items]


def test_kappas_of_pandalm_s_annotators(pandalm):
    one, two, three = pandalm[0]
    kappas = [cohen_kappa(one, two), cohen_kappa(one, three), cohen_kappa(two, three)]
    assert [round(kappa, 3) for kappa in kappas] == [0.852, 0.879, 0.862]
    assert krippendorff_alpha(pandalm[0]) == pytest.approx(
        krippendorff.alpha(np.array(pandalm[0]), level_of_measurement="nominal")
    )


@pytest.mark.parametrize(
    ("garbage", "published"), [(0, (0.7107, 0.5879, 0.5736, 0.5755)), (None, (0.6977, 0.5365, 0.5324, 0.5274))]
)
def test_gpt_3_5_on_pandalm(pandalm, garbage, published):
    annotators, said = pandalm
    majority = [Counter(labels).most_common(1)[0][0] for labels in zip(*annotators, strict=True)]
    verdicts = [{"1": 1, "2": 2, "Tie": 0, "garbage": garbage}[word] for word in said]
    found = macro(majority, verdicts)
    figures = accuracy(majority, verdicts), found.precision, found.recall, found.f1
    assert tuple(round(figure, 4) for figure in figures) == published


AUTOJ = {
    "Summarization": (45.83, 73.61, 56.94),
    "Code": (47.50, 75.83, 54.17),
    "Creative Writing": (59.72, 87.04, 63.43),
    "General Communication": (55.21, 92.36, 57.29),
}


@pytest.mark.parametrize("group", AUTOJ)
def test_auto_j_in_both_orders(shared, group):
    names = ("testdata_pairwise.jsonl.gz", "pairwise_output.jsonl", "pairwise_exchange_output.jsonl")
    rows = zip(*(read(shared / "data/autoj" / name) for name in names), strict=True)
    kept = [
        (item["label"], one["output"], [1, 0, 2][two["output"]]) for item, one, two in rows if item["group"] == group
    ]
    found = both_orders(*zip(*kept, strict=True))
    figures = found.agreement, found.consistency, found.accuracy_first
    assert tuple(round(100 * figure, 2) for figure in figures) == AUTOJ[group]


def test_all_judges_of_llmbar_in_both_orders(shared):
    # two unread verdicts are equal there
    runs = sorted((shared / "data/llmbar").rglob("result.json.gz"))
    for path in runs:
        items = json.loads(gzip.decompress(path.read_bytes()))
        said = [[item["results"][-1][f"swap = {swap}"]["winner"] for item in items] for swap in ("False", "True")]
        verdicts = [[int(winner) if winner in ("1", "2") else None for winner in order] for order in said]
        found = both_orders([item["label"] for item in items], *verdicts, unread_agree=True)
        printed = json.loads((path.parent / "statistics.json").read_text())
        assert f"{100 * found.accuracy_mean:.4f}" == f"{float(printed['correct_average'][:-1]):.4f}", path
        for figure, key in ((found.agreement, "correct_both"), (found.consistency, "equal")):
            assert round(figure * found.n) == int(printed[key].split("/")[0]), path
    assert len(runs) == 111


@pytest.mark.parametrize("value", [0.1, 0.3, 1e8 + 0.1, 1e-9, 1e300, 0.0])
@pytest.mark.parametrize("metric", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_of_equal_numbers_is_undefined_whatever_their_last_digit(metric, value):
    assert math.isnan(krippendorff_alpha(np.full((3, 7), value), metric))
    nearly = np.full((3, 7), value)
    nearly[0, 0] = np.nextafter(value, math.inf) if value else 0
    assert math.isnan(krippendorff_alpha(nearly, metric))


@pytest.mark.parametrize(("metric", "shift"), [("interval", 1e8), ("interval", 0), ("ratio", 0)])
def test_alpha_of_large_or_small_numbers_is_that_of_their_pattern(metric, shift):
    ratings = np.array([[1, 2, 3, 3, 1], [1, 2, 3, 2, 1.0]])
    for scale in (1, 1e-200, 1e200) if not shift else (1,):
        assert krippendorff_alpha(ratings * scale + shift, metric) == pytest.approx(krippendorff_alpha(ratings, metric))
