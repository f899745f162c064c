"""Notes on texts and steps, by frequency."""

from __future__ import annotations

from judgegraph.report.amounts import counted
from judgegraph.report.blocks import Block, Grid, Para, Section
from judgegraph.report.sections.figures import percent
from judgegraph.report.sections.tally import Tally, tally_of
from judgegraph.runtime.run import Run

MOST = 40


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
