"""TopicalChat: next turns of dialogues by six systems, judged by people, UniEval, and GPT-3.5 with 20 samples."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from statistics import fmean

from judgegraph.bench.files import (
    Collection,
    Published,
    ResultRow,
    field,
    judged_by_unieval,
    present,
    read_results,
    rows_of,
    sample_of,
    unieval_published,
)
from judgegraph.errors import DataError
from judgegraph.meta.cells import Judgements
from judgegraph.replies.free_text import read_rating
from judgegraph.types import Sample, Scale

# What was published of judges on TopicalChat.


_UNIEVAL = {  # Pearson, Spearman, Kendall
    "Naturalness": (0.443666, 0.513986, 0.373973),
    "Coherence": (0.595143, 0.612942, 0.465915),
    "Engagingness": (0.556510, 0.604739, 0.455941),
    "Groundedness": (0.536209, 0.574954, 0.451533),
    "Understandability": (0.380038, 0.467807, 0.360741),
    "Overall": (0.632796, 0.662583, 0.487272),
}
_SAMPLED = {  # prompt, criterion -> Pearson over all, Kendall per dialogue
    ("geval", "Coherence"): (0.468, 0.391),
    ("geval", "Engagingness"): (0.549, 0.513),
    ("geval_no_auto_cot", "Coherence"): (0.443, 0.404),
    ("geval_no_auto_cot", "Engagingness"): (0.557, 0.535),
    ("llm_eval_no_cot", "Coherence"): (0.524, 0.426),
    ("llm_eval_no_cot", "Engagingness"): (0.611, 0.557),
    ("rate_explain_auto_cot", "Engagingness"): (0.613, 0.566),
    ("analyze_rate", "Coherence"): (0.477, 0.416),
    ("analyze_rate", "Engagingness"): (0.567, 0.524),
}
_PER_DIALOGUE = {"Coherence": 0.486, "Engagingness": 0.628}  # Pearson of analyze_rate
_FUSION_EVAL = {  # Spearman over all turns
    "DE-PaLM2": (0.669, 0.688, 0.542, 0.602, 0.493, 0.66),
    "G-Eval (GPT-4)": (0.605, 0.631, 0.565, 0.551, None, None),
    "BLEURT": (0.316, 0.461, 0.384, 0.638, 0.432, 0.464),
    "PaLM2 Prob": (0.583, 0.606, 0.637, 0.441, 0.676, 0.687),
    "AVG(AE)": (0.556, 0.637, 0.626, 0.579, 0.672, 0.697),
    "LLMSel(AE)": (None, None, 0.637, 0.638, 0.676, None),
    "CorrW(AE)": (0.575, 0.637, 0.638, 0.6, 0.682, 0.703),
    "AVG(AE, DE-PaLM2)": (0.655, 0.708, 0.631, 0.639, 0.679, 0.737),
    "LLMSel(AE, DE-PaLM2)": (None, None, None, 0.66, None, None),
    "CorrW(AE, DE-PaLM2)": (0.666, 0.711, 0.641, 0.65, 0.689, 0.742),
    "FE-PaLM2-NoPlan": (0.683, 0.722, 0.649, 0.643, 0.641, 0.735),
    "FE-PaLM2": (0.697, 0.728, 0.651, 0.709, 0.632, 0.764),
    "FE-GPT-4": (0.678, 0.747, 0.691, 0.692, 0.687, 0.774),
}
_ORDER = ("Coherence", "Engagingness", "Naturalness", "Groundedness", "Understandability", "Overall")
_PAPER = "Chiang and Lee 2023, tables 2 and 3: r over all turns, tau per dialogue"


def _sampled_figures() -> tuple[Published, ...]:
    found = []
    for (prompt, name), (r, tau) in _SAMPLED.items():
        found.append(Published(f"gpt-3.5 {prompt}", name, "pearson", r, _PAPER, "dataset"))
        found.append(Published(f"gpt-3.5 {prompt}", name, "kendall-b", tau, _PAPER, "group"))
    for name, r in _PER_DIALOGUE.items():
        found.append(Published("gpt-3.5 analyze_rate", name, "pearson", r, _PAPER, "group"))
    return tuple(found)


def _fusion_eval() -> tuple[Published, ...]:
    source = "Fusion-Eval (Shu et al. 2023), table 3"
    return tuple(
        Published(judge, name, "spearman", value, source, "dataset")
        for judge, values in _FUSION_EVAL.items()
        for name, value in zip(_ORDER, values, strict=True)
        if value is not None
    )


PUBLISHED = (*unieval_published(_UNIEVAL), *_sampled_figures(), *_fusion_eval())


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
