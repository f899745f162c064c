"""From a journey to steps: spans as a tree, each with the scores it wrote and what its model was asked and said."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from judgegraph.calls.exchange import Choice, unpacked
from judgegraph.calls.kept import Kept
from judgegraph.calls.reasoning import parts
from judgegraph.errors import one_line
from judgegraph.runtime.item import FINE, LISTED, Item
from judgegraph.trace.record import pseudonym
from judgegraph.trace.span import Journey, Span
from judgegraph.trace.step import Step
from judgegraph.types import Finding, Score

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
    reasons: dict[tuple[str, str], str] = field(default_factory=dict)  # of what failed: key of the state, entry's key

    def root(self) -> Step:
        self.reasons = _reasons(self.item)
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
        if span.kind != "model" and isinstance(lost := about.get("failed"), Mapping) and "error" not in about:
            about["error"] = self._why(lost, about.get("writes"))
        mine = _written(span, scores)
        if span.kind == "model":
            return self._call(span, about)
        if span.kind == "node" and isinstance(agent := self.agents.get(place), Mapping):
            told = {"place": place, "class": agent.get("agent"), **{k: v for k, v in agent.items() if k != "agent"}}
            inner = Step("agent", str(agent.get("agent")), span.start, span.ms, span.status, told, mine, steps=steps)
            steps = (inner,)
        return Step(span.kind, span.name, span.start, span.ms, span.status, about, mine, steps=steps)

    def _why(self, lost: Mapping[str, Any], writes: Any) -> str:
        """What of a node's writing failed, such as "2 of 4 scores: 2 unreadable", and the first reason."""
        wrote = writes if isinstance(writes, Mapping) else {}
        told, first = [], ""
        for key, counts in lost.items():
            by_status = Counter({str(s): n for s, n in counts.items() if isinstance(n, int)} if counts else {})
            names = wrote.get(key)
            many = len(names) if isinstance(names, list) else names
            of = f" of {many}" if isinstance(many, int) else ""
            said = ", ".join(f"{n} {status}" for status, n in by_status.items())
            told.append(f"{by_status.total()}{of} {key}: {said}")
            given = [self.reasons.get((key, str(name)), "") for name in names] if isinstance(names, list) else []
            first = first or next((reason for reason in given if reason), "")
        return one_line("; ".join(told) + (f" ({first})" if first else ""), 400)

    def _call(self, span: Span, about: dict[str, Any]) -> Step:
        address = _address(about)
        paid = self.ledger.get(address) if address else None
        if paid is not None and about.get("usd") is None and not about.get("prompt_tokens"):
            about |= {"prompt_tokens": paid.prompt, "completion_tokens": paid.completion, "usd": paid.usd}
        choices = unpacked(paid.body) if paid is not None else []
        if paid is not None:
            about["finish"] = [choice.finish for choice in choices]
        replies, thoughts = _replies(choices)
        said = tuple((ROLES.get(kind, kind), text) for kind, text in self.ledger.asked(address)) if address else ()
        return Step(
            "model", span.name, span.start, span.ms, span.status, about,
            messages=said, replies=replies, reasoning=thoughts,
        )  # fmt: skip


def _written(span: Span, scores: Mapping[str, Score]) -> tuple[Score, ...]:
    writes = span.about.get("writes")
    keys = writes.get("scores") if isinstance(writes, Mapping) else None
    return tuple(scores[key] for key in keys if key in scores) if isinstance(keys, list) else ()


def _reasons(item: Item | None) -> dict[tuple[str, str], str]:
    """(key of the state, entry's key) -> why it failed; the key as it stands where no text was kept, too."""
    found: dict[tuple[str, str], str] = {}
    for key in LISTED if item is not None else ():
        for part in getattr(item, key):
            if getattr(part, "status", "ok") not in FINE and (reason := getattr(part, "reason", "")):
                name = part.assistant if isinstance(part, Finding) else str(part.key)
                found[key, name] = found[key, pseudonym(name)] = one_line(reason)
    return found


def _address(about: Mapping[str, Any]) -> bytes | None:
    try:
        return bytes.fromhex(str(about.get("address", "")))
    except ValueError:
        return None


def _replies(choices: Iterable[Choice]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The answer of each choice, of one that calls tools or refuses, that; and what each thought first, if any did."""
    found, thoughts = [], []
    for choice in choices:
        calls = [f"calls {call.get('name')}({json.dumps(call.get('args') or {})})" for call in choice.tool_calls]
        refusal = [f"refuses: {choice.refusal}"] if choice.refusal else []
        said = parts(choice.text)
        found.append("\n".join([*([said.said] if said.said else []), *refusal, *calls]))
        thoughts.append("\n".join(filter(None, (choice.reasoning, said.reasoning))))
    return tuple(found), tuple(thoughts) if any(thoughts) else ()
