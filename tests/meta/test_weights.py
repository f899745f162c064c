"""Weights by agreement with people: against scipy, and never from an item's own label where they are cross-fitted."""

import numpy as np
import pytest
from scipy import stats

import judgegraph as jg
from judgegraph.errors import ConfigError
from judgegraph.graphs import fusion_eval, llm_score
from judgegraph.graphs.voice_weights import read_weights
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.judgements import Judgements
from judgegraph.meta.weights import cross_fitted, weights_of, write_weights
from judgegraph.types import Criterion, Sample

SPEARMAN = Conventions(coefficients=("spearman",))
PEARSON = Conventions(coefficients=("pearson",))


def judgements(human, kind="number", groups=None, **metrics):
    ids = tuple(f"i{n}" for n in range(len(human)))
    places = tuple((h,) if h is not None else () for h in human)
    return Judgements("Depth", kind, ids, places, {k: tuple(v) for k, v in metrics.items()}, groups=groups)


def drawn(n=60, seed=1):
    """People, two metrics that agree with them, one that does not, one that contradicts them."""
    random = np.random.default_rng(seed)
    human = random.normal(size=n)
    near, far = human + 0.5 * random.normal(size=n), human + 3 * random.normal(size=n)
    return human.tolist(), {"near": near.tolist(), "far": far.tolist(), "against": (-human).tolist()}


@pytest.mark.parametrize(
    ("conventions", "plain"), [(SPEARMAN, stats.spearmanr), (PEARSON, stats.pearsonr)], ids=["spearman", "pearson"]
)
def test_a_weight_is_the_share_of_the_coefficient_and_a_contradiction_counts_nothing(conventions, plain):
    human, metrics = drawn()
    found = weights_of([judgements(human, **metrics)], conventions)["Depth"]
    each = {name: max(0.0, plain(human, values).statistic) for name, values in metrics.items()}
    assert found == pytest.approx({name: value / sum(each.values()) for name, value in each.items()})
    assert (found["against"], found["near"] > found["far"]) == (0, True)


def test_only_items_that_people_judged_and_a_metric_could_read_count():
    human, metrics = drawn()
    unread = {name: [*values, 99.0, None] for name, values in metrics.items()}
    unread["near"][0] = None
    found = weights_of([judgements([*human, None, 1.0], **unread)], SPEARMAN)["Depth"]
    near = stats.spearmanr(human[1:], metrics["near"][1:]).statistic
    far = stats.spearmanr(human, metrics["far"]).statistic
    assert found == pytest.approx({"near": near / (near + far), "far": far / (near + far), "against": 0})


def test_the_conventions_level_is_that_of_the_weights():
    human = [1, 2, 3, 11, 12, 13]
    metric = [1, 2, 3, -11, -10, -9]  # rises in each group, falls between them
    grouped = judgements(human, groups=tuple("aaabbb"), m=metric, other=[1, 2, 3, 1, 2, 3])
    by_group = weights_of([grouped], Conventions(coefficients=("pearson",), level="group"))["Depth"]
    assert by_group == pytest.approx({"m": 0.5, "other": 0.5})
    assert weights_of([grouped], PEARSON)["Depth"]["m"] == 0


def test_what_is_the_same_everywhere_has_no_weight_and_where_nobody_agrees_all_are_0():
    human = [1.0, 2.0, 3.0]
    found = weights_of([judgements(human, flat=[5, 5, 5], down=[3, 2, 1])], PEARSON)
    assert found == {"Depth": {"flat": 0, "down": 0}}


def test_labels_have_no_weights_and_one_may_ask_for_some_metrics_alone():
    human, metrics = drawn()
    labels = judgements(["a", "b"], kind="label", m=["a", "b"])
    assert weights_of([labels], PEARSON) == {}
    assert weights_of([judgements(human, **metrics)], PEARSON, ["near"]) == {"Depth": {"near": 1}}
    with pytest.raises(ConfigError, match="Depth: no metric 'bleurt'; there are: near, far, against"):
        weights_of([judgements(human, **metrics)], PEARSON, ["bleurt"])


def test_they_are_what_the_method_takes():
    human, metrics = drawn()
    found = weights_of([judgements(human, **metrics)], PEARSON)
    assert read_weights(found) == found


def test_each_item_is_in_one_fold_and_its_group_stays_together():
    human, metrics = drawn(40)
    groups = tuple(f"g{n // 4}" for n in range(40))
    folds = list(cross_fitted(judgements(human, groups=groups, **metrics), PEARSON, ["near", "far"], 5))
    assert sorted(place for places, _ in folds for place in places) == list(range(40))
    assert len(folds) == 5
    assert all(len(places) == 8 for places, _ in folds)
    of = [{groups[place] for place in places} for places, _ in folds]
    assert sum(map(len, of)) == len(set(groups))


def test_an_items_own_label_does_not_move_its_weights():
    human, metrics = drawn(40)
    names = ["near", "far"]
    before = list(cross_fitted(judgements(human, **metrics), PEARSON, names))
    for places, weights in before:
        changed = [h if n not in places else 1000.0 - n for n, h in enumerate(human)]
        after = {tuple(p): w for p, w in cross_fitted(judgements(changed, **metrics), PEARSON, names)}
        assert after[tuple(places)] == weights
        others = [n for n in range(40) if n not in places]
        left = [human[n] for n in others]
        fitted = {m: stats.pearsonr(left, [metrics[m][n] for n in others]).statistic for m in names}
        assert weights == pytest.approx({name: r / sum(fitted.values()) for name, r in fitted.items()})


def test_the_seed_alone_decides_the_folds():
    human, metrics = drawn(40)
    one = judgements(human, **metrics)

    def folds(seed):
        return [places for places, _ in cross_fitted(one, Conventions(seed=seed), ["near"])]

    assert folds(1) == folds(1) != folds(2)


@pytest.mark.parametrize(("folds", "groups"), [(1, None), (5, ("g",) * 3)])
def test_too_few_folds_or_groups_are_told(folds, groups):
    one = judgements([1, 2, 3], groups=groups, m=[1, 2, 3])
    with pytest.raises(ConfigError, match="take 2 folds and 2 groups or items"):
        list(cross_fitted(one, PEARSON, ["m"], folds))


SOURCE = "The bridge is shut until spring because workers found cracks in the deck of the bridge."
TEXTS = ("It rains.", "The bridge is shut.", "The bridge is shut until spring.", SOURCE)
ROWS = [Sample(id=f"s{n}", source=SOURCE, output=t, human={"Depth": n + 1}) for n, t in enumerate(TEXTS)]
DEPTH = [Criterion(name="Depth", definition="It takes up the source.")]


def test_weights_of_a_run_are_a_file_that_the_next_run_takes(tmp_path):
    run = jg.evaluate(fusion_eval(fuse="average", direct="llm-score", criteria=DEPTH), ROWS)
    found = write_weights(run, PEARSON, tmp_path / "w.json")
    assert set(found["Depth"]) == {"rouge-l", "chrf", "llm-score"}
    assert sum(found["Depth"].values()) == pytest.approx(1)
    rouge = [next(f.value for f in item.findings if f.assistant == "rouge-l") for item in run.items]
    chrf = [next(f.value for f in item.findings if f.assistant == "chrf") for item in run.items]
    human = [item.sample.human["Depth"] for item in run.items]
    ratio = stats.pearsonr(rouge, human).statistic / stats.pearsonr(chrf, human).statistic
    assert found["Depth"]["rouge-l"] / found["Depth"]["chrf"] == pytest.approx(ratio)
    settings = {"fuse": "weighted", "direct": "llm-score", "weights": tmp_path / "w.json", "criteria": DEPTH}
    again = jg.evaluate(fusion_eval(**settings), ROWS)
    assert all(item.overall is not None for item in again.items)


def test_a_run_without_assistants_has_no_weights(tmp_path):
    run = jg.evaluate(llm_score(criteria=DEPTH), ROWS)
    with pytest.raises(ConfigError, match="no assistant was consulted"):
        write_weights(run, PEARSON, tmp_path / "w.json")
