"""Scores: no two agents of a run write theirs under one key, unless they are the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any, NamedTuple

from judgegraph.agents.rectify import Rectify
from judgegraph.wiring.agents import is_agent
from judgegraph.wiring.drawn import Drawn, Part
from judgegraph.wiring.finding import Finding


class Scoring(NamedTuple):
    """An agent that writes scores, in which graph, and its path."""

    part: Part
    graph: Drawn
    at: str


def same_scores(drawn: Drawn) -> Iterator[Finding]:
    """Agents of one name and stage with different settings, whose scores overwrite each other."""
    told = set()
    for one, other in combinations(_scoring(drawn), 2):
        if _mark(one.part) != _mark(other.part) or _alike(one, other) or not _may_meet(one.part.runs, other.part.runs):
            continue
        if not _meet(drawn, one.at, other.at) or other.at in told:
            continue
        told.add(other.at)
        name, stage, *_ = _mark(one.part)
        about = f"the name '{name}'" + (f" at stage '{stage}'" if stage else "")
        text = f"nodes '{one.at}' and '{other.at}' both write scores under {about}, so the later overwrite the earlier"
        cure = f"give one of them another name, such as {_cure(other)}"
        yield Finding("same-scores", other.at, "scores", f"{text}: {cure}", "warning")


def _cure(one: Scoring) -> str:
    agent = one.part.runs
    return f"name='{agent.name}-2'" if _settles(agent) else f"{type(agent).__name__}(name='{agent.name}-2')"


def _scoring(drawn: Drawn) -> list[Scoring]:
    """Agents that write scores, in subgraphs too."""
    return [
        Scoring(part, graph, graph.at(name))
        for graph in drawn.everywhere()
        for name, part in graph.parts.items()
        if "scores" in (part.writes or ()) and is_agent(part.runs) and getattr(part.runs, "name", None)
    ]


def _mark(part: Part) -> tuple[str, str, bool, str]:
    """What scores are told apart by; an agent that reads verdicts writes at another stage than it reads."""
    agent = part.runs
    stage = "final" if _settles(agent) else str(getattr(agent, "stage", type(agent).__name__))
    of = getattr(agent, "of", "output")  # which response of a pair, where it is another than usual
    return agent.name, stage, "rectifications" in part.reads | part.may_read, "rival" if of == "rival" else "output"


def _settles(agent: Any) -> bool:
    """Whether it writes final scores as a critic says, in the critic's name."""
    return isinstance(agent, Rectify) or hasattr(agent, "reviewed")


def _alike(one: Scoring, other: Scoring) -> bool:
    """Whether both write the same: their settings are the same, and so are the critics whose verdicts they go by."""
    critics = [_critics(scoring) if _settles(scoring.part.runs) else {} for scoring in (one, other)]
    return one.part.runs == other.part.runs and _same(*critics)


def _critics(one: Scoring) -> dict[str, Part]:
    return {name: part for name, part in one.graph.parts.items() if "rectifications" in (part.writes or ())}


def _same(one: Mapping[str, Part], other: Mapping[str, Part]) -> bool:
    """Whether nodes are the same by name and settings, in subgraphs too; of functions by where they are written."""
    return one.keys() == other.keys() and all(_same_part(one[name], other[name]) for name in one)


def _same_part(one: Part, other: Part) -> bool:
    if one.inside is not None and other.inside is not None:
        return _same(one.inside.parts, other.inside.parts)
    codes = [getattr(part.runs, "__code__", None) for part in (one, other)]
    return bool(one.runs == other.runs) or (codes[0] is not None and codes[0] == codes[1])


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


def _meet(drawn: Drawn, one: str, other: str) -> bool:
    """Whether some run has both in it: it depends on the graph in which their paths part."""
    graph, first, second = drawn, one.split("/"), other.split("/")
    while first[0] == second[0]:
        inner = graph.parts[first[0]].inside
        if inner is None:
            return False
        graph, first, second = inner, first[1:], second[1:]
    return graph.steps.together(first[0], second[0])
