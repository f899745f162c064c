"""One call of an agent, watched: what it read, wrote, asked, changed and left behind."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from judgegraph.testing.answering import Answering, answered_by
from judgegraph.testing.asked import Asked
from judgegraph.testing.patience import ended
from judgegraph.testing.watched_state import Watched

PATIENCE = 20.0  # seconds that one call of an agent may use or spend idle: its judge answers at once
LEAVING = 2.0  # seconds for a task that is cancelled


@dataclass
class Trial:
    """What came of it.

    Attributes:
        result: what the agent returned, of a Command its update. error: what it raised instead.
        asked: the requests it made. touched: keys that it asked the state for.
    """

    case: str
    state: dict[str, Any]
    result: Any = None
    error: BaseException | None = None
    asked: list[Asked] = field(default_factory=list)
    touched: set[str] = field(default_factory=set)
    hung: bool = False
    leaked: int = 0
    state_changed: bool = False
    itself_changed: bool = False

    @property
    def written(self) -> Mapping[str, Any]:
        """What it wrote; nothing where it raised or returned no mapping."""
        return self.result if isinstance(self.result, Mapping) else {}


async def tried(agent: Any, state: dict[str, Any], model: Answering, case: str) -> Trial:
    """Call the agent once."""
    trial = Trial(case, state)
    given, watched, before = copy.deepcopy(state), Watched(state), repr(agent)
    known = asyncio.all_tasks()
    asked = with_judge(agent, model)
    own = repr(asked)
    with answered_by(model):
        task = asyncio.ensure_future(called(asked, watched))
        trial.hung = not await ended({task}, PATIENCE)
        if not trial.hung:
            trial.error = _error(task)
            trial.result = _update(task.result()) if trial.error is None else None
        trial.leaked = await left_behind(known)
    trial.asked, trial.touched = list(model.asked), watched.touched
    trial.state_changed = dict(watched) != given or state != given
    trial.itself_changed = repr(asked) != own or repr(agent) != before
    return trial


def _error(task: asyncio.Future[Any]) -> BaseException | None:
    return asyncio.CancelledError("it cancelled itself") if task.cancelled() else task.exception()


def with_judge(agent: Any, model: Answering) -> Any:
    """The agent with this judge, where it has a setting of that name: it may ask it without our door."""
    if not dataclasses.is_dataclass(agent) or isinstance(agent, type):
        return agent
    settable = {f.name for f in dataclasses.fields(agent) if f.init}
    return dataclasses.replace(agent, judge=model) if "judge" in settable else agent


async def called(agent: Any, state: Watched) -> Any:
    """A plain function is called in a thread, as LangGraph does."""
    call = agent if inspect.isroutine(agent) else type(agent).__call__
    result = agent(state) if inspect.iscoroutinefunction(call) else await asyncio.to_thread(agent, state)
    return await result if inspect.isawaitable(result) else result


async def left_behind(known: set[asyncio.Task[Any]]) -> int:
    """How many tasks were started and go on; they are ended."""
    for _ in range(5):
        await asyncio.sleep(0)
    left = [task for task in asyncio.all_tasks() - known if not task.done()]
    for task in left:
        task.cancel()
    if left:
        await ended(left, LEAVING)
    return len(left)


def _update(result: Any) -> Any:
    """What a node writes: a `Command` carries it as its update."""
    update = getattr(result, "update", None)
    is_command = type(result).__name__ == "Command" and not isinstance(result, Mapping)
    return (update or {}) if is_command else {} if result is None else result
