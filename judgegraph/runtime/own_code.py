"""Where code of the caller's own may decide what a graph asks next."""

from __future__ import annotations

from typing import Any

from judgegraph.runtime.code_digest import code_of
from judgegraph.runtime.topology import function_of


def own_code(graph: Any, path: str = "") -> tuple[str, ...]:
    """Such as ("node 'critique'", "what follows 'weigh/judge'"): nodes and choices between edges that are not ours.

    Ours decide by what the manners of invented replies differ in. Others may look at anything in a reply.
    """
    builder = getattr(graph, "builder", None)
    found: list[str] = []
    for name, node in getattr(builder, "nodes", {}).items():
        runs = function_of(node.runnable)
        if hasattr(runs, "builder"):
            found += own_code(runs, f"{path}{name}/")
        elif code_of(runs) is not None:
            found.append(f"node '{path}{name}'")
    for source, branches in getattr(builder, "branches", {}).items():
        place = "the start" if source == "__start__" else f"'{path}{source}'"
        if any(code_of(function_of(branch.path)) is not None for branch in branches.values()):
            found.append(f"what follows {place}")
    return tuple(found)
