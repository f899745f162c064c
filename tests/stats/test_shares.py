"""Intervals of shares hold near 0 and 1, and know that items of one document are alike."""

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from judgegraph.stats.agreement import share_interval, variance_of_mean


def right(count: int, n: int) -> np.ndarray:
    return (np.arange(n) < count).astype(float)


@pytest.mark.parametrize(("count", "n"), [(0, 5), (3, 7), (99, 100), (100, 100), (611, 1000)])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_of_single_items_it_is_wilsons(count: int, n: int, confidence: float):
    found = share_interval(right(count, n), confidence)
    theirs = proportion_confint(count, n, alpha=1 - confidence, method="wilson")
    assert (found.low, found.high) == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("truth", [0.9, 0.95, 0.97, 0.99])
def test_of_100_items_it_holds_a_truth_near_1(truth: float):
    """Counted over all that 100 items can be, each with its probability; a bootstrap holds 0.99 in 57 of 100."""
    ends = [share_interval(right(count, 100)) for count in range(101)]
    held = sum(stats.binom.pmf(k, 100, truth) for k, end in enumerate(ends) if end.low <= truth <= end.high)
    assert 0.91 < held < 0.99


def test_copies_of_an_item_in_its_document_tell_nothing_more():
    values = right(70, 100)
    copied, unit = np.repeat(values, 10), np.repeat(np.arange(100), 10)
    alone, copies = (share_interval(values, unit=np.arange(100)), share_interval(copied, unit=unit))
    assert (copies.low, copies.high) == pytest.approx((alone.low, alone.high))
    assert share_interval(copied).low > copies.low + 0.05


def test_where_all_are_right_each_document_counts_as_one_item():
    unit = np.repeat(np.arange(40), 10)
    found = share_interval(np.ones(400), unit=unit)
    assert found.high == 1
    assert found.low == pytest.approx(share_interval(np.ones(40)).low, abs=0.01)


def test_means_of_two_orders_are_as_sure_as_their_variance():
    values = np.array([0.0, 0.5, 1.0, 0.5] * 25)
    found = share_interval(values)
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * math.sqrt(values.var() / 100), rel=0.05)


@pytest.mark.parametrize("unit", [None, np.zeros(0, dtype=np.intp)])
def test_of_nothing_there_is_none(unit):
    assert math.isnan(share_interval(np.zeros(0), unit=unit).low)


def test_one_document_has_no_interval():
    assert math.isnan(share_interval(right(3, 9), unit=np.zeros(9, dtype=np.intp)).low)
    assert math.isnan(variance_of_mean(right(3, 9), np.zeros(9, dtype=np.intp)))
