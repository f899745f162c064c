"""The planner: how to use the assistants for these criteria, before any sample is seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NotRequired

from typing_extensions import TypedDict

from judgegraph import prompts
from judgegraph.agents.plan_form import assistants_text, plain, plan_form
from judgegraph.calls import JudgeLike, ask
from judgegraph.errors import ReplyError
from judgegraph.prompts.sections import criteria_text, slugs
from judgegraph.types import Criterion, Note, Notes, Plan, given_criteria, keyed


class Task(TypedDict):  # what a planner reads: no sample
    criteria: NotRequired[list[Criterion]]  # else its own


class Planned(TypedDict):  # what it writes
    plan: Plan
    notes: Notes


@dataclass(frozen=True, kw_only=True)
class Planner:
    """Writes the plan that a judge follows, and which assistants serve which criterion.

    Source: Fusion-Eval (arXiv:2311.09204), figure 1 and table 4: one plan per task, criteria and assistants. Its
    prompt has no field of a sample, so all samples send equal calls, which a ledger pays for once.
    A plan that cannot be had is a Plan with a status, and a note: those who follow it go on without.

    Attributes:
        judge: who answers. assistants: name -> description, of those on offer; one or more.
        criteria: what is judged by, where the state brings none. task: one sentence, what kind of text is judged.
    """

    judge: JudgeLike = "embedded"
    assistants: Mapping[str, str]
    criteria: Sequence[Criterion] = ()
    task: str = "a generated text"
    prompt: str = "fusion_plan"
    name: str = "planner"

    async def __call__(self, state: Task) -> Planned:
        asked = slugs(given_criteria(state) or self.criteria)
        messages = prompts.load(self.prompt).render(
            task=self.task, criteria=criteria_text(asked), assistants=assistants_text(self.assistants)
        )
        try:
            plan, mended = await ask(self.judge, messages, plan_form(asked, list(self.assistants)))
        except ReplyError as error:
            plan, mended = Plan(text="", status=error.status), ()
            text = f"no plan, all assistants are asked: {error}"
            note = Note(agent=self.name, text=text, status=plan.status, kind="plan-failed")
            return {"plan": plan, "notes": keyed(note)}
        if not mended:
            return {"plan": plan, "notes": {}}
        text = f"the plan was mended: {plain(mended)}"
        return {"plan": plan, "notes": keyed(Note(agent=self.name, text=text, kind="plan-mended"))}
