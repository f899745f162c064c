"""Which way samples took through a graph: of each conditional edge the share, and what never ran."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import networkx as nx

from judgegraph.report.drawing.figure import END, START, Edge, Figure
from judgegraph.runs.run import Run
from judgegraph.trace.span import RecordedTrace, Span
from judgegraph.traces.rank import NodeTime, add_times, places_of
from judgegraph.traces.read import latest_traces, spans_of
from judgegraph.views.amounts import percent

FINE = frozenset(("ok", "skipped", "abstained"))
Way = tuple[str, str]  # places of two nodes, "weigh/judge"; START and END by LangGraph's names


@dataclass
class Traffic:
    """Samples by conditional edge.

    Attributes:
        taken: edge -> samples that took it. reached: place -> samples in which it came to its end, so that it chose.
        ran: places that ran in any sample. samples: whose journeys were read.
    """

    taken: Counter[Way] = field(default_factory=Counter)
    reached: Counter[str] = field(default_factory=Counter)
    ran: set[str] = field(default_factory=set)
    samples: int = 0

    def share(self, way: Way) -> str:
        """Such as "62 %"; "" where nothing chose."""
        return percent(self.taken[way], self.reached[way[0]]) if self.reached[way[0]] else ""


def times_and_traffic(run: Run, figure: Figure | None) -> tuple[dict[str, NodeTime], Traffic]:
    """(`node_times`, traffic), of one reading of the spans, which say when each node ran, not who sent it there.

    A visit follows from the last node that leads there and had ended; a choice that led nowhere led to END, where it
    may lead there. Of two nodes that ran side by side and lead to the same one, both count.
    """
    times: dict[str, NodeTime] = {}

    def standing() -> Iterator[RecordedTrace]:
        for journey, stands in latest_traces(spans_of(run)):
            add_times(times, journey, stands)
            if stands:
                yield journey

    return times, traffic_of(standing(), figure)


def traffic_of(journeys: Iterable[RecordedTrace], figure: Figure | None) -> Traffic:
    """The same of some samples' journeys; without a figure nothing chose."""
    found, levels = Traffic(), [_Level.of(one) for one in figure.everywhere()] if figure is not None else []
    for journey in journeys:
        found.samples += 1
        _add(found, journey, levels)
    return found


@dataclass(frozen=True)
class _Level:
    """A graph or subgraph: its path, the sources of each target, its choices, and which node leads to which."""

    path: str
    sources: Mapping[str, tuple[str, ...]]
    choices: Mapping[str, tuple[tuple[str, ...], ...]]
    after: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, figure: Figure) -> _Level:
        graph: nx.DiGraph[str] = nx.DiGraph((edge.source, edge.target) for edge in figure.edges)
        sources: dict[str, list[str]] = {}
        for edge in figure.edges:
            sources.setdefault(edge.target, []).append(edge.source)
        choices = {
            node: tuple(tuple(edge.target for edge in choice.edges) for choice in some)
            for node, some in figure.choices.items()
        }
        after = {node: frozenset(nx.descendants(graph, node)) for node in graph}
        once = {target: tuple(dict.fromkeys(some)) for target, some in sources.items()}
        return cls(figure.path, once, choices, after)


def _add(found: Traffic, journey: RecordedTrace, levels: Iterable[_Level]) -> None:
    """One journey: each edge counts once, however often it was taken."""
    places = places_of(journey)
    around = _around(journey)
    found.ran |= {place for span, place in zip(journey.spans, places, strict=True) if span.kind == "node"}
    taken: set[Way] = set()
    reached: set[str] = set()
    for level in levels:
        inside: dict[int, dict[str, list[Span]]] = {}
        for span in journey.spans:
            own = places[span.id].removeprefix(level.path)
            if span.kind == "node" and places[span.id] == level.path + own and own in level.after:
                inside.setdefault(around[span.id], {}).setdefault(own, []).append(span)
        for frame, visits in inside.items():
            _within(level, {**visits, START: [replace(journey.spans[frame], ms=0.0, status="ok")]}, taken, reached)
    found.taken.update(taken)
    found.reached.update(reached)


def _around(journey: RecordedTrace) -> list[int]:
    """Of each span the number of the node, or of the whole journey, that it is within."""
    found: list[int] = []
    for span in journey.spans:
        parent = span.parent
        if parent is None:
            found.append(span.id)
        else:
            found.append(parent if parent == 0 or journey.spans[parent].kind == "node" else found[parent])
    return found


def _within(level: _Level, visits: Mapping[str, list[Span]], taken: set[Way], reached: set[str]) -> None:
    led: set[tuple[str, int, str]] = set()  # source, number of its visit, target
    for target, some in visits.items():
        for visit in some if target != START else ():
            led |= {(name, source.id, target) for name, source in _causes(level, visits, target, visit)}
    for source, choices in level.choices.items():
        ended = [visit for visit in visits.get(source, ()) if visit.status in FINE]
        if ended:
            reached.add(level.path + source)
        for targets in choices:
            for visit in ended:
                ways = [target for target in targets if (source, visit.id, target) in led]
                if not ways and END in targets:
                    ways = [END]
                taken |= {(level.path + source, level.path + target) for target in ways}


def _causes(
    level: _Level, visits: Mapping[str, list[Span]], target: str, visit: Span
) -> Sequence[tuple[str, Span]]:  # fmt: skip
    """The visits that it follows from: of each node that leads there the last that had ended, the nearest ones."""
    last: dict[str, Span] = {}
    for name in level.sources.get(target, ()):
        ended = [one for one in visits.get(name, ()) if one.start + one.ms <= visit.start and one is not visit]
        if ended:
            last[name] = max(ended, key=lambda one: one.start)
    return [
        (name, one)
        for name, one in last.items()
        if not any(
            other.start >= one.start + one.ms and later in level.after[name]
            for later, other in last.items()
            if later != name
        )
    ]


def with_shares(figure: Figure, found: Traffic) -> Figure:
    """The figure with the share of samples at each conditional edge, behind what it says already."""

    def shared(edge: Edge) -> Edge:
        share = found.share((figure.path + edge.source, figure.path + edge.target)) if edge.conditional else ""
        return replace(edge, label=f"{edge.label} {share}".strip()) if share else edge

    nodes = {
        name: node if node.inside is None else replace(node, inside=with_shares(node.inside, found))
        for name, node in figure.nodes.items()
    }
    choices = {
        name: tuple(replace(choice, edges=tuple(map(shared, choice.edges))) for choice in some)
        for name, some in figure.choices.items()
    }
    return replace(figure, nodes=nodes, edges=tuple(map(shared, figure.edges)), choices=choices)


def marks_of(figure: Figure, found: Traffic, failed: Iterable[str]) -> dict[str, str]:
    """Place, or "source > target" of an edge -> "failed" or "idle": what never ran, and what no sample took."""
    marks = dict.fromkeys(failed, "failed")
    for one in figure.everywhere():
        for name in one.nodes:
            if name not in (START, END) and one.path + name not in found.ran:
                marks[one.path + name] = "idle"
        for edge in one.edges:
            way = one.path + edge.source, one.path + edge.target
            unused = edge.conditional and not found.taken[way]
            ends = {end for end, name in zip(way, (edge.source, edge.target), strict=True) if name not in (START, END)}
            if unused or not ends <= found.ran:
                marks[" > ".join(way)] = "idle"
    return marks
