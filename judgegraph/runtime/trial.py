"""A graph run once with invented replies, round by round: what is asked at one moment is answered at one moment."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from judgegraph.calls.address import address_of
from judgegraph.calls.budget import Purse
from judgegraph.calls.context import CallContext, Doubted, context
from judgegraph.calls.exchange import Call, Choice
from judgegraph.calls.features import as_sent
from judgegraph.calls.invented import Manner
from judgegraph.calls.node_bill import node_at_work
from judgegraph.errors import ConfigError, one_line
from judgegraph.models.prices import Price, Prices
from judgegraph.models.resolve import Judge, trying
from judgegraph.prompts.template import Prompt, watched
from judgegraph.runtime.in_threads import InThreads
from judgegraph.runtime.one_go import in_one_go
from judgegraph.runtime.stand_in import invented

READABLE = (  # the ends of what readable replies make a graph ask, and one between: some criteria are in doubt
    Manner("content", "high", most=True, alike=False, doubts=False),
    Manner("doubtful", "low", most=True, alike=False, tools="once", doubts=True),
    Manner("partly", "low", most=True, alike=False, tools="once", doubts="first"),
)
IDLE = (40, 0.006)  # turns of the event loop, and seconds, in which nothing more was asked
GUESS = Price(1.0, 4.0)  # USD per million tokens, where an assistant has a budget in USD and a judge no known price
PATIENCE, MOST = 30.0, 500  # seconds, and rounds, after which a graph is taken to have no end


@dataclass
class Trial:
    """What one run asked.

    Attributes:
        asked: address -> the node that asked. rounds: of questions, each waiting for the answers of the one before.
        texts: (node, prompt, field) -> what was filled in. failed: why it did not come to its end, "" if it did.
        doubtful: what was asked hangs on a condition, or on a budget of a part. threads: at work for it.
    """

    manner: Manner
    asked: dict[bytes, str] = field(default_factory=dict)
    texts: dict[tuple[str, str, str], set[str]] = field(default_factory=dict)
    rounds: int = 0
    failed: str = ""
    doubtful: bool = False
    threads: InThreads = field(default_factory=InThreads)
    _waiting: list[asyncio.Future[None]] = field(default_factory=list)

    async def answer(self, judge: Judge, call: Call) -> list[Choice]:
        """In place of a judge, when the round is over."""
        address = address_of(judge, call)
        self.asked.setdefault(address, node_at_work())
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(mine)
        await mine
        return invented(self.manner, as_sent(judge, call), address, last=True)

    def doubted(self) -> Doubted:
        """What conditions find."""
        self.doubtful = True
        return self.manner.doubts

    def rendered(self, prompt: Prompt, texts: Mapping[str, str]) -> None:
        """A template was filled in."""
        node = node_at_work()
        for name, text in texts.items():
            self.texts.setdefault((node, prompt.name, name), set()).add(text)

    async def conduct(self, work: asyncio.Task[Any]) -> None:
        """Answer round by round until the work is done."""
        end = time.monotonic() + PATIENCE
        while not work.done():
            await self._idle(work)
            if time.monotonic() > end or self.rounds > MOST:
                self.failed = f"no end was found within {MOST} rounds or {PATIENCE:g} s"
                work.cancel()
                return
            if self._waiting:
                self.rounds += 1
                while self._waiting:
                    _tell(self._waiting.pop(0))

    async def _idle(self, work: asyncio.Task[Any]) -> None:
        """Until nothing more has been asked for a while, and no thread is at work that may ask."""
        turns, seconds = IDLE
        count, since, turn = len(self._waiting), time.monotonic(), 0
        while not work.done() and (turn < turns or time.monotonic() - since < seconds or self._waits_for_threads()):
            await asyncio.sleep(0 if turn < turns else 0.001)
            turn += 1
            if len(self._waiting) != count:
                count, since, turn = len(self._waiting), time.monotonic(), 0

    def _waits_for_threads(self) -> bool:
        return bool(self._waiting) and self.threads.at_work()


def _tell(asked: asyncio.Future[None]) -> None:
    """That its round is over; a plain function's thread may ask from a loop of its own, which may be gone."""

    def tell() -> None:
        if not asked.done():
            asked.set_result(None)

    with suppress(RuntimeError):
        asked.get_loop().call_soon_threadsafe(tell)


async def tried(
    graph: Any, state: Mapping[str, Any], manner: Manner, threads: InThreads | None = None
) -> Trial:  # fmt: skip
    """Run a graph once with replies of one manner, without its checkpointer.

    Args:
        threads: what is known of the graph's threads by other trials of it.

    Raises:
        ConfigError: a judge cannot be made.
    """
    trial = Trial(manner, threads=threads or InThreads())
    here = CallContext(purse=Purse(prices=_prices()), stand_in=trial.answer, kept=_nothing, doubted=trial.doubted)
    tokens = context.set(here), trying.set({}), watched.set(trial.rendered)
    try:
        with trial.threads.counted():
            work = asyncio.ensure_future(in_one_go(graph).ainvoke(dict(state)))
            await trial.conduct(work)
            with suppress(asyncio.CancelledError):
                await work
    except ConfigError:
        raise
    except Exception as error:
        trial.failed = one_line(f"{type(error).__name__}: {error}")
    finally:
        context.reset(tokens[0])
        trying.reset(tokens[1])
        watched.reset(tokens[2])
    return trial


class Guessed(Prices):
    """A price for every judge: a count is no run, and need not know what a user's price file will say."""

    def price_of(self, judge: Judge) -> Price:
        return super().price_of(judge) or GUESS


def _prices() -> Prices:
    known = Prices.load()
    return Guessed(known.own, known.built_in, known.as_of)


def _nothing(_address: bytes) -> None:
    """What the ledger holds."""
