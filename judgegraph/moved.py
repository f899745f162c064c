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
    "judgegraph.agent_runs.messages": "judgegraph.agent_runs.spans",
    "judgegraph.agent_runs.read": "judgegraph.agent_runs.formats",
    "judgegraph.agents.critique_form": "judgegraph.agents.sage",
    "judgegraph.agents.rectify": "judgegraph.agents.sage",
    "judgegraph.bench.measure": "judgegraph.bench.table",
    "judgegraph.bench.qags": "judgegraph.bench.unieval",
    "judgegraph.bench.sfres": "judgegraph.bench.unieval",
    "judgegraph.bridging.card": "judgegraph.bridging.bridge",
    "judgegraph.calls.computed": "judgegraph.calls.context",
    "judgegraph.calls.forms": "judgegraph.calls.asking",
    "judgegraph.calls.leases": "judgegraph.calls.ledger",
    "judgegraph.cli.corrected": "judgegraph.cli.bridge",
    "judgegraph.cli.doctor": "judgegraph.cli.check",
    "judgegraph.cli.prompts": "judgegraph.cli.plan",
    "judgegraph.cli.repair": "judgegraph.cli.folder",
    "judgegraph.cli.suggestions": "judgegraph.cli.folder",
    "judgegraph.cli.trace": "judgegraph.cli.folder",
    "judgegraph.cli.view": "judgegraph.cli.folder",
    "judgegraph.compose.escalate": "judgegraph.compose.gate",
    "judgegraph.compose.rounds": "judgegraph.compose.jury",
    "judgegraph.compose.scores_in_doubt": "judgegraph.compose.conditions",
    "judgegraph.data.examples": "judgegraph.data.load",
    "judgegraph.data.mapping": "judgegraph.cli.new",
    "judgegraph.graph_files.around": "judgegraph.graph_files.edges",
    "judgegraph.graph_files.schema": "judgegraph.graph_files.build",
    "judgegraph.meta.diff_changes": "judgegraph.meta.diff_moves",
    "judgegraph.meta.labels": "judgegraph.meta.agreement",
    "judgegraph.meta.numbers": "judgegraph.meta.result",
    "judgegraph.meta.reviews": "judgegraph.meta.critic",
    "judgegraph.models.capabilities": "judgegraph.models.prices",
    "judgegraph.models.providers": "judgegraph.models.judges",
    "judgegraph.planning.dry_check": "judgegraph.planning.dry_run",
    "judgegraph.registry.plugins": "judgegraph.registry.shipped",
    "judgegraph.replies.json_text": "judgegraph.replies.reply",
    "judgegraph.replies.question_blocks": "judgegraph.agents.discussion",
    "judgegraph.replies.tokens": "judgegraph.calls.ratings",
    "judgegraph.report.drawing.layout": "judgegraph.report.drawing.render",
    "judgegraph.report.drawing.mermaid": "judgegraph.report.drawing.figure",
    "judgegraph.report.orders": "judgegraph.report.figures",
    "judgegraph.report.people": "judgegraph.report.answers",
    "judgegraph.report.sections_critic": "judgegraph.report.findings",
    "judgegraph.report.sections_pairs": "judgegraph.report.answers",
    "judgegraph.report.sections_scores": "judgegraph.report.answers",
    "judgegraph.report.traffic": "judgegraph.report.graph",
    "judgegraph.runs.alignment": "judgegraph.runs.run",
    "judgegraph.runs.journal": "judgegraph.runs.lines",
    "judgegraph.runs.manifest": "judgegraph.runs.evaluate",
    "judgegraph.runs.notices": "judgegraph.runs.item",
    "judgegraph.runs.strict": "judgegraph.runs.state_check",
    "judgegraph.runs.tables": "judgegraph.runs.run",
    "judgegraph.runtime": "",  # a room that is gone: it only leads to those below
    "judgegraph.runtime.node_times": "judgegraph.traces.read",
    "judgegraph.runtime.run": "judgegraph.runs.run",
    "judgegraph.runtime.standing": "judgegraph.traces.read",
    "judgegraph.stats.resampling": "judgegraph.stats.bootstrap",
    "judgegraph.stats.tests": "judgegraph.stats.agreement",
    "judgegraph.sync": "judgegraph.compiled",
    "judgegraph.testing.states": "judgegraph.testing.conformance",
    "judgegraph.testing.written": "judgegraph.testing.rules",
    "judgegraph.trace.span": "judgegraph.trace.record",
    "judgegraph.traces.rank": "judgegraph.traces.read",
    "judgegraph.views.amounts": "judgegraph.views.blocks",
    "judgegraph.views.bench": "judgegraph.views.agreement",
    "judgegraph.views.corrected": "judgegraph.views.probes",
    "judgegraph.views.diff": "judgegraph.views.comparison",
    "judgegraph.views.progress": "judgegraph.views.run",
    "judgegraph.views.ranking": "judgegraph.views.agreement",
    "judgegraph.views.sample": "judgegraph.views.trace",
    "judgegraph.views.suggestions": "judgegraph.views.critic",
    "judgegraph.views.table": "judgegraph.views.notebook",
    "judgegraph.webview.index_file": "judgegraph.webview.index",
    "judgegraph.webview.suggestions": "judgegraph.webview.app",
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
