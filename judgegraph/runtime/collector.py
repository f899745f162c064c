"""Less searching for garbage while a run is under way: what was there before it is not looked at again and again."""

from __future__ import annotations

import gc
import threading
from collections.abc import Generator
from contextlib import contextmanager

THRESHOLDS = (20_000, 20, 20)  # containers made between two searches: of the youngest, then so many of those, ...
_lock = threading.Lock()
_runs = 0
_before: tuple[int, int, int] | None = None


@contextmanager
def seldom() -> Generator[None]:
    """Within it Python's collector of reference cycles runs seldom, and leaves out what was there when it began.

    Every call makes thousands of short-lived objects, so that with Python's own settings the collector walks through
    all imported modules some hundred times a minute: a quarter of a run's CPU. Runs may overlap; the last one to end
    puts things back. A collector that its owner switched off, froze or made still rarer is left as it is.
    """
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    global _runs, _before
    with _lock:
        _runs += 1
        if _runs > 1 or not gc.isenabled() or gc.get_freeze_count() or not 0 < gc.get_threshold()[0] < THRESHOLDS[0]:
            return
        _before = gc.get_threshold()
        gc.freeze()
        gc.set_threshold(*THRESHOLDS)


def _leave() -> None:
    global _runs, _before
    with _lock:
        _runs -= 1
        if _runs or _before is None:
            return
        if gc.get_threshold() == THRESHOLDS:  # else somebody set it since
            gc.set_threshold(*_before)
        gc.unfreeze()
        _before = None
