"""Assistant evaluators: metrics, and other graphs, that a fusing judge can consult."""

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
]
