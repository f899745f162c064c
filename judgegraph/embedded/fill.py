"""Filling any form: a walk over its JSON schema that writes what is known at each place."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from judgegraph.embedded.critic import definitions, is_rectification, new_criteria, rectification
from judgegraph.embedded.evidence import ranked
from judgegraph.embedded.evidence_answers import corrected
from judgegraph.embedded.leaves import (
    At,
    Leaf,
    aligned,
    among,
    deep,
    informed,
    kind_of,
    label,
    number,
    options,
    pick,
    plan_text,
    resolved,
    scoring,
    sentence,
    truth,
    usage_text,
)
from judgegraph.embedded.prompt_view import Seen, first_of, slug
from judgegraph.embedded.text import clean
from judgegraph.embedded.trajectory import run_answers

# The words of an answer: reasons, comparisons, guidelines, definitions, plans.


TIE = 0.02  # qualities nearer than this are a tie

_LEVELS = ("not at all", "in small part", "in about half of what matters", "in nearly all that matters", "fully")


def guideline(at: At) -> str:
    """What each of five values means, worded from the criterion's definition."""
    criterion = at.criterion
    name = criterion.name if criterion else "the criterion"
    definition = (criterion.definition if criterion else "").strip().rstrip(".") or f"{name} is what is asked for"
    lines = [f"{i}: {name} is met {level}" for i, level in enumerate(_LEVELS, 1)]
    return f"Read it against this: {definition}.\n" + "\n".join(line + "." for line in lines)


def steps(at: At) -> list[str]:
    """From reading to a value, worded from the criterion's definition."""
    criterion = at.criterion
    name = criterion.name if criterion else "the criterion"
    definition = (criterion.definition if criterion else "").strip().rstrip(".") or f"{name} is what is asked for"
    return [
        "Read the text once as a whole, with what it was made from.",
        f"Hold it against this, part by part: {definition}.",
        f"Mark each place that speaks for or against {name}.",
        f"Choose the value: the highest where {name} shows throughout, the lowest where it is missing.",
    ]


def questions(at: At, count: int) -> list[str]:
    """Questions to answer with yes or no, worded from the criterion's name; a yes always speaks for it."""
    name = (at.criterion.name if at.criterion else "the criterion").strip()
    asked = [
        f"Does {name} show in the text as a whole?",
        f"Does {name} show in every sentence of the text?",
        f"Is the text free of places that speak against {name}?",
        f"Would a careful reader find {name} in the text at once?",
        f"Does {name} hold where the text is held beside what it was made from?",
    ]
    return [asked[i] if i < len(asked) else f"Does part {i - len(asked) + 1} show {name}?" for i in range(count)]


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
    request = " ".join(at.prompt.sections.get(k, "") for k in ("task", "query"))
    held = ranked(target.name if target else "", target.definition if target else request, request, known)
    return [{"name": a.name, "definition": a.definition} for a in held[:count]]


def _aspect(at: At) -> tuple[str, str]:
    if judgement := at.prompt.sections.get("judgement", ""):
        return _explaining(at, judgement)
    held = ranked("", "", at.prompt.sections.get("task", ""), {slug(c.name) for c in at.prompt.criteria})
    aspect = held[at.index % len(held)]
    return aspect.name, aspect.definition


_BETTER = re.compile(r"Better: (Response A|Response B|neither)")
_SCORED = re.compile(r"Score: (-?[\d.]+) on (-?[\d.]+)-(-?[\d.]+)")


def _explaining(at: At, judgement: str) -> tuple[str, str]:
    """The aspect by which what is measured says what a judgement says; of several, or none, the nearest to its words.

    A judgement begins with a line "Better: Response A", or "Score: 7 on 1-10"; its reason follows.
    """
    held = ranked("", judgement, at.prompt.sections.get("task", ""), set())
    better, scored = _BETTER.match(judgement), _SCORED.match(judgement)
    for aspect in held if better or scored else ():
        about = at.about(Seen(aspect.name, definition=aspect.definition))
        one, two = _point(about), _point(replace(about, second=True))
        if better and one is not None and two is not None:
            said = "Response A" if one > two else "Response B" if two > one else "neither"
            if said == better[1]:
                return aspect.name, aspect.definition
        if scored and one is not None:
            value, low, high = map(float, scored.groups())
            if low < high and abs(1 + 4 * (value - low) / (high - low) - one) <= 0.5:
                return aspect.name, aspect.definition
    return held[0].name, held[0].definition


def _point(at: At) -> float | None:
    """The point of 1-5 that a text here would be given, None without evidence."""
    seen = at.evidence()
    value = number({"type": "integer"}, seen.quality, 1.0, 5.0).value if seen else None
    return float(value) if isinstance(value, int | float) else None


_LISTED = ("aspects", "criteria", "metrics", "dimensions", "new_aspects")


def fill(schema: Any, at: At) -> Any:
    """A tree (dicts, lists, `Leaf`s, plain values) that the schema allows."""
    chosen = pick(schema, at.root, null=False, depth=at.depth)
    kind = kind_of(chosen)
    if kind in ("const", "null"):
        return chosen.get("const")
    if kind == "object":
        return _object(chosen, at)
    if kind == "array":
        return _array(chosen, at)
    return _leaf(chosen, schema, at)


def _object(schema: dict[str, Any], at: At) -> dict[str, Any]:
    properties = schema.get("properties", {})
    needed = [*properties] if not deep(at.depth) else [k for k in properties if k in schema.get("required", [])]
    known = rectification(properties, at) if is_rectification(properties, at.root) else run_answers(properties, at)
    labels = _labels(properties, at)
    written = {k: known[k] if k in known else _property(k, properties[k], at, labels) for k in needed}
    for key in schema.get("required", []):
        if key not in written:
            written[key] = fill(schema.get("additionalProperties") or {}, at.into(key, {}))
    return written


def _labels(properties: Mapping[str, Any], at: At) -> list[str] | None:
    """Labels that a score beside a reason may take."""
    for key, schema in properties.items():
        held = scoring(schema, at.root)
        if key in ("label", "tone", "sentiment", "value") and held and "enum" in held:
            return [v for v in held["enum"] if isinstance(v, str)] or None
    return None


def _property(key: str, schema: Any, at: At, labels: list[str] | None) -> Any:
    inner = at.into(key, schema)
    chosen = pick(schema, at.root, null=False, depth=inner.depth)
    if kind_of(chosen) == "string":
        return string(chosen, inner, labels)
    return fill(schema, inner)


def _count(schema: Mapping[str, Any], wished: int) -> int:
    least, most = int(schema.get("minItems") or 0), schema.get("maxItems")
    return max(least, wished if most is None else min(wished, int(most)))


def _array(schema: dict[str, Any], at: At) -> list[Any]:
    if "prefixItems" in schema:
        return [fill(s, at.item(i)) for i, s in enumerate(schema["prefixItems"])]
    items = schema.get("items") or {}
    item = pick(items, at.root, null=False, depth=at.depth + 1)
    fields = item.get("properties", {})
    most = int(schema.get("maxItems", 3))
    if at.key == "steps" and kind_of(item) == "string":
        return [_fit(step, item) for step in steps(at)[: _count(schema, len(steps(at)))]]
    if at.key == "questions" and kind_of(item) == "string":
        return [_fit(one, item) for one in questions(at, _count(schema, int(schema.get("maxItems") or 5)))]
    listed: list[dict[str, str]] | None = None
    if at.key == "definitions":
        names = pick(fields.get("criterion", {}), at.root, null=False, depth=0).get("enum", [])
        listed = definitions(at, [n for n in names if isinstance(n, str)], most)
    elif at.key in ("new_criteria", "suggestions"):
        listed = new_criteria(at, most)
    elif at.key in _LISTED and "name" in fields and not _rates(fields, at):
        listed = aspects(at, _count(schema, int(schema.get("maxItems", 5))))
    if (
        listed is not None
        and set(fields) <= {k for row in listed for k in row} | set()
        and len(listed) >= int(schema.get("minItems") or 0)
        and all(_short(row[key], inner, at) for row in listed for key, inner in fields.items())
    ):
        return [{k: row[k] for k in fields} for row in listed]
    if _rates(fields, at):
        return _rows(schema, items, at)
    if kind_of(item) == "enum" and at.within("alignment"):
        return _aligned(schema, item, at)
    if kind_of(item) == "enum":
        return _distinct(schema, item)
    count = _count(schema, 1 if kind_of(item) == "string" and not deep(at.depth) else 0)
    return [_numbered(fill(items, at.item(i)), i, schema) for i in range(count)]


def _short(text: str, schema: Any, at: At) -> bool:
    """Whether a text of ours is within the bounds of its place."""
    chosen = pick(schema, at.root, null=False, depth=at.depth)
    most = chosen.get("maxLength")
    return (most is None or len(text) <= int(most)) and len(text) >= int(chosen.get("minLength") or 0)


def _rates(fields: Mapping[str, Any], at: At) -> bool:
    """Items that hold a name and a score: one row per criterion."""
    named = any(k in fields for k in ("criterion", "name", "aspect", "metric", "dimension"))
    return named and any(
        scoring(s, at.root) for k, s in fields.items() if k in ("score", "rating", "value", "grade", "label")
    )


def _rows(schema: dict[str, Any], items: Any, at: At) -> list[Any]:
    known: list[Seen] = list(at.prompt.criteria) or [Seen("overall quality")]
    count = _count(schema, len(known))
    return [fill(items, at.item(i).about(known[i % len(known)])) for i in range(count)]


def _aligned(schema: dict[str, Any], item: dict[str, Any], at: At) -> list[Any]:
    names = [v for v in item["enum"] if isinstance(v, str)]
    criterion = at.prompt.named(at.key) or at.subject or Seen(at.key.replace("_", " "))
    held = aligned(at.prompt, criterion, names)
    held += [n for n in names if n not in held][: max(0, int(schema.get("minItems") or 0) - len(held))]
    return held[: int(schema.get("maxItems", len(held)))]


def _distinct(schema: dict[str, Any], item: dict[str, Any]) -> list[Any]:
    count, values = _count(schema, 0), item["enum"]
    return [values[i % len(values)] for i in range(count)]


def _numbered(value: Any, index: int, schema: Mapping[str, Any]) -> Any:
    """Texts of a list whose items must differ are numbered."""
    return f"{index + 1}. {value}" if schema.get("uniqueItems") and isinstance(value, str) else value


def _leaf(schema: dict[str, Any], whole: Any, at: At) -> Any:
    kind = kind_of(schema)
    nullable = any(kind_of(o) == "null" for o in options(resolved(whole, at.root), at.root))
    if kind == "string":
        return string(schema, at)
    values = [v for v in schema.get("enum", []) if v is not None]
    if kind == "enum" and not all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
        return _choice(values, at, nullable or None in schema["enum"])
    seen = at.evidence() if at.criterion is not None else None
    quality = seen.quality if seen else None
    if quality is None and (nullable or None in schema.get("enum", [])):
        return Leaf(None, ((None, 1.0),))
    if kind == "boolean":
        return truth(at.whole() if quality is None else quality)
    if kind == "enum":
        return among(values, quality)
    shown = at.criterion
    low = shown.low if shown and shown.low is not None else 1.0
    high = shown.high if shown and shown.high is not None else 5.0
    return number(schema, quality, low, high)


def _choice(values: list[Any], at: At, nullable: bool) -> Any:
    if not all(isinstance(v, str) for v in values):
        return values[at.index % len(values)]
    criterion = at.subject or (at.prompt.single if at.key not in ("criterion", "name", "aspect") else None)
    if at.subject and at.subject.name in values and at.key in ("criterion", "name", "aspect", "metric", "dimension"):
        return at.subject.name
    if at.rival is not None and (best := winner(at, values)):
        return Leaf(best[0], tuple(best[1].items()))
    found = at.tone(values)
    if found:
        return label(values, None, found[0])
    seen = at.evidence() if criterion is not None or at.criterion is not None else None
    chosen = label(values, seen.quality if seen else None)
    return Leaf(None, ((None, 1.0),)) if nullable and not informed(chosen) else chosen
