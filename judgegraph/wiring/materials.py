"""What an agent is given to work with: templates whose fields it fills, assistants that somebody asks."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from dataclasses import fields
from difflib import get_close_matches
from typing import Any

from judgegraph import prompts
from judgegraph.errors import PromptError, one_line
from judgegraph.types import Criterion, Plan
from judgegraph.wiring.agents import is_agent
from judgegraph.wiring.drawn import Drawn
from judgegraph.wiring.finding import Finding, listed
from judgegraph.wiring.source import Source, source_of

MAY = {"name"}  # a field that some templates have beside the others


def templates(drawn: Drawn) -> Iterator[Finding]:
    """Templates that are not there, lack a field that the agent fills, or have one that nobody fills.

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
        wanted = _fields(part.runs, prompt)
        if not wanted or any(has | MAY == one | MAY for one in wanted):
            continue
        yield _misfit(node, prompt, has, min(wanted, key=lambda one: len(one ^ has)))


def _misfit(node: str, prompt: str, has: frozenset[str], wants: frozenset[str]) -> Finding:
    lacks, more = sorted(wants - has - MAY), sorted(has - wants - MAY)
    said = [f"lacks {_dollars(lacks)}"] if lacks else []
    said += [f"has {_dollars(more)}, which nobody fills"] if more else []
    text = f"node '{node}': its template '{one_line(prompt, 80)}' {' and '.join(said)}"
    cure = f"its fields are {_dollars(sorted(wants))}, each at least once"
    return Finding("unfit-template", node, (lacks or more)[0], f"{text}: {cure}")


def _dollars(names: Iterable[str]) -> str:
    return ", ".join(f"${name}" for name in names)


def _fields(agent: Any, prompt: str) -> list[frozenset[str]]:
    """The fields of each template that comes with an agent's class; those that are none are left out."""
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
