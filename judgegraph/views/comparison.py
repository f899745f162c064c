"""A comparison of runs: what is really different first, then the numbers, then how they came about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from judgegraph.errors import one_line
from judgegraph.meta.compare import ALPHA, ComparedRun, MeanDifference, MeanOf, RunComparison
from judgegraph.meta.result import Agreement, Difference
from judgegraph.views.amounts import (
    NONE,
    chance,
    count_text,
    counted,
    duration,
    money,
    number_text,
    portion,
    signed,
    valued,
    within,
)
from judgegraph.views.blocks import Block, Grid, Para, table_text
from judgegraph.views.notebook import lays_out

MOST = 40  # differences that are listed
NAME = 28  # characters of a run's or a criterion's name
HOW = (
    "means are of the samples that every run with the criterion answers, with 95 % intervals; differences: sample by "
    "sample, swapped at random, 95 % intervals by bootstrap; p by Holm over all of them"
)


@lays_out(RunComparison)
def comparison(found: RunComparison) -> Iterator[Block]:
    """Which means really differ, the mean answer by each criterion, agreement with people, and what the runs took."""
    runs = counted(len(found.runs), "run")
    other = found.samples - found.same_outputs
    outputs = f"; other outputs were judged on {other:,} of them" if other else ""
    yield Para(f"{runs} on {counted(found.samples, 'sample')} that all of them have{outputs}", "lead")
    yield from _differences(found)
    if found.means:
        yield from _means(found)
    if found.agreement is not None:
        yield from _agreement(found.agreement)
    yield _costs(found)
    yield from (Para(f"note: {note}", "note") for note in found.notes)
    yield Para(HOW, "fine")
    yield from (Para(f"{run.name}: {run.signature}", "fine", whole=True) for run in found.runs)


def _differences(found: RunComparison) -> Iterator[Block]:
    tested = [one for one in found.differences if one.p == one.p]
    real = sorted((one for one in tested if one.is_real), key=lambda one: (one.corrected, -abs(one.difference)))
    if tested and not real:
        yield Para(f"no mean differs for sure: of {counted(len(tested), 'difference')} none has p < {ALPHA}")
    yield from (Para(f"  {_sentence(one)}") for one in real[:MOST])
    if len(real) > MOST:
        yield Para(f"  and {len(real) - MOST:,} more; --json has them all")
    yield from (Para(f"  {line}", "note") for line in _units(found))
    if few := len(found.differences) - len(tested):
        yield Para(f"  {counted(few, 'difference')} not tested: too few samples, or no common scale")


def _units(found: RunComparison) -> list[str]:
    """Such as "unit: 6 groups (meta.group), each swapped whole; no p below 0.031 is possible"; [] of single samples
    that are enough to find something."""
    tested = [one for one in found.differences if one.p == one.p]
    lines = []
    kinds = dict.fromkeys((one.unit, one.units, one.least_p, found.least_corrected(one)) for one in tested)
    for unit, units, least, after in kinds:
        if unit == "sample" and after < ALPHA:
            continue
        line = f"unit: {counted(units, unit)}" + (" (meta.group), each swapped whole" if unit == "group" else "")
        line += f"; no p below {chance(least)} is possible" if after >= 0.001 else ""
        if len(tested) > 1 and after >= 0.001:
            line += f", none below {chance(after)} after the correction for {len(tested)} differences"
        if after >= ALPHA:
            line += f": so few {unit}s cannot show a difference for sure, however large it is"
        lines.append(line)
    return lines


def verdict_on_two(found: RunComparison) -> list[str]:
    """Whether the second of two runs, B, is better or worse than the first, A: against people, then by its means."""
    lines = [*(note for note in found.notes if "cannot be told" in note), _against_people(found)]
    real = [one for one in found.differences if one.is_real]
    moved = [f"{_cut(one.criterion)} {signed(-one.difference)} {within(-one.high, -one.low)}".strip() for one in real]
    tested = sum(one.p == one.p for one in found.differences)
    if moved:
        lines.append(f"means of B that differ for sure: {', '.join(moved)} (of {tested} tested)")
    elif tested:
        lines.append(f"no mean differs for sure (of {counted(tested, 'criterion', 'criteria')} tested)")
    else:
        lines.append("no mean could be tested: fewer than five samples, labels, or no criterion in common")
    return [*lines, *_units(found)]


def _against_people(found: RunComparison) -> str:
    """Such as "B is closer to people: Coherence by 0.12 [0.02, 0.25] (spearman)"."""
    if not found.same_outputs:
        return "other outputs were judged: the means tell of these, and not which judge is closer to people"
    apart: dict[str, list[str]] = {"A": [], "B": []}
    tested = False
    for one in found.agreement.differences if found.agreement else ():
        a, b = _side(found, one.a), _side(found, one.b)
        tested |= a != b and any(test.p == test.p for test in one.tests)
        if a != b and _is_real(one):
            by = f"{_cut(one.criterion)} by {_by(one.difference, *one.interval)} ({one.statistic}, {_chance(one)})"
            apart[a if one.difference > 0 else b].append(by)
    if closer := [f"{name} is closer to people: {', '.join(by)}" for name, by in apart.items() if by]:
        return "; ".join(closer)
    if not tested and found.agreement and any("the same on every item" in note for note in found.agreement.notes):
        return "neither is closer to people: they answer alike wherever people judged"
    if not tested:
        return "people judged too little that both runs judge: which of them is closer to people is not known"
    n = max((row.n for row in found.agreement.rows), default=0) if found.agreement else 0
    return f"neither is closer to people for sure ({counted(n, 'sample')} that people judged)"


def _side(found: RunComparison, metric: str) -> str:
    """The run that a metric is of, as A or B; several metrics of one run have its name before theirs."""
    first = found.runs[0].name
    return "A" if metric == first or metric.startswith(f"{first}: ") else "B"


def _is_real(one: Difference) -> bool:
    """Whether every test of it that could be made says so, after its correction, and its interval does not hold 0."""
    low, high = one.interval
    made = [test.corrected for test in one.tests if test.p == test.p]
    return bool(made) and all(p < ALPHA for p in made) and not low <= 0 <= high


def _chance(one: Difference) -> str:
    """The greatest corrected p of its tests."""
    return f"p {chance(max(test.corrected for test in one.tests if test.p == test.p))}"


def _by(difference: float, low: float, high: float) -> str:
    """A difference without its sign, and its interval turned with it."""
    ends = (low, high) if difference > 0 else (-high, -low)
    return valued(abs(difference), *ends)


def _sentence(one: MeanDifference) -> str:
    """Such as "Coherence: a is above b by 0.31 [0.12, 0.50] (n 32, p 0.004)"."""
    above, below = (one.a, one.b) if one.difference > 0 else (one.b, one.a)
    by = _by(one.difference, one.low, one.high)
    how = f"(n {one.n:,}, p {chance(one.corrected)})"
    return f"{_cut(one.criterion)}: {_cut(above)} is above {_cut(below)} by {by} {how}"


def _means(found: RunComparison) -> Iterator[Block]:
    """A row for each run, a column for each criterion; a mark where it really differs from the first run."""
    first = found.runs[0].name
    real = {(one.criterion, one.b) for one in found.differences if one.is_real and one.a == first}
    head = [f"{_cut(name)} (n {_n(found.means, name):,})" for name in found.criteria]
    yield _by_run("mean answer", head, [
        (run.name, *(_mean(found.mean(run.name, name), (name, run.name) in real) for name in found.criteria))
        for run in found.runs
    ])  # fmt: skip
    if real:
        yield Para(f"* really another mean than that of {_cut(first)}", "fine")


def _n(means: Sequence[MeanOf], criterion: str) -> int:
    return next(one.n for one in means if one.criterion == criterion)


def _mean(one: MeanOf | None, marked: bool) -> str:
    return "" if one is None else f"{number_text(one.mean)}{'*' if marked else ''} {within(one.low, one.high)}".strip()


def _agreement(found: Agreement) -> Iterator[Block]:
    """A row for each run, a column for each statistic of each criterion; then which runs differ."""
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for row in found.rows:
        cells.setdefault((row.criterion, row.statistic), {})[row.metric] = valued(row.value, *row.interval)
    names = list(dict.fromkeys(row.metric for row in found.rows))
    head = [f"{_cut(criterion)}, {statistic}" for criterion, statistic in cells]
    rows = [(name, *(column.get(name, "") for column in cells.values())) for name in names]
    yield _by_run("agreement with people", head, rows)
    real = [one for one in found.differences if _is_real(one)]
    yield from (Para(f"  {_closer(one)}") for one in real[:MOST])
    if len(real) > MOST:
        yield Para(f"  and {len(real) - MOST:,} more; --json has them all")
    if found.differences and not real:
        yield Para("  no run agrees with people more than another for sure")


def _closer(one: Difference) -> str:
    closer, other = (one.a, one.b) if one.difference > 0 else (one.b, one.a)
    how = f"{_by(one.difference, *one.interval)} ({one.statistic}, {_chance(one)})"
    return f"{_cut(one.criterion)}: {_cut(closer)} is closer to people than {_cut(other)} by {how}"


def _costs(found: RunComparison) -> Grid:
    head = ("method", "samples", "coverage", "calls", "tokens", "cost", "a sample")
    return _by_run("what they took", head, [
        (
            run.name, _cut(run.method), f"{run.samples:,}", portion(run.coverage.share),
            count_text(run.calls) or "unknown", count_text(run.tokens) or "unknown",
            _cost(run), duration(run.seconds and 1000 * run.seconds),
        )
        for run in found.runs
    ])  # fmt: skip


def _cost(run: ComparedRun) -> str:
    if not run.calls and not run.coverage.share and not run.usd:
        return NONE  # nothing was judged: "$0.00" beside another's unknown price would say that it is cheaper
    return "unknown" if run.usd is None else money(run.usd)


def _by_run(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Grid:
    shown = tuple((_cut(row[0]), *row[1:]) for row in rows)
    return Grid(caption, ("run", *head), shown, frozenset(range(1, len(head) + 1)))


def _cut(text: str) -> str:
    return one_line(text, NAME)


def as_text(found: RunComparison, form: str) -> str:
    """A table of means as "latex" (booktabs) or "markdown": a row for each run, a column for each criterion.

    Agreement with people stands behind a mean, after a slash, where people judged.
    """
    held: dict[tuple[str, str], float] = {}
    for row in found.agreement.rows if found.agreement else ():
        held.setdefault((row.metric, row.criterion.casefold()), row.value)  # the first statistic of each
    rows = []
    for run in found.runs:
        cells = []
        for name in found.criteria:
            one, agreed = found.mean(run.name, name), held.get((run.name, name.casefold()))
            behind = f" / {signed(agreed)}" if agreed is not None else ""
            cells.append("" if one is None else number_text(one.mean) + behind)
        rows.append((run.name, *cells))
    head = ("run", *found.criteria)
    return table_text(Grid("means", head, tuple(rows), frozenset(range(1, len(head)))), form)
