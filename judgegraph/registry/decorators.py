"""Decorators that make a class or a function known by a name in this process."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from judgegraph.errors import ConfigError, one_line
from judgegraph.registry.part import Kind, Part, usable
from judgegraph.registry.plugins import name_fault

T = TypeVar("T")

REGISTERED: dict[tuple[Kind, str], dict[str, Part]] = {}  # (kind, name) -> target -> part


def register(kind: Kind, name: str) -> Callable[[T], T]:
    """A decorator that makes a class, function or object known by a name, and returns it as it is.

    The same class or function again (a module that is reloaded, a cell that is run twice) takes the place of the
    former. One of another module beside it is no error before the name is asked for.

    Raises:
        ConfigError: a name with other characters than letters, digits, "_" and "-", or nothing that can be called.
    """
    if fault := name_fault(name):
        if usable(name):  # the decorator without its brackets
            raise ConfigError(f"@{kind} takes the name: write @jg.{kind}('some-name')")
        raise ConfigError(f"{kind} {one_line(repr(name), 80)}: {fault}")

    def keep(thing: T) -> T:
        if not usable(thing):
            raise ConfigError(f"{kind} '{name}': an object of type {type(thing).__name__} cannot be called")
        frame = inspect.currentframe()
        caller = frame.f_back.f_globals.get("__name__", "?") if frame and frame.f_back else "?"
        target = target_of(thing, caller)
        module = target.partition(":")[0]
        known = REGISTERED.setdefault((kind, name), {})
        if module == "__main__":  # a notebook, where a class that was renamed leaves its old self behind
            for old in [old for old in known if old.startswith("__main__:")]:
                del known[old]
        known[target] = Part(kind=kind, name=name, package=module.partition(".")[0], target=target, thing=thing)
        return thing

    return keep


def method(name: str) -> Callable[[T], T]:
    """Makes a factory of graphs known as a method: `@jg.method("mine")`, then METHOD is `mine`."""
    return register("method", name)


def agent(name: str) -> Callable[[T], T]:
    """Makes an agent's class, or a function that builds an agent, known by a name, for graphs that take one by name.

    A function whose first argument is called `state`, or is annotated with a TypedDict, is an agent itself.
    """
    return register("agent", name)


def critic(name: str) -> Callable[[T], T]:
    """As `agent`, for one that reads scores and writes rectifications: `sageval(critic="mine")`."""
    return register("critic", name)


def assistant(name: str) -> Callable[[T], T]:
    """Makes an assistant evaluator known by a name: an object, a class or a function that makes one.

    A function of one sample that gives a number is an assistant itself; its docstring says what it measures.
    """
    return register("assistant", name)


def target_of(thing: Any, caller: str) -> str:
    """ "module:qualified.name" of a class or function; of an object the module that registers it, and its class."""
    if inspect.isclass(thing) or inspect.isroutine(thing):
        return f"{thing.__module__}:{thing.__qualname__}"
    return f"{caller}:{type(thing).__qualname__}"
