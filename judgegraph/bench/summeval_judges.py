"""Recorded judges of SummEval: each reply as it came, of twelve systems' summaries, beside three experts' scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from judgegraph.bench.files import field, number, read_lines
from judgegraph.bench.summeval_pairs import head_to_head
from judgegraph.errors import DataError
from judgegraph.meta.judgements import Judgements

ANNOTATIONS = "annotations_12systems.jsonl.gz"
PROMPTS = ("rts", "mcq", "stareval", "altrts", "altmcq")
Key: TypeAlias = tuple[str, str]  # article, system
Read: TypeAlias = Callable[[str, str], tuple[float | None, str]]  # reply, prompt -> value, status


def recorded_judges(folder: Path, names: Sequence[str], read: Read) -> Mapping[str, list[Judgements]]:
    """Judges that rate, and those that compare two systems' summaries, where their files are there."""
    people = _experts(folder / ANNOTATIONS)
    rated = [_rated(folder, name, people, read) for name in names]
    found = {"": [one for one in rated if one.metrics]}
    pairs = [one for name in names if (one := head_to_head(folder, name)) is not None]
    return found | ({"head to head": pairs} if pairs else {})


def _experts(path: Path) -> dict[Key, dict[str, Any]]:
    """Article and system -> the row with the experts' scores, articles together."""
    found: dict[Key, dict[str, Any]] = {}
    for line, row in enumerate(read_lines(path), 1):
        where = f"{path}, row {line}"
        key = field(row, "id", where, str), field(row, "system_id", where, str)
        if key in found:
            raise DataError(f"{where}: {key[1]} on {key[0]} stands twice")
        found[key] = {"where": where, "experts": field(row, "expert_annotations", where, list)}
    return dict(sorted(found.items()))


def _scores(row: Mapping[str, Any], name: str) -> tuple[float, ...]:
    """What each expert gave, in their order."""
    where, given = str(row["where"]), row["experts"]
    if not all(isinstance(one, dict) for one in given):
        raise DataError(f"{where}, key 'expert_annotations': expected a list of objects")
    return tuple(number(one, name, f"{where}, expert_annotations") for one in given)


def _rated(folder: Path, name: str, people: Mapping[Key, Mapping[str, Any]], read: Read) -> Judgements:
    metrics: dict[str, tuple[float | None, ...]] = {}
    statuses: dict[str, tuple[str, ...]] = {}
    for path in sorted((folder / "judges").glob(f"*/{name.lower()}_*.jsonl*")):
        prompt = path.name.partition(".jsonl")[0].partition("_")[2]
        if prompt in PROMPTS:
            held = {key: read(text, prompt) for key, text in replies(path).items()}
            found = [held.get(key, (None, "provider_error")) for key in people]
            metric = f"{path.parent.name} {prompt}"
            metrics[metric] = tuple(value for value, _ in found)
            statuses[metric] = tuple("ok" if value is not None else status for value, status in found)
    return Judgements(
        criterion=name, kind="number", ids=tuple("/".join(key) for key in people),
        human=tuple(_scores(row, name.lower()) for row in people.values()), metrics=metrics, statuses=statuses,
        groups=tuple(article for article, _ in people), systems=tuple(system for _, system in people),
    )  # fmt: skip


def replies(path: Path) -> dict[Key, str]:
    """Article and system -> reply; of a summary that was asked for twice the last line counts."""
    found = {}
    for line, row in enumerate(read_lines(path), 1):
        where = f"{path}, row {line}"
        key = field(row, "id", where, str), field(row, "system_id", where, str)
        found[key] = field(row, "resp", where, str)
    return found
