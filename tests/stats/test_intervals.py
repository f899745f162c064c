"""Intervals of resampled values."""

import math

import numpy as np
import pytest
from scipy import stats

from judgegraph.stats.bootstrap import Interval, interval, p_of_zero

EVEN = np.arange(1, 1000) / 1000  # its p-th quantile is p


def test_ends_are_percentiles():
    assert interval(EVEN) == Interval(pytest.approx(0.025), pytest.approx(0.975), 0.95, 0.0)
    assert interval(EVEN, 0.5) == Interval(pytest.approx(0.25), pytest.approx(0.75), 0.5, 0.0)


def test_few_units_widen_a_normal_interval_to_one_by_students_t():
    drawn = stats.norm.ppf(np.arange(1, 100_000) / 100_000) * math.sqrt(15 / 16)  # as resampled means of 16 units do
    found = interval(drawn, units=16)
    assert (found.low, found.high) == pytest.approx((stats.t.ppf(0.025, 15), stats.t.ppf(0.975, 15)), rel=1e-3)
    assert interval(drawn, units=10**6).high == pytest.approx(interval(drawn).high, rel=1e-3)


def test_an_unknown_number_of_units_leaves_percentiles_as_they_are():
    assert interval(EVEN, units=0) == interval(EVEN)


@pytest.mark.parametrize(("units", "least"), [(2, 0.27), (3, 0.13), (5, 0.051), (6, 0.037)])
def test_with_few_units_p_of_zero_is_never_small_though_the_interval_leaves_zero_out(units, least):
    assert p_of_zero(np.ones(1000), units=units) == pytest.approx(least, rel=0.05)
    assert interval(np.ones(1000), units=units).low > 0


@pytest.mark.parametrize("units", [0, 5, 40])
def test_p_of_zero_is_below_5_percent_where_the_interval_leaves_zero_out(units):
    rng = np.random.default_rng(1)
    for mean in np.linspace(-4, 4, 41):
        values = rng.normal(mean, 1, 999)
        found, p = interval(values, units=units), p_of_zero(values, units=units)
        if abs(p - 0.05) > 0.005:  # an end lies between two resamples
            assert (p < 0.05) == (found.low > 0 or found.high < 0)


def test_p_of_zero_is_never_0_and_undefined_without_units():
    assert p_of_zero(np.ones(999)) == pytest.approx(2 / 1000)
    assert p_of_zero(np.zeros(9)) == 1
    assert np.isnan([p_of_zero(np.empty(0)), p_of_zero(np.ones(9), units=1)]).all()


def test_one_unit_has_no_interval():
    found = interval(np.full(100, 0.086), units=1)
    assert (math.isnan(found.low), math.isnan(found.high), found.undefined) == (True, True, 0.0)


def test_what_has_no_value_is_left_out_and_told():
    found = interval(np.append(EVEN, np.full(999, np.nan)))
    assert (found.low, found.undefined) == (pytest.approx(0.025), 0.5)


@pytest.mark.parametrize("values", [[], [math.nan, math.nan]])
def test_without_any_value_there_is_no_interval(values):
    found = interval(np.array(values))
    assert (math.isnan(found.low), math.isnan(found.high), found.undefined) == (True, True, 1.0)


@pytest.mark.parametrize("confidence", [0, 1, 95, -0.1, math.nan])
def test_a_confidence_is_a_share(confidence):
    with pytest.raises(ValueError, match="between 0 and 1"):
        interval(EVEN, confidence)
