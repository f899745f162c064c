"""The proposer: names the aspects that help to judge a target, before any text is seen."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from judgegraph import prompts
from judgegraph.agents.aspect_list import FIVE, chain_key, read_aspects, tidy_aspects
from judgegraph.calls import Form, JudgeLike, ask
from judgegraph.calls.form import STRING, record
from judgegraph.errors import ReplyError
from judgegraph.prompts.sections import criterion_text
from judgegraph.types import Criterion, Note, Notes, Scale, given_criteria, keyed

__all__ = ["Proposed", "Proposer", "Targets", "aspects_form", "read_aspects"]

Chain = tuple[list[Criterion], tuple[str, ...]]


class Targets(TypedDict):  # what a proposer reads: no sample
    criteria: NotRequired[list[Criterion]]  # else its own


class Proposed(TypedDict):  # what it writes
    aspects: dict[str, list[Criterion]]  # target, target/chains -> its chain, empty where the call failed
    notes: Notes


@dataclass(frozen=True, kw_only=True)
class Proposer:
    """Asks for a chain of relevant aspects, one call per target.

    Source: CoAScore section 3.2, eq. 2: task description and target aspect in, m names with definitions out. No
    sample is read, so a chain depends on task and target alone and is the same for a whole dataset.

    Attributes:
        judge: who answers. criteria: the targets, where the state brings none.
        task: one sentence that says what kind of text is judged.
        count: aspects wanted, 1 or more (5, 10, 20 in the paper); fewer are noted, never padded.
        reply: "form" asks for JSON; "text" for lines "1. Name: definition", with the prompt `propose_text`.
        prompt: None is the one that goes with `reply`. scale: that each aspect will be scored on; the paper's.
        numbers_only: a target with labels is not asked for and gets no chain: for a mean, which labels have not.
        chains: a name for the chains, which stands in their keys; for two proposers in one state.
    """

    judge: JudgeLike = "embedded"
    criteria: Sequence[Criterion] = ()
    task: str = "a generated text"
    count: int = 10
    reply: Literal["form", "text"] = "form"
    prompt: str = "propose"
    scale: Scale = FIVE
    name: str = "proposer"
    numbers_only: bool = field(default=False, compare=False)  # what it names, it names alike
    chains: str = ""

    async def __call__(self, state: Targets) -> Proposed:
        targets = [t for t in given_criteria(state) or self.criteria if not (self.numbers_only and t.scale.labels)]
        chains = await asyncio.gather(*map(self._chain, targets))
        keys = [chain_key(target.name, self.chains) for target in targets]
        notes = [note for _, said in chains for note in said]
        return {"aspects": {k: c for k, (c, _) in zip(keys, chains, strict=True)}, "notes": keyed(*notes)}

    async def _chain(self, target: Criterion) -> tuple[list[Criterion], list[Note]]:
        """The chain of one target and what to know of it; a failed call gives none, and its status."""
        plain = target.model_copy(update={"steps": (), "guideline": None})
        messages = prompts.load(self.prompt).render(
            task=self.task, target=criterion_text(plain, scale=False), count=str(self.count)
        )
        form = aspects_form(target.name, self.count, self.scale, self.reply)
        try:
            aspects, said = await ask(self.judge, messages, form, temperature=0.0)
        except ReplyError as error:
            status: Any = error.status
            text = f"{target.name}: no aspects: {error}"
            return [], [Note(agent=self.name, text=text, status=status, kind="aspects-failed")]
        return aspects, [Note(agent=self.name, text=f"{target.name}: {text}", kind="aspects-fewer") for text in said]


def aspects_form(target: str, m: int, scale: Scale = FIVE, reply: Literal["form", "text"] = "form") -> Form[Chain]:
    """Asks for m aspects; read as `read_aspects` reads them. A reply without any is asked for again."""

    def read(data: Any) -> Chain:
        from judgegraph.calls.reply_text import refuses  # many expressions: no part of an import

        chain = (
            read_aspects(data, target, m, scale) if reply == "text" else tidy_aspects(_entries(data), target, m, scale)
        )
        if not chain[0] and reply == "text" and refuses(data):
            raise ReplyError("the model declined to name aspects", "refused", data)
        if not chain[0]:
            raise ValueError("no aspect with a name and a definition, other than the target itself")
        return chain

    item = record({"name": STRING, "definition": STRING})
    listed = {"type": "array", "items": item, "minItems": m, "maxItems": m}
    return Form("aspects", record({"aspects": listed}) if reply == "form" else None, read)


def _entries(data: Any) -> list[tuple[str, str]]:
    """The entries of the form, those that are no objects as nameless."""
    listed = data.get("aspects") if isinstance(data, Mapping) else None
    if not isinstance(listed, list):
        raise ValueError("expected an object with a list 'aspects'")
    entries = [item if isinstance(item, Mapping) else {} for item in listed]
    return [(str(e.get("name") or ""), str(e.get("definition") or "")) for e in entries]
