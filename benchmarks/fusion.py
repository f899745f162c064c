"""Fusion-Eval with recorded assistants on TopicalChat: single ones, AVG, LLMSel, CorrW and fused, in one table.

    python benchmarks/fusion.py --data ../shared/data [--judge openai:MODEL] [-n 360]

The assistants' values are recorded: UniEval's predictions for each criterion, and the mean of GPT-3.5's twenty G-Eval
samples for two of them; ROUGE-L with the fact is computed. The judge that fuses is asked; by default it is the embedded
one. Cells are Spearman over all turns with a 95 % interval by bootstrap over dialogues. Whatever it shows is printed.
"""

from __future__ import annotations

import argparse
import math
import platform
import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import judgegraph as jg
from judgegraph.bench.files import collection, folder_of
from judgegraph.graphs import fusion_eval
from judgegraph.meta.aggregate import aggregates_of
from judgegraph.meta.conventions import chosen
from judgegraph.meta.judgements import of_run
from judgegraph.tools import assistants
from judgegraph.tools.catalogue import About, Metric, Unmeasurable
from judgegraph.types import Sample

SAMPLED = {"Coherence": "gpt-3.5 geval", "Engagingness": "gpt-3.5 geval"}
WIDEST = {"Engagingness": "0 to 4", "Overall": "0 to 2"}  # UniEval's engagingness is a sum over sentences
SKILLS = {
    "Naturalness": "how natural the reply is", "Coherence": "how coherent the reply is with the dialogue before it",
    "Engagingness": "how engaging the reply is", "Groundedness": "how far the reply is grounded in the given fact",
    "Understandability": "how understandable the reply is", "Overall": "the overall quality of the reply",
}  # fmt: skip


def recorded(data: Path) -> dict[str, dict[str, float]]:
    """Assistant -> sample's id -> its recorded value; replies of GPT-3.5 as their authors read them, which is quick."""
    known = collection("topical_chat")
    assert known.authors is not None
    found: dict[str, dict[str, float]] = {}
    for one in known.authors(folder_of(data, known))[""]:
        held = {"unieval": one.metrics["UniEval"]}
        if one.criterion in SAMPLED:
            held["gpt35"] = one.metrics[SAMPLED[one.criterion]]
        for name, values in held.items():
            pairs = zip(one.ids, values, strict=True)
            found[f"{name}-{one.criterion.lower()}"] = {id: float(v) for id, v in pairs if v is not None}
    return found


def as_assistant(name: str, values: Mapping[str, float]) -> Metric:
    """Recorded values as an assistant: what was said of a sample, or why there is nothing."""
    criterion = name.partition("-")[2].capitalize()
    span = "1 to 3" if name.startswith("gpt35") else WIDEST.get(criterion, "0 to 1")

    def measure(sample: Sample) -> float:
        if sample.id not in values:
            raise Unmeasurable("nothing was recorded of it: its request failed")
        return values[sample.id]

    about = About(
        measures=f"{SKILLS[criterion]}, as {'GPT-3.5' if name.startswith('gpt35') else 'UniEval'} said", range=span,
        reads="the sample's id", direction="higher = better", cost="nothing: recorded", licence="of the recording",
        source="recorded",
    )  # fmt: skip
    return Metric(name=name, about=about, measure=measure)


def judged(data: Path, judge: Any = "embedded", n: int = 360, resamples: int = 1000) -> tuple[Any, Any]:
    """(agreement with people of assistants, their means and the fusing judge; requests)."""
    known = collection("topical_chat")
    samples = list(known.samples(folder_of(data, known)))[:n]
    offers = assistants(["rouge-l", *(as_assistant(name, values) for name, values in recorded(data).items())])
    graph = fusion_eval(judge, criteria="dialogue", assistants=offers, consult="all")
    conventions = chosen("unieval", resamples=resamples, unreadable="drop")
    with TemporaryDirectory() as folder:  # a run in a folder knows which end of an assistant is better
        run = jg.evaluate(graph, samples, out=Path(folder) / "run")
        found = aggregates_of(run, of_run(run, assistants=True), conventions)
        return jg.agreement(found, conventions, tests=False), run.manifest["calls"]["requests"]


def main(args: Iterable[str] | None = None) -> int:
    """Print the table; exit code 1 where the data is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--judge", default="embedded")
    parser.add_argument("-n", type=int, default=360, help="turns, from the start of the collection")
    parser.add_argument("--resamples", type=int, default=1000)
    given = parser.parse_args(list(args) if args is not None else None)
    if not given.data.is_dir():
        print(f"skipped: no {given.data}", file=sys.stderr)
        return 1
    found, requests = judged(given.data, given.judge, given.n, given.resamples)
    rows = [row for row in found.rows if row.statistic == "spearman"]
    names = list(dict.fromkeys(row.criterion for row in rows))
    cells = {(row.metric, row.criterion): row for row in rows}
    versions = ", ".join(f"{p} {version(p)}" for p in ("judgegraph", "langgraph", "scipy"))
    print(f"TopicalChat, {given.n} turns; judge {given.judge}; {platform.machine()}, {versions}\n")
    print(f"| | {' | '.join(names)} |\n|---|{'---|' * len(names)}")
    for metric in dict.fromkeys(row.metric for row in rows):
        print(f"| {metric} | {' | '.join(cell(cells.get((metric, name))) for name in names)} |")
    print(f"\n{rows[0].signature}")
    print(f"{requests} requests")
    return 0


def cell(row: Any) -> str:
    """Value and interval; "-" where there is none."""
    if row is None or math.isnan(row.value):
        return "-"
    low, high = row.interval
    return f"{row.value:.3f} [{low:.2f}, {high:.2f}]"


if __name__ == "__main__":
    raise SystemExit(main())
