"""A run: its answers criterion by criterion, the sample that changed most, what critics suggest, what failed, its end.

A terminal, a notebook and the page draw the same table of answers; the terminal and the notebook all of it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judgegraph.data.samples import not_to_its_end, unread
from judgegraph.errors import status_text
from judgegraph.runs.item import FAILED, by_count, lacks_of
from judgegraph.runs.run import Run, total_of
from judgegraph.runs.summary import (
    SERVER,
    STAGES,
    Key,
    Line,
    Summary,
    covered,
    criteria_names,
    headlines,
    lead_line,
    moves_of,
)
from judgegraph.views.blocks import (
    Block,
    Fold,
    Grid,
    Para,
    columns,
    counted,
    endings,
    in_line,
    money,
    more,
    number_text,
    percent,
    portion,
    rejected_lines,
    whole_seconds,
    within,
)
from judgegraph.views.notebook import lays_out
from judgegraph.views.terminal import show
from judgegraph.views.trace import brief, command, quoted, row_names, telling

if TYPE_CHECKING:
    from judgegraph.runs.worker import Progress


MOST_SAMPLES = 12  # rows of a list that need not be seen whole
LINES, EVERY = 60, 100  # rows: of the table of answers, and of all scores
LABELS = 3  # in a row of the table
SPARE = ("sd", "scale", "critic", "draft")  # what goes first where a terminal is narrow
CRITERIA = ("criterion", "criteria")
MISSING = "if missing"  # a column's name
MISSING_MEANS = f"{MISSING}: the score if all that are missing were the least of the scale, or all the greatest"
UNKNOWN_OWN = "criteria of samples' own; whether samples that ended early would have had them is not known"
Ends = tuple[float, float]


def print_run(
    run: Run, summary: Summary, rejected: Sequence[Any] = (), gate: float | None = None, unjudged: int | None = None,
) -> None:  # fmt: skip
    """Print what came of a run; everything judged is made inert first.

    Args:
        rejected: rows of the data that are no samples. gate: the least coverage, 0 to 1; None where none was asked for.
        unjudged: samples of the data without an item, None where that is not known.
    """
    show([*run_blocks(run, summary, rejected), *end(run, summary, rejected, gate, unjudged)])


@lays_out(Run)
def _run(run: Run) -> Iterator[Block]:
    summary = run.summary()
    yield Para(str(run))
    yield from run_blocks(run, summary)
    yield from aligned(run.alignment().rows)
    yield from _other_lines(summary)


@lays_out(Summary)
def _summary(summary: Summary) -> Iterator[Block]:
    yield Para(f"samples: {', '.join(f'{status_text(status)} {n}' for status, n in summary.samples.most_common())}")
    yield from run_blocks(None, summary)
    yield from _other_lines(summary)


def _other_lines(summary: Summary) -> Iterator[Block]:
    """All lines, where the table of answers does not tell of all."""
    told = {line.draft for line in summary.shown} | {key for line in summary.shown for key in line.parts}
    told |= {(line.criterion, line.agent, line.stage, line.of) for line in summary.shown}
    if summary.lines.keys() - told:
        yield from every_line(summary)


def run_blocks(run: Run | None, summary: Summary, rejected: Sequence[Any] = ()) -> Iterator[Block]:
    """Answers, one sample, suggestions, what was left out, what failed, and the signature.

    Args:
        run: what the summary is of, None where that is not at hand: then no sample stands there.
    """
    lost = {status: n for status, n in summary.samples.items() if status != "ok"}
    if lost:
        yield Para(
            f"{sum(lost.values()):,} of {counted(summary.samples.total(), 'sample')} ended early: {endings(lost)}",
            "lead",
        )
    yield from pairs(summary)
    yield from answers(summary)
    yield from members(summary)
    yield from consulted(summary)
    if run is not None and (shown := telling(run.items)) is not None:
        yield from brief(*shown)
    yield from _advice(run, summary)
    yield from _notices(run, summary)
    yield from _troubles(summary, rejected)
    yield Para(f"\n{summary.signature if run is None else run.signature}", "fine", whole=True)


# The table of answers.


def answers(summary: Summary, intervals: Mapping[Key, Ends] | None = None, most: int = LINES) -> Iterator[Block]:
    """A row per criterion: how many could be read, the mean before and after the critic, its spread and the moves.

    Args:
        intervals: (criterion, agent, side) -> the 95 % interval of its mean, where these are known.
    """
    lines = summary.shown
    if lines:
        grid = answers_grid(summary, lines, intervals or {}, most)
        yield grid
        if MISSING in grid.head:
            yield Para(MISSING_MEANS, "fine")
        failed = summary.samples.total() - summary.samples["ok"]
        if unknown := [line for line in lines if failed and line.own and line.n - line.asked.total() < failed]:
            which = "these rows" if len(unknown) == len(lines) else f"{counted(len(unknown), 'row')} of these"
            yield Para(f"{which}: {UNKNOWN_OWN}", "fine")
    for headline in headlines(summary):
        yield Para(headline, "note" if headline == summary.side_by_side else "lead")


def answers_grid(summary: Summary, lines: Sequence[Line], intervals: Mapping[Key, Ends], most: int = LINES) -> Grid:
    """The table alone, of these lines."""
    drafts = [summary.lines.get(x.draft) if x.draft else None for x in lines]
    ends = [intervals.get((x.criterion, x.agent, x.of), (math.nan, math.nan)) for x in lines]
    reviewed = [x for x in lines if x.draft]
    stronger = [x.escalated > 0 for x in reviewed]
    who = "critic" if not any(stronger) else "stronger judge" if all(stronger) else "critic or judge"
    cells = {
        "criterion": [in_line(name, 100) for name in row_names(lines)],
        "scale": ["labels" if x.labels else str(x.scale or "") for x in lines],
        "n ok": [f"{x.n_ok:,}/{x.n:,}" for x in lines],
        "draft": [_draft_text(x, draft) if draft else "" for x, draft in zip(lines, drafts, strict=True)],
        "score": [mean_text(x) for x in lines],
        "95 % interval": [within(*one) for one in ends],
        MISSING: [missing_text(x) for x in lines],
        "sd": ["" if x.sd is None else number_text(x.sd) for x in lines],
        who: [moves_of(x, whole=True) for x in lines],
    }
    spare = tuple(who if name == "critic" else name for name in SPARE)
    return columns("", cells, texts=(who,), most=most, rest=CRITERIA, spare=spare)


def every_line(summary: Summary) -> Iterator[Block]:
    """Behind a click, all that was scored: drafts, votes and aspects too, by agent and stage."""
    first = {criterion: at for at, criterion in enumerate(dict.fromkeys(x.criterion for x in summary.lines.values()))}
    lines = sorted(summary.lines.values(), key=lambda x: (x.stage not in STAGES, first[x.criterion], x.of, x.stage))
    if not lines:
        return
    grid = columns("all scores", {
        "criterion": [in_line(x.criterion, 100) + (" (rival)" if x.of == "rival" else "") for x in lines],
        "agent, stage": [f"{x.agent}, {x.stage}" for x in lines],
        "score": ["" if x.labels else number_text(x.mean) for x in lines],
        "sd": ["" if x.sd is None else number_text(x.sd) for x in lines],
        "n ok": [f"{x.n_ok:,}/{x.n:,}" for x in lines],
        "role": [x.role for x in lines],
        "scale": ["labels" if x.labels else str(x.scale or "") for x in lines],
        "labels": [_labels(x) for x in lines],
        MISSING: [missing_text(x) for x in lines],
        "not ok": [endings(x.statuses) for x in lines],
    }, texts=("role", "scale", "labels", "not ok"), names=2, most=EVERY, rest=("line", "lines"))  # fmt: skip
    more = (Para("judgegraph export has every score."),) if grid.left else ()
    yield Fold(f"{counted(len(lines), 'line')}: all scores by agent and stage", (grid, *more))


def _labels(line: Line) -> str:
    """The commonest, and how many others there are."""
    met = ", ".join(f"{in_line(label, 40)} {n:,}" for label, n in line.labels.most_common(LABELS))
    return met + (f", and {len(line.labels) - LABELS:,} more" if len(line.labels) > LABELS else "")


def mean_text(line: Line) -> str:
    """The mean; of labels the most frequent, or all that are as frequent."""
    if line.labels:
        ((_, count),) = line.labels.most_common(1)
        most = [in_line(label, 40) for label, n in line.labels.items() if n == count]
        shown = ", ".join(most) if len(most) <= LABELS else f"{len(most):,} labels"
        return f"{shown} ({count:,}{' each' if len(most) > 1 else ''})"
    return number_text(line.mean)


def missing_text(line: Line) -> str:
    """What the missing scores could make of the mean, "" where none are missing."""
    missing = line.bounds if line.mean is not None and line.n > line.values and not line.labels else None
    return within(*missing) if missing else ""


def _draft_text(line: Line, draft: Line) -> str:
    """The mean of the drafts; where these are not of all final scores, both means of those that have both."""
    if draft.labels or draft.mean is None or line.paired == line.values == draft.values:
        return mean_text(draft)
    if not line.paired:
        return f"{number_text(draft.mean)} (n {draft.values:,})"
    return f"{number_text(line.before)} > {number_text(line.after)} (n {line.paired:,})"


def members(summary: Summary) -> Iterator[Block]:
    """Criterion x judge: what answers were combined from; the last column is the answer's."""
    votes = summary.votes
    judges = list(dict.fromkeys(line.agent for line in votes))
    places = dict.fromkeys((line.criterion, line.of) for line in votes)
    met = {(line.criterion, line.of, line.agent): line for line in votes}
    rows = []
    for criterion, of in places:
        cells = [met.get((criterion, of, judge)) for judge in judges]
        found = [x for x in summary.answers.values() if (x.criterion, x.of) == (criterion, of)]
        name = criterion + (" (rival)" if of == "rival" else "")
        many = {x.n_ok for x in found}
        rows.append((name, *(_of_member(x, many) if x else "" for x in cells), ", ".join(map(mean_text, found))))
    if rows:
        shown = tuple(tuple(in_line(cell, 60) for cell in row) for row in rows[:LINES])
        head = ("criterion", *(in_line(judge, 40) for judge in judges), "answer")
        right = frozenset(range(1, len(head)))
        yield Grid("members", head, shown, right, left=max(0, len(rows) - LINES), rest=CRITERIA)


def _of_member(line: Line, many: Collection[int]) -> str:
    """Its mean, and of how many samples where the answers are of another number."""
    said = mean_text(line)
    return said if line.labels or line.n_ok in many or not line.n_ok else f"{said} (n {line.n_ok:,})"


def pairs(summary: Summary) -> Iterator[Block]:
    """Verdicts, and whether they hold in both orders."""
    if summary.verdicts:
        yield Para(f"verdicts: {_listed(summary.verdicts.most_common())}")
    if summary.both:
        same = percent(summary.consistent, summary.both)
        yield Para(f"same verdict in both orders: {summary.consistent:,} of {summary.both:,} ({same})")
    if said := lead_line(summary):
        yield Para(said)


def consulted(summary: Summary) -> Iterator[Block]:
    """How many findings of assistants could be read, and what became of corrections."""
    if summary.findings:
        said = ", ".join(
            f"{in_line(name, 40)} {ok:,} of {n:,}" for name, (ok, n) in list(summary.findings.items())[:MOST_SAMPLES]
        )
        rest = len(summary.findings) - MOST_SAMPLES
        yield Para(f"findings read: {said}" + (f", and {rest:,} more assistants" if rest > 0 else ""))
    if summary.corrections:
        yield Para(f"corrections: {_listed(summary.corrections.most_common())}")


def aligned(rows: Sequence[Mapping[str, Any]]) -> Iterator[Block]:
    """Which assistant the plans assigned to which criterion, as of `Alignment.rows`; nothing of no plan."""
    by: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        by.setdefault(row["assistant"], []).append(row)
    named = {name: found for name, found in by.items() if any(row["assigned"] for row in found)}
    criteria = list(dict.fromkeys(row["criterion"] for row in rows))
    cells = {"assistant": [in_line(name, 80) for name in named]}
    cells |= {in_line(c, 40): [_mark(found[at]) for found in named.values()] for at, c in enumerate(criteria)}
    cells |= {"without a value": [_absent(found) for found in named.values()]}
    if named:
        yield columns("assistants that the plan assigned", cells, texts=cells, rest=("assistant", "assistants"))
    alone = [c for c in criteria if not any(row["assigned"] for row in rows if row["criterion"] == c)]
    if alone:
        yield Para(f"judged without an assistant: {', '.join(in_line(name, 80) for name in alone)}", "fine")
    if idle := [in_line(name, 80) for name in by if name not in named]:
        yield Para(f"assigned to no criterion: {', '.join(idle)}", "fine")


def _mark(row: Mapping[str, Any]) -> str:
    """Whether every plan has it, else how many do."""
    every = row["assigned"] == row["plans"]
    return "yes" if every else f"in {row['assigned']:,} of {row['plans']:,} plans" if row["assigned"] else ""


def _absent(rows: Sequence[Mapping[str, Any]]) -> str:
    """For how many samples an assistant had no value, and why; "" where it always had one."""
    row = max(rows, key=lambda row: row["assigned"] - row["ok"])
    lost = row["assigned"] - row["ok"]
    return f"{lost:,} of {counted(row['assigned'], 'sample')}, {in_line(row['absent'], 120)}" if lost else ""


def _listed(found: Sequence[tuple[str, int]]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in found)


# Suggestions, what was left out, what failed.


def _advice(run: Run | None, summary: Summary) -> Iterator[Block]:
    for kind, title in (("definition", "definitions to change"), ("criterion", "new criteria suggested")):
        found = [(key, n) for key, n in summary.suggestions.most_common() if key[0] == kind]
        if found:
            yield Para(title, "title")
        yield from (Para(f"  {key[1]} ({n:,}): {in_line(summary.wordings[key], 200)}") for key, n in found[:5])
        yield from more(len(found) - 5, indent="  ")
    if len(summary.suggestions) > 1 and run is not None and run.folder:
        yield Para(f"by topic: judgegraph suggestions {quoted(str(run.folder.path))}", "fine", whole=True)


def _notices(run: Run | None, summary: Summary) -> Iterator[Block]:
    """A line for each kind of what was skipped, dropped or not applied, with where to see one such sample."""
    failed = by_count(summary.unread)
    folder = run.folder if run is not None else None
    for notice in [*by_count(summary.notices), *failed[:MOST_SAMPLES]]:
        see = command(str(folder.path), notice.sample) if folder else ""
        where = (
            f" (see: {see})" if see else f" (sample '{in_line(notice.sample, 60)}')" if notice.kind in FAILED else ""
        )
        yield Para(f"{notice.line(summary.samples.total())}{where}", "note", whole=True)
    yield from more(len(failed) - MOST_SAMPLES, "reason; --json has it too", "reasons; --json has them all")
    for lack in lacks_of(run.manifest) if run is not None else ():
        yield Para(lack, "note", whole=True)


def _why(line: Line, status: str) -> str:
    """Why scores were abstained from, or an example; why others failed is told in lines of their own."""
    if status != "abstained" or not line.abstained:
        return ""
    return f" ({'such as: ' if line.abstained_else else ''}{in_line(line.abstained, 160)})"


def _troubles(summary: Summary, rejected: Sequence[Any]) -> Iterator[Block]:
    for (status, reason), count in summary.failures.most_common(MOST_SAMPLES):
        first = summary.failed_first.get((status, reason), "")
        where = f" (sample '{in_line(first, 60)}')" if first and f"'{first}'" not in reason else ""
        yield Para(
            f"{counted(count, 'sample')} ended early ({status_text(status)}): {in_line(reason, 300)}{where}", "bad"
        )
    yield from more(len(summary.failures) - MOST_SAMPLES, "kind of failure", "kinds of failure")
    for line in summary.lines.values():
        if bad := {s: n for s, n in (line.statuses - line.lost).items() if s != "ok"}:
            statuses = ", ".join(f"{n:,} {status_text(status)}{_why(line, status)}" for status, n in bad.items())
            side = " (rival)" if line.of == "rival" else ""
            yield Para(f"{line.criterion}{side} ({line.agent}, {line.stage}): {statuses}", "note")
    notes = [(note, count) for note, count in summary.notes.most_common() if note not in summary.noticed]
    yield from (Para(f"note ({count:,}): {in_line(note, 200)}", "note") for note, count in notes[:MOST_SAMPLES])
    yield from more(len(notes) - MOST_SAMPLES, "note")
    if rejected:
        yield Para(f"{counted(len(rejected), 'row')} rejected:", "bad")
    yield from map(Para, rejected_lines(rejected, MOST_SAMPLES))


# The last lines of a run: what it took, how it ended, and how much of it could be read.


def end(
    run: Run, summary: Summary, rejected: Sequence[Any], gate: float | None, unjudged: int | None = None,
) -> Iterator[Block]:  # fmt: skip
    """Samples, calls, tokens and money; the budget where it ended the run; coverage, and where the run lies."""
    every, refused = sum(summary.samples.values()), summary.samples["over_budget"]
    samples = f"{every - refused:,} of {counted(every, 'sample')}" if refused else counted(every, "sample")
    yield Para(", ".join([samples, *costs(run.manifest)]))
    if saved := saved_line(run.manifest):
        yield Para(saved, "fine")
    if by := criteria_line(run.manifest, summary):
        yield Para(by)
    partly = ""
    if summary.partly:
        was = "was" if summary.partly == 1 else "were"
        partly = f"; {counted(summary.partly, 'sample')} of these {was} judged in part"
    if partly or len({status for status, _ in summary.failures}) > 1:
        yield Para(f"failed: {failures(summary.samples)}{partly}", "bad")
    state = run.manifest.get("state")
    if state == "over_budget":
        yield Para(over_budget(run, summary.samples["over_budget"]), "bad")
    if twice := (run.manifest["calls"].get("ledger") or {}).get("overtaken"):
        yield Para(overtaken(twice))
    if gone := run.manifest.get("unreachable"):
        yield Para(unreachable(gone, state == "stopped"), "bad")
    elif run.folder and (
        failed := sum(line.statuses[status] for line in summary.answers.values() for status in SERVER)
    ):
        of = f"{counted(failed, 'score')} failed by the judge's server"
        yield Para(f"{of}: the same command and --retry-failed may judge them, and nothing else", "bad")
    yield from _coverage(summary, rejected, gate, unjudged)
    if unjudged or (state == "stopped" and not gone):  # no signal comes this far, but a retry leaves some
        left = f" ({unjudged:,} {'is' if unjudged == 1 else 'are'} left)" if unjudged else ""
        again = " without --retry-failed" if state == "stopped" and not gone else ""
        yield Para(f"not every sample was judged yet{left}: the same command{again} goes on")
    if run.folder:
        yield Para(f"saved in {run.folder.path}")


def _coverage(
    summary: Summary, rejected: Sequence[Any], gate: float | None, unjudged: int | None
) -> Iterator[Block]:  # fmt: skip
    part = covered(summary, unread(rejected), unjudged or 0)
    if gate is None and part.share >= 1:
        return
    below = gate is not None and part.share < gate
    line = coverage_line(part.share, part.name, gate if below else None)
    lost = unread(rejected) - len(rejected)
    behind = f"; {counted(lost, 'row')} of these could not be read and are estimated" if lost else ""
    behind += "; the file was not read to its end" if not_to_its_end(rejected) else ""
    yield Para(f"{line}: {part.counts}{behind}", "bad" if below or behind else "")


def criteria_line(manifest: Mapping[str, Any], summary: Summary | None = None) -> str:
    """By which criteria set the run judged, such as "criteria: forms (8)"; "" where that is not known.

    Criteria of its answers that are none of the set's are counted too: "summary (4) and 1 of the graph's own".
    """
    name, count = manifest.get("criteria_set"), len(manifest.get("criteria") or ())
    said = {"own": "of your own"}.get(str(name), name)
    lines = summary.answers.values() if summary is not None else ()
    own = {line.criterion for line in lines if not line.own} - {*criteria_names(manifest), "overall"}
    others = f" and {len(own):,} of the graph's own" if own else ""
    return f"criteria: {said} ({count:,}){others}" if name else ""


def saved_calls(manifest: Mapping[str, Any]) -> tuple[int, int]:
    """(found in the ledger, shared with another call of this run): calls that were wanted and not paid for."""
    ledger = manifest["calls"].get("ledger") or {}
    return ledger.get("hits", 0), ledger.get("joined", 0)


def saved_line(manifest: Mapping[str, Any]) -> str:
    """What "(12 saved)" means of this run; "" where nothing was."""
    found, shared = saved_calls(manifest)
    parts = [f"{shared:,} asked the same as another call at the same time"] if shared else []
    parts += [f"{found:,} had their reply in the ledger"] if found else []
    return f"saved: {', '.join(parts)}; none of these was paid for" if parts else ""


def costs(manifest: Mapping[str, Any]) -> list[str]:
    """Calls with those the ledger saved, tokens, the share of prompts sent before, and money; estimates are marked."""
    calls, spent = manifest["calls"], manifest.get("spent") or {}
    saved = sum(saved_calls(manifest))
    parts = [counted(spent.get("calls", calls["replies"]), "call") + (f" ({saved:,} saved)" if saved else "")]
    tokens = sum((spent or calls)[key] for key in ("prompt_tokens", "completion_tokens"))
    estimated, unpriced = spent.get("estimated", 0), spent.get("unpriced", 0)
    if lost := spent.get("unanswered", 0):
        parts.append(unanswered(lost))
    asked = counted(estimated, "request" if lost else "call")
    parts.append(counted(tokens, "token") + (f" (estimated for {asked})" if estimated else ""))
    prefixes = calls.get("prefixes") or {}
    if prefixes.get("prompt_tokens") and prefixes["sent_before"]:
        share = prefixes["sent_before"] / prefixes["prompt_tokens"]
        parts.append(f"{share:.0%} of prompt tokens in a prefix sent before")
    if usd := spent.get("usd") or spent.get("usd_at_least"):
        unknown = f" (price unknown for {counted(unpriced, 'call')})" if unpriced else ""
        parts.append(f"{money(usd)}{unknown}")
    elif unpriced:
        parts.append("price unknown")
    return parts


def unanswered(requests: int) -> str:
    """ "3 requests without a reply of use", beside the calls that were answered."""
    return f"{counted(requests, 'request')} without a reply of use"


def failures(by_status: Mapping[str, int]) -> str:
    """ "2 timeout, 1 refused", the most frequent first; "" where every sample is ok."""
    bad = sorted(((s, n) for s, n in by_status.items() if s != "ok" and n), key=lambda one: -one[1])
    return ", ".join(f"{n:,} {status_text(status)}" for status, n in bad)


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
    parts = ["stopped by the budget"]
    if spent := _fullest(run):
        name, used, cap = spent
        shown = [money(x) if name == "usd" else f"{x:,}" for x in (used, cap)]
        unit = "" if name == "usd" else f" {name}"
        parts[0] += f": {shown[0]} of {shown[1]}{unit}"
        if name == "calls" and used > cap:  # which no process passes
            parts[0] = f"stopped by the budget of {shown[1]}{unit}: {shown[0]} were spent before it was given"
    if lost:
        parts.append(f"{counted(lost, 'sample')} {'is' if lost == 1 else 'are'} over it")
    out = "" if run.folder else ", and --out FOLDER,"
    parts.append(f"the same command with {larger_budget(run, lost)}{out} goes on")
    return "; ".join(parts)


def _fullest(run: Run) -> tuple[str, float, float] | None:
    """(calls, tokens or usd; what was spent; the cap) of the cap that comes nearest its end."""
    budget, spent = run.manifest.get("budget") or {}, run.manifest.get("spent") or {}
    tokens = spent.get("prompt_tokens", 0) + spent.get("completion_tokens", 0)
    used = {"calls": requests_of(spent), "tokens": tokens, "usd": spent.get("usd", 0.0)}
    caps = {name: cap for name, cap in budget.items() if name in used and cap}
    name = max(caps, key=lambda name: used[name] / caps[name], default=None)
    return None if name is None else (name, used[name], caps[name])


RESERVE = 1.1  # of a budget that is proposed, over what the samples so far took


def larger_budget(run: Run, lost: int) -> str:
    """The option that lets a run go on to its end, such as "--budget-calls 64": by what its samples took so far.

    Args:
        lost: samples that the budget kept from their end.
    """
    if (spent := _fullest(run)) is None:
        return "a larger budget"
    name, used, cap = spent
    done = int((run.manifest.get("samples") or {}).get("done") or 0) - lost
    total = total_of(run.manifest)
    needed = used * (total or 0) / max(done, 1) * RESERVE
    needed = needed if needed > cap else 2 * cap
    digits = 1 - math.floor(math.log10(needed))  # of two that count
    needed = math.ceil(round(needed * 10**digits, 6)) / 10**digits
    return f"--budget-{name} {needed:.{max(0, digits)}f}" if name == "usd" else f"--budget-{name} {math.ceil(needed)}"


def requests_of(spent: Mapping[str, Any]) -> int:
    """What a budget's `calls` caps: calls that were answered, and requests that were not."""
    return int(spent.get("calls", 0) + spent.get("unanswered", 0))


def coverage_line(share: float, weakest: str, gate: float | None = None) -> str:
    """Such as "coverage 0.964 (Coherence), below 0.98"."""
    return f"coverage {portion(share, gate)} ({weakest})" + (f", below {gate:g}" if gate is not None else "")


# How far a run is: samples, pace, what is left, calls, money against its budget, the running mean, what failed.


WINDOW = 60.0  # seconds that the rate looks back
STEP = 0.5  # seconds between two points of it at least


class Pace:
    """Samples per second of the last minute: what a ledger answered at the start says nothing of what is left."""

    def __init__(self) -> None:
        self._points: deque[tuple[float, int]] = deque()

    def add(self, seconds: float, done: int) -> None:
        """So many are done at so many seconds after the start; those of an earlier process are in the first."""
        if not self._points or seconds - self._points[-1][0] >= STEP:
            self._points.append((seconds, done))
        while seconds - self._points[0][0] > WINDOW and len(self._points) > 2:
            self._points.popleft()

    def rate(self, seconds: float, done: int) -> float | None:
        """Samples per second up to now, None where nothing can be said."""
        if not self._points:
            return None
        since, before = self._points[0]
        return (done - before) / (seconds - since) if seconds > since and done > before else None


def state_line(now: Progress, total: int | None, pace: Pace, *, ended: bool = False) -> str:
    """Such as "120 of 1,000 samples, 8.3/s, 1 min 46 s left, 240 calls (12 saved), $0.31, failed: 2 timeout"."""
    of, done = f" of {total:,}" if total is not None else "", now.done - now.by_status.get("over_budget", 0)
    samples = f"{done:,}{of} {'sample' if (total or done) == 1 else 'samples'}"
    parts = [samples, whole_seconds(now.seconds)] if ended else [samples]
    return ", ".join([*parts, *details(now, total, pace, ended=ended)])


def details(now: Progress, total: int | None, pace: Pace, *, ended: bool = False) -> list[str]:
    """What stands behind the number of samples."""
    judged = max(0, now.done - now.by_status.get("over_budget", 0) - now.resumed)
    rate = judged / now.seconds if ended and now.seconds else pace.rate(now.seconds, now.done)
    if now.outages and not ended:  # nothing moves: a pace of before says nothing of when the rest comes
        rate = None
    parts = [f"{rate:.1f}/s" if rate < 100 else f"{rate:,.0f}/s"] if rate else []
    if rate and total is not None and total > now.done and not ended:
        parts.append(f"{whole_seconds((total - now.done) / rate)} left")
    in_session = [f"{now.calls_now:,} now"] if now.resumed and now.calls_now != now.calls else []
    in_session += [f"{now.saved:,} saved"] if now.saved else []
    if now.outages and not ended:
        parts.append(paused(now.outages))
    if now.held_back and not ended:
        parts.append(f"held back by the server for {whole_seconds(max(1.0, now.held_back))} more")
    if now.waiting and not ended:
        parts.append(f"waiting for {counted(now.waiting, 'call')} of another run with this ledger")
    calls = f"{now.calls:,} of {counted(cap, 'call')}" if (cap := _cap(now, "calls")) else counted(now.calls, "call")
    parts.append(calls + (f" ({', '.join(in_session)})" if in_session else ""))
    if now.unanswered:
        parts.append(unanswered(now.unanswered))
    parts += _spent(now)
    if now.mean is not None and not ended:
        parts.append(
            f"mean {now.mean:.2f} on {now.scale}" if now.scale else f"mean {now.mean:.2f} of 1, on several scales"
        )
    failed = failures(now.by_status)
    return [*parts, f"failed: {failed}"] if failed else parts


def _cap(now: Progress, name: str) -> Any:
    return getattr(now.budget, name, None)


def _spent(now: Progress) -> list[str]:
    """Money, or tokens where nothing has a price; beside the caps of a budget."""
    tokens = now.prompt_tokens + now.completion_tokens
    if usd := _cap(now, "usd"):
        found = [f"{money(now.usd or 0.0)} of {money(usd)}"]
    else:
        found = [] if _cap(now, "tokens") and not now.usd else [money(now.usd) if now.usd else counted(tokens, "token")]
    if most := _cap(now, "tokens"):
        found.append(f"{tokens:,} of {most:,} tokens")
    return found


def paused(outages: Mapping[str, tuple[str, float]]) -> str:
    """ "paused: openai:m at http://localhost:8000/v1: no connection for 12 s"; the first of several, and how many."""
    (judge, (what, seconds)), more = next(iter(outages.items())), len(outages) - 1
    others = f" and {more:,} more" if more else ""
    since = f" for {whole_seconds(seconds)}" if seconds >= 1 else ""
    return f"paused: {judge}: {what}{since}{others}"
