"""The fuser without scores: a target is scored with its chain's definitions alone in view."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import NotRequired

from typing_extensions import TypedDict

from judgegraph.agents.aspect_list import chain_key
from judgegraph.agents.chain import Chain, Fused
from judgegraph.agents.fuser import Fuser
from judgegraph.types import Criterion, Note, Notes, Sample, Score, given_criteria, keyed, sample_of


class Proposed(TypedDict):  # what it reads: no scores
    sample: Sample
    aspects: dict[str, list[Criterion]]  # target, target/chains -> its chain
    criteria: NotRequired[list[Criterion]]  # the targets, else its own
    notes: NotRequired[Notes]  # why a chain is empty


@dataclass(frozen=True, kw_only=True)
class DefinitionFuser(Fuser):
    """As Fuser, but nobody scored the aspects.

    Source: CoAScore section 4.6 and figure 2, the ablation "w/o score", which the paper found below no aspects at all.
    The prompt is the fuser's without its section of scores, and without the words about them.
    """

    prompt: str = "fuse_definitions"

    async def __call__(self, state: Proposed) -> Fused:
        targets = given_criteria(state) or self.criteria
        done = await asyncio.gather(*(self._defined(state, target) for target in targets))
        return {
            "scores": keyed(*(score for score, _ in done)),
            "notes": keyed(*(note for _, notes in done for note in notes)),
        }

    async def _defined(self, state: Proposed, target: Criterion) -> tuple[Score, list[Note]]:
        chain = state["aspects"].get(chain_key(target.name, self.chains)) or []
        if not chain:
            return Chain(target, (), {}).unscored(self.name, self.stage, state.get("notes") or {})
        return self._score(target, await self._asked(sample_of(state), target, chain)), []
