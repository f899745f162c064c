"""Writers: no two nodes of one step write a key that nothing joins, and what joins a key fits it."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

from langgraph.channels import BinaryOperatorAggregate, LastValue
from langgraph.channels.base import BaseChannel

from judgegraph.wiring.code import hints_of
from judgegraph.wiring.drawn import NOTHING, Drawn, Part
from judgegraph.wiring.finding import Finding, listed
from judgegraph.wiring.kinds import written
from judgegraph.wiring.reducer import doubles, fails, fits, keeps_one
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
        joined = isinstance(channel, BinaryOperatorAggregate)
        alone = key in SHARED and (keeps_one(channel) if joined else isinstance(channel, LastValue))
        found = (_misfit(drawn, key, channel, writers) or _doubling(drawn, key, channel)) if joined else None
        if found or (alone and (found := _overwritten(drawn, key, writers))):
            yield found


def _misfit(drawn: Drawn, key: str, channel: Any, writers: list[str]) -> Finding | None:
    kind, made = declared(drawn, key, channel), plain_type(hints_of(channel.operator).get("return"))
    given: dict[Any, list[str]] = {}
    for name in writers:
        for one in written(drawn.parts[name], key):
            given.setdefault(one, []).append(name)
    if not fits(kind, made):
        return _unfit(drawn, key, channel, f"joins {made.__name__}", writers)
    if wrong := fails(channel, kind, given):
        what = listed(sorted(one.__name__ for one in wrong)).replace("'", "")
        by = [name for one in wrong for name in given.get(one, ())]
        return _unfit(drawn, key, channel, f"cannot join {what} with it", by)
    return None


def _unfit(drawn: Drawn, key: str, channel: Any, does: str, writers: list[str]) -> Finding:
    kind, name = declared(drawn, key, channel), getattr(channel.operator, "__name__", str(channel.operator))
    node, where = drawn.at(writers[0]) if writers else drawn.path[:-1], f" of '{drawn.path[:-1]}'" if drawn.path else ""
    who = f" (written by {listed(drawn.at(w) for w in writers)})" if writers else ""
    fitting = "jg.merged" if issubclass(kind, dict) else "one that takes and returns a " + kind.__name__
    if key in SHARED and not issubclass(kind, dict):
        fitting = "the type and the reducer that it has in jg.EvalState"
    text = f"key '{key}'{where} is a {kind.__name__}, and its reducer {name} {does}{who}: use {fitting}"
    return Finding("wrong-reducer", node, key, text)


def declared(drawn: Drawn, key: str, channel: BaseChannel[Any, Any, Any]) -> Any:
    """The class of a key's values."""
    return plain_type(getattr(channel, "typ", None)) or type(getattr(channel, "value", None))


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
    return kind in (list, tuple) and doubles(channel.operator, kind)


def _overwritten(drawn: Drawn, key: str, writers: list[str]) -> Finding | None:
    """A key that others join, in a state that keeps the last node's alone."""
    for number, one in enumerate(writers):
        for other in writers[number + 1 :]:
            if drawn.steps.together(one, other):
                node, who = drawn.at(other), f"'{drawn.at(one)}' and '{drawn.at(other)}'"
                bare = isinstance(drawn.channels[key], LastValue)
                why = "which has no reducer in this state" if bare else "which has a reducer that keeps one of two"
                text = f"{who} both write '{key}', {why}, so the later one's stands alone"
                return Finding("wrong-reducer", node, key, f"{text}: give it {REDUCER}")
    return None
