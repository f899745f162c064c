"""The one bridge from synchronous callers to our coroutines; works inside a running loop too (notebooks)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def run_sync(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the one private background loop and wait for it.

    HTTP clients belong to their loop, so one loop that stays serves them better than a fresh one each time.
    An interrupt cancels the coroutine before it goes on to the caller.
    """
    future = asyncio.run_coroutine_threadsafe(work, _background())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


def _background() -> asyncio.AbstractEventLoop:
    global _loop
    with _lock:
        if _loop is None or _loop.is_closed():
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="judgegraph", daemon=True).start()
        return _loop
