"""What critics suggest, by topic (SAGEval, arXiv:2411.16077, Figure 4); and whether a criterion earned its place."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from judgegraph.errors import one_line
from judgegraph.meta.criterion_worth import CriteriaWorth
from judgegraph.runs.suggestions import LETTERS, Suggestions, Topic
from judgegraph.views.amounts import COEFFICIENT, NONE, chance, counted, number_text, percent, valued
from judgegraph.views.blocks import Block, Grid, Para, columns

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
        "p": [chance(gain.p_holm) if gain else "" for gain in gains],
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
