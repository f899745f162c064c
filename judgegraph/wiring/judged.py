"""Scores as far as settings say: who writes which, at what stage, by what criteria; and who looks at which."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from judgegraph.agents.consensus import Consensus
from judgegraph.agents.corrector import Corrector
from judgegraph.agents.rectify import Rectify
from judgegraph.types import Scale
from judgegraph.wiring.agents import is_agent
from judgegraph.wiring.drawn import Drawn, Part

OURS = "judgegraph."
ROUNDS = "round-"  # begins a stage of a refinement
Scales = Mapping[str, Scale]  # criterion -> its scale


class Writes(NamedTuple):
    """Scores that a node writes.

    Attributes:
        at: its path. agent, stage: theirs; a stage "round-" stands for all that begin so. scales: None: not known.
        pairs: it may write several of one criterion.
    """

    at: str
    agent: str
    stage: str
    scales: Scales | None = None
    pairs: bool = False
    rectifies: bool = False


class Wants(NamedTuple):
    """Scores that a node looks at: at any of these stages, by any of these agents, None being anybody.

    Attributes:
        at: its path. how: what it does with them, in words. condition: that decides by them, where one does.
    """

    at: str
    part: Part
    how: str
    stages: tuple[str, ...]
    agents: tuple[str, ...] | None = None
    condition: Any = None


@dataclass(frozen=True)
class Judged:
    """All scores of a graph; `whole`: no node writes others, as far as that can be known."""

    written: tuple[Writes, ...]
    wanted: tuple[Wants, ...]
    whole: bool

    def seen(self, want: Wants) -> list[Writes]:
        """The scores that are looked at."""
        return [
            one for one in self.written
            if (want.agents is None or one.agent in want.agents)
            and any(stage == one.stage or (one.stage == ROUNDS and stage.startswith(ROUNDS)) for stage in want.stages)
        ]  # fmt: skip


def judged(graph: Drawn) -> Judged:
    """Of a graph, those within it included."""
    written, wanted, whole = list[Writes](), list[Wants](), "scores" not in graph.inputs
    for part, drawn, criteria in _leaves(graph, None):
        at = drawn.at(part.name)
        if (one := _written(part, drawn, criteria)) is None:
            whole = False
        written += one or ()
        wanted += _wanted(part, drawn, at)
    wanted += [want for drawn in graph.everywhere() for want in _of_ways(drawn)]
    return Judged(tuple(written), tuple(wanted), whole)


def _leaves(graph: Drawn, brought: Scales | None) -> Iterator[tuple[Part, Drawn, Scales | None]]:
    """Every node that is no graph, with the criteria that the graphs around bring it; None where they bring none."""
    own = [part.runs for part in graph.parts.values() if _is_brief(part)]
    if brought is None and own and own[0].criteria:
        brought = scales_of(own[0].criteria)
    for part in graph.parts.values():
        if part.inside is not None:
            yield from _leaves(part.inside, brought)
        else:
            yield part, graph, brought


def _ours(part: Part) -> bool:
    return is_agent(part.runs) and type(part.runs).__module__.startswith(OURS)


def _is_brief(part: Part) -> bool:
    """What gives a state its criteria: the first node of a panel, say."""
    return _ours(part) and "criteria" in (part.writes or ()) and hasattr(part.runs, "criteria")


def scales_of(criteria: Iterable[Any]) -> Scales:
    """Criterion -> scale."""
    return {c.name: c.scale for c in criteria if hasattr(c, "scale")}


def _written(part: Part, drawn: Drawn, brought: Scales | None) -> list[Writes] | None:
    """The scores that a node writes; None where that cannot be known."""
    runs, at = part.runs, drawn.at(part.name)
    if not _ours(part):
        return [] if part.writes is not None and "scores" not in part.writes else None
    kind = type(runs).__name__
    if kind == "Keep":  # copies of what a member wrote
        return [Writes(at, runs.name, runs.stage, _asked(drawn, brought))] if runs.name and runs.stage else []
    if kind == "Join":
        return []
    if "scores" not in (part.writes or ()):
        return []
    if (reviewed := getattr(runs, "reviewed", None)) is not None or isinstance(runs, Rectify):
        rounds = [Writes(at, runs.name, ROUNDS, rectifies=True)] if kind == "Rounds" else []
        return [Writes(at, runs.name, "final", rectifies=True), *rounds] if reviewed or not rounds else rounds
    if kind == "Escalated":
        return [Writes(at, runs.name, "final", rectifies=True)]
    if not hasattr(runs, "stage"):  # of aspects, whose stage has their target's name
        return []
    scales = brought if brought is not None else scales_of(getattr(runs, "criteria", ())) or None
    plain = isinstance(runs, Consensus) or (hasattr(runs, "prompt") and not hasattr(runs, "compares"))
    plain = plain and hasattr(runs, "criteria")
    return [Writes(at, runs.name, runs.stage, scales if plain else None, pairs=not plain)]


def _asked(drawn: Drawn, brought: Scales | None) -> Scales | None:
    """The scales of a member's final scores, or of the only scores that it writes; None where they are not known."""
    found = [one for part, graph, own in _leaves(drawn, brought) if type(part.runs).__name__ != "Keep"
             for one in _written(part, graph, own) or [Writes("", "", "final")]]  # fmt: skip
    last = [one for one in found if one.stage == "final"] or found
    if not last or any(one.scales is None for one in last):
        return None
    return {name: scale for one in last for name, scale in (one.scales or {}).items()}


def _wanted(part: Part, drawn: Drawn, at: str) -> list[Wants]:
    runs = part.runs
    if not _ours(part):
        return []
    if (reviewed := getattr(runs, "reviewed", None)) is not None:
        how = f"reviews 'scores' at stage '{reviewed.stage}'" + (f" by '{reviewed.of}'" if reviewed.of else "")
        return [Wants(_around(at), part, how, (reviewed.stage,), (reviewed.of,) if reviewed.of else None)]
    if (when := getattr(runs, "when", None)) is not None:
        run = getattr(runs, "run", None)
        return [_of_condition(_around(at), one, run, part) for one in conditions(when)]
    if isinstance(runs, Consensus):
        members = runs.members or (None,)
        how = f"combines 'scores' at stage '{runs.ballots}'"
        return [Wants(at, part, f"{how} by '{m}'" if m else how, (runs.ballots,), (m,) if m else None)
                for m in members]  # fmt: skip
    if isinstance(runs, Corrector):
        by = tuple(runs.scored_by)  # of some of them there may be none: a method judges singly or in pairs
        how = f"corrects by 'scores' at stage '{runs.stage}'" + (f" by {' or '.join(map(repr, by))}" if by else "")
        return [Wants(at, part, how, (runs.stage,), by or None)]
    reviews = isinstance(runs, Rectify) or "rectifications" in (part.writes or ())
    inner = any(hasattr(one.runs, "reviewed") for one in drawn.parts.values())  # it is shown what is under review
    if reviews and not inner and isinstance(getattr(runs, "stage", None), str) and "scores" in part.reads:
        verb = "rectifies" if isinstance(runs, Rectify) else "reviews"
        return [Wants(at, part, f"{verb} 'scores' at stage '{runs.stage}'", (runs.stage,))]
    return []


def _of_ways(drawn: Drawn) -> Iterator[Wants]:
    """Conditions of a graph file's edges."""
    for source, ways in drawn.ways.items():
        for route in (way.function for way in ways if isinstance(getattr(way.function, "ways", None), tuple)):
            part = drawn.parts.get(source) or Part(source, route)
            yield from (
                _of_condition(drawn.at(source), one, None, part) for w, _ in route.ways for one in conditions(w)
            )


def _around(at: str) -> str:
    """The helper that a node of ours stands in: a user knows that one by name."""
    return at.rpartition("/")[0] or at


def conditions(when: Any) -> list[Any]:
    """The single ones of a condition."""
    return [one for inner in getattr(when, "conditions", ()) for one in conditions(inner)] or [when]


def _of_condition(at: str, when: Any, run: str | None, part: Part) -> Wants:
    stage, agent = getattr(when, "stage", None), getattr(when, "agent", None)
    stages = (stage,) if isinstance(stage, str) else tuple(stage or ())
    if when.name == "disagree":
        stages = stages or ("ballot", "draft", "final")
    agents = (agent,) if agent else (run,) if run else None
    how = f"decides on 'scores' by {when.name}, at stage {' or '.join(repr(s) for s in stages)}" + (
        f" by '{agent}'" if agent else ""
    )
    return Wants(at, part, how, stages, agents, when)
