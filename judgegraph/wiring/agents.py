"""Agents: each has a judge that can be asked; and the graphs of the assistants that they ask."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from types import NoneType
from typing import Any, get_type_hints

from judgegraph.errors import one_line
from judgegraph.models.endpoint import Endpoint
from judgegraph.models.secrets import scrubbed
from judgegraph.wiring.drawn import Drawn
from judgegraph.wiring.drawn import drawn as drawn_of
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


def asked(drawn: Drawn) -> Iterator[Drawn]:
    """The graphs of the assistants that its agents ask: each runs by itself, on a sample alone."""
    for name, part in drawn.parts.items():
        for field in fields(part.runs) if is_agent(part.runs) else ():
            held = getattr(part.runs, field.name)
            for assistant in held if isinstance(held, list | tuple) else (held,):
                graph = getattr(assistant, "graph", None)
                if hasattr(graph, "builder"):
                    yield drawn_of(graph, f"{drawn.at(name)}/{getattr(assistant, 'name', 'graph')}/")
