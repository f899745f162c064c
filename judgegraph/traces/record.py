"""Who hears of the chains of plain LangGraph runs, and makes journeys of them.

LangGraph runs a graph as a chain, and each of its nodes as a chain of the graph's, tagged with its step. Other chains
(a router, a runnable within a node, an inner graph) are no spans: what happens in them belongs to the span around them,
as in the spans of `evaluate`.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import warnings
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache, cached_property
from hashlib import blake2b
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.errors import GraphBubbleUp, GraphInterrupt

from judgegraph import types
from judgegraph.agent_runs.formats import trajectory
from judgegraph.calls.context import CallContext, context
from judgegraph.calls.ledger import Paid, checksum, opened
from judgegraph.calls.texts import Texts, texts_of
from judgegraph.calls.types import Call, Choice, address_of, packed, writable
from judgegraph.errors import ConfigError, DataError, counted, one_line, settings_checked
from judgegraph.models.judges import Judge
from judgegraph.runs.folder import MANIFEST, NOTES
from judgegraph.trace.record import SPANS, Recorder, SpanFile, failed, lines, sizes, status_of, traced, tracer, written

TRAJECTORIES = "trajectories.jsonl"  # beside the spans: the runs that ended with messages, as samples
STEP = "graph:step:"  # how the tag of a node's chain begins


class _RecordedTrace(Recorder):
    """A chain that is a graph's once a node began in it; `stops`: a node waits for a person. `ended`: it is written."""

    __slots__ = ("ended", "is_graph", "stops")

    def __init__(self, name: str, *, bare: bool) -> None:
        super().__init__("", name, bare=bare)
        self.ended = self.is_graph = self.stops = False


_Place = tuple[_RecordedTrace, int]


class Tracer(BaseCallbackHandler):
    """Hears where chains begin and end; of models and tools `trace.record.span` tells, which asks for `here`.

    Attributes:
        notes: where calls are written down, None where no text is to be kept. failed: why something is missing.
    """

    run_inline = True  # in the order of things, and in the thread they happen in

    def __init__(self, file: SpanFile, ledger: Path | None, before: int, runs: Path) -> None:
        self._file, self._number, self._bare, self.failed = file, before, ledger is None, ""
        self.notes = Notes(ledger) if ledger is not None else None
        self._lock, self._open = threading.Lock(), True
        self._runs: Path = runs
        self._places: dict[UUID, _Place] = {}  # chain under way -> the span that it is in
        self._nodes: dict[UUID, tuple[list[Any], Any]] = {}  # of them those of nodes -> their own spans, and inputs
        self._roots: dict[UUID, _RecordedTrace] = {}

    @property
    def ignore_llm(self) -> bool:
        """So that a model's short way stays open: see `calls.send`."""
        return True

    @property
    def ignore_chat_model(self) -> bool:
        """As `ignore_llm`."""
        return True

    @cached_property
    def payer(self) -> CallContext | None:
        """Who sends calls, to count what they take; None where none is written down.

        It reads the table of prices when the first call is made.
        """
        return CallContext() if self.notes is not None else None

    def here(self) -> _Place | None:
        """The journey and the span that is innermost where this is called; None outside of all graphs."""
        config = var_child_runnable_config.get() or {}
        place = self._within(getattr(config.get("callbacks"), "parent_run_id", None))
        known = place is not None and place[0].is_graph and self._open and context.get() is None
        return place if known else None

    def _within(self, run: UUID | None) -> _Place | None:
        """Where a chain stands, or deeper: both a chain and a span of ours may be open, and the later is the inner."""
        place, inner = self._places.get(run) if run is not None else None, traced.get()
        if inner is None or not isinstance(inner[0], _RecordedTrace):
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
            journey = self._roots[run_id] = _RecordedTrace(name, bare=self._bare)
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
            if self.notes is not None and journey.is_graph and not journey.stops:
                self._keep_messages(journey.sample, outputs)

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

    def _keep_messages(self, name: str, outputs: Any) -> None:
        """The messages that a run ended with, as a sample that can be judged; a graph without messages has none."""
        messages = outputs.get("messages") if isinstance(outputs, Mapping) else None
        if not isinstance(messages, list) or not messages or not all(hasattr(one, "type") for one in messages):
            return
        try:
            line = trajectory(messages, id=name).model_dump_json() + "\n"
            with self._lock, self._runs.open("a", encoding="utf-8") as file:
                file.write(line)
        except (OSError, ValueError, DataError) as error:
            self.failed = f"{type(error).__name__}: {error}"

    def _write(self, journey: _RecordedTrace, status: str) -> None:
        with self._lock:  # a thread may end its graph while another closes the file
            self._add(journey, status)

    def _add(self, journey: _RecordedTrace, status: str) -> None:
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


# Spans of plain LangGraph runs: `with jg.tracing("dir"):` around `graph.ainvoke`, `astream` and the like.


@settings_checked
@contextmanager
def tracing(path: str | os.PathLike[str], *, redact: Sequence[str] = ()) -> Generator[None]:
    """Record every run of a LangGraph graph that begins within: what was done, when, and what models were asked.

    A folder gets `spans.jsonl`, a line for each run of a graph, and `notes.sqlite` with the texts; `judgegraph trace
    DIR` shows them, and what is there stays. A run that ended with "messages" is a sample, too, in
    `trajectories.jsonl`: `jg.load(DIR)` reads these. Nothing else changes: no reply is taken from there, and calls are
    all made. A run is named by the id of the "sample" in its state, else "run-1", "run-2", ... One that stops for a
    person has the status "skipped". Models are those that agents and assistants of judgegraph ask; one that a node of
    yours asks by itself is no span. Tasks and `asyncio.to_thread` are within, threads of your own are not. Of several
    that are open the innermost records; `jg.evaluate` within records into its own folder as ever.

    Args:
        path: the folder, made where there is none. redact: ("texts",) keeps no prompt, no reply and no message of an
            error.

    Raises:
        ConfigError: the folder is a run's, or cannot be written.
    """
    folder = _folder(path)
    if not isinstance(redact, tuple | list) or any(what != "texts" for what in redact):
        what = one_line(repr(redact), 80)
        raise ConfigError(f'tracing: redact is a list of what is not kept: ("texts",) or (); got {what}')
    _hook()
    at = _opened(folder, bare=bool(redact))
    token = tracer.set(at)
    try:
        yield
    except BaseException as error:
        _left(token)
        try:
            _closed(at, folder)
        except RuntimeWarning as told:  # where warnings are errors; what was raised within is what is to be heard
            error.add_note(str(told))
        raise
    _left(token)
    _closed(at, folder)


def _opened(folder: Path, *, bare: bool) -> Tracer:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = SpanFile(folder / SPANS)
        before = sum(1 for _ in lines(folder / SPANS))
    except OSError as error:
        raise ConfigError(f"tracing: {folder} cannot be written: {error.strerror}") from None
    try:
        return Tracer(file, None if bare else folder / NOTES, before, folder / TRAJECTORIES)
    except BaseException:
        file.close()
        raise


def _closed(at: Tracer, folder: Path) -> None:
    at.close()
    if at.failed:
        warnings.warn(f"the trace in {folder} is incomplete: {one_line(at.failed)}", RuntimeWarning, stacklevel=4)


def _folder(path: str | os.PathLike[str]) -> Path:
    name = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(name, str) or not name or "\0" in name:
        raise ConfigError(f"tracing: a folder has a name; got {one_line(repr(path), 80)}")
    if (Path(name) / MANIFEST).exists():
        raise ConfigError(f"tracing: {name} is a run's folder, which has its own trace; name another one")
    return Path(name)


def _left(token: object) -> None:
    try:
        tracer.reset(token)  # type: ignore[arg-type]
    except ValueError:  # left in another task than it was entered in, as some test fixtures are
        tracer.set(None)


@cache
def _hook() -> None:
    """LangChain asks the variable at every run for a handler to be told."""
    from langchain_core.tracers.context import register_configure_hook

    register_configure_hook(tracer, inheritable=True)


# Checkpoints: the serializer that knows our values.


def serializer() -> JsonPlusSerializer:
    """For a checkpointer of yours, such as `InMemorySaver(serde=serializer())`: it reads our values back.

    Without it LangGraph logs a warning for each of them, and refuses them where LANGGRAPH_STRICT_MSGPACK is set. Values
    of your own are added by `serializer().with_msgpack_allowlist([...])`.
    """
    values = [t for t in vars(types).values() if isinstance(t, type) and issubclass(t, types.Value)]
    return JsonPlusSerializer(allowed_msgpack_modules=[(t.__module__, t.__name__) for t in values])


# What is written down of calls that no run makes, for whoever traces them: nobody is answered from there.


_BODY_AT = "SELECT body FROM replies WHERE address = ?"
_NOTE_DOWN = "INSERT OR IGNORE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?)"
HELD, LAST = 50, 1000  # milliseconds for another that writes, at a call and at the end: an event loop stands still
AGAIN = 1.0  # seconds until the next try where that was too short
WAITING = 10_000  # replies that wait for it, of which the first are let go
BUSY = "another process held the file for too long"


class Notes:
    """A ledger that is only written, from any thread and event loop; another process may write it too.

    Where that one holds the file, replies wait for a later call, or for the end.

    Attributes:
        failed: why something could not be written, "" where all was.

    Raises:
        LedgerError: the file is no ledger, or cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self.failed = ""
        self._lock = threading.Lock()
        self._db = opened(path)
        self._db.execute(f"PRAGMA busy_timeout = {HELD}")
        self._texts = Texts(texts_of(path))
        self._waiting: dict[bytes, tuple[Any, ...]] = {}  # address -> its row
        self._open, self._later = True, 0.0

    def keep(self, judge: Judge, call: Call, choices: Sequence[Choice], about: dict[str, Any]) -> bytes:
        """Write a call down: what was asked and, where it was answered, the reply; gives the address that has it.

        Equal calls may be answered differently here; the second answer stands at an address that follows from the
        first.
        """
        address, paid = address_of(judge, call), None
        if choices:
            tokens = (about.get("prompt_tokens") or 0, about.get("completion_tokens") or 0)
            paid = Paid(packed(choices), writable(judge.name), *tokens, about.get("usd"))
        with self._lock:
            if not self._open:
                return address
            try:
                address = address if paid is None else self._put(address, paid)
                self._texts.ask(address, call.messages, new=False)
            except (sqlite3.Error, ValueError, TypeError) as error:
                self.failed = f"{type(error).__name__}: {error}"
        return address

    def _put(self, address: bytes, paid: Paid) -> bytes:
        for turn in count():
            at = address if turn == 0 else blake2b(turn.to_bytes(4, "big"), key=address, digest_size=16).digest()
            there = self._body(at)
            if there is None:
                told = (paid.model, paid.prompt, paid.completion, None if paid.usd is None else float(paid.usd))
                self._waiting[at] = (at, paid.body, checksum(at, paid.body, told), *told)
                self._write()
            if there is None or there == paid.body:
                return at
        raise AssertionError

    def _body(self, address: bytes) -> Any:
        """What stands or is to stand there, None where nothing does; others that write do not keep us from reading."""
        if (row := self._waiting.get(address)) is not None:
            return row[1]
        found = self._db.execute(_BODY_AT, (address,)).fetchone()
        return found[0] if found else None

    def _write(self) -> None:
        """What waits, each in a transaction of its own."""
        while self._waiting and time.monotonic() >= self._later:
            at, row = next(iter(self._waiting.items()))
            try:
                self._db.execute(_NOTE_DOWN, row)
            except sqlite3.OperationalError as error:
                if "locked" in str(error):
                    self._later = time.monotonic() + AGAIN
                    break
                self._waiting.clear()
                raise
            del self._waiting[at]
            if self._body(at) != row[1]:
                self.failed = "another process has its own reply where one of ours was to be"
        if len(self._waiting) > WAITING:
            del self._waiting[next(iter(self._waiting))]
            self.failed = BUSY

    def close(self) -> None:
        """Nothing more is written but what waits."""
        with self._lock:
            if not self._open:
                return
            self._open, self._later = False, 0.0
            try:
                self._db.execute(f"PRAGMA busy_timeout = {LAST}")
                self._write()
            except sqlite3.Error as error:
                self.failed = f"{type(error).__name__}: {error}"
            if self._waiting:
                self.failed = f"{BUSY}: {counted(len(self._waiting), 'reply', 'replies')} not kept"
            self._db.close()
            self._texts.close()
