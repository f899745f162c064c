"""Two runs side by side on a terminal: what changed, which scores moved, why, and what it cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from judgegraph.meta.diff_moves import CAUSES, FEWEST, Change, Line, Move, SampleMoves
from judgegraph.views.screen import counted, plain, screen
from judgegraph.views.terminal_run import cut, more

if TYPE_CHECKING:
    from judgegraph.meta.run_diff import RunDiff

CHANGES, LINES, MOVES = 8, 40, 6  # of a cause, of the table, of a sample
AT = {"critic": "the drafts are equal", "draft": "already in the draft", "score": ""}


def print_diff(found: RunDiff, verdict: Sequence[str] = ()) -> None:
    """Print what moved and why; everything judged is made inert first.

    Args:
        verdict: lines that say which run is better, printed first.
    """
    console = screen()
    for line in verdict:
        console.print(plain(line), style="bold")
    for name, signature in zip("AB", found.signatures, strict=True):
        console.print(plain(f"{name}  {signature}"), style="dim", soft_wrap=True)
    _print_changes(console, found.changes)
    _samples(console, found)
    _lines(console, [line for line in found.lines.values() if line.causes or line.only_a or line.only_b])
    if found.causes:
        _why(console, found)
        _most(console, found)
    elif found.compared:
        console.print(plain("no score moved"), style="bold")
    else:
        console.print(plain("no score is in both runs: they have no criterion in common"), style="bold")
    _print_costs(console, found.cost)
    for note in found.notes:
        console.print(plain(f"note: {note}"), style="yellow")


def _print_changes(console: Console, changes: Sequence[Change]) -> None:
    console.print(plain("\nwhat changed" if changes else "\nnothing changed in the configurations"), style="bold")
    for cause in CAUSES:
        mine = [change for change in changes if change.cause == cause]
        for place, change in enumerate(mine[:CHANGES]):
            console.print(plain(f"  {cause if not place else '':<9} {change.line}"), soft_wrap=True)
        more(console, len(mine) - CHANGES, "change", indent=" " * 12)


def _samples(console: Console, found: RunDiff) -> None:
    parts = [f"{counted(found.samples, 'sample')} in both"]
    parts += [f"{n:,} only in {side}" for n, side in ((found.only_a, "A"), (found.only_b, "B")) if n]
    parts += [f"{found.data:,} with other content"] if found.data else []
    parts += [f"{found.labels:,} with other labels or meta alone"] if found.labels else []
    parts += [f"{found.moved:,} with a score that moved"] if found.moved else []
    console.print(plain(f"\n{', '.join(parts)}"))


def _lines(console: Console, lines: Sequence[Line]) -> None:
    if not lines:
        return
    columns = {
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
        "95 % interval": [_interval(line) for line in lines],
    }
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    shown = {name: cells[:LINES] for name, cells in columns.items() if any(cells)}
    for name in shown:
        table.add_column(name, justify="right" if name != "criterion" else "left", overflow="fold")
    for row in zip(*shown.values(), strict=True):
        table.add_row(*map(plain, row))
    console.print(table)
    more(console, len(lines) - LINES, "criterion", "criteria; --json has them all", indent="")
    if methods := " or ".join(dict.fromkeys(line.method for line in lines if line.method)):
        console.print(plain(f"intervals of the mean: {methods}"), style="dim")
    if few := sum(0 < len(line.shares or line.points) < FEWEST for line in lines):
        note = f"no interval for {few:,} of {len(lines):,}: fewer than {FEWEST} samples have two numbers"
        console.print(plain(note), style="dim")


def _why(console: Console, found: RunDiff) -> None:
    console.print(
        plain(f"\nwhy: {', '.join(f'{n:,} {cause}' for cause, n in found.causes.most_common())}"), style="bold"
    )
    if found.mixed:
        console.print(
            plain("  several things changed at once, and these runs cannot tell them apart: change one at a time")
        )
    noise = found.noise
    if noise.moves:
        size = f", on average by {100 * noise.mean_share:.1f} % of the scale" if noise.mean_share is not None else ""
        console.print(plain(f"  noise: nothing changed that {counted(noise.moves, 'move')} could come from{size}"))
    if noise.spread:
        note = f"{noise.within:,} of {noise.spread:,} are at most twice what the answers' own distributions let expect"
        console.print(plain(f"  {note}"))


def _most(console: Console, found: RunDiff) -> None:
    if found.most:
        console.print(plain("\nmost moved"), style="bold")
    for sample in found.most:
        _sample(console, sample)
    more(console, found.moved - len(found.most), "sample", "samples; --all lists them")


def _sample(console: Console, sample: SampleMoves) -> None:
    console.print(plain(f"  {cut(sample.id, 80)}{' (its content differs)' if sample.data else ''}"))
    shown = sample.moves[:MOVES]
    for name, move in zip(_names(shown), shown, strict=True):
        at = f", {AT[move.at]}" if AT[move.at] else ""
        console.print(plain(f"    {name}: {_answer(move.a)} -> {_answer(move.b)}{_size(move)}  {move.cause}{at}"))
        for side, reason in (("A", move.reason_a), ("B", move.reason_b)):
            if reason and move.reason_a != move.reason_b:
                console.print(plain(f"      {side}: {cut(reason, 86)}"), style="dim")
    more(console, len(sample.moves) - MOVES, "move", indent="    ")


def _size(move: Move) -> str:
    parts = [f"{move.change:+.2f}"] if move.change is not None else []
    if move.kind == "value" and move.share is not None:
        sign = "" if parts else "+"  # on two scales the share alone says which way it went
        parts.append(f"{100 * (move.share if sign else abs(move.share)):{sign}.0f} % of the scale")
    return f" ({', '.join(parts)})" if parts else ""


def _print_costs(console: Console, cost: Mapping[str, Mapping[str, float | None]]) -> None:
    sides = [f"{side} {_cost_amounts(cost[key])}" for side, key in (("A", "a"), ("B", "b"))]
    console.print(plain(f"\npaid for: {'; '.join(sides)}; difference {_cost_amounts(cost['difference'], sign='+')}"))


def _cost_amounts(cost: Mapping[str, float | None], sign: str = "") -> str:
    calls, usd = cost["calls"], cost["usd"]
    tokens = [cost[name] for name in ("prompt_tokens", "completion_tokens")]
    amounts = ["calls unknown" if calls is None else f"{calls:{sign},.0f} call{'' if abs(calls) == 1 else 's'}"]
    if None not in tokens:
        amounts.append(f"{sum(n or 0 for n in tokens):{sign},.0f} tokens")
    return ", ".join([*amounts, "USD unknown" if usd is None else f"{usd:{sign}.4f} USD"])


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
    return "" if math.isnan(line.mean) else f"{line.mean:+.3f}{unit}"


def _interval(line: Line) -> str:
    return "" if math.isnan(line.low) else f"[{line.low:+.3f}, {line.high:+.3f}]"


def _count(count: int) -> str:
    return f"{count:,}" if count else ""


def _answer(answer: float | str | None) -> str:
    return f"{answer:.2f}" if isinstance(answer, float) else cut(str(answer), 40)
