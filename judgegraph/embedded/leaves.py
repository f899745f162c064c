"""The values of a form: points and labels with their probabilities, tokens, plans over assistants."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from judgegraph.embedded.evidence import fused, lack
from judgegraph.embedded.evidence_prose import Evidence, tone
from judgegraph.embedded.families import families_of, kindred
from judgegraph.embedded.prompt_view import Case, Prompt, Seen, assistant_families, direction


def serves(name: str, description: str, criterion: Seen) -> bool:
    """An assistant's words and a criterion's words meet in a family of evidence."""
    wanted = kindred(families_of(criterion.name, criterion.definition))
    return bool(wanted & set(assistant_families(name, description)))


def aligned(prompt: Prompt, criterion: Seen, names: Sequence[str]) -> list[str]:
    """The assistants, of those offered, that serve a criterion; all of them for overall quality."""
    if families_of(criterion.name) == ("overall",):
        return list(names)
    return [n for n in names if serves(n, prompt.assistants.get(n, ""), criterion)]


def usage_text(prompt: Prompt, name: str) -> str:
    """How to read one assistant, in a sentence or two."""
    way = direction(prompt.assistants.get(name, ""))
    held = [c.name for c in prompt.criteria if name in aligned(prompt, c, [name])]
    if not way:
        return "No value of it is better or worse by itself: it describes the text and moves no score alone."
    served = ", ".join(held) or "no criterion in particular"
    return f"{'High' if way > 0 else 'Low'} values speak for {served}; where it is absent, judge without it."


def plan_text(prompt: Prompt) -> str:
    """The order of work: consult, read by alignment, judge."""
    lines = ["1. Consult each assistant once; take an absent value as absent, never as nought."]
    for criterion in prompt.criteria:
        held = aligned(prompt, criterion, list(prompt.assistants))
        by = ", ".join(held) if held else "no assistant; judge it from the text alone"
        lines.append(f"{len(lines) + 1}. {criterion.name}: by {by}.")
    lines.append(f"{len(lines) + 1}. Read the text yourself, weigh both, state a value on the scale and why.")
    return "\n".join(lines)


def worth_calling(name: str, description: str, prompt: Prompt) -> bool:
    """A tool fits one of the prompt's criteria; without criteria every tool does."""
    return not prompt.criteria or any(
        serves(name, description, c) or families_of(c.name) == ("overall",) for c in prompt.criteria
    )


# From a quality between 0 and 1 to points of a scale and their probabilities.


_DEVIATION = 0.14  # standard deviation of the distribution, as a part of the scale
_WIDEST = 2.0  # and in points, so that twenty top tokens hold nearly all of it


def _weights(points: Sequence[float], centre: float, width: float) -> list[float]:
    raised = [-((p - centre) ** 2) / (2 * width * width) for p in points]
    top = max(raised)
    return [math.exp(r - top) for r in raised]


@lru_cache(maxsize=4096)
def odds(points: tuple[float, ...], quality: float) -> tuple[float, ...]:
    """Probabilities of the points (ascending) whose expected value is the quality on that scale.

    Args:
        points: two or more numbers, ascending. quality: 0 to 1; the outermost 1 % is drawn in.

    Returns:
        One probability per point, bell-shaped, summing to 1; their mean is `low + quality * (high - low)`.
    """
    low, high = points[0], points[-1]
    step = (high - low) / (len(points) - 1)
    goal = low + min(0.99, max(0.01, quality)) * (high - low)
    width = min(_DEVIATION * (high - low), _WIDEST * step)
    left, right = low - 40 * (high - low), high + 40 * (high - low)
    for _ in range(60):
        centre = (left + right) / 2
        weights = _weights(points, centre, width)
        mean = math.fsum(p * w for p, w in zip(points, weights, strict=True)) / math.fsum(weights)
        left, right = (centre, right) if mean < goal else (left, centre)
        if abs(mean - goal) < 1e-9 * (high - low):
            break
    total = math.fsum(weights)
    return tuple(w / total for w in weights)


def flat(points: Sequence[object]) -> tuple[float, ...]:
    """The same probability for every point: nothing is known."""
    return tuple(1 / len(points) for _ in points)


_RANKED = {
    label: rank
    for rank, labels in {
        0.0: "terrible; fail; failed; no; false; very poor; very bad; none; unacceptable",
        0.1: "bad; low",
        0.15: "poor",
        0.2: "weak",
        0.4: "fair",
        0.5: "partial; partly; partially; medium; average; moderate; ok; okay; maybe; mixed",
        0.6: "acceptable",
        0.75: "good",
        0.85: "strong",
        0.9: "high; very good; great",
        1.0: "excellent; pass; passed; yes; true; perfect",
    }.items()
    for label in labels.split("; ")
}


def label_odds(labels: Sequence[str], quality: float) -> tuple[float, ...] | None:
    """Probabilities of labels that name a rank ("poor", "good"), None where one of them does not."""
    ranks = [_RANKED.get(str(label).strip().lower()) for label in labels]
    if len(labels) < 2 or any(r is None for r in ranks) or len(set(ranks)) < 2:
        return None
    weights = [math.exp(-((float(r or 0.0) - quality) ** 2) / (2 * 0.2**2)) for r in ranks]
    total = math.fsum(weights) or 1.0
    return tuple(w / total for w in weights)


# Reading a JSON schema: references, alternatives, types.


_DEEPEST = 12  # a form that refers to itself is cut here


def resolved(schema: Any, root: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with `$ref` and `allOf` merged in; other keys beside a reference win."""
    held = dict(schema) if isinstance(schema, Mapping) else {}
    for _ in range(20):
        ref = held.pop("$ref", None)
        if not isinstance(ref, str):
            break
        held = {**_pointed(ref, root), **held}
    for part in held.pop("allOf", []):
        more = resolved(part, root)
        merged = {**more.get("properties", {}), **held.get("properties", {})}
        needed = [*held.get("required", []), *more.get("required", [])]
        held = {**more, **held} | ({"properties": merged} if merged else {}) | ({"required": needed} if needed else {})
    return held


def _pointed(ref: str, root: Mapping[str, Any]) -> dict[str, Any]:
    node: Any = root
    for part in ref.removeprefix("#").strip("/").split("/"):
        if part:
            node = node.get(part.replace("~1", "/").replace("~0", "~"), {}) if isinstance(node, Mapping) else {}
    return dict(node) if isinstance(node, Mapping) else {}


def options(schema: Mapping[str, Any], root: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The alternatives of a schema: of anyOf, oneOf and of a list of types; itself where there are none."""
    for key in ("anyOf", "oneOf"):
        if key in schema:
            rest = {k: v for k, v in schema.items() if k != key}
            return [o for s in schema[key] for o in options({**rest, **resolved(s, root)}, root)]
    if isinstance(schema.get("type"), list):
        return [{**schema, "type": t} for t in schema["type"]]
    return [dict(schema)]


def kind_of(schema: Mapping[str, Any]) -> str:
    """ "null", "object", "array", "string", "integer", "number", "boolean", "enum" or "const"."""
    if "const" in schema:
        return "null" if schema["const"] is None else "const"
    if "enum" in schema:
        return "null" if schema["enum"] == [None] else "enum"
    if "type" in schema:
        return str(schema["type"])
    if "properties" in schema or "additionalProperties" in schema:
        return "object"
    return "array" if "items" in schema else "string"


def pick(schema: Any, root: Mapping[str, Any], *, null: bool, depth: int) -> dict[str, Any]:
    """One alternative: null where `null` is wished and allowed, else the first that is not; no endless depth."""
    held = options(resolved(schema, root), root)
    nulls = [o for o in held if kind_of(o) == "null" or (kind_of(o) == "enum" and None in o["enum"])]
    if nulls and (null or depth > _DEEPEST):
        return {"const": None}
    whole = [o for o in held if kind_of(o) != "null"]
    if depth > _DEEPEST:
        whole.sort(key=lambda o: kind_of(o) in ("object", "array"))
    return whole[0] if whole else {"const": None}


def deep(depth: int) -> bool:
    """Nothing optional is written beyond this depth."""
    return depth > _DEEPEST


def scoring(schema: Any, root: Mapping[str, Any]) -> dict[str, Any] | None:
    """The alternative of a leaf that holds a score or a label; None for other leaves."""
    for option in options(resolved(schema, root), root):
        kind = kind_of(option)
        if kind in ("integer", "number", "boolean"):
            return option
        if kind == "enum" and any(not isinstance(v, bool) and v is not None for v in option["enum"]):
            return option
    return None


# A reply as text and as tokens with log-probabilities, in the shape of OpenAI's chat API.


Odds = tuple[tuple[Any, float], ...]
_LEAST = -100.0  # what the API prints for a probability of nought


@dataclass(frozen=True)
class Leaf:
    """A value that was chosen: with the probability of each value that could have stood there."""

    value: Any
    odds: Odds = ()


@dataclass(frozen=True)
class Token:
    """A piece of the reply and the pieces that could have stood in its place, with probabilities."""

    text: str
    odds: tuple[tuple[str, float], ...] = ()


def plain(tree: Any) -> Any:
    """The tree as a JSON value, without probabilities."""
    if isinstance(tree, Leaf):
        return tree.value
    if isinstance(tree, dict):
        return {k: plain(v) for k, v in tree.items()}
    return [plain(v) for v in tree] if isinstance(tree, list) else tree


def _bare(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False).strip('"') if isinstance(value, str) else json.dumps(value)


def _leaf(leaf: Leaf) -> Iterator[Token]:
    odds = tuple((_bare(v), p) for v, p in leaf.odds)
    quote = isinstance(leaf.value, str)
    if quote:
        yield Token('"')
    yield Token(_bare(leaf.value), odds)
    if quote:
        yield Token('"')


def tokens_of(tree: Any) -> Iterator[Token]:
    """Tokens whose texts join to the JSON of the tree; a chosen value is one token of its own."""
    if isinstance(tree, Leaf):
        yield from _leaf(tree)
    elif isinstance(tree, dict):
        yield Token("{")
        for i, (key, value) in enumerate(tree.items()):
            yield Token((", " if i else "") + json.dumps(str(key), ensure_ascii=False) + ": ")
            yield from tokens_of(value)
        yield Token("}")
    elif isinstance(tree, list):
        yield Token("[")
        for i, value in enumerate(tree):
            if i:
                yield Token(", ")
            yield from tokens_of(value)
        yield Token("]")
    else:
        yield Token(json.dumps(tree, ensure_ascii=False))


def _entry(text: str, probability: float) -> dict[str, Any]:
    logprob = max(_LEAST, math.log(probability)) if probability > 0 else _LEAST
    return {"token": text, "logprob": logprob, "bytes": list(text.encode(errors="replace"))}


def logprobs_of(tokens: list[Token], top: int) -> dict[str, Any]:
    """`logprobs` of a choice: every token with its `top` alternatives (0 for none)."""
    content = []
    for token in tokens:
        odds = dict(token.odds) or {token.text: 1.0}
        ranked = sorted(odds.items(), key=lambda pair: -pair[1])[:top]
        entry = _entry(token.text, odds.get(token.text, 1.0))
        content.append(entry | {"top_logprobs": [_entry(t, p) for t, p in ranked]})
    return {"content": content, "refusal": None}


# From evidence to the value a form asks for: a point of a range, one of some numbers, a label, yes or no.


_MOST_POINTS = 101


def _best(values: Sequence[Any], chances: Sequence[float]) -> Leaf:
    top = max(range(len(values)), key=lambda i: chances[i])
    return Leaf(values[top], tuple(zip(values, chances, strict=True)))


def among(values: Sequence[Any], quality: float | None) -> Leaf:
    """One of some numbers; all alike where there is no quality, and then the middle one."""
    ranked = sorted(dict.fromkeys(values))
    if len(ranked) < 2:
        return Leaf(ranked[0], ((ranked[0], 1.0),))
    if quality is None:
        chances = flat(ranked)
        return Leaf(ranked[(len(ranked) - 1) // 2], tuple(zip(ranked, chances, strict=True)))
    return _best(ranked, odds(tuple(float(v) for v in ranked), quality))


def label(labels: Sequence[str], quality: float | None, chances: Sequence[float] | None = None) -> Leaf:
    """One of some labels: by given chances, by quality where the labels name ranks, else all alike."""
    held = chances or (label_odds(labels, quality) if quality is not None else None)
    if held is None:
        return Leaf(labels[(len(labels) - 1) // 2], tuple(zip(labels, flat(labels), strict=True)))
    return _best(labels, held)


def informed(leaf: Leaf) -> bool:
    """Something speaks for one of its values more than for the others."""
    return bool(leaf.odds) and len({round(chance, 9) for _, chance in leaf.odds}) > 1


def truth(quality: float | None) -> Leaf:
    """Yes or no, at the middle of the scale."""
    sure = 0.5 if quality is None else 1 / (1 + math.exp(-8 * (quality - 0.5)))
    return Leaf(sure >= 0.5, ((True, sure), (False, 1 - sure)))


def bounds(schema: Mapping[str, Any], low: float = 1.0, high: float = 5.0) -> tuple[float, float]:
    """Least and greatest number a schema allows; `low`, `high` stand in where it does not say."""
    step = schema.get("multipleOf") or (1 if schema.get("type") == "integer" else 1e-6)
    least, most = schema.get("minimum"), schema.get("maximum")
    if (above := schema.get("exclusiveMinimum")) is not None and not isinstance(above, bool):
        floor = math.floor(above / step) * step + step
        least = floor if least is None else max(least, floor)
    if (below := schema.get("exclusiveMaximum")) is not None and not isinstance(below, bool):
        roof = math.ceil(below / step) * step - step
        most = roof if most is None else min(most, roof)
    if least is None:
        least = low if most is None or low < most else most - (high - low)
    if most is None:
        most = high if high > least else least + (high - low)
    return float(least), float(most)


def number(schema: Mapping[str, Any], quality: float | None, low: float = 1.0, high: float = 5.0) -> Leaf:
    """A number the schema allows, at `quality` of its range; whole ranges carry probabilities."""
    least, most = bounds(schema, low, high)
    if schema.get("type") == "integer" or (step := schema.get("multipleOf")):
        step = schema.get("multipleOf") or 1
        step = math.ceil(step) if schema.get("type") == "integer" else step
        first, last = math.ceil(least / step - 1e-9), math.floor(most / step + 1e-9)
        if last - first < _MOST_POINTS:
            points = [i * step for i in range(first, max(last, first) + 1)]
            return among(points, quality)
        held = 0.5 if quality is None else quality
        return Leaf(round(first + held * (last - first)) * step)
    value = least + (0.5 if quality is None else quality) * (most - least)
    rounded = round(value, 2)
    return Leaf(rounded if least <= rounded <= most else value)


# Where in a form an answer is being written, and what is known there.


SCORE_KEYS = frozenset(
    [
        "score",
        "value",
        "rating",
        "label",
        "grade",
        "points",
        "mark",
        "rank",
        "result",
        "verdict",
        "stars",
        "number",
        "answer",
    ]
)
_GENERIC = SCORE_KEYS | frozenset(
    [
        "ratings",
        "scores",
        "rectifications",
        "reason",
        "explanation",
        "evaluation",
        "evaluations",
        "results",
        "items",
        "judgement",
        "judgements",
        "assessment",
        "output",
        "response",
        "candidate",
        "form",
        "properties",
        "score_a",
        "score_b",
        "a",
        "b",
    ]
)
_SECOND = re.compile(r"(?:^|_)(?:b|2|rival|second)$")


@dataclass(frozen=True, eq=False)
class At:
    """A place in a form: `path` of keys, the criterion it speaks of, the text it judges."""

    prompt: Prompt
    case: Case
    rival: Case | None
    root: Mapping[str, Any]
    path: tuple[str, ...] = ()
    subject: Seen | None = None
    second: bool = False
    index: int = 0
    depth: int = 0

    @property
    def key(self) -> str:
        """The nearest key, "" at the top."""
        return self.path[-1] if self.path else ""

    def within(self, *keys: str) -> bool:
        """One of these keys stands in the path."""
        return any(k in self.path for k in keys)

    def into(self, key: str, schema: Any) -> At:
        """The place one property down; its title or key may name a criterion."""
        title = schema.get("title", "") if isinstance(schema, Mapping) else ""
        title = title if isinstance(title, str) else ""
        description = schema.get("description", "") if isinstance(schema, Mapping) else ""
        subject = self.prompt.named(title, key) if title else self.prompt.named(key)
        if subject is None and key.lower() not in _GENERIC and not _SECOND.search(key):
            name = title if title and (families_of(title) or not families_of(key)) else key.replace("_", " ")
            if families_of(name) or title or kind_of(schema) in ("object", "integer", "number"):
                subject = Seen(name=name, definition=description if isinstance(description, str) else "")
        second = self.second or bool(_SECOND.search(key.lower()) and self.rival is not None)
        return replace(
            self, path=(*self.path, key), subject=subject or self.subject, second=second, depth=self.depth + 1
        )

    def item(self, index: int) -> At:
        """The place of one item of a list."""
        return replace(self, index=index, depth=self.depth + 1)

    def about(self, subject: Seen) -> At:
        return replace(self, subject=subject)

    @property
    def judged_case(self) -> Case | None:
        """The text spoken of here; None for a second text that is not there."""
        return self.rival if self.second else self.case

    @property
    def criterion(self) -> Seen | None:
        """The criterion spoken of: of the form, of the prompt, or overall quality for a bare score."""
        held, single = self.subject, self.prompt.single
        if held is not None and (single is None or held in self.prompt.criteria or families_of(held.name)):
            return held
        if single is not None:
            return single
        bare = re.sub(r"_?(?:a|b|1|2)$", "", self.key.lower())
        return Seen(name="overall quality") if bare in SCORE_KEYS or not self.path else None

    def evidence(self) -> Evidence | None:
        """What is seen of the criterion here; None for no evidence."""
        criterion, case = self.criterion, self.judged_case
        if criterion is None or case is None or not _shown(case, self.prompt):
            return None
        return fused(case, self.prompt, criterion)

    def whole(self) -> float | None:
        """Mean quality over the prompt's criteria, for a yes or no that names none of them."""
        held = [e.quality for c in self.prompt.criteria if (e := self.about(c).evidence())]
        return math.fsum(held) / len(held) if held else None

    def tone(self, labels: list[str]) -> tuple[tuple[float, ...], str] | None:
        """Label probabilities by counted words, for a criterion of tone."""
        criterion, case = self.criterion, self.judged_case
        if criterion is None or case is None or case.empty or case.script == "text":
            return None
        return tone(case, labels) if "tone" in families_of(criterion.name, criterion.definition) else None

    def reason(self, labels: list[str] | None = None) -> str:
        """One sentence that names the evidence, or says that there is none."""
        criterion, case = self.criterion, self.judged_case
        found = self.tone(labels) if labels else None
        seen = self.evidence()
        if found:
            note = found[1]
        elif seen:
            note = seen.note
        elif case is None:
            note = "no evidence: there is no second text"
        else:
            note = lack(case, criterion.name if criterion else "", criterion.definition if criterion else "")
        return sentence(note)


def _shown(case: Case, prompt: Prompt) -> bool:
    """Some tagged section holds what is judged, even if it is empty."""
    return bool(case.output.strip()) or any(k in prompt.sections for k in ("output", "response", "summary", "answer"))


def sentence(note: str) -> str:
    """A clause as a sentence."""
    note = note.strip() or "no evidence"
    return note[:1].upper() + note[1:] + ("" if note.endswith((".", "!", "?")) else ".")
