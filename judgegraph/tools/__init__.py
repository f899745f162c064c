"""Assistant evaluators: metrics, and later other judges, that a fusing judge can consult."""

from judgegraph.tools.catalogue import ASSISTANTS, DEFAULTS, AssistantLike, assistant, assistants
from judgegraph.tools.finding import About, Assistant, Metric, Unmeasurable, find

__all__ = [
    "ASSISTANTS",
    "DEFAULTS",
    "About",
    "Assistant",
    "AssistantLike",
    "Metric",
    "Unmeasurable",
    "assistant",
    "assistants",
    "find",
]
