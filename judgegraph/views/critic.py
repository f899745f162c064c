"""What the critics of a run did, and whether it was worth its cost (SAGEval, arXiv:2411.16077: Table 1, Figure 3a)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from judgegraph.errors import one_line
from judgegraph.meta.criterion_worth import CriteriaWorth
from judgegraph.meta.critic import Cost, CriticOf, CriticWorth, Gain, MeanGain, Review, distribution, reviewer
from judgegraph.runs.suggestions import LETTERS, Suggestions, Topic
from judgegraph.views.blocks import (
    COEFFICIENT,
    NONE,
    Block,
    Grid,
    Para,
    chance,
    columns,
    counted,
    money,
    number_text,
    percent,
    signed,
    valued,
    within,
)
from judgegraph.views.notebook import lays_out

LINES, SUGGESTED = 40, 5
CRITERIA = ("criterion", "criteria")
LEFT_OUT = {  # of a review -> what its scores are
    "not_asked": "the {} was not asked about", "failed": "failed", "unread": "of drafts that could not be read",
}  # fmt: skip


@lays_out(CriticWorth)
def critic_worth(found: CriticWorth) -> Iterator[Block]:
    """A part for each critic: what it changed, whether that brought the scores closer to people, and its cost."""
    for critic in found.critics:
        who = reviewer(critic.reviews)
        name = critic.critic if who == "critic" else f"of {critic.critic}"
        yield Para(f"{who} {name} over {critic.reviewed}, {counted(critic.samples, 'sample')}", "title")
        yield from changes(critic.reviews)
        if rounds := [f"{changed:,} of {n:,} in round {at}" for at, (n, changed) in sorted(critic.rounds.items())]:
            yield Para(f"changed {', '.join(rounds)}")
        yield from _advice(critic)
        yield from _points(critic.reviews)
        if critic.gains:
            yield from gains(critic, found.conventions.confidence)
        else:
            yield Para("agreement with people: no human labels by these criteria")
        yield from cost(critic)


def changes(reviews: Sequence[Review], caption: str = "") -> Iterator[Block]:
    """A row per criterion: how many scores it left, lowered and raised, by how much; of several one for all."""
    rows = [*reviews, _total(reviews)] if len(reviews) > 1 else [*reviews]
    yield columns(caption, {
        "criterion": [r.criterion + (" (rival)" if r.of == "rival" else "") for r in rows],
        "n": [f"{r.n:,}" for r in rows],
        "down": [f"{r.down:,}" for r in rows],
        "up": [f"{r.up:,}" for r in rows],
        "relabelled": [f"{n:,}" if (n := r.changed - r.up - r.down) else "" for r in rows],
        "kept": [percent(r.n - r.changed, r.n) for r in rows],
        "change": [_mean(r.size_up - r.size_down, r.n) if r.up or r.down else "" for r in rows],
        "mean down": [_mean(-r.size_down, r.down) for r in rows],
        "mean up": [_mean(r.size_up, r.up) for r in rows],
        "repeats": [percent(r.repeated, r.reasons) for r in rows],
        "definitions": [f"{r.definitions:,}" if r.definitions else "" for r in rows],
    }, most=LINES + 1, rest=CRITERIA, spare=("repeats", "definitions"))  # fmt: skip
    who = reviewer(reviews)
    for name, what in LEFT_OUT.items():
        if count := sum(getattr(r, name) for r in reviews):
            many = f"{counted(count, 'score')} ({what.format(who)})"
            yield Para(f"{many} {'counts' if count == 1 else 'count'} nowhere above")


def _total(reviews: Sequence[Review]) -> Review:
    total = Review("", "", "all", "output")
    for name in ("n", "changed", "up", "down", "size_up", "size_down", "definitions", "repeated", "reasons"):
        setattr(total, name, sum(getattr(review, name) for review in reviews))
    return total


def _mean(total: float, count: int) -> str:
    return signed(total / count) if count else ""


def _advice(critic: CriticOf) -> Iterator[Block]:
    if critic.new_criteria:
        names = [f"{name} ({count:,})" for name, count in list(critic.new_criteria.items())[:SUGGESTED]]
        more = len(critic.new_criteria) - SUGGESTED
        yield Para(f"new criteria suggested: {', '.join(names)}{f', and {more:,} more' if more > 0 else ''}")


def _points(reviews: Sequence[Review]) -> Iterator[Block]:
    """Over all criteria of one scale together."""
    for scale in dict.fromkeys(str(r.scale) for r in reviews):
        rows = distribution(tuple(r for r in reviews if str(r.scale) == scale))
        points = list(dict.fromkeys(row["point"] for row in rows))
        sums = [[sum(row[side] for row in rows if row["point"] == p) for p in points] for side in ("draft", "final")]
        moves = ", ".join(f"{p}: {draft:,}>{final:,}" for p, draft, final in zip(points, *sums, strict=True))
        yield Para(f"drafts > finals at each point of {scale}: {moves}")


# What it was worth: agreement with people before and after.


UNMOVED = "unmoved"


def gains(critic: CriticOf, confidence: float, caption: str = "", tested: bool = True) -> Iterator[Block]:
    """A row per criterion and statistic; p only where it is asked for (`tested`), and one was drawn."""
    levels = ", ".join(dict.fromkeys(gain.level for gain in critic.gains if gain.level))
    level = f", {levels} level" if levels else ""
    shown = [gain for gain in critic.gains if not math.isnan(gain.difference)]
    moved = {review.criterion for review in critic.reviews if review.changed}
    still = [gain.criterion not in moved and not gain.difference for gain in shown]  # nothing there to be tested
    tested = tested and any(not math.isnan(gain.p) for gain in shown)
    apart = any(gain.p_corrected != gain.p for gain in shown if not math.isnan(gain.p))  # else it is told once
    yield columns(caption or f"agreement with people before and after the {reviewer(critic.reviews)}{level}", {
        "criterion": [gain.criterion for gain in shown],
        "statistic": [gain.statistic for gain in shown],
        "n": [_counts(gain) for gain in shown],
        "before": [number_text(gain.before, COEFFICIENT) for gain in shown],
        "after": [number_text(gain.after, COEFFICIENT) for gain in shown],
        "difference": [
            UNMOVED if same else signed(gain.difference, COEFFICIENT) for gain, same in zip(shown, still, strict=True)
        ],
        f"{100 * confidence:g} % interval": [
            "" if same else _within(gain) for gain, same in zip(shown, still, strict=True)
        ],
        "p": [
            chance(gain.p, gain.p_is_least) if tested and not same else ""
            for gain, same in zip(shown, still, strict=True)
        ],
        "corrected": [
            chance(gain.p_corrected, gain.p_is_least) if tested and apart and not same else ""
            for gain, same in zip(shown, still, strict=True)
        ],
    }, names=2, most=LINES, spare=("p", "n", "before") if apart else ("n",))  # fmt: skip
    for note in dict.fromkeys(gain.note for gain in critic.gains if gain.note):
        whose = ", ".join(f"{gain.criterion} ({gain.statistic})" for gain in critic.gains if gain.note == note)
        if said := note if tested else "; ".join(x for x in note.split("; ") if "p cannot fall below" not in x):
            yield Para(f"{whose}: {said}")
    if any(gain.unit not in ("", "item") for gain in shown):
        exchanged = "; p exchanges draft and final of a group as one" if tested else ""
        yield Para(f"intervals draw whole groups or systems{exchanged}", "fine")


def _counts(gain: Gain) -> str:
    return f"{gain.n:,} in {gain.units:,}" if 0 < gain.units < gain.n else f"{gain.n:,}"


def _within(ends: Gain | MeanGain) -> str:
    return within(ends.low, ends.high, COEFFICIENT, sign=True) or NONE


def cost(critic: CriticOf) -> Iterator[Block]:
    """What its calls cost, and what a point of agreement came to."""
    cost = f"cost of the {reviewer(critic.reviews)}"
    if critic.together and critic.reviewed != critic.together[0]:
        yield Para(f"{cost}: with that over {critic.together[0]}")
    elif critic.cost is None:
        yield Para(f"{cost}: the run's manifest does not tell it")
    else:
        whose = f" over {' and '.join(critic.together)} together" if critic.together else ""
        yield Para(f"{cost}{whose}: {cost_text(critic.cost)}")
    points = critic.per_point()
    for name, line in zip(critic.means, mean_gains(critic), strict=True):
        price = f"; a point (0.01) came to {_per(points[name])}" if name in points else ""
        priced = price if critic.means[name].is_above_zero else ", so a point has no price"
        yield Para(f"  {line}{priced}")
    if (split := split_verdict(critic)) is not None:
        yield Para(f"  {split}", "note")


def mean_gains(critic: CriticOf) -> Iterator[str]:
    """The gain of each statistic over all criteria, with why it is none."""
    for name, mean in critic.means.items():
        note = "" if mean.is_above_zero else f"; {mean.note}"
        yield f"mean gain, {name}: {signed(mean.value, COEFFICIENT)} {_within(mean)}{note}"


PLAIN = {"spearman": "rank correlation", "pearson": "Pearson's correlation", "kendall-b": "Kendall's tau-b"}


def split_verdict(critic: CriticOf) -> str | None:
    """Which statistics say what of the critic, where they do not say the same; None where they do."""
    by: dict[str, list[str]] = {}
    for name, mean in critic.means.items():
        what = "it brought them closer" if mean.low > 0 else "it took them further" if mean.high < 0 else "neither way"
        by.setdefault(what, []).append(f"{PLAIN.get(name, name)} ({signed(mean.value, COEFFICIENT)} {_within(mean)})")
    if len(by) < 2:
        return None
    return "statistics differ: " + "; ".join(f"by {' and '.join(names)} {what}" for what, names in by.items())


def cost_text(cost: Cost) -> str:
    """What was paid; where the replies to some calls were there already, also what all would have cost."""
    share = f" ({percent(cost.share, 1)} of the run's paid calls)" if cost.share is not None else ""
    if not cost.calls:
        return "nothing, as it made no model call"
    if not cost.found:
        return _amounts(cost) + share
    if cost.found == cost.calls:
        return f"nothing paid here, as the replies to all of its {counted(cost.calls, 'call')} were there already"
    return (
        f"{_amounts(cost.spent)} paid here{share}; the replies to {cost.found:,} more were there already, without "
        f"which it would be about {_amounts(cost)}"
    )


def _amounts(cost: Cost) -> str:
    amounts = [counted(cost.calls, "call")]
    if cost.prompt_tokens is not None and cost.completion_tokens is not None:
        amounts.append(f"{cost.prompt_tokens + cost.completion_tokens:,.0f} tokens")
    return ", ".join([*amounts, money(cost.usd)])


def _per(amounts: dict[str, float | None]) -> str:
    tokens = [amounts[name] for name in ("prompt_tokens", "completion_tokens")]
    parts = [f"{amounts['calls']:,.1f} calls"]
    if None not in tokens:
        parts.append(f"{sum(t or 0 for t in tokens):,.0f} tokens")
    return ", ".join([*parts, *([money(usd)] if (usd := amounts["usd"]) is not None else [])])


# What critics suggest, by topic (SAGEval, arXiv:2411.16077, Figure 4); and whether a criterion earned its place.


MOST, MEMBERS = 20, 4  # topics that are listed; names of one
KINDS = (("criterion", "new criteria"), ("definition", "changed definitions"))


def suggestions(found: Suggestions, every: bool = False) -> Iterator[Block]:
    """How many topics there are, then each kind's, and what they rest on.

    Args:
        every: all topics, not the first of them alone.
    """
    yield Para(conclusion(found), "lead")
    for kind, title in KINDS:
        if topics := found.of_kind(kind):
            yield topic_table(title, topics, found.samples, len(topics) if every else MOST)
    yield from (Para(f"note: {line}", "note") for line in _notes(found))
    if found.signature:
        yield Para(found.signature, "fine", whole=True)


def conclusion(found: Suggestions) -> str:
    if not found.topics:
        return f"No critic suggests anything, over {counted(found.samples, 'sample')}."
    new, changed = (counted(len(found.of_kind(kind)), "topic") for kind, _ in KINDS)
    first = found.topics[0]
    most = f"{first.kind if first.kind == 'criterion' else 'definition of'} '{one_line(first.label, 60)}'"
    return (
        f"{new} of new criteria and {changed} of changed definitions, from {found.advised:,} of "
        f"{counted(found.samples, 'sample')}; most often {most} ({counted(first.samples, 'sample')})."
    )


def topic_table(title: str, topics: Sequence[Topic], samples: int, most: int = MOST) -> Grid:
    """A row for each topic, the most frequent first."""
    kind = topics[0].kind
    about = "names in it" if kind == "criterion" else "definition of most"
    return columns(title, {
        "topic": [one_line(one.label, 60) for one in topics],
        "samples": [f"{one.samples:,} ({percent(one.samples, samples)})" for one in topics],
        "suggestions": [f"{one.count:,}" for one in topics],
        about: [_contents(one) for one in topics],
    }, texts=(about,), most=most, rest=("topic", "topics"))  # fmt: skip


def _contents(topic: Topic) -> str:
    if topic.kind == "definition":
        wordings = f" ({len(topic.members)} wordings)" if len(topic.members) > 1 else ""
        return one_line(topic.definition, 160) + wordings
    names = [f"{one_line(one.name, 60)} ({one.count:,})" for one in topic.members[:MEMBERS]]
    more = len(topic.members) - MEMBERS
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")


def _notes(found: Suggestions) -> Iterable[str]:
    if found.by == LETTERS and found.topics:
        yield f"topics by {found.by}: words that are spelt alike; other words for the same are other topics"
    if found.why:
        yield f"not by embeddings: {one_line(found.why, 300)}"
    if found.beyond:
        yield f"{counted(found.beyond, 'later suggestion')} of yet other names are in no topic"


# Whether criteria earn their place.


UNLABELLED = "Nobody judged these samples, so no criterion can be shown to earn its place."


def criteria_worth(found: CriteriaWorth) -> Iterator[Block]:
    """Which criteria earned their place, with what they add, and what they are most alike to."""
    yield Para(_verdicts(found), "lead")
    rows = found.criteria
    gains = [one.gains[0] if found.target and one.gains else None for one in rows]
    near = [one.alike[0] if one.alike else None for one in rows]
    yield columns("", {
        "criterion": [one_line(one.criterion, 40) for one in rows],
        "verdict": [one_line(one.verdict, 60) for one in rows],
        "n": [f"{one.n:,}" if found.target else "" for one in rows],
        "without": [number_text(gain.without, COEFFICIENT) if gain else "" for gain in gains],
        "with": [number_text(gain.with_it, COEFFICIENT) if gain else "" for gain in gains],
        "gain": [valued(gain.gain, gain.low, gain.high, COEFFICIENT, sign=True) if gain else "" for gain in gains],
        "p": [chance(gain.p_holm, gain.p_is_least) if gain else "" for gain in gains],
        "most alike": [f"{one_line(one.criterion, 40)} {number_text(one.value)}" if one else NONE for one in near],
        "explained": [NONE if math.isnan(one.explained) else percent(one.explained, 1) for one in rows],
    }, texts=("verdict", "most alike"), most=len(rows))  # fmt: skip
    yield from (Para(line, "fine") for line in _remarks(found))
    for line in (*(f"{one_line(o.criterion, 60)}: {o.why}" for o in found.criteria if o.why), *found.notes):
        yield Para(f"note: {line}", "note")
    yield Para(found.signature, "fine", whole=True)


def _verdicts(found: CriteriaWorth) -> str:
    by: dict[str, list[str]] = {}
    for one in found.criteria:
        by.setdefault(one.verdict.partition(" with ")[0], []).append(one_line(one.criterion, 60))
    told = [f"{verdict}: {', '.join(by[verdict])}" for verdict in ("earned", "redundant", "not shown") if verdict in by]
    held = f"Agreement is with people, by {one_line(found.target, 60)}."
    return f"{'; '.join(told)}. {held if found.target else UNLABELLED}"


def _remarks(found: CriteriaWorth) -> Iterable[str]:
    if found.fitted:
        yield f"without, with: Pearson's r with people, criteria combined by {found.fitted}; --json has Spearman's too"
        yield "gain: with its interval, paired bootstrap; p: paired permutation test, for all criteria tried (Holm)"
    yield "most alike: Spearman's with the nearest other criterion; explained: variance that the others explain"
