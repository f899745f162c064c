"""What corrections gained, on a terminal: whether they did, then by which criteria, then how that came about."""

from __future__ import annotations

import math
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table

from judgegraph.errors import one_line
from judgegraph.meta.corrected import CorrectionGain, Gain
from judgegraph.views.screen import counted, plain, screen

MOST = 40  # criteria that are listed
NAME = 32  # characters of a criterion's name
FEW = 6  # queries of which no pattern of signs is rarer than 5 %, two-sided


def print_gain(found: CorrectionGain) -> None:
    """Print it; everything judged is made inert first."""
    console = screen()
    console.print(plain(_conclusion(found)), style="bold")
    for line in _responses(found):
        console.print(plain(f"  {line}"))
    for note in _notes(found):
        console.print(plain(f"note: {note}"), style="yellow")
    if found.overall is not None:
        _table(console, found)
        console.print(plain(
            "points on 1-5; each text was scored alone. overall, low and others count a correction once, by the mean "
            f"over its criteria. {100 * found.confidence:g} % intervals by bootstrap over queries; p: sign test over "
            "queries, two-sided; Holm: for all criteria at once"
        ), style="dim")  # fmt: skip
    console.print(plain(f"corrected: {found.run_signature}"), style="dim", soft_wrap=True)
    console.print(plain(f"judged: {found.signature}"), style="dim", soft_wrap=True)


def _conclusion(found: CorrectionGain) -> str:
    one = found.overall
    if one is None or not one.n:
        return "Nothing can be said of the gain: no correction was scored beside its original."
    many = f"{counted(one.n, 'correction')} of {counted(one.queries, 'query', 'queries')}"
    verb = "raised" if one.gain.value > 0 else "lowered"
    start = f"The corrections {verb} the score" if found.is_shown else "No gain is shown"
    return f"{start}: {_signed(one)}, {many}; sign test p {_chance(one.p)}."


def _responses(found: CorrectionGain) -> Iterable[str]:
    total = sum(found.responses.values())
    named = {"ok": "changed", "unchanged": "unchanged, left out"}
    told = [f"{count} {named.get(name, name)}" for name, count in found.responses.items()]
    yield f"{counted(total, 'response')} scored low: {', '.join(told)}"
    by = ", ".join(found.correctors) or "a judge that the run does not name"
    yield f"corrected by {one_line(by, 120)}, judged by {one_line(found.judge, 120)}"


def _notes(found: CorrectionGain) -> Iterable[str]:
    if found.same_judge:
        yield (
            "the judge is the one that corrected: it judges its own work, and what it picked for a low score rises by "
            "itself; ask another judge before you believe a gain"
        )
    one = found.overall
    if one is not None and one.unread:
        yield f"{counted(one.unread, 'correction')} could not be scored beside the original, and count nowhere"
    if one is not None and 0 < one.queries < FEW:
        rarest = 2 / 2**one.queries
        yield f"{counted(one.queries, 'query', 'queries')} only: p cannot fall below {rarest:.3g}, intervals are rough"
    if found.others is not None and found.others.gain.high < 0:
        yield "by criteria that had not scored low, the corrections are worse than their originals"
    yield from found.notes


def _table(console: Console, found: CorrectionGain) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1, 0, 0))
    table.add_column("criterion", overflow="fold")
    within = f"{100 * found.confidence:g} %"
    for name in ("n", "before", "after", "gain", within, "up", "down", "even", "p", "Holm"):
        table.add_column(name, justify="right", no_wrap=True)
    named = {"overall": "overall", "low": "  low before", "others": "  others"}
    for one in (found.overall, found.low, found.others):
        if one is not None:
            table.add_row(*map(plain, _cells(one, named[one.criterion])))
    for one in found.criteria[:MOST]:
        table.add_row(*map(plain, _cells(one, one_line(one.criterion, NAME))))
    console.print()
    console.print(table)
    if len(found.criteria) > MOST:
        console.print(plain(f"and {len(found.criteria) - MOST:,} criteria more; --json has them all"))


def _cells(one: Gain, name: str) -> tuple[str, ...]:
    gain, _, within = _signed(one).partition(" ")
    return (
        name, f"{one.n}/{one.n + one.unread}" if one.unread else str(one.n), _number(one.before), _number(one.after),
        gain, within, str(one.raised), str(one.lowered), str(one.even), _chance(one.p), _chance(one.p_holm),
    )  # fmt: skip


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2f}"


def _signed(one: Gain) -> str:
    low, value, high = (round(number, 2) + 0.0 for number in (one.gain.low, one.gain.value, one.gain.high))
    if math.isnan(value):
        return "-"
    return f"{value:+.2f}" + ("" if math.isnan(low) else f" [{low:+.2f}, {high:+.2f}]")


def _chance(p: float) -> str:
    return "-" if math.isnan(p) else "< 0.001" if p < 0.0005 else f"{p:.3f}"
