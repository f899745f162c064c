"""Which label of tone or sentiment a text carries, by counted words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from judgegraph.models.embedded.case import Case
from judgegraph.models.embedded.measure import counted
from judgegraph.models.embedded.words import FORMAL, INFORMAL, LOADED, NEGATIVE, POSITIVE

_CLASS = {
    "positive": "positive", "happy": "positive", "friendly": "positive", "warm": "positive", "enthusiastic": "positive",
    "optimistic": "positive", "encouraging": "positive", "welcoming": "positive", "joyful": "positive",
    "negative": "negative", "sad": "negative", "angry": "negative", "hostile": "negative", "harsh": "negative",
    "pessimistic": "negative", "critical": "negative", "aggressive": "negative", "offensive": "negative",
    "neutral": "neutral", "objective": "neutral", "balanced": "neutral", "matter-of-fact": "neutral",
    "mixed": "mixed", "formal": "formal", "professional": "formal", "serious": "formal", "informal": "informal",
    "casual": "informal", "playful": "informal", "humorous": "informal", "conversational": "informal",
}  # fmt: skip


def tone(case: Case, labels: Sequence[str]) -> tuple[tuple[float, ...], str] | None:
    """Probability per label and a note; None where fewer than two labels are known words."""
    kinds = [_CLASS.get(label.strip().lower(), "") for label in labels]
    if sum(map(bool, kinds)) < 2:
        return None
    words = case.text.words
    n = len(words) or 1
    good, bad = sum(w in POSITIVE for w in words), sum(w in NEGATIVE or w in LOADED for w in words)
    marks = case.output.count("!")
    formal, loose = sum(w in FORMAL for w in words), sum(w in INFORMAL for w in words) + marks
    scores = {
        "positive": 60 * (good - 0.8 * bad) / n + 0.1 * min(3, marks),
        "negative": 75 * (bad - 0.6 * good) / n,
        "neutral": 1.2 - 25 * abs(good - bad) / n - 0.1 * min(5, marks),
        "mixed": 40 * min(good, bad) / n,
        "formal": 0.7 + 25 * (formal - loose) / n,
        "informal": 0.2 + 40 * (loose - formal) / n,
        "": 0.0,
    }
    raised = [2.718281828 ** max(-6.0, min(6.0, 2 * scores[k])) for k in kinds]
    total = math.fsum(raised)
    note = f"{counted(good, 'friendly word')} and {counted(bad, 'harsh word')} among {n}"
    return tuple(r / total for r in raised), note
