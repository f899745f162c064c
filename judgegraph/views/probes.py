"""What probes found of a judge's biases: exchanged order, padded copies, its own outputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from judgegraph.errors import one_line, status_text
from judgegraph.meta.probes import Change, OwnModel, Padded, Probes, Swapped
from judgegraph.meta.result import FEW, Measured
from judgegraph.runs.item import lacks_of
from judgegraph.views.blocks import NONE, Block, Grid, Para, chance, columns, counted, number_text, signed, within
from judgegraph.views.run import costs

if TYPE_CHECKING:
    from judgegraph.meta.corrected import CorrectionGain, Gain

LINES, FAILURES, NAMED = 60, 5, 3  # rows; reasons; criteria in a sentence
ENDS = {"over_budget": "the budget ended it before all were judged", "stopped": "it was stopped before all were judged"}


def probes(found: Probes) -> Iterator[Block]:
    """What is shown of each probe that was asked for, then its numbers, and what they rest on."""
    yield from biases(found.swap, found.padded, found.own, found.confidence)
    if any(one.method == "bootstrap" and 1 < one.units < FEW for one in _numbers(found)):
        yield Para(f"rough: an interval drawn from fewer than {FEW} is too narrow", "note")
    if found.state in ENDS:
        yield Para(ENDS[found.state], "bad")
    for (status, reason), count in list(found.failures.items())[:FAILURES]:
        yield Para(f"{count:,} ended early ({status_text(status)}): {one_line(reason, 500)}", "bad")
    if len(found.failures) > FAILURES:
        yield Para(f"and {counted(len(found.failures) - FAILURES, 'more reason')}; --json has them")
    copies = counted(found.copies, "copy", "copies")
    judged = f"{found.judged:,} of {found.samples + found.copies:,} judged"
    spent = costs({"calls": found.calls, "spent": found.spent})
    yield Para("\n" + ", ".join([f"{counted(found.samples, 'sample')} and {copies}", judged, *spent]))
    yield Para(found.signature, "fine", whole=True)
    yield from (Para(lack, "note") for lack in lacks_of({"calls": found.calls}))


def _numbers(found: Probes) -> Iterable[Measured]:
    """Those that are drawn: means and what is between systems."""
    own, changes = found.own, found.padded.changes if found.padded else ()
    held = [change.mean for change in changes] + ([own.people_exact, own.judge_exact] if own else [])
    return [one for one in held if one is not None]


def biases(
    swap: Swapped | None, padded: Padded | None, own: OwnModel | None = None, confidence: float = 0.95
) -> Iterator[Block]:
    """A sentence for each probe that was made, then a table for each; None where it was not."""
    said = [_of_order(swap)] if swap is not None else []
    said += _of_length(padded) if padded is not None else []
    said += [_of_itself(own)] if own is not None else []
    yield from (Para(line, "lead") for line in said)
    ends = f"{100 * confidence:g} % interval"
    if swap is not None and not swap.note:
        yield _shares("each pair exchanged", "what", ends, {
            "the verdict changes": swap.flips, "the winner becomes the loser": swap.reversed,
            "the one shown first wins, where one wins (even: 50 %)": swap.first,
        })  # fmt: skip
    if swap is not None and swap.unread:
        yield Para(f"left out: {counted(swap.unread, 'pair')} without a verdict in both orders", "note")
    if padded is not None and padded.wins:
        wins = {f"{kind}{_left_out(padded.unread.get(kind, 0), 'pair')}": won for kind, won in padded.wins.items()}
        yield _shares("padded copies, each against its original (even: 50 %)", "padding", ends, wins, "copy wins")
    if padded is not None and padded.changes:
        yield _changes(padded.changes, ends)
    if own is not None and own.people_exact is not None and own.judge_exact is not None:
        yield _own(own, ends)


def _of_order(found: Swapped) -> str:
    if found.note:
        return f"order: {found.note}"
    first, changes = found.first, f"the verdict changes in {_share(found.flips)} of {counted(found.n, 'pair')}"
    if first.low > 0.5 or first.high < 0.5:
        side = "first" if first.low > 0.5 else "second"
        return f"order: the one shown {side} wins more often than it should; {changes}"
    return f"order: no preference for a side is shown; {changes}"


def _of_length(found: Padded) -> list[str]:
    """Of verdicts and of scores: what wins or rises with a padding that says no more."""
    said = [f"length: {found.note}"] if found.note else []
    if found.wins:
        won = [f"{kind} {_share(one)}" for kind, one in found.wins.items() if one.low > 0.5]
        what = f"padded copies beat their originals ({', '.join(won)})" if won else "no padded copy wins more than half"
        said.append(f"length: {what}")
    means = [(one, one.mean) for one in found.changes if one.mean is not None]
    if means:
        rose, fell = [one for one, mean in means if mean.low > 0], [one for one, mean in means if mean.high < 0]
        named = ", ".join(f"{one.criterion} ({one.kind})" for one in rose[:NAMED])
        named += f" and {len(rose) - NAMED} more" if len(rose) > NAMED else ""
        what = f"scores rise with padding for {named}" if rose else "no score is shown to rise with padding"
        said.append(
            f"length: {what}; of {counted(len(means), 'mean change')} {len(rose)} up, {len(fell)} down for sure"
        )
    return said


def _of_itself(found: OwnModel) -> str:
    if found.note or found.people_exact is None or found.judge_exact is None:
        return f"own model: {found.note}"
    if found.biased:
        return "own model: its outputs score otherwise than people say: a bias, unless people have it"
    return "own model: no bias is shown, which takes both intervals on one side of 0"


def _shares(caption: str, what: str, ends: str, rows: Mapping[str, Measured], share: str = "share") -> Grid:
    found = [*rows.values()]
    return columns(caption, {
        what: [*rows], share: [_share(one) for one in found], ends: [_share_ends(one) for one in found],
        "n": [_counts(one) for one in found],
    })  # fmt: skip


def _changes(changes: Sequence[Change], ends: str) -> Grid:
    """A row for each criterion and padding; of labels the share that became another one."""
    agents = {(one.criterion, one.agent) for one in changes}
    several = len({criterion for criterion, _ in agents}) < len(agents)
    means = [one.mean or one.relabelled for one in changes]
    return columns("padded copies: longer, and they say no more", {
        "criterion": [one.criterion for one in changes],
        "agent": [one.agent if several else "" for one in changes],
        "padding": [one.kind + _left_out(one.unread, "sample") for one in changes],
        "scale": [str(one.scale) if one.scale and not one.scale.labels else "" for one in changes],
        "mean change": [
            signed(one.mean.value) if one.mean else f"{_share(one.relabelled)} relabelled" for one in changes
        ],
        ends: [
            "" if mean is None else within(mean.low, mean.high, sign=True) if one.mean else _share_ends(mean)
            for one, mean in zip(changes, means, strict=True)
        ],
        "raised": [_share(one.raised) if one.raised else "" for one in changes],
        "lowered": [_share(one.lowered) if one.lowered else "" for one in changes],
        "n": [_counts(mean) if mean else "0" for mean in means],
    }, texts=("agent", "padding", "scale"), names=1, most=LINES, spare=("scale",))  # fmt: skip


def _own(found: OwnModel, ends: str) -> Grid:
    rows = {"if people's scores are exact": found.people_exact, "if the judge's are": found.judge_exact}
    held = {name: one for name, one in rows.items() if one is not None}
    many = f"{', '.join(found.own)}: {counted(found.n_own, 'score')}, against {counted(found.n_other, 'other')}"
    return columns(f"higher than others that people score alike ({many})", {
        "what": [*held], "standard deviations of the judge's scores": [signed(one.value) for one in held.values()],
        ends: [within(one.low, one.high, sign=True) for one in held.values()],
        "n": [_counts(one) for one in held.values()],
    })  # fmt: skip


def _left_out(unread: int, what: str) -> str:
    return f" ({counted(unread, what)} left out)" if unread else ""


def _share(found: Measured | None) -> str:
    return NONE if found is None or not found.n or found.value != found.value else f"{100 * found.value:.0f} %"


def _share_ends(found: Measured) -> str:
    return "" if found.low != found.low else f"[{100 * found.low:.0f} %, {100 * found.high:.0f} %]"


def _counts(found: Measured) -> str:
    """What it rests on, and where that is too little for its interval."""
    counts = [f"{found.n:,}", *([counted(found.units, "group")] if found.units < found.n else [])]
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
        yield _gains(found)
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


def _gains(found: CorrectionGain) -> Grid:
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
