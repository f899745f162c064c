"""From a journey to steps: spans as a tree, each with the scores it wrote and what its model was asked and said."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from judgegraph.calls.exchange import unpacked
from judgegraph.calls.kept import Kept
from judgegraph.calls.payments import Paid
from judgegraph.runtime.item import Item
from judgegraph.trace.record import pseudonym
from judgegraph.trace.span import Journey, Span
from judgegraph.trace.step import Step
from judgegraph.types import Score

ROLES = {"human": "user", "ai": "assistant"}


def tree(journey: Journey, item: Item | None, agents: Mapping[str, Any], ledger: Kept) -> Step:
    """The graph's step with all below it.

    Args:
        item: what came of the sample, None where that is not known. agents: node -> what the run's manifest says of its
            agent. ledger: where the run's replies lie.
    """
    return _Tree(journey, item, agents, ledger).root()


@dataclass
class _Tree:
    journey: Journey
    item: Item | None
    agents: Mapping[str, Any]
    ledger: Kept

    def root(self) -> Step:
        below: dict[int, list[Span]] = defaultdict(list)
        for span in self.journey.spans[1:]:
            below[span.parent or 0].append(span)
        scores = {score.key: score for score in self.item.scores} if self.item else {}
        scores |= {pseudonym(key): score for key, score in scores.items()}  # where no text was kept
        return self._step(self.journey.spans[0], below, scores)

    def _step(self, span: Span, below: Mapping[int, list[Span]], scores: Mapping[str, Score]) -> Step:
        steps = tuple(self._step(one, below, scores) for one in below.get(span.id, ()))
        place = self.journey.place(span)
        about = {**span.about, **({"place": place} if place else {})}
        mine = _written(span, scores)
        if span.kind == "model":
            return self._call(span, about)
        if span.kind == "node" and isinstance(agent := self.agents.get(place), Mapping):
            told = {"place": place, "class": agent.get("agent"), **{k: v for k, v in agent.items() if k != "agent"}}
            inner = Step("agent", str(agent.get("agent")), span.start, span.ms, span.status, told, mine, steps=steps)
            steps = (inner,)
        return Step(span.kind, span.name, span.start, span.ms, span.status, about, mine, steps=steps)

    def _call(self, span: Span, about: dict[str, Any]) -> Step:
        address = _address(about)
        paid = self.ledger.get(address) if address else None
        if paid is not None and about.get("usd") is None and not about.get("prompt_tokens"):
            about |= {"prompt_tokens": paid.prompt, "completion_tokens": paid.completion, "usd": paid.usd}
        if paid is not None:
            about["finish"] = [choice.finish for choice in unpacked(paid.body)]
        said = tuple((ROLES.get(kind, kind), text) for kind, text in self.ledger.asked(address)) if address else ()
        return Step("model", span.name, span.start, span.ms, span.status, about, messages=said, replies=_replies(paid))


def _written(span: Span, scores: Mapping[str, Score]) -> tuple[Score, ...]:
    writes = span.about.get("writes")
    keys = writes.get("scores") if isinstance(writes, Mapping) else None
    return tuple(scores[key] for key in keys if key in scores) if isinstance(keys, list) else ()


def _address(about: Mapping[str, Any]) -> bytes | None:
    try:
        return bytes.fromhex(str(about.get("address", "")))
    except ValueError:
        return None


def _replies(paid: Paid | None) -> tuple[str, ...]:
    """The text of each choice; of one that calls tools, or refuses, that."""
    found = []
    for choice in unpacked(paid.body) if paid is not None else ():
        calls = [f"calls {call.get('name')}({json.dumps(call.get('args') or {})})" for call in choice.tool_calls]
        refusal = [f"refuses: {choice.refusal}"] if choice.refusal else []
        found.append("\n".join([*([choice.text] if choice.text else []), *refusal, *calls]))
    return tuple(found)
