"""Assistant evaluators: metrics, and other graphs, that a fusing judge can consult."""

from typing import Any

from judgegraph.registry.shipped import ASSISTANTS
from judgegraph.tools.catalogue import (
    DEFAULTS,
    FORM_DEFAULTS,
    About,
    Assistant,
    AssistantLike,
    Metric,
    Unmeasurable,
    assistant,
    assistants,
    find,
    find_all,
    measure,
)
from judgegraph.tools.graph_assistant import GraphAssistant, as_assistant

__all__ = [
    "ASSISTANTS",
    "DEFAULTS",
    "FORM_DEFAULTS",
    "About",
    "Assistant",
    "AssistantLike",
    "GraphAssistant",
    "Metric",
    "Unmeasurable",
    "as_assistant",
    "assistant",
    "assistants",
    "find",
    "find_all",
    "measure",
    "unieval",
]


def __getattr__(name: str) -> Any:
    """A learned metric that is made with settings, from its file, which is opened where it is asked for."""
    if name == "unieval":
        from judgegraph.tools.libraries import unieval

        return unieval
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
