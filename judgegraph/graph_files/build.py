"""The parts of a file put together: nodes made, edges drawn, the wiring looked at, the graph compiled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import is_dataclass
from typing import Any

from langgraph.graph import END, START, StateGraph

from judgegraph import registry
from judgegraph.compose.node import as_node, keys, schema, vocabulary
from judgegraph.errors import ConfigError, one_line
from judgegraph.graph_files import arrows as drawn
from judgegraph.graph_files.around import Around
from judgegraph.graph_files.arrows import Branch, arrows
from judgegraph.graph_files.conditions import condition_at
from judgegraph.graph_files.joins import Joins, joins
from judgegraph.graph_files.nodes import node_at, stage_of
from judgegraph.graph_files.read import Parts
from judgegraph.graph_files.route import Route
from judgegraph.graph_files.shape import hint
from judgegraph.graph_files.source import GraphFileError, Place
from judgegraph.graph_files.spec import NodeSpec
from judgegraph.graph_files.use import bare
from judgegraph.types import Asked, EvalState
from judgegraph.wiring import findings

REVIEWS = ("critique", "refine")  # helpers with a critic
INPUTS = tuple(Asked.__annotations__)  # no node's answer, even where one says that it writes any key
TWICE = "let those lead to one node first, or put one part into a graph file of its own"
ENDS = {drawn.START: START, drawn.END: END}


def built(parts: Parts, around: Around) -> Any:
    """The compiled graph.

    Raises:
        GraphFileError: whatever is wrong, all of it.
    """
    source = parts.source
    nodes = _nodes(parts, around)
    paths: dict[str, Place] = {name: ("nodes", name) for name in parts.nodes}
    before = len(source.faults)
    found = arrows(source, ((("edges", place), edge) for place, edge in parts.edges.items()), parts.nodes)
    whole = len(source.faults) == before and len(parts.edges) == len(parts.head.edges)
    joined = joins(source, found, paths) if whole else Joins()
    routes = {name: _route(around, nodes, name, branches) for name, branches in found.choices.items()}
    outputs = _outputs(parts, nodes)
    source.settle()
    graph: Any = _drawn(nodes, joined, routes, outputs)
    graph.sums_up = parts.head.outputs is not None  # else its output is whatever its nodes write
    made = graph.compile(name=parts.head.name)
    _look(parts, graph, made)
    return made


def critics(parts: Parts) -> list[str]:
    """Names of the nodes whose agent is a critic, or a helper with one: what `critic=` can take the place of."""
    return [name for name, node in parts.nodes.items() if node is not None and _is_critic(node)]


def _is_critic(node: str | NodeSpec) -> bool:
    use = node if isinstance(node, str) else node.use
    if bare(use) in REVIEWS:
        return True
    try:
        return registry.find(use)[0] == "critic"
    except ConfigError:
        return False


def _nodes(parts: Parts, around: Around) -> dict[str, Any]:
    """Name -> node, in the order of the file; critics are made first, as who rectifies goes by their name."""
    own = critics(parts)
    made: dict[str, Any] = dict.fromkeys(parts.nodes)
    for name in sorted(parts.nodes, key=lambda name: name not in own):
        path, given = ("nodes", name), parts.nodes[name]
        if given is None:
            continue
        if name in own and around.critic is not None:
            made[name] = _swapped(around, name, given)
        elif bare(given if isinstance(given, str) else given.use) == "rectify":
            made[name] = node_at(around, path, given, name, _critic_name(around, path, given, [made[n] for n in own]))
        else:
            made[name] = node_at(around, path, given, name)
    return {name: node for name, node in made.items() if node is not None}


def _swapped(around: Around, name: str, given: str | NodeSpec) -> Any:
    """The critic that took the place of the file's own: it has its judge and criteria, not its settings."""
    path, spec = ("nodes", name), NodeSpec(use=given) if isinstance(given, str) else given
    if bare(spec.use) in REVIEWS:
        settings = {**spec.settings, "critic": around.critic}
        return node_at(around, path, spec.model_copy(update={"settings": settings}), name)
    if not isinstance(around.critic, str):
        return as_node(around.critic)
    return node_at(around, path, spec.model_copy(update={"use": around.critic, "settings": {}}), name)


def _critic_name(around: Around, path: Place, given: str | NodeSpec, found: list[Any]) -> dict[str, str]:
    """The name under which who rectifies looks for verdicts: that of the one critic."""
    names = list(dict.fromkeys(str(c.name) for c in found if is_dataclass(c) and hasattr(c, "name")))
    said = not isinstance(given, str) and "name" in given.settings
    if len(names) > 1 and not said:
        shown = ", ".join(names)
        around.source.fault(
            path, f"there are {len(names)} critics; say whose verdicts count: with: {{name: one of {shown}}}"
        )
    return {"name": names[0]} if len(names) == 1 else {}


def _route(around: Around, nodes: Mapping[str, Any], name: str, branches: Iterable[Branch]) -> Route:
    """The choices after one node; conditions look at the scores that it leaves behind."""
    listed, stage = list(branches), stage_of(nodes[name]) if name in nodes else "draft"
    ways = []
    for branch in listed:
        condition = condition_at(around, (*branch.path, "when"), branch.when)
        if condition is not None:
            ways.append((condition.at(stage), tuple(ENDS.get(to, to) for to in branch.to)))
    return Route(tuple(ways), tuple(ENDS.get(to, to) for to in listed[-1].otherwise or (drawn.END,)))


def _outputs(parts: Parts, nodes: Mapping[str, Any]) -> dict[str, Any]:
    """Key -> annotation of what the graph gives: what its nodes write, or those that the file names."""
    written = {key: hint for node in nodes.values() for key, hint in keys(node)[1].items() if key not in INPUTS}
    written = {**{key: hint for key, hint in vocabulary().items() if key in written}, **written}
    chosen = parts.head.outputs
    if chosen is None or len(nodes) < len(parts.nodes):
        return {key: vocabulary()[key] for key in written if key in vocabulary()}
    for place, key in enumerate(chosen):
        if key not in written:
            parts.source.fault(
                ("outputs", place), f"no node writes '{one_line(key, 60)}'{hint(key, written, 'Written')}"
            )
    return {key: vocabulary().get(key, written[key]) for key in chosen if key in written}


def _drawn(
    nodes: Mapping[str, Any], joined: Joins, routes: Mapping[str, Route], outputs: Mapping[str, Any]
) -> StateGraph[Any, None, Any, Any]:
    graph: StateGraph[Any, None, Any, Any]
    graph = StateGraph(EvalState, input_schema=Asked, output_schema=schema("Result", outputs))
    for name, node in nodes.items():
        graph.add_node(name, node, defer=name in joined.deferred)
    for sources, target in joined.edges:
        many = [ENDS.get(one, one) for one in sources]
        graph.add_edge(many[0] if len(many) == 1 else many, ENDS.get(target, target))
    for name, route in routes.items():
        graph.add_conditional_edges(ENDS.get(name, name), route, route.targets)
    settings: Any = graph  # of a signature: the rest its agents tell themselves
    settings.method_settings = {f"{name}.when": route.__name__ for name, route in routes.items()}
    settings.method_nodes = frozenset()
    return graph


def _look(parts: Parts, graph: Any, made: Any) -> None:
    """What the proof of the wiring finds, by the lines of the nodes it is found at."""
    for finding in findings(graph):
        if finding.severity != "error":
            continue
        outer = finding.node.partition("/")[0]
        said = finding.message
        if finding.code == "double-join":
            said = f"{said.partition(': ')[0]}: {TWICE}"
        parts.source.fault(("nodes", outer) if outer in parts.nodes else ("edges",), one_line(said, 500))
    try:
        parts.source.settle()
    except GraphFileError as error:
        error.graph = made
        raise
