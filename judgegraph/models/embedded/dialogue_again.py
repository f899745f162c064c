"""The critic's evidence for a turn of a conversation, and the pairs of both kinds of evidence."""

from __future__ import annotations

from judgegraph.models.embedded.case import Case
from judgegraph.models.embedded.defects import slips_of
from judgegraph.models.embedded.dialogue import (
    bland,
    coherence,
    engagingness,
    groundedness,
    last_turn,
    naturalness,
    overall,
    understandability,
)
from judgegraph.models.embedded.measure import Evidence, Views, between, counted, falling, mean, percent
from judgegraph.models.embedded.prose import VIEWS as PROSE
from judgegraph.models.embedded.prose import density, rhythm, variety
from judgegraph.models.embedded.source import source_of
from judgegraph.models.embedded.words import FUNCTION_WORDS


def plainness(case: Case) -> Evidence:
    """For the critic: share of function words and the marks at the end."""
    small = sum(w in FUNCTION_WORDS for w in case.text.words) / (len(case.text.words) or 1)
    stop = 0.92 if slips_of(case.text).stopped else 0.75
    return Evidence(stop * between(small, 0.3, 0.65, 0.25), f"{percent(small)} function words", raises=False)


def answers(case: Case) -> Evidence:
    """For the critic: a question answered, or one asked back."""
    asked, asks = "?" in last_turn(case), "?" in case.output
    held = bland(case) < 0.6 and len(case.text.words) >= (3 if asked else 4)
    quality = 0.35 + 0.3 * held + 0.2 * asks
    return Evidence(
        quality, ("it asks back" if asks else "it asks nothing") + ("" if held else " and is mostly a stock reply")
    )


def sourced(case: Case) -> Evidence | None:
    """For the critic: numbers and rare (long) words shared with the fact."""
    if not case.fact.strip():
        return None
    rare = {w for w in case.text.words if len(w) > 6 or w[0].isdigit()}
    hit = len(rare & source_of(case.fact).words)
    return Evidence(
        0.25 + 0.65 * (1 - falling(hit, 1.5)),
        f"it shares {counted(hit, 'long word or number', 'long words or numbers')} with the fact",
    )


def middle(case: Case) -> Evidence:
    parts = [plainness(case), answers(case), variety(case), density(case), rhythm(case)]
    return Evidence(mean(p.quality for p in parts), f"{plainness(case).note}, {answers(case).note}")


VIEWS: Views = PROSE | {
    "naturalness": (naturalness, plainness),
    "fluency": (naturalness, plainness),
    "coherence": (coherence, answers),
    "relevance": (coherence, answers),
    "engagement": (engagingness, answers),
    "groundedness": (groundedness, sourced),
    "consistency": (groundedness, sourced),
    "understandability": (understandability, plainness),
    "overall": (overall, middle),
}
