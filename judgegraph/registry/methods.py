"""What builds a graph: a method by name, a graph file, or `file.py:factory`."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from judgegraph.errors import ConfigError
from judgegraph.registry.part import Part, raised
from judgegraph.registry.parts import part_of

GRAPH_FILES = (".yaml", ".yml", ".json")
READER = "judgegraph.graph_files.load"  # its graph_factory(path) gives what builds the graph
FILES = ", graph.yaml, or file.py:factory"


def factory(method: str) -> Callable[..., Any]:
    """What builds a graph: a method's name, a graph file, or `path/to/file.py:name` for one of your own.

    Raises:
        ConfigError: no such method, file or name in it, or the file fails to import.
    """
    path, _, name = method.rpartition(":")
    if path.endswith(".py"):
        return callable_of(module_at(Path(path)), name, method)
    if is_file(method):
        reader = importlib.import_module(READER)  # by name: it is a floor above
        return reader.graph_factory(method)  # type: ignore[no-any-return]
    return builder_of(part_of("method", method, FILES))


def builder_of(part: Part) -> Callable[..., Any]:
    """What builds the graph of a part that is a method.

    Raises:
        Disabled: as `Part.load`.
    """
    thing = part.load()
    return thing if callable(thing) else lambda: thing  # a package may bring a compiled graph


def is_file(method: str) -> bool:
    """Whether a method is named by a file: `file.py:factory`, or a graph file."""
    return method.rpartition(":")[0].endswith(".py") or method.lower().endswith(GRAPH_FILES)


def module_at(path: Path) -> Any:
    """The module that a file of one's own makes: its code runs.

    Raises:
        ConfigError: there is no such file, or it fails to import.
    """
    if not path.is_file():
        raise ConfigError(f"no file {path}")
    name = f"judgegraph_user_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # LangGraph looks type hints up by module name
    try:
        spec.loader.exec_module(module)
    except BaseException as error:  # SystemExit too: a file that exits would end the command as if all were well
        sys.modules.pop(name, None)
        if isinstance(error, KeyboardInterrupt):
            raise
        raise ConfigError(f"{path} fails to import: {raised(error)}") from error
    return module


def callable_of(module: Any, name: str, method: str) -> Callable[..., Any]:
    """What is called so in a module.

    Raises:
        ConfigError: it has no such class or function.
    """
    found = getattr(module, name, None)
    if not callable(found):
        raise ConfigError(f"{method}: {module.__name__} has no function '{name}'")
    return found  # type: ignore[no-any-return]
