"""What the critics of a run did and whether it was worth its cost, on a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from judgegraph.meta.critic import Cost, CriticOf, CriticWorth, Gain, MeanGain, distribution
from judgegraph.views.screen import counted, plain, screen

if TYPE_CHECKING:
    from judgegraph.meta.critic import Review

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
