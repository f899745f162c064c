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

from judgegraph import moved

__version__ = "0.1.0"

if TYPE_CHECKING:
    from judgegraph.agent_runs.formats import as_records, trajectories, trajectory
    from judgegraph.calls import Endpoint, JudgeLike, Reader, ask, rate
    from judgegraph.calls.budget import Budget
    from judgegraph.calls.limits import Limits
    from judgegraph.compose.conditions import bounded, disagree, either, failed, low, never_empty, wide
    from judgegraph.compose.critique import critique, refine
    from judgegraph.compose.gate import escalate, gate
    from judgegraph.compose.jury import debate, judge_agent, jury
    from judgegraph.compose.nodes import metric_node, with_person
    from judgegraph.compose.orders import orders
    from judgegraph.compose.panel import each, panel
    from judgegraph.data.load import load, with_examples
    from judgegraph.errors import ConfigError, JudgegraphError, ReplyError
    from judgegraph.forms.form import JudgeForm
    from judgegraph.graph_files.build import load_graph
    from judgegraph.graphs.judge_form import judge_form
    from judgegraph.meta.agreement import agreement
    from judgegraph.meta.compare import RunComparison, compare
    from judgegraph.meta.criterion_worth import criteria_worth
    from judgegraph.meta.critic import critic_worth
    from judgegraph.meta.judgements import read_table
    from judgegraph.meta.probes import probe
    from judgegraph.meta.ranking import rank_systems
    from judgegraph.meta.requirements import require
    from judgegraph.meta.run_diff import RunDiff, diff_runs
    from judgegraph.models.prices import Prices
    from judgegraph.planning.dry_run import dry_check
    from judgegraph.planning.forecast import aplan, plan
    from judgegraph.prompts.criteria import CriteriaSet, criteria_set
    from judgegraph.registry.lookup import agent, assistant, critic, method
    from judgegraph.replies.choices import read_choice
    from judgegraph.replies.free_text import read_rating
    from judgegraph.replies.text import Reading
    from judgegraph.report.drawing import Drawing, show
    from judgegraph.report.page import write_report
    from judgegraph.runs.evaluate import aevaluate, evaluate
    from judgegraph.runs.run import Run
    from judgegraph.runs.state_check import strict
    from judgegraph.tools.catalogue import About, Metric
    from judgegraph.tools.fetch import fetch
    from judgegraph.tools.graph_assistant import as_assistant
    from judgegraph.traces.record import serializer, tracing
    from judgegraph.types import (
        Asked,
        Comparison,
        Correction,
        Criterion,
        EvalState,
        Exemplar,
        Finding,
        Note,
        Plan,
        Rectification,
        Result,
        Sample,
        Scale,
        Score,
        Scores,
        Suggestion,
        keyed,
        merged,
    )
    from judgegraph.wiring.check import Wiring, WiringError, check

_HOMES = {
    "judgegraph.agent_runs.formats": ("as_records", "trajectories", "trajectory"),
    "judgegraph.calls": ("Endpoint", "JudgeLike", "Reader", "ask", "rate"),
    "judgegraph.calls.budget": ("Budget",),
    "judgegraph.calls.limits": ("Limits",),
    "judgegraph.compose.conditions": ("bounded", "disagree", "either", "failed", "low", "never_empty", "wide"),
    "judgegraph.compose.critique": ("critique", "refine"),
    "judgegraph.compose.gate": ("escalate", "gate"),
    "judgegraph.compose.nodes": ("metric_node", "with_person"),
    "judgegraph.compose.jury": ("debate", "judge_agent", "jury"),
    "judgegraph.compose.orders": ("orders",),
    "judgegraph.compose.panel": ("each", "panel"),
    "judgegraph.data.load": ("load", "with_examples"),
    "judgegraph.errors": ("ConfigError", "JudgegraphError", "ReplyError"),
    "judgegraph.forms.form": ("JudgeForm",),
    "judgegraph.graph_files.build": ("load_graph",),
    "judgegraph.graphs.judge_form": ("judge_form",),
    "judgegraph.meta.agreement": ("agreement",),
    "judgegraph.meta.critic": ("critic_worth",),
    "judgegraph.meta.criterion_worth": ("criteria_worth",),
    "judgegraph.meta.probes": ("probe",),
    "judgegraph.meta.ranking": ("rank_systems",),
    "judgegraph.meta.requirements": ("require",),
    "judgegraph.meta.compare": ("RunComparison", "compare"),
    "judgegraph.meta.run_diff": ("RunDiff", "diff_runs"),
    "judgegraph.meta.judgements": ("read_table",),
    "judgegraph.models.prices": ("Prices",),
    "judgegraph.planning.dry_run": ("dry_check",),
    "judgegraph.planning.forecast": ("aplan", "plan"),
    "judgegraph.prompts.criteria": ("CriteriaSet", "criteria_set"),
    "judgegraph.registry.lookup": ("agent", "assistant", "critic", "method"),
    "judgegraph.replies.choices": ("read_choice",),
    "judgegraph.replies.free_text": ("read_rating",),
    "judgegraph.replies.text": ("Reading",),
    "judgegraph.report.drawing": ("Drawing", "show"),
    "judgegraph.report.page": ("write_report",),
    "judgegraph.runs.evaluate": ("aevaluate", "evaluate"),
    "judgegraph.runs.run": ("Run",),
    "judgegraph.runs.state_check": ("strict",),
    "judgegraph.tools.catalogue": ("About", "Metric"),
    "judgegraph.tools.fetch": ("fetch",),
    "judgegraph.tools.graph_assistant": ("as_assistant",),
    "judgegraph.traces.record": ("serializer", "tracing"),
    "judgegraph.types": (
        "Asked", "Comparison", "Correction", "Criterion", "EvalState", "Exemplar", "Finding", "Note", "Plan",
        "Rectification", "Result", "Sample", "Scale", "Score", "Scores", "Suggestion", "keyed", "merged",
    ),
    "judgegraph.wiring.check": ("Wiring", "WiringError", "check"),
}  # fmt: skip
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "About", "Asked", "Budget", "Comparison", "ConfigError", "Correction", "CriteriaSet", "Criterion", "Drawing",
    "Endpoint", "EvalState", "Exemplar", "Finding", "JudgeForm", "JudgeLike", "JudgegraphError", "Limits", "Metric",
    "Note", "Plan", "Prices", "Reader", "Reading", "Rectification", "ReplyError", "Result", "Run", "RunComparison",
    "RunDiff", "Sample", "Scale", "Score", "Scores", "Suggestion", "Wiring", "WiringError", "__version__",
    "aevaluate", "agent", "agreement", "aplan", "as_assistant", "as_records", "ask", "assistant", "bounded", "check",
    "compare", "criteria_set", "criteria_worth", "critic", "critic_worth", "critique", "debate", "diff_runs",
    "disagree", "dry_check", "each", "either", "escalate", "evaluate", "failed", "fetch", "gate", "judge_agent",
    "judge_form", "jury", "keyed", "load", "load_graph", "low", "merged", "method", "metric_node", "never_empty",
    "orders", "panel", "plan", "probe", "rank_systems", "rate", "read_choice", "read_rating", "read_table", "refine",
    "require", "serializer", "show", "strict", "tracing", "trajectories", "trajectory", "wide", "with_examples",
    "with_person", "write_report",
]  # fmt: skip

moved.install()


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'judgegraph' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
