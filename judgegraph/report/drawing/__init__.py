"""A graph as a picture (SVG), as text, as Mermaid; all of it without network."""

from judgegraph.report.drawing.drawing import FORMS, Drawing, show
from judgegraph.report.drawing.look import DRAWING_CSS
from judgegraph.report.drawing.svg import graph_svg
from judgegraph.report.drawing.text import graph_text

__all__ = ["DRAWING_CSS", "FORMS", "Drawing", "graph_svg", "graph_text", "show"]
