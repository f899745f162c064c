"""Does the critic earn its cost? Drafts against finals: what it changed, whether it agrees better with people, and what
that came to."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from judgegraph.errors import printable
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.critic_cost import POINT, Cost, cost_of
from judgegraph.meta.critic_gain import correct, gains
from judgegraph.meta.gain import Gain, MeanGain, mean_gain
from judgegraph.meta.reviews import Critiques, Review, critiques
from judgegraph.runtime.run import Run
from judgegraph.shown import Shown


@dataclass(frozen=True)
class CriticOf:
    """One critic over the scores of one agent.

    Attributes:
        critic: agent of the finals. reviewed: agent and stage of the drafts, such as "evaluator/draft".
        samples: in which it has finals.
        reviews: one for each criterion (and side of a pair): SAGEval's Table 1, and its Figure 3 as `before` and
            `after`.
        new_criteria: name -> samples for which the critic suggests it.
        rounds: number -> (scores in it, scores that it changed), of a critic that is asked repeatedly.
        gains: one for each criterion and statistic; empty where people judged nothing.
        means: statistic -> mean gain over the criteria that have one, with its interval.
        cost: None where the run's manifest does not tell it, and where it stands elsewhere: a critic over several
            agents has one cost, which is told with the first of them.
        together: all that the critic reviewed, where these are several and share its cost; else ().
    """

    critic: str
    reviewed: str
    samples: int
    reviews: tuple[Review, ...]
    new_criteria: dict[str, int]
    rounds: dict[int, tuple[int, int]]
    gains: tuple[Gain, ...]
    means: dict[str, MeanGain]
    cost: Cost | None
    together: tuple[str, ...] = ()

    def per_point(self) -> dict[str, dict[str, float | None]]:
        """Statistic -> what one point (0.01) of its mean gain came to in calls, tokens and USD.

        Only of a gain that is told from nothing, as noise has no price, and of a cost that is for this gain alone.
        """
        if self.cost is None or self.together:
            return {}
        return {name: self.cost.per(mean.value / POINT) for name, mean in self.means.items() if mean.told}

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "critic": self.critic, "reviewed": self.reviewed, "samples": self.samples,
            "criteria": [_row(review) for review in self.reviews],
            "new_criteria": self.new_criteria,
            "rounds": [{"round": k, "scores": n, "changed": c} for k, (n, c) in sorted(self.rounds.items())],
            "distribution": distribution(self.reviews),
            "agreement": [gain.to_dict() for gain in self.gains],
            "mean_gain": {name: mean.to_dict() for name, mean in self.means.items()},
            "cost": self.cost.to_dict() if self.cost else None, "cost_together": list(self.together),
            "per_point": self.per_point(),
        }  # fmt: skip


@dataclass(frozen=True)
class CriticWorth(Shown):
    """What the critics of a run did, each by itself. `conventions`: how agreement was counted."""

    critics: tuple[CriticOf, ...]
    conventions: Conventions

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {"critics": [critic.to_dict() for critic in self.critics]}

    def __str__(self) -> str:
        return printable(
            "\n".join(
                f"critic {one.critic} over {one.reviewed}: changed {sum(r.changed for r in one.reviews):,}"
                f" of {sum(r.n for r in one.reviews):,} scores"
                for one in self.critics
            )
        )


def critic_worth(
    run: Run, conventions: Conventions | None = None, *, group: str = "group", system: str = "system"
) -> CriticWorth | None:
    """What the critics of a run changed, and what that was worth; None where no final score names a draft.

    An echo is a final that equals its draft (to nine digits, or in its label). A reason repeats the draft's where at
    least four in five of its words stand there. Needs no human labels; without them there is no agreement.

    Args:
        run: any run with finals that name their drafts: one critic, rounds of one, several in a row, a panel.
        conventions: of agreement; None is `Conventions()`.
        group, system: names in a sample's `meta` of its document and of what wrote it.
    """
    chosen, found = conventions or Conventions(), critiques(run.items, group, system)
    if not found.reviews:
        return None
    whose = dict.fromkeys((review.critic, review.reviewed) for review in found.reviews.values())
    all_of = {critic: tuple(reviewed for one, reviewed in whose if one == critic) for critic, _ in whose}
    return CriticWorth(tuple(_critic(run, found, *who, all_of[who[0]], chosen) for who in whose), chosen)


def _critic(
    run: Run, found: Critiques, critic: str, reviewed: str, all_of: tuple[str, ...], conventions: Conventions
) -> CriticOf:
    reviews = tuple(r for r in found.reviews.values() if (r.critic, r.reviewed) == (critic, reviewed))
    known = [gain for review in reviews for gain in gains(review.criterion, review.pairs, conventions, _labels(review))]
    correct(known, conventions)
    rounds = {number: (n, changed) for number, (n, changed) in found.rounds.get(critic, {}).items()}
    new = dict(found.new_criteria.get(critic, {}))
    new = dict(sorted(new.items(), key=lambda pair: (-pair[1], pair[0])))
    by_name = {name: [g for g in known if g.statistic == name] for name in dict.fromkeys(g.statistic for g in known)}
    means = {name: mean_gain(mine, conventions.confidence) for name, mine in by_name.items()}
    cost = cost_of(run.manifest, critic) if reviewed == all_of[0] else None
    return CriticOf(
        critic, reviewed, found.samples[critic], reviews, new, rounds, tuple(known),
        {name: mean for name, mean in means.items() if mean is not None}, cost, all_of if len(all_of) > 1 else (),
    )  # fmt: skip


def _labels(review: Review) -> tuple[str, ...]:
    return review.scale.labels if review.scale is not None else ()


def _row(review: Review) -> dict[str, Any]:
    """A line of SAGEval's Table 1, and more."""
    return {
        "criterion": review.criterion, "of": review.of, "n": review.n,
        "down": review.down, "up": review.up, "relabelled": review.changed - review.up - review.down,
        "changed": review.changed, "changed_share": _share(review.changed, review.n),
        "mean_up": _share(review.size_up, review.up), "mean_down": _share(review.size_down, review.down),
        "echo_share": _share(review.n - review.changed, review.n),
        "reasons": review.reasons, "repeated_share": _share(review.repeated, review.reasons),
        "definitions": review.definitions,
        "not_asked": review.not_asked, "failed": review.failed, "unread_drafts": review.unread,
    }  # fmt: skip


def distribution(reviews: tuple[Review, ...]) -> list[dict[str, Any]]:
    """The data of SAGEval's Figure 3a: how many drafts and finals lie at each point of the scale, by criterion."""
    rows = []
    for review in reviews:
        listed = [str(point) for point in review.scale.points] if review.scale else []
        met = sorted({*review.before, *review.after}, key=_place)
        for point in [p for p in listed if set(met) <= set(listed)] or met:
            counts = {"draft": review.before[point], "final": review.after[point]}
            rows.append({"criterion": review.criterion, "of": review.of, "point": point, **counts})
    return rows


def _place(point: str) -> tuple[float, str]:
    """Numbers, and parts of a scale by where they begin, before labels."""
    try:
        return float(point.partition(" to ")[0]), ""
    except ValueError:
        return math.inf, point


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None
