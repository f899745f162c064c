"""What probes found, on a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console

from judgegraph.cli.screen import screen
from judgegraph.cli.table import counted, plain
from judgegraph.errors import one_line
from judgegraph.meta.interval_notes import FEW
from judgegraph.meta.measured import Measured
from judgegraph.meta.padded_probe import Change, Padded
from judgegraph.meta.probes import Probes
from judgegraph.meta.self_probe import OwnModel
from judgegraph.meta.swap_probe import Swapped

LINES, FAILURES = 60, 5
ENDS = {"over_budget": "the budget ended it before all were judged", "stopped": "it was stopped before all were judged"}


def print_probes(found: Probes) -> None:
    """Print each probe that was asked for; everything judged is made inert first."""
    console = screen()
    copies = counted(found.copies, "copy", "copies")
    judged = f"{found.judged} of {found.samples + found.copies} judged"
    say(console, f"{counted(found.samples, 'sample')} and {copies}, {judged}; {100 * found.confidence:g} % intervals")
    if found.state in ENDS:
        say(console, ENDS[found.state])
    for (status, reason), count in list(found.failures.items())[:FAILURES]:
        say(console, f"{count:,} ended with {status}: {one_line(reason, 500)}")
    if len(found.failures) > FAILURES:
        say(console, f"and {len(found.failures) - FAILURES} more reasons; --json has them")
    if found.swap is not None:
        say(console, "\nswap: each pair exchanged", *_swap(found.swap))
    if found.padded is not None:
        say(console, "\npadded: longer, and says no more", *_padded(found.padded))
    if found.own is not None:
        say(console, "\nself: the judge's own model against people", *_own(found.own))
    if any(one.method == "bootstrap" and 1 < one.units < FEW for one in _numbers(found)):
        say(console, f"\nrough: an interval drawn from fewer than {FEW} is too narrow")
    console.print(plain(f"\n{found.signature}"), style="dim")


def _numbers(found: Probes) -> Iterable[Measured]:
    """Those that are drawn: means and what is between systems."""
    own, changes = found.own, found.padded.changes if found.padded else ()
    held = [change.mean for change in changes] + ([own.people_exact, own.judge_exact] if own else [])
    return [one for one in held if one is not None]


def say(console: Console, *lines: str) -> None:
    for line in lines:
        console.print(plain(line))


def _swap(found: Swapped) -> Iterable[str]:
    if found.note:
        yield f"  {found.note}"
        yield from _left(found.unread)
        return
    yield f"  verdict changes      {_share(found.flips)}"
    yield f"  winner becomes loser {_share(found.reversed)}"
    yield f"  the first one wins   {_share(found.first)}, where one wins; 50 % is even"
    yield from _left(found.unread)


def _left(pairs: int) -> Iterable[str]:
    if pairs:
        yield f"  left out: {counted(pairs, 'pair')} without a verdict in both orders"


def _padded(found: Padded) -> Iterable[str]:
    if found.note:
        yield f"  {found.note}"
    for kind, won in found.wins.items():
        left = f"; {counted(found.unread[kind], 'pair')} left out" if found.unread.get(kind) else ""
        yield f"  {kind}: wins against its original {_share(won)}; 50 % is even{left}"
    agents = {(c.criterion, c.agent) for c in found.changes}
    several = len({criterion for criterion, _ in agents}) < len(agents)
    for change in found.changes[:LINES]:
        name = change.criterion + (f" ({change.agent})" if several and change.agent else "")
        left = f"; {counted(change.unread, 'sample')} left out" if change.unread else ""
        yield f"  {change.kind}, {name}: {_change(change)}{left}"
    if len(found.changes) > LINES:
        yield f"  and {len(found.changes) - LINES} more; --json has them all"


def _change(change: Change) -> str:
    if change.mean is None or change.raised is None or change.lowered is None:
        return f"another label {_share(change.relabelled)}"
    lowered = f"lowered {100 * change.lowered.value:.0f} %"
    return f"{_number(change.mean)}, raised {_share(change.raised)}, {lowered}"


def _own(found: OwnModel) -> Iterable[str]:
    if found.note or found.people_exact is None or found.judge_exact is None:
        yield f"  {found.note}"
        return
    yield f"  {', '.join(found.own)}: {counted(found.n_own, 'score')}, against {counted(found.n_other, 'other')}"
    yield "  higher than others that people score alike, in standard deviations of the judge's scores"
    yield f"    if people's scores are exact  {_number(found.people_exact)}"
    yield f"    if the judge's are            {_number(found.judge_exact)}"
    both = "both lie on one side of 0: a bias, unless people have it"
    yield f"  {both if found.biased else 'a bias is shown where both lie on one side of 0, and here they do not'}"


def _share(found: Measured | None) -> str:
    if found is None or not found.n or found.value != found.value:
        return "- (n 0)"
    low, value, high = (100 * number for number in (found.low, found.value, found.high))
    return f"{value:.0f} % {f'[{low:.0f}, {high:.0f}]' if low == low else '-'} ({_counts(found)})"


def _number(found: Measured) -> str:
    if found.value != found.value:
        return f"- ({_counts(found)})"
    within = f"[{found.low:+.2f}, {found.high:+.2f}]" if found.low == found.low else "-"
    return f"{found.value:+.2f} {within} ({_counts(found)})"


def _counts(found: Measured) -> str:
    """What it rests on, and where that is too little for its interval."""
    said = [f"n {found.n}", *([counted(found.units, "group")] if found.units < found.n else [])]
    if found.value == found.value and found.low != found.low:
        said.append("no interval")
    elif found.method == "bootstrap" and 1 < found.units < FEW:
        said.append("rough")
    return ", ".join(said)
