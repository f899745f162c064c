"""Every method with its defaults on a real, very small model, which runs on and on where it is let: `make real`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from llama_server import KEY, served

from judgegraph.runs.run import Run

pytestmark = [pytest.mark.real, pytest.mark.timeout(900)]
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
COMMAND = [sys.executable, "-m", "judgegraph", "run"]
SAMPLES, SECONDS, READ = 12, 360, 0.9
STOP = 15  # seconds for a run that was asked to stop
METHODS = {  # method -> data, criteria set where it takes one
    "llm-score": ("articles", "summary"), "g-eval": ("articles", "summary"), "sageval": ("articles", "summary"),
    "coascore": ("dialogues", "dialogue"), "fusion-eval": ("articles", "summary"), "fennec": ("pairs", None),
}  # fmt: skip


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    folder = os.environ.get("JUDGEGRAPH_REAL")
    if not folder:
        pytest.skip("skipped: JUDGEGRAPH_REAL names no folder with the server (make real)")
    with served(Path(folder).resolve()) as address:
        yield address


def command(method: str, url: str, out: Path) -> list[str]:
    data, criteria = METHODS[method]
    more = ["-c", criteria] if criteria else []
    judge = ["--judge", "openai:smollm2", "--base-url", url]
    samples = [str(EXAMPLES / f"{data}.jsonl"), "--limit", str(SAMPLES)]
    return [*COMMAND, method, *samples, *more, *judge, "--out", str(out)]


@pytest.mark.parametrize("method", METHODS)
def test_twelve_samples_end_in_six_minutes_and_nine_scores_in_ten_are_read(method, url, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    start = time.monotonic()
    done = subprocess.run(command(method, url, tmp_path / "run"), capture_output=True, text=True, timeout=SECONDS)
    took = time.monotonic() - start
    assert done.returncode == 0, done.stderr
    run = Run.load(tmp_path / "run")
    items = list(run.items)
    found = [score for item in items for score in (*item.scores, *item.comparisons)]
    statuses = Counter(score.status for score in found)
    calls = run.manifest["calls"]
    print(f"\n{method}: {took:.0f} s, {dict(statuses)}, {calls['requests']} requests, "
          f"{calls['prompt_tokens']} + {calls['completion_tokens']} tokens")  # fmt: skip
    assert len(items) == SAMPLES
    read = statuses["ok"] + statuses["abstained"]  # null is an answer
    assert read >= READ * len(found) > 0
    assert all(score.reason for score in found if score.status not in ("ok", "abstained"))
    assert all(item.reason for item in items if item.status != "ok")


def test_a_stop_ends_in_time_and_says_what_is_left(url, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with subprocess.Popen(command("sageval", url, tmp_path / "run"), stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert any(line.startswith("judging") for line in process.stderr)  # before it, where texts and keys go
        time.sleep(5)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=STOP)
    assert process.returncode == 143
    assert "in flight" in said.splitlines()[-1]
    assert json.loads((tmp_path / "run/manifest.json").read_text())["state"] == "stopped"
