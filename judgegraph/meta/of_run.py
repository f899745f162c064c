"""The judgements in a run: people's, in its samples, beside its agents' scores and verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judgegraph.errors import ConfigError, one_line
from judgegraph.meta.columns import near
from judgegraph.meta.fitting import fitted
from judgegraph.meta.judgements import Judgements, Unjudged
from judgegraph.meta.raw import Raw
from judgegraph.meta.run_answers import OVERALL, Told, join_answers, told
from judgegraph.runtime.item import Item
from judgegraph.runtime.run import Run
from judgegraph.types import Verdict, names_of

_LOST = {"group": "the bootstrap draws items (unit:item)", "system": "nothing is told of them"}
OVER_ALL = ("verdict", "preference", "winner", "label")  # what people's "overall" is also called, of pairs


@dataclass(frozen=True)
class ReadRun:
    """Judgements of a run, and what was left out."""

    judgements: list[Judgements]
    notes: tuple[str, ...]


def of_run(run: Run, **how: Any) -> list[Judgements]:
    """A run's judgements, one per criterion that people judged; arguments as of `read_run`."""
    return read_run(run, **how).judgements


def read_run(
    run: Run, *, group: str | None = None, system: str | None = None, agents: str | Sequence[str] = (),
    stages: str | Sequence[str] | None = None, assistants: bool = False, verdicts: Mapping[str, Verdict] | None = None,
    order: Sequence[str] = (),
) -> ReadRun:  # fmt: skip
    """A run's judgements, and what was left out.

    A criterion is met by people's of the same name, whatever its case. Without `stages` the graph's answers are the
    metrics (`judgegraph.answers`), not its votes and drafts; where a gate decides who answers, that is one metric,
    "critic or judge". Scores of stages beside "final" that are named are metrics
    of their own ("evaluator (draft)"); what a method says over all, and its verdict on a pair, is held against people's
    "overall" (of pairs also "verdict", "preference", "winner" or "label").

    Args:
        group, system: key of a sample's `meta` ("a.b" is b in the object a); None for "group" and "system", where all
            samples have it. agents: only these. stages: whose scores count; None: the answers, and the
            final scores of `agents`. assistants: their findings count too.
        verdicts: word of people -> "A", "B" or "tie". order: of ordinal labels, least first; else as on the scale.

    Raises:
        Unjudged: no sample holds a judgement of people, or none of a criterion that was scored.
        ConfigError: no such agent, or a sample without a key of meta that is named.
    """
    agents, stages = names_of(agents), stages if stages is None else names_of(stages)
    seen = [_seen(item, told(item, stages, assistants, agents), group, system) for item in run.items]
    join_answers([one.told for one in seen])
    seen.sort(key=lambda one: one.place)  # an interval draws by place, and samples finish in any order
    _refuse_nobody(agents, seen)
    people = _names(name for one in seen for name in one.human)
    if not people:
        raise Unjudged(
            "no sample of the run holds people's judgements; give them as columns human.CRITERION (or -f "
            "human.CRITERION=COLUMN) when it is judged"
        )
    found, notes = [], [*_without(people, seen), *_partly(seen)]
    for key, name in people.items():
        raw = _raw(name, key, seen, agents)
        scale = next((s.told.scales[key] for s in seen if key in s.told.scales), ())
        judged = bool(raw.metrics)
        kind, other = fitted(raw, verdicts, order or scale, bool(scale))
        notes += other
        if not judged:
            who = "these agents" if agents else "the run"
            why = f"people judged it, and {who} did not ({_stages(stages, seen)})"
            notes.append(f"{one_line(name, 60)}: {why}; {_cure(people, seen)}")
        if not raw.metrics:
            continue
        said = verdicts if kind == "verdict" else None
        found.append(raw.judgements(kind, said, (order or scale) if kind == "label" else ()))
    if not found:
        raise Unjudged("; ".join(["nothing that people judged can be compared", *notes][:6]))
    return ReadRun(found, tuple(notes))


def _stages(stages: Sequence[str] | None, seen: Sequence[_Seen]) -> str:
    there = dict.fromkeys(stage for one in seen for stage in one.told.stages)
    others = ", ".join(stage for stage in there if stage not in (stages or ("final",)))
    where = "in its answers" if stages is None else f"at stage {', '.join(stages)}"
    other = "at other stages there are" if stages is None else "there are"
    return where + (f"; {other} {one_line(others, 80)}" if others else "")


def _cure(people: Mapping[str, str], seen: Sequence[_Seen]) -> str:
    """How people's judgements meet a criterion of the run, where it has one that they did not judge."""
    known = [name for key, name in _names(name for one in seen for name in one.told.names).items() if key not in people]
    if not known:
        return "judge by a criteria set that has it"
    theirs = one_line(", ".join(known), 120)
    return f"name its column human.CRITERION of the run's ({theirs}), or judge by a criteria set that has it"


@dataclass(frozen=True)
class _Seen:
    """What is kept of an item. agents: whoever said something of it, at any stage."""

    id: str
    status: str
    human: Mapping[str, Any]
    told: Told
    group: str | None
    system: str | None
    agents: frozenset[str]
    place: int


def _seen(item: Item, said: Told, group: str | None, system: str | None) -> _Seen:
    meta = item.sample.meta
    document, writer = _meta(meta, group, "group", item.id), _meta(meta, system, "system", item.id)
    metrics = {m for by in (*said.by.values(), said.everywhere) for m in by}
    agents = frozenset(map(_agent, metrics)) | {score.agent for score in item.scores}
    return _Seen(item.id, item.status, dict(item.sample.human), said, document, writer, agents, item.place)


def _refuse_nobody(agents: Sequence[str], seen: Sequence[_Seen]) -> None:
    known = dict.fromkeys(sorted({name for one in seen for name in one.agents}))
    for name in agents:
        if name not in known:
            hint, there = near(name, known), one_line(", ".join(known), 200) or "none"
            raise ConfigError(f"the run has no agent '{one_line(name, 60)}'{hint} There are {there}")


def _partly(seen: Sequence[_Seen]) -> Iterable[str]:
    """Keys of meta that some samples have and others have not: these are not used, which is said."""
    for name in ("group", "system"):
        without = [one for one in seen if getattr(one, name) is None]
        if 0 < len(without) < len(seen):
            first = f"'{one_line(without[0].id, 60)}' first"
            yield f"{len(without):,} of {len(seen):,} samples lack meta.{name} ({first}): no {name}s, {_LOST[name]}"


def _meta(meta: Mapping[str, Any], key: str | None, fallback: str, id: str) -> str | None:
    value: Any = meta
    for step in (key or fallback).split(".") if (key or fallback) not in meta else [key or fallback]:
        value = value.get(step) if isinstance(value, Mapping) else None
    if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
        return str(value)
    if key is None:
        return None
    has = one_line(", ".join(map(str, meta)), 120) or "nothing"
    raise ConfigError(f"sample '{one_line(id, 60)}': expected text in meta.{one_line(key, 60)}; its meta has {has}")


def _names(names: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in names:
        found.setdefault(name.casefold(), name)
    return found


def _without(people: Mapping[str, str], seen: Sequence[_Seen]) -> Iterable[str]:
    scored = _names(name for one in seen for name in one.told.names)
    met = {*people, *((OVERALL,) if people.keys() & set(OVER_ALL) else ())}
    lacking = [name for key, name in scored.items() if key not in met]
    if lacking:
        more = f" and {len(lacking) - 8} more" if len(lacking) > 8 else ""
        yield f"not judged by people: {one_line(', '.join(lacking[:8]), 400)}{more}"


def _raw(name: str, key: str, seen: Sequence[_Seen], agents: Sequence[str]) -> Raw:
    """One criterion; a metric that a sample lacks has the sample's status there, or "missing"."""
    ours = key if key not in OVER_ALL or any(key in one.told.by for one in seen) else OVERALL
    by_item = [one.told.answers(ours) for one in seen]
    turned = [one.told.exchanged.get(ours, {}) for one in seen]
    metrics = [m for m in dict.fromkeys(m for found in by_item for m in found) if not agents or _agent(m) in agents]
    exchanged = [m for m in metrics if any(m in found for found in turned)]
    raw = Raw(name, "the run", metrics={m: [] for m in metrics}, exchanged={m: [] for m in exchanged})
    raw.statuses = {m: [] for m in metrics}
    for one, found, second in zip(seen, by_item, turned, strict=True):
        raw.places.append(f"sample '{one_line(one.id, 60)}'")
        raw.ids.append(one.id)
        human = next((value for label, value in one.human.items() if label.casefold() == key), None)
        raw.human.append(human if isinstance(human, list) else [human])
        for metric in metrics:
            value, status = found.get(metric, (None, one.status if one.status != "ok" else "missing"))
            raw.metrics[metric].append(value)
            raw.statuses[metric].append(status)
        for metric in exchanged:
            raw.exchanged[metric].append(second.get(metric))
    raw.groups, raw.systems = (_column([one.group for one in seen]), _column([one.system for one in seen]))
    return raw


def _column(values: Sequence[str | None]) -> list[str] | None:
    """The values, None where not every item has one."""
    known = [value for value in values if value is not None]
    return known if len(known) == len(values) else None


def _agent(metric: str) -> str:
    return metric.partition(" (")[0]
