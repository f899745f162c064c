"""How many labels: the number is the smallest that reaches the power; tests/stats/test_sizes.py simulates it."""

import math

import numpy as np
import pytest
from scipy import stats

from judgegraph.stats.agreement import labels_needed


def by_moments(r_ha, r_hb, r_ab, n, times=20_000):
    """Power of Steiger's test with n items, from a normal Fisher z pair whose correlation is simulated."""
    rng = np.random.default_rng(0)
    root = np.linalg.cholesky([[1, r_ha, r_hb], [r_ha, 1, r_ab], [r_hb, r_ab, 1]])
    draws = np.einsum("ij,tjn->tin", root, rng.normal(size=(times // 10, 3, 100)))
    draws -= draws.mean(axis=2, keepdims=True)
    h, a, b = np.moveaxis(draws / np.linalg.norm(draws, axis=2, keepdims=True), 1, 0)
    z = np.arctanh((h * a).sum(axis=1)) - np.arctanh((h * b).sum(axis=1))
    spread = math.sqrt(z.var() * 97 / (n - 3))
    return stats.norm.sf(stats.norm.isf(0.025) - abs(np.arctanh(r_ha) - np.arctanh(r_hb)) / spread)


@pytest.mark.parametrize(("r_ha", "r_hb", "r_ab"), [(0.5, 0.4, 0.6), (0.7, 0.5, 0.5), (0.2, -0.1, 0.0)])
def test_the_number_reaches_the_power(r_ha, r_hb, r_ab):
    n = labels_needed(r_ha, r_hb, r_ab)
    assert by_moments(r_ha, r_hb, r_ab, n) == pytest.approx(0.8, abs=0.03)


def test_closer_metrics_need_more_labels_and_correlated_ones_fewer():
    assert labels_needed(0.5, 0.45, 0.5) > labels_needed(0.5, 0.4, 0.5) > labels_needed(0.5, 0.4, 0.8)
    assert labels_needed(0.5, 0.4, 0.5, power=0.9) > labels_needed(0.5, 0.4, 0.5)
    assert labels_needed(0.5, 0.4, 0.5, alpha=0.01) > labels_needed(0.5, 0.4, 0.5)
    assert labels_needed(0.4, 0.5, 0.5) == labels_needed(0.5, 0.4, 0.5)


@pytest.mark.parametrize(
    "r",
    [
        (0.5, 0.5, 0.3),
        (math.nan, 0.5, 0.3),
        (1.0, 0.5, 0.5),
        (0.5, 0.4, 1.0),
        (0.3, math.nextafter(0.3, 1), 0.3),
        (0.3, 0.3 + 1e-14, 0.3),
        (0.3, 0.3001, 0.3),
    ],
)
def test_where_nothing_is_apart_or_defined_there_is_no_number(r):
    assert labels_needed(*r) is None


@pytest.mark.parametrize("settings", [{"alpha": 0}, {"power": 1}])
def test_chances_lie_between_0_and_1(settings):
    with pytest.raises(ValueError, match="between 0 and 1"):
        labels_needed(0.5, 0.4, 0.3, **settings)


def test_a_number_is_given_up_to_ten_million():
    assert labels_needed(0.3, 0.301, 0.3) < 10_000_000 < labels_needed(0.3, 0.303, 0.3) * 10
