"""A graph over a dataset: every sample is a work unit of its own, and none can end the run."""

from __future__ import annotations

import asyncio
import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from judgegraph import __version__
from judgegraph.errors import ConfigError
from judgegraph.models.context import CallContext, context
from judgegraph.runtime.bridge import run_sync
from judgegraph.runtime.folder import MANIFEST, REJECTED, Folder
from judgegraph.runtime.item import Item, failed_item, item_of
from judgegraph.runtime.run import Run
from judgegraph.runtime.signature import details, signature
from judgegraph.types import Sample

OnItem = Callable[[Item], None]


def evaluate(graph: Any, samples: Iterable[Sample], **settings: Any) -> Run:
    """Run a compiled graph over samples and wait for it; arguments and errors as `aevaluate`.

    Works inside a running event loop too, such as a notebook's.
    """
    return run_sync(aevaluate(graph, samples, **settings))


async def aevaluate(
    graph: Any, samples: Iterable[Sample], *, out: str | os.PathLike[str] | None = None,
    concurrency: int = 64, timeout: float = 600.0, on_item: OnItem | None = None,
) -> Run:  # fmt: skip
    """Run a compiled graph over samples.

    Args:
        graph: a compiled LangGraph that reads "sample", such as `sageval()`.
        samples: any iterable; it is read as samples are taken up, never all at once.
        out: folder for items.jsonl and manifest.json; None keeps the items in memory.
        concurrency: samples, and model calls, in flight at once, 1 or more.
        timeout: seconds for one sample, all its calls and retries included.
        on_item: called with every finished item, in the order of finishing.

    Returns:
        The run. A sample whose graph failed has an item with a status and the reason.

    Raises:
        ConfigError: the call is wrong, or a judge cannot be made or refuses the key (AuthError); items
            that were finished by then are in the folder.
    """
    if concurrency < 1:
        raise ConfigError(f"concurrency is 1 or more, got {concurrency}")
    folder = Folder(out) if out is not None else None
    work = _Work(graph, timeout, iter(samples), folder, on_item)
    if folder:
        folder.open()
        folder.write(MANIFEST, work.manifest("running"))
    token = context.set(work.calls)
    work.calls.slots = asyncio.Semaphore(concurrency)
    state = "stopped"
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(concurrency):
                group.create_task(work.take())
        state = "finished"
    except ExceptionGroup as group_error:
        known = group_error.subgroup(ConfigError)
        raise (known.exceptions[0] if known else group_error) from None
    finally:
        context.reset(token)
        if folder:
            folder.close()
            folder.write(REJECTED, [r.model_dump() for r in getattr(samples, "rejected", ())])
            folder.write(MANIFEST, work.manifest(state))
    return Run(work.manifest(state), work.items, folder)


@dataclass
class _Work:
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
            self.done += 1
            self.failed += item.status != "ok"
            if self.folder:
                self.folder.add(item)
            else:
                self.items.append(item)
            if self.on_item:
                self.on_item(item)
            await asyncio.sleep(0)  # a judge that never waits must not keep the others from their turn

    async def _judge(self, sample: Sample) -> Item:
        start = time.perf_counter()

        def ms() -> float:
            return round((time.perf_counter() - start) * 1000, 3)

        try:
            async with asyncio.timeout(self.timeout):
                state = await self.graph.ainvoke({"sample": sample})
            return item_of(sample, state, ms())
        except ConfigError:
            raise
        except TimeoutError as error:
            return failed_item(sample, "timeout", error, ms())
        except Exception as error:
            return failed_item(sample, "agent_error", error, ms())

    def manifest(self, state: str) -> dict[str, Any]:
        """All that the results depend on, and what they cost."""
        about = details(self.graph)
        packages = ("langgraph", "langchain-core", "langchain-openai", "pydantic")
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
            },
            "started": self.started,
            "ended": _now() if state != "running" else None,
            "versions": {"python": platform.python_version(), **{p: version(p) for p in packages}},
        }  # fmt: skip


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
