"""The random rater: draws every aspect's score; plain code, no model."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import blake2b
from random import Random
from typing import Any

from judgegraph.agents.aspect_list import aspect_stage, chains_of
from judgegraph.agents.rater import AspectScores, Chained
from judgegraph.types import Criterion, Scale, Score, keyed, sample_of


@dataclass(frozen=True, kw_only=True)
class RandomRater:
    """Draws a score for every aspect of a chain, all points of its scale alike.

    Source: CoAScore section 4.6 and figure 2, the ablation "random". What is drawn follows from the seed, the sample's
    id, the target and the aspect alone: a rerun draws the same, in whatever order, and asks the fuser the same.

    Attributes:
        seed: another one draws others.
        chains: the name of the chains that it rates; "" for those without one.
    """

    seed: int = 0
    name: str = "random-rater"
    chains: str = ""

    def __call__(self, state: Chained) -> AspectScores:
        sample = sample_of(state).id
        chains = chains_of(state["aspects"], self.chains).items()
        return {"scores": keyed(*(self._drawn(sample, target, one) for target, chain in chains for one in chain))}

    def _drawn(self, sample: str, target: str, aspect: Criterion) -> Score:
        words = json.dumps([self.seed, sample, target, aspect.name]).encode()  # ASCII: the same on every Python
        draw = Random(int.from_bytes(blake2b(words, digest_size=8).digest()))
        return Score(
            criterion=aspect.name, agent=self.name, stage=aspect_stage(target), scale=aspect.scale, reader="random",
            notes=("drawn at random: nobody judged it",), **_any_of(aspect.scale, draw),
        )  # fmt: skip


def _any_of(scale: Scale, draw: Random) -> dict[str, Any]:
    """A value or a label, as a score has it."""
    if scale.labels:
        return {"label": draw.choice(scale.labels)}
    points = scale.points
    return {"value": float(draw.choice(points)) if points else draw.uniform(scale.low or 0.0, scale.high or 0.0)}
