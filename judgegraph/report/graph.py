"""The graph of a run: drawn, with what each node took beside it, and the same as a table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import networkx as nx

from judgegraph.report.drawing.figure import END, START, Choice, Edge, Figure, Node
from judgegraph.report.drawing.render import graph_svg
from judgegraph.runs.run import Run
from judgegraph.trace.record import RecordedTrace, Span
from judgegraph.traces.read import NodeTime, add_times, latest_traces, places_of, spans_of, times_of_sample, within
from judgegraph.views.blocks import (
    Block,
    Grid,
    Para,
    Picture,
    Section,
    cost,
    count_text,
    counted,
    duration,
    endings,
    in_line,
    money,
    percent,
)

# Which way samples took through a graph: of each conditional edge the share, and what never ran.


FINE = frozenset(("ok", "skipped", "abstained"))
Hop = tuple[str, str]  # places of two nodes, "weigh/judge"; START and END by LangGraph's names


@dataclass
class Traffic:
    """Samples by conditional edge.

    Attributes:
        taken: edge -> samples that took it. reached: place -> samples in which it came to its end, so that it chose.
        ran: places that ran in any sample. samples: whose journeys were read.
    """

    taken: Counter[Hop] = field(default_factory=Counter)
    reached: Counter[str] = field(default_factory=Counter)
    ran: set[str] = field(default_factory=set)
    samples: int = 0

    def share(self, way: Hop) -> str:
        """Such as "62 %"; "" where nothing chose."""
        return percent(self.taken[way], self.reached[way[0]]) if self.reached[way[0]] else ""


def times_and_traffic(run: Run, figure: Figure | None) -> tuple[dict[str, NodeTime], Traffic]:
    """(`node_times`, traffic), of one reading of the spans, which say when each node ran, not who sent it there.

    A visit follows from the last node that leads there and had ended; a choice that led nowhere led to END, where it
    may lead there. Of two nodes that ran side by side and lead to the same one, both count.
    """
    times: dict[str, NodeTime] = {}

    def latest() -> Iterator[RecordedTrace]:
        for journey, stands in latest_traces(spans_of(run)):
            add_times(times, journey, stands)
            if stands:
                yield journey

    return times, traffic_of(latest(), figure)


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
    taken: set[Hop] = set()
    reached: set[str] = set()
    for level in levels:
        inside: dict[int, dict[str, list[Span]]] = {}
        for span in journey.spans:
            own = places[span.id].removeprefix(level.path)
            if span.kind == "node" and places[span.id] == level.path + own and own in level.after:
                inside.setdefault(around[span.id], {}).setdefault(own, []).append(span)
        for frame, visits in inside.items():
            _inside(level, {**visits, START: [replace(journey.spans[frame], ms=0.0, status="ok")]}, taken, reached)
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


def _inside(level: _Level, visits: Mapping[str, list[Span]], taken: set[Hop], reached: set[str]) -> None:
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


# The graph of a run, drawn from what its manifest says of it: the graph itself is not there any more.


_LINE = re.compile(r"(.+?) -> (.+?)(?: by (.+))?", re.S)
_END = re.compile(r"(.+?)(?: \((.+)\))?", re.S)
ENDS = {"START": START, "END": END}
COMMAND = "its command"  # what a line names where a node itself chooses; each of its ends has a line of its own
Way = tuple[str, tuple[Edge, ...]]  # what chooses, "" where nothing does, and the edges of one line


def run_figure(manifest: Mapping[str, Any]) -> Figure | None:
    """Nodes, edges and subgraphs; None where the manifest does not tell them.

    A name may hold what stands between names in those lines, such as " -> ": what cannot be read so is left out.
    """
    configuration = manifest.get("configuration")
    lines = configuration.get("edges") if isinstance(configuration, Mapping) else None
    if not isinstance(configuration, Mapping) or not isinstance(lines, list):
        return None
    keys = [key.removeprefix("nodes.") for key in configuration if key.startswith("nodes.")]
    known = set(keys)
    places = [place for place in keys if not any(place[:at] in known for at, c in enumerate(place) if c == ".")]
    lines = [str(line) for line in lines]
    waits = {line.removesuffix(" awaits all") for line in lines if line.endswith(" awaits all")}
    ways = list(_ways(lines, frozenset(map(str, manifest.get("fan_outs") or ()))))  # older manifests do not tell them
    return _figure(str(manifest.get("method") or "graph"), "", places, ways, waits)


def _figure(name: str, path: str, places: list[str], ways: list[Way], waits: set[str]) -> Figure | None:
    """The nodes directly below a path, START first and END last; None where there are none."""
    parents = {place: _parent(place, places) for place in places}
    nodes: dict[str, Node] = {}
    for place in places:
        if parents[place] == path:
            own = place.removeprefix(path)
            nodes[own] = Node(
                own, "waits for all" if place in waits else "", _figure(own, f"{place}/", places, ways, waits)
            )
    if not nodes:
        return None
    every = {START: Node(START), **nodes, END: Node(END)}
    mine = [(by, tuple(_within(edges, path, every))) for by, edges in ways]
    edges = tuple(edge for _, some in mine for edge in some)
    ends = {end for edge in edges for end in (edge.source, edge.target)} | set(nodes)
    shown = {end: node for end, node in every.items() if end in ends}
    return Figure(name, path, shown, edges, _choices(mine, list(shown)))


def _within(edges: Iterable[Edge], path: str, known: Mapping[str, Node]) -> Iterator[Edge]:
    """Those between nodes directly below a path, by the nodes' own names."""
    for edge in edges:
        if edge.source.startswith(path) and edge.target.startswith(path):
            own = replace(edge, source=edge.source.removeprefix(path), target=edge.target.removeprefix(path))
            if own.source in known and own.target in known:
                yield own


def _choices(ways: Iterable[Way], order: list[str]) -> dict[str, tuple[Choice, ...]]:
    """Of each node its conditions, then its command; whether one may take several edges a manifest does not tell."""
    found: dict[str, list[list[Edge]]] = {}
    commands: dict[str, list[Edge]] = {}
    for by, edges in ways:
        if by == COMMAND and edges:
            commands.setdefault(edges[0].source, []).extend(edges)
        elif by and edges:
            found.setdefault(edges[0].source, []).append(list(edges))
    for source, all_ends in commands.items():
        found.setdefault(source, []).append(all_ends)
    return {source: tuple(_choice(edges, order) for edges in some) for source, some in found.items()}


def _choice(edges: Iterable[Edge], order: list[str]) -> Choice:
    """Its targets in the order of the nodes, each once."""
    labels: dict[str, Edge] = {}
    for edge in edges:
        before = labels.get(edge.target)
        captions = [one.label for one in (before, edge) if one is not None and one.label]
        labels[edge.target] = replace(edge, label=" / ".join(dict.fromkeys(captions)))
    return Choice(tuple(sorted(labels.values(), key=lambda edge: order.index(edge.target))))


def _parent(place: str, places: list[str]) -> str:
    """What stands before a node's own name: the longest other place with its "/", or "" of a node of the graph."""
    return max((f"{other}/" for other in places if place.startswith(f"{other}/")), key=len, default="")


def _ways(lines: Iterable[str], fan_outs: frozenset[str]) -> Iterator[Way]:
    """Of lines such as "a -> b", "a and b -> c", "a -> b or c (low) by any_low"; fan_outs: as `topology` has them."""
    for line in lines:
        found = _LINE.fullmatch(line)
        if found is None:
            continue
        left, right, chooses = found.groups()
        sources = [left] if chooses else left.split(" and ")
        edges: list[Edge] = []
        for one in right.split(" or ") if chooses else [right]:
            if (end := _END.fullmatch(one)) is None or one == "any":
                continue
            target, label = (end[1], end[2] or "") if chooses else (one, "")
            edges += [
                Edge(_named(a), _named(target), bool(chooses), label, bool(chooses) and f"{a} -> {target}" in fan_outs)
                for a in sources
            ]
        yield chooses or "", tuple(edges)


def _named(place: str) -> str:
    """As LangGraph calls where a graph starts and ends: "weigh/START" is "weigh/__start__"."""
    path, _, name = place.rpartition("/")
    known = ENDS.get(name, name)
    return f"{path}/{known}" if path else known


HEAD = ("Node", "Runs", "Model calls", "Paid", "From ledger", "Shared", "Tokens", "Cost", "Total time", "Median time",
        "Failed runs", "Failed calls")  # fmt: skip
SHARED = HEAD.index("Shared")
WAITING = (
    "A time is from a node's start to its end. Waiting is in it, for a reply or for a turn among all that runs at "
    "once, so that a node of plain code takes longer in a busy run. Nodes run side by side, for many samples at once, "
    "so their total time exceeds the run's. A median is told within 2.5 %."
)
UNTRACED = (
    "This run was not traced, so it is not known how long each node took. `judgegraph run` without --no-trace tells it."
)


def graph_part(run: Run, read: tuple[dict[str, NodeTime], Traffic] | None = None) -> Section:
    """The section; a run that was not traced has its calls by node.

    Args:
        read: as `times_and_traffic` gives them, where the spans were read already.
    """
    return Section("graph", "Graph", tuple(_blocks(run, read)))


def _blocks(run: Run, read: tuple[dict[str, NodeTime], Traffic] | None) -> Iterator[Block]:
    figure = run_figure(run.manifest)
    times, went = read or times_and_traffic(run, figure)
    total = {place: within(times, place) if place else times[place] for place in times}
    if figure is not None:
        badges = {place: _badge(one) for place, one in total.items() if place}
        failed = [place for place, one in total.items() if place and one.failures]
        marks = marks_of(figure, went, failed) if went.samples else {}
        shown = with_shares(figure, went)
        svg = graph_svg(shown, badges, standalone=False, prefix="run", marks=marks)
        same = "; the table below says the same of each node" if times else ""
        yield Picture(svg, f"The graph of {in_line(figure.name, 80)}{same}.")
        if legend := _legend(shown, marks, went):
            yield Para(legend)
    if times:
        yield _grid(total)
        yield Para(
            f"{WAITING} Calls that were refused before they were sent, as by a budget, are no model calls."
            f"{_shared(times)} A run of a node failed where it raised, or wrote anything that failed; a call, where "
            f"no reply of it could be used, also where the next one could.{_twice(times)}"
        )
    else:
        yield Para(UNTRACED)
        if rows := list(_billed(run.manifest.get("calls"))):
            yield Grid("What each node asked for", ("Node", "Paid calls", "Calls not paid for", "Tokens", "Cost"),
                       tuple(rows), frozenset(range(1, 5)))  # fmt: skip


def sample_graph(manifest: Mapping[str, Any], journey: RecordedTrace, prefix: str = "way") -> Picture | None:
    """The graph with the way that one sample took: what ran with its calls and time, what failed, the rest dimmed.

    Args:
        prefix: of the drawing's ids; two in one page need two.
    """
    figure = run_figure(manifest)
    if figure is None:
        return None
    times = times_of_sample(journey)
    total = {place: within(times, place) for place in times if place}
    failed = [place for place, one in total.items() if one.failures]
    marks = marks_of(figure, traffic_of([journey], figure), failed)
    svg = graph_svg(figure, {p: _steps(t) for p, t in total.items()}, standalone=False, prefix=prefix, marks=marks)
    idle = [place for place, mark in marks.items() if mark == "idle" and " > " not in place]
    said = [f"This sample ran {in_line(', '.join(total), 400) or 'no node'}."]
    said += [f"Failed: {in_line(', '.join(failed), 400)}."] if failed else []
    said += [f"Dimmed, as the sample did not come there: {in_line(', '.join(idle), 400)}."] if idle else []
    return Picture(svg, " ".join(said))


def _steps(one: NodeTime) -> tuple[str, ...]:
    """What a node took for one sample."""
    often = f"{count_text(one.visits)} times, " if one.visits > 1 else ""
    calls = _calls(one)
    asked = (f"{counted(round(calls), 'call')}",) if calls else ()
    failed = (f"failed: {endings(one.statuses)}",) if one.failures else ()
    return (*failed, *asked, f"{often}{duration(one.ms)}")


def _legend(figure: Figure, marks: Mapping[str, str], went: Traffic) -> str:
    """What the shares and the colours mean, of those that are there."""
    parts = []
    if any(went.share((f.path + edge.source, f.path + edge.target))
           for f in figure.everywhere() for edge in f.edges if edge.conditional):  # fmt: skip
        parts.append(
            f"A share at a dashed edge is of the samples (of {went.samples:,}) in which the node before it came to its "
            "end; it is read from the times at which nodes ran. Where a node may take several edges, shares add up to "
            "more than 100 %."
        )
    if "failed" in marks.values():
        parts.append("A red frame: runs of this node failed.")
    if idle := [place for place, mark in marks.items() if mark == "idle" and " > " not in place]:
        parts.append(f"Dimmed, as it never ran: {in_line(', '.join(idle), 400)}.")
    elif "idle" in marks.values():
        parts.append("A dimmed edge was never taken.")
    return " ".join(parts)


def _badge(one: NodeTime) -> tuple[str, ...]:
    """At most three short lines: how often, how long, what for."""
    found = [f"{counted(round(one.visits), 'run')}" + (f", {count_text(one.failures)} failed" if one.failures else "")]
    if calls := _calls(one):
        cost = f" · {money(one.usd)}" if one.usd else ""
        found.append(f"{counted(round(calls), 'call')}{cost}")
    return (*found, f"{duration(one.median)} median") if one.median is not None else tuple(found)


def _grid(times: Mapping[str, NodeTime]) -> Grid:
    """A line per node; what is shared only where anything is."""
    shared = any(one.shared for one in times.values())
    keep = [at for at in range(len(HEAD)) if at != SHARED or shared]
    rows = tuple(tuple(row[at] for at in keep) for row in _rows(times))
    numeric = frozenset(range(1, len(keep)))
    return Grid("Each node, from its start to its end", tuple(HEAD[at] for at in keep), rows, numeric)


def _rows(times: Mapping[str, NodeTime]) -> Iterator[tuple[str, ...]]:
    for place, one in sorted(times.items(), key=lambda pair: not pair[0]):
        tokens = one.prompt_tokens + one.completion_tokens
        calls = _calls(one)
        asked = [count_text(n) if calls else "" for n in (calls, one.paid, one.found, one.shared, tokens)]
        price = cost(one.usd, one.paid, one.unpriced) if one.paid else ""
        yield (in_line(place, 120) or "outside of all nodes", count_text(one.visits), *asked, price, duration(one.ms),
               duration(one.median), _failed(one), count_text(one.failed_calls) if one.calls else "")  # fmt: skip


def _failed(one: NodeTime) -> str:
    """How many runs failed, and how."""
    return f"{count_text(one.failures)} ({endings(one.statuses)})" if one.failures else "0"


def _calls(one: NodeTime) -> int:
    """Those that were paid for, found or at least sent."""
    return one.calls - one.unsent


def _shared(times: Mapping[str, NodeTime]) -> str:
    if not any(one.shared for one in times.values()):
        return ""
    return " A shared call waited for the same call of another sample, which paid for it."


def _twice(times: Mapping[str, NodeTime]) -> str:
    outer = [place for place in times if place and any(other.startswith(f"{place}/") for other in times)]
    return " What nodes within a node asked for counts in both." if outer else ""


def _billed(calls: object) -> Iterator[tuple[str, ...]]:
    nodes = calls.get("by_node") if isinstance(calls, Mapping) else None
    for place, bill in nodes.items() if isinstance(nodes, Mapping) else ():
        tokens = bill.get("prompt_tokens", 0) + bill.get("completion_tokens", 0)
        asked = count_text(bill.get("calls")), count_text(bill.get("found")), count_text(tokens)
        paid, unpriced = bill.get("calls") or 0, bill.get("unpriced") or 0
        yield in_line(place, 120), *asked, cost(bill.get("usd") or 0.0, paid, unpriced) if paid else ""
