"""Scores as far as settings say: who writes which, at what stage, by what criteria; and who looks at which."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import combinations, product
from typing import Any, NamedTuple

import networkx as nx

from judgegraph.agents.sage import Rectify
from judgegraph.answers import ANSWERING, BALLOT, METRIC
from judgegraph.compiled import spec_of
from judgegraph.errors import one_line
from judgegraph.types import Scale, Score
from judgegraph.wiring.code import Finding, Source, functions, listed, mentions, source_of
from judgegraph.wiring.drawn import Drawn, Part, hints_of_state, own_functions, renamed_alone
from judgegraph.wiring.functions import compared, named_texts
from judgegraph.wiring.graph import fed_alike, is_agent, parted, renamed, same, writers_before

OURS = "judgegraph."
Scales = Mapping[str, Scale]  # criterion -> its scale
Clash = tuple[str, Scale, Scale]  # a criterion, and the two scales it is known on


def _is_a(name: str, agent: Any) -> bool:
    """Whether it is an agent of ours by that name, or one made from it; no file of agents is read to know."""
    return any(one.__name__ == name and one.__module__.startswith(f"{OURS}agents.") for one in type(agent).__mro__)


class Writes(NamedTuple):
    """Scores that a node writes.

    Attributes:
        at: its path. agent, stage: theirs. scales: None: not known.
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

    @property
    def reviews(self) -> bool:
        """Whether a critic says something of these scores, or a node applies what it says."""
        runs = self.part.runs
        of_critic = isinstance(runs, Rectify) or "rectifications" in (self.part.writes or ())
        return self.condition is None and (of_critic or getattr(runs, "reviewed", None) is not None)


@dataclass(frozen=True)
class Judged:
    """All scores of a graph.

    Attributes:
        foreign: paths of the nodes that may write others, of which nothing is known; "" where the graph's input may
            hold some. graph: the whole one.
    """

    written: tuple[Writes, ...]
    wanted: tuple[Wants, ...]
    foreign: tuple[str, ...]
    graph: Drawn

    @property
    def whole(self) -> bool:
        """No node writes others, as far as that can be known."""
        return not self.foreign

    def sure(self, want: Wants) -> bool:
        """Whether all scores are known that this node may find: none by a node that may come before it."""
        return all(at and _behind(self.graph, want.at, at) for at in self.foreign)

    def seen(self, want: Wants) -> list[Writes]:
        """The scores that are looked at."""
        return [
            one for one in self.others(want)
            if (want.agents is None or one.agent in want.agents)
            and one.stage in want.stages
        ]  # fmt: skip

    def others(self, want: Wants) -> list[Writes]:
        """The scores that it may look at: none are of its own making, and none of a judge within a panel before it."""
        if not want.reviews:
            return list(self.written)
        within = self._members(want)
        name = getattr(want.part.runs, "name", None)
        return [
            one for one in self.written
            if not (one.rectifies and (one.agent == name or one.at == want.at or one.at.startswith(f"{want.at}/")))
            and one not in within
        ]  # fmt: skip

    def panels(self, want: Wants) -> list[Writes]:
        """What panels before a critic came to, of those that hold a judge whose scores it would review."""
        own = [
            one for one in self._members(want)
            if one.stage in want.stages and (want.agents is None or one.agent in want.agents)
        ]  # fmt: skip
        held = {at for at in self._consensus() if any(one.at.startswith(f"{_around(at)}/") for one in own)}
        return sorted((one for one in self.written if one.at in held), key=lambda one: len(one.at))

    def _members(self, want: Wants) -> list[Writes]:
        """What judges of panels wrote on the way to a panel's answer, of panels that hold not this node too."""
        found = []
        for at in self._consensus():
            prefix = f"{_around(at)}/"
            if not want.at.startswith(prefix):
                found += [one for one in self.written if one.at.startswith(prefix) and one.at != at]
        return found

    def _consensus(self) -> list[str]:
        """Paths of the nodes that combine votes within panels."""
        found = dict.fromkeys(one.at for one in self.wanted if _is_a("Consensus", one.part.runs))
        return [at for at in found if "/" in at]


def judged(graph: Drawn) -> Judged:
    """Of a graph, those within it included."""
    written, wanted, foreign = list[Writes](), list[Wants](), [""] if "scores" in graph.inputs else []
    for part, drawn, criteria in _leaves(graph, None):
        at = drawn.at(part.name)
        if (one := _written(part, drawn, criteria)) is None:
            foreign.append(at)
        written += one or ()
        wanted += _wanted(part, drawn, at)
    wanted += [want for drawn in graph.everywhere() for want in _of_ways(drawn)]
    found = Judged(tuple(written), tuple(wanted), tuple(foreign), graph)
    return replace(found, written=tuple(one._replace(scales=_settled(found, one)) for one in written))


def _settled(scores: Judged, one: Writes, passed: frozenset[str] = frozenset()) -> Scales | None:
    """The scales of scores, of final ones those of what was reviewed; None where they are not known."""
    if not one.rectifies or one.scales is not None or one.at in passed:
        return one.scales
    wants = [want for want in scores.wanted if want.reviews and want.at in (one.at, _around(one.at))]
    known = [_settled(scores, other, passed | {one.at}) for want in wants for other in scores.seen(want)]
    return {name: scale for scales in known for name, scale in (scales or {}).items()} if all(known) else None


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
        numbers = range(1, runs.most + 1) if kind == "Rounds" else ()
        rounds = [Writes(at, runs.name, f"round-{number}", rectifies=True) for number in numbers]
        return [Writes(at, runs.name, "final", rectifies=True), *rounds] if reviewed or not rounds else rounds
    if kind == "Escalated":
        return [Writes(at, runs.name, "final", brought, rectifies=True)]
    if not hasattr(runs, "stage"):  # of aspects, whose stage has their target's name
        return []
    scales = brought if brought is not None else scales_of(getattr(runs, "criteria", ())) or None
    plain = _is_a("Consensus", runs) or (hasattr(runs, "prompt") and not hasattr(runs, "compares"))
    plain = plain and hasattr(runs, "criteria")
    known = plain or (brought is not None and "criterion" in part.reads)  # it is sent each of them
    return [Writes(at, runs.name, runs.stage, scales if known else None, pairs=not plain)]


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
    if (heard := getattr(runs, "hears", ())) and (stage := getattr(runs, "at", None)) is not None:
        stages = (stage,) if stage else ("final", "draft", BALLOT)
        where = f" at stage '{stage}'" if stage else ""
        return [Wants(at, part, f"hears 'scores'{where} by '{one}'", stages, (one,)) for one in heard]
    if _is_a("Consensus", runs):
        members = runs.members or (None,)
        how = f"combines 'scores' at stage '{runs.ballots}'"
        return [Wants(at, part, f"{how} by '{m}'" if m else how, (runs.ballots,), (m,) if m else None)
                for m in members]  # fmt: skip
    if _is_a("Corrector", runs):
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


# Scales: thresholds lie on them, scores that are put together share them, and what needs numbers has some.


WIDEST = 0.5  # standard deviation as a share of the range, half at either end


def unfit(graph: Drawn) -> Iterator[Finding]:
    """Thresholds off their scale, and scales that clash."""
    scores = judged(graph)
    for want in scores.wanted:
        known = _known(scores, want)
        if want.condition is not None and known:
            yield from _threshold(want, known)
        elif want.condition is not None and (some := _known(scores, want, some=True)):  # an own node may write others
            yield from (replace(found, severity="warning") for found in _threshold(want, some))
        elif _is_a("Corrector", want.part.runs):
            yield from _corrector(want, known)
    yield from _clashing(scores)


def _known(scores: Judged, want: Wants, some: bool = False) -> Scales:
    """Criterion -> scale of the scores that are looked at; none where some are not known, unless `some` will do."""
    seen = scores.seen(want)
    if not (some or scores.sure(want)) or any(one.scales is None for one in seen if not one.rectifies):
        return {}
    return {name: scale for one in seen for name, scale in (one.scales or {}).items()}


def _threshold(want: Wants, scales: Scales) -> Iterator[Finding]:
    """A threshold that every score of a criterion passes, or none."""
    when = want.condition
    if when.name == "low":
        yield from _low(want, {name: scale for name, scale in scales.items() if scale.low is not None}, scales)
    elif when.name == "wide" and all(when.above >= _widest(scale) for scale in scales.values()):
        most = max(map(_widest, scales.values()))
        what = f"decides on 'scores' by wide(above={when.above:g}), and none of {_some(scales)} can be so wide"
        yield _finding(want, what, f"give a value below {most:g}")


def _low(want: Wants, numbers: Scales, scales: Scales) -> Iterator[Finding]:
    below, by = want.condition.below, "decides on 'scores' by low"
    if not numbers:
        what = f"{by}, and all its criteria ({_some(scales)}) have labels, which are never low"
        yield _finding(want, what, "decide by jg.wide(), or give them a scale of numbers")
    elif below is None and want.condition.share == 0:
        yield _finding(want, f"{by}(share=0), and no score is below that", "give a share above 0, such as 0.5")
    for criterion, scale in numbers.items() if below is not None else ():
        low, high = scale.low or 0.0, scale.high or 0.0
        if not low < below <= high:
            which = "every" if below > high else "no"
            what = f"{by}(below={below:g}), and '{criterion}' is judged on {scale}: {which} score of it is low"
            yield _finding(want, what, f"give a value above {low:g}, {high:g} at most, or low(share=...), 0 to 1")
            return


def _widest(scale: Scale) -> float:
    return 1 - 1 / len(scale.labels) if scale.labels else WIDEST


def _some(scales: Scales) -> str:
    return ", ".join([*scales][:3])


def _finding(want: Wants, what: str, cure: str) -> Finding:
    return Finding("unfit-scale", want.at, "scores", f"node '{want.at}' {what}: {cure}")


def _corrector(want: Wants, scales: Scales) -> Iterator[Finding]:
    agent: Any = want.part.runs
    if not 1 <= agent.threshold <= 5:
        what = f"corrects by 'scores' {agent.rule} {agent.threshold:g}, which is not on the scale 1-5"
        yield _finding(want, what, "the paper's is 3; it is carried over to the same place on any other scale")
    if scales and all(scale.low is None for scale in scales.values()):
        what = f"corrects by 'scores' what was low, and its criteria ({_some(scales)}) have labels"
        yield _finding(want, what, "give them a scale of numbers, or leave the corrector out")


def _clashing(scores: Judged) -> Iterator[Finding]:
    """Ballots of one criterion on two scales, and critics that know another scale than the judge."""
    for at in dict.fromkeys(want.at for want in scores.wanted if _is_a("Consensus", want.part.runs)):
        yield from _ballots(at, [one for want in scores.wanted if want.at == at for one in scores.seen(want)])
    for want in scores.wanted:
        if want.reviews:
            yield from _critic(scores, want)


def _ballots(at: str, cast: list[Writes]) -> Iterator[Finding]:
    for one, other in combinations(cast, 2):
        if clash := _clash(one.scales, other.scales):
            text = f"node '{at}' puts 'scores' of '{one.agent}' and '{other.agent}' together, and they judge"
            yield _clashes(at, text, clash, "give both the same criteria, such as panel(..., criteria=...)")
            return


def _critic(scores: Judged, want: Wants) -> Iterator[Finding]:
    for agent, clash in _off_scale(scores, want)[:1]:
        text = f"node '{want.at}' reviews 'scores' of '{agent}', and the two know"
        yield _clashes(want.at, text, clash, "give both the same criteria")


def _off_scale(scores: Judged, want: Wants) -> list[tuple[str, Clash]]:
    """Agents of which a critic reviews a criterion that it, or one of its critics, knows on another scale."""
    critics: list[Any] = [want.part.runs, *dict(getattr(want.part.runs, "members", {})).values()]
    both = product(scores.seen(want), (scales_of(getattr(critic, "criteria", ())) for critic in critics))
    return [(one.agent, clash) for one, known in both if (clash := _clash(known, one.scales))]


def _clash(one: Scales | None, other: Scales | None) -> Clash | None:
    both = [c for c in one or {} if c in (other or {})]
    return next(((c, one[c], other[c]) for c in both if one and other and one[c] != other[c]), None)


def _clashes(at: str, text: str, clash: Clash, cure: str) -> Finding:
    criterion, one, other = clash
    return Finding("unfit-scale", at, "scores", f"{text} '{criterion}' on {one} and on {other}: {cure}")


# Scores: no two agents of a run write theirs under one key, unless they are the same; nor what else has a name.


NAMED = (  # keys whose entries are told apart by who wrote them
    "scores", "rectifications", "comparisons", "corrections", "aspects",
)  # fmt: skip


class Writer(NamedTuple):
    """An agent that writes one of these keys, in which graph, and its path."""

    part: Part
    graph: Drawn
    at: str


def same_scores(drawn: Drawn) -> Iterator[Finding]:
    """Agents of one name and stage with different settings, or fed differently, that overwrite each other, and one
    opinion given twice. Of what else they write it is told where their graphs have not been told of.
    """
    told: set[str] = set()
    graphs: set[tuple[str, str]] = set()
    for key, one, other in ((k, *pair) for k in NAMED for pair in combinations(_writers(drawn, k), 2)):
        where = parted(drawn, one.at, other.at)
        apart = key == "scores" and renamed_alone(one.part.runs, other.part.runs)
        if where is None or other.at in told or not (apart or _mark(key, one.part) == _mark(key, other.part)):
            continue
        common, (first, *_), (second, *_) = where
        pair = (common.at(first), common.at(second))
        twins = key == "scores" and _twins(one, other, common, first, second)
        if (apart and not twins) or (pair in graphs and (twins or key != "scores")):
            continue
        if key == KEY and (one.graph is not other.graph or _in_turn(common, first, second)):
            continue  # of one critic's rounds the later stands
        if not _may_meet(one.part.runs, other.part.runs) or not common.steps.together(first, second):
            continue
        if not (apart or _alike(drawn, one, other)):
            told.add(other.at)
            graphs.add(pair)
            yield _score_finding(key, one, other, common, second)
        elif one.graph is not other.graph and "scores" not in common.parts[second].asks:
            if twins:  # a method that stands twice
                graphs.add(pair)
                yield _opinion(*pair, "are one method with the same settings: one opinion", apart, False)
        elif key == "scores" and _settles(other.part.runs):
            told.add(other.at)
            of = "one critic's verdicts" if apart else f"the same verdicts of critic '{other.part.runs.name}'"
            yield _opinion(one.at, other.at, f"apply {of}", apart, apart)
        elif key == "scores" and hasattr(other.part.runs, "judge") and one.graph is other.graph:
            told.add(other.at)
            yield _opinion(one.at, other.at, "ask one judge the same: they are one opinion", apart, False)


def _opinion(one: str, other: str, why: str, twice: bool, wrong: bool) -> Finding:
    counts = "it counts twice, under two names" if twice else "it counts once"
    text = f"nodes '{one}' and '{other}' {why}, and {counts}: leave one out, or give it another judge and name"
    return Finding("same-opinion", other, "scores", text, "error" if wrong else "warning")


def _score_finding(key: str, one: Writer, other: Writer, common: Drawn, second: str) -> Finding:
    agent, what = other.part.runs, "chains of aspects" if key == "aspects" else key
    name = agent.chains if key == "aspects" else agent.name
    about = f" under the name '{name}'" if name else " without a name"
    if key == "scores" and (_settles(agent) or hasattr(agent, "stage")):
        about += f" at stage '{_mark(key, other.part)[1]}'"
    text = f"nodes '{one.at}' and '{other.at}' both write {what}{about}, so the later overwrite the earlier"
    return Finding("same-scores", other.at, key, f"{text}: {_cure(key, agent, common, second)}")


def _cure(key: str, agent: Any, common: Drawn, second: str) -> str:
    graph = getattr(common.parts[second].runs, "builder", None)
    if spec_of(graph) is not None:
        return f"give the method at '{common.at(second)}' a name, such as name='{second}'"
    if key == "aspects":
        return f"give one of them another name, such as {type(agent).__name__}(chains='{second}')"
    new = f"name='{agent.name}-2'"
    if _is_a("Consensus", agent) and hasattr(graph, "nodes"):
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
    return agent.name, stage, str("rectifications" in part.asks), "rival" if of == "rival" else "output"


def _settles(agent: Any) -> bool:
    """Whether it writes final scores as a critic says, in the critic's name."""
    return isinstance(agent, Rectify) or hasattr(agent, "reviewed")


def _alike(drawn: Drawn, one: Writer, other: Writer) -> bool:
    """Whether both write the same: by their settings, by the critics whose verdicts they go by, by what feeds them."""
    critics = [_critics(writer) if _settles(writer.part.runs) else {} for writer in (one, other)]
    return one.part.runs == other.part.runs and same(*critics) and fed_alike(drawn, one.at, other.at)


def _twins(one: Writer, other: Writer, common: Drawn, first: str, second: str) -> bool:
    """Whether what makes their scores differs in names alone: the graphs around them, or in one graph their critics."""
    if one.graph is other.graph:
        names = [writer.part.runs.name for writer in (one, other)]
        by = ([c for c in _critics(one).values() if getattr(c.runs, "name", "") == name] for name in names)
        return not _settles(one.part.runs) or renamed(*by)
    parts = [common.parts[first], common.parts[second]]
    before = [writers_before(common, part.name, frozenset())[0] for part in parts if "scores" not in part.asks]
    return renamed(parts[:1], parts[1:]) and before[:1] == before[1:]


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


# Stages and agents: the scores that a node looks at are written by somebody.


COMMON = (*ANSWERING, BALLOT)
CLOSE = 0.75  # how alike two stages are that may be one, of 1


def unseen(graph: Drawn) -> Iterator[Finding]:
    """Nodes that look at scores which nobody writes: a misspelt stage, another agent's name, a judge too few."""
    scores = judged(graph)
    if all(one.rectifies for one in scores.written):  # whoever reads none is told so by its key
        return
    for want in scores.wanted:
        if not want.stages or getattr(want.condition, "own", False):
            continue
        seen = scores.seen(want)
        if not scores.sure(want):
            yield from _misspelt(scores, want) if not seen else ()
        elif not seen:
            yield _nobody(scores, want)
        elif want.condition is not None and all(_behind(graph, want.at, one.at) for one in seen):
            text = f"node '{want.at}' {want.how}, and '{seen[0].at}', which writes such scores, comes behind it"
            yield Finding("no-such-scores", want.at, "scores", f"{text}: put it before '{want.at}'")
        elif want.condition is not None and want.condition.name == "disagree":
            yield from _alone(scores, want)


def _misspelt(scores: Judged, want: Wants) -> Iterator[Finding]:
    """An agent that no known node is, and whose name is nearly one that is there: a node of one's own may be it."""
    known = sorted({one.agent for one in scores.others(want)})
    for name in want.agents or ():
        if name not in known and (close := get_close_matches(name, known, 1, CLOSE)):
            text = f"node '{want.at}' {want.how}, and no node that is known writes any such score"
            yield Finding("no-such-scores", want.at, "scores", f"{text}: did you mean '{close[0]}'?", "warning")


def _in_turn(graph: Drawn, one: str, other: str) -> bool:
    """Whether a way leads from one node to the other, or back."""
    return nx.has_path(graph.arrows, one, other) or nx.has_path(graph.arrows, other, one)


def _behind(graph: Drawn, node: str, other: str) -> bool:
    """Whether one node always comes before another: a way leads from it to the other, and none back."""
    first, second = node.split("/")[0], other.split("/")[0]
    arrows = graph.arrows
    if first == second or not {first, second} <= {*graph.parts}:
        return False
    return nx.has_path(arrows, first, second) and not nx.has_path(arrows, second, first)


def _nobody(scores: Judged, want: Wants) -> Finding:
    written = scores.others(want)
    near = [one for one in written if one.stage in want.stages or one.stage == "round-"]
    text = (
        f"node '{want.at}' {want.how}, and no node{' but itself' if _own(scores, want) else ''} writes any such score"
    )
    if panels := scores.panels(want):  # its answer would stand beside the critic's, reviewed by nobody
        text = f"node '{want.at}' {want.how}, and these are a vote of the panel '{panels[0].agent}'"
        cure = f"review what the panel came to, by stage='{panels[0].stage}', of='{panels[0].agent}'"
        plain = getattr(want.part.runs, "reviewed", None) is None  # a critic by itself, where jg.critique is refused
        if plain and want.stages == (BALLOT,) and want.agents is None:  # who names that stage may mean the votes
            return Finding("no-such-scores", want.at, "scores", f"{text}: {cure}", "warning")
    elif want.agents and near:  # the stage is there, the agent is not
        known = sorted({one.agent for one in near})
        close = get_close_matches(want.agents[0], known, 1)
        cure = f"did you mean '{close[0]}'?" if close else f"at that stage there are those by {listed(known)}"
    else:
        some = [one for one in written if want.agents is None or one.agent in want.agents]
        known = sorted({one.stage for one in some or written})
        close = get_close_matches(want.stages[0], known, 1)
        cure = f"there are scores at stage {listed(known)}" if known else "add a node before it that writes scores"
        cure = f"did you mean '{close[0]}'?" if close else cure
    return Finding("no-such-scores", want.at, "scores", f"{text}: {cure}")


def _own(scores: Judged, want: Wants) -> bool:
    """Whether a critique's own final scores stand where it looks."""
    return any(
        one.rectifies and one.stage in want.stages and (want.agents is None or one.agent in want.agents)
        for one in scores.written
    )


def _alone(scores: Judged, want: Wants) -> Iterator[Finding]:
    """A condition by which judges disagree, where there is one judge."""
    found = [one for one in scores.seen(want) if not one.rectifies]
    if len({one.agent for one in found}) == 1 and not any(one.pairs for one in found):
        text = f"node '{want.at}' decides on 'scores' by disagree, and '{found[0].agent}' alone writes such scores"
        cure = "add another judge before it, or decide by jg.wide() or jg.low(...)"
        yield Finding("no-such-scores", want.at, "scores", f"{text}, so nothing is ever in doubt: {cure}")


def votes_reviewed(graph: Drawn) -> Iterator[Finding]:
    """Critics of a panel's ballots: these are votes, and the panel's own score stays unreviewed beside the critic's."""
    scores = judged(graph)
    for want in scores.wanted:
        reviews = getattr(want.part.runs, "reviewed", None) is not None
        panels = sorted({one.agent for one in scores.written if _combines(scores, one)})
        if reviews and want.stages == (BALLOT,) and want.agents is None and panels and scores.seen(want):
            text = f"node '{want.at}' {want.how}, and these are votes, of which it would take the last judge's"
            yield Finding(
                "no-such-scores", want.at, "scores",
                f"{text}: review what the panel came to, by stage='final', of='{panels[0]}'",
            )  # fmt: skip


def _combines(scores: Judged, one: Writes) -> bool:
    return any(want.at == one.at and hasattr(want.part.runs, "ballots") for want in scores.wanted)


def astray(graph: Drawn) -> Iterator[Finding]:
    """Critics, panels and conditions of criteria by which nobody judges."""
    scores = judged(graph)
    if any("criteria" in (part.writes or ()) and part.inside is None and not hasattr(part.runs, "criteria")
           for one in graph.everywhere() for part in one.parts.values()):  # fmt: skip
        return  # a node of one's own says by what is judged
    for want in scores.wanted:
        own = want.condition is not None and getattr(want.condition, "own", False)
        known = _criteria_in_stages(
            scores, want, [one for one in scores.written if one.stage != METRIC] if own else scores.seen(want)
        )
        if not known:
            continue
        if own:
            source = source_of(getattr(want.condition, "decide", None))
            lost = sorted((named_texts(source) | _alike_in_stages(source, known)) - known - _metrics(graph))
            if lost:
                text = f"node '{want.at}' decides on 'scores' by a function that finds '{lost[0]}' in doubt"
                yield _by_nobody(want, text, lost[0], known)
        elif want.condition is None:
            asked = [c.name for c in getattr(want.part.runs, "criteria", ()) or () if hasattr(c, "name")]
            if asked and not known & {*asked}:
                yield _by_nobody(want, f"node '{want.at}' {want.how}, by '{asked[0]}'", asked[0], known)
            elif (other := {*asked} - known) and (bare := known - {*asked}) and not _off_scale(scores, want):
                text = f"node '{want.at}' {want.how}, has criteria that no node judges by ({listed(sorted(other))}), "
                text += f"and none for {listed(sorted(bare))}: give both the same criteria"
                yield Finding("no-such-criteria", want.at, "scores", text, "warning")


def _criteria_in_stages(scores: Judged, want: Wants, seen: list[Writes]) -> frozenset[str]:
    """Criteria of some scores; none where those of any are not known."""
    if not scores.sure(want) or any(one.scales is None for one in seen if not one.rectifies):
        return frozenset()
    return frozenset(name for one in seen for name in one.scales or {})


def _metrics(graph: Drawn) -> frozenset[str]:
    """Names of metrics, which are their own criteria."""
    held = [getattr(part.runs, "assistants", ()) for one in graph.everywhere() for part in one.parts.values()]
    return frozenset(str(getattr(metric, "name", metric)) for metrics in held for metric in metrics or ())


def _by_nobody(want: Wants, text: str, criterion: str, known: frozenset[str]) -> Finding:
    close = get_close_matches(criterion, sorted(known), 1)
    cure = f"did you mean '{close[0]}'?" if close else f"give both the same criteria; there are {listed(sorted(known))}"
    return Finding("no-such-criteria", want.at, "scores", f"{text}, and no node judges by it: {cure}")


def _alike_in_stages(source: Source | None, known: frozenset[str]) -> set[str]:
    """Texts that a condition gives and that are spelt nearly as a criterion; any other text stands for true."""
    returned = source.returned if source and not source.yields else ()
    values = [value for node in returned if node is not None and source for value in source.values(node)]
    return {text for text in values if isinstance(text, str) and get_close_matches(text, known, 1, CLOSE)}


def miscompared(graph: Drawn) -> Iterator[Finding]:
    """Functions that look for scores by a name that no score has, and that is spelt nearly as one that some have."""
    scores = judged(graph)
    known = {
        "agent": {one.agent for one in scores.written}, "stage": {one.stage for one in scores.written},
        "criterion": {name for one in scores.written for name in one.scales or {}} | _metrics(graph),
    }  # fmt: skip
    own = [(drawn, *found) for drawn in graph.everywhere() for found in own_functions(drawn)]
    said = {id(source): mentions(source.function) for *_, source in own}
    for drawn, at, who, source in own:
        others = frozenset[str]().union(*(words for one, words in said.items() if one != id(source)))
        for name, text in dict.fromkeys(compared(source, hints_of_state(drawn, source))):
            near = get_close_matches(text, sorted(known.get(name, ())), 1, CLOSE)
            if near and text not in known[name] | others and not any(char.isdigit() for char in text):
                what = f"{who} looks in 'scores' for {name} '{text}', and no node writes such a score"
                yield Finding("no-such-scores", at, "scores", f"{what}: did you mean '{near[0]}'?", "warning")


def silent(graph: Drawn) -> Iterator[Finding]:
    """Conditions of one's own that return nothing on some way through them."""
    for want in judged(graph).wanted:
        if want.condition is None or not getattr(want.condition, "own", False):
            continue
        decide = getattr(want.condition, "decide", None)
        source = source_of(decide)
        if source is None or source.yields or isinstance(source.tree, ast.Lambda):
            continue
        if any(one is None or (isinstance(one, ast.Constant) and one.value is None) for one in source.returned):
            name = one_line(getattr(decide, "__name__", type(decide).__name__), 60)
            text = f"node '{want.at}' decides by {name}, which returns nothing on some way through it"
            cure = "return True, False or the criteria in doubt on every way"
            yield Finding("forgotten-return", want.at, "scores", f"{text}: {cure}")


def of_one(graph: Drawn) -> Iterator[Finding]:
    """Panels of one member, or with criteria of one member, whose answer would be called a panel's."""
    scores = judged(graph)
    panels = {want.at: want.part.runs for want in scores.wanted if _is_a("Consensus", want.part.runs)}
    for at, panel in panels.items():
        if len(panel.members) == 1:
            text = f"node '{at}' combines the scores of '{panel.members[0]}' alone"
            cure = "name more members, or take its scores as they are"
            yield Finding("panel-of-one", at, "scores", f"{text}: {cure}", "warning")
            continue
        cast = {one for want in scores.wanted if want.at == at for one in map(_by_member, scores.seen(want))}
        judges = {c: [agent for agent, known in cast if c in known] for _, known in cast for c in known}
        alone = sorted((agents[0], c) for c, agents in judges.items() if len(agents) == 1)
        if alone and len(cast) > 1 and all(known for _, known in cast):
            text = f"node '{at}' combines 'scores', and '{alone[0][1]}' is judged by '{alone[0][0]}' alone"
            more = f", {len(alone)} of {len(judges)} criteria by one member each" if len(alone) > 1 else ""
            cure = "give all members the same criteria, such as panel(..., criteria=...)"
            yield Finding("panel-of-one", at, "scores", f"{text}{more}: {cure}", "warning")


def _by_member(one: Writes) -> tuple[str, frozenset[str]]:
    return one.agent, frozenset(one.scales or ())


def misspelt(graph: Drawn) -> Iterator[Finding]:
    """Scores at a stage that is spelt nearly as one that counts, and at which nobody looks."""
    scores = judged(graph)
    wanted = {stage for want in scores.wanted for stage in want.stages}
    for drawn in graph.everywhere():
        for name, part in drawn.parts.items():
            if part.inside is not None or isinstance(part.runs, type):
                continue
            for stage in sorted(_stages(part) - wanted):
                if meant := _meant(stage):
                    node = drawn.at(name)
                    text = f"node '{node}' writes 'scores' at stage '{stage}', at which nobody looks"
                    yield Finding("no-such-stage", node, "scores", f"{text}: did you mean '{meant}'?")


def _meant(stage: str) -> str:
    """The stage that may have been meant, "" for none: "final-2" is another one."""
    if stage in COMMON or any(re.match(rf"{known}[\d_:.-]", stage) for known in COMMON):
        return ""
    return next(iter(get_close_matches(stage.lower().strip(), COMMON, 1, CLOSE)), "")


def _stages(part: Part) -> set[str]:
    """Stages that a node's setting or its source names."""
    if part.writes is not None and "scores" not in part.writes:
        return set()
    own = getattr(part.runs, "stage", None)
    found = {own} if isinstance(own, str) and "rectifications" not in (part.writes or part.reads) else set()
    for function in functions(part.runs) if not hasattr(part.runs, "prompt") else ():
        source = source_of(function)
        for node in source.inside if source else ():
            if isinstance(node, ast.Call) and source and source.called(node) is Score:
                said = [word.value for word in node.keywords if word.arg == "stage"]
                found |= {value for one in said for value in source.values(one) if isinstance(value, str)}
    return found


def unanswered(graph: Drawn) -> Iterator[Finding]:
    """Judges of a run whose scores all stand at stages that hold no answer, and that nobody combines."""
    scores = judged(graph)
    leaves = [part for one in graph.everywhere() for part in one.parts.values() if part.inside is None]
    others = any({"overall", "verdict", "comparisons"} & (part.writes or {"overall"}) for part in leaves)
    if others or not scores.whole or any(one.stage in ANSWERING for one in scores.written):
        return
    for one in scores.written:
        if not one.pairs:
            text = (
                f"node '{one.at}' writes 'scores' at stage '{one.stage}' alone, and no score of the graph is an answer"
            )
            yield Finding("no-such-stage", one.at, "scores", f"{text}: give it stage='final'")


# Verdicts: what a critic says of scores is applied by somebody behind it.


KEY = "rectifications"


def unapplied(graph: Drawn) -> Iterator[Finding]:
    """Critics behind which nobody reads their verdicts, so that no score changes by what was paid for.

    A graph that names the key in its output_schema gives the verdicts themselves.
    """
    if not graph.gives(KEY):
        yield from _of(graph)


def misnamed(graph: Drawn) -> Iterator[Finding]:
    """Rectify nodes that name a critic which is not there: their final scores would name it all the same."""
    parts = [(drawn, part) for drawn in graph.everywhere() for part in drawn.parts.values() if part.inside is None]
    critics = [part for _, part in parts if not isinstance(part.runs, Rectify) and KEY in (part.writes or {KEY})]
    names = {getattr(part.runs, "name", None) if part.writes is not None else None for part in critics}
    if not names or not all(isinstance(name, str) and name for name in names) or KEY in graph.inputs:
        return  # of a function nobody knows what it calls itself; without any critic the key has no writer
    for drawn, part in parts:
        if isinstance(part.runs, Rectify) and part.runs.name not in names:
            node, name, known = drawn.at(part.name), part.runs.name, sorted(map(str, names))
            close = get_close_matches(name, known, 1) or (known if len(known) == 1 else [])
            cure = f"did you mean Rectify(name='{close[0]}')?" if close else f"the critics are {listed(known)}"
            text = f"node '{node}' applies 'rectifications' by '{name}', and no critic has that name"
            usual = name == Rectify.name  # what it is called where nobody named it: only its name is wrong then
            yield Finding("no-such-critic", node, KEY, f"{text}: {cure}", "warning" if usual else "error")


def elsewhere(graph: Drawn) -> Iterator[Finding]:
    """Rectify nodes that apply what a critic says of scores at one stage to those at another."""
    parts = [
        (drawn.at(part.name), part.runs, part) for drawn in graph.everywhere() for part in drawn.parts.values()
        if _ours(part) and not any(hasattr(one.runs, "reviewed") for one in drawn.parts.values())
    ]  # fmt: skip
    for at, runs, _ in parts:
        if not isinstance(runs, Rectify):
            continue
        said = {one.stage: where for where, one, part in parts
                if KEY in (part.writes or ()) and "scores" in part.reads and one.name == runs.name}  # fmt: skip
        if said and runs.stage not in said:
            stage, critic = min(said.items())
            text = f"node '{at}' rectifies 'scores' at stage '{runs.stage}', and '{critic}' reviews those at '{stage}'"
            yield Finding("no-such-scores", at, "scores", f"{text}: give both the same stage")


def _of(graph: Drawn) -> Iterator[Finding]:
    """In a graph whose own verdicts nobody outside it reads."""
    for name, part in graph.parts.items():
        if KEY not in (part.writes or ()) or _applied(graph, name):
            continue
        if part.inside is not None:
            yield from _of(part.inside)
        elif not part.reads & {KEY} and "scores" in part.reads:
            node = graph.at(name)
            cure = (
                f"add Rectify(name='{getattr(part.runs, 'name', name)}') behind it, or use jg.critique, which holds one"
            )
            text = f"node '{node}' writes 'rectifications', and no node behind it reads them, so no score changes"
            more = "where the verdicts themselves are wanted, name the key in the graph's output_schema="
            yield Finding("unapplied-verdicts", node, KEY, f"{text}: {cure}; {more}")


def _applied(graph: Drawn, name: str) -> bool:
    """Whether some node behind one reads verdicts; on a loop that is each of its nodes."""
    return any(_reads(graph.parts[other]) for other in nx.descendants(graph.arrows, name) if other in graph.parts)


def _reads(part: Part) -> bool:
    if part.inside is not None:  # a critique, say, does not take in what was said of other scores
        return KEY in part.inside.given and any(_reads(one) for one in part.inside.parts.values())
    return KEY in part.asks or (not isinstance(part.runs, type) and KEY in mentions(part.runs))
