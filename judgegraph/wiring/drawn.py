"""A graph as it is drawn: its nodes with what they read and write, its edges, its joins; subgraphs within."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import networkx as nx
from langgraph.channels import BinaryOperatorAggregate
from langgraph.graph import END, START

from judgegraph.types import Asked, EvalState
from judgegraph.wiring.code import function_of
from judgegraph.wiring.own_functions import taken
from judgegraph.wiring.signatures import Keys, keys_of, reads_of, writes_of
from judgegraph.wiring.ways import Way, command_of, other_way, way_of

if TYPE_CHECKING:
    from judgegraph.wiring.steps import Steps

NOTHING: Keys = frozenset()
ASKED = frozenset().union(*keys_of(Asked))
VOCABULARY = frozenset().union(*keys_of(EvalState))


@dataclass(frozen=True)
class Part:
    """A node.

    Attributes:
        runs: the agent, function or compiled graph. inside: the drawn subgraph, None where it is none.
        reads, may_read: keys it must find, and may find. writes: keys it may write, None: not known.
        passes: keys that a subgraph hands back as it was given them.
        handed: all keys that LangGraph hands it; none where that is not known.
    """

    name: str
    runs: Any
    reads: Keys = NOTHING
    may_read: Keys = NOTHING
    writes: Keys | None = None
    passes: Keys = NOTHING
    inside: Drawn | None = None
    defer: bool = False
    handed: Keys = NOTHING


@dataclass(frozen=True, eq=False)
class Drawn:
    """A graph.

    Attributes:
        path: what stands before its nodes' names, "weigh/" within a subgraph. parts: its nodes by name.
        edges: pairs of names. joins: (all that are waited for, who waits). ways: conditional edges by source.
        channels: key -> LangGraph's channel. given: keys of its input; whole: these are all keys of its state.
        kept: keys of its output. declared: keys of its state, input and output, not those its nodes bring along.
        managed: keys that LangGraph fills, as the steps that are left. demanded: keys that its state requires.
        inner: it is a node of another graph, which gives it its input. sums_up: its output has a schema of its own.
        brought: keys that a run brings; None where it is not known who will run it. mapped: its state is a mapping.
    """

    path: str
    parts: dict[str, Part]
    edges: frozenset[tuple[str, str]]
    joins: tuple[tuple[frozenset[str], str], ...]
    ways: dict[str, tuple[Way, ...]]
    channels: dict[str, Any]
    given: Keys
    whole: bool
    kept: Keys
    declared: Keys
    managed: Keys = NOTHING
    demanded: Keys = NOTHING
    inner: bool = False
    sums_up: bool = False
    brought: Keys | None = None
    mapped: bool = True

    @cached_property
    def arrows(self) -> nx.DiGraph[str]:
        """All that leads from one node to another; an edge is `sure` where no condition decides on it."""
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from([START, END, *self.parts])
        for way in (way for ways in self.ways.values() for way in ways):
            graph.add_edges_from(((way.source, end) for end in way.ends), sure=False)
        graph.add_edges_from(self.edges, sure=True)
        graph.add_edges_from(((a, end) for many, end in self.joins for a in many), sure=True)
        return graph

    @cached_property
    def steps(self) -> Steps:
        """Every step that its runs may take."""
        from judgegraph.wiring.steps import explore

        return explore(self)

    def gives(self, key: str) -> bool:
        """Whether an output schema of its own names a key; that of a whole state names none."""
        return self.sums_up and key in self.kept

    @property
    def inputs(self) -> Keys:
        """Keys that are there at START when it runs by itself; of a whole state those that a run brings.

        Whoever calls it brings more: what its state requires, and keys of its own that no node writes.
        """
        if self.brought is not None:
            return self.brought
        if not self.whole:
            return self.given
        written = NOTHING.union(*(part.writes or NOTHING for part in self.parts.values()))
        return self.demanded | (self.given & (ASKED | (self.declared - VOCABULARY - written)))

    @cached_property
    def always(self) -> Keys:
        """Keys that are there before anybody writes them: LangGraph's, and those of its own that start out empty."""
        joined = {k for k, channel in self.channels.items() if _starts_empty(channel)}
        return self.managed | (joined - VOCABULARY)

    @cached_property
    def otherwise(self) -> Drawn | None:
        """The same graph, where conditions that may name one node or several do the other; None without any."""
        if not any(way.unsure for ways in self.ways.values() for way in ways):
            return None
        return replace(self, ways={source: tuple(map(other_way, ways)) for source, ways in self.ways.items()})

    def at(self, name: str) -> str:
        """A node's name for people."""
        return self.path + {START: "START", END: "END"}.get(name, name)

    def everywhere(self) -> Iterator[Drawn]:
        """It and all graphs within it."""
        yield self
        for part in self.parts.values():
            if part.inside is not None:
                yield from part.inside.everywhere()


def _starts_empty(channel: Any) -> bool:
    return isinstance(channel, BinaryOperatorAggregate) and channel.is_available()


def drawn(graph: Any, path: str = "", *, inner: bool = False) -> Drawn:
    """Of a StateGraph or a compiled graph."""
    builder = getattr(graph, "builder", graph)
    whole = builder.state_schema
    shown = {name: spec for name, spec in builder.nodes.items() if not spec.is_error_handler}
    parts = {name: _part(name, spec, whole, f"{path}{name}/") for name, spec in shown.items()}
    ways = {source: [way_of(source, b, shown) for b in named.values()] for source, named in builder.branches.items()}
    on = {a for a, _ in builder.edges} | {s for s, named in ways.items() if named}
    on |= {a for many, _ in builder.waiting_edges for a in many}
    for name, spec in shown.items():
        inside = parts[name].inside is not None  # of a graph within, only what it declares leads out of it
        if (not inside or spec.ends) and (way := command_of(name, parts[name].runs, spec.ends, shown, name not in on)):
            ways.setdefault(name, []).append(way)
    given, kept = (frozenset(builder.schemas[s]) for s in (builder.input_schema, builder.output_schema))
    joins = tuple((frozenset(many), end) for many, end in sorted(builder.waiting_edges) if end in shown)
    last = {(a, end) for many, end in builder.waiting_edges if end not in shown for a in many}  # nothing waits at END
    return Drawn(
        path=path, parts=parts, edges=frozenset(builder.edges | last), joins=joins,
        ways={source: tuple(found) for source, found in ways.items()}, channels=dict(builder.channels),
        given=given, whole=builder.input_schema is whole, kept=kept,
        declared=given | kept | frozenset(builder.schemas[whole]), managed=frozenset(builder.managed),
        demanded=keys_of(whole)[0] & given, inner=inner,
        mapped=hasattr(whole, "__total__"),
        sums_up=getattr(builder, "sums_up", builder.output_schema not in (whole, EvalState)),
    )  # fmt: skip


def _part(name: str, spec: Any, whole: Any, path: str) -> Part:
    runs = function_of(spec.runnable)
    if hasattr(runs, "builder"):
        return _subgraph(name, runs, spec.defer, path)
    if hasattr(runs, "ainvoke"):  # a chain, a tool node: nothing is known of it
        return Part(name, runs, defer=spec.defer)
    if isinstance(runs, type):  # in the place of an agent of that class
        return Part(name, runs, defer=spec.defer)
    needs, may = reads_of(runs, spec.input_schema, whole)
    handed = frozenset().union(*keys_of(spec.input_schema))
    if not needs and not may and handed:  # it is annotated with a whole state, or not at all
        needs = taken(runs).sure
    return Part(name, runs, needs, may, writes_of(runs, whole), defer=spec.defer, handed=handed)


def _subgraph(name: str, graph: Any, defer: bool, path: str) -> Part:
    from judgegraph.wiring.keys import needed

    inside = drawn(graph, path, inner=True)
    parts = inside.parts.values()
    written = frozenset(key for part in parts for key in (inside.kept if part.writes is None else part.writes))
    needs = needed(inside) & inside.given
    needs = needs & needed(inside.otherwise) if inside.otherwise else needs
    wanted = frozenset(key for part in parts for key in part.reads | part.may_read)
    writes = written & inside.kept
    return Part(
        name,
        graph,
        needs,
        (wanted & inside.given) - needs,
        writes,
        (inside.given & inside.kept) - writes,
        inside,
        defer,
    )
