"""A request's turn: a slot among its run's requests to the judge, and a place at the judge's limiter."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager

from judgegraph.calls.context import UnitCalls
from judgegraph.calls.limiter import Place


class Turn:
    """`async with turn:` waits until a request may be sent; leaving it ends the request's being in flight.

    While it waits, its sample's clock stands: who asks for ten requests a minute wants them sent slowly, not timed out.
    """

    __slots__ = ("_place", "_sample", "_slots")

    def __init__(self, slots: asyncio.Semaphore | None, place: Place, sample: UnitCalls | None) -> None:
        self._slots, self._place, self._sample = slots, place, sample

    async def __aenter__(self) -> Place:
        if self._slots is not None:
            if self._slots.locked():
                with standing(self._sample):
                    await self._slots.acquire()
            else:
                await self._slots.acquire()
        if not self._place.enter():
            try:
                with standing(self._sample):
                    await self._place.turn()
            except BaseException:
                if self._slots is not None:
                    self._slots.release()
                raise
        return self._place

    async def __aexit__(self, *error: object) -> None:
        if self._slots is not None:
            self._slots.release()
        await self._place.__aexit__(*error)


@contextmanager
def standing(sample: UnitCalls | None) -> Generator[None]:
    """The sample's clock stands still."""
    if sample is None or sample.clock is None:
        yield
        return
    sample.stop_clock()
    try:
        yield
    finally:
        sample.start_clock()
