"""What a name stands for wherever an agent is wanted, in a graph file or a panel: of any kind."""

from __future__ import annotations

from typing import Any

from judgegraph.errors import ConfigError, one_line
from judgegraph.registry.methods import factory, is_file
from judgegraph.registry.part import KINDS, Kind
from judgegraph.registry.parts import candidates, load, meant, names
from judgegraph.registry.plugins import normal


def find(asked: str) -> tuple[Kind, str]:
    """(kind, name within the kind) of "NAME", "PACKAGE:NAME", "KIND/NAME", `file.py:factory` or a graph file.

    Nothing is imported for it.

    Raises:
        ConfigError: no such name, or one of several kinds.
    """
    word, slash, rest = asked.partition("/")
    if slash and word in KINDS:
        return next(kind for kind in KINDS if kind == word), rest
    if is_file(asked):
        return "method", asked
    found = [kind for kind in KINDS if _is_of(kind, asked)]
    if len(found) > 1:
        either = " or ".join(f"{kind}/{asked}" for kind in found)
        kinds = " and of ".join(f"an {kind}" if kind[0] == "a" else f"a {kind}" for kind in found)
        raise ConfigError(f"'{one_line(asked, 80)}' is the name of {kinds}: write {either}")
    if not found:
        every = tuple(dict.fromkeys(name for kind in KINDS for name in names(kind)))
        known = "; ".join(f"{kind}s: {', '.join(names(kind))}" for kind in KINDS)
        raise ConfigError(
            f"no agent, critic, method or assistant '{one_line(asked, 80)}'; {meant(asked, every)}known {known}"
        )
    return found[0], asked


def find_agent(asked: str) -> tuple[Kind, Any]:
    """(kind, class, factory or object): of an assistant what measures, of a method what builds its graph.

    Raises:
        ConfigError: as `find`; one of several packages, or of a package that is disabled.
    """
    kind, name = find(asked)
    return kind, factory(name) if kind == "method" else load(kind, name)


def _is_of(kind: Kind, asked: str) -> bool:
    package, colon, name = asked.rpartition(":")
    if not colon:
        return name in names(kind)
    return name in names(kind) and any(normal(part.package) == normal(package) for part in candidates(kind, name))
