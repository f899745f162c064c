"""A run of 1,000 samples, killed at random moments and started again: nothing lost, doubled or paid twice."""

import json
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from stub import Stub, stub

from judgegraph.runs.run import Run
from judgegraph.runs.worker import POISON

COUNT = 1000
WIDTH = 64  # calls in flight at most, so that many may be unanswered at a kill
RETRYABLE = ("429=0.02", "500=0.02", "reset=0.02")
FACTORY = """
from judgegraph.calls import Endpoint
from judgegraph.graphs import fennec

def build():
    return fennec(judge=Endpoint(model="openai:stub", base_url={url!r}, attempts=20, timeout=20), branches=3)
"""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    rows = (
        {"id": f"s{i}", "query": f"Question {i // 4} of a long list: why?", "output": f"Because of reason {i}."}
        for i in range(COUNT)
    )
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def start(work: Path, out: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "judgegraph", "run", "method.py:build", "data.jsonl", "--out", out, "--json"]
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    return subprocess.Popen([*command, "--concurrency", str(WIDTH)], cwd=work, text=True, **pipes)


def finish(process: subprocess.Popen[str]) -> None:
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0, said


def replies(folder: Path) -> int:
    """Rows of a run's ledger, 0 before there is one."""
    path = folder / "ledger.sqlite"
    if not path.exists():
        return 0
    with sqlite3.connect(path) as db:
        try:
            return int(db.execute("SELECT COUNT(*) FROM replies").fetchone()[0])
        except sqlite3.OperationalError:  # killed before it made its table
            return 0


def undisturbed(work: Path, server: Stub) -> tuple[bytes, float]:
    """The export of a run that nobody kills, and how long it took."""
    before = time.monotonic()
    finish(start(work, "whole"))
    took = time.monotonic() - before
    assert server.answered() == replies(work / "whole")
    Run.load(work / "whole").export(work / "whole.jsonl")
    return (work / "whole.jsonl").read_bytes(), took


def kill_at(process: subprocess.Popen[str], folder: Path, moments: random.Random, took: float, early: bool) -> bool:
    """Kill it within its first two seconds, or in the midst of its work; False if it was faster."""
    try:
        if early:
            process.communicate(timeout=moments.uniform(0, 2))
            return False
        before, deadline = replies(folder), time.monotonic() + 60
        while process.poll() is None and replies(folder) == before and time.monotonic() < deadline:
            time.sleep(0.02)
        process.communicate(timeout=moments.uniform(0, took))
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate(timeout=10)
        return True
    return False


def killed(work: Path, server: Stub, moments: random.Random, kills: int, took: float) -> list[int]:
    """Kill as often; for each kill how many answers had come from the server that the ledger does not hold."""
    lost, known = [], 0
    while len(lost) < kills:
        process = start(work, "torn")
        if not kill_at(process, work / "torn", moments, 1.2 * took / kills, early=len(lost) % 3 == 2):
            assert process.returncode == 0
            return lost  # it was faster than we
        lost.append(server.answered() - replies(work / "torn") - known)
        known += lost[-1]
    finish(start(work, "torn"))
    assert server.answered() - replies(work / "torn") == known  # what was lost at kills, and not one more
    return lost


def survives(work: Path, shared: Path, kills: int, seed: int) -> None:
    faults = [word for fault in RETRYABLE for word in ("--fault", fault)]
    with stub(shared, "--latency-ms", "20", "--latency-sigma", "0.4", "--retry-after", "0.05", *faults) as server:
        (work / "method.py").write_text(FACTORY.format(url=server.url))
        whole, took = undisturbed(work, server)
        server.reset()
        lost = killed(work, server, random.Random(seed), kills, took)
    print(f"{len(lost)} kills; answered and not kept at each: {lost}")
    assert len(lost) == kills
    assert all(0 <= count <= WIDTH for count in lost)
    assert [item.id for item in Run.load(work / "torn").items if item.reason == POISON] == []
    Run.load(work / "torn").export(work / "torn.jsonl")
    assert (work / "torn.jsonl").read_bytes() == whole
    ids = [json.loads(line)["sample"]["id"] for line in (work / "torn" / "items.jsonl").read_text().splitlines()]
    assert sorted(ids) == sorted(f"s{i}" for i in range(COUNT))
    shutil.rmtree(work / "torn")


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_run_killed_nine_times_ends_as_if_nothing_had_happened(work, shared):
    """Every third kill comes as it starts, the others in the midst of its work."""
    survives(work, shared, kills=9, seed=7)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_a_run_killed_a_hundred_times_ends_as_if_nothing_had_happened(work, shared):
    survives(work, shared, kills=100, seed=11)
