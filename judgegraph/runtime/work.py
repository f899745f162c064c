"""The work of one run: samples taken up one by one, each to its own end, and the manifest that says so."""

from __future__ import annotations

import asyncio
import platform
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from judgegraph import __version__
from judgegraph.calls.context import CallContext
from judgegraph.errors import ConfigError, DataError, one_line
from judgegraph.runtime.folder import Folder
from judgegraph.runtime.item import Item, failed_item, item_of
from judgegraph.runtime.samples import Samples, SeenIds
from judgegraph.runtime.signature import details, signature
from judgegraph.types import Sample

OnItem = Callable[[Item], None]
PACKAGES = ("langgraph", "langchain-core", "langchain-openai", "pydantic")


def checked(samples: Iterable[Sample]) -> Generator[Sample]:
    """The samples, if that is what they are.

    Raises:
        DataError: something else stands among them, or an id comes twice; a file's ids were checked as it was read.
    """
    seen = SeenIds()
    for number, sample in enumerate(samples, 1):
        if not isinstance(sample, Sample):
            raise DataError(
                f"samples hold a {type(sample).__name__} where a Sample should be; a data file is read by "
                "judgegraph.load(PATH), one sample is made by Sample(id=..., output=...)"
            )
        if not isinstance(samples, Samples) and (first := seen.first(sample.id, number)) != number:
            raise DataError(
                f"samples {first} and {number} have the same id '{one_line(sample.id, 80)}'; give each its own"
            )
        yield sample


@dataclass
class Work:
    """What the workers of one run share."""

    graph: Any
    timeout: float
    samples: Iterator[Sample]
    folder: Folder | None
    on_item: OnItem | None
    calls: CallContext = field(default_factory=CallContext)
    items: list[Item] = field(default_factory=list)
    started: str = field(default_factory=lambda: _now())
    done: int = 0
    failed: int = 0

    async def take(self) -> None:
        """One worker: the next sample, until there is none."""
        for sample in self.samples:
            item = await self._judge(sample)
            if self.folder:
                self.folder.add(item)
            else:
                self.items.append(item)
            self.done += 1
            self.failed += item.status != "ok"
            if self.on_item:
                self.on_item(item)
            await asyncio.sleep(0)  # a judge that never waits must not keep the others from their turn

    async def _judge(self, sample: Sample) -> Item:
        start = time.perf_counter()

        def ms() -> float:
            return round((time.perf_counter() - start) * 1000, 3)

        limit = asyncio.timeout(self.timeout)
        try:
            async with limit:
                state = await self.graph.ainvoke({"sample": sample})
            return item_of(sample, state, ms())
        except ConfigError:
            raise
        except TimeoutError as error:
            reason = f"no result within {self.timeout:g} s" if limit.expired() else error
            return failed_item(sample, "timeout", reason, ms())
        except Exception as error:
            return failed_item(sample, "agent_error", error, ms())

    def manifest(self, state: str) -> dict[str, Any]:
        """All that the results depend on, and what they cost."""
        about = details(self.graph)
        return {
            "judgegraph": __version__,
            "state": state,
            "signature": signature(self.graph),
            "method": self.graph.get_name(),
            "nodes": about["nodes"],
            "criteria": [c.model_dump(mode="json", exclude_defaults=True) for c in about["criteria"]],
            "samples": {"done": self.done, "failed": self.failed},
            "calls": {
                "requests": self.calls.requests, "replies": self.calls.replies,
                "prompt_tokens": self.calls.prompt_tokens, "completion_tokens": self.calls.completion_tokens,
                "by_judge": dict(self.calls.models),
                "ledger": vars(self.calls.ledger.counts).copy() if self.calls.ledger else {},
            },
            "started": self.started,
            "ended": _now() if state != "running" else None,
            "versions": {"python": platform.python_version(), **{p: version(p) for p in PACKAGES}},
        }  # fmt: skip


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
