"""Ctrl-C, SIGTERM and a full disk, as a process of its own meets them."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from judgegraph.cli import main

FULL = Path("/dev/full")
COMMAND = [sys.executable, "-m", "judgegraph"]
BLOCKED = """
import time
from langgraph.graph import END, START, StateGraph
from judgegraph.types import EvalState

async def node(state: EvalState) -> EvalState:
    print("blocked", flush=True)
    time.sleep(60)

def graph():
    made = StateGraph(EvalState)
    made.add_node("node", node)
    made.add_edge(START, "node")
    made.add_edge("node", END)
    return made.compile()
"""


def started(*arguments):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([*COMMAND, *map(str, arguments)], **pipes)


def until(true, seconds=60):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def finished(run):
    """Ids of the samples whose lines are whole."""
    items = run / "items.jsonl"
    whole = items.read_text().splitlines(keepends=True) if items.exists() else []
    return [json.loads(line)["sample"]["id"] for line in whole if line.endswith("\n")]


def again(arguments, seconds=60):
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=seconds)


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.long
def test_a_stopped_run_finishes_what_is_in_flight_and_the_same_command_goes_on(sent, code, data, site):
    run, slow = data.with_name("run"), site("slow=0.4")
    command = slow.command("--out", run, "--concurrency", 2)
    with started(*command) as process:
        until(lambda: len(finished(run)) >= 2)
        process.send_signal(sent)
        out, said = process.communicate(timeout=20)
    ids = finished(run)
    assert (process.returncode, out) == (code, "")
    where, *told = said.splitlines()
    assert where.startswith("openai:stub: texts go to http://127.0.0.1:")
    assert told[0] == f"judging 9 samples of {data}, 2 at once"
    assert told[1] == "finishing 2 samples in flight, for 10 s at most; once more stops at once"
    assert told[2].startswith(f"{len(ids)} of 9 samples, ")
    assert told[3:] == [f"stopped: {len(ids)} of 9 samples are finished in {run}; the same command goes on"]
    assert len(ids) == len(set(ids)) == slow.count  # nothing that was asked for was dropped
    assert 3 <= len(ids) < 9  # a sample whose line was just written may have been counted as in flight
    manifest = json.loads((run / "manifest.json").read_text())
    assert (manifest["state"], manifest["samples"]["done"]) == ("stopped", len(ids))
    assert manifest["ended"]
    done = again(command)
    assert done.returncode == 0, done.stderr
    assert sorted(finished(run)) == [f"s{i}" for i in range(9)]
    assert slow.count == 9


@pytest.mark.long
def test_a_run_that_is_kept_nowhere_says_how_to_keep_it(data, site):
    with started(*site("slow=0.4").command("--concurrency", 1)) as process:
        assert "texts go to" in process.stderr.readline()
        assert process.stderr.readline().startswith("judging")
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
    assert process.returncode == 130
    assert said.splitlines()[-1] == "stopped: nothing was saved; --out FOLDER keeps what is finished"
    assert "Traceback" not in said


@pytest.mark.long
def test_an_interrupt_while_modules_are_loaded_is_a_stop_too(data):
    (data.parent / "mine.py").write_text("import time\nprint('loading', flush=True)\ntime.sleep(60)\n")
    with started("run", f"{data.parent}/mine.py:graph", data) as process:
        assert process.stdout.readline() == "loading\n"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
    assert (process.returncode, said) == (130, "stopped\n")


@pytest.mark.parametrize("second", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)])
@pytest.mark.long
def test_a_second_signal_stops_at_once_and_loses_nothing_that_is_finished(second, data, site):
    run, hanging = data.with_name("run"), site("ok,ok,hang,ok")
    command = hanging.command("--out", run, "--concurrency", 1)
    with started(*command) as process:
        until(lambda: hanging.count == 3)
        process.send_signal(signal.SIGINT)
        time.sleep(0.7)
        assert process.poll() is None  # it waits for the third
        process.send_signal(second)
        _, said = process.communicate(timeout=3)
    assert process.returncode == 128 + second
    assert said.splitlines()[2:] == ["finishing 1 sample in flight, for 10 s at most; once more stops at once"]
    assert finished(run) == ["s0", "s1"]
    done = again(command)
    assert done.returncode == 0, done.stderr
    assert sorted(finished(run)) == [f"s{i}" for i in range(9)]
    assert hanging.count == 10  # the third was asked for again, no other


@pytest.mark.long
def test_a_second_interrupt_does_not_wait_for_a_node_that_blocks(data):
    (data.parent / "mine.py").write_text(BLOCKED)
    with started("run", f"{data.parent}/mine.py:graph", data) as process:
        assert process.stdout.readline() == "blocked\n"
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=3)
    assert process.returncode == 130
    assert said.splitlines()[1:] == ["finishing 9 samples in flight, for 10 s at most; once more stops at once"]


@pytest.mark.long
def test_what_is_not_finished_in_time_is_left_for_the_next_run_and_is_no_sample_under_suspicion(data, site):
    run, hanging = data.with_name("run"), site("ok,ok,hang,ok")
    command = hanging.command("--out", run, "--concurrency", 1, "--grace", 0.3)
    with started(*command) as process:
        until(lambda: hanging.count == 3)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=15)
    left = f"stopped: 2 of 9 samples are finished in {run}; 1 in flight was left; the same command goes on"
    assert (process.returncode, said.splitlines()[-1]) == (143, left)
    assert not any((run / ".inflight").read_bytes())  # the mark of a sample that may have broken the process
    assert json.loads((run / "manifest.json").read_text())["state"] == "stopped"
    assert again(command).returncode == 0
    assert sorted(finished(run)) == [f"s{i}" for i in range(9)]
    assert hanging.count == 10


@pytest.mark.long
def test_a_node_that_blocks_does_not_hold_up_a_stop(data):
    (data.parent / "mine.py").write_text(BLOCKED)
    with started("run", f"{data.parent}/mine.py:graph", data, "--grace", 0.2) as process:
        assert process.stdout.readline() == "blocked\n"
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=15)
    assert process.returncode == 143
    assert "code of a node did not end" in said


@pytest.mark.long
@pytest.mark.timeout(600)
def test_stopped_at_twenty_random_moments_a_run_loses_and_repeats_nothing(data, site):
    rows = [json.dumps({"id": f"s{i}", "query": "q", "source": "A text.", "output": f"text {i}"}) for i in range(500)]
    data.write_text("\n".join(rows) + "\n")
    run, slow, draw = data.with_name("run"), site("slow=0.1"), random.Random(6)
    command, stops = slow.command("--out", run, "--concurrency", 2), 0
    for _ in range(20):
        with started(*command) as process:
            time.sleep(draw.uniform(0.2, 4))
            process.send_signal(draw.choice([signal.SIGINT, signal.SIGTERM]))
            _, said = process.communicate(timeout=30)
        if process.returncode in (-signal.SIGINT, -signal.SIGTERM):
            continue  # Python was still starting, and no line of ours had run
        assert process.returncode in (0, 130, 143), said
        assert "Traceback" not in said
        stops += process.returncode != 0
    assert again(command).returncode == 0
    assert sorted(finished(run)) == sorted(f"s{i}" for i in range(500))
    assert slow.count == 500
    assert stops >= 10


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")
@pytest.mark.parametrize("command", ["--help", "methods", "criteria", "show", "run"])
@pytest.mark.sampled(5)
def test_a_full_disk_is_told_in_one_line(command, data):
    arguments = {"show": ("show", "sageval"), "run": ("run", "g-eval", data)}.get(command, (command,))
    with FULL.open("w") as full:
        done = subprocess.run(
            [*COMMAND, *map(str, arguments)], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60
        )
    told = [line for line in done.stderr.splitlines() if "9 samples" not in line]
    assert (done.returncode, told) == (1, ["OSError: [Errno 28] No space left on device"])


@pytest.mark.long
def test_a_pause_that_the_server_asks_for_does_not_outlast_a_samples_time(data, site):
    run = data.with_name("run")
    done = again(site("429=300").command("--out", run, "--concurrency", 3, "--timeout", 0.7), seconds=30)
    assert done.returncode == 1, done.stderr
    assert "9 timeout" in done.stderr.splitlines()[-2]


@pytest.mark.long
def test_without_a_stderr_a_run_is_a_run(data, site):
    command = [*COMMAND, *site("ok").command("--out", data.with_name("run"))]
    done = subprocess.run(["sh", "-c", 'exec "$@" 2>&-', "sh", *command], stdout=subprocess.PIPE, timeout=60)
    assert done.returncode == 0
    assert b"Clarity" in done.stdout
    assert len(finished(data.with_name("run"))) == 9


@pytest.mark.long
def test_a_gate_is_not_passed_while_samples_are_not_judged(data, site):
    run = data.with_name("run")
    command = site("slow=0.4").command("--out", run, "--concurrency", 2)
    with started(*command) as process:
        until(lambda: len(finished(run)) >= 2)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    judged = len(finished(run))
    assert judged < 9
    gated = again([*command, "--retry-failed", "--coverage", "0.1"])
    assert gated.returncode == 4
    assert (
        gated.stderr.splitlines()[-1]
        == f"coverage: {9 - judged} of 9 samples were not judged yet, so no gate is passed"
    )
    assert again([*command, "--coverage", "1"]).returncode == 0


ENDING = """
import atexit, time

def slowly():
    print("ending", flush=True)
    time.sleep(30)

atexit.register(slowly)
"""


@pytest.mark.long
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_near_the_end_of_the_process_has_our_exit_code(sent, code, tmp_path):
    (tmp_path / "mine.py").write_text(ENDING + BLOCKED)
    with started("show", tmp_path / "mine.py:graph") as process:
        while process.stdout.readline() not in ("ending\n", ""):
            pass
        process.send_signal(sent)
        _, said = process.communicate(timeout=10)
    assert (process.returncode, said) == (code, "")


def test_a_command_that_is_called_as_a_function_gives_the_handlers_back():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(SystemExit):
        main(["criteria"])
    assert signal.getsignal(signal.SIGINT) is before


INTERRUPTED = """
import sys

class Finder:
    def find_spec(self, name, *_):
        if name == "judgegraph.cli.main":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Finder())
import judgegraph.cli
"""


def test_an_interrupt_while_the_command_line_itself_is_loaded_is_told_in_one_line():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stderr) == (130, "stopped\n")
