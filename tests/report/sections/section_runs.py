"""Runs of known counts, made by hand."""

from __future__ import annotations

import random

from judgegraph.report.page import SECTIONS
from judgegraph.report.sections_run import Tally, tally_of
from judgegraph.runs.item import Item
from judgegraph.runs.run import Run
from judgegraph.types import Comparison, Sample, Scale, Score, Suggestion
from judgegraph.views.blocks import Section

SCALE, TONES = Scale.of("1-5"), Scale(labels=("calm", "angry", "formal"))


def reviewed(criterion: str, draft: float | str, final: float | str | None, status: str = "ok") -> list[Score]:
    """A draft and what a critic made of it."""
    kind, scale = ("label", TONES) if isinstance(draft, str) else ("value", SCALE)
    first = Score(criterion=criterion, agent="evaluator", stage="draft", scale=scale, **{kind: draft})
    given = {} if final is None else {kind: final}
    return [first, Score(criterion=criterion, agent="sage", scale=scale, draft=first.key, status=status, **given)]


def item(place: int, scores: list[Score] | tuple[Score, ...] = (), **about) -> Item:
    """An item; of its sample `human`, `meta`, `output`, `rival`."""
    of_sample = {name: about.pop(name) for name in ("human", "meta", "output", "rival") if name in about}
    sample = Sample(id=f"s{place}", **({"output": "some words " * (place % 7 + 4)} | of_sample))
    return Item(sample=sample, scores=tuple(scores), place=place, **about)


def run_of(items: list[Item], **manifest) -> Run:
    return Run({"signature": "by hand", "method": "sageval", **manifest}, items)


def labelled(n: int = 60, seed: int = 1) -> list[Item]:
    """Drafts that are noisier than finals, with people's labels by two criteria."""
    rng = random.Random(seed)

    def one(place: int) -> Item:
        human = {name: rng.randint(1, 5) for name in ("Clarity", "Depth")}
        scores = []
        for name, label in human.items():
            draft, final = (min(5.0, max(1.0, round(label + rng.gauss(0, sd), 2))) for sd in (1.5, 0.7))
            scores += reviewed(name, draft, final)
        return item(place, scores, human=human)

    return [one(place) for place in range(n)]


def compared(place: int, first: str | None, second: str | None, *, criterion: str = "overall", **about) -> Item:
    """A pair judged in both orders, by verdicts."""
    both = {"AB": first, "BA": second}
    comparisons = tuple(
        Comparison(criterion=criterion, agent="merge", order=order, verdict=said, status="ok" if said else "unreadable")
        for order, said in both.items()
    )
    agreed = first if first == second else "tie"
    return item(place, comparisons=comparisons, verdict=agreed, rival="another text", **about)


def advice(criterion: str, kind: str = "criterion", reason: str = "it lacks") -> Suggestion:
    return Suggestion(kind=kind, criterion=criterion, definition=f"how far {criterion} goes", reason=reason)


def sections_of(run: Run, tally: Tally | None = None) -> tuple[Section, ...]:
    """Those of a run that have something to tell, in the order of the page."""
    counted = tally or tally_of(run)
    return tuple(made for section in SECTIONS if (made := section(run, counted)) is not None)
