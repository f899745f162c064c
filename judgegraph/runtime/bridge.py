"""The one bridge from synchronous callers to our coroutines; works inside a running loop too (notebooks)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from typing import Any, TypeVar

from judgegraph.errors import one_line

T = TypeVar("T")
GRACE = 5.0  # seconds that an interrupted coroutine has to put its things in order
_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def run_sync(work: Coroutine[Any, Any, T], drain: Callable[[], None] | None = None) -> T:
    """Run a coroutine on the one private background loop and wait for it.

    HTTP clients belong to their loop, so one loop that stays serves them better than a fresh one each time.
    At the first interrupt `drain` asks the coroutine to come to its end, which is waited for; then the interrupt goes
    on to the caller, with a note of what the coroutine raised meanwhile. The second one, or the first where there is
    no `drain`, cancels the coroutine and waits until it has ended, `GRACE` seconds at most.
    """
    outcome: Future[T] = Future()
    tasks: list[asyncio.Task[T]] = []

    def start() -> None:
        tasks.append(loop.create_task(work))
        tasks[0].add_done_callback(lambda task: _hand_over(task, outcome))

    loop = _background()
    loop.call_soon_threadsafe(start)
    try:
        try:
            return outcome.result()
        except KeyboardInterrupt as interrupt:
            if drain is None or outcome.done():
                raise
            drain()
            if (error := outcome.exception()) is not None:
                interrupt.add_note(f"{type(error).__name__}: {one_line(error, 1000)}")
            raise
    except BaseException:
        if not outcome.done():
            loop.call_soon_threadsafe(lambda: tasks[0].cancel())  # callbacks keep their order: it was started
            wait([outcome], GRACE)
        raise


def _hand_over(task: asyncio.Task[T], outcome: Future[T]) -> None:
    if task.cancelled():
        outcome.set_exception(asyncio.CancelledError())
    elif error := task.exception():
        outcome.set_exception(error)
    else:
        outcome.set_result(task.result())


def _background() -> asyncio.AbstractEventLoop:
    global _loop
    with _lock:
        if _loop is None or _loop.is_closed():
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_forever, args=(_loop,), name="judgegraph", daemon=True).start()
        return _loop


def _forever(loop: asyncio.AbstractEventLoop) -> None:
    """A SystemExit in a task belongs to the task's caller; asyncio also throws it through the loop."""
    while True:
        try:
            loop.run_forever()
        except (SystemExit, KeyboardInterrupt):
            continue
        return
