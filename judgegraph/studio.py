"""The methods as functions without arguments, for `langgraph.json`; the judge comes from the environment.

JUDGEGRAPH_JUDGE names it ("openai:MODEL"); without it the embedded judge answers.
"""

from __future__ import annotations

import os
from typing import Any

from judgegraph.registry import factory


def _built(method: str) -> Any:
    return factory(method)(judge=os.environ.get("JUDGEGRAPH_JUDGE", "embedded"))


def sageval() -> Any:
    """SAGEval."""
    return _built("sageval")


def coascore() -> Any:
    """CoAScore."""
    return _built("coascore")


def fennec() -> Any:
    """Fennec."""
    return _built("fennec")


def fusion_eval() -> Any:
    """Fusion-Eval."""
    return _built("fusion-eval")


def g_eval() -> Any:
    """G-Eval."""
    return _built("g-eval")


def llm_score() -> Any:
    """LLMScore."""
    return _built("llm-score")
