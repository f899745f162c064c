"""Scores as the GenAI conventions have them: `gen_ai.evaluation.result` on the span that gave them."""

from __future__ import annotations

from typing import Any

from judgegraph.trace.otel_attributes import as_json, clean
from judgegraph.trace.step import Step
from judgegraph.types import Score

RESULT = "gen_ai.evaluation.result"
Event = tuple[str, dict[str, Any]]


def results(step: Step, texts: bool) -> tuple[Event, ...]:
    """One for each score that a step wrote and nothing below it: of a node that is an agent they are the agent's."""
    below = {score.key for inner in step.steps for one in inner.walk() for score in one.scores}
    return tuple((RESULT, result(score, texts)) for score in step.scores if score.key not in below)


def result(score: Score, texts: bool) -> dict[str, Any]:
    """One score; without a value where it has none, and never a number in place of a failure."""
    told: dict[str, Any] = {
        "gen_ai.evaluation.name": score.criterion,
        "gen_ai.evaluation.score.value": score.value,
        "gen_ai.evaluation.score.label": score.label,
        "gen_ai.evaluation.explanation": score.reason if texts and score.reason else None,
        "error.type": score.status if score.status not in ("ok", "abstained", "skipped") else None,
        "judgegraph.score.key": score.key,
        "judgegraph.score.agent": score.agent,
        "judgegraph.score.stage": score.stage,
        "judgegraph.score.status": score.status,
        "judgegraph.score.scale": str(score.scale) if score.scale is not None else None,
        "judgegraph.score.reader": score.reader or None,
        "judgegraph.score.distribution": as_json(score.distribution) if score.distribution else None,
        "judgegraph.score.unseen": score.unseen,
        "judgegraph.score.draft": score.draft,
    }
    return {key: clean(value) if isinstance(value, str) else value for key, value in told.items() if value is not None}
