"""How fast a judge may be asked: one limiter per provider and model, shared by all that the process runs."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from judgegraph.models.resolve import Judge


@dataclass
class Place:
    """A request that was let through.

    Attributes:
        used: tokens its reply says it took; None until known, and the estimate stands.
    """

    used: int | None = None


class Limiter:
    """Requests and tokens per minute, and requests in flight, of one provider and model."""

    @asynccontextmanager
    async def place(self, tokens: int) -> AsyncGenerator[Place]:
        """Wait until a request of about so many tokens may be sent; leaving the block ends its being in flight."""
        yield Place()

    def throttled(self, wait: float | None) -> None:
        """The server said 429 (or 503 with a time): send less at once, and nothing for `wait` seconds."""


_limiters: dict[tuple[str, str], Limiter] = {}


def limiter_of(judge: Judge) -> Limiter:
    """The one of this judge's provider and model."""
    return _limiters.setdefault((judge.endpoint.address, judge.name), Limiter())
