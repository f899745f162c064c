"""What failed: by criterion, by node, and the commonest reasons."""

from __future__ import annotations

from collections.abc import Sequence

from judgegraph.report.amounts import counted
from judgegraph.report.blocks import Block, Grid, Para, Section
from judgegraph.report.sections.figures import counts, percent
from judgegraph.report.sections.tally import Tally, tally_of
from judgegraph.runtime.node_times import NodeTime, node_times
from judgegraph.runtime.outcome import nothing_judged
from judgegraph.runtime.run import Run

MOST = 30


def failures(run: Run, tally: Tally | None = None, nodes: dict[str, NodeTime] | None = None) -> Section | None:
    """Samples, scores and nodes that did not come to their end, and why; None where all did.

    Args:
        nodes: as `node_times` gives them, where they were read already.
    """
    told = tally or tally_of(run)
    nodes = node_times(run) if nodes is None else nodes
    failed = told.samples - told.summary.samples["ok"]
    blocks: list[Block] = []
    if failed:
        rest = {status: n for status, n in told.summary.samples.items() if status != "ok"}
        blocks.append(Para(f"{failed:,} of {counted(told.samples, 'sample')} ended early: {counts(rest)}."))
        rows = [(status, f"{n:,}", reason) for (status, reason), n in told.failures.first(MOST)]
        head, left = ("status", "samples", "reason"), told.failures.rest(MOST)
        blocks.append(_reasons("Why samples ended early", head, rows, 1, left))
    if told.samples and not told.summary.judged:
        blocks.append(Para(f"Nothing was judged: {nothing_judged(run.items, (), run.manifest.get('state'))}."))
    blocks += [*_criteria(told), *_nodes(nodes)]
    return Section("failures", "Failures and missing scores", tuple(blocks)) if blocks else None


def _criteria(told: Tally) -> list[Block]:
    rows = []
    for line in told.summary.lines.values():
        bad = {status: n for status, n in line.statuses.items() if status not in ("ok", "skipped")}
        if any(bad.values()):
            side = " (rival)" if line.of == "rival" else ""
            many = sum(bad.values())
            share = f"{many:,} of {line.n:,} ({percent(many, line.n)})"
            rows.append((f"{line.criterion}{side}", f"{line.agent}, {line.stage}", share, counts(bad)))
    if not rows:
        return []
    more = f" (of {len(rows)} lines the first {MOST})" if len(rows) > MOST else ""
    head = ("criterion", "agent, stage", "without a score", "statuses")
    blocks: list[Block] = [Grid(f"Scores that are missing{more}", head, tuple(rows[:MOST]), frozenset({2}))]
    missing = [(name, stage, status, f"{n:,}", why) for (name, stage, status, why), n in told.reasons.first(MOST)]
    if missing:
        heads = ("criterion", "stage", "status", "scores", "reason")
        blocks.append(_reasons("Why scores are missing", heads, missing, 3, told.reasons.rest(MOST)))
    return blocks


def _reasons(caption: str, head: tuple[str, ...], rows: Sequence[tuple[str, ...]], number: int, rest: int) -> Grid:
    more = f" (the commonest; {rest:,} more for other reasons)" if rest else ""
    return Grid(caption + more, head, tuple(rows), frozenset({number}))


def _nodes(nodes: dict[str, NodeTime]) -> list[Block]:
    bad = {place: one for place, one in nodes.items() if one.failures or one.failed_calls}
    if not bad:
        return []
    rows = [
        (
            place or "(outside of all nodes)",
            f"{one.failures:,} of {one.visits:,}",
            f"{one.failed_calls:,} of {one.calls:,}",
            counts(one.statuses),
        )
        for place, one in sorted(bad.items(), key=lambda pair: -pair[1].failures - pair[1].failed_calls)
    ]
    head = ("node", "visits that failed", "calls that failed", "statuses of visits")
    return [Grid("Failures by node", head, tuple(rows[:MOST]), frozenset({1, 2}))]
