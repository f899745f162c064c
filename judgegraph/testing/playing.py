"""A judge that answers from a recording, by what it is asked; it asks nobody."""

from __future__ import annotations

import threading
from collections import Counter
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult
from pydantic import PrivateAttr

from judgegraph.calls import Endpoint, name_of
from judgegraph.errors import one_line
from judgegraph.testing.asked import Asked
from judgegraph.testing.nearest import difference
from judgegraph.testing.reply import error_in, result_in
from judgegraph.testing.tape import Entry, read_tape
from judgegraph.testing.taped import FORM, Taped

__all__ = ["NotRecorded", "Playing", "playing"]


class NotRecorded(AssertionError):
    """The recording has no such request, or not so many of it."""


class Playing(Taped):
    """Gives the replies of a recording; see `playing`.

    Attributes:
        recording_id: digest of the file's requests and replies; so a ledger never meets those of another file.
        speaks_openai: as the recorded judge does.
    """

    recording_id: str
    strict: bool = True
    speaks_openai: bool = True
    _path: Path = PrivateAttr()
    _settings_of_judge: dict[str, Any] = PrivateAttr()
    _entries: dict[str, list[Entry]] = PrivateAttr()  # by key, each in the order of turns
    _played: Counter[str] = PrivateAttr(default_factory=Counter)
    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)

    @property
    def _llm_type(self) -> str:
        return "judgegraph-playing"

    @property
    def judgegraph_endpoint(self) -> Endpoint:
        """The recorded judge's settings."""
        return Endpoint(model=name_of(self), **self._settings_of_judge)

    @property
    def unplayed(self) -> int:
        """Recorded requests that nobody has asked yet."""
        recorded = Counter({key: len(entries) for key, entries in self._entries.items()})
        return (recorded - self._played).total()

    def with_structured_output(self, schema: Any, *, include_raw: bool = False, **kwargs: Any) -> Any:
        """As the recorded judge, which may have had no such thing."""
        if not self.speaks_openai and not any(FORM in asked.settings for asked in self._recorded()):
            raise NotImplementedError("the recorded judge was asked for no form")
        return super().with_structured_output(schema, include_raw=include_raw, **kwargs)

    async def _agenerate(
        self, messages: list[BaseMessage], stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None, **kwargs: Any,
    ) -> ChatResult:  # fmt: skip
        entry = self._next(Asked.of(messages, self._settings(kwargs, stop)))
        if entry.error is not None:
            raise error_in(entry.error)
        return result_in(entry.reply or {"choices": [], "output": {}})

    def _next(self, asked: Asked) -> Entry:
        found = self._entries.get(asked.key, [])
        if not found and not self.strict:
            found = [e for e in chain(*self._entries.values()) if e.asked.messages == asked.messages]
        with self._lock:
            turn = self._played[asked.key]
            self._played[asked.key] += 1
        if not found:
            raise NotRecorded(f"{one_line(self._path)}: {difference(asked, self._recorded())}")
        if turn >= len(found) and self.strict:
            times = "once" if len(found) == 1 else f"{len(found)} times"
            raise NotRecorded(
                f"{one_line(self._path)}: a request that was recorded {times} is asked once more: {_shown(asked)}"
            )
        return found[min(turn, len(found) - 1)]

    def _recorded(self) -> list[Asked]:
        return [entries[0].asked for entries in self._entries.values()]


def playing(path: str | Path, strict: bool = True) -> Playing:
    """A judge that answers from a file that `recording` wrote: replies, log-probabilities and errors as they came.

    A request is known by its messages and settings. Equal ones are answered in the order in which they were sent.

    Args:
        strict: a request that is not there, or was recorded less often, raises NotRecorded (an AssertionError), which
            says what differs from the nearest recorded one. False takes a request with the same messages and other
            settings too, and gives the last of equal replies again and again.

    Raises:
        ConfigError: there is no such file, or it is no recording.
    """
    about, entries = read_tape(Path(path))
    said = sorted(f"{e.key}/{e.turn}/{e.reply or e.error}" for e in entries)
    digest = blake2b("\n".join(said).encode("utf-8", "replace"), digest_size=8).hexdigest()
    known = Playing(
        model_name=about["judge"], judge_id=about["judge_id"], recording_id=digest, strict=strict,
        speaks_openai=about["speaks_openai"],
    )  # fmt: skip
    known._path, known._settings_of_judge = Path(path), about["settings"]
    known._entries = {}
    for entry in sorted(entries, key=lambda entry: entry.turn):
        known._entries.setdefault(entry.key, []).append(entry)
    return known


def _shown(asked: Asked) -> str:
    return one_line(asked.messages[-1]["content"] if asked.messages else "", 120)
