"""How sure a number is said to be: intervals, tests and what is noted where they rest on little."""

import math
from dataclasses import replace

import numpy as np
import pytest

from judgegraph.meta import agreement as ceiling_draws
from judgegraph.meta import result as of_numbers
from judgegraph.meta.agreement import agreement, needed
from judgegraph.meta.cells import Judgements
from judgegraph.meta.result import difference_notes, general_notes, note_lines, row_notes
from judgegraph.stats.agreement import permutation_test_of_shares
from judgegraph.views.agreement import agreement as laid_out
from judgegraph.views.terminal import show

RANDOM = np.random.default_rng(8)
QUICK = {"resamples": 100, "permutations": 99}


def judged(human, groups=None, systems=None, kind="number", order=(), **metrics) -> Judgements:
    places = tuple(tuple(v) if isinstance(v, list | tuple) else (v,) for v in human)
    columns = {name: tuple(values) for name, values in metrics.items()}
    ids = tuple(map(str, range(len(places))))
    named = [None if codes is None else tuple(map(str, codes)) for codes in (groups, systems)]
    return Judgements("", kind, ids, places, columns, groups=named[0], systems=named[1], label_order=order)


def words(right, wrong="b") -> tuple[str, ...]:
    return tuple("a" if hit else wrong for hit in right)


def by_documents(rng, documents: int, length: int = 10, apart: float = 0.0):
    """Two metrics, each better on some documents; which of their items are right."""
    skill = rng.normal(0, 0.2, documents)
    x, y = (np.clip(0.7 + sign * skill + sign * apart / 2, 0, 1)[:, None] for sign in (1, -1))
    found = (rng.random((documents, length)) < chance for chance in (x, y))
    return [one.ravel() for one in found], np.repeat(np.arange(documents), length)


def test_labels_in_documents_are_tested_by_documents():
    (x, y), group = by_documents(RANDOM, 40)
    of_all = judged(words(np.ones(400)), group, kind="label", x=words(x), y=words(y))
    (one,) = agreement([of_all], resamples=100, permutations=500).differences
    assert [(test.name, test.n) for test in one.tests] == [("permutation", 40)]
    assert "items only the first is right on" in one.tests[0].note
    assert "permutations:500" in one.signature
    alone = judged(words(np.ones(400)), np.arange(400), kind="label", x=words(x), y=words(y))
    (single,) = agreement([alone], **QUICK).differences
    assert [test.name for test in single.tests] == ["mcnemar-exact"]


def test_equal_metrics_that_differ_by_document_are_told_apart_in_one_of_20():
    """McNemar's test, which takes items as independent, tells them apart in 6 of 20."""
    rng = np.random.default_rng(0)
    p = []
    for _ in range(400):
        (x, y), group = by_documents(rng, 40)
        p.append(permutation_test_of_shares(x.astype(float), y.astype(float), group=group, permutations=199).p)
    assert 0.02 < np.mean(np.array(p) <= 0.05) < 0.09


def test_the_labels_that_are_needed_in_documents_give_the_chance_they_promise():
    rng = np.random.default_rng(1)
    (x, y), group = by_documents(rng, 4000, apart=0.1)
    items = needed(x, y, 0.05, group)
    alone = needed(x, y, 0.05)
    assert items is not None
    assert alone is not None
    assert items > 1.5 * alone
    hits = []
    for _ in range(200):
        (x, y), group = by_documents(rng, round(items / 10), apart=0.1)
        found = permutation_test_of_shares(x.astype(float), y.astype(float), group=group, permutations=199)
        hits.append(found.p < 0.05)
    assert 0.7 < np.mean(hits) < 0.9


def test_numbers_in_documents_need_as_many_labels_as_documents_speak_for():
    human = RANDOM.normal(size=200)
    a, b = human + RANDOM.normal(size=200), human + 1.5 * RANDOM.normal(size=200)
    group = np.repeat(np.arange(200), 5)
    copied = judged(np.repeat(human, 5), group, a=np.repeat(a, 5), b=np.repeat(b, 5))
    single = judged(human, a=a, b=b)
    many, alone = (
        agreement([one], coefficients=("pearson",), permutations=99).differences[0].needed for one in (copied, single)
    )
    assert many is not None
    assert alone is not None
    assert many / 5 == pytest.approx(alone, rel=0.35)


def test_at_group_level_two_metrics_are_compared_on_documents_where_both_have_a_coefficient():
    human, near, far = RANDOM.normal(size=(3, 60))
    group = np.repeat(np.arange(12), 5)
    near[group < 4] = 3.0
    of_all, of_shared = (
        judged(human[kept], group[kept], near=near[kept], far=far[kept]) for kept in (group >= 0, group >= 4)
    )
    found, wanted = (agreement([one], level="group", **QUICK).differences[0] for one in (of_all, of_shared))
    assert (found.n, found.value_a, found.value_b) == (40, wanted.value_a, pytest.approx(wanted.value_b))
    assert found.interval == pytest.approx(wanted.interval)
    assert found.tests[0].p == wanted.tests[0].p


def test_shares_near_1_are_not_sure():
    found = agreement([judged(words(np.ones(100)), kind="label", m=words(np.arange(100) < 99))], **QUICK)
    row = found.row("accuracy")
    assert 0.93 < row.interval[0] < 0.96
    assert 0.99 < row.interval[1] < 1
    assert "interval:wilson" in row.signature
    assert "resamples:" not in row.signature


def test_where_all_is_right_nothing_is_said_to_be_sure():
    human = words(np.arange(100) < 60)
    found = agreement([judged(human, kind="label", m=human, n=human)], **QUICK)
    row = found.row("accuracy", "m")
    assert row.interval == (pytest.approx(0.963, abs=1e-3), 1.0)
    assert math.isnan(found.row("kappa", "m").interval[0])
    assert row.notes == ()
    assert found.row("kappa", "m").notes == ("no interval: all resamples are alike",)
    assert not found.differences
    assert "m and n are the same on every item" in " ".join(found.notes)


EVERY = [((), set()), (("a", "b", "c"), {"alpha-ordinal", "kappa-linear", "kappa-quadratic"})]


@pytest.mark.parametrize(("order", "more"), EVERY)
def test_each_statistic_of_labels_has_an_interval(order, more):
    human, said = (["abc"[i] for i in RANDOM.integers(0, 3, 80)] for _ in range(2))
    found = agreement([judged(human, kind="label", order=order, m=said)], **QUICK)
    ends = {row.statistic: row.interval for row in found.rows}
    assert more | {"macro-precision", "macro-recall", "macro-f1", "alpha", "kappa", "accuracy"} == set(ends)
    assert all(ends[row.statistic][0] < row.value < ends[row.statistic][1] for row in found.rows)


PEOPLE = RANDOM.integers(1, 6, (60, 1)) + RANDOM.integers(0, 3, (60, 3)).astype(float)
LABELS = np.array(["a", "b", "c"])[np.clip(PEOPLE.astype(int) % 3, 0, 2)]
GAPS = np.where(RANDOM.random((60, 3)) < 0.1, np.nan, PEOPLE)


@pytest.mark.parametrize("level", ["dataset", "group", "system"])
def test_people_among_themselves_have_intervals(level):
    groups, systems = np.divmod(np.arange(60), 6)
    found = agreement([judged(PEOPLE.tolist(), groups, systems, m=PEOPLE[:, 0])], level=level, **QUICK).ceilings
    assert len(found) == 4
    for one in found:
        assert one.interval[0] < one.value < one.interval[1]
        assert "unit:" in one.signature


def test_people_who_left_items_out_have_intervals_over_all_items():
    groups = np.arange(60) // 6
    one = judged(GAPS.tolist(), groups, m=PEOPLE[:, 0])
    for ceiling in agreement([one], **QUICK).ceilings:
        assert ceiling.interval[0] < ceiling.value < ceiling.interval[1]
    *within, alpha = agreement([one], level="group", **QUICK).ceilings
    assert all(math.isnan(ceiling.interval[0]) for ceiling in within)
    assert all("unit:" not in ceiling.signature for ceiling in within)
    assert not math.isnan(alpha.interval[0])


def test_one_gap_changes_an_interval_by_little():
    one = judged(PEOPLE.tolist(), m=PEOPLE[:, 0])
    whole = agreement([one], **QUICK).ceilings[0].interval
    more = judged([*PEOPLE.tolist(), [3.0, math.nan, math.nan]], m=[*PEOPLE[:, 0], 1.0])
    assert agreement([more], **QUICK).ceilings[0].interval == pytest.approx(whole, abs=0.08)


def test_of_many_ratings_fewer_resamples_are_made_and_the_signature_says_how_many(monkeypatch):
    monkeypatch.setattr(ceiling_draws, "RATINGS", 1)
    monkeypatch.setattr(ceiling_draws, "FEWEST", 50)
    for places in (PEOPLE, GAPS):
        for one in agreement([judged(places.tolist(), m=PEOPLE[:, 0])], **QUICK).ceilings:
            assert "resamples:50|" in one.signature


@pytest.mark.parametrize("order", [(), ("a", "b", "c")])
def test_people_s_labels_among_themselves_have_intervals(order):
    found = agreement([judged(LABELS.tolist(), kind="label", order=order, m=LABELS[:, 0])], **QUICK).ceilings
    assert [one.statistic for one in found] == ["accuracy", "alpha-ordinal" if order else "alpha-nominal"]
    assert all(one.interval[0] < one.value < one.interval[1] for one in found)


FEW = [(1, "no interval: only 1 group"), (5, "interval from 5 groups: a rough guess"), (6, "")]


@pytest.mark.parametrize(("count", "said"), FEW)
@pytest.mark.parametrize("kind", ["number", "label"])
def test_few_documents_are_noted_and_one_has_no_interval(count, said, kind):
    values = RANDOM.integers(0, 2, (2, 60))
    sides = [words(side) for side in values] if kind == "label" else values.astype(float)
    found = agreement([judged(sides[0], np.arange(60) % count, kind=kind, m=sides[1])], **QUICK)
    for row in found.rows:
        assert math.isnan(row.interval[0]) == (count == 1)
        assert any(note.startswith(said) for note in row.notes) if said else row.notes == ()


@pytest.mark.parametrize("count", [2, 6])
def test_a_perfect_coefficient_has_no_interval_by_any_way_to_count_it(count):
    human = RANDOM.normal(size=(count * 10))
    found = agreement([judged(human, np.arange(count * 10) % count, m=human, n=-human)], **QUICK)
    for row in found.rows:
        assert math.isnan(row.interval[0])
        assert row.notes == ("no interval: all resamples are alike",)
        assert "resamples:" not in row.signature
    for one in found.differences:
        assert math.isnan(one.interval[0])
        assert one.notes == ("no interval: all resamples are alike",)


@pytest.mark.slow
def test_what_several_lines_lack_for_one_reason_is_said_once_with_their_count():
    columns = {"m": RANDOM.normal(size=8), "n": RANDOM.normal(size=8), "same": np.ones(8)}
    columns["twin"] = columns["m"]
    given = [replace(judged(RANDOM.normal(size=8), [0] * 8, **columns), criterion=name) for name in "xyz"]
    found = agreement(given, **QUICK)
    assert row_notes(found) == [
        "9 of 12 lines (x, m; x, n; ...): no interval: only 1 group",
        "3 of 12 lines (x, same; y, same; ...): the metric is the same everywhere (1)",
    ]
    assert general_notes(found) == [
        "all 3 criteria: m and twin are the same on every item: not tested against each other"
    ]
    assert "permutation, all 6 lines: 1 unit to swap: p cannot fall below 1" in difference_notes(found.differences)


def test_shares_that_differ_are_a_range_and_some_statistics_are_named():
    said = [
        ("a", "r", ["undefined in 2.0% of all", "rough"]),
        ("a", "t", ["rough"]),
        ("b", "r", ["undefined in 0.5% of all"]),
    ]
    said += [("b", "t", []), ("c", "r", [])]
    assert note_lines(said) == ["2 of 3 lines (a; b), r: undefined in 0.5% to 2.0% of all", "a: rough"]
    assert note_lines([("", "r", ["rough"])]) == ["rough"]


@pytest.mark.parametrize(("systems", "noted"), [(6, True), (19, True), (20, False)])
def test_ranks_of_few_systems_have_intervals_that_are_called_wide(systems, noted):
    group, system = np.divmod(np.arange(30 * systems), systems)
    human, m = RANDOM.normal(size=(2, len(group)))
    found = agreement([judged(human, group, system, m=m)], level="system", **QUICK)
    assert bool(found.row("spearman").notes) == noted
    assert found.row("pearson").notes == ()


@pytest.mark.parametrize(
    ("resamples", "confidence", "noted"),
    [(0, 0.95, False), (1, 0.95, True), (99, 0.95, True), (100, 0.95, False), (499, 0.99, True), (500, 0.99, False)],
)
def test_few_resamples_are_noted(resamples, confidence, noted):
    one = judged(RANDOM.normal(size=30), m=RANDOM.normal(size=30))
    notes = agreement([one], resamples=resamples, confidence=confidence).notes
    assert bool(notes) == noted
    assert all("are too few for intervals of" in note for note in notes)


def test_a_level_that_labels_do_not_have_is_noted():
    human = words(RANDOM.integers(0, 2, 30))
    one = judged(human, np.arange(30) % 10, kind="label", m=human[::-1])
    assert (
        "labels are counted over all items: level group changes nothing"
        in agreement([one], level="group", **QUICK).notes
    )
    assert agreement([one], **QUICK).notes == ()


def test_the_signature_says_how_many_permutations_and_resamples_were_made(monkeypatch):
    from judgegraph.stats import agreement as swaps

    monkeypatch.setattr(swaps, "DISTINCT", 10)
    monkeypatch.setattr(swaps, "SLOW", 20)
    human, a, b = RANDOM.normal(size=(3, 40))
    by = {one.statistic: one for one in agreement([judged(human, a=a, b=b)], **QUICK).differences}
    assert "permutations:20|" in by["kendall-b"].signature
    assert "permutations:99|" in by["pearson"].signature
    (one,) = agreement([judged(human, np.arange(40) % 6, a=a, b=b)], coefficients=("pearson",), **QUICK).differences
    assert "permutations:all 64|" in one.signature
    made = of_numbers.Numbers._draw
    monkeypatch.setattr(of_numbers.Numbers, "_draw", lambda *given: _short(made(*given)))
    row = agreement([judged(human, a=a)], coefficients=("kendall-b",), **QUICK).row("kendall-b")
    assert "resamples:40|" in row.signature
    assert row.notes == ("interval from 40 resamples, more would take too long",)


def _short(drawn):
    drawn.made[:] = 40
    return drawn


@pytest.mark.parametrize(("grouped", "rule"), [(True, "by documents won"), (False, "by means")])
def test_the_heading_says_what_pairs_of_systems_are_ranked_by(capsys, grouped, rule):
    group, system = np.divmod(np.arange(60), 6)
    human, m = RANDOM.normal(size=(2, 60))
    show(laid_out(agreement([judged(human, group if grouped else None, system, m=m)], **QUICK)))
    assert f"pairs of systems ranked as people do, {rule}" in capsys.readouterr().out
