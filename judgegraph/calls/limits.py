"""How fast a judge may be asked: one limiter per provider and model, shared by all that the process runs."""

from __future__ import annotations

import os
import threading
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import lru_cache
from time import monotonic

from judgegraph.calls.limiter import Limiter, Place
from judgegraph.calls.outage import Patience
from judgegraph.models.endpoint import refuse_below_one, refuse_below_zero
from judgegraph.models.resolve import Judge
from judgegraph.models.secrets import bare

__all__ = ["Limiter", "Limits", "Place", "limiter_of", "patience_of"]

MOST_PROMPT = 400_000  # characters: most models' windows hold no more; a mistaken column often does


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How fast a judge may be asked, by the whole process, and for how much at once; None is no limit.

    Limits of requests and tokens hold for every window of 60 seconds, wherever it begins, from when they were set.

    Attributes:
        rpm: requests per minute at most, retries and failed ones included.
        tpm: tokens per minute at most, of prompts and replies together: estimated before a request is sent, set
            right by what its reply says. A request that alone is estimated above it is sent by itself.
        in_flight: requests sent and not yet answered at most.
        prompt: characters of one prompt at most, of all its messages together. A longer one is not sent: what it was
            for has the status "too_large". 400,000 characters are about 100,000 tokens of English.
        patience: seconds that an outage (no connection, HTTP 502, 503 and 504 without a Retry-After) is waited out,
            while nothing else is sent and samples' clocks stand; 0 takes it for a fault like any other. None is 600,
            and 10 for a server that never answered. An endpoint's own comes first.

    Raises:
        ConfigError: one is no whole number of 1 or more; patience is no number of 0 or more.
    """

    rpm: int | None = None
    tpm: int | None = None
    in_flight: int | None = None
    prompt: int | None = MOST_PROMPT
    patience: float | None = None

    def __post_init__(self) -> None:
        refuse_below_one("limits", rpm=self.rpm, tpm=self.tpm, in_flight=self.in_flight, prompt=self.prompt)
        refuse_below_zero("limits", patience=self.patience)


class _OfRun(Limits):
    """Those of one run, told from another run's by identity."""


_limiters: dict[tuple[str, str], Limiter] = {}
_found: dict[tuple[str, str], Limiter] = {}  # the same by the address as it was given, so that none is parsed twice
_open: set[int] = set()  # the limits of runs, while they are open
_lock = threading.RLock()  # around what limiters are told; not around what is asked of them at every call


def limiter_of(judge: Judge, limits: Limits | None = None) -> Limiter:
    """The one of this judge's provider and model.

    Limits of a run (`limits_of_run`) hold from its first call there to its end; of several open runs, and of other
    limits given since the first of them began there, the strictest hold. Limits of an endpoint, or given without a
    run, take the place of such others as a whole, and stand until the next are given.

    Args:
        limits: for a judge whose endpoint names none of its own; None leaves what is there.
    """
    endpoint = judge.endpoint
    address = endpoint.base_url or vars(judge.model).get("openai_api_base") or ""
    limiter = _found.get((address, judge.name))
    if limiter is None:
        limiter = _limiters.setdefault((bare(address).rstrip("/"), judge.name), Limiter())
        _found[address, judge.name] = limiter
    if endpoint.rpm is not None or endpoint.tpm is not None or endpoint.in_flight is not None:
        limits = _own(endpoint.rpm, endpoint.tpm, endpoint.in_flight)
    if limits is not None and limits is not limiter.given and id(limits) not in limiter.runs:
        _tell(limiter, limits)
    return limiter


def patience_of(judge: Judge, limits: Limits | None, since: float | None) -> Patience:
    """How long one of its calls waits out an outage; `since`: clock time of its run's beginning, None without one."""
    seconds = judge.endpoint.patience
    if seconds is None and limits is not None:
        seconds = limits.patience
    return Patience(judge.name, seconds, monotonic() if since is None else since)


def outages() -> dict[str, tuple[str, float]]:
    """Judge and address -> what is missing and for how many seconds, of the servers whose return is waited for."""
    found = {key: limiter.outage() for key, limiter in list(_limiters.items())}
    return {f"{name} at {where}" if where else name: out for (where, name), out in found.items() if out is not None}


@contextmanager
def limits_of_run(limits: Limits | None) -> Generator[Limits | None]:
    """A run is open: what to give `limiter_of` for its calls, until it ends."""
    if limits is None:
        yield None
        return
    own = _OfRun(**asdict(limits))
    _open.add(id(own))
    try:
        yield own
    finally:
        with _lock:
            _open.discard(id(own))
            for limiter in list(_limiters.values()):
                if limiter.runs.pop(id(own), None) is not None:
                    _change(limiter)


def _tell(limiter: Limiter, limits: Limits) -> None:
    with _lock:
        if not isinstance(limits, _OfRun):
            limiter.given = limits
        elif id(limits) in _open:  # else a call that outlives its run
            if not limiter.runs:
                limiter.given = None
            limiter.runs[id(limits)] = limits
        _change(limiter)


def _change(limiter: Limiter) -> None:
    hold = [limits for limits in (limiter.given, *limiter.runs.values()) if isinstance(limits, Limits)]
    limiter.change(
        _least(limits.rpm for limits in hold),
        _least(limits.tpm for limits in hold),
        _least(limits.in_flight for limits in hold),
    )


def _least(numbers: Iterable[int | None]) -> int | None:
    return min((number for number in numbers if number is not None), default=None)


def held_back() -> float:
    """Seconds for which a server that this process asks wants to be left alone; the longest of several, 0 for none."""
    return max((limiter.pausing() for limiter in list(_limiters.values())), default=0.0)


def _after_fork() -> None:
    """A forked child has nothing in flight, no open run, and maybe locks that nobody will release."""
    global _lock
    _lock = threading.RLock()
    _open.clear()
    for limiter in _limiters.values():
        limiter.after_fork()
        if limiter.runs:
            limiter.runs.clear()
            _change(limiter)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@lru_cache(maxsize=1024)
def _own(rpm: int | None, tpm: int | None, in_flight: int | None) -> Limits:
    return Limits(rpm=rpm, tpm=tpm, in_flight=in_flight)
