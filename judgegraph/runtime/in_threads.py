"""Whether a loop's threads are at work for somebody: what they will ask next is not known yet."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any
from weakref import WeakKeyDictionary

_here: ContextVar[InThreads | None] = ContextVar("judgegraph_in_threads", default=None)
_counting: WeakKeyDictionary[asyncio.AbstractEventLoop, int] = WeakKeyDictionary()
_NAME = "run_in_executor"


class InThreads:
    """Counts the work in threads that is begun within `counted`, and in tasks made there.

    A loop has no public word for it, so its `run_in_executor`, through which `asyncio.to_thread` and LangGraph's nodes
    of plain functions go, is another as long as anybody counts there.
    """

    def __init__(self) -> None:
        self.under_way = 0

    @contextmanager
    def counted(self) -> Generator[None]:
        """On the loop that runs here; one that takes no attribute, as uvloop's, is left alone and nothing counted."""
        loop = asyncio.get_running_loop()
        token = _here.set(self)
        with suppress(AttributeError):
            _begin(loop)
        try:
            yield
        finally:
            _here.reset(token)
            _end(loop)

    def done(self, _: asyncio.Future[Any]) -> None:
        """One of them came to its end."""
        self.under_way -= 1


def _begin(loop: asyncio.AbstractEventLoop) -> None:
    if loop not in _counting:
        setattr(loop, _NAME, _run_of(loop))
    _counting[loop] = _counting.get(loop, 0) + 1


def _end(loop: asyncio.AbstractEventLoop) -> None:
    if (left := _counting.pop(loop, 0) - 1) > 0:
        _counting[loop] = left
    elif left == 0:
        delattr(loop, _NAME)


def _run_of(loop: asyncio.AbstractEventLoop) -> Callable[..., Any]:
    before = loop.run_in_executor

    def run(executor: Any, work: Callable[..., Any], *args: Any) -> Any:
        begun, counts = before(executor, work, *args), _here.get()
        if counts is not None:
            counts.under_way += 1
            begun.add_done_callback(counts.done)
        return begun

    return run
