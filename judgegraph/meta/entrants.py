"""Systems that are to be ranked: whose output each item is, of pairs also whose the rival is; from runs and tables."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from judgegraph.errors import ConfigError, DataError, one_line
from judgegraph.meta.columns import refuse_unknown
from judgegraph.meta.judgements import Judgements, Kind
from judgegraph.meta.raw import Raw
from judgegraph.meta.run_answers import Told, join_answers, told
from judgegraph.meta.table import read_table
from judgegraph.runtime.item import Item
from judgegraph.runtime.load import READERS, format_of
from judgegraph.runtime.run import Run
from judgegraph.types import Verdict, names_of

SYSTEM, RIVAL, GROUP = "system", "rival_system", "group"  # keys of a sample's meta where none are named


@dataclass(frozen=True)
class Entrants:
    """Judgements whose `systems` are there; rivals: of pairs, the systems of the second outputs."""

    judged: Judgements
    rivals: tuple[str, ...] | None = None


def of_table(
    path: str | os.PathLike[str], *, rival: str | None = None, human: str | Sequence[str] = (),
    metrics: str | Sequence[str] = (), group: str | None = None, **columns: Any,
) -> list[Entrants]:  # fmt: skip
    """The entrants of a table, by criterion; columns as of `read_table`. People or metrics may be missing.

    Args:
        rival: column of the second system: rows are pairs then, judged by verdicts.

    Raises:
        ConfigError: no column of systems. DataError: no such column, and as of `read_table`.
    """
    people, scorers = names_of(human), names_of(metrics)
    columns |= {"human": people or scorers, "metrics": scorers or people[:1]}
    if rival is not None:
        columns["kind"] = "verdict"
    try:
        found = read_table(path, None, group=group, **columns)
    except DataError:
        _refuse_misspelt(path, [columns.get("system"), rival, group, columns.get("id"), columns.get("criterion")])
        raise
    for one in found:
        if one.systems is None:
            raise ConfigError(f"{one_line(path)}: which column holds the systems? Name it with --system COLUMN")
    if metrics and not human:
        found = [replace(one, human=((),) * len(one)) for one in found]
    if human and not metrics:
        found = [replace(one, metrics={}, statuses={}) for one in found]
    if rival is None:
        return [Entrants(one) for one in found]
    try:
        others = [one.groups for one in read_table(path, None, group=rival, **columns)]
    except DataError:
        _refuse_misspelt(path, [rival])
        raise
    return [Entrants(one, other) for one, other in zip(found, others, strict=True)]


def _refuse_misspelt(path: str | os.PathLike[str], wanted: Sequence[str | None]) -> None:
    """A name that is in no first row is no empty cell of it.

    Raises:
        DataError: one of them is.
    """
    first = next((row for _, row in READERS[format_of(Path(path))](Path(path))), None)
    if isinstance(first, dict):
        names = [name for name in wanted if name is not None]
        met = {name for name in names if name in first or name.partition(".")[0] in first}
        refuse_unknown(names, met, list(first), one_line(path))


def of_run(
    run: Run, *, system: str | None = None, rival: str | None = None, group: str | None = None,
    metrics: str | Sequence[str] = (), stages: str | Sequence[str] | None = None,
    verdicts: Mapping[str, Verdict] | None = None,
) -> list[Entrants]:  # fmt: skip
    """The entrants of a run, by criterion, whether people judged its samples or not.

    Args:
        system, rival, group: keys of the samples' meta; None for "system", "rival_system" and "group", where they are.
        metrics: only these agents. stages: whose scores count; None: the answers, and the final scores of `metrics`.

    Raises:
        ConfigError: a sample without its system, no such agent, or nothing that ranks.
    """
    metrics, stages = names_of(metrics), stages if stages is None else names_of(stages)
    items = [(item, told(item, stages, assistants=False, agents=metrics)) for item in run.items]
    join_answers([said for _, said in items])
    items.sort(key=lambda one: one[0].place)  # as `read_run`
    names: dict[str, str] = {}
    for _, said in items:
        for name in said.names:
            names.setdefault(name.casefold(), name)
    _refuse_unknown_agents(metrics, items)
    found = [_criterion(name, key, items, (system, rival, group), metrics, verdicts) for key, name in names.items()]
    kept = [one for one in found if one is not None]
    if not kept:
        raise ConfigError("nothing ranks the systems: the run has no scores that are numbers, and no verdicts of pairs")
    return kept


def _refuse_unknown_agents(wanted: Sequence[str], items: Sequence[tuple[Item, Told]]) -> None:
    known = list(dict.fromkeys(m for _, said in items for found in said.by.values() for m in found))
    for name in wanted:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean '{one_line(near[0], 60)}'?" if near else "."
            has = one_line(", ".join(known), 200) or "none that scored or compared"
            raise ConfigError(f"no agent '{one_line(name, 60)}' in the run{hint} It has {has}")


def _criterion(
    name: str, key: str, items: Sequence[tuple[Item, Told]], keys: tuple[str | None, str | None, str | None],
    wanted: Sequence[str], verdicts: Mapping[str, Verdict] | None,
) -> Entrants | None:  # fmt: skip
    """One criterion of the items that were judged by it; None where its answers are labels."""
    seen = [(item, said.answers(key), said) for item, said in items if key in said.by]
    metrics = [m for m in dict.fromkeys(m for _, found, _ in seen for m in found) if not wanted or m in wanted]
    given = [found[m][0] for _, found, _ in seen for m in metrics if m in found and found[m][0] is not None]
    paired = bool(given) and all(answer in ("A", "B", "tie") for answer in given)
    if not given or not (paired or all(isinstance(answer, float | int) for answer in given)):
        return None
    exchanged = [m for m in metrics if paired and any(m in said.exchanged.get(key, {}) for _, _, said in seen)]
    raw = Raw(name, "the run", metrics={m: [] for m in metrics}, exchanged={m: [] for m in exchanged})
    raw.systems, raw.groups = [], []
    rivals: list[str] = []
    for item, found, said in seen:
        _add(raw, item, found, said.exchanged.get(key, {}), key)
        raw.systems.append(_meta(item, keys[0], SYSTEM) or "")
        rivals.append(_meta(item, keys[1], RIVAL) or "" if paired else "")
        raw.groups.append(_meta(item, keys[2], GROUP, needed=False) or "")
    raw.groups = raw.groups if all(raw.groups) else None
    kind: Kind = "verdict" if paired else "number"
    return Entrants(raw.judgements(kind, verdicts if paired else None), tuple(rivals) if paired else None)


def _add(raw: Raw, item: Item, found: Mapping[str, Any], exchanged: Mapping[str, Any], key: str) -> None:
    human = next((value for label, value in item.sample.human.items() if label.casefold() == key), None)
    raw.places.append(f"sample '{one_line(item.id, 60)}'")
    raw.ids.append(item.id)
    raw.human.append(human if isinstance(human, list) else [] if human is None else [human])
    for metric, cells in raw.metrics.items():
        cells.append(found.get(metric, (None, ""))[0])
    for metric, cells in raw.exchanged.items():
        cells.append(exchanged.get(metric))


def _meta(item: Item, key: str | None, usual: str, *, needed: bool = True) -> str | None:
    """A name in a sample's meta ("a.b" is b in the object a).

    Raises:
        ConfigError: there is none, and it is needed or was asked for.
    """
    value: Any = item.sample.meta
    for step in [key or usual] if (key or usual) in value else (key or usual).split("."):
        value = value.get(step) if isinstance(value, Mapping) else None
    if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
        return str(value)
    if key is None and not needed:
        return None
    option = {SYSTEM: "--system", RIVAL: "--rival", GROUP: "--group"}[usual]
    has = one_line(", ".join(map(str, item.sample.meta)), 120) or "nothing"
    raise ConfigError(
        f"sample '{one_line(item.id, 60)}': no name in meta.{one_line(key or usual, 60)}, its meta has {has}; "
        f"{option} KEY says where it is"
    )
