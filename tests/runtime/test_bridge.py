"""The bridge: an interrupted caller waits until its coroutine has put its things in order."""

import asyncio
import os
import subprocess
import threading
import time

import pytest
from small import process

from judgegraph import compiled as bridge
from judgegraph.compiled import run_sync
from judgegraph.errors import ConfigError


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
            await asyncio.sleep(9)

    interrupt_soon(monkeypatch)
    monkeypatch.setattr(bridge, "GRACE", 0.2)
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run_sync(work())
    assert time.monotonic() - start < 6


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


def test_a_run_within_a_run_on_its_own_thread_is_refused_and_not_waited_for():
    async def inner():
        return 1

    async def outer():
        return run_sync(inner())

    with pytest.raises(ConfigError, match=r"in an async node write 'await judgegraph\.inner\("):
        run_sync(outer())


def test_another_thread_of_a_run_may_begin_one():
    async def inner():
        return 1

    async def outer():
        return await asyncio.to_thread(lambda: run_sync(inner()))

    assert run_sync(outer()) == 1


FORKED = """
import os, sys, time
import judgegraph as jg
from small import fine, graph_of, samples
from judgegraph.calls.limits import limiter_of
from judgegraph.models.judges import Endpoint
from judgegraph.models.judges import Judge

limiter = limiter_of(Judge("a", None, Endpoint(model="openai:a", base_url="http://a/v1"), True))
limiter.ticket(1).enter()
limiter._lock.acquire()  # by another thread, in earnest
jg.evaluate(graph_of(fine), samples(2))
child = os.fork()
if not child:
    limiter.change(None, None, 1)
    assert limiter.ticket(1).enter(), "nothing is in flight here"
    print(len(list(jg.evaluate(graph_of(fine), samples(3)).items)), flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print(len(list(jg.evaluate(graph_of(fine), samples(4)).items)), flush=True)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.long
def test_a_forked_child_runs_on_a_loop_of_its_own_and_so_does_the_parent():
    with process(FORKED) as running:
        try:
            out, said = running.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            running.kill()
            raise
    assert (out.split(), running.returncode) == (["3", "4"], 0), said
