"""Calls under way: of all who want one at the same moment one pays, and the others wait for it."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from judgegraph.errors import ConfigError, ReplyError


@dataclass
class Flight:
    """A call under way, and how many wait for it. `second`: one before it failed for some who now wait for it."""

    task: asyncio.Task[bytes]
    second: bool = False
    waiters: int = 0


class Flights:
    """The calls under way by their addresses; used from one event loop."""

    def __init__(self) -> None:
        self._flights: dict[bytes, Flight] = {}

    def __contains__(self, address: bytes) -> bool:
        return address in self._flights

    async def join(self, address: bytes, pay: Callable[[], Awaitable[bytes]]) -> tuple[bytes, bool]:
        """What `pay` gives, or what it gave another who called it for this address; and whether it was another.

        Its being cancelled does not cancel what the others wait for. Where it fails in a way that asking again cannot
        help, it fails for all who wait; else the next of them tries, and what becomes of that holds for all of them.
        """
        failed = False
        while (flight := self._flights.get(address)) is not None:
            try:
                return await self._wait(address, flight), True
            except Exception as error:
                self._landed(address, flight)  # who comes just as it ends is here before its callback
                if failed or flight.second or _final(error):
                    raise _own(error) from None
                failed = getattr(error, "status", "") != "over_budget"  # nothing was sent then
        flight = Flight(asyncio.ensure_future(pay()), failed)
        self._flights[address] = flight
        flight.task.add_done_callback(lambda _: self._landed(address, flight))
        return await self._wait(address, flight), False

    async def _wait(self, address: bytes, flight: Flight) -> bytes:
        flight.waiters += 1
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.waiters -= 1
            if not flight.waiters and not flight.task.done():
                self._landed(address, flight)
                flight.task.cancel()  # nobody wants it any more

    def _landed(self, address: bytes, flight: Flight) -> None:
        if self._flights.get(address) is flight:
            del self._flights[address]
        if flight.task.done() and not flight.task.cancelled():
            flight.task.exception()  # seen, also where every waiter was cancelled


def _final(error: Exception) -> bool:
    """A refused key, a ledger that cannot be written, a request that no server will take: it is so for all alike."""
    return isinstance(error, ConfigError) or (isinstance(error, ReplyError) and error.final)


def _own(error: Exception) -> Exception:
    """A failure of one's own: what a graph notes on the one that is shared is not for others to read."""
    if not isinstance(error, ReplyError):
        return error
    own = copy.copy(error)
    vars(own).pop("__notes__", None)
    return own
