"""The bridge: an interrupted caller waits until its coroutine has put its things in order."""

import asyncio
import threading
import time

import pytest

from judgegraph.errors import ConfigError
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


def test_the_first_interrupt_waits_for_what_can_come_to_its_end(monkeypatch):
    stop, done = threading.Event(), []

    async def work():
        while not stop.is_set():  # noqa: ASYNC110 - set by another thread
            await asyncio.sleep(0.01)
        done.append("all")

    interrupt_soon(monkeypatch)
    with pytest.raises(KeyboardInterrupt) as raised:
        run_sync(work(), drain=stop.set)
    assert done == ["all"]
    assert not hasattr(raised.value, "__notes__")


def test_what_goes_wrong_after_the_first_interrupt_is_noted_on_it(monkeypatch):
    stop = threading.Event()

    async def work():
        while not stop.is_set():  # noqa: ASYNC110 - set by another thread
            await asyncio.sleep(0.01)
        raise ConfigError("the disk is full")

    interrupt_soon(monkeypatch)
    with pytest.raises(KeyboardInterrupt) as raised:
        run_sync(work(), drain=stop.set)
    assert raised.value.__notes__ == ["ConfigError: the disk is full"]


def test_a_second_interrupt_cancels(monkeypatch):
    ended = []

    async def work():
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("cancelled")

    def interrupted(self, timeout=None):
        time.sleep(0.1)
        raise KeyboardInterrupt

    interrupt_soon(monkeypatch)
    monkeypatch.setattr(bridge.Future, "exception", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_sync(work(), drain=lambda: None)
    assert ended == ["cancelled"]
