"""Whether a loop's threads are at work for somebody: what they will ask next is not known yet."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any
from weakref import WeakKeyDictionary

LOOKS = 1000  # at threads that are still at work, in all: one may itself wait for an answer, or never end
_here: ContextVar[InThreads | None] = ContextVar("judgegraph_in_threads", default=None)
_counting: WeakKeyDictionary[asyncio.AbstractEventLoop, _Counting] = WeakKeyDictionary()
_NAME = "run_in_executor"


class InThreads:
    """Counts the work in threads that is begun within `counted`, and in tasks made there.

    A loop has no public word for it, so its `run_in_executor`, through which `asyncio.to_thread` and LangGraph's nodes
    of plain functions go, is another as long as anybody counts there.
    """

    def __init__(self) -> None:
        self.under_way = 0
        self._looks = LOOKS

    def at_work(self) -> bool:
        """Whether it is worth waiting for a thread; not for ever: each yes is one look of `LOOKS`."""
        if not self.under_way or not self._looks:
            return False
        self._looks -= 1
        return True

    @contextmanager
    def counted(self) -> Generator[None]:
        """On the loop that runs here; on one without attributes of its own, as uvloop's, nothing is counted."""
        loop = asyncio.get_running_loop()
        token = _here.set(self)
        with suppress(TypeError):
            _counting.setdefault(loop, _Counting(loop)).begin()
        try:
            yield
        finally:
            _here.reset(token)
            if (there := _counting.get(loop)) is not None and there.end():
                del _counting[loop]

    def done(self, _: asyncio.Future[Any]) -> None:
        """One of them came to its end."""
        self.under_way -= 1


class _Counting:
    """What stands in a loop while somebody counts there."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._attributes, self._run = vars(loop), _run_of(loop)
        self._before = self._attributes.get(_NAME)
        self._users = 0

    def begin(self) -> None:
        if not self._users:
            self._attributes[_NAME] = self._run
        self._users += 1

    def end(self) -> bool:
        """Whether nobody counts there any more; what stood there before stands there again."""
        self._users -= 1
        if not self._users and self._attributes.get(_NAME) is self._run:
            del self._attributes[_NAME]
            if self._before is not None:
                self._attributes[_NAME] = self._before
        return not self._users


def _run_of(loop: asyncio.AbstractEventLoop) -> Callable[..., Any]:
    before = loop.run_in_executor

    def run_in_executor(executor: Any, func: Callable[..., Any], *args: Any) -> Any:
        begun, counts = before(executor, func, *args), _here.get()
        if counts is not None:
            counts.under_way += 1
            begun.add_done_callback(counts.done)
        return begun

    return run_in_executor
