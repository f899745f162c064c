"""The same command goes on: nothing finished is repeated, and nothing that was said before becomes untrue."""

import asyncio
import json
import os
import signal
import threading
import time

import pytest
from small import Judged, fine, graph_of, ids, process, samples

import judgegraph as jg
from judgegraph.calls.budget import Budget
from judgegraph.errors import ConfigError, DataError
from judgegraph.graphs import llm_score
from judgegraph.testing import scripted
from judgegraph.types import EvalState, Sample, Score, keyed

GOOD, BAD = {"reason": "r", "score": 4}, "I would rather not say."
CRITERION = jg.Criterion(name="Clarity")
ROWS = [{"id": f"s{i}", "output": f"text {i}"} for i in range(6)]

OTHER = {"id": "s4", "output": "other"}


@pytest.fixture
def out(tmp_path):
    return tmp_path / "run"


def stopping(after):
    """`on_item` and `stop`, so that a run stops in order after so many items."""
    stop, seen = threading.Event(), []

    def on_item(item):
        seen.append(item)
        if len(seen) == after:
            stop.set()

    return {"on_item": on_item, "stop": stop, "concurrency": 1}


def test_a_stopped_run_goes_on_where_it_was_stopped(out):
    judged = Judged()
    first = jg.evaluate(judged.graph, samples(9), out=out, **stopping(4))
    assert (first.manifest["state"], len(judged.seen)) == ("stopped", 4)
    again = jg.evaluate(judged.graph, samples(9), out=out)
    assert judged.seen == [f"s{i}" for i in range(9)]
    assert again.manifest["state"] == "finished"
    assert again.manifest["samples"] == {"done": 9, "failed": 0, "over_budget": 0, "total": 9}
    assert again.manifest["run"] == first.manifest["run"]
    assert again.manifest["started"] == first.manifest["started"]


def test_a_finished_run_makes_no_call_when_it_is_started_again(out):
    judge = scripted(*[GOOD] * 3)
    graph = llm_score(judge, criteria=[CRITERION])
    jg.evaluate(graph, samples(3), out=out)
    again = jg.evaluate(graph, samples(3), out=out)
    assert len(judge.calls) == 3
    assert again.manifest["spent"]["calls"] == again.manifest["calls"]["requests"] == 3


def killed(out, count, at):
    """A run whose process is killed in the sample `at`, the ones before it finished."""
    code = """
import signal
async def node(state):
    if state["sample"].id == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)
    return await fine(state)
from judgegraph.types import EvalState
node.__annotations__ = {"state": EvalState, "return": EvalState}
jg.evaluate(graph_of(node), samples(int(sys.argv[3])), out=sys.argv[1], concurrency=1)
"""
    with process(code, out, at, count) as run:
        said = run.communicate(timeout=60)[1]
    assert run.returncode == -signal.SIGKILL, said


@pytest.mark.long
def test_after_a_kill_only_what_was_not_finished_is_judged(out, same_configuration):
    killed(out, 9, "s5")
    assert jg.Run.load(out).manifest["state"] == "running"
    judged = Judged()
    run = jg.evaluate(judged.graph, samples(9), out=out)
    assert judged.seen == ["s5", "s6", "s7", "s8"]
    assert sorted(ids(run.items)) == [f"s{i}" for i in range(9)]


@pytest.fixture
def same_configuration(monkeypatch):
    """Nodes of different code count as the same."""
    monkeypatch.setattr("judgegraph.runs.evaluate.differences", lambda old, new: [])


def test_a_changed_configuration_is_refused_with_the_difference(out):
    judge = scripted(*[GOOD] * 5)
    jg.evaluate(llm_score(judge, criteria=[CRITERION]), samples(1), out=out)
    kept = ("items.jsonl", "manifest.json", "ledger.sqlite")
    before = [(out / name).read_bytes() for name in kept]
    other = jg.Criterion(name="Clarity", definition="It is clear.")
    with pytest.raises(
        ConfigError, match=r"(?s)another configuration:\n  .*definition.*It is clear.*--ledger"
    ) as error:
        jg.evaluate(llm_score(judge, criteria=[other]), samples(1), out=out)
    assert str(out) in str(error.value)
    assert [(out / name).read_bytes() for name in kept] == before
    jg.evaluate(llm_score(judge, criteria=[other]), samples(1), out=out.with_name("new"))
    assert len(judge.calls) == 2


def test_a_new_folder_with_the_old_ledger_pays_only_for_what_changed(out):
    judge = scripted(*[GOOD] * 5)
    jg.evaluate(llm_score(judge, criteria=[CRITERION]), samples(2), out=out)
    graph = llm_score(judge, criteria=[CRITERION])
    run = jg.evaluate(graph, samples(3), out=out.with_name("new"), ledger=out / "ledger.sqlite")
    assert (len(judge.calls), run.manifest["spent"]["calls"]) == (3, 1)


@pytest.mark.parametrize("items", ["", "notes of mine, without an end"], ids=["a run's", "somebody's"])
def test_a_folder_with_items_but_no_manifest_is_refused_and_left_alone(items, out):
    jg.evaluate(graph_of(fine), samples(2), out=out)
    (out / "manifest.json").unlink()
    if items:
        (out / "items.jsonl").write_text(items)
    before = (out / "items.jsonl").read_bytes()
    with pytest.raises(ConfigError, match="no manifest that says of which configuration"):
        jg.evaluate(graph_of(fine), samples(2), out=out)
    assert (out / "items.jsonl").read_bytes() == before


def test_a_result_that_no_file_can_hold_fails_its_sample_only(out):
    async def node(state: EvalState) -> EvalState:
        text = "\ud800" if state["sample"].id == "s1" else "fine"
        return {"scores": keyed(Score(criterion="Clarity", agent="a", value=3, reason=text))}

    run = jg.evaluate(graph_of(node), samples(3), out=out)
    assert {item.id: item.status for item in run.items} == {"s0": "ok", "s1": "agent_error", "s2": "ok"}


def test_a_known_id_with_another_content_is_refused_as_it_comes(out):
    judged = Judged()
    jg.evaluate(judged.graph, samples(3), out=out)
    changed = [*samples(1), Sample(id="s1", output="other"), *samples(4, 2)]
    with pytest.raises(DataError, match=r"sample 's1' \(number 2\) is not what it was"):
        jg.evaluate(judged.graph, iter(changed), out=out)
    assert judged.seen == ["s0", "s1", "s2"]


def data(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return jg.load(path)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([*ROWS[:4], OTHER, ROWS[5]], r"1 judged samples changed, 0 gone, 0 new.*'s4' \(number 5\)"),
        (ROWS[1:], "0 judged samples changed, 1 gone, 0 new"),
        ([*ROWS[2:], {"id": "n", "output": "new"}], "0 judged samples changed, 2 gone, 1 new"),
    ],
    ids=["a row changed", "a row is gone", "some went and one came"],
)  # fmt: skip
def test_a_file_that_changed_is_refused_before_anything_is_judged(rows, said, out):
    judged = Judged()
    path = out.with_name("data.jsonl")
    jg.evaluate(judged.graph, data(path, ROWS), out=out)
    judged.seen.clear()
    with pytest.raises(DataError, match=said):
        jg.evaluate(judged.graph, data(path, rows), out=out)
    assert judged.seen == []
    assert jg.Run.load(out).manifest["state"] == "finished"


def test_rows_that_were_added_are_taken_up(out):
    judged = Judged()
    path = out.with_name("data.jsonl")
    jg.evaluate(judged.graph, data(path, ROWS), out=out)
    jg.evaluate(judged.graph, data(path, [*ROWS, {"id": "new", "output": "x"}]), out=out)
    assert judged.seen[6:] == ["new"]


def test_fewer_samples_than_before_may_be_asked_for_after_the_file_grew(out):
    judged = Judged()
    path = out.with_name("data.jsonl")
    jg.evaluate(judged.graph, data(path, ROWS), out=out)
    judged.seen.clear()
    text = path.read_text() + json.dumps({"id": "new", "output": "x"}) + "\nno row\n"
    path.write_text(text)
    run = jg.evaluate(judged.graph, jg.load(path, limit=2), out=out)
    assert judged.seen == []
    assert run.manifest["samples"]["done"] == 6
    path.write_text("\n".join(text.splitlines()[1:]))
    with pytest.raises(DataError, match="0 judged samples changed, 1 gone, 1 new"):
        jg.evaluate(judged.graph, jg.load(path, limit=2), out=out)


def test_an_export_stands_in_the_order_of_the_dataset_also_after_rows_were_moved(out):
    path = out.with_name("data.jsonl")
    graph = Judged().graph
    jg.evaluate(graph, data(path, ROWS), out=out)
    jg.evaluate(graph, data(path, ROWS[::-1]), out=out).export(out / "export.jsonl")
    found = [json.loads(line)["sample"]["id"] for line in (out / "export.jsonl").read_text().splitlines()]
    assert found == [row["id"] for row in ROWS[::-1]]


def test_an_export_has_no_times_and_does_not_depend_on_how_it_was_run(out):
    async def slow(state: EvalState) -> EvalState:
        await asyncio.sleep(0.02 if state["sample"].id in ("s0", "s3") else 0)
        return await fine(state)

    texts = []
    for number, settings in enumerate([{"concurrency": 1}, {"concurrency": 5}, {"concurrency": 3, "out": out}]):
        path = out.with_name(f"{number}.jsonl")
        jg.evaluate(graph_of(slow), samples(5), **settings).export(path)
        texts.append(path.read_text())
    assert len(set(texts)) == 1
    assert '"ms"' not in texts[0]


HOLD = """
import threading
async def node(state):
    print("in", flush=True)
    sys.stdin.read()
    return {}
from judgegraph.types import EvalState
node.__annotations__ = {"state": EvalState, "return": EvalState}
jg.evaluate(graph_of(node), samples(1), out=sys.argv[1])
"""


def test_a_second_run_on_a_folder_is_refused_at_once_and_a_killed_ones_place_is_free(out, same_configuration):
    with process(HOLD, out) as first:
        assert first.stdout.readline() == "in\n"
        with pytest.raises(ConfigError, match=rf"is being written by another run \(process {first.pid}\)"):
            jg.evaluate(graph_of(fine), samples(1), out=out)
        assert list(jg.Run.load(out).items) == []  # reading is free
        first.kill()
        first.wait(timeout=10)
    assert len(list(jg.evaluate(graph_of(fine), samples(1), out=out).items)) == 1


def test_the_items_of_a_run_can_be_read_while_it_goes_on(out):
    seen = []

    def on_item(item):
        run = jg.Run.load(out)
        seen.append((run.manifest["state"], len(list(run.items)), run.summary().samples["ok"]))

    jg.evaluate(graph_of(fine), samples(3), out=out, concurrency=1, on_item=on_item)
    assert seen == [("running", i, i) for i in (1, 2, 3)]


def test_a_retry_takes_up_the_failed_samples_and_no_new_ones(out):
    judged = Judged("s1", "s3")
    jg.evaluate(judged.graph, samples(5), out=out)
    judged.seen.clear()
    judged.fails = {"s3"}
    run = jg.evaluate(judged.graph, samples(8), out=out, retry_failed=True)
    assert sorted(judged.seen) == ["s1", "s3"]
    statuses = {item.id: item.scores[0].status for item in run.items}
    assert statuses == {"s0": "ok", "s1": "ok", "s2": "ok", "s3": "unreadable", "s4": "ok"}
    assert (out / "items.jsonl").read_text().count("\n") == 5


@pytest.mark.parametrize("status", ["abstained", "skipped"])
def test_who_abstained_did_not_fail(status, out):
    judged = Judged("s1", status=status)
    jg.evaluate(judged.graph, samples(2), out=out)
    judged.seen.clear()
    jg.evaluate(judged.graph, samples(2), out=out, retry_failed=True)
    assert judged.seen == []


def test_a_retry_needs_a_run(tmp_path):
    for out in (None, tmp_path / "none"):
        with pytest.raises(ConfigError, match="retry_failed needs the folder of a run"):
            jg.evaluate(graph_of(fine), samples(1), out=out, retry_failed=True)
    assert not (tmp_path / "none").exists()


def test_what_was_found_before_stays_where_a_retry_comes_to_less(out, same_configuration):
    """One of two scores could be read; in the retry the graph fails as a whole."""
    fail = []

    async def node(state: EvalState) -> EvalState:
        if fail:
            raise ValueError("down")
        return {
            "scores": keyed(Score(criterion="A", agent="a", value=3), Score(criterion="B", agent="a", status="timeout"))
        }

    graph = graph_of(node)
    first = list(jg.evaluate(graph, samples(2), out=out).items)
    fail.append(True)
    seen = []
    assert list(jg.evaluate(graph, samples(2), out=out, retry_failed=True, on_item=seen.append).items) == first
    assert seen  # of what came to less, what stands
    assert all(item in first for item in seen)


@pytest.mark.long
def test_a_success_is_not_replaced_by_the_older_failure_after_a_kill(out, same_configuration):
    """The first run fails, the retry succeeds and is killed before its journal is committed."""
    judged = Judged("s0", "s1")
    jg.evaluate(judged.graph, samples(2), out=out, concurrency=1)
    code = """
def on_item(item):
    os.kill(os.getpid(), 9)
import judgegraph.runs.evaluate as manifest
manifest.differences = lambda old, new: []
jg.evaluate(graph_of(fine), samples(2), out=sys.argv[1], concurrency=1, retry_failed=True, on_item=on_item)
"""
    with process(code, out) as run:
        assert run.communicate(timeout=60)[1] == ""
    assert run.returncode == -9
    for _ in range(2):
        statuses = {item.id: item.scores[0].status for item in jg.Run.load(out).items}
        assert statuses == {"s0": "ok", "s1": "unreadable"}
        judged.seen.clear()
        jg.evaluate(judged.graph, samples(2), out=out, concurrency=1)
        assert judged.seen == []
    jg.evaluate(graph_of(fine), samples(2), out=out, retry_failed=True)
    assert [item.scores[0].status for item in jg.Run.load(out).items] == ["ok", "ok"]


def test_a_reply_that_cannot_be_read_is_asked_for_once_more_in_a_retry(out):
    judge = scripted(*[BAD] * 3, GOOD)
    graph = llm_score(judge, criteria=[CRITERION])
    first = jg.evaluate(graph, samples(1), out=out)
    asked = len(judge.calls)
    assert [s.status for i in first.items for s in i.scores] == ["unreadable"]
    jg.evaluate(graph, samples(1), out=out)
    assert len(judge.calls) == asked
    judge.script[asked:] = [GOOD]
    again = jg.evaluate(graph, samples(1), out=out, retry_failed=True)
    assert [s.value for i in again.items for s in i.scores] == [4]
    assert len(judge.calls) == asked + 1


def test_a_reply_that_still_cannot_be_read_is_not_asked_for_for_ever(out):
    judge = scripted(*[BAD] * 9)
    graph = llm_score(judge, criteria=[CRITERION])
    jg.evaluate(graph, samples(1), out=out)
    asked = len(judge.calls)
    run = jg.evaluate(graph, samples(1), out=out, retry_failed=True)
    assert len(judge.calls) <= 2 * asked
    assert [s.status for i in run.items for s in i.scores] == ["unreadable"]


def test_what_a_budget_kept_from_its_end_is_taken_up_with_more(out):
    judge = scripted(*[GOOD] * 5)
    graph = llm_score(judge, criteria=[CRITERION])
    first = jg.evaluate(graph, samples(5), out=out, budget=Budget(calls=2), concurrency=1)
    statuses = [item.status for item in first.items]
    assert (statuses, len(judge.calls)) == (["ok", "ok", "over_budget", "over_budget", "over_budget"], 2)
    assert "the budget of 2 calls" in next(i.reason for i in first.items if i.status == "over_budget")
    assert first.manifest["state"] == "over_budget"
    same = jg.evaluate(graph, samples(5), out=out, budget=Budget(calls=2))
    assert (same.manifest["state"], len(judge.calls)) == ("over_budget", 2)  # what was spent counts
    more = jg.evaluate(graph, samples(5), out=out, budget=Budget(calls=9))
    assert ([item.status for item in more.items], more.manifest["state"]) == (["ok"] * 5, "finished")
    assert (more.manifest["spent"]["calls"], len(judge.calls)) == (5, 5)


def test_a_clock_that_is_set_back_changes_nothing(out, monkeypatch):
    judged, real = Judged(), time.time
    jg.evaluate(judged.graph, samples(9), out=out, **stopping(3))
    jumps = iter([-3600, 86400] * 10_000)
    monkeypatch.setattr(time, "time", lambda: real() + next(jumps))
    run = jg.evaluate(judged.graph, samples(9), out=out)
    assert judged.seen == [f"s{i}" for i in range(9)]
    assert {item.status for item in run.items} == {"ok"}
    assert all(0 <= item.ms < 60_000 for item in run.items)


def test_progress_counts_what_was_finished_before(out):
    jg.evaluate(graph_of(fine), samples(4), out=out)
    told = []
    jg.evaluate(graph_of(fine), samples(6), out=out, on_progress=told.append)
    assert (told[-1].done, told[-1].resumed, told[-1].by_status) == (6, 4, {"ok": 6})
    assert told[-1].seconds > 0


@pytest.mark.long
def test_an_interrupted_caller_has_what_was_in_flight(out):
    code = """
from judgegraph.types import EvalState
async def node(state: EvalState) -> EvalState:
    import asyncio
    print("in", flush=True)
    await asyncio.sleep(1)
    return {}
try:
    jg.evaluate(graph_of(node), samples(50), out=sys.argv[1], concurrency=3)
except KeyboardInterrupt:
    run = jg.Run.load(sys.argv[1])
    print(run.manifest["state"], len(list(run.items)))
"""
    with process(code, out) as run:
        assert [run.stdout.readline() for _ in range(3)] == ["in\n"] * 3
        run.send_signal(signal.SIGINT)
        printed, said = run.communicate(timeout=30)
    assert (printed, said) == ("stopped 3\n", "")


def test_without_a_folder_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = jg.evaluate(graph_of(fine), samples(3))
    assert run.manifest["samples"] == {"done": 3, "failed": 0, "over_budget": 0, "total": 3}
    assert os.listdir(tmp_path) == []
