"""A training set as a folder that `datasets` loads, with a data card: counts, rejects, licences, how it was made."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from judgegraph import __version__
from judgegraph.bridging.consistency import KINDS, counted_kinds
from judgegraph.bridging.training_set import SPLITS, TASKS, Row, Source, TrainingSet
from judgegraph.errors import ConfigError, one_line
from judgegraph.runs.folder import unwritable, write_lines

SEQUENCE = 2048  # tokens of a training sequence (Fennec, section 4.2)
PER_TOKEN = 4  # characters, about
UNSTATED = "not stated"


def write(found: TrainingSet, folder: str | os.PathLike[str], signature: str = "") -> Path:
    """Write it as a new folder, whole or not at all.

    `README.md` is the card, whose head names the files to `datasets.load_dataset(FOLDER, "sft")` and "dpo";
    `sft/SPLIT.jsonl`, `dpo/SPLIT.jsonl`, `rejects.jsonl`, `counts.json`. A split without rows has no file.

    Raises:
        ConfigError: the folder is there and holds something, cannot be written, or there is no row to write.
    """
    path = Path(folder)
    refuse_used(path)
    if not found.size:
        raise ConfigError(f"{path}: no row to write: no judgement came through")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    except OSError as error:
        raise unwritable(error, path) from None
    try:
        _fill(found, made, signature)
        made.chmod(0o755)
        made.replace(path)
    except OSError as error:
        raise unwritable(error, path) from None
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return path


def refuse_used(path: Path) -> None:
    """
    Raises:
        ConfigError: the folder is there and holds something, or is no folder.
    """
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise ConfigError(f"{path}: is there already and is not empty; name a new folder, so that nothing is mixed")


def _fill(found: TrainingSet, folder: Path, signature: str) -> None:
    files: dict[str, list[str]] = {"sft": [], "dpo": []}
    for split in SPLITS:
        for kind, rows in (("sft", found.rows[split]), ("dpo", found.preferences[split])):
            if rows:
                (folder / kind).mkdir(exist_ok=True)
                write_lines(folder / kind / f"{split}.jsonl", (_line(row.to_dict()) for row in rows))
                files[kind].append(split)
    write_lines(folder / "rejects.jsonl", (_line(one.to_dict()) for one in found.rejects))
    counts = {**found.counts(), "signature": signature, "judgegraph": __version__}
    write_lines(folder / "counts.json", [json.dumps(counts, indent=1, ensure_ascii=False)])
    write_lines(folder / "README.md", card(found, files, signature))


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def card(found: TrainingSet, files: dict[str, list[str]], signature: str = "") -> Iterator[str]:
    """The lines of the data card.

    Args:
        files: "sft" and "dpo" -> the splits that have a file.
    """
    configs = [
        {"config_name": kind, "data_files": [{"split": s, "path": f"{kind}/{s}.jsonl"} for s in splits]}
        | ({"default": True} if kind == "sft" else {})
        for kind, splits in files.items()
        if splits
    ]
    head = {"license": "other", "tags": ["llm-as-a-judge", "fennec", "trl"], "configs": configs}
    yield "---\n" + yaml.safe_dump(head, sort_keys=False).rstrip() + "\n---\n"
    yield "# Training data of a judge: criteria, guidelines, judgements, corrections\n"
    yield _about(found)
    yield from _counts(found)
    yield from _sources(found)
    yield from _rejects(found)
    yield from _use(files)
    yield f"Made by judgegraph {__version__}" + (f": `{signature}`" if signature else "") + "."


def _about(found: TrainingSet) -> str:
    pairs = sum(map(len, found.preferences.values()))
    return (
        f"{found.size:,} questions with an answer and {pairs:,} with a better and a worse one, asked as the agents "
        "of Fennec ask (arXiv:2405.12163). Judgements of other projects were bridged: a model wrote criterion and "
        "guideline from query, responses and judgement, and a judgement is kept where a judge who sees the guideline "
        "alone says the same, of a pair in both orders. Splits are by query: no query, and no source "
        "text, is in two of them.\n"
    )


def _counts(found: TrainingSet) -> Iterator[str]:
    counts = found.counts()
    yield "## Counts\n"
    yield "| split | queries | " + " | ".join(TASKS) + " | preferences |"
    yield "|---" * (len(TASKS) + 3) + "|"
    for split in SPLITS:
        by_task = " | ".join(str(counts["rows"][split][task]) for task in TASKS)
        yield f"| {split} | {counts['queries'][split]} | {by_task} | {counts['preferences'][split]} |"
    orders, long = counts["orders"], sum(_tokens(row) > SEQUENCE for rows in found.rows.values() for row in rows)
    yield (
        f"\nPairs stand in both orders: {orders.get('AB', 0):,} rows with A printed first, {orders.get('BA', 0):,} "
        f"with B. {found.doubled:,} rows were left out, as their question came before. "
        f"About {long:,} rows are longer than "
        f"{SEQUENCE:,} tokens, at {PER_TOKEN} characters each.\n"
    )


def _tokens(row: Row) -> int:
    return (sum(len(text) for _, text in row.prompt) + len(row.completion)) // PER_TOKEN


def _sources(found: TrainingSet) -> Iterator[str]:
    yield "## Sources and licences\n"
    yield "| source | made by | read | rejected | written by | origin and licence, as stated there |"
    yield "|---|---|---|---|---|---|"
    for one in found.sources:
        cells = (one.name, one.way, str(one.records), str(len(one.rejects)), one.judge or "-", one.origin or UNSTATED)
        yield "| " + " | ".join(map(_cell, cells)) + " |"
    if unclear := [one.name for one in found.sources if is_unclear(one)]:
        named = ", ".join(map(_cell, unclear))
        yield f"\nOf {named} no licence is stated: find out before you pass this data on, or what is trained with it."
    for one in found.sources:
        for note in one.notes:
            yield f"\n{_cell(one.name)}: {_cell(note)}."
    yield ""


def is_unclear(source: Source) -> bool:
    """Whether nothing, or that nothing is stated, is known of a source's licence."""
    return not source.origin or "no licence stated" in source.origin


def _rejects(found: TrainingSet) -> Iterator[str]:
    yield "## Rejects\n"
    yield "`rejects.jsonl` names each with file, line and reason.\n"
    yield "| what | how many |"
    yield "|---|---|"
    for kind, count in counted_kinds(found.rejects).items():
        yield f"| {KINDS[kind]} | {count} |"
    yield ""


def _use(files: dict[str, list[str]]) -> Iterable[str]:
    yield "## Use\n"
    yield "```python\nfrom datasets import load_dataset\n"
    yield 'rows = load_dataset("THIS_FOLDER", "sft")  # prompt, completion: trl.SFTTrainer takes them as they are'
    if files["dpo"]:
        yield 'pairs = load_dataset("THIS_FOLDER", "dpo")  # prompt, chosen, rejected: trl.DPOTrainer does'
    yield "```\n"


def _cell(text: str) -> str:
    """A text as a cell of a table: on one line, without what would end it or be taken for markup."""
    return one_line(text, 300).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "'")
