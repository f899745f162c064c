"""What a run came to, in a table a reader can take in at once."""

from __future__ import annotations

from collections.abc import Iterator

from judgegraph.report.amounts import cost, count, counted, number
from judgegraph.report.blocks import Block, Grid, Para, Section
from judgegraph.report.visible import line
from judgegraph.runtime.display import members
from judgegraph.runtime.line import Line
from judgegraph.runtime.node_times import node_times, within
from judgegraph.runtime.run import Run
from judgegraph.runtime.summary import Summary, headlines

ROWS = 40  # criteria
ALWAYS = ("Criterion", "Final", "Scale", "Read")  # columns; what matters most comes first: a phone shows the first four


def overview(summary: Summary) -> Section:
    """The mean of each criterion, before and after the critic, and the verdicts of pairs."""
    return Section("overview", "Overview", tuple(_blocks(summary)))


def _blocks(summary: Summary) -> Iterator[Block]:
    finals = summary.shown
    if finals:
        yield _scores(summary, finals[:ROWS])
    for said in headlines(summary) if finals else ():
        yield Para(f"{said[:1].upper()}{line(said[1:], 1000)}.")
    if len(finals) > ROWS:
        yield Para(f"{counted(len(finals) - ROWS, 'more criterion', 'more criteria')} stand under Scores.")
    yield from _members(summary)
    if summary.verdicts:
        yield Para("Verdicts: " + ", ".join(f"{n} {count(c)}" for n, c in summary.verdicts.most_common()) + ".")
    if summary.both:
        yield Para(f"Same verdict in both orders: {summary.consistent:,} of {summary.both:,} pairs.")
    if summary.corrections:
        yield Para("Corrections: " + ", ".join(f"{n} {count(c)}" for n, c in summary.corrections.most_common()) + ".")
    if not (finals or summary.verdicts):
        yield Para("The run wrote no scores and no verdicts.")


def _members(summary: Summary) -> Iterator[Grid]:
    """What answers were combined from, criterion x judge."""
    head, rows = members(summary)
    if rows:
        shown = tuple(tuple(line(cell, 100) for cell in row) for row in rows[:ROWS])
        heads = tuple(line(name, 60) for name in head)
        yield Grid("Mean score of each member", heads, shown, frozenset(range(1, len(head))))


def _scores(summary: Summary, lines: list[Line]) -> Grid:
    """A line per criterion; draft and moves only where something was reviewed."""
    names = _names(lines)
    rows = []
    for name, x in zip(names, lines, strict=True):
        draft = summary.lines.get(x.draft) if x.draft else None
        scale = "labels" if x.labels else str(x.scale or "")
        read = f"{x.n_ok:,}/{x.n:,}"
        rows.append((name, *_means(x, draft), _moves(x), number(x.sd), scale, read, _bounds(x)))
    head = ("Criterion", "Draft", "Final", "Critic", "SD", "Scale", "Read", "If the missing were lowest, highest")
    keep = [i for i in range(len(head)) if head[i] in ALWAYS or any(row[i] for row in rows)]
    right = frozenset(at for at, i in enumerate(keep) if head[i] not in ("Criterion", "Critic", "Scale"))
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
    """Draft and final: means of the same samples, those in which both could be read, if there are any."""
    if draft is None:
        return "", _mean(x)
    if x.paired and (x.paired < x.values or x.paired < draft.values):
        return f"{x.before:.2f} (n {x.paired:,})", f"{x.after:.2f} (n {x.paired:,})"
    if not x.paired:
        return _mean_of_some(draft), _mean_of_some(x)
    return _mean(draft), _mean(x)


def _mean_of_some(x: Line) -> str:
    """Where no draft stands beside a final score each says of how many it is."""
    return f"{_mean(x)} (n {x.values:,})" if x.values else _mean(x)


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
    from judgegraph.runtime.coverage import covered
    from judgegraph.runtime.notices import told_in_words

    left = state_of(run, summary)
    ended = " that came to an end" if left else ""
    part = covered(summary, rejected)
    found = [("State", left)] if left else []
    found.append(("Samples", _judged(run, summary, ended)))
    if named := run.manifest.get("criteria_set"):
        found.append(("Criteria", "of your own" if named == "own" else line(named, 80)))
    failed = summary.samples.total() - summary.samples["ok"]
    both = f", {summary.partly:,} of these judged in part and counted there too" if summary.partly else ""
    found += [("Failed", counted(failed, "sample") + both)] if failed else []
    found += [("Rejected", f"{counted(rejected, 'row')} of the data")] if rejected else []
    said = f"{share(part.share)} of {line(part.name, 80)} ({part.counts})" if part.share < 1 else "100 %"
    found.append(("Coverage", f"{said}, of those{ended}" if ended else said))
    said = told_in_words(run.manifest)
    return [*found, *_bill(run), *([("Forms", said)] if said else [])]


def state_of(run: Run, summary: Summary) -> str:
    """Such as "unfinished: 12 of 32 samples", "" of a run that came to its end."""
    from judgegraph.runtime.unfinished import unfinished

    return unfinished(run, summary.samples.total() - summary.samples["over_budget"])


def _judged(run: Run, summary: Summary, ended: str) -> str:
    """Of all that the run was given where that is known; drafts whose final scores failed are told apart."""
    from judgegraph.runtime.unfinished import total_of

    here = summary.samples.total()
    total = (total_of(run.manifest) or 0) if ended else here
    of = f"{total:,}" if total >= max(1, here) else f"{here:,}{ended}"
    if not summary.drafts:
        return f"{summary.judged:,} judged of {of}"
    return f"{summary.judged - summary.drafts:,} of {of} with a final score; {summary.drafts:,} with drafts alone"


def _bill(run: Run) -> Iterator[tuple[str, str]]:
    """What it cost; the manifest of a run under way, or killed, is of its beginning: its spans know more."""
    spent, ledger = run.manifest.get("spent") or {}, (run.manifest.get("calls") or {}).get("ledger") or {}
    told = {key: spent.get(key) or 0 for key in ("usd", "unpriced", "calls", "prompt_tokens", "completion_tokens")}
    told |= {"found": ledger.get("hits") or 0, "shared": ledger.get("joined") or 0}
    least = "at least " if run.manifest.get("state") == "running" else ""
    if least:
        met = within(node_times(run), "")
        told = {key: max(told[key], getattr(met, {"calls": "paid"}.get(key, key))) for key in told}
    reused = f", {count(told['found'])} from the ledger" if told["found"] else ""
    shared = f", {count(told['shared'])} shared with another call" if told["shared"] else ""
    yield "Cost", cost(told["usd"], told["calls"], told["unpriced"], least)
    lost = spent.get("unanswered") or 0
    useless = f", {counted(lost, 'request')} without a reply of use" if lost else ""
    yield "Model calls", f"{least}{count(told['calls'])} paid{reused}{shared}{useless}"
    yield "Tokens", f"{least}{count(told['prompt_tokens'])} in, {count(told['completion_tokens'])} out"
