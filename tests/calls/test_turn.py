"""A sample's clock stands while it waits for our own limits, and runs in a pause that the server asked for."""

import asyncio

import pytest

from judgegraph.calls.call import RequestSlot
from judgegraph.calls.context import UnitCalls, Waiters
from judgegraph.calls.limits import Limiter


async def waits(limiter, then, slots=None, timeout=0.2):
    """Whether a sample that waits for its turn meets its timeout while the others do something."""
    sample, waiters = UnitCalls(), Waiters()
    others = asyncio.create_task(then)
    try:
        async with asyncio.timeout(timeout) as sample.clock:
            waiters.join(sample)
            async with RequestSlot(slots, limiter.ticket(1), waiters):
                return False
    except TimeoutError:
        return True
    finally:
        await others


async def throttled(limiter, place, wait, after=0.05):
    await asyncio.sleep(after)
    place.throttled(wait)


async def ends(place, after):
    await asyncio.sleep(after)
    await place.__aexit__(None)


def full(in_flight=1):
    limiter = Limiter()
    limiter.change(None, None, in_flight)
    place = limiter.ticket(1)
    assert place.enter()
    return limiter, place


def test_the_clock_stands_while_a_sample_waits_for_our_own_limit():
    async def meets():
        limiter, place = full()
        return await waits(limiter, ends(place, 0.5))

    assert not asyncio.run(meets())


def test_the_clock_runs_in_a_pause_that_was_there_before():
    async def meets():
        limiter, place = full(in_flight=64)
        place.throttled(30.0)
        return await waits(limiter, asyncio.sleep(0))

    assert asyncio.run(meets())


@pytest.mark.parametrize("slots", [False, True], ids=["in the queue of the judge", "for a slot of the run"])
def test_the_clock_runs_from_when_the_server_asks_for_a_pause(slots):
    async def meets():
        limiter, place = full()
        taken = asyncio.Semaphore(0) if slots else None
        return await waits(limiter, throttled(limiter, place, 30.0), taken)

    assert asyncio.run(asyncio.wait_for(meets(), 5))


def test_after_the_pause_the_clock_stands_again():
    async def meets():
        limiter, place = full()

        async def then():
            await throttled(limiter, place, 0.1)
            await ends(place, 0.6)

        return await waits(limiter, then())

    assert not asyncio.run(meets())


def test_whoever_waits_no_longer_is_not_told_of_pauses():
    async def left():
        limiter, place = full()
        await waits(limiter, ends(place, 0.05))
        return limiter.watching

    assert not asyncio.run(left())
