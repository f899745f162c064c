"""What the critics did to the scores: SAGEval's Table 1 (arXiv:2411.16077), and what it was worth."""

from __future__ import annotations

from collections.abc import Sequence

from judgegraph.errors import ConfigError, DataError, one_line
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.critic import Cost, CriticOf, CriticWorth, Gain, Review, cost_of, critic_worth
from judgegraph.report.charts import Block, Fold, Grid, Para, Section, bars, number_text, percent
from judgegraph.report.figures import counted, draws, filled, money, signed, within
from judgegraph.report.sections_run import Tally, tally_of
from judgegraph.runs.run import Run
from judgegraph.runs.suggestions import Suggestions, Topic

MOST = 60
HEAD = ("criterion", "n", "lowered", "raised", "relabelled", "kept", "mean change", "mean lowered", "mean raised",
        "definition")  # fmt: skip


def rectification(run: Run, tally: Tally | None = None) -> Section | None:
    """For each critic how many scores it left, lowered and raised, by how much; None where nobody reviewed a score.

    SAGEval's Table 1 counts the same for its critic (Neg, Pos, Total, Definition); there 193 of 210 changes lower.
    """
    tally = tally or tally_of(run)
    by: dict[tuple[str, str], list[Review]] = {}
    for review in tally.critiques.reviews.values():
        by.setdefault((review.critic, review.reviewed), []).append(review)
    if not by:
        return None
    blocks: list[Block] = []
    for (critic, reviewed), reviews in by.items():
        blocks += [_table(f"{critic} over {reviewed}", reviews), *map(Para, _sentences(reviews))]
        cost = cost_of(run.manifest, critic)
        if cost is not None:
            blocks.append(Para(f"Cost of {critic}: {_cost(cost)}."))
    return Section("rectification", "What the critic changed", (*blocks, *_worth(run, tally)))


def _table(caption: str, reviews: Sequence[Review]) -> Grid:
    total = Review("", "", "all", "output")
    for name in ("n", "changed", "up", "down", "size_up", "size_down", "definitions"):
        setattr(total, name, sum(getattr(review, name) for review in reviews))
    rows = [_row(review) for review in reviews[:MOST]]
    if len(reviews) > 1:
        rows.append(_row(total))
    if len(reviews) > MOST:
        caption += f" (of {len(reviews)} criteria the first {MOST}; all count in the last line)"
    if not any(review.changed - review.up - review.down for review in reviews):
        rows = [(*row[:4], "", *row[5:]) for row in rows]
    return filled(caption, HEAD, rows, frozenset(range(1, len(HEAD))))


def _row(r: Review) -> tuple[str, ...]:
    unchanged, labels = r.n - r.changed, r.changed - r.up - r.down
    numeric = r.n and not (r.scale is not None and r.scale.labels)
    return (
        r.criterion + (" (rival)" if r.of == "rival" else ""), f"{r.n:,}",
        _part(r.down, r.n), _part(r.up, r.n), _part(labels, r.n), _part(unchanged, r.n),
        signed((r.size_up - r.size_down) / r.n) if numeric else "-",
        number_text(r.size_down / r.down) if r.down else "-", number_text(r.size_up / r.up) if r.up else "-",
        f"{r.definitions:,}",
    )  # fmt: skip


def _part(count: int, n: int) -> str:
    return f"{count:,} ({percent(count, n)})" if count else "0"


def _sentences(reviews: Sequence[Review]) -> list[str]:
    down, moved = sum(r.down for r in reviews), sum(r.down + r.up for r in reviews)
    found = []
    if moved:
        found.append(f"Of {counted(moved, 'score')} that it moved, {down:,} ({percent(down, moved)}) went down.")
    repeated, reasons = sum(r.repeated for r in reviews), sum(r.reasons for r in reviews)
    if reasons:
        found.append(f"Of {counted(reasons, 'reason')} it gave, {repeated:,} repeat the draft's reason.")
    for word, name in (("the critic was not asked about", "not_asked"), ("failed", "failed"),
                       ("reviewed a draft that could not be read", "unread")):  # fmt: skip
        if count := sum(getattr(r, name) for r in reviews):
            found.append(f"{counted(count, 'score')} ({word}) count nowhere above.")
    return found


def _worth(run: Run, tally: Tally) -> list[Block]:
    """Agreement with people before and after, on those that people judged."""
    worth = worth_of(run, tally)
    if isinstance(worth, str):
        return [Para(f"Agreement with people before and after cannot be told: {worth}.")] if worth else []
    critics = [critic for critic in worth.critics if critic.gains]
    if not critics:
        return []
    how = (
        f"Agreement with people before and after, on {tally.labelled.counted} that people judged: dataset level; 95 % "
        f"intervals of the difference from {worth.conventions.resamples:,} resamples, drafts and finals drawn "
        f"together. judgegraph meta has tests of it.{tally.unlabelled}"
    )
    return [Para(how), *map(_gains, critics)]


def worth_of(run: Run, tally: Tally) -> CriticWorth | str:
    """What the critics were worth, worked out once for a page; in words where it cannot be told, "" without labels."""
    if tally.worth is None:
        held = tally.labelled.items
        # no p value is shown, so none is paid for
        c = Conventions(coefficients=("spearman",), resamples=draws(held), permutations=1, correction="none")
        try:
            tally.worth = (critic_worth(Run(run.manifest, held), c) if held else None) or ""
        except (ConfigError, DataError) as error:
            tally.worth = one_line(error, 300)
    return tally.worth


def _gains(critic: CriticOf) -> Grid:
    rows = [_gain(gain) for gain in critic.gains[:MOST]]
    for name, mean in critic.means.items():
        n = len([gain for gain in critic.gains if gain.statistic == name and gain.difference == gain.difference])
        ends = within(mean.low, mean.high)
        rows.append(("mean of criteria", name, f"{n} criteria", "", "", signed(mean.value), ends, mean.note))
    head = ("criterion", "statistic", "n", "draft", "final", "difference", "95 % interval", "note")
    caption = f"{critic.critic} over {critic.reviewed}, against people"
    return filled(caption, head, rows, frozenset({2, 3, 4, 5, 6}))


def _gain(gain: Gain) -> tuple[str, ...]:
    return (
        gain.criterion, gain.statistic, f"{gain.n:,}", number_text(gain.before), number_text(gain.after),
        signed(gain.difference), within(gain.low, gain.high), _without_p(gain.note),
    )  # fmt: skip


def _without_p(note: str) -> str:
    """No p is shown, so how far one can fall is no news."""
    return "; ".join(part for part in note.split("; ") if "p cannot fall below" not in part)


def _cost(cost: Cost) -> str:
    """What was paid; where some calls were found, also what all would have cost had none been."""
    share = f"; {percent(cost.share, 1)} of the run's paid calls" if cost.share is not None else ""
    if not cost.calls:
        return "nothing, as it made no model call"
    if not cost.found:
        return _amounts(cost) + share
    if cost.found == cost.calls:
        return f"nothing paid here, as the replies to all of its {counted(cost.calls, 'call')} were there already"
    return (
        f"{_amounts(cost.spent)} paid here{share}. The replies to {cost.found:,} more were there already; had none "
        f"been, it would cost about {_amounts(cost)}"
    )


def _amounts(cost: Cost) -> str:
    amounts = [counted(cost.calls, "call")]
    if cost.prompt_tokens is not None and cost.completion_tokens is not None:
        amounts.append(f"{cost.prompt_tokens + cost.completion_tokens:,.0f} tokens")
    amounts.append("price unknown" if cost.usd is None else money(cost.usd))
    return ", ".join(amounts)


# What critics suggest, by topic (SAGEval, arXiv:2411.16077, Figure 4).


TOPICS_MOST, DRAWN, MEMBERS, SHOWN = 40, 12, 6, 300
KINDS = (("criterion", "New criteria suggested"), ("definition", "Definitions to change"))


def suggestions(run: Run, tally: Tally | None = None) -> Section | None:
    """Topics of new criteria, then of changed definitions, the most frequent first; None where nothing was suggested.

    SAGEval's Figure 4 groups by topic, where its critic mostly asks for creativity and content quality.
    """
    tally = tally or tally_of(run)
    if not tally.advice.advised:
        return None
    found = tally.suggested
    blocks: list[Block] = [Para(
        f"{counted(found.advised, 'sample')} of {found.samples:,} brought a suggestion. Suggestions that are alike are "
        f"one topic, by {found.by}; a topic has the name of its most central one. No suggestion changes a score of its "
        "own run, and none is known to be worth asking: judgegraph suggestions RUN --criterion NAME measures it once a "
        "run has scored it."
    )]  # fmt: skip
    for kind, title in KINDS:
        blocks += _topics(found, kind, title)
    if found.beyond:
        blocks.append(Para(f"{counted(found.beyond, 'later suggestion')} with yet other names not counted."))
    return Section("suggestions", "What the critic suggests, by topic", tuple(blocks))


def _topics(found: Suggestions, kind: str, title: str) -> list[Block]:
    topics = found.of_kind(kind)
    if not topics:
        return []
    rows = tuple(
        (one_line(one.label, 120), f"{one.samples:,} of {found.samples:,} ({percent(one.samples, found.samples)})",
         f"{one.count:,}", _named(one))
        for one in topics[:TOPICS_MOST]
    )  # fmt: skip
    examples = tuple(Para(f"{one_line(one.label, 120)}: {_example(one)}") for one in topics[:TOPICS_MOST])
    drawn = [(one.label, one.samples) for one in topics[:DRAWN]]
    more = f" (of {len(topics)} topics the first {TOPICS_MOST})" if len(topics) > TOPICS_MOST else ""
    grid = Grid(title + more, ("topic", "samples", "suggestions", "names in it"), rows, frozenset({1, 2}))
    return [bars(title, drawn, found.samples), grid, Fold("The most central of each, with its reason", examples)]


def _named(topic: Topic) -> str:
    """Names, or how many wordings of a definition."""
    if topic.kind == "definition":
        return counted(len(topic.members), "wording")
    names = [f"{one_line(one.name, 60)} ({one.count:,})" for one in topic.members[:MEMBERS]]
    more = len(topic.members) - MEMBERS
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")


def _example(topic: Topic) -> str:
    reason = f" Reason: {one_line(topic.reason, SHOWN)}" if topic.reason.strip() else ""
    return one_line(topic.definition, SHOWN) + reason
