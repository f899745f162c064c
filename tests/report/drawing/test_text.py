"""A graph in lines: all nodes, all edges, in an order that can be read."""

import re

import pytest
from drawn_graphs import EVERY, built, graph
from langgraph.graph import END, START

from judgegraph.report.drawing import graph_text
from judgegraph.report.drawing.figure import figure_of, name_of, shown, width, wrapped

FENNEC = """\
fennec
  START -> branch
  branch -> weigh × n or merge
  weigh -> merge
    START -> guide
    guide -> judge or compare
    judge -> END
    compare -> END
  merge (waits for all) -> correct or END
  correct -> END
"""
D = ("a [again from the top] (back)", "d [self] (back)", "e [True]", "f [False]", "END [stop]")
LOOPS = f"""\
loops
  START -> a
  a -> b, c
  b -> d
  d (waits for b and c, or d) -> {" or ".join(D)}
"""


def test_fennec_is_read_from_top_to_bottom():
    assert graph_text(built("fennec")) == FENNEC


def test_a_line_says_labels_loops_and_what_is_waited_for():
    assert graph_text(built("loops")).startswith(LOOPS)


def both(state: object) -> list[str]:
    return ["b", "c"]


def line_of(drawn: object, node: str) -> str:
    return next(line.strip() for line in graph_text(drawn).splitlines() if line.strip().startswith(node))


def test_two_conditions_at_a_node_decide_apart():
    g = graph("abcd", (START, "a"), a=["b", "c"])
    g.add_conditional_edges("a", lambda state: "c", {"yes": "c", "d": "d"})
    assert line_of(g, "a") == "a -> b or c; c [yes] or d"


def test_a_condition_that_gives_a_list_may_take_several():
    g = graph("abc", (START, "a"))
    g.add_conditional_edges("a", both, ["b", "c"])
    assert line_of(g, "a") == "a -> b and/or c"


@pytest.mark.parametrize(
    ("edges", "note"),
    [
        (((["a", "b"], "e"),), "waits for both"),
        (((["a", "b", "c"], "e"),), "waits for all 3"),
        (((["a", "b"], "e"), ("c", "e")), "waits for a and b, or c"),
        (((["a", "b"], "e"), (["c", "d"], "e")), "waits for a and b, or c and d"),
        ((("a", "e"), ("b", "e")), None),
    ],
)
def test_a_note_says_what_starts_a_node(edges: tuple[tuple[list[str], str], ...], note: str | None):
    said = line_of(graph("abcde", *((START, n) for n in "abcd"), *edges, ("e", END)), "e")
    assert said == (f"e ({note}) -> END" if note else "e -> END")


def test_a_node_called_start_is_told_from_the_start():
    assert graph_text(graph(["START"], (START, "START"))).splitlines()[1:] == ['  START -> "START"', '  "START" -> END']


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", EVERY)
def test_every_node_has_a_line_and_every_edge_stands_in_it(name: str):
    graph = built(name)
    lines = [line.strip() for line in graph_text(graph).splitlines()]
    for figure in figure_of(graph).everywhere():
        for edge in figure.edges:
            source, target = (shown(name_of(end)) for end in (edge.source, edge.target))
            told = [line for line in lines if re.match(rf"{re.escape(source)}( \(|$| ->)", line)]
            assert any(target in line.partition(" -> ")[2] for line in told), edge
        assert set(figure.nodes) <= {end for e in figure.edges for end in (e.source, e.target)}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", EVERY)
def test_no_name_drives_a_terminal(name: str):
    assert not {c for c in graph_text(built(name)) if c != "\n" and not c.isprintable()}


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("judge", ("judge",)),
        ("", ("(no name)",)),
        ("a_very_long_name_of_a_node", ("a_very_long_", "name_of_a_node")),
        ("critic-of-everything-else", ("critic-of-", "everything-else")),
        ("two words\nand\ta tab", ("two words and a", "tab")),
    ],
)
def test_a_name_is_broken_at_its_joints(name: str, lines: tuple[str, ...]):
    assert wrapped(name, 130, 14) == lines


@pytest.mark.parametrize("name", ["n" * 999, "W" * 40, "裁判" * 40, "a_" * 90, "…" * 50, "x" * 30 + " " + "y" * 30])
def test_no_line_is_wider_than_its_box(name: str):
    lines = wrapped(name, 176, 14)
    assert len(lines) <= 3
    assert all(width(line, 14) <= 176 for line in lines)
