"""judgegraph: compose, trace and test graphs of LLM judges.

    import judgegraph as jg
    from judgegraph.graphs import sageval

    run = jg.evaluate(sageval(criteria="forms"), jg.load("forms.jsonl"))
    print(run.summary())

Importing this package imports no graph library, no statistics and no provider; each comes when it is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from judgegraph.calls import Endpoint, Reader, ask
    from judgegraph.calls.budget import Budget
    from judgegraph.calls.limits import Limits
    from judgegraph.calls.reading import Reading, read_choice, read_rating
    from judgegraph.compose.conditions import disagree, either, failed, low, wide
    from judgegraph.compose.critique import critique
    from judgegraph.compose.each import each
    from judgegraph.compose.escalate import escalate
    from judgegraph.compose.gate import gate
    from judgegraph.compose.metric_node import metric_node
    from judgegraph.compose.panel import panel
    from judgegraph.compose.refine import refine
    from judgegraph.compose.with_person import with_person
    from judgegraph.errors import ConfigError, JudgegraphError, ReplyError
    from judgegraph.graph_files.load import load_graph
    from judgegraph.meta.agreement import agreement
    from judgegraph.meta.critic import critic_worth
    from judgegraph.meta.probes import probe
    from judgegraph.meta.run_diff import RunDiff, diff_runs
    from judgegraph.meta.systems import rank_systems
    from judgegraph.meta.table import read_table
    from judgegraph.models.prices import Prices
    from judgegraph.prompts.criteria_sets import CriteriaSet, criteria_set
    from judgegraph.registry.decorators import agent, assistant, critic, method
    from judgegraph.report.drawing import Drawing, show
    from judgegraph.report.write import write_report
    from judgegraph.runtime.check import Wiring, WiringError, check
    from judgegraph.runtime.evaluate import aevaluate, evaluate
    from judgegraph.runtime.load import load
    from judgegraph.runtime.plan import aplan, plan
    from judgegraph.runtime.run import Run
    from judgegraph.runtime.serde import serializer
    from judgegraph.runtime.tracing import tracing
    from judgegraph.tools.fetch import fetch
    from judgegraph.tools.finding import About, Metric
    from judgegraph.tools.graph_assistant import as_assistant
    from judgegraph.types import (
        Comparison,
        Correction,
        Criterion,
        EvalState,
        Finding,
        Note,
        Plan,
        Rectification,
        Sample,
        Scale,
        Score,
        Suggestion,
        merged,
    )
    from judgegraph.wiring.marks import bounded, never_empty

_HOMES = {
    "judgegraph.compose.conditions": ("disagree", "either", "failed", "low", "wide"),
    "judgegraph.compose.critique": ("critique",),
    "judgegraph.compose.each": ("each",),
    "judgegraph.compose.escalate": ("escalate",),
    "judgegraph.compose.gate": ("gate",),
    "judgegraph.compose.metric_node": ("metric_node",),
    "judgegraph.compose.panel": ("panel",),
    "judgegraph.compose.refine": ("refine",),
    "judgegraph.compose.with_person": ("with_person",),
    "judgegraph.errors": ("ConfigError", "JudgegraphError", "ReplyError"),
    "judgegraph.calls": ("Endpoint", "Reader", "ask"),
    "judgegraph.calls.budget": ("Budget",),
    "judgegraph.calls.limits": ("Limits",),
    "judgegraph.calls.reading": ("Reading", "read_choice", "read_rating"),
    "judgegraph.prompts.criteria_sets": ("CriteriaSet", "criteria_set"),
    "judgegraph.registry.decorators": ("agent", "assistant", "critic", "method"),
    "judgegraph.report.drawing": ("Drawing", "show"),
    "judgegraph.report.write": ("write_report",),
    "judgegraph.runtime.check": ("Wiring", "WiringError", "check"),
    "judgegraph.runtime.evaluate": ("aevaluate", "evaluate"),
    "judgegraph.runtime.load": ("load",),
    "judgegraph.graph_files.load": ("load_graph",),
    "judgegraph.meta.agreement": ("agreement",),
    "judgegraph.meta.systems": ("rank_systems",),
    "judgegraph.meta.table": ("read_table",),
    "judgegraph.meta.critic": ("critic_worth",),
    "judgegraph.meta.probes": ("probe",),
    "judgegraph.meta.run_diff": ("RunDiff", "diff_runs"),
    "judgegraph.models.prices": ("Prices",),
    "judgegraph.runtime.plan": ("aplan", "plan"),
    "judgegraph.runtime.run": ("Run",),
    "judgegraph.runtime.serde": ("serializer",),
    "judgegraph.runtime.tracing": ("tracing",),
    "judgegraph.tools.fetch": ("fetch",),
    "judgegraph.tools.finding": ("About", "Metric"),
    "judgegraph.tools.graph_assistant": ("as_assistant",),
    "judgegraph.types": (
        "Comparison", "Correction", "Criterion", "EvalState", "Finding", "Note", "Plan", "Rectification",
        "Sample", "Scale", "Score", "Suggestion", "merged",
    ),
    "judgegraph.wiring.marks": ("bounded", "never_empty"),
}  # fmt: skip
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "About", "Budget", "Comparison", "ConfigError", "Correction", "CriteriaSet", "Criterion", "Drawing",
    "Endpoint", "EvalState", "Finding", "JudgegraphError", "Limits", "Metric", "Note", "Plan", "Prices",
    "Reader", "Reading", "Rectification", "ReplyError", "Run", "RunDiff", "Sample", "Scale", "Score",
    "Suggestion", "Wiring", "WiringError", "__version__", "aevaluate", "agent", "agreement", "aplan",
    "as_assistant", "ask", "assistant", "bounded", "check", "criteria_set", "critic", "critic_worth",
    "critique", "diff_runs", "disagree", "each", "either", "escalate", "evaluate", "failed", "fetch", "gate",
    "load", "load_graph", "low", "merged", "method", "metric_node", "never_empty", "panel", "plan", "probe",
    "rank_systems", "read_choice", "read_rating", "read_table", "refine", "serializer", "show", "tracing",
    "wide", "with_person", "write_report",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'judgegraph' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
