"""How long the report of a run takes to build, how large it is, and when Chromium has it ready.

    python benchmarks/report.py [--samples 1000]

The run is made first, by a node that writes drafts and finals of eight criteria with reasons of about 370 characters.
Chromium is driven by playwright; without either, only the first two are printed.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/report"))

import judgegraph as jg

ROUNDS = 5
TIMES = """() => [performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN,
performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd]"""


def build(run: jg.Run, out: Path) -> float:
    start = time.perf_counter()
    jg.write_report(run, out)
    return time.perf_counter() - start


def readiness(out: Path) -> str:
    """Medians of first contentful paint and of DOMContentLoaded, in a new context each time."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return "Chromium: not measured, no playwright"
    if not chromium:
        return "Chromium: not measured, no chromium"
    found = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for _ in range(ROUNDS):
            context = browser.new_context(viewport={"width": 1280, "height": 900})
            page = context.new_page()
            page.goto(out.as_uri())
            page.wait_for_timeout(300)
            found.append(page.evaluate(TIMES))
            context.close()
        version = browser.version
        browser.close()
    paint, ready = (statistics.median(column) for column in zip(*found, strict=True))
    return f"Chromium {version}: first contentful paint {paint:.0f} ms, DOMContentLoaded {ready:.0f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=1000)
    count = parser.parse_args().samples
    from report_runs import scored_run

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run.html"
        run = scored_run(Path(folder) / "run", count)
        first = build(run, out)
        again = [build(run, out) for _ in range(ROUNDS)]
        print(f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}, {jg.__version__}")
        print(f"{count:,} samples, 8 criteria: {out.stat().st_size:,} bytes")
        print(f"built in {first:.2f} s with imports, then {statistics.median(again):.2f} s (median of {ROUNDS})")
        print(readiness(out))


if __name__ == "__main__":
    main()
