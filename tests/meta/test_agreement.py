"""Agreement with people: every number against scipy or a count by hand, every choice in its signature."""

import json
import math

import numpy as np
import pytest
from scipy import stats

import judgegraph as jg
from judgegraph.errors import ConfigError
from judgegraph.meta.agreement import agreement, alpha, coded, costs, crossed, kappa, mcnemar, needed, ordinal_alpha
from judgegraph.meta.agreement import macro_of_table as macro_of_counts
from judgegraph.meta.cells import Judgements
from judgegraph.stats.agreement import cohen_kappa, krippendorff_alpha, macro

QUICK = {"resamples": 100, "permutations": 60}
RANDOM = np.random.default_rng(1)
HUMAN = RANDOM.integers(1, 6, 60).astype(float)
NEAR = HUMAN + RANDOM.normal(0, 1, 60)
FAR = HUMAN + RANDOM.normal(0, 3, 60)
GROUPS = tuple(f"d{i // 6}" for i in range(60))
SYSTEMS = tuple(f"s{i % 6}" for i in range(60))


def numbers(name: str = "c", human=HUMAN, **metrics) -> Judgements:
    columns = {
        m: tuple(None if v is None or math.isnan(v) else float(v) for v in values) for m, values in metrics.items()
    }
    ids = tuple(str(i) for i in range(len(human)))
    people = tuple((float(v),) for v in human)
    return Judgements(name, "number", ids, people, columns, groups=GROUPS[: len(human)], systems=SYSTEMS[: len(human)])


SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall-b": stats.kendalltau}


def by_hand(level: str, name: str) -> float:
    function = SCIPY[name]
    if level == "dataset":
        return function(HUMAN, NEAR).statistic
    if level == "group":
        return float(np.mean([function(HUMAN[i : i + 6], NEAR[i : i + 6]).statistic for i in range(0, 60, 6)]))
    return function(HUMAN.reshape(10, 6).mean(axis=0), NEAR.reshape(10, 6).mean(axis=0)).statistic


@pytest.mark.parametrize("level", ["dataset", "group", "system"])
def test_every_level_is_scipys(level: str):
    found = agreement([numbers(near=NEAR)], level=level, **QUICK)
    for name in SCIPY:
        row = found.row(name)
        assert row.value == pytest.approx(by_hand(level, name))
        assert row.interval[0] <= row.value <= row.interval[1]
        assert (row.level, row.n, row.units) == (level, 60, {"dataset": 60, "group": 10, "system": 6}[level])


def test_a_preset_may_take_each_coefficient_at_its_own_level():
    found = agreement([numbers(near=NEAR)], preset="closer-look", **QUICK)
    assert [(row.statistic, row.level) for row in found.rows] == [("pearson", "dataset"), ("kendall-b", "group")]
    assert found.row("pearson").value == pytest.approx(by_hand("dataset", "pearson"))
    assert found.row("kendall-b").value == pytest.approx(by_hand("group", "kendall-b"))


def test_the_signature_names_every_choice():
    found = agreement([numbers(near=NEAR, far=FAR)], constant="zero", seed=3, **QUICK)
    assert found.row("spearman", "near").signature == (
        "spearman|level:dataset|n:60|unreadable:drop|constant:zero|duplicates:refuse|annotators:single|unit:group|"
        "resamples:100|confidence:0.95|seed:3"
    )
    assert "permutations:60|correction:holm" in found.differences[0].signature


def test_what_unread_answers_could_do_is_said_side_by_side():
    gaps = np.where(np.arange(60) % 10 == 0, np.nan, NEAR)
    row = agreement([numbers(m=gaps)], **QUICK).row("spearman")
    kept = ~np.isnan(gaps)
    assert (row.n, row.judged, row.unread) == (54, 60, {"unreadable": 6})
    assert row.failures["drop"] == pytest.approx(row.value)
    assert row.value == pytest.approx(stats.spearmanr(HUMAN[kept], NEAR[kept]).statistic)
    assert row.failures["zero"] == pytest.approx(stats.spearmanr(HUMAN, np.nan_to_num(gaps)).statistic)
    assert row.failures["against people"] < row.value < row.failures["with people"]
    zero = agreement([numbers(m=gaps)], unreadable="zero", **QUICK).row("spearman")
    assert zero.value == pytest.approx(row.failures["zero"])
    assert "unreadable:zero" in zero.signature


def test_two_metrics_are_compared_where_both_have_an_answer():
    gaps = np.where(np.arange(60) < 10, np.nan, NEAR)
    found = agreement([numbers(near=gaps, far=FAR)], **QUICK)
    by = {one.statistic: one for one in found.differences}
    assert {one.n for one in found.differences} == {50}
    assert by["pearson"].value_b == pytest.approx(stats.pearsonr(HUMAN[10:], FAR[10:]).statistic)
    assert found.row("pearson", "far").value == pytest.approx(stats.pearsonr(HUMAN, FAR).statistic)
    assert [test.name for test in by["pearson"].tests] == ["permutation", "williams", "steiger"]
    assert [test.name for test in by["kendall-b"].tests] == ["permutation"]
    assert by["pearson"].needed is not None
    assert by["pearson"].interval[0] <= by["pearson"].difference <= by["pearson"].interval[1]


def test_p_values_are_corrected_for_all_pairs_and_criteria_of_one_test():
    other = numbers("d", near=NEAR[::-1].copy(), far=FAR)
    found = agreement([numbers(near=NEAR, far=FAR), other], coefficients=("pearson",), **QUICK)
    p = [one.tests[1].p for one in found.differences]
    order = np.argsort(p)
    holm = np.maximum.accumulate(np.array(p)[order] * [2, 1]).clip(max=1)
    assert [found.differences[i].tests[1].corrected for i in order] == pytest.approx(list(holm))
    one = agreement([numbers(near=NEAR, far=FAR)], coefficients=("pearson",), correction="none", **QUICK)
    assert all(test.p == test.corrected for test in one.differences[0].tests)


def test_metrics_may_be_compared_with_one_of_them_or_not_at_all():
    three = numbers(near=NEAR, far=FAR, same=HUMAN)
    some = agreement([three], against="far", coefficients=("pearson",), **QUICK)
    assert [(one.a, one.b) for one in some.differences] == [("near", "far"), ("same", "far")]
    assert agreement([three], tests=False, **QUICK).differences == ()
    with pytest.raises(ConfigError, match="no metric 'x'; there are near, far, same"):
        agreement([three], against="x", **QUICK)


def test_people_among_themselves_are_the_ceiling():
    three = np.stack([HUMAN, np.clip(HUMAN + 1, 1, 5), RANDOM.integers(1, 6, 60)], axis=1)
    judged = numbers(near=NEAR)
    judged = Judgements("c", "number", judged.ids, tuple(map(tuple, three.tolist())), judged.metrics)
    found = {one.statistic: one for one in agreement([judged], **QUICK).ceilings}
    each = [stats.spearmanr(three[:, k], np.delete(three, k, axis=1).mean(axis=1)).statistic for k in range(3)]
    assert found["spearman"].each == pytest.approx(tuple(each))
    assert found["spearman"].value == pytest.approx(np.mean(each))
    assert found["alpha-interval"].value == pytest.approx(krippendorff_alpha(three.T, "interval"))
    assert agreement([numbers(near=NEAR)], **QUICK).ceilings == ()


def test_pairs_of_systems_are_ranked_by_documents_won_or_by_means():
    (won,) = agreement([numbers(m=HUMAN)], **QUICK).systems
    assert (won.systems, won.pairs, won.right, won.close_pairs) == (6, 15, 15, 5)
    assert "ahead-by:wins" in won.signature
    base = numbers(m=HUMAN)
    alone = Judgements("c", "number", base.ids, base.human, base.metrics, systems=SYSTEMS)
    (means,) = agreement([alone], **QUICK).systems
    assert (means.right, means.pairs) == (15, 15)
    assert "ahead-by:mean" in means.signature


SIDES = ("A", "B", "tie")
PEOPLE = tuple(SIDES[i] for i in RANDOM.integers(0, 3, 80))
SAID = tuple(
    p if r < 0.6 else SIDES[k] for p, r, k in zip(PEOPLE, RANDOM.random(80), RANDOM.integers(0, 3, 80), strict=True)
)
TURNED = tuple(
    p if r < 0.7 else SIDES[k] for p, r, k in zip(SAID, RANDOM.random(80), RANDOM.integers(0, 3, 80), strict=True)
)


def verdicts(first=SAID, second=None, **more) -> Judgements:
    exchanged = {"m": tuple(second)} if second is not None else {}
    ids = tuple(map(str, range(len(PEOPLE))))
    return Judgements("c", "verdict", ids, tuple((p,) for p in PEOPLE), {"m": tuple(first), **more}, exchanged)


def test_verdicts_in_both_orders_are_counted_by_hand():
    found = {row.statistic: row.value for row in agreement([verdicts(second=TURNED)], **QUICK).rows}
    rows = list(zip(PEOPLE, SAID, TURNED, strict=True))
    assert found["accuracy"] == np.mean([h == a for h, a, _ in rows])
    assert found["accuracy-exchanged"] == np.mean([h == b for h, _, b in rows])
    assert found["accuracy-mean"] == pytest.approx((found["accuracy"] + found["accuracy-exchanged"]) / 2)
    assert found["agreement"] == np.mean([h == a == b for h, a, b in rows])
    assert found["consistency"] == np.mean([a == b for _, a, b in rows])
    assert found["kappa"] == pytest.approx(cohen_kappa(PEOPLE, SAID))


def test_an_unread_verdict_is_left_out_wrong_or_a_tie():
    gaps = [None if i % 8 == 0 else v for i, v in enumerate(SAID)]
    kept = [i for i in range(80) if i % 8]
    wanted = {
        "drop": np.mean([PEOPLE[i] == SAID[i] for i in kept]),
        "zero": np.mean([PEOPLE[i] == gaps[i] for i in range(80)]),
        "tie": np.mean([PEOPLE[i] == (gaps[i] or "tie") for i in range(80)]),
    }
    for rule, value in wanted.items():
        row = agreement([verdicts(gaps)], unreadable=rule, **QUICK).row("accuracy")
        assert row.value == value
        assert f"unreadable:{'wrong' if rule == 'zero' else rule}|" in row.signature
        assert (row.failures["drop"], row.failures["wrong"], row.failures["tie"]) == tuple(wanted.values())
        assert row.failures["right"] == wanted["zero"] + 10 / 80


@pytest.mark.parametrize(("equal", "consistency"), [(False, 0.5), (True, 1.0)])
def test_pairs_unread_in_both_orders_are_alike_only_where_the_choice_says_so(equal, consistency):
    gaps = [None if i % 2 else v for i, v in enumerate(SAID)]
    found = agreement([verdicts(gaps, gaps)], unreadable="zero", unread_equal=equal, **QUICK)
    row = found.row("consistency")
    assert row.value == consistency
    assert row.interval[0] <= consistency <= row.interval[1]


def test_verdicts_that_turn_around_are_pointed_out():
    turned = [{"A": "B", "B": "A"}.get(v, v) for v in SAID]
    assert any("--swap-back" in note for note in agreement([verdicts(second=turned)], **QUICK).notes)
    assert agreement([verdicts(second=SAID)], **QUICK).notes == ()


def test_two_judges_are_compared_by_mcnemars_test():
    found = agreement([verdicts(other=TURNED)], **QUICK)
    (one,) = found.differences
    x, y = (np.array([h == v for h, v in zip(PEOPLE, said, strict=True)]) for said in (SAID, TURNED))
    only = int((x & ~y).sum()), int((~x & y).sum())
    assert one.tests[0].p == pytest.approx(stats.binomtest(only[0], sum(only)).pvalue)
    assert one.difference == pytest.approx(x.mean() - y.mean())
    assert one.interval[0] <= one.difference <= one.interval[1]


def test_mcnemars_labels_needed_give_the_chance_they_promise():
    rng = np.random.default_rng(0)
    draw = rng.choice(4, 20_000, p=[0.5, 0.2, 0.1, 0.2])  # both right, only x, only y, none
    n = needed(np.isin(draw, (0, 1)), np.isin(draw, (0, 2)), 0.05)
    assert n is not None
    hits = 0
    for _ in range(400):
        d = rng.choice(4, n, p=[0.5, 0.2, 0.1, 0.2])
        hits += mcnemar(np.isin(d, (0, 1)), np.isin(d, (0, 2))).p < 0.05
    assert 0.7 < hits / 400 < 0.88


@pytest.mark.parametrize("order", [(), ("a", "b", "c")])
def test_the_tables_that_are_resampled_say_what_the_statistics_say(order):
    a, b = (["abc"[i] for i in RANDOM.integers(0, 3, 50)] for _ in range(2))
    h, m = coded([a, b], "abc")
    table = crossed(h, m, 3, np.arange(50))
    assert kappa(table, costs(3, 0)) == pytest.approx(cohen_kappa(a, b))
    assert kappa(table, costs(3, 1)) == pytest.approx(cohen_kappa(a, b, "linear", "abc"))
    assert kappa(table, costs(3, 2)) == pytest.approx(cohen_kappa(a, b, "quadratic", "abc"))
    assert alpha(table) == pytest.approx(krippendorff_alpha([a, b]))
    assert ordinal_alpha(table) == pytest.approx(krippendorff_alpha([a, b], "ordinal", "abc"))
    by_words = macro(a, b)
    assert macro_of_counts(table, 3) == pytest.approx((by_words.precision, by_words.recall, by_words.f1))
    labels = Judgements(
        "c", "label", tuple(map(str, range(50))), tuple((x,) for x in a), {"m": tuple(b)}, label_order=order
    )
    found = {row.statistic for row in agreement([labels], **QUICK).rows}
    assert ({"kappa-linear", "kappa-quadratic", "alpha-ordinal"} <= found) == bool(order)


EDGES = [
    (numbers(m=np.ones(60)), "the metric is the same everywhere (1)"),
    (numbers(human=np.ones(60), m=NEAR), "people's judgement is the same everywhere (1)"),
    (numbers(human=HUMAN[:1], m=NEAR[:1]), "1 item with an answer: it takes 2"),
    (numbers(m=[None] * 60), "0 items with an answer: it takes 2"),
]


@pytest.mark.parametrize(("judged", "note"), EDGES, ids=[note for _, note in EDGES])
def test_what_has_no_coefficient_says_why(judged: Judgements, note: str):
    found = agreement([judged], **QUICK)
    for row in found.rows:
        assert math.isnan(row.value)
        assert row.notes == (note,)
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert {row["value"] for row in plain["rows"]} == {None}


def test_a_metric_that_answers_nothing_stands_beside_one_that_does():
    found = agreement([numbers(m=[None] * 60, near=NEAR)], **QUICK)
    assert math.isnan(found.row("pearson", "m").value)
    assert {one.n for one in found.differences} == {0}
    assert all(one.tests == () for one in found.differences)


@pytest.mark.parametrize(
    ("choices", "said"),
    [({"level": "group"}, "level group needs the group"), ({"level": "system"}, "level system needs the system"),
     ({"unit": "group"}, "unit group needs the group"), ({"unit": "both"}, "unit both needs the group")],
)  # fmt: skip
def test_groups_and_systems_that_are_needed_are_asked_for(choices, said):
    base = numbers(near=NEAR)
    bare = Judgements("c", "number", base.ids, base.human, base.metrics)
    with pytest.raises(ConfigError, match=f"c: {said} of each item: .*--(group|system)"):
        agreement([bare], **choices, **QUICK)


def test_nothing_that_people_judged_is_refused():
    with pytest.raises(ConfigError, match="no item has a judgement of people; c: 2 items without"):
        agreement([Judgements("c", "number", ("1", "2"), ((), ()), {"m": (1.0, 2.0)})])


def test_the_same_seed_gives_the_same_numbers():
    first, second = (jg.agreement([numbers(near=NEAR, far=FAR)], **QUICK).to_dict() for _ in range(2))
    assert first == second
