"""The work of one run: samples taken up one by one, each to its own end."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from judgegraph.answers import Mean, Precedence, answers_of, means_of
from judgegraph.calls.budget import Budget, Spent
from judgegraph.calls.context import CallContext, UnitCalls, outer
from judgegraph.calls.context import unit as unit_calls
from judgegraph.calls.limits import held_back, outages
from judgegraph.compiled import final_state, waits
from judgegraph.data.samples import Mark, mark_of
from judgegraph.errors import AuthError, DataError, one_line
from judgegraph.evidence import EVIDENCE
from judgegraph.runs.item import STRIKE, Item, failed_item, failures, item_of, taken_again
from judgegraph.runs.state_check import StateCheck
from judgegraph.trace.record import Recorder, recorder
from judgegraph.trace.watched import checks
from judgegraph.types import Criterion, Sample, Scale, weighted_overall

if TYPE_CHECKING:
    from judgegraph.runs.folder import Folder
    from judgegraph.runs.lines import Known

# Who is to blame for unclean exits of the process: which samples run alone, and which are given up.
#
# A sample that was in flight when the process ended uncleanly has a strike. At two it is judged when all others are
# finished, alone, so that one more exit strikes the guilty one only; at three it is given up, and the run goes on.
# A machine that is preempted again and again must condemn nobody who did nothing wrong:
#
# - The first new reply takes a sample's strikes away: what it was paid for lies in the ledger, so it came further than
#   before. A guilty one escapes so as often as it has calls, and not once more.
# - An exit counts for a third only where the sample, struck before, was waiting for a reply: its own code cannot have
#   ended the process then, unless it runs beside the call.
# - The oftener the run ended uncleanly, the more strikes it takes: of many kills from outside some meet a sample alone,
#   in the moments that its own code takes. To meet the same one so again and again they would have to be many more; a
#   guilty one ends the process whenever it is judged.


ALONE, GIVEN_UP = 2 * STRIKE, 3 * STRIKE  # from the first on a sample runs alone, at the second it may be given up
OFTEN = 7  # unclean exits of a run at which one strike more is asked; at 14 another, and so at each doubling
POISON = "in flight at three unclean exits of the process"


def needed(exits: int) -> int:
    """Thirds of strikes at which a sample is given up, after so many unclean exits of its run."""
    return GIVEN_UP + STRIKE * (exits // OFTEN).bit_length()


# How far a run is, as one value.


@dataclass(frozen=True)
class Progress:
    """A moment of a run.

    Attributes:
        done: samples that need nothing more; resumed: those among them that an earlier process finished.
        in_flight: samples that are being judged. again: failed samples of earlier processes that a retry takes up, as
            far as they are among its samples; None where it is none.
        left: samples that were in flight when a stop's grace was over; they are judged by the next run.
        held_back: seconds for which a server wants to be left alone, 0 where none does.
        waiting: calls that another process, which shares the ledger, is paying for just now.
        outages: a judge with its address -> (what is missing, such as "no connection", and for how many seconds), while
            a server is out and its return waited for.
        total: samples of the dataset, None where that is not known.
        by_status: an item's status -> how many of `done` have it.
        requests: sent by this process, retries included.
        calls: those that the run paid for and got a reply of use to. unanswered: requests beside these, that brought
            none. prompt_tokens, completion_tokens: of both. usd: what both cost, None where no price is known. saved:
            replies found in the ledger, or that another call was waiting for already. All these include the run's
            earlier processes, as the manifest's `spent` does. calls_before: calls of these earlier processes.
        budget: caps of the run, None where it has none. mean: of the samples that this process judged, each by the mean
            of its answers that are numbers; on `scale`, or where they are on several, "", as a share of each, 0 to 1.
        seconds: since this process began.
    """

    done: int
    resumed: int
    total: int | None = None
    by_status: Mapping[str, int] = field(default_factory=dict)
    requests: int = 0
    calls: int = 0
    saved: int = 0
    unanswered: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float | None = None
    seconds: float = 0.0
    in_flight: int = 0
    again: int | None = None
    held_back: float = 0.0
    waiting: int = 0
    outages: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    left: int = 0
    calls_before: int = 0
    budget: Budget | None = None
    mean: float | None = None
    scale: str = ""

    @property
    def calls_now(self) -> int:
        """Calls of this process."""
        return self.calls - self.calls_before


class RunningMean:
    """The mean of samples as they are finished: each counts by the mean of its answers for the output."""

    def __init__(self) -> None:
        self._mean = Mean(0.0, 0)
        self._scales: dict[str, Scale] = {}

    def add(self, item: Item) -> None:
        """One more; one without an answer that is a number does not count."""
        answers = answers_of(item)
        if (value := means_of(answers).get("")) is not None:
            self._mean = self._mean.with_one(value)
            for score in answers:
                if score.value is not None and score.scale is not None and len(self._scales) < 2:
                    self._scales[score.scale.unit] = score.scale

    @property
    def scale(self) -> str:
        """The one that all answers are on, "" where they are on several."""
        return next(iter(self._scales)) if len(self._scales) == 1 else ""

    @property
    def value(self) -> float | None:
        """On that scale, or as a share; None before the first."""
        if not self._mean.samples:
            return None
        scale = self._scales.get(self.scale)
        if scale is None or scale.low is None or scale.high is None:
            return self._mean.value
        return scale.low + self._mean.value * (scale.high - scale.low)


OnItem = Callable[[Item], None]
OnProgress = Callable[[Progress], None]
LOOK = 0.1  # seconds between two looks at whether a stop is asked for
EVERY = 0.1  # seconds between two words of progress at least
FIRST = 8  # samples that are begun under a budget before one has shown what a sample takes
BEAT = 1.0  # seconds between two words of progress at most, also where nothing ends


SKIPPED = 256  # finished samples passed over at a stretch before others have their turn


class Unit(NamedTuple):
    """A sample that is to be judged; `before` is what the journal knows of it."""

    sample: Sample
    mark: Mark
    before: Known | None = None

    @property
    def crashes(self) -> int:
        """Thirds of strikes: unclean exits that it was in flight at, since it last made progress."""
        return self.before.strikes if self.before else 0


def units(samples: Iterable[Sample], folder: Folder | None, retry: bool) -> Generator[Unit | None]:
    """The samples that are to be judged, in the order of the dataset; None now and then while others are passed over.

    Raises:
        DataError: a sample was judged by another content than it has now, people's labels aside.
    """
    if folder is None:
        yield from (Unit(sample, Mark(b"", b"", place)) for place, sample in enumerate(samples))
        return
    passed, fresh = 0, folder.journal.empty()
    for place, sample in enumerate(samples):
        mark = mark_of(sample, place)
        known = None if fresh else _known(folder, sample, mark)
        if _wanted(known, retry):
            yield Unit(sample, mark, known)
        else:
            passed += 1
            if passed % SKIPPED == 0:
                yield None


def _known(folder: Folder, sample: Sample, mark: Mark) -> Known | None:
    known = folder.journal.known(mark.id)
    if known is not None and known.content != mark.content and folder.only_labels(sample, known):
        return folder.relabel(sample, known, mark)
    if known is not None and known.content != mark.content:
        raise DataError(
            f"sample '{one_line(sample.id, 80)}' (number {mark.place + 1}) is not what it was when {folder.path} was "
            "begun; choose another folder, or give it an id of its own"
        )
    if known is not None and known.place != mark.place:
        folder.journal.moved(mark.id, place=mark.place)
    return known


def _wanted(known: Known | None, retry: bool) -> bool:
    if known is None or known.status is None:
        return not retry
    return taken_again(known.status, known.failed > 0, retry)


@dataclass
class Work:
    """What the workers of one run share.

    Attributes:
        units: what there is to do. stop: when set, what is in flight is finished and nothing new is begun.
        alone: put off until nothing else is in flight: what may be to blame for unclean exits, and samples that a judge
            refused before it answered any. through: all units were taken up.
        statuses: of the samples that need nothing more, those that earlier processes finished (`resumed`) included.
        left: samples in flight that a stop did not wait for.
        saved_before, calls_before: calls that earlier processes found in the ledger or shared, and paid for.
        again: failed samples that a retry takes up. in_flight: samples that are being judged.
        items: the finished ones of a run without a folder.
        traced: spans are wanted. runs: the copy of the graph that is run, in which nodes are recorded and checked;
            None for the graph itself.
        wired: what the graph's wiring tells of whose scores are its answer.
        without: evidence of a sample that is not shown to the graph. evidence: samples that were shown with each kind.
        weighted: criteria, where any of them has another weight than 1: samples get a weighted overall score.
        blind: judges that see no images, where no judge of the graph does.
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
    without: Sequence[str] = ()
    evidence: Counter[str] = field(default_factory=Counter)
    blind: Sequence[str] = ()
    weighted: Sequence[Criterion] = ()
    items: list[Item] = field(default_factory=list)
    alone: list[Unit] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    resumed: int = 0
    again: int | None = None
    in_flight: int = 0
    left: int = 0
    saved_before: int = 0
    calls_before: int = 0
    through: bool = False
    _start: float = field(default_factory=time.monotonic)
    _last_progress_at: float = 0.0
    _closed: dict[int, Item] = field(default_factory=dict)
    _recorders: dict[int, Recorder] = field(default_factory=dict)
    _copies: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    _busy_tasks: set[asyncio.Task[Any]] = field(default_factory=set)
    _waiting: deque[asyncio.Future[None]] = field(default_factory=deque)
    _finished: int = 0
    _mean: RunningMean = field(default_factory=RunningMean)
    _before: dict[str, float] | None = None

    async def take(self, slot: int) -> None:
        """One worker: the next sample, until there is none; none while a server was waited for in vain."""
        while await self._may_begin():
            try:
                unit = next(self.units)
            except StopIteration:
                self.through = True
                return
            if unit is not None and unit.crashes >= ALONE and not self._given_up(unit):
                self.alone.append(unit)
            elif unit is not None:
                try:
                    await self._busy(unit, slot)
                except GeneratorExit as error:
                    self._closed_over(unit, slot, error)
            await asyncio.sleep(0)  # a judge that never waits must not keep the others from their turn

    async def _may_begin(self) -> bool:
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
        self.alone.sort(key=lambda unit: unit.crashes)
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
            if time.monotonic() - self._last_progress_at >= BEAT:
                self._report(self.on_progress)

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
        if self._given_up(unit):
            item = failed_item(unit.sample, "agent_error", POISON, 0.0, unit.mark.place)
        else:
            if self.folder:
                self.folder.enter(slot, unit.mark)
            try:
                item = await self._judge(unit, slot)
            except AuthError as error:
                if not error.put_off:
                    raise
                self._recorders.pop(slot, None)
                if self.folder:
                    self.folder.leave(slot)
                self.alone.append(unit)
                return
            if self._closed:
                self._closed.pop(slot, None)
        self._ended(unit, item, slot)

    def _given_up(self, unit: Unit) -> bool:
        """Whether it is given up; those with fewer strikes, nearly all, cost no look at the journal."""
        if self.folder is None or unit.crashes < GIVEN_UP:
            return False
        return unit.crashes >= needed(self.folder.journal.exits())

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
        if self.on_progress and time.monotonic() - self._last_progress_at >= EVERY:
            self._report(self.on_progress)

    def _report(self, on_progress: OnProgress) -> None:
        self._last_progress_at = time.monotonic()
        on_progress(self.progress())

    def _keep(self, unit: Unit, item: Item, slot: int) -> Item:
        """Write it down, or leave what was found before where that is better; gives the item that stands."""
        recorded = self._recorders.pop(slot, None)
        if self.folder is None:
            self.items.append(item)
        elif (before := unit.before) is not None and before.status is not None and _worse(item, unit):
            if recorded is not None:
                self.folder.tell(recorded.line(item.status, kept=False, item_ms=item.ms))
            self.statuses[before.status] += 1
            self.folder.journal.clear_crashes(unit.mark.id)
            self.folder.leave(slot)
            return (self.folder.item_of(before) if self.on_item else None) or item
        else:
            item = self.folder.add(slot, item, unit.mark, before, recorded)
        self.statuses[item.status] += 1
        if self.on_progress:  # who else would ask for it
            self._mean.add(item)
        return item

    async def _judge(self, unit: Unit, slot: int) -> Item:
        sample, place, start = unit.sample, unit.mark.place, time.perf_counter()
        shown = sample.without(*self.without) if self.without else sample
        self.evidence.update(name for name in EVIDENCE if getattr(shown, name))
        if shown.images and self.blind:
            unseen = (
                f"the sample has images, which {', '.join(self.blind)} cannot see: name a judge that can, or leave "
            )
            return failed_item(sample, "skipped", f"{unseen}them out: --no-images, without=['images']", 0.0, place)
        worker = asyncio.current_task()

        def ms() -> float:
            return round((time.perf_counter() - start) * 1000, 3)

        calls = self._watched(unit, slot) if unit.crashes else UnitCalls()
        calls.sample, calls.order = sample.id, place
        unit_calls.set(calls)  # a worker's own: each is a task
        outer.set(None)  # what a run within a judge's answer asks is its own samples'
        graph, looks = self._watched_graph(sample, slot), StateCheck(self._copies, shown)
        checks.set(looks)  # as `unit_calls`
        limit = calls.clock = asyncio.timeout(self.timeout)
        try:
            async with limit:
                state = await final_state(graph, {"sample": shown})
            if not waits(state):
                looks.ended(state)
            item = item_of(sample, state, ms(), place, self.wired)
            if self.weighted and item.overall is None:
                item = item.model_copy(update={"overall": weighted_overall(answers_of(item), self.weighted)})
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
        if asked > self.timeout:
            return f"no result within {self.timeout:g} s{told}, longer than a sample may take (--timeout SECONDS)"
        return f"no result within {self.timeout:g} s{told}{SLOW}"

    def _watched_graph(self, sample: Sample, slot: int) -> Any:
        """What is run for it; where spans are wanted its recorder begins here."""
        if not self.traced:
            return self.graph if self.runs is None else self.runs
        name, bare = self.graph.get_name(), not self.calls.told
        self._recorders[slot] = recorded = Recorder(sample.id, name, bare=bare, copies=self._copies)
        recorder.set(recorded)  # as `unit_calls`
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

        return UnitCalls(progressed=lambda: folder.journal.clear_crashes(mark.id), waits=waits)

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
            budget=calls.purse.budget, mean=self._mean.value, scale=self._mean.scale,
            in_flight=self.in_flight, again=self.again, held_back=held_back(), outages=outages(),
            waiting=calls.ledger.leases.waiting if calls.ledger else 0, left=self.left,
            calls_before=self.calls_before,
        )  # fmt: skip


SLOW = (
    "; give a sample longer (--timeout SECONDS), ask less at once (--concurrency N) or for shorter replies "
    "(--max-tokens N); --retry-failed judges it again"
)


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
