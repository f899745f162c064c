"""What is known of a run from its first process to its last: its manifest, what it spent, and whether it may go on."""

from __future__ import annotations

import json
import os
import platform
import secrets
import time
from collections import Counter
from collections.abc import Generator, Iterable, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, astuple, fields
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from judgegraph import __version__
from judgegraph.calls.budget import Spent
from judgegraph.calls.ledger import Ledger, LedgerError
from judgegraph.calls.limits import limits_of_run
from judgegraph.compose.nodes import keys
from judgegraph.data.samples import Samples, data_of, how_many
from judgegraph.errors import ConfigError, DataError, one_line
from judgegraph.runs.folder import LEDGER, MANIFEST, REJECTED, Folder
from judgegraph.runs.identity import configuration, criteria_name, details, differences, fan_outs, nodes, signature
from judgegraph.runs.lines import CHECKSUMS, mark_of
from judgegraph.runs.worker import Work, taken_again
from judgegraph.types import Sample

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


def ledger_name(ledger: str | os.PathLike[str] | None, folder: Path | None) -> str | None:
    """By which a manifest knows a ledger: its way from the run's folder, so that both can be moved together."""
    if ledger is None:
        return None
    path = os.path.realpath(ledger)
    try:
        return os.path.relpath(path, os.path.realpath(folder or "."))
    except ValueError:  # another drive
        return path


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
        if not work.through or work.alone or work.left:
            return "stopped"
        if any(status == "over_budget" for status in self._statuses()):
            return "over_budget"
        return "stopped" if retry and self._earlier.get("state") in ("running", "stopped") else "finished"

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
            **({"further": dict(calls.further)} if calls.further else {}),
        }  # fmt: skip
        self.manifest = {
            "judgegraph": __version__,
            "state": state,
            "run": self.run,
            "process": os.getpid() if state == "running" else None,
            "signature": signature(work.graph, reference=work.reference),
            "method": work.graph.get_name(),
            "nodes": about["nodes"],
            "critics": critic_nodes(work.graph),
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
            "damaged_lines": self._damaged(),
            **({CHECKSUMS: True} if self._earlier.get(CHECKSUMS, not self._earlier) is True else {}),
            "spent": asdict(purse.spent),
            "spent_before": asdict(Spent(*self._before)),
            "ledger": self._ledger,
            "budget": asdict(purse.budget) if purse.budget else None,
            "started": self._started,
            "ended": self._ended(state),
            "seconds": self._seconds(state),
            "versions": {"python": platform.python_version(), **{p: version(p) for p in PACKAGES}},
        }
        return self.manifest

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
            f"{folder.path / LEDGER} as its ledger (--ledger, ledger=) what did not change is not paid for again"
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


def plain(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """As it comes back from a manifest."""
    found: dict[str, Any] = json.loads(json.dumps(configuration))
    return found


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
        settings, data = plain(configuration(work.graph, reference=work.reference)), data_of(samples)
        record = Record(work, samples, goes_on(folder, settings, data, samples), settings, data)
        _count(work, folder, retry)
        with _paying(work, record, ledger or folder.path / LEDGER):
            try:
                folder.write(MANIFEST, record.of("running"))
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
        folder.write(REJECTED, record.rejected())
        folder.write(MANIFEST, record.of(state))


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
