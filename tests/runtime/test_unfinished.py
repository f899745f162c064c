"""What a manifest says of a run that did not come to its end, and for how long a run worked."""

import asyncio
import json
import signal
import time
from pathlib import Path
from threading import Event, Timer

import pytest
from filelock import FileLock
from small import fine, graph_of, process, samples

import judgegraph as jg
from judgegraph.cli.run import _total
from judgegraph.data.load import RowCount
from judgegraph.runs.folder import LOCK
from judgegraph.runs.run import incomplete_run
from judgegraph.types import EvalState

STARTED = "2026-01-01T00:00:00+00:00"


def stopped(folder: Path | None, given: object, after: int = 3) -> jg.Run:
    stop = Event()
    seen = []

    def look(item: object) -> None:
        seen.append(item)
        if len(seen) == after:
            stop.set()

    return jg.evaluate(graph_of(fine), given, out=folder, stop=stop, on_item=look, concurrency=1)


def data(path: Path, count: int) -> Path:
    path.write_text("".join(s.model_dump_json(exclude_defaults=True) + "\n" for s in samples(count)))
    return path


def counted(path: Path, limit: int | None = None):
    """As the command line reads a file."""
    found, rows = jg.load(path, limit=limit), RowCount(path, "jsonl", limit)
    found.counted = lambda: rows.within(5)
    return found


@pytest.mark.parametrize(
    ("given", "want"),
    [
        (lambda path: samples(32), "unfinished: 3 of 32 samples done"),
        (lambda path: counted(data(path, 32)), "unfinished: 3 of 32 samples done"),
        (lambda path: counted(data(path, 32), 20), "unfinished: 3 of 20 samples done"),
        (lambda path: jg.load(data(path, 32)), "unfinished after 3 samples"),
        (lambda path: iter(samples(32)), "unfinished after 3 samples"),
    ],
    ids=["a list", "a file that was counted", "a part of it", "a file", "a stream"],
)
def test_a_stopped_run_says_of_how_many_samples_where_that_is_known(given, want: str, tmp_path: Path):
    run = stopped(tmp_path / "run", given(tmp_path / "data.jsonl"))
    assert incomplete_run(run) == incomplete_run(jg.Run.load(tmp_path / "run")) == want


def test_a_file_that_was_counted_is_not_read_for_it(tmp_path: Path):
    found = jg.load(data(tmp_path / "data.jsonl", 9))
    assert found.count() == 9
    assert incomplete_run(stopped(tmp_path / "run", found)) == "unfinished: 3 of 9 samples done"
    assert found.whole().counted() is None


def test_the_command_line_hands_on_what_it_counted(tmp_path: Path):
    found = jg.load(data(tmp_path / "data.jsonl", 9), limit=5)
    total = _total(found, {"strict": False, "limit": 5})
    deadline = time.monotonic() + 5
    while found.counted() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert found.counted() == total() == 5


def test_a_run_that_came_to_its_end_is_not_unfinished(tmp_path: Path):
    stopped(tmp_path / "run", iter(samples(8)))
    run = jg.evaluate(graph_of(fine), iter(samples(8)), out=tmp_path / "run")
    assert incomplete_run(run) == ""
    assert run.manifest["samples"] == {"done": 8, "failed": 0, "over_budget": 0, "total": 8}


@pytest.mark.parametrize(
    "given", [lambda path: samples(3), lambda path: counted(data(path, 3))], ids=["a list", "a file that was counted"]
)
@pytest.mark.parametrize("kept", [True, False], ids=["in a folder", "in memory"])
def test_a_stop_while_the_last_sample_ends_stops_nothing(kept: bool, given, tmp_path: Path):
    run = stopped(tmp_path / "run" if kept else None, given(tmp_path / "data.jsonl"), after=3)
    assert run.manifest["state"] == "finished"
    assert incomplete_run(run) == ""
    assert run.manifest["samples"]["total"] == run.manifest["samples"]["done"] == 3


def test_a_stop_within_a_retry_leaves_what_was_not_taken_up(tmp_path: Path):
    """All samples are done there, and some of the failed ones were not tried again."""

    def fails(state: EvalState) -> EvalState:
        raise ValueError("not yet")

    jg.evaluate(graph_of(fails), samples(3), out=tmp_path / "run")
    stop = Event()
    run = jg.evaluate(
        graph_of(fails), samples(3), out=tmp_path / "run", retry_failed=True, concurrency=1, stop=stop,
        on_item=lambda item: stop.set(),
    )  # fmt: skip
    assert run.manifest["state"] == "stopped"


def test_a_retry_of_a_stopped_run_keeps_its_number(tmp_path: Path):
    path = data(tmp_path / "data.jsonl", 12)
    stopped(tmp_path / "run", counted(path))
    run = jg.evaluate(graph_of(fine), jg.load(path), out=tmp_path / "run", retry_failed=True)
    assert incomplete_run(run) == "unfinished: 3 of 12 samples done"


def test_a_budget_that_is_spent_leaves_its_refusals_out(tmp_path: Path):
    async def ask(state: EvalState) -> EvalState:
        await jg.ask("embedded", f"Say something of {state['sample'].id}.")
        return await fine(state)

    run = jg.evaluate(graph_of(ask), samples(5), out=tmp_path / "run", budget=jg.Budget(calls=2), concurrency=1)
    want = "unfinished: 2 of 5 samples done; its budget is spent"
    assert incomplete_run(run) == want
    old = {**run.manifest, "samples": {"done": 5, "failed": 3}}
    assert incomplete_run(jg.Run(old, (), run.folder)) == want


def test_a_killed_run_says_that_its_process_is_gone(tmp_path: Path):
    code = """
def look(item):
    if item.id == "s3":
        print("there", flush=True)
        time.sleep(60)

jg.evaluate(graph_of(fine), samples(32), out=sys.argv[1], concurrency=1, on_item=look)
"""
    with process(code, tmp_path / "run") as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "there\n"
        assert incomplete_run(jg.Run.load(tmp_path / "run")) == "unfinished: 4 of 32 samples done so far"
        child.send_signal(signal.SIGKILL)
    assert incomplete_run(jg.Run.load(tmp_path / "run")) == "unfinished: 4 of 32 samples done; its process is gone"
    run = jg.evaluate(graph_of(fine), samples(32), out=tmp_path / "run")
    assert run.manifest["seconds"] is None  # the killed one's are not known
    assert incomplete_run(run) == ""


def test_a_look_makes_no_file(tmp_path: Path):
    run = stopped(tmp_path / "run", samples(8))
    (tmp_path / "run" / LOCK).unlink()
    gone = jg.Run({**run.manifest, "state": "running"}, (), run.folder)
    assert incomplete_run(gone).endswith("its process is gone")
    assert not (tmp_path / "run" / LOCK).exists()


def test_a_look_keeps_no_run_from_its_folder(tmp_path: Path):
    stopped(tmp_path / "run", samples(8))
    lock = FileLock(tmp_path / "run" / LOCK, thread_local=False)
    lock.acquire()
    timer = Timer(0.03, lock.release)
    timer.start()
    try:
        assert incomplete_run(jg.evaluate(graph_of(fine), samples(8), out=tmp_path / "run")) == ""
    finally:
        timer.join()


def test_older_manifests_are_read(tmp_path: Path):
    run = stopped(tmp_path / "run", samples(8))
    path = tmp_path / "run/manifest.json"
    old = json.loads(path.read_text())
    old["samples"] = {"done": 3, "failed": 0}
    for key in ("seconds", "fan_outs"):
        del old[key]
    path.write_text(json.dumps(old))
    assert incomplete_run(jg.Run.load(tmp_path / "run")) == "unfinished after 3 samples"
    run = jg.evaluate(graph_of(fine), samples(8), out=tmp_path / "run")
    assert (run.manifest["state"], run.manifest["seconds"]) == ("finished", None)


async def slowly(state: EvalState) -> EvalState:
    await asyncio.sleep(0.05)
    return await fine(state)


def test_the_time_worked_is_the_sum_of_the_sittings(tmp_path: Path):
    first = jg.evaluate(graph_of(slowly), samples(2), out=tmp_path / "run", concurrency=1).manifest["seconds"]
    assert 0.1 <= first < 10
    later = jg.evaluate(graph_of(slowly), samples(4), out=tmp_path / "run", concurrency=1).manifest["seconds"]
    assert later >= first + 0.1


def test_a_sitting_that_judges_nothing_changes_neither_time_nor_end(tmp_path: Path):
    path = tmp_path / "run/manifest.json"
    jg.evaluate(graph_of(fine), samples(2), out=tmp_path / "run")
    told = json.loads(path.read_text()) | {"started": STARTED, "ended": STARTED, "seconds": 1.25}
    path.write_text(json.dumps(told))
    again = jg.evaluate(graph_of(fine), samples(2), out=tmp_path / "run").manifest
    assert (again["seconds"], again["ended"], again["started"]) == (1.25, STARTED, STARTED)
    more = jg.evaluate(graph_of(fine), samples(3), out=tmp_path / "run").manifest
    assert more["seconds"] > 1.25
    assert more["ended"] > STARTED


def test_a_run_in_memory_tells_its_time():
    assert jg.evaluate(graph_of(slowly), samples(1)).manifest["seconds"] >= 0.05
