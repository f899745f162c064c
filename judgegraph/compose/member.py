"""Runs that stand side by side: each in a subgraph of its own, so that it is known who wrote what, and one join."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, get_type_hints

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from typing_extensions import TypedDict

from judgegraph.compose.failure import Failure, contained
from judgegraph.compose.node import keys, schema, vocabulary
from judgegraph.errors import one_line
from judgegraph.types import (
    Asked,
    Criterion,
    EvalState,
    Note,
    Notes,
    Score,
    Scores,
    given_criteria,
    joined,
    keyed,
    merged,
)

Node = CompiledStateGraph[Any, None, Any, Any]


class Runs(TypedDict, total=False):
    """What runs leave for the join."""

    runs: Annotated[dict[str, dict[str, Any]], merged]  # whose -> key of the state -> what it wrote there


class Entry(EvalState, Runs, total=False):
    """A state with what says whose run it is."""

    entry: str
    failure: Failure  # where the run raised instead of writing


class Briefed(TypedDict, total=False):
    """What all runs are told alike."""

    criteria: list[Criterion]
    task: str
    notes: Notes


JOINED = tuple(key for key, hint in vocabulary().items() if {merged, joined} & {*getattr(hint, "__metadata__", ())})
"""Keys in which several runs may write: those that hold one answer (plan, overall, verdict) tell nobody whose it is."""


RUNS = get_type_hints(Runs, include_extras=True)


@dataclass(frozen=True, kw_only=True)
class Brief:
    """Gives a state without criteria those of the graph; where there are none either, says so."""

    criteria: Sequence[Criterion] = ()
    task: str = ""
    name: str = "brief"

    async def __call__(self, state: Asked) -> Briefed:
        asked = list(given_criteria(state) or self.criteria)
        if not asked:
            note = Note(agent=self.name, text="no criteria: nothing was asked", status="skipped", kind="no-criteria")
            return {"notes": keyed(note)}
        task = state.get("task") or self.task
        return {"criteria": asked, "task": task} if task else {"criteria": asked}


@dataclass(frozen=True, kw_only=True)
class Keep:
    """Hands what a run wrote to the join, under its name.

    Attributes:
        keys: of the state. name: whose run it is, "" where the state says so.
        stage: at which its answers are copied as ballots, by its name: those at stage "final", where it wrote any, else
            those at the stage it wrote last; of several agents' the last. "" copies none.
    """

    keys: tuple[str, ...]
    name: str = ""
    stage: str = ""

    async def __call__(self, state: Entry) -> Runs:
        wrote: dict[str, Any] = {key: value for key, value in state.items() if key in self.keys}
        if failure := state.get("failure"):
            wrote = self._failed(failure, given_criteria(state) or ())
        elif self.stage:
            asked = {c.name for c in given_criteria(state) or ()}
            scores = wrote.get("scores", {}).values()
            wrote["ballots"] = self._ballots([s for s in scores if not asked or s.criterion in asked])
        return {"runs": {self.name or state["entry"]: wrote}}

    def _ballots(self, scores: Sequence[Score]) -> Scores:
        stages = [s.stage for s in scores]
        stage = "final" if "final" in stages else stages[-1] if stages else ""
        answers = {(s.criterion, s.of, s.repeat): s for s in scores if s.stage == stage}
        return keyed(*map(self._ballot, answers.values()))

    def _failed(self, failure: Failure, criteria: Sequence[Criterion]) -> dict[str, Any]:
        """A ballot without an answer for each criterion, and a note for where none is known."""
        about: dict[str, Any] = {"agent": self.name, "status": failure.status}
        ballots = (
            Score(criterion=c.name, stage=self.stage, scale=c.scale, reason=failure.reason, **about) for c in criteria
        )
        note = Note(text=f"failed: {failure.reason}", kind="panel-member-failed", **about)
        return {"ballots": keyed(*ballots), "notes": keyed(note)}

    def _ballot(self, score: Score) -> Score:
        if (score.agent, score.stage) == (self.name, self.stage):
            return score
        notes = (*score.notes, f"taken from {score.key}")
        mine = {"agent": self.name, "stage": self.stage, "notes": notes, "raw": None, "draft": None}
        return score.model_copy(update=mine)


@dataclass(frozen=True, kw_only=True)
class Join:
    """Joins what runs wrote, in their order; runs that wrote one key differently are told of, and neither counts.

    Attributes:
        order: whose runs, in the order in which they count; empty: as they were sent. name: of its notes.
    """

    name: str
    order: tuple[str, ...] = ()

    async def __call__(self, state: Entry) -> EvalState:
        runs = state.get("runs") or {}
        entries = [entry for entry in self.order or runs if entry in runs]
        ordered = [runs[entry] for entry in entries]
        found: dict[str, Any] = {}
        clashes: list[str] = []
        for key in dict.fromkeys(key for wrote in ordered for key in wrote if key != "ballots"):
            values = [wrote[key] for wrote in ordered if key in wrote]
            if isinstance(values[0], Mapping):
                before: Any = state.get(key) or {}
                found[key], lost = _union([_new(value, before) for value in values])
                clashes += [f"{key}: {name}" for name in lost]
            else:
                found[key] = [one for value in values for one in value]
        if ballots := [wrote["ballots"] for wrote in ordered if "ballots" in wrote]:
            scores = {**found.get("scores", {}), **{k: s for cast in ballots for k, s in cast.items()}}
            found["scores"] = _signed(scores, {entry: runs[entry] for entry in entries})
        texts = [f"{one_line(clash)}: several runs differ, left out" for clash in clashes]
        notes = [Note(agent=self.name, text=text, kind="runs-differ") for text in texts]
        notes += [] if self.order else self._dropped(given_criteria(state), ordered)
        found["notes"] = {**found.get("notes", {}), **keyed(*notes)}
        made: EvalState = found  # type: ignore[assignment]
        return made

    def _dropped(self, asked: Sequence[Criterion], runs: Sequence[Mapping[str, Any]]) -> list[Note]:
        """A note on criteria whose runs gave no score, where others gave one."""
        written = [wrote.get(key, {}) for wrote in runs for key in ("scores", "comparisons")]
        known = {one.criterion for entries in written for one in entries.values()}
        lost = [one_line(c.name, 60) for c in asked if c.name not in known]
        if not lost or len(lost) == len(asked):
            return []
        text = f"{len(asked)} criteria were given, {len(asked) - len(lost)} scored: no score of {', '.join(lost[:5])}"
        return [Note(agent=self.name, text=text, status="skipped", kind="criteria-dropped")]


def _new(values: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Without what stood in the state before the run: a graph gives it back with what it wrote."""
    return {key: value for key, value in values.items() if key not in before or before[key] != value}


def _signed(scores: Scores, runs: Mapping[str, Mapping[str, Any]]) -> Scores:
    """What runs wrote that came to ballots: each score names the member that wrote it, as it is no answer by itself."""
    members: dict[str, str] = {}
    for member, wrote in runs.items():
        for key in (*wrote.get("scores", ()), *wrote["ballots"]) if "ballots" in wrote else ():
            members.setdefault(key, member)
    return {k: s.model_copy(update={"member": members[k]}) if k in members else s for k, s in scores.items()}


def _union(mappings: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], list[str]]:
    """All entries, and the keys under which several differ, which are left out."""
    found: dict[str, Any] = {}
    lost: dict[str, None] = {}
    for key, value in (item for values in mappings for item in values.items()):
        if key in found and found[key] != value:
            lost[key] = None
        found[key] = value
    return {key: value for key, value in found.items() if key not in lost}, list(lost)


def member(node: Any, *, entry: str = "", ballots: str = "") -> Node:
    """A graph of one run of a node: START -> ask -> keep -> END.

    It reads what the node reads, and writes `runs` alone. Where its answers are ballots, a node that raises has failed
    ones; else what it raises goes on.
    """
    reads, writes = keys(node)
    kept = tuple(key for key in JOINED if key in writes)
    hints = vocabulary()
    inward = {**reads, "criteria": hints["criteria"]} | ({} if entry else {"entry": str})
    between = {**reads, **writes, **inward}
    between = {key: hints.get(key, hint) for key, hint in between.items()} | RUNS
    if ballots:
        between["failure"] = Failure
    state = schema("Member", between)
    graph = StateGraph(state, input_schema=schema("Told", inward), output_schema=Runs)
    graph.add_node("ask", node)
    graph.add_node("keep", Keep(keys=kept, name=entry, stage=ballots), input_schema=state)
    graph.add_edge(START, "ask")
    graph.add_edge("ask", "keep")
    graph.add_edge("keep", END)
    made = graph.compile(name=entry or "run")
    return contained(made, "ask") if ballots else made
