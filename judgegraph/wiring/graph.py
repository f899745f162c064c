"""Nodes in their graph: what each agent is given, what feeds it, and whether every run reaches, joins and ends.

It hides how a fault of the drawing is found: by the settings of one node, by trying a reducer, or by following all
steps that a run may take. Each check gives findings that name node, key and cure.
"""

from __future__ import annotations

import ast
import operator
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from itertools import islice, zip_longest
from types import NoneType
from typing import Any, get_type_hints

import networkx as nx
from langgraph.channels import BinaryOperatorAggregate, LastValue
from langgraph.graph import END, START

from judgegraph import prompts
from judgegraph.answers import Precedence
from judgegraph.compiled import function_of
from judgegraph.errors import PromptError, one_line, scrubbed
from judgegraph.models.judges import Endpoint
from judgegraph.prompts.template import JUDGED, MAY_HAVE
from judgegraph.types import Criterion, Plan, latest, once
from judgegraph.wiring.code import (
    Finding,
    Keys,
    Source,
    hints_of,
    listed,
    members,
    only_value,
    payloads,
    plain_type,
    source_of,
)
from judgegraph.wiring.drawn import NOTHING, VOCABULARY, Drawn, Part, Step, declared, path_text, renamed_alone
from judgegraph.wiring.drawn import drawn as drawn_of
from judgegraph.wiring.functions import Way, doubles, fails, fits, given, keeps_one, taken

WRITE = "write 'embedded', 'openai:MODEL' or 'PROVIDER:MODEL', or give a LangChain chat model"


def judges(drawn: Drawn) -> Iterator[Finding]:
    """Agents whose judge is no name of a model, and no model; nothing is asked, and no key is needed."""
    for name, part in drawn.parts.items():
        for field in fields(part.runs) if is_agent(part.runs) else ():
            if field.name != "judge" and not field.name.endswith("_judge"):
                continue
            judge, node = getattr(part.runs, field.name), drawn.at(name)
            if why := "" if judge is None and _may_be_none(part.runs, field.name) else _wrong(judge):
                text = f"node '{node}' has no model to ask: its setting '{field.name}' is {why}; {WRITE}"
                yield Finding("no-judge", node, "", text)


def is_agent(thing: Any) -> bool:
    """A dataclass that is a node."""
    return is_dataclass(thing) and not isinstance(thing, type)


def _may_be_none(agent: Any, name: str) -> bool:
    try:
        from langchain_core.language_models import BaseChatModel

        hints = get_type_hints(type(agent), localns={"BaseChatModel": BaseChatModel})
    except Exception:  # whatever stands in a user's annotations
        return False
    return NoneType in members(hints.get(name))


def _wrong(judge: Any) -> str:
    """What is wrong with a judge's name, "" for nothing."""
    name = judge.model if isinstance(judge, Endpoint) else judge
    if isinstance(name, type):
        return f"the class {name.__name__}: make one, {name.__name__}(...)"
    if not isinstance(name, str):
        return "" if hasattr(name, "ainvoke") else one_line(repr(name), 60)
    provider, _, model = name.partition(":")
    if name == "embedded" or (provider.strip() and model.strip()):
        return ""
    return f"'{one_line(scrubbed(name), 60)}'"


def asked(drawn: Drawn) -> Iterator[Drawn]:
    """The graphs of the assistants that its agents ask: each runs by itself, on a sample alone."""
    for name, part in drawn.parts.items():
        for field in fields(part.runs) if is_agent(part.runs) else ():
            held = getattr(part.runs, field.name)
            for assistant in held if isinstance(held, list | tuple) else (held,):
                graph = getattr(assistant, "graph", None)
                if hasattr(graph, "builder"):
                    yield drawn_of(graph, f"{drawn.at(name)}/{getattr(assistant, 'name', 'graph')}/")


# The classes of values: what a node writes under a key, as far as its annotation says.


def kinds_of(hint: Any) -> set[Any]:
    """The classes of an annotation, of a union one each, None being none; empty where one is not known."""
    found = {plain_type(one) for one in members(bare(hint)) if one is not NoneType}
    return set() if None in found else found


def bare(hint: Any) -> Any:
    """An annotation without the reducer around it."""
    while getattr(hint, "__metadata__", None) is not None:
        hint = hint.__origin__
    return hint


def written(part: Part, key: str) -> set[Any]:
    """The classes of what a node writes under a key; empty where its annotation does not say."""
    if part.inside is not None:
        return kinds_of(getattr(part.inside.channels.get(key), "typ", None))
    found: set[Any] = set()
    for schema in members(hints_of(part.runs).get("return")):
        hint = _hints(schema).get(key)
        found |= kinds_of(hint)
        if hint is not None and not kinds_of(hint):
            return set()
    return found


def _hints(schema: Any) -> dict[str, Any]:
    try:
        return get_type_hints(schema) if isinstance(schema, type) else {}
    except Exception:  # whatever stands in a user's annotations
        return {}


def keys_of_kind(drawn: Drawn, part: Part, *kinds: type) -> set[str]:
    """Keys of the state that a node may write, and whose values are of these classes.

    A node that does not say what it writes may write all of them.
    """
    keys = drawn.channels if part.writes is None else part.writes
    typed = {key: kinds_of(getattr(drawn.channels.get(key), "typ", None)) for key in keys}
    return {key for key in keys if any(kind in kinds for kind in typed[key] | written(part, key))}


# Whose scores stand in place of whose, as far as only the wiring tells: a join or a reviewer that a user wrote.
#
# The helpers and agents of this package say it in their scores (`Score.draft`, `votes`, `member`). A node of a user's
# own
# that reads `scores` and writes `scores` came to its answer from those of the nodes before it.


SCORES, PACKAGE = "scores", "judgegraph."


def precedence(graph: Any) -> tuple[Precedence, ...]:
    """Of a compiled graph; empty where its scores tell it all.

    Of a function the name of its scores' agent is not known beforehand; where several functions write scores on both
    sides of such a node, nothing is claimed, and each agent's scores are answers.
    """
    if not any(_of_user(runs) for runs in _functions(graph)):
        return ()
    try:
        whole = drawn_of(graph)
    except Exception:  # whatever stands in a user's annotations: `check` tells of it
        return ()
    known = frozenset(name for part in _leaves(whole) if (name := _name(part)))
    found = []
    for part, before in _readers(whole, ()):
        names = [_name(one) for one in before if one is not part]
        later, earlier = _name(part), frozenset(name for name in names if name)
        if "" in names and later:
            found.append(Precedence(frozenset({later}), None, known))
        if earlier:
            found.append(Precedence(frozenset({later}) if later else None, earlier, known))
    return tuple(found)


def _readers(graph: Drawn, outer: tuple[Part, ...]) -> Iterator[tuple[Part, list[Part]]]:
    """(node of a user's own that scores anew what it read, the nodes before it that write scores), subgraphs' too."""
    for name, part in graph.parts.items():
        if SCORES not in (part.writes or ()) and not _joins(part):
            continue
        before = [graph.parts[at] for at in _before(graph, name)]
        seen = outer if SCORES in graph.given or not graph.inner else ()
        writers = [*seen, *(leaf for one in before for leaf in _leaves_of(one))]
        if part.inside is not None:
            yield from _readers(part.inside, tuple(writers))
        elif writers and (_joins(part) or (_is_users(part) and SCORES in part.asks)):
            yield part, writers


def _before(graph: Drawn, name: str) -> list[str]:
    """Nodes that come before one and never after it, as those of a loop do."""
    after = nx.descendants(graph.arrows, name)
    return [at for at in nx.ancestors(graph.arrows, name) if at in graph.parts and at not in after]


def _is_users(part: Part) -> bool:
    """Not of this package, and it says what it reads and writes: what says nothing reads and writes everything."""
    return _of_user(part.runs) and not (part.writes is not None and part.writes >= VOCABULARY)


def _joins(part: Part) -> bool:
    """Whether a function that does not say what it reads and writes takes scores and gives scores, by its source."""
    if part.inside is not None or not _of_user(part.runs) or _reads_scores(part):
        return False
    read = taken(part.runs)
    return SCORES in read.sure | read.some | read.asked and SCORES in given(part.runs).keys


def _reads_scores(part: Part) -> bool:
    return part.writes is not None and not part.writes >= VOCABULARY and SCORES in part.asks


def _of_user(runs: Any) -> bool:
    module = getattr(runs if hasattr(runs, "__qualname__") else type(runs), "__module__", "") or ""
    return not f"{module}.".startswith(PACKAGE)


def _functions(graph: Any) -> Iterator[Any]:
    """What the nodes of a graph call, its subgraphs' among them."""
    for node in getattr(getattr(graph, "builder", None), "nodes", {}).values():
        runs = function_of(node.runnable)
        if hasattr(runs, "builder"):
            yield from _functions(runs)
        else:
            yield runs


def _leaves(graph: Drawn) -> Iterator[Part]:
    for part in graph.parts.values():
        yield from _leaves_of(part)


def _leaves_of(part: Part) -> Iterator[Part]:
    """Nodes that write scores, within a node that is a graph."""
    if part.inside is not None:
        yield from _leaves(part.inside)
    elif SCORES in (part.writes or ()) or _joins(part):
        yield part


def _name(part: Part) -> str:
    """Of an agent; "" of what has none."""
    name = getattr(part.runs, "name", "")
    return name if isinstance(name, str) else ""


# What an agent is given to work with: templates whose fields it fills, assistants that somebody asks.


SAMPLE_FIELDS = ("query", "source", "output", "rival", "reference", "criteria", "criterion", "task", "statements")
_BRACED = re.compile(r"(?<!\{)\{\{?([A-Za-z_]{3,40})\}\}?")
MAY = {"name", *MAY_HAVE}  # fields that some templates have beside the others


def templates(drawn: Drawn) -> Iterator[Finding]:
    """Templates that are not there, or have a field that nobody fills; a warning for fields that they leave out.

    An agent fills the fields of its own template, the default of its setting `prompt`.
    """
    for name, part in drawn.parts.items():
        prompt = getattr(part.runs, "prompt", None) if is_agent(part.runs) else None
        if not isinstance(prompt, str) or not prompt:
            continue
        node = drawn.at(name)
        yield from _braces(node, getattr(part.runs, "instructions", None))
        try:
            has = prompts.load(prompt).fields
        except PromptError as error:
            why, cure = one_line(str(error).partition("; known")[0]), "give the path of a .md file, or the name of one"
            text = f"node '{node}': its setting 'prompt': {why}: {cure} of ours"
            yield Finding("unfit-template", node, "prompt", text)
            continue
        wanted = fields_of(part.runs, prompt)
        if not wanted or any(has | MAY == one | MAY for one in wanted):
            continue
        yield _misfit(node, prompt, has, min(wanted, key=lambda one: len(one ^ has)))


def _braces(node: str, words: Any) -> Iterator[Finding]:
    """A field in braces in what a judge is told in words: nothing is put in there."""
    for name in dict.fromkeys(_BRACED.findall(words)) if isinstance(words, str) else ():
        if near := get_close_matches(name.casefold(), SAMPLE_FIELDS, 1, 0.7):
            text = f"node '{node}': its words hold '{{{one_line(name, 40)}}}', and nothing is put in there"
            cure = f"leave it out: the {near[0]} stands in the prompt by itself; or give a template, a .md file with $"
            yield Finding("unfit-template", node, "instructions", f"{text}: {cure}{near[0]}", "warning")


def _misfit(node: str, prompt: str, has: frozenset[str], wants: frozenset[str]) -> Finding:
    lacks, more = sorted(wants - has - MAY), sorted(has - wants - MAY)
    text = f"node '{node}': its template '{one_line(prompt, 80)}'"
    if unseen := sorted(JUDGED & {*lacks}):
        cure = "what is judged must stand in it"
        return Finding("unfit-template", node, unseen[0], f"{text} lacks {_dollars(unseen)}: {cure}")
    if more:
        cure = f"its fields are {_dollars(sorted(wants))}"
        return Finding("unfit-template", node, more[0], f"{text} has {_dollars(more)}, which nobody fills: {cure}")
    cure = "put it in, or leave it so if the judge is not to see it"
    return Finding("unfit-template", node, lacks[0], f"{text} leaves out {_dollars(lacks)}: {cure}", "warning")


def _dollars(names: Iterable[str]) -> str:
    return ", ".join(f"${name}" for name in names)


def left_out_of(agent: Any, prompt: str) -> list[str]:
    """Fields that an agent fills and a template of the user's own has no place for."""
    has = prompts.load(prompt).fields
    lacks = sorted((sorted(one - has - MAY) for one in fields_of(agent, prompt)), key=len)
    return lacks[0] if lacks else []


def fields_of(agent: Any, prompt: str) -> list[frozenset[str]]:
    """The fields of each template that comes with an agent's class; none where the template is one of them."""
    module = sys.modules.get(type(agent).__module__)
    known = {field.default for field in fields(agent) if field.name == "prompt"}
    known |= {*getattr(module, "PROMPTS", {}).values()}
    found = []
    for name in sorted(one for one in known if isinstance(one, str) and one and one != prompt):
        try:
            found.append(prompts.load(name).fields)
        except PromptError:
            continue
    return [] if prompt in known else found


def assistants(graph: Drawn) -> Iterator[Finding]:
    """Assistants that an agent is told of and no node asks."""
    asked, told = set[str](), list[tuple[str, set[str]]]()
    for drawn in graph.everywhere():
        for name, part in drawn.parts.items():
            if not is_agent(part.runs) and (part.writes is None or "plan" in part.writes):
                told.append((drawn.at(name), _planned(source_of(part.runs))))
            held = getattr(part.runs, "assistants", None) if is_agent(part.runs) else None
            if isinstance(held, list | tuple):
                asked |= {str(getattr(one, "name", one)) for one in held}
            elif held:
                told.append((drawn.at(name), {*held}))
            elif is_agent(part.runs) and (tools := getattr(part.runs, "tools", None)):
                told.append((drawn.at(name), {*_tools(tools)}))
    for node, names in told:
        for name in sorted(names - asked if asked else ()):
            close = get_close_matches(name, sorted(asked), 1)
            cure = f"did you mean '{close[0]}'?" if close else f"those that are asked are {listed(sorted(asked))}"
            text = f"node '{node}' names the assistant '{name}', and no node asks it for 'findings'"
            yield Finding("unknown-assistant", node, "findings", f"{text}: {cure}")


def without_criteria(graph: Drawn) -> Iterator[Finding]:
    """Judges of a run that have no criteria and are given none, where no node of it has any: they ask nothing."""
    parts = [(part, drawn) for drawn in graph.everywhere() for part in drawn.parts.values() if part.inside is None]
    if any("criteria" in (part.writes or {"criteria"}) and _brings(part.runs) for part, _ in parts):
        return
    judges = [
        (part, drawn) for part, drawn in parts
        if "scores" in (part.writes or frozenset()) - part.reads
        and not ("runs" in part.asks and type(part.runs).__module__.startswith("judgegraph."))  # it joins others'
    ]  # fmt: skip
    asking = [(p, drawn) for p, drawn in judges if getattr(p.runs, "prompt", "") and not hasattr(p.runs, "form")]
    idle = [(part, drawn) for part, drawn in asking if not _criteria(part.runs)]
    if len(idle) < len(judges):
        return
    for part, drawn in idle:
        node, kind = drawn.at(part.name), type(part.runs).__name__
        text = f"node '{node}' judges by 'criteria', has none, and a run brings none"
        cure = f"give it some, such as {kind}(criteria=jg.criteria_set('summary').criteria)"
        yield Finding("no-criteria", node, "criteria", f"{text}: {cure}")


def unfit_criteria(graph: Drawn) -> Iterator[Finding]:
    """Agents whose criteria are none, such as a set's name, or have one name twice, of which the second is left out."""
    for name, part in graph.parts.items():
        held = getattr(part.runs, "criteria", None) if is_agent(part.runs) else None
        if held is None or not type(part.runs).__module__.startswith("judgegraph."):
            continue
        node, kind = graph.at(name), type(part.runs).__name__
        given_ = held if isinstance(held, list | tuple) else [held]
        text = f"node '{node}': its 'criteria' "
        if other := next((one for one in given_ if not isinstance(one, Criterion)), None):
            what, named = one_line(repr(other), 60), repr(held) if isinstance(held, str) else "'summary'"
            cure = f"give it {kind}(criteria=jg.criteria_set({named}).criteria)"
            yield Finding("no-criteria", node, "criteria", f"{text}hold {what}, which is no Criterion: {cure}")
            continue
        names = [one.name for one in given_]
        if twice := next((one for one in names if names.count(one) > 1), ""):
            text += f"have '{one_line(twice, 60)}' twice, and the second is left out"
            yield Finding("no-criteria", node, "criteria", f"{text}: give one of them another name", "warning")


def _brings(agent: Any) -> bool:
    """Whether it may write criteria: what hands them on, as in jg.each, brings those that it was given; a join none."""
    ours = type(agent).__module__.startswith("judgegraph.")
    return bool(_criteria(agent)) and not (ours and type(agent).__name__ == "Join")


def _criteria(agent: Any) -> Any:
    return getattr(agent, "criteria", ("of its own",))


def _tools(tools: Iterable[Any]) -> Iterator[str]:
    for tool in tools:
        if isinstance(tool, dict):
            yield str(tool.get("function", tool).get("name", ""))


def _planned(source: Source | None) -> set[str]:
    """Assistants of a plan that a function writes out: `Plan(text=..., alignment={"Fluency": ("rouge-l",)})`."""
    found: set[str] = set()
    for node in source.inside if source else ():
        if isinstance(node, ast.Call) and source and source.called(node) is Plan:
            aligned = next((word.value for word in node.keywords if word.arg == "alignment"), None)
            for value in aligned.values if isinstance(aligned, ast.Dict) else ():
                for names in source.values(value):
                    found |= (
                        {name for name in names if isinstance(name, str)} if isinstance(names, list | tuple) else set()
                    )
    return found


# What feeds a node: the nodes before it whose writing reaches it, and whether two nodes are fed alike.


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


def renamed(some: Iterable[Part], others: Iterable[Part]) -> bool:
    """Whether nodes are the same but for names, in their order and in subgraphs too."""
    return all(
        a is not None and b is not None and (
            renamed(a.inside.parts.values(), b.inside.parts.values()) if a.inside and b.inside
            else same_part(a, b) or renamed_alone(a.runs, b.runs)
        ) for a, b in zip_longest(some, others)
    )  # fmt: skip


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
        before, wanted = writers_before(level, name, wanted)
        yield from before


def writers_before(graph: Drawn, name: str, wanted: Keys) -> tuple[list[Part], Keys]:
    """The nodes before one that write what it reads, or what these read; and all keys that they read."""
    part = graph.parts[name]
    wanted = wanted | part.asks
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
    ways = [way for way in _conditions(drawn, loop) if _leads_out(way, loop)]
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
    ways = [way for way in _conditions(drawn, loop) if _leads_out(way, loop)]
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


def _leads_out(way: Way, loop: Sequence[str]) -> bool:
    return bool(set(way.ends) - set(loop)) or len(way.ends) > 1 or way.kind == "send"


def _finding(drawn: Drawn, loop: Sequence[str]) -> Finding:
    first = min(range(len(loop)), key=lambda i: _depth(drawn, loop[i]))
    turned = [*loop[first:], *loop[:first]]
    way, node = " -> ".join(drawn.at(name) for name in [*turned, turned[0]]), drawn.at(turned[0])
    if not any(_leads_out(w, loop) for w in _conditions(drawn, loop)):
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
            alone = isinstance(drawn.channels.get(key), LastValue) and not _comes_back(drawn, key, nodes)
            if len(nodes) > 1 and key not in told and (alone or _comes_late(drawn, key, nodes)):
                told.add(key)
                yield _two(drawn, key, sorted(set(nodes)))


def _comes_back(drawn: Drawn, key: str, nodes: list[str]) -> bool:
    """Whether graphs hand a key back as they were given it, all of them the same, and its channel takes that."""
    passing = all(key in drawn.parts[n].passes and key not in (drawn.parts[n].writes or NOTHING) for n in nodes)
    return isinstance(drawn.channels[key], once()) and passing and len({*nodes}) == len(nodes)


def _comes_late(drawn: Drawn, key: str, nodes: list[str]) -> bool:
    """Whether a graph hands back what another node wrote before, in the place of what its neighbour writes."""
    writers, beside = {n for n, part in drawn.parts.items() if key in (part.writes or NOTHING)}, {*nodes}
    mixed = writers & beside and beside - writers and writers - beside
    return bool(mixed) and getattr(drawn.channels.get(key), "operator", None) is latest


def _all(part: Part | None) -> Keys:
    return (part.writes or NOTHING) | part.passes if part else NOTHING


def _two(drawn: Drawn, key: str, nodes: list[str]) -> Finding:
    who, passing = listed(drawn.at(n) for n in nodes), [n for n in nodes if key in drawn.parts[n].passes]
    often = f"node {who} is sent to several times in one step, and each run writes '{key}'"
    text = often if len(nodes) == 1 else f"nodes {who} run in one step and both write '{key}'"
    late = not isinstance(drawn.channels.get(key), LastValue)
    text += ", and an earlier answer may come back in its place" if late else ", which has no reducer"
    cure = f"give the key {REDUCER}, or let one run after the other"
    if passing:
        who = f"{listed(drawn.at(n) for n in passing)} {'hands' if len(passing) == 1 else 'hand'}"
        word = "input_schema=jg.Asked" if late else "output_schema=jg.Result"
        cure = f"{who} it back as it came; write StateGraph(..., {word}) there"
    return Finding("two-writers", drawn.at(nodes[-1]), key, f"{text}: {cure}")


def reducers(drawn: Drawn) -> Iterator[Finding]:
    """Reducers that double what passes through a subgraph, do not fit their key's type, or are not there."""
    for key, channel in sorted(drawn.channels.items()):
        writers = [n for n, part in sorted(drawn.parts.items()) if key in _all(part)]
        joined = isinstance(channel, BinaryOperatorAggregate)
        alone = key in SHARED and (keeps_one(channel) if joined else isinstance(channel, LastValue))
        found = (_reducer_misfit(drawn, key, channel, writers) or _doubling(drawn, key, channel)) if joined else None
        if found or (alone and (found := _overwritten(drawn, key, writers))):
            yield found


def _reducer_misfit(drawn: Drawn, key: str, channel: Any, writers: list[str]) -> Finding | None:
    kind, made = declared(channel), plain_type(hints_of(channel.operator).get("return"))
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
    kind, name = declared(channel), getattr(channel.operator, "__name__", str(channel.operator))
    node, where = drawn.at(writers[0]) if writers else drawn.path[:-1], f" of '{drawn.path[:-1]}'" if drawn.path else ""
    who = f" (written by {listed(drawn.at(w) for w in writers)})" if writers else ""
    fitting = "jg.merged" if issubclass(kind, dict) else "one that takes and returns a " + kind.__name__
    if key in SHARED and not issubclass(kind, dict):
        fitting = "the type and the reducer that it has in jg.EvalState"
    text = f"key '{key}'{where} is a {kind.__name__}, and its reducer {name} {does}{who}: use {fitting}"
    return Finding("wrong-reducer", node, key, text)


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
    kind = declared(channel)
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
