"""The methods as functions without arguments, for `langgraph.json`; the judge comes from the environment.

    START -> read -> METHOD -> END

Studio and LangGraph's server send JSON: `read` makes values of it. JUDGEGRAPH_JUDGE names the judge
("openai:MODEL"); without it, or where it is empty, the embedded judge answers. `langgraph dev` needs the extra
`studio`.

That server refuses to read a file while its event loop waits. So a method is built in a thread, where all that its
first run would read from disk is read.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeVar

from langgraph.graph import END, START, StateGraph
from pydantic import BaseModel, ValidationError

from judgegraph import prompts
from judgegraph.errors import CriteriaError, DataError, one_line
from judgegraph.prompts.criteria import criteria_set
from judgegraph.registry import factory
from judgegraph.types import Asked, Criterion, Sample

V = TypeVar("V", bound=BaseModel)


class InputError(DataError, ValueError):
    """What was sent is no sample or no criteria.

    A ValueError, as LangGraph's server tells its clients the messages of Python's own errors alone; of any other they
    hear "An internal error occurred", and the reason is in the server's log.
    """


async def read(state: Asked) -> Asked:
    """The sample, and criteria where there are any, of their JSON objects; values stay as they are.

    Raises:
        InputError: a field is missing, unknown or wrong, or two criteria share a name; the message says which.
    """
    if "sample" not in state:
        raise InputError('sample: missing; send {"sample": {"id": "1", "output": "the text to judge"}}')
    made: Asked = {"sample": _value(Sample, state["sample"], "sample")}
    criteria: Any = state.get("criteria")
    if criteria is not None:
        if not isinstance(criteria, list):
            raise InputError(f"criteria: expected a list of objects, got {type(criteria).__name__}")
        made["criteria"] = _distinct([_value(Criterion, c, f"criteria[{i}]") for i, c in enumerate(criteria)])
    return made


def _distinct(criteria: list[Criterion]) -> list[Criterion]:
    if not criteria:
        raise InputError("criteria: the list is empty; leave it out to judge by the method's own")
    try:
        return list(criteria_set(criteria).criteria)
    except CriteriaError as error:  # two of one name
        raise InputError(str(error)) from None


def _value(kind: type[V], given: Any, name: str) -> V:
    if not isinstance(given, kind | Mapping):
        raise InputError(f"{name}: expected an object, got {type(given).__name__}")
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        found = error.errors(include_url=False)
        said = (f"{'.'.join([name, *map(str, one['loc'])])}: {one['msg']}" for one in found[:5])
        raise InputError(one_line("; ".join(said), 500)) from None


@lru_cache(maxsize=32)
def _built(method: str, judge: str) -> Any:
    """The method behind `read`, under its own name and with its own answer."""
    made = factory(method)(judge=judge)
    inner = made.builder
    graph = StateGraph(inner.state_schema, input_schema=Asked, output_schema=inner.output_schema)
    graph.add_node("read", read)
    graph.add_node(method, made)
    graph.add_edge(START, "read")
    graph.add_edge("read", method)
    graph.add_edge(method, END)
    return graph.compile(name=method)


def _read_through(method: str, judge: str) -> Any:
    """Built, with what its first run would read from disk."""
    for name in prompts.known():
        prompts.load(name)
    import judgegraph.calls.call
    import judgegraph.embedded.evidence_answers  # noqa: F401

    return _built(method, judge)


async def _served(method: str) -> Any:
    return await asyncio.to_thread(_read_through, method, os.environ.get("JUDGEGRAPH_JUDGE") or "embedded")


async def sageval() -> Any:
    """SAGEval."""
    return await _served("sageval")


async def coascore() -> Any:
    """CoAScore."""
    return await _served("coascore")


async def fennec() -> Any:
    """Fennec."""
    return await _served("fennec")


async def fusion_eval() -> Any:
    """Fusion-Eval."""
    return await _served("fusion-eval")


async def g_eval() -> Any:
    """G-Eval."""
    return await _served("g-eval")


async def llm_score() -> Any:
    """LLMScore."""
    return await _served("llm-score")


async def checkeval() -> Any:
    """CheckEval."""
    return await _served("checkeval")


async def mateval() -> Any:
    """MATEval."""
    return await _served("mateval")


async def chateval() -> Any:
    """ChatEval."""
    return await _served("chateval")


async def bsm() -> Any:
    """Branch-Solve-Merge."""
    return await _served("bsm")


async def poll() -> Any:
    """PoLL, of the one judge; a panel of several is a function of yours."""
    return await _served("poll")
