"""The fast bootstrap against one that builds each resample and asks scipy; what it draws; what it leaves out."""

import itertools
import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgegraph.stats import bootstrap as drawing
from judgegraph.stats import bootstrap as weighted_tau
from judgegraph.stats.bootstrap import LEVELS, UNITS, Draws, Weighted, bootstrap, correlate, counts, resample
from judgegraph.stats.correlation import COEFFICIENTS, coefficient


def built(times_group, times_system, times_item, group, system):
    """Indices of one resample's items, and new codes in which a unit that was drawn twice is two."""
    copies = [
        (i, 1000 * group[i] + a, 1000 * system[i] + b)
        for i in range(len(group))
        for _ in range(int(times_item[i]))
        for a, b in itertools.product(range(int(times_group[group[i]])), range(int(times_system[system[i]])))
    ]
    return np.array(copies, dtype=int).reshape(-1, 3).T


def slowly(x, y, name, level, unit, group, system, constant, resamples, seed):
    """Each resample built and counted by itself, from the same draws."""
    has_group, has_system = unit in ("group", "both"), unit in ("system", "both")
    draws = Draws(unit, len(x), resamples, seed, group if has_group else None, system if has_system else None)
    found = []
    for drawn in draws:
        for r in range(len(drawn)):
            items, groups, systems = (
                np.ones(size) if times is None else times[r]
                for times, size in (
                    (drawn.items, len(x)), (drawn.groups, group.max() + 1), (drawn.systems, system.max() + 1)
                )
            )  # fmt: skip
            index, g, s = built(groups, systems, items, group, system)
            codes = {"group": g, "system": s}
            found.append(correlate(x[index], y[index], coefficient=name, level=level, constant=constant, **codes).value)
    return np.array(found)


def gapless(codes):
    return np.unique(codes, return_inverse=True)[1]


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32), n=st.integers(1, 40), values=st.sampled_from([2, 5, 10**6]),
    level=st.sampled_from(LEVELS), unit=st.sampled_from(UNITS), constant=st.sampled_from(["skip", "zero"]),
)  # fmt: skip
def test_a_resample_has_the_value_of_its_items(seed, n, values, level, unit, constant):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, values, n) / 3, rng.integers(0, values, n).astype(float)
    group, system = gapless(rng.integers(0, 6, n)), gapless(rng.integers(0, 4, n))
    given = {"level": level, "unit": unit, "group": group, "system": system, "constant": constant}
    found = bootstrap(x, [y], coefficients=COEFFICIENTS, resamples=6, seed=seed, **given)
    for c, name in enumerate(COEFFICIENTS):
        assert found.values[0, c] == pytest.approx(
            slowly(x, y, name, resamples=6, seed=seed, **given), abs=1e-9, nan_ok=True
        )


PATHS = {"matrix": (2048, 0), "table": (0, 10**6), "sorting": (0, 0)}


@pytest.mark.parametrize("path", PATHS)
@settings(max_examples=25)
@given(st.integers(0, 2**32), st.integers(2, 50), st.sampled_from([2, 6, 1000]), st.sampled_from([2, 6, 1000]))
def test_weighted_coefficients_are_those_of_repeated_items_by_each_way_to_tau(path, seed, n, of_x, of_y):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, of_x, n).astype(float), rng.integers(0, of_y, n).astype(float)
    weights = rng.integers(0, 3, (5, n)).astype(float)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weighted_tau, "PAIRED", PATHS[path][0])
        patch.setattr(weighted_tau, "NARROW", PATHS[path][1])
        found = Weighted(x, y).coefficients(weights, COEFFICIENTS)
    for c, name in enumerate(COEFFICIENTS):
        for r in range(5):
            items = np.repeat(np.arange(n), weights[r].astype(int))
            assert found[c, r] == pytest.approx(coefficient(name, x[items], y[items]), abs=1e-9, nan_ok=True)


def test_a_resample_without_the_one_outlier_keeps_its_digits():
    rng = np.random.default_rng(0)
    x = np.append(rng.random(30), 1e9)
    y = np.append(x[:30] + rng.random(30), -1e9)
    without, all_of_it = np.append(np.ones(30), 0.0), np.ones(31)
    found = Weighted(x, y).coefficients(np.stack([without, all_of_it]), ["pearson"])[0]
    assert found == pytest.approx([coefficient("pearson", x[:30], y[:30]), -1], abs=1e-9)


def test_a_seed_repeats_itself_and_other_seeds_do_not():
    x, y = np.random.default_rng(1).random((2, 50))
    one, again, other = (bootstrap(x, [y], seed=seed, resamples=20).values for seed in (3, 3, 4))
    assert (one == again).all()
    assert not (one == other).any()


@pytest.mark.parametrize("unit", UNITS)
def test_draws_depend_on_neither_metrics_nor_coefficients_nor_memory(unit, monkeypatch):
    x, y, z = np.random.default_rng(1).random((3, 60))
    codes = {"group": np.arange(60) // 6, "system": np.arange(60) % 6, "unit": unit, "resamples": 40}
    alone = bootstrap(x, [y], coefficients=["spearman"], **codes).values[0, 0]
    monkeypatch.setattr(drawing, "ENTRIES", 60 * 7)
    monkeypatch.setattr(drawing, "CACHED", 100)
    among = bootstrap(x, [z, y], coefficients=["kendall-b", "spearman"], **codes).values[1, 1]
    assert among == pytest.approx(alone, abs=1e-12)


def test_metrics_are_drawn_alike_so_a_copy_differs_by_nothing():
    x, y, z = np.random.default_rng(1).random((3, 80))
    found = bootstrap(x, [y, 2 * y, z], resamples=100)
    same, other = found.difference(0, 1, 0), found.difference(0, 2, 0)
    assert (same.low, same.high) == (pytest.approx(0, abs=1e-12), pytest.approx(0, abs=1e-12))
    assert other.high - other.low > 0.1


def test_units_are_drawn_as_often_as_there_are_of_them():
    found = counts(np.random.default_rng(0), 9, 5000)
    assert (found.sum(axis=1) == 9).all()
    assert found.mean(axis=0) == pytest.approx(1, abs=0.06)
    assert found.var() == pytest.approx(8 / 9, abs=0.03)  # multinomial


def test_groups_and_systems_are_drawn_independently():
    group, system = np.divmod(np.arange(60), 6)
    draws = Draws("both", 60, 4000, 0, group, system)
    drawn = list(draws)
    groups, systems = (np.concatenate([getattr(d, which) for d in drawn]) for which in ("groups", "systems"))
    assert np.abs(np.corrcoef(groups[:, :6].T, systems.T)[:6, 6:]).max() < 0.07
    assert draws.units == 6
    assert (drawn[0].weights[0] == drawn[0].groups[0][group] * drawn[0].systems[0][system]).all()


def test_drawing_whole_groups_widens_the_interval_where_their_items_go_together():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(30), 10)
    of_group = rng.standard_normal((2, 30))[:, group]
    x, y = of_group + 0.1 * rng.standard_normal((2, 300))
    wide, narrow = (bootstrap(x, [y], unit=unit, group=group).interval(0, 0) for unit in ("group", "item"))
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("x", [[], [1.0], [1.0, 1.0, 1.0, 1.0]], ids=["none", "one", "constant"])
def test_where_nothing_is_defined_interval_and_value_are_nan(level, unit, x):
    x = np.array(x)
    codes = np.arange(len(x)) // 2
    found = bootstrap(x, [x], level=level, unit=unit, group=codes, system=codes, resamples=10)
    assert [found.interval(0, c).undefined for c in range(3)] == [1.0] * 3
    assert all(math.isnan(found.interval(0, c).low) and math.isnan(found.interval(0, c).high) for c in range(3))


def test_one_group_has_no_interval():
    x, y = np.random.default_rng(0).random((2, 20))
    found = bootstrap(x, [y], level="group", unit="group", group=np.zeros(20, int), resamples=10).interval(0, 0)
    assert math.isnan(found.low)
    assert math.isnan(found.high)


def test_resamples_without_a_value_are_left_out_and_their_share_is_told():
    x, y = np.array([0.0] * 9 + [1.0]), np.arange(10.0)
    found = bootstrap(x, [y], resamples=2000).interval(0, 0)
    assert found.undefined == pytest.approx(0.9**10, abs=0.04)  # those that miss the one item that differs
    assert 0 < found.low <= found.high <= 1


@pytest.mark.sampled(4)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("unit", UNITS)
def test_memory_does_not_grow_with_resamples(level, unit, monkeypatch):
    monkeypatch.setattr(drawing, "ENTRIES", 2**12)
    n = 5000
    x, y = np.random.default_rng(0).integers(1, 6, (2, n)).astype(float)
    codes = {"group": np.arange(n) // 250, "system": np.arange(n) % 250}

    def peak(resamples):
        tracemalloc.start()
        bootstrap(x, [y], level=level, unit=unit, resamples=resamples, **codes)
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return top

    few, many = peak(32), peak(160)
    assert many < few + 2**20  # resamples x items would be 5 MiB more


def test_no_metric_and_no_coefficient_are_no_error():
    assert bootstrap(np.arange(5.0), [], resamples=3).values.shape == (0, 3, 3)
    assert bootstrap(np.arange(5.0), [np.arange(5.0)], coefficients=[], resamples=3).values.shape == (1, 0, 3)


def test_tau_of_many_values_by_many_items_makes_fewer_resamples_and_says_so(monkeypatch):
    monkeypatch.setattr(weighted_tau, "SORTED", 3 * 10**5)
    x, y = np.random.default_rng(0).random((2, 2500))
    found = bootstrap(x, [x + y, np.round(y * 5)], coefficients=["spearman", "kendall-b"], resamples=150)
    assert found.made.tolist() == [[150, 120], [150, 150]]
    assert np.isnan(found.values[0, 1, 120:]).all()
    assert found.interval(0, 1).undefined == 0
    assert found.difference(0, 1, 1).undefined == 0


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"unit": "group"}, "needs to know the group"), ({"unit": "both", "group": np.arange(4)}, "the system"),
        ({"unit": "document"}, "expected one of item"), ({"level": "system"}, "needs to know the system"),
        ({"level": "all"}, "expected one of dataset"), ({"coefficients": ["tau"]}, "expected one of pearson"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_said(given, word):
    with pytest.raises(ValueError, match=word):
        bootstrap(np.arange(4.0), [np.arange(4.0)], **given)


def test_any_statistic_is_given_the_items_that_a_coefficient_is():
    x, y = np.random.default_rng(0).integers(0, 5, (2, 30)).astype(float)
    for units in (None, np.arange(30) // 4):
        found = resample(
            lambda i: np.array([coefficient("pearson", x[i], y[i]), len(i)]), 30, units=units, resamples=25, seed=2
        )
        unit = "item" if units is None else "group"
        drawn = bootstrap(x, [y], unit=unit, group=units, resamples=25, seed=2)
        assert found.shape == (2, 25)
        assert found[0] == pytest.approx(drawn.values[0, 0], abs=1e-12)
    assert len(set(found[1])) > 1  # the last group is smaller, so resamples differ in length
