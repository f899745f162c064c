"""A graph as it is drawn: its nodes with what they read and write, its edges, its joins; subgraphs within."""

from __future__ import annotations

import ast
import inspect
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, is_dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from typing import Any, NamedTuple, get_type_hints

import networkx as nx
from langgraph.channels import BinaryOperatorAggregate
from langgraph.graph import END, START

from judgegraph.compiled import function_of, spec_of
from judgegraph.registry.lookup import makes_parts
from judgegraph.types import Asked, EvalState, Sample
from judgegraph.wiring.code import (
    Finding,
    Keys,
    Severity,
    Source,
    hints_of,
    keys_of,
    listed,
    members,
    plain_type,
    reads_of,
    source_of,
    writes_of,
)
from judgegraph.wiring.functions import (
    Choice,
    Way,
    _is,
    _key,
    command_of,
    given,
    gone_to,
    other_way,
    taken,
    targets_of,
    way_of,
    wrong_attributes,
)

INJECTED = frozenset({"config", "writer", "store", "previous", "runtime"})  # what LangGraph passes beside the state


def _uncallable(runs: Any) -> str:
    """Why a function or an agent cannot be called with a state alone, "" where it can."""
    if hasattr(runs, "ainvoke") or not callable(runs):
        return str(getattr(type(runs), "NO_NODE", ""))
    if (inspect.isroutine(runs) or hasattr(runs, "func")) and (maker := makes_parts(runs)):
        return f"is {maker}, which takes no state: call it, and add what it gives"
    try:
        found = inspect.signature(runs).parameters.values()
    except (TypeError, ValueError):
        return ""
    places = [one for one in found if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD, one.VAR_POSITIONAL)]
    if not places:
        return "takes no state: give it one argument, state"
    if hasattr(runs, "about") and places[0].name == "sample":
        return "is an assistant, which takes a sample and no state: write jg.metric_node(...) around it"
    if places[0].annotation in (Sample, "Sample", "jg.Sample"):
        return "takes a sample, and a node is given the state: take `state`, and the sample as state['sample']"
    named = [one for one in found if one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    more = [one.name for one in named if one.name not in INJECTED and one is not places[0]]
    cure = "which nobody gives it: give it a default, or take it out of the state"
    return f"needs {_listed(more)} beside the state, {cure}" if more else ""


def renamed_alone(one: Any, other: Any) -> bool:
    """Whether two agents that ask a judge differ in their names alone."""
    if type(one) is not type(other) or not is_dataclass(one) or isinstance(one, type):
        return False
    name: Any = getattr(one, "name", None)
    return name != getattr(other, "name", None) and bool(replace(other, name=name) == one)


def made(drawn: Drawn) -> Iterator[Finding]:
    """Classes in the place of agents: LangGraph would make one of each state; and what takes no state, or more."""
    for name, part in drawn.parts.items():
        if not isinstance(part.runs, type) and (why := _uncallable(part.runs)):
            yield Finding("not-made", drawn.at(name), "", f"node '{drawn.at(name)}' {why}")
        if isinstance(part.runs, type):
            kind, node = part.runs.__name__, drawn.at(name)
            text = f"node '{node}' is the class {kind}, not an agent: make one, add_node('{name}', {kind}(...))"
            yield Finding("not-made", node, "", text)


def lies(drawn: Drawn) -> Iterator[Finding]:
    """Keys that a node's annotation says it always writes, where its source shows that it never does."""
    for name, part in drawn.parts.items():
        if part.inside is not None or part.writes is None or isinstance(part.runs, type):
            continue
        wrote = given(part.runs)
        hint = hints_of(part.runs).get("return")
        promised = keys_of(hint)[0] if len(members(hint)) == 1 else frozenset()
        if promised and _forgets(part.runs):
            node = drawn.at(name)
            text = f"node '{node}' says that it writes {listed(sorted(promised))}, and nothing is returned"
            yield Finding("unwritten-key", node, min(promised), f"{text}: end it with return {{...}}")
        if not wrote.whole or not wrote.keys:
            continue
        for key in sorted(promised - wrote.keys):
            node = drawn.at(name)
            text = f"node '{node}' says that it writes '{key}', and what it returns holds {listed(sorted(wrote.keys))}"
            yield Finding("unwritten-key", node, key, f"{text}: return '{key}', or take it out of the annotation")


def _forgets(function: Any) -> bool:
    """Whether a function comes to its end and returns nothing on any way."""
    source = source_of(function)
    if source is None or source.yields or isinstance(source.tree, ast.Lambda) or not source.returned:
        return False
    return all(one is None or (isinstance(one, ast.Constant) and one.value is None) for one in source.returned)


def unhanded(drawn: Drawn) -> Iterator[Finding]:
    """Keys that a node takes of its state and is not handed: LangGraph hands it what its annotation names."""
    sent = {name for ways in drawn.ways.values() for way in ways for name in way.sent}
    for name, part in drawn.parts.items():
        if part.inside is not None or name in sent or isinstance(part.runs, type) or not part.handed:
            continue
        wanted = taken(part.runs)
        for key in sorted((wanted.sure | wanted.some) & drawn.channels.keys() - part.handed - drawn.managed):
            node = drawn.at(name)
            text = f"node '{node}' reads '{key}', and the annotation of its state does not name it, so it is not there"
            yield Finding("not-handed", node, key, f"{text}: add '{key}' to that TypedDict")
        for key in sorted(wanted.sure - drawn.channels.keys() - part.handed - drawn.managed):
            if near := _near(key, drawn):
                node = drawn.at(name)
                text = f"node '{node}' reads '{key}', which is no key of the state"
                yield Finding("not-handed", node, key, f"{text}: did you mean '{near}'?")


def own_functions(drawn: Drawn) -> Iterator[tuple[str, str, Source]]:
    """(node, what it is called, source) of functions of one's own that take a state: nodes, conditions, routes."""
    nodes = [(drawn.at(name), part.runs, True) for name, part in drawn.parts.items() if part.inside is None]
    routes = [(drawn.at(source), way.function, False) for source, ways in drawn.ways.items() for way in ways]
    for node, function, is_node in [*nodes, *(one for one in routes if one[1] is not None)]:
        decide = getattr(getattr(function, "when", None), "decide", None)
        source = source_of(decide or function) if not isinstance(function, type) else None
        ours = getattr(decide or function, "__module__", "") or ""
        if source is None or not source.state or ours.startswith("judgegraph."):
            continue
        at = node.rpartition("/")[0] or node if decide else node
        yield at, f"node '{at}'" if is_node else f"the conditional edge from '{at}'", source


def misused(drawn: Drawn) -> Iterator[Finding]:
    """What functions of one's own take of a state as it is not: by attribute, scores by their criterion, conditions."""
    for at, who, source in own_functions(drawn):
        for one in source.inside:
            yield from _by_attribute(drawn, at, who, source, one)
            yield from _by_criterion(at, who, source, one)
            yield from _unasked(at, who, source, _tests(one))
        yield from _unasked(at, who, source, _given(source))
        for key, wrong, cure in wrong_attributes(source, hints_of_state(drawn, source)):
            yield Finding("misread-state", at, key, f"{who} {wrong}: {cure}")


def hints_of_state(drawn: Drawn, source: Source) -> dict[str, Any]:
    """Key -> annotation, as a function's own annotation has it, else as the state where that has all of `EvalState`."""
    own = hints_of(source.function).get(source.state)
    if own is None and drawn.declared >= VOCABULARY:
        own = drawn.schema
    try:
        return get_type_hints(own, include_extras=True) if getattr(own, "__total__", None) is not None else {}
    except Exception:  # whatever stands in a user's annotations
        return {}


def _by_attribute(drawn: Drawn, node: str, who: str, source: Source, one: ast.AST) -> Iterator[Finding]:
    """`state.sample`, of a state that is a mapping."""
    taken_so = isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Load) and _is(one.value, source.state)
    if not isinstance(one, ast.Attribute) or not taken_so or hasattr(dict, one.attr) or one.attr not in drawn.channels:
        return
    hint = hints_of(source.function).get(source.state)
    if (hint is None and drawn.mapped) or getattr(hint, "__total__", None) is not None:
        text = f"{who} takes '{one.attr}' of its state as an attribute, and the state is a mapping"
        yield Finding("misread-state", node, one.attr, f"{text}: write {source.state}['{one.attr}']")


def _by_criterion(node: str, who: str, source: Source, one: ast.AST) -> Iterator[Finding]:
    """`state["scores"]["Fluency"]`: scores stand under "criterion/agent/stage/repeat"."""
    key = whole = None
    if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Load):
        key, whole = one.slice, one.value
    elif isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr == "get" and one.args:
        key, whole = one.args[0], one.func.value
    if isinstance(whole, ast.BoolOp):  # (state.get("scores") or {})["Fluency"]
        whole = whole.values[0]
    name = key.value if isinstance(key, ast.Constant) else None
    if (
        isinstance(whole, ast.AST)
        and _key(whole, source.state) == "scores"
        and isinstance(name, str)
        and "/" not in name
    ):
        text = f"{who} looks for '{name}' in 'scores', whose keys are 'criterion/agent/stage/repeat'"
        cure = f"look through {source.state}['scores'].values() for criterion == '{name}'"
        yield Finding("misread-scores", node, "scores", f"{text}: {cure}")


def _tests(one: ast.AST) -> list[ast.expr]:
    """What a statement or an expression takes for true or false."""
    if isinstance(one, ast.If | ast.IfExp | ast.While):
        return [one.test]
    if isinstance(one, ast.BoolOp):
        return one.values
    return [one.operand] if isinstance(one, ast.UnaryOp) and isinstance(one.op, ast.Not) else []


def _given(source: Source) -> list[ast.expr]:
    """What a function returns, also `lambda state: ...`."""
    if isinstance(source.tree, ast.Lambda):
        return [source.tree.body]
    return [one.value for one in source.inside if isinstance(one, ast.Return) and one.value is not None]


def _unasked(node: str, who: str, source: Source, tests: Iterable[ast.expr]) -> Iterator[Finding]:
    """`if jg.low(below=3):` for `if jg.low(below=3)(state):`, which is true whatever the scores are."""
    for test in tests:
        called = source.called(test) if isinstance(test, ast.Call) else None
        if hasattr(called, "remarks"):
            name = ast.unparse(test)
            text = f"{who} takes the condition {name} for true, and never asks it about 'scores'"
            yield Finding("unasked-condition", node, "scores", f"{text}: write {name}({source.state})")


def asked_keys(part: Part) -> Keys:
    """Keys that a function's source takes in some cases, or does without."""
    if isinstance(part.runs, type) or part.inside is not None:
        return frozenset()
    wanted = taken(part.runs)
    return wanted.some | wanted.asked


def written_keys(part: Part) -> Keys:
    """Keys that a function's source writes."""
    if isinstance(part.runs, type) or part.inside is not None:
        return frozenset()
    return frozenset(given(part.runs).keys)


# In vain: what a run could judge nothing by.


RESULTS = frozenset(
    (
        "scores",
        "rectifications",
        "comparisons",
        "corrections",
        "aspects",
        "findings",
        "suggestions",
        "branches",
        "overall",
        "verdict",
        "plan",
    )
)


def in_vain(graph: Drawn) -> Iterator[Finding]:
    """A run of which nothing could be judged: no node sees the samples, or the graph gives out nothing of them."""
    if graph.whole and "sample" not in graph.channels:
        text = f"no node of the graph sees a sample: its state has {listed(sorted(graph.declared)) or 'no key'} alone"
        yield Finding("no-sample", graph.path.rstrip("/"), "sample", f"{text}; declare 'sample', as jg.EvalState does")
        return
    keys = [part.writes for part in graph.parts.values()]
    if any(one is None for one in keys) or not graph.parts:
        return
    written = frozenset(key for one in keys for key in one or ()) & RESULTS
    if written & graph.kept:
        return
    node = next(reversed(graph.parts))
    if written:
        text = (
            f"the graph's output has no {listed(sorted(written))}, which its nodes write, so that nothing of it is kept"
        )
        cure = "name it in output_schema=, or take output_schema=jg.Result"
    else:
        text = "no node of the graph writes a score, a comparison, an overall, a verdict or another result"
        cure = "write 'scores', by judgegraph.keyed(jg.Score(...)), in one of them"
    yield Finding("no-result", graph.at(node), "scores", f"{text}: {cure}")


# Routes: every node that a condition names, a fan-out sends to, or a command goes to is there.


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

    @property
    def asks(self) -> Keys:
        """All keys that it reads."""
        return self.reads | self.may_read


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
        schema: of its state.
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
    schema: Any = None

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
    named = spec.names_outputs if (spec := spec_of(builder)) else None
    given, kept = (frozenset(builder.schemas[s]) for s in (builder.input_schema, builder.output_schema))
    joins = tuple((frozenset(many), end) for many, end in sorted(builder.waiting_edges) if end in shown)
    last = {(a, end) for many, end in builder.waiting_edges if end not in shown for a in many}  # nothing waits at END
    return Drawn(
        path=path, parts=parts, edges=frozenset(builder.edges | last), joins=joins,
        ways={source: tuple(found) for source, found in ways.items()}, channels=dict(builder.channels),
        given=given, whole=builder.input_schema is whole, kept=kept,
        declared=given | kept | frozenset(builder.schemas[whole]), managed=frozenset(builder.managed),
        demanded=keys_of(whole)[0] & given, inner=inner,
        mapped=hasattr(whole, "__total__"), schema=whole,
        sums_up=builder.output_schema not in (whole, EvalState) if named is None else named,
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


# All runs of a graph, step by step, without running a node: what LangGraph would start, whatever conditions say.
#
# A step is the set of nodes that run together. An edge triggers its end in the next step; a deferred node waits until
# nothing else is triggered; a list edge waits for all its sources; what is sent runs in the next step, deferred or not.


MOST = 4_000  # steps that are looked at
WIDE = 1_000  # choices side by side
MIXED = 64  # choices of one node that is sent to several times


class Run(NamedTuple):
    """A node in a step; sent: by `Send`, with a payload of its own, perhaps several times."""

    node: str
    sent: bool = False


class Step(NamedTuple):
    """What runs now, which deferred nodes wait, and who has arrived at which join."""

    runs: frozenset[Run]
    waiting: frozenset[str] = frozenset()
    arrived: frozenset[tuple[int, str]] = frozenset()


FIRST = Step(frozenset({Run(START)}))


@dataclass
class Steps:
    """Attributes:
    graph: from every step to those that may follow. empty: nodes whose empty fan-out may end a run.
    whole: all of them were looked at.
    """

    graph: nx.DiGraph[Step] = field(default_factory=nx.DiGraph)
    empty: set[str] = field(default_factory=set)
    whole: bool = True

    def running(self, node: str) -> list[Step]:
        """Steps in which a node runs."""
        return [step for step in self.graph if any(run.node == node for run in step.runs)]

    def ends(self) -> list[Step]:
        """Where runs are over: steps in which nothing runs."""
        return [step for step in self.graph if not step.runs]

    def after(self, node: str) -> set[Step]:
        """Steps behind one in which a node runs."""
        todo = [later for step in self.running(node) for later in self.graph.successors(step)]
        found: set[Step] = set()
        while todo:
            step = todo.pop()
            if step not in found:
                found.add(step)
                todo += self.graph.successors(step)
        return found

    def together(self, one: str, other: str) -> bool:
        """Whether some run has both nodes in it, side by side or one after the other."""
        first, second = set(self.running(one)), set(self.running(other))
        return bool(first & second or self.after(one) & second or self.after(other) & first)

    def way_to(self, step: Step, passing: Iterable[Step] = ()) -> list[Step] | None:
        """The shortest way to a step that avoids others; None where there is none."""
        gone = set(passing) - {step}
        view = nx.restricted_view(self.graph, gone, ())
        try:
            found: list[Step] = nx.shortest_path(view, FIRST, step)
        except (nx.NetworkXNoPath, nx.NodeNotFound):
            return None
        return found


def explore(drawn: Drawn) -> Steps:
    """Every step that some run of the graph takes, at most some thousands."""
    found = Steps()
    found.graph.add_node(FIRST)
    todo = deque([FIRST])
    while todo:
        step = todo.popleft()
        for choice in _together(drawn, step, found):
            after = _after(drawn, step, choice)
            if not after.runs:
                found.empty |= choice.empty
                found.graph.add_edge(step, after)
                continue
            if after not in found.graph:
                if len(found.graph) >= MOST:
                    found.whole = False
                    continue
                todo.append(after)
            found.graph.add_edge(step, after)
    return found


def _together(drawn: Drawn, step: Step, found: Steps) -> Iterable[Choice]:
    """What the nodes of a step may choose, all of them at once."""
    so_far = {Choice()}
    for run in sorted(step.runs):
        options = _options(drawn, run)
        if len(so_far) * len(options) > WIDE:
            found.whole, options = False, options[:1]
        so_far = {one | other for one in so_far for other in options}
    return so_far


def _options(drawn: Drawn, run: Run) -> list[Choice]:
    """What may follow one node, its plain edges and each of its conditional ones."""
    found = [Choice(to=frozenset(b for a, b in drawn.edges if a == run.node))]
    for way in drawn.ways.get(run.node, ()):
        found = [one | other for one in found for other in way.choices()]
    return [*found, *_unions(found)] if run.sent else found  # several of it run, and they need not agree


def _unions(options: Iterable[Choice]) -> set[Choice]:
    """What several runs of one node may choose between them; of too many only all at once."""
    found: set[Choice] = set()
    for option in options:
        one = Choice(option.to, option.sent)
        found |= {one, *(one | other for other in found)}
        if len(found) > MIXED:
            return {
                Choice(*(frozenset().union(*names) for names in zip(*((o.to, o.sent) for o in options), strict=True)))
            }
    return found


def _after(drawn: Drawn, step: Step, choice: Choice) -> Step:
    """The step that LangGraph makes of all that was chosen."""
    led, names = choice.to & set(drawn.parts), {run.node for run in step.runs}
    arrived = step.arrived | {(i, a) for i, (many, _) in enumerate(drawn.joins) for a in names & many}
    full = {i for i, (many, _) in enumerate(drawn.joins) if {a for j, a in arrived if j == i} == many}
    late = {i for i in full if drawn.parts[drawn.joins[i][1]].defer}
    waiting = step.waiting | {name for name in led if drawn.parts[name].defer}
    now, over = {*(led - waiting), *(drawn.joins[i][1] for i in full - late)}, full - late
    if not now:  # LangGraph looks at edges alone here: what is sent does not hold deferred nodes back
        now, waiting, over = {*waiting, *(drawn.joins[i][1] for i in late)}, frozenset(), full
    runs = frozenset({*(Run(name) for name in now), *(Run(name, True) for name in choice.sent)})
    return Step(runs, waiting, frozenset((i, a) for i, a in arrived if i not in over))


# Keys: every key that a node must find is written before it, whatever way a run takes; and none is misspelt.


CLOSE = 0.75  # how alike two names are that may be one, of 1
ANSWERS = {"scores", "comparisons"}  # what a run is for
SENT = {"criterion"}  # comes with what a fan-out sends


def assigned(drawn: Drawn, at_start: Keys) -> dict[Step, Keys]:
    """Of every step the keys that are surely there when it starts: those that each way to it has written.

    A node whose annotation does not say what it writes is taken to write everything. What a node must find is there
    after it: where it was not, that node is the one to tell of.
    """
    graph, known = drawn.steps.graph, {FIRST: at_start}
    todo = deque([FIRST])
    while todo:
        step = todo.popleft()
        found = (drawn.parts[run.node].reads for run in step.runs if run.node in drawn.parts and not run.sent)
        after = known[step].union(*(_written(drawn, run.node) for run in step.runs), *found)
        for later in graph.successors(step):
            both = after & known[later] if later in known else after
            if both != known.get(later):
                known[later] = both
                todo.append(later)
    return known


def _written(drawn: Drawn, node: str) -> Keys:
    part = drawn.parts.get(node)
    if part is None:
        return NOTHING
    return part.writes if part.writes is not None else wanted(drawn)


def wanted(drawn: Drawn) -> Keys:
    """All keys that some node must find."""
    return NOTHING.union(*(part.reads for part in drawn.parts.values()))


def lacking(drawn: Drawn, at_start: Keys) -> dict[tuple[str, str], Step]:
    """(node, key) -> a step in which the node runs and the key may not be there. What is sent brings its keys."""
    opaque = {end for ways in drawn.ways.values() for way in ways if way.opaque for end in way.ends}
    found: dict[tuple[str, str], Step] = {}
    for step, there in assigned(drawn, at_start | drawn.always).items():
        for run in sorted(step.runs):
            if run.sent or run.node not in drawn.parts:
                continue
            for key in sorted(drawn.parts[run.node].reads - there):
                if run.node not in opaque or key in drawn.declared:
                    found.setdefault((run.node, key), step)
    return found


def needed(drawn: Drawn) -> Keys:
    """Keys that a subgraph must be given: its nodes need them, and not every way within writes them before."""
    return frozenset(key for _, key in lacking(drawn, NOTHING))


def missing(drawn: Drawn) -> Iterator[Finding]:
    """Keys that nothing brings: of the graph itself beyond its input, of a subgraph beyond what it can be given."""
    given = drawn.given if drawn.inner else drawn.inputs
    for (name, key), step in lacking(drawn, given).items():
        node, part = drawn.at(name), drawn.parts[name]
        writers = [n for n, p in drawn.parts.items() if key in (p.writes or NOTHING) - p.reads and n != name]
        if not writers:
            yield _nobody(drawn, node, part, key)
            continue
        way = path_text(drawn, name, _without(drawn, step, key))
        who, write = listed(drawn.at(w) for w in writers), "write" if len(writers) > 1 else "writes"
        yield Finding(
            "missing-writer", node, key,
            f"node '{node}' reads '{key}', which {who} {write}, but not before it on the path {way}: lead that path "
            f"through {'one of them' if len(writers) > 1 else 'it'} first, or let '{node}' do without (NotRequired)",
        )  # fmt: skip


def _nobody(drawn: Drawn, node: str, part: Part, key: str) -> Finding:
    if (near := _near(key, drawn)) and key not in drawn.declared:
        return _misspelt(node, key, near)
    if key in SENT:
        cure = "send it there (Send, or jg.each, which asks a node once per criterion)"
    elif part.inside is not None:
        cure = f"it needs it inside; add a node before '{node}' that writes it, or name it in the graph's input_schema="
    else:
        cure = f"add a node before '{node}' that writes it, or name it in the graph's input_schema="
    brings = "the input does not bring"
    if drawn.brought is not None:
        brings, cure = (
            f"a run does not bring, which gives {listed(sorted(drawn.brought))} alone",
            cure.partition(", or name")[0],
        )
    return Finding(
        "missing-writer", node, key,
        f"node '{node}' reads '{key}', which no node writes before it and {brings}: {cure}",
    )  # fmt: skip


def _without(drawn: Drawn, step: Step, key: str) -> list[Step]:
    """The shortest way to a step on which nothing writes a key."""
    writing = [s for s in drawn.steps.graph if any(key in _written(drawn, run.node) for run in s.runs)]
    return drawn.steps.way_to(step, writing) or [step]


def path_text(drawn: Drawn, name: str, way: list[Step]) -> str:
    """A way in words, "START -> a -> b": of nodes side by side those that lead to `name`."""
    before = {*nx.ancestors(drawn.arrows, name), name}
    told = [sorted({r.node for r in step.runs} & before or {r.node for r in step.runs}) for step in way[:-1]]
    return " -> ".join([*(" and ".join(drawn.at(n) for n in names) for names in told), drawn.at(name)])


def misspelt(drawn: Drawn) -> Iterator[Finding]:
    """Keys that a node writes and the state does not have, which LangGraph drops without a word; and odd reads."""
    sent = {name for ways in drawn.ways.values() for way in ways for name in way.sent}
    for name, part in drawn.parts.items():
        if part.inside is not None:
            continue
        node = drawn.at(name)
        for key in sorted(((part.writes or NOTHING) | written_keys(part)) - set(drawn.channels)):
            yield _dropped(node, key, _near(key, drawn))
        written = NOTHING.union(*(p.writes or NOTHING for p in drawn.parts.values()))
        unknown = (part.may_read | asked_keys(part)) - drawn.declared - written - VOCABULARY - SENT - drawn.managed
        for key in sorted(unknown if name not in sent else ()):
            if near := _near(key, drawn):
                yield _misspelt(node, key, near)


def misread(drawn: Drawn) -> Iterator[Finding]:
    """Keys that a conditional edge's function takes of the state, and that are never there."""
    written = NOTHING.union(*((p.writes or NOTHING) | written_keys(p) for p in drawn.parts.values()))
    known = drawn.declared | written | VOCABULARY | SENT | drawn.managed
    there = written | drawn.inputs | drawn.managed | drawn.always
    open_ended = drawn.inner or any(p.writes is None and not given(p.runs).whole for p in drawn.parts.values())
    for source, ways in drawn.ways.items():
        for way in ways if source != START else ():  # of what comes in nobody knows all
            if way.goto or way.function is None:
                continue
            wanted, own = taken(way.function), NOTHING.union(*reads_of(way.function, None, None))
            for key in sorted(wanted.sure | wanted.some | wanted.asked | own):
                near = _near(key, drawn)
                if key not in known and (near or key in wanted.sure):
                    cure = f"did you mean '{near}'?" if near else "write it in a node before, and add it to the state"
                    yield _route("misspelt-key", drawn.at(source), key, f"which the state does not have: {cure}")
                elif key in wanted.sure - there and not open_ended:
                    cure = "which no node writes and the input does not bring: add a node before it that writes it"
                    yield _route("missing-writer", drawn.at(source), key, cure)


def _route(code: str, node: str, key: str, why: str) -> Finding:
    return Finding(code, node, key, f"the conditional edge from '{node}' reads '{key}', {why}")


def _dropped(node: str, key: str, near: str) -> Finding:
    text = f"node '{node}' writes '{key}', which the state does not have, so LangGraph drops it"
    if key in VOCABULARY:
        severity: Severity = "error" if key in ANSWERS else "warning"
        return Finding("dropped-key", node, key, f"{text}: add it to the state to keep it", severity)
    cure = f"did you mean '{near}'?" if near else "add it to the state"
    return Finding("misspelt-key", node, key, f"{text}: {cure}")


def _misspelt(node: str, key: str, near: str) -> Finding:
    text = f"node '{node}' reads '{key}', which no node writes and the state does not have: did you mean '{near}'?"
    return Finding("misspelt-key", node, key, text)


def _near(key: str, drawn: Drawn) -> str:
    """The known key that is spelt much alike, "" where there is none."""
    known = sorted((drawn.declared | {k for p in drawn.parts.values() for k in p.writes or ()}) - {key})
    found = [] if key in SENT else get_close_matches(key, known, 1, CLOSE)
    return found[0] if found else ""


def declared(channel: Any) -> Any:
    """The class of a key's values."""
    return plain_type(getattr(channel, "typ", None)) or type(getattr(channel, "value", None))
