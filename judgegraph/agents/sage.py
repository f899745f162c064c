"""The SAGE critic, which reviews an evaluator's scores and criteria, and `Rectify`, which applies a critic's verdicts.

From the top down: `Sage` asks for up to three lists, `critique_form` is what it asks for and how the reply is read,
`Rectify` makes a final score of each draft and the verdict on it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from typing_extensions import TypedDict

from judgegraph import prompts
from judgegraph.agents.under_review import (
    Critique,
    Reviewed,
    UnderReview,
    advice,
    at_that_point,
    dropped,
    same_point,
)
from judgegraph.calls import JudgeLike, Reader, ask, rate
from judgegraph.calls.asking import STRING, Form, Incomplete, enum_of, rating_schema, read_entries, record
from judgegraph.calls.ratings import GAINSAID, Rating
from judgegraph.errors import ReplyError, one_line, settings_checked
from judgegraph.prompts import Rendered
from judgegraph.types import Criterion, Note, Rectification, Score, Scores, Suggestion, key_of, keyed

PARTS = ("rectifications", "definitions", "new_criteria")
NEW_AT_MOST = 3  # SAGEval section 6.3: up to three suggested aspects per item
VERDICTS = ("keep", "raise", "lower")
LABEL_VERDICTS = ("keep", "change")
WEIGHTED = Reader("weighted", samples=5)
PROMPTS = dict(zip(PARTS, ("critique_scores", "critique_definitions", "critique_criteria"), strict=True))

Reviewing = tuple[Rating[dict[str, Any]], tuple[Note, ...]]


@settings_checked
@dataclass(frozen=True, kw_only=True)
class Sage:
    """A meta-evaluator with three separate duties.

    Source: SAGEval section 4.3: (1) rectify scores, (2) suggest changed definitions, (3) suggest up to three
    new criteria. Its own scores are weighted by token probability like the evaluator's (section 4.4). Without
    log-probabilities it is asked several times (ours): what most replies say is its verdict, a tie keeps the score,
    and a changed score is the mean of all replies, in which "keep" counts as the draft's value. Advice is that of the
    first reply; what could not be had of it is noted.

    Attributes:
        judge: who answers. criteria: what was judged by, where the state brings none.
        calls: "one" asks for all three lists at once, "three" gives each duty a call of its own.
        cot: think step by step before the reason of each verdict; then the prompt `critique` becomes `critique_cot`. Of
            three calls only the one that rectifies scores changes.
        duty_prompts: of three calls, (duty, a template of your own) each; a duty is "rectifications", "definitions" or
            "new_criteria".
        stage: of the scores it reviews; of several evaluators' scores at that stage, the last one's.
    """

    judge: JudgeLike = "embedded"
    criteria: Sequence[Criterion] = ()
    task: str = "a generated text"
    calls: Literal["one", "three"] = "one"
    prompt: str = "critique"
    cot: bool = False
    duty_prompts: Sequence[tuple[str, str]] = ()
    reader: Reader = WEIGHTED
    name: str = "sage"
    stage: str = "draft"

    def __post_init__(self) -> None:
        if self.cot and self.prompt == "critique":
            object.__setattr__(self, "prompt", "critique_cot")

    @property
    def prompts(self) -> tuple[str, ...]:
        """Names of the templates that it asks by."""
        return (self.prompt,) if self.calls == "one" else tuple(self._duties.values())

    @property
    def _duties(self) -> dict[str, str]:
        return PROMPTS | ({PARTS[0]: "critique_scores_cot"} if self.cot else {}) | dict(self.duty_prompts)

    async def __call__(self, state: Reviewed) -> Critique:
        review = UnderReview.of(state, self.criteria, self.stage)
        if (idle := review.idle(self.name)) is not None:
            return idle
        rating, notes = await (self._in_one_call(review) if self.calls == "one" else self._in_three_calls(review))
        verdicts = review.verdicts(self.name, rating, PARTS[0])
        found = advice(rating.value, PARTS[1:], self.name)
        notes = (*notes, *dropped(rating.value, self.name))
        return {"rectifications": keyed(*verdicts), "suggestions": found, "notes": keyed(*notes)}

    def _render(self, prompt: str, review: UnderReview) -> Rendered:
        return prompts.load(prompt).render(task=self.task, **review.fields)

    async def _in_one_call(self, review: UnderReview) -> Reviewing:
        return await self._scores(self._render(self.prompt, review), review, PARTS), ()

    async def _in_three_calls(self, review: UnderReview) -> Reviewing:
        """Each duty alone, side by side, so that none colours another."""
        scoring, *advising = (self._render(self._duties[part], review) for part in PARTS)
        scores, *lists = await asyncio.gather(
            self._scores(scoring, review, PARTS[:1]),
            *(self._advice(messages, review.asked, part) for messages, part in zip(advising, PARTS[1:], strict=True)),
        )
        together = {**(scores.value or {})}
        for found, _ in lists:
            together |= {**found, "dropped": [*together.get("dropped", ()), *found.get("dropped", ())]}
        return replace(scores, value=together), tuple(note for _, note in lists if note)

    async def _scores(self, messages: Rendered, review: UnderReview, parts: tuple[str, ...]) -> Rating[dict[str, Any]]:
        form = critique_form(review.asked, parts, thoughts=self.cot)
        return await rate(self.judge, messages, form, review.slots(PARTS[0]), self.reader)

    async def _advice(
        self, messages: Rendered, asked: Mapping[str, Criterion], part: str
    ) -> tuple[dict[str, Any], Note | None]:
        """One list of suggestions, in one reply; where none can be had, a note with the status."""
        try:
            return await ask(self.judge, messages, critique_form(asked, (part,)), temperature=0.0), None
        except ReplyError as error:
            what = f"no advice on {part.replace('_', ' ')}: {one_line(error)}"
            about = {"agent": self.name, "status": error.status, "kind": "advice-missing"}
            return {}, Note.model_validate({**about, "text": what})


# What a critic is asked to return: rectified scores, changed definitions, new criteria.


@settings_checked
def critique_form(
    criteria: Mapping[str, Criterion], parts: tuple[str, ...] = PARTS, name: str = "critique", *, thoughts: bool = False
) -> Form[dict[str, Any]]:
    """The form for any of the three duties; its value maps each part to what could be read of it, and "dropped" to why
    suggestions were left out, where some were.

    With `thoughts` there is room to think before the reason of each verdict.
    """
    schemas = {part: _schema(part, criteria, thoughts) for part in parts}

    def read_all(data: Any) -> dict[str, Any]:
        if not isinstance(data, Mapping):
            raise ValueError(f"expected an object with {', '.join(parts)}")
        read = {part: _suggestions(part, data.get(part), criteria) for part in parts if part != PARTS[0]}
        lists: dict[str, Any] = {part: found for part, (found, _) in read.items()}
        if lost := [why for _, whys in read.values() for why in whys]:
            lists["dropped"] = lost
        if PARTS[0] not in parts:
            return lists
        try:
            return {PARTS[0]: read_verdicts(data.get(PARTS[0]), criteria), **lists}
        except Incomplete as error:
            raise Incomplete(f"{PARTS[0]}: {error}", {PARTS[0]: error.value, **lists}, error.got) from None

    return Form(name, record(schemas), read_all)


def verdicts_of(criterion: Criterion) -> tuple[str, ...]:
    """What a critic may say of a score."""
    return LABEL_VERDICTS if criterion.scale.labels else VERDICTS


def _schema(part: str, criteria: Mapping[str, Criterion], thoughts: bool) -> dict[str, Any]:
    if part == "rectifications":
        verdicts = {key: enum_of(verdicts_of(c)) for key, c in criteria.items()}
        return record({k: rating_schema(c, thoughts=thoughts, verdict=verdicts[k]) for k, c in criteria.items()})
    names = enum_of(c.name for c in criteria.values())
    if part == "definitions":
        item = record({"criterion": names, "definition": STRING, "reason": STRING})
        return {"type": "array", "items": item}
    item = record({"name": STRING, "definition": STRING, "reason": STRING})
    return {"type": "array", "items": item, "maxItems": NEW_AT_MOST}


def read_verdicts(data: Any, criteria: Mapping[str, Criterion], texts: Sequence[str] = ()) -> dict[str, Any]:
    """Entries with a known verdict and some words under each of `texts`; "keep" needs no value of its own.

    The case of a verdict does not count, nor does white space around it.

    Raises:
        Incomplete: some entry is missing or cannot be used; carries the others.
    """
    given = {key: _plain(entry) for key, entry in data.items()} if isinstance(data, Mapping) else {}
    wrong = {key: why for key, c in criteria.items() if (why := _wrong(given.get(key), c, texts))}
    for key in wrong:
        del given[key]
    try:
        return read_entries(given, criteria)
    except Incomplete as error:
        said = "; ".join([*(f"{key}: {why}" for key, why in wrong.items()), str(error)])
        raise Incomplete(said, error.value, error.got) from None


def _plain(entry: Any) -> Any:
    """An entry with its verdict as we spell it."""
    verdict = entry.get("verdict") if isinstance(entry, Mapping) else None
    return {**entry, "verdict": verdict.strip().casefold()} if isinstance(verdict, str) else entry


def _wrong(entry: Any, criterion: Criterion, texts: Sequence[str]) -> str:
    """Why an entry cannot be used, "" where it can, or where there is none."""
    if not isinstance(entry, Mapping):
        return ""
    if entry.get("verdict") not in verdicts_of(criterion):
        return f"verdict {entry.get('verdict')!r} is none of {', '.join(verdicts_of(criterion))}"
    blank = [text for text in texts if not (isinstance(entry.get(text), str) and entry[text].strip())]
    return f"{' and '.join(map(repr, blank))} must say something" if blank else ""


def _suggestions(part: str, data: Any, criteria: Mapping[str, Criterion]) -> tuple[list[Suggestion], list[str]]:
    """The well-formed suggestions, and why others were left out; what cannot be read is not worth another call."""
    found: list[Suggestion] = []
    lost: list[str] = []
    names = [c.name for c in criteria.values()]
    known = {name.casefold(): name for name in names} | {name: name for name in names}
    for item in data if isinstance(data, list) else ():
        if not isinstance(item, Mapping):
            lost.append("one is no object")
            continue
        said = str(item.get("criterion" if part == "definitions" else "name") or "")
        asked = known.get(said) or known.get(said.strip().casefold())
        name, definition = asked or " ".join(said.split()), " ".join(str(item.get("definition") or "").split())
        if why := _unusable(name, definition, asked is not None, part):
            lost.append(why)
            continue
        kind: Any = "definition" if part == "definitions" else "criterion"
        reason = str(item.get("reason") or "")
        found.append(Suggestion(kind=kind, criterion=name, definition=definition, reason=reason))
    if part == "definitions":
        return found, lost
    return found[:NEW_AT_MOST], lost + [f"more than {NEW_AT_MOST} new criteria"] * len(found[NEW_AT_MOST:])


def _unusable(name: str, definition: str, known: bool, part: str) -> str:
    """Why a suggestion cannot be used, "" where it can."""
    if not name or not definition:
        return "a name or a definition is missing"
    if part == "definitions":
        return "" if known else f"there is no criterion '{one_line(name, 60)}' to define"
    return f"the new criterion '{one_line(name, 60)}' is there already" if known else ""


# What a critic's verdicts make of the drafts: plain code, no model.


class Verdicts(TypedDict):  # what rectify reads
    scores: Scores
    rectifications: dict[str, Rectification]


class Final(TypedDict):  # what it writes
    scores: Scores


@settings_checked
@dataclass(frozen=True, kw_only=True)
class Rectify:
    """Writes a final score beside every draft.

    What the critic keeps has the draft's value. What it changes has its value, on the same scale; a change that names
    the point which a fractional draft is at (4 for 3.62) is a keep, with a note (`under_review.same_point`). A draft
    without a value stays without one; where the critic failed, the final score has the critic's status: an
    unreviewed draft is not a reviewed score. A final score names its draft by the draft's key.

    Of several critics' verdicts those by the agent `name` count; where it said nothing at all, those of any other
    critic do, under whatever keys it wrote them.

    Attributes:
        stage: of the scores that were reviewed. name: the critic, whom the final scores name as their agent.
    """

    stage: str = "draft"
    name: str = "sage"

    def __call__(self, state: Verdicts) -> Final:
        drafts = [s for s in state["scores"].values() if s.stage == self.stage]
        said = state["rectifications"]
        finals = (_final(d, _verdict(said, d.criterion, self.name), self.name) for d in drafts)
        return {"scores": {final.key: final for final in finals}}  # of several agents' drafts the last, as its critic


def _verdict(said: Mapping[str, Rectification], criterion: str, critic: str) -> Rectification | None:
    """The critic's own verdict; without any of its own another's, by criterion: the last one's."""
    if (own := said.get(key_of(criterion, critic))) is not None:
        return own
    theirs = [r for r in said.values() if r.agent == critic] or said.values()
    found = [r for r in theirs if r.criterion == criterion]
    return found[-1] if found else None


def _final(draft: Score, verdict: Rectification | None, agent: str) -> Score:
    final = draft.model_copy(update={"stage": "final", "agent": agent, "raw": None, "draft": draft.key})
    if draft.status != "ok":
        return final
    if verdict is None or verdict.status != "ok":
        status = "skipped" if verdict is None else verdict.status
        reason = verdict.reason if verdict else "the critic said nothing of this criterion"
        return Score(
            criterion=draft.criterion, agent=agent, status=status, scale=draft.scale, reason=reason, draft=draft.key
        )  # fmt: skip
    if verdict.action == "keep":
        notes = (*final.notes, *(note for note in verdict.notes if GAINSAID in note))
        return final.model_copy(update={"reason": verdict.reason or draft.reason, "notes": notes})
    scale = draft.scale
    if verdict.value is not None and same_point(verdict.value, draft.value, scale):
        way = {"up": "raise", "down": "lower"}.get(verdict.direction, "change")
        note = at_that_point(way, verdict.value, draft.value or 0.0)
        return final.model_copy(update={"reason": verdict.reason or draft.reason, "notes": (*final.notes, note)})
    return Score(
        criterion=draft.criterion, agent=agent, scale=scale, reason=verdict.reason, reader=verdict.reader,
        value=scale.check(verdict.value) if scale and verdict.value is not None else verdict.value,
        label=verdict.label, distribution=verdict.distribution, unseen=verdict.unseen, notes=verdict.notes,
        draft=draft.key,
    )  # fmt: skip
