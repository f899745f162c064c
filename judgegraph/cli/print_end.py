"""The last lines of a run on a terminal: what it took, how it ended, and how much of it could be read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from judgegraph.cli.progress_text import failures, money, unanswered
from judgegraph.cli.table import counted, plain
from judgegraph.runtime.coverage import covered
from judgegraph.runtime.run import Run
from judgegraph.runtime.summary import Summary


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
    if by := criteria_line(run.manifest):
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
    part = covered(summary, len(rejected), unjudged or 0)
    if gate is not None or part.share < 1:
        below = gate is not None and part.share < gate
        said = coverage_line(part.share, part.name, gate if below else None)
        console.print(plain(f"{said}: {part.counts}"), style="red" if below else None)
    if unjudged or (state == "stopped" and not gone):  # no signal comes this far, but a retry leaves some
        left = f" ({unjudged:,} {'is' if unjudged == 1 else 'are'} left)" if unjudged else ""
        console.print(plain(f"not every sample was judged yet{left}: the same command without --retry-failed goes on"))
    if run.folder:
        console.print(plain(f"saved in {run.folder.path}"))


def criteria_line(manifest: Mapping[str, Any]) -> str:
    """By which criteria set the run judged, such as "criteria: forms (8)"; "" where that is not known."""
    name, count = manifest.get("criteria_set"), len(manifest.get("criteria") or ())
    said = {"own": "of your own"}.get(str(name), name)
    return f"criteria: {said} ({count:,})" if name else ""


def costs(manifest: Mapping[str, Any]) -> list[str]:
    """Calls with those the ledger saved, tokens, and USD; estimates and unknown prices are marked."""
    calls, spent = manifest["calls"], manifest.get("spent") or {}
    saved = sum(calls.get("ledger", {}).get(key, 0) for key in ("hits", "joined"))
    said = [counted(spent.get("calls", calls["replies"]), "call") + (f" ({saved:,} saved)" if saved else "")]
    tokens = sum((spent or calls)[key] for key in ("prompt_tokens", "completion_tokens"))
    estimated, unpriced = spent.get("estimated", 0), spent.get("unpriced", 0)
    if lost := spent.get("unanswered", 0):
        said.append(unanswered(lost))
    said.append(counted(tokens, "token") + (f" (estimated for {counted(estimated, 'call')})" if estimated else ""))
    if spent.get("usd"):
        unknown = f" (price unknown for {counted(unpriced, 'call')})" if unpriced else ""
        said.append(f"{money(spent['usd'])} USD{unknown}")
    elif unpriced:
        said.append("price unknown")
    return said


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
    said = ["stopped by the budget"]
    if caps:
        name = max(caps, key=lambda name: used[name] / caps[name])
        shown = [money(x) if name == "usd" else f"{x:,}" for x in (used[name], caps[name])]
        unit = "USD" if name == "usd" else name
        said[0] += f": {shown[0]} of {shown[1]} {unit}"
        if name == "calls" and used[name] > caps[name]:  # which no process passes
            said[0] = f"stopped by the budget of {shown[1]} {unit}: {shown[0]} were spent before it was given"
    if lost:
        said.append(f"{counted(lost, 'sample')} {'is' if lost == 1 else 'are'} over_budget")
    out = "" if run.folder else ", and --out FOLDER,"
    said.append(f"the same command with a larger budget{out} goes on")
    return "; ".join(said)


def requests_of(spent: Mapping[str, Any]) -> int:
    """What a budget's `calls` caps: calls that were answered, and requests that were not."""
    return int(spent.get("calls", 0) + spent.get("unanswered", 0))


def coverage_line(share: float, weakest: str, gate: float | None = None) -> str:
    """Such as "coverage 0.964 (Coherence), below 0.98"; never rounded up to what it does not reach."""
    shown = f"{math.floor(share * 1000 + 1e-9) / 1000:.3f}"
    return f"coverage {shown} ({weakest})" + (f", below {gate:g}" if gate is not None else "")
