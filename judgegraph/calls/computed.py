"""What models on this machine gave, kept in the run's ledger beside what was paid for."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from hashlib import blake2b
from typing import Any

from judgegraph.calls.context import context
from judgegraph.calls.types import Choice, packed, unpacked

VERSION = 1  # of how an address is made


async def computed(what: Mapping[str, Any], compute: Callable[[], Awaitable[Any]]) -> Any:
    """A value by all that it depends on: from the run's ledger, else computed and kept there; without a run computed.

    Args:
        what: model, its revision, settings and texts, as JSON values; any difference is another value.
        compute: gives a JSON value.

    Raises:
        whatever `compute` raises; LedgerError: it could not be kept.
    """
    run = context.get()
    if run is None or run.ledger is None:
        return await compute()

    async def body() -> bytes:
        return packed([Choice(json.dumps(await compute()))])

    key = json.dumps(["computed", VERSION, what], sort_keys=True, ensure_ascii=True)
    address = blake2b(key.encode(), digest_size=16).digest()
    return json.loads(unpacked(await run.ledger.computed(address, body))[0].text)
