"""What an agent is, before it is called."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, get_type_hints

from judgegraph.registry.keys import keys_of
from judgegraph.testing.conformance import Breach
from judgegraph.testing.invented_state import annotated
from judgegraph.types import EvalState


@dataclass(frozen=True)
class Declared:
    """Keys as annotated.

    Attributes:
        reads: key -> annotation; None where the state has no TypedDict. needs: those of them that must be there.
        writes: None where nothing is said.
    """

    reads: dict[str, Any] | None
    needs: tuple[str, ...]
    writes: frozenset[str] | None


def name_of(agent: Any) -> str:
    """What a report calls it."""
    return getattr(agent, "__name__", None) or type(agent).__name__


def declared(agent: Any) -> Declared:
    """What it reads and writes."""
    reads, writes = keys_of(agent)
    needs = tuple(key for key in reads or () if not key.endswith("?"))
    hints = None if reads is None else dict.fromkeys((key.rstrip("?") for key in reads), object) | _hints(agent)
    return Declared(hints, needs, None if writes is None else frozenset(key.rstrip("?") for key in writes))


def _hints(agent: Any) -> dict[str, Any]:
    call = agent if inspect.isroutine(agent) else type(agent).__call__
    found = get_type_hints(call, include_extras=True)
    first = next(name for name in inspect.signature(call).parameters if name != "self")
    return annotated(found.get(first))


def misshapen(agent: Any, keys: Declared) -> Iterator[Breach]:
    """Whether it is a frozen dataclass or a function that says what it reads and writes."""
    is_dataclass = dataclasses.is_dataclass(agent) and not isinstance(agent, type)
    if not callable(agent):
        yield Breach("shape", f"{name_of(agent)} cannot be called")
    elif not (is_dataclass or inspect.isroutine(agent) or isinstance(agent, partial)):
        yield Breach("shape", f"{name_of(agent)} is an object of a plain class")
    elif is_dataclass and not agent.__dataclass_params__.frozen:
        yield Breach("shape", f"the dataclass {name_of(agent)} is not frozen")
    if is_dataclass and dataclasses.replace(agent) != agent:
        yield Breach("not-equal", f"a copy of {name_of(agent)} is not equal to it")
    for what, held in (("state", keys.reads), ("return value", keys.writes)):
        if held is None and callable(agent):
            yield Breach("signature", f"the {what} of {name_of(agent)} is annotated with no TypedDict")


def advice(agent: Any, keys: Declared) -> Iterator[str]:
    """What is no breach and good to know."""
    try:
        hash(agent)
    except TypeError as error:
        yield f"it cannot be hashed ({error})"
    for key in sorted((keys.writes or frozenset()) - set(EvalState.__annotations__)):
        yield f"it writes '{key}', which is no key of EvalState: a graph with it needs a state of its own"
