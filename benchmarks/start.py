"""How long a newcomer waits: `judgegraph --help`, and first scores from `judgegraph run` on 12 examples.

    python benchmarks/start.py

Medians of wall seconds over five fresh processes; goals: --help under 0.3 s, first scores under 5 s.
"""

from __future__ import annotations

import platform
import statistics
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RUN = ("run", "sageval", str(ROOT / "examples/forms.jsonl"), "--limit", "12")
CASES = {"--help": (("--help",), 0.3), "run sageval, 12 forms": (RUN, 5.0), "methods": (("methods",), 0.3)}


def seconds(arguments: tuple[str, ...]) -> float:
    """Wall seconds of one fresh process."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "judgegraph", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=120)
    return time.perf_counter() - start


def main() -> None:
    """Measure and print."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("judgegraph", "langgraph", "langchain-core", "click"))
    print(f"{platform.machine()}, {platform.system()}, Python {platform.python_version()}, {packages}")
    for name, (arguments, goal) in CASES.items():
        times = [seconds(arguments) for _ in range(5)]
        print(f"{name:<24} median {statistics.median(times):.2f} s, worst {max(times):.2f} s (goal {goal} s)")


if __name__ == "__main__":
    main()
