"""Every method on the same 400 real items with the embedded judge, beside people: the table of docs/embedded.md.

    python benchmarks/agreement.py --data ../shared/data --collection summeval -n 400

Rows are methods and variants; cells are Spearman with people, a coefficient per document and then the mean, as in
G-Eval, each with its 95 % interval by bootstrap over documents. Whatever it shows is printed.
"""

from __future__ import annotations

import argparse
import math
import platform
import sys
import time
from collections.abc import Iterable
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

import judgegraph as jg
from judgegraph.bench.files import collection, folder_of
from judgegraph.bench.table import criteria_of
from judgegraph.meta.cells import Judgements, Unjudged
from judgegraph.meta.conventions import chosen
from judgegraph.meta.judgements import of_run
from judgegraph.meta.result import Row
from judgegraph.registry import METHODS, VARIANTS, factory
from judgegraph.types import Sample

METHOD = "llm-score"  # asks by criteria that are given, as all do here
NEEDS_MORE = {  # variants that cannot be asked here, or are another row
    "fusion-corrw": "needs weights", "fusion-corrw-direct": "needs weights",
    "fennec-pair": "needs pairs", "fennec-both": "needs pairs", "fennec-votes": "needs pairs",
    "fennec-apart": "needs pairs", "fennec-single": "is fennec, where there are no pairs",
    **{f"fennec-{n}": "is fennec, where criteria are given" for n in (1, 2, 3, 4, 5, 10)},
    "coascore-10": "is coascore",
}  # fmt: skip


def rows_of(method: str, samples: list[Sample], criteria: Any, preset: str) -> tuple[dict[str, Row], Any, float]:
    """Criterion -> the method's own row, its run, and seconds of CPU."""
    start = time.process_time()
    run = jg.evaluate(factory(method)(judge="embedded", criteria=criteria), samples)
    spent = time.process_time() - start
    conventions = chosen(preset, coefficients=("spearman",), unreadable="drop")
    found = {}
    for judgements in of_run(run):
        made = jg.agreement([_answer(judgements)], conventions, tests=False)
        found[judgements.criterion] = made.rows[0]
    return found, run, spent


def _answer(judgements: Judgements) -> Judgements:
    """With the last metric alone: the method's answer, where several agents wrote finals."""
    name = list(judgements.metrics)[-1]
    kept = {name: judgements.metrics[name]}
    statuses = {name: judgements.statuses[name]} if name in judgements.statuses else {}
    return Judgements(**{**vars(judgements), "metrics": kept, "statuses": statuses})


def cell(row: Row | None) -> str:
    """Value, interval, and how many answers are missing."""
    if row is None:
        return ""
    if math.isnan(row.value):
        return "-"
    low, high = row.interval
    missing = sum(row.unread.values())
    return f"{row.value:.3f} [{low:.2f}, {high:.2f}]" + (f" n {row.n}" if missing else "")


def main(args: Iterable[str] | None = None) -> int:
    """Print the table; exit code 1 where the data is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--collection", default="summeval")
    parser.add_argument("-n", type=int, default=400, help="items, from the start of the collection")
    parser.add_argument("--preset", default="g-eval")
    parser.add_argument("--only", action="append", help="these methods alone")
    given = parser.parse_args(list(args) if args is not None else None)
    if not given.data.is_dir():
        print(f"skipped: no {given.data}", file=sys.stderr)
        return 1
    known = collection(given.collection)
    samples = list(islice(known.samples(folder_of(given.data, known)), given.n))
    criteria = criteria_of(known, samples, factory(METHOD))
    names = [c.name for c in criteria.criteria]
    versions = ", ".join(f"{p} {version(p)}" for p in ("judgegraph", "langgraph", "scipy"))
    print(f"{known.title}, {len(samples)} items; embedded judge; {platform.machine()}, Python "
          f"{platform.python_version()}, {versions}\n")  # fmt: skip
    print(f"| method | {' | '.join(names)} | calls | CPU s |\n|---|{'---|' * len(names)}---|---|")
    for method in given.only or [*METHODS, *VARIANTS]:
        if method in NEEDS_MORE:
            continue
        try:
            rows, run, spent = rows_of(method, samples, criteria, given.preset)
        except (Unjudged, jg.ConfigError) as error:
            print(f"| {method} | {error} |")
            continue
        by = {name.casefold(): row for name, row in rows.items()}
        calls = run.manifest["calls"]
        cells = " | ".join(cell(by.get(name.casefold())) for name in names)
        print(f"| {method} | {cells} | {calls['requests']:,} | {spent:.0f} |", flush=True)
        last = next(iter(rows.values()))
    print(f"\n{last.signature}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
