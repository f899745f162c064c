"""What the critics did to the scores: SAGEval's Table 1 (arXiv:2411.16077), and what it was worth."""

from __future__ import annotations

from collections.abc import Sequence

from judgegraph.errors import ConfigError, DataError, one_line
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.critic import CriticWorth, Review, cost_of, critic_worth, reviewer
from judgegraph.report.charts import bars
from judgegraph.report.figures import draws
from judgegraph.report.sections_run import Tally, tally_of
from judgegraph.runs.run import Run
from judgegraph.runs.suggestions import Topic
from judgegraph.views import critic as of_critic
from judgegraph.views.amounts import counted, percent
from judgegraph.views.blocks import Block, Fold, Para, Section
from judgegraph.views.suggestions import topic_table


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
    kinds = {reviewer(reviews) for reviews in by.values()}
    who = kinds.pop() if len(kinds) == 1 else "critic"
    blocks: list[Block] = []
    for (critic, reviewed), reviews in by.items():
        blocks += [*of_critic.changes(reviews, f"{critic} over {reviewed}"), *map(Para, _sentences(reviews))]
        cost = cost_of(run.manifest, critic)
        if cost is not None:
            blocks.append(Para(f"Cost of {critic}: {of_critic.cost_text(cost)}."))
    return Section("rectification", f"What the {who} changed", (*blocks, *_worth(run, tally)))


def _sentences(reviews: Sequence[Review]) -> list[str]:
    down, moved = sum(r.down for r in reviews), sum(r.down + r.up for r in reviews)
    return (
        [f"Of {counted(moved, 'score')} that it moved, {down:,} ({percent(down, moved)}) went down."] if moved else []
    )


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
    blocks: list[Block] = [Para(how)]
    for critic in critics:
        caption = f"{critic.critic} over {critic.reviewed}, against people"
        blocks += of_critic.gains(critic, worth.conventions.confidence, caption)
        blocks += (Para(line) for line in of_critic.mean_gains(critic))
    return blocks


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


# What critics suggest, by topic (SAGEval, arXiv:2411.16077, Figure 4).


TOPICS_MOST, DRAWN, SHOWN = 40, 12, 300
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
        if topics := found.of_kind(kind):
            rows = [(one.label, one.samples) for one in topics[:DRAWN]]
            told = tuple(Para(f"{one_line(one.label, 120)}: {_example(one)}") for one in topics[:TOPICS_MOST])
            blocks += [bars(title, rows, found.samples), topic_table(title, topics, found.samples, TOPICS_MOST)]
            blocks.append(Fold("The most central of each, with its reason", told))
    if found.beyond:
        blocks.append(Para(f"{counted(found.beyond, 'later suggestion')} with yet other names not counted."))
    return Section("suggestions", "What the critic suggests, by topic", tuple(blocks))


def _example(topic: Topic) -> str:
    reason = f" Reason: {one_line(topic.reason, SHOWN)}" if topic.reason.strip() else ""
    return one_line(topic.definition, SHOWN) + reason
