"""A person at a node: shown what critics suggest of the criteria, asked what to do about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NotRequired

from langgraph.types import interrupt
from typing_extensions import TypedDict

from judgegraph.errors import CriteriaError, DataError, ValueRefused, counted, one_line, settings_checked
from judgegraph.prompts.criteria import same_key
from judgegraph.types import Criterion, Note, Notes, Sample, Suggestion, given_criteria, keyed, sample_of

HOW = (
    'one answer per suggestion, in their order: "accept", "reject", or {"definition", "scale"} to edit it, of a new '
    'criterion also {"name"}'
)
IDLE = "suggestions-idle"
TAKEN = ("accepted", "edited")  # the first word of a decision that changed the criteria


class Suggested(TypedDict):  # what a person reads
    sample: Sample
    suggestions: NotRequired[list[Suggestion]]
    criteria: NotRequired[list[Criterion]]  # else its own
    notes: NotRequired[Notes]  # what it decided before


class Decided(TypedDict):  # what it writes
    criteria: list[Criterion]  # as they were, with what was accepted
    notes: Notes  # what was decided, and what there was nothing to decide of


@settings_checked
@dataclass(frozen=True, kw_only=True)
class Person:
    """Stops the graph at suggested criteria; a person accepts, edits or rejects each, and the graph goes on.

    Only in a graph that was compiled with a checkpointer. It stops by LangGraph's `interrupt`, whose value is
    {"sample": id, "criteria": [name, ...], "suggestions": [{"kind", "criterion", "definition", "reason", "agent"},
    ...], "how": what to answer}; `Command(resume=[...])` takes it up. An answer that does not fit stops it again, with
    what was wrong under "wrong". Without a suggestion nobody is asked.

    An accepted definition takes the place of the criterion's own, whose evaluation steps go with it; the name stays, as
    scores stand under it. An accepted new criterion comes last, on the scale of the first one. What it decided before
    is not asked again. Nor is what somebody else accepted, or a definition of a criterion that does not exist: a note
    says so.

    Attributes:
        criteria: what was judged by, where the state brings none. name: whose decisions the notes are; each person of
            a graph needs another.
    """

    criteria: Sequence[Criterion] = ()
    name: str = "person"

    def __call__(self, state: Suggested) -> Decided:
        criteria, before = list(given_criteria(state) or self.criteria), state.get("notes") or {}
        new = [s for s in state.get("suggestions") or () if not self._already_decided(s, before)]
        idle = {i: why for i, s in enumerate(new) if (why := _idle(s, criteria, new))}
        open_ = [s for i, s in enumerate(new) if i not in idle]
        told = [
            Note(agent=self.name, text=f"not asked about {_what(new[i])}: {idle[i]}", status="skipped", kind=IDLE)
            for i in idle
        ]
        if not open_:
            return {"criteria": criteria, "notes": keyed(*told)}
        changed, said = self._asked(sample_of(state).id, criteria, open_)
        return {"criteria": changed, "notes": keyed(*told, *(Note(agent=self.name, text=text) for text in said))}

    def _asked(
        self, sample: str, criteria: Sequence[Criterion], suggestions: Sequence[Suggestion]
    ) -> tuple[list[Criterion], list[str]]:
        """Stops until every suggestion has an answer that fits; see `decided`."""
        shown = [s.model_dump(exclude_none=True) for s in suggestions]
        asked = {"sample": sample, "criteria": [c.name for c in criteria], "suggestions": shown, "how": HOW}
        answers = interrupt(asked)
        while True:
            try:
                return decided(criteria, suggestions, answers)
            except (DataError, CriteriaError) as error:
                answers = interrupt({**asked, "wrong": str(error)})

    def _already_decided(self, suggestion: Suggestion, notes: Notes) -> bool:
        """Whether it decided on the suggestion before."""
        texts = {f"{verb} {_what(suggestion)}" for verb in (*TAKEN, "rejected")}
        return any(note.agent == self.name and note.text in texts for note in notes.values())

    def changed(self, notes: Notes) -> bool:
        """Whether it accepted something."""
        return any(n.agent == self.name and n.text.startswith(tuple(f"{t} " for t in TAKEN)) for n in notes.values())


def _what(suggestion: Suggestion) -> str:
    """A suggestion in a note. Its definition stands in it, as a critic may suggest several of one criterion."""
    return f"{suggestion.kind} '{one_line(suggestion.criterion, 80)}': {one_line(suggestion.definition, 400)}"


def _idle(suggestion: Suggestion, criteria: Sequence[Criterion], beside: Sequence[Suggestion]) -> str:
    """Why there is nothing to decide, "" where there is."""
    name = same_key(suggestion.criterion)
    known = next((c for c in criteria if same_key(c.name) == name), None)
    if suggestion.kind == "criterion":
        return "there is a criterion of this name already" if known else ""
    if known is None:
        new = {same_key(s.criterion) for s in beside if s.kind == "criterion"}
        return "" if name in new else "there is no such criterion"
    return "it is defined so already" if known.definition == suggestion.definition else ""


def decided(
    criteria: Sequence[Criterion], suggestions: Sequence[Suggestion], answers: Any
) -> tuple[list[Criterion], list[str]]:
    """The criteria with what was accepted, and a line per decision.

    Raises:
        DataError: not one answer per suggestion, or an answer that is none; two criteria of one name; a definition of
            a criterion that does not exist, or with another name.
    """
    if isinstance(answers, str) and answers in ("accept", "reject"):
        answers = [answers] * len(suggestions)
    if not isinstance(answers, list | tuple) or len(answers) != len(suggestions):
        got = f"{len(answers)}" if isinstance(answers, list | tuple) else type(answers).__name__
        raise DataError(f"expected {counted(len(suggestions), 'answer')}, got {got}; {HOW}")
    found = {same_key(c.name): c for c in criteria}
    said = []
    for number, (suggestion, answer) in enumerate(zip(suggestions, answers, strict=True), 1):
        if answer == "reject":
            said.append(f"rejected {_what(suggestion)}")
            continue
        made = _criterion(found, suggestion, answer, number)
        found[same_key(made.name)] = made
        said.append(f"{TAKEN[answer != 'accept']} {_what(suggestion)}")
    return list(found.values()), said


def _criterion(known: Mapping[str, Criterion], suggestion: Suggestion, answer: Any, number: int) -> Criterion:
    """What an accepted or edited suggestion makes.

    Raises:
        DataError: it can make nothing; says why.
    """
    if not (answer == "accept" or isinstance(answer, Mapping)):
        raise DataError(f"answer {number}: {one_line(repr(answer), 60)}; {HOW}")
    old = known.get(same_key(suggestion.criterion))
    scale = old.scale if old else next((c.scale for c in known.values()), None)
    fields = {"name": old.name if old else suggestion.criterion, "definition": suggestion.definition}
    edits = {} if answer == "accept" else {str(k): v for k, v in answer.items()}
    try:
        made = Criterion(**{**fields, **({"scale": scale} if scale else {}), **edits})
    except ValueRefused as error:
        wrong = error.errors(include_url=False)[0]
        where = ".".join(map(str, wrong["loc"]))
        raise DataError(f"answer {number}: {where}: {wrong['msg']}") from None
    if why := _misnamed(known, suggestion, old, made):
        raise DataError(f"answer {number}: {why}")
    return made


def _misnamed(known: Mapping[str, Criterion], suggestion: Suggestion, old: Criterion | None, made: Criterion) -> str:
    """What is wrong with the name of what a suggestion makes, "" where nothing is."""
    name = one_line(made.name, 80)
    if suggestion.kind == "criterion":
        again = "give another name, or reject it"
        return f"there is a criterion '{name}' already; {again}" if same_key(made.name) in known else ""
    if old is None:
        return f"there is no criterion '{one_line(suggestion.criterion, 80)}' to define; reject it"
    if made.name == old.name:
        return ""
    return f"'{one_line(old.name, 80)}' keeps its name, as its scores stand under it; leave \"name\" out, got '{name}'"
