"""Mermaid's text: every line is one of its statements, whatever a graph's names say."""

import re

import pytest
from drawn_graphs import OWN, SHIPPED, built, graph, somewhere
from langgraph.graph import END, START

import judgegraph as jg

KEY = r"[\w\\-]+"  # LangGraph writes other signs as their numbers
LABEL = r'(?:[^#;()\[\]{}|"]|#\w+;)*'
ARROW = rf"(?:-->|-\.->|-- &nbsp;{LABEL}&nbsp; -->|-\. &nbsp;{LABEL}&nbsp; \.->)"
STATEMENTS = (
    r"---", r"config:", r"  flowchart:", r"    curve: linear", r"graph TD;", r"",
    rf"    {KEY}\(\[?(?:{LABEL})\]?\)(?::::\w+)?",
    rf"    {KEY} {ARROW} {KEY};",
    rf"    subgraph (?:{LABEL})", r"    end", r"    classDef \w+ [\w:#.,-]+",
)  # fmt: skip


def strange(text: str) -> list[str]:
    """Lines that are no statement."""
    return [line for line in text.split("\n") if not any(re.fullmatch(one, line) for one in STATEMENTS)]


@pytest.mark.parametrize("name", SHIPPED)
def test_every_method_and_variant_is_drawn_in_statements_alone(name: str):
    text = jg.show(built(name)).mermaid
    assert strange(text) == []
    assert not {"\t", "\ufffd"} & set(text)


TWICE = ("nested", "jury")  # hold two subgraphs of one name


@pytest.mark.parametrize("name", TWICE)
def test_what_langgraph_cannot_write_is_told(name: str):
    with pytest.raises(jg.ConfigError, match="as text or SVG it can be drawn"):
        _ = jg.show(built(name)).mermaid


@pytest.mark.parametrize("name", [name for name in OWN if name not in TWICE])
def test_so_is_a_graph_of_ones_own(name: str):
    assert strange(jg.show(built(name)).mermaid) == []


@pytest.mark.parametrize(
    "name",
    ["a\nclick b href x", 'a);click b href "javascript";b(', "a\r\nend", "a\tb", "<script>alert(1)</script>"],
)
def test_a_name_and_an_answer_stay_text(name: str):
    g = graph([name, "b"], (START, name))
    g.add_conditional_edges(name, somewhere, {name + "!": "b", "end": END})
    inner = graph(["x", "y"], (START, "x"), ("x", "y")).compile(name="inner")
    g.add_node(name + "?", inner)
    g.add_edge("b", name + "?")
    text = jg.show(g).mermaid
    assert strange(text) == []
    assert not {"\t", "\r"} & set(text)
    assert not re.search(r"(?m)^\s*click|<script", text)


def test_the_text_is_the_same_on_a_terminal():
    text = jg.show("fennec").mermaid
    assert jg.errors.printable(text) == text
    assert "    branch -.-> merge;" in text.split("\n")
