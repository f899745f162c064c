"""Stages and agents: the scores that a node looks at are written by somebody."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from judgegraph.wiring.drawn import Drawn
from judgegraph.wiring.finding import Finding, listed
from judgegraph.wiring.judged import Judged, Wants, judged


def unseen(graph: Drawn) -> Iterator[Finding]:
    """Nodes that look at scores which nobody writes: a misspelt stage, another agent's name, a judge too few."""
    scores = judged(graph)
    if not scores.whole or all(one.rectifies for one in scores.written):  # whoever reads none is told so by its key
        return
    for want in scores.wanted:
        if not want.stages or getattr(want.condition, "own", False):
            continue
        if not scores.seen(want):
            yield _nobody(scores, want)
        elif want.condition is not None and want.condition.name == "disagree":
            yield from _alone(scores, want)


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
