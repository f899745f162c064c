"""Why a score moved: what changed of the things it depends on, from where the move enters on. Never a guess."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from judgegraph.meta.diff.changes import CAUSES, Cause, Change, changes, holds, told
from judgegraph.meta.diff.matching import chain, roots, same_answer
from judgegraph.meta.diff.upstream import Upstream
from judgegraph.runtime.item import Item
from judgegraph.types import Comparison, Score

HasStatus: TypeAlias = Score | Comparison | Item
At: TypeAlias = Literal["score", "draft", "critic"]
JUDGED = ("query", "source", "output", "rival", "reference")  # what a judge is shown of a sample
OPERATIONAL = {"timeout", "provider_error", "over_budget", "agent_error"}  # no judgement: how the run fared
_NUMBERED = re.compile(r" \(\d+\)$")


@dataclass(frozen=True)
class Why:
    """Why one score moved.

    Attributes:
        causes: one, or several that cannot be told apart, in the order of `CAUSES`.
        at: where the move enters: "score" where nothing was drafted, "draft", or "critic" where the drafts are equal.
        changes: that it may come from.
    """

    causes: tuple[Cause, ...]
    at: At
    changes: tuple[Change, ...] = ()


class Causes:
    """Of two manifests.

    Attributes:
        changes: all between them. sides: what depends on what, in either run.
    """

    def __init__(self, a: Mapping[str, Any], b: Mapping[str, Any]) -> None:
        tables = told(a, "configuration"), told(b, "configuration")
        self.changes = changes(a, b)
        self.sides = Upstream(tables[0]), Upstream(tables[1])
        self._unknown = not (tables[0] and tables[1])
        self._strong = [change for change in self.changes if not change.weak]

    def of_score(self, a: Item, b: Item, one: Score, other: Score) -> Why:
        """Of a score that is not the same in both."""
        here, there = chain(a, one), chain(b, other)
        alike, drafted = _alike(here, there), max(len(here), len(there)) > 1
        name, data = one.criterion, data_differs(a, b)
        if not alike:
            found = self._early((here[0].agent, there[0].agent), name)
            causes = self._causes(found, data, name)
            kept = _kept(here) and _kept(there)
            late = [] if kept else self._late(here, there, 0, {change.about for change in found})
            causes = self._told(causes, a, b, here[:1] + there[:1], found, name)
            return self._why([*causes, *_critic(late)], [*found, *late], "draft" if drafted else "score", one, other)
        late = self._late(here, there, alike - 1, frozenset())
        ends = (here[-1].agent, there[-1].agent)
        found = self._own(name) or self._others(ends)
        if roots(a) != roots(b):  # a critic reads the reasons too, and may read those of other criteria
            found = self._early((here[0].agent, there[0].agent), name) or found
        causes = [*(self._causes(found, data, name) if found or data or not late else []), *_critic(late)]
        causes = causes if not late else [cause for cause in causes if cause != "noise"]
        causes = self._told(causes, a, b, [here[-1], there[-1]], [*found, *late], name)
        return self._why(causes, [*found, *late], "critic", one, other)

    def of_comparison(self, a: Item, b: Item, one: Comparison, other: Comparison) -> Why:
        """Of a verdict by one criterion."""
        found = self._early((one.agent, other.agent), one.criterion)
        causes = self._causes(found, data_differs(a, b), one.criterion)
        causes = self._told(causes, a, b, [one, other], found, one.criterion)
        return self._why(causes, found, "score", one, other)

    def of_verdict(self, a: Item, b: Item) -> Why:
        """Of the verdict over all: anything may have moved it."""
        found = self._early(None, None)
        causes = self._told(self._causes(found, data_differs(a, b), None), a, b, [], found, None)
        return self._why(causes, found, "score", a, b)

    def _told(
        self, causes: list[Cause], a: Item, b: Item, judged: Sequence[Score | Comparison], found: Sequence[Change],
        criterion: str | None,
    ) -> list[Cause]:  # fmt: skip
        """With the rung that read them, with `meta`, which a node of one's own may read, and with noise where unsure.

        Args:
            judged: of A and of B, where the move enters; none for the verdict over all.
        """
        rungs = {one.reader for one in judged if isinstance(one, Score) and one.reader}
        if len(rungs) > 1 and "model" not in causes:
            causes = [*(cause for cause in causes if cause != "noise"), "reader"]
        if causes == ["noise"] and a.sample.meta != b.sample.meta:
            causes = ["meta", "noise"]
        if not set(causes) & {"data", "criteria", "version", "noise"} and not self._before(a, b, judged, found):
            causes = [*causes, "noise"]
        return causes

    def _before(self, a: Item, b: Item, judged: Sequence[Score | Comparison], found: Sequence[Change]) -> bool:
        """Whether what changed surely stands before what moved, not behind it; of a verdict over all before a part."""
        if not judged:
            nodes = {node for side, item in zip(self.sides, (a, b), strict=True) for c in item.comparisons
                     if side.knows(c.agent) for node in side.of(c.agent)}  # fmt: skip
            return any(_concerns(change, nodes) for change in found)
        return all(side.knows(one.agent) for side, one in zip(self.sides, judged, strict=True))

    def _early(self, agents: tuple[str, str] | None, criterion: str | None) -> list[Change]:
        """Changes of all that agents' scores depend on, and of the criterion."""
        nodes: set[str] = set()
        edges: list[frozenset[str]] = []
        for place, side in enumerate(self.sides):
            own = side.nodes if agents is None else side.of(agents[place])
            nodes |= own
            edges.append(side.edges_into(own))
        found = [change for change in self._strong if _concerns(change, nodes)]
        found += [change for change in self._strong if change.edge and change.edge in edges[0] ^ edges[1]]
        found += [change for change in self._strong if change.cause == "version" and not change.node]
        return found + (self._own(criterion) or self._others(agents))

    def _own(self, criterion: str | None) -> list[Change]:
        """Changes of the criterion's definition or scale; of all criteria where none is meant."""
        known = [change for change in self._strong if change.criterion]
        return [c for c in known if criterion is None or _NUMBERED.sub("", c.criterion) == criterion]

    def _others(self, agents: tuple[str, str] | None) -> list[Change]:
        """Changes of criteria that the same nodes judge, or those before: they may share a prompt with this one."""
        if agents is None:
            return []
        beside = {name for place, side in enumerate(self.sides) for name in side.judged_by(agents[place])}
        return [change for change in self._strong if change.criterion in beside]

    def _late(self, here: Sequence[Score], there: Sequence[Score], at: int, known: Iterable[str]) -> list[Change]:
        """Changes of what stands between the drafts at a place of both chains and the scores; those known left out.

        What changed alike at the evaluator and at the critic, such as the judge of both, is one change.
        """
        nodes: set[str] = set()
        for side, row in zip(self.sides, (here, there), strict=True):
            draft = row[min(at, len(row) - 1)]
            if draft is not row[-1]:
                nodes |= side.of(row[-1].agent) - (side.of(draft.agent) if side.writers(draft.agent) else set())
        return [change for change in self._strong if _concerns(change, nodes) and change.about not in known]

    def _causes(self, found: Sequence[Change], data: bool, criterion: str | None) -> list[Cause]:
        """Of what moved first; noise where nothing changed that it depends on."""
        causes: list[Cause] = ["data"] if data else []
        own = self._own(criterion)
        for change in found:
            if change.criterion:
                causes.append("criteria" if change in own else "other criteria")
            else:
                causes.append("critic" if change.cause == "critic" else change.kind)
        if not causes and any(change.cause == "version" for change in self.changes):
            return ["version", "noise"]
        return causes if set(causes) - {"other criteria"} else [*causes, "noise"]

    def _why(
        self, causes: Sequence[Cause], found: Sequence[Change], at: At, one: HasStatus, other: HasStatus
    ) -> Why:  # fmt: skip
        if "over_budget" in (one.status, other.status):
            return Why(("failure",), at)
        if self._unknown:
            return Why(("unknown",), at)
        if OPERATIONAL & {one.status, other.status}:
            causes = ["failure", *(cause for cause in causes if cause != "noise")]
        return Why(tuple(cause for cause in CAUSES if cause in causes), at, tuple(dict.fromkeys(found)))


def data_differs(a: Item, b: Item) -> bool:
    """Whether what a judge is shown of a sample differs."""
    return any(getattr(a.sample, name) != getattr(b.sample, name) for name in JUDGED)


def _critic(late: Sequence[Change]) -> list[Cause]:
    return ["critic"] if late else []


def _alike(here: Sequence[Score], there: Sequence[Score]) -> int:
    """How many scores of two chains are alike, from the first draft on."""
    count = 0
    for a, b in zip(here, there, strict=False):
        if not same_answer(a, b):
            break
        count += 1
    return count


def _kept(row: Sequence[Score]) -> bool:
    """Whether the final score is its first draft's."""
    return same_answer(row[0], row[-1])


def _concerns(change: Change, nodes: set[str]) -> bool:
    return bool(change.node) and any(holds(change.node, node) for node in nodes)
