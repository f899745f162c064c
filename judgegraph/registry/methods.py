"""What builds a graph: a method by name, or `file.py:factory`."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from judgegraph.errors import ConfigError
from judgegraph.registry.shipped import METHODS


def factory(method: str) -> Callable[..., Any]:
    """What builds a graph: a method's name, or `path/to/file.py:name` for one of your own.

    Raises:
        ConfigError: no such method, file or name in it, or the file fails to import.
    """
    path, colon, name = method.rpartition(":")
    if method in METHODS:
        module, _, name = METHODS[method].partition(":")
        return _callable(importlib.import_module(module), name, method)
    if colon and path.endswith(".py"):
        return _callable(_module(Path(path)), name, method)
    raise ConfigError(f"no method '{method}'; known: {', '.join(METHODS)}, or file.py:factory")


def _module(path: Path) -> Any:
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
    except Exception as error:
        del sys.modules[name]
        raise ConfigError(f"{path} fails to import: {type(error).__name__}: {error}") from error
    return module


def _callable(module: Any, name: str, method: str) -> Callable[..., Any]:
    found = getattr(module, name, None)
    if not callable(found):
        raise ConfigError(f"{method}: {module.__name__} has no function '{name}'")
    return found  # type: ignore[no-any-return]
