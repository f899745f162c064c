"""The work of one run: samples taken up one by one, each to its own end."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from judgegraph.answers import Precedence
from judgegraph.calls.context import CallContext, UnitCalls, outer
from judgegraph.calls.context import unit as unit_calls
from judgegraph.calls.limits import held_back, outages
from judgegraph.calls.reservation import Spent
from judgegraph.errors import AuthError, DataError, one_line
from judgegraph.runtime.folder import Folder
from judgegraph.runtime.guilt import ALONE, GUILTY, POISON, needed
from judgegraph.runtime.item import Item, failed_item, failures, item_of
from judgegraph.runtime.one_go import waits
from judgegraph.runtime.progress import Progress
from judgegraph.runtime.resume import Unit
from judgegraph.runtime.samples import Samples, SeenIds
from judgegraph.runtime.state_check import StateCheck
from judgegraph.trace.record import Recorder, recorder
from judgegraph.trace.watched import checks
from judgegraph.types import Sample

OnItem = Callable[[Item], None]
OnProgress = Callable[[Progress], None]
LOOK = 0.1  # seconds between two looks at whether a stop is asked for
EVERY = 0.1  # seconds between two words of progress at least
FIRST = 8  # samples that are begun under a budget before one has shown what a sample takes
BEAT = 1.0  # seconds between two words of progress at most, also where nothing ends


def checked(samples: Iterable[Sample]) -> Generator[Sample]:
    """The samples, if that is what they are.

    Raises:
        DataError: something else stands among them, or an id comes twice; a file's ids were checked as it was read.
    """
    with SeenIds() as seen:
        for number, sample in enumerate(samples, 1):
            if not isinstance(sample, Sample):
                raise DataError(
                    f"samples hold a {type(sample).__name__} where a Sample should be; a data file is read by "
                    "judgegraph.load(PATH), one sample is made by Sample(id=..., output=...)"
                )
            if not isinstance(samples, Samples) and (first := seen.line(sample.id, number)) != number:
                raise DataError(
                    f"samples {first} and {number} have the same id '{one_line(sample.id, 80)}'; give each its own"
                )
            yield sample


@dataclass
class Work:
    """What the workers of one run share.

    Attributes:
        units: what there is to do. stop: when set, what is in flight is finished and nothing new is begun.
        alone: put off until nothing else is in flight: what may be to blame for unclean exits, and samples that a judge
            refused before it answered any. through: all units were taken up.
        statuses: of the samples that need nothing more, those that earlier processes finished (`resumed`) included.
        left: samples in flight that a stop did not wait for.
        saved_before: calls that earlier processes found in the ledger, or shared.
        again: failed samples that a retry takes up. in_flight: samples that are being judged.
        held: the items of a run without a folder.
        traced: spans are wanted. runs: the copy of the graph that is run, in which nodes are recorded and checked;
            None for the graph itself.
        wired: what the graph's wiring tells of whose scores are its answer.
    """

    graph: Any
    timeout: float
    folder: Folder | None = None
    units: Iterator[Unit | None] = field(default_factory=lambda: iter(()))
    stop: threading.Event = field(default_factory=threading.Event)
    on_item: OnItem | None = None
    on_progress: OnProgress | None = None
    calls: CallContext = field(default_factory=CallContext)
    traced: bool = False
    runs: Any = None
    wired: Sequence[Precedence] = ()
    held: list[Item] = field(default_factory=list)
    alone: list[Unit] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    resumed: int = 0
    again: int | None = None
    in_flight: int = 0
    left: int = 0
    saved_before: int = 0
    through: bool = False
    _start: float = field(default_factory=time.monotonic)
    _told: float = 0.0
    _closed: dict[int, Item] = field(default_factory=dict)
    _journeys: dict[int, Recorder] = field(default_factory=dict)
    _copies: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    _busy_tasks: set[asyncio.Task[Any]] = field(default_factory=set)
    _waiting: deque[asyncio.Future[None]] = field(default_factory=deque)
    _finished: int = 0
    _before: dict[str, float] | None = None

    async def take(self, slot: int) -> None:
        """One worker: the next sample, until there is none; none while a server was waited for in vain."""
        while await self._room():
            try:
                unit = next(self.units)
            except StopIteration:
                self.through = True
                return
            if unit is not None and unit.strikes >= ALONE and not self._guilty(unit):
                self.alone.append(unit)
            elif unit is not None:
                try:
                    await self._busy(unit, slot)
                except GeneratorExit as error:
                    self._closed_over(unit, slot, error)
            await asyncio.sleep(0)  # a judge that never waits must not keep the others from their turn

    async def _room(self) -> bool:
        """False where nothing more is to be begun. Under a budget it waits until what is left of it is enough for one
        more sample beside those in flight: else all of them would be begun, and few would come to their end.
        """
        while not self.stop.is_set() and not self.calls.unreachable:
            if self._affordable():
                return True
            ended = asyncio.get_running_loop().create_future()
            self._waiting.append(ended)
            await asyncio.wait([ended], timeout=LOOK)
        return False

    def _affordable(self) -> bool:
        """Whether the budget is enough for one more sample, by what those took that this process has judged so far."""
        purse, busy = self.calls.purse, self.in_flight
        if purse.budget is None or not busy:
            return True
        if not self._finished:
            return busy < FIRST
        spent, before = _used(purse.spent), self._before or _used(Spent())
        for name, used in spent.items():
            cap = getattr(purse.budget, name)
            each = (used - before[name]) / self._finished  # too much rather than too little: others are under way
            if cap is not None and used + each * (busy + 1) > cap:
                return False
        return True

    def _wake(self) -> None:
        """The next worker that waits for room looks again."""
        while self._waiting:
            ended = self._waiting.popleft()
            if not ended.done():
                ended.set_result(None)
                return

    async def take_alone(self) -> None:
        """What may be to blame for unclean exits, one after the other, the most suspicious last."""
        self.alone.sort(key=lambda unit: unit.strikes)
        self.calls.refusals.last = True
        while self.alone and not self.stop.is_set() and not self.calls.unreachable:
            try:
                await self._busy(self.alone[0], 0)
            except GeneratorExit as error:
                self._closed_over(self.alone[0], 0, error)
            del self.alone[0]

    async def beat(self) -> None:
        """Progress while nothing ends; whoever began this cancels it."""
        while self.on_progress:
            await asyncio.sleep(BEAT)
            if time.monotonic() - self._told >= BEAT:
                self._tell(self.on_progress)

    async def end_in_time(self, grace: float) -> None:
        """Once a stop is asked for, what is in flight has so many seconds; whoever began this cancels it.

        What is not finished by then is left as if it had never been begun: its replies so far are in the ledger. While
        a server is out nothing can finish, and nothing is waited for.
        """
        end = math.inf
        while time.monotonic() < end and not (self.stop.is_set() and outages()):
            await asyncio.sleep(LOOK)  # any thread may set it, so that it cannot be awaited
            if self.stop.is_set() and end == math.inf:
                end = time.monotonic() + grace
        for task in tuple(self._busy_tasks):
            task.cancel()

    async def _busy(self, unit: Unit, slot: int) -> None:
        task = asyncio.current_task()
        assert task is not None  # a worker is one
        if self._before is None:
            self._before = _used(self.calls.purse.spent)
        self.in_flight += 1
        self._busy_tasks.add(task)
        self._wake()
        try:
            await self._finish(unit, slot)
        except asyncio.CancelledError:
            self.left += self.stop.is_set()
            raise
        finally:
            self._busy_tasks.discard(task)
            self.in_flight -= 1
            self._wake()

    async def _finish(self, unit: Unit, slot: int) -> None:
        if self._guilty(unit):
            item = failed_item(unit.sample, "agent_error", POISON, 0.0, unit.mark.place)
        else:
            if self.folder:
                self.folder.enter(slot, unit.mark)
            try:
                item = await self._judge(unit, slot)
            except AuthError as error:
                if not error.put_off:
                    raise
                self._journeys.pop(slot, None)
                if self.folder:
                    self.folder.leave(slot)
                self.alone.append(unit)
                return
            if self._closed:
                self._closed.pop(slot, None)
        self._ended(unit, item, slot)

    def _guilty(self, unit: Unit) -> bool:
        """Whether it is given up; those with fewer strikes, nearly all, cost no look at the journal."""
        if self.folder is None or unit.strikes < GUILTY:
            return False
        return unit.strikes >= needed(self.folder.journal.exits())

    def _closed_over(self, unit: Unit, slot: int, error: GeneratorExit) -> None:
        """A node's GeneratorExit closes all who wait for it up to the worker, so that what they return is lost."""
        item = self._closed.pop(slot, None)
        if item is None:  # the worker's own
            raise error
        self._ended(unit, failed_item(unit.sample, "agent_error", error, item.ms, item.place), slot)

    def _ended(self, unit: Unit, item: Item, slot: int) -> None:
        self._finished += item.status != "over_budget"
        item = self._keep(unit, item, slot)
        if self.on_item:
            self.on_item(item)
        if self.on_progress and time.monotonic() - self._told >= EVERY:
            self._tell(self.on_progress)

    def _tell(self, on_progress: OnProgress) -> None:
        self._told = time.monotonic()
        on_progress(self.progress())

    def _keep(self, unit: Unit, item: Item, slot: int) -> Item:
        """Write it down, or leave what was found before; gives the item as it was written."""
        journey = self._journeys.pop(slot, None)
        if self.folder is None:
            self.held.append(item)
        elif (before := unit.before) is not None and before.status is not None and _worse(item, unit):
            if journey is not None:
                self.folder.tell(journey.line(item.status, kept=False, item_ms=item.ms))
            self.statuses[before.status] += 1
            self.folder.journal.absolve(unit.mark.id)
            self.folder.leave(slot)
            return item
        else:
            item = self.folder.add(slot, item, unit.mark, before, journey)
        self.statuses[item.status] += 1
        return item

    async def _judge(self, unit: Unit, slot: int) -> Item:
        sample, place, start = unit.sample, unit.mark.place, time.perf_counter()
        worker = asyncio.current_task()

        def ms() -> float:
            return round((time.perf_counter() - start) * 1000, 3)

        calls = self._watched(unit, slot) if unit.strikes else UnitCalls()
        calls.sample = sample.id
        unit_calls.set(calls)  # a worker's own: each is a task
        outer.set(None)  # what a run within a judge's answer asks is its own samples'
        graph, looks = self._watched_graph(sample, slot), StateCheck(self._copies)
        checks.set(looks)  # as `unit_calls`
        limit = calls.clock = asyncio.timeout(self.timeout)
        try:
            async with limit:
                state = await graph.ainvoke({"sample": sample})
            if not waits(state):
                looks.ended(state)
            item = item_of(sample, state, ms(), place, self.wired)
        except TimeoutError as error:
            reason = self._late(calls) if limit.expired() else error
            item = failed_item(sample, "timeout", reason, ms(), place)
        except (Exception, SystemExit, GeneratorExit) as error:  # a KeyboardInterrupt ends the run
            if getattr(error, "ends_run", False) or not _at_work(worker):
                raise
            item = failed_item(sample, "agent_error", error, ms(), place)
            if isinstance(error, GeneratorExit):
                self._closed[slot] = item
        finally:
            calls.waits = calls.progressed = calls.clock = None  # a call that ends late must not touch the next one's
        if calls.denied:  # it will be judged again, and asks for the same then
            return item.model_copy(update={"status": "over_budget", "reason": one_line(calls.denied)})
        before, asked, calls.asked = unit.before, calls.asked, None
        again = before is not None and before.status not in (None, "over_budget")
        self.calls.bills.ended(asked or {}, again=again)
        return item

    def _late(self, calls: UnitCalls) -> str:
        """Why a sample ran out of time; a server may have asked for a longer wait than it had."""
        asked = calls.asked_to_wait
        told = f"; the server asked to wait {asked:g} s (Retry-After)" if asked else ""
        longer = ", longer than a sample may take" if asked > self.timeout else ""
        return f"no result within {self.timeout:g} s{told}{longer}"

    def _watched_graph(self, sample: Sample, slot: int) -> Any:
        """What is run for it; where spans are wanted its journey begins here."""
        if not self.traced:
            return self.graph if self.runs is None else self.runs
        name, bare = self.graph.get_name(), not self.calls.told
        self._journeys[slot] = journey = Recorder(sample.id, name, bare=bare, copies=self._copies)
        recorder.set(journey)  # as `unit_calls`
        return self.runs

    def _watched(self, unit: Unit, slot: int) -> UnitCalls:
        """For a sample with strikes: its progress, and whether it waits, are written down at once."""
        folder, mark, waiting = self.folder, unit.mark, 0
        if folder is None:
            return UnitCalls()

        def waits(more: int) -> None:
            nonlocal waiting
            before, waiting = waiting, waiting + more
            if bool(before) != bool(waiting):
                folder.enter(slot, mark._replace(waiting=bool(waiting)))

        return UnitCalls(progressed=lambda: folder.journal.absolve(mark.id), waits=waits)

    def progress(self) -> Progress:
        """How far it is."""
        calls, spent = self.calls, self.calls.purse.spent
        counts = calls.ledger.counts if calls.ledger else None
        known = spent.usd > 0 or spent.unpriced < spent.calls
        return Progress(
            done=self.statuses.total(), resumed=self.resumed, by_status=dict(self.statuses),
            requests=calls.requests, calls=spent.calls, unanswered=spent.unanswered,
            saved=self.saved_before + (counts.hits + counts.joined if counts else 0),
            prompt_tokens=spent.prompt_tokens, completion_tokens=spent.completion_tokens,
            usd=spent.usd if known else None, seconds=time.monotonic() - self._start,
            in_flight=self.in_flight, again=self.again, held_back=held_back(), outages=outages(),
            waiting=calls.ledger.leases.waiting if calls.ledger else 0, left=self.left,
        )  # fmt: skip


def _used(spent: Spent) -> dict[str, float]:
    """What a budget's caps are held against, by their names."""
    return {"calls": spent.requests, "tokens": spent.tokens, "usd": spent.usd}


def _at_work(worker: asyncio.Task[Any] | None) -> bool:
    """False where the worker itself is being closed, as a loop's end does: that GeneratorExit is no node's."""
    try:
        return asyncio.current_task() is worker
    except RuntimeError:
        return False


def _worse(item: Item, unit: Unit) -> bool:
    """Whether what was found before stands: a later failure never takes an earlier success's place."""
    before = unit.before
    if before is None or before.status == "over_budget":
        return False
    if item.status == "over_budget" or (before.status == "ok" and item.status != "ok"):
        return True
    return before.status == item.status == "ok" and failures(item) > before.failed
