"""Weights by agreement with people: against scipy, and never from an item's own label where they are cross-fitted."""

import numpy as np
import pytest
from langgraph.graph import START, StateGraph
from scipy import stats

import judgegraph as jg
from judgegraph.errors import ConfigError
from judgegraph.graphs import fusion_eval, llm_score
from judgegraph.graphs.fusion_baselines import read_weights
from judgegraph.meta.aggregate import aggregates, aggregates_of, cross_fitted, weights_of, write_weights
from judgegraph.meta.cells import Judgements
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.judgements import of_run
from judgegraph.runs.run import Run
from judgegraph.tools import Metric
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


def errors(about="Measures: words left out\nRange: 0 to 40; lower = better", name="lost"):
    """Agrees with people as far as it is low."""
    return Metric(name=name, about=about, measure=lambda s: float(len(s.source.split()) - len(s.output.split())))


def kept(tmp_path, **settings):
    graph = fusion_eval(criteria=DEPTH, **{"fuse": "average", **settings})
    return jg.evaluate(graph, ROWS, out=tmp_path / "run")


def least(item):
    return next(f.value for f in item.findings if f.assistant == "lost")


@pytest.mark.parametrize("loaded", [False, True])
def test_one_of_which_lower_is_better_is_weighted_as_it_is_turned(loaded, tmp_path):
    run = kept(tmp_path, assistants=["rouge-l", errors()])
    run = Run.load(tmp_path / "run") if loaded else run
    found = write_weights(run, PEARSON, tmp_path / "w.json")["Depth"]
    human = [item.sample.human["Depth"] for item in run.items]
    turned = stats.pearsonr([-least(item) for item in run.items], human).statistic
    rouge = [next(f.value for f in item.findings if f.assistant == "rouge-l") for item in run.items]
    assert found["lost"] / found["rouge-l"] == pytest.approx(turned / stats.pearsonr(rouge, human).statistic)
    assert found["lost"] > 0.3


def test_a_range_that_the_mean_was_set_to_turns_it_and_one_given_by_hand_comes_first(tmp_path):
    run = kept(tmp_path, assistants=["rouge-l", errors()], ranges={"rouge-l": [1, 0], "lost": [0, 40]})
    assert write_weights(run, PEARSON, tmp_path / "w.json") == {"Depth": {"rouge-l": 0, "lost": 0}}
    by_hand = write_weights(run, PEARSON, tmp_path / "w.json", ranges={"lost": [40, 0]})
    assert by_hand == {"Depth": {"rouge-l": 0, "lost": 1}}


def test_a_value_beyond_its_range_counts_as_the_mean_counts_it():
    human, metrics = drawn()
    found = weights_of([judgements(human, **metrics)], PEARSON, ["near", "far"], {"far": (-1, 1)})["Depth"]
    cut = stats.pearsonr(human, np.clip(metrics["far"], -1, 1)).statistic
    assert found["far"] / found["near"] == pytest.approx(cut / stats.pearsonr(human, metrics["near"]).statistic)


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        ("Range: 0 or more; lower = better", {"rouge-l", "lost"}),
        ("Range: 0 to 40", {"rouge-l"}),
        ("Range: 0 to 40; neither end is better", {"rouge-l"}),
    ],
)
def test_one_whose_better_end_is_not_known_has_no_weight_and_no_part_in_a_mean(about, expected, tmp_path):
    run = kept(tmp_path, fuse="judge", consult="all", plan=False, assistants=["rouge-l", errors(about)])
    found = write_weights(run, PEARSON, tmp_path / "w.json")["Depth"]
    assert set(found) == expected
    assert min(found.values()) > 0
    (judged,) = aggregates_of(run, of_run(run, assistants=True), PEARSON)
    (alone,) = aggregates(of_run(run, assistants=True), PEARSON, ["rouge-l"])
    assert (judged.metrics["AVG(AE)"] == alone.metrics["AVG(AE)"]) == (expected == {"rouge-l"})
    assert judged.metrics["AVG(AE)"] == tuple(sorted(judged.metrics["AVG(AE)"]))  # better and better, as people say


def test_where_nobody_says_which_end_is_better_that_is_told(tmp_path):
    run = kept(tmp_path, fuse="judge", consult="all", plan=False, assistants=[errors("Range: 0 to 40")])
    with pytest.raises(ConfigError, match=r"none of lost says which end is better; give ranges"):
        write_weights(run, PEARSON, tmp_path / "w.json")
    with pytest.raises(ConfigError, match=r"none of lost says which end is better; give ranges"):
        aggregates_of(run, of_run(run, assistants=True), PEARSON)
    assert write_weights(run, PEARSON, tmp_path / "w.json", ranges={"lost": [40, 0]}) == {"Depth": {"lost": 1}}


@pytest.mark.parametrize(
    "settings", [{"assistants": [errors()]}, {"ranges": {"rouge-l": [1, 0]}, "assistants": ["rouge-l"]}]
)
def test_a_run_in_memory_does_not_keep_what_turns_a_value_and_says_so(settings, tmp_path):
    run = jg.evaluate(fusion_eval(fuse="average", criteria=DEPTH, **settings), ROWS)
    (name,) = {finding.assistant for item in run.items for finding in item.findings}
    with pytest.raises(ConfigError, match=rf"which end of '{name}' is better is not kept of a run in memory.*out="):
        write_weights(run, PEARSON, tmp_path / "w.json")
    assert write_weights(run, PEARSON, tmp_path / "w.json", ranges={name: [40, 0]})["Depth"].keys() == {name}


@pytest.mark.parametrize(
    ("ranges", "said"),
    [({"bleurt": [0, 1]}, "ranges: no assistant 'bleurt' in this run"), ({"chrf": []}, "ranges: chrf: expected")],
)
def test_ranges_that_are_none_are_told(ranges, said, tmp_path):
    run = jg.evaluate(fusion_eval(fuse="average", criteria=DEPTH), ROWS)
    with pytest.raises(ConfigError, match=said):
        write_weights(run, PEARSON, tmp_path / "w.json", ranges=ranges)


@pytest.mark.parametrize(("made", "used"), [("x", "x"), ("x", ""), ("", "x"), ("x", "y")])
def test_weights_of_a_named_graph_fit_every_other(made, used, tmp_path):
    graph = fusion_eval(fuse="average", direct="llm-score", criteria=DEPTH, name=made)
    found = write_weights(jg.evaluate(graph, ROWS), PEARSON, tmp_path / "w.json")
    assert set(found["Depth"]) == {"rouge-l", "chrf", "llm-score"}
    again = fusion_eval(fuse="weighted", direct="llm-score", weights=tmp_path / "w.json", criteria=DEPTH, name=used)
    assert all(item.overall is not None for item in jg.evaluate(again, ROWS).items)


def test_two_named_graphs_in_one_keep_their_direct_scores_apart(tmp_path):
    def both(**settings):
        graph = StateGraph(jg.EvalState)
        for name in ("x", "y"):
            graph.add_node(name, fusion_eval(direct="llm-score", criteria=DEPTH, name=name, **settings))
            graph.add_edge(START, name)
        return graph.compile()

    found = write_weights(jg.evaluate(both(fuse="average"), ROWS), PEARSON, tmp_path / "w.json")
    assert set(found["Depth"]) == {"rouge-l", "chrf", "x-llm-score", "y-llm-score"}
    again = jg.evaluate(both(fuse="weighted", weights=tmp_path / "w.json"), ROWS)
    assert all(s.status == "ok" for item in again.items for s in item.scores)


def test_a_run_without_assistants_has_no_weights(tmp_path):
    run = jg.evaluate(llm_score(criteria=DEPTH), ROWS)
    with pytest.raises(ConfigError, match="no assistant was consulted"):
        write_weights(run, PEARSON, tmp_path / "w.json")
