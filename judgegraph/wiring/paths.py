"""What feeds a node: the nodes before it whose writing reaches it; and whether two nodes are fed alike."""

from __future__ import annotations

import dis
import operator
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import networkx as nx
from langgraph.channels import BinaryOperatorAggregate, LastValue
from langgraph.channels.base import BaseChannel
from langgraph.graph import END, START

from judgegraph.wiring.code import (
    Finding,
    Flow,
    Keys,
    codes,
    flow_of,
    functions,
    hints_of,
    listed,
    only_value,
    plain_type,
    written_keys,
)
from judgegraph.wiring.drawn import NOTHING, Drawn, Part, Step, path_text
from judgegraph.wiring.functions import Way
from judgegraph.wiring.graph import doubles, fails, fits, keeps_one, keys_of_kind, written


def parted(drawn: Drawn, one: str, other: str) -> tuple[Drawn, list[str], list[str]] | None:
    """The graph in which the paths of two nodes part, and what is left of both; None where they do not."""
    graph, (first, second) = drawn, (path.removeprefix(drawn.path).split("/") for path in (one, other))
    while first[0] == second[0]:
        inner = graph.parts[first[0]].inside
        if inner is None:
            return None
        graph, first, second = inner, first[1:], second[1:]
    return graph, first, second


def fed_alike(drawn: Drawn, one: str, other: str) -> bool:
    """Whether nodes of two graphs within one are fed by the same inside them; what is outside feeds both."""
    if (found := parted(drawn, one, other)) is None or min(map(len, found[1:])) < 2:
        return True
    graph, first, second = found
    return _same_parts([*_feeding(graph, first)], [*_feeding(graph, second)])


def same(one: Mapping[str, Part], other: Mapping[str, Part]) -> bool:
    """Whether nodes are the same by name and settings, in subgraphs too; of functions by where they are written."""
    return one.keys() == other.keys() and all(same_part(one[name], other[name]) for name in one)


def same_part(one: Part, other: Part) -> bool:
    """Whether two nodes are the same by their settings."""
    if one.inside is not None and other.inside is not None:
        return same(one.inside.parts, other.inside.parts)
    codes = [getattr(part.runs, "__code__", None) for part in (one, other)]
    return bool(one.runs == other.runs) or (codes[0] is not None and codes[0] == codes[1])


def _same_parts(some: Sequence[Part], others: Sequence[Part]) -> bool:
    """Whatever their names and order."""
    both = ((some, others), (others, some))
    return len(some) == len(others) and all(any(same_part(a, b) for b in right) for left, right in both for a in left)


def _feeding(graph: Drawn, path: Sequence[str]) -> Iterator[Part]:
    """The nodes inside `path[0]` whose writing may reach the last of the path."""
    wanted = NOTHING
    around = []
    for name in path[:-1]:
        inside = graph.parts[name].inside
        if inside is None:
            return
        graph = inside
        around.append(graph)
    for level, name in zip(reversed(around), reversed(path), strict=False):
        before, wanted = _before(level, name, wanted)
        yield from before


def _before(graph: Drawn, name: str, wanted: Keys) -> tuple[list[Part], Keys]:
    """The nodes before one that write what it reads, or what these read; and all keys that they read."""
    part = graph.parts[name]
    wanted = wanted | part.reads | part.may_read
    for way in (way for ways in graph.ways.values() for way in ways if name in way.sent):
        wanted |= way.reads  # what it is sent is made of these
    left = [graph.parts[n] for n in sorted(nx.ancestors(graph.arrows, name)) if n in graph.parts and n != name]
    found: list[Part] = []
    while some := [p for p in left if p.writes is None or p.writes & wanted]:
        found += some
        left = [p for p in left if p not in some]
        wanted = wanted.union(*(p.reads | p.may_read for p in some))
    return found, wanted


# Joins: each runs, and runs once; and no fan-out that sends nothing ends a run.


def never_run(drawn: Drawn) -> Iterator[Finding]:
    """List edges of whose sources some may run and others not: they wait for ever."""
    ends = drawn.steps.ends()
    for number, (many, end) in enumerate(drawn.joins):
        for step in ends:
            come = {name for i, name in step.arrived if i == number}
            if come:
                yield _stuck(drawn, many, end, step, come)
                break


def _stuck(drawn: Drawn, many: frozenset[str], end: str, step: Step, come: set[str]) -> Finding:
    node, late = drawn.at(end), sorted(many - come)
    way = path_text(drawn, late[0], drawn.steps.way_to(step) or [step]).rpartition(" -> ")[0]
    edges = ", ".join(f"add_edge('{name}', '{end}')" for name in sorted(many))
    return Finding(
        "join-never-runs", node, "",
        f"node '{node}' waits for {listed(drawn.at(n) for n in sorted(many))}, but where a run goes {way}, "
        f"{listed(drawn.at(n) for n in late)} does not run and '{node}' never does: use {edges} and "
        f"add_node('{end}', ..., defer=True)",
    )  # fmt: skip


def run_twice(drawn: Drawn) -> Iterator[Finding]:
    """Nodes that several paths of different length lead to, so that they run on each arrival."""
    loops = {name for group in nx.strongly_connected_components(drawn.arrows) if len(group) > 1 for name in group}
    loops |= {name for name in drawn.arrows if drawn.arrows.has_edge(name, name)}
    twice = {name for name in drawn.parts if name not in loops and _again(drawn, name)}
    for name in sorted(twice):
        before = sorted(drawn.arrows.predecessors(name))
        if len(before) < 2 or nx.ancestors(drawn.arrows, name) & twice:
            continue
        node, sources = drawn.at(name), listed(drawn.at(b) for b in before)
        cure = f"make it wait for all of them: add_node('{name}', ..., defer=True)"
        if drawn.parts[name].defer:
            cure = (
                "it is deferred already; let the deferred nodes before it lead there alone, or put them in a subgraph"
            )
        yield Finding(
            "double-join", node, "", f"node '{node}' runs twice, as {sources} lead to it at different times: {cure}"
        )


def _again(drawn: Drawn, name: str) -> bool:
    later = drawn.steps.after(name)
    return any(run.node == name and not run.sent for step in later for run in step.runs)


def empty_fan_outs(drawn: Drawn) -> Iterator[Finding]:
    """Fan-outs after which a run is over where they send nothing."""
    for source in sorted(drawn.steps.empty):
        (way, *_) = [w for w in drawn.ways[source] if w.kind == "send" and not w.never_empty]
        to, node = listed(drawn.at(n) for n in sorted(way.sent)), drawn.at(source)
        yield Finding(
            "empty-fan-out", node, "",
            f"the fan-out from '{node}' to {to} ends the run without a word where it sends nothing: let its function "
            "return the next node then (`return [Send(...), ...] or 'next'`, and 'next' in its list of targets), or "
            "mark it jg.never_empty if that cannot be",
        )  # fmt: skip


# Loops: each has a way out and a bound.


MOST = 2_000  # loops that are looked at


def unbounded(drawn: Drawn) -> Iterator[Finding]:
    """Loops that nothing ends, or nothing bounds.

    A loop counts as bounded where a condition on it is marked `bounded`, reads a whole number of the state that a node
    of the loop writes, or the length of a list that one writes, or the steps that LangGraph has left. (Of a node's own
    command: the node reads and writes it.) A number that is only ever set to one constant is warned of.
    """
    told: set[frozenset[str]] = set()
    for loop in islice(nx.simple_cycles(drawn.arrows), MOST):
        if frozenset(loop) in told:
            continue
        told.add(frozenset(loop))
        if not bound(drawn, loop):
            yield _finding(drawn, loop)
        elif stuck := _loop_stuck(drawn, loop):
            yield stuck


def bound(drawn: Drawn, loop: Sequence[str]) -> bool:
    """Whether a condition on the loop ends it after some rounds."""
    ways = [way for way in _conditions(drawn, loop) if _leaves(way, loop)]
    return any(_certain(drawn, way, loop) or _counters(drawn, loop) & way.reads for way in ways)


def _certain(drawn: Drawn, way: Way, loop: Sequence[str]) -> bool:
    """Whether it is bounded by anything but a count."""
    grown = {key for part in _parts(drawn, loop) for key in keys_of_kind(drawn, part, list, tuple, Sequence)}
    return bool(way.at_most or drawn.managed & way.reads or ("len" in way.reads and grown & way.reads))


def _parts(drawn: Drawn, loop: Sequence[str]) -> list[Part]:
    return [drawn.parts[name] for name in loop if name in drawn.parts]


def _counters(drawn: Drawn, loop: Sequence[str]) -> set[str]:
    """Whole numbers of the state that nodes of the loop may write."""
    return {key for part in _parts(drawn, loop) for key in keys_of_kind(drawn, part, int)}


def _loop_stuck(drawn: Drawn, loop: Sequence[str]) -> Finding | None:
    """A loop whose one bound is a number that all its nodes set to the same constant, and nothing counts."""
    ways = [way for way in _conditions(drawn, loop) if _leaves(way, loop)]
    counts = set().union(*(_counters(drawn, loop) & way.reads for way in ways))
    if len(counts) != 1 or any(_certain(drawn, way, loop) for way in ways):
        return None
    (key,) = counts
    writers = [p for p in _parts(drawn, loop) if p.writes is None or key in p.writes]
    values = {only_value(part.runs, key) if part.inside is None else None for part in writers}
    if len(values) != 1 or None in values or not isinstance(drawn.channels.get(key), LastValue):
        return None
    way, node = " -> ".join(drawn.at(name) for name in [*loop, loop[0]]), drawn.at(writers[0].name)
    text = f"the loop {way} goes by '{key}', and node '{node}' sets it to {values.pop()} in every round"
    cure = f"count, as in state.get('{key}', 0) + 1, or mark the condition jg.bounded(condition, at_most=3)"
    return Finding("unbounded-loop", node, key, f"{text}: {cure}", "warning")


def _conditions(drawn: Drawn, loop: Sequence[str]) -> list[Way]:
    """Conditional edges that the loop goes by, where no plain edge does."""
    steps = list(zip(loop, [*loop[1:], loop[0]], strict=True))
    by = [(a, b) for a, b in steps if not drawn.arrows.edges[a, b]["sure"]]
    return [way for a, b in by for way in drawn.ways.get(a, ()) if b in way.ends]


def _leaves(way: Way, loop: Sequence[str]) -> bool:
    return bool(set(way.ends) - set(loop)) or len(way.ends) > 1 or way.kind == "send"


def _finding(drawn: Drawn, loop: Sequence[str]) -> Finding:
    first = min(range(len(loop)), key=lambda i: _depth(drawn, loop[i]))
    turned = [*loop[first:], *loop[:first]]
    way, node = " -> ".join(drawn.at(name) for name in [*turned, turned[0]]), drawn.at(turned[0])
    if not any(_leaves(w, loop) for w in _conditions(drawn, loop)):
        why = "has no way out: add a condition (add_conditional_edges) that leads out of it after some rounds"
        return Finding("unbounded-loop", node, "", f"the loop {way} {why}")
    why = (
        "has no bound: let a node in it write a count (rounds: int) that its condition compares with a limit, or mark "
        "the condition jg.bounded(condition, at_most=3)"
    )
    return Finding("unbounded-loop", node, "", f"the loop {way} {why}")


def _depth(drawn: Drawn, name: str) -> float:
    try:
        return float(nx.shortest_path_length(drawn.arrows, "__start__", name))
    except nx.NetworkXNoPath:
        return float("inf")


# Payloads: what is sent to a node holds the keys that the node must find, where it is written out as a mapping.


def lacking(drawn: Drawn) -> Iterator[Finding]:
    """Nodes that are sent a mapping without a key that they must find: they see nothing else of the state."""
    sent = {one: way.source for ways in drawn.ways.values() for way in ways for one in payloads(way.function)}
    for (to, keys), source in sorted(sent.items(), key=lambda item: (item[0][0], sorted(item[0][1]))):
        if to not in drawn.parts:
            continue
        for key in sorted(drawn.parts[to].reads - keys):
            node, held = drawn.at(to), listed(sorted(keys))
            text = f"node '{node}' reads '{key}', and what '{drawn.at(source)}' sends it holds {held} alone"
            cure = f"add '{key}' to the mapping in Send('{to}', ...): a node that is sent to sees nothing else"
            yield Finding("missing-writer", node, key, f"{text}: {cure}")


def payloads(thing: Any) -> set[tuple[str, Keys]]:
    """(node, keys) of every `Send("node", {"key": ...})` in some code; of other payloads nothing is told."""
    found: set[tuple[str, Keys]] = set()
    for function in functions(thing):
        for code in codes(function.__code__):
            flow = flow_of(function, code)
            for place, step in enumerate(flow.steps):
                if step.argval == "Send" and step.opname.startswith("LOAD_"):
                    sent = _sent(flow, place + 1)
                    found |= {sent} if sent else set()
    return found


def _sent(flow: Flow, place: int) -> tuple[str, Keys] | None:
    """The arguments of a call that starts at a step, where they are a name and a mapping of written keys."""
    while place < len(flow.steps) and flow.steps[place].opname == "PUSH_NULL":
        place += 1
    if place >= len(flow.steps):
        return None
    to, steps = flow.loaded(flow.steps[place]), _argument(flow, place + 1)
    keys = written_keys(steps)
    return (to, frozenset(keys)) if isinstance(to, str) and keys is not None else None


def _argument(flow: Flow, place: int) -> list[dis.Instruction]:
    """The steps that make the second and last argument; none where the code branches in it."""
    depth, found = 0, list[dis.Instruction]()
    for at in range(place, len(flow.steps)):
        step = flow.steps[at]
        if step.opname in ("PRECALL", "CALL") and depth == 1:
            return found if step.arg == 2 else []
        if len(flow.after[at]) != 1 or (step.opname == "KW_NAMES" and depth == 1):
            return []
        depth += dis.stack_effect(step.opcode, step.arg)
        found.append(step)
    return []


# Reach: every node can run and leads to the end; and what could not be looked at is said.


def unreached(drawn: Drawn) -> Iterator[Finding]:
    """Nodes that no path from START leads to."""
    reached = nx.descendants(drawn.arrows, START)
    for name in drawn.parts:
        if name in reached:
            continue
        before = [p for p in drawn.arrows.predecessors(name) if p != name]
        node = drawn.at(name)
        why = f"only {listed(drawn.at(p) for p in sorted(before))} leads to it" if before else "no edge leads to it"
        cure = f"add_edge(..., '{name}') from a node that runs before it, or leave it out"
        yield Finding("unreachable", node, "", f"node '{node}' never runs, {why}: {cure}")


def dead_ends(drawn: Drawn) -> Iterator[Finding]:
    """Nodes from which nothing leads on, in a graph that leads others to the end: a run may stop without."""
    said = any(end == END for _, end in drawn.edges)
    for name in drawn.parts if said else ():
        if not drawn.arrows.out_degree(name):
            node = drawn.at(name)
            text = f"nothing leads on from node '{node}': add_edge('{name}', END), or the edge that was forgotten"
            yield Finding("dead-end", node, "", text, "warning")


def unmapped(drawn: Drawn) -> Iterator[Finding]:
    """Conditional edges and commands that do not list where they may lead."""
    for source, ways in sorted(drawn.ways.items()):
        for way in ways:
            if way.mapped:
                continue
            node, ends = drawn.at(source), ", ".join("END" if e == END else f"'{e}'" for e in way.ends)
            cure = f"pass them: add_conditional_edges('{source}', function, [{ends}])"
            if way.goto:
                cure = f"annotate its return as Command[Literal[{ends}]], or use a conditional edge"
            what = f"the command of node '{node}'" if way.goto else f"the conditional edge from '{node}'"
            text = f"{what} does not say where it may lead, so it is not drawn and only guessed at here: {cure}"
            yield Finding("no-path-map", node, "", text, "warning")


def too_many(drawn: Drawn) -> Iterator[Finding]:
    """A graph of which not all runs were looked at."""
    if not drawn.steps.whole:
        where = f"'{drawn.path[:-1]}'" if drawn.path else "the graph"
        text = f"{where} has more ways through it than can be looked at; put side-by-side conditions into subgraphs"
        yield Finding("too-many-ways", drawn.path[:-1], "", text, "warning")


# Writers: no two nodes of one step write a key that nothing joins, and what joins a key fits it.


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
        verb = "hands" if len(passing) == 1 else "hand"
        cure = f"{who} {verb} it back as it came; write StateGraph(..., output_schema=jg.Result) there"
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
    if key in SHARED and isinstance(kind, type) and issubclass(kind, dict):
        for one in (list, tuple, set, str, int, float):
            if one in given:
                node = drawn.at(given[one][0])
                text = f"node '{node}' writes '{key}' as a {one.__name__}, where a mapping stands"
                return Finding("wrong-reducer", node, key, f"{text}: return {{'{key}': jg.keyed(...)}}")
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
