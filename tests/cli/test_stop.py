"""Ctrl-C, SIGTERM and a full disk, as a process of its own meets them."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SERVER = Path(__file__).resolve().parents[1] / "http/server.py"
FULL = Path("/dev/full")
COMMAND = [sys.executable, "-m", "judgegraph"]
CRITERIA = "name: one\ntask: a text\ncriteria:\n- name: Clarity\n  definition: It is clear.\n"
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


@pytest.fixture(scope="module")
def address():
    with subprocess.Popen([sys.executable, str(SERVER)], stdout=subprocess.PIPE, text=True) as process:
        yield process.stdout.readline().strip()
        process.terminate()
        process.wait(timeout=10)


@pytest.fixture
def data(tmp_path):
    rows = [{"id": f"s{i}", "query": "q", "source": "A text.", "output": f"text {i}"} for i in range(9)]
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "criteria.yaml").write_text(CRITERIA)
    return path


def started(*arguments):
    env = {**os.environ, "OPENAI_API_KEY": "k"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([*COMMAND, *map(str, arguments)], env=env, **pipes)


def judging(data, address, *more):
    """A run whose third call never ends."""
    server = ("--judge", "openai:stub", "--base-url", f"{address}/ok,ok,hang/{data.parent.name}/v1")
    return started(
        "run", "llm-score", data, "-c", data.with_name("criteria.yaml"), *server, "--concurrency", 1, *more
    )  # fmt: skip


def until(true, seconds=60):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_run_keeps_its_items_and_says_that_it_was_stopped(sent, code, data, address):
    run = data.with_name("run")
    with judging(data, address, "--out", run) as process:
        until(lambda: (run / "items.jsonl").exists() and (run / "items.jsonl").read_text().count("\n") == 2)
        process.send_signal(sent)
        _, said = process.communicate(timeout=20)
    assert process.returncode == code
    assert said == f"stopped; what was finished is in {run}\n"
    manifest = json.loads((run / "manifest.json").read_text())
    assert (manifest["state"], manifest["samples"]) == ("stopped", {"done": 2, "failed": 0})
    assert manifest["ended"]


def test_an_interrupt_while_modules_are_loaded_is_a_stop_too(data):
    (data.parent / "mine.py").write_text("import time\nprint('loading', flush=True)\ntime.sleep(60)\n")
    with started("run", f"{data.parent}/mine.py:graph", data) as process:
        assert process.stdout.readline() == "loading\n"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
    assert (process.returncode, said) == (130, "stopped\n")


def test_a_second_interrupt_does_not_wait_for_an_end_in_order(data):
    (data.parent / "mine.py").write_text(BLOCKED)
    with started("run", f"{data.parent}/mine.py:graph", data) as process:
        assert process.stdout.readline() == "blocked\n"
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=3)
    assert (process.returncode, said) == (130, "")


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")
@pytest.mark.parametrize("command", ["--help", "methods", "criteria", "show", "run"])
def test_a_full_disk_is_told_in_one_line(command, data):
    arguments = {"show": ("show", "sageval"), "run": ("run", "g-eval", data)}.get(command, (command,))
    with FULL.open("w") as full:
        done = subprocess.run(
            [*COMMAND, *map(str, arguments)], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60
        )
    assert (done.returncode, done.stderr) == (1, "OSError: [Errno 28] No space left on device\n")
