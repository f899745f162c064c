"""Agents: each has a judge that can be asked, and no two write their scores under one key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from itertools import combinations
from types import NoneType
from typing import Any, get_type_hints

from judgegraph.errors import one_line
from judgegraph.models.endpoint import Endpoint
from judgegraph.models.secrets import scrubbed
from judgegraph.wiring.drawn import Drawn, Part
from judgegraph.wiring.finding import Finding
from judgegraph.wiring.signatures import members

WRITE = "write 'embedded', 'openai:MODEL' or 'PROVIDER:MODEL', or give a LangChain chat model"


def judges(drawn: Drawn) -> Iterator[Finding]:
    """Agents whose judge is no name of a model, and no model; nothing is asked, and no key is needed."""
    for name, part in drawn.parts.items():
        for field in fields(part.runs) if is_agent(part.runs) else ():
            if field.name != "judge" and not field.name.endswith("_judge"):
                continue
            judge, node = getattr(part.runs, field.name), drawn.at(name)
            if why := "" if judge is None and _may_be_none(part.runs, field.name) else _wrong(judge):
                text = f"node '{node}' has no model to ask: its setting '{field.name}' is {why}; {WRITE}"
                yield Finding("no-judge", node, "", text)


def is_agent(thing: Any) -> bool:
    """A dataclass that is a node."""
    return is_dataclass(thing) and not isinstance(thing, type)


def _may_be_none(agent: Any, name: str) -> bool:
    try:
        from langchain_core.language_models import BaseChatModel

        hints = get_type_hints(type(agent), localns={"BaseChatModel": BaseChatModel})
    except Exception:  # whatever stands in a user's annotations
        return False
    return NoneType in members(hints.get(name))


def _wrong(judge: Any) -> str:
    """What is wrong with a judge's name, "" for nothing."""
    name = judge.model if isinstance(judge, Endpoint) else judge
    if not isinstance(name, str):
        return "" if hasattr(name, "ainvoke") else one_line(repr(name), 60)
    provider, _, model = name.partition(":")
    if name == "embedded" or (provider.strip() and model.strip()):
        return ""
    return f"'{one_line(scrubbed(name), 60)}'"


def same_scores(drawn: Drawn) -> Iterator[Finding]:
    """Agents of one name and stage with different settings, whose scores overwrite each other."""
    told = set()
    for (one, at_one), (other, at_other) in combinations(_scoring(drawn), 2):
        if one.runs == other.runs or _mark(one) != _mark(other) or not _alike(one.runs, other.runs):
            continue
        if not _meet(drawn, at_one, at_other) or at_other in told:
            continue
        told.add(at_other)
        name, stage, _ = _mark(one)
        about = f"the name '{name}'" + (f" at stage '{stage}'" if stage else "")
        text = f"nodes '{at_one}' and '{at_other}' both write scores under {about}, so the later overwrite the earlier"
        cure = f"give one of them another name, such as {type(other.runs).__name__}(name='{name}-2')"
        yield Finding("same-scores", at_other, "scores", f"{text}: {cure}", "warning")


def _scoring(drawn: Drawn) -> list[tuple[Part, str]]:
    """Agents that write scores, in subgraphs too, with their paths."""
    return [
        (part, graph.at(name))
        for graph in drawn.everywhere()
        for name, part in graph.parts.items()
        if "scores" in (part.writes or ()) and is_agent(part.runs) and getattr(part.runs, "name", None)
    ]


def _mark(part: Part) -> tuple[str, str, bool]:
    """What scores are told apart by; an agent that reads verdicts writes at another stage than it reads."""
    agent = part.runs
    return agent.name, str(getattr(agent, "stage", type(agent).__name__)), "rectifications" in part.reads


def _alike(one: Any, other: Any) -> bool:
    """Whether both may judge by a criterion of one name."""
    names = [{getattr(c, "name", c) for c in getattr(agent, "criteria", ()) or ()} for agent in (one, other)]
    return not all(names) or bool(names[0] & names[1])


def _meet(drawn: Drawn, one: str, other: str) -> bool:
    """Whether some run has both in it: it depends on the graph in which their paths part."""
    graph, first, second = drawn, one.split("/"), other.split("/")
    while first[0] == second[0]:
        inner = graph.parts[first[0]].inside
        if inner is None:
            return False
        graph, first, second = inner, first[1:], second[1:]
    return graph.steps.together(first[0], second[0])
