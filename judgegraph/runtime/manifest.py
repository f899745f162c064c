"""What a run's manifest says: all that the results depend on, and what they cost."""

from __future__ import annotations

import os
import platform
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, astuple
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from judgegraph import __version__
from judgegraph.calls.ledger import Ledger
from judgegraph.calls.reservation import Spent
from judgegraph.runtime.critic_nodes import critic_nodes
from judgegraph.runtime.signature import criteria_name, details, signature
from judgegraph.runtime.sittings import seconds_before, seconds_of
from judgegraph.runtime.spending import Bill, carried, ledger_name
from judgegraph.runtime.topology import fan_outs
from judgegraph.runtime.work import Work

PACKAGES = ("langgraph", "langchain-core", "langchain-openai", "pydantic")


class Record:
    """A run, from its first process to its last.

    Attributes:
        run: 16 hex digits that name it, also as the payer in its ledger; a run that goes on keeps them.
        told: the latest manifest.
    """

    def __init__(
        self, work: Work, earlier: Mapping[str, Any], configuration: Mapping[str, Any],
        data: Mapping[str, Any] | None, given: Callable[[], int | None] = lambda: None,
    ) -> None:  # fmt: skip
        """Args: given: how many samples there are, as far as that is known by now."""
        known = earlier.get("run")
        self.run = known if isinstance(known, str) and known else secrets.token_hex(8)
        self._work, self._earlier, self._given = work, earlier, given
        self.told: dict[str, Any] = {}
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
            **({"in_words": dict(calls.in_words)} if calls.in_words else {}),
        }  # fmt: skip
        self.told = {
            "judgegraph": __version__,
            "state": state,
            "run": self.run,
            "process": os.getpid() if state == "running" else None,
            "signature": signature(work.graph),
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
            "damaged_lines": self._damaged(),
            "spent": asdict(purse.spent),
            "spent_before": asdict(Spent(*self._before)),
            "ledger": self._ledger,
            "budget": asdict(purse.budget) if purse.budget else None,
            "started": self._started,
            "ended": self._ended(state),
            "seconds": self._seconds(state),
            "versions": {"python": platform.python_version(), **{p: version(p) for p in PACKAGES}},
        }
        return self.told

    def _total(self, state: str, done: int) -> int | None:
        """How many samples there are: all were taken up, or it is known of what was given; None where it is not."""
        if state in ("finished", "over_budget"):
            return done
        told = self._earlier.get("samples") if self._earlier.get("data") == self._fixed["data"] else None
        before = told.get("total") if isinstance(told, Mapping) else None
        known = self._given()
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
