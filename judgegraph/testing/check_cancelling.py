"""An agent that is cancelled while its judge is silent."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from typing import Any

from judgegraph.testing.answering import Answering, answered_by
from judgegraph.testing.check_runs import Runs
from judgegraph.testing.conformance import Breach
from judgegraph.testing.patience import ended
from judgegraph.testing.trial import called, left_behind, with_judge
from judgegraph.testing.watched_state import Watched

PROMPTLY = 2.0  # seconds that it may use or spend idle


async def cancelling(runs: Runs) -> None:
    """One more run, which is cancelled."""
    runs.report.runs += 1
    runs.report.add(*await _cancelled(runs.agent, runs.state(), runs.judge("hangs")))


async def _cancelled(agent: Any, state: dict[str, Any], silent: Answering) -> list[Breach]:
    """What is wrong with its end; nothing for plain functions, and for agents that ask nobody.

    Args:
        silent: a judge that never answers.
    """
    if not inspect.iscoroutinefunction(agent if inspect.isroutine(agent) else type(agent).__call__):
        return []
    known = asyncio.all_tasks()
    with answered_by(silent):
        task = asyncio.ensure_future(called(with_judge(agent, silent), Watched(state)))
        waits = asyncio.ensure_future(silent.reached.wait())
        await ended({task, waits}, PROMPTLY, first=True)
        waits.cancel()
        if not silent.reached.is_set():
            await left_behind(known)
            return []
        task.cancel()
        await ended({task}, PROMPTLY)
        found = list(_end(task))
        leaked = await left_behind(known) - (not task.done())
    if leaked > 0:
        found.append(Breach("leaked-task", f"{leaked} tasks go on after it was cancelled", "cancelled"))
    return found


def _end(task: asyncio.Task[Any]) -> Iterator[Breach]:
    if not task.done():
        yield Breach("cancellation", f"it goes on for over {PROMPTLY:g} s", "cancelled")
    elif not task.cancelled():
        error = task.exception()
        how = f"raised {type(error).__name__}" if error is not None else "returned a result"
        yield Breach("cancellation", f"it {how} instead of CancelledError", "cancelled")
