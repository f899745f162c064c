"""A budget is of all a run's processes together, wherever they paid."""

import asyncio
import json
import os
import threading
from collections import Counter

import pytest
from small import graph_of, samples

import judgegraph as jg
from judgegraph.calls import ask
from judgegraph.calls.budget import Budget
from judgegraph.graphs import llm_score
from judgegraph.runs.evaluate import carried, spent_in
from judgegraph.testing import scripted
from judgegraph.types import Score, keyed

GOOD = {"reason": "r", "score": 4}
CRITERION = jg.Criterion(name="Clarity")


@pytest.fixture
def out(tmp_path):
    return tmp_path / "run"


@pytest.fixture
def judge():
    return scripted(*[GOOD] * 20)


def go(judge, out, cap, **settings):
    graph = llm_score(judge, criteria=[CRITERION])
    run = jg.evaluate(graph, samples(9), out=out, budget=Budget(calls=cap), concurrency=1, **settings)
    return run.manifest["spent"]["calls"], len(judge.calls)


def another(out):
    return {"ledger": out.with_name("other.sqlite")}


def deleted(out):
    (out / "ledger.sqlite").unlink()
    return {}


def nameless(out):
    manifest = json.loads((out / "manifest.json").read_text())
    del manifest["run"]
    (out / "manifest.json").write_text(json.dumps(manifest))
    return {}


@pytest.mark.parametrize("change", [another, deleted, nameless])
def test_what_was_spent_is_not_forgotten(change, judge, out):
    assert go(judge, out, 3) == (3, 3)
    settings = change(out)
    assert go(judge, out, 3, **settings) == (3, 3)
    assert go(judge, out, 5, **settings) == (5, 5)
    assert go(judge, out, 5) == (5, 5)
    assert go(judge, out, 7, **settings) == (7, 7)


def test_a_ledger_that_is_gone_back_to_is_not_counted_twice(judge, out):
    other = another(out)
    for cap, settings in ((2, {}), (4, other), (6, {}), (8, other)):
        assert go(judge, out, cap, **settings) == (cap, cap)


@pytest.mark.parametrize("then", [{}, {"ledger": "other.sqlite"}], ids=["the same ledger", "another one"])
def test_what_a_killed_process_paid_counts(then, judge, out, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    go(judge, out, 2)
    before = (out / "manifest.json").read_bytes()
    go(judge, out, 5)
    (out / "manifest.json").write_bytes(before)  # a killed process wrote no manifest at its end
    assert go(judge, out, 5, **then) == (5, 5)


def test_a_folder_that_was_moved_keeps_what_was_spent(judge, out):
    go(judge, out, 3)
    os.rename(out, out.with_name("moved"))
    assert go(judge, out.with_name("moved"), 3) == (3, 3)


@pytest.mark.parametrize("spent", [None, [], {"calls": "many"}, {"calls": -4, "usd": float("inf")}])
def test_a_manifest_that_does_not_tell_counts_for_nothing(spent):
    assert spent_in(spent) == (0,) * 7


def test_each_field_has_its_larger_count(tmp_path):
    class Paid:
        path, run = tmp_path / "l", "r"

        def spent(self):
            return (2, 50, 10, 0.5, 0, 0, 4)

    earlier = {
        "spent": {"calls": 3, "prompt_tokens": 20, "usd": 0.1},
        "ledger": os.path.relpath(tmp_path / "l", tmp_path),
    }
    spent, before = carried(earlier, Paid(), tmp_path)
    assert spent == (3, 50, 10, 0.5, 0, 0, 4)
    assert before == (1, 0, 0, 0, 0, 0, 0)


@pytest.mark.parametrize("cap", ["calls", "tokens"])
def test_half_a_budget_brings_half_of_the_samples_to_their_end(cap):
    """At the default concurrency all of them would be begun, and few would be finished."""
    steps, count = 4, 60

    async def judged(state: jg.EvalState) -> jg.EvalState:
        for step in range(steps):
            await ask(judge, f"{state['sample'].id}, step {step}", max_tokens=10)
            await asyncio.sleep(0.002)
        return {"scores": keyed(Score(criterion="Clarity", agent="a", value=3))}

    judge = scripted(*["fine"] * steps * count)
    whole = jg.evaluate(graph_of(judged), samples(count)).manifest["spent"]
    taken = {"calls": whole["calls"], "tokens": whole["prompt_tokens"] + whole["completion_tokens"]}[cap]
    judge = scripted(*["fine"] * steps * count)
    run = jg.evaluate(graph_of(judged), samples(count), budget=Budget(**{cap: taken // 2}))
    statuses = Counter(item.status for item in run.items)
    assert 0.8 * count / 2 <= statuses["ok"] <= count / 2
    assert statuses["ok"] + statuses["over_budget"] == count


def test_a_budget_that_is_enough_keeps_nobody_waiting():
    busy = most = 0

    async def judged(state: jg.EvalState) -> jg.EvalState:
        nonlocal busy, most
        busy += 1
        most = max(most, busy)
        await ask(judge, state["sample"].id)
        await asyncio.sleep(0.02)
        busy -= 1
        return {"scores": keyed(Score(criterion="Clarity", agent="a", value=3))}

    judge = scripted(*["fine"] * 100)
    run = jg.evaluate(graph_of(judged), samples(100), budget=Budget(calls=10_000), concurrency=32)
    assert {item.status for item in run.items} == {"ok"}
    assert most == 32


def test_a_run_that_is_stopped_while_samples_wait_for_room_ends_as_stopped(out):
    stop = threading.Event()

    async def judged(state: jg.EvalState) -> jg.EvalState:
        stop.set()
        return {"scores": keyed(Score(criterion="Clarity", agent="a", value=3))}

    run = jg.evaluate(graph_of(judged), samples(50), out=out, budget=Budget(calls=9), stop=stop)
    assert run.manifest["state"] == "stopped"
    assert 1 <= len(list(run.items)) <= 8
