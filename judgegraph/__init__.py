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
    from judgegraph.errors import ConfigError, JudgegraphError, ReplyError
    from judgegraph.models.prices import Prices
    from judgegraph.prompts.criteria_sets import CriteriaSet, criteria_set
    from judgegraph.runtime.evaluate import aevaluate, evaluate
    from judgegraph.runtime.load import load
    from judgegraph.runtime.plan import aplan, plan
    from judgegraph.runtime.run import Run
    from judgegraph.runtime.serde import serializer
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

_HOMES = {
    "judgegraph.errors": ("ConfigError", "JudgegraphError", "ReplyError"),
    "judgegraph.calls": ("Endpoint", "Reader", "ask"),
    "judgegraph.calls.budget": ("Budget",),
    "judgegraph.calls.limits": ("Limits",),
    "judgegraph.calls.reading": ("Reading", "read_choice", "read_rating"),
    "judgegraph.prompts.criteria_sets": ("CriteriaSet", "criteria_set"),
    "judgegraph.runtime.evaluate": ("aevaluate", "evaluate"),
    "judgegraph.runtime.load": ("load",),
    "judgegraph.models.prices": ("Prices",),
    "judgegraph.runtime.plan": ("aplan", "plan"),
    "judgegraph.runtime.run": ("Run",),
    "judgegraph.runtime.serde": ("serializer",),
    "judgegraph.types": (
        "Comparison", "Correction", "Criterion", "EvalState", "Finding", "Note", "Plan", "Rectification",
        "Sample", "Scale", "Score", "Suggestion", "merged",
    ),
}  # fmt: skip
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Budget", "Comparison", "ConfigError", "Correction", "CriteriaSet", "Criterion", "Endpoint", "EvalState",
    "Finding", "JudgegraphError", "Limits", "Note", "Plan", "Prices", "Reader", "Reading", "Rectification",
    "ReplyError", "Run", "Sample", "Scale", "Score", "Suggestion", "__version__", "aevaluate", "aplan", "ask",
    "criteria_set", "evaluate", "load", "merged", "plan", "read_choice", "read_rating", "serializer",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'judgegraph' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
