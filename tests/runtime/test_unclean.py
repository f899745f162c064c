"""Unclean exits: who was to blame is found by being alone, and who made progress is not to blame."""

import os
import signal

import pytest
from small import Judged, graph_of, process, samples

import judgegraph as jg
from judgegraph.calls.context import unit
from judgegraph.data.samples import mark_of
from judgegraph.runs.folder import Folder, InFlight
from judgegraph.runs.item import STRIKE
from judgegraph.runs.worker import POISON
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
@pytest.mark.long
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
    from judgegraph.runs.lines import id_digest

    folder = Folder(out)
    folder.open(1)
    found = [folder.journal.known(id_digest(f"s{i}")) for i in range(count)]
    folder.close()
    return [known.strikes if known else 0 for known in found]


@pytest.mark.long
def test_a_killed_run_strikes_what_was_in_flight(tmp_path):
    struck(tmp_path, 1)
    assert strikes(tmp_path) == [STRIKE] * 3


def test_an_end_in_order_strikes_nobody(tmp_path):
    async def node(state: EvalState) -> EvalState:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        jg.evaluate(graph_of(node), samples(3), out=tmp_path)
    assert strikes(tmp_path) == [0, 0, 0]


@pytest.mark.long
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


@pytest.mark.long
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


def ended(out, *exits):
    """A folder as unclean exits leave it: for each the samples in flight, with a minus if one waited."""
    folder = Folder(out)
    folder.open(1)
    marks = [mark_of(sample, place) for place, sample in enumerate(samples(10))]
    for places in exits:
        folder.journal.count_crash([marks[abs(place)]._replace(waiting=place < 0) for place in places])
    folder.begun()
    folder.close()


@pytest.mark.parametrize(
    ("own", "others", "given_up"),
    [
        (2, 1, False),
        (3, 0, True),
        (3, 3, True),
        (3, 4, False),
        (4, 3, True),
        (5, 9, True),
        (6, 94, False),
        (7, 93, True),
    ],
)
def test_the_oftener_a_run_is_killed_the_more_strikes_it_takes_to_give_a_sample_up(own, others, given_up, tmp_path):
    """A sample that is met alone by some of many kills from outside did nothing wrong."""
    ended(tmp_path, *[[0]] * own, *[[1 + i % 9] for i in range(others)])
    jg.evaluate(Judged().graph, samples(1), out=tmp_path)
    (item,) = jg.Run.load(tmp_path).items
    assert (item.status, item.reason) == (("agent_error", POISON) if given_up else ("ok", ""))


def test_what_was_given_up_is_judged_again_by_a_retry(tmp_path):
    ended(tmp_path, [0, 1], [0, 1], [0, 1])
    run = jg.evaluate(Judged().graph, samples(4), out=tmp_path)
    assert [item.reason for item in run.items if item.status != "ok"] == [POISON] * 2
    judged = Judged()
    run = jg.evaluate(judged.graph, samples(4), out=tmp_path, retry_failed=True)
    assert sorted(judged.seen) == ["s0", "s1"]
    assert [item.status for item in run.items] == ["ok"] * 4


def test_the_most_suspicious_sample_runs_last(tmp_path):
    ended(tmp_path, [1, 2], [1, 2], [-1], [3])
    judged = Judged()
    jg.evaluate(judged.graph, samples(5), out=tmp_path, concurrency=1)
    assert judged.seen == ["s0", "s3", "s4", "s2", "s1"]


def test_with_two_strikes_samples_run_one_at_a_time(tmp_path):
    ended(tmp_path, [0, 1], [0, 1])
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


@pytest.mark.parametrize("number", [signal.SIGKILL, pytest.param(signal.SIGSEGV, marks=pytest.mark.long)])
def test_an_exit_by_a_signal_is_an_unclean_one(number, tmp_path):
    code = POISONED.replace("os._exit(7)", f"__import__('signal').raise_signal({int(number)})")
    with process(code, tmp_path, 1) as run:
        run.communicate(timeout=60)
    assert run.returncode == -number
    assert strikes(tmp_path, 8) == [0, 0, 0, STRIKE, 0, 0, 0, 0]
    assert os.path.exists(tmp_path / ".lock")
