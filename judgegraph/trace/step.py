"""A step: a span with what it wrote and what was said, as every view shows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from judgegraph.shown import Shown, drawn
from judgegraph.trace.span import Kind
from judgegraph.types import Score, Status


@dataclass(frozen=True)
class Step(Shown):
    """One thing that was done, with all that was done for it.

    Attributes:
        kind, name, start, ms, status, about: as of a `Span`; `about` has "place" too, the nodes that it stands in.
        scores: those that a node or an agent wrote, as they stand in the item.
        messages: (role, text) of what a model was asked; empty where the ledger does not hold it. replies: its answers.
        reasoning: of each reply what the model thought first, "" where nothing; empty where no reply has any. It is
            shown, and never read as an answer.
        steps: what was done for it, in the order in which it began.
    """

    kind: Kind
    name: str
    start: float
    ms: float
    status: Status = "ok"
    about: Mapping[str, Any] = field(default_factory=dict)
    scores: tuple[Score, ...] = ()
    messages: tuple[tuple[str, str], ...] = ()
    replies: tuple[str, ...] = ()
    reasoning: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()

    def walk(self) -> Iterator[Step]:
        """Itself and all below it, each before its own."""
        yield self
        for step in self.steps:
            yield from step.walk()

    def texts(self) -> Iterator[tuple[str, str]]:
        """(who, text) of all that was asked, thought and answered; a thought stands before its reply."""
        yield from self.messages
        for at, reply in enumerate(self.replies):
            if thought := self.thought(at):
                yield "thought", thought
            yield "reply", reply

    def thought(self, at: int) -> str:
        """What was thought before the reply of this number."""
        return self.reasoning[at] if at < len(self.reasoning) else ""

    def to_dict(self) -> dict[str, Any]:
        """As JSON values, with all below it; what is empty is left out."""
        told: dict[str, Any] = {"kind": self.kind, "name": self.name, "start": self.start, "ms": self.ms}
        told |= {"status": self.status, "about": dict(self.about)}
        if self.scores:
            told["scores"] = [score.model_dump(mode="json", exclude_defaults=True) for score in self.scores]
        if self.messages:
            told["messages"] = [{"role": role, "text": text} for role, text in self.messages]
        if self.replies:
            told["replies"] = list(self.replies)
        if self.reasoning:
            told["reasoning"] = list(self.reasoning)
        if self.steps:
            told["steps"] = [step.to_dict() for step in self.steps]
        return told

    def __str__(self) -> str:
        """Its tree as plain text; the first lines of each text."""
        return drawn(self, "text")
