"""A comparison of runs: what is really different first, then the numbers, then how they came about."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from judgegraph.errors import one_line
from judgegraph.meta.compare import ALPHA, ComparedRun, MeanDifference, MeanOf, RunComparison
from judgegraph.meta.diff_moves import CAUSES, Change, Line, Move, SampleMoves
from judgegraph.meta.result import Agreement, Difference, Row
from judgegraph.meta.run_diff import RunDiff
from judgegraph.stats.bootstrap import MEAN_LEAST
from judgegraph.views.blocks import (
    NONE,
    READ_FIRST,
    Block,
    Grid,
    Para,
    captioned,
    chance,
    columns,
    count_text,
    counted,
    duration,
    in_line,
    money,
    number_text,
    portion,
    signed,
    valued,
    within,
)
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
    yield from (Para(line, "fine") for line in _from_ledgers(found))
    if least := {run.coverage.name: None for run in found.runs if run.coverage.share < 1 and run.coverage.name}:
        yield Para(
            f"coverage: the share that could be read of what was answered least ({_cut(', '.join(least))})", "fine"
        )
        yield from (Para(f"{_cut(run.name)}: {_absent(run)}", "fine") for run in found.runs if run.coverage.absent)
    yield from (Para(f"note: {note}", "note") for note in found.notes)
    yield Para(HOW, "fine")
    yield from (Para(f"{run.name}: {run.signature}", "fine", whole=True) for run in found.runs)


def _absent(run: ComparedRun) -> str:
    """Why its coverage counts more than its samples."""
    rejected, left = run.coverage.rejected, run.coverage.absent - run.coverage.rejected
    parts = (
        [f"{counted(rejected, 'row')} of the data {'was' if rejected == 1 else 'were'} rejected"] if rejected else []
    )
    parts += [f"{counted(left, 'sample')} {'was' if left == 1 else 'were'} not judged"] if left else []
    return f"coverage counts what no table of scores does: {', '.join(parts)}"


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
        limits = after >= ALPHA / 5  # a least p far below what is looked for limits nothing
        line += f"; no p below {chance(least)} is possible" if limits else ""
        if len(tested) > 1 and limits:
            line += f", none below {chance(after)} after the correction for {len(tested)} differences"
        if after >= ALPHA:
            line += f": so few {unit}s cannot show a difference for sure, however large it is"
        lines.append(line)
    return lines


def verdict_on_two(found: RunComparison) -> list[str]:
    """Whether the second of two runs, B, is better or worse than the first, A: against people, then by its means."""
    lines = [note for note in found.notes if "cannot be told" in note]
    nobody = found.agreement is None and found.same_outputs and not any("of people:" in note for note in found.notes)
    lines += [] if nobody and not lines else [_against_people(found)]
    real = [one for one in found.differences if one.is_real]
    moved = [f"{_cut(one.criterion)} {signed(-one.difference)} {within(-one.high, -one.low)}".strip() for one in real]
    tested = sum(one.p == one.p for one in found.differences)
    if moved:
        lines.append(f"means of B that differ for sure: {', '.join(moved)} (of {tested} tested)")
    elif tested:
        lines.append(f"no mean differs for sure (of {counted(tested, 'criterion', 'criteria')} tested)")
    else:
        lines.append("no mean could be tested: fewer than five samples, labels, or no criterion in common")
    lines += _units(found)
    if nobody and not any("cannot be told" in line for line in lines):
        lines.append("which of them is closer to people is not known: people judged nothing that both runs judge")
    return lines


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
            how = f"{one.statistic}, {_chance(one)}{_below(one)}"
            by = f"{_cut(one.criterion)} by {_by(one.difference, *one.interval)} ({how})"
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
    return f"p {chance(*_greatest(one))}"


def _greatest(one: Difference) -> tuple[float, bool]:
    """The greatest corrected p of its tests, nan where none could be made, and whether it is but a bound."""
    return max(((test.corrected, test.p_is_least) for test in one.tests if test.p == test.p), default=(math.nan, False))


def _by(difference: float, low: float, high: float) -> str:
    """A difference without its sign, and its interval turned with it."""
    ends = (low, high) if difference > 0 else (-high, -low)
    return valued(abs(difference), *ends)


def _sentence(one: MeanDifference) -> str:
    """Such as "Coherence: a is above b by 0.31 [0.12, 0.50] (n 32, p 0.004)"."""
    above, below = (one.a, one.b) if one.difference > 0 else (one.b, one.a)
    by = _by(one.difference, one.low, one.high)
    how = f"(n {one.n:,}, p {chance(one.corrected, one.p_is_least)})"
    return f"{_cut(one.criterion)}: {_cut(above)} is above {_cut(below)} by {by} {how}"


def _means(found: RunComparison) -> Iterator[Block]:
    """A row for each run, a column for each criterion with its scale; a mark where it really differs from the first."""
    first = found.runs[0].name
    real = {(one.criterion, one.b) for one in found.differences if one.is_real and one.a == first}
    with_some = [run for run in found.runs if any(found.mean(run.name, name) for name in found.criteria)]
    of = {name: next(one for one in found.means if one.criterion == name) for name in found.criteria}
    scales = {one.scale for one in of.values()}
    shared = f" on {next(iter(scales))}" if len(scales) == 1 and scales != {""} else ""
    own = {name: "" if shared or not one.scale else f", {one.scale}" for name, one in of.items()}
    head = [f"{_cut(name)} (n {one.n:,}{own[name]})" for name, one in of.items()]
    yield _by_criterion(f"mean answer{shared}", head, [
        (run.name, *(_mean(found.mean(run.name, name), (name, run.name) in real) for name in found.criteria))
        for run in with_some
    ])  # fmt: skip
    if without := [_cut(run.name) for run in found.runs if run not in with_some]:
        yield Para(f"no mean by a criterion that others have: {', '.join(without)}", "fine")
    if real:
        yield Para(_star(_cut(first)), "fine")


def _mean(one: MeanOf | None, marked: bool) -> str:
    return "" if one is None else f"{number_text(one.mean)}{'*' if marked else ''} {within(one.low, one.high)}".strip()


def _agreement(found: Agreement) -> Iterator[Block]:
    """A row for each run, a column for each statistic of each criterion; then which runs differ."""
    cells: dict[tuple[str, str], dict[str, str]] = {}
    many: dict[tuple[str, str], set[int]] = {}
    for row in found.rows:
        many.setdefault((row.criterion, row.statistic), set()).add(row.n)
    for row in found.rows:
        place = (row.criterion, row.statistic)
        own = f" (n {row.n:,})" if len(many[place]) > 1 else ""
        cells.setdefault(place, {})[row.metric] = valued(row.value, *row.interval) + own
    names = list(dict.fromkeys(row.metric for row in found.rows))
    head = [
        f"{_cut(place[0])}, {place[1]}" + (f" (n {next(iter(many[place])):,})" if len(many[place]) == 1 else "")
        for place in cells
    ]
    rows = [(name, *(column.get(name, "") for column in cells.values())) for name in names]
    if len({place[1] for place in cells}) > 1:
        yield _statistics(found)
    else:
        yield _by_criterion("agreement with people", head, rows)
    real = [one for one in found.differences if _is_real(one)]
    yield from (Para(f"  {_closer(one)}") for one in real[:MOST])
    if len(real) > MOST:
        yield Para(f"  and {len(real) - MOST:,} more; --json has them all")
    if found.differences and not real:
        yield Para("  no run agrees with people more than another for sure")


def _statistics(found: Agreement) -> Grid:
    """Of several statistics a row for each run and criterion, so that a narrow terminal has room for the first ones."""
    by = {(row.criterion, row.metric, row.statistic): row for row in found.rows}
    lines = list(dict.fromkeys((row.criterion, row.metric) for row in found.rows))
    names = list(dict.fromkeys(row.statistic for row in found.rows))
    held = [[by.get((*line, name)) for name in names] for line in lines]
    return columns("agreement with people", {
        "criterion": [_cut(criterion) for criterion, _ in lines],
        "run": [_cut(run) for _, run in lines],
        "n": [f"{next(row.n for row in rows if row):,}" for rows in held],
        **{name: [valued(row.value, *row.interval) if row else "" for row in column]
           for name, column in zip(names, zip(*held, strict=True), strict=True)},
    }, names=2, most=len(lines), spare=tuple(name for name in reversed(names) if name not in READ_FIRST))  # fmt: skip


def _below(one: Difference) -> str:
    """Where the closer one does not follow people either."""
    value = max(one.value_a, one.value_b)
    return f"; its own is below 0: {number_text(value)}" if value < 0 else ""


def _closer(one: Difference) -> str:
    closer, other = (one.a, one.b) if one.difference > 0 else (one.b, one.a)
    how = f"{_by(one.difference, *one.interval)} ({one.statistic}, {_chance(one)}{_below(one)})"
    return f"{_cut(one.criterion)}: {_cut(closer)} is closer to people than {_cut(other)} by {how}"


def _costs(found: RunComparison) -> Grid:
    head = ("method", "samples", "coverage", "calls", "tokens", "cost", "a sample")
    return _by_run("what they took", head, [
        (
            run.name, _cut(run.method), _finished(run), portion(run.coverage.share),
            count_text(run.calls) or "unknown", count_text(run.tokens) or "unknown",
            _cost(run), duration(run.seconds and 1000 * run.seconds),
        )
        for run in found.runs
    ])  # fmt: skip


def _from_ledgers(found: RunComparison) -> Iterator[str]:
    """Of runs whose replies a ledger had: how many, and what they would have cost by what a sample of another run with
    the same signature took that paid for all of its own."""
    paying = {run.signature: run for run in found.runs if run.calls and not run.from_ledger and not run.incomplete}
    for run in found.runs:
        if not run.from_ledger:
            continue
        replies = counted(run.from_ledger, "reply", "replies")
        said = f"{_cut(run.name)}: {replies} came from a ledger, and cost nothing here"
        if (other := paying.get(run.signature)) and other.calls and other.samples:
            part = run.samples / other.samples
            tokens = "" if other.tokens is None else f", {count_text(round(part * other.tokens))} tokens"
            cost = "" if other.usd is None else f", {money(part * other.usd)}"
            about = f"{counted(round(part * other.calls), 'call')}{tokens}{cost}"
            said += f"; by what {_cut(other.name)} paid a sample its {counted(run.samples, 'sample')} are about {about}"
        yield said


def _finished(run: ComparedRun) -> str:
    """Samples that came to their end, of those that the run has where these are more."""
    return f"{run.finished:,}" if run.finished == run.samples else f"{run.finished:,} of {run.samples:,}"


def _cost(run: ComparedRun) -> str:
    if not run.calls and not run.coverage.share and not run.usd:
        return NONE  # nothing was judged: "$0.00" beside another's unknown price would say that it is cheaper
    return "unknown" if run.usd is None else money(run.usd)


def _by_run(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Grid:
    shown = tuple((_cut(row[0]), *row[1:]) for row in rows)
    return Grid(caption, ("run", *head), shown, frozenset(range(1, len(head) + 1)))


def _by_criterion(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Grid:
    """A row for each run; of more criteria than runs a row for each criterion, which a narrow terminal holds whole."""
    if len(head) <= len(rows):
        return _by_run(caption, head, rows)
    runs, *columns_ = zip(*rows, strict=True)
    turned = [(name, *cells) for name, cells in zip(head, columns_, strict=True)]
    return Grid(caption, ("criterion", *map(_cut, runs)), tuple(turned), frozenset(range(1, len(rows) + 1)))


def _cut(text: str) -> str:
    return one_line(text, NAME)


def as_text(found: RunComparison, form: str) -> str:
    """As "latex" (booktabs) or "markdown": a row for each criterion and run, each number in a column of its own.

    Means with their interval, n, difference from the first run with interval and p; the same of agreement with people.
    """
    first = found.runs[0].name
    people = found.agreement
    lines = [
        (name, one, row)
        for name in found.criteria for run in found.runs if (one := found.mean(run.name, name))
        for row in found.with_people(run.name, name)
    ]  # fmt: skip
    means, agreed = [one for _, one, _ in lines], [row for _, _, row in lines]
    apart = [_from_first(found.differences, first, one.run, name) for name, one, _ in lines]
    gaps = [_from_first(people.differences if people else (), _held_to(found, name), row.metric, name, row)
            if row else ("", "", False) for name, _, row in lines]  # fmt: skip
    grid = columns("means", {
        "criterion": [name for name, *_ in lines],
        "run": [row.metric if row else one.run for _, one, row in lines],
        "mean": [f"{_mean(one, one_p[2])}" for one, one_p in zip(means, apart, strict=True)],
        "n": [f"{one.n:,}" for one in means],
        "difference": [one[0] for one in apart],
        "p": [one[1] for one in apart],
        "with people": [valued(row.value, *row.interval) if row else "" for row in agreed],
        "n of these": [f"{row.n:,}" if row else "" for row in agreed],
        "its difference": [one[0] for one in gaps],
        "its p": [one[1] for one in gaps],
    }, names=2, most=len(lines))  # fmt: skip
    caption = f"Mean answers of {counted(len(found.runs), 'run')} on {counted(found.samples, 'sample')}."
    statistics = dict.fromkeys(row.statistic for row in agreed if row)
    return captioned(grid, form, caption, [*_notes_of_means(found, [*statistics], any(one[2] for one in apart))])


def _held_to(found: RunComparison, criterion: str) -> str:
    """The metric of the first run; "" where several of its agents answer side by side, or none beside people."""
    rows = [row for row in found.with_people(found.runs[0].name, criterion) if row]
    return rows[0].metric if len(rows) == 1 else ""


def _from_first(
    found: Sequence[MeanDifference] | Sequence[Difference], first: str, run: str, criterion: str, row: Row | None = None
) -> tuple[str, str, bool]:  # fmt: skip
    """A run less the first one with its interval, p, and whether it is really another; empty of the first itself."""
    for one in found:
        if {one.a, one.b} != {first, run} or one.criterion.casefold() != criterion.casefold():
            continue
        if isinstance(one, MeanDifference):
            ends, p, real = (one.low, one.high), (one.corrected, one.p_is_least), one.is_real
        elif row is None or one.statistic != row.statistic:
            continue
        else:
            ends, real = one.interval, _is_real(one)
            p = _greatest(one)
        value, (low, high) = (one.difference, ends) if one.a == run else (-one.difference, (-ends[1], -ends[0]))
        return valued(value, low, high, sign=True), "" if math.isnan(p[0]) else chance(*p), real
    return "", "", False


def _notes_of_means(found: RunComparison, statistics: Sequence[str], marked: bool) -> Iterator[str]:
    first = _cut(found.runs[0].name)
    yield f"Intervals are of 95 %; differences are from {first}, sample by sample, and p by Holm over all of a kind."
    if statistics:
        yield f"with people: {', '.join(statistics)} of answers and people's judgements, on the samples they judged."
    for name in found.criteria:
        mine = next(m for m in found.means if m.criterion == name)
        if mine.scale:
            yield f"{name}: scale {mine.scale}."
    if marked:
        yield f"{_star(first)} (p < {ALPHA:g})."
    for run in found.runs:
        if run.incomplete:
            yield f"{run.name} is {run.incomplete}."


def _star(first: str) -> str:
    """What a star means, wherever a comparison is shown."""
    return f"* really another mean than that of {first}"


# Two runs side by side: what changed, which scores moved, why, and what it cost.


CHANGES, LINES, MOVES = 8, 40, 6  # of a cause, of the table, of a sample
AT = {"critic": "the drafts are equal", "draft": "already in the draft", "score": ""}
CRITERIA = ("criterion", "criteria")
PLURAL = {"criteria": "the criteria", "other criteria": "other criteria", "data": "the sample", "meta": "its meta"}
UNCHANGED = {
    "failure": "one of the two failed", "noise": "nothing changed (noise)", "unknown": "not known what changed",
}  # fmt: skip
NOT_TOLD = "which of them is better is not told"


@lays_out(RunDiff)
def diff(found: RunDiff, verdict: Sequence[str] = ()) -> Iterator[Block]:
    """What moved and why.

    Args:
        verdict: lines that say which run is better; they stand first.
    """
    if found.compared and not found.causes:  # alike: nothing is better than the other
        yield Para(_alike(found), "lead")
        yield from (Para(line, "note") for line in verdict if line.startswith(NOT_TOLD))
    else:
        yield from (Para(line, "lead") for line in verdict)
        yield Para(_samples(found), "" if verdict else "lead")
    lines = [line for line in found.lines.values() if line.causes or line.only_a or line.only_b]
    if lines:
        yield from _lines(lines)
    if found.causes:
        yield from _why(found)
    elif not found.compared:
        yield Para("no score is in both runs: they have no criterion in common", "lead")
    yield from _changes(found.changes)
    if found.causes:
        yield from _most(found)
    yield from _costs_of_both(found.cost)
    yield from (Para(f"note: {note}", "note") for note in found.notes)
    for name, signature in zip("AB", found.signatures, strict=True):
        yield Para(f"{name}  {signature}", "fine", whole=True)


def _changes(changes: Sequence[Change]) -> Iterator[Block]:
    yield Para("what changed" if changes else "nothing changed in the configurations", "title")
    for cause in CAUSES:
        mine = [change for change in changes if change.cause == cause]
        for place, change in enumerate(mine[:CHANGES]):
            yield Para(f"  {cause if not place else '':<9} {change.line}", whole=True)
        yield from _more(len(mine) - CHANGES, "change", indent=" " * 12)


def _samples(found: RunDiff) -> str:
    parts = [f"{counted(found.samples, 'sample')} in both"]
    parts += [f"{n:,} only in {side}" for n, side in ((found.only_a, "A"), (found.only_b, "B")) if n]
    parts += [f"{found.data:,} with other content"] if found.data else []
    parts += [f"{found.labels:,} with other labels or meta alone"] if found.labels else []
    parts += [f"{found.moved:,} with a score that moved, came or went"] if found.moved else []
    return ", ".join(parts)


def _alike(found: RunDiff) -> str:
    """What two runs are of which no score differs."""
    _, *others = _samples(found).split(", ")
    behind = f"; {', '.join(others)}" if others else ""
    return f"no score moved on {counted(found.samples, 'sample')} that both runs have{behind}"


def _lines(lines: Sequence[Line]) -> Iterator[Block]:
    yield columns("", {
        "criterion": _names(lines),
        "n": [f"{line.n:,}" for line in lines],
        "moved": [f"{line.moved:,}" for line in lines],
        "up": [_count(line.up) for line in lines],
        "down": [_count(line.down) for line in lines],
        "changed": [_count(line.changed) for line in lines],
        "flips": [_count(line.flips) for line in lines],
        "lost": [_count(line.lost) for line in lines],
        "gained": [_count(line.gained) for line in lines],
        "only A": [_count(line.only_a) for line in lines],
        "only B": [_count(line.only_b) for line in lines],
        "mean difference": [_mean_move(line) for line in lines],
        "95 % interval": [within(line.low, line.high, sign=True) for line in lines],
    }, most=LINES, rest=CRITERIA, spare=("flips", "changed", "up", "down"))  # fmt: skip
    if methods := " or ".join(dict.fromkeys(line.method for line in lines if line.method)):
        yield Para(f"intervals of the mean: {methods}", "fine")
    if few := sum(0 < len(line.shares or line.points) < MEAN_LEAST for line in lines):
        yield Para(
            f"no interval for {few:,} of {len(lines):,}: fewer than {MEAN_LEAST} samples have two numbers", "fine"
        )


def _why(found: RunDiff) -> Iterator[Block]:
    yield Para(f"why: {', '.join(f'{_scores(n)}: {_cause(c)}' for c, n in found.causes.most_common())}", "title")
    if found.mixed:
        yield Para("  several things changed at once, and these runs cannot tell them apart: change one at a time")
    noise = found.noise
    if noise.moves:
        size = f", on average by {100 * noise.mean_share:.1f} % of the scale" if noise.mean_share is not None else ""
        yield Para(f"  noise: nothing changed that {counted(noise.moves, 'move')} could come from{size}")
    if noise.spread:
        of = f"{noise.within:,} of {noise.spread:,}"
        yield Para(f"  {of} are at most twice what the answers' own distributions let expect")


def _scores(count: int) -> str:
    return counted(count, "score")


def _cause(cause: str) -> str:
    """Such as "the prompt changed", "the prompt or the model changed", "nothing changed (noise)"."""
    if cause in UNCHANGED:
        return UNCHANGED[cause]
    words = [PLURAL.get(one, f"the {one}") for one in cause.split(" or ")]
    return f"{' or '.join(words)} changed"


def _most(found: RunDiff) -> Iterator[Block]:
    if found.most:
        yield Para("most moved", "title")
    for sample in found.most:
        yield from _sample(sample)
    yield from _more(found.moved - len(found.most), "sample", "samples; --all lists them")


def _sample(sample: SampleMoves) -> Iterator[Block]:
    yield Para(f"  {in_line(sample.id, 80)}{' (its content differs)' if sample.data else ''}")
    shown = sample.moves[:MOVES]
    for name, move in zip(_names(shown), shown, strict=True):
        at = f", {AT[move.at]}" if AT[move.at] else ""
        yield Para(f"    {name}: {_answer(move.a)} -> {_answer(move.b)}{_size(move)}  {move.cause}{at}")
        for side, reason in (("A", move.reason_a), ("B", move.reason_b)):
            if reason and move.reason_a != move.reason_b:
                yield Para(f"      {side}: {in_line(reason, 86)}", "fine")
    yield from _more(len(sample.moves) - MOVES, "move", indent="    ")


def _more(count: int, one: str, many: str = "", indent: str = "  ") -> Iterable[Block]:
    """A list that is cut says so."""
    rest = counted(count, f"more {one}", f"more {many or one + 's'}")
    return [Para(f"{indent}and {rest}")] if count > 0 else []


def _size(move: Move) -> str:
    parts = [signed(move.change)] if move.change is not None else []
    if move.kind == "value" and move.share is not None:
        sign = "" if parts else "+"  # on two scales the share alone says which way it went
        parts.append(f"{100 * (move.share if sign else abs(move.share)):{sign}.0f} % of the scale")
    return f" ({', '.join(parts)})" if parts else ""


def _costs_of_both(cost: Mapping[str, Mapping[str, float | None]]) -> Iterator[Block]:
    sides = [f"{side} {_amounts(cost[key])}" for side, key in (("A", "a"), ("B", "b"))]
    yield Para(f"\npaid for: {'; '.join(sides)}; difference {_amounts(cost['difference'], sign='+')}")


def _amounts(cost: Mapping[str, float | None], sign: str = "") -> str:
    calls, usd = cost["calls"], cost["usd"]
    tokens = [cost[name] for name in ("prompt_tokens", "completion_tokens")]
    amounts = ["calls unknown" if calls is None else f"{calls:{sign},.0f} call{'' if abs(calls) == 1 else 's'}"]
    if None not in tokens:
        amounts.append(f"{sum(n or 0 for n in tokens):{sign},.0f} tokens")
    return ", ".join([*amounts, money(usd) if usd is None or usd < 0 else f"{sign}{money(usd)}"])


def _names(rows: Sequence[Line] | Sequence[Move]) -> list[str]:
    """Criterion, side and repeat of each row, and the agent where several judged the same."""
    names = [_row_name(row) for row in rows]
    agents = [in_line(row.agent, 60) for row in rows]
    return [
        f"{name} ({agent})" if names.count(name) > 1 and agent else name
        for name, agent in zip(names, agents, strict=True)
    ]


def _row_name(row: Line | Move) -> str:
    if not row.criterion:
        return "verdict over all"
    marks = [" (rival)"] if row.of == "rival" else []
    marks += (
        [f" [{in_line(row.stage, 40)}]"] if row.stage not in ("", "final", "draft") and row.kind != "verdict" else []
    )
    marks += [" (verdict)"] if row.kind == "verdict" else []
    return "".join([in_line(row.criterion, 60), *marks, *([f" ({row.repeat + 1})"] if row.repeat else [])])


def _mean_move(line: Line) -> str:
    unit = " of the scale" if line.unit == "share" else ""
    return "" if math.isnan(line.mean) else f"{signed(line.mean)}{unit}"


def _count(count: int) -> str:
    return f"{count:,}" if count else ""


def _answer(answer: float | str | None) -> str:
    return number_text(answer) if isinstance(answer, float) else in_line(str(answer), 40)
