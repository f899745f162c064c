"""Mermaid's text: every line is one of its statements, whatever a graph's names say."""

import re
from itertools import pairwise
from typing import Any

import pytest
from drawn_graphs import OWN, SHIPPED, built, graph, line, nothing, somewhere
from langgraph.graph import END, START

import judgegraph as jg

# What Mermaid 11 reads as its own where an id begins, also before a hyphen or a backslash; read from its grammar.
WORDS = (
    "end", "graph", "subgraph", "style", "class", "classDef", "linkStyle", "flowchart", "call", "href", "click",
    "interpolate", "default", "_self", "_blank", "flowchart-elk", "swimlane-beta",
)  # fmt: skip
PROPERTIES = ("constructor", "toString", "hasOwnProperty", "__proto__")  # of every object of JavaScript
KEY = rf"(?!(?:{'|'.join(WORDS)})(?!\w))(?!(?:{'|'.join(PROPERTIES)}) )(?:\w|\\|(?<=\w)-(?=\w))+"
LABEL = r'(?:(?!direction\s)[^#;:()\[\]{}|"@<>]|#\d+;)+'
ABOUT = rf"<hr/><small><em>{LABEL}(?:<br>{LABEL})*</em></small>"
UNDOTTED = LABEL.replace("#;:", "#;:.")
ARROW = rf"(?:-->|-\.->|-- &nbsp;{LABEL}&nbsp; -->|-\. &nbsp;{UNDOTTED}&nbsp; \.->)"
STATEMENTS = (
    r"---", r"config:", r"  flowchart:", r"    curve: linear", r"graph TD;", r"",
    rf"    {KEY}(?:\((?!-){{0}}\)|\(\[{{0}}\]\)):*\w*".replace("{0}", rf"(?:{LABEL}|<p>{LABEL}</p>)(?:{ABOUT})?"),
    rf"    {KEY} {ARROW} {KEY};",
    rf'    subgraph {KEY}(?:\["{LABEL}"\])?', r"    end", r"    classDef \w+ [\w:#.,-]+",
)  # fmt: skip


def strange(text: str) -> list[str]:
    """Lines that are no statement."""
    return [line for line in text.split("\n") if not any(re.fullmatch(one, line) for one in STATEMENTS)]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", SHIPPED)
def test_every_method_and_variant_is_drawn_in_statements_alone(name: str):
    text = jg.show(built(name)).mermaid
    assert strange(text) == []
    assert not {"\t", "\ufffd"} & set(text)


@pytest.mark.parametrize("name", OWN)
def test_so_is_a_graph_of_ones_own(name: str):
    assert strange(jg.show(built(name)).mermaid) == []


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", SHIPPED)
def test_a_drawing_of_ours_is_langgraph_s_own(name: str):
    told = built(name).get_graph(xray=True).draw_mermaid()
    assert jg.show(built(name)).mermaid == told.replace("\t", "    ")


def ids(text: str) -> dict[str, str]:
    """Id of a node -> its label, as it is read."""
    found = re.findall(r"(?m)^    (\S+?)\(\[?(.+?)\]?\)(?::::\w+)?$", text)
    assert len(found) == len(dict(found)), "two nodes of one id"
    return {key: shown(label) for key, label in found}


def shown(label: str) -> str:
    """As Mermaid shows it."""
    return re.sub(r"#(\d+);", lambda number: chr(int(number[1])), label.removeprefix("<p>").removesuffix("</p>"))


def edges(text: str) -> set[tuple[str, str]]:
    return set(re.findall(r"(?m)^    (\S+) -.*> (\S+);$", text))


ODD = (
    *WORDS, *PROPERTIES, *(f"{word}-it" for word in WORDS), "End", "v", "LR", "--a", "a--b", "-a-", "-", "1", "1. a",
    "a.-b", "judge@v2", "direction TB", "two  direction LR", "x y",
    "裁判", "*a*", "$$x$$", "a\\nb", " ", "node_1", "node_2",
)  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_a_word_of_mermaid_may_be_the_name_of_a_node_an_answer_and_a_subgraph(name: str):
    inner = graph([name, "last"], (START, name), (name, "last")).compile(name="inner")
    g = graph(["first", "other"], (START, "first"), (name, END))
    g.add_node(name, inner)
    g.add_conditional_edges("first", somewhere, {name: name, f"{name}.": "other"})
    text = jg.show(g).mermaid
    assert strange(text) == []
    label = name if name.strip() else "\xa0"
    found = {told: key for key, told in ids(text).items()}
    start, first, other, inside, last, end = map(
        found.__getitem__, ("__start__", "first", "other", label, "last", "__end__")
    )
    assert edges(text) == {(start, first), (first, other), (first, inside), (inside, last), (last, end), (other, end)}


def test_a_name_that_is_safe_is_its_own_id():
    names = ["rouge-l", "a_b", "A1", "endless", "graphs", "call_it", "front-end", "_x"]
    g = graph(names, *pairwise([START, *names, END]))
    assert ids(jg.show(g).mermaid) == {name: name for name in ("__start__", *names, "__end__")}


def test_names_that_cannot_be_told_apart_by_eye_are_nodes_of_their_own():
    names = ["a\u200b", "a\u200c", "a\u202e", "a"]
    text = jg.show(graph(names, *pairwise([START, *names, END]))).mermaid
    assert list(ids(text).values()) == ["__start__", "a\ufffd", "a\ufffd", "a\ufffd", "a", "__end__"]
    assert len(edges(text)) == 5


def step() -> Any:
    return graph(["step", "stop"], (START, "step"), ("step", "stop"), ("stop", END)).compile(name="inner")


def test_subgraphs_of_one_name_and_one_within_another_alone_are_drawn():
    g = line(a=step(), b=line(a=step()), c=line(a=line(deep=nothing)))
    text = jg.show(g).mermaid
    assert strange(text) == []
    assert [label for label in ids(text).values() if label in ("step", "stop", "deep")].count("step") == 2
    headings = re.findall(r"(?m)^    subgraph (\S+)$", text)
    assert len(set(headings)) == len(headings) == text.split("\n").count("    end") == 5
    assert "deep" in ids(text).values()
    told = g.get_graph(xray=True)
    assert (len(ids(text)), len(edges(text))) == (len(told.nodes), len(told.edges))


def test_what_is_said_of_a_node_stands_below_its_name():
    g = graph([], (START, "a"))
    g.add_node("a", nothing, defer=True, metadata={"by": "judge@v2", "of": ["x", "y)"], "left out": object()})
    text = jg.show(g).mermaid
    assert strange(text) == []
    assert "    a(a<hr/><small><em>by = judge#64;v2<br>of = x, y#41;<br>defer = True</em></small>)" in text.split("\n")


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
