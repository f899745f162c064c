"""Systems ranked by people and by metrics: strengths, ratings, cycles, and how far the rankings agree."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from judgegraph.errors import ConfigError, one_line
from judgegraph.meta.contests import PEOPLE, Contest, contests
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.entrants import Entrants, of_run, of_table
from judgegraph.meta.rankings import AgainstPeople, Ranked, Ranking
from judgegraph.meta.result import NONE, Ends
from judgegraph.runtime.run import Run
from judgegraph.stats.arrays import Floats
from judgegraph.stats.bradley_terry import PRIOR, Strengths, bradley_terry
from judgegraph.stats.cycles import preference_cycles
from judgegraph.stats.elo import EloRule, Ratings, elo
from judgegraph.stats.intervals import interval
from judgegraph.stats.ranking import rankings_agree

MOST_SYSTEMS = 300
WAYS = "wins do not lead from every system to every other, so that some strengths have no bounds"


def rank_systems(
    of: Run | str | os.PathLike[str] | Sequence[Entrants], conventions: Conventions | None = None,
    rule: EloRule | None = None, **where: Any,
) -> list[Ranking]:  # fmt: skip
    """Rank systems by people and by each metric, criterion by criterion.

    Args:
        of: a run or its folder, a table, or entrants. `where`: what its parts are called, as of
            `judgegraph.meta.entrants.of_run` and `of_table`: system, rival, group, human, metrics, ...
        conventions: annotators, duplicates, unreadable, resamples, confidence, seed count here.

    Raises:
        ConfigError: no systems, or fewer than two, or nothing was compared. ExtraError: choix is not installed.
    """
    if isinstance(of, str | os.PathLike):
        of = Run.load(of) if Path(of).is_dir() else of_table(of, **where)
    entrants = of_run(of, **where) if isinstance(of, Run) else of
    c = conventions or Conventions()
    rankings: list[Ranking] = []
    for one in entrants:
        people: _Fitted | None = None
        for contest in contests(one, c):
            if not len(contest.matches):
                continue
            fitted = _Fitted.of(contest, c, rule or EloRule())
            people = fitted if contest.judge == PEOPLE else people
            rankings.append(fitted.ranking(c, rule or EloRule(), people))
    if not rankings:
        raise ConfigError(
            "no two systems were compared: scores need outputs of several systems for one document (--group) or id, "
            "pairs need --rival"
        )
    return rankings


@dataclass(frozen=True)
class _Fitted:
    """A contest with its strengths and ratings."""

    contest: Contest
    strengths: Strengths
    ratings: Ratings

    @classmethod
    def of(cls, contest: Contest, c: Conventions, rule: EloRule) -> _Fitted:
        if len(contest.matches.names) > MOST_SYSTEMS:
            raise ConfigError(f"{len(contest.matches.names):,} systems; at most {MOST_SYSTEMS} are ranked")
        how = {"resamples": c.resamples, "seed": c.seed}
        return cls(contest, bradley_terry(contest.matches, **how), elo(contest.matches, rule, **how))

    def ranking(self, c: Conventions, rule: EloRule, people: _Fitted | None) -> Ranking:
        matches = self.contest.matches
        wins = matches.wins()
        met, values = (wins + wins.T).sum(axis=1), self.strengths.values
        rounded = np.round(values, 9)
        rows = [
            Ranked(
                system=name, place=1 + int((rounded > rounded[k]).sum()), met=float(met[k]),
                won=float(wins[k].sum() / met[k]) if met[k] else math.nan,
                score=math.nan if self.contest.means is None else float(self.contest.means[k]),
                strength=float(values[k]), elo=float(self.ratings.values[k]),
                strength_interval=_ends(self.strengths.drawn[:, k], c, self.strengths.units),
                elo_interval=_ends(self.ratings.drawn[:, k], c, self.ratings.units),
            )
            for k, name in enumerate(matches.names)
        ]  # fmt: skip
        rows.sort(key=lambda row: (row.place, row.system))
        return Ranking(
            criterion=self.contest.criterion, judge=self.contest.judge, systems=tuple(rows), comparisons=len(matches),
            units=self.strengths.units, cycles=preference_cycles(wins, matches.names),
            against=() if people is None or people is self else tuple(self.against(people, c)),
            unread=self.contest.unread, notes=tuple(self.notes()), signature=self.signature(c, rule),
        )  # fmt: skip

    def against(self, people: _Fitted, c: Conventions) -> list[AgainstPeople]:
        """By each measure that both have."""
        measures: dict[str, tuple[Floats, Floats]] = {}
        ours, theirs = self.contest.means, people.contest.means
        if ours is not None and theirs is not None:
            known = ~np.isnan(ours + theirs)
            measures["score"] = (theirs[known], ours[known])
        measures["strength"] = (people.strengths.values, self.strengths.values)
        measures["elo"] = (np.round(people.ratings.values), np.round(self.ratings.values))  # below a point it is chance
        drawn = zip(people.strengths.drawn, self.strengths.drawn, strict=True)
        taus = np.array([rankings_agree(a, b).kendall for a, b in drawn])
        ends = {"strength": _ends(taus, c, min(self.strengths.units, people.strengths.units))}
        return [
            AgainstPeople(by=by, **asdict(rankings_agree(*both)), kendall_interval=ends.get(by, NONE))
            for by, both in measures.items()
        ]

    def notes(self) -> list[str]:
        """What to know beside the numbers."""
        found = []
        if self.strengths.regularised:
            found.append(f"{WAYS}; each pair was lent {PRIOR:g} wins either way")
        elif self.strengths.lent:
            share = self.strengths.lent / len(self.strengths.drawn)
            found.append(f"in {share:.1%} of the resamples {WAYS}; there each pair was lent {PRIOR:g} wins")
        if self.contest.alike:
            found.append(f"{self.contest.alike:,} pairs of a system with itself, left out")
        met = set(self.contest.matches.first) | set(self.contest.matches.second)
        idle = [name for k, name in enumerate(self.contest.matches.names) if k not in met]
        if idle:
            found.append(f"never compared: {one_line(', '.join(idle[:8]), 200)}")
        if len(self.ratings.drawn) < len(self.strengths.drawn):
            found.append(f"Elo intervals from {len(self.ratings.drawn):,} resamples, more would take too long")
        return found

    def signature(self, c: Conventions, rule: EloRule) -> str:
        """All choices, in one line."""
        lent = f"lent:{PRIOR:g}" if self.strengths.regularised else "lent:0"
        return "|".join((
            "ties:half", f"unreadable:{c.unreadable}", f"annotators:{self.contest.rule}", f"bradley-terry:ml,{lent}",
            f"elo:k={rule.k:g},scale={rule.scale:g},start={rule.start:g},orders={self.ratings.orders}",
            f"bootstrap:{self.strengths.units} units,{c.resamples} resamples,{c.confidence:g}",
            f"elo-bootstrap:{len(self.ratings.drawn)} resamples,{self.ratings.each} orders each", f"seed:{c.seed}",
        ))  # fmt: skip


def _ends(values: Floats, c: Conventions, units: int) -> Ends:
    if not len(values):
        return NONE
    found = interval(values, c.confidence, units=units)
    return found.low, found.high
