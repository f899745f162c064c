"""What each node of a run took, and what it asked for: visits, milliseconds, calls, tokens, money."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from judgegraph.runtime.item import FINE
from judgegraph.runtime.journeys import told_journeys
from judgegraph.runtime.traces import RunRecord, spans_of
from judgegraph.trace.span import Journey, Span

STEP = math.log(1.05)  # between two classes of milliseconds: a median is told within 2.5 %


@dataclass
class NodeTime:
    """One node.

    Visits and their times are of the journeys that stand: of a sample that was taken up again, the last that was kept.
    What was asked for is of all attempts, because all of it was paid.

    Attributes:
        visits: times that it ran. failures: those that raised, or wrote anything that failed; statuses: of these.
        ms: their sum; visits may run side by side, so that it can exceed the run's own time. slowest: the longest.
        calls: model calls made in it, not in nodes within it. paid: those sent and paid for; found: those that lay in
            the ledger; shared: those that another sample had under way. failed_calls: those that failed; tools:
            assistants asked.
            requests: sent, retries included. unsent: calls that were refused before, as by a budget.
        prompt_tokens, completion_tokens, usd: of the paid ones. unpriced: paid ones without a price.
    """

    visits: int = 0
    failures: int = 0
    ms: float = 0.0
    slowest: float = 0.0
    calls: int = 0
    paid: int = 0
    found: int = 0
    shared: int = 0
    failed_calls: int = 0
    requests: int = 0
    tools: int = 0
    unsent: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float = 0.0
    unpriced: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    _classes: Counter[int] = field(default_factory=Counter, repr=False)

    @property
    def median(self) -> float | None:
        """The median of the visits' milliseconds, within 2.5 %; None without any."""
        left = (self.visits + 1) / 2
        for step in sorted(self._classes):
            left -= self._classes[step]
            if left <= 0:
                return min(math.exp(step * STEP), self.slowest)
        return None

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        told = {one.name: getattr(self, one.name) for one in fields(self) if not one.name.startswith("_")}
        return {**told, "median": self.median}

    def visit(self, span: Span) -> None:
        """Count a visit."""
        self.visits += 1
        if span.status not in FINE:
            self.failures += 1
            self.statuses[span.status] += 1
        self.ms += span.ms
        self.slowest = max(self.slowest, span.ms)
        self._classes[round(math.log(max(span.ms, 0.001)) / STEP)] += 1

    def call(self, span: Span) -> None:
        """Count a model call."""
        told = span.about
        sent = told.get("prompt_tokens") is not None
        self.calls += 1
        self.paid += sent
        answered = span.status == "ok" or "failed" in told  # a reply that could not be read was one
        unpaid = told.get("from") if answered else None
        self.found += unpaid == "ledger"
        self.shared += unpaid == "joined"
        self.unsent += not (sent or unpaid in ("ledger", "joined") or _number(told, "requests"))
        self.failed_calls += span.status not in FINE
        self.requests += _number(told, "requests")
        self.prompt_tokens += _number(told, "prompt_tokens")
        self.completion_tokens += _number(told, "completion_tokens")
        if sent:
            usd = told.get("usd")
            self.usd += usd if isinstance(usd, int | float) else 0.0
            self.unpriced += usd is None


def node_times(run: RunRecord) -> dict[str, NodeTime]:
    """Place of a node, such as "weigh/judge" -> what it took, in the order of first visits; one reading, flat memory.

    Calls that were made outside of all nodes stand under "". Empty where no spans were recorded.
    """
    found: dict[str, NodeTime] = {}
    for journey, stands in told_journeys(spans_of(run)):
        _add(found, journey, stands)
    return found


def _add(found: dict[str, NodeTime], journey: Journey, stands: bool) -> None:
    places = places_of(journey)
    for span in journey.spans:
        if span.kind == "node" and stands:
            found.setdefault(places[span.id], NodeTime()).visit(span)
        elif span.kind == "model":
            found.setdefault(places[span.id], NodeTime()).call(span)
        elif span.kind == "tool":
            found.setdefault(places[span.id], NodeTime()).tools += 1


def places_of(journey: Journey) -> list[str]:
    """The place of each span, by its number; every parent stands before its own."""
    places: list[str] = []
    for span in journey.spans:
        around = places[span.parent] if span.parent is not None else ""
        if span.kind == "node":
            around = f"{around}/{span.name}" if around else span.name
        places.append(around)
    return places


def within(times: Mapping[str, NodeTime], place: str) -> NodeTime:
    """A node with what the nodes within it asked for; visits and times stay its own."""
    own = times.get(place, NodeTime())
    total = NodeTime(own.visits, own.failures, own.ms, own.slowest, statuses=own.statuses, _classes=own._classes)
    inner = [one for name, one in times.items() if name == place or name.startswith(f"{place}/") or not place]
    for name in ("calls", "paid", "found", "shared", "failed_calls", "requests", "tools", "unsent", "prompt_tokens",
                 "completion_tokens", "usd", "unpriced"):  # fmt: skip
        setattr(total, name, sum(getattr(one, name) for one in inner))
    return total


def _number(told: Mapping[str, Any], name: str) -> int:
    value = told.get(name)
    return value if isinstance(value, int) else 0
