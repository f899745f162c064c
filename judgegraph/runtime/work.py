"""The work of one run: samples taken up one by one, each to its own end."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from judgegraph.calls.context import CallContext, UnitCalls
from judgegraph.calls.context import unit as unit_calls
from judgegraph.calls.limits import held_back
from judgegraph.errors import DataError, one_line
from judgegraph.runtime.folder import Folder
from judgegraph.runtime.guilt import ALONE, GUILTY, POISON, needed
from judgegraph.runtime.item import Item, failed_item, failures, item_of
from judgegraph.runtime.progress import Progress
from judgegraph.runtime.resume import Unit
from judgegraph.runtime.samples import Samples, SeenIds
from judgegraph.trace.record import Recorder, recorder
from judgegraph.types import Sample

OnItem = Callable[[Item], None]
OnProgress = Callable[[Progress], None]
EVERY = 0.1  # seconds between two words of progress at least
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
        alone: put off until nothing else is in flight. through: all units were taken up.
        statuses: of the samples that need nothing more, those that earlier processes finished (`resumed`) included.
        again: failed samples that a retry takes up. in_flight: samples that are being judged.
        held: the items of a run without a folder.
        traced: the graph whose nodes are recorded, which is run then; None where no spans are wanted.
    """

    graph: Any
    timeout: float
    folder: Folder | None = None
    units: Iterator[Unit | None] = field(default_factory=lambda: iter(()))
    stop: threading.Event = field(default_factory=threading.Event)
    on_item: OnItem | None = None
    on_progress: OnProgress | None = None
    calls: CallContext = field(default_factory=CallContext)
    traced: Any = None
    held: list[Item] = field(default_factory=list)
    alone: list[Unit] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    resumed: int = 0
    again: int | None = None
    in_flight: int = 0
    through: bool = False
    _start: float = field(default_factory=time.monotonic)
    _told: float = 0.0
    _closed: dict[int, Item] = field(default_factory=dict)
    _journeys: dict[int, Recorder] = field(default_factory=dict)
    _copies: dict[int, tuple[Any, Any]] = field(default_factory=dict)

    async def take(self, slot: int) -> None:
        """One worker: the next sample, until there is none."""
        while not self.stop.is_set():
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

    async def take_alone(self) -> None:
        """What may be to blame for unclean exits, one after the other, the most suspicious last."""
        self.alone.sort(key=lambda unit: unit.strikes)
        while self.alone and not self.stop.is_set():
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

    async def _busy(self, unit: Unit, slot: int) -> None:
        self.in_flight += 1
        try:
            await self._finish(unit, slot)
        finally:
            self.in_flight -= 1

    async def _finish(self, unit: Unit, slot: int) -> None:
        if self._guilty(unit):
            item = failed_item(unit.sample, "agent_error", POISON, 0.0, unit.mark.place)
        else:
            if self.folder:
                self.folder.enter(slot, unit.mark)
            item = await self._judge(unit, slot)
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
        unit_calls.set(calls)  # a worker's own: each is a task
        graph = self._watched_graph(sample, slot)
        limit = calls.clock = asyncio.timeout(self.timeout)
        try:
            async with limit:
                state = await graph.ainvoke({"sample": sample})
            item = item_of(sample, state, ms(), place)
        except TimeoutError as error:
            reason = f"no result within {self.timeout:g} s" if limit.expired() else error
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

    def _watched_graph(self, sample: Sample, slot: int) -> Any:
        """What is run for it; where spans are wanted its journey begins here."""
        if self.traced is None:
            return self.graph
        name, bare = self.graph.get_name(), not self.calls.told
        self._journeys[slot] = journey = Recorder(sample.id, name, bare=bare, copies=self._copies)
        recorder.set(journey)  # as `unit_calls`
        return self.traced

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
            requests=calls.requests, calls=calls.replies, saved=counts.hits + counts.joined if counts else 0,
            prompt_tokens=calls.prompt_tokens, completion_tokens=calls.completion_tokens,
            usd=spent.usd if known else None, seconds=time.monotonic() - self._start,
            in_flight=self.in_flight, again=self.again, held_back=held_back(),
        )  # fmt: skip


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
