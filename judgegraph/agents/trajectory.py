"""Judges of an agent's run: one looks at a step, one at the whole, one searches for the decisive mistake."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NotRequired, TypeAlias

from typing_extensions import TypedDict

from judgegraph import prompts
from judgegraph.calls import Form, JudgeLike, Reader, Slot, ask, rate
from judgegraph.calls.asking import STRING, enum_of, rating_schema, read_entries, record
from judgegraph.calls.ratings import STATED
from judgegraph.errors import ReplyError, counted, settings_checked
from judgegraph.evidence import Turn, turn_text, turns_text
from judgegraph.prompts.template import criteria_text, left_out_examples, slugs
from judgegraph.types import (
    Criterion,
    Note,
    Notes,
    Sample,
    Scale,
    Score,
    Scores,
    given_criteria,
    keyed,
    sample_of,
)

FAULTS = (
    "none", "wrong tool", "wrong argument", "repeated step", "ignored error", "unsupported claim", "other",
)  # fmt: skip
STEP = "step"  # the stage of what is said of single steps: no answer of the graph's
# Criteria whose labels say where, what and who; of the first and the last each run has labels of its own, so no scale.
DECISIVE, KIND, AGENT = "Decisive step", "Kind of fault", "Agent at fault"
NONE = "none"
MOST_STEPS = 2_000  # of a run
Search: TypeAlias = Literal["at-once", "by-step", "by-halves"]


class StepCase(TypedDict):  # what a judge of one step is sent
    sample: Sample
    step: int


class StepJudged(TypedDict):  # what it writes
    scores: Scores


class RunCase(TypedDict):  # what the search reads
    sample: Sample


class WholeCase(TypedDict):  # what the judge of the whole reads
    sample: Sample
    criteria: NotRequired[list[Criterion]]
    scores: NotRequired[Scores]  # of single steps


class RunJudged(TypedDict):  # what it writes
    scores: Scores
    notes: Notes


def steps_of(sample: Sample) -> list[int]:
    """Numbers, from 1, of the steps that an agent took: not those of users, tools and instructions."""
    own = [
        at
        for at, turn in enumerate(sample.turns, 1)
        if turn.role not in ("user", "human", "system", "tool", "function")
    ]
    return own[:MOST_STEPS]


def step_name(number: int) -> str:
    """What labels call a step: "step 3"."""
    return f"step {number}"


def step_of(label: str | None) -> int | None:
    """The number in such a label; None in any other text."""
    head, _, number = (label or "").partition(" ")
    return int(number) if head == "step" and number.isdigit() else None


def shown_turns(turns: Sequence[Turn], last: int, most: int = 0) -> str:
    """Steps up to one, each under its number; of many the last `most`, with a line that says how many are left out."""
    first = max(0, last - most) if most else 0
    head = f"({first} earlier steps are not shown)\n" if first else ""
    return head + "\n".join(turn_text(at, turns[at - 1]) for at in range(first + 1, last + 1))


@settings_checked
@dataclass(frozen=True, kw_only=True)
class StepJudge:
    """Names the fault of one step of a run, or none.

    Attributes:
        judge: who answers. before: steps shown before the one to judge, 0 for all of them: of long runs a part each.
        reader: how the label is read.
    """

    judge: JudgeLike = "embedded"
    before: int = 0
    prompt: str = "trajectory_step"
    reader: Reader = STATED
    name: str = "step-judge"

    async def __call__(self, state: StepCase) -> StepJudged:
        sample, number = sample_of(state), state["step"]
        if not 1 <= number <= len(sample.turns):
            text = f"the sample has {counted(len(sample.turns), 'step')}, and no step {number}"
            lost = Score(criterion=f"Step {number}", agent=self.name, stage=STEP, status="skipped", reason=text)
            return {"scores": keyed(lost)}
        evidence = prompts.evidence_of(sample)
        last = number + sum(turn.role == "tool" for turn in _results_after(sample.turns, number))
        messages = prompts.load(self.prompt).render(
            query=sample.query, step=turn_text(number, sample.turns[number - 1]),
            **evidence | {"turns": shown_turns(sample.turns, last, self.before + last - number if self.before else 0)},
        )  # fmt: skip
        slots = {"": Slot(FAULT, (), name=KIND)}
        rating = await rate(self.judge, messages, step_form(), slots, self.reader, temperature=0.0)
        fields = rating.answers[""].fields()
        score = Score(criterion=f"Step {number}", agent=self.name, stage=STEP, scale=FAULT, **fields)
        return {"scores": keyed(score)}


FAULT = Scale(labels=FAULTS)


def _results_after(turns: Sequence[Turn], number: int) -> list[Turn]:
    """What the tools returned to the calls of a step: it is judged by them too."""
    found = []
    for turn in turns[number:]:
        if turn.role != "tool":
            break
        found.append(turn)
    return found


@lru_cache(maxsize=1)
def step_form() -> Form[Any]:
    """A reason, then a fault."""

    def read(data: Any) -> Any:
        FAULT.check_label(data.get("label") if isinstance(data, Mapping) else None)
        return data

    return Form("step-fault", record({"reason": STRING, "label": enum_of(FAULTS)}), read)


@settings_checked
@dataclass(frozen=True, kw_only=True)
class RunJudge:
    """Scores a run by its criteria, and names its decisive step, the kind of its fault and the agent that took it.

    Attributes:
        judge: who answers. criteria: what to judge by, where the state brings none. task: what kind of text is judged.
        most: steps shown, 0 for all; of a longer run the last ones, and every step that has a finding.
    """

    judge: JudgeLike = "embedded"
    criteria: Sequence[Criterion] = ()
    task: str = "the run of an agent"
    most: int = 0
    prompt: str = "trajectory_whole"
    reader: Reader = STATED
    name: str = "run-judge"
    stage: str = "final"

    async def __call__(self, state: WholeCase) -> RunJudged:
        sample, asked = sample_of(state), slugs(given_criteria(state) or self.criteria)
        numbers = steps_of(sample)
        if not numbers:
            text = "the sample has no steps of an agent (turns): there is no run to judge"
            why = {"agent": self.name, "stage": self.stage, "status": "skipped", "reason": text}
            skipped = [Score(criterion=one.name, scale=one.scale, **why) for one in asked.values()]
            return {"scores": keyed(*skipped), "notes": keyed(Note(agent=self.name, text=text, kind="no-steps"))}
        found = _findings(state.get("scores") or {})
        messages = prompts.load(self.prompt).render(
            task=self.task, criteria=criteria_text(asked),
            **prompts.material(sample, asked.values())
            | {"turns": self._shown(sample, found), "findings": findings_text(found)},
        )  # fmt: skip
        labels = (NONE, *map(step_name, numbers))
        scales = {"decisive_step": Scale(labels=labels), "kind": FAULT}
        slots = {key: Slot(one.scale, (key,), name=one.name) for key, one in asked.items()}
        slots |= {key: Slot(scale, (key,), name=key) for key, scale in scales.items()}
        rating = await rate(self.judge, messages, whole_form(asked, labels), slots, self.reader, temperature=0.0)
        scores = [
            self._score(one.name, one.scale, rating.answers[key].fields(*left_out_examples(one, sample)))
            for key, one in asked.items()
        ]
        where = rating.answers["decisive_step"].fields()
        scores += [self._score(DECISIVE, None, where)]
        scores += [self._score(KIND, FAULT, rating.answers["kind"].fields())]
        scores += self._agent(sample, where)
        return {"scores": keyed(*scores), "notes": {}}

    def _score(self, criterion: str, scale: Scale | None, fields: Mapping[str, Any]) -> Score:
        return Score(criterion=criterion, agent=self.name, stage=self.stage, scale=scale, **fields)

    def _agent(self, sample: Sample, where: Mapping[str, Any]) -> list[Score]:
        return agent_scores(sample, where.get("label"), self.name, self.stage)

    def _shown(self, sample: Sample, found: Mapping[int, Score]) -> str:
        if not self.most or len(sample.turns) <= self.most:
            return turns_text(sample.turns)
        first = len(sample.turns) - self.most
        early = [at for at in sorted(found) if at <= first]
        kept = "\n".join(turn_text(at, sample.turns[at - 1]) for at in early)
        last = shown_turns(sample.turns, len(sample.turns), self.most)
        return f"{kept}\n{last}" if kept else last


def agent_scores(sample: Sample, label: str | None, name: str, stage: str) -> list[Score]:
    """Who took the decisive step, of several agents; none where the turns name fewer than two."""
    agents = tuple(dict.fromkeys(_agent_of(sample.turns[at - 1]) for at in steps_of(sample)))
    if len(agents) < 2 or not all(agents):
        return []
    number = step_of(label)
    chosen = _agent_of(sample.turns[number - 1]) if number else NONE
    about: dict[str, Any] = {"agent": name, "stage": stage}
    if label is None:
        return [Score(criterion=AGENT, status="abstained", reason="no decisive step was named", **about)]
    return [Score(criterion=AGENT, label=chosen, reason=f"who took {label}" if number else "", **about)]


def _agent_of(turn: Turn) -> str:
    return (turn.agent or turn.name or turn.role).strip()


def _findings(scores: Mapping[str, Score]) -> dict[int, Score]:
    """Steps with a fault, as single steps were judged: number -> its score."""
    found = {}
    for score in scores.values():
        number = step_of(score.criterion.lower()) if score.stage == STEP else None
        if number and score.label not in (None, NONE):
            found[number] = score
    return found


def findings_text(found: Mapping[int, Score]) -> str:
    """One line a step: "step 3: wrong argument: why"."""
    lines = [f"step {at}: {score.label}: {' '.join(score.reason.split())}" for at, score in sorted(found.items())]
    return "\n".join(lines)


def whole_form(criteria: Mapping[str, Criterion], labels: Sequence[str]) -> Form[dict[str, Any]]:
    """A rating by each criterion, then the decisive step and the kind of its fault."""
    schema = record({
        **{key: rating_schema(one) for key, one in criteria.items()},
        "decisive_step": record({"reason": STRING, "label": enum_of(labels)}),
        "kind": record({"label": enum_of(FAULTS)}),
    })  # fmt: skip
    marks = {
        "decisive_step": Criterion(name="decisive_step", scale=Scale(labels=tuple(labels))),
        "kind": Criterion(name="kind", scale=FAULT),
    }

    def read(data: Any) -> dict[str, Any]:
        return read_entries(data, {**criteria, **marks})

    return Form("run", schema, read)


# The search for the decisive mistake of a run that failed, in the three ways of Who&When.


@settings_checked
@dataclass(frozen=True, kw_only=True)
class FaultSearch:
    """Names the decisive step of a run that failed, and the agent that took it.

    Source: Zhang et al. 2025 (Who&When, arXiv:2505.00212), section 4.

    Attributes:
        judge: who answers. search: "at-once" shows the whole run and asks for the step; "by-step" shows it step by step
            and stops at the first that is called the mistake; "by-halves" asks which half holds it, again and again.
        reference: whether the task's right answer is shown, as the paper has it both ways.
    """

    judge: JudgeLike = "embedded"
    search: Search = "at-once"
    reference: bool = True
    prompt: str = "find_fault"
    name: str = "find-fault"
    stage: str = "final"

    async def __call__(self, state: RunCase) -> RunJudged:
        sample = sample_of(state)
        numbers = steps_of(sample)
        if not numbers:
            text = "the sample has no steps of an agent (turns): there is no run to search"
            score = self._score(status="skipped", reason=text)
            return {"scores": keyed(score), "notes": keyed(Note(agent=self.name, text=text, kind="no-steps"))}
        ways = {"at-once": self._at_once, "by-step": self._by_step, "by-halves": self._by_halves}
        try:
            label, reason = await ways[self.search](sample, numbers)
        except ReplyError as error:
            score = self._score(status=error.status, reason=str(error))
            return {"scores": keyed(score), "notes": {}}
        score = self._score(label=label, reason=reason)
        return {"scores": keyed(score, *agent_scores(sample, label, self.name, self.stage)), "notes": {}}

    def _score(self, **fields: Any) -> Score:
        return Score(criterion=DECISIVE, agent=self.name, stage=self.stage, reader="stated", **fields)

    async def _asked(
        self, sample: Sample, turns: str, question: str, key: str, answers: Sequence[str]
    ) -> tuple[str, str]:
        shown = prompts.material(sample) if self.reference else prompts.material(sample.without("reference"))
        messages = prompts.load(self.prompt).render(
            query=sample.query, reference=shown["reference"], asked=question,
            **prompts.evidence_of(sample) | {"turns": turns},
        )  # fmt: skip
        found = await ask(self.judge, messages, choice_form(key, tuple(answers)), temperature=0.0)
        return found[key], found["reason"]

    async def _at_once(self, sample: Sample, numbers: Sequence[int]) -> tuple[str, str]:
        question = "Name the step with the decisive mistake."
        return await self._asked(
            sample, turns_text(sample.turns), question, "decisive_step", [*map(step_name, numbers)]
        )

    async def _by_step(self, sample: Sample, numbers: Sequence[int]) -> tuple[str, str]:
        for number in numbers:
            question = f"Does the last step shown, step {number}, make the decisive mistake?"
            said, reason = await self._asked(
                sample, shown_turns(sample.turns, number), question, "mistake", ("yes", "no")
            )
            if said == "yes":
                return step_name(number), reason
        return NONE, "no step was called the decisive mistake"

    async def _by_halves(self, sample: Sample, numbers: Sequence[int]) -> tuple[str, str]:
        left, reason = [*numbers], "one step was left"
        while len(left) > 1:
            middle = (len(left) + 1) // 2
            first, second = left[:middle], left[middle:]
            turns = "\n".join(turn_text(at, sample.turns[at - 1]) for at in range(left[0], left[-1] + 1))
            question = (
                f"Which half holds the decisive mistake: the first, steps {first[0]} to {first[-1]}, or the second, "
                f"steps {second[0]} to {second[-1]}?"
            )
            said, reason = await self._asked(sample, turns, question, "half", ("first", "second"))
            left = first if said == "first" else second
        return step_name(left[0]), reason


@lru_cache(maxsize=256)
def choice_form(key: str, answers: tuple[str, ...]) -> Form[dict[str, str]]:
    """A reason, then one of the answers."""

    def read(data: Any) -> dict[str, str]:
        said = data.get(key) if isinstance(data, Mapping) else None
        if said not in answers:
            raise ValueError(f"{key}: expected one of {', '.join(answers[:6])}{', ...' if len(answers) > 6 else ''}")
        return {key: said, "reason": str(data.get("reason") or "")}

    return Form("find-fault", record({"reason": STRING, key: enum_of(answers)}), read)
