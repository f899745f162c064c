"""Scores: no two agents of a run write theirs under one key, unless they are the same; nor what else has a name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

from judgegraph.agents.consensus import Consensus
from judgegraph.agents.rectify import Rectify
from judgegraph.wiring.agents import is_agent
from judgegraph.wiring.drawn import Drawn, Part
from judgegraph.wiring.feeding import fed_alike, parted, same
from judgegraph.wiring.finding import Finding

NAMED = ("scores", "comparisons", "corrections", "aspects")  # keys whose entries are told apart by who wrote them


class Writer(NamedTuple):
    """An agent that writes one of these keys, in which graph, and its path."""

    part: Part
    graph: Drawn
    at: str


def same_scores(drawn: Drawn) -> Iterator[Finding]:
    """Agents of one name and stage with different settings, or fed differently, that overwrite each other.

    Of what else they write it is told where their graphs have not been told of.
    """
    told: set[str] = set()
    graphs: set[tuple[str, str]] = set()
    for key, one, other in ((k, *pair) for k in NAMED for pair in combinations(_writers(drawn, k), 2)):
        where = parted(drawn, one.at, other.at)
        if where is None or _mark(key, one.part) != _mark(key, other.part) or other.at in told:
            continue
        common, (first, *_), (second, *_) = where
        pair = (common.at(first), common.at(second))
        if key != "scores" and pair in graphs:
            continue
        if _may_meet(one.part.runs, other.part.runs) and not _alike(drawn, one, other):
            if not common.steps.together(first, second):
                continue
            told.add(other.at)
            graphs.add(pair)
            yield _finding(key, one, other, common, second)


def _finding(key: str, one: Writer, other: Writer, common: Drawn, second: str) -> Finding:
    agent, what = other.part.runs, "chains of aspects" if key == "aspects" else key
    name = agent.chains if key == "aspects" else agent.name
    about = f" under the name '{name}'" if name else " without a name"
    if key == "scores" and (_settles(agent) or hasattr(agent, "stage")):
        about += f" at stage '{_mark(key, other.part)[1]}'"
    text = f"nodes '{one.at}' and '{other.at}' both write {what}{about}, so the later overwrite the earlier"
    return Finding("same-scores", other.at, key, f"{text}: {_cure(key, agent, common, second)}")


def _cure(key: str, agent: Any, common: Drawn, second: str) -> str:
    graph = getattr(common.parts[second].runs, "builder", None)
    if hasattr(graph, "method_settings"):
        return f"give the method at '{common.at(second)}' a name, such as name='{second}'"
    if key == "aspects":
        return f"give one of them another name, such as {type(agent).__name__}(chains='{second}')"
    new = f"name='{agent.name}-2'"
    if isinstance(agent, Consensus) and hasattr(graph, "nodes"):
        return f"give one of them another name, such as jg.panel(..., {new})"
    return f"give one of them another name, such as {new if _settles(agent) else f'{type(agent).__name__}({new})'}"


def _writers(drawn: Drawn, key: str) -> list[Writer]:
    """Agents that write a key, in subgraphs too."""
    return [
        Writer(part, graph, graph.at(name))
        for graph in drawn.everywhere()
        for name, part in graph.parts.items()
        if key in (part.writes or ()) and is_agent(part.runs) and getattr(part.runs, "name", None)
        if (key != "aspects" or hasattr(part.runs, "chains"))
        and (key != "comparisons" or getattr(part.runs, "compares", True))
    ]


def _mark(key: str, part: Part) -> tuple[str, ...]:
    """What entries are told apart by; an agent that reads verdicts writes at another stage than it reads."""
    agent = part.runs
    if key != "scores":
        return (agent.chains if key == "aspects" else agent.name,)
    stage = "final" if _settles(agent) else str(getattr(agent, "stage", type(agent).__name__))
    of = getattr(agent, "of", "output")  # which response of a pair, where it is another than usual
    reads = "rectifications" in part.reads | part.may_read
    return agent.name, stage, str(reads), "rival" if of == "rival" else "output"


def _settles(agent: Any) -> bool:
    """Whether it writes final scores as a critic says, in the critic's name."""
    return isinstance(agent, Rectify) or hasattr(agent, "reviewed")


def _alike(drawn: Drawn, one: Writer, other: Writer) -> bool:
    """Whether both write the same: by their settings, by the critics whose verdicts they go by, by what feeds them."""
    critics = [_critics(writer) if _settles(writer.part.runs) else {} for writer in (one, other)]
    return one.part.runs == other.part.runs and same(*critics) and fed_alike(drawn, one.at, other.at)


def _critics(one: Writer) -> dict[str, Part]:
    return {name: part for name, part in one.graph.parts.items() if "rectifications" in (part.writes or ())}


def _may_meet(one: Any, other: Any) -> bool:
    """Whether both may judge by a criterion of one name."""
    if not hasattr(one, "criteria") and (asked := getattr(one, "assistants", None)) is not None:
        return _same_metric(asked, getattr(other, "assistants", ()))
    names = [{getattr(c, "name", c) for c in getattr(agent, "criteria", ()) or ()} for agent in (one, other)]
    return not all(names) or bool(names[0] & names[1])


def _same_metric(one: Any, other: Any) -> bool:
    """Whether two metrics of one name are not the same metric: each is its own criterion."""
    known = {getattr(assistant, "name", None): assistant for assistant in one}
    named = {getattr(assistant, "name", None): assistant for assistant in other}
    return any(known[name] != named[name] for name in known.keys() & named.keys())
