"""What critics suggest, by frequency (SAGEval, arXiv:2411.16077, Figure 4)."""

from __future__ import annotations

from judgegraph.errors import one_line
from judgegraph.report.amounts import counted
from judgegraph.report.blocks import Block, Fold, Grid, Para, Section
from judgegraph.report.charts import bars
from judgegraph.report.sections.advice import Example
from judgegraph.report.sections.figures import percent
from judgegraph.report.sections.tally import Tally, tally_of
from judgegraph.runtime.run import Run

MOST, DRAWN, SHOWN = 40, 12, 300
KINDS = (("criterion", "New criteria suggested"), ("definition", "Definitions to change"))


def suggestions(run: Run, tally: Tally | None = None) -> Section | None:
    """New criteria, then changed definitions, the most frequent first; None where nothing was suggested.

    SAGEval's Figure 4 groups by topic, where its critic mostly asks for creativity and content quality; here
    suggestions are grouped by their name, whatever its case.
    """
    told = tally or tally_of(run)
    if not told.advice.advised:
        return None
    blocks: list[Block] = [Para(
        f"{counted(told.advice.advised, 'sample')} of {told.samples:,} brought a suggestion. They are grouped by name, "
        "whatever its case; no suggestion changes a score of its own run."
    )]  # fmt: skip
    for kind, title in KINDS:
        blocks += _kind(told, kind, title)
    if told.advice.counts.beyond:
        blocks.append(
            Para(f"{counted(told.advice.counts.beyond, 'later suggestion')} with yet other names not counted.")
        )
    return Section("suggestions", "What the critic suggests", tuple(blocks))


def _kind(told: Tally, kind: str, title: str) -> list[Block]:
    advice = told.advice
    keys = [key for key, _ in advice.samples.first(len(advice.samples.counts)) if key[0] == kind]
    if not keys:
        return []
    rows: list[tuple[str, ...]] = []
    examples: list[Block] = []
    for key in keys[:MOST]:
        example, samples = advice.examples[key], advice.samples.counts[key]
        name, share = one_line(example.name, 120), f"{samples:,} of {told.samples:,} ({percent(samples, told.samples)})"
        rows.append((name, share, f"{advice.counts.counts[key]:,}"))
        examples.append(Para(f"{name}: {_example(example)}"))
    drawn = [(advice.examples[key].name, advice.samples.counts[key]) for key in keys[:DRAWN]]
    more = f" (of {len(keys)} names the first {MOST})" if len(keys) > MOST else ""
    grid = Grid(title + more, ("name", "samples", "suggestions"), tuple(rows), frozenset({1, 2}))
    return [bars(title, drawn, told.samples), grid, Fold("The first of each, with its reason", tuple(examples))]


def _example(example: Example) -> str:
    reason = f" Reason: {one_line(example.reason, SHOWN)}" if example.reason.strip() else ""
    return one_line(example.definition, SHOWN) + reason
