"""What was sent in the last minute: a log that is exact for every window of 60 seconds, wherever it begins."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

WINDOW = 60.0  # seconds


@dataclass(slots=True, eq=False)
class Entry:
    """A request that was sent, with its tokens: estimated, then what the reply says."""

    at: float
    tokens: int
    past: bool = False


class Minute:
    """Requests and tokens of the last 60 seconds."""

    __slots__ = ("_log", "_tokens")

    def __init__(self) -> None:
        self._log: deque[Entry] = deque()
        self._tokens = 0

    def wait(self, now: float, tokens: int, rpm: int | None, tpm: int | None) -> float:
        """Seconds until one more request may be possible, 0 if it is now; look again then.

        A request that alone is above `tpm` is possible when no other's tokens are left.
        """
        self._forget(now)
        if rpm is not None and len(self._log) >= rpm:
            return _left(self._log[len(self._log) - rpm], now)
        if tpm is not None and self._tokens and self._tokens + tokens > tpm:
            return _left(self._log[0], now)
        return 0.0

    def add(self, now: float, tokens: int) -> Entry:
        entry = Entry(now, tokens)
        self._log.append(entry)
        self._tokens += tokens
        return entry

    def settle(self, entry: Entry, tokens: int) -> None:
        """Its tokens were more or fewer than estimated."""
        if not entry.past:
            self._tokens += tokens - entry.tokens
            entry.tokens = tokens

    def _forget(self, now: float) -> None:
        while self._log and _left(self._log[0], now) <= 0:
            entry = self._log.popleft()
            entry.past = True
            self._tokens -= entry.tokens


def _left(entry: Entry, now: float) -> float:
    return WINDOW - (now - entry.at)
