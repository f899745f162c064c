"""How quickly the view answers over a large run: its first page while it reads, searches, orders, a sample; memory.

    python benchmarks/view.py [--samples 100000]

The run is made first: a few hundred items of a node with drafts, finals and reasons, written again under other ids.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/report"))

import starlette
from starlette.testclient import TestClient

import judgegraph as jg
from judgegraph.webview.app import View

MADE, ROUNDS = 300, 9
ASKED = {
    "first page": "/runs/0", "page 500": "/runs/0?page=500", "search of a word": "/runs/0?q=council",
    "search of two words": "/runs/0?q=good+reason", "least score": "/runs/0?order=least",
    "least by a criterion": "/runs/0?order=least&criterion=Accuracy",
    "criterion below 2": "/runs/0?criterion=Accuracy&high=2",
    "failed": "/runs/0?status=unanswered", "a sample": "/runs/0/sample?id=s77-1",
}  # fmt: skip


def grown(folder: Path, samples: int) -> Path:
    """A run of so many samples."""
    from report_runs import scored_run

    run = scored_run(folder / "run", MADE)
    items = list(run.items)
    with (folder / "run/items.jsonl").open("wb") as file:
        for at in range(samples):
            item = items[at % MADE]
            sample = item.sample.model_copy(update={"id": f"s{at % MADE}-{at // MADE}"})
            file.write(item.model_copy(update={"sample": sample, "place": at}).line().encode() + b"\n")
    return folder / "run"


def milliseconds(client: TestClient, path: str) -> float:
    found = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        answer = client.get(path)
        found.append(1000 * (time.perf_counter() - start))
        assert answer.status_code == 200, answer.text[:300]
    return statistics.median(found)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--samples", type=int, default=100_000)
    samples = options.parse_args().samples
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
          f"judgegraph {jg.__version__}, starlette {starlette.__version__}")  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = grown(Path(folder), samples)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        view = View([path])
        client = TestClient(view.guarded, base_url="http://127.0.0.1:8730")
        start = time.perf_counter()
        view.start()
        client.get("/runs/0")
        print(f"first page of {samples:,} samples, while they are read: {1000 * (time.perf_counter() - start):.0f} ms")
        view.wait(1200)
        print(f"all read after {time.perf_counter() - start:.1f} s; items of {view.runs[0].index.size / 1e6:.0f} MB")
        for what, address in ASKED.items():
            print(f"{what:24} {milliseconds(client, address):7.0f} ms")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(f"memory at most {peak / 1024:.0f} MB (before the view {before / 1024:.0f} MB)")
        view.close()


if __name__ == "__main__":
    main()
