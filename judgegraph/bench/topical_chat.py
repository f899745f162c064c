"""TopicalChat: next turns of dialogues by six systems, judged by people, UniEval, and GPT-3.5 with 20 samples."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from statistics import fmean

from judgegraph.bench.collection import Collection
from judgegraph.bench.files import field, present, rows_of, sample_of
from judgegraph.bench.result_rows import ResultRow, judged_by_unieval, read_results
from judgegraph.bench.topical_chat_figures import PUBLISHED
from judgegraph.calls.reading import read_rating
from judgegraph.errors import DataError
from judgegraph.meta.judgements import Judgements
from judgegraph.types import Sample, Scale

FILE = "topical_chat_result.json"
NAMES = ("Naturalness", "Coherence", "Engagingness", "Groundedness", "Understandability", "Overall")
SAMPLED = {"coh": "Coherence", "eng": "Engagingness", "nat": "Naturalness", "gro": "Groundedness"}
PROMPTS = (
    "geval", "geval_no_auto_cot", "llm_eval_no_cot", "rate_explain", "rate_explain_auto_cot", "analyze_rate",
    "analyze_rate_auto_cot",
)  # fmt: skip
Read = Callable[[str, str], float | None]  # a reply and its scale


def _rows(folder: Path) -> list[ResultRow]:
    texts = ("source", "context", "system_output")
    return read_results(folder / FILE, {name.lower(): name for name in NAMES}, texts, systems=True)


def samples(folder: Path) -> Iterator[Sample]:
    """One for each turn: the dialogue before it is the query, the fact its source; its group is the dialogue."""
    for row in _rows(folder):
        turns = [line.strip() for line in row.texts["source"].splitlines() if line.strip()]
        yield sample_of(
            row.where, id=row.id, query="\n".join(f"{'AB'[n % 2]}: {turn}" for n, turn in enumerate(turns)),
            source=row.texts["context"], output=row.texts["system_output"], human=row.human,
            meta={"group": row.group, "system": row.system},
        )  # fmt: skip


@lru_cache(maxsize=1 << 16)  # bare ratings repeat by the thousand
def _ours(text: str, scale: str) -> float | None:
    value = read_rating(text, Scale.of(scale)).value
    return value if isinstance(value, float) else None


def _theirs(text: str, scale: str) -> float | None:
    """Chiang and Lee (all_eval.py), cut to whole numbers: the first digit behind the last "rating:" there is."""
    digit = re.search("[0-9]", text.lower().replace("1-3", " ").rpartition("rating:")[2])
    return float(digit[0]) if digit else None


def _sampled(path: Path, scale: str, read: Read) -> dict[tuple[str, str], float | None]:
    """(dialogue, system) -> mean of the samples that could be read, None where none could."""
    found: dict[tuple[str, str], float | None] = {}
    for where, row in rows_of(path):
        replies = field(row, "all_responses", where, list)
        if not all(isinstance(text, str) for text in replies):
            raise DataError(f"{where}, key 'all_responses': expected a list of texts")
        values = [value for text in replies if (value := read(text, scale)) is not None]
        key = field(row, "source", where, str), field(row, "system_id", where, str)
        found[key] = fmean(values) if values else None
    return found


def _with_samples(folder: Path, read: Read) -> Mapping[str, list[Judgements]]:
    """UniEval and GPT-3.5; a request of theirs that failed has no row, and here the status of one that failed."""
    rows = _rows(folder)
    keys = [(row.texts["source"], row.system) for row in rows]
    judged = {one.criterion: one for one in judged_by_unieval(rows)}
    for short, name in SAMPLED.items():
        metrics, statuses = dict(judged[name].metrics), {}
        for prompt in PROMPTS:
            path = folder / "gpt-3.5" / f"gpt3.5_{short}_{prompt}.json.gz"
            if present(path):
                held = _sampled(path, "0-1" if short == "gro" else "1-3", read)
                metrics[f"gpt-3.5 {prompt}"] = tuple(held.get(key) for key in keys)
                statuses[f"gpt-3.5 {prompt}"] = tuple(_status(held, key) for key in keys)
        judged[name] = replace(judged[name], metrics=metrics, statuses=statuses)
    return {"": list(judged.values())}


def _status(held: Mapping[tuple[str, str], float | None], key: tuple[str, str]) -> str:
    if key not in held:
        return "provider_error"
    return "unreadable" if held[key] is None else "ok"


COLLECTION = Collection(
    name="topical_chat",
    title="TopicalChat (Mehri and Eskenazi 2020)",
    items="360 turns of 60 dialogues by 6 systems",
    origin=(
        "maszhongming/UniEval, reproduce/unieval_predict/dialogue/topical_chat_result.json (MIT); "
        "d223302/A-Closer-Look-To-LLM-Evaluation, results/topical_chat (no licence stated)"
    ),
    files=(FILE, "gpt-3.5/gpt3.5_coh_geval.json.gz"),
    criteria="dialogue",
    preset="unieval",
    samples=samples,
    recorded=lambda folder: _with_samples(folder, _ours),
    published=PUBLISHED,
    authors=lambda folder: _with_samples(folder, _theirs),
)
