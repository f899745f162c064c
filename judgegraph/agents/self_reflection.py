"""The self-reflection critic: the evaluator looks at its own scores and reasons again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from judgegraph import prompts
from judgegraph.agents.critique_form import PARTS, critique_form
from judgegraph.agents.sage import WEIGHTED
from judgegraph.agents.under_review import Critique, Reviewed, UnderReview
from judgegraph.calls import JudgeLike, Reader, rate
from judgegraph.types import Criterion, keyed


@dataclass(frozen=True, kw_only=True)
class SelfReflection:
    """Asks the judge that scored to check its scores against the text, and to revise what does not hold.

    Source: SAGEval section 6 names a self-reflection (SR) version beside the vanilla one; it says neither how SR was
    asked nor what it reached. Ours: one call to the evaluator's judge, which is shown its scores and reasons as its
    own, no second role and no suggestions; read as SAGE's scores are (section 4.4).

    Attributes:
        judge: who scored, and answers again: give it the evaluator's. criteria: what was judged by, where the state
            brings none. stage: of the scores it looks at again.
    """

    judge: JudgeLike = "embedded"
    criteria: Sequence[Criterion] = ()
    task: str = "a generated text"
    prompt: str = "self_reflection"
    reader: Reader = WEIGHTED
    name: str = "self-reflection"
    stage: str = "draft"

    async def __call__(self, state: Reviewed) -> Critique:
        held = UnderReview.of(state, self.criteria, self.stage)
        if (idle := held.idle(self.name)) is not None:
            return idle
        form = critique_form(held.asked, PARTS[:1], "reflection")
        messages = prompts.load(self.prompt).render(task=self.task, **held.fields)
        rating = await rate(self.judge, messages, form, held.slots(PARTS[0]), self.reader)
        return {"rectifications": keyed(*held.verdicts(self.name, rating, PARTS[0])), "suggestions": []}
