"""What the critics did to the scores: SAGEval's Table 1 (arXiv:2411.16077), and what it was worth."""

from __future__ import annotations

from collections.abc import Sequence

from judgegraph.errors import ConfigError, DataError, one_line
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.critic import CriticOf, critic_worth
from judgegraph.meta.critic_cost import Cost, cost_of
from judgegraph.meta.gain import Gain
from judgegraph.meta.reviews import Review
from judgegraph.report.amounts import counted, money
from judgegraph.report.blocks import Block, Grid, Para, Section
from judgegraph.report.sections.draws import draws
from judgegraph.report.sections.figures import filled, number, percent, signed, within
from judgegraph.report.sections.tally import Tally, tally_of
from judgegraph.runtime.run import Run

MOST = 60
HEAD = ("criterion", "n", "lowered", "raised", "relabelled", "kept", "mean change", "mean lowered", "mean raised",
        "definition")  # fmt: skip


def rectification(run: Run, tally: Tally | None = None) -> Section | None:
    """For each critic how many scores it left, lowered and raised, by how much; None where nobody reviewed a score.

    SAGEval's Table 1 counts the same for its critic (Neg, Pos, Total, Definition); there 193 of 210 changes lower.
    """
    told = tally or tally_of(run)
    by: dict[tuple[str, str], list[Review]] = {}
    for review in told.critiques.reviews.values():
        by.setdefault((review.critic, review.reviewed), []).append(review)
    if not by:
        return None
    blocks: list[Block] = []
    for (critic, reviewed), reviews in by.items():
        blocks += [_table(f"{critic} over {reviewed}", reviews), *map(Para, _said(reviews))]
        cost = cost_of(run.manifest, critic)
        if cost is not None:
            blocks.append(Para(f"Cost of {critic}: {_cost(cost)}."))
    return Section("rectification", "What the critic changed", (*blocks, *_worth(run, told)))


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
    kept, labels = r.n - r.changed, r.changed - r.up - r.down
    numeric = r.n and not (r.scale is not None and r.scale.labels)
    return (
        r.criterion + (" (rival)" if r.of == "rival" else ""), f"{r.n:,}",
        _part(r.down, r.n), _part(r.up, r.n), _part(labels, r.n), _part(kept, r.n),
        signed((r.size_up - r.size_down) / r.n) if numeric else "-",
        number(r.size_down / r.down) if r.down else "-", number(r.size_up / r.up) if r.up else "-",
        f"{r.definitions:,}",
    )  # fmt: skip


def _part(count: int, n: int) -> str:
    return f"{count:,} ({percent(count, n)})" if count else "0"


def _said(reviews: Sequence[Review]) -> list[str]:
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


def _worth(run: Run, told: Tally) -> list[Block]:
    """Agreement with people before and after, on those that people judged."""
    held = told.labelled.items
    if not held:
        return []
    # no p value is shown, so none is paid for
    c = Conventions(coefficients=("spearman",), resamples=draws(held), permutations=1, correction="none")
    try:
        worth = critic_worth(Run(run.manifest, held), c)
    except (ConfigError, DataError) as error:
        return [Para(f"Agreement with people before and after cannot be told: {one_line(error, 300)}.")]
    critics = [critic for critic in worth.critics if critic.gains] if worth else []
    if not critics:
        return []
    how = (
        f"Agreement with people before and after, on {told.labelled.said} that people judged: dataset level; 95 % "
        f"intervals of the difference from {c.resamples:,} resamples, drafts and finals drawn together. "
        f"judgegraph meta has tests of it.{told.unlabelled}"
    )
    return [Para(how), *map(_gains, critics)]


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
        gain.criterion, gain.statistic, f"{gain.n:,}", number(gain.before), number(gain.after),
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
    said = [counted(cost.calls, "call")]
    if cost.prompt_tokens is not None and cost.completion_tokens is not None:
        said.append(f"{cost.prompt_tokens + cost.completion_tokens:,.0f} tokens")
    said.append("price unknown" if cost.usd is None else money(cost.usd))
    return ", ".join(said)
