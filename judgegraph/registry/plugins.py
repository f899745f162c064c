"""What installed packages bring: their entry points, read when a name is first asked for, imported later still."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from judgegraph.errors import one_line
from judgegraph.registry.part import KINDS, Kind, Part

if TYPE_CHECKING:
    from importlib.metadata import Distribution

GROUPS: dict[str, Kind] = {f"judgegraph.{kind}s": kind for kind in KINDS}
NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")  # ":" and "/" say package and kind, "." a file; models call tools by it
TARGET = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)


@lru_cache(maxsize=1)
def installed() -> tuple[Part, ...]:
    """Parts of all installed packages, by package and name; once in a process, none of them imported."""
    found = dict.fromkeys(part for package in _packages() for part in _parts(package))
    return tuple(sorted(found, key=lambda part: (part.package, part.kind, part.name, part.target)))


def brought_by(module: str) -> str:
    """ "package 1.0" of the installed package that a module belongs to, "" where none with an entry point does.

    It has a part in the module or, where there is none, next to it; packages that are equally near are all named.
    """
    path = module.split(".")
    near: dict[str, int] = {}
    for part in installed():
        target = part.target.partition(":")[0].split(".")
        alike = len([*takewhile(lambda pair: pair[0] == pair[1], zip(path, target, strict=False))])
        near[part.brought_by] = max(alike, near.get(part.brought_by, 0))
    nearest = max(near.values(), default=0)
    return " and ".join(package for package, alike in near.items() if alike == nearest) if nearest else ""


def _packages() -> Iterator[Distribution]:
    """Those with an entry point of ours; of one that lies on the path twice the first, which Python imports too."""
    from importlib.metadata import distribution, distributions  # 0.1 s that `import judgegraph` does not need

    seen = set()
    for package in distributions():
        if not _groups(package):
            continue
        name = normal(name_of(package))
        if name in seen and name != "?":
            continue
        seen.add(name)
        try:
            yield distribution(name)
        except Exception:  # no name by which it could be found again
            yield package


def _parts(package: Distribution) -> Iterator[Part]:
    name, version = name_of(package), _told(package, "Version")
    try:
        points = [point for point in package.entry_points if point.group in GROUPS]
    except Exception as error:
        why = f"its entry_points.txt cannot be read: {one_line(error) or type(error).__name__}"
        for group in _groups(package):
            yield Part(kind=GROUPS[group], name="?", package=name, version=version, fault=why)
        return
    for point in points:
        target = re.sub(r"\s*\[.*\]\s*$", "", point.value).replace(" ", "")  # "module:name [extra]"
        yield Part(
            kind=GROUPS[point.group], name=point.name, package=name, version=version, target=target,
            fault=name_fault(point.name) or ("" if TARGET.fullmatch(target) else "it does not say module:attribute"),
        )  # fmt: skip


def _groups(package: Distribution) -> list[str]:
    """Groups of ours that a package names, read from the file's text: it is looked at in every package there is."""
    try:
        text = package.read_text("entry_points.txt") or ""
    except Exception:
        return []
    return [group for group in GROUPS if "judgegraph." in text and re.search(rf"^\s*\[\s*{group}\s*\]", text, re.M)]


def name_fault(name: Any) -> str:
    """Why nothing can be called so, "" where it can."""
    if isinstance(name, str) and NAME.fullmatch(name):
        return ""
    return "a name is 1 to 64 letters, digits, '_' or '-'"


def name_of(package: Distribution) -> str:
    """The package's name, "?" where its metadata say none."""
    return _told(package, "Name") or "?"


def normal(package: str) -> str:
    """A package's name as indexes compare them: "My.Package" is "my-package"."""
    return re.sub(r"[-_.]+", "-", package).lower()


def _told(package: Distribution, key: str) -> str:
    try:
        return str(package.metadata[key] or "")
    except Exception:  # a missing or damaged METADATA file
        return ""
