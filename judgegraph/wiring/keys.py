"""Keys: every key that a node must find is written before it, whatever way a run takes; and none is misspelt."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from difflib import get_close_matches

import networkx as nx
from langgraph.graph import START

from judgegraph.wiring.drawn import NOTHING, VOCABULARY, Drawn, Part
from judgegraph.wiring.finding import Finding, Severity, listed
from judgegraph.wiring.own_functions import asked_keys, given, taken, written_keys
from judgegraph.wiring.signatures import Keys, reads_of
from judgegraph.wiring.steps import FIRST, Step

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
