"""Agents: each has a judge that can be asked; and the graphs of the assistants that they ask."""

from __future__ import annotations

import ast
import copy
import sys
from collections.abc import Collection, Iterable, Iterator
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from types import BuiltinFunctionType, NoneType
from typing import Any, get_type_hints

import networkx as nx

from judgegraph import prompts
from judgegraph.answers import Precedence
from judgegraph.errors import PromptError, one_line, scrubbed
from judgegraph.models.judges import Endpoint
from judgegraph.prompts.template import JUDGED, MAY_HAVE
from judgegraph.types import Criterion, Plan
from judgegraph.wiring.code import Finding, Source, function_of, hints_of, listed, members, plain_type, source_of
from judgegraph.wiring.drawn import VOCABULARY, Drawn, Part
from judgegraph.wiring.drawn import drawn as drawn_of
from judgegraph.wiring.functions import given, taken

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
        elif writers and (_joins(part) or (_is_users(part) and SCORES in part.reads | part.may_read)):
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
    return part.writes is not None and not part.writes >= VOCABULARY and SCORES in part.reads | part.may_read


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


# A reducer by itself: it is tried on empty values and on values of one entry, as LangGraph would call it.


PLAIN = (dict, list, tuple, set, frozenset, str, int, float, bool)  # classes with an empty value
NUMBERS = {int, float, complex, bool}


def fits(kind: Any, made: Any) -> bool:
    """Whether what a reducer says it returns may be a key's value; made: None where it does not say."""
    if made is None or {kind, made} <= NUMBERS:
        return True
    try:
        return issubclass(made, kind) or issubclass(kind, made)
    except TypeError:  # a protocol, which has no subclasses to ask for
        return True


def fails(channel: Any, kind: Any, given: Collection[Any]) -> list[Any]:
    """Classes of updates, of those that are written, whose empty value a reducer cannot join with a key's first value.

    Args:
        kind: the class of the key. given: of what nodes write; without any, an operator is tried with the key's own.
    """
    if not channel.is_available():  # it has no first value: LangGraph joins nothing with the first update
        return []
    known = list(given) or ([kind] if isinstance(channel.operator, BuiltinFunctionType) else [])
    return [one for one in known if one in (kind, *PLAIN) and _raises(channel, kind, one)]


def _raises(channel: Any, kind: Any, given: Any) -> bool:
    first = copy.copy(channel.value)
    update = copy.copy(channel.value) if given is kind else given()
    try:
        channel.operator(first, update)
    except (TypeError, AttributeError):
        return True
    except Exception:  # it wants more than an empty value
        return False
    return False


def doubles(reducer: Any, kind: Any) -> bool:
    """Whether joining a list of one with itself makes it longer."""
    one = kind([object()])
    try:
        return len(reducer(kind(one), kind(one))) > 1
    except Exception:  # it wants values of its own kind
        return False


def keeps_one(channel: Any) -> bool:
    """Whether of two mappings, or two lists, one is lost."""
    pairs: dict[type, Any] = {dict: ({"a": object()}, {"b": object()}), list: ([object()], [object()])}
    one, other = pairs.get(type(getattr(channel, "value", None)), (None, None))
    if one is None:
        return False
    try:
        return channel.operator(copy.copy(one), copy.copy(other)) in (one, other)
    except Exception:  # it wants values of its own kind
        return False


# What an agent is given to work with: templates whose fields it fills, assistants that somebody asks.


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
    judges = [(part, drawn) for part, drawn in parts if "scores" in (part.writes or frozenset()) - part.reads]
    idle = [(part, drawn) for part, drawn in judges if getattr(part.runs, "prompt", "") and not _criteria(part.runs)]
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
