"""A graph run without its judges: which calls it makes for a sample, with replies of every manner."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from judgegraph.calls.estimate import TokenCounter, counter_for
from judgegraph.calls.exchange import Call
from judgegraph.calls.kept import Kept
from judgegraph.calls.ledger import Paid
from judgegraph.calls.limits import Limits
from judgegraph.errors import ConfigError, one_line
from judgegraph.models.prices import Prices
from judgegraph.models.resolve import Judge
from judgegraph.runtime.item import node_of
from judgegraph.runtime.mishaps import Mishap, Mishaps
from judgegraph.runtime.one_go import WAITS, check_stops, in_one_go, waits
from judgegraph.runtime.own_code import own_code
from judgegraph.runtime.plan_count import Run
from judgegraph.runtime.play import Endless, Play, standing_in
from judgegraph.runtime.stand_in import MANNERS
from judgegraph.types import Sample

PATIENCE = 60.0  # seconds for one sample with replies of one manner
ALL = (1 << len(MANNERS)) - 1


@dataclass
class Rehearsal:
    """Runs a graph for a sample without sending anything; replies that a ledger holds are given as they are.

    Attributes:
        graph: a checkpointer of its own is left aside. kept: what the ledger holds.
        completion: node -> tokens of one choice, as measured; of others they are assumed.
        counters: judge's name -> how its tokens are counted. unpriced: names of judges whose price is not known.
        stuck: runs of the graph that did not end in `PATIENCE` seconds, or asked on and on.
        own: where code of the caller's own may decide what is asked.
        invented: some replies were. again: `known` met calls that asked once more.
    """

    graph: Any
    kept: Kept
    prices: Prices
    completion: Mapping[str, float] = field(default_factory=dict)
    limits: Limits | None = None  # of which a prompt's counts here
    counters: dict[str, TokenCounter] = field(default_factory=dict)
    unpriced: set[str] = field(default_factory=set)
    mishaps: Mishaps = field(default_factory=Mishaps)
    stuck: int = 0
    invented: bool = False
    again: bool = False
    own: tuple[str, ...] = field(init=False)
    _judges: dict[str, dict[Any, Judge]] = field(default_factory=dict)
    _rows: dict[bytes, Paid | None] = field(default_factory=dict)  # of the sample at hand
    _sizes: dict[bytes, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_stops(self.graph)
        self.own = own_code(self.graph)
        self.graph = in_one_go(self.graph)

    async def runs(self, sample: Sample) -> dict[int, Run]:
        """The calls of a sample: bit of a manner -> address -> call; one for all where every reply is known."""
        self._rows.clear()
        self._sizes.clear()
        whole: dict[int, Run] = {}
        broken: dict[int, Run] = {}
        met: list[Mishap] = []
        for index, manner in enumerate(MANNERS):
            play = Play(self, manner)
            mishap = await self._played(play, sample)
            met += [mishap] if mishap is not None else []
            (whole if mishap is None else broken)[1 << index] = play.asked
            self.invented = self.invented or play.invents
            if not play.invents:
                whole, broken = {ALL: play.asked}, {}
                break
        self.mishaps.add(met)
        return whole or broken

    async def known(self, sample: Sample) -> dict[bytes, tuple[str, Paid]]:
        """The calls of a sample that the ledger holds: address -> node, and what the reply took."""
        self._rows.clear()
        play = Play(self, MANNERS[0])
        await self._played(play, sample)
        self.again = self.again or any(asked.again for asked in play.asked.values() if asked.kept)
        return {a: (asked.node, row) for a, asked in play.asked.items() if (row := self._rows.get(a)) is not None}

    async def _played(self, play: Play, sample: Sample) -> Mishap | None:
        limit = asyncio.timeout(PATIENCE)
        try:
            with standing_in(play, self._judges.setdefault(play.manner.name, {})):
                async with limit:
                    state = await self.graph.ainvoke({"sample": sample})
        except ConfigError:
            raise
        except Exception as error:
            if limit.expired() or isinstance(error, Endless):
                self.stuck += 1
                late = f"no end was found within {PATIENCE:g} s"
                return Mishap(sample.id, play.last, str(error) if isinstance(error, Endless) else late)
            return Mishap(sample.id, node_of(error), one_line(f"{type(error).__name__}: {error}"))
        return Mishap(sample.id, "", WAITS) if waits(state) else None

    def row(self, address: bytes) -> Paid | None:
        """What the ledger holds at an address."""
        if address not in self._rows:
            self._rows[address] = self.kept.get(address)
        return self._rows[address]

    def prompt(self, judge: Judge, call: Call, address: bytes) -> int:
        """Tokens of a call's prompt."""
        if address not in self._sizes:
            counter = self.counters.get(judge.name)
            if counter is None:
                counter = self.counters[judge.name] = counter_for(judge.name)
            self._sizes[address] = counter.prompt(call)
        return self._sizes[address]
