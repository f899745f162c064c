"""A span: one thing that was done for a sample, with its times; and a sample's whole way through a graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast, get_args

from judgegraph.shown import Shown, drawn
from judgegraph.types import Score, Status

Kind: TypeAlias = Literal["graph", "node", "agent", "model", "tool"]
KINDS: tuple[Kind, ...] = ("graph", "node", "agent", "model", "tool")
LATEST = 2e11  # seconds since 1970, near the year 8000
STATUSES = frozenset(get_args(Status))


@dataclass(frozen=True)
class Span:
    """One thing that was done.

    Attributes:
        id: its number in the journey, from 0. parent: the number of what it was done for; None of the first.
        name: of the graph, node, agent, judge or assistant.
        start: milliseconds since the journey began. ms: milliseconds that it took.
        status: "ok", or how it failed: a node by what it raised or wrote, a model call by what became of its replies.
        about: ids, counts and addresses, never a text that was judged or generated, but for the names of criteria and
            aspects that a model may have written (a run with `redact` has digests of them). Of a node "reads" (key of
            the state -> how many entries) and "writes" (key -> the entries' own keys, or how many, or a number); of a
            model call "address" (hex, in the ledger), "prompt" ("NAME@DIGEST"), "form", "from" ("paid", "ledger" or
            "joined"), "requests" (those sent), "prompt_tokens", "completion_tokens", "usd", and where it is not the one
            choice of the first time "n" and "repeat". Of what failed "failed" (of a node key -> status -> how many of
            its entries, of a call status -> how many of its choices) and "error", a line of our own.
    """

    id: int
    parent: int | None
    kind: Kind
    name: str
    start: float
    ms: float
    status: Status = "ok"
    about: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of_row(cls, row: Any) -> Span:
        """From a line's list; an error of somebody else's may have brought a status of its own, which is "agent_error".

        Raises:
            ValueError: it is none.
        """
        number, parent, kind, name, start, ms, status, about = row
        if (
            kind not in KINDS
            or not isinstance(number, int)
            or not isinstance(about, dict)
            or not _is_numbers_and_names(about)
        ):
            raise ValueError(f"no span: {row!r:.80}")
        known = cast(Status, status) if status in STATUSES else "agent_error"
        return cls(number, parent, cast(Kind, kind), str(name), time_of(start), time_of(ms), known, about)


def time_of(value: Any) -> float:
    """A time, or a number of milliseconds, that can be added up, shown and made a date.

    Raises:
        ValueError: it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LATEST:
        raise ValueError(f"no time: {value!r:.40}")
    return float(value)


def _is_numbers_and_names(about: Mapping[str, Any]) -> bool:
    """Whether what was written are numbers, and names in lists."""
    writes = about.get("writes", {})
    if not isinstance(writes, dict):
        return False
    names = [name for entry in writes.values() if isinstance(entry, list) for name in entry]
    return all(isinstance(name, str) for name in names)


@dataclass(frozen=True)
class RecordedTrace:
    """One sample's way through a graph.

    Attributes:
        sample: its id. started: seconds since 1970. kept: False where what came of it was not, as of a retry that
            failed. spans: the graph's own first, then in the order in which they began.
    """

    sample: str
    started: float
    spans: tuple[Span, ...]
    kept: bool = True

    def node_path(self, span: Span) -> str:
        """The nodes that a span stands in, such as "weigh/judge", its own included; "" outside of all nodes."""
        names = []
        at: Span | None = span
        while at is not None:
            names += [at.name] if at.kind == "node" else []
            at = self.spans[at.parent] if at.parent is not None else None
        return "/".join(reversed(names))


# A step: a span with what it wrote and what was said, as every view shows it.


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
