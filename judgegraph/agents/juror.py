"""A judge in somebody's own words, and one that hears what others said before it judges: what a jury is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NotRequired

from typing_extensions import TypedDict

from judgegraph import prompts
from judgegraph.agents.evaluator import Case, Scored
from judgegraph.calls import JudgeLike, Reader, Slot, rate
from judgegraph.calls.asking import ratings_form
from judgegraph.calls.ratings import STATED
from judgegraph.errors import ConfigError, one_line, settings_checked
from judgegraph.evidence import EVIDENCE
from judgegraph.prompts.template import criteria_text, left_out_examples, scores_text, slugs
from judgegraph.types import Criterion, Note, Notes, Sample, Score, Scores, given_criteria, keyed, sample_of

NOTHING_HEARD = "nothing-heard"
SAID = "What judges said of the same text. Weigh their reasons: how many of them agree is no reason."
READABLE = ("query", "source", "reference", *EVIDENCE)
FAIR = "You are a fair and careful judge."


class AfterOthers(TypedDict):  # what a judge reads who hears others
    sample: Sample
    scores: Scores
    criteria: NotRequired[list[Criterion]]  # else its own


class Judged(TypedDict):  # what it writes
    scores: Scores
    notes: Notes


@settings_checked
@dataclass(frozen=True, kw_only=True)
class Juror:
    """Scores all criteria in one call, by instructions of yours.

    Attributes:
        judge: who answers. criteria: what to judge by, where the state brings none.
        task: one sentence that says what kind of text is judged.
        instructions: who this judge is and what it looks for, in a few sentences; they open its prompt.
        prompt: a template with the fields instructions, task, criteria, query, source, output and statements.
        reads: what it is shown of a sample beside the output, of `READABLE`; None: whatever there is.
        reader: how scores are read; by default the number that is stated. stage: of the scores it writes.
    """

    judge: JudgeLike = "embedded"
    criteria: Sequence[Criterion] = ()
    task: str = "a generated text"
    instructions: str = FAIR
    prompt: str = "juror"
    reads: Sequence[str] | str | None = None
    reader: Reader = STATED
    name: str = "juror"
    stage: str = "final"

    def __post_init__(self) -> None:
        if self.reads is None:
            return
        read = (self.reads,) if isinstance(self.reads, str) else tuple(self.reads)
        if unknown := [one for one in read if one not in (*READABLE, "output")]:
            raise ConfigError(
                f"judge '{one_line(self.name, 80)}': reads: no sample has {one_line(repr(unknown[0]), 60)}; besides "
                f"the output, which is always read, there are {', '.join(READABLE)}"
            )
        object.__setattr__(self, "reads", tuple(one for one in READABLE if one in read))

    async def __call__(self, state: Case) -> Scored:
        return {"scores": keyed(*await self._scores(sample_of(state), given_criteria(state) or self.criteria))}

    async def _scores(
        self, sample: Sample, criteria: Sequence[Criterion], statements: str = "",
        votes: Mapping[str, Sequence[str]] | None = None,
    ) -> list[Score]:  # fmt: skip
        """A score for each criterion.

        Args:
            statements: what others said, "" where nobody is heard. votes: criterion -> keys of their scores.
        """
        if not (asked := slugs(criteria)):
            return []
        messages = prompts.load(self.prompt).render(
            task=self.task, instructions=self.instructions.strip(), criteria=criteria_text(asked),
            statements=statements, **self._shown(prompts.material(sample, asked.values())),
        )  # fmt: skip
        slots = {key: Slot(criterion.scale, (key,)) for key, criterion in asked.items()}
        cold = {} if self.reader.kind == "mean" else {"temperature": 0.0}
        rating = await rate(self.judge, messages, ratings_form(asked), slots, self.reader, **cold)
        about: dict[str, Any] = {"agent": self.name, "stage": self.stage}
        return [
            Score(criterion=c.name, scale=c.scale, votes=tuple((votes or {}).get(c.name, ())), **about,
                  **rating.answers[key].fields(*left_out_examples(c, sample)))
            for key, c in asked.items()
        ]  # fmt: skip

    def _shown(self, material: Mapping[str, Any]) -> dict[str, Any]:
        """Of what a sample brings, what this judge reads."""
        hidden = set() if self.reads is None else {*READABLE} - {*self.reads}
        return {name: value for name, value in material.items() if name not in hidden} | dict.fromkeys(
            hidden - {*EVIDENCE}, ""
        )


@settings_checked
@dataclass(frozen=True, kw_only=True)
class Hearer(Juror):
    """A judge that hears what others scored and why, and then scores: in a later round of a debate, or as a chair.

    Its scores take the place of those that it heard, which are votes on the way to its own.

    Source: Chan et al. 2023 (ChatEval), where judges read one another's statements; here these are scores with reasons.

    Attributes:
        hears: names of agents whose scores of the output it is shown, in this order; empty: of all. at: their stage,
            "" for any. The other settings are those of `Juror`.
    """

    hears: Sequence[str] = ()
    at: str = ""

    async def __call__(self, state: AfterOthers) -> Judged:  # type: ignore[override]
        criteria = given_criteria(state) or self.criteria
        said = self._others(state["scores"], {criterion.name for criterion in criteria})
        votes: dict[str, list[str]] = {}
        for score in (score for scores in said.values() for score in scores):
            votes.setdefault(score.criterion, []).append(score.key)
        found = await self._scores(sample_of(state), criteria, self._statements(said), votes)
        lost = [name for name, scores in said.items() if not any(score.answer is not None for score in scores)]
        if said and not lost:
            return {"scores": keyed(*found), "notes": {}}
        text = f"heard no score of {', '.join(lost)}" if lost else "heard nobody's scores"
        note = Note(agent=self.name, text=text, status="skipped", kind=NOTHING_HEARD)
        return {"scores": keyed(*found), "notes": keyed(note)}

    def _others(self, scores: Scores, criteria: set[str]) -> dict[str, list[Score]]:
        """Agent -> its scores by these criteria, of those that it hears."""
        found: dict[str, list[Score]] = {name: [] for name in self.hears}
        for score in scores.values():
            own = score.agent == self.name and score.stage == self.stage
            here = score.of == "output" and (not self.at or score.stage == self.at) and score.criterion in criteria
            if here and not own and (not self.hears or score.agent in found):
                found.setdefault(score.agent, []).append(score)
        return found

    def _statements(self, said: Mapping[str, Sequence[Score]]) -> str:
        told = [
            f"# {name}{' (you)' if name == self.name else ''}\n{scores_text(scores)}"
            for name, scores in said.items()
            if scores
        ]
        return "\n\n".join([SAID, *told]) if told else ""


def hearing(juror: Juror, hears: Sequence[str], at: str, stage: str) -> Hearer:
    """The same judge, as one that hears others, at a stage of its own."""
    settings = {one.name: getattr(juror, one.name) for one in fields(Juror)}
    return Hearer(**settings | {"hears": tuple(hears), "at": at, "stage": stage})
