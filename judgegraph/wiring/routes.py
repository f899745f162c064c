"""Routes: every node that a condition names, a fan-out sends to, or a command goes to is there."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import Enum
from typing import TYPE_CHECKING, Any

from langgraph.graph import END, START
from langgraph.types import Command, Send

from judgegraph.wiring.finding import Finding, listed
from judgegraph.wiring.flow import UNKNOWN
from judgegraph.wiring.source import COMPREHENSIONS, GROWING, QUIET, Source, source_of

if TYPE_CHECKING:
    from judgegraph.wiring.drawn import Drawn
    from judgegraph.wiring.ways import Way

DEPTH = 3  # of functions that give what another one gives
LISTS = (list, tuple, set, sorted)


@dataclass
class Targets:
    """Where code may lead.

    Attributes:
        names: what it gives: nodes, END, labels of a path map. sent: nodes that it sends to.
        whole: all of it could be seen. nothing: it may give None, which leads nowhere. outside: it may lead to a node
            of the graph around.
    """

    names: set[Any] = field(default_factory=set)
    sent: set[str] = field(default_factory=set)
    whole: bool = True
    nothing: bool = False
    outside: bool = False

    def add(self, values: Iterable[Any], *, sent: bool = False) -> None:
        """What was named."""
        for value in values:
            if isinstance(value, Enum) and isinstance(value, str):
                value = value.value
            if value is UNKNOWN or isinstance(value, dict | set):
                self.whole = False
            elif isinstance(value, list | tuple | frozenset):
                self.add(value, sent=sent)
            elif value is None:
                self.nothing = True
            else:
                (self.sent if sent else self.names).add(value)


def targets_of(function: Any) -> Targets:
    """Where a conditional edge's function may lead."""
    found = Targets()
    _returned(source_of(function), found, DEPTH)
    return found


def _returned(source: Source | None, found: Targets, depth: int) -> None:
    if source is None or source.yields or depth < 0:
        found.whole = False
        return
    for node in source.returned:
        if node is None:
            found.nothing = True
        else:
            _collect(source, node, found, depth)


def _collect(source: Source, node: ast.expr | None, found: Targets, depth: int) -> None:
    """What one expression may lead to."""
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        for one in node.elts:
            _collect(source, one, found, depth)
    elif isinstance(node, ast.Starred):
        _collect(source, node.value, found, depth)
    elif isinstance(node, ast.IfExp | ast.BoolOp | ast.BinOp):
        for one in _parts(node):
            _collect(source, one, found, depth)
    elif isinstance(node, COMPREHENSIONS) and not isinstance(node, ast.DictComp):
        _collect(source, node.elt, found, depth)
    elif isinstance(node, ast.Name) and node.id in source.assigned:
        _variable(source, node.id, found, depth)
    elif isinstance(node, ast.Call):
        _call(source, node, found, depth)
    else:
        found.add(source.values(node))


def _parts(node: ast.IfExp | ast.BoolOp | ast.BinOp) -> list[ast.expr]:
    """What an expression may come to: either side of it."""
    if isinstance(node, ast.BoolOp):
        return node.values
    return [node.body, node.orelse] if isinstance(node, ast.IfExp) else [node.left, node.right]


def _variable(source: Source, name: str, found: Targets, depth: int) -> None:
    """A name of its own: what is assigned to it, and what is put into the list that it stands for."""
    for one in source.assigned[name] if depth > 0 else [None]:
        if one is None:
            found.whole = False
        else:
            _collect(source, one, found, depth - 1)
    for call in source.calls_on(name):
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if method in GROWING and call.args:
            _collect(source, call.args[0], found, depth - 1)
        elif method not in QUIET:
            found.whole = False


def _call(source: Source, node: ast.Call, found: Targets, depth: int) -> None:
    called = source.called(node)
    if called is Send:
        first = next(iter(node.args), None) or next((k.value for k in node.keywords if k.arg == "node"), None)
        found.add(source.values(first), sent=True)
    elif called in LISTS and len(node.args) == 1:
        _collect(source, node.args[0], found, depth)
    elif called is UNKNOWN or isinstance(called, type):
        found.add(source.values(node))
    else:
        _returned(source_of(called), found, depth - 1)


def gone_to(function: Any) -> Targets:
    """Where a node's commands may lead: `Command(goto=...)`, but not those to a graph around."""
    source, found = source_of(function), Targets()
    if source is None:
        return Targets(whole=False)
    calls = [node for node in source.inside if isinstance(node, ast.Call) and source.called(node) is Command]
    found.whole = bool(calls)
    for node in calls:
        given = {word.arg: word.value for word in node.keywords}
        found.outside = found.outside or "graph" in given
        if "graph" not in given and "goto" in given:
            _collect(source, given["goto"], found, DEPTH)
    return found


def lost(drawn: Drawn) -> Iterator[Finding]:
    """Nodes that are led to and are not there; LangGraph ends such a path without a word, or with a KeyError."""
    known = [*drawn.parts]
    edges = {(a, b) for a, b in drawn.edges} | {(a, end) for many, end in drawn.joins for a in many}
    for source, end in sorted(edges):
        for name in {source, end} - {START, END, *known}:
            other = end if name == source else source
            call = f"add_edge('{source}', '{end}')"
            yield _lost(drawn, other if other in known else name, f"the edge {call} names", name, known)
    for source, ways in sorted(drawn.ways.items()):
        for way in ways:
            yield from _of_way(drawn, source, way, known)


def _of_way(drawn: Drawn, source: str, way: Way, known: list[str]) -> Iterator[Finding]:
    what = "the command of" if way.goto else "the conditional edge from"
    where = f"{what} '{drawn.at(source)}'"
    for name in sorted({end for end in way.ends if end != END} - set(known)):
        yield _lost(drawn, source, f"{where} lists", name, known)
    if way.function is None or hasattr(way.function, "outcomes"):
        return
    found = gone_to(way.function) if way.goto else targets_of(way.function)
    for name in sorted(found.sent - {*known, *way.ends}, key=str):
        yield _lost(drawn, source, f"{where} sends to", name, known)
    labels = None if way.labels is None or way.goto else {*way.labels}
    allowed = {*known, END} if labels is None else labels
    for name in sorted((n for n in found.names - allowed if n not in way.ends or labels is not None), key=str):
        if labels is None:
            yield _lost(drawn, source, f"{where} leads to", name, known)
        else:
            yield _unlisted(drawn, source, where, name, labels)
    if found.nothing and not way.goto:
        text = f"{where} may give None, which is no node: return END where a run is to end there"
        yield Finding("unknown-node", drawn.at(source), "", text)


def _lost(drawn: Drawn, source: str, where: str, name: Any, known: list[str]) -> Finding:
    close = get_close_matches(str(name), known, 1)
    cure = f"did you mean '{close[0]}'?" if close else f"add_node('{name}', ...), or name one of {_listed(known)}"
    return Finding("unknown-node", drawn.at(source), "", f"{where} '{name}', and there is no such node: {cure}")


def _unlisted(drawn: Drawn, source: str, where: str, name: Any, labels: Iterable[Any]) -> Finding:
    shown = sorted(map(_shown, labels))
    close = get_close_matches(_shown(name), shown, 1)
    cure = f"did you mean '{close[0]}'?" if close else f"add it there, or give one of {_listed(shown)}"
    text = f"{where} may give '{_shown(name)}', which its list of targets does not hold: {cure}"
    return Finding("unknown-node", drawn.at(source), "", text)


def _shown(label: Any) -> str:
    return "END" if label == END else str(label)


def _listed(names: Iterable[str]) -> str:
    shown = [*names]
    return listed(shown[:8]) + (" ..." if len(shown) > 8 else "")
