"""What is wanted of an agent that reads scores and writes rectifications."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from judgegraph.testing.check_runs import Runs
from judgegraph.testing.check_shape import Declared
from judgegraph.testing.check_written import statuses, values_in
from judgegraph.testing.conformance import Breach
from judgegraph.testing.invented_state import CRITERIA
from judgegraph.testing.trial import Trial, tried
from judgegraph.types import Rectification, Score, keyed

ELSEWHERE = "elsewhere"  # a stage that no agent has of its own


def is_critic(keys: Declared) -> bool:
    """By what it declares."""
    return "scores" in (keys.reads or {}) and "rectifications" in (keys.writes or ())


def unreviewed(agent: Any, keys: Declared, trial: Trial) -> Iterator[Breach]:
    """Of a good reply: scores under review without a rectification, and rectifications that say it wrong."""
    if not is_critic(keys) or trial.error is not None:
        return
    said, drafts = _said(trial), _under_review(agent, trial)
    asked = _criteria(agent, trial)
    whole = trial.state.keys() >= (keys.reads or {}).keys()  # where no key is missing, no criterion is
    lacking = {d.criterion for d in drafts if asked is None or d.criterion in asked} - {r.criterion for r in said}
    if whole and lacking and not statuses(trial):
        listed = ", ".join(map(repr, sorted(lacking)))
        yield Breach("unreviewed", f"no rectification of {listed}, which has a score under review", trial.case)
    yield from _signed_and_directed(agent, said, drafts, trial.case)


def _criteria(agent: Any, trial: Trial) -> set[str] | None:
    """Those that it reviews by; None where it knows none."""
    known = trial.state.get("criteria", getattr(agent, "criteria", None))
    return None if known is None else {getattr(one, "name", "") for one in known}


def _signed_and_directed(agent: Any, said: list[Rectification], drafts: list[Score], case: str) -> Iterator[Breach]:
    name = getattr(agent, "name", None)
    for one in said:
        if isinstance(name, str) and one.agent != name:
            yield Breach("other-name", f"its name is {name!r}, a rectification is by {one.agent!r}", case)
        values = [d.value for d in drafts if d.criterion == one.criterion and d.value is not None]
        if one.action == "change" and one.value is not None and values:
            lower, higher = one.value < min(values), one.value > max(values)
            if (one.direction == "up" and lower) or (one.direction == "down" and higher):
                told = f"{one.criterion}: {one.direction!r} from {min(values):g} to {one.value:g}"
                yield Breach("wrong-direction", told, case)


async def reviews(runs: Runs) -> None:
    """A critic that is told another stage, at which one criterion has a score; another has a draft."""
    agent = runs.agent
    if not is_critic(runs.keys) or "scores" in runs.own or not _has_stage(agent):
        return
    there, here = CRITERIA[0], CRITERIA[1]
    scores = [
        Score(criterion=c.name, agent="evaluator", stage=stage, value=c.scale.low, scale=c.scale, reason="Short.")
        for c, stage in ((there, "draft"), (here, ELSEWHERE))
    ]
    state = {**runs.state(), "scores": keyed(*scores)}
    trial = await tried(dataclasses.replace(agent, stage=ELSEWHERE), state, runs.judge(), f"stage={ELSEWHERE!r}")
    runs.report.runs += 1
    names = {r.criterion for r in _said(trial)}
    if trial.error is not None:
        return
    if there.name in names:
        runs.report.add(Breach("other-stage", "it rectifies a score of the stage 'draft'", trial.case))
    elif (
        "unreviewed" not in runs.report.codes
        and here.name not in names
        and here.name in (_criteria(agent, trial) or {here.name})
    ):
        runs.report.add(Breach("other-stage", "it rectifies no score of that stage", trial.case))


def _has_stage(agent: Any) -> bool:
    fields = dataclasses.fields(agent) if dataclasses.is_dataclass(agent) else ()
    return any(field.name == "stage" and field.init for field in fields)


def _said(trial: Trial) -> list[Rectification]:
    """Its own rectifications: not those that it was handed."""
    handed = [value for value in values_in(trial.state) if isinstance(value, Rectification)]
    return [v for v in values_in(trial.written) if isinstance(v, Rectification) and v not in handed]


def _under_review(agent: Any, trial: Trial) -> list[Score]:
    stage = getattr(agent, "stage", "draft")
    scores = [value for value in values_in(trial.state.get("scores", {})) if isinstance(value, Score)]
    return [score for score in scores if score.stage == stage and score.status == "ok"]
