"""Writers: no two nodes of one step write a key that nothing joins, and what joins a key fits it."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from types import BuiltinFunctionType
from typing import Any

from langgraph.channels import BinaryOperatorAggregate, LastValue
from langgraph.channels.base import BaseChannel

from judgegraph.wiring.code import hints_of
from judgegraph.wiring.drawn import NOTHING, Drawn, Part
from judgegraph.wiring.finding import Finding, listed
from judgegraph.wiring.signatures import Keys, plain_type

SHARED = {"scores", "rectifications", "suggestions", "aspects", "findings", "comparisons", "corrections", "notes"}
REDUCER = "a reducer such as jg.merged, as in jg.EvalState: Annotated[dict[...], jg.merged]"


def side_by_side(drawn: Drawn) -> Iterator[Finding]:
    """Keys without a reducer that one step writes twice, which LangGraph refuses in the middle of a run."""
    told: set[str] = set()
    often = {end for ways in drawn.ways.values() for way in ways if way.several for end in way.sent}
    for step in drawn.steps.graph:
        writing: dict[str, list[str]] = {}
        for run in sorted(step.runs):
            for key in sorted(_all(drawn.parts.get(run.node)) if run.node in drawn.parts else ()):
                writing.setdefault(key, []).extend([run.node] * (1 + (run.sent and run.node in often)))
        for key, nodes in writing.items():
            if len(nodes) > 1 and key not in told and isinstance(drawn.channels.get(key), LastValue):
                told.add(key)
                yield _two(drawn, key, sorted(set(nodes)))


def _all(part: Part | None) -> Keys:
    return (part.writes or NOTHING) | part.passes if part else NOTHING


def _two(drawn: Drawn, key: str, nodes: list[str]) -> Finding:
    who, passing = listed(drawn.at(n) for n in nodes), [n for n in nodes if key in drawn.parts[n].passes]
    if len(nodes) == 1:
        text = f"node {who} is sent to several times in one step, and each run writes '{key}', which has no reducer"
    else:
        text = f"nodes {who} run in one step and both write '{key}', which has no reducer"
    cure = f"give the key {REDUCER}, or let one run after the other"
    if passing:
        who = listed(drawn.at(n) for n in passing)
        cure = f"{who} hands it back as it came; give that graph an output_schema= of what it writes"
    return Finding("two-writers", drawn.at(nodes[-1]), key, f"{text}: {cure}")


def reducers(drawn: Drawn) -> Iterator[Finding]:
    """Reducers that double what passes through a subgraph, do not fit their key's type, or are not there."""
    for key, channel in sorted(drawn.channels.items()):
        writers = [n for n, part in sorted(drawn.parts.items()) if key in _all(part)]
        if isinstance(channel, BinaryOperatorAggregate):
            if (found := _misfit(drawn, key, channel, writers)) or (found := _doubling(drawn, key, channel)):
                yield found
        elif key in SHARED and isinstance(channel, LastValue) and (found := _overwritten(drawn, key, writers)):
            yield found


def _misfit(drawn: Drawn, key: str, channel: Any, writers: list[str]) -> Finding | None:
    kind, reducer = declared(drawn, key, channel), channel.operator
    made = plain_type(hints_of(reducer).get("return"))
    if not _unfit(kind, reducer, made):
        return None
    node, name = drawn.at(writers[0]) if writers else drawn.path[:-1], getattr(reducer, "__name__", str(reducer))
    where = f" of '{drawn.path[:-1]}'" if drawn.path else ""
    joins = made.__name__ if made else "other things"
    text = f"key '{key}'{where} is a {kind.__name__}, and its reducer {name} joins {joins}"
    who = f" (written by {listed(drawn.at(w) for w in writers)})" if writers else ""
    fitting = "jg.merged" if issubclass(kind, dict) else "one that takes and returns a " + kind.__name__
    return Finding("wrong-reducer", node, key, f"{text}{who}: use {fitting}")


def declared(drawn: Drawn, key: str, channel: BaseChannel[Any, Any, Any]) -> Any:
    """The class of a key's values."""
    return plain_type(getattr(channel, "typ", None)) or type(getattr(channel, "value", None))


def _unfit(kind: type, reducer: Any, made: Any) -> bool:
    if made is not None:
        return not (issubclass(made, kind) or issubclass(kind, made))
    if isinstance(reducer, BuiltinFunctionType):
        try:
            reducer(kind(), kind())
        except TypeError:
            return True
        except Exception:  # the class has no empty value
            return False
    return False


def _doubling(drawn: Drawn, key: str, channel: Any) -> Finding | None:
    """`operator.add` and the like, where a subgraph is given the key and hands it back with its own part added."""
    through = [n for n, p in sorted(drawn.parts.items()) if p.inside and key in p.inside.given & p.inside.kept]
    if not through or not _adds(channel):
        return None
    node = drawn.at(through[0])
    text = f"key '{key}' is joined by adding, and passes through the graph '{node}', which hands back what it was given"
    return Finding("wrong-reducer", node, key, f"{text}: it stands twice then; use a mapping with jg.merged")


def _adds(channel: Any) -> bool:
    """Whether joining a value with itself makes more of it."""
    if channel.operator in (operator.add, operator.concat, operator.iadd, operator.iconcat):
        return True
    kind = plain_type(getattr(channel, "typ", None)) or type(getattr(channel, "value", None))
    if kind not in (list, tuple):
        return False
    one = kind([object()])
    try:
        return len(channel.operator(kind(one), kind(one))) > 1
    except Exception:  # it wants values of its own kind
        return False


def _overwritten(drawn: Drawn, key: str, writers: list[str]) -> Finding | None:
    """A key that others join, in a state that keeps the last node's alone."""
    for number, one in enumerate(writers):
        for other in writers[number + 1 :]:
            if drawn.steps.together(one, other):
                node, who = drawn.at(other), f"'{drawn.at(one)}' and '{drawn.at(other)}'"
                text = f"{who} both write '{key}', which has no reducer in this state, so the later one's stands alone"
                return Finding("wrong-reducer", node, key, f"{text}: give it {REDUCER}")
    return None
