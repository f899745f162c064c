"""How long is waited for an agent: by what it had to work with, not by a clock on the wall."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from typing import Any

BEAT = 0.05  # seconds between two looks
IDLE = 0.001  # seconds of the processor: a beat with less is one in which nothing was done


async def ended(tasks: Iterable[asyncio.Future[Any]], seconds: float, *, first: bool = False) -> bool:
    """Whether they ended, the first of them or all, within so much time that they could have used.

    Where other programs have the machine, or garbage is collected, a second on the wall is none for an agent: of the
    time between two looks no more than a beat counts, in which whatever was ready in the loop had its turn; and of a
    beat in which our process worked, what it got of the processor.
    """
    waits, spent = set(tasks), 0.0
    when = asyncio.FIRST_COMPLETED if first else asyncio.ALL_COMPLETED
    while spent < seconds:
        began, had = time.monotonic(), time.process_time()
        done, left = await asyncio.wait(waits, timeout=min(BEAT, seconds - spent), return_when=when)
        if not left or (first and done):
            return True
        wall, work = time.monotonic() - began, time.process_time() - had
        spent += min(wall, BEAT, work) if work > IDLE else min(wall, BEAT)
    return False
