"""How fast a judge may be asked: one limiter per provider and model, shared by all that the process runs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import lru_cache

from judgegraph.calls.limiter import Limiter, Place
from judgegraph.models.endpoint import refuse_below_one
from judgegraph.models.resolve import Judge
from judgegraph.models.secrets import bare

__all__ = ["Limiter", "Limits", "Place", "limiter_of"]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How fast a judge may be asked, by the whole process; None is no limit.

    Limits of requests and tokens hold for every window of 60 seconds, wherever it begins, from when they were set.

    Attributes:
        rpm: requests per minute at most, retries and failed ones included.
        tpm: tokens per minute at most, of prompts and replies together: estimated before a request is sent, set
            right by what its reply says. A request that alone is estimated above it is sent by itself.
        in_flight: requests sent and not yet answered at most.

    Raises:
        ConfigError: one is no whole number of 1 or more.
    """

    rpm: int | None = None
    tpm: int | None = None
    in_flight: int | None = None

    def __post_init__(self) -> None:
        refuse_below_one("limits", **asdict(self))


_limiters: dict[tuple[str, str], Limiter] = {}
_found: dict[tuple[str, str], Limiter] = {}  # the same by the address as it was given, so that none is parsed twice


def limiter_of(judge: Judge, limits: Limits | None = None) -> Limiter:
    """The one of this judge's provider and model.

    Limits take the place of what it had, as a whole, and stand until others are given.

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
    if limits is not None and limits is not limiter.given:
        limiter.change(limits.rpm, limits.tpm, limits.in_flight, limits)
    return limiter


@lru_cache(maxsize=1024)
def _own(rpm: int | None, tpm: int | None, in_flight: int | None) -> Limits:
    return Limits(rpm=rpm, tpm=tpm, in_flight=in_flight)
