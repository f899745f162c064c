"""Whether a criterion earns its place in a set: what it adds to agreement with people, and how far others say the same.

A suggested criterion is no gain by itself. It is judged here by scores that a run gave by the whole set. With people's
judgements: how far a combination of all criteria agrees with them, beside one without the criterion, each fitted on
other samples than it is held against. Without: how far the others' scores explain its own.

Sources: stacking with weights of 0 and more, Breiman 1996 (recalled), shrunk to equal weights, with a penalty that was
measured on several judges of one text; the explained share is that of the PRESS statistic, Allen 1974 (recalled).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any

import numpy as np

from judgegraph.answers import answers_of
from judgegraph.errors import ConfigError, counted, one_line, settings_checked
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.critic import codes
from judgegraph.prompts.criteria import same_key
from judgegraph.runs.item import Item
from judgegraph.runs.run import Run
from judgegraph.stats.agreement import corrected, permutation_test
from judgegraph.stats.bootstrap import bootstrap
from judgegraph.stats.correlation import Codes, Coefficient, Floats, coefficient

LEAST = 10  # samples that a correlation rests on
FEW = 30  # labelled samples, below which criteria count alike: weights cannot be learnt from fewer
FOLDS, REPEATS = 10, 5
PENALTY = 30.0  # of squared distance from equal weights, in squared standardised labels
SAME = 0.9  # a rank correlation from which two criteria say the same, with an interval above `SURELY`
SURELY = 0.75
EXPLAINED = 0.9  # a share of variance from which the others say what a criterion says
OVERALL = "overall"
STATISTICS: tuple[Coefficient, ...] = ("pearson", "spearman")
HARM = (
    "criteria that a model wrote may do harm: one judge fell from 55.6 to 42.9 % on JudgeBench with them "
    "(arXiv:2602.05125, as cited; not read by us)"
)


@dataclass(frozen=True)
class Gain:
    """What a criterion adds by one coefficient.

    Attributes:
        without, with_it: agreement of the combination with people, -1 to 1. gain: their difference.
        low, high: its interval, paired bootstrap over samples (groups where there are some). p: of a paired
            permutation test, two-sided; p_holm: for all criteria that were tried.
    """

    statistic: Coefficient
    without: float
    with_it: float
    gain: float
    low: float
    high: float
    p: float
    p_holm: float = math.nan


@dataclass(frozen=True)
class Alike:
    """Spearman's rank correlation with the scores of another criterion, on n samples that have both."""

    criterion: str
    value: float
    low: float
    high: float
    n: int

    @property
    def is_same(self) -> bool:
        """Whether the two say the same, as far as the samples can tell."""
        return self.value >= SAME and self.low >= SURELY


@dataclass(frozen=True)
class CriterionWorth:
    """What is known of one criterion.

    Attributes:
        n: samples that people judged and all criteria have a score for; 0 without labels. gains: by Pearson, which the
            verdict goes by, and by Spearman; () without labels.
        alike: the other criteria, most alike first. explained: share of the variance of its scores that a linear
            combination of the others' explains, 0 to 1, each sample left out of the fit that predicts it; nan where
            there are too few samples.
        why: what keeps something from being told, "" where nothing does.
    """

    criterion: str
    n: int
    gains: tuple[Gain, ...]
    alike: tuple[Alike, ...]
    explained: float
    why: str = ""

    @property
    def verdict(self) -> str:
        """ "earned", "redundant with X", or "not shown"."""
        if any(one.statistic == "pearson" and one.low > 0 and one.p_holm <= 0.05 for one in self.gains):
            return "earned"
        if same := next((one for one in self.alike if one.is_same), None):
            return f"redundant with {same.criterion}"
        if self.explained >= EXPLAINED:
            return "redundant with the others together"
        return "not shown"


@dataclass(frozen=True)
class CriteriaWorth:
    """Each criterion that was asked about.

    Attributes:
        target: the criterion of people, or what stands for it; "" without labels. labelled: samples with it.
        fitted: how criteria were combined. notes: what else to know.
    """

    criteria: tuple[CriterionWorth, ...]
    target: str
    labelled: int
    samples: int
    fitted: str
    signature: str
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; what is undefined is null."""
        found = asdict(self)
        for plain, one in zip(found["criteria"], self.criteria, strict=True):
            plain["verdict"] = one.verdict
        cleaned: dict[str, Any] = _without_nan(found)
        return cleaned


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nan(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(one) for one in value]
    return None if isinstance(value, float) and math.isnan(value) else value


@settings_checked
def criteria_worth(
    run: Run, criteria: Sequence[str] = (), *, target: str | None = None, resamples: int = 1000,
    permutations: int = 2000, confidence: float = 0.95, seed: int = 0,
) -> CriteriaWorth:  # fmt: skip
    """Whether criteria of a run earn their place, each beside all others of its set.

    Args:
        run: one that was judged by the whole set; `runs.labels.LabelledRun` gives it people's judgements of a file.
        criteria: names, such as those that were accepted of suggestions; none: each of the set in turn.
        target: the criterion of people that agreement is with. None: "overall" where they judged it, else the mean of
            what they judged, each criterion standardised.

    Raises:
        ConfigError: the run has no scores by a criterion, fewer than two criteria with numbers, or no such target.
    """
    _ = Conventions(resamples=resamples, confidence=confidence, seed=seed)  # refuses what cannot be drawn
    table = _Table.of(run.items)
    names = [_named(one, table.names) for one in criteria] or list(table.names)
    if len(table.names) < 2:
        raise ConfigError(
            "a criterion is held beside others: the run has scores by "
            + (f"'{one_line(table.names[0], 60)}' alone" if table.names else "no criterion with numbers")
        )
    people, whose = table.people(target)
    rows = np.flatnonzero(~np.isnan(people) & ~np.isnan(table.scores).any(axis=1))
    group = table.groups(rows)
    draw = {"resamples": resamples, "seed": seed}
    found = []
    for name in names:
        at = table.names.index(name)
        gains, why = _gains(table.scores[rows], people[rows], at, group, permutations, confidence, **draw)
        alike = sorted(_alike(table, at, confidence), key=lambda one: -one.value)
        found.append(CriterionWorth(name, len(rows) if gains else 0, gains, tuple(alike), _explained(table, at), why))
    labelled = int((~np.isnan(people)).sum())
    fitted = "" if len(rows) < LEAST else _how(len(rows))
    return CriteriaWorth(
        tuple(_holm(found)), whose, labelled, len(people), fitted, str(run.manifest.get("signature", "")),
        tuple(_notes(table, labelled, len(rows))),
    )  # fmt: skip


def _named(name: str, known: Sequence[str]) -> str:
    found = {same_key(one): one for one in known}.get(same_key(name))
    if found is None:
        raise ConfigError(
            f"the run has no numbers by '{one_line(name, 60)}'; there are: "
            f"{', '.join(one_line(one, 60) for one in known) or 'none'}. Accept it by judgegraph review RUN --save "
            "FILE, and judge by that file"
        )
    return found


def _how(n: int) -> str:
    if n < FEW:
        return f"the plain mean of standardised criteria, as {FEW} labels are needed to fit weights"
    return f"weights of 0 and more, shrunk to equal ones, fitted on other samples ({FOLDS} folds, {REPEATS} times)"


def _holm(found: Sequence[CriterionWorth]) -> Iterator[CriterionWorth]:
    by = {
        name: corrected([next((g.p for g in one.gains if g.statistic == name), math.nan) for one in found])
        for name in STATISTICS
    }
    for at, one in enumerate(found):
        yield replace(one, gains=tuple(replace(g, p_holm=float(by[g.statistic][at])) for g in one.gains))


def _notes(table: _Table, labelled: int, used: int) -> Iterator[str]:
    if table.labels:
        yield f"criteria with labels, no numbers, are left out: {', '.join(one_line(n, 60) for n in table.labels)}"
    if labelled > used:
        yield f"{labelled - used} of {counted(labelled, 'labelled sample')} left out: no score by some criterion"
    if LEAST <= used < FEW:
        yield f"{used} labels are few: a gain that is there is seldom shown with fewer than {FEW}"
    yield HARM


# Scores of a run as a table.


@dataclass(frozen=True)
class _Table:
    """Answers by criterion, (samples, criteria), nan where there is none; what people said of each sample."""

    names: tuple[str, ...]
    scores: Floats
    human: tuple[Mapping[str, float], ...]
    group: tuple[str | None, ...]
    labels: tuple[str, ...]

    @classmethod
    def of(cls, items: Iterable[Item]) -> _Table:
        rows: list[dict[str, float]] = []
        human, group = [], []
        labels: dict[str, None] = {}
        for item in items:
            by: dict[str, list[float]] = {}
            for score in answers_of(item):
                if score.of == "output" and score.value is not None and item.status == "ok":
                    by.setdefault(score.criterion, []).append(score.value)
                elif score.label is not None:
                    labels[score.criterion] = None
            rows.append({name: fmean(values) for name, values in by.items()})
            human.append(_numbers(item.sample.human))
            given = item.sample.meta.get("group")
            group.append(None if given is None else str(given))
        names = tuple(dict.fromkeys(name for row in rows for name in row if name != OVERALL))
        scores = np.array([[row.get(name, math.nan) for name in names] for row in rows], dtype=np.float64)
        return cls(names, scores.reshape(len(rows), len(names)), tuple(human), tuple(group), tuple(labels))

    def column(self, at: int) -> dict[int, float]:
        """Sample's place -> its answer."""
        return {row: float(value) for row, value in enumerate(self.scores[:, at]) if not math.isnan(value)}

    def groups(self, rows: Codes) -> Codes | None:
        return codes([self.group[row] for row in rows])

    def people(self, target: str | None) -> tuple[Floats, str]:
        """What people said, nan where they did not, and by what."""
        known = dict.fromkeys(name for one in self.human for name in one)
        if target is None and not known:
            return np.full(len(self.human), math.nan), ""
        name = target or next((one for one in known if one.casefold() == OVERALL), None)
        if name is None and len(known) == 1:
            name = next(iter(known))
        if name is not None:
            own = next((one for one in known if same_key(one) == same_key(name)), None)
            if own is None:
                there = ", ".join(one_line(one, 60) for one in known) or "nothing"
                raise ConfigError(f"people gave no numbers by '{one_line(name, 60)}'; they gave: {there}")
            return np.array([one.get(own, math.nan) for one in self.human]), own
        columns = np.array([[one.get(key, math.nan) for key in known] for one in self.human], dtype=np.float64)
        scaled = np.column_stack([_standard(column, column) for column in columns.T])
        return scaled.mean(axis=1), f"the mean of {counted(len(known), 'criterion', 'criteria')}, standardised"


def _numbers(human: Mapping[str, Any]) -> dict[str, float]:
    """Criterion -> the mean over annotators; labels are left out."""
    found = {}
    for name, given in human.items():
        values = [one for one in (given if isinstance(given, list) else [given]) if isinstance(one, int | float)]
        if values and all(map(math.isfinite, values)):
            found[name] = fmean(values)
    return found


def _standard(values: Floats, like: Floats) -> Floats:
    """In standard deviations of `like`, from its mean; 0 where that is constant."""
    known = like[~np.isnan(like)]
    spread = float(known.std()) if len(known) else 0.0
    off = values - (known.mean() if len(known) else 0.0)
    found: Floats = off / spread if spread > 0 else off * 0.0
    return found


# What a criterion adds to agreement with people.


def _gains(
    scores: Floats, people: Floats, at: int, group: Codes | None, permutations: int, confidence: float,
    *, resamples: int, seed: int,
) -> tuple[tuple[Gain, ...], str]:  # fmt: skip
    if len(people) < LEAST:
        return (), f"{counted(len(people), 'sample')} with labels and all scores; {LEAST} are needed" if len(
            people
        ) else ""
    if (people == people[0]).all():
        return (), "people gave every sample the same"
    others = np.delete(scores, at, axis=1)
    sides = [combined(table, people, group, seed=seed) for table in (others, scores)]
    drawn = bootstrap(
        people, sides, coefficients=STATISTICS, unit="item" if group is None else "group", group=group,
        resamples=resamples, seed=seed,
    )  # fmt: skip
    found = []
    for c, name in enumerate(STATISTICS):
        before, after = (coefficient(name, people, side) for side in sides)
        if math.isnan(before) or math.isnan(after):
            return (), "a combination of the criteria says the same of every sample"
        ends = drawn.difference(1, 0, c, confidence)
        p = permutation_test(
            people, sides[1], sides[0], coefficient=name, group=group, permutations=permutations, seed=seed
        ).p
        found.append(Gain(name, before, after, after - before, ends.low, ends.high, p))
    return tuple(found), ""


def combined(scores: Floats, people: Floats, group: Codes | None = None, *, seed: int = 0) -> Floats:
    """What a combination of criteria says of each sample, fitted on other samples; with fewer than 30 their mean.

    Args:
        scores: (samples, criteria). people: (samples,). group: samples of one group are in one fold.

    Returns:
        (samples,), the mean over shuffled folds, in standard deviations.
    """
    if len(people) < FEW:
        plain: Floats = np.column_stack([_standard(one, one) for one in scores.T]).mean(axis=1)
        return plain
    unit = np.arange(len(people)) if group is None else group
    units, total = int(unit.max()) + 1, np.zeros(len(people))
    for repeat in range(REPEATS):
        fold = (np.random.default_rng([seed, repeat]).permutation(units) % min(FOLDS, units))[unit]
        for one in range(int(fold.max()) + 1):
            total[fold == one] += _predicted(scores, people, fold == one)
    return total / REPEATS


def _predicted(scores: Floats, people: Floats, held_out: Any) -> Floats:
    """Of the samples held out, by weights of all others."""
    from scipy.optimize import nnls

    rest = ~held_out
    known = np.column_stack([_standard(one[rest], one[rest]) for one in scores.T])
    new = np.column_stack([_standard(one[held_out], one[rest]) for one in scores.T])
    wanted, size = _standard(people[rest], people[rest]), known.shape[1]
    mean = known.mean(axis=1)
    slope = float(mean @ wanted) / float(mean @ mean) if float(mean @ mean) > 0 else 0.0
    equal = np.full(size, max(slope, 0.0) / size) * math.sqrt(PENALTY)
    weights = nnls(np.vstack([known, np.eye(size) * math.sqrt(PENALTY)]), np.concatenate([wanted, equal]))[0]
    found: Floats = new @ weights
    return found


# How far other criteria say the same.


def _both(one: Mapping[int, float], other: Mapping[int, float]) -> tuple[Floats, Floats]:
    common = [at for at in one if at in other]
    first, second = (np.array([values[at] for at in common], dtype=np.float64) for values in (one, other))
    return first, second


def rank_correlation(one: Mapping[int, float], other: Mapping[int, float]) -> tuple[float, int]:
    """Spearman's, by the samples that have both; nan where one of them is constant. And of how many samples."""
    first, second = _both(one, other)
    return (coefficient("spearman", first, second) if len(first) >= LEAST else math.nan), len(first)


def rank_interval(
    one: Mapping[int, float], other: Mapping[int, float], confidence: float = 0.95
) -> tuple[float, float]:
    """The interval of `rank_correlation`, over samples."""
    first, second = _both(one, other)
    drawn = bootstrap(first, [second], coefficients=("spearman",), unit="item", resamples=500)
    found = drawn.interval(0, 0, confidence)
    return found.low, found.high


def _alike(table: _Table, at: int, confidence: float) -> Iterator[Alike]:
    own = table.column(at)
    for place, name in enumerate(table.names):
        other = table.column(place)
        value, n = rank_correlation(own, other) if place != at else (math.nan, 0)
        if not math.isnan(value):
            yield Alike(name, value, *rank_interval(own, other, confidence), n)


def _explained(table: _Table, at: int) -> float:
    """Share of its variance that the others explain, each sample by a fit to the rest; nan where they are too few."""
    rows = table.scores[~np.isnan(table.scores).any(axis=1)]
    n, own = len(rows), rows[:, at]
    if n < max(LEAST, rows.shape[1] + 2) or (own == own[0]).all():
        return math.nan
    others = np.column_stack([np.ones(n), np.delete(rows, at, axis=1)])
    pulls = others @ np.linalg.pinv(others)
    left = (own - pulls @ own) / np.clip(1 - np.diag(pulls), 1e-9, None)
    off = (own - own.mean()) * n / (n - 1)
    return max(0.0, 1 - float(left @ left) / float(off @ off))
