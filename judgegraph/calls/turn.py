"""A request's turn: a slot among its run's requests to the judge, and a place at the judge's limiter."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from judgegraph.calls.context import Waiters
from judgegraph.calls.limiter import Place


class Turn:
    """`async with turn:` waits until a request may be sent; leaving it ends the request's being in flight.

    While it waits for our own limits it is held, and a sample's clock stands while all its calls are: who asks for ten
    requests a minute wants them sent slowly, not timed out. However the waiting ends, what was taken by then is given
    back.
    """

    __slots__ = ("_place", "_placed", "_slots", "_slotted", "_waiters")

    def __init__(self, slots: asyncio.Semaphore | None, place: Place, waiters: Waiters | None) -> None:
        self._slots, self._place, self._waiters = slots, place, waiters
        self._slotted = self._placed = False

    async def __aenter__(self) -> Place:
        try:
            if self._slots is not None:
                if self._slots.locked():
                    with self._standing():
                        self._slotted = await self._slots.acquire()
                else:
                    self._slotted = await self._slots.acquire()
            self._placed = self._place.enter()
            if not self._placed:
                with self._standing():
                    await self._place.turn()
                    self._placed = True
        except BaseException as error:
            await self.__aexit__(type(error))
            raise
        return self._place

    def _standing(self) -> AbstractContextManager[object]:
        return Standing(self._waiters, self._place) if self._waiters is not None else nullcontext()

    async def __aexit__(self, *error: object) -> None:
        if self._slotted and self._slots is not None:
            self._slots.release()
        if self._placed:
            await self._place.__aexit__(*error)


class Standing:
    """The call is held by our own limits, but not while the server asked for a pause.

    It may name any time, and a sample has no more than its own; it is not us who hold it back then.
    """

    __slots__ = ("_loop", "_place", "_stands", "_timer", "_waiters", "_wake")

    def __init__(self, waiters: Waiters, place: Place) -> None:
        self._waiters, self._place, self._stands = waiters, place, False
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._wake: Callable[[], object] | None = lambda: self._loop.call_soon_threadsafe(self._look)

    def __enter__(self) -> None:
        self._look()

    def __exit__(self, *error: object) -> None:
        if self._wake is not None:
            self._place.watch_no_more(self._wake)
            self._wake = None
        if self._timer is not None:
            self._timer.cancel()
        self._stand(False)

    def _look(self) -> None:
        if self._wake is None:  # it was called for before the end
            return
        if self._timer is not None:
            self._timer.cancel()
        left = self._place.watch(self._wake)
        self._timer = self._loop.call_later(left, self._look) if left else None
        if left:
            self._waiters.server_asked(self._place.asked_to_wait())
        self._stand(not left)

    def _stand(self, stands: bool) -> None:
        if stands != self._stands:
            self._stands = stands
            if stands:
                self._waiters.stop()
            else:
                self._waiters.start()


@contextmanager
def standing(waiters: Waiters | None) -> Generator[None]:
    """The call is held: by the budget, or by another process that pays for it."""
    if waiters is None:
        yield
        return
    waiters.stop()
    try:
        yield
    finally:
        waiters.start()
