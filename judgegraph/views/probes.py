"""What probes found of a judge's biases: exchanged order, padded copies, its own outputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from judgegraph.errors import one_line
from judgegraph.meta.corrected import CorrectionGain, Gain
from judgegraph.meta.probes import Change, OwnModel, Padded, Probes, Swapped
from judgegraph.meta.result import FEW, Measured
from judgegraph.runs.item import lacks_of
from judgegraph.views.blocks import NONE, Block, Grid, Para, chance, counted, number_text, signed, within
from judgegraph.views.run import costs

LINES, FAILURES = 60, 5
ENDS = {"over_budget": "the budget ended it before all were judged", "stopped": "it was stopped before all were judged"}


def probes(found: Probes) -> Iterator[Block]:
    """Each probe that was asked for."""
    copies = counted(found.copies, "copy", "copies")
    judged = f"{found.judged:,} of {found.samples + found.copies:,} judged"
    yield Para(
        f"{counted(found.samples, 'sample')} and {copies}, {judged}; {100 * found.confidence:g} % intervals", "lead"
    )
    if found.state in ENDS:
        yield Para(ENDS[found.state], "bad")
    for (status, reason), count in list(found.failures.items())[:FAILURES]:
        yield Para(f"{count:,} ended with {status}: {one_line(reason, 500)}", "bad")
    if len(found.failures) > FAILURES:
        yield Para(f"and {counted(len(found.failures) - FAILURES, 'more reason')}; --json has them")
    if found.swap is not None:
        yield Para("swap: each pair exchanged", "title")
        yield from map(Para, _swap(found.swap))
    if found.padded is not None:
        yield Para("padded: longer, and says no more", "title")
        yield from map(Para, _padded(found.padded))
    if found.own is not None:
        yield Para("self: the judge's own model against people", "title")
        yield from map(Para, _own(found.own))
    if any(one.method == "bootstrap" and 1 < one.units < FEW for one in _numbers(found)):
        yield Para(f"\nrough: an interval drawn from fewer than {FEW} is too narrow", "note")
    yield Para(f"\n{found.signature}", "fine")
    yield Para(", ".join(costs({"calls": found.calls, "spent": found.spent})))
    yield from (Para(lack, "note") for lack in lacks_of({"calls": found.calls}))


def _numbers(found: Probes) -> Iterable[Measured]:
    """Those that are drawn: means and what is between systems."""
    own, changes = found.own, found.padded.changes if found.padded else ()
    held = [change.mean for change in changes] + ([own.people_exact, own.judge_exact] if own else [])
    return [one for one in held if one is not None]


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
    return f"{value:.0f} % {within(low, high, 0) or NONE} ({_counts(found)})"


def _number(found: Measured) -> str:
    if found.value != found.value:
        return f"- ({_counts(found)})"
    return f"{signed(found.value)} {within(found.low, found.high, sign=True) or NONE} ({_counts(found)})"


def _counts(found: Measured) -> str:
    """What it rests on, and where that is too little for its interval."""
    counts = [f"n {found.n}", *([counted(found.units, "group")] if found.units < found.n else [])]
    if found.value == found.value and found.low != found.low:
        counts.append("no interval")
    elif found.method == "bootstrap" and 1 < found.units < FEW:
        counts.append("rough")
    return ", ".join(counts)


# What corrections gained: whether they did, then by which criteria, then how that came about.


MOST = 40  # criteria that are listed
NAME = 32  # characters of a criterion's name
FEW_QUERIES = 6  # queries of which no pattern of signs is rarer than 5 %, two-sided


def correction_gain(found: CorrectionGain) -> Iterator[Block]:
    """Whether the corrections gained, then by which criteria, then how that came about."""
    yield Para(_conclusion(found), "lead")
    yield from (Para(f"  {line}") for line in _responses(found))
    yield from (Para(f"note: {note}", "note") for note in _notes(found))
    if found.overall is not None:
        yield _table(found)
        yield Para(
            "points on 1-5; each text was scored alone. overall, low and others count a correction once, by the mean "
            f"over its criteria. {100 * found.confidence:g} % intervals by bootstrap over queries; p: sign test over "
            "queries, two-sided; Holm: for all criteria at once", "fine",
        )  # fmt: skip
    yield Para(f"corrected: {found.run_signature}", "fine", whole=True)
    yield Para(f"judged: {found.signature}", "fine", whole=True)


def _conclusion(found: CorrectionGain) -> str:
    one = found.overall
    if one is None or not one.n:
        return "Nothing can be said of the gain: no correction was scored beside its original."
    many = f"{counted(one.n, 'correction')} of {counted(one.queries, 'query', 'queries')}"
    verb = "raised" if one.gain.value > 0 else "lowered"
    start = f"The corrections {verb} the score" if found.is_shown else "No gain is shown"
    return f"{start}: {_signed(one)}, {many}; sign test p {chance(one.p)}."


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
    if one is not None and 0 < one.queries < FEW_QUERIES:
        rarest = 2 / 2**one.queries
        yield f"{counted(one.queries, 'query', 'queries')} only: p cannot fall below {rarest:.3g}, intervals are rough"
    if found.others is not None and found.others.gain.high < 0:
        yield "by criteria that had not scored low, the corrections are worse than their originals"
    yield from found.notes


def _table(found: CorrectionGain) -> Grid:
    head = (
        "criterion",
        "n",
        "before",
        "after",
        "gain",
        f"{100 * found.confidence:g} %",
        "up",
        "down",
        "even",
        "p",
        "Holm",
    )
    named = {"overall": "overall", "low": "  low before", "others": "  others"}
    rows = [_cells(one, named[one.criterion]) for one in (found.overall, found.low, found.others) if one is not None]
    rows += [_cells(one, one_line(one.criterion, NAME)) for one in found.criteria[:MOST]]
    left = max(0, len(found.criteria) - MOST)
    return Grid("", head, tuple(rows), frozenset(range(1, len(head))), left=left, rest=("criterion", "criteria"))


def _cells(one: Gain, name: str) -> tuple[str, ...]:
    return (
        name, f"{one.n:,}/{one.n + one.unread:,}" if one.unread else f"{one.n:,}", number_text(one.before),
        number_text(one.after), signed(one.gain.value), within(one.gain.low, one.gain.high, sign=True),
        f"{one.raised:,}", f"{one.lowered:,}", f"{one.even:,}", chance(one.p), chance(one.p_holm),
    )  # fmt: skip


def _signed(one: Gain) -> str:
    return f"{signed(one.gain.value)} {within(one.gain.low, one.gain.high, sign=True)}".strip()
