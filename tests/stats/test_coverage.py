"""Intervals hold what they say: on simulated data the true value lies in 95 of 100 of them."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from judgegraph.stats.agreement import share_interval
from judgegraph.stats.bootstrap import bootstrap, correlate
from judgegraph.stats.correlation import COEFFICIENTS

MANY = 4000  # simulations: the share that is found then has a standard error of 0.34 points


def normals(rng, shape, r):
    """Two normal arrays that correlate by r."""
    x = rng.standard_normal(shape)
    return np.stack([x, r * x + np.sqrt(1 - r * r) * rng.standard_normal(shape)])


def rated(values):
    """On a scale from 1 to 5."""
    return np.clip(np.round(values + 3), 1, 5)


def plain(rng, n=100):
    return *normals(rng, n, 0.5), None, None


def discrete(rng, n=100):
    return *rated(normals(rng, n, 0.8)), None, None


def clustered(rng, groups=30):
    """Ten items a group; half the variance is the group's, where the sides go together more than within."""
    effect, noise = normals(rng, (groups, 1), 0.8), normals(rng, (groups, 10), 0.2)
    x, y = rated(np.sqrt(0.5) * (effect + noise)).reshape(2, -1)
    return x, y, np.repeat(np.arange(groups), 10), None


def grouped(rng, groups=100):
    return clustered(rng, groups)


def crossed(rng, groups=60, systems=30):
    """An item for each group and system, both of which bring an effect of their own."""
    of_group, of_system = normals(rng, (groups, 1), 0.8), normals(rng, systems, 0.6)
    noise = normals(rng, (groups, systems), 0.2)
    x, y = rated(1.2 * (np.sqrt(0.3) * of_group[:, :, :] + np.sqrt(0.5) * of_system[:, None] + np.sqrt(0.2) * noise))
    group, system = np.divmod(np.arange(groups * systems), systems)
    return x.ravel(), y.ravel(), group, system


def of_systems(rng, groups=60, systems=60):
    """As crossed, and unrounded: systems' means go together by the same 0.5 however many documents there are."""
    of_group, of_system = normals(rng, (groups, 1), 0.8), normals(rng, systems, 0.5)
    noise = normals(rng, (groups, systems), 0.5)
    x, y = np.sqrt(0.3) * of_group + np.sqrt(0.3) * of_system[:, None] + np.sqrt(0.4) * noise
    group, system = np.divmod(np.arange(groups * systems), systems)
    return x.ravel(), y.ravel(), group, system


def few_systems(rng):
    return of_systems(rng, 100, 16)


NORMAL = (0.5, 6 / np.pi * np.arcsin(0.25), 2 / np.pi * np.arcsin(0.5), 2 / np.pi * np.arcsin(0.5))


@dataclass
class Case:
    """Data of a known truth: its maker, and a number of units so large that the sample's value is the truth."""

    make: Any
    large: int = 0
    given: dict[str, Any] = field(default_factory=dict)

    def truth(self):
        if not self.large:
            return NORMAL
        size = (self.large,) if self.make is not crossed else (1000, 1000)
        x, y, group, _ = self.make(np.random.default_rng(12345), *size)
        level = self.given.get("level", "dataset")
        return [correlate(x, y, coefficient=name, level=level, group=group).value for name in COEFFICIENTS]

    def coverage(self, simulations, resamples, **other):
        """Share of the intervals that hold the truth, of each coefficient."""
        truth, held = np.array(self.truth()), np.zeros(len(COEFFICIENTS))
        for i in range(simulations):
            x, y, group, system = self.make(np.random.default_rng([7, i]))
            given = {**self.given, **other, "group": group, "system": system}
            found = bootstrap(x, [y], coefficients=COEFFICIENTS, resamples=resamples, seed=i, **given)
            ends = [found.interval(0, c) for c in range(len(COEFFICIENTS))]
            held += [end.low <= true <= end.high for end, true in zip(ends, truth, strict=True)]
        return held / simulations


CASES = {
    "normal": Case(plain),
    "scale of 1 to 5": Case(discrete, 1_000_000),
    "clustered": Case(clustered, 100_000, {"unit": "group"}),
    "group level": Case(grouped, 100_000, {"unit": "group", "level": "group"}),
    "crossed": Case(crossed, 1000, {"unit": "both"}),
    "60 systems": Case(of_systems, given={"unit": "both", "level": "system"}),
}


SLOWEST = ("normal", "60 systems")


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.soak if name in SLOWEST else pytest.mark.long) for name in CASES]
)
def test_95_percent_intervals_hold_the_truth_in_95_percent(name):
    found = CASES[name].coverage(MANY, 300)
    assert found == pytest.approx(0.95, abs=0.02), dict(zip(COEFFICIENTS, found, strict=True))


@pytest.mark.long
@pytest.mark.timeout(900)
def test_of_16_systems_intervals_of_ranks_are_wider_than_they_say():
    pearson, *ranks = Case(few_systems, given={"unit": "both", "level": "system"}).coverage(MANY, 300)
    assert pearson == pytest.approx(0.96, abs=0.02)
    assert ranks == pytest.approx([0.99] * 3, abs=0.01)


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("share", "least"), [(0.9, 0.93), (0.97, 0.91)])
def test_shares_of_clustered_items_hold_the_truth_near_1(share, least):
    """Of 0.97, where few of the 40 documents have anything wrong, in 92 of 100."""
    held, rng = 0, np.random.default_rng(11)
    unit = np.repeat(np.arange(40), 10)
    for _ in range(MANY):
        of_unit = rng.beta(4 * share, 4 * (1 - share), 40)  # items of one document correlate by 0.2
        found = share_interval((rng.random(400) < of_unit[unit]).astype(float), unit=unit)
        held += found.low <= share <= found.high
    assert least < held / MANY < 0.97


@pytest.mark.long
@pytest.mark.timeout(900)
def test_drawing_items_of_clustered_data_holds_it_far_too_seldom():
    assert CASES["clustered"].coverage(1000, 300, unit="item").max() < 0.88


def test_of_a_few_intervals_most_hold_the_truth():
    found = CASES["normal"].coverage(100, 100)
    assert found.min() > 0.85
    assert found.max() < 1 or found.min() < 1  # one that always holds is too wide
