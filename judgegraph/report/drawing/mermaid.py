"""A graph as Mermaid's text, which nothing that stands in it can break."""

from __future__ import annotations

from typing import Any

from judgegraph.errors import ConfigError, one_line, printable

WORDS = frozenset("#;\"'<>|()[]{}&`")  # of Mermaid and of HTML, which it may be shown in
TAB = "    "
SUBGRAPH = f"{TAB}subgraph "


def graph_mermaid(graph: Any) -> str:
    """As LangGraph writes it, with spaces for tabs, so that a terminal and a page show the same.

    Raises:
        ConfigError: LangGraph cannot write it, such as two subgraphs of one name.
    """
    told = graph.get_graph(xray=True)
    told.nodes = {_key(key): _node(node) for key, node in told.nodes.items()}
    told.edges = [_edge(edge) for edge in told.edges]
    try:
        drawn = told.draw_mermaid()
    except ValueError as error:
        raise ConfigError(f"no Mermaid of this graph: {one_line(error)}; as text or SVG it can be drawn") from None
    lines = printable(drawn.replace("\t", TAB)).split("\n")
    return "\n".join(_subgraph(line) if line.startswith(SUBGRAPH) else line for line in lines)


def _node(node: Any) -> Any:
    about = {_key(str(k)): _key(v) if isinstance(v, str) else v for k, v in (node.metadata or {}).items()}
    return node._replace(id=_key(node.id), name=_escaped(node.name), metadata=about or None)


def _edge(edge: Any) -> Any:
    data = None if edge.data is None else _escaped(edge.data)
    return edge._replace(source=_key(edge.source), target=_key(edge.target), data=data)


def _key(name: str) -> str:
    """On one line: LangGraph writes the other signs of a key as numbers."""
    return printable(name.replace("\n", "\ufffd"))


def _escaped(text: object) -> str:
    """Words of Mermaid as numbers, which it shows as the signs they are."""
    return "".join(f"#{ord(c)};" if c in WORDS else c for c in _key(str(text)))


def _subgraph(line: str) -> str:
    """LangGraph writes its name as it is."""
    return SUBGRAPH + _escaped(line.removeprefix(SUBGRAPH))
