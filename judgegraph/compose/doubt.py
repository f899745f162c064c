"""A condition as a node: finds out what is in doubt, for the edge that decides by it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from typing_extensions import TypedDict

from judgegraph.calls.context import Doubted, context
from judgegraph.compose.conditions import EVERY, Condition, title
from judgegraph.compose.node import vocabulary
from judgegraph.compose.of_scores import BLIND, State
from judgegraph.errors import one_line
from judgegraph.types import Criterion, EvalState, Note, Notes, given_criteria, keyed

LOOKED_AT = ("sample", "criteria", "scores")  # by every condition of ours


class Decided(TypedDict, total=False):
    """What a condition leaves for the edge behind it, and for who says later why nothing was asked."""

    doubts: dict[str, str]  # criterion -> why
    notes: Notes


@dataclass(frozen=True, kw_only=True)
class Doubt:
    """Asks a condition, not a model. It is a node so that its settings are seen, and its answer is known later.

    Attributes:
        when: the condition. criteria: what was judged by, where the state brings none. name: of its note.
        note: what to note of a sample of which nothing is in doubt; "" notes nothing.
    """

    when: Condition
    criteria: Sequence[Criterion] = ()
    name: str = "gate"
    note: str = ""

    async def __call__(self, state: EvalState) -> Decided:
        seen: dict[str, Any] = {**state, "criteria": given_criteria(state) or list(self.criteria)}
        doubts = in_doubt(self.when, seen)
        notes = self._notes(seen, doubts)
        return {"doubts": doubts, "notes": keyed(*notes)} if notes else {"doubts": doubts}

    def _notes(self, state: State, doubts: Mapping[str, str]) -> list[Note]:
        """Why nothing was in doubt, and what is wrong with the condition; of no scores at all its helper tells."""
        said = self.when.remarks(state) if in_plan() is None and (self.note or state.get("scores")) else {}
        if doubts:
            said.pop(BLIND, None)
        elif self.note and BLIND not in said:
            said["gate-closed"] = self.note
        if in_plan() is None and (text := _unknown(doubts, [*dict.fromkeys([*_judged(state), *_scored(state)])])):
            said["doubt-unknown"] = text
        return [Note(agent=self.name, text=text, status="skipped", kind=kind) for kind, text in said.items()]


def in_doubt(when: Condition, state: State) -> dict[str, str]:
    """What a condition says of a state. In a plan, once a reply was invented: everything, the first criterion, nothing.

    Whatever a condition looks at, invented scores say nothing of what it will find.
    """
    forced = in_plan()
    if forced is None:
        return when(state)
    why = f"{title(when)}, in a plan"
    if forced == "first":
        return dict.fromkeys([*_judged(state)][:1] or [EVERY], why)
    return {EVERY: why} if forced else {}


def _unknown(doubts: Mapping[str, str], known: Sequence[str]) -> str:
    """What is wrong with what a condition names: no criterion of the sample; "" for nothing."""
    scored = [*known]
    lost = sorted(name for name in doubts if name != EVERY and name not in scored) if scored else []
    if not lost:
        return ""
    close = get_close_matches(lost[0], scored, 1)
    meant = f"did you mean '{one_line(close[0], 60)}'?" if close else f"there are {one_line(', '.join(scored), 120)}"
    return f"the condition finds '{one_line(lost[0], 60)}' in doubt, and no criterion has that name: {meant}"


def _judged(state: State) -> Iterable[str]:
    """Names of the criteria that a sample is judged by."""
    listed = [c.name for c in given_criteria(state) or ()]
    return listed or _scored(state)


def _scored(state: State) -> Iterable[str]:
    """Names of the criteria that have a score."""
    return dict.fromkeys(s.criterion for s in (state.get("scores") or {}).values())


def in_plan() -> Doubted:
    """Whether a plan wants to see the most that may be asked, or the least; None where a graph decides by itself."""
    run = context.get()
    return run.doubted() if run is not None and run.doubted is not None else None


def of_these(doubts: Mapping[str, str], criteria: Collection[str]) -> dict[str, str]:
    """Criterion -> why, of those among some criteria that are in doubt."""
    if EVERY in doubts:
        return {criterion: doubts.get(criterion, doubts[EVERY]) for criterion in criteria}
    return {criterion: doubts[criterion] for criterion in criteria if criterion in doubts}


def looked_at(when: Condition | None) -> Iterable[str]:
    """Keys of the state that a condition may look at."""
    if when is None:
        return ()
    return vocabulary() if when.own else LOOKED_AT
