"""One score per criterion from a cheap judge and a strong one that was asked about some: plain code, no model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from judgegraph.compose.conditions import Condition
from judgegraph.compose.doubt import Decided, Doubt, of_these
from judgegraph.compose.member import Runs
from judgegraph.compose.settle import noted
from judgegraph.errors import one_line
from judgegraph.types import Criterion, EvalState, Note, Notes, Score, Scores, keyed


class Run(EvalState, Runs, total=False):  # what stands in the state after the cheap judge
    pass


class Judged(Runs, total=False):  # and after both
    doubts: dict[str, str]


class Chosen(TypedDict):
    """What it writes."""

    scores: Scores
    notes: Notes


NOTHING = "nothing-to-decide"


@dataclass(frozen=True, kw_only=True)
class DoubtOfRun:
    """Asks a condition about the scores of one run, which do not stand among those of the state yet; see `Doubt`."""

    when: Condition
    run: str
    criteria: Sequence[Criterion] = ()
    name: str = "escalate"

    async def __call__(self, state: Run) -> Decided:
        seen: Any = {**state, "scores": keyed(*ballots_of(state, self.run).values())}
        return await Doubt(when=self.when, criteria=self.criteria, name=self.name)(seen)


@dataclass(frozen=True, kw_only=True)
class Escalated:
    """Writes a final score per criterion: the strong judge's where it was asked, else the cheap one's.

    Where the strong judge fails, an answer of the cheap one stands, with a note; where neither has one, the score has
    the strong judge's status. Each final score says whether it was escalated and why, and names the cheap judge's
    score as its draft.

    Attributes:
        cheap, strong: whose runs. name: whom the final scores name.
    """

    cheap: str
    strong: str
    name: str = "escalate"

    async def __call__(self, state: Judged) -> Chosen:
        cheap, strong = ballots_of(state, self.cheap), ballots_of(state, self.strong)
        names = dict.fromkeys((*cheap, *strong))
        why = of_these(state.get("doubts") or {}, [*names])
        if not names:
            text = "no criteria and no scores: there was nothing to decide"
            return {"scores": {}, "notes": keyed(Note(agent=self.name, text=text, status="skipped", kind=NOTHING))}
        finals = (self._final(cheap.get(c), strong.get(c), why.get(c, "")) for c in names)
        unanswered = [c for c in why if (score := strong.get(c)) is None or score.answer is None]
        return {"scores": keyed(*finals), "notes": self._noted(unanswered, strong)}

    def _noted(self, unanswered: Sequence[str], strong: Mapping[str, Score]) -> Notes:
        """A note on criteria that were in doubt and of which the strong judge gave no answer."""
        if not unanswered:
            return {}
        said = ", ".join(f"{one_line(c, 60)} ({strong[c].status if c in strong else 'no score'})" for c in unanswered)
        status = next((strong[c].status for c in unanswered if c in strong), "skipped")
        text = f"the strong judge was asked and gave no answer to {one_line(said, 300)}"
        return keyed(Note(agent=self.name, text=text, status=status, kind="escalation-unanswered"))

    def _final(self, cheap: Score | None, strong: Score | None, why: str) -> Score:
        score, note = _better(cheap, strong, why)
        draft = cheap.key if cheap is not None else None
        final = score.model_copy(update={"stage": "final", "agent": self.name, "raw": None, "draft": draft})
        return noted(final, note)


def _better(cheap: Score | None, strong: Score | None, why: str) -> tuple[Score, str]:
    """The score that counts, and what to note of it."""
    if cheap is None or (strong is not None and strong.answer is not None):
        assert strong is not None  # a criterion is one of either's scores
        return strong, f"escalated: {why}"
    if not why:
        return cheap, "not escalated: nothing was in doubt"
    failed = f"the strong judge failed ({strong.status})" if strong is not None else "the strong judge gave no score"
    if cheap.answer is not None:
        return cheap, f"escalated: {why}; {failed}, the cheap judge's score stands"
    return strong or cheap, f"escalated: {why}; {failed}"


def ballots_of(state: Mapping[str, Any], run: str) -> dict[str, Score]:
    """Criterion -> the answer of a run; of a pair that of the output."""
    cast: Scores = (state.get("runs") or {}).get(run, {}).get("ballots", {})
    return {score.criterion: score for score in cast.values() if score.of == "output"}
