"""What a run came to, in a table a reader can take in at once."""

from __future__ import annotations

from collections.abc import Iterator

from judgegraph.report.amounts import count, counted, number
from judgegraph.report.blocks import Block, Grid, Para, Section
from judgegraph.report.visible import line
from judgegraph.runtime.line import Line
from judgegraph.runtime.node_times import node_times, within
from judgegraph.runtime.run import Run
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
        rows.append((name, "labels" if x.labels else str(x.scale or ""), f"{x.n_ok:,}/{x.n:,}",
                     *_means(x, draft), _bounds(x), number(x.sd), _moves(x)))  # fmt: skip
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


def _means(x: Line, draft: Line | None) -> tuple[str, str]:
    """Draft and final: means of the same samples, those in which both could be read."""
    if draft is None:
        return "", _mean(x)
    if x.paired and (x.paired < x.values or x.paired < draft.values):
        return f"{x.before:.2f} (n {x.paired:,})", f"{x.after:.2f} (n {x.paired:,})"
    return _mean(draft), _mean(x)


def _mean(x: Line) -> str:
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


def facts(run: Run, summary: Summary, rejected: int) -> list[tuple[str, str]]:
    """(name, value): what stands at the top of the page; a run that is not finished is never told as a whole one."""
    from judgegraph.report.amounts import share
    from judgegraph.runtime.coverage import coverage

    state = str(run.manifest.get("state") or "finished")
    ended = " that came to an end" if state != "finished" else ""
    part, of = coverage(summary, rejected)
    found = [("State", f"unfinished ({line(state, 40)})")] if ended else []
    found.append(("Samples", f"{summary.judged:,} judged of {summary.samples.total():,}{ended}"))
    failed = summary.samples.total() - summary.samples["ok"]
    found += [("Failed", counted(failed, "sample"))] if failed else []
    found += [("Rejected", f"{counted(rejected, 'row')} of the data")] if rejected else []
    covered = f"{share(part)} of {line(of, 80)}" if part < 1 else "100 %"
    found.append(("Coverage", f"{covered}, of those{ended}" if ended else covered))
    return [*found, *_bill(run, state)]


def _bill(run: Run, state: str) -> Iterator[tuple[str, str]]:
    """What it cost; the manifest of a run under way, or killed, is of its beginning: its spans know more."""
    from judgegraph.report.amounts import money

    spent, ledger = run.manifest.get("spent") or {}, (run.manifest.get("calls") or {}).get("ledger") or {}
    told = {key: spent.get(key) or 0 for key in ("usd", "unpriced", "calls", "prompt_tokens", "completion_tokens")}
    told["found"] = (ledger.get("hits") or 0) + (ledger.get("joined") or 0)
    least = "at least " if state == "running" else ""
    if least:
        met = within(node_times(run), "")
        told = {key: max(told[key], getattr(met, {"calls": "paid"}.get(key, key))) for key in told}
    unpriced = f", {count(told['unpriced'])} calls without a price" if told["unpriced"] else ""
    reused = f", {count(told['found'])} from the ledger" if told["found"] else ""
    yield "Cost", f"{least}{money(told['usd'])}{unpriced}"
    yield "Model calls", f"{least}{count(told['calls'])} paid{reused}"
    yield "Tokens", f"{least}{count(told['prompt_tokens'])} in, {count(told['completion_tokens'])} out"
