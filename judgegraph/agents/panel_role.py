"""One seat of a panel of critics: a person who reviews the scores from where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from judgegraph import prompts
from judgegraph.agents.critique_form import PARTS, critique_form
from judgegraph.agents.sage import WEIGHTED
from judgegraph.agents.under_review import Critique, Reviewed, UnderReview, advice, dropped
from judgegraph.calls import JudgeLike, Reader, rate
from judgegraph.types import Criterion, keyed


@dataclass(frozen=True, kw_only=True)
class PanelRole:
    """SAGE's three duties in one call, by a person of a role.

    The role stands last in the prompt, so that all roles of a panel share what stands before it.

    Attributes:
        role: one sentence that says who reviews, and what they look out for. name: what the role is called.
        judge, criteria, task, reader, stage: as SAGE's.
    """

    role: str
    name: str
    judge: JudgeLike = "embedded"
    criteria: Sequence[Criterion] = ()
    task: str = "a generated text"
    prompt: str = "panel_critique"
    reader: Reader = WEIGHTED
    stage: str = "draft"

    async def __call__(self, state: Reviewed) -> Critique:
        held = UnderReview.of(state, self.criteria, self.stage)
        if (idle := held.idle(self.name)) is not None:
            return idle
        role = f"{self.name}: {self.role}"
        messages = prompts.load(self.prompt).render(task=self.task, role=role, **held.fields)
        rating = await rate(self.judge, messages, critique_form(held.asked), held.slots(PARTS[0]), self.reader)
        said = held.verdicts(self.name, rating, PARTS[0])
        found, notes = advice(rating.value, PARTS[1:], self.name), dropped(rating.value, self.name)
        return {"rectifications": keyed(*said), "suggestions": found, "notes": keyed(*notes)}
