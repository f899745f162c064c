"""How fast agreement is resampled, beside a plain loop over scipy; goals and what was reached.

    python benchmarks/bootstrap.py --data ../shared/data     # without it: simulated data of SummEval's shape
    python benchmarks/bootstrap.py --only large

The loop draws as we do and calls scipy for each resample (and document); it is timed on a few resamples and scaled.
Where whole documents are drawn we count each document once for all resamples: that is most of the ratio there.
Ratios are of CPU seconds. A goal of seconds is of the clock's.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from judgegraph.stats.bootstrap import bootstrap
from judgegraph.stats.correlation import Codes, Coefficient, Floats, Level, Unit

THREE: tuple[Coefficient, ...] = ("pearson", "spearman", "kendall-b")
PLAIN: dict[str, Callable[..., Any]] = {
    "pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall-b": stats.kendalltau,
}  # fmt: skip
LARGE = 100_000


@dataclass(frozen=True)
class Task:
    """What is resampled, and what it may cost: seconds of the clock, and how many times less CPU than the loop."""

    title: str
    human: Floats
    metric: Floats
    names: tuple[Coefficient, ...] = THREE
    level: Level = "dataset"
    unit: Unit = "item"
    group: Codes | None = None
    system: Codes | None = None
    seconds: float | None = None
    times: float | None = None


def summeval(data: Path | None) -> tuple[str, Floats, Floats, Codes, Codes]:
    """Human coherence against relevance: 100 documents x 16 systems, means of three raters on 1 to 5."""
    group, system = np.divmod(np.arange(1600), 16)
    path = data / "summeval/summeval_human.json.gz" if data else None
    if path and path.exists():
        with gzip.open(path, "rt") as file:
            documents = json.load(file)
        scores = [one["scores"] for document in documents.values() for one in document["sys_summs"].values()]
        human, metric = (np.array([float(s[name]) for s in scores]) for name in ("coherence", "relevance"))
        return "SummEval (coherence, relevance)", human, metric, group, system
    human, metric = few(1600, 3)
    return "simulated, SummEval's shape", human, metric, group, system


def few(n: int, raters: int = 1) -> tuple[Floats, Floats]:
    """Two sides on 1 to 5, means of so many raters."""
    x, y = many(n)
    return tuple(np.clip(np.round((side + 3) * raters) / raters, 1, 5) for side in (x, y))  # type: ignore[return-value]


def many(n: int) -> tuple[Floats, Floats]:
    """Two sides on which hardly a value stands twice."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal(n)
    return x, (x + rng.standard_normal(n)) / np.sqrt(2)


def tasks(data: Path | None) -> dict[str, list[Task]]:
    """All of them, by part."""
    title, human, metric, group, system = summeval(data)
    codes: dict[str, Any] = {"group": group, "system": system}
    spread = metric + np.random.default_rng(1).standard_normal(len(metric))
    return {
        "summeval": [
            Task(f"{title}, per document, documents drawn", human, metric, level="group", unit="group",
                 seconds=2, times=20, **codes),
            Task("  per document, documents and systems drawn", human, metric, level="group", unit="both",
                 seconds=2, **codes),
            Task("  all items, items drawn", human, metric, seconds=2, times=20),
            Task("  all items, documents drawn", human, metric, unit="group", seconds=2, times=20, **codes),
            Task("  all items, a metric of 1,600 values", human, spread, seconds=2),
            Task("  means per system, documents and systems drawn", human, metric, level="system", unit="both",
                 seconds=2, **codes),
        ],
        "large": [
            Task(f"{LARGE:,} items, many values", *many(LARGE), names=("pearson", "spearman"), seconds=20),
            Task(f"{LARGE:,} items, 1 to 5", *few(LARGE), seconds=20, times=20),
            Task(f"{LARGE:,} items, 1 to 5 by many values", few(LARGE)[0], many(LARGE)[1], names=("kendall-b",)),
            Task(f"{LARGE:,} items, many values", *many(LARGE), names=("kendall-b",)),
        ],
    }  # fmt: skip


def loop(task: Task, resamples: int) -> float:
    """CPU seconds of a resample, drawn and counted by scipy."""
    rng, n = np.random.default_rng(0), len(task.human)
    documents = None if task.group is None else [np.flatnonzero(task.group == g) for g in range(task.group.max() + 1)]
    start = time.process_time()
    for _ in range(resamples):
        if task.unit == "item" or documents is None:
            drawn = [rng.integers(0, n, n)]
        else:
            drawn = [documents[g] for g in rng.integers(0, len(documents), len(documents))]
        for items in drawn if task.level == "group" else [np.concatenate(drawn)]:
            for name in task.names:
                PLAIN[name](task.human[items], task.metric[items])
    return (time.process_time() - start) / resamples


def verdict(reached: float, goal: float | None, at_most: bool) -> str:
    if goal is None:
        return ""
    good = reached <= goal if at_most else reached >= goal
    return f" (goal {'<' if at_most else '>'} {goal:g}: {'reached' if good else 'MISSED'})"


def run(task: Task, resamples: int, scaled: int) -> None:
    """Times one task and prints its line."""
    given: dict[str, Any] = {"level": task.level, "unit": task.unit, "group": task.group, "system": task.system}
    wall, cpu = time.perf_counter(), time.process_time()
    found = bootstrap(task.human, [task.metric], coefficients=task.names, resamples=resamples, **given)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    line = f"{task.title}: {', '.join(task.names)}: {wall:.2f} s{verdict(wall, task.seconds, True)}, CPU {cpu:.2f} s"
    made = int(found.made.min())
    if made < resamples:
        line += f" for {made} resamples only"
    if task.unit != "both":
        ratio = loop(task, scaled) * made / cpu
        line += f", {ratio:.0f} times less CPU than the loop{verdict(ratio, task.times, False)}"
    print(line, flush=True)


def main() -> None:
    about = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    about.add_argument("--data", type=Path, help="folder of the real SummEval (summeval/summeval_human.json.gz)")
    about.add_argument("--only", choices=("summeval", "large"))
    about.add_argument("--resamples", type=int, default=1000)
    about.add_argument("--loop", type=int, default=3, help="resamples of the plain loop, which is scaled up")
    given = about.parse_args()
    packages = ", ".join(f"{name} {version(name)}" for name in ("judgegraph", "numpy", "scipy"))
    load = f"load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "load unknown"
    print(f"{platform.machine()} {platform.system()}, {os.cpu_count()} CPUs, {load}, "
          f"Python {platform.python_version()}, {packages}; {given.resamples:,} resamples")  # fmt: skip
    for part, each in tasks(given.data).items():
        if given.only in (None, part):
            for task in each:
                run(task, given.resamples, given.loop)


if __name__ == "__main__":
    main()
