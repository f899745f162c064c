"""What a run came to, in a table a reader can take in at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from judgegraph.report.amounts import count, counted, number
from judgegraph.report.blocks import Block, Grid, Para, Section
from judgegraph.report.visible import line
from judgegraph.runtime.line import Line
from judgegraph.runtime.summary import Summary

ROWS = 40  # criteria


def overview(summary: Summary) -> Section:
    """The mean of each criterion, before and after the critic, and the verdicts of pairs."""
    return Section("overview", "Overview", tuple(_blocks(summary)))


def _blocks(summary: Summary) -> Iterator[Block]:
    finals = [x for x in summary.lines.values() if x.stage == "final"] or list(summary.lines.values())
    if finals:
        yield _scores(summary, finals[:ROWS])
    if len(finals) > ROWS:
        yield Para(f"{counted(len(finals) - ROWS, 'more criterion', 'more criteria')} stand under Scores.")
    if summary.verdicts:
        yield Para("Verdicts: " + ", ".join(f"{n} {count(c)}" for n, c in summary.verdicts.most_common()) + ".")
    if summary.both:
        yield Para(f"Same verdict in both orders: {summary.consistent:,} of {summary.both:,} pairs.")
    if summary.corrections:
        yield Para("Corrections: " + ", ".join(f"{n} {count(c)}" for n, c in summary.corrections.most_common()) + ".")
    if not (finals or summary.verdicts):
        yield Para("The run wrote no scores and no verdicts.")


def _scores(summary: Summary, lines: list[Line]) -> Grid:
    """A line per criterion; draft and moves only where something was reviewed."""
    names = _names(lines)
    rows = []
    for name, x in zip(names, lines, strict=True):
        draft = summary.lines.get(x.draft) if x.draft else None
        rows.append((name, "labels" if x.labels else str(x.scale or ""), f"{x.n_ok:,}/{x.n:,}", _mean(draft), _mean(x),
                     _bounds(x), number(x.sd), _moves(x)))  # fmt: skip
    head = ("Criterion", "Scale", "Read", "Draft", "Final", "If the missing were lowest, highest", "SD", "Critic")
    keep = [i for i in range(len(head)) if i < 3 or any(row[i] for row in rows)]
    right = frozenset(at for at, i in enumerate(keep) if i in (2, 3, 4, 5, 6))
    return Grid(
        "Mean score of each criterion", tuple(head[i] for i in keep),
        tuple(tuple(row[i] for i in keep) for row in rows), right,
    )  # fmt: skip


def _names(lines: list[Line]) -> list[str]:
    agents: dict[tuple[str, str], set[str]] = {}
    for x in lines:
        agents.setdefault((x.criterion, x.of), set()).add(x.agent)
    return [
        line(x.criterion, 100)
        + (" (rival)" if x.of == "rival" else "")
        + (f" ({line(x.agent, 60)})" if len(agents[x.criterion, x.of]) > 1 else "")
        for x in lines
    ]


def _mean(x: Line | None) -> str:
    if x is None:
        return ""
    if x.labels:
        ((label, n),) = x.labels.most_common(1)
        return f"{line(label, 40)} ({n:,})"
    return f"{x.mean:.2f}" if x.mean is not None else "–"


def _bounds(x: Line) -> str:
    if x.labels or x.values >= x.n or x.bounds is None:
        return ""
    return f"{x.bounds[0]:.2f}, {x.bounds[1]:.2f}"


def _moves(x: Line) -> str:
    other = x.changed - x.down - x.up
    said = [f"{n:,} {way}" for n, way in ((x.down, "down"), (x.up, "up"), (other, "changed")) if n]
    return ", ".join(said) or (f"kept {x.reviewed:,}" if x.reviewed else "")


def facts(manifest: Mapping[str, Any], summary: Summary, rejected: int) -> list[tuple[str, str]]:
    """(name, value): what stands at the top of the page."""
    from judgegraph.report.amounts import money, share
    from judgegraph.runtime.coverage import coverage

    spent, calls = manifest.get("spent") or {}, manifest.get("calls") or {}
    part, of = coverage(summary, rejected)
    found = [("Samples", f"{summary.judged:,} judged of {summary.samples.total():,}")]
    failed = summary.samples.total() - summary.samples["ok"]
    found += [("Failed", counted(failed, "sample"))] if failed else []
    found += [("Rejected", f"{counted(rejected, 'row')} of the data")] if rejected else []
    found.append(("Coverage", f"{share(part)} of {line(of, 80)}" if part < 1 else "100 %"))
    found.append(("Cost", _cost(spent, money)))
    found.append(("Model calls", f"{count(spent.get('calls'))} paid{_reused(calls)}"))
    found.append(("Tokens", f"{count(spent.get('prompt_tokens'))} in, {count(spent.get('completion_tokens'))} out"))
    return found


def _cost(spent: Mapping[str, Any], money: Any) -> str:
    unpriced = spent.get("unpriced") or 0
    return f"{money(spent.get('usd') or 0.0)}" + (f", {count(unpriced)} calls without a price" if unpriced else "")


def _reused(calls: Mapping[str, Any]) -> str:
    ledger = calls.get("ledger") or {}
    hits = (ledger.get("hits") or 0) + (ledger.get("joined") or 0)
    return f", {count(hits)} from the ledger" if hits else ""
