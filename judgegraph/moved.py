"""Modules that pages of earlier versions named, and where what they held is now: their names still import."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

MOVED = {
    "judgegraph.agents.critique_form": "judgegraph.agents.sage",
    "judgegraph.calls.computed": "judgegraph.calls.context",
    "judgegraph.calls.forms": "judgegraph.calls.asking",
    "judgegraph.calls.leases": "judgegraph.calls.ledger",
    "judgegraph.meta.diff_changes": "judgegraph.meta.diff_moves",
    "judgegraph.meta.labels": "judgegraph.meta.agreement",
    "judgegraph.meta.reviews": "judgegraph.meta.critic",
    "judgegraph.models.capabilities": "judgegraph.models.prices",
    "judgegraph.registry.plugins": "judgegraph.registry.shipped",
    "judgegraph.replies.tokens": "judgegraph.calls.ratings",
    "judgegraph.runs.alignment": "judgegraph.runs.run",
    "judgegraph.runs.journal": "judgegraph.runs.lines",
    "judgegraph.runs.manifest": "judgegraph.runs.evaluate",
    "judgegraph.runs.notices": "judgegraph.runs.item",
    "judgegraph.runs.tables": "judgegraph.runs.run",
    "judgegraph.runtime": "",  # a room that is gone: it only leads to those below
    "judgegraph.runtime.node_times": "judgegraph.traces.rank",
    "judgegraph.runtime.run": "judgegraph.runs.run",
    "judgegraph.runtime.standing": "judgegraph.traces.rank",
    "judgegraph.testing.states": "judgegraph.testing.conformance",
    "judgegraph.testing.written": "judgegraph.testing.rules",
    "judgegraph.wiring.paths": "judgegraph.wiring.graph",
}


class _Alias(Loader):
    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        if not (now := MOVED[name]):
            module.__path__ = []
            return
        warnings.warn(f"{name} is {now} now", DeprecationWarning, stacklevel=6)
        sys.modules[name] = importlib.import_module(now)


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, _Alias(), is_package=not MOVED[fullname]) if fullname in MOVED else None


def install() -> None:
    """Old names import from now on; they are looked up last."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
