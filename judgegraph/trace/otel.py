"""A sample's trace as OpenTelemetry has it: flat spans with ids that follow from what they are of, and real times.

Needs no package of OpenTelemetry's; `runtime.otel_export` makes its objects of these, and sends them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from judgegraph.trace.otel_attributes import attributes, clean, name_of
from judgegraph.trace.otel_scores import Event, results
from judgegraph.trace.step import Step

FINE = ("ok", "abstained", "skipped")  # what is no error


@dataclass(frozen=True)
class OtelSpan:
    """One span.

    Attributes:
        trace_id: 128 bits. span_id, parent_id: 64 bits; None for the first. start, end: nanoseconds since 1970.
        client: it asked a model, in another process or not; else it is internal.
        error: how it failed, in a line; "" where it did not. events: (name, attributes), at its end.
    """

    trace_id: int
    span_id: int
    parent_id: int | None
    name: str
    start: int
    end: int
    client: bool = False
    error: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    events: tuple[Event, ...] = ()

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        said = [self.attributes, *(about for _, about in self.events)]
        return 200 + sum(_size(str(value)) + len(key) + 8 for about in said for key, value in about.items())


@dataclass(frozen=True)
class Whose:
    """What a trace is of.

    Attributes:
        run: id of the run, "" for none. sample: its id. started: seconds since 1970. texts: send what was judged and
            said. about: attributes of the first span alone.
    """

    run: str
    sample: str
    started: float
    texts: bool = True
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def trace_id(self) -> int:
        """The same whenever the same journey is sent."""
        return _digest(f"{self.run}\0{self.sample}\0{self.started!r}".encode("utf-8", "surrogatepass"), 16)


def otel_spans(root: Step, whose: Whose) -> Iterator[OtelSpan]:
    """Every step as a span, each before those below it."""
    trace, numbers, start = whose.trace_id, iter(range(1 << 62)), round(whose.started * 1e6) * 1000
    waiting: list[tuple[Step, int | None, str]] = [(root, None, "")]
    while waiting:
        step, parent, around = waiting.pop()
        number = next(numbers)
        span_id = _digest(trace.to_bytes(16, "big") + number.to_bytes(8, "big"), 8)
        why = str(step.about.get("error") or around)
        waiting += [(below, span_id, why if below.kind == "agent" else "") for below in reversed(step.steps)]
        began = start + round(step.start * 1e6)
        told = attributes(step, whose.texts) | {"judgegraph.sample.id": clean(whose.sample)}
        yield OtelSpan(
            trace, span_id, parent, name_of(step), began, began + max(0, round(step.ms * 1e6)), step.kind == "model",
            _error(step, why if whose.texts else ""), told if parent else {**told, **whose.about},
            results(step, whose.texts),
        )  # fmt: skip


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def _error(step: Step, why: str) -> str:
    """An agent has the reason of the node that it is."""
    if step.status in FINE:
        return ""
    return clean(f"{step.status}: {why}") if why else step.status


def _digest(data: bytes, size: int) -> int:
    return int.from_bytes(blake2b(data, digest_size=size).digest(), "big") or 1  # 0 is no id
