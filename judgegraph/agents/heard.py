"""What one critic of a panel says, or why it cannot be heard: a panel goes on without it."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any, cast, get_args

from langgraph.errors import GraphBubbleUp

from judgegraph.agents.under_review import Critic, Critique, Reviewed
from judgegraph.errors import ReplyError, one_line
from judgegraph.trace.record import span, status_of, written
from judgegraph.trace.watched import watched
from judgegraph.types import Criterion, EvalState, Note, Rectification, Status, Suggestion, keyed

KEYS = frozenset(EvalState.__annotations__)
WRITTEN: Mapping[str, tuple[Any, type]] = {
    "rectifications": (Mapping, Rectification), "suggestions": (list | tuple, Suggestion), "notes": (Mapping, Note),
}  # fmt: skip


async def heard(name: str, critic: Critic, state: Reviewed, asked: Iterable[Criterion]) -> Critique:
    """What a critic says; one that raises, or writes no critique, has failed for every criterion.

    Raises:
        Exception: what ends a run (see `errors.ConfigError`), and a stop for a person.
    """
    try:
        with span("agent", name, {"class": type(critic).__name__}) as about:
            said: Any = watched(critic).ainvoke(state) if hasattr(critic, "ainvoke") else critic(state)
            said = await said if inspect.isawaitable(said) else said
            about["writes"] = written(said, KEYS)
            about["status"] = status_of(said, state, about)
    except Exception as error:
        if isinstance(error, GraphBubbleUp) or getattr(error, "ends_run", False):
            raise
        return _failed(name, asked, *_why(error))
    if wrong := _wrong(said):
        return _failed(name, asked, "agent_error", wrong)
    return cast(Critique, said)


def _failed(name: str, asked: Iterable[Criterion], status: str, reason: str) -> Critique:
    lost: dict[str, Any] = {"agent": name, "status": status, "reason": reason}
    failed = [Rectification.model_validate({"criterion": c.name, **lost}) for c in asked]
    return {"rectifications": keyed(*failed), "suggestions": []}


def _why(error: Exception) -> tuple[str, str]:
    """(status, reason); the error's message may be code too, and may fail."""
    if isinstance(error, ReplyError) and error.status in get_args(Status):
        return error.status, one_line(error)
    try:
        return "agent_error", one_line(f"{type(error).__name__}: {error}")
    except Exception:
        return "agent_error", type(error).__name__


def _wrong(said: Any) -> str:
    """Why what a critic returned is no critique, "" where it is one."""
    if not isinstance(said, Mapping) or said.get("rectifications") is None:
        return "it wrote no rectifications"
    for key, (whole, part) in WRITTEN.items():
        given = said.get(key)
        if given is None:
            continue
        if not isinstance(given, whole):
            return f"its {key} are of type {type(given).__name__}"
        values = given.values() if isinstance(given, Mapping) else given
        if odd := [one for one in values if not isinstance(one, part)]:
            return f"one of its {key} is of type {type(odd[0]).__name__}"
    return ""
