"""From files of foreign judgements to one training set: read, judged anew by a run, sifted, joined with branching.

    gathered = gather([read_records("pairs.jsonl")])
    run = jg.evaluate(bridging(judge="openai:gpt-4.1-mini"), gathered.samples, out="runs/bridge")
    found = bridge(gathered, run, branching=branched(["runs/fennec"]))
    write(found.training_set, "training")

Source: Fennec, sections 3.2 and 4.1.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from judgegraph import __version__
from judgegraph.bridging.consistency import (
    KINDS,
    POINTS,
    Reject,
    Sifted,
    counted_kinds,
    of_rejections,
    sifted,
    without_doubles,
)
from judgegraph.bridging.records import Records
from judgegraph.bridging.training_set import (
    SPLITS,
    TASKS,
    Preference,
    Row,
    Source,
    TrainingSet,
    judges_of,
    of_branching,
    of_bridging,
    refuse_other_method,
    training_set,
)
from judgegraph.errors import ConfigError, counted, one_line
from judgegraph.runs.folder import unwritable, write_lines
from judgegraph.runs.run import Run, incomplete_run
from judgegraph.types import Sample


@dataclass(frozen=True)
class Gathered:
    """Foreign judgements of one or more files, before anything is asked.

    Attributes:
        records: of each file. samples: to be judged anew, ids unique over all files. file_of: id -> place of its file.
        rejects: of each file, rows that cannot be read and doubles.
    """

    records: tuple[Records, ...]
    samples: tuple[Sample, ...]
    file_of: Mapping[str, int]
    rejects: tuple[tuple[Reject, ...], ...]

    @property
    def names(self) -> list[str]:
        """What files are called in a training set: without their folders, where that tells them apart."""
        short = [Path(one.file).name for one in self.records]
        times = Counter(short)
        return [one if times[one] == 1 else f"{at}-{one}" for at, one in enumerate(short, 1)]

    @property
    def read(self) -> int:
        """Judgements that were looked at, rejects among them."""
        return sum(len(one.samples) + len(one.rejected) for one in self.records)


def gather(records: Sequence[Records]) -> Gathered:
    """Records of several files as one; what says the same of the same texts is taken once.

    Raises:
        ConfigError: two records of different files have one id.
    """
    file_of: dict[str, int] = {}
    for at, one in enumerate(records):
        for sample in one.samples:
            if sample.id in file_of:
                raise ConfigError(f"{one.file}: the id {sample.id!r} is of another file too; read it with a prefix")
            file_of[sample.id] = at
    kept, doubles = without_doubles(sample for one in records for sample in one.samples)
    rejects = [of_rejections(one.rejected) for one in records]
    for reject in doubles:
        rejects[file_of[reject.id]].append(reject)
    return Gathered(tuple(records), tuple(kept), file_of, tuple(map(tuple, rejects)))


@dataclass(frozen=True)
class Branched:
    """A run of Fennec whose data joins. name: of it as a source. origin: of its data, and the licence, or ""."""

    name: str
    run: Run
    origin: str = ""


def branched(folders: Sequence[str | Path], origins: Sequence[str] = ()) -> list[Branched]:
    """Runs of Fennec in folders, named as these, without what stands above where that tells them apart.

    Args:
        origins: where the data of each comes from, and its licence, as many as are known.

    Raises:
        ConfigError: a run of another method. DataError: a folder that holds no run.
    """
    short = [Path(one).resolve().name for one in folders]
    times, found = Counter(short), []
    for at, (folder, name) in enumerate(zip(folders, short, strict=True)):
        name = name if times[name] == 1 else f"{at + 1}-{name}"
        run = Run.load(folder)
        refuse_other_method(run, name)
        found.append(Branched(name, run, origins[at] if at < len(origins) else ""))
    return found


@dataclass(frozen=True)
class Bridge:
    """What came of it.

    Attributes:
        training_set: all rows in their splits. read: foreign judgements that were looked at. consistent: that hold.
        unjudged: that the run did not come to, as it was stopped or its budget spent; so that read is consistent,
            unjudged and the rejects of bridged files together.
        unfinished: why some were not judged, "" where all were. signature: of the run, "" without one.
        judges: who wrote and judged. consistent_of: name of a file -> its judgements that hold.
    """

    training_set: TrainingSet
    read: int = 0
    consistent: int = 0
    unjudged: int = 0
    unfinished: str = ""
    signature: str = ""
    judges: tuple[str, ...] = ()
    consistent_of: Mapping[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values, every reject among them."""
        about = {
            "read": self.read, "consistent": self.consistent, "unjudged": self.unjudged,
            "consistent_of": dict(self.consistent_of), "unfinished": self.unfinished, "judges": list(self.judges),
            "signature": self.signature,
        }  # fmt: skip
        rejects = [one.to_dict() for one in self.training_set.rejects]
        return {**about, **self.training_set.counts(), "rejects": rejects}


def bridge(
    gathered: Gathered | None = None, run: Run | None = None, *, branching: Iterable[Branched] = (),
    points: float = POINTS, shares: tuple[float, float] = (0.05, 0.05), seed: int = 0,
) -> Bridge:  # fmt: skip
    """One training set of foreign judgements that hold and of runs of Fennec.

    Args:
        gathered, run: foreign judgements, and the run of `judgegraph.graphs.bridging` over their samples.
        branching: runs of Fennec. points: of 1-5, how far off a single response's score may be.
        shares, seed: of validation and test, as `training_set` takes them.

    Raises:
        ConfigError: a run of another method, or shares that are none. DataError: a run that cannot be read.
    """
    sources: list[Source] = []
    rows: list[Row] = []
    preferences: list[Preference] = []
    holds: dict[str, int] = {}
    judges: dict[str, None] = {}
    if gathered is not None and (run is not None or not gathered.samples):
        judge = judges_of(run) if run else ""
        judges[judge] = None
        for at, found in enumerate(_by_file(gathered, run, points)):
            name, of = gathered.names[at], gathered.records[at]
            source, more, pairs = of_bridging(
                name, found, rejects=gathered.rejects[at], records=len(of.samples) + len(of.rejected),
                origin=of.origin, judge=judge,
            )  # fmt: skip
            holds[name] = len(found.consistent)
            sources, rows, preferences = [*sources, source], [*rows, *more], [*preferences, *pairs]
    for one in branching:
        source, more, pairs = of_branching(one.run, one.name, one.origin)
        judges[source.judge] = None
        sources, rows, preferences = [*sources, source], [*rows, *more], [*preferences, *pairs]
    found_set = training_set(sources, rows, preferences, shares=shares, seed=seed)
    read, consistent = gathered.read if gathered else 0, sum(holds.values())
    rejected = sum(len(one.rejects) for one in sources if one.way == "bridging")
    return Bridge(
        found_set, read, consistent, read - consistent - rejected, incomplete_run(run) if run else "",
        run.signature if run else "", tuple(filter(None, judges)), holds,
    )  # fmt: skip


def _by_file(gathered: Gathered, run: Run | None, points: float) -> list[Sifted]:
    """The run's items of each file, sifted; items of other samples, or refused by the budget, are left aside."""
    items: list[list[Any]] = [[] for _ in gathered.records]
    asked = {sample.id for sample in gathered.samples}
    for item in sorted(run.items if run else (), key=lambda item: item.place):
        if item.id in asked and item.status != "over_budget":
            items[gathered.file_of[item.id]].append(item)
    return [sifted(mine, points) for mine in items]


# A training set as a folder that `datasets` loads, with a data card: counts, rejects, licences, how it was made.


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
        f"{counted(found.size, 'question')} with an answer and {pairs:,} with a better and a worse one, "
        "asked as the agents of Fennec ask (arXiv:2405.12163). Judgements of other projects were bridged: a model "
        "wrote criterion and guideline from query, responses and judgement, and a judgement is kept where a judge who "
        "sees the guideline alone says the same, of a pair in both orders. Splits are by query: no query, and no "
        "source text, is in two of them.\n"
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
        f"\nPairs stand in both orders: {counted(orders.get('AB', 0), 'row')} with A printed first, "
        f"{orders.get('BA', 0):,} with B. {counted(found.doubled, 'row')} left out, as the question came before. "
        f"About {counted(long, 'row is', 'rows are')} longer than "
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
