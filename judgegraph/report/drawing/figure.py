"""What is drawn of a graph: its nodes, its edges, and the graphs within its nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from judgegraph.errors import ConfigError, one_line

if TYPE_CHECKING:
    from judgegraph.wiring.drawn import Drawn, Part
    from judgegraph.wiring.functions import Way

START, END = "__start__", "__end__"  # as LangGraph calls them
NAMES = {START: "START", END: "END"}
LONGEST = 60  # characters of a note: it stands on one line of a box


@dataclass(frozen=True)
class Edge:
    """An arrow; `label` says when a conditional one is taken, `sends` that it may be taken many times at once."""

    source: str
    target: str
    conditional: bool = False
    label: str = ""
    sends: bool = False

    @property
    def caption(self) -> str:
        """What stands beside it."""
        return " ".join(part for part in (self.label, "× n" if self.sends else "") if part)


@dataclass(frozen=True)
class Choice:
    """One condition, or command, at a node: the edges that it decides on; `several` says that it may take many."""

    edges: tuple[Edge, ...]
    several: bool = False


@dataclass(frozen=True)
class Node:
    """A node; `note` says what it waits for, `inside` is its graph where it is a subgraph."""

    name: str
    note: str = ""
    inside: Figure | None = None


@dataclass(frozen=True, eq=False)
class Figure:
    """A graph as a picture shows it.

    Attributes:
        name: of the graph. path: what stands before its nodes' names, "weigh/" within a subgraph.
        nodes: by name as they were added, START first and END last. edges: in the order of the nodes, each pair once.
        choices: node -> its conditions, each of which decides for itself.
    """

    name: str
    path: str
    nodes: Mapping[str, Node]
    edges: tuple[Edge, ...]
    choices: Mapping[str, tuple[Choice, ...]] = field(default_factory=dict)

    def everywhere(self) -> Iterator[Figure]:
        """It and all graphs within it."""
        yield self
        for node in self.nodes.values():
            if node.inside is not None:
                yield from node.inside.everywhere()


def figure_of(graph: Any) -> Figure:
    """Of a compiled graph or a StateGraph.

    Raises:
        ConfigError: it is neither.
    """
    if isinstance(graph, Figure):
        return graph
    from langgraph.graph import StateGraph
    from langgraph.pregel import Pregel

    if isinstance(getattr(graph, "builder", graph), StateGraph):
        from judgegraph.wiring.drawn import drawn

        return _figure(drawn(graph), graph, graph.get_name() if isinstance(graph, Pregel) else "graph")
    if isinstance(graph, Pregel):
        return _drawn_by_graph(graph)
    raise ConfigError(f"a drawing shows a StateGraph or a compiled graph, got {one_line(type(graph).__name__)}")


def _figure(read: Drawn, graph: Any, name: str) -> Figure:
    choices = _choices(read, getattr(graph, "builder", graph))
    found = [Edge(a, b) for a, b in read.edges]
    found += [Edge(a, end) for many, end in read.joins for a in many]
    single = [*found[: len(read.edges)], *(e for some in choices.values() for choice in some for e in choice.edges)]
    nodes = [_node(part, _awaited(part.name, read, single)) for part in read.parts.values()]
    return _complete(name, read.path, nodes, found, choices)


def _node(part: Part, awaited: str) -> Node:
    inside = _figure(part.inside, part.runs, part.name) if part.inside is not None else None
    return Node(part.name, "waits for all" if part.defer else awaited, inside)


def _awaited(name: str, read: Drawn, single: Iterable[Edge]) -> str:
    """What a node waits for; where there are several ways to it, each by name."""
    joins = [sorted(many) for many, end in read.joins if end == name]
    alone = list(dict.fromkeys(edge.source for edge in single if edge.target == name))
    if not joins:
        return ""
    if len(joins) == 1 and not alone:
        return "waits for both" if len(joins[0]) == 2 else f"waits for all {len(joins[0])}"
    named = [" and ".join(map(name_of, many)) for many in (*joins, *([source] for source in alone))]
    return one_line(f"waits for {', or '.join(named)}", LONGEST)


def _choices(read: Drawn, builder: Any) -> dict[str, tuple[Choice, ...]]:
    """Of each node its conditions as they were added, then its command."""
    found = {}
    for source, ways in read.ways.items():
        branches = [branch.ends or {} for branch in builder.branches.get(source, {}).values()]
        branches_of = [*branches, *({} for _ in ways[len(branches) :])]
        found[source] = tuple(_choice(way, ends) for way, ends in zip(ways, branches_of, strict=True))
    return found


def _choice(way: Way, answers: Mapping[Any, str]) -> Choice:
    """An edge's label is what is answered for it, where that has another name than the node."""
    labels: dict[str, list[str]] = {}
    for key, end in answers.items():
        if str(key) not in (end, NAMES.get(end)):
            labels.setdefault(end, []).append(str(key))
    edges = (Edge(way.source, end, True, " / ".join(labels.get(end, ())), end in way.sent) for end in way.ends)
    return Choice(tuple(edges), several=any(len(choice.to) > 1 for choice in way.choices()))


def name_of(place: str) -> str:
    """A node's name for people, with the path before it; a node of one's own called START is quoted."""
    *path, last = place.split("/")
    quoted = f'"{last}"' if last in NAMES.values() else last
    return "/".join([*path, NAMES.get(last, quoted)])


def _complete(
    name: str, path: str, nodes: Iterable[Node], sure: list[Edge], choices: Mapping[str, tuple[Choice, ...]]
) -> Figure:  # fmt: skip
    """With START and END, each edge once, in the order of the nodes; where nothing leads on, a run ends."""
    edges = sure + [edge for some in choices.values() for choice in some for edge in choice.edges]
    known = {node.name: node for node in nodes}
    names = (*known, *(end for edge in edges for end in (edge.source, edge.target)))  # an unknown one is shown too
    inner = {n: known.get(n, Node(n)) for n in sorted(set(names) - {START, END}, key=_rank(known))}
    sources, targets = {edge.source for edge in edges}, {edge.target for edge in edges}
    edges = edges + [Edge(n, END) for n in inner if n in targets and n not in sources]
    ends = {END: Node(END)} if any(edge.target == END for edge in edges) else {}
    every = {START: Node(START)} | inner | ends
    place = {n: i for i, n in enumerate(every)}
    once: dict[tuple[int, int, bool], list[Edge]] = {}
    for edge in edges:
        once.setdefault((place[edge.source], place[edge.target], edge.conditional), []).append(edge)
    ordered = {a: tuple(_sorted(choice, place) for choice in some) for a, some in choices.items()}
    return Figure(name, path, every, tuple(_merged(once[key]) for key in sorted(once)), ordered)


def _sorted(choice: Choice, place: Mapping[str, int]) -> Choice:
    return replace(choice, edges=tuple(sorted(choice.edges, key=lambda edge: place[edge.target])))


def _merged(edges: list[Edge]) -> Edge:
    """Edges of one pair as one arrow."""
    label = " / ".join(dict.fromkeys(edge.label for edge in edges if edge.label))
    return replace(edges[0], label=label, sends=any(edge.sends for edge in edges))


def _rank(known: Mapping[str, Node]) -> Any:
    place = {name: i for i, name in enumerate(known)}
    return lambda name: (place.get(name, len(place)), name)


def _drawn_by_graph(graph: Any) -> Figure:
    """Of a graph that has no builder, such as a function with `@entrypoint`, what it says of itself."""
    drawn = graph.get_graph()
    edges = [Edge(e.source, e.target, e.conditional, str(e.data or "")) for e in drawn.edges]
    chosen: dict[str, tuple[Edge, ...]] = {}
    for edge in edges:
        if edge.conditional:
            chosen[edge.source] = (*chosen.get(edge.source, ()), edge)
    choices = {source: (Choice(some),) for source, some in chosen.items()}
    nodes = [Node(n) for n in drawn.nodes if n not in (START, END)]
    return _complete(graph.get_name(), "", nodes, [edge for edge in edges if not edge.conditional], choices)
