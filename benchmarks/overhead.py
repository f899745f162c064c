"""What a judge call costs this process, beside others who make the same call; goals and what was reached.

    python benchmarks/overhead.py                          # all parts; it starts the stub of ../shared/bench
    python benchmarks/overhead.py --only cpu --calls 2000
    python benchmarks/overhead.py --peers peers --install-peers   # openevals and verdict, a venv for each
    python benchmarks/overhead.py --only memory --samples 200000

Competitors take turns, each in a fresh process against a stub in a process of its own; figures are medians of the
repetitions. CPU is the client's own (`getrusage`), without imports and first calls.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import urllib.request
import venv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SHARED = HERE.parents[1] / "shared" / "bench"
WORKER = HERE / "overhead_workers.py"
PEERS = {"openevals": ("openevals", "langchain-openai"), "verdict": ("verdict",)}
SLOW = {"langgraph-chatopenai": 3, "openevals": 3, "verdict": 8}  # so many times fewer calls
LINES = (
    "raw-aiohttp", "bare-graph", "bare-five", "langgraph-chatopenai", "openevals", "verdict",
    "judgegraph", "judgegraph-five", "judgegraph-chatopenai", "judgegraph-again",
)  # fmt: skip
GOALS = (  # what, of what, at most; a goal "k times less" is 1 / k
    ("judgegraph", "raw-aiohttp", 8.0),
    ("judgegraph-five", "raw-aiohttp", 6.0),
    ("judgegraph-five", "bare-five", 1.3),
    ("judgegraph", "openevals", 1 / 2.4),
    ("judgegraph", "langgraph-chatopenai", 0.18),
    ("judgegraph", "verdict", 0.07),
    ("judgegraph-chatopenai", "langgraph-chatopenai", 0.6),
    ("judgegraph-again", "bare-graph", 1.35),
)
WALLS = ((50.0, 64, 40, 1.6), (500.0, 64, 8, 1.10), (2000.0, 512, 2, 1.25))  # ms, in flight, rounds, goal
IMPORTS = {
    "langgraph.graph": "import langgraph.graph",
    "judgegraph": "import judgegraph",
    "with a method": "import judgegraph; from judgegraph.graphs import sageval; sageval()",
}


def options() -> argparse.Namespace:
    """The command line."""
    about = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    about.add_argument("--only", choices=("cpu", "wall", "import", "memory", "ledger"))
    about.add_argument("--stub", type=Path, default=SHARED / "stub_server.py", help="path of stub_server.py")
    about.add_argument("--peers", type=Path, help="folder of virtual environments named openevals and verdict")
    about.add_argument("--install-peers", action="store_true", help="make those that are not there, by pip")
    about.add_argument("--calls", type=int, default=2000, help="calls of one repetition; slow ones make fewer")
    about.add_argument("--repeat", type=int, default=3)
    about.add_argument("--samples", type=int, default=200_000, help="for --only memory")
    return about.parse_args()


@contextmanager
def stub(path: Path, latency_ms: float = 0.0) -> Iterator[str]:
    """The address of a stub that is stopped by its own id."""
    command = [sys.executable, str(path), "--port", "0", "--latency-ms", str(latency_ms)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[-1]
        finally:
            process.terminate()
            process.wait(timeout=10)


def stats(url: str, *, reset: bool = False) -> dict[str, Any]:
    """The stub's counters."""
    address = url.removesuffix("/v1") + ("/reset" if reset else "/stats")
    with urllib.request.urlopen(urllib.request.Request(address, data=b"" if reset else None)) as answer:
        return dict(json.load(answer))


def work(python: str, name: str, url: str, calls: int, flight: int = 64) -> dict[str, Any]:
    """One competitor in a fresh process; {} where it failed, with a line that says so."""
    command = [python, str(WORKER), name, url, str(calls), str(flight)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600, check=False)
    if done.returncode:
        print(f"{name}: failed: {(done.stderr.strip().splitlines() or ['no word'])[-1][:200]}")
        return {}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def pythons(folder: Path | None, install: bool) -> dict[str, str]:
    """Competitor -> its interpreter; those that are not installed are left out, with a line that says so."""
    found = {name: sys.executable for name in LINES if name not in PEERS}
    for name, packages in PEERS.items():
        home = folder / name if folder else None
        if home and install and not (home / "bin/python").exists():
            venv.create(home, with_pip=True)
            subprocess.run([str(home / "bin/python"), "-m", "pip", "install", "-q", *packages], check=True)
        if home and (home / "bin/python").exists():
            found[name] = str(home / "bin/python")
        else:
            print(f"skipped: {name} (give --peers DIR with an environment of that name, or --install-peers too)")
    return {name: found[name] for name in LINES if name in found}


def cpu(given: argparse.Namespace, url: str) -> None:
    """CPU of one call, for all competitors in turn."""
    interpreters = pythons(given.peers, given.install_peers)
    costs: dict[str, list[float]] = {name: [] for name in interpreters}
    versions: dict[str, str] = {}
    doubled: dict[str, int] = {}
    for _ in range(given.repeat):
        for name, python in interpreters.items():
            stats(url, reset=True)
            calls = given.calls // SLOW.get(name, 1) // 5 * 5
            got = work(python, name, url, calls)
            if got:
                costs[name].append(1000 * got["cpu_s"] / got["calls"])
                versions |= got["versions"] if name in PEERS or name == "judgegraph" else {}
            doubled[name] = max(doubled.get(name, 0), stats(url)["duplicate_bodies"])
            if name == "judgegraph-again" and got:
                print(f"judgegraph-again: {got['sent']} requests sent (goal 0)")
    print("versions: " + ", ".join(f"{name} {version}" for name, version in sorted(versions.items())))
    middle = {name: statistics.median(values) for name, values in costs.items() if values}
    told(middle, costs)
    ours = {name: count for name, count in doubled.items() if name.startswith("judgegraph")}
    print(f"duplicates sent: {ours} (goal 0)")


def told(middle: Mapping[str, float], costs: Mapping[str, list[float]]) -> None:
    """Two tables: cost by competitor, and the ratios that are goals."""
    floor = middle.get("raw-aiohttp", float("nan"))
    print(f"\n{'CPU ms per call':<26}{'median':>9}{'least':>9}{'most':>9}{'x raw':>9}")
    for name, cost in middle.items():
        print(f"{name:<26}{cost:>9.3f}{min(costs[name]):>9.3f}{max(costs[name]):>9.3f}{cost / floor:>9.1f}")
    print(f"\n{'goal':<46}{'at most':>9}{'is':>9}")
    for one, other, most in GOALS:
        if one in middle and other in middle:
            ratio = middle[one] / middle[other]
            print(f"{f'{one} / {other}':<46}{most:>9.2f}{ratio:>9.2f}  {'reached' if ratio <= most else 'MISSED'}")
    print()


def wall(given: argparse.Namespace, _: str) -> None:
    """Wall time over what the latency alone would take."""
    print(f"{'latency':<12}{'in flight':>10}{'calls':>8}{'ideal s':>9}{'is s':>9}{'ratio':>8}{'goal':>7}")
    for latency, flight, rounds, goal in WALLS:
        with stub(given.stub, latency) as url:
            got = [work(sys.executable, "judgegraph", url, flight * rounds, flight) for _ in range(given.repeat)]
        if walls := [one["wall_s"] for one in got if one]:
            ideal, is_s = rounds * latency / 1000, statistics.median(walls)
            ratio = is_s / ideal
            line = f"{latency:<12g}{flight:>10}{flight * rounds:>8}{ideal:>9.2f}{is_s:>9.2f}{ratio:>8.2f}{goal:>7.2f}"
            print(f"{line}  {'reached' if ratio <= goal else 'MISSED'}")


def imports(given: argparse.Namespace) -> None:
    """CPU of imports, without the interpreter's own start and with bytecode that lies there, as pip leaves it."""
    code = "import time; start = time.process_time(); {}; print(time.process_time() - start)"
    costs: dict[str, list[float]] = {name: [] for name in IMPORTS}
    with tempfile.TemporaryDirectory() as bytecode:
        env = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}
        for turn in range(max(5, given.repeat) + 1):  # the first one compiles
            for name, statement in IMPORTS.items():
                command = [sys.executable, "-c", code.format(statement)]
                done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
                costs[name] += [float(done.stdout)] if turn else []
    middle = {name: statistics.median(values) for name, values in costs.items()}
    for name, most in (("langgraph.graph", 1.0), ("judgegraph", 0.2), ("with a method", 1.2)):
        ratio = middle[name] / middle["langgraph.graph"]
        print(f"import {name:<18} {middle[name]:.3f} s CPU, ratio {ratio:.2f} (goal {most:g})")


def memory(given: argparse.Namespace, url: str) -> None:
    """Resident memory of one long streamed run."""
    got = work(sys.executable, "memory", url, given.samples)
    if not got:
        return
    seen, base = got["every_10000_mb"], got["base_mb"]
    more = got["peak_mb"] - base
    print(f"{given.samples} samples: after imports {base:.1f} MB, at most {more:.1f} MB more (goal 60)")
    if len(seen) > 1:
        growth = (seen[-1] - seen[0]) / (len(seen) - 1) * 10
        print(f"growth after the first 10,000: {growth:.2f} MB per 100,000 (goal 1); every 10,000: {seen}")


def ledger(given: argparse.Namespace, _: str) -> None:
    """CPU of keeping a reply, 64 at once, and of a journal's row, and how many replies are found in a second."""
    got = work(sys.executable, "ledger", "", 10 * given.calls)
    if got:
        both = got["put_ms"] + got["journal_ms"]
        print(
            f"ledger and journal: {got['put_ms']:.3f} + {got['journal_ms']:.3f} ms of CPU per call (goal 0.15 for both)"
        )
        print(f"look-ups: {got['finds']:,.0f} per second (goal 5,000)  {'reached' if both <= 0.15 else 'MISSED'}")


def main() -> None:
    """Run the parts that were asked for."""
    given = options()
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    about = (platform.machine(), f"{os.cpu_count()} CPUs", f"load {load}", platform.system())
    print(", ".join(about), "Python", platform.python_version())
    if given.only in (None, "import"):
        imports(given)
    if given.only == "import":
        return
    if not given.stub.is_file():
        print(f"skipped: no stub at {given.stub} (give --stub PATH)")
        return
    with stub(given.stub) as url:
        for name, part in (("ledger", ledger), ("cpu", cpu), ("wall", wall), ("memory", memory)):
            if given.only in (None, name):
                part(given, url)


if __name__ == "__main__":
    main()
