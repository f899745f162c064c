"""The corrector: rewrites a response by what the judge said where it scored low."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from judgegraph import prompts
from judgegraph.calls import Form, JudgeLike, ask
from judgegraph.calls.asking import STRING, record
from judgegraph.calls.types import utf8_size
from judgegraph.errors import ReplyError, settings_checked
from judgegraph.prompts import Rendered
from judgegraph.prompts.template import criteria_text, scores_text
from judgegraph.types import (
    Correction,
    Criterion,
    Note,
    Notes,
    Sample,
    Scale,
    Score,
    Scores,
    Side,
    given_criteria,
    keyed,
    names_of,
    same_text,
    sample_of,
    text_of,
)

NAME = "corrector"
UNCHANGED = "nothing was changed: what came back is the original"
EMPTY = "it is empty: there is nothing to correct"
SIDES: tuple[Side, ...] = ("output", "rival")
ROOM = 300  # tokens that any response may take, as one that said hardly anything may become an answer
_LABEL = re.compile(r"\A\s*[\[*]{0,3}(?:modified|revised|corrected) response[\]*]{0,3}[ \t]*:[*\s]*", re.I)


class Judged(TypedDict):  # what the corrector reads
    sample: Sample
    scores: NotRequired[Scores]
    criteria: NotRequired[list[Criterion]]


class Corrected(TypedDict):  # what it writes
    corrections: dict[str, Correction]  # side, or side/agent under a name -> rewritten
    notes: NotRequired[Notes]


def _read(said: Any) -> str:
    text = said.get("response") if isinstance(said, Mapping) else said
    response = _LABEL.sub("", text).strip() if isinstance(text, str) else ""
    if not response:
        raise ValueError("the revised response is empty")
    return response


FORMS: dict[str, Form[str]] = {
    "form": Form("correction", record({"response": STRING}), _read, shorter=False),
    "text": Form("correction", None, _read, shorter=False),
}


@settings_checked
@dataclass(frozen=True, kw_only=True)
class Corrector:
    """Rewrites each response of which at least one criterion scored low; no low criterion, no call.

    Source: Fennec, section 3.1, eq. 4. It sees query, response, and what was said of it by the low criteria alone.
    A criterion judged more than once (both orders) counts by its mean. A correction keeps the original, the rule and
    the scores it was made by, so that it can be judged later what it was worth. What comes back as it was is no
    correction: it has the status "skipped" and no text. That, a threshold off the scale and scores that are not there
    are noted.

    Attributes:
        judge: who answers. task: one sentence that says what kind of text is revised.
        rule: "below" the threshold (the paper), or "at-most" (the code's rule, 3 or less).
        threshold: on the paper's scale 1-5, carried over to the same place on any other scale (3 is its middle).
        scored_by: names of the agents whose scores count; empty: all at the stage. stage: of these scores.
        reply: "form" asks for JSON, "text" for the bare response.
        temperature: paper: 0; None leaves it to the judge.
        name: one of its own stands in the keys of its corrections, so that two correctors keep theirs.
    """

    judge: JudgeLike = "embedded"
    task: str = "an assistant's response to a user's query"
    rule: Literal["below", "at-most"] = "below"
    threshold: float = 3.0
    scored_by: str | Sequence[str] = ()
    stage: str = "final"
    reply: Literal["form", "text"] = "form"
    prompt: str = "correct"
    temperature: float | None = 0.0
    name: str = NAME

    async def __call__(self, state: Judged) -> Corrected:
        low = self.low(state.get("scores", {}))
        known = {criterion.name: criterion for criterion in given_criteria(state)}
        done = await asyncio.gather(*(self._rewrite(sample_of(state), of, low[of], known) for of in low))
        notes = [*self._unfit(state.get("scores", {})), *filter(None, map(self._unchanged, done))]
        return {"corrections": keyed(*done), "notes": keyed(*notes)} if notes else {"corrections": keyed(*done)}

    def _unchanged(self, done: Correction) -> Note | None:
        if done.status != "skipped":
            return None
        text = f"{done.of}: {done.reason}"
        return Note(agent=self.name, text=text, status="skipped", kind="correction-unchanged")

    def _unfit(self, scores: Scores) -> list[Note]:
        """Why no score could ever be low, or why each of them is."""
        about: dict[str, Any] = {"agent": self.name, "status": "skipped"}
        counted = [score for score in scores.values() if self._counts(score)]
        if not counted:
            by = f" by {' or '.join(self.scored_by)}" if self.scored_by else ""
            text = f"no score at stage '{self.stage}'{by}: nothing to correct by"
            return [Note(text=text, kind="nothing-to-correct", **about)]
        if 1 <= self.threshold <= 5:
            return []
        text = f"the threshold {self.threshold:g} is not on the scale 1-5, on which it is given for every scale"
        return [Note(text=text, kind="threshold-off-scale", **about)]

    def low(self, scores: Scores) -> dict[Side, list[Score]]:
        """Response -> the scores of its low criteria, in the order of judging; without those that have none."""
        found = {of: self._low_of(of, scores) for of in SIDES}
        return {of: low for of, low in found.items() if low}

    def _low_of(self, of: Side, scores: Scores) -> list[Score]:
        by_criterion: dict[str, list[Score]] = {}
        for score in scores.values():
            if score.of == of and score.value is not None and self._counts(score):
                by_criterion.setdefault(score.criterion, []).append(score)
        return [score for same in by_criterion.values() if self._is_low(same) for score in same]

    def _counts(self, score: Score) -> bool:
        return score.stage == self.stage and (not self.scored_by or score.agent in names_of(self.scored_by))

    def _is_low(self, same: Sequence[Score]) -> bool:
        mean = math.fsum(score.value for score in same if score.value is not None) / len(same)
        limit = self._limit(same[0].scale)
        return mean <= limit if self.rule == "at-most" else mean < limit

    def _limit(self, scale: Scale | None) -> float:
        if scale is None or scale.low is None or scale.high is None:
            return self.threshold
        return scale.low + (self.threshold - 1) / 4 * (scale.high - scale.low)

    def _rule_in_words(self, low: Sequence[Score]) -> str:
        """The rule in the units of the scores: "below 3 on 1-5"."""
        word = "at most" if self.rule == "at-most" else "below"
        limits = (f"{self._limit(score.scale):g}" + (f" on {score.scale}" if score.scale else "") for score in low)
        return f"{word} {' or '.join(dict.fromkeys(limits))}"

    async def _rewrite(
        self, sample: Sample, of: Side, low: Sequence[Score], known: Mapping[str, Criterion]
    ) -> Correction:
        original = text_of(sample.output if of == "output" else sample.rival)
        names = tuple(dict.fromkeys(score.criterion for score in low))
        done: dict[str, Any] = {"of": of, "original": original, "criteria": names, "by": tuple(low)}
        done |= {"rule": self._rule_in_words(low), "agent": "" if self.name == NAME else self.name}
        if not original.strip():
            return Correction(**done, status="skipped", reason=EMPTY)
        messages = self.rendered(sample, original, low, known)
        form = replace(FORMS[self.reply], tokens=ROOM + utf8_size(original) // 2)  # twice as many as most texts take
        try:
            text = await ask(self.judge, messages, form, temperature=self.temperature)
        except ReplyError as error:
            return Correction.model_validate({**done, "status": error.status, "reason": str(error)})
        if same_text(text, original):
            return Correction(**done, status="skipped", reason=UNCHANGED)
        return Correction(**done, text=text)

    def rendered(
        self, sample: Sample, original: str, low: Sequence[Score], known: Mapping[str, Criterion]
    ) -> Rendered:  # fmt: skip
        """What a correction is asked for with: the low criteria as far as they are known, and what was said by them."""
        about = [known.get(name) or Criterion(name=name) for name in dict.fromkeys(score.criterion for score in low)]
        return prompts.load(self.prompt).render(
            task=self.task, criteria=criteria_text(about), query=sample.query, source=sample.source,
            response=original, judgements=scores_text(low), **prompts.evidence_of(sample),
        )  # fmt: skip
