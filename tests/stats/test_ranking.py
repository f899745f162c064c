"""Strengths, ratings, cycles and their agreement: closed forms, simulated truth, brute force."""

import math
import sys
from itertools import permutations

import networkx as nx
import numpy as np
import pytest
from scipy import stats

from judgegraph.errors import ExtraError
from judgegraph.stats.bootstrap import interval
from judgegraph.stats.ranking import (
    PRIOR,
    EloRule,
    Matches,
    bradley_terry,
    elo,
    levels,
    loose,
    newton,
    preference_cycles,
    rankings_agree,
    win_graph,
)


def _matches(*games, names="xyzw", unit=None):
    """Games as "xy" (x won), "yx", or "x=y"."""
    first, second, won = [], [], []
    for game in games:
        first.append(names.index(game[0]))
        second.append(names.index(game[-1]))
        won.append(0.5 if "=" in game else 1.0)
    codes = None if unit is None else np.array(unit)
    return Matches(tuple(names), np.array(first), np.array(second), np.array(won), codes)


def _simulated(strengths, m, seed):
    rng, n = np.random.default_rng(seed), len(strengths)
    first = rng.integers(0, n, m)
    second = (first + rng.integers(1, n, m)) % n
    won = rng.random(m) < 1 / (1 + np.exp(strengths[second] - strengths[first]))
    return Matches(tuple(f"s{k}" for k in range(n)), first, second, won.astype(float))


@pytest.mark.parametrize(("won", "lost", "ties"), [(30, 10, 0), (3, 4, 0), (1, 1, 0), (2, 0, 2), (0, 0, 4)], ids=str)
def test_of_two_systems_the_difference_is_the_log_of_the_odds(won, lost, ties):
    matches = _matches(*["xy"] * won, *["yx"] * lost, *["x=y"] * ties, names="xy")
    found = bradley_terry(matches, resamples=0)
    assert found.values[0] - found.values[1] == pytest.approx(math.log((won + ties / 2) / (lost + ties / 2)))
    assert found.values.sum() == pytest.approx(0)
    assert not found.regularised


def test_a_system_that_never_lost_is_lent_wins_and_it_says_so():
    found = bradley_terry(_matches(*["xy"] * 10, names="xy"), resamples=20)
    assert found.regularised
    assert found.lent == 20
    assert found.values[0] - found.values[1] == pytest.approx(math.log((10 + PRIOR) / PRIOR))
    assert np.isfinite(found.drawn).all()


def test_a_resample_without_a_way_back_is_lent_wins_alone():
    found = bradley_terry(_matches(*["xy"] * 6, "yx", names="xy"), resamples=400, seed=3)
    assert not found.regularised
    assert found.lent / 400 == pytest.approx((6 / 7) ** 7, abs=0.1)  # draws without the one loss
    assert found.values[0] - found.values[1] == pytest.approx(math.log(6))


def test_true_strengths_are_recovered():
    truth = np.linspace(-1.5, 1.5, 8)
    found = bradley_terry(_simulated(truth, 40_000, seed=1), resamples=0)
    assert np.abs(found.values - truth).max() < 0.08


@pytest.mark.parametrize("seed", range(4))
def test_many_tables_at_once_are_fitted_as_choix_fits_each(seed):
    rng = np.random.default_rng(seed)
    tables = rng.gamma(0.5, 3, (3, 6, 6)) * (1 - np.eye(6)) + 0.01
    import choix

    for table, ours in zip(tables, newton(tables, np.zeros(6)), strict=True):
        np.fill_diagonal(table, 0)
        theirs = choix.ilsr_pairwise_dense(table, max_iter=10_000)
        assert ours == pytest.approx(theirs - theirs.mean(), abs=1e-6)


def test_comparisons_of_one_document_are_drawn_together():
    alone = _matches(*["xy", "yx"] * 20, names="xy")
    together = _matches(*["xy", "yx"] * 20, names="xy", unit=np.repeat(np.arange(20), 2))
    assert bradley_terry(alone, resamples=50).drawn.std() > 0.1
    found = bradley_terry(together, resamples=50)
    assert found.units == 20
    assert found.drawn.std() == pytest.approx(0, abs=1e-9)  # each document is one all


def test_without_choix_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "choix", None)
    with pytest.raises(ExtraError, match=r"judgegraph\[meta\]"):
        bradley_terry(_matches("xy", "yx", names="xy"))


@pytest.mark.long
def test_intervals_of_strengths_cover_the_truth_95_times_of_100():
    truth = np.array([-0.8, -0.3, 0.0, 0.4, 0.7])
    covered = []
    for seed in range(1000):
        found = bradley_terry(_simulated(truth, 200, seed), resamples=300, seed=seed)
        ends = [interval(found.drawn[:, k], 0.95, units=found.units) for k in range(5)]
        covered += [end.low <= value <= end.high for end, value in zip(ends, truth, strict=True)]
    assert np.mean(covered) == pytest.approx(0.95, abs=0.02)


def test_one_comparison_moves_both_by_half_of_k():
    found = elo(_matches("xy", names="xyz"), EloRule(k=32), resamples=0)
    assert found.values.tolist() == [1016, 984, 1000]


def test_points_are_neither_made_nor_lost():
    found = elo(_simulated(np.array([-1.0, 0, 1]), 100, seed=2), resamples=30)
    assert found.values.sum() == pytest.approx(3000)
    assert found.drawn.sum(axis=1) == pytest.approx(np.full(30, 3000))


def test_two_comparisons_are_averaged_over_both_orders():
    matches = _matches("xy", "yz", names="xyz")
    x_first = [1008, 992 + 16 * (1 - 1 / (1 + 10 ** (8 / 400)))]
    y_first = [1000 + 16 * (1 - 1 / (1 + 10 ** (8 / 400))), 1008]
    found = elo(matches, orders=4000, resamples=0).values
    assert found[0] == pytest.approx((x_first[0] + y_first[0]) / 2, abs=0.02)
    ys = (x_first[1], 1008 - 16 * (1 - 1 / (1 + 10 ** (8 / 400))))
    assert found[1] == pytest.approx(sum(ys) / 2, abs=0.05)


def test_ratings_of_small_steps_are_strengths_on_another_scale():
    truth = np.array([-0.6, -0.1, 0.2, 0.5])
    found = elo(_simulated(truth, 6000, seed=5), EloRule(k=4), orders=20, resamples=0)
    assert found.values - 1000 == pytest.approx(truth * 400 / math.log(10), abs=20)


def test_ratings_repeat_with_their_seed():
    matches = _simulated(np.array([-1.0, 0, 1]), 60, seed=1)
    one, same, other = (elo(matches, resamples=5, orders=5, seed=seed) for seed in (1, 1, 2))
    assert (one.values == same.values).all()
    assert (one.drawn == same.drawn).all()
    assert (one.drawn != other.drawn).any()


@pytest.mark.parametrize("broken", [{"k": 0}, {"k": math.nan}, {"scale": -1}, {"start": math.inf}], ids=str)
def test_a_rule_without_sense_is_refused(broken):
    with pytest.raises(ValueError, match="Elo"):
        EloRule(**broken)


@pytest.mark.parametrize(
    ("games", "cycles"),
    [
        (("xy", "yz", "zx"), [("x", "y", "z")]),
        (("xy", "yz", "xz"), []),
        (("xy", "yz", "z=x"), []),
        (("xy", "xy", "yx", "yz", "zx"), [("x", "y", "z")]),
        (("xy", "yz", "zw", "wx"), [("x", "y", "z", "w")]),
        ((), []),
    ],
    ids=["a circle", "an order", "a tie breaks it", "majorities count", "of four", "nothing"],
)
def test_cycles_of_majorities_are_found(games, cycles):
    found = preference_cycles(_matches(*games).wins(), tuple("xyzw"))
    assert list(found.found) == cycles
    assert len(found.knots) == bool(cycles)


@pytest.mark.parametrize("seed", range(5))
def test_the_shortest_cycles_are_those_of_brute_force(seed):
    wins = np.random.default_rng(seed).random((6, 6)) * (1 - np.eye(6))
    names = tuple("abcdef")
    found = preference_cycles(wins, names, most=100, longest=4)
    beats = wins > wins.T
    brute = {
        tuple(names[k] for k in order)
        for length in (3, 4)
        for order in permutations(range(6), length)
        if order[0] == min(order) and all(beats[a, b] for a, b in zip(order, (*order[1:], order[0]), strict=True))
    }
    assert set(found.found) == brute
    assert [len(cycle) for cycle in found.found] == sorted(map(len, brute))


def test_a_long_circle_is_named_though_it_is_longer_than_what_is_listed():
    wins = np.roll(np.eye(9), 1, axis=1)
    found = preference_cycles(wins, tuple("abcdefghi"))
    assert found.found == (tuple("abcdefghi"),)


def test_of_very_many_cycles_a_few_are_listed():
    wins = np.random.default_rng(0).random((120, 120)) * (1 - np.eye(120))
    found = preference_cycles(wins, tuple(f"{k:03}" for k in range(120)))
    assert len(found.found) == 20
    assert found.more
    assert {len(cycle) for cycle in found.found} == {3}


@pytest.mark.parametrize(
    ("one", "other", "kendall", "alike"),
    [
        ([1, 2, 3, 4], [10, 20, 30, 40], 1.0, 6),
        ([1, 2, 3, 4], [4, 3, 2, 1], -1.0, 0),
        ([1, 2, 3, 4], [1, 2, 4, 3], 4 / 6, 5),
        ([1, 1, 2], [1, 1, 2], 1.0, 3),
        ([1, 1, 2], [1, 1.5, 2], 2 / math.sqrt(6), 2),
        ([1, 2], [3, 3], math.nan, 0),
        ([1], [2], math.nan, 0),
    ],
    ids=str,
)
def test_rankings_agree_by_pairs(one, other, kendall, alike):
    found = rankings_agree(np.array(one, dtype=float), np.array(other, dtype=float))
    assert found.kendall == pytest.approx(kendall, nan_ok=True)
    assert (found.alike, found.pairs) == (alike, len(one) * (len(one) - 1) // 2)


def test_coefficients_of_rankings_are_scipys():
    one, other = np.random.default_rng(4).normal(size=(2, 12))
    found = rankings_agree(one, other)
    assert found.kendall == pytest.approx(stats.kendalltau(one, other).statistic)
    assert found.spearman == pytest.approx(stats.spearmanr(one, other).statistic)


def test_the_win_graph_counts_wins_and_halves_ties():
    matches = _matches("xy", "xy", "yx", "y=z")
    graph = win_graph(matches.wins(), matches.names)
    assert isinstance(graph, nx.DiGraph)
    assert graph.edges["x", "y"] == {"wins": 2, "met": 3}
    assert graph.edges["z", "y"] == {"wins": 0.5, "met": 1}
    assert set(graph.nodes) == set("xyzw")
    assert not graph.has_edge("x", "z")


@pytest.mark.parametrize(
    ("games", "strong"), [(("xy", "yx"), True), (("xy",), False), (("x=y",), True), ((), False)], ids=str
)
def test_wins_lead_everywhere_or_not(games, strong):
    wins = _matches(*games, names="xy").wins()
    assert bool(loose(wins[None], np.zeros(2, dtype=np.intp)).any()) is not strong
    assert nx.is_strongly_connected(win_graph(wins, ("x", "y"))) is strong


@pytest.mark.parametrize(
    ("first", "second", "won", "said"),
    [([0], [0], [1], "itself"), ([0], [1], [0.3], "won"), ([0, 1], [1], [1], "one length")],
)
def test_comparisons_that_are_none_are_refused(first, second, won, said):
    with pytest.raises(ValueError, match=said):
        Matches(("x", "y"), np.array(first), np.array(second), np.array(won))


def test_systems_that_nobody_compared_with_others_are_fitted_by_themselves():
    matches = _matches(*["xy"] * 3, "yx", *["zw"] * 9, names="xyzwv")
    found = bradley_terry(matches, resamples=30)
    assert found.parts.tolist() == [0, 0, 1, 1, -1]
    assert found.values[0] - found.values[1] == pytest.approx(math.log(3))  # lent nothing: only z and w need it
    assert found.values[2] - found.values[3] == pytest.approx(math.log((9 + PRIOR) / PRIOR))
    assert found.values[0] + found.values[1] == pytest.approx(0)
    assert math.isnan(found.values[4])


def test_only_pairs_within_a_part_are_held_against_each_other():
    parts = np.array([0, 0, 1, 1, -1])
    found = rankings_agree(np.array([1.0, 2, 30, 40, 0]), np.array([10.0, 20, 3, 4, 9]), parts)
    assert (found.alike, found.pairs, found.kendall) == (2, 2, 1)
    assert math.isnan(found.spearman)


def _round_robin(seed, n=6, games=10):
    rng = np.random.default_rng(seed)
    true = rng.normal(size=n) * 1.5
    rows = []
    for a in range(n):
        for b in range(a + 1, n):
            won = rng.binomial(games, 1 / (1 + math.exp(true[b] - true[a])))
            rows += [(a, b, 1.0)] * won + [(a, b, 0.0)] * (games - won)
    first, second, won = zip(*rows, strict=True)
    return Matches(tuple("abcdef"), np.array(first), np.array(second), np.array(won))


def test_equal_wins_in_a_round_robin_are_equal_strengths():
    ties = 0
    for seed in range(60):
        matches = _round_robin(seed)
        level, wins = levels(bradley_terry(matches, resamples=0).values), matches.wins().sum(axis=1)
        assert ((level[:, None] == level) == (wins[:, None] == wins)).all(), seed
        ties += int((wins[:, None] == wins).sum() - 6) // 2
    assert ties > 5


def test_very_many_systems_are_fitted_as_by_the_exact_steps(monkeypatch):
    tables = np.random.default_rng(3).poisson(0.4, (3, 90, 90)) * (1 - np.eye(90)) + 0.01
    quick = newton(tables, np.zeros(90))
    monkeypatch.setattr("judgegraph.stats.ranking.MANY", 1000)
    assert np.abs(quick - newton(tables, np.zeros(90))).max() < 1e-12


def test_a_long_chain_is_fitted_though_gradients_do_not_reach_its_ends():
    at = np.arange(79)
    wins = np.zeros((1, 80, 80))
    wins[0, at, at + 1], wins[0, at + 1, at] = 9, 1
    assert -np.diff(newton(wins, np.linspace(90, -90, 80))[0]) == pytest.approx(np.full(79, math.log(9)))


def test_ratings_that_only_the_luck_of_orders_parts_are_equal():
    circle = _matches(*["xy", "yz", "zw", "wx", "xz", "zx", "yw", "wy"] * 10)
    assert not elo(circle, resamples=0).signs.any()


@pytest.mark.parametrize("rule", [EloRule(), EloRule(k=0.04, scale=1)], ids=str)
def test_ratings_are_apart_on_any_scale(rule):
    found = elo(_simulated(np.array([-1.0, 0, 1]), 400, seed=2), rule, resamples=0)
    assert found.signs.tolist() == [[0, -1, -1], [1, 0, -1], [1, 1, 0]]


def test_of_very_many_comparisons_orders_play_some_and_rate_as_if_all():
    matches = _simulated(np.array([-0.5, 0, 0.2]), 100_000, seed=4)
    found = elo(matches, orders=40, resamples=0)
    assert found.played == 20_000
    assert found.values - 1000 == pytest.approx((np.array([-0.5, 0, 0.2]) + 0.1) * 400 / math.log(10), abs=15)


def test_of_very_many_systems_fewer_resamples_are_drawn(monkeypatch):
    monkeypatch.setattr("judgegraph.stats.ranking.MOST_WORK", 120 * 30**3)
    assert len(bradley_terry(_simulated(np.linspace(-1, 1, 30), 4000, seed=4), resamples=1000).drawn) == 120
    assert len(bradley_terry(_simulated(np.linspace(-1, 1, 60), 4000, seed=4), resamples=1000).drawn) == 100


def test_a_judge_without_one_unit_has_the_draws_of_the_others():
    games = ["xy", "yx", "xy", "yz", "zx", "zy", "xz"]
    whole = _matches(*games, names="xyz", unit=np.arange(7))
    lacking = Matches(whole.names, whole.first[1:], whole.second[1:], whole.won[1:], np.arange(1, 7), total=7)
    for one, other in zip(whole.draws(20, 5), lacking.draws(20, 5), strict=True):
        assert (one.weights == other.weights).all()
    assert (lacking.judged, lacking.drawn_from) == (6, 7)
