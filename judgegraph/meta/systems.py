"""Systems ranked by people and by metrics: strengths, ratings, cycles, and how far the rankings agree."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from judgegraph.errors import ConfigError
from judgegraph.meta.contests import PEOPLE, contests
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.entrants import Entrants, of_run, of_table
from judgegraph.meta.fitted import Fitted
from judgegraph.meta.rankings import Ranking
from judgegraph.runtime.run import Run
from judgegraph.stats.elo import EloRule

_CHOICES = frozenset(field.name for field in fields(Conventions))


def rank_systems(
    of: Run | str | os.PathLike[str] | Sequence[Entrants], conventions: Conventions | None = None,
    rule: EloRule | None = None, **more: Any,
) -> list[Ranking]:  # fmt: skip
    """Rank systems by people and by each metric, criterion by criterion.

    Args:
        of: a run or its folder, a table, or entrants.
        conventions: annotators, duplicates, unreadable, resamples, confidence, seed count here; or one by one in
            `more` (`resamples=200`), which come first.
        more: besides, what the parts of `of` are called, as of `judgegraph.meta.entrants.of_run` and `of_table`:
            system, rival, group, human, metrics, ...

    Raises:
        ConfigError: no systems, or fewer than two, or nothing was compared; missing answers that count as what
            nothing here has. ExtraError: choix is not installed.
    """
    choices = {name: more[name] for name in more if name in _CHOICES}
    where = {name: more[name] for name in more if name not in _CHOICES}
    if isinstance(of, str | os.PathLike):
        of = Run.load(of) if Path(of).is_dir() else of_table(of, **where)
    entrants = of_run(of, **where) if isinstance(of, Run) else of
    c, rule = (conventions or Conventions()).replaced(**choices), rule or EloRule()
    _refuse_unfit(entrants, c)
    rankings: list[Ranking] = []
    for one in entrants:
        people: Fitted | None = None
        for contest in contests(one, c):
            if not len(contest.matches):
                continue
            fitted = Fitted.of(contest, c, rule)
            people = fitted if contest.judge == PEOPLE else people
            rankings.append(fitted.ranking(people))
    if not rankings:
        raise ConfigError(
            "no two systems were compared: scores need outputs of several systems for one document (--group) or id, "
            "pairs need --rival"
        )
    return rankings


def _refuse_unfit(entrants: Sequence[Entrants], c: Conventions) -> None:
    paired = {one.rivals is not None for one in entrants}
    if c.unreadable == "zero" and paired == {True}:
        raise ConfigError("unreadable: zero is of scores, and pairs are judged here; take drop or tie")
    if c.unreadable == "tie" and paired == {False}:
        raise ConfigError("unreadable: a tie is of pairs, and scores are given here; take drop or zero")
