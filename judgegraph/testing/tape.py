"""The file of a recording: a line for the judge, then a line per request with its reply or its error."""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judgegraph.errors import ConfigError, one_line
from judgegraph.testing.asked import Asked

FORMAT = 1


@dataclass(frozen=True)
class Entry:
    """One request as it was recorded.

    Attributes:
        turn: 0, 1, ... in the order in which equal requests were sent, whichever was answered first.
        reply: see `reply.py`; None where there is an error.
    """

    key: str
    turn: int
    asked: Asked
    reply: dict[str, Any] | None = None
    error: dict[str, Any] | None = None


@dataclass
class Tape:
    """Appends whole lines to a file that only its owner may read; safe for calls side by side.

    Attributes:
        fresh: it is begun anew; a file that is no recording stays as it is, and is refused.
    """

    path: Path
    fresh: bool = False
    _turns: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _opened: bool = False

    def turn(self, asked: Asked) -> int:
        """How many equal requests came before, in this file."""
        with self._lock:
            self._turns[asked.key] += 1
            return self._turns[asked.key] - 1

    def open(self, judge: Mapping[str, Any]) -> None:
        """Once, before the first request: the judge's line where the file has none.

        Raises:
            ConfigError: the file is another judge's, or no recording.
        """
        with self._lock:
            if self._opened:
                return
            there = self.path.exists() and self.path.stat().st_size > 0
            known, entries = read_tape(self.path) if there else ({}, [])
            if there and self.fresh:
                os.truncate(self.path, 0)
            if there and not self.fresh:
                if known != judge:
                    was, now = known.get("judge"), judge.get("judge")
                    raise ConfigError(
                        f"{one_line(self.path)} is a recording of {was}, asked now is {now}"
                        f"{' with other settings' if was == now else ''}; give each judge a file of its own"
                    )
                self._turns.update(entry.key for entry in entries)
                self._append("" if self.path.read_bytes().endswith(b"\n") else "\n")  # a line that was cut off
            else:
                self._append(json.dumps({"judgegraph_recording": FORMAT, **judge}) + "\n")
            self._opened = True

    def write(self, asked: Asked, turn: int, hide: Callable[[Any], Any] = lambda value: value, **outcome: Any) -> None:
        """One request. hide: takes keys out of what is shown of it."""
        shown = {"messages": list(asked.messages), "settings": asked.settings, **outcome}
        line = json.dumps({"key": asked.key, "turn": turn, **hide(shown)}, default=repr)
        with self._lock:
            self._append(line + "\n")

    def _append(self, text: str) -> None:
        number = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with open(number, "ab", buffering=0) as file:
            rest = memoryview(text.encode())
            while rest:
                rest = rest[file.write(rest) :]


def read_tape(path: Path) -> tuple[dict[str, Any], list[Entry]]:
    """The judge's line and the requests; a line that was cut off is passed over.

    Raises:
        ConfigError: there is no such file, or it is no recording.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise ConfigError(f"no recording {one_line(path)}: {error.strerror}") from None
    head, *rest = [*_rows(lines)] or [{}]
    if head.pop("judgegraph_recording", None) != FORMAT:
        raise ConfigError(f"{one_line(path)} is no recording of judgegraph.testing.recording, or of another version")
    return head, [entry for row in rest if (entry := _entry(row)) is not None]


def _rows(lines: list[bytes]) -> Iterator[dict[str, Any]]:
    for line in lines:
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            yield row


def _entry(row: dict[str, Any]) -> Entry | None:
    try:
        asked = Asked(tuple(row["messages"]), row["settings"])
        return Entry(row["key"], row["turn"], asked, row.get("reply"), row.get("error"))
    except (KeyError, TypeError):
        return None
