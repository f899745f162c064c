"""A reply as text and as tokens with log-probabilities, in the shape of OpenAI's chat API."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

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
