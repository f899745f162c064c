"""What nodes write is checked where it enters a run, so that a wrong value fails its sample with node, key and cure.

`strict` does the same for plain LangGraph.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from operator import is_
from typing import Any, TypeGuard, get_args

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.config import get_config
from pydantic import BaseModel

from judgegraph.compiled import updates
from judgegraph.errors import ConfigError, ScaleError, StateError, given_as, one_line, settings_checked
from judgegraph.trace.record import STATUSES
from judgegraph.trace.watched import NodeInfo, Scales, checks, copied
from judgegraph.types import (
    Comparison,
    Correction,
    Criterion,
    EvalState,
    Finding,
    Note,
    Plan,
    Rectification,
    Sample,
    Scale,
    Score,
    Suggestion,
    Verdict,
    given_criteria,
    sample_of,
)

MAPPED: Mapping[str, tuple[type, str]] = {  # key of the state -> what its entries are, and how one is written
    "scores": (Score, "keyed(Score(criterion=..., agent=..., value=..., scale=...))"),
    "rectifications": (Rectification, "keyed(Rectification(criterion=..., agent=..., action=...))"),
    "findings": (Finding, "{NAME: Finding(assistant=NAME, value=...)}"),
    "comparisons": (Comparison, "keyed(Comparison(criterion=..., agent=..., verdict=...))"),
    "corrections": (Correction, "keyed(Correction(of='output', text=...))"),
    "notes": (Note, "keyed(Note(agent=..., text=...))"),
    "branches": (Criterion, "{KEY: Criterion(name=...)}"),
}
SINGLE: Mapping[str, tuple[type, str]] = {
    "plan": (Plan, "Plan(text=...)"),
    "sample": (Sample, "the Sample it was given"),
}
LISTED: Mapping[str, tuple[type, str]] = {
    "suggestions": (Suggestion, "[Suggestion(kind=..., criterion=..., definition=...)]"),
    "criteria": (Criterion, "[Criterion(name=...)]"),
}
HANDED = frozenset((*MAPPED, *LISTED))  # a node may look at these, and changes none in place
ADDED = ("scores", "rectifications", "findings", "comparisons", "corrections")  # others' entries of these stay
JUDGED = ("id", "query", "source", "output", "rival")  # of a sample: what its scores are said of
VOCABULARY = frozenset(EvalState.__annotations__)
OWN_STAGES = ("draft", "final")  # at others an aspect may share a criterion's name, and not its scale
EVEN = 0.02  # shares of a distribution are rounded, and sum to one within this
SHOWN = 60  # characters of a value or a key in a message
Wrong = tuple[str, str]  # what is wrong, and what to do
Handed = dict[str, tuple[Any, dict[Any, Any] | list[Any]]]  # key -> what stands there, and its entries as they were


@dataclass(frozen=True, slots=True)
class _Node:
    """Who wrote something, put into words where there is something to say; None: nobody knows which node."""

    name: str | None

    def __str__(self) -> str:
        return "the graph" if self.name is None else f"node '{one_line(self.name, SHOWN)}'"


@lru_cache(maxsize=1024)
def _node(name: str | None) -> _Node:
    return _Node(name)


def _entry(key: str, name: Any) -> str:
    return f"{key}[{one_line(repr(name), SHOWN)}]"


class StateCheck:
    """What the nodes of one sample's graph wrote, each value looked at once.

    Args:
        sample: as the graph is given it; no node may change it in place.

    Attributes:
        copies: of graphs that agents run; see `trace.watched`.
    """

    def __init__(self, copies: dict[int, tuple[Any, Any]] | None = None, sample: Sample | None = None) -> None:
        self.copies = copies if copies is not None else {}
        self._sample = _SampleAsGiven(sample) if sample is not None else None
        self._seen: dict[int, Any] = {}  # what was looked at, held so that no other gets its id
        self._as_seen: dict[int, dict[str, Any]] = {}  # and its fields then
        self._writers: dict[str, dict[str, tuple[str, Any]]] = {}  # key -> entry -> who wrote it first, and what
        self._versions: dict[str, dict[str, list[Any]]] = {}  # key -> entry -> what was written there
        self._last: dict[str, list[tuple[str, frozenset[str]]]] = {}  # key -> (node, entries) in the order of writing
        self._scales: dict[str, list[Scale]] = {}  # of criteria that nodes wrote
        self._steps: dict[tuple[str, str], tuple[str, int, Any]] = {}  # entry -> who wrote it last, in what step, what

    @staticmethod
    def handed(state: Any) -> Handed:
        """What stands in a state before a node is called, to be compared with what it leaves."""
        if type(state) is not dict and not isinstance(state, Mapping):
            state = {key: _held(state, key) for key in HANDED}
        return {
            key: (value, value.copy())
            for key, value in state.items()
            if key in HANDED and isinstance(value, dict | list)
        }

    def left(self, place: NodeInfo, update: Any, was: Handed) -> None:
        """Look at the state that a node was handed, after its return.

        Raises:
            StateError: it changed the state, or the sample, in place.
        """
        if self._sample is not None and (field := self._sample.changed()) is not None:
            self._sample.restore()
            raise StateError(
                f"node '{one_line(place.name, SHOWN)}' changed the sample's '{field}' in place, so that another "
                "sample would be judged than was given: leave state['sample'] as it is, and write what is new under a "
                "key of your own, or as a jg.Correction under 'corrections'"
            )
        for key, (now, before) in was.items():
            if (name := _changed(now, before)) is None:
                continue
            who = f"node '{one_line(place.name, SHOWN)}'"
            if (gone := _gone(now, before)) is not None:
                raise StateError(
                    f"{who} took {_entry(key, gone)} out of the state that it was handed: leave the state as it is, "
                    f"and return a new mapping of what is new alone, {key}={MAPPED[key][1]}"
                )
            if any(
                key == of and (value is now or _held(value, name) is _held(now, name)) for of, value in updates(update)
            ):
                continue  # it is returned, too: it was looked at as what was written
            entry = _entry(key, name) if isinstance(now, dict) else f"'{key}'"
            cure = _cure_of_change(key) if isinstance(before, dict) and name in before else "return what is new"
            raise StateError(
                f"{who} changed {entry} in the state that it was handed: what is "
                f"changed in place is nobody's; leave the state as it is, and {cure}"
            )

    def written(self, place: NodeInfo, update: Any, before: Any) -> None:
        """Look at what a node returned.

        Raises:
            StateError: it cannot be taken up.
        """
        if "__root__" in place.keys:  # a state that is one value
            return
        who = _node(place.name)
        if update is not None and type(update) is not dict and place.own and not _returnable(update):
            raise StateError(
                f"{who} returned {given_as(update)}: return a mapping of keys of the state, such as "
                "{'scores': keyed(Score(...))}"
            )
        for key, value in updates(update):
            if place.own and key not in place.keys and not _empty(value):
                raise StateError(f"{who} wrote {_undeclared(key, place.keys)}")
            if key in VOCABULARY and value is not None:
                value = value.value if type(value).__name__ == "Overwrite" else value
                if place.outputs is None and not _ours(key, value):
                    continue  # a key of a graph within that is called like one of ours
                self._look(who, key, value, place.scales, before)
                if key == "sample" and place.own:
                    _same_sample(who, value, _held(before, key))
            if place.outputs is not None and key in place.outputs:
                self._entered(place.name, key, value)

    @staticmethod
    def led(place: NodeInfo, targets: Iterable[Any]) -> None:
        """Look at where a condition or a command leads.

        Raises:
            StateError: a target is no node of the graph, so that LangGraph would end that way without a word.
        """
        for target in targets:
            sent = getattr(target, "node", None)
            to = target if sent is None else sent
            if target is not None and not (isinstance(to, str) and (to in place.ways or to.startswith("__"))):
                who = "the start" if place.last == "__start__" else f"node '{one_line(place.name, SHOWN)}'"
                near = difflib.get_close_matches(str(to), place.ways, 1, 0.6)
                known = f"one of {', '.join(map(repr, sorted(place.ways)[:8]))}, or END"
                raise StateError(
                    f"what follows {who} leads to {one_line(repr(to), SHOWN)}, and there is no such node: "
                    + (f"did you mean '{near[0]}'?" if near else f"give {known}, or a list of these")
                )

    def ended(self, state: Any) -> None:
        """Look at what the graph gave out: what was not looked at before, and what is no longer there.

        Raises:
            StateError: it cannot be taken up, or scores of a node were deleted.
        """
        if type(state) is not dict and not isinstance(state, Mapping):
            return
        if self._sample is not None and (field := self._sample.changed()) is not None:
            self._sample.restore()
            raise StateError(
                f"a condition or a task changed the sample's '{field}' in place: leave state['sample'] as it is"
            )
        self._unchanged(state)
        for key, value in state.items():
            if value is None or (key == "sample" and type(value) is Sample):
                continue
            if key in VOCABULARY:
                self._look(self._who(key), key, value, {}, state)
            elif (wrong := _no_number(value)) is not None:
                raise StateError(
                    f"{self._who(key)} wrote {_shown(key)} = {wrong}, which no file holds: write None instead"
                )
        for key in ADDED:
            if _is_mapping(left := state.get(key)):
                self._all_there(key, left)
                self._as_written(key, left)
        if _is_mapping(scores := state.get("scores")):
            self._drafts(scores)

    def _unchanged(self, state: Mapping[str, Any]) -> None:
        """What was written is as it was then, also where a node went past pydantic to change it."""
        for key in MAPPED:
            left = state.get(key)
            for name, one in left.items() if _is_mapping(left) else ():
                before = self._as_seen.get(id(one))
                if before is None or self._seen.get(id(one)) is not one or (now := vars(one)) == before:
                    continue
                field = next((field for field, value in before.items() if now.get(field) != value), None)
                if field is None:  # something cached was added
                    continue
                was, got = (one_line(repr(held.get(field)), SHOWN) for held in (before, now))
                owner = self._writers.get(key, {}).get(name)
                by = f" of node '{one_line(owner[0], SHOWN)}'" if owner else ""
                raise StateError(
                    f"{_entry(key, name)}{by} was changed in place after it was written: its '{field}' was {was} and "
                    f"is {got}; leave what others wrote as it is, and {_cure_of_change(key)}"
                )

    def _drafts(self, scores: Mapping[str, Any]) -> None:
        """What a score calls its draft is a score of the same criterion and side that is there; its votes are there."""
        for name, score in scores.items():
            if not isinstance(score, Score) or name not in self._writers.get("scores", {}):
                continue
            if (gone := next((vote for vote in score.votes if vote not in scores), None)) is not None:
                near = difflib.get_close_matches(gone, [one for one in scores if one != name], 1)
                meant = f"did you mean '{one_line(near[0], SHOWN)}'?" if near else "leave votes out where it has none"
                owner = one_line(self._writers["scores"][name][0], SHOWN)
                raise StateError(
                    f"node '{owner}' wrote {_entry('scores', name)}, whose votes name {one_line(repr(gone), SHOWN)}, "
                    f"which is not there; votes= are the keys of the scores that it was combined from; {meant}"
                )
            if score.draft is None:
                continue
            draft = scores.get(score.draft)
            if draft is None:
                near = difflib.get_close_matches(score.draft, [*scores], 1)
                wrong = "which is not there" + (f"; did you mean '{one_line(near[0], SHOWN)}'?" if near else "")
            elif (draft.criterion, draft.of) != (score.criterion, score.of):
                wrong = f"which is of '{one_line(draft.criterion, SHOWN)}'"
            elif score.draft == name or draft.draft == name:
                wrong = "and each is the draft of the other: no score is the answer"
            else:
                continue
            owner = one_line(self._writers["scores"][name][0], SHOWN)
            raise StateError(
                f"node '{owner}' wrote scores[{one_line(repr(name), SHOWN)}], whose draft is "
                f"{one_line(repr(score.draft), SHOWN)}, {wrong}; draft= is the key of the score that it changes, "
                "of the same criterion"
            )

    def _who(self, key: str) -> _Node:
        last = self._last.get(key)
        return _node(last[-1][0] if last else None)

    def _look(self, who: object, key: str, value: Any, scales: Scales, before: Any) -> None:
        if key in MAPPED:
            self._mapping(who, key, value, scales, before)
        elif key in LISTED or key in SINGLE:
            kind, form = LISTED.get(key) or SINGLE[key]
            if key in LISTED and not isinstance(value, list | tuple):
                raise StateError(f"{who} wrote {key}, which is {given_as(value)}: write {key}={form}")
            for one in value if key in LISTED else (value,):
                if not isinstance(one, kind) and not (key == "sample" and isinstance(one, Mapping)):
                    raise StateError(f"{who} wrote {key}, which holds {given_as(one)}: write {key}={form}")
                self._learn(one)
        elif (wrong := _single_wrong(key, value, before)) is not None:
            raise StateError(f"{who} wrote {key} = {one_line(repr(value), SHOWN)}: {wrong[0]}; {wrong[1]}")

    def _mapping(self, who: object, key: str, value: Any, scales: Scales, before: Any) -> None:
        kind, form = MAPPED[key]
        if type(value) is not dict and not isinstance(value, Mapping):
            raise StateError(f"{who} wrote {key}, which is {given_as(value)} and no mapping: write {key}={form}")
        for name, one in value.items():
            if self._seen.get(id(one)) is one and getattr(one, "key", name) == name:
                continue
            if not isinstance(one, kind):
                raise StateError(
                    f"{who} wrote {_entry(key, name)}, which is {given_as(one)} and no {kind.__name__}: "
                    f"write {key}={form}"
                )
            own = getattr(one, "key", name) if not isinstance(one, Finding) else one.assistant
            if own != name:
                cure = f"write it under its own key, by keyed({kind.__name__}(...))"
                cure = "write it under its assistant's name" if isinstance(one, Finding) else cure
                said = one_line(repr(own), SHOWN)
                raise StateError(f"{who} wrote {_entry(key, name)}, whose own key is {said}: {cure}")
            wrong = _entry_wrong(one, lambda criterion: self._known(criterion, scales, before))
            wrong = wrong or _without_rival(one, before) or _against_drafts(one, before)
            if wrong is not None:
                raise StateError(f"{who} wrote {_entry(key, name)}: {wrong[0]}; {wrong[1]}")
            self._learn(one)
            self._seen[id(one)], self._as_seen[id(one)] = one, _fields(one)

    def _learn(self, one: Any) -> None:
        if isinstance(one, Criterion):
            self._scales.setdefault(one.name, []).append(one.scale)

    def _known(self, criterion: str, scales: Scales, before: Any) -> list[Scale]:
        """The scales by which a criterion may be scored, as far as they are known."""
        given = before.get("criteria") if isinstance(before, dict) else None
        asked = given if isinstance(given, list | tuple) else ()
        own = [one.scale for one in asked if isinstance(one, Criterion) and one.name == criterion]
        return [*scales.get(criterion, ()), *self._scales.get(criterion, ()), *own]

    def _entered(self, node: str, key: str, value: Any) -> None:
        """What a node of the run's own graph wrote; an entry of another node is not its to change."""
        names = frozenset(value) if key in ADDED and _is_mapping(value) else frozenset()
        self._last.setdefault(key, []).append((node, names))
        known = self._writers.setdefault(key, {})
        versions = self._versions.setdefault(key, {})
        step = _step_at_work() if names else None
        for name in names:
            versions.setdefault(name, []).append(value[name])
            if step is not None:
                self._once_a_step(node, step, key, name, value[name])
            first, before = known.setdefault(name, (node, value[name]))
            if first != node and before is not value[name] and before != value[name]:
                raise StateError(
                    f"node '{one_line(node, SHOWN)}' wrote {key}[{one_line(repr(name), SHOWN)}], which is of node "
                    f"'{one_line(first, SHOWN)}' and says something else: {_cure_of_change(key)}"
                )

    def _once_a_step(self, node: str, step: int, key: str, name: str, value: Any) -> None:
        """A node that a fan-out runs several times at once writes each time under a key of its own."""
        *before, other = self._steps.get((key, name), ("", 0, value))
        self._steps[key, name] = node, step, value
        if before == [node, step] and other is not value and other != value:
            cure = "give each another criterion=, agent= or repeat=" if key == "scores" else "give each another name"
            raise StateError(
                f"node '{one_line(node, SHOWN)}' was sent to several times, and wrote {_entry(key, name)} differently "
                f"each time, of which one alone would stay: {cure}"
            )

    def _all_there(self, key: str, left: Mapping[str, Any]) -> None:
        known = self._writers.get(key, {})
        gone = [name for name in known if name not in left]
        if not gone:
            return
        owner, steps = known[gone[0]][0], self._last[key]
        wrote = max(at for at, (_, names) in enumerate(steps) if gone[0] in names)
        after = [node for node, names in steps[wrote + 1 :] if gone[0] not in names]
        by = f"node '{one_line(after[0], SHOWN)}'" if after else "the graph"
        more = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
        many = f"{key} of node '{one_line(owner, SHOWN)}' ({one_line(gone[0], SHOWN)}{more})"
        why = f"in the state '{key}' is replaced where it should be joined" if after else "a reducer or a condition did"
        raise StateError(
            f"{by} deleted {many}: {why}; declare '{key}' as in judgegraph.EvalState, Annotated[dict, "
            "judgegraph.types.merged], change no state in place, and return what is new alone"
        )

    def _as_written(self, key: str, left: Mapping[str, Any]) -> None:
        for name, versions in self._versions.get(key, {}).items():
            if (now := left.get(name)) is versions[-1]:
                continue
            if not any(now is one for one in versions) and now not in versions:
                where = f"{key}[{one_line(repr(name), SHOWN)}] of node '{one_line(self._writers[key][name][0], SHOWN)}'"
                raise StateError(
                    f"{where} is not as any node wrote it: a condition, a reducer or a task changed it in place; "
                    f"leave the state as it is, and {_cure_of_change(key)}"
                )


class _SampleAsGiven:
    """A sample, with a copy of what can be changed in it: mappings and lists, which others may hold too."""

    def __init__(self, sample: Sample) -> None:
        self._sample, self._fields = sample, dict(vars(sample))
        self._parts: list[tuple[str, Any, Any]] = []  # name of the field, a mapping or list in it, its copy
        for name, value in self._fields.items():
            if type(value) is not str and value is not None and value != ():
                self._parts += [(name, part, _copy(part)) for part in _changeable(value)]

    def changed(self) -> str | None:
        """The first field that is not as it was; None where all are."""
        now = vars(self._sample)
        for name, part, before in self._parts:
            if part != before:
                return name
        return next((name for name, value in self._fields.items() if now.get(name) is not value), None)

    def restore(self) -> None:
        """Put back what was given, so that a caller's own object and the item hold it."""
        vars(self._sample).update(self._fields)
        for _, part, before in self._parts:
            part.clear()
            part.update(before) if isinstance(part, dict) else part.extend(before)


def _fields(one: Any) -> dict[str, Any]:
    """Its fields, with copies of the mappings and lists in them."""
    found = dict(vars(one))
    for name, value in found.items():
        if type(value) is dict or type(value) is list:
            found[name] = value.copy()
    return found


def _changeable(value: Any) -> Iterator[Any]:
    """The outermost mappings and lists of a value."""
    if isinstance(value, dict | list):
        yield value
    elif isinstance(value, tuple):
        for one in value:
            yield from _changeable(one)
    elif isinstance(value, BaseModel):
        for one in vars(value).values():
            yield from _changeable(one)


def _copy(value: Any) -> Any:
    """Of mappings and lists at any depth; what stands in them stays the same object."""
    if isinstance(value, dict):
        return {name: _copy(one) if isinstance(one, dict | list) else one for name, one in value.items()}
    return [_copy(one) if isinstance(one, dict | list) else one for one in value]


def _step_at_work() -> int | None:
    """The number of the step that LangGraph is in; None outside of its runs."""
    try:
        step = get_config().get("metadata", {}).get("langgraph_step")
    except RuntimeError:
        return None
    return step if isinstance(step, int) else None


def _is_mapping(value: Any) -> TypeGuard[Mapping[Any, Any]]:
    return type(value) is dict or isinstance(value, Mapping)  # nearly always the first, and the other is dear


def _held(state: Any, key: Any) -> Any:
    return state.get(key) if _is_mapping(state) else getattr(state, key, None) if isinstance(key, str) else None


def _changed(now: Any, before: dict[Any, Any] | list[Any]) -> Any:
    """The first key, or place in a list, where something else stands than before; None where all is the same."""
    if isinstance(now, dict) and isinstance(before, dict):
        if len(now) == len(before) and all(map(is_, now.values(), before.values())):
            return None
        names = [*before, *(name for name in now if name not in before)]
        return next((n for n in names if n not in now or n not in before or now[n] is not before[n]), None)
    if len(now) == len(before) and all(map(is_, now, before)):
        return None
    return min(len(now), len(before))


def _gone(now: Any, before: dict[Any, Any] | list[Any]) -> Any:
    """The first key of a mapping that is no longer there; None where all are."""
    return next((name for name in before if name not in now), None) if isinstance(before, dict) else None


def _same_sample(who: object, given: Any, judged: Any) -> None:
    """Scores are kept as those of the sample that was read: no node may put another in its place."""
    if judged is None or given is judged:
        return
    for name in JUDGED:
        if (_held(given, name) or None) != (_held(judged, name) or None):
            raise StateError(
                f"{who} wrote a sample whose '{name}' is another: scores of it would stand as those of the sample that "
                "was read; write the text under a key of your own, or as a jg.Correction under 'corrections'"
            )


def _cure_of_change(key: str) -> str:
    if key == "scores":
        return "write a score of its own, with another agent= or stage=, and draft= the key of the score it changes"
    return "write one of its own, with another name as its agent"


def _returnable(update: Any) -> bool:
    """As LangGraph takes it: a mapping, a command, several, or an object with annotated fields."""
    if isinstance(update, Mapping) or hasattr(update, "_update_as_tuples"):
        return True
    if isinstance(update, list | tuple) and not hasattr(update, "_fields"):
        return any(hasattr(one, "_update_as_tuples") for one in update)
    return bool(getattr(type(update), "__annotations__", None))


def _undeclared(key: Any, keys: Iterable[str]) -> str:
    known = [name for name in keys if name.isidentifier() and not name.startswith("__")]
    near = difflib.get_close_matches(str(key), known, 1, 0.6)
    meant = f"; did you mean '{near[0]}'?" if near else f"; it has {', '.join(sorted(known)[:8])}"
    return f"{_shown(key)}, a key that the graph's state does not declare and LangGraph drops: declare it there{meant}"


def _shown(key: Any) -> str:
    return f"'{one_line(key, SHOWN)}'"


def _empty(value: Any) -> bool:
    return value is None or (isinstance(value, dict | list | tuple) and not value)


def _ours(key: str, value: Any) -> bool:
    """Whether anything in it is what stands under such a key of the shared vocabulary."""
    kind, _ = MAPPED.get(key) or LISTED.get(key) or SINGLE.get(key) or (type(None), "")
    some = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else (value,)
    return any(isinstance(one, kind) for one in some)


def _single_wrong(key: str, value: Any, state: Any) -> Wrong | None:
    if key == "overall" and _finite(value) is None:
        return "it is no number", "write a float, or None where there is no answer"
    if key == "verdict" and value not in get_args(Verdict):
        return "it is no verdict", 'write "A", "B" or "tie", or None where there is none'
    if key == "verdict" and isinstance(sample := _held(state, "sample"), Sample) and sample.rival is None:
        return "the sample has no rival", "write None where sample.rival is None"
    if key == "task" and not isinstance(value, str):
        return "it is no text", "write one sentence that says what is judged"
    if key == "aspects" and not _chains(value):
        return "it is no mapping of lists of criteria", "write {TARGET: [Criterion(name=...)]}"
    return None


def _chains(value: Any) -> bool:
    chains = value.values() if isinstance(value, Mapping) else [None]
    return all(isinstance(c, list | tuple) and all(isinstance(one, Criterion) for one in c) for c in chains)


def _finite(value: Any) -> float | None:
    """The number, None where it is none: what pydantic was passed by may be anything."""
    if type(value) is float:  # nearly always
        return value if math.isfinite(value) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _entry_wrong(one: Any, known: Callable[[str], list[Scale]]) -> Wrong | None:
    if getattr(one, "status", "ok") not in STATUSES:
        return f"{one_line(repr(one.status), SHOWN)} is no status", f"write one of {', '.join(sorted(STATUSES))}"
    for name in ("criterion", "agent") if isinstance(one, Score | Rectification | Comparison) else ():
        if not str(getattr(one, name)).strip():
            return f"its {name} has no name", f"write {name}=, a name that tables can tell it by"
    if isinstance(one, Score):
        return _score_wrong(one, known)
    if isinstance(one, Rectification):
        if one.status == "ok" and one.action == "change" and one.value is None and one.label is None:
            return "its action is 'change', and it says to what nowhere", "write value= or label=, or action='keep'"
        return _answer_wrong(one, None, known(one.criterion)) or _distribution_wrong(one, None)
    numbers: tuple[Any, ...] = ()
    if isinstance(one, Comparison):
        numbers = (one.score_a, one.score_b)
        if (contrary := _contrary(one)) is not None:
            return contrary
        if one.verdict not in (None, *get_args(Verdict)):
            return f"{one_line(repr(one.verdict), SHOWN)} is no verdict", 'write verdict="A", "B" or "tie"'
        if one.verdict is None and one.status == "ok":
            cure = 'write verdict="A", "B" or "tie", or a status such as "abstained" with its reason'
            return "its status is 'ok' and it has no verdict", cure
    elif isinstance(one, Finding):
        numbers = () if isinstance(one.value, str) else (one.value,)
    for number in numbers:
        if number is not None and _finite(number) is None:
            return f"{one_line(repr(number), SHOWN)} is no number", "write a float, or a status other than 'ok'"
    return None


def _without_rival(one: Any, state: Any) -> Wrong | None:
    """What is said of a rival that the sample does not have."""
    rival = one.of == "rival" if isinstance(one, Score | Correction) else isinstance(one, Comparison) and one.verdict
    sample = _held(state, "sample") if rival else None
    if not isinstance(sample, Sample) or sample.rival is not None:
        return None
    said = "a verdict" if isinstance(one, Comparison) else "of the rival"
    return f"it is {said}, and the sample has no rival", "write it where sample.rival is not None alone"


def _against_drafts(one: Any, state: Any) -> Wrong | None:
    """A critic's change that goes the other way than it says, whichever score of the criterion it reviewed."""
    if not isinstance(one, Rectification) or one.action != "change" or one.value is None or one.direction == "none":
        return None
    scores = _held(state, "scores")
    some = scores.values() if _is_mapping(scores) else ()
    drafts = [s.value for s in some if isinstance(s, Score) and s.criterion == one.criterion and s.value is not None]
    up = one.direction == "up"
    if not drafts or any(one.value >= draft if up else one.value <= draft for draft in drafts):
        return None
    return (
        f"its direction is '{one.direction}', and its value {one.value:g} lies {'below' if up else 'above'} the score "
        f"that it reviews ({drafts[-1]:g})",
        f"write direction='{'down' if up else 'up'}', or the value that is meant",
    )


def _contrary(one: Comparison) -> Wrong | None:
    """A verdict for the side that its own scores put behind."""
    a, b = _finite(one.score_a), _finite(one.score_b)
    if a is None or b is None or a == b or one.verdict not in ("A", "B") or (a > b) == (one.verdict == "A"):
        return None
    ahead = "A" if a > b else "B"
    return (
        f"its verdict is {one.verdict}, and its scores {a:g} and {b:g} are for {ahead}",
        "write the verdict of the greater score, or no scores",
    )


def _score_wrong(score: Score, known: Callable[[str], list[Scale]]) -> Wrong | None:
    given = (score.value is not None) + (score.label is not None)
    if given != (score.status == "ok"):
        return (
            f"its status is '{score.status}' and it has {'an answer' if given == 1 else f'{given} answers'}",
            "an ok score has one value or one label, any other has none",
        )
    if not isinstance(score.scale, Scale | None):
        return f"its scale {one_line(repr(score.scale), SHOWN)} is no Scale", "write Scale.of('1-5'), or another"
    scales = known(score.criterion)
    if scales and score.scale is not None and score.stage in OWN_STAGES and not _among(score.scale, scales):
        asked = " or ".join(sorted({str(one) for one in scales}))
        cure = "score on that scale, or give the criterion another name"
        if score.draft is not None:
            cure = "it has its draft's scale: give the critic the criteria of the judge that it reviews"
        return (
            f"its scale is {score.scale}, and criterion '{one_line(score.criterion, SHOWN)}' is judged on {asked}",
            cure,
        )
    return _answer_wrong(score, score.scale, scales) or _distribution_wrong(score, score.scale)


def _among(scale: Scale, scales: list[Scale]) -> bool:
    """Whether one has the same ends and labels; a weighted score may be on any number between the points."""
    ends = scale.low, scale.high, scale.labels
    return any(scale is one or ends == (one.low, one.high, one.labels) for one in scales)


def _answer_wrong(one: Any, scale: Scale | None, scales: list[Scale]) -> Wrong | None:
    """Of a score or a rectification: it lies on its own scale, else on one of its criterion's."""
    if one.value is not None and _finite(one.value) is None:
        return (
            f"its value {one_line(repr(one.value), SHOWN)} is no number",
            "write a float, or a status other than 'ok'",
        )
    if one.label is not None and not isinstance(one.label, str):
        return f"its label {one_line(repr(one.label), SHOWN)} is no text", "write a label of its scale"
    if one.value is None and one.label is None:
        return None
    problem, held = "", [scale] if scale is not None else scales
    for one_scale in held:
        try:
            _ = one_scale.check(one.value) if one.value is not None else one_scale.check_label(one.label)
        except ScaleError as error:
            problem = problem or str(error)
        else:
            return None
    return (problem, f"write a value of that scale, or scale= the one it is on ({_example(one)})") if problem else None


def _example(one: Any) -> str:
    return "such as Scale.of('0-100')" if one.value is not None else "such as Scale.of(['yes', 'no'])"


def _distribution_wrong(one: Any, scale: Scale | None) -> Wrong | None:
    if one.unseen is not None and not 0 <= (_finite(one.unseen) if _finite(one.unseen) is not None else -1) <= 1:  # type: ignore[operator]
        return f"unseen={one_line(repr(one.unseen), SHOWN)} is no probability", "write a number from 0 to 1, or None"
    if not one.distribution:
        return None
    cure = "write each point or label of the scale with its share of 1, or leave distribution out"
    if not isinstance(one.distribution, dict):
        return f"its distribution is {given_as(one.distribution)}", cure
    shares = [_finite(share) for share in one.distribution.values()]
    if any(share is None or not 0 <= share <= 1 + EVEN for share in shares):
        return "a share of its distribution is no number from 0 to 1", cure
    if abs((total := sum(share for share in shares if share is not None)) - 1) > EVEN:
        return f"its distribution sums to {total:.4g}", cure
    if scale is None:
        return None
    for point in one.distribution:
        try:
            _ = scale.check_label(point) if scale.labels else scale.check(float(point))
        except (ScaleError, ValueError, TypeError):
            return f"{one_line(repr(point), SHOWN)} in its distribution is not on the scale {scale}", cure
    held = [] if scale.labels else [float(point) for point, share in one.distribution.items() if share > 0]
    if one.value is not None and held and not min(held) - EVEN <= one.value <= max(held) + EVEN:
        ends = f"{min(held):g}" if len(held) == 1 else f"{min(held):g} to {max(held):g}"
        return f"its value is {one.value:g}, and its distribution holds {ends} alone", cure
    return None


def _no_number(value: Any) -> str | None:
    """A number in a value of one's own that no JSON has, as it is shown; None where there is none."""
    if isinstance(value, float):
        return None if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        value = list(value.values())
    found = (_no_number(one) for one in value) if isinstance(value, list | tuple) else ()
    return next((one for one in found if one is not None), None)


# The same for plain LangGraph use: a graph whose state is checked where it enters, and behind every node.


@settings_checked
def strict(graph: Any) -> Strict:
    """The graph, with its state validated at the door and what every node writes validated behind it.

    `await jg.strict(graph).ainvoke({"sample": sample})` gives what the graph gives; a wrong value raises where it is
    written, with node, key and cure, instead of somewhere behind. As a node it stands in other graphs.

    Args:
        graph: a compiled LangGraph that reads "sample".

    Raises:
        ConfigError: it is none.
    """
    if not all(hasattr(graph, name) for name in ("builder", "nodes", "copy", "ainvoke")):
        raise ConfigError(f"strict: expected a compiled LangGraph, got {type(graph).__name__}")
    return Strict(graph)


class Strict(Runnable[Any, Any]):
    """What `strict` makes of a graph."""

    NO_NODE = "is jg.strict(...), which stands at the door of a whole graph: add the graph itself"

    def __init__(self, graph: Any) -> None:
        self.name = graph.get_name()
        self.graph = graph
        self._copy = copied(graph, whole=True)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **more: Any) -> Any:
        """Agents are coroutines.

        Raises:
            ConfigError: always.
        """
        raise ConfigError(f"{self.name}: agents are coroutines; await ainvoke(...), or use jg.evaluate in a script")

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **more: Any) -> Any:
        """As the graph's own.

        Raises:
            DataError: the sample or the criteria are none. StateError: the state has a key of no node, or a node wrote
                what cannot be taken up.
        """
        state = self._validated_input(input)
        token = checks.set(looks := StateCheck(sample=state["sample"]))
        try:
            found = await self._copy.ainvoke(state, config, **more)
            looks.ended(found)
            return found
        finally:
            checks.reset(token)

    async def astream(self, input: Any, config: RunnableConfig | None = None, **more: Any) -> AsyncIterator[Any]:
        """As the graph's own; raises as `ainvoke`."""
        state = self._validated_input(input)
        token = checks.set(StateCheck(sample=state["sample"]))
        try:
            async for part in self._copy.astream(state, config, **more):
                yield part
        finally:
            checks.reset(token)

    def _validated_input(self, state: Any) -> dict[str, Any]:
        if not isinstance(state, Mapping):
            raise StateError(f"{self.name}: its state is a {type(state).__name__}; give it {{'sample': Sample(...)}}")
        known = [key for key in getattr(self.graph, "channels", ()) if not key.startswith(("__", "branch:"))]
        for key in state:
            if key not in known:
                close = get_close_matches(str(key), known, 1)
                meant = f"did you mean '{close[0]}'?" if close else f"its keys are {', '.join(sorted(known))}"
                raise StateError(f"{self.name}: no node knows the key '{one_line(str(key), 60)}'; {meant}")
        found: dict[str, Any] = {**state, "sample": sample_of(state)}
        if "criteria" in state:
            found["criteria"] = given_criteria(state)
        return found
