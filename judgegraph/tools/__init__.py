"""Assistant evaluators: metrics, and other graphs, that a fusing judge can consult."""

from judgegraph.tools.catalogue import ASSISTANTS, DEFAULTS, AssistantLike, assistant, assistants
from judgegraph.tools.finding import About, Assistant, Metric, Unmeasurable, find, find_all
from judgegraph.tools.graph_assistant import GraphAssistant, as_assistant

__all__ = [
    "ASSISTANTS",
    "DEFAULTS",
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
]
