"""The words of an answer: reasons, comparisons, guidelines, definitions, plans."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from judgegraph.models.embedded.aspects import ranked
from judgegraph.models.embedded.blocks import slug
from judgegraph.models.embedded.correction import corrected
from judgegraph.models.embedded.kinds import first_of
from judgegraph.models.embedded.planning import plan_text, usage_text
from judgegraph.models.embedded.text import clean
from judgegraph.models.embedded.view import At, sentence

TIE = 0.02  # qualities nearer than this are a tie

_LEVELS = ("not at all", "in small part", "in about half of what matters", "in nearly all that matters", "fully")


def guideline(at: At) -> str:
    """What each of five values means, worded from the criterion's definition."""
    criterion = at.criterion
    name = criterion.name if criterion else "the criterion"
    said = (criterion.definition if criterion else "").strip().rstrip(".") or f"{name} is what is asked for"
    lines = [f"{i}: {name} is met {level}" for i, level in enumerate(_LEVELS, 1)]
    return f"Read it against this: {said}.\n" + "\n".join(line + "." for line in lines)


def compared(at: At) -> str:
    """Which of two texts shows more of the criterion."""
    one, two = _qualities(at)
    if one is None or two is None:
        return "No evidence to compare the two by."
    if abs(one - two) < TIE:
        return "The two show about the same."
    return f"{'A' if one > two else 'B'} shows more of it ({max(one, two):.2f} against {min(one, two):.2f} of 1)."


def _qualities(at: At) -> tuple[float | None, float | None]:
    one, two = replace(at, second=False).evidence(), replace(at, second=True).evidence()
    return (one.quality if one else None), (two.quality if two else None)


def winner(at: At, choices: list[str]) -> tuple[str, dict[str, float]] | None:
    """The choice that names the better text, with the chance of each; None where choices name no texts."""
    names: dict[str, str] = {}
    for choice in choices:
        low = choice.strip().lower().strip("[]()")
        side = {"a": "a", "1": "a", "first": "a", "output": "a", "b": "b", "2": "b", "second": "b", "rival": "b"}.get(
            low.split()[-1] if low else ""
        )
        if side or "tie" in low or "equal" in low or "same" in low or low == "c":
            names[choice] = side or "tie"
    one, two = _qualities(at)
    if not {"a", "b"} <= set(names.values()) or one is None or two is None:
        return None
    gap = (one - two) / 0.1
    raised = {c: 2.718281828 ** {"a": gap, "b": -gap, "tie": -abs(gap) + 0.4}[n] for c, n in names.items()}
    total = math.fsum(raised.values())
    chances = {c: raised.get(c, 0.0) / total for c in choices}
    return max(choices, key=lambda c: chances[c]), chances


def _fit(text: str, schema: Mapping[str, Any]) -> str:
    """Cut or filled to the lengths that the schema allows."""
    least, most = int(schema.get("minLength") or 0), schema.get("maxLength")
    if len(text) < least:
        text += "." * (least - len(text))
    return text if most is None else text[: int(most)]


def string(schema: Mapping[str, Any], at: At, labels: list[str] | None = None) -> str:
    """A text for a string property, by its key."""
    return _fit(_worded(at.key.lower(), at, labels), schema)


def _worded(key: str, at: At, labels: list[str] | None) -> str:
    if at.within("usage"):
        return usage_text(at.prompt, at.key)
    if key in (
        "response",
        "corrected",
        "correction",
        "rewritten",
        "revision",
        "revised",
        "corrected_text",
        "corrected_response",
    ):
        judged = first_of(at.prompt.sections, ("response",)) or at.case.output
        return corrected(judged, at.case)
    if "guideline" in key or key == "rubric":
        return guideline(at)
    if key in ("plan", "strategy"):
        return plan_text(at.prompt)
    if key in ("comparison", "compare"):
        return compared(at)
    if key in ("name", "aspect", "criterion", "title"):
        known = at.subject or at.prompt.single
        return known.name if known else _aspect(at)[0]
    if key in ("definition", "description"):
        held = at.subject or at.prompt.single
        return held.definition or sentence(f"how far {held.name.lower()} shows in the text") if held else _aspect(at)[1]
    return clean(at.reason(labels), 400)


def aspects(at: At, count: int) -> list[dict[str, str]]:
    """Names and definitions of aspects for the prompt's target, or for its task and query; at most `count`."""
    target = at.prompt.single
    known = {slug(c.name) for c in at.prompt.criteria}
    said = " ".join(at.prompt.sections.get(k, "") for k in ("task", "query"))
    held = ranked(target.name if target else "", target.definition if target else said, said, known)
    return [{"name": a.name, "definition": a.definition} for a in held[:count]]


def _aspect(at: At) -> tuple[str, str]:
    held = ranked("", "", at.prompt.sections.get("task", ""), {slug(c.name) for c in at.prompt.criteria})
    aspect = held[at.index % len(held)]
    return aspect.name, aspect.definition
