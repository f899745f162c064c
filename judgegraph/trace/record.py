"""Recording: spans are begun and ended where things are done; without a recorder that costs one look at a variable."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from contextlib import suppress
from contextvars import ContextVar, Token
from hashlib import blake2b
from types import TracebackType
from typing import Any, get_args

from judgegraph.trace.span import Kind, compact
from judgegraph.types import Score, Status

LARGE = 1e18
STATUSES = frozenset(get_args(Status))
FAILURES = STATUSES - {"ok", "abstained", "skipped"}
ENDED = {  # what a call's span says of a reply that came to nothing: a reply's own words are no part of a span
    "refused": "the model refused", "filtered": "the provider's content filter stopped the reply",
    "truncated": "the reply was cut off at its token limit", "unreadable": "the reply could not be read",
    "provider_error": "the provider stopped the reply with an error",
}  # fmt: skip
_MANY, _NUMBER = (dict, list, tuple), (bool, int, float)
MOST = 64  # entries of one key that are named; of more only their number is kept

STATED = frozenset(  # keys of what has a status of its own; "failure" is of a run in a panel that raised
    ("scores", "rectifications", "findings", "comparisons", "corrections", "notes", "plan", "failure")
)
NAMED = frozenset(  # of other keys, such as "notes" or one of yours, an entry's key may be a text
    ("scores", "rectifications", "findings", "comparisons", "corrections", "branches", "aspects")
)


class Recorder:
    """The spans of one journey, as they come; one for each sample that is judged.

    A span is a list, as it will be written: [id, parent, kind, name, start, ms, status, about].
    """

    __slots__ = ("_bare", "_lock", "_zero", "copies", "sample", "spans", "started")

    def __init__(
        self, sample: str, name: str, *, bare: bool = False, copies: dict[int, tuple[Any, Any]] | None = None
    ) -> None:
        self.sample, self.started, self._zero = sample, time.time(), time.perf_counter()
        self._bare = bare  # no message of an error, and no name that a model may have written
        self.copies = copies if copies is not None else {}  # of graphs, as `trace.watched` makes them: one for a run
        self._lock = threading.Lock()  # a plain function runs in a thread, and may ask from there
        self.spans: list[list[Any]] = [[0, None, "graph", name, 0.0, 0.0, "ok", {}]]

    def begin(self, kind: Kind, name: str, about: dict[str, Any], parent: int | None = None) -> list[Any]:
        """A span that begins now, within the one that this task is in unless another is named."""
        around = within.get() if parent is None else parent
        with self._lock:
            start = int((time.perf_counter() - self._zero) * 1e6) / 1000
            span = [len(self.spans), around, kind, name, start, -1.0, "ok", about]
            self.spans.append(span)
        return span

    def end(self, span: list[Any], status: str = "ok") -> None:
        """It ends now."""
        span[5] = int((time.perf_counter() - self._zero - span[4] / 1000) * 1e6) / 1000
        span[6] = status

    def line(self, status: str, *, kept: bool = True, item_ms: float | None = None) -> bytes:
        """The journey ends: as one line of JSON. What is still open was cut off with it.

        Args:
            item_ms: of the item that came of it, by which the two are known to belong together.
        """
        if item_ms is not None:
            self.spans[0][7]["item_ms"] = item_ms
        for span in reversed(self.spans[1:]):  # what was done for another ends before it
            if span[5] < 0:
                self.end(span, status if status != "ok" else "skipped")
        self.end(self.spans[0], status)
        for span in self.spans if self._bare else ():
            _strip(span[7])
        told = {"id": self.sample, "t": round(self.started, 6), "spans": self.spans}
        if not kept:
            told["kept"] = False
        try:
            return compact(told) + b"\n"
        except Exception:  # of something foreign that stands in a span: no run ends for that
            return compact({**told, "spans": [[*span[:7], {}] for span in self.spans]}) + b"\n"


def _strip(about: dict[str, Any]) -> None:
    about.pop("error", None)
    if isinstance(writes := about.get("writes"), dict):
        named = {key: entry for key, entry in writes.items() if isinstance(entry, list)}
        told = writes | {key: [pseudonym(name) for name in entry] for key, entry in named.items()}
        about["writes"] = {key if key.isidentifier() else pseudonym(key): entry for key, entry in told.items()}


def pseudonym(key: str) -> str:
    """Of an entry's key where no text is kept: it is found again by who has the key."""
    return f"#{blake2b(key.encode('utf-8', 'replace'), digest_size=6).hexdigest()}"


recorder: ContextVar[Recorder | None] = ContextVar("judgegraph_recorder", default=None)
within: ContextVar[int] = ContextVar("judgegraph_within", default=0)
tracer: ContextVar[Any] = ContextVar("judgegraph_tracer", default=None)  # a `traces.record.Tracer`; None in a run
traced: ContextVar[tuple[Recorder, int] | None] = ContextVar("judgegraph_traced", default=None)  # its `within`


def recording() -> bool:
    """Whether anybody records what is done here: a run, or who traces plain graphs."""
    return recorder.get() is not None or _here() is not None


def _here() -> tuple[Recorder, int] | None:
    """The journey and the span that this is within, by who traces plain graphs."""
    found = tracer.get()
    here: tuple[Recorder, int] | None = found.here() if found is not None else None
    return here


class span:
    """What is done within is a span, if anybody records: `with span("tool", name) as about:`, which is to be filled.

    A class, since a generator that does the same would cost more, at every call of a model.
    """

    __slots__ = ("_about", "_at", "_begun", "_kind", "_name", "_token", "_variable")

    def __init__(self, kind: Kind, name: str, about: dict[str, Any] | None = None) -> None:
        self._kind, self._name = kind, name
        self._about: dict[str, Any] = about if about is not None else {}

    def __enter__(self) -> dict[str, Any]:
        self._at = at = recorder.get()
        self._variable: ContextVar[Any] = within
        if at is not None:
            self._begun = at.begin(self._kind, self._name, self._about)
            self._token: Token[Any] = within.set(self._begun[0])
        elif (here := _here()) is not None:
            self._at, self._variable = here[0], traced
            self._begun = here[0].begin(self._kind, self._name, self._about, here[1])
            self._token = traced.set((here[0], self._begun[0]))
        return self._about

    @property
    def row(self) -> list[Any] | None:
        """The span as it will be written; None where nobody records."""
        return self._begun if self._at is not None else None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._at is None:
            return
        about = self._about
        self._at.end(self._begun, str(about.pop("status", "ok")) if error is None else failed(about, error))
        self._variable.reset(self._token)


class ReplyStatus:
    """What becomes of one of a call's choices after its span has ended: where none of them can be read, it failed."""

    __slots__ = ("_ended", "_of", "_row")

    def __init__(self, row: list[Any], of: int) -> None:
        self._row, self._of, self._ended = row, of, False

    def end(self, status: str) -> None:
        """It came to nothing; of several statuses of one choice, such as of its answers, the first counts."""
        if self._ended or status not in FAILURES:
            return
        self._ended, about = True, self._row[7]
        counts = about.setdefault("failed", {})
        counts[status] = counts.get(status, 0) + 1
        if sum(counts.values()) >= self._of:
            self._row[6] = max(counts, key=counts.__getitem__)
            about["error"] = ENDED.get(self._row[6], self._row[6])


def failed(about: dict[str, Any], error: BaseException) -> str:
    """The status of what raised; why it did goes to its `about`, in one short line."""
    if isinstance(error, asyncio.CancelledError):
        about["error"] = "it was cut off"
        return "timeout"
    status, why = None, type(error).__name__
    with suppress(Exception):  # an error's text and its attributes may be code too
        why = f"{why}: {error}".removesuffix(": ")
        status = getattr(error, "status", None)
    about["error"] = " ".join(why[:400].split())[:200]
    return status if isinstance(status, str) and status in STATUSES else "agent_error"


def status_of(update: Any, before: Any, about: dict[str, Any]) -> str:
    """The status of a node, by what it wrote; how many failed, by key and status, goes to its `about`.

    Anything that failed is a failure of the node: the commonest status, of equally many the first. What it was handed
    and hands on is not its doing, nor is a vote or draft beside its criterion's final score; notes count where nothing
    else was written. Where nothing is "ok" it abstained, or skipped all.
    """
    try:
        parts = [part for part in _parts(update) if part[0] != "notes"] or list(_parts(update))
        lost = [(key, one) for key, one in parts if one.status in FAILURES]
        if lost:
            handed, answered = set(_handed(before)), {_answered(one) for _, one in parts if one.status == "ok"} - {None}
            lost = [(key, one) for key, one in lost if id(one) not in handed and not _spare(one, answered)]
    except Exception:  # as in `sizes`
        return "ok"
    found: Counter[str] = Counter()
    for key, one in lost:
        counts = about.setdefault("failed", {}).setdefault(key, {})
        counts[one.status] = counts.get(one.status, 0) + 1
        found[one.status] += 1
    if found:
        return found.most_common(1)[0][0]
    statuses = {one.status for _, one in parts} - FAILURES
    return next((status for status in ("ok", "abstained", "skipped") if status in statuses), "ok")


def _parts(update: Any) -> Iterator[tuple[str, Any]]:
    """(key of the state, what stands there) of everything written that has a status."""
    for key, value in updates(update):
        if key in STATED:
            for one in value.values() if isinstance(value, dict) else (value,):
                if getattr(one, "status", None) in STATUSES:
                    yield key, one


def _handed(value: Any, depth: int = 5) -> Iterator[int]:
    """The ids of all that stands in a state, also of what runs of a panel left for their join."""
    for one in value.values() if isinstance(value, Mapping) else ():
        yield id(one)
        if depth:
            yield from _handed(one, depth - 1)


def _answered(one: Any) -> Any:
    """Of a final score what it is of; None of anything else."""
    return (one.criterion, one.of) if isinstance(one, Score) and one.stage == "final" else None


def _spare(one: Any, answered: Container[Any]) -> bool:
    """Whether it is a vote or a draft of what has a final score, or of a panel's member, whose node it failed."""
    if not isinstance(one, Score):
        return False
    return bool(one.member) or (one.stage != "final" and (one.criterion, one.of) in answered)


def updates(update: Any) -> Iterator[tuple[str, Any]]:
    """(key, value) of all that a node returned for the state: a mapping, an object with fields, a command, several."""
    if type(update) is dict or isinstance(update, Mapping):
        yield from update.items()
    elif isinstance(update, list | tuple):
        for one in update:
            yield from updates(one)
    elif hasattr(update, "_update_as_tuples"):  # a command
        yield from update._update_as_tuples() if update.graph is None else ()
    elif update is not None and getattr(type(update), "__annotations__", None):
        yield from ((key, getattr(update, key)) for key in type(update).__annotations__ if hasattr(update, key))


def sizes(state: Any) -> dict[str, int | None]:
    """Key of a state -> how many entries stand there, None where it holds one value."""
    if not isinstance(state, Mapping):
        return {}
    try:
        return {str(key): len(value) if isinstance(value, _MANY) else None for key, value in state.items()}
    except Exception:  # a value may be code too
        return {}


def written(update: Any, keys: Container[str] | None = None) -> dict[str, Any]:
    """Key that a node wrote -> its entries' keys where these are names, else how many, else the number; no text.

    Args:
        keys: those that are told, None for all: another may be a text that a model wrote.
    """
    try:
        if not isinstance(update, Mapping):  # a command
            given = getattr(update, "update", None)
            update = dict(given) if isinstance(given, list | tuple) else given
        told = update.items() if isinstance(update, Mapping) else ()
        return {str(key): _entry(key, value) for key, value in told if keys is None or key in keys}
    except Exception:  # as in `sizes`
        return {}


def _entry(key: str, value: Any) -> Any:
    if key in NAMED and isinstance(value, dict) and len(value) <= MOST:
        return [str(key) for key in value]
    if isinstance(value, _MANY):
        return len(value)
    return value if isinstance(value, _NUMBER) and abs(value) < LARGE else None  # nan is not either


def node_at_work() -> str:
    """The node that is running, subgraphs before it: "weigh/judge"; "" outside of a graph."""
    from langchain_core.runnables.config import var_child_runnable_config

    config = var_child_runnable_config.get() or {}
    place = str((config.get("metadata") or {}).get("langgraph_checkpoint_ns") or "")
    return "/".join(step.partition(":")[0] for step in place.split("|"))
