"""Hold a graph's drawing to the figure in its module's docstring."""

import inspect
import re
from itertools import pairwise
from types import ModuleType
from typing import Any

ENDS = {"START": "__start__", "END": "__end__"}


def arrows(graph: Any) -> set[str]:
    """ "a > b" for every edge of the drawn graph."""
    return {f"{edge.source} > {edge.target}" for edge in graph.get_graph().edges}


def comments(module: ModuleType) -> str:
    """What stands in the comments of a module, such as the figure of one of its sections."""
    return "\n".join(re.findall(r"^# ?(.*)$", inspect.getsource(module), re.M))


def figure(docstring: str | None) -> set[str]:
    """ "a > b" for every arrow of the first figure in a docstring; (remarks) in it do not count."""
    found: set[str] = set()
    for line in re.findall(r"^ {4}(.*->.*)$", docstring or "", re.M):
        steps = [re.sub(r"\(.*?\)", "", step).strip() for step in line.split("->")]
        nodes = [[ENDS.get(name.strip(), name.strip()) for name in step.split("|")] for step in steps]
        for left, right in pairwise(nodes):
            found |= {f"{a} > {b}" for a in left for b in right}
    return found
