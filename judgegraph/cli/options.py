"""What several commands take: a method with its settings, and a judge."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import click
import yaml

from judgegraph.errors import ConfigError
from judgegraph.registry import factory

SETTING_HELP = "A setting of the method, as KEY=VALUE; repeat for more (-s each=true -s samples=8)."


def graph_of(method: str, *, criteria: str | None, judge: Any, settings: Sequence[str]) -> Any:
    """The compiled graph of METHOD with what the command line says.

    Raises:
        ConfigError: no such method, or it does not take such a setting.
    """
    build = factory(method)
    given = dict(map(_pair, settings))
    given |= {key: value for key, value in (("criteria", criteria), ("judge", judge)) if value is not None}
    _refuse_unknown(build, method, given)
    try:
        return build(**given)
    except TypeError as error:
        raise ConfigError(f"{method}: {error}") from None


def judge_of(judge: str, base_url: str | None, temperature: float | None = None) -> Any:
    """An Endpoint where the command line says more than its name."""
    if base_url is None and temperature is None:
        return judge
    from judgegraph.models import Endpoint

    return Endpoint(model=judge, base_url=base_url, temperature=temperature)


def _pair(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise click.UsageError(f"--setting takes KEY=VALUE, got {text!r}")
    try:
        return key.strip().replace("-", "_"), yaml.safe_load(value)
    except yaml.YAMLError:
        return key.strip().replace("-", "_"), value


def _refuse_unknown(build: Any, method: str, given: dict[str, Any]) -> None:
    """A misspelt setting is named with those there are; factories pass theirs on to `builder`."""
    named = _parameters(build)
    module = inspect.getmodule(build)
    if module is not None and (made := getattr(module, "builder", None)):
        named |= _parameters(made)
    elif any(p.kind is p.VAR_KEYWORD for p in inspect.signature(build).parameters.values()):
        return
    unknown = sorted(set(given) - named)
    if unknown:
        raise ConfigError(f"{method} has no setting {', '.join(unknown)}; known: {', '.join(sorted(named))}")


def _parameters(function: Any) -> set[str]:
    plain = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {name for name, p in inspect.signature(function).parameters.items() if p.kind in plain}
