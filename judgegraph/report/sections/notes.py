"""Notes on texts and steps, by frequency; before them what was skipped or left out, a line for each kind."""

from __future__ import annotations

from judgegraph.errors import one_line
from judgegraph.report.amounts import counted
from judgegraph.report.blocks import Block, Grid, Para, Section
from judgegraph.report.sections.figures import percent
from judgegraph.report.sections.tally import Tally, tally_of
from judgegraph.runtime.notices import by_count, title
from judgegraph.runtime.run import Run

MOST = 40


def left_out(run: Run, tally: Tally | None = None) -> Section | None:
    """What was skipped, dropped or not applied, a line per kind, the most frequent first; None where nothing was."""
    told = tally or tally_of(run)
    rows = tuple(
        (title(one.kind), f"{one.samples:,} ({percent(one.samples, told.samples)})", one_line(one.text, 300),
         one_line(one.agent, 80), one_line(one.sample, 80))
        for one in by_count(told.notices)
    )  # fmt: skip
    if not rows:
        return None
    head = ("what", f"samples (of {told.samples:,})", "such as", "agent", "sample")
    return Section("left-out", "Skipped and left out", (Grid("By kind", head, rows, frozenset({1})),))


def notes(run: Run, tally: Tally | None = None) -> Section | None:
    """Shortfalls, fallbacks, thin texts and labels off their scale, the most frequent first; None without any."""
    told = tally or tally_of(run)
    if not told.notes.counts:
        return None
    rows = tuple((text, agent, f"{n:,} ({percent(n, told.samples)})") for (agent, text), n in told.notes.first(MOST))
    grid: Block = Grid("Notes", ("note", "agent", f"count (n {counted(told.samples, 'sample')})"), rows, frozenset({2}))
    rest = told.notes.rest(MOST)
    more = (Para(f"{counted(rest, 'more note')} with other texts."),) if rest else ()
    return Section("notes", "Notes", (grid, *more))
