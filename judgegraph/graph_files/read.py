"""A graph file read: its parts held to their shape, each by itself, so that one mistake hides no other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from judgegraph.errors import one_line
from judgegraph.graph_files.arrows import END, START
from judgegraph.graph_files.shape import shaped
from judgegraph.graph_files.source import GraphFileError, GraphText, Source
from judgegraph.graph_files.spec import EdgeRef, EdgeSpec, HeadSpec, NodeRef, NodeSpec

HEAD: TypeAdapter[HeadSpec] = TypeAdapter(HeadSpec)
NODE: TypeAdapter[Any] = TypeAdapter(NodeRef)
EDGE: TypeAdapter[Any] = TypeAdapter(EdgeRef)


@dataclass(frozen=True)
class Parts:
    """A file's content.

    Attributes:
        source: the file, with what was wrong so far. head: all but nodes and edges.
        nodes: name -> what runs there, None where that is wrong. edges: place in the file -> edge.
    """

    source: Source
    head: HeadSpec
    nodes: Mapping[str, str | NodeSpec | None]
    edges: Mapping[int, str | EdgeSpec]

    def afresh(self) -> Parts:
        """The same for one build: what one finds wrong is not told by the next."""
        return replace(self, source=replace(self.source, faults=list(self.source.faults)))


def read_parts(path: Path) -> Parts:
    """The parts of a file.

    Raises:
        GraphFileError: it cannot be read, or it is no mapping with a name, nodes and edges.
    """
    source = Source(GraphText(_existing(path))).read()
    head = shaped(HEAD, source, (), source.data)
    data = source.data if isinstance(source.data, dict) else {}
    listed, drawn = data.get("nodes"), data.get("edges")
    nodes = {
        name: shaped(NODE, source, ("nodes", name), given, NodeSpec)
        for name, given in (listed.items() if isinstance(listed, dict) else ())
    }
    edges = {
        place: edge
        for place, given in enumerate(drawn if isinstance(drawn, list) else ())
        if (edge := shaped(EDGE, source, ("edges", place), given, EdgeSpec)) is not None
    }
    for name in {START, END} & set(nodes):
        del nodes[name]
        source.fault(("nodes", name), f"'{name}' is where a graph {'begins' if name == START else 'ends'}; rename it")
    if head is None:
        source.settle()
        raise AssertionError("a file without a head has faults")
    return Parts(source, head, nodes, edges)


def _existing(path: Path) -> Path:
    try:
        found = path.is_file()
    except (OSError, ValueError):  # a name too long, or with a zero in it
        found = False
    if not found:
        raise GraphFileError(f"graph file {one_line(path)}: there is no such file")
    return path
