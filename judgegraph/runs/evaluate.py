"""A graph over a dataset: every sample is a work unit of its own, and none can end the run.

It hides what a run is checked for before it begins, what its manifest says of it (its seconds, what all its processes
have spent, who its critics are), and when it may go on in a folder.
"""

from __future__ import annotations

import asyncio
import os
import platform
import secrets
import threading
import time
from collections import Counter
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, astuple, fields
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgegraph import __version__
from judgegraph.calls.budget import Budget, BudgetTracker, PriceUnknown, Spent
from judgegraph.calls.context import CallContext, context
from judgegraph.calls.ledger import Ledger, LedgerError, ledger_name
from judgegraph.calls.limits import Limits, limits_of_run
from judgegraph.compiled import agents_of, check_stops, entered_at_once, keys, run_sync, without_checkpointer
from judgegraph.data.samples import Samples, checked, data_of, how_many, mark_of
from judgegraph.errors import ConfigError, DataError, handing_on, one_line
from judgegraph.evidence import EVIDENCE
from judgegraph.models.judges import resolve
from judgegraph.models.prices import Prices, sees
from judgegraph.prompts.template import evidence_left_out
from judgegraph.runs.identity import (
    configuration,
    criteria_name,
    details,
    differences,
    fan_outs,
    nodes,
    plain,
    signature,
)
from judgegraph.runs.item import CHECKSUMS, taken_again
from judgegraph.runs.run import Run, seldom
from judgegraph.runs.worker import OnItem, OnProgress, Work, units
from judgegraph.trace.record import recorder, tracer, within
from judgegraph.trace.watched import checks, copied
from judgegraph.types import Criterion, Sample
from judgegraph.wiring.check import refuse
from judgegraph.wiring.graph import precedence

if TYPE_CHECKING:
    from judgegraph.runs.folder import Folder

# The arguments of a run, looked at before anything is opened: a wrong one is told in one line.


SETTINGS: dict[str, tuple[tuple[type, ...], str]] = {
    "budget": ((Budget,), "a Budget, such as judgegraph.Budget(calls=100)"),
    "limits": ((Limits,), "Limits, such as judgegraph.Limits(rpm=60)"),
    "stop": ((threading.Event,), "a threading.Event"),
    "prices": ((Prices, str, os.PathLike), "Prices, or the path of a price file"),
    "ledger": ((str, os.PathLike), "the path of a file"),
}


def check_arguments(
    graph: Any, samples: Any, concurrency: Any, timeout: Any, *, grace: Any = 0, trace: Any = True, redact: Any = (),
    **settings: Any,
) -> None:  # fmt: skip
    """Of `evaluate`.

    Raises:
        ConfigError: an argument is not what it must be. DataError: there can be no samples in what was given.
    """
    if not (hasattr(graph, "ainvoke") and hasattr(graph, "get_name")):
        what = "compile it: graph.compile()" if hasattr(graph, "compile") else "such as judgegraph.graphs.sageval()"
        raise ConfigError(f"a graph is a compiled LangGraph, {what}; got {type(graph).__name__}")
    check_stops(graph)
    if not isinstance(samples, Iterable) or isinstance(samples, Mapping | Sample):
        more = "; an async generator is read first: [s async for s in it]" if hasattr(samples, "__aiter__") else ""
        more = "; one sample goes in a list: [sample]" if isinstance(samples, Mapping | Sample) else more
        raise DataError(
            f"samples are an iterable of Sample, such as judgegraph.load(PATH); got {_shown(samples)}{more}"
        )
    if not isinstance(concurrency, int) or isinstance(concurrency, bool) or concurrency < 1:
        raise ConfigError(f"concurrency is 1 or more, a whole number; got {_shown(concurrency)}")
    if not isinstance(timeout, int | float) or isinstance(timeout, bool) or not timeout > 0:  # nan too
        raise ConfigError(f"timeout is more than 0 seconds; got {_shown(timeout)}")
    if not isinstance(grace, int | float) or isinstance(grace, bool) or not grace >= 0:
        raise ConfigError(f"grace is 0 seconds or more; got {_shown(grace)}")
    if not isinstance(trace, bool):
        raise ConfigError(f"trace is True or False; got {_shown(trace)}")
    if not isinstance(redact, tuple | list) or any(what != "texts" for what in redact):
        raise ConfigError(f'redact is a list of what is not kept: ("texts",) or (); got {_shown(redact)}')
    for name, value in settings.items():
        check_setting(name, value)


def check_setting(name: str, value: Any) -> None:
    """One of those that may be None.

    Raises:
        ConfigError: it is something else.
    """
    if value is None:
        return
    kinds, what = SETTINGS.get(name, ((), "a function of one argument"))
    if not (isinstance(value, kinds) if kinds else callable(value)):
        raise ConfigError(f"{name} is {what}, or None; got {_shown(value)}")
    if name == "ledger":
        path = os.fspath(value)
        if not isinstance(path, str) or not path or "\0" in path:
            raise ConfigError(f"{name} is {what}; got {_shown(path)}")


def _shown(value: Any) -> str:
    return one_line(repr(value), 60)


SWITCHES = {"retry_failed", "check", "reference"}  # `check_arguments` looks at all else


@handing_on(kinds=SWITCHES)
async def aevaluate(
    graph: Any, samples: Iterable[Sample | Mapping[str, Any]], *, out: str | os.PathLike[str] | None = None,
    ledger: str | os.PathLike[str] | None = None, concurrency: int = 64, timeout: float = 600.0,
    budget: Budget | None = None, prices: Prices | str | os.PathLike[str] | None = None, limits: Limits | None = None,
    retry_failed: bool = False, on_item: OnItem | None = None, on_progress: OnProgress | None = None,
    stop: threading.Event | None = None, grace: float = 10.0, trace: bool = True, redact: Sequence[str] = (),
    check: bool = True, reference: bool = True, without: Sequence[str] = (),
) -> Run:  # fmt: skip
    """Run a compiled graph over samples, or go on with a run that has begun.

    Args:
        graph: a compiled LangGraph that reads "sample", such as `sageval()`. A checkpointer that it was compiled with
            is left aside: a copy without one is run. A sample at which it stops for a person (`interrupt`) has the
            status "agent_error".
        samples: any iterable of samples, or of mappings of their fields, with different ids; it is read as samples are
            taken up, never all at once.
        out: folder of the run; None keeps the items in memory. In a folder that holds a run of the same configuration
            that run goes on: what is finished stays, and samples that a budget kept from their end are taken up again.
        ledger: file of all model calls, which runs may share: what it holds is not paid for again. None is
            ledger.sqlite in `out`, or memory.
        concurrency: samples, and model calls, in flight at once, 1 or more.
        timeout: seconds for one sample, all its calls and retries included, more than 0.
        budget: what the run may spend, all its processes together; None is no cap. A sample that it kept from its end
            has the status "over_budget".
        prices: a price file or table, for USD; None is the built-in one.
        limits: requests and tokens per minute, and requests in flight, of each judge whose endpoint names none.
        retry_failed: take up the failed samples of the run in `out`, and no others. A reply in the ledger that cannot
            be read is asked for once more. What was found before stays where the retry comes to less.
        on_item: called with every finished item, in the order of finishing; of a retry that came to less with what
            stands. What it raises ends the run.
        on_progress: called with a `Progress` after an item, every 0.1 s at most, every second while nothing
            ends, and at the end.
        stop: once it is set, by any thread, nothing new is begun, and what is in flight has `grace` seconds to finish.
        grace: what is in flight after a stop and these seconds is left for the next run, as if it had not been begun;
            the replies that it was given by then are in the ledger.
        trace: record spans in `out`: what was done for each sample, and when. Without a folder there are none.
        redact: ("texts",) keeps no prompt in the ledger and no message of an error in the spans; replies stay in the
            ledger, and samples and reasons in the items, as the run needs them.
        reference: show a sample's reference to judges, critics and assistants; False leaves it out, for all of them,
            and the signature says so.
        without: more evidence that is left out, for all of them: "contexts", "turns", "images", "facts". Where no judge
            of the graph sees images, a sample that has some is "skipped" before anything is asked.
        check: refuse a graph that `jg.check` refuses, or that needs more than a sample; False runs it all the same.

    Returns:
        The run; its manifest's "state" is "finished", "over_budget" or "stopped". A sample whose graph failed has an
        item with a status and the reason.

    Raises:
        WiringError: the graph is not wired, with a line for each mistake; nothing was asked.
        ConfigError: the call is wrong, or a judge cannot be made or refuses the key (AuthError); items that were
            finished by then are in the folder. The folder holds a run of another configuration, is being written by
            another process, or cannot be written. A run that never began leaves no folder.
            LedgerError: the ledger's file is none of ours, or cannot be written.
        DataError: what comes is no sample, has the id of an earlier one, or was judged with another content.
    """
    check_arguments(
        graph, samples, concurrency, timeout, grace=grace, budget=budget, limits=limits, stop=stop, prices=prices,
        ledger=ledger, on_item=on_item, on_progress=on_progress, trace=trace, redact=redact,
    )  # fmt: skip
    left_out = evidence_left_out(reference, without)
    if check:
        refuse(graph)
    folder = _folder(out) if out is not None else None
    if retry_failed and not (folder and folder.has_begun):
        raise ConfigError(f"retry_failed needs the folder of a run that has begun (out=), got {out!r}")
    reading = checked(samples)
    purse = BudgetTracker(budget, prices=prices if isinstance(prices, Prices) else Prices.load(prices))
    resolve_judges(graph, purse)
    calls = CallContext(width=concurrency, limits=limits, purse=purse, anew=retry_failed)
    work = Work(without_checkpointer(graph), timeout, folder, on_item=on_item, on_progress=on_progress, calls=calls)
    work.stop, work.wired, work.without = stop or work.stop, precedence(work.graph), left_out
    work.blind, work.weighted = _blind(graph), _weighted(graph)
    calls.told = "texts" not in redact
    work.traced, work.runs = trace and folder is not None, entered_at_once(copied(work.graph, whole=True))
    with (
        seldom(),
        closing(reading),
        open_run(work, concurrency, samples, ledger, retry=retry_failed) as record,
        closing(units(reading, folder, retry_failed)) as work.units,
    ):
        await _all(work, concurrency, grace)
    return Run(record.manifest, sorted(work.items, key=lambda item: item.place), folder)


@handing_on(aevaluate, kinds=SWITCHES)
def evaluate(graph: Any, samples: Iterable[Sample | Mapping[str, Any]], **settings: Any) -> Run:
    """Run a compiled graph over samples and wait for it; arguments and errors as `aevaluate`.

    Works inside a running event loop too, such as a notebook's. The first KeyboardInterrupt sets `stop`: what is in
    flight is finished and saved, as far as `grace` lets it, then the interrupt goes on to the caller; a second one
    cancels what is in flight.
    """
    check_setting("stop", settings.get("stop"))
    stop = settings.pop("stop", None) or threading.Event()
    return run_sync(aevaluate(graph, samples, stop=stop, **settings), drain=stop.set)


def _folder(out: str | os.PathLike[str]) -> Folder:
    from judgegraph.runs.folder import Folder  # here, as a run in memory does without

    return Folder(out)


def _weighted(graph: Any) -> tuple[Criterion, ...]:
    """The criteria of a graph where any has another weight than 1; one named twice counts once."""
    found = {one.name: one for one in details(graph)["criteria"]}
    return tuple(found.values()) if any(one.weight != 1 for one in found.values()) else ()


def _blind(graph: Any) -> tuple[str, ...]:
    """Judges that see no images, where no judge of the graph sees any; () where one does, or may."""
    agents = [agent for _, agent in agents_of(graph) if getattr(agent, "judge", None) is not None]
    if any(isinstance(reads := getattr(one, "reads", None), tuple) and "images" not in reads for one in agents):
        return ()
    judges = [resolve(agent.judge) for agent in agents]
    names = tuple(dict.fromkeys(judge.name for judge in judges))
    return names if judges and all(sees(judge) is False for judge in judges) else ()


def resolve_judges(graph: Any, purse: BudgetTracker) -> None:
    """A wrong name, a missing key, or a price that a budget in USD lacks is told before anything is written; an agent
    with a prompt asks its judge."""
    for _, agent in agents_of(graph):
        if hasattr(agent, "prompt") and (judge := getattr(agent, "judge", None)) is not None:
            price = purse.prices.price_of(found := resolve(judge))
            if price is None and purse.budget is not None and purse.budget.usd is not None:
                raise PriceUnknown(found)


async def _all(work: Work, concurrency: int, grace: float) -> None:
    token, outer = context.set(work.calls), (tracer.set(None), within.set(0), recorder.set(None))  # its own spans
    looks = checks.set(None)
    beat, end = asyncio.create_task(work.beat()), asyncio.create_task(work.end_in_time(grace))
    try:
        async with asyncio.TaskGroup() as group:
            for slot in range(concurrency):
                group.create_task(work.take(slot))
        async with asyncio.TaskGroup() as group:
            group.create_task(work.take_alone())
    except BaseExceptionGroup as errors:
        known = [e for e in errors.exceptions if isinstance(e, ConfigError)]
        raise (known or errors.exceptions)[0] from None
    finally:
        beat.cancel()
        end.cancel()
        context.reset(token)
        checks.reset(looks)
        tracer.reset(outer[0])
        recorder.reset(outer[2])
        within.reset(outer[1])
    if beat.done():  # it ends by itself only where `on_progress` raised
        beat.result()
    if work.on_progress:
        work.on_progress(work.progress())


# How long a run worked: the seconds of its sessions, one for each process that judged something.


def seconds_before(earlier: Mapping[str, Any]) -> float | None:
    """Of the sessions before, by their manifest; None where it does not know, as after a process that was killed."""
    if not earlier:
        return 0.0
    seconds = earlier.get("seconds") if earlier.get("state") != "running" else None
    return float(seconds) if isinstance(seconds, int | float) and 0 <= seconds < float("inf") else None


def seconds_of(before: float | None, more: float) -> float | None:
    """All of them; what is not known of one is not known of all."""
    return None if before is None else round(before + more, 3)


# What a run has spent, all its processes together: also where its ledger was deleted or is another one now.


Bill = tuple[Any, ...]  # as `Spent` has its fields


def spent_in(earlier: Any) -> Bill:
    """What a manifest says; what it does not say is 0."""
    known = earlier if isinstance(earlier, Mapping) else {}
    return tuple(_number(known.get(f.name)) for f in fields(Spent))


def _number(value: Any) -> float:
    return value if isinstance(value, int | float) and 0 <= value < float("inf") else 0


def carried(earlier: Mapping[str, Any], ledger: Ledger, folder: Path | None) -> tuple[Bill, Bill]:
    """(what the run has spent, how much of it the ledger does not tell).

    A manifest says what was spent when it was written, a ledger what this run paid for in that file. The larger one
    counts, field by field: a killed process did not write its manifest, a deleted ledger tells nothing. A former
    ledger is looked into where it is still there.
    """
    paid, known, before = tuple(ledger.spent()), spent_in(earlier.get("spent")), spent_in(earlier.get("spent_before"))
    former = earlier.get("ledger")
    if former == ledger_name(ledger.path, folder):
        spent = _most(known, _summed(before, paid))
    else:
        spent = _most(known, paid, _summed(before, _paid_in(former, ledger.run, folder)))
    return spent, tuple(max(0, s - p) for s, p in zip(spent, paid, strict=True))


def _paid_in(former: Any, run: str, folder: Path | None) -> Bill:
    path = (folder or Path()) / former if isinstance(former, str) and "\0" not in former else None
    if path is not None and path.is_file():
        try:
            with closing(Ledger(path, run=run)) as ledger:
                return tuple(ledger.spent())
        except LedgerError:
            pass  # the manifest is what is left
    return astuple(Spent())


def _summed(one: Bill, other: Bill) -> Bill:
    return tuple(a + b for a, b in zip(one, other, strict=True))


def _most(*bills: Bill) -> Bill:
    return tuple(map(max, zip(*bills, strict=True)))


PACKAGES = ("langgraph", "langchain-core", "langchain-openai", "pydantic")


@cache
def _versions() -> dict[str, str]:
    """Of Python and of these packages; each is looked for on disk."""
    return {"python": platform.python_version(), **{package: version(package) for package in PACKAGES}}


class Record:
    """A run, from its first process to its last.

    Attributes:
        run: 16 hex digits that name it, also as the payer in its ledger; a run that goes on keeps them.
        manifest: the latest.
    """

    def __init__(
        self, work: Work, samples: Iterable[Sample], earlier: Mapping[str, Any], configuration: Mapping[str, Any],
        data: Mapping[str, Any] | None,
    ) -> None:  # fmt: skip
        known = earlier.get("run")
        self.run = known if isinstance(known, str) and known else secrets.token_hex(8)
        self._work, self._samples, self._earlier = work, samples, earlier
        self.manifest: dict[str, Any] = {}
        self._fixed = {"configuration": dict(configuration), "data": dict(data) if data is not None else None}
        self._fan_outs = fan_outs(work.graph)
        self._started, self._begun = earlier.get("started") or _now(), time.perf_counter()
        self._ledger: str | None = None
        self._before: Bill = astuple(Spent())
        counted = earlier.get("calls")
        found = counted.get("ledger") if isinstance(counted, Mapping) else None
        if isinstance(found, Mapping):
            work.saved_before = sum(n for n in map(found.get, ("hits", "joined")) if isinstance(n, int))
        work.calls.bills.carry(counted.get("by_node") if isinstance(counted, Mapping) else None)

    def pays(self, ledger: Ledger) -> None:
        """The run's calls are paid for in this ledger; what it spent earlier, wherever, counts."""
        folder = self._work.folder.path if self._work.folder else None
        spent, self._before = carried(self._earlier, ledger, folder)
        self._work.calls.purse.resume(*spent)
        self._work.calls_before = self._work.calls.purse.spent.calls
        self._ledger = ledger_name(ledger.path, folder)

    def ended(self, retry: bool) -> str:
        """How the run ended in order: a retry takes up no new samples, so a stopped run stays stopped."""
        work = self._work
        through = work.through or (not retry and self._none_left())
        if not through or work.alone or work.left:
            return "stopped"
        if any(status == "over_budget" for status in self._statuses()):
            return "over_budget"
        return "stopped" if retry and self._earlier.get("state") in ("running", "stopped") else "finished"

    def _none_left(self) -> bool:
        """Whether all samples are done, where their number is known: a stop while the last ones end stops nothing."""
        known = how_many(self._samples)
        return known is not None and self._work.statuses.total() >= known

    def of(self, state: str) -> dict[str, Any]:
        """The manifest in a state: "running", "finished", "stopped" or "over_budget"."""
        work, statuses = self._work, self._statuses()
        about, calls, purse = details(work.graph), work.calls, work.calls.purse
        counts = {
            "requests": calls.requests, "replies": calls.replies,
            "prompt_tokens": calls.prompt_tokens, "completion_tokens": calls.completion_tokens,
            "by_judge": dict(calls.models), "by_node": calls.bills.to_dict(),
            "ledger": vars(calls.ledger.counts).copy() if calls.ledger else {},
            "prefixes": {"prompt_tokens": calls.prefixes.prompt, "sent_before": calls.prefixes.shared},
            **({"in_words": dict(calls.in_words)} if calls.in_words else {}),
            **({"unshown": dict(calls.unshown)} if calls.unshown else {}),
            **({"blind": dict(calls.blind)} if calls.blind else {}),
            **({"further": dict(calls.further)} if calls.further else {}),
        }  # fmt: skip
        self.manifest = {
            "judgegraph": __version__,
            "state": state,
            "run": self.run,
            "process": os.getpid() if state == "running" else None,
            "signature": signature(work.graph, without=work.without, evidence=[*self._evidence()]),
            "method": work.graph.get_name(),
            "nodes": about["nodes"],
            "critics": critic_nodes(work.graph),
            **({"unfit_prices": unfit} if (unfit := purse.prices.unfit()) else {}),
            "fan_outs": self._fan_outs,
            "criteria_set": criteria_name(work.graph),
            "criteria": [c.model_dump(mode="json", exclude_defaults=True) for c in about["criteria"]],
            **self._fixed,
            "unreachable": calls.unreachable,
            "samples": {
                "done": sum(statuses.values()),
                "failed": sum(count for status, count in statuses.items() if status != "ok"),
                "over_budget": statuses.get("over_budget", 0),
                "total": self._total(state, sum(statuses.values())),
            },
            "calls": added(self._earlier.get("calls"), counts),
            **({"misspelt": odd} if (odd := _misspelt(self._samples)) else {}),
            **({"evidence": shown} if (shown := self._evidence()) else {}),
            "damaged_lines": self._damaged(),
            **({CHECKSUMS: True} if self._earlier.get(CHECKSUMS, not self._earlier) is True else {}),
            "spent": asdict(purse.spent),
            "spent_before": asdict(Spent(*self._before)),
            "ledger": self._ledger,
            "budget": asdict(purse.budget) if purse.budget else None,
            "started": self._started,
            "ended": self._ended(state),
            "seconds": self._seconds(state),
            "versions": dict(_versions()),
        }
        return self.manifest

    def _evidence(self) -> dict[str, int]:
        """Samples that were shown with each kind of evidence, of those that were taken up; by earlier processes too."""
        found = added(self._earlier.get("evidence"), self._work.evidence)
        return {name: found[name] for name in EVIDENCE if found.get(name)}

    def rejected(self) -> list[dict[str, Any]]:
        """The rows of the samples' file that are none."""
        return [rejection.model_dump() for rejection in getattr(self._samples, "rejected", ())]

    def _total(self, state: str, done: int) -> int | None:
        """How many samples there are: all were taken up, or it is known of what was given; None where it is not."""
        if state in ("finished", "over_budget"):
            return done
        samples = self._earlier.get("samples") if self._earlier.get("data") == self._fixed["data"] else None
        before = samples.get("total") if isinstance(samples, Mapping) else None
        known = how_many(self._samples)
        known = before if known is None else known
        return max(known, done) if isinstance(known, int) else None

    def _ended(self, state: str) -> str | None:
        """A run that was taken up again for nothing ended when it did."""
        if state == "running":
            return None
        before = self._earlier.get("ended")
        return before if before and not self._judged() and state == self._earlier.get("state") else _now()

    def _seconds(self, state: str) -> float | None:
        before = seconds_before(self._earlier)
        worked = state != "running" and self._judged()
        return seconds_of(before, time.perf_counter() - self._begun if worked else 0.0)

    def _judged(self) -> bool:
        """Whether this process came to anything."""
        return self._work.statuses.total() > self._work.resumed or self._work.calls.requests > 0

    def _damaged(self) -> int:
        """Lines of the items' file that hold no item, as far as they were looked at."""
        folder = self._work.folder
        if folder is None:
            return 0
        known = self._earlier.get("damaged_lines")
        return folder.damaged + (known if isinstance(known, int) and not folder.read_all else 0)

    def _statuses(self) -> dict[str, int]:
        """Of all finished samples."""
        if self._work.folder is None:
            return dict(self._work.statuses)
        found: dict[str, int] = {}
        for status, _, count in self._work.folder.journal.statuses():
            found[status] = found.get(status, 0) + count
        return found


def added(earlier: Any, now: Mapping[str, Any]) -> dict[str, Any]:
    """Counts of an earlier process and of this one; what a killed one did not write down is missing."""
    before = earlier if isinstance(earlier, Mapping) else {}
    names = [*now, *(name for name in before if name not in now)]
    return {name: _sum(before.get(name), now.get(name)) for name in names}


def _sum(before: Any, now: Any) -> Any:
    if isinstance(now, Mapping) or isinstance(before, Mapping):
        return added(before, now if isinstance(now, Mapping) else {})
    return (before if isinstance(before, int | float) else 0) + (now or 0)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


# Whether a run may go on in its folder: what was finished there must stay true.


def goes_on(
    folder: Folder, configuration: Mapping[str, Any], data: Mapping[str, Any] | None, samples: Iterable[Sample]
) -> dict[str, Any]:
    """The manifest of the run that this one goes on with; what is finished there must stay true.

    Returns:
        The manifest, empty for a new run; one without a finished sample binds nobody.

    Raises:
        ConfigError: another configuration, which the message tells line by line, or none to compare with.
        DataError: samples that were judged are changed or gone.
    """
    earlier = folder.earlier()  # without a manifest of ours there are no items either: `Folder.open` saw to it
    if not folder.journal.statuses():
        return earlier
    if changed := differences(earlier["configuration"], configuration):
        lines = "".join(f"\n  {line}" for line in changed)
        raise ConfigError(
            f"{folder.path} holds a run of another configuration:{lines}\nChoose another folder (--out, out=); with "
            f"{folder.ledger} as its ledger (--ledger, ledger=) what did not change is not paid for again"
        )
    if data is not None and earlier.get("data") is not None and data != earlier["data"]:
        _compare(folder, samples)
    return earlier


def _compare(folder: Folder, samples: Iterable[Sample]) -> None:
    """Read the changed file once, before anything is paid for: what was judged must be there as it was."""
    journal = folder.journal
    changed, new, same, first = 0, 0, 0, ""
    for place, sample in enumerate(samples.whole() if isinstance(samples, Samples) else samples):
        mark = mark_of(sample, place)
        known = journal.known(mark.id)
        if known is None or known.status is None:
            new += 1
        elif known.content == mark.content or folder.only_labels(sample, known):
            same += 1
        else:
            changed += 1
            first = first or f"; the first changed one is '{one_line(sample.id, 80)}' (number {place + 1})"
    gone = sum(count for _, _, count in journal.statuses()) - same - changed
    if changed or gone:
        raise DataError(
            f"the data is not what it was when {folder.path} was begun: {changed} judged samples changed, {gone} gone, "
            f"{new} new{first}; choose another folder, or give the data as it was (new rows may be added)"
        )


# What a run keeps: its folder and its ledger, open while it runs and in order however it ends.


@contextmanager
def open_run(
    work: Work, slots: int, samples: Iterable[Any], ledger: str | os.PathLike[str] | None, *, retry: bool
) -> Generator[Record]:
    """The folder is taken and its ledger open; however the run ends, its manifest says so.

    Raises:
        ConfigError, DataError: as `Folder.open`, `goes_on` and `Ledger`; the folder is left as it was.
    """
    folder = work.folder
    if folder is None:
        record = Record(work, samples, {}, {}, None)
        with _paying(work, record, ledger):
            yield record
            record.of(record.ended(retry))
        return
    folder.open(slots, spans=work.traced)
    try:
        settings, data = plain(configuration(work.graph, without=work.without)), data_of(samples)
        record = Record(work, samples, goes_on(folder, settings, data, samples), settings, data)
        _count(work, folder, retry)
        with _paying(work, record, ledger or folder.ledger):
            try:
                folder.write_manifest(record.of("running"))
                folder.begun()
                yield record
            except BaseException:
                if not folder.is_run:
                    raise
                with suppress(ConfigError):  # what ended the run is worth more than what became of its manifest
                    _end(folder, record, "stopped")
                raise
            _end(folder, record, record.ended(retry))
    finally:
        folder.close()


def _misspelt(samples: Iterable[Sample]) -> list[dict[str, Any]]:
    return [one.model_dump() for one in getattr(samples, "misspelt", {}).values()]


@contextmanager
def _paying(work: Work, record: Record, ledger: str | os.PathLike[str] | None) -> Generator[None]:
    calls = work.calls
    with limits_of_run(calls.limits) as calls.limits, closing(Ledger(ledger, run=record.run)) as calls.ledger:
        record.pays(calls.ledger)
        yield


def _count(work: Work, folder: Folder, retry: bool) -> None:
    """What earlier processes finished, and this one leaves as it is."""
    found: Counter[str] = Counter()
    again = 0
    for status, failed, count in folder.journal.statuses():
        if not taken_again(status, failed, retry):
            found[status] += count
        else:
            again += count
    work.again = again if retry else None
    work.statuses, work.resumed = found, found.total()


def _end(folder: Folder, record: Record, state: str) -> None:
    try:
        folder.settle()
    finally:
        folder.write_rejected(record.rejected())
        folder.write_manifest(record.of(state))


# Which nodes of a graph are the critic behind the final scores of a name: what they ask is what the critic costs.


def critic_nodes(graph: Any) -> dict[str, list[str]]:
    """Agent of the final scores -> the critic's nodes.

    What turns verdicts into scores (it reads `rectifications`, writes `scores` and has a name) names the final scores.
    Its critic stands beside it in the same graph, and writes `rectifications`: of several the one with that name, else
    all of them.
    """
    named: dict[str, tuple[str, str]] = {}  # path of what applies verdicts -> graph around it, name
    critics: dict[str, str] = {}  # path of a critic -> its name, "" where it has none
    for path, thing in nodes(graph):
        reads, writes = _keys(thing)
        name = getattr(thing, "name", None)
        if "rectifications" in reads and "scores" in writes and isinstance(name, str) and not _is_graph(thing):
            named[path] = _around(path), name
        elif "rectifications" in writes:
            critics[path] = str(name or "")
    found: dict[str, list[str]] = {}
    for around, name in named.values():
        beside = [path for path in critics if _around(path) == around]
        own = [path for path in beside if critics[path] == name]
        found[name] = sorted({*found.get(name, ()), *(own or beside)})
    return found


def _keys(thing: Any) -> tuple[Any, Any]:
    """What it reads and writes; nothing where it does not say, and so is neither critic nor what follows one."""
    try:
        reads, writes = keys(thing)
    except (TypeError, ValueError, AttributeError):  # a callable without a signature
        return {}, {}
    says_all = "findings" in writes and "comparisons" in writes and not _is_graph(thing)
    return ({}, {}) if says_all else (reads, writes)


def _is_graph(thing: Any) -> bool:
    return hasattr(thing, "builder")


def _around(path: str) -> str:
    return path.rpartition("/")[0]
