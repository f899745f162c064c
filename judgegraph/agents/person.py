"""A person at a node: shown what critics suggest of the criteria, asked what to do about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NotRequired

from langgraph.types import interrupt
from pydantic import ValidationError
from typing_extensions import TypedDict

from judgegraph.errors import CriteriaError, DataError, one_line
from judgegraph.prompts.criteria_file import same_key
from judgegraph.types import Criterion, Note, Notes, Sample, Suggestion, keyed

HOW = 'one answer per suggestion, in their order: "accept", "reject", or {"name", "definition", "scale"} to edit it'


class Suggested(TypedDict):  # what a person reads
    sample: Sample
    suggestions: NotRequired[list[Suggestion]]
    criteria: NotRequired[list[Criterion]]  # else its own


class Decided(TypedDict):  # what it writes
    criteria: list[Criterion]  # as they were, with what was accepted
    notes: Notes  # what was decided


@dataclass(frozen=True, kw_only=True)
class Person:
    """Stops the graph at suggested criteria; a person accepts, edits or rejects each, and the graph goes on.

    Only in a graph that was compiled with a checkpointer. It stops by LangGraph's `interrupt`, whose value is
    {"sample": id, "criteria": [name, ...], "suggestions": [{"kind", "criterion", "definition", "reason", "agent"},
    ...], "how": what to answer}; `Command(resume=[...])` takes it up. An answer that does not fit stops it again, with
    what was wrong under "wrong". Without a suggestion nobody is asked.

    An accepted definition takes the place of the criterion's own, whose evaluation steps go with it; an accepted new
    criterion comes last, on the scale of the first one.

    Attributes:
        criteria: what was judged by, where the state brings none.
    """

    criteria: Sequence[Criterion] = ()
    name: str = "person"

    def __call__(self, state: Suggested) -> Decided:
        criteria, given = list(state.get("criteria") or self.criteria), list(state.get("suggestions") or ())
        if not given:
            return {"criteria": criteria, "notes": {}}
        shown = [s.model_dump(exclude_none=True) for s in given]
        asked = {"sample": state["sample"].id, "criteria": [c.name for c in criteria], "suggestions": shown, "how": HOW}
        answers = interrupt(asked)
        while True:
            try:
                changed, said = decided(criteria, given, answers)
            except (DataError, CriteriaError) as error:
                answers = interrupt({**asked, "wrong": str(error)})
            else:
                return {"criteria": changed, "notes": keyed(*(Note(agent=self.name, text=text) for text in said))}

    def changed(self, notes: Notes) -> bool:
        """Whether it accepted something."""
        own = (note.text for note in notes.values() if note.agent == self.name)
        return any(text.startswith(("accepted ", "edited ")) for text in own)


def decided(
    criteria: Sequence[Criterion], suggestions: Sequence[Suggestion], answers: Any
) -> tuple[list[Criterion], list[str]]:
    """The criteria with what was accepted, and a line per decision.

    Raises:
        DataError: not one answer per suggestion, or an answer that is none; two criteria of one name.
    """
    if isinstance(answers, str) and answers in ("accept", "reject"):
        answers = [answers] * len(suggestions)
    if not isinstance(answers, list | tuple) or len(answers) != len(suggestions):
        got = f"{len(answers)}" if isinstance(answers, list | tuple) else type(answers).__name__
        raise DataError(f"expected {len(suggestions)} answers, got {got}; {HOW}")
    found = {same_key(c.name): c for c in criteria}
    said = []
    for number, (suggestion, answer) in enumerate(zip(suggestions, answers, strict=True), 1):
        what = f"{suggestion.kind} '{one_line(suggestion.criterion, 80)}'"
        if answer == "reject":
            said.append(f"rejected {what}")
            continue
        made = _criterion(found, suggestion, answer, number)
        of = same_key(suggestion.criterion) if suggestion.kind == "definition" else same_key(made.name)
        if (suggestion.kind == "criterion" and of in found) or (same_key(made.name) in {*found} - {of}):
            raise DataError(
                f"answer {number}: there is a criterion '{one_line(made.name, 80)}' already; give another name"
            )
        found[of] = made
        said.append(f"{'accepted' if answer == 'accept' else 'edited'} {what}")
    return list(found.values()), said


def _criterion(known: Mapping[str, Criterion], suggestion: Suggestion, answer: Any, number: int) -> Criterion:
    """What an accepted or edited suggestion makes."""
    if not (answer == "accept" or isinstance(answer, Mapping)):
        raise DataError(f"answer {number}: {one_line(repr(answer), 60)}; {HOW}")
    old = known.get(same_key(suggestion.criterion))
    scale = old.scale if old else next((c.scale for c in known.values()), None)
    fields = {"name": old.name if old else suggestion.criterion, "definition": suggestion.definition}
    edits = {} if answer == "accept" else {str(k): v for k, v in answer.items()}
    try:
        return Criterion(**{**fields, **({"scale": scale} if scale else {}), **edits})
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        where = ".".join(map(str, wrong["loc"]))
        raise DataError(f"answer {number}: {where}: {wrong['msg']}") from None
