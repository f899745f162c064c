"""The arguments of a run, looked at before anything is opened: a wrong one is told in one line."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping
from typing import Any

from judgegraph.calls.budget import Budget
from judgegraph.calls.limits import Limits
from judgegraph.errors import ConfigError, DataError, one_line
from judgegraph.models.prices import Prices
from judgegraph.runtime.one_go import check_stops

SETTINGS: dict[str, tuple[tuple[type, ...], str]] = {
    "budget": ((Budget,), "a Budget, such as judgegraph.Budget(calls=100)"),
    "limits": ((Limits,), "Limits, such as judgegraph.Limits(rpm=60)"),
    "stop": ((threading.Event,), "a threading.Event"),
    "prices": ((Prices, str, os.PathLike), "Prices, or the path of a price file"),
    "ledger": ((str, os.PathLike), "the path of a file"),
}


def check_arguments(
    graph: Any, samples: Any, concurrency: Any, timeout: Any, *, grace: Any = 0, trace: Any = True, redact: Any = (),
    **settings: Any,
) -> None:  # fmt: skip
    """Of `evaluate`.

    Raises:
        ConfigError: an argument is not what it must be. DataError: there can be no samples in what was given.
    """
    if not (hasattr(graph, "ainvoke") and hasattr(graph, "get_name")):
        what = "compile it: graph.compile()" if hasattr(graph, "compile") else "such as judgegraph.graphs.sageval()"
        raise ConfigError(f"a graph is a compiled LangGraph, {what}; got {type(graph).__name__}")
    check_stops(graph)
    if not isinstance(samples, Iterable) or isinstance(samples, Mapping):
        more = "; an async generator is read first: [s async for s in it]" if hasattr(samples, "__aiter__") else ""
        raise DataError(
            f"samples are an iterable of Sample, such as judgegraph.load(PATH); got {_shown(samples)}{more}"
        )
    if not isinstance(concurrency, int) or isinstance(concurrency, bool) or concurrency < 1:
        raise ConfigError(f"concurrency is 1 or more, a whole number; got {_shown(concurrency)}")
    if not isinstance(timeout, int | float) or isinstance(timeout, bool) or not timeout > 0:  # nan too
        raise ConfigError(f"timeout is more than 0 seconds; got {_shown(timeout)}")
    if not isinstance(grace, int | float) or isinstance(grace, bool) or not grace >= 0:
        raise ConfigError(f"grace is 0 seconds or more; got {_shown(grace)}")
    if not isinstance(trace, bool):
        raise ConfigError(f"trace is True or False; got {_shown(trace)}")
    if not isinstance(redact, tuple | list) or any(what != "texts" for what in redact):
        raise ConfigError(f'redact is a list of what is not kept: ("texts",) or (); got {_shown(redact)}')
    for name, value in settings.items():
        check_setting(name, value)


def check_setting(name: str, value: Any) -> None:
    """One of those that may be None.

    Raises:
        ConfigError: it is something else.
    """
    if value is None:
        return
    kinds, what = SETTINGS.get(name, ((), "a function of one argument"))
    if not (isinstance(value, kinds) if kinds else callable(value)):
        raise ConfigError(f"{name} is {what}, or None; got {_shown(value)}")
    if name == "ledger":
        path = os.fspath(value)
        if not isinstance(path, str) or not path or "\0" in path:
            raise ConfigError(f"{name} is {what}; got {_shown(path)}")


def _shown(value: Any) -> str:
    return one_line(repr(value), 60)
