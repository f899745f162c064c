"""The parts of a file put together: nodes made, edges drawn, the wiring looked at, the graph compiled."""

from __future__ import annotations

import importlib
import inspect
import os
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, is_dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_origin, get_type_hints

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from pydantic import TypeAdapter

from judgegraph import registry
from judgegraph.agents.sage import Rectify
from judgegraph.agents.under_review import Critic
from judgegraph.calls import Endpoint, JudgeLike
from judgegraph.compiled import declare, keys, vocabulary
from judgegraph.compose.conditions import CONDITIONS
from judgegraph.compose.nodes import as_node, schema
from judgegraph.compose.panel import each
from judgegraph.errors import ConfigError, JudgegraphError, PromptError, is_plain, leaves, one_line, settings_checked
from judgegraph.graph_files import edges as drawn
from judgegraph.graph_files.edges import (
    MOST_FILES,
    MOST_MADE,
    Around,
    Branch,
    Count,
    Joins,
    Parts,
    Route,
    arrows,
    code_at,
    condition_at,
    is_code,
    is_model,
    joins,
    judge_of,
    read_parts,
    settings_of_condition,
)
from judgegraph.graph_files.read import GraphFileError, GraphSpec, NodeRef, NodeSpec, Place, Source, hint, shaped
from judgegraph.graphs.settings import fault, hints_of, misshapen
from judgegraph.prompts import load
from judgegraph.prompts.criteria import FILES, CriteriaLike, CriteriaSet, criteria_set, known_sets
from judgegraph.registry import KINDS, find, find_agent, is_made, names, part_of, settings_of
from judgegraph.registry.lookup import is_file
from judgegraph.registry.shipped import SHIPPED
from judgegraph.types import Asked, EvalState, Scale
from judgegraph.wiring.check import findings

# What `use` names: a helper of this framework, a registered part, another graph file, or code beside the file.


JUDGES = {"JudgeLike": str | Endpoint}  # a name for a text, which stands for a type
Role = Literal["members", "member", "node", "critic", "condition", "jurors", "juror"]
HELPERS: Mapping[str, str] = {  # name -> "module:function"
    "panel": "judgegraph.compose.panel:panel",
    "jury": "judgegraph.compose.jury:jury_of",
    "gate": "judgegraph.compose.gate:gate",
    "critique": "judgegraph.compose.critique:critique",
    "refine": "judgegraph.compose.critique:refine",
    "escalate": "judgegraph.compose.gate:escalate",
}
ROLES: Mapping[str, Role] = {  # settings of helpers that are parts of a graph themselves
    "judges": "members", "cheap": "member", "strong": "member", "node": "node", "otherwise": "node",
    "critic": "critic", "when": "condition", "jurors": "jurors", "chair": "juror",
}  # fmt: skip


@dataclass(frozen=True)
class Use:
    """A part, and what it takes.

    Attributes:
        kind: "agent", "critic", "method", "assistant", "helper", "file" or "code".
        name: as the file says it. thing: the class, function or object; of a file what builds its graph.
        takes: its settings, None where it takes any. hints: setting -> annotation.
        many: the setting whose list is passed one by one, "" for none. needs: settings without a default.
    """

    kind: str
    name: str
    thing: Any
    takes: tuple[str, ...] | None = ()
    hints: Mapping[str, Any] = field(default_factory=dict)
    many: str = ""
    needs: tuple[str, ...] = ()

    @property
    def made(self) -> bool:
        """Whether it is a node as it stands."""
        return self.kind != "file" and bool(is_made(self.thing))


def use_at(around: Around, path: Place, name: str) -> Use | None:
    """What is used at a place; None where nothing is called so, which joins the faults."""
    if is_code(name):
        thing = code_at(around, path, name)
        return None if thing is None else _use("code", name, thing)
    if name.lower().endswith(FILES):
        return _file(around, path, name)
    try:
        return used(name)
    except JudgegraphError as error:
        word, slash, _ = name.partition("/")
        if str(error).startswith("no agent") and not (slash and word in KINDS):
            shown = one_line(name, 60)
            around.source.fault(
                path, f"nothing is called '{shown}'{hint(shown, known())}, a graph file, or file.py:name"
            )
        else:
            around.source.fault(path, one_line(error, 1000))
        return None


def used(name: str) -> Use:
    """A helper, or what is registered under a name.

    Raises:
        ConfigError: nothing is, or several parts are.
    """
    if (own := bare(name)) in HELPERS:
        module, _, attribute = HELPERS[own].partition(":")
        return _use("helper", own, getattr(importlib.import_module(module), attribute))
    kind, thing = find_agent(name)
    return _use(kind, name, thing)


def bare(name: str) -> str:
    """A name without what may stand before one of ours: "panel" of "agent/panel" and of "judgegraph:panel"."""
    kind, slash, rest = name.partition("/")
    return (rest if slash and kind in KINDS else name).removeprefix("judgegraph:")


def is_registered(name: str) -> bool:
    """Whether a part is called so, in any form: "NAME", "PACKAGE:NAME" or "KIND/NAME"."""
    if is_file(name):
        return False
    try:
        part_of(*find(name))
    except JudgegraphError:  # where several have the name, what makes a node of it says so
        return name in known()
    return True


def known() -> list[str]:
    """Every name that `use` may have."""
    return list(dict.fromkeys([*HELPERS, *(name for kind in KINDS for name in names(kind))]))


def _use(kind: str, name: str, thing: Any) -> Use:
    takes, any_more = settings_of(thing)
    parameters = inspect.signature(thing).parameters.values() if kind == "helper" else ()
    many = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "")
    hints = _hints(thing)
    if kind == "method":
        builder = getattr(inspect.getmodule(thing), "builder", None)
        hints = {**(_hints(builder) if builder is not None else {}), **hints}
    needs = (*filter(None, [many]), *(name for name, p in takes.items() if p.default is p.empty))
    return Use(kind, name, thing, None if any_more else (*filter(None, [many]), *takes), hints, many, needs)


def _hints(thing: Any) -> dict[str, Any]:
    """Setting -> annotation, each by itself: one that cannot be resolved hides no other."""
    if found := hints_of(thing):
        return found
    written = getattr(thing, "__annotations__", {})
    around = getattr(thing, "__globals__", None) or vars(inspect.getmodule(thing) or object)
    single = [(name, type("One", (), {"__annotations__": {name: text}})) for name, text in written.items()]
    for name, one in single:
        with suppress(Exception):  # whatever stands in a user's annotations
            found |= {name: get_type_hints(one, globalns=around, localns=JUDGES, include_extras=True)[name]}
    return found


def _file(around: Around, path: Place, name: str) -> Use | None:
    """Another graph file, found from this one's folder; what is wrong with it is told with its own lines."""

    try:
        graph = read_graph(around.folder / name, around.files, around.count)
    except JudgegraphError as error:
        for line in str(error).splitlines():
            around.source.fault(path, one_line(line, 1000))
        return None
    return Use("file", name, graph, ("judge", "criteria"))


# The settings of a node, from a file's plain values to what their annotations say: judges, nodes, readers, numbers.


BESIDE = ("judge", "criteria")  # are keys of a node
NAMED = ("name", "stage")  # stand in the key of every score
MOST_MEMBERS = 50


def settings_at(around: Around, path: Place, use: Use, given: Mapping[str, Any]) -> dict[str, Any]:
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
            needed = name in (*use.needs, use.many)
            found[name] = _role(around, place, name, raw) if raw is not None or needed else None
        elif name in NAMED and use.kind in ("agent", "critic", "helper", "method") and _nameless(raw):
            around.source.fault(place, "expected a name without '/' and '|'; leave it out for the usual one")
        else:
            found[name] = _value(around, place, use.hints.get(name, Any), raw)
            if name == "prompt" and isinstance(raw, str) and raw:
                found[name] = _prompt(around, place, raw)
            elif name == "prompts" and use.kind == "method" and isinstance(raw, dict):
                found[name] = {key: _prompt(around, (*place, key), path) for key, path in raw.items()}
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
        if callable(raw):  # a critic that took the place of the file's
            return raw
        around.source.fault(path, f"expected a name or a mapping, got {around.source.shown(path)}")
        return None
    if role == "condition":
        return condition_at(around, path, raw)
    if role == "juror":
        return _juror(around, path, raw)
    if role == "jurors":
        if not isinstance(raw, dict):
            around.source.fault(path, f"expected a mapping of names to words, got {around.source.shown(path)}")
            return {}
        return {n: _juror(around, (*path, n), one) for n, one in raw.items()}
    if role == "members":
        return _members(around, path, raw)
    if role == "member":
        made = member(around, path, raw)
        return next(iter(made.values())) if isinstance(made, dict) else made
    return _node(around, path, raw)


def _juror(around: Around, path: Place, raw: Any) -> Any:
    """A judge's words, or a mapping of these with a judge of its own."""
    if not isinstance(raw, dict):
        return _value(around, path, str, raw)
    own = {key: judge_of(around.source, (*path, key), raw[key], around.judges) for key in raw if key == "judge"}
    return raw | own


def _node(around: Around, path: Place, raw: Any) -> Any:
    """A registered name as it is, for the helper to make it as it does; of anything else the node."""
    if isinstance(raw, dict) and set(raw) == {"use"} and isinstance(raw["use"], str):
        raw, path = raw["use"], (*path, "use")
    if isinstance(raw, str) and bare(raw) not in HELPERS and is_registered(raw):
        return raw

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
        return node_at(around, path, raw, "")
    if isinstance(raw, list) and any(get_origin(kind) is tuple for kind in kinds):
        raw = tuple(raw)
    if why := fault(annotation, raw) or misshapen(kinds, raw):
        scalar = raw is not None and not isinstance(raw, dict | list | tuple)
        quote = "; put it in quotes" if scalar and not fault(annotation, around.source.text(path)) else ""
        around.source.fault(path, _seen(around, path, why) + quote)
    return raw


def _seen(around: Around, path: Place, why: str) -> str:
    """The same, with what stands in the file instead of what was made of it."""
    return f"{why.rpartition(', got ')[0] or why}, got {around.source.shown(path)}"


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


# A node as a file writes it, made into what LangGraph's `add_node` takes.


NODE: TypeAdapter[Any] = TypeAdapter(NodeRef)


def node_at(around: Around, path: Place, given: Any, name: str, more: Mapping[str, Any] | None = None) -> Any:
    """What runs at a place; None where it cannot be made, which joins the faults.

    Args:
        given: a name, or a NodeSpec as it is or as plain data. name: of the node, "" within another one's settings.
        more: settings that it is given where it takes them and the file sets none.
    """
    spec = _spec(around, path, given)
    if spec is None:
        return None
    before, place = len(around.source.faults), path if isinstance(given, str) else (*path, "use")
    use = use_at(around, place, spec.use)
    if use is None:  # what else is wrong here is told in the same go
        if spec.judge is not None:
            judge_of(around.source, (*path, "judge"), spec.judge, around.judges)
        if spec.criteria is not None:
            around.criteria_of((*path, "criteria"), spec.criteria)
        return None
    offered = {**_offered(around, path, use, spec, name), **(more or {})}
    inner = replace(around, judge=offered.get("judge", around.judge), criteria=offered.get("criteria", around.criteria))
    settings = settings_at(inner, (*path, "with"), use, spec.settings)
    unread = around.source.unread
    unnamed = "criteria" not in offered and around.source.data.get("criteria") is None and ("criteria",) not in unread
    if use.kind in ("agent", "critic") and "criteria" in (use.takes or ()) and unnamed:
        around.source.fault(place, f"{one_line(use.name, 60)} judges by criteria, and none are named: criteria: NAME")
    for needed in [n for n in use.needs if n not in spec.settings and n not in offered]:
        around.source.fault(place, f"{one_line(use.name, 60)} needs a setting: with: {{{needed}: ...}}")
    if len(around.source.faults) > before or any(one[: len(path)] == path for one in unread):
        return None
    return _made(around, path, place, name, lambda: _called(use, settings, offered), spec, offered)


def _spec(around: Around, path: Place, given: Any) -> NodeSpec | None:
    """As a NodeSpec, counted."""
    spec = given if isinstance(given, NodeSpec) else shaped(NODE, around.source, path, given, NodeSpec)
    around.count.made += 1
    if around.count.made > MOST_MADE:
        around.source.fault(path, f"over {MOST_MADE} nodes, those of files within this one counted")
        return None
    return NodeSpec(use=spec) if isinstance(spec, str) else spec


def _offered(around: Around, path: Place, use: Use, spec: NodeSpec, name: str) -> dict[str, Any]:
    """Judge, criteria and name that the node is given; what stands at the node comes before the file's."""
    offered: dict[str, Any] = {"judge": around.judge, "criteria": around.criteria}
    if around.task:
        offered["task"] = around.task
    if use.name in ("panel", "jury", "gate", "escalate") and name:  # others have a critic's name
        offered["name"] = name
    for key in BESIDE:
        value = getattr(spec, key)
        if value is None:
            continue
        if use.kind == "assistant" or (use.takes is not None and key not in use.takes and not _each(spec, key)):
            around.source.fault((*path, key), f"{one_line(use.name, 60)} takes no {key}")
        elif key == "judge":
            offered[key] = judge_of(around.source, (*path, key), value, around.judges)
        else:
            offered[key] = around.criteria_of((*path, key), value)
    if use.kind == "file":  # what the inner file says itself stands, unless it is set here
        offered.pop("task", None)
        offered = {key if getattr(spec, key) is not None else f"default_{key}": v for key, v in offered.items()}
    return {key: value for key, value in offered.items() if value is not None}


def _each(spec: NodeSpec, key: str) -> bool:
    return key == "criteria" and spec.each is not None


def _made(
    around: Around, path: Place, place: Place, name: str, make: Callable[[], Any], spec: NodeSpec,
    offered: Mapping[str, Any],
) -> Any:  # fmt: skip
    """What `make` makes; what it refuses is told at the setting that it names, else at `place`."""
    try:
        made = make()
        if spec.each:
            own = offered.get("criteria", offered.get("default_criteria"))
            made = each(made, criteria=own, name=name or "each")
        return made
    except JudgegraphError as error:
        for line in str(error).splitlines():
            setting = _meant(line, spec.settings)
            around.source.fault((*path, "with", setting) if setting else place, one_line(line, 1000))
    except Exception as error:  # of a user's own code, or a setting of a kind that it did not expect
        around.source.fault(place, f"cannot be made: {type(error).__name__}: {one_line(error)}")
    return None


def _meant(said: str, settings: Iterable[str]) -> str:
    """The setting that a message is about: "rounds" of "refine: rounds: expected a whole number"; "" for none."""
    places = [(match.start(), key) for key in settings if (match := re.search(rf"\b{re.escape(key)}\b(?=: | )", said))]
    return min(places)[1] if places else ""


def _called(use: Use, settings: dict[str, Any], offered: dict[str, Any]) -> Any:
    if use.kind in ("agent", "critic", "method", "assistant"):
        return as_node(use.name, settings, **offered)
    if use.made:
        return as_node(use.thing)
    if use.kind == "file":
        return use.thing.build(**offered)
    chosen: CriteriaSet | None = offered.get("criteria")
    if use.kind == "code" and chosen is not None and isinstance(use.thing, type):  # an agent, not a method
        offered = {"task": chosen.task, **offered, "criteria": chosen.criteria}
    taken = {key: value for key, value in offered.items() if use.takes is None or key in use.takes} | settings
    many = taken.pop(use.many, ()) if use.many else ()
    return as_node(use.thing(*many, **taken))


def stage_of(node: Any) -> str:
    """The stage of the scores that a node leaves behind: what a condition on an edge from it looks at."""
    if isinstance(node, Rectify) or not is_dataclass(node):
        return "final"
    return str(getattr(node, "stage", "final"))


REVIEWS = ("critique", "refine")  # helpers with a critic
INPUTS = tuple(Asked.__annotations__)  # no node's answer, even where one says that it writes any key
TWICE = "let those lead to one node first, or put one part into a graph file of its own"
ENDS = {drawn.START: START, drawn.END: END}


def built(parts: Parts, around: Around) -> Any:
    """The compiled graph.

    Raises:
        GraphFileError: whatever is wrong, all of it.
    """
    source = parts.source
    nodes = _nodes(parts, around)
    paths: dict[str, Place] = {name: ("nodes", name) for name in parts.nodes}
    before = len(source.faults)
    found = arrows(source, ((("edges", place), edge) for place, edge in parts.edges.items()), parts.nodes)
    whole = len(source.faults) == before and len(parts.edges) == len(parts.head.edges)
    joined = joins(source, found, paths) if whole else Joins()
    routes = {name: _route(around, nodes, name, branches) for name, branches in found.choices.items()}
    outputs = _outputs(parts, nodes)
    source.settle()
    graph = _drawn(nodes, joined, routes, outputs)
    declare(graph, names_outputs=parts.head.outputs is not None)  # else its output is whatever its nodes write
    made = graph.compile(name=parts.head.name)
    _look(parts, graph, made)
    return made


def critics(parts: Parts) -> list[str]:
    """Names of the nodes whose agent is a critic, or a helper with one: what `critic=` can take the place of."""
    return [name for name, node in parts.nodes.items() if node is not None and _is_critic(node)]


def _is_critic(node: str | NodeSpec) -> bool:
    use = node if isinstance(node, str) else node.use
    if bare(use) in REVIEWS:
        return True
    try:
        return registry.find(use)[0] == "critic"
    except ConfigError:
        return False


def _nodes(parts: Parts, around: Around) -> dict[str, Any]:
    """Name -> node, in the order of the file; critics are made first, as who rectifies goes by their name."""
    own = critics(parts)
    made: dict[str, Any] = dict.fromkeys(parts.nodes)
    for name in sorted(parts.nodes, key=lambda name: name not in own):
        path, given = ("nodes", name), parts.nodes[name]
        if given is None:
            continue
        if name in own and around.critic is not None:
            made[name] = _swapped(around, name, given)
        elif bare(given if isinstance(given, str) else given.use) == "rectify":
            made[name] = node_at(around, path, given, name, _critic_name(around, path, given, [made[n] for n in own]))
        else:
            made[name] = node_at(around, path, given, name)
    return {name: node for name, node in made.items() if node is not None}


def _swapped(around: Around, name: str, given: str | NodeSpec) -> Any:
    """The critic that took the place of the file's own: it has its judge and criteria, not its settings."""
    path, spec = ("nodes", name), NodeSpec(use=given) if isinstance(given, str) else given
    if bare(spec.use) in REVIEWS:
        settings = {**spec.settings, "critic": around.critic}
        return node_at(around, path, spec.model_copy(update={"settings": settings}), name)
    if not isinstance(around.critic, str):
        return as_node(around.critic)
    return node_at(around, path, spec.model_copy(update={"use": around.critic, "settings": {}}), name)


def _critic_name(around: Around, path: Place, given: str | NodeSpec, found: list[Any]) -> dict[str, str]:
    """The name under which who rectifies looks for verdicts: that of the one critic."""
    names = list(dict.fromkeys(str(c.name) for c in found if is_dataclass(c) and hasattr(c, "name")))
    said = not isinstance(given, str) and "name" in given.settings
    if len(names) > 1 and not said:
        shown = ", ".join(names)
        around.source.fault(
            path, f"there are {len(names)} critics; say whose verdicts count: with: {{name: one of {shown}}}"
        )
    return {"name": names[0]} if len(names) == 1 else {}


def _route(around: Around, nodes: Mapping[str, Any], name: str, branches: Iterable[Branch]) -> Route:
    """The choices after one node; conditions look at the scores that it leaves behind."""
    listed, stage = list(branches), stage_of(nodes[name]) if name in nodes else "draft"
    ways = []
    for branch in listed:
        condition = condition_at(around, (*branch.path, "when"), branch.when)
        if condition is not None:
            ways.append((condition.at(stage), tuple(ENDS.get(to, to) for to in branch.to)))
    return Route(tuple(ways), tuple(ENDS.get(to, to) for to in listed[-1].otherwise or (drawn.END,)))


def _outputs(parts: Parts, nodes: Mapping[str, Any]) -> dict[str, Any]:
    """Key -> annotation of what the graph gives: what its nodes write, or those that the file names."""
    written = {key: hint for node in nodes.values() for key, hint in keys(node)[1].items() if key not in INPUTS}
    written = {**{key: hint for key, hint in vocabulary().items() if key in written}, **written}
    chosen = parts.head.outputs
    if chosen is None or len(nodes) < len(parts.nodes):
        for place, key in enumerate(chosen or ()):  # a node that could not be made may write any key but a misspelt one
            if key not in (*written, *vocabulary()) and (near := hint(key, vocabulary())).startswith("; did"):
                parts.source.fault(("outputs", place), f"no node writes '{one_line(key, 60)}'{near}")
        return {key: vocabulary()[key] for key in written if key in vocabulary()}
    for place, key in enumerate(chosen):
        if key not in written:
            parts.source.fault(
                ("outputs", place), f"no node writes '{one_line(key, 60)}'{hint(key, written, 'Written')}"
            )
    return {key: vocabulary().get(key, written[key]) for key in chosen if key in written}


def _drawn(
    nodes: Mapping[str, Any], joined: Joins, routes: Mapping[str, Route], outputs: Mapping[str, Any]
) -> StateGraph[Any, None, Any, Any]:
    graph: StateGraph[Any, None, Any, Any]
    graph = StateGraph(EvalState, input_schema=Asked, output_schema=schema("Result", outputs))
    for name, node in nodes.items():
        graph.add_node(name, node, defer=name in joined.deferred)
    for sources, target in joined.edges:
        many = [ENDS.get(one, one) for one in sources]
        graph.add_edge(many[0] if len(many) == 1 else many, ENDS.get(target, target))
    for name, route in routes.items():
        graph.add_conditional_edges(ENDS.get(name, name), route, route.targets)
    declare(graph, settings={f"{name}.when": route.__name__ for name, route in routes.items()})
    return graph


def _look(parts: Parts, graph: Any, made: Any) -> None:
    """What the proof of the wiring finds, by the lines of the nodes it is found at."""
    for finding in findings(graph):
        if finding.severity != "error":
            continue
        outer = finding.node.partition("/")[0]
        said = finding.message
        if finding.code == "double-join":
            said = f"{said.partition(': ')[0]}: {TWICE}"
        parts.source.fault(("nodes", outer) if outer in parts.nodes else ("edges",), one_line(said, 500))
    try:
        parts.source.settle()
    except GraphFileError as error:
        error.graph = made
        raise


# Graph files made into compiled graphs: `jg.load_graph("my.yaml")`, and METHOD on the command line.


Compiled = CompiledStateGraph[Any, None, Any, Any]


@settings_checked
def load_graph(
    path: str | os.PathLike[str], *, judge: JudgeLike | None = None, criteria: CriteriaLike | None = None,
    critic: str | Critic | None = None,
) -> Compiled:  # fmt: skip
    """A graph from a YAML or JSON file, compiled: nothing is called yet and no key is needed.

    Args:
        path: of the file. What it names by `use: file.py:name` runs the code of that file.
        judge: in place of the file's `judge`; judges that single nodes name stay.
        criteria: in place of the file's `criteria`. critic: in place of its critic, where it has just one.

    Raises:
        ConfigError: the file is wrong; a line for each mistake names line and key. CriteriaError: no such criteria.
    """
    return read_graph(Path(path)).build(judge=judge, criteria=criteria, critic=critic)


def graph_factory(path: str | os.PathLike[str]) -> Callable[..., Compiled]:
    """What builds a file's graph, with the settings that the file has: `judge`, `criteria`, and `critic` if it has one.

    Raises:
        ConfigError: the file cannot be read, or has not the shape of a graph file.
    """
    graph = read_graph(Path(path))

    def build(
        judge: JudgeLike | None = None, *, criteria: CriteriaLike | None = None, critic: str | Critic | None = None
    ) -> Compiled:
        return graph.build(judge=judge, criteria=criteria, critic=critic)

    def without_critic(judge: JudgeLike | None = None, *, criteria: CriteriaLike | None = None) -> Compiled:
        return graph.build(judge=judge, criteria=criteria)

    return build if critics(graph.parts) else without_critic


@dataclass(frozen=True)
class GraphFile:
    """A file that has been read.

    Attributes:
        within: the files that it stands in, outermost first. count: of the nodes that all of them make.
    """

    parts: Parts
    within: tuple[Path, ...]
    count: Count

    def build(
        self, *, judge: JudgeLike | None = None, criteria: CriteriaLike | None = None, critic: Any = None,
        default_judge: JudgeLike | None = None, default_criteria: CriteriaSet | None = None,
    ) -> Compiled:  # fmt: skip
        """The graph; `default_...` are of the graph around, for what this file leaves out.

        Raises:
            ConfigError: as `load_graph`.
        """
        if not self.within:
            self.count.made = 0
        parts = self.parts.afresh()
        source, head = parts.source, parts.head
        around = Around(source, task=head.task, files=(*self.within, source.file.path.resolve()), count=self.count)
        around.judges = {name: _judge(around, name, given) for name, given in head.judges.items()}
        own = None if head.judge is None else judge_of(source, ("judge",), head.judge, around.judges)
        around.judge = judge or own or default_judge
        if criteria is not None:
            around.criteria = around.tasked(criteria_set(criteria))
        elif head.criteria is not None:
            around.criteria = around.criteria_of(("criteria",), head.criteria)
        elif default_criteria is not None:
            around.criteria = around.tasked(default_criteria)
        if critic is not None:
            around.critic = _swapping(source, critics(parts), critic)
        made: Compiled = built(parts, around)
        return made


def _swapping(source: Source, own: list[str], critic: Any) -> Any:
    """A critic to take the place of the one of these nodes, "critic/NAME" where it is given by name.

    Raises:
        ConfigError: there is not just one, or no critic is called so.
    """
    if len(own) != 1:
        shown = f"{len(own)} critics ({', '.join(own)}), and only one can be swapped" if own else "no critics to swap"
        raise ConfigError(f"{source.file.what} {one_line(source.file.path)} has {shown}")
    if not isinstance(critic, str):
        return critic
    name = critic.removeprefix("critic/")
    registry.part_of("critic", name)
    return f"critic/{name}"


def _judge(around: Around, name: str, given: Any) -> JudgeLike | None:
    """One of the file's own judges; none stands for another, nor for the built-in one."""
    if is_model(name):
        around.source.fault(("judges", name), f"'{name}' is a judge already; give it a name of its own")
    return judge_of(around.source, ("judges", name), given, {})


def read_graph(path: Path, within: tuple[Path, ...] = (), count: Count | None = None) -> GraphFile:
    """A file read, not built.

    Raises:
        GraphFileError: it stands in itself, or as `read_parts`.
    """
    parts = read_parts(path)
    own = path.resolve()
    if own in within or len(within) >= MOST_FILES:
        why = "stands within itself" if own in within else f"is over {MOST_FILES} files deep"
        raise GraphFileError(f"graph file {one_line(path)}: {why}: {' -> '.join(one_line(p.name) for p in within)}")
    return GraphFile(parts, within, count or Count(folder=path.parent.resolve()))


# The JSON Schema of a graph file, for editors: they complete names and underline mistakes while one writes.
#
# It is made of the reader's own models, with the names that are registered here. What is not known while one writes (a
# plug-in that is not installed, a judge of the file's own) passes: the reader has the last word.


JUDGE, ANY_NODE, WHEN = ({"$ref": f"#/$defs/{name}"} for name in ("Judge", "Node", "When"))
MEMBER = {"anyOf": [JUDGE, ANY_NODE]}
JUROR: dict[str, Any] = {"anyOf": [
    {"type": "string"},
    {"type": "object", "properties": {"prompt": {"type": "string"}, "judge": JUDGE}, "required": ["prompt"]},
]}  # fmt: skip
OF_ROLE: Mapping[Role, dict[str, Any]] = {
    "members": {
        "anyOf": [
            {"type": "array", "items": MEMBER, "minItems": 1},
            {"type": "object", "additionalProperties": MEMBER, "minProperties": 1},
        ]
    },
    "member": MEMBER, "node": ANY_NODE, "critic": ANY_NODE, "condition": WHEN,
    "juror": JUROR, "jurors": {"type": "object", "additionalProperties": JUROR, "minProperties": 1},
}  # fmt: skip


def json_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of a graph file."""
    found = GraphSpec.model_json_schema(by_alias=True)
    parts, defs = found["properties"], found["$defs"]
    names = _one_of(known(), "A registered name, a graph file, or file.py:name.")
    defs["NodeSpec"]["properties"]["use"] = names
    uses = [*_shipped()]
    defs["NodeSpec"]["allOf"] = [_with(use) for use in uses]
    lone = [name for use in uses if {*use.needs} - {*BESIDE} for name in _written(use)]
    defs["Node"] = {"anyOf": [{**names, "not": {"enum": lone}}, {"$ref": "#/$defs/NodeSpec"}]}
    defs["Judge"] = {"anyOf": [{"type": "string", "examples": ["embedded"]}, {"$ref": "#/$defs/JudgeSpec"}]}
    defs["When"] = _when()
    defs["Criteria"] = _criteria(parts["criteria"])
    parts["judges"] = _named(parts["judges"], JUDGE)
    parts["nodes"] = _named(parts["nodes"], ANY_NODE)
    for owner in (parts, defs["NodeSpec"]["properties"]):
        for key, name in (("judge", "Judge"), ("criteria", "Criteria")):
            about = owner[key].get("description", "")
            owner[key] = {"anyOf": [{"$ref": f"#/$defs/{name}"}, {"type": "null"}], "description": about}
    chain = {"type": "string", "pattern": "->", "description": "a -> b, c -> end"}
    parts["edges"]["items"] = {"anyOf": [chain, {"$ref": "#/$defs/EdgeSpec"}]}
    defs["EdgeSpec"]["properties"]["when"] = WHEN
    parts["outputs"] = {
        "type": "array", "minItems": 1, "description": parts["outputs"]["description"],
        "items": _one_of([key for key in vocabulary() if key not in Asked.__annotations__], "A key of the result."),
    }  # fmt: skip
    about = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A judgegraph graph file"}
    return {**about, **{key: value for key, value in found.items() if key not in ("title", "description")}}


def _one_of(names: Iterable[str], about: str) -> dict[str, Any]:
    """One of these, which editors offer, or another text."""
    return {"anyOf": [{"enum": list(names)}, {"type": "string", "minLength": 1}], "description": about}


def _named(schema: dict[str, Any], of: dict[str, Any]) -> dict[str, Any]:
    """A mapping by names: any other key is refused."""
    (pattern,) = schema["patternProperties"]
    return {**schema, "patternProperties": {pattern: of}, "additionalProperties": False}


def _criteria(schema: dict[str, Any]) -> dict[str, Any]:
    listed = next(one for one in schema["anyOf"][0]["anyOf"] if one.get("type") == "array")
    return {"anyOf": [_one_of(known_sets(), "A set, or a criteria file."), listed]}


def _when() -> dict[str, Any]:
    made = {name: _condition(name) for name in CONDITIONS}
    settings = {"type": "object", "properties": made, "additionalProperties": False}
    code = {"type": "string", "pattern": r"\.py:"}
    several = {"type": "array", "items": WHEN, "minItems": 1}
    return {"anyOf": [{"enum": list(CONDITIONS)}, code, several, {**settings, "minProperties": 1, "maxProperties": 1}]}


def _condition(name: str) -> dict[str, Any]:
    """What stands beside a condition's name: its settings, or one value for the first of them."""
    if name == "either":
        return {"anyOf": [WHEN, {"type": "array", "items": WHEN, "minItems": 1}]}
    known = {"properties": {key: {} for key in settings_of_condition(name)}, "additionalProperties": False}
    return {"anyOf": [{"type": "object", **known}, {"type": ["array", "string", "number", "boolean", "null"]}]}


def _shipped() -> Iterable[Use]:
    """Every part of this package that has settings; of plug-ins none is imported for a schema."""
    for name in dict.fromkeys([*HELPERS, *(name for kind in KINDS for name in SHIPPED[kind])]):
        try:
            use = used(name)
        except ConfigError:  # a plug-in has the same name: which one is meant cannot be said
            continue
        if use.takes is not None:
            yield use


def _with(use: Use) -> dict[str, Any]:
    """What stands in `with` beside `use: NAME`."""
    names = [name for name in use.takes or () if name not in BESIDE]
    settings = {name: _setting(use, name) for name in names}
    if use.made or use.kind == "assistant":
        settings = {}
    needs = [name for name in use.needs if name in settings]
    held = {"properties": settings, "additionalProperties": False, "required": needs}
    return {
        "if": {"properties": {"use": {"enum": _written(use)}}, "required": ["use"]},
        "then": {"properties": {"with": held}, "required": ["with"] if needs else []},
    }


def _written(use: Use) -> list[str]:
    """The ways to write a name of ours."""
    kind = "agent" if use.kind == "helper" else use.kind
    return [use.name, f"judgegraph:{use.name}", f"{kind}/{use.name}", f"{kind}/judgegraph:{use.name}"]


def _setting(use: Use, name: str) -> dict[str, Any]:
    if use.kind == "helper" and name in ROLES:
        return OF_ROLE[ROLES[name]]
    annotation = use.hints.get(name, Any)
    kinds = leaves(annotation)
    if Endpoint in kinds:
        return JUDGE
    if is_plain(annotation):
        return {key: value for key, value in TypeAdapter(annotation).json_schema().items() if key != "title"}
    for kind in kinds:
        if isinstance(kind, type) and is_dataclass(kind):
            return {"anyOf": [{"type": "string"}, {"type": "object", "properties": {k: {} for k in hints_of(kind)}}]}
    return {}
