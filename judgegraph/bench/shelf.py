"""The collections by name, each imported when it is wanted."""

from __future__ import annotations

import importlib
from pathlib import Path

from judgegraph.bench.collection import Collection
from judgegraph.bench.files import present
from judgegraph.errors import ConfigError, DataError, one_line

COLLECTIONS = {  # name -> module with its COLLECTION
    "summeval": "judgegraph.bench.summeval",
    "topical_chat": "judgegraph.bench.topical_chat",
    "openmeva": "judgegraph.bench.openmeva",
    "bagel": "judgegraph.bench.bagel",
    "sfres": "judgegraph.bench.sfres",
    "qags": "judgegraph.bench.qags",
    "llmbar": "judgegraph.bench.llmbar",
    "pandalm": "judgegraph.bench.pandalm",
    "autoj": "judgegraph.bench.autoj",
    "prometheus": "judgegraph.bench.prometheus",
    "mateval": "judgegraph.bench.mateval",
}


def collection(name: str) -> Collection:
    """A collection by its name; case, "-" and "_" do not matter.

    Raises:
        ConfigError: there is none of that name.
    """
    wanted = _bare(name)
    found = [module for known, module in COLLECTIONS.items() if _bare(known) == wanted]
    if not found:
        raise ConfigError(f"no collection {one_line(name, 60)!r}; known: {', '.join(COLLECTIONS)}")
    made: Collection = importlib.import_module(found[0]).COLLECTION
    return made


def folder_of(data: Path, known: Collection) -> Path:
    """The collection's own folder: `data` itself, or below it.

    Raises:
        DataError: none of the collection's files is there.
    """
    places = dict.fromkeys((data / (known.folder or known.name), data / known.name, data))
    for place in places:
        if any(present(place / name) for name in known.files):
            return place
    where = " or ".join(str(place) for place in places)
    raise DataError(f"{known.title}: no {known.files[0]} in {where}; the original is {known.origin}; see docs/bench.md")


def _bare(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "").replace(" ", "")
