"""What the results of a run depend on, as a flat table, and how two of them differ."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from functools import partial
from hashlib import blake2b, file_digest
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from judgegraph import __version__
from judgegraph.calls import Endpoint
from judgegraph.errors import DataError, one_line
from judgegraph.models.secrets import credentials, scrubbed, secrets_of
from judgegraph.runtime.code_digest import code_of, digest
from judgegraph.runtime.differences import differences
from judgegraph.runtime.packages import packages_of
from judgegraph.runtime.samples import Samples
from judgegraph.runtime.setting_value import closed_over, code_set, fields_of, is_judge, kept, told, told_briefly
from judgegraph.runtime.signature import agents_of, details
from judgegraph.runtime.topology import edges, nodes, reducers
from judgegraph.types import Criterion

__all__ = ["configuration", "data_of", "differences"]

ASKED = ("criterion", "budget")  # of a graph that is an assistant
OWN = ("judge", "prompt", "reader", "criteria", "assistants", "tools")  # have a key of their own


def configuration(graph: Any) -> dict[str, Any]:
    """All that a run's replies and scores depend on, and nothing else: keys in dots, values that JSON can hold.

    Such as {"method": "sageval", "version": "0.1.0", "nodes.evaluate": "Evaluator", "nodes.evaluate.judge":
    "openai:m@t0", "nodes.evaluate.prompt": "evaluate@3f9c1e07", "nodes.critique.options.calls": "three",
    "criteria.Coherence": {"scale": "1-5", "definition": "..."}, "edges": ["evaluate -> critique", ...],
    "nodes.foo.code": "1a2b3c4d", "nodes.foo.package": "foos 1.0"}. Code of the caller's own is told by a digest, a
    plug-in's by its version too, ours by ours. How fast and how patiently it runs is no part of it, no key ever is.

    Raises:
        ConfigError: an agent names a prompt that cannot be read.
    """
    found: dict[str, Any] = {"method": graph.get_name(), "version": __version__}
    about, agents = details(graph)["nodes"], dict(agents_of(graph))
    criteria: dict[str, Criterion] = {}
    for name, thing in nodes(graph):
        key = f"nodes.{name.replace('.', '%2E')}"
        found[key] = _kind(thing)
        said = _agent(agents[name], about[name], criteria) if name in agents else _other(thing)
        found |= {f"{key}.{what}": value for what, value in said}
        if packages := packages_of(thing):
            found[f"{key}.package"] = packages
        if not hasattr(thing, "ainvoke") and (code := code_of(thing, closed_over)):
            found[f"{key}.code"] = code
    found |= {f"criteria.{name}": _criterion(one) for name, one in criteria.items()}
    found |= {"edges": edges(graph), "state": reducers(graph)}
    clean: dict[str, Any] = _without(found, _secrets(agents.values()))
    return clean


def _kind(thing: Any) -> str:
    if hasattr(thing, "builder"):
        return f"graph {thing.get_name()}"
    while isinstance(thing, partial):
        thing = thing.func
    name = getattr(thing, "__name__", None)
    return f"function {name}" if name else type(thing).__name__


def _agent(agent: Any, about: Mapping[str, Any], criteria: dict[str, Criterion]) -> Iterator[tuple[str, Any]]:
    """(key, value) of all that one agent is set to; its criteria join the others."""
    if "judge" in about:
        yield "judge", about["judge"]
    if "prompt" in about:
        yield "prompt", _prompts(agent, about["prompt"])
    if "reader" in about:
        yield "reader", about["reader"]
    if asked := getattr(agent, "criteria", None):
        yield "criteria", [_known(c, criteria) if isinstance(c, Criterion) else told(c) for c in asked]
    if (offered := getattr(agent, "assistants", None)) is not None:
        yield "assistants", _assistants(offered)
    if (tools := getattr(agent, "tools", None)) is not None:
        yield "tools", _tools(tools)
    own = {*OWN, *(["temperature"] if "judge" in about else [])}  # the judge's line has it
    for field in fields(agent):
        if field.name not in own and kept(field.name):
            yield f"options.{field.name}", told(getattr(agent, field.name))


def _other(thing: Any) -> Iterator[tuple[str, Any]]:
    """What is told of a node that is no agent: the steps of a chain, the fields of an object with a call."""
    if hasattr(thing, "ainvoke"):
        yield from () if hasattr(thing, "builder") else [("runs", told(thing))]
        return
    while isinstance(thing, partial):
        yield from [("options.args", told(list(thing.args)))] if thing.args else []
        yield from ((f"options.{name}", told(value)) for name, value in thing.keywords.items() if kept(name))
        thing = thing.func
    owner = getattr(thing, "__self__", thing)
    if not isinstance(owner, FunctionType | type | ModuleType):
        for name, value in fields_of(owner):
            if kept(name):
                yield f"options.{name}", told(value)


def _tools(tools: Any) -> Any:
    """Name -> what a model is told of it, for tools as OpenAI's interface takes them."""
    listed = [t.get("function", t) if isinstance(t, Mapping) else t for t in tools]
    if all(isinstance(t, Mapping) and "name" in t for t in listed):
        return {str(t["name"]): told({k: v for k, v in t.items() if k != "name"}) for t in listed}
    return told(listed)


def _prompts(agent: Any, first: str) -> Any:
    """A template with its digest, or several with theirs; of a file the name alone, wherever it lies."""
    from judgegraph import prompts

    named = [str(name) for name in getattr(agent, "prompts", None) or ()]
    if len(named) < 2:
        return Path(first).name
    return {Path(name).name: prompts.load(name).digest for name in named}


def _known(criterion: Criterion, criteria: dict[str, Criterion]) -> str:
    """The name by which a criterion stands in the table: two of one name are told apart."""
    name, number = criterion.name, 1
    while criteria.setdefault(name, criterion) != criterion:
        number += 1
        name = f"{criterion.name} ({number})"
    return name


def _criterion(criterion: Criterion) -> dict[str, Any]:
    rest = criterion.model_dump(mode="json", exclude={"name", "scale"}, exclude_defaults=True)
    return {"scale": str(criterion.scale), **rest}


def _assistants(offered: Any) -> Any:
    """Name -> what a model is told of it, with a digest of its code where it is the caller's own."""
    if isinstance(offered, Mapping) or not isinstance(offered, Iterable) or isinstance(offered, str):
        return told(offered)
    found = {}
    for one in offered:
        code = code_set(one) or code_set(getattr(one, "measure", None))
        text = str(told(str(getattr(one, "about", "")))) or type(one).__name__
        if hasattr(inner := getattr(one, "graph", None), "builder"):
            text = f"{text} (graph {_digest(configuration(inner))})"
        text += "".join(f" ({what} {told_briefly(v)})" for what in ASKED if (v := getattr(one, what, None)) is not None)
        found[str(getattr(one, "name", one))] = f"{text} (code {code})" if code else text
    return found


def _digest(table: Mapping[str, Any]) -> str:
    return digest(json.dumps(table, sort_keys=True))


def _secrets(agents: Iterable[Any]) -> tuple[str, ...]:
    """What must stand nowhere: keys, headers and logins of all judges that agents hold."""
    found: set[str] = set()
    for agent in agents:
        for value in [getattr(agent, field.name, None) for field in fields(agent)]:
            endpoint = Endpoint(model=value) if isinstance(value, str) and value.startswith("openai:") else value
            if isinstance(endpoint, Endpoint):
                key = os.environ.get(endpoint.api_key_env, "")
                found |= {*credentials(endpoint.base_url or os.environ.get("OPENAI_BASE_URL", "")), key}
            elif is_judge(value):
                found |= {*secrets_of(value)}
    return tuple(sorted((s for s in found if len(s) >= 8), key=len, reverse=True))


def _without(value: Any, secrets: tuple[str, ...]) -> Any:
    if isinstance(value, str):
        return scrubbed(value, secrets)
    if isinstance(value, Mapping):
        return {key: _without(inner, secrets) for key, inner in value.items()}
    return [_without(inner, secrets) for inner in value] if isinstance(value, list) else value


def data_of(samples: Any) -> dict[str, Any] | None:
    """What a file of samples is: {"file": its name, "size": bytes, "digest": 16 hex digits, "fields", "format"}.

    None for samples that come from elsewhere. The file is read once, some at a time; its folder does not count.

    Raises:
        DataError: the file cannot be read any more.
    """
    if not isinstance(samples, Samples) or samples.path is None:
        return None
    try:
        with samples.path.open("rb") as file:
            found = file_digest(file, lambda: blake2b(digest_size=8)).hexdigest()
            size = file.tell()
    except OSError as error:
        raise DataError(f"{samples.name}: {error.strerror}") from None
    about = {"file": one_line(samples.path.name), "size": size, "digest": found}
    return {**about, "fields": dict(samples.fields), "format": samples.format}
