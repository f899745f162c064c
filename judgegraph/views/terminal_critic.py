"""What the critics of a run did and whether it was worth its cost, on a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from judgegraph.meta.critic import Cost, CriticOf, CriticWorth, Gain, MeanGain, distribution
from judgegraph.meta.diff_changes import CAUSES, Change
from judgegraph.meta.diff_moves import FEWEST, Line, Move, SampleMoves
from judgegraph.views.screen import counted, plain, screen
from judgegraph.views.terminal_run import cut, more

if TYPE_CHECKING:
    from judgegraph.meta.reviews import Review
    from judgegraph.meta.run_diff import RunDiff

LINES, SUGGESTED = 40, 5


def print_critic(worth: CriticWorth) -> None:
    """Print one section for each critic; everything judged is made inert first."""
    console = screen()
    for critic in worth.critics:
        console.print(plain(f"\ncritic {critic.critic} over {critic.reviewed}, {counted(critic.samples, 'sample')}"))
        _changes(console, critic.reviews)
        _rounds(console, critic)
        _advice(console, critic)
        _points(console, critic.reviews)
        _agreement(console, critic, worth.conventions.confidence)
        _cost(console, critic)


def _changes(console: Console, reviews: Sequence[Review]) -> None:
    """SAGEval's Table 1, with how far scores moved and how often the critic only repeats what it was shown."""
    columns: dict[str, list[str]] = {
        "criterion": [_name(r) for r in reviews],
        "n": [str(r.n) for r in reviews],
        "down": [str(r.down) for r in reviews],
        "up": [str(r.up) for r in reviews],
        "relabelled": [str(r.changed - r.up - r.down) for r in reviews],
        "mean down": [_mean(r.size_down, r.down) for r in reviews],
        "mean up": [_mean(r.size_up, r.up) for r in reviews],
        "echo": [_percent(r.n - r.changed, r.n) for r in reviews],
        "repeats": [_percent(r.repeated, r.reasons) for r in reviews],
        "definition": [str(r.definitions) for r in reviews],
    }
    if not any(r.changed - r.up - r.down for r in reviews):
        del columns["relabelled"]
    heads, rows = [*columns], [*zip(*columns.values(), strict=True)]
    _print(console, heads, rows[:LINES])
    if len(rows) > LINES:
        console.print(plain(f"and {len(rows) - LINES} more; --json has them all"))
    for word, count in (
        ("not asked about", sum(r.not_asked for r in reviews)), ("failed", sum(r.failed for r in reviews)),
        ("unreadable drafts", sum(r.unread for r in reviews)),
    ):  # fmt: skip
        if count:
            console.print(plain(f"{word}: {counted(count, 'score')}, counted nowhere above"))


def _rounds(console: Console, critic: CriticOf) -> None:
    rounds = [f"{changed} of {n} in round {number}" for number, (n, changed) in sorted(critic.rounds.items())]
    if rounds:
        console.print(plain(f"changed {', '.join(rounds)}"))


def _advice(console: Console, critic: CriticOf) -> None:
    if not critic.new_criteria:
        return
    names = [f"{name} ({count})" for name, count in list(critic.new_criteria.items())[:SUGGESTED]]
    more = len(critic.new_criteria) - SUGGESTED
    console.print(plain(f"new criteria suggested: {', '.join(names)}{f', and {more} more' if more > 0 else ''}"))


def _points(console: Console, reviews: Sequence[Review]) -> None:
    """SAGEval's Figure 3a, over all criteria of one scale together."""
    for scale in dict.fromkeys(str(r.scale) for r in reviews):
        rows = distribution(tuple(r for r in reviews if str(r.scale) == scale))
        points = list(dict.fromkeys(row["point"] for row in rows))
        sums = [[sum(row[side] for row in rows if row["point"] == p) for p in points] for side in ("draft", "final")]
        moves = ", ".join(f"{p}: {draft}>{final}" for p, draft, final in zip(points, *sums, strict=True))
        console.print(plain(f"drafts > finals at each point of {scale}: {moves}"))


def _agreement(console: Console, critic: CriticOf, confidence: float) -> None:
    if not critic.gains:
        console.print(plain("agreement with people: no human labels by these criteria"))
        return
    levels = ", ".join(dict.fromkeys(f"{gain.level} level" for gain in critic.gains if gain.level))
    console.print(plain(f"agreement with people before and after the critic{f', {levels}' if levels else ''}:"))
    interval = f"{100 * confidence:g} % interval"
    heads = ("criterion", "statistic", "n", "before", "after", "difference", interval, "p", "corrected")
    shown = [gain for gain in critic.gains if not math.isnan(gain.difference)]
    _print(console, heads, [_gain(gain) for gain in shown[:LINES]])
    if len(shown) > LINES:
        console.print(plain(f"and {len(shown) - LINES} more; --json has them all"))
    for note in dict.fromkeys(gain.note for gain in critic.gains if gain.note):
        whose = ", ".join(f"{gain.criterion} ({gain.statistic})" for gain in critic.gains if gain.note == note)
        console.print(plain(f"{whose}: {note}"))
    if any(gain.unit not in ("", "item") for gain in shown):
        console.print(plain("intervals draw whole groups or systems; p exchanges draft and final of a group as one"))


def _gain(gain: Gain) -> tuple[str, ...]:
    counts = f"{gain.n} in {gain.units}" if 0 < gain.units < gain.n else str(gain.n)
    return (
        gain.criterion, gain.statistic, counts, _number(gain.before), _number(gain.after),
        _signed(gain.difference), _within(gain), _number(gain.p), _number(gain.p_corrected),
    )  # fmt: skip


def _within(ends: Gain | MeanGain) -> str:
    return "-" if math.isnan(ends.low) else f"[{_signed(ends.low)}, {_signed(ends.high)}]"


def _cost(console: Console, critic: CriticOf) -> None:
    if critic.together and critic.reviewed != critic.together[0]:
        console.print(plain(f"cost of the critic: with that over {critic.together[0]}"))
    elif critic.cost is None:
        console.print(plain("cost of the critic: the run's manifest does not tell it"))
    else:
        whose = f" over {' and '.join(critic.together)} together" if critic.together else ""
        console.print(plain(f"cost of the critic{whose}: {_amounts(critic.cost)}"))
        if critic.cost.found:
            line = (
                f"{critic.cost.found:,} of these calls were not paid for here, but count as the others do: it is what"
            )
            line += f" all would cost; paid here: {_amounts(replace(critic.cost.spent, share=None))}"
            console.print(plain(f"  {line}"))
    points = critic.per_point()
    for name, mean in critic.means.items():
        price = f"; a point (0.01) came to {_per(points[name])}" if name in points else ""
        price = price if mean.is_above_zero else f"; {mean.note}, so a point has no price"
        console.print(plain(f"  mean gain, {name}: {_signed(mean.value)} {_within(mean)}{price}"))


def _amounts(cost: Cost) -> str:
    amounts = [counted(cost.calls, "call")]
    if cost.prompt_tokens is not None and cost.completion_tokens is not None:
        amounts.append(f"{cost.prompt_tokens + cost.completion_tokens:,.0f} tokens")
    amounts.append("USD unknown" if cost.usd is None else f"{cost.usd:.4f} USD")
    share = f" ({100 * cost.share:.0f} % of the run's calls)" if cost.share is not None else ""
    return ", ".join(amounts) + share


def _per(amounts: dict[str, float | None]) -> str:
    tokens = [amounts[name] for name in ("prompt_tokens", "completion_tokens")]
    amounts_per = [f"{amounts['calls']:,.1f} calls"]
    if None not in tokens:
        amounts_per.append(f"{sum(t or 0 for t in tokens):,.0f} tokens")
    return ", ".join([*amounts_per, *([f"{usd:.4f} USD"] if (usd := amounts["usd"]) is not None else [])])


def _print(console: Console, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for place, head in enumerate(heads):
        table.add_column(head, justify="right" if place else "left", overflow="fold", no_wrap=bool(place))
    for row in rows:
        table.add_row(*map(plain, row))
    console.print(table)


def _name(review: Review) -> str:
    return review.criterion + (" (rival)" if review.of == "rival" else "")


def _mean(total: float, count: int) -> str:
    return f"{total / count:.2f}" if count else ""


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else ""


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.3f}"


def _signed(value: float) -> str:
    return "" if math.isnan(value) else f"{value:+.3f}"


# Two runs side by side on a terminal: what changed, which scores moved, why, and what it cost.


CHANGES, PRINT_DIFF_LINES, MOVES = 8, 40, 6  # of a cause, of the table, of a sample
AT = {"critic": "the drafts are equal", "draft": "already in the draft", "score": ""}


def print_diff(found: RunDiff) -> None:
    """Print what moved and why; everything judged is made inert first."""
    console = screen()
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
    shown = {name: cells[:PRINT_DIFF_LINES] for name, cells in columns.items() if any(cells)}
    for name in shown:
        table.add_column(name, justify="right" if name != "criterion" else "left", overflow="fold")
    for row in zip(*shown.values(), strict=True):
        table.add_row(*map(plain, row))
    console.print(table)
    more(console, len(lines) - PRINT_DIFF_LINES, "criterion", "criteria; --json has them all", indent="")
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
        parts.append(f"{100 * abs(move.share):.0f} % of the scale")
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
