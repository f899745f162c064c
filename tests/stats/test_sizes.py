"""The tests reject as often as they say: 5 in 100 where two metrics are equally good, 80 in 100 with labels enough."""

import numpy as np
import pytest

from judgegraph.stats.agreement import labels_needed, permutation_test
from judgegraph.stats.correlation import steiger, williams

MANY, FEW = 4000, 250
OFF = {MANY: 0.01, FEW: 0.04}  # of 5 %: three standard errors
GROUPS, EACH = 25, 6
GROUP = np.repeat(np.arange(GROUPS), EACH)


def normal(rng, n=120, r=0.5, r_ab=0.4):
    """Two metrics of equal true correlation, on independent items."""
    return np.linalg.cholesky([[1, r, r], [r, 1, r_ab], [r, r_ab, 1]]) @ rng.normal(size=(3, n))


def likert(rng):
    """The same on a scale of five values."""
    return np.clip(np.round(1.2 * normal(rng)), -2, 2)


def of_documents(rng):
    """Items of one document share something, in people's eyes and in each metric's."""
    quality, shared = rng.normal(size=GROUPS * EACH), rng.normal(size=(3, GROUPS))[:, GROUP]
    return quality + 0.8 * rng.normal(size=(3, GROUPS * EACH)) + shared


def uneven(rng):
    """Each metric is good on some documents and bad on others, alike on average."""
    noise = np.exp(rng.normal(size=(2, GROUPS)))[:, GROUP] * rng.normal(size=(2, GROUPS * EACH))
    quality = rng.normal(size=GROUPS * EACH)
    return np.stack([quality, *(quality + noise)])


def by_permutation(**settings):
    return lambda human, a, b, seed: permutation_test(human, a, b, permutations=199, seed=seed, **settings).p


def by_correlations(test):
    def p(human, a, b, seed):
        r = np.corrcoef([human, a, b])
        return test(r[0, 1], r[0, 2], r[1, 2], len(human)).p

    return p


CASES = {
    "williams": (by_correlations(williams), normal),
    "steiger": (by_correlations(steiger), normal),
    "Pearson": (by_permutation(coefficient="pearson"), normal),
    "Spearman": (by_permutation(coefficient="spearman"), normal),
    "Pearson of five values": (by_permutation(coefficient="pearson"), likert),
    "Spearman of five values": (by_permutation(coefficient="spearman"), likert),
    "Pearson, clustered": (by_permutation(coefficient="pearson", group=GROUP), of_documents),
    "Spearman, clustered": (by_permutation(coefficient="spearman", group=GROUP), of_documents),
    "Pearson per group": (by_permutation(coefficient="pearson", level="group", group=GROUP), of_documents),
    "Spearman per group": (by_permutation(coefficient="spearman", level="group", group=GROUP), of_documents),
    "Pearson per uneven group": (by_permutation(coefficient="pearson", level="group", group=GROUP), uneven),
    "Kendall per uneven group": (by_permutation(coefficient="kendall-b", level="group", group=GROUP), uneven),
}


def rejected(p, make, times, seed=0):
    """Share of simulated data on which p is 5 % at most."""
    rng = np.random.default_rng(seed)
    return np.mean([p(*make(rng), seed=number) <= 0.05 for number in range(times)])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("times", [FEW, pytest.param(MANY, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", CASES)
def test_equal_metrics_differ_in_five_of_a_hundred_cases(name, times):
    assert rejected(*CASES[name], times) == pytest.approx(0.05, abs=OFF[times])


@pytest.mark.long
@pytest.mark.parametrize("make", [normal, likert])
def test_kendall_of_items_keeps_its_size(make):
    assert rejected(by_permutation(coefficient="kendall-b"), make, 1500) == pytest.approx(0.05, abs=0.0175)


def test_swapping_single_items_of_clustered_data_rejects_too_often():
    # why groups are swapped whole
    assert rejected(by_permutation(coefficient="pearson"), of_documents, FEW) > 0.1


@pytest.mark.parametrize("times", [FEW, pytest.param(MANY, marks=pytest.mark.long)])
@pytest.mark.parametrize(("r_ha", "r_hb", "r_ab"), [(0.5, 0.3, 0.4), (0.6, 0.5, 0.7), (0.3, 0.1, 0.0)])
def test_with_the_labels_needed_four_of_five_differences_are_found(r_ha, r_hb, r_ab, times):
    n = labels_needed(r_ha, r_hb, r_ab)
    root = np.linalg.cholesky([[1, r_ha, r_hb], [r_ha, 1, r_ab], [r_hb, r_ab, 1]])
    for test in (williams, steiger):
        found = rejected(by_correlations(test), lambda rng: root @ rng.normal(size=(3, n)), times)
        assert found == pytest.approx(0.8, abs=0.05 if times == MANY else 0.08)
