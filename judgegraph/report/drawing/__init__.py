"""A graph as a picture (SVG), as text, as Mermaid; all of it without network."""

from judgegraph.report.drawing.figure import DRAWING_CSS
from judgegraph.report.drawing.render import FORMS, Drawing, graph_svg, graph_text, show

__all__ = ["DRAWING_CSS", "FORMS", "Drawing", "graph_svg", "graph_text", "show"]
