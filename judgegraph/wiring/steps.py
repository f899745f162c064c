"""All runs of a graph, step by step, without running a node: what LangGraph would start, whatever conditions say.

A step is the set of nodes that run together. An edge triggers its end in the next step; a deferred node waits until
nothing else is triggered; a list edge waits for all its sources; what is sent runs in the next step, deferred or not.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import networkx as nx
from langgraph.graph import START

from judgegraph.wiring.drawn import Drawn
from judgegraph.wiring.ways import Choice

MOST = 4_000  # steps that are looked at
WIDE = 1_000  # choices side by side
MIXED = 64  # choices of one node that is sent to several times


class Run(NamedTuple):
    """A node in a step; sent: by `Send`, with a payload of its own, perhaps several times."""

    node: str
    sent: bool = False


class Step(NamedTuple):
    """What runs now, which deferred nodes wait, and who has arrived at which join."""

    runs: frozenset[Run]
    waiting: frozenset[str] = frozenset()
    arrived: frozenset[tuple[int, str]] = frozenset()


FIRST = Step(frozenset({Run(START)}))


@dataclass
class Steps:
    """Attributes:
    graph: from every step to those that may follow. empty: nodes whose empty fan-out may end a run.
    whole: all of them were looked at.
    """

    graph: nx.DiGraph[Step] = field(default_factory=nx.DiGraph)
    empty: set[str] = field(default_factory=set)
    whole: bool = True

    def running(self, node: str) -> list[Step]:
        """Steps in which a node runs."""
        return [step for step in self.graph if any(run.node == node for run in step.runs)]

    def ends(self) -> list[Step]:
        """Where runs are over: steps in which nothing runs."""
        return [step for step in self.graph if not step.runs]

    def after(self, node: str) -> set[Step]:
        """Steps behind one in which a node runs."""
        todo = [later for step in self.running(node) for later in self.graph.successors(step)]
        found: set[Step] = set()
        while todo:
            step = todo.pop()
            if step not in found:
                found.add(step)
                todo += self.graph.successors(step)
        return found

    def together(self, one: str, other: str) -> bool:
        """Whether some run has both nodes in it, side by side or one after the other."""
        first, second = set(self.running(one)), set(self.running(other))
        return bool(first & second or self.after(one) & second or self.after(other) & first)

    def way_to(self, step: Step, passing: Iterable[Step] = ()) -> list[Step] | None:
        """The shortest way to a step that avoids others; None where there is none."""
        gone = set(passing) - {step}
        view = nx.restricted_view(self.graph, gone, ())
        try:
            found: list[Step] = nx.shortest_path(view, FIRST, step)
        except (nx.NetworkXNoPath, nx.NodeNotFound):
            return None
        return found


def explore(drawn: Drawn) -> Steps:
    """Every step that some run of the graph takes, at most some thousands."""
    found = Steps()
    found.graph.add_node(FIRST)
    todo = deque([FIRST])
    while todo:
        step = todo.popleft()
        for choice in _together(drawn, step, found):
            after = _after(drawn, step, choice)
            if not after.runs:
                found.empty |= choice.empty
                found.graph.add_edge(step, after)
                continue
            if after not in found.graph:
                if len(found.graph) >= MOST:
                    found.whole = False
                    continue
                todo.append(after)
            found.graph.add_edge(step, after)
    return found


def _together(drawn: Drawn, step: Step, found: Steps) -> Iterable[Choice]:
    """What the nodes of a step may choose, all of them at once."""
    so_far = {Choice()}
    for run in sorted(step.runs):
        options = _options(drawn, run)
        if len(so_far) * len(options) > WIDE:
            found.whole, options = False, options[:1]
        so_far = {one | other for one in so_far for other in options}
    return so_far


def _options(drawn: Drawn, run: Run) -> list[Choice]:
    """What may follow one node, its plain edges and each of its conditional ones."""
    found = [Choice(to=frozenset(b for a, b in drawn.edges if a == run.node))]
    for way in drawn.ways.get(run.node, ()):
        found = [one | other for one in found for other in way.choices()]
    return [*found, *_unions(found)] if run.sent else found  # several of it run, and they need not agree


def _unions(options: Iterable[Choice]) -> set[Choice]:
    """What several runs of one node may choose between them; of too many only all at once."""
    found: set[Choice] = set()
    for option in options:
        one = Choice(option.to, option.sent)
        found |= {one, *(one | other for other in found)}
        if len(found) > MIXED:
            return {
                Choice(*(frozenset().union(*names) for names in zip(*((o.to, o.sent) for o in options), strict=True)))
            }
    return found


def _after(drawn: Drawn, step: Step, choice: Choice) -> Step:
    """The step that LangGraph makes of all that was chosen."""
    led, names = choice.to & set(drawn.parts), {run.node for run in step.runs}
    arrived = step.arrived | {(i, a) for i, (many, _) in enumerate(drawn.joins) for a in names & many}
    full = {i for i, (many, _) in enumerate(drawn.joins) if {a for j, a in arrived if j == i} == many}
    late = {i for i in full if drawn.parts[drawn.joins[i][1]].defer}
    waiting = step.waiting | {name for name in led if drawn.parts[name].defer}
    now, over = {*(led - waiting), *(drawn.joins[i][1] for i in full - late)}, full - late
    if not now:  # LangGraph looks at edges alone here: what is sent does not hold deferred nodes back
        now, waiting, over = {*waiting, *(drawn.joins[i][1] for i in late)}, frozenset(), full
    runs = frozenset({*(Run(name) for name in now), *(Run(name, True) for name in choice.sent)})
    return Step(runs, waiting, frozenset((i, a) for i, a in arrived if i not in over))
