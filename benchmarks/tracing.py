"""What recording spans costs a run: the same run with and without, in turn, against a local stub.

    python benchmarks/tracing.py                    # it starts the stub of ../shared/bench
    python benchmarks/tracing.py --calls 2000 --repeat 7

Each run is a fresh process. CPU is the client's own at latency 0; wall is that of a run at 50 ms; 64 in flight.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
from pathlib import Path

from overhead import SHARED, stub, work

FLIGHT, LATENCY = 64, 50.0
CPU_GOAL, WALL_GOAL = 1.15, 1.05


def options() -> argparse.Namespace:
    """The command line."""
    about = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    about.add_argument("--stub", type=Path, default=SHARED / "stub_server.py", help="path of stub_server.py")
    about.add_argument("--calls", type=int, default=2000, help="calls of one run")
    about.add_argument("--repeat", type=int, default=7, help="runs of each kind")
    return about.parse_args()


def compared(name: str, url: str, calls: int, repeat: int, what: str) -> list[tuple[float, float]]:
    """(without, with) spans of each pair of neighbouring runs, in ms per call; who is first changes."""
    pairs = []
    for turn in range(repeat):
        names = (name, f"{name}-traced")
        got = {one: work(sys.executable, one, url, calls, FLIGHT) for one in (names if turn % 2 else names[::-1])}
        if all(got.values()):
            without, with_ = (1000 * got[one][what] / got[one]["calls"] for one in names)
            pairs.append((without, with_))
    return pairs


def told(title: str, pairs: list[tuple[float, float]], goal: float) -> None:
    """Medians, and the median of the ratios with their spread."""
    ratios = sorted(with_ / without for without, with_ in pairs)
    if not ratios:
        return
    without, with_ = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(ratios)
    word = "reached" if ratio <= goal else "MISSED"
    spread = f"{ratios[0]:.3f} to {ratios[-1]:.3f}"
    print(f"{title:<34}{without:>9.3f}{with_:>9.3f}{ratio:>8.3f}  ({spread})  goal {goal:.2f}  {word}")


def main() -> None:
    """Both figures, for one judge and for five."""
    given = options()
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"{platform.machine()}, {os.cpu_count()} CPUs, load {load}, Python {platform.python_version()}")
    if not given.stub.is_file():
        print(f"skipped: no stub at {given.stub} (give --stub PATH)")
        return
    print(f"{'ms per call':<34}{'without':>9}{'with':>9}{'ratio':>8}")
    for name in ("judgegraph", "judgegraph-five"):
        with stub(given.stub) as url:
            told(f"{name}: CPU", compared(name, url, given.calls, given.repeat, "cpu_s"), CPU_GOAL)
        with stub(given.stub, LATENCY) as url:
            calls = given.calls // 320 * 320
            told(f"{name}: wall at {LATENCY:g} ms", compared(name, url, calls, given.repeat, "wall_s"), WALL_GOAL)


if __name__ == "__main__":
    main()
