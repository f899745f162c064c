"""What probes found, on a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console

from judgegraph.cli.table import counted, plain
from judgegraph.meta.measured import Measured
from judgegraph.meta.padded_probe import Change, Padded
from judgegraph.meta.probes import Probes
from judgegraph.meta.self_probe import OwnModel
from judgegraph.meta.swap_probe import Swapped

WIDTH, LINES = 100, 60


def print_probes(found: Probes) -> None:
    """Print each probe that was asked for; everything judged is made inert first."""
    console = Console(width=None if Console().is_terminal else WIDTH, highlight=False)
    copies = counted(found.copies, "copy", "copies")
    judged = f"{found.judged} of {found.samples + found.copies} judged"
    say(console, f"{counted(found.samples, 'sample')} and {copies}, {judged}; {100 * found.confidence:g} % intervals")
    if found.swap is not None:
        say(console, "\nswap: each pair exchanged", *_swap(found.swap))
    if found.padded is not None:
        say(console, "\npadded: longer, and says no more", *_padded(found.padded))
    if found.own is not None:
        say(console, "\nself: the judge's own model against people", *_own(found.own))
    console.print(plain(f"\n{found.signature}"), style="dim")


def say(console: Console, *lines: str) -> None:
    for line in lines:
        console.print(plain(line))


def _swap(found: Swapped) -> Iterable[str]:
    if found.note:
        yield f"  {found.note}"
        return
    yield f"  verdict changes      {_share(found.flips)}"
    yield f"  winner becomes loser {_share(found.reversed)}"
    yield f"  the first one wins   {_share(found.first)}, where one wins; 50 % is even"
    if found.unread:
        yield f"  left out: {counted(found.unread, 'pair')} without a verdict in both orders"


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
        yield f"  {change.kind}, {name}: {_change(change)}"
    if len(found.changes) > LINES:
        yield f"  and {len(found.changes) - LINES} more; --json has them all"


def _change(change: Change) -> str:
    if change.mean is None or change.raised is None or change.lowered is None:
        return f"another label {_share(change.relabelled)}"
    lowered = f"lowered {100 * change.lowered.value:.0f} %"
    return f"{_number(change.mean)}, raised {_share(change.raised)}, {lowered}"


def _own(found: OwnModel) -> Iterable[str]:
    if found.note or found.advantage is None or found.rank is None:
        yield f"  {found.note}"
        return
    yield f"  {', '.join(found.own)}: {counted(found.n_own, 'score')}, against {counted(found.n_other, 'other')}"
    yield f"  advantage beyond people's {_number(found.advantage)} standard deviations"
    yield f"  places up, as a share of all {_number(found.rank)}"


def _share(found: Measured | None) -> str:
    if found is None or not found.n or found.value != found.value:
        return "- (n 0)"
    low, value, high = (100 * number for number in (found.low, found.value, found.high))
    return f"{value:.0f} % [{low:.0f}, {high:.0f}] (n {found.n})"


def _number(found: Measured) -> str:
    return f"{found.value:+.2f} [{found.low:+.2f}, {found.high:+.2f}] (n {found.n})"
