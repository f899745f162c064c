"""A comparison of runs, printed: what is really different first, then the numbers, then how they came about."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from judgegraph.errors import one_line
from judgegraph.meta.compare import ALPHA, MeanDifference, MeanOf, RunComparison
from judgegraph.meta.result import Agreement, Difference
from judgegraph.views.screen import counted, money, plain, screen, side_by_side

MOST = 40  # differences that are listed
NAME = 28  # characters of a run's or a criterion's name


def print_comparison(found: RunComparison) -> None:
    """Print it; everything judged is made inert first."""
    console = screen()
    runs = counted(len(found.runs), "run")
    other = found.samples - found.same_outputs
    outputs = f"; other outputs were judged on {other:,} of them" if other else ""
    console.print(plain(f"{runs} on {counted(found.samples, 'sample')} that all of them have{outputs}"), style="bold")
    _differences(console, found)
    if found.means:
        _means(console, found)
    if found.agreement is not None:
        _agreement(console, found.agreement)
    _costs(console, found)
    for note in found.notes:
        console.print(plain(f"note: {note}"), style="yellow")
    console.print(plain(
        "means are of the samples that every run with the criterion answers; differences: sample by sample, swapped at "
        "random, 95 % intervals by bootstrap; p by Holm over all of them"
    ), style="dim")  # fmt: skip
    for run in found.runs:
        console.print(plain(f"{run.name}: {run.signature}"), style="dim", soft_wrap=True)


def _differences(console: Console, found: RunComparison) -> None:
    tested = [one for one in found.differences if one.p == one.p]
    real = sorted((one for one in tested if one.is_real), key=lambda one: (one.corrected, -abs(one.difference)))
    if tested and not real:
        console.print(plain(f"no mean differs for sure: of {counted(len(tested), 'difference')} none has p < {ALPHA}"))
    for one in real[:MOST]:
        console.print(plain(f"  {_sentence(one)}"))
    if len(real) > MOST:
        console.print(plain(f"  and {len(real) - MOST:,} more; --json has them all"))
    if few := len(found.differences) - len(tested):
        console.print(plain(f"  {counted(few, 'difference')} not tested: too few samples, or no common scale"))


def verdict_on_two(found: RunComparison) -> list[str]:
    """Whether the second of two runs, B, is better or worse than the first, A: against people, then by its means."""
    lines = [*(note for note in found.notes if "cannot be told" in note), _against_people(found)]
    real = [one for one in found.differences if one.is_real]
    moved = [f"{_cut(one.criterion)} {-one.difference:+.2f} {_within(-one.high, -one.low)}".strip() for one in real]
    tested = sum(one.p == one.p for one in found.differences)
    if moved:
        lines.append(f"means of B that differ for sure: {', '.join(moved)} (of {tested} tested)")
    elif tested:
        lines.append(f"no mean differs for sure (of {counted(tested, 'criterion', 'criteria')} tested)")
    else:
        lines.append("no mean could be tested: fewer than five samples, labels, or no criterion in common")
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
            by = f"{_cut(one.criterion)} by {_by(one.difference, *one.interval)} ({one.statistic})"
            apart[a if one.difference > 0 else b].append(by)
    if closer := [f"{name} is closer to people: {', '.join(by)}" for name, by in apart.items() if by]:
        return "; ".join(closer)
    if not tested:
        return "people judged too little that both runs judge: which of them is closer to people is not known"
    n = max((row.n for row in found.agreement.rows), default=0) if found.agreement else 0
    return f"neither is closer to people for sure ({counted(n, 'sample')} that people judged)"


def _side(found: RunComparison, metric: str) -> str:
    """The run that a metric is of, as A or B; several metrics of one run have its name before theirs."""
    first = found.runs[0].name
    return "A" if metric == first or metric.startswith(f"{first}: ") else "B"


def _is_real(one: Difference) -> bool:
    """Whether every test of it that could be made says so, after its correction."""
    made = [test.corrected for test in one.tests if test.p == test.p]
    return bool(made) and all(p < ALPHA for p in made)


def _by(difference: float, low: float, high: float) -> str:
    """A difference without its sign, and its interval turned with it."""
    ends = (low, high) if difference > 0 else (-high, -low)
    return f"{abs(difference):.2f} {_within(*ends)}".strip()


def _sentence(one: MeanDifference) -> str:
    """Such as "Coherence: a is above b by 0.31 [0.12, 0.50] (n 32, p 0.004)"."""
    above, below = (one.a, one.b) if one.difference > 0 else (one.b, one.a)
    p = "< 0.001" if one.corrected < 0.001 else f"{one.corrected:.3f}"
    p = f"{one.corrected:.4f}" if p == "0.050" else p  # on which side of the line it lies
    by = _by(one.difference, one.low, one.high)
    return f"{_cut(one.criterion)}: {_cut(above)} is above {_cut(below)} by {by} (n {one.n:,}, p {p})"


def _means(console: Console, found: RunComparison) -> None:
    """A row for each run, a column for each criterion; a mark where it really differs from the first run."""
    first = found.runs[0].name
    real = {(one.criterion, one.b) for one in found.differences if one.is_real and one.a == first}
    head = [f"{_cut(name)} (n {_n(found.means, name):,})" for name in found.criteria]
    rows = [[_mean(found.mean(run.name, name), (name, run.name) in real) for name in found.criteria]
            for run in found.runs]  # fmt: skip
    _print(console, "\nmean answer", [_cut(run.name) for run in found.runs], head, rows)
    if real:
        console.print(plain(f"* really another mean than that of {_cut(first)}"), style="dim")


def _n(means: Sequence[MeanOf], criterion: str) -> int:
    return next(one.n for one in means if one.criterion == criterion)


def _mean(one: MeanOf | None, marked: bool) -> str:
    return "" if one is None else f"{one.mean:.2f}{'*' if marked else ''} {_within(one.low, one.high)}".strip()


def _agreement(console: Console, found: Agreement) -> None:
    """A row for each run, a column for each statistic of each criterion; then which runs differ."""
    columns: dict[tuple[str, str], dict[str, str]] = {}
    for row in found.rows:
        columns.setdefault((row.criterion, row.statistic), {})[row.metric] = (
            f"{row.value:.2f} {_within(*row.interval)}".strip() if row.value == row.value else "-"
        )
    names = list(dict.fromkeys(row.metric for row in found.rows))
    head = [f"{_cut(criterion)}, {statistic}" for criterion, statistic in columns]
    rows = [[cells.get(name, "") for cells in columns.values()] for name in names]
    _print(console, "\nagreement with people", [_cut(name) for name in names], head, rows)
    real = [one for one in found.differences if _is_real(one)]
    for one in real[:MOST]:
        console.print(plain(f"  {_closer(one)}"))
    if len(real) > MOST:
        console.print(plain(f"  and {len(real) - MOST:,} more; --json has them all"))
    if found.differences and not real:
        console.print(plain("  no run agrees with people more than another for sure"))


def _closer(one: Difference) -> str:
    closer, other = (one.a, one.b) if one.difference > 0 else (one.b, one.a)
    by = _by(one.difference, *one.interval)
    return f"{_cut(one.criterion)}: {_cut(closer)} is closer to people than {_cut(other)} by {by} ({one.statistic})"


def _costs(console: Console, found: RunComparison) -> None:
    head = ["method", "samples", "coverage", "calls", "tokens", "USD", "a sample"]
    rows = [
        [
            _cut(run.method), f"{run.samples:,}", f"{run.coverage.share:.3f}", _amount(run.calls), _amount(run.tokens),
            "unknown" if run.usd is None else money(run.usd), _time(run.seconds),
        ]
        for run in found.runs
    ]  # fmt: skip
    _print(console, "\nwhat they took", [_cut(run.name) for run in found.runs], head, rows)


def _print(console: Console, title: str, names: Sequence[str], head: Sequence[str], rows: Sequence[list[str]]) -> None:
    """As many tables below one another as the width asks for, each with the runs' names."""
    widths = [max(len(head[at]), *(len(row[at]) for row in rows)) + 2 for at in range(len(head))]
    first = max(map(len, names), default=0) + 2
    console.print(plain(title), style="bold")
    for columns in side_by_side(widths, console.width - first):
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
        table.add_column("run", overflow="fold")
        for at in columns:
            table.add_column(plain(head[at]), justify="right", overflow="fold")
        for name, row in zip(names, rows, strict=True):
            table.add_row(plain(name), *(plain(row[at]) for at in columns))
        console.print(table)


def _within(low: float, high: float) -> str:
    return "" if low != low or high != high else f"[{low:.2f}, {high:.2f}]"


def _amount(number: int | None) -> str:
    return "unknown" if number is None else f"{number:,}"


def _time(seconds: float | None) -> str:
    return "" if seconds is None else f"{1000 * seconds:.0f} ms" if seconds < 10 else f"{seconds:.0f} s"


def _cut(text: str) -> str:
    return one_line(text, NAME)


# The same as a table for a paper or a page.


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
            one = found.mean(run.name, name)
            agreed = held.get((run.name, name.casefold()))
            cells.append("" if one is None else f"{one.mean:.2f}" + (f" / {agreed:+.2f}" if agreed is not None else ""))
        rows.append([run.name, *cells])
    head = ["run", *found.criteria]
    return latex_table(head, rows) if form == "latex" else markdown_table(head, rows)


def latex_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """As LaTeX with booktabs; every sign of a text that LaTeX would act on is escaped."""
    lines = [" & ".join(map(_tex, row)) + r" \\" for row in (head, *rows)]
    return "\n".join([
        rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}", r"\toprule", lines[0], r"\midrule", *lines[1:],
        r"\bottomrule", r"\end{tabular}",
    ])  # fmt: skip


def _tex(text: str) -> str:
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    special |= {sign: f"\\{sign}" for sign in "&%$#_{}"}
    return "".join(special.get(sign, sign) for sign in one_line(text, 200))


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """As Markdown; a bar in a text is escaped."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(one_line(cell, 200).replace("|", "\\|") for cell in cells) + " |"

    return "\n".join([line(head), "|---" + "|---:" * (len(head) - 1) + "|", *map(line, rows)])
