"""The line that says all that a result depends on, and the agents of a graph it is read from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from typing import Any

from judgegraph import __version__, prompts
from judgegraph.calls import Reader
from judgegraph.errors import one_line
from judgegraph.prompts.criteria_sets import CriteriaSet, criteria_set, known_sets
from judgegraph.runtime.code_digest import code_of, digest
from judgegraph.runtime.judge_line import destination, judge_line
from judgegraph.runtime.setting_value import told as told_of
from judgegraph.runtime.topology import nodes as nodes_of
from judgegraph.types import Criterion

ELSEWHERE = ("judge", "judge_name", "comparer", "prompt", "name", "task", "stage", "temperature")  # or names only


def agents_of(graph: Any) -> Iterator[tuple[str, Any]]:
    """(node, agent) of every dataclass agent in a compiled graph, subgraphs included ("weigh/judge")."""
    for name, node in getattr(getattr(graph, "builder", None), "nodes", {}).items():
        runnable = node.runnable
        if hasattr(runnable, "builder"):
            yield from ((f"{name}/{inner}", agent) for inner, agent in agents_of(runnable))
        for function in (getattr(runnable, "afunc", None), getattr(runnable, "func", None)):
            if is_dataclass(function) and not isinstance(function, type):
                yield name, function


def destinations(graph: Any) -> list[str]:
    """Where a graph's prompts go and by which keys, a line for each judge that is asked; none for the embedded one.

    Judges of assistants count too; what a node of the caller's own sends is not known here.
    """
    return list(dict.fromkeys(filter(None, map(destination, _judges_of(graph)))))


def _judges_of(thing: Any) -> Iterator[Any]:
    for _, agent in agents_of(thing):
        yield from _several(agent, "judge", object)
        offered = getattr(agent, "assistants", None)
        for one in offered if isinstance(offered, Sequence) and not isinstance(offered, str) else ():
            yield from _judges_of(getattr(one, "graph", None))
            yield from _several(one, "judge", object)


def details(graph: Any) -> dict[str, Any]:
    """What a manifest keeps of a graph: per node its agent, judge, prompt with digest, and reader; criteria once."""
    nodes: dict[str, Any] = {}
    criteria: list[Criterion] = []
    for node, agent in agents_of(graph):
        about: dict[str, Any] = {"agent": type(agent).__name__}
        about |= {key: ",".join(lines) for key, lines in _asking(agent).items() if lines}
        assistants = getattr(agent, "assistants", None)
        if isinstance(assistants, Sequence | Mapping):
            about["assistants"] = [str(getattr(a, "name", a)) for a in assistants]
        if seats := _seats(agent):
            about["critics"] = seats
        if options := _options(agent):
            about["options"] = options
        nodes[node] = about
        criteria += [c for c in getattr(agent, "criteria", None) or () if c not in criteria]
    return {"nodes": nodes, "criteria": criteria}


def signature(graph: Any) -> str:
    """One line, such as `sageval|v:0.1.0|judge:openai:m@t0.7@host:8000/v1|prompts:evaluate@3f9c1e07|criteria:1a2b3c4d`.

    A judge has its temperature ("@t0", the agent's own before the endpoint's), seed, and the host and path of its base
    URL, a chat model object a digest of what else was set on it; a reader that samples the temperature of its samples.
    Settings are those that differ from their defaults, of an agent that was passed in its own.
    """
    about = details(graph)
    nodes: Mapping[str, Any] = about["nodes"]
    parts = [graph.get_name(), f"v:{__version__}"]
    asking = [_asking(agent) for _, agent in agents_of(graph)]
    for key, plural in (("judge", "judge"), ("prompt", "prompts"), ("reader", "reader")):
        found = dict.fromkeys(line for lines in asking for line in lines[key])
        parts += [f"{plural}:{','.join(found)}"] if found else []
    assistants = dict.fromkeys(name for node in nodes.values() for name in node.get("assistants", ()))
    parts += [f"assistants:{','.join(assistants)}"] if assistants else []
    parts += [f"{name}:{_shown(value)}" for name, value in _settings(graph, nodes).items()]
    parts += _judged_by(about["criteria"], [str(a.task) for _, a in agents_of(graph) if hasattr(a, "task")])
    return "|".join(one_line(part.replace("|", "/"), 1000) for part in parts)


def _asking(agent: Any) -> dict[str, list[str]]:
    """Whom an agent asks, by which templates with their digests, and how it reads the replies.

    One that says so itself, as a panel of critics does, by its "judges" and "prompts"; any other by its own settings.
    """
    temperature, reader = getattr(agent, "temperature", None), getattr(agent, "reader", None)
    judges = [judge_line(judge, temperature) for judge in _several(agent, "judge", object)]
    asked = [f"{prompt}@{prompts.load(prompt).digest}" for prompt in _several(agent, "prompt", str)]
    samples = isinstance(reader, Reader) and reader.samples > 1
    read = [f"{reader}@t{reader.temperature:g}" if samples else str(reader)] if reader else []
    return {"judge": list(dict.fromkeys(judges)), "prompt": asked, "reader": read}


def _several(agent: Any, name: str, kind: type) -> list[Any]:
    """What an agent lists under the plural of a name, else what it has under the name."""
    listed = getattr(agent, f"{name}s", None)
    if isinstance(listed, tuple) and all(isinstance(one, kind) for one in listed):
        return list(listed)
    return [one] if (one := getattr(agent, name, None)) else []


def _seats(agent: Any) -> list[str]:
    """Names of a panel's critics, and a digest of what was given for them beside names."""
    members = getattr(agent, "members", None)
    if not isinstance(members, Mapping):
        return []
    given = [getattr(agent, "roles", None), getattr(agent, "critics", None)]
    plain = given[0] is None and all(isinstance(one, str) for one in given[1] or ())
    return [*map(str, members), *([] if plain else [digest(json.dumps(told_of(given), sort_keys=True))])]


def _options(agent: Any) -> dict[str, Any]:
    """An agent's plain settings that are not their defaults; what stands elsewhere or only names things is left out."""
    settings = {f.name: (getattr(agent, f.name), f.default) for f in fields(agent) if f.name not in ELSEWHERE}
    plain = {k: v for k, v in settings.items() if isinstance(v[0], bool | int | float | str)}
    return {key: value for key, (value, default) in plain.items() if value != default}


def _settings(graph: Any, nodes: Mapping[str, Any]) -> dict[str, Any]:
    """Of a method what its builder was given, which the rest follows from; of agents from elsewhere their own."""
    found, told = {}, []
    for path, method in _methods(graph):
        found.update({f"{path}{name}": value for name, value in method.method_settings.items()})
        told += [f"{path}{node}/" for node in method.method_nodes]
    for node, about in nodes.items():
        if not f"{node}/".startswith(tuple(told)):
            found.update({f"{node}.{name}": value for name, value in about.get("options", {}).items()})
    found |= {f"{node}.critics": ",".join(about["critics"]) for node, about in nodes.items() if "critics" in about}
    return found | dict(_deciding(graph))


def _deciding(graph: Any) -> Iterator[tuple[str, str]]:
    """(place, digest) of nodes and conditions that are not ours: no judge and no prompt says what they do."""
    for node, thing in nodes_of(graph):
        code = None if hasattr(thing, "ainvoke") else code_of(thing)
        if code is not None:
            name = getattr(thing, "__name__", None) or type(thing).__name__
            yield f"{node}.code", f"{name}@{code}"
    for node, agent in agents_of(graph):
        when = getattr(agent, "when", None)
        if getattr(when, "own", False):
            place, _, _ = node.rpartition("/")
            yield f"{place}/when.code".lstrip("/"), digest(json.dumps(told_of(when), sort_keys=True))


def _methods(graph: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """(path, uncompiled graph) of every method in a compiled graph, itself first."""
    builder = getattr(graph, "builder", None)
    if hasattr(builder, "method_settings"):
        yield path, builder
    for name, node in getattr(builder, "nodes", {}).items():
        yield from _methods(node.runnable, f"{path}{name}/")


def criteria_name(graph: Any) -> str:
    """The criteria set in use, such as "forms"; "5 of forms" of a part of it; "own" for criteria of the caller's own.

    "" for a graph that judges by none it knows beforehand.
    """
    asked: list[Criterion] = details(graph)["criteria"]
    if not asked:
        return ""
    for name in known_sets():
        ours = criteria_set(name).criteria
        if all(one in ours for one in asked):
            return name if len(asked) == len(ours) else f"{len(asked)} of {name}"
    return "own"


def _judged_by(criteria: Sequence[Criterion], tasks: Sequence[str]) -> list[str]:
    """Digests of tasks and criteria (of one set the set's own), and the scales."""
    task = "\n".join(dict.fromkeys(tasks))
    if not criteria:
        return [f"task:{blake2b(task.encode(), digest_size=4).hexdigest()}"] if task else []
    digest = CriteriaSet.model_construct(name="", task=task, criteria=tuple(criteria)).digest
    scales = dict.fromkeys(str(c.scale).replace(" ", "") for c in criteria)
    return [f"criteria:{digest}", f"scale:{','.join(scales)}"]


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)
