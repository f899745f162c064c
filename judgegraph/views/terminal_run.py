"""Runs and plans on a terminal: the last lines of a run, one sample, a table of criteria, a line for each node."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from judgegraph.answers import Role, answers_of, roles_of
from judgegraph.data.samples import not_to_its_end, unread
from judgegraph.runs.item import FAILED, by_count, lacks_of
from judgegraph.runs.summary import Summary, covered, criteria_names, headlines
from judgegraph.views.screen import (
    GAP,
    counted,
    failures,
    members,
    money,
    names,
    plain,
    plan_columns,
    rejected_lines,
    score_table,
    screen,
    unanswered,
)
from judgegraph.views.trace import Look, bars, command, excerpt, inert, likeliest, quoted, read_by

if TYPE_CHECKING:  # a plan brings LangGraph with it, which reading a run does without
    from judgegraph.planning.forecast import Forecast, NodePlan, Range
    from judgegraph.runs.item import Item
    from judgegraph.runs.run import Run
    from judgegraph.types import Comparison, Correction, Rectification, Score


# The last lines of a run on a terminal: what it took, how it ended, and how much of it could be read.


def print_end(
    console: Console,
    run: Run,
    summary: Summary,
    rejected: Sequence[Any],
    gate: float | None,
    unjudged: int | None = None,
) -> None:
    """Samples, calls, tokens and money; the budget where it ended the run; coverage, and where the run lies."""
    samples = counted(sum(summary.samples.values()), "sample")
    console.print(plain(", ".join([samples, *costs(run.manifest)])))
    if by := criteria_line(run.manifest, summary):
        console.print(plain(by))
    failed, partly = failures(summary.samples), ""
    if summary.partly:
        partly = (
            f"; {counted(summary.partly, 'sample')} of these {'was' if summary.partly == 1 else 'were'} judged in part"
        )
    if partly or len({status for status, _ in summary.failures}) > 1:
        console.print(plain(f"failed: {failed}{partly}"), style="red")
    state = run.manifest.get("state")
    if state == "over_budget":
        console.print(plain(over_budget(run, summary.samples["over_budget"])), style="red")
    if twice := (run.manifest["calls"].get("ledger") or {}).get("overtaken"):
        console.print(plain(overtaken(twice)))
    if gone := run.manifest.get("unreachable"):
        console.print(plain(unreachable(gone, state == "stopped")), style="red")
    part = covered(summary, unread(rejected), unjudged or 0)
    if gate is not None or part.share < 1:
        below = gate is not None and part.share < gate
        line = coverage_line(part.share, part.name, gate if below else None)
        lost = unread(rejected) - len(rejected)
        more = f"; {counted(lost, 'row')} of these could not be read and are estimated" if lost else ""
        more += "; the file was not read to its end" if not_to_its_end(rejected) else ""
        console.print(plain(f"{line}: {part.counts}{more}"), style="red" if below or more else None)
    if unjudged or (state == "stopped" and not gone):  # no signal comes this far, but a retry leaves some
        left = f" ({unjudged:,} {'is' if unjudged == 1 else 'are'} left)" if unjudged else ""
        console.print(plain(f"not every sample was judged yet{left}: the same command without --retry-failed goes on"))
    if run.folder:
        console.print(plain(f"saved in {run.folder.path}"))


def criteria_line(manifest: Mapping[str, Any], summary: Summary | None = None) -> str:
    """By which criteria set the run judged, such as "criteria: forms (8)"; "" where that is not known.

    Criteria of its answers that are none of the set's are counted too: "summary (4) and 1 of the graph's own".
    """
    name, count = manifest.get("criteria_set"), len(manifest.get("criteria") or ())
    said = {"own": "of your own"}.get(str(name), name)
    answers = summary.answers.values() if summary is not None else ()
    own = {line.criterion for line in answers if not line.own} - {*criteria_names(manifest), "overall"}
    more = f" and {len(own):,} of the graph's own" if own else ""
    return f"criteria: {said} ({count:,}){more}" if name else ""


def costs(manifest: Mapping[str, Any]) -> list[str]:
    """Calls with those the ledger saved, tokens, the share of prompts sent before, and USD; estimates are marked."""
    calls, spent = manifest["calls"], manifest.get("spent") or {}
    saved = sum(calls.get("ledger", {}).get(key, 0) for key in ("hits", "joined"))
    parts = [counted(spent.get("calls", calls["replies"]), "call") + (f" ({saved:,} saved)" if saved else "")]
    tokens = sum((spent or calls)[key] for key in ("prompt_tokens", "completion_tokens"))
    estimated, unpriced = spent.get("estimated", 0), spent.get("unpriced", 0)
    if lost := spent.get("unanswered", 0):
        parts.append(unanswered(lost))
    parts.append(counted(tokens, "token") + (f" (estimated for {counted(estimated, 'call')})" if estimated else ""))
    prefixes = calls.get("prefixes") or {}
    if prefixes.get("prompt_tokens") and prefixes["sent_before"]:
        share = prefixes["sent_before"] / prefixes["prompt_tokens"]
        parts.append(f"{share:.0%} of prompt tokens in a prefix sent before")
    if spent.get("usd"):
        unknown = f" (price unknown for {counted(unpriced, 'call')})" if unpriced else ""
        parts.append(f"{money(spent['usd'])} USD{unknown}")
    elif unpriced:
        parts.append("price unknown")
    return parts


def overtaken(count: int) -> str:
    """Calls for which another process was waited for in vain."""
    them = "it was" if count == 1 else "they were"
    return (
        f"{counted(count, 'call')} of another run with this ledger came to no end, and {them} paid for here too: look "
        "for a process that is stopped"
    )


def unreachable(why: str, stopped: bool) -> str:
    """For whom the run waited in vain, and how to go on."""
    rest = "the same command goes on with what is left, and then --retry-failed" if stopped else "--retry-failed"
    return f"{'stopped' if stopped else 'ended'} by an outage: {why}; {rest} judges again what failed by it"


def over_budget(run: Run, lost: int) -> str:
    """Which cap it was, how many samples it kept from their end, and how to go on."""
    budget, spent = run.manifest.get("budget") or {}, run.manifest.get("spent") or {}
    tokens = spent.get("prompt_tokens", 0) + spent.get("completion_tokens", 0)
    used = {"calls": requests_of(spent), "tokens": tokens, "usd": spent.get("usd", 0.0)}
    caps = {name: cap for name, cap in budget.items() if name in used and cap}
    parts = ["stopped by the budget"]
    if caps:
        name = max(caps, key=lambda name: used[name] / caps[name])
        shown = [money(x) if name == "usd" else f"{x:,}" for x in (used[name], caps[name])]
        unit = "USD" if name == "usd" else name
        parts[0] += f": {shown[0]} of {shown[1]} {unit}"
        if name == "calls" and used[name] > caps[name]:  # which no process passes
            parts[0] = f"stopped by the budget of {shown[1]} {unit}: {shown[0]} were spent before it was given"
    if lost:
        parts.append(f"{counted(lost, 'sample')} {'is' if lost == 1 else 'are'} over_budget")
    out = "" if run.folder else ", and --out FOLDER,"
    parts.append(f"the same command with a larger budget{out} goes on")
    return "; ".join(parts)


def requests_of(spent: Mapping[str, Any]) -> int:
    """What a budget's `calls` caps: calls that were answered, and requests that were not."""
    return int(spent.get("calls", 0) + spent.get("unanswered", 0))


def coverage_line(share: float, weakest: str, gate: float | None = None) -> str:
    """Such as "coverage 0.964 (Coherence), below 0.98"; never rounded up to what it does not reach."""
    shown = f"{math.floor(share * 1000 + 1e-9) / 1000:.3f}"
    return f"coverage {shown} ({weakest})" + (f", below {gate:g}" if gate is not None else "")


# One sample on a terminal: its scores with what the critic moved, its comparisons and corrections.


MOST_SAMPLES = 12  # rows of a list that need not be seen whole


def telling(items: Iterable[Item]) -> Item | None:
    """The sample that the critic moved most, else the one with the lowest score, else the first."""

    def weight(item: Item) -> tuple[float, float]:
        values = {s.key: s.value for s in item.scores if s.value is not None}
        finals = [s for s in answers_of(item) if s.value is not None]
        moved = max((abs(values[s.key] - values[s.draft]) for s in finals if s.draft in values), default=0.0)
        return moved, -min((values[s.key] for s in finals), default=float("inf"))

    return max((item for item in items if item.status == "ok"), key=weight, default=None)


def print_sample(console: Console, item: Item) -> None:
    """Its id and query, its answers, comparisons and corrections; a row for what is repeated."""
    console.print(plain(f"\n{item.id[:80]}"), style="bold")
    if item.sample.query:
        console.print(plain(f"  {cut(item.sample.query, 200)}"), style="italic")
    _scores(console, item)
    print_comparisons(console, item)
    for correction in item.corrections:
        who = f" by {cut(correction.agent, 80)}" if correction.agent else ""
        console.print(plain(f"  {heading(correction)}{who}: {cut(correction.text or correction.reason, 300)}"))


def heading(correction: Correction) -> str:
    """What stands before a correction's text, or before why there is none."""
    if correction.changed:
        return f"corrected {correction.of}"
    ended = "" if correction.outcome == "unchanged" else f" ({correction.status.replace('_', ' ')})"
    return f"{correction.of} not corrected{ended}"


def more(console: Console, count: int, one: str = "", many: str = "", indent: str = "  ") -> None:
    """A list that is cut says so."""
    if count > 0:
        what = counted(count, f"more {one}", f"more {many or one + 's'}" if one else "more")
        console.print(plain(f"{indent}and {what}".rstrip()))


def cut(text: str, length: int) -> str:
    """On one line, at most `length` characters."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"


def _scores(console: Console, item: Item) -> None:
    if not item.scores and item.overall is not None:  # of a graph that writes no more
        console.print(plain(f"  overall: {item.overall:.4g}"))
    scores = {s.key: s for s in item.scores}
    finals = answers_of(item)
    paired = {c.agent for c in item.comparisons}  # their repeats are the orders
    rows: dict[str, list[Score]] = {}
    for name, score in zip(names(finals), finals, strict=True):
        rows.setdefault(name, []).append(score)
    shown = list(rows.items())[:MOST_SAMPLES]
    for name, row in shown:
        answers, reason = [], ""
        for score in sorted(row, key=lambda s: s.repeat):
            draft = scores.get(score.draft or "")
            moved = draft is not None and draft.answer != score.answer
            arrow = f"{_answer(draft)} -> " if draft and moved else ""
            answers.append(f"{arrow}{_answer(score)}{repeat_of(score, paired) if len(row) > 1 or score.repeat else ''}")
            if not reason and (reason := draft.reason if draft and not moved else score.reason) and len(row) > 1:
                reason = f"{repeat_of(score, paired).strip()} {reason}"
        console.print(plain(f"  {name}: {', '.join(answers)}  {cut(reason, 220)}"))
    more(console, len(finals) - sum(len(row) for _, row in shown), "score")


def repeat_of(score: Score, paired: Iterable[str]) -> str:
    """Which of repeated scores: by the order of a pair, else by number."""
    if score.agent in paired and score.repeat < 2:
        return (" (AB)", " (BA)")[score.repeat]
    return f" ({score.repeat + 1})"


def print_comparisons(console: Console, item: Item) -> None:
    """A row for each criterion, of many the first; the verdict of a graph that writes no more."""
    if not item.comparisons and item.verdict is not None:
        console.print(plain(f"  verdict: {item.verdict}"))
    rows: dict[tuple[str, str], list[Comparison]] = {}
    for comparison in item.comparisons:
        rows.setdefault((comparison.criterion, comparison.agent), []).append(comparison)
    shown = list(rows.items())[:MOST_SAMPLES]
    for (criterion, agent), row in shown:
        several = sum(name == criterion for name, _ in rows) > 1
        name = f"{criterion} ({agent})" if several else criterion
        console.print(plain(f"  {name}: {_verdicts(row)}  {cut(_reason_of(row), 160)}"))
    more(console, len(item.comparisons) - sum(len(row) for _, row in shown), "comparison")


def _reason_of(row: Sequence[Comparison]) -> str:
    """What stands beside the verdicts: of both orders together, else of the first that says anything, and of which."""
    given = sorted((c for c in row if c.reason), key=lambda c: c.order != "both")
    if not given:
        return ""
    return given[0].reason if len(row) == 1 else f"({given[0].order}) {given[0].reason}"


def _verdicts(row: Sequence[Comparison]) -> str:
    lines = []
    for c in row:
        sums = f" {c.score_a:g} : {c.score_b:g}" if c.score_a is not None and c.score_b is not None else ""
        lines.append(f"{c.verdict or c.status}{sums} ({c.order})")
    return ", ".join(lines)


def _answer(score: Score) -> str:
    if score.value is not None:
        return f"{score.value:.2f}"
    return score.label or score.status


# A plan on a terminal: a line per node, a line for all, and what the figures rest on.


MOST = 5  # mishaps, and rows, that are shown
DASH = "\u2013"


def print_plan(forecast: Forecast, rejected: Sequence[Any] = (), out: str | None = None) -> None:
    """Print what a run will ask for.

    Args:
        rejected: rows of the data that are no samples. out: the folder in which samples may be finished.
    """
    console = screen()
    console.print(plain(f"plan for {counted(forecast.samples, 'sample')}"))
    if forecast.finished:
        verb = "is" if forecast.finished == 1 else "are"
        console.print(plain(f"{counted(forecast.finished, 'sample')} {verb} finished in {out}, and left out"))
    if forecast.nodes:
        console.print(_table(forecast))
        for line in plan_columns(forecast):
            console.print(plain(line), style="dim")
    for line in _words(forecast):
        console.print(plain(line))
    _troubles(console, forecast, rejected)
    console.print(plain(forecast.signature), style="dim")


def _troubles(console: Console, forecast: Forecast, rejected: Sequence[Any]) -> None:
    if rejected:
        console.print(plain(f"{counted(len(rejected), 'row')} of the data left out:"), style="red")
        for line in rejected_lines(rejected, MOST):
            console.print(plain(line))
    if not forecast.complete:
        many = counted(forecast.failed, "sample")
        said = f"incomplete: for {many} the graph failed with invented replies, so real figures may be higher:"
        console.print(plain(said), style="red")
        for mishap in forecast.mishaps[:MOST]:
            console.print(plain(f"  {mishap}"), style="red")
        more(console, len(forecast.mishaps) - MOST, "kind of failure", "kinds of failure")


def _table(forecast: Forecast) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    usd = ("USD",) if _costs(forecast) else ()
    for name in ("node", "exact", "more", "at worst", "in ledger", "tokens to pay", *usd):
        table.add_column(name, justify="left" if name == "node" else "right", overflow="fold", no_wrap=name != "node")
    rows = [*forecast.nodes, forecast.total] if len(forecast.nodes) != 1 else forecast.nodes
    for node in rows:
        table.add_row(*map(plain, _cells(node, bool(usd))))
    return table


def _cells(node: NodePlan, priced: bool) -> tuple[str, ...]:
    low, usual, high = node.rest
    least, most = _tokens(node.cost)[:2]
    return (
        node.node, f"{node.exact:,}", _span(low, usual), f"{high:,}" if high > usual else "", f"{node.kept:,}",
        _span(least, most), *([_money(node.cost.lowest.usd, node.cost.middle.usd)] if priced else []),
    )  # fmt: skip


def _costs(forecast: Forecast) -> bool:
    """Whether anything costs money, as far as is known."""
    return forecast.total.cost.highest.usd > 0


def _words(forecast: Forecast) -> list[str]:
    total, cost = forecast.total, forecast.total.cost
    low, usual, high = (round(amount.calls) for amount in (cost.lowest, cost.middle, cost.highest))
    paid = f"{total.missing:,} of the exact ones and {_span(low - total.missing, usual - total.missing)} more"
    tokens = _tokens(cost)
    worst = f"{counted(high, 'call')}, {tokens[2]:,} tokens"
    sums = f"{_span(*tokens[:2])} tokens"
    if _costs(forecast):
        sums = f"{sums}, {_money(cost.lowest.usd, cost.middle.usd)} USD"
        worst = f"{worst}, {money(cost.highest.usd)} USD"
    calls = "call" if low == usual == 1 else "calls"
    lines = [f"\nto pay: {_span(low, usual)} {calls} ({paid}), {sums}"]
    if high > usual:
        lines.append(f"to pay at worst: {worst}")
    if forecast.pilot is not None:
        lines += _pilot(forecast)
    return [*lines, "", *forecast.basis]


def _pilot(forecast: Forecast) -> list[str]:
    pilot, projected = forecast.pilot, forecast.total.projected
    if pilot is None:
        return []
    usd = f", {money(pilot.usd)} USD" if pilot.usd else ""
    ends = ", ".join(f"{count} {status}" for status, count in pilot.statuses.items())
    spent = f"{counted(pilot.calls, 'call')}, {pilot.prompt_tokens + pilot.completion_tokens:,} tokens{usd}"
    lines = [f"\npilot of {counted(pilot.samples, 'sample')} ({ends}): paid {spent}"]
    if pilot.failure:
        lines.append(pilot.failure)
    if pilot.over_budget:
        lines.append("stopped by the budget")
    if projected is not None and forecast.samples > pilot.samples:
        left = counted(forecast.samples - pilot.samples, "sample")
        lines.append(f"projected for the {left} left: {_projected(projected, pilot.used > 1)}")
    return lines


def _projected(found: Range, interval: bool) -> str:
    """Calls, tokens and money; each with its ends where there are more samples than one to say so."""
    calls = counted(round(found.middle.calls), "call") + (f" ({_span(*_ends(found))})" if interval else "")
    parts = [calls, f"{_tokens(found)[1]:,} tokens"]
    if found.highest.usd > 0:
        ends = f" ({_money(found.lowest.usd, found.highest.usd)})" if interval else ""
        parts.append(f"{money(found.middle.usd)} USD{ends}")
    return ", ".join(parts)


def _ends(span: Range) -> tuple[int, int]:
    return round(span.lowest.calls), round(span.highest.calls)


def _tokens(cost: Range) -> tuple[int, int, int]:
    low, middle, high = (round(a.prompt + a.completion) for a in (cost.lowest, cost.middle, cost.highest))
    return low, middle, high


def _span(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,}{DASH}{high:,}"


def _money(low: float, high: float) -> str:
    return money(low) if money(low) == money(high) else f"{money(low)}{DASH}{money(high)}"


# A finished run on a terminal: a table of criteria, the sample that changed most, what the critic suggests.


LINES = 60  # of the table


def print_run(
    run: Run,
    summary: Summary,
    rejected: Sequence[Any] = (),
    gate: float | None = None,
    unjudged: int | None = None,
) -> None:
    """Print what came of a run; everything judged is made inert first.

    Args:
        rejected: rows of the data that are no samples. gate: the least coverage, 0 to 1; None where none was asked for.
        unjudged: samples of the data without an item, None where that is not known.
    """
    console = screen()
    answers = summary.shown
    if answers:
        console.print(score_table(summary, answers[:LINES], console.width))
        more(console, len(answers) - LINES, "criterion; --json has it too", "criteria; --json has them all", indent="")
    for headline in headlines(summary):
        console.print(plain(headline), style="yellow" if headline == summary.side_by_side else "bold")
    _members(console, summary)
    _pairs(console, summary)
    shown = telling(run.items)
    if shown is not None:
        print_sample(console, shown)
    _advice(console, run, summary)
    _notices(console, run, summary)
    _run_troubles(console, summary, rejected)
    console.print(plain(f"\n{run.signature}"), style="dim")
    print_end(console, run, summary, rejected, gate, unjudged)


def _members(console: Console, summary: Summary) -> None:
    """What the answers were combined from, criterion x judge."""
    head, rows = members(summary)
    if not rows:
        return
    console.print(plain("\nmembers:"))
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, GAP, 0, 0))
    for name in head:
        table.add_column(plain(cut(name, 40)), overflow="fold", justify="left" if name == head[0] else "right")
    for row in rows[:LINES]:
        table.add_row(*(plain(cut(cell, 60)) for cell in row))
    console.print(table)
    more(console, len(rows) - LINES, "criterion; --json has it too", "criteria; --json has them all", indent="")


def _pairs(console: Console, summary: Summary) -> None:
    if not summary.verdicts:
        return
    counts = ", ".join(f"{name} {count}" for name, count in summary.verdicts.most_common())
    console.print(plain(f"\nverdicts: {counts}"))
    if summary.both:
        console.print(plain(f"same verdict in both orders: {summary.consistent} of {summary.both}"))
    if summary.corrections:
        counts = ", ".join(f"{name} {count}" for name, count in summary.corrections.most_common())
        console.print(plain(f"corrections: {counts}"))


def _advice(console: Console, run: Run, summary: Summary) -> None:
    for kind, title in (("definition", "definitions to change"), ("criterion", "new criteria suggested")):
        found = [(key, n) for key, n in summary.suggestions.most_common() if key[0] == kind]
        if found:
            console.print(plain(f"\n{title}:"))
        for key, n in found[:5]:
            console.print(plain(f"  {key[1]} ({n}): {cut(summary.wordings[key], 200)}"))
        more(console, len(found) - 5)
    if len(summary.suggestions) > 1 and run.folder:
        by_topic = f"by topic: judgegraph suggestions {quoted(str(run.folder.path))}"
        console.print(plain(by_topic), style="dim", soft_wrap=True)


def _notices(console: Console, run: Run, summary: Summary) -> None:
    """A line for each kind of what was skipped, dropped or not applied, with where to see one such sample."""
    failed = by_count(summary.unread)
    for notice in [*by_count(summary.notices), *failed[:MOST_SAMPLES]]:
        see = command(str(run.folder.path), notice.sample) if run.folder else ""
        where = f" (see: {see})" if see else f" (sample '{cut(notice.sample, 60)}')" if notice.kind in FAILED else ""
        console.print(plain(f"{notice.line(summary.samples.total())}{where}"), style="yellow", soft_wrap=True)
    more(console, len(failed) - MOST_SAMPLES, "reason; --json has it too", "reasons; --json has them all", indent="")
    for lack in lacks_of(run.manifest):
        console.print(plain(lack), style="yellow", soft_wrap=True)


def _run_troubles(console: Console, summary: Summary, rejected: Sequence[Any]) -> None:
    for (status, reason), count in summary.failures.most_common(MOST_SAMPLES):
        first = summary.failed_first.get((status, reason), "")
        where = f" (sample '{cut(first, 60)}')" if first and f"'{first}'" not in reason else ""
        console.print(plain(f"{counted(count, 'sample')} ended with {status}: {cut(reason, 300)}{where}"), style="red")
    more(console, len(summary.failures) - MOST_SAMPLES, "kind of failure", "kinds of failure", indent="")
    for line in summary.lines.values():
        bad = {s: n for s, n in (line.statuses - line.lost).items() if s != "ok"}
        if bad:
            statuses = ", ".join(f"{n} {status}" for status, n in bad.items())
            side = " (rival)" if line.of == "rival" else ""
            console.print(plain(f"{line.criterion}{side} ({line.agent}, {line.stage}): {statuses}"), style="yellow")
    notes = [(note, count) for note, count in summary.notes.most_common() if note not in summary.noticed]
    for note, count in notes[:MOST_SAMPLES]:
        console.print(plain(f"note ({count}): {cut(note, 200)}"), style="yellow")
    more(console, len(notes) - MOST_SAMPLES, "note", indent="")
    if rejected:
        console.print(plain(f"{counted(len(rejected), 'row')} rejected:"), style="red")
    for row in rejected_lines(rejected, MOST_SAMPLES):
        console.print(plain(row))


# The scores of one sample on a terminal: from draft to final, who said why, and how each was read.


LAST = ("answer", "draft", "vote", "aspect", "other", "member")
NAME = 26  # columns of a criterion's name at most


def print_scores(console: Console, item: Item, look: Look, criterion: str | None = None) -> None:
    """Answers with their drafts, then the votes and what else no answer stands for; members' own scores come last."""
    scores = {score.key: score for score in item.scores}
    roles, answers = roles_of(item), answers_of(item)
    own, linked = {score.key for score in answers}, {score.draft for score in item.scores}
    rest = [score for score in item.scores if score.key not in own and (score.key not in linked or score.draft)]
    listed = answers + sorted(rest, key=lambda score: LAST.index(roles[score.key]))
    rows = [(name, s) for name, s in zip(_names(item, listed), listed, strict=True) if criterion in (None, s.criterion)]
    shown = rows if look.full else rows[:MOST_SAMPLES]
    width = min(NAME, max((cell_len(inert(name)) for name, _ in shown), default=0))
    for name, score in shown:
        draft = scores.get(score.draft or "")
        console.print(_row(name, score, draft, width, look, roles[score.key]))
        for reason in _reasons(score, draft, _critics(score, scores, item), look):
            console.print(Padding(Text(reason), (0, 0, 0, 4), expand=False), style="dim")
    more(console, len(rows) - len(shown), "score; --full shows it", "scores; --full shows them", indent="")


def _names(item: Item, listed: Sequence[Score]) -> list[str]:
    """Of a pair with the order that it was shown in, of other repeats with their number."""
    listed_names = names(listed)
    kinds = [(name, score.stage) for name, score in zip(listed_names, listed, strict=True)]
    paired = {one.agent for one in item.comparisons}  # their repeats are the orders
    return [
        name + (repeat_of(score, paired) if score.repeat or kinds.count(kind) > 1 else "")
        for name, kind, score in zip(listed_names, kinds, listed, strict=True)
    ]


def _row(name: str, score: Score, draft: Score | None, width: int, look: Look, role: Role) -> Text:
    """Name, answers, bars, how it was read."""
    row = Text(overflow="fold")
    shown = inert(name)
    shown = shown if cell_len(shown) <= width else shown[: width - 1] + look.dots[:1]
    row.append(shown + " " * max(0, width - cell_len(shown)), "bold")
    moved = draft is not None and draft.answer != score.answer
    before = f"{_score_answer(draft)} -> " if draft is not None and moved else ""
    row.append(f"  {before}{_score_answer(score)}", "yellow" if moved else "" if score.status == "ok" else "red")
    for reading in _reading(score, look, role):
        row.append(f"  {reading}")
    return row


def _reading(score: Score, look: Look, role: Role) -> Iterator[str]:
    if score.stage != "final" or role not in ("answer", "draft"):
        roles = dict.fromkeys((score.stage, *((role,) if role in ("vote", "member") else ())))
        yield f"({inert(', '.join(roles), 40)})"
    if score.distribution:
        drawn = bars(score.distribution, score.scale, plain=look.plain)
        if score.scale is not None and score.scale.low is not None:
            drawn = f"{score.scale.low:g}{drawn}{score.scale.high:g}"
        yield f"{drawn}  {inert(likeliest(score.distribution), 60)}"
    if score.reader and score.answer is not None:
        yield inert(read_by(score.reader), 60)
    if score.unseen is not None and score.unseen >= 0.005:
        yield f"{100 * score.unseen:.0f} % on no point"


def _critics(score: Score, scores: Mapping[str, Score], item: Item) -> list[Rectification]:
    """What was said of it by those whose scores it came of."""
    chain, one = {score.agent}, score
    while (draft := scores.get(one.draft or "")) is not None and draft.agent not in chain:
        chain.add(draft.agent)
        one = draft
    return [
        rectification
        for rectification in item.rectifications
        if rectification.criterion == score.criterion and rectification.agent in chain
    ]


def _reasons(score: Score, draft: Score | None, critics: Sequence[Rectification], look: Look) -> Iterator[str]:
    """Who said what: the critic beside whom it reviewed, each with its own failure."""
    seen = set[tuple[str, str]]()
    for one in _with_reasons(score, draft):
        if one.reason:
            seen.add((one.agent, one.reason))
            yield f"{inert(one.agent, 40)}: {excerpt(one.reason, look)}"
        if one.status != "ok" and one.raw:
            yield f"{inert(one.agent, 40)} answered: {excerpt(one.raw, look)}"
        for note in one.notes:
            yield f"{inert(one.agent, 40)}, note: {excerpt(note, look)}"
    for critic in critics:
        if critic.status != "ok" and (critic.agent, critic.reason) not in seen:
            yield f"{inert(critic.agent, 40)}, {critic.status}: {excerpt(critic.reason, look)}"


def _with_reasons(score: Score, draft: Score | None) -> tuple[Score, ...]:
    """Draft and final; of one that only repeats the other the draft, whose words they are."""
    if draft is None:
        return (score,)
    same = (draft.reason, draft.status, draft.answer) == (score.reason, score.status, score.answer)
    return (draft,) if same else (draft, score)


def _score_answer(score: Score) -> str:
    if score.value is not None:
        return f"{score.value:.2f}"
    return inert(score.label or score.status, 40)
