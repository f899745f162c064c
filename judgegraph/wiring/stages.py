"""Stages and agents: the scores that a node looks at are written by somebody."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

import networkx as nx

from judgegraph.answers import ANSWERING, BALLOT
from judgegraph.types import Score
from judgegraph.wiring.code import functions
from judgegraph.wiring.drawn import Drawn, Part
from judgegraph.wiring.finding import Finding, listed
from judgegraph.wiring.judged import Judged, Wants, Writes, judged
from judgegraph.wiring.source import Source, source_of

COMMON = (*ANSWERING, BALLOT)
METRIC = "metric"
CLOSE = 0.75  # how alike two stages are that may be one, of 1


def unseen(graph: Drawn) -> Iterator[Finding]:
    """Nodes that look at scores which nobody writes: a misspelt stage, another agent's name, a judge too few."""
    scores = judged(graph)
    if not scores.whole or all(one.rectifies for one in scores.written):  # whoever reads none is told so by its key
        return
    for want in scores.wanted:
        if not want.stages or getattr(want.condition, "own", False):
            continue
        seen = scores.seen(want)
        if not seen:
            yield _nobody(scores, want)
        elif want.condition is not None and all(_behind(graph, want.at, one.at) for one in seen):
            text = f"node '{want.at}' {want.how}, and '{seen[0].at}', which writes such scores, comes behind it"
            yield Finding("no-such-scores", want.at, "scores", f"{text}: put it before '{want.at}'")
        elif want.condition is not None and want.condition.name == "disagree":
            yield from _alone(scores, want)


def _behind(graph: Drawn, node: str, other: str) -> bool:
    """Whether one node always comes before another: a way leads from it to the other, and none back."""
    first, second = node.split("/")[0], other.split("/")[0]
    arrows = graph.arrows
    if first == second or not {first, second} <= {*graph.parts}:
        return False
    return nx.has_path(arrows, first, second) and not nx.has_path(arrows, second, first)


def _nobody(scores: Judged, want: Wants) -> Finding:
    near = [one for one in scores.written if one.stage in want.stages or one.stage == "round-"]
    text = f"node '{want.at}' {want.how}, and no node writes any such score"
    if want.agents and near:  # the stage is there, the agent is not
        known = sorted({one.agent for one in near})
        close = get_close_matches(want.agents[0], known, 1)
        cure = f"did you mean '{close[0]}'?" if close else f"at that stage there are those by {listed(known)}"
    else:
        some = [one for one in scores.written if want.agents is None or one.agent in want.agents]
        known = sorted({one.stage if one.stage != "round-" else "round-1" for one in some or scores.written})
        close = get_close_matches(want.stages[0], known, 1)
        cure = f"there are scores at stage {listed(known)}" if known else "add a node before it that writes scores"
        cure = f"did you mean '{close[0]}'?" if close else cure
    return Finding("no-such-scores", want.at, "scores", f"{text}: {cure}")


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
        if reviews and want.stages == (BALLOT,) and want.agents is None and panels:
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
        known = _criteria(scores, [one for one in scores.written if one.stage != METRIC] if own else scores.seen(want))
        if not known:
            continue
        if own:
            source = source_of(getattr(want.condition, "decide", None))
            lost = sorted((_named(source) | _alike(source, known)) - known - _metrics(graph))
            if lost:
                text = f"node '{want.at}' decides on 'scores' by a function that finds '{lost[0]}' in doubt"
                yield _by_nobody(want, text, lost[0], known)
        elif want.condition is None:
            asked = [c.name for c in getattr(want.part.runs, "criteria", ()) or () if hasattr(c, "name")]
            if asked and not known & {*asked}:
                yield _by_nobody(want, f"node '{want.at}' {want.how}, by '{asked[0]}'", asked[0], known)


def _criteria(scores: Judged, seen: list[Writes]) -> frozenset[str]:
    """Criteria of some scores; none where those of any are not known."""
    if not scores.whole or any(one.scales is None for one in seen if not one.rectifies):
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


def _named(source: Source | None) -> set[str]:
    """Criteria that a condition of one's own writes out."""
    found: set[str] = set()
    if source is None or source.yields:
        return found
    for node in source.returned:
        for one in _lists(source, node, 3):
            items = [key for key in one.keys if key] if isinstance(one, ast.Dict) else getattr(one, "elts", [])
            if isinstance(one, ast.ListComp | ast.SetComp | ast.GeneratorExp):
                items = [one.elt]
            elif isinstance(one, ast.DictComp):
                items = [one.key]
            for item in items:
                found |= {value for value in source.values(item) if isinstance(value, str)}
    return found


def _alike(source: Source | None, known: frozenset[str]) -> set[str]:
    """Texts that a condition gives and that are spelt nearly as a criterion; any other text stands for true."""
    returned = source.returned if source and not source.yields else ()
    values = [value for node in returned if node is not None and source for value in source.values(node)]
    return {text for text in values if isinstance(text, str) and get_close_matches(text, known, 1, CLOSE)}


def _lists(source: Source, node: ast.expr | None, depth: int) -> Iterator[ast.expr]:
    """The lists and mappings that an expression may come to."""
    if node is None or depth < 0:
        return
    if isinstance(node, ast.IfExp):
        parts: list[Any] = [node.body, node.orelse]
    elif isinstance(node, ast.BoolOp):
        parts = node.values
    elif isinstance(node, ast.Name):
        parts = source.assigned.get(node.id, [])
    elif isinstance(node, ast.Call) and source.called(node) in (list, tuple, set, sorted, dict) and node.args:
        parts = node.args[:1]
    else:
        yield node
        return
    for one in parts:
        yield from _lists(source, one, depth - 1)


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
