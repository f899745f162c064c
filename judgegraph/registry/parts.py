"""Parts by kind and name: what this package brings, what others bring, and what was registered in this process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from judgegraph import __version__
from judgegraph.errors import ConfigError, one_line
from judgegraph.registry.decorators import REGISTERED, target_of
from judgegraph.registry.part import Kind, Part
from judgegraph.registry.plugins import installed, normal
from judgegraph.registry.shipped import SHIPPED
from judgegraph.registry.variants import VARIANTS, Variant


def names(kind: Kind) -> tuple[str, ...]:
    """Known names of a kind, ours first, methods' before variants'; none is imported for it."""
    theirs = (part.name for part in installed() if part.kind == kind and not part.fault)
    here = (name for k, name in REGISTERED if k == kind)
    return tuple(dict.fromkeys((*SHIPPED[kind], *_variants(kind), *theirs, *here)))


def parts(kind: Kind) -> tuple[Part, ...]:
    """Every part of a kind, those that share a name and those that cannot be used among them; none is imported."""
    faulty = [part for part in installed() if part.kind == kind and part.fault]
    return (*(part for name in names(kind) for part in candidates(kind, name)), *faulty)


def candidates(kind: Kind, name: str) -> tuple[Part, ...]:
    """The parts that share a name; an entry point and the decorator on what it names are one."""
    found = [part for part in installed() if (part.kind, part.name) == (kind, name)]
    varies = name in _variants(kind)
    if varies or name in SHIPPED[kind]:
        target = SHIPPED[kind][VARIANTS[name].method if varies else name]
        ours = Part(kind=kind, name=name, package="judgegraph", version=__version__, target=target, variant=varies)
        found = [ours, *found]
    alone = []
    for registered in REGISTERED.get((kind, name), {}).values():
        at = next((i for i, part in enumerate(found) if _same(part, registered)), None)
        if at is None:
            alone.append(registered)
        elif not found[at].disabled:
            found[at] = replace(found[at], thing=registered.thing)  # of a module that was reloaded the newer
    return (*found, *alone)


def _variants(kind: Kind) -> Mapping[str, Variant]:
    return VARIANTS if kind == "method" else {}


def part_of(kind: Kind, asked: str, more: str = "") -> Part:
    """The part that "NAME" or "PACKAGE:NAME" stands for.

    Args:
        more: what else could be written, for the message where nothing has the name.

    Nothing is imported for it, but where packages share the name: of those the disabled ones do not count.

    Raises:
        ConfigError: no such name, or one of several packages.
    """
    package, colon, name = asked.rpartition(":")
    found = [p for p in candidates(kind, name) if not colon or normal(p.package) == normal(package)]
    if not found:
        raise ConfigError(_unknown(kind, asked, more))
    if len(found) > 1:  # what cannot be used takes no name away
        found = [part for part in found if not part.disabled] or found[:1]
    if len(found) > 1:
        listed = " and ".join(part.origin for part in found)
        exact = " or ".join(dict.fromkeys(one_line(part.exact, 120) for part in found))
        cure = f"uninstall one, or write {exact}" if len({p.package for p in found}) > 1 else "one must be renamed"
        raise ConfigError(f"{len(found)} {kind}s are called '{name}': {listed}; {cure}")
    return found[0]


def load(kind: Kind, asked: str) -> Any:
    """The class, factory or object behind "NAME" or "PACKAGE:NAME".

    Raises:
        ConfigError: no such name, one of several packages, or of a package that is disabled.
    """
    return part_of(kind, asked).load()


def _unknown(kind: Kind, asked: str, more: str) -> str:
    """What to say of a name that nothing has: the close ones, then all."""
    return f"no {kind} '{one_line(asked, 80)}'; {meant(asked, names(kind))}known: {listed(kind)}{more}"


def listed(kind: Kind) -> str:
    """Names of a kind for a message, without variants: those are many, and their methods stand in it."""
    return ", ".join(name for name in names(kind) if name not in _variants(kind))


def meant(asked: str, known: tuple[str, ...]) -> str:
    """ "did you mean 'sageval'? ", "" where no name is close."""
    close = get_close_matches(asked.rpartition(":")[2].lower(), known, n=3)
    return f"did you mean {' or '.join(map(repr, close))}? " if close else ""


def _same(part: Part, registered: Part) -> bool:
    """Whether an entry point brings what was registered, which it may name by another path."""
    if part.ours:
        return part.target == registered.target and not part.variant
    if part.disabled:  # it may have registered itself before its import failed
        return part.target.partition(":")[0].partition(".")[0] == registered.package
    thing = part.load()
    return thing is registered.thing or target_of(thing, "") == registered.target
