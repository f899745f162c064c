"""The pairwise judge: two responses, one criterion and its guideline, a score for each and a verdict."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from judgegraph import prompts
from judgegraph.agents.judge import bare, guideline_for
from judgegraph.agents.pairwise_form import Judgement, Side, pairwise_form, pairwise_text
from judgegraph.calls import JudgeLike, replies
from judgegraph.calls.form import off_points
from judgegraph.errors import ReplyError
from judgegraph.prompts import Rendered
from judgegraph.types import Comparison, Comparisons, Criterion, Sample, Score, Scores, keyed, sample_of, text_of

Order = Literal["AB", "BA"]
Orders = Literal["AB", "BA", "both"]
PROMPTS = {"form": "judge_pair", "text": "judge_pair_text"}
EMPTY = '""'  # how an empty response is shown: its section must not be missing


class Case(TypedDict):  # what the comparer reads
    sample: Sample
    criterion: Criterion
    guidelines: NotRequired[dict[str, str]]  # criterion -> guideline; else the criterion's own


class Compared(TypedDict):  # what it writes
    comparisons: Comparisons
    scores: Scores


@dataclass(frozen=True, kw_only=True)
class Comparer:
    """Scores `Sample.output` (A) and `Sample.rival` (B) by one criterion; the greater score is the verdict.

    Source: Fennec, section 3.1, eq. 3, pairwise evaluation. For every order it writes a comparison, and a score per
    response (`of` says whose, `repeat` is 0 in order AB and 1 in order BA), so that a side whose score could be read
    keeps it. Scores and verdicts are always those of A = output and B = rival, whatever the order and the labels.

    Attributes:
        judge: who answers. task: one sentence that says what kind of text is judged.
        orders: "AB" prints A first, "BA" prints B first, "both" asks twice, side by side.
        labels: "response": a response keeps its label when the order is exchanged (Fennec); "position": A is
            always the one printed first (LLMBar, Auto-J), and what the reply says is mapped back here.
        reply: "form" asks for JSON, "text" for marked lines; of those a bare verdict is read too, without scores.
        prompt: a template, by default the reply's own. temperature: paper: 0; None leaves it to the judge.
    """

    judge: JudgeLike = "embedded"
    task: str = "an assistant's response to a user's query"
    orders: Orders = "AB"
    labels: Literal["response", "position"] = "response"
    reply: Literal["form", "text"] = "form"
    prompt: str = ""
    temperature: float | None = 0.0
    name: str = "comparer"
    stage: str = "final"

    def __post_init__(self) -> None:
        if self.prompt in ("", *PROMPTS.values()):  # so that `replace(agent, reply=...)` changes both
            object.__setattr__(self, "prompt", PROMPTS[self.reply])

    async def __call__(self, state: Case) -> Compared:
        orders: tuple[Order, ...] = ("AB", "BA") if self.orders == "both" else (self.orders,)
        judged = await asyncio.gather(*(self._judged(state, order) for order in orders))
        return {
            "comparisons": keyed(*(comparison for comparison, _ in judged)),
            "scores": {key: score for _, scores in judged for key, score in scores.items()},
        }

    async def _judged(self, state: Case, order: Order) -> tuple[Comparison, Scores]:
        criterion, about = state["criterion"], {"criterion": state["criterion"].name, "agent": self.name}
        if why := _unfit(sample_of(state), criterion):
            return Comparison(**about, order=order, status="skipped", reason=why), {}
        form = (pairwise_form if self.reply == "form" else pairwise_text)(criterion.scale)
        prompt = self._rendered(state, order)
        try:
            (reply,) = await replies(self.judge, prompt, form, temperature=self.temperature)
        except ReplyError as error:
            lost: Any = {"status": error.status, "reason": str(error), "raw": error.text or None}
            side = Side(reason=str(error), status=lost["status"])
            return Comparison(**about, order=order, **lost), self._scores(criterion, order, side, side)
        said: Judgement = reply.value
        if reply.ends is not None:
            reply.ends.end(said.status)
        exchanged = self.labels == "position" and order == "BA"
        remarks = _remarks(said, criterion, exchanged)
        said, notes = said.swapped() if exchanged else said, (*reply.notes, *remarks)
        comparison = Comparison(
            **about, order=order, verdict=said.verdict, score_a=said.a.value, score_b=said.b.value,
            status=said.status, reason=said.comparison, raw=None if said.status == "ok" else reply.text,
            notes=notes,
        )  # fmt: skip
        return comparison, self._scores(criterion, order, said.a, said.b)

    def _rendered(self, state: Case, order: Order) -> Rendered:
        """The prompt; by position the texts change places, by response their sections do."""
        sample, criterion = sample_of(state), state["criterion"]
        a, b = (_shown(text_of(text)) for text in (sample.output, sample.rival))
        by_section = self.labels == "response"
        output, rival = (a, b) if by_section or order == "AB" else (b, a)
        early = by_section and order == "BA"
        return prompts.load(self.prompt).render(
            task=self.task, criterion=bare(criterion),
            guideline=guideline_for(criterion, state.get("guidelines")),
            query=sample.query, source=sample.source, output=output,
            rival_first=rival if early else "", rival="" if early else rival,
        )  # fmt: skip

    def _scores(self, criterion: Criterion, order: Order, a: Side, b: Side) -> Scores:
        """A score per response; none where the reply was a bare verdict."""
        sides: tuple[tuple[Any, Side], ...] = (("output", a), ("rival", b))
        return keyed(*(
            Score(
                criterion=criterion.name, agent=self.name, stage=self.stage, repeat=int(order == "BA"), of=of,
                value=side.value, status=side.status, reason=side.reason, scale=criterion.scale,
                reader="stated" if side.value is not None else "",
                notes=() if side.value is None else off_points(side.value, criterion.scale),
            )
            for of, side in sides if side.status != "skipped"
        ))  # fmt: skip


def _shown(text: str) -> str:
    return text if text.strip() else EMPTY


def _unfit(sample: Sample, criterion: Criterion) -> str:
    """Why there is nothing to compare, "" where there is."""
    if sample.rival is None:
        return "the sample has no rival to compare with"
    return "a scale of labels has no scores to compare" if criterion.scale.labels else ""


def _remarks(said: Judgement, criterion: Criterion, exchanged: bool) -> tuple[str, ...]:
    scored = said.a.value is not None and said.b.value is not None
    contrary = scored and said.stated not in (None, said.verdict)
    values = [side.value for side in (said.a, said.b) if side.value is not None]
    return (
        *(note for value in dict.fromkeys(values) for note in off_points(value, criterion.scale)),
        *(["in the reply's words A is the rival, which was printed first"] if exchanged else []),
        *([f"the reply says {said.stated}, its scores say {said.verdict}; the scores count"] if contrary else []),
    )
