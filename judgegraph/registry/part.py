"""One part that a name stands for: who brings it, where it is, and how it is loaded."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import Any, Literal

from judgegraph.errors import ConfigError, one_line
from judgegraph.registry.variants import preset

Kind = Literal["method", "agent", "critic", "assistant"]
KINDS: tuple[Kind, ...] = ("agent", "critic", "method", "assistant")  # the order of a look-up by name alone


class Disabled(ConfigError):
    """A package's part that cannot be used: only what asks for it hears of it.

    Attributes:
        reason: why, without the package.
    """

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, kw_only=True)
class Part:
    """A row of the registry.

    Attributes:
        package: what brings it: "judgegraph", another distribution, or the module of a decorated class or function.
        version: of the package, "" where it has none. target: "module:attribute".
        thing: what was decorated; None for what is imported when it is wanted.
        variant: the name is a variant's: its method's factory is loaded with the variant's settings.
        fault: why it can never be loaded, known before it is tried.
    """

    kind: Kind
    name: str
    package: str
    version: str = ""
    target: str = ""
    thing: Any = field(default=None, compare=False)
    fault: str = ""
    variant: bool = False

    @property
    def origin(self) -> str:
        """ "package 1.0 (module:attribute)", fit for a terminal."""
        where = f" ({one_line(self.target, 120)})" if self.target else ""
        return f"{self.brought_by}{where}"

    @property
    def brought_by(self) -> str:
        """ "package 1.0"."""
        return " ".join(filter(None, (one_line(self.package, 80), one_line(self.version, 40))))

    @property
    def exact(self) -> str:
        """The name that no other package can share: "package:name"."""
        return f"{self.package}:{self.name}"

    @property
    def ours(self) -> bool:
        return self.package == "judgegraph"

    @property
    def disabled(self) -> bool:
        """Whether it is a package's and cannot be used; it is imported for that."""
        if self.ours:
            return False
        try:
            self.load()
        except Disabled:
            return True
        return False

    def load(self) -> Any:
        """The class, factory or object.

        Raises:
            Disabled: a package's part cannot be imported, is not there or cannot be called.
        """
        if self.thing is not None:
            return self.thing
        if self.ours:
            found = _attribute(self.target)  # what fails here is a mistake of ours: it is told as it is
            return preset(self.name, found) if self.variant else found
        if self.fault:
            raise self._disabled(self.fault)
        if self not in LOADED:
            LOADED[self] = _tried(self.target)
        thing, fault = LOADED[self]
        if fault:
            raise self._disabled(fault)
        return thing

    def _disabled(self, why: str) -> Disabled:
        reason = f"entry point {one_line(repr(self.target), 120)}: {why}" if self.target else why
        name = one_line(self.name, 80)
        return Disabled(f"{self.kind} '{name}' is disabled: package {self.brought_by}, {reason}", reason)


LOADED: dict[Part, tuple[Any, str]] = {}  # a plug-in is tried once in a process: what came of it, or why nothing did


def _attribute(target: str) -> Any:
    module, _, path = target.partition(":")
    found: Any = importlib.import_module(module)
    for name in path.split("."):
        found = getattr(found, name)
    return found


def _tried(target: str) -> tuple[Any, str]:
    """(thing, "") or (None, why not): whatever a package does when it is imported, the framework goes on."""
    try:
        thing = _attribute(target)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit too: a plug-in does not end the command
        return None, raised(error)
    if not usable(thing):
        return None, f"it is an object of type {one_line(type(thing).__name__, 60)}, which cannot be called"
    return thing, ""


def usable(thing: Any) -> bool:
    """Whether something can be a part: a class, a function, an object with a call, or a graph."""
    return callable(thing) or hasattr(thing, "ainvoke")


def raised(error: BaseException) -> str:
    """What somebody else's code raised, in a line: "ValueError: no such file"."""
    try:
        said = str(error)
    except Exception:  # a message may be code too
        said = ""
    return one_line(f"{type(error).__name__}: {said}".removesuffix(": "))
