"""The line that says all that a result depends on, and the agents of a graph it is read from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from judgegraph import __version__, prompts
from judgegraph.models import name_of
from judgegraph.prompts.criteria_sets import criteria_set


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
    nodes, criteria = {}, {}
    for node, agent in agents_of(graph):
        about: dict[str, Any] = {"agent": type(agent).__name__}
        if judge := getattr(agent, "judge", None):
            about["judge"] = name_of(judge)
        if prompt := getattr(agent, "prompt", None):
            about["prompt"] = f"{prompt}@{prompts.load(prompt).digest}"
        if reader := getattr(agent, "reader", None):
            about["reader"] = str(reader)
        if options := _options(agent):
            about["options"] = options
        nodes[node] = about
        for criterion in getattr(agent, "criteria", None) or ():
            criteria[criterion.name] = criterion
    return {"nodes": nodes, "criteria": list(criteria.values())}


def _options(agent: Any) -> dict[str, Any]:
    """An agent's plain settings that are not their defaults; what stands elsewhere or only names things is left out."""
    elsewhere = ("judge", "prompt", "name", "task", "stage", "temperature")
    settings = {f.name: (getattr(agent, f.name), f.default) for f in fields(agent) if f.name not in elsewhere}
    plain = {k: v for k, v in settings.items() if isinstance(v[0], bool | int | float | str)}
    return {key: value for key, (value, default) in plain.items() if value != default}


def signature(graph: Any) -> str:
    """One line, such as `sageval|v:0.1.0|judge:embedded|prompts:evaluate@3f9c1e07|criteria:1a2b3c4d|scale:1-5`."""
    about = details(graph)
    nodes = about["nodes"].values()
    parts = [graph.get_name(), f"v:{__version__}"]
    for key, plural in (("judge", "judge"), ("prompt", "prompts"), ("reader", "reader")):
        found = dict.fromkeys(node[key] for node in nodes if key in node)
        if found:
            parts.append(f"{plural}:{','.join(found)}")
    for name, node in about["nodes"].items():
        parts += [f"{name}.{key}:{value}" for key, value in node.get("options", {}).items()]
    if about["criteria"]:
        parts.append(f"criteria:{criteria_set(about['criteria']).digest}")
        parts.append("scale:" + ",".join(dict.fromkeys(str(c.scale).replace(" ", "") for c in about["criteria"])))
    return "|".join(parts)
