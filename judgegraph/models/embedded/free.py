"""Replies without a form: a rating, a label or a verdict on a line of its own; or the text that was asked for.

What is asked is told by the sections: a text to judge, a rival beside it, a text to correct, or, with none of
these, a target whose aspects are wanted, a criterion whose guideline is wanted, a query whose criteria are wanted.
"""

from __future__ import annotations

from dataclasses import replace

from judgegraph.models.embedded import rating, writing
from judgegraph.models.embedded.case import Case
from judgegraph.models.embedded.correction import corrected
from judgegraph.models.embedded.kinds import OUTPUT, SOURCE, first_of
from judgegraph.models.embedded.planning import plan_text
from judgegraph.models.embedded.sections import Prompt
from judgegraph.models.embedded.tokens import Token, tokens_of
from judgegraph.models.embedded.view import At

_ASPECTS = 10  # written where the prompt states no number


def free_reply(prompt: Prompt, case: Case, rival: Case | None) -> list[Token]:
    """What the sections ask for, as tokens; a value that was chosen is a token of its own."""
    at = At(prompt, case, rival, {})
    if not prompt.sections:
        return [Token("No evidence: the message holds no tagged section to read.")]
    if written := _written(at):
        return [Token(written)]
    if rival is not None:
        return _pair(at)
    labels = prompt.single.labels if prompt.single else ()
    return _label(at, labels) if labels else _number(at)


def _written(at: At) -> str:
    """The text asked for where nothing is to be judged, "" where something is."""
    held = at.prompt.sections
    if "judgements" in held and "response" in held:
        return corrected(held["response"], at.case) or "There is nothing to correct: the response is empty."
    if any(name in held for name in OUTPUT) or first_of(held, SOURCE):
        return ""
    if "assistants" in held:
        return plan_text(at.prompt)
    if "target" in held or not at.prompt.criteria:
        listed = writing.aspects(at, at.prompt.count or _ASPECTS)
        return "\n".join(f"{i}. {row['name']}: {row['definition']}" for i, row in enumerate(listed, 1))
    return writing.guideline(at) if at.prompt.single else ""


def _bounds(at: At) -> tuple[float, float, bool]:
    """Ends of the scale in force, and whether it is one of whole points; 1-5 where none is shown."""
    shown = at.criterion
    low = shown.low if shown and shown.low is not None else 1.0
    high = shown.high if shown and shown.high is not None else 5.0
    return low, high, shown is None or shown.whole


def _value(at: At) -> list[Token] | None:
    """The score of the text at this place, None without evidence."""
    seen, (low, high, whole) = at.evidence(), _bounds(at)
    if seen is None:
        return None
    return list(tokens_of(rating.number({"type": "integer" if whole else "number"}, seen.quality, low, high)))


def _number(at: At) -> list[Token]:
    value = _value(at)
    if value is None:
        return [Token(at.reason())]
    return [Token("Rating: "), *value, Token("\n" + at.reason())]


def _label(at: At, labels: tuple[str, ...]) -> list[Token]:
    found = at.tone(list(labels))
    seen = at.evidence()
    if not found and not seen:
        return [Token(at.reason())]
    leaf = rating.label(labels, seen.quality if seen else None, found[0] if found else None)
    if not found and not rating.informed(leaf):
        return [Token("No evidence: what I measure speaks for none of these labels more than for another.")]
    pieces = [t for t in tokens_of(leaf) if t.text != '"']
    return [Token("Label: "), *pieces, Token("\n" + at.reason(list(labels)))]


def _pair(at: At) -> list[Token]:
    """A score and an explanation for each of two texts, what sets them apart, and the verdict."""
    sides = {"A": replace(at, second=False), "B": replace(at, second=True)}
    values = {label: _value(side) for label, side in sides.items()}
    best = writing.winner(at, ["A", "B", "tie"])
    if best is None or None in values.values():
        return [Token(at.reason())]
    tokens: list[Token] = []
    for label, side in sides.items():
        tokens += [Token(f"Response {label} Score: "), *(values[label] or [])]
        tokens.append(Token(f"\nExplanation: {side.reason()}\n"))
    pieces = [t for t in tokens_of(rating.label(["A", "B", "tie"], None, tuple(best[1].values()))) if t.text != '"']
    return [*tokens, Token(f"Comparison: {writing.compared(at)}\nVerdict: [["), *pieces, Token("]]")]
