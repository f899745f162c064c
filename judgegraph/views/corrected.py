"""What corrections gained: whether they did, then by which criteria, then how that came about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from judgegraph.errors import one_line
from judgegraph.meta.corrected import CorrectionGain, Gain
from judgegraph.views.amounts import chance, counted, number_text, signed, within
from judgegraph.views.blocks import Block, Grid, Para

MOST = 40  # criteria that are listed
NAME = 32  # characters of a criterion's name
FEW = 6  # queries of which no pattern of signs is rarer than 5 %, two-sided


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
    if one is not None and 0 < one.queries < FEW:
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
