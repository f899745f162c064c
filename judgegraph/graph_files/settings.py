"""The settings of a node, from a file's plain values to what their annotations say: judges, nodes, readers, numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any, get_origin

from judgegraph.calls import Endpoint
from judgegraph.errors import JudgegraphError, PromptError, one_line
from judgegraph.graph_files.around import Around
from judgegraph.graph_files.conditions import condition_at
from judgegraph.graph_files.judges import is_model, judge_of
from judgegraph.graph_files.shape import hint
from judgegraph.graph_files.source import Place
from judgegraph.graph_files.use import HELPERS, ROLES, Use, bare, is_registered, known
from judgegraph.graphs.settings import fault, hints_of, leaves
from judgegraph.prompts import load
from judgegraph.registry.methods import is_file
from judgegraph.types import Scale

BESIDE = ("judge", "criteria")  # are keys of a node
NAMED = ("name", "stage")  # stand in the key of every score
MOST_MEMBERS = 50


def settings_of(around: Around, path: Place, use: Use, given: Mapping[str, Any]) -> dict[str, Any]:
    """Setting -> value; what is no setting, or has no value of its kind, joins the faults and is left out."""
    found: dict[str, Any] = {}
    if given and (use.made or use.kind in ("file", "assistant")):
        around.source.fault(path, f"{one_line(use.name, 60)} takes no settings")
        return found
    for name, raw in given.items():
        place = (*path, name)
        if name in BESIDE:
            around.source.fault(place, f"stands beside 'use', not in 'with': {name}: ...")
        elif use.takes is not None and name not in use.takes:
            own = [taken for taken in use.takes if taken not in BESIDE]
            around.source.fault(place, f"{one_line(use.name, 60)} has no such setting{hint(name, own)}")
        elif use.kind == "helper" and name in ROLES:
            found[name] = _role(around, place, name, raw)
        elif name in NAMED and use.kind in ("agent", "critic", "helper", "method") and _nameless(raw):
            around.source.fault(place, "expected a name without '/' and '|'; leave it out for the usual one")
        else:
            found[name] = _value(around, place, use.hints.get(name, Any), raw)
            if name == "prompt" and isinstance(raw, str) and raw:
                found[name] = _prompt(around, place, raw)
            elif name == "weights" and use.kind == "method" and isinstance(raw, str):
                found[name] = str(around.folder / raw)  # a file, which is found as one of criteria is
    return found


def _nameless(raw: Any) -> bool:
    """Whether a text cannot be part of a score's key, which is agent/stage/criterion."""
    return isinstance(raw, str) and (not raw or bool({"/", "|"} & set(raw)))


def _prompt(around: Around, path: Place, raw: str) -> str:
    """A template by its name, or its file, found from the graph file's folder."""
    own = raw.endswith(".md") and ":" not in raw
    name = str(around.folder / raw) if own else raw
    try:
        load(name)
    except PromptError as error:
        around.source.fault(path, one_line(error, 500))
    return name


def _role(around: Around, path: Place, name: str, raw: Any) -> Any:
    role = ROLES[name]
    if not isinstance(raw, str | dict | list):
        if raw is None or callable(raw):  # a critic that took the place of the file's
            return raw
        around.source.fault(path, f"expected a name or a mapping, got {around.source.shown(path)}")
        return None
    if role == "condition":
        return condition_at(around, path, raw)
    if role == "members":
        return _members(around, path, raw)
    if role == "member":
        made = member(around, path, raw)
        return next(iter(made.values())) if isinstance(made, dict) else made
    return _node(around, path, raw)


def _node(around: Around, path: Place, raw: Any) -> Any:
    """A registered name as it is, for the helper to make it as it does; of anything else the node."""
    if isinstance(raw, dict) and set(raw) == {"use"} and isinstance(raw["use"], str):
        raw, path = raw["use"], (*path, "use")
    if isinstance(raw, str) and bare(raw) not in HELPERS and is_registered(raw):
        return raw
    from judgegraph.graph_files.nodes import node_at

    return node_at(around, path, raw, "")


def _members(around: Around, path: Place, raw: Any) -> list[Any]:
    """A list of judges and nodes, or a mapping of such by the names they shall have."""
    if isinstance(raw, dict) and raw and len(raw) <= MOST_MEMBERS:
        made = {name: member(around, (*path, name), one) for name, one in raw.items()}
        return [{name: next(iter(m.values())) if isinstance(m, dict) else m for name, m in made.items()}]
    if not isinstance(raw, list) or not 1 <= len(raw) <= MOST_MEMBERS:
        said = f"expected a list or a mapping of 1 to {MOST_MEMBERS} judges and nodes"
        around.source.fault(path, f"{said}, got {around.source.shown(path)}")
        return []
    return [member(around, (*path, place), one) for place, one in enumerate(raw)]


def member(around: Around, path: Place, raw: Any) -> Any:
    """A judge or a node: {name: judge} for one of the file's own judges, whose name it keeps."""
    if isinstance(raw, str) and raw in around.judges:
        return {raw: around.judges[raw]}
    if isinstance(raw, dict) and "model" in raw and "use" not in raw:
        return judge_of(around.source, path, raw, around.judges)
    if isinstance(raw, str) and is_model(raw) and not is_registered(raw):
        return raw
    if isinstance(raw, str) and not (is_file(raw) or is_registered(raw)):
        names = [*around.judges, *known()]
        said = f"no judge and no node '{one_line(raw, 60)}'{hint(raw, names, 'Names')}; or PROVIDER:MODEL, or a file"
        around.source.fault(path, said)
        return None
    return _node(around, path, raw)


def _value(around: Around, path: Place, annotation: Any, raw: Any) -> Any:
    kinds = leaves(annotation)
    if Endpoint in kinds and raw is not None:
        return judge_of(around.source, path, raw, around.judges)
    if Scale in kinds and raw is not None:
        return _scale(around, path, raw)
    if record := next((kind for kind in kinds if isinstance(kind, type) and is_dataclass(kind)), None):
        return _record(around, path, record, raw)
    if any(map(_is_agent, kinds)) and (isinstance(raw, dict) or (isinstance(raw, str) and str not in kinds)):
        from judgegraph.graph_files.nodes import node_at

        return node_at(around, path, raw, "")
    if isinstance(raw, list) and any(get_origin(kind) is tuple for kind in kinds):
        raw = tuple(raw)
    if why := fault(annotation, raw) or _misfit(kinds, raw):
        quote = "; put it in quotes" if not fault(annotation, around.source.text(path)) else ""
        around.source.fault(path, _seen(around, path, why) + quote)
    return raw


def _seen(around: Around, path: Place, why: str) -> str:
    """The same, with what stands in the file instead of what was made of it."""
    return f"{why.rpartition(', got ')[0] or why}, got {around.source.shown(path)}"


def _misfit(kinds: tuple[Any, ...], raw: Any) -> str:
    """A mapping or a list where none can be; the rest is looked at by what it is given to."""
    origins = {getattr(get_origin(kind) or kind, "__name__", "") for kind in kinds}
    if isinstance(raw, dict) and not origins & {"Any", "dict", "Mapping"}:
        return "expected no mapping, got one"
    if isinstance(raw, list | tuple) and not origins & {"Any", "list", "tuple", "Sequence", "Iterable", "Collection"}:
        return "expected no list, got one"
    return ""


def _record(around: Around, path: Place, kind: Any, raw: Any) -> Any:
    """A small value such as a Reader: {kind: weighted, samples: 5}; a text is its first field."""
    hints = hints_of(kind)
    given = {next(iter(hints)): raw} if isinstance(raw, str) else raw
    if not isinstance(given, dict):
        around.source.fault(path, f"expected a mapping of {', '.join(hints)}, got {around.source.shown(path)}")
        return None
    before = len(around.source.faults)
    for name, value in given.items():
        place = (*path, name) if given is raw else path
        if name not in hints:
            around.source.fault(place, f"unknown here{hint(name, hints)}")
        elif why := fault(hints[name], value):
            around.source.fault(place, _seen(around, place, why))
    unread = any((*path, name) in around.source.unread for name in given)
    if unread or len(around.source.faults) > before:
        return None
    try:
        return kind(**given)
    except (JudgegraphError, TypeError, ValueError) as error:
        around.source.fault(path, one_line(error))
        return None


def _scale(around: Around, path: Place, raw: Any) -> Any:
    try:
        return Scale.of(raw)
    except ValueError:
        said = 'expected a scale such as "1-5", "0-1 any", or a list of labels'
        around.source.fault(path, f"{said}, got {around.source.shown(path)}")
        return None


def _is_agent(kind: Any) -> bool:
    """An annotation that takes an agent: a protocol with a call, or Callable."""
    protocol = bool(getattr(kind, "_is_protocol", False)) and callable(getattr(kind, "__call__", None))  # noqa: B004
    return protocol or getattr(get_origin(kind) or kind, "__name__", "") == "Callable"


__all__ = ["member", "settings_of"]
