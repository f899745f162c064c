"""What a name stands for wherever an agent is wanted, in a graph file or a panel: of any kind."""

from __future__ import annotations

from typing import Any

from judgegraph.errors import ConfigError, one_line
from judgegraph.registry.methods import factory, is_file
from judgegraph.registry.part import KINDS, Kind, Part
from judgegraph.registry.parts import candidates, listed, load, meant, names
from judgegraph.registry.plugins import normal


def find(asked: str) -> tuple[Kind, str]:
    """(kind, name within the kind) of "NAME", "PACKAGE:NAME", "KIND/NAME", `file.py:factory` or a graph file.

    Nothing is imported for it, but what shares the name with other kinds: of that the disabled does not count.

    Raises:
        ConfigError: no such name, or one of several kinds.
    """
    word, slash, rest = asked.partition("/")
    if slash and word in KINDS:
        return next(kind for kind in KINDS if kind == word), rest
    if is_file(asked):
        return "method", asked
    found = [kind for kind in KINDS if _of(kind, asked)]
    if len(found) > 1:
        found = [kind for kind in found if not all(part.disabled for part in _of(kind, asked))] or found[:1]
    if len(found) > 1:
        either = " or ".join(f"{kind}/{asked}" for kind in found)
        raise ConfigError(f"'{one_line(asked, 80)}' is the name of {_whose(found, asked)}: write {either}")
    if not found:
        every = tuple(dict.fromkeys(name for kind in KINDS for name in names(kind)))
        known = "; ".join(f"{kind}s: {listed(kind)}" for kind in KINDS)
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


def _of(kind: Kind, asked: str) -> list[Part]:
    """The parts of a kind that "NAME" or "PACKAGE:NAME" may mean."""
    package, colon, name = asked.rpartition(":")
    if name not in names(kind):
        return []
    return [part for part in candidates(kind, name) if not colon or normal(part.package) == normal(package)]


def _whose(kinds: list[Kind], asked: str) -> str:
    """ "an agent of judgegraph 1.0 and of a critic of acritics 2.0"."""
    said = []
    for kind in kinds:
        packages = dict.fromkeys(part.brought_by for part in _of(kind, asked) if not part.disabled)
        said.append(f"{'an' if kind[0] == 'a' else 'a'} {kind} of {' and '.join(packages)}")
    return " and of ".join(said)
