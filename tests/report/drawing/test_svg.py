"""The picture as a file: every edge is in it, subgraphs are framed, and nothing in it runs or points elsewhere."""

import re
from html import unescape
from typing import Any
from xml.etree import ElementTree

import pytest
from drawn_graphs import EVERY, HOSTILE, built
from langgraph.func import entrypoint

import judgegraph as jg
from judgegraph.report.drawing import DRAWING_CSS, graph_svg
from judgegraph.runs.identity import nodes

SVG = "{http://www.w3.org/2000/svg}"
ENDS = {"__start__": "START", "__end__": "END"}
ELEMENTS = {"svg", "title", "desc", "style", "defs", "marker", "path", "rect", "g", "text", "circle"}


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def of(root: ElementTree.Element, key: str) -> list[str]:
    return [element.attrib[key] for element in root.iter() if key in element.attrib]


def as_langgraph_tells(graph: Any) -> set[str]:
    """Edges as LangGraph draws them, those within subgraphs too."""
    found = set()
    for path, runs in [("", graph), *((f"{place}/", runs) for place, runs in nodes(graph) if hasattr(runs, "builder"))]:
        named = (
            (path + ENDS.get(e.source, e.source), path + ENDS.get(e.target, e.target)) for e in runs.get_graph().edges
        )
        found |= {f"{source} > {target}" for source, target in named}
    return found


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", sorted(set(EVERY) - {"hostile", "any_way", "apart"}))
def test_every_edge_that_langgraph_knows_is_drawn_and_no_other(name: str):
    graph = built(name)
    drawn = of(parsed(graph_svg(graph)), "data-edge")
    assert len(drawn) == len(set(drawn))
    assert set(drawn) == as_langgraph_tells(graph)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", EVERY)
def test_every_node_has_its_place_and_subgraphs_are_frames(name: str):
    graph = built(name)
    root = parsed(graph_svg(graph))
    places = of(root, "data-place")
    assert len(places) >= len(list(nodes(graph)))
    framed = {g.attrib["data-place"] for g in root.iter(f"{SVG}g") if g.attrib["class"] == "jg-frame-group"}
    assert framed == {place for place, runs in nodes(graph) if hasattr(runs, "builder")}


@pytest.mark.sampled(11)
@pytest.mark.parametrize("standalone", [True, False])
@pytest.mark.parametrize("name", EVERY)
def test_nothing_in_a_drawing_runs_or_points_out_of_it(name: str, standalone: bool):
    svg = graph_svg(built(name), {"evaluate": ('"><script>',)}, 'ti"tle<', standalone=standalone, prefix='"x')
    root = parsed(svg)
    for element in root.iter():
        assert element.tag.removeprefix(SVG) in ELEMENTS
        for key, value in element.attrib.items():
            assert key != "style"
            assert not key.startswith("on")
            assert "href" not in key
            assert "url(" not in value or value.startswith("url(#")
    styles = list(root.iter(f"{SVG}style"))
    assert [style.text for style in styles] == ([DRAWING_CSS] if standalone else [])
    assert not {c for c in svg if c != "\n" and not c.isprintable()}


def test_hostile_names_are_shown_as_text():
    texts = " ".join("".join(t.itertext()) for t in parsed(graph_svg(built("hostile"))).iter(f"{SVG}text"))
    assert "<script>" in texts
    assert r"\x1b" in texts
    assert r"\u202e" in texts
    assert "onload=alert(1)" in texts
    svg = graph_svg(built("hostile"))
    assert "<script" not in svg
    assert len(svg) < 30_000, f"a name of {len(HOSTILE[4])} characters is cut"


def test_conditional_edges_are_dashed_with_their_label():
    root = parsed(graph_svg(built("loops")))
    dashed = {p.attrib["data-edge"] for p in root.iter(f"{SVG}path") if "stroke-dasharray" in p.attrib}
    assert {"d > a", "d > d", "f > g", "g > END"} <= dashed
    assert not {"START > a", "b > d", "e > g"} & dashed
    texts = {"".join(t.itertext()) for t in root.iter(f"{SVG}text")}
    assert {"self", "True", "False", "stop", "rounds left", "× n", "waits for b and c, or d"} <= texts


def test_badges_stand_in_the_box_of_their_place():
    root = parsed(graph_svg(built("fennec"), {"weigh/judge": ("12 visits", "$0.03"), "weigh": ("9 s",)}))
    said = {
        g.attrib["data-place"]: ["".join(t.itertext()) for t in g.iter(f"{SVG}text") if t.attrib["class"] == "jg-badge"]
        for g in root.iter(f"{SVG}g")
    }
    assert {place: lines for place, lines in said.items() if lines} == {
        "weigh": ["9 s"], "weigh/judge": ["12 visits", "$0.03"],
    }  # fmt: skip


def test_it_says_what_it_shows_to_those_who_do_not_see_it():
    root = parsed(graph_svg(built("fennec"), title="Fennec of Monday", prefix="a"))
    assert root.attrib["role"] == "img"
    title, desc = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None
    assert desc is not None
    assert (root.attrib["aria-labelledby"], root.attrib["aria-describedby"]) == (title.attrib["id"], desc.attrib["id"])
    assert title.text == "Fennec of Monday"
    assert "branch -> weigh × n or merge" in str(desc.text)
    assert "weigh/guide -> judge or compare" in str(desc.text)


def test_type_is_never_smaller_than_12_pixels():
    sizes = [float(size) for size in of(parsed(graph_svg(built("jury"))), "font-size")]
    assert sizes
    assert min(sizes) >= 12


def test_two_drawings_in_one_page_share_no_id():
    one, two = (set(of(parsed(graph_svg(built("sageval"), prefix=prefix)), "id")) for prefix in ("a", "2 b"))
    assert one
    assert not one & two
    assert all(re.fullmatch(r"[A-Za-z][\w-]*", name) for name in one | two)


def test_every_class_that_is_drawn_has_its_look():
    used = {c for name in ("loops", "jury") for c in of(parsed(graph_svg(built(name), {"jury": ("x",)})), "class")}
    looks = {c for c in used if not c.endswith("-group")}
    assert looks == set(re.findall(r"\.(jg-[a-z-]+)", DRAWING_CSS)) - {"jg-wide"}


def test_a_graph_without_a_builder_is_drawn_as_it_tells():
    @entrypoint()
    async def flow(sample: str) -> str:
        return sample

    assert "flow" in unescape(graph_svg(flow))


@pytest.mark.parametrize("thing", [None, 3, "sageval", object(), jg.Sample])
def test_what_is_no_graph_is_refused(thing: object):
    with pytest.raises(jg.ConfigError, match="a StateGraph or a compiled graph"):
        graph_svg(thing)
