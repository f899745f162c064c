"""Agreement with people, what a critic was worth, and what moved between two runs, as a notebook shows them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from judgegraph.meta.compare import RunComparison
from judgegraph.meta.critic import CriticOf, CriticWorth
from judgegraph.meta.result import Agreement, Ends, Row, difference_notes, general_notes, row_notes
from judgegraph.meta.run_diff import RunDiff
from judgegraph.shown import draws
from judgegraph.views.trace import Html, fold, framed, para, table, text


@draws(Agreement)
def agreement_html(found: Agreement) -> str:
    """A row per criterion and metric, a column per statistic; then systems, notes, and the choices."""
    names = list(dict.fromkeys(row.statistic for row in found.rows))
    lines: dict[tuple[str, str], dict[str, Row]] = {}
    for row in found.rows:
        lines.setdefault((row.criterion, row.metric), {})[row.statistic] = row
    rows = [(*key, _read(by), *(_ranged(by.get(name)) for name in names)) for key, by in lines.items()]
    head = ("criterion", "metric", "n", *names)
    choices = fold(text("choices behind these numbers"), *(para(f"{r.metric}: {r.signature}") for r in found.rows[:1]))
    return framed(
        table("agreement with people", head, rows, ("n", *names)), *_differences(found), *_systems(found),
        *(para(f"note: {note}") for note in (*row_notes(found), *difference_notes(found.differences))),
        *(para(f"note: {note}") for note in general_notes(found)), choices,
    )  # fmt: skip


@draws(CriticWorth)
def worth_html(found: CriticWorth) -> str:
    """Of each critic what it changed, and whether that brought the scores nearer to people."""
    return framed(*(one for critic in found.critics for one in _critic(critic)))


@draws(RunDiff)
def diff_html(found: RunDiff) -> str:
    """What changed in the configurations, which scores moved, and what that is put to."""
    a, b = found.signatures
    changes = [(change.cause, change.line) for change in found.changes]
    lines = [
        (x.criterion or "verdict", f"{x.moved}/{x.n}", x.up, x.down, _number(x.mean, "+.2f"), _ends((x.low, x.high)))
        for x in found.lines.values()
    ]
    head = ("criterion", "moved", "up", "down", "mean difference", "95 % interval")
    moves = [
        (s.id, m.criterion, m.a, m.b, f"{m.cause} at the {m.at}", m.reason_b) for s in found.most for m in s.moves[:1]
    ]
    return framed(
        para(f"A: {a}"), para(f"B: {b}"),
        table("what changed", ("cause", "where"), changes) if changes else para("no change is known in what was run"),
        table(f"{found.samples:,} samples in both, {found.moved:,} with a score that moved", head, lines, head[1:]),
        table("most moved", ("sample", "criterion", "A", "B", "why", "B says"), _rounded(moves)) if moves else Html(""),
        *(para(f"note: {note}") for note in found.notes),
    )  # fmt: skip


@draws(RunComparison)
def comparison_html(found: RunComparison) -> str:
    """Which means really differ, a row per run with its mean by each criterion, agreement with people, and costs."""
    real = [
        (x.criterion, x.a, x.b, _number(x.difference, "+.2f"), _ends((x.low, x.high)), _number(x.corrected))
        for x in found.differences
        if x.is_real
    ]
    means = [
        (run.name, *(f"{one.mean:.2f} {_ends((one.low, one.high))}" if (one := found.mean(run.name, name)) else ""
                     for name in found.criteria))
        for run in found.runs
    ]  # fmt: skip
    took = [
        (run.name, run.method, run.samples, f"{run.coverage.share:.3f}", run.calls, run.tokens, run.usd)
        for run in found.runs
    ]
    head, costs = ("run", *found.criteria), ("run", "method", "samples", "coverage", "calls", "tokens", "USD")
    differ = ("criterion", "a", "b", "a less b", "95 % interval", "p (Holm)")
    return framed(
        table("means that really differ", differ, real, differ[3:]) if real else para("no mean differs for sure"),
        table(f"mean answer, {found.samples:,} samples in all runs", head, means, head[1:]),
        *((agreement_html(found.agreement),) if found.agreement else ()),
        table("what they took", costs, took, costs[2:]), *(para(f"note: {note}") for note in found.notes),
    )  # fmt: skip


def _critic(critic: CriticOf) -> Iterator[Html]:
    head = ("criterion", "n", "down", "up", "other changes")
    rows = [(r.criterion, r.n, r.down, r.up, r.changed - r.up - r.down) for r in critic.reviews]
    yield table(f"critic {critic.critic} over {critic.reviewed}, {critic.samples:,} samples", head, rows, head[1:])
    gains = [
        (
            g.criterion,
            g.statistic,
            g.n,
            _number(g.before),
            _number(g.after),
            _number(g.difference, "+.3f"),
            _ends((g.low, g.high)),
        )
        for g in critic.gains
    ]
    columns = ("criterion", "statistic", "n", "drafts", "finals", "gain", "interval")
    if gains:
        yield table("agreement with people, before and after", columns, gains, columns[2:])


def _differences(found: Agreement) -> Iterator[Html]:
    rows = [
        (d.criterion, f"{d.a} - {d.b}", d.statistic, d.n, f"{d.difference:+.3f} {_ends(d.interval)}")
        for d in found.differences
    ]
    if rows:
        yield table("metrics compared", ("criterion", "metrics", "by", "n", "difference"), rows, ("n", "difference"))


def _systems(found: Agreement) -> Iterator[Html]:
    rows = [(s.criterion, s.metric, s.systems, f"{s.right:g} of {s.pairs}") for s in found.systems]
    if rows:
        head = ("criterion", "metric", "systems", "pairs ranked as people do")
        yield table("systems", head, rows, head[2:])


def _read(by: dict[str, Row]) -> str:
    row = next(iter(by.values()))
    return f"{row.n}" if row.n == row.judged else f"{row.n}/{row.judged}"


def _ranged(row: Row | None) -> str:
    return "" if row is None else f"{_number(row.value)} {_ends(row.interval)}".strip()


def _number(value: float, form: str = ".3f") -> str:
    return "-" if math.isnan(value) else format(value, form)


def _ends(ends: Ends) -> str:
    return "" if any(map(math.isnan, ends)) else f"[{ends[0]:.3f}, {ends[1]:.3f}]"


def _rounded(rows: Iterable[tuple[object, ...]]) -> Iterator[list[object]]:
    for row in rows:
        yield [f"{cell:.2f}" if isinstance(cell, float) else "" if cell is None else cell for cell in row]
