"""The line that says all that a result depends on, and the agents of a graph it is read from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from typing import Any

from judgegraph import __version__, prompts
from judgegraph.calls import Reader
from judgegraph.errors import one_line
from judgegraph.prompts.criteria_sets import CriteriaSet
from judgegraph.runtime.judge_line import judge_line
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


def details(graph: Any) -> dict[str, Any]:
    """What a manifest keeps of a graph: per node its agent, judge, prompt with digest, and reader; criteria once."""
    nodes: dict[str, Any] = {}
    criteria: list[Criterion] = []
    for node, agent in agents_of(graph):
        about: dict[str, Any] = {"agent": type(agent).__name__}
        if judge := getattr(agent, "judge", None):
            about["judge"] = judge_line(judge, getattr(agent, "temperature", None))
        if prompt := getattr(agent, "prompt", None):
            about["prompt"] = f"{prompt}@{prompts.load(prompt).digest}"
        if reader := getattr(agent, "reader", None):
            samples = isinstance(reader, Reader) and reader.samples > 1
            about["reader"] = f"{reader}@t{reader.temperature:g}" if samples else str(reader)
        assistants = getattr(agent, "assistants", None)
        if isinstance(assistants, Sequence | Mapping):
            about["assistants"] = [str(getattr(a, "name", a)) for a in assistants]
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
    for key, plural in (("judge", "judge"), ("prompt", "prompts"), ("reader", "reader")):
        found = dict.fromkeys(node[key] for node in nodes.values() if key in node)
        parts += [f"{plural}:{','.join(found)}"] if found else []
    assistants = dict.fromkeys(name for node in nodes.values() for name in node.get("assistants", ()))
    parts += [f"assistants:{','.join(assistants)}"] if assistants else []
    parts += [f"{name}:{_shown(value)}" for name, value in _settings(graph, nodes).items()]
    parts += _judged_by(about["criteria"], [str(a.task) for _, a in agents_of(graph) if hasattr(a, "task")])
    return "|".join(one_line(part.replace("|", "/"), 1000) for part in parts)


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
    return found


def _methods(graph: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """(path, uncompiled graph) of every method in a compiled graph, itself first."""
    builder = getattr(graph, "builder", None)
    if hasattr(builder, "method_settings"):
        yield path, builder
    for name, node in getattr(builder, "nodes", {}).items():
        yield from _methods(node.runnable, f"{path}{name}/")


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
