"""`jg.show`: a graph as a picture, in notebooks, files and terminals."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from zlib import crc32

from judgegraph.errors import ConfigError, one_line
from judgegraph.report.drawing.figure import Figure, figure_of
from judgegraph.report.drawing.mermaid import graph_mermaid
from judgegraph.report.drawing.svg import graph_svg
from judgegraph.report.drawing.text import graph_text
from judgegraph.shown import Shown

FORMS = {".svg": "svg", ".mmd": "mermaid", ".txt": "text"}  # suffix of a file -> what is written


@dataclass(frozen=True)
class Drawing(Shown):
    """A graph that can be looked at: `.svg`, `.text` and `.mermaid`; a notebook shows the SVG."""

    graph: Any = field(repr=False)

    @cached_property
    def figure(self) -> Figure:
        """What is drawn."""
        return figure_of(self.graph)

    @cached_property
    def svg(self) -> str:
        """A picture that stands by itself, light or dark as its viewer is."""
        return graph_svg(self.figure)

    @cached_property
    def text(self) -> str:
        """A line per node with where it leads."""
        return graph_text(self.figure)

    @cached_property
    def mermaid(self) -> str:
        """Mermaid's text, in LangGraph's form; a name or an answer is text there, whatever it says."""
        return graph_mermaid(self.graph)

    def save(self, path: str | Path) -> Path:
        """Written to a file, in the form of its suffix: .svg, .mmd or .txt.

        Raises:
            ConfigError: another suffix, or the file cannot be written.
        """
        path = Path(path)
        form = FORMS.get(path.suffix.lower())
        if form is None:
            raise ConfigError(f"{one_line(path)}: a drawing is kept as {', '.join(FORMS)}; name the file so")
        try:
            path.write_text(getattr(self, form), encoding="utf-8", newline="\n")
        except OSError as error:
            raise ConfigError(f"{one_line(path)} cannot be written: {error.strerror or error}") from None
        return path

    def _repr_html_(self) -> str:
        ids = f"jg{crc32(self.svg.encode()):x}"  # the same picture twice may share its ids
        svg = graph_svg(self.figure, prefix=ids)
        return f'<div class="jg-wide" tabindex="0" role="group" aria-label="drawing of a graph">{svg}</div>'

    def __str__(self) -> str:
        return self.text


def show(graph: Any) -> Drawing:
    """A graph to look at: `jg.show("sageval")` in a notebook, `print(jg.show(graph))`, `.save("graph.svg")`.

    Args:
        graph: a compiled graph, a StateGraph, or a method: its name, a graph file, or file.py:factory.

    Raises:
        ConfigError: it is none of these, or cannot be compiled.
    """
    from langgraph.graph import StateGraph

    made = graph
    if isinstance(graph, str):
        from judgegraph.compose.node import as_node

        made = as_node(f"method/{graph}")
    if isinstance(made, StateGraph):
        try:
            made = made.compile(name="graph")
        except (ValueError, TypeError) as error:
            raise ConfigError(f"show: the graph cannot be compiled: {one_line(error)}") from error
    return _shown(Drawing(made))


def _shown(drawing: Drawing) -> Drawing:
    _ = drawing.figure  # what is no graph is refused here, not where it is looked at
    return drawing
