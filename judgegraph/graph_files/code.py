"""Python beside a graph file: `my_nodes.py:tidy`. Loading such a file runs its code, as importing a module does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from judgegraph.errors import JudgegraphError, one_line
from judgegraph.graph_files.around import Around
from judgegraph.graph_files.source import Place
from judgegraph.registry.methods import callable_of, module_at


def is_code(text: str) -> bool:
    """Whether a text names Python code."""
    return text.rpartition(":")[0].endswith(".py")


def code_at(around: Around, path: Place, text: str) -> Any:
    """The class or function; None where there is none, which joins the faults.

    A graph file runs code only from its own folder and the folders in it, and so do those within it: wherever one lies,
    and wherever a link leads.
    """
    name, _, attribute = text.rpartition(":")
    inside = around.folder / name
    if Path(name).is_absolute() or ".." in Path(name).parts:
        around.source.fault(
            path, f"code lies beside the graph file or in a folder below it, not at {one_line(name, 80)}"
        )
        return None
    if not inside.resolve().is_relative_to(around.count.folder):
        around.source.fault(path, f"{one_line(name, 80)} leads out of the folder of the graph file that is run")
        return None
    try:
        if name not in around.modules:
            around.modules[name] = module_at(inside)
        return callable_of(around.modules[name], attribute, text)
    except JudgegraphError as error:
        around.source.fault(path, one_line(error, 500))
    except (Exception, SystemExit) as error:
        around.source.fault(path, f"{one_line(name, 80)} fails to import: {type(error).__name__}: {one_line(error)}")
    return None
