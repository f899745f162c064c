"""Two runs side by side: what changed, which scores moved, why, and what it cost."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from judgegraph.meta.diff_moves import CAUSES, Change, Line, Move, SampleMoves
from judgegraph.meta.run_diff import RunDiff
from judgegraph.stats.bootstrap import MEAN_LEAST
from judgegraph.views.amounts import counted, money, number_text, signed, within
from judgegraph.views.blocks import Block, Para, columns
from judgegraph.views.notebook import lays_out
from judgegraph.views.sample import cut

CHANGES, LINES, MOVES = 8, 40, 6  # of a cause, of the table, of a sample
AT = {"critic": "the drafts are equal", "draft": "already in the draft", "score": ""}
CRITERIA = ("criterion", "criteria")
NOT_TOLD = "which of them is better is not told"


@lays_out(RunDiff)
def diff(found: RunDiff, verdict: Sequence[str] = ()) -> Iterator[Block]:
    """What moved and why.

    Args:
        verdict: lines that say which run is better; they stand first.
    """
    if found.compared and not found.causes:  # alike: nothing is better than the other
        yield Para(_alike(found), "lead")
        yield from (Para(line, "note") for line in verdict if line.startswith(NOT_TOLD))
    else:
        yield from (Para(line, "lead") for line in verdict)
        yield Para(_samples(found), "" if verdict else "lead")
    lines = [line for line in found.lines.values() if line.causes or line.only_a or line.only_b]
    if lines:
        yield from _lines(lines)
    if found.causes:
        yield from _why(found)
    elif not found.compared:
        yield Para("no score is in both runs: they have no criterion in common", "lead")
    yield from _changes(found.changes)
    if found.causes:
        yield from _most(found)
    yield from _costs(found.cost)
    yield from (Para(f"note: {note}", "note") for note in found.notes)
    for name, signature in zip("AB", found.signatures, strict=True):
        yield Para(f"{name}  {signature}", "fine", whole=True)


def _changes(changes: Sequence[Change]) -> Iterator[Block]:
    yield Para("what changed" if changes else "nothing changed in the configurations", "title")
    for cause in CAUSES:
        mine = [change for change in changes if change.cause == cause]
        for place, change in enumerate(mine[:CHANGES]):
            yield Para(f"  {cause if not place else '':<9} {change.line}", whole=True)
        yield from _more(len(mine) - CHANGES, "change", indent=" " * 12)


def _samples(found: RunDiff) -> str:
    parts = [f"{counted(found.samples, 'sample')} in both"]
    parts += [f"{n:,} only in {side}" for n, side in ((found.only_a, "A"), (found.only_b, "B")) if n]
    parts += [f"{found.data:,} with other content"] if found.data else []
    parts += [f"{found.labels:,} with other labels or meta alone"] if found.labels else []
    parts += [f"{found.moved:,} with a score that moved"] if found.moved else []
    return ", ".join(parts)


def _alike(found: RunDiff) -> str:
    """What two runs are of which no score differs."""
    _, *others = _samples(found).split(", ")
    behind = f"; {', '.join(others)}" if others else ""
    return f"no score moved on {counted(found.samples, 'sample')} that both runs have{behind}"


def _lines(lines: Sequence[Line]) -> Iterator[Block]:
    yield columns("", {
        "criterion": _names(lines),
        "n": [f"{line.n:,}" for line in lines],
        "moved": [f"{line.moved:,}" for line in lines],
        "up": [_count(line.up) for line in lines],
        "down": [_count(line.down) for line in lines],
        "changed": [_count(line.changed) for line in lines],
        "flips": [_count(line.flips) for line in lines],
        "lost": [_count(line.lost) for line in lines],
        "gained": [_count(line.gained) for line in lines],
        "only A": [_count(line.only_a) for line in lines],
        "only B": [_count(line.only_b) for line in lines],
        "mean difference": [_mean_move(line) for line in lines],
        "95 % interval": [within(line.low, line.high, sign=True) for line in lines],
    }, most=LINES, rest=CRITERIA)  # fmt: skip
    if methods := " or ".join(dict.fromkeys(line.method for line in lines if line.method)):
        yield Para(f"intervals of the mean: {methods}", "fine")
    if few := sum(0 < len(line.shares or line.points) < MEAN_LEAST for line in lines):
        yield Para(
            f"no interval for {few:,} of {len(lines):,}: fewer than {MEAN_LEAST} samples have two numbers", "fine"
        )


def _why(found: RunDiff) -> Iterator[Block]:
    yield Para(f"why: {', '.join(f'{n:,} {cause}' for cause, n in found.causes.most_common())}", "title")
    if found.mixed:
        yield Para("  several things changed at once, and these runs cannot tell them apart: change one at a time")
    noise = found.noise
    if noise.moves:
        size = f", on average by {100 * noise.mean_share:.1f} % of the scale" if noise.mean_share is not None else ""
        yield Para(f"  noise: nothing changed that {counted(noise.moves, 'move')} could come from{size}")
    if noise.spread:
        of = f"{noise.within:,} of {noise.spread:,}"
        yield Para(f"  {of} are at most twice what the answers' own distributions let expect")


def _most(found: RunDiff) -> Iterator[Block]:
    if found.most:
        yield Para("most moved", "title")
    for sample in found.most:
        yield from _sample(sample)
    yield from _more(found.moved - len(found.most), "sample", "samples; --all lists them")


def _sample(sample: SampleMoves) -> Iterator[Block]:
    yield Para(f"  {cut(sample.id, 80)}{' (its content differs)' if sample.data else ''}")
    shown = sample.moves[:MOVES]
    for name, move in zip(_names(shown), shown, strict=True):
        at = f", {AT[move.at]}" if AT[move.at] else ""
        yield Para(f"    {name}: {_answer(move.a)} -> {_answer(move.b)}{_size(move)}  {move.cause}{at}")
        for side, reason in (("A", move.reason_a), ("B", move.reason_b)):
            if reason and move.reason_a != move.reason_b:
                yield Para(f"      {side}: {cut(reason, 86)}", "fine")
    yield from _more(len(sample.moves) - MOVES, "move", indent="    ")


def _more(count: int, one: str, many: str = "", indent: str = "  ") -> Iterable[Block]:
    """A list that is cut says so."""
    rest = counted(count, f"more {one}", f"more {many or one + 's'}")
    return [Para(f"{indent}and {rest}")] if count > 0 else []


def _size(move: Move) -> str:
    parts = [signed(move.change)] if move.change is not None else []
    if move.kind == "value" and move.share is not None:
        sign = "" if parts else "+"  # on two scales the share alone says which way it went
        parts.append(f"{100 * (move.share if sign else abs(move.share)):{sign}.0f} % of the scale")
    return f" ({', '.join(parts)})" if parts else ""


def _costs(cost: Mapping[str, Mapping[str, float | None]]) -> Iterator[Block]:
    sides = [f"{side} {_amounts(cost[key])}" for side, key in (("A", "a"), ("B", "b"))]
    yield Para(f"\npaid for: {'; '.join(sides)}; difference {_amounts(cost['difference'], sign='+')}")


def _amounts(cost: Mapping[str, float | None], sign: str = "") -> str:
    calls, usd = cost["calls"], cost["usd"]
    tokens = [cost[name] for name in ("prompt_tokens", "completion_tokens")]
    amounts = ["calls unknown" if calls is None else f"{calls:{sign},.0f} call{'' if abs(calls) == 1 else 's'}"]
    if None not in tokens:
        amounts.append(f"{sum(n or 0 for n in tokens):{sign},.0f} tokens")
    return ", ".join([*amounts, money(usd) if usd is None or usd < 0 else f"{sign}{money(usd)}"])


def _names(rows: Sequence[Line] | Sequence[Move]) -> list[str]:
    """Criterion, side and repeat of each row, and the agent where several judged the same."""
    names = [_row_name(row) for row in rows]
    agents = [cut(row.agent, 60) for row in rows]
    return [
        f"{name} ({agent})" if names.count(name) > 1 and agent else name
        for name, agent in zip(names, agents, strict=True)
    ]


def _row_name(row: Line | Move) -> str:
    if not row.criterion:
        return "verdict over all"
    marks = [" (rival)"] if row.of == "rival" else []
    marks += [f" [{cut(row.stage, 40)}]"] if row.stage not in ("", "final", "draft") and row.kind != "verdict" else []
    marks += [" (verdict)"] if row.kind == "verdict" else []
    return "".join([cut(row.criterion, 60), *marks, *([f" ({row.repeat + 1})"] if row.repeat else [])])


def _mean_move(line: Line) -> str:
    unit = " of the scale" if line.unit == "share" else ""
    return "" if math.isnan(line.mean) else f"{signed(line.mean)}{unit}"


def _count(count: int) -> str:
    return f"{count:,}" if count else ""


def _answer(answer: float | str | None) -> str:
    return number_text(answer) if isinstance(answer, float) else cut(str(answer), 40)
