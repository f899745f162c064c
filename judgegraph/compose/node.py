"""What may stand in a graph: a name, an agent, a function, a builder or a graph, made into what `add_node` takes."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from langgraph.graph import StateGraph
from typing_extensions import TypedDict

from judgegraph import registry
from judgegraph.errors import ConfigError, one_line
from judgegraph.prompts.criteria_sets import criteria_set
from judgegraph.types import EvalState


def as_node(which: Any, settings: Mapping[str, Any] | None = None, /, **offered: Any) -> Any:
    """A node: an agent, a function or a compiled graph.

    Args:
        which: a registered name ("evaluator", "sage", "g-eval", "rouge-l"), with its kind before it where two kinds
            share it ("critic/NAME"), `file.py:factory`, a graph file, an agent, a function, a StateGraph or a
            compiled graph.
        settings: of what is made by name; each must be a setting of it.
        offered: what the graph around has to give (judge, criteria, task, reader, name, stage): what is made by name is
            given those that it has a setting for; of None it keeps its own.

    Raises:
        ConfigError: no such name or setting, settings for what is made already, or nothing that can be a node.
    """
    if isinstance(which, str):
        return _named(which, dict(settings or {}), {k: v for k, v in offered.items() if v is not None})
    if settings:
        raise ConfigError(f"{_shown(which)} is made already: {', '.join(settings)} would change nothing")
    if isinstance(which, StateGraph):
        return which.compile()
    if inspect.isclass(which):
        raise ConfigError(f"a node is made of an agent, not of its class: write {which.__name__}(...)")
    if not (callable(which) or hasattr(which, "ainvoke")):
        raise ConfigError(
            f"a node is a name, an agent, a function, a StateGraph or a compiled graph; got {_shown(which)}"
        )
    return which


def _named(which: str, settings: dict[str, Any], offered: dict[str, Any]) -> Any:
    kind, name = registry.find(which)
    if kind == "assistant":
        from judgegraph.compose.metric_node import metric_node

        return metric_node(registry.make(kind, name, settings) if settings else name)
    if kind == "method":
        return as_node(_method(name, settings, offered))
    if "criteria" in offered:  # agents take the criteria themselves, methods any way to name them
        chosen = criteria_set(offered["criteria"])
        offered = {"task": chosen.task, **offered, "criteria": chosen.criteria}
    return registry.make(kind, name, settings, **offered)


def _method(name: str, settings: dict[str, Any], offered: dict[str, Any]) -> Any:
    if name in registry.names("method"):
        return registry.make("method", name, settings, **offered)
    build = registry.factory(name)  # of a file
    takes, any_more = registry.settings_of(build)
    if not any_more and (unknown := sorted(set(settings) - set(takes))):
        raise ConfigError(f"{name} has no setting {', '.join(unknown)}; known: {', '.join(takes) or 'none'}")
    return build(**{k: v for k, v in offered.items() if k in takes} | settings)


def keys(node: Any) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The keys that a node reads and those that it writes, each with its annotation.

    They are those of its schemas: of a graph its input and output, of an agent or a function the annotations of its
    first argument and of what it returns. What says nothing of itself reads and writes all keys of `EvalState`.
    """
    if (builder := getattr(node, "builder", None)) is not None:
        return fields(builder.input_schema), fields(builder.output_schema)
    function = node if inspect.isroutine(node) else type(node).__call__
    try:
        hints = get_type_hints(function, include_extras=True)
    except Exception:  # whatever stands in a user's annotations
        hints = {}
    names = [p for p in inspect.signature(function).parameters if p != "self"]
    first = hints.get(names[0]) if names else None
    return fields(first), fields(hints.get("return"))


def fields(schema: Any) -> Mapping[str, Any]:
    """Key -> annotation of a TypedDict, a dataclass, a pydantic model, or a union of such; else of `EvalState`."""
    if get_origin(schema) in (Union, UnionType):
        parts = [part for part in get_args(schema) if part is not NoneType]
        return {key: hint for part in parts for key, hint in fields(part).items()}
    if not inspect.isclass(schema) or not getattr(schema, "__annotations__", None):
        return vocabulary()
    return get_type_hints(schema, include_extras=True)


@lru_cache(maxsize=1)
def vocabulary() -> Mapping[str, Any]:
    """Key -> annotation of `EvalState`."""
    return get_type_hints(EvalState, include_extras=True)


def schema(name: str, annotations: Mapping[str, Any]) -> Any:
    """A TypedDict, so that a helper's state has the keys that its node needs and no more."""
    return TypedDict(name, dict(annotations), total=False)  # type: ignore[operator]


def _shown(which: Any) -> str:
    return one_line(repr(which), 80)
