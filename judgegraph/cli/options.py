"""What several commands take: a method with its settings, and a judge."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from judgegraph.cli.setting_text import unreadable, value_of
from judgegraph.errors import ConfigError, JudgegraphError, one_line
from judgegraph.registry import factory

SETTING_HELP = "A setting of the method, as KEY=VALUE; repeat for more (-s each=true -s samples=8)."
CRITIC_HELP = "The critic of a method that has one, by name (see `judgegraph agents`); the same as -s critic=NAME."
OPTIONS = {"judge": "-j/--judge", "criteria": "-c/--criteria"}  # settings with an option of their own


def graph_of(
    method: str, *, criteria: str | None, judge: Any, settings: Sequence[str], critic: str | None = None,
    judged: Callable[[Any], Any] = lambda build: None,
) -> Any:  # fmt: skip
    """The compiled graph of METHOD with what the command line says; what is None is left to METHOD's default.

    Args:
        judged: gives the criteria of the data, for a method (what builds it) that takes criteria and is given none.

    Raises:
        ConfigError: no such method; a line for each setting that it does not take; a factory that fails, or makes
            no graph.
    """
    from judgegraph.graphs.settings import faults

    build = factory(method)
    hints = _hints(build)
    if critic is not None:
        if not _takes(hints, "critic"):
            raise ConfigError(f"{method} has no critic to swap: leave --critic out; sageval has one, for example")
        settings = (*settings, f"critic={critic}")
    if criteria is None and "criteria" in (hints or {}):
        criteria = judged(build)
    given, wrong = _read(method, hints, settings)
    if "critic" in given and critic is not None:
        given["critic"] = critic  # always a name, whatever a factory's annotation reads from the text
    options = {key: value for key, value in (("criteria", criteria), ("judge", judge)) if value is not None}
    wrong += [f"{method} takes no {key}: leave {OPTIONS[key]} out" for key in options if not _takes(hints, key)]
    wrong += faults(method, hints or {}, given | options)
    if wrong:
        raise ConfigError("\n".join(wrong))
    return compiled(method, build, given | options)


def judge_of(
    judge: str | None, base_url: str | None, temperature: float | None = None, max_tokens: int | None = None
) -> Any:  # fmt: skip
    """An Endpoint where the command line says more than its name; None where it says nothing."""
    if base_url is None and temperature is None and max_tokens is None:
        return judge
    from judgegraph.calls import Endpoint

    return Endpoint(model=judge or "embedded", base_url=base_url, temperature=temperature, max_tokens=max_tokens)


def _read(method: str, hints: dict[str, Any] | None, settings: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """Setting -> value, and a line for each that is none."""
    given: dict[str, Any] = {}
    wrong = []
    for text in settings:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name:
            raise click.UsageError(f"--setting takes KEY=VALUE, got {text!r}")
        hint = (hints or {}).get(name, Any)
        if name in OPTIONS:
            wrong.append(f"{method}: {name}: it has an option of its own, {OPTIONS[name]}")
        elif not _takes(hints, name):
            known = ", ".join(sorted(set(hints or {}) - set(OPTIONS)))
            wrong.append(f"{method} has no setting {one_line(name, 80)}; known: {known or 'none'}")
        elif name in given:
            wrong.append(f"{method}: {name}: given twice")
        elif why := unreadable(hint):
            wrong.append(f"{method}: {name}: {why}")
        else:
            given[name] = value_of(value, hint)
    return given, wrong


def _takes(hints: Mapping[str, Any] | None, name: str) -> bool:
    return hints is None or name in hints


def _hints(build: Any) -> dict[str, Any] | None:
    """Setting -> its annotation; a factory with `**settings` passes them on to the `builder` of its module.

    None where nothing is known of what a factory takes.
    """
    from judgegraph.graphs.settings import hints_of

    kinds = {p.kind for p in inspect.signature(build).parameters.values()}
    found = dict.fromkeys(_parameters(build), Any) | hints_of(build)
    if inspect.Parameter.VAR_KEYWORD in kinds:
        made = getattr(inspect.getmodule(build), "builder", None)
        if made is None or made.__module__ != build.__module__:
            return None
        found = {**found, **dict.fromkeys(_parameters(made), Any), **hints_of(made)}
        return {name: hint for name, hint in found.items() if name in {*_parameters(build), *_parameters(made)}}
    return {name: hint for name, hint in found.items() if name in _parameters(build)}


def _parameters(function: Any) -> tuple[str, ...]:
    plain = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return tuple(name for name, p in inspect.signature(function).parameters.items() if p.kind in plain)


def compiled(method: str, build: Any, given: dict[str, Any]) -> Any:
    """What the factory makes, compiled where it is not; its own mistakes are told with where they are."""
    from langgraph.graph import StateGraph
    from langgraph.pregel import Pregel

    try:
        inspect.signature(build).bind(**given)
    except TypeError as error:
        raise ConfigError(f"{method}: {error}; give it as -s KEY=VALUE") from None
    try:
        made = build(**given)
        if isinstance(made, StateGraph):
            made = made.compile(name=getattr(build, "__name__", method))
    except JudgegraphError:
        raise
    except (Exception, SystemExit) as error:  # a factory does not end the command
        frames = traceback.extract_tb(error.__traceback__)
        at = [f for f in frames if f.filename == getattr(inspect.getmodule(build), "__file__", None)] or frames
        where = f"{at[-1].filename}, line {at[-1].lineno}"
        raise ConfigError(f"{method} raised {type(error).__name__}: {one_line(error)} ({where})") from error
    if not isinstance(made, Pregel):
        if inspect.iscoroutine(made):
            made.close()
        raise ConfigError(f"{method} returned {type(made).__name__}; expected a compiled LangGraph, or a StateGraph")
    return made
