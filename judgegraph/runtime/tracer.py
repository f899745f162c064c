"""Who hears of the chains of plain LangGraph runs, and makes journeys of them.

LangGraph runs a graph as a chain, and each of its nodes as a chain of the graph's, tagged with its step. Other chains
(a router, a runnable within a node, an inner graph) are no spans: what happens in them belongs to the span around them,
as in the spans of `evaluate`.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.errors import GraphBubbleUp, GraphInterrupt

from judgegraph.calls.address import address_of
from judgegraph.calls.context import context
from judgegraph.calls.exchange import Call, Choice
from judgegraph.calls.notes import Notes
from judgegraph.models.resolve import Judge
from judgegraph.trace.file import SpanFile
from judgegraph.trace.record import Recorder, failed, sizes, status_of, traced, tracer, written

STEP = "graph:step:"  # how the tag of a node's chain begins


class _Journey(Recorder):
    """A chain that is a graph's once a node began in it; `stops`: a node waits for a person. `ended`: it is written."""

    __slots__ = ("ended", "is_graph", "stops")

    def __init__(self, name: str, *, bare: bool) -> None:
        super().__init__("", name, bare=bare)
        self.ended = self.is_graph = self.stops = False


_Place = tuple[_Journey, int]


class Tracer(BaseCallbackHandler):
    """Hears where chains begin and end; of models and tools `trace.record.span` tells, which asks for `here`.

    Attributes:
        notes: where calls are written down, None where no text is to be kept. failed: why something is missing.
    """

    run_inline = True  # in the order of things, and in the thread they happen in

    def __init__(self, file: SpanFile, ledger: Path | None, before: int) -> None:
        self._file, self._number, self._bare, self.failed = file, before, ledger is None, ""
        self.notes = Notes(ledger) if ledger is not None else None
        self._lock, self._open = threading.Lock(), True
        self._places: dict[UUID, _Place] = {}  # chain under way -> the span that it is in
        self._nodes: dict[UUID, tuple[list[Any], Any]] = {}  # of them those of nodes -> their own spans, and inputs
        self._roots: dict[UUID, _Journey] = {}

    @property
    def ignore_llm(self) -> bool:
        """So that a model's short way stays open: see `calls.native`."""
        return True

    @property
    def ignore_chat_model(self) -> bool:
        """As `ignore_llm`."""
        return True

    def here(self) -> _Place | None:
        """The journey and the span that is innermost where this is called; None outside of all graphs."""
        config = var_child_runnable_config.get() or {}
        place = self._within(getattr(config.get("callbacks"), "parent_run_id", None))
        known = place is not None and place[0].is_graph and self._open and context.get() is None
        return place if known else None

    def _within(self, run: UUID | None) -> _Place | None:
        """Where a chain stands, or deeper: both a chain and a span of ours may be open, and the later is the inner."""
        place, inner = self._places.get(run) if run is not None else None, traced.get()
        if inner is None or not isinstance(inner[0], _Journey):
            return place
        if place is None:
            return (inner[0], inner[1]) if not inner[0].ended else None
        return (place[0], max(place[1], inner[1])) if inner[0] is place[0] else place

    def on_chain_start(
        self, serialized: Any, inputs: Any, *, run_id: UUID, parent_run_id: UUID | None = None,
        tags: Sequence[str] | None = None, metadata: Mapping[str, Any] | None = None, **more: Any,
    ) -> None:  # fmt: skip
        """A graph, a node or another chain begins."""
        if tracer.get() is not self or not self._open or context.get() is not None:
            return  # another one traces here, or a run has its own spans, or a plan plays through
        name, place = str(more.get("name") or "graph"), self._within(parent_run_id)
        if place is not None and any(tag.startswith(STEP) for tag in tags or ()):
            self._places[run_id] = self._step(run_id, name, inputs, place)
        elif place is None or not place[0].is_graph:
            journey = self._roots[run_id] = _Journey(name, bare=self._bare)
            journey.sample = _sample(inputs)
            self._places[run_id] = (journey, 0)
        else:
            self._places[run_id] = place

    def _step(self, run: UUID, name: str, inputs: Any, place: _Place) -> _Place:
        journey, parent = place
        journey.is_graph = True
        journey.sample = journey.sample or _sample(inputs)  # what goes on after a stop is not told its sample
        if name.startswith("__"):
            return place
        begun = journey.begin("node", name, {"reads": sizes(inputs)}, parent)
        self._nodes[run] = begun, inputs
        return journey, begun[0]

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **more: Any) -> None:
        """It came to its end."""
        place = self._places.pop(run_id, None)
        if place is None:
            return
        if (node := self._nodes.pop(run_id, None)) is not None:
            span, inputs = node
            span[7]["writes"] = written(outputs)
            place[0].end(span, status_of(outputs, inputs, span[7]))
        elif (journey := self._roots.pop(run_id, None)) is not None:
            self._write(journey, "skipped" if journey.stops else "ok")

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **more: Any) -> None:
        """It did not, or it stopped for a person, or handed on to a graph around it."""
        place = self._places.pop(run_id, None)
        if place is None:
            return
        (span, _), journey = self._nodes.pop(run_id, (None, None)), self._roots.pop(run_id, None)
        if isinstance(error, GraphInterrupt):
            place[0].stops = True
        status = _status(error, span[7] if span is not None else place[0].spans[0][7])
        if span is not None:
            place[0].end(span, status)
        elif journey is not None:
            self._write(journey, status)

    def on_tool_start(
        self, serialized: Any, input_str: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **more: Any
    ) -> None:
        """A tool of LangChain's, in which a graph may run."""
        if tracer.get() is self and (place := self._within(parent_run_id)) is not None:
            self._places[run_id] = place

    def on_tool_end(self, output: Any, *, run_id: UUID, **more: Any) -> None:
        """It came to its end."""
        self._places.pop(run_id, None)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **more: Any) -> None:
        """It failed; the node that asked it may go on."""
        self._places.pop(run_id, None)

    def note(self, judge: Judge, call: Call, choices: Sequence[Choice], about: dict[str, Any]) -> bytes:
        """The address of a call, which is written down unless no text is to be kept."""
        if self.notes is None or not self._open:
            return address_of(judge, call)
        return self.notes.keep(judge, call, choices, about)

    def _write(self, journey: _Journey, status: str) -> None:
        with self._lock:  # a thread may end its graph while another closes the file
            self._add(journey, status)

    def _add(self, journey: _Journey, status: str) -> None:
        if not journey.is_graph or journey.ended or not self._open:
            return
        journey.ended = True
        self._number += 1
        journey.sample = journey.sample or f"run-{self._number}"
        try:
            self._file.add(journey.line(status))
        except (OSError, ValueError, RecursionError) as error:
            self.failed = f"{type(error).__name__}: {error}"

    def close(self) -> None:
        """What is still under way is written as it is; nothing more is heard."""
        with self._lock:
            for journey in list(self._roots.values()):
                self._add(journey, "skipped")
            self._open = False
            self._file.close()
        if self.notes is not None:
            self.notes.close()
            self.failed = self.failed or self.notes.failed


def _status(error: BaseException, about: dict[str, Any]) -> str:
    """Of a chain that raised: to stop for a person or to hand on is no failure."""
    if isinstance(error, GraphBubbleUp):
        return "skipped" if isinstance(error, GraphInterrupt) else "ok"
    return failed(about, error)


def _sample(inputs: Any) -> str:
    """The id of the sample that a state holds, "" where it holds none."""
    with suppress(Exception):  # a sample of yours may be code that raises; the run is recorded all the same
        sample = inputs.get("sample") if isinstance(inputs, Mapping) else None
        found = sample.get("id") if isinstance(sample, Mapping) else getattr(sample, "id", None)
        return found if isinstance(found, str) else ""
    return ""
