"""A contest with its strengths and ratings, and what is said of it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np

from judgegraph.errors import ConfigError
from judgegraph.meta.contests import Contest
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.fitted_notes import notes_of
from judgegraph.meta.rankings import AgainstPeople, Ranked, Ranking
from judgegraph.meta.result import NONE, Ends
from judgegraph.meta.signatures import AGREE
from judgegraph.stats.arrays import Codes, Floats
from judgegraph.stats.bradley_terry import PRIOR, Strengths, bradley_terry
from judgegraph.stats.cycles import preference_cycles
from judgegraph.stats.elo import EloRule, Ratings, elo
from judgegraph.stats.intervals import interval
from judgegraph.stats.levels import settled
from judgegraph.stats.ranking import levels, rankings_agree, signs, taus

MOST_SYSTEMS = 300


@dataclass(frozen=True)
class Fitted:
    """One judge's contest, fitted."""

    contest: Contest
    strengths: Strengths
    ratings: Ratings
    conventions: Conventions
    rule: EloRule

    @classmethod
    def of(cls, contest: Contest, c: Conventions, rule: EloRule) -> Fitted:
        """Raises ConfigError: too many systems."""
        if len(contest.matches.names) > MOST_SYSTEMS:
            raise ConfigError(f"{len(contest.matches.names):,} systems; at most {MOST_SYSTEMS} are ranked")
        how = {"resamples": c.resamples, "seed": c.seed}
        return cls(contest, bradley_terry(contest.matches, **how), elo(contest.matches, rule, **how), c, rule)

    def ranking(self, people: Fitted | None) -> Ranking:
        """The systems in their order; `people`: what it is held against."""
        matches = self.contest.matches
        wins = matches.wins()
        rows = [self._row(k, wins) for k in range(len(matches.names))]
        rows.sort(key=lambda row: (row.part or math.inf, row.place or 0, row.system))
        return Ranking(
            criterion=self.contest.criterion, judge=self.contest.judge, systems=tuple(rows), comparisons=len(matches),
            units=matches.judged, cycles=preference_cycles(wins, matches.names),
            against=() if people is None or people is self else tuple(self.against(people)),
            unread=self.contest.unread, elo_scale=self.rule.scale, signature=self.signature(),
            notes=tuple(notes_of(self.contest, self.strengths, self.ratings, self.conventions)),
        )  # fmt: skip

    def _row(self, k: int, wins: Floats) -> Ranked:
        strengths, met, part = self.strengths, wins.sum(axis=1) + wins.sum(axis=0), int(self.strengths.parts[k])
        level = levels(strengths.values[strengths.parts == part])
        mine = level[np.flatnonzero(strengths.parts == part) == k]
        known = part >= 0
        return Ranked(
            system=self.contest.matches.names[k], part=part + 1 if known else None,
            place=1 + int((level > mine).sum()) if known else None, met=float(met[k]),
            won=float(wins[k].sum() / met[k]) if known else math.nan,
            score=math.nan if self.contest.means is None else float(self.contest.means[k]),
            strength=float(strengths.values[k]), strength_interval=self.ends(strengths.drawn[:, k]),
            elo=float(self.ratings.values[k]) if known else math.nan,
            elo_interval=self.ends(self.ratings.drawn[:, k]) if known else NONE,
        )  # fmt: skip

    def against(self, people: Fitted) -> list[AgainstPeople]:
        """By each measure that both have, over the systems that comparisons link by both."""
        one, other = self.strengths, people.strengths
        parts = _shared(one.parts, other.parts)
        measures: dict[str, tuple[Floats, Floats]] = {}
        if self.contest.means is not None and people.contest.means is not None:
            measures["score"] = (_of_means(people.contest.means), _of_means(self.contest.means))
        measures["strength"] = (signs(other.values), signs(one.values))
        measures["elo"] = (people.ratings.signs, self.ratings.signs)
        drawn = taus(other.drawn, one.drawn, parts)
        ends = {"strength": self.ends(drawn, min(one.units, other.units))}
        return [
            AgainstPeople(by=by, **asdict(rankings_agree(*both, parts)), kendall_interval=ends.get(by, NONE))
            for by, both in measures.items()
        ]

    def ends(self, values: Floats, units: int | None = None) -> Ends:
        """Of an interval; one unit alone tells nothing of how others vary."""
        units = self.strengths.units if units is None else units
        if not len(values) or units < 2:
            return NONE
        found = interval(values, self.conventions.confidence, units=units)
        return found.low, found.high

    def signature(self) -> str:
        """All choices, in one line."""
        c, rule, strengths, ratings, contest = (
            self.conventions, self.rule, self.strengths, self.ratings, self.contest
        )  # fmt: skip
        lent = f"lent:{PRIOR:g}" if strengths.regularised else "lent:0"
        some = "" if ratings.played == len(contest.matches) else f" of {ratings.played:,} comparisons"
        return "|".join((
            "ties:half", f"unreadable:{contest.unreadable}", *((AGREE,) if contest.combined else ()),
            f"annotators:{contest.rule}", f"bradley-terry:ml,{lent}",
            f"elo:k={rule.k:g},scale={rule.scale:g},start={rule.start:g},orders={ratings.orders}{some}",
            f"bootstrap:{contest.matches.drawn_from} units,{len(strengths.drawn)} resamples,{c.confidence:g}",
            f"elo-bootstrap:{len(ratings.drawn)} resamples,{ratings.each} orders each", f"seed:{c.seed}",
        ))  # fmt: skip


def _of_means(means: Floats) -> Floats:
    return signs(settled(means), 0.0)


def _shared(one: Codes, other: Codes) -> Codes:
    """Two systems are of one part where they are so by both; -1: by one of them it was never compared."""
    known = (one >= 0) & (other >= 0)
    found = np.full(len(one), -1, dtype=np.intp)
    found[known] = np.unique(np.stack([one[known], other[known]]), axis=1, return_inverse=True)[1].reshape(-1)
    return found
