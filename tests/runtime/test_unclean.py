"""Unclean exits: who was to blame is found by being alone, and who made progress is not to blame."""

import os
import signal

import pytest
from small import graph_of, process, samples

import judgegraph as jg
from judgegraph.calls.context import unit
from judgegraph.runtime.folder import Folder
from judgegraph.runtime.inflight import InFlight
from judgegraph.runtime.journal import STRIKE
from judgegraph.runtime.work import POISON
from judgegraph.types import EvalState

POISONED = """
import asyncio
from judgegraph.types import EvalState
async def node(state: EvalState) -> EvalState:
    print(state["sample"].id, flush=True)
    await asyncio.sleep(0)
    if state["sample"].id == "s3":
        os._exit(7)
    return await fine(state)
run = jg.evaluate(graph_of(node), samples(8), out=sys.argv[1], concurrency=int(sys.argv[2]))
print(run.manifest["state"])
"""


def start(out, concurrency):
    with process(POISONED, out, concurrency) as run:
        printed, said = run.communicate(timeout=60)
    assert said == ""
    return run.returncode, printed.split()


@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_poison_sample_is_given_up_at_the_third_exit_and_all_others_are_scored(concurrency, tmp_path):
    codes = [start(tmp_path, concurrency) for _ in range(4)]
    assert [code for code, _ in codes] == [7, 7, 7, 0]
    assert codes[2][1][-1] == "s3"  # alone, after all others
    assert codes[3][1] == ["finished"]
    items = {item.id: (item.status, item.reason) for item in jg.Run.load(tmp_path).items}
    assert items.pop("s3") == ("agent_error", POISON)
    assert set(items.values()) == {("ok", "")}
    assert len(items) == 7


def struck(out, strikes, count=3):
    """A folder as so many unclean exits leave it, all samples in flight."""
    code = """
from judgegraph.types import EvalState
async def node(state: EvalState) -> EvalState:
    import asyncio
    print("in", flush=True)
    await asyncio.sleep(60)
jg.evaluate(graph_of(node), samples(int(sys.argv[2])), out=sys.argv[1])
"""
    for _ in range(strikes):
        with process(code, out, count) as run:
            for _ in range(count if strikes < 2 else 1):
                assert run.stdout.readline() == "in\n"
            run.kill()
            run.wait(timeout=10)


def strikes(out, count=3):
    from judgegraph.runtime.lines import id_digest

    folder = Folder(out)
    folder.open(1)
    found = [folder.journal.known(id_digest(f"s{i}")) for i in range(count)]
    folder.close()
    return [known.strikes if known else 0 for known in found]


def test_a_killed_run_strikes_what_was_in_flight(tmp_path):
    struck(tmp_path, 1)
    assert strikes(tmp_path) == [STRIKE] * 3


def test_an_end_in_order_strikes_nobody(tmp_path):
    async def node(state: EvalState) -> EvalState:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        jg.evaluate(graph_of(node), samples(3), out=tmp_path)
    assert strikes(tmp_path) == [0, 0, 0]


def test_a_new_reply_takes_the_strikes_away(tmp_path):
    """A machine that is preempted again and again condemns nobody who came further each time."""
    struck(tmp_path, 1)
    seen = []

    async def node(state: EvalState) -> EvalState:
        calls = unit.get()
        if state["sample"].id == "s1":
            assert calls.progressed is not None
            calls.progressed()
            seen.extend(strikes_now())
        raise KeyboardInterrupt

    def strikes_now():
        import sqlite3

        db = sqlite3.connect(tmp_path / "journal.sqlite")
        found = [row[0] for row in db.execute("SELECT strikes FROM samples ORDER BY place")]
        db.close()
        return found

    with pytest.raises(KeyboardInterrupt):
        jg.evaluate(graph_of(node), samples(3), out=tmp_path)
    assert seen == [STRIKE, 0, STRIKE]


def test_an_exit_while_a_struck_sample_waits_for_a_reply_counts_for_a_third(tmp_path):
    struck(tmp_path, 1)
    folder, found = tmp_path / ".inflight", {}

    async def node(state: EvalState) -> EvalState:
        calls, id = unit.get(), state["sample"].id
        for more in (1, 1, -1, -1):
            calls.waits(more)
            found.setdefault(id, []).append(sum(mark.waiting for mark in marks()))
        return {}

    def marks():
        flight = InFlight(folder)
        try:
            return list(flight.left())
        finally:
            flight.close()

    jg.evaluate(graph_of(node), samples(3), out=tmp_path, concurrency=1)
    assert found == {f"s{i}": [1, 1, 1, 0] for i in range(3)}


def test_a_sample_without_strikes_has_no_hook_to_pay_for(tmp_path):
    hooks = []

    async def node(state: EvalState) -> EvalState:
        hooks.extend([unit.get().progressed, unit.get().waits])
        return {}

    jg.evaluate(graph_of(node), samples(2), out=tmp_path)
    assert hooks == [None] * 4


def test_with_two_strikes_samples_run_one_at_a_time(tmp_path):
    folder = Folder(tmp_path)
    folder.open(1)
    from judgegraph.runtime.lines import mark_of

    marks = [mark_of(sample, place) for place, sample in enumerate(samples(4))][:2]
    folder.journal.strike(marks)
    folder.journal.strike(marks)
    folder.begun()
    folder.close()
    now, most, order = set(), {}, []

    async def node(state: EvalState) -> EvalState:
        import asyncio

        id = state["sample"].id
        order.append(id)
        now.add(id)
        await asyncio.sleep(0.02)
        most[id] = len(now)
        now.discard(id)
        return {}

    jg.evaluate(graph_of(node), samples(4), out=tmp_path)
    assert order == ["s2", "s3", "s0", "s1"]
    assert (most["s0"], most["s1"]) == (1, 1)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_an_exit_by_a_signal_is_an_unclean_one(number, tmp_path):
    code = POISONED.replace("os._exit(7)", f"__import__('signal').raise_signal({int(number)})")
    with process(code, tmp_path, 1) as run:
        run.communicate(timeout=60)
    assert run.returncode == -number
    assert strikes(tmp_path, 8) == [0, 0, 0, STRIKE, 0, 0, 0, 0]
    assert os.path.exists(tmp_path / ".lock")
