"""The bridge: an interrupted caller waits until its coroutine has put its things in order."""

import asyncio
import time

import pytest

from judgegraph.runtime import bridge
from judgegraph.runtime.bridge import run_sync


def interrupt_soon(monkeypatch):
    """`Future.result` as a thread sees it that an interrupt reaches."""

    def interrupted(self, timeout=None):
        time.sleep(0.2)
        raise KeyboardInterrupt

    monkeypatch.setattr(bridge.Future, "result", interrupted)


def test_an_interrupted_coroutine_has_ended_before_its_caller_goes_on(monkeypatch):
    done = []

    async def work():
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.2)
            done.append("in order")

    interrupt_soon(monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        run_sync(work())
    assert done == ["in order"]


def test_a_coroutine_that_will_not_end_is_left_after_a_while(monkeypatch):
    async def work():
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(3)

    interrupt_soon(monkeypatch)
    monkeypatch.setattr(bridge, "GRACE", 0.2)
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run_sync(work())
    assert time.monotonic() - start < 2


@pytest.mark.parametrize("error", [ValueError("v"), SystemExit(3)])
def test_what_a_coroutine_raises_reaches_its_caller_and_the_loop_lives_on(error):
    async def work():
        raise error

    async def four():
        return 4

    with pytest.raises(type(error)) as raised:
        run_sync(work())
    assert raised.value is error
    assert run_sync(four()) == 4
