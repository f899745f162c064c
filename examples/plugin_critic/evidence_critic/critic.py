"""The critic: keeps a score only where the text bears out the reason that was given for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from judgegraph import Criterion, keyed, prompts
from judgegraph.agents import PARTS, Critique, Reviewed, UnderReview, critique_form
from judgegraph.calls import STATED, JudgeLike, Reader, rate

SCORES = PARTS[0]  # the part of a critique that reviews scores; the other two suggest criteria


@dataclass(frozen=True, kw_only=True)
class EvidenceCritic:
    """Looks for evidence of each score's reason in the text.

    Attributes:
        judge: who answers. criteria: what was judged by, where the state brings none.
        task: one sentence that says what kind of text is judged. reader: how its own scores are read.
        stage: of the scores it reviews.
    """

    judge: JudgeLike = "embedded"
    criteria: Sequence[Criterion] = ()
    task: str = "a generated text"
    prompt: str = "evidence_critic:critique.md"
    reader: Reader = STATED
    name: str = "evidence-critic"
    stage: str = "draft"

    async def __call__(self, state: Reviewed) -> Critique:
        held = UnderReview.of(state, self.criteria, self.stage)
        if (idle := held.idle(self.name)) is not None:  # nothing that a reply could change: a note says so
            return idle
        messages = prompts.load(self.prompt).render(task=self.task, **held.fields)
        form = critique_form(held.asked, (SCORES,))  # a reason, a verdict and a value for each criterion
        rating = await rate(self.judge, messages, form, held.slots(SCORES), self.reader)
        return {"rectifications": keyed(*held.verdicts(self.name, rating, SCORES)), "suggestions": []}
