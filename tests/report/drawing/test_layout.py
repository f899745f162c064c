"""Where things stand: nothing covers anything else, and no edge runs through what it does not lead to."""

import subprocess
import sys
import time
from functools import cache
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from drawn_graphs import EVERY, SHIPPED, built, graph
from drawn_shapes import along, label_rect, overlap, rect, within
from langgraph.graph import END, START

from judgegraph.report.drawing import graph_svg
from judgegraph.report.drawing.figure import Figure, figure_of
from judgegraph.report.drawing.render import Box, Layout, back_edges, in_order, layout

BADGES = {"weigh": ("1,000 visits",), "weigh/guide": ("1,000 visits", "2.1 s", "$0.03"), "evaluate": ("x" * 90,)}


@cache
def placed(name: str) -> Layout:
    return layout(figure_of(built(name)), BADGES)


def around(box: Box, frames: list[Box]) -> list[Box]:
    return [frame for frame in frames if box.place.startswith(f"{frame.place}/")]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", EVERY)
def test_no_box_covers_another_and_every_inner_one_stands_in_its_frame(name: str):
    drawn = placed(name)
    frames = [box for box in drawn.boxes if box.kind == "frame"]
    for a, b in combinations(drawn.boxes, 2):
        if a in around(b, frames) or b in around(a, frames):
            continue
        assert not overlap(rect(a), rect(b)), (a.place, b.place)
    for box in drawn.boxes:
        assert within(rect(box), (-0.01, -0.01, drawn.width + 0.01, drawn.height + 0.01)), box.place
        assert all(within(rect(box), rect(frame)) for frame in around(box, frames)), box.place


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", EVERY)
def test_no_edge_runs_through_a_box(name: str):
    drawn = placed(name)
    for route in drawn.routes:
        if route.edge.source == route.edge.target:
            continue
        for box in drawn.boxes:
            if route.path.startswith(f"{box.place}/"):
                continue  # the frame it is in
            left, top, right, bottom = rect(box)
            inside = [(x, y) for x, y in along(route) if left + 1 < x < right - 1 and top + 1 < y < bottom - 1]
            assert not inside, (route.path, route.edge, box.place)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", EVERY)
def test_no_label_covers_a_box_or_another_label(name: str):
    drawn = placed(name)
    labelled = [route for route in drawn.routes if route.label]
    for route in labelled:
        boxes = [box for box in drawn.boxes if not route.path.startswith(f"{box.place}/")]
        assert not [box.place for box in boxes if overlap(label_rect(route), rect(box))], route.edge
    for a, b in combinations(labelled, 2):
        assert not overlap(label_rect(a), label_rect(b)), (a.edge, b.edge)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", EVERY)
def test_a_drawing_fits_a_page_of_1280_pixels(name: str):
    assert placed(name).width <= 1240


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", SHIPPED)
def test_a_method_fits_a_telephone(name: str):
    assert placed(name).width <= 360


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", EVERY)
def test_an_edge_that_closes_no_loop_leads_downwards(name: str):
    for figure in figure_of(built(name)).everywhere():
        backs = back_edges(figure)
        drawn = layout(figure, {})
        y = {box.place.removeprefix(figure.path): box.y for box in drawn.boxes}
        place = {node: i for i, node in enumerate(in_order(figure))}
        for edge in figure.edges:
            if (edge.source, edge.target) not in backs:
                assert y[edge.source] < y[edge.target]
                assert place[edge.source] < place[edge.target]


def test_the_loops_of_a_graph_are_those_edges_that_lead_back():
    assert back_edges(figure_of(built("loops"))) >= {("d", "a"), ("d", "d"), ("g", "g"), ("f", "b")}


def test_a_chain_stands_on_one_line():
    drawn = layout(figure_of(built("sageval")), {})
    assert len({round(box.x + box.width / 2, 3) for box in drawn.boxes}) == 1
    assert all(len({x for x, _ in route.points}) == 1 for route in drawn.routes)


def test_many_nodes_side_by_side_are_broken_into_rows():
    drawn = layout(figure_of(built("wide")), {})
    assert len({box.y for box in drawn.boxes if "metric" in box.place}) == 2


@pytest.mark.long
def test_a_drawing_is_the_same_in_every_process():
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from drawn_graphs import built\n"
        "from judgegraph.report.drawing import graph_svg, graph_text\n"
        "graphs = [built(n) for n in ('loops', 'any_way', 'hostile', 'fennec')]\n"
        "print(*(graph_svg(g) + graph_text(g) for g in graphs))"
    )
    command = [sys.executable, "-c", code, str(Path(__file__).parent)]
    drawn = {
        subprocess.run(command, capture_output=True, check=True, env={"PYTHONHASHSEED": seed}, timeout=60).stdout
        for seed in ("1", "2")
    }
    assert len(drawn) == 1


@pytest.mark.parametrize("shape", ["chain", "loops"])
def test_a_graph_of_150_nodes_is_drawn_in_seconds(shape: str):
    names = [f"n{i}" for i in range(150)]
    chain = [START, *names, END]
    far = [(a, b) for a, b in zip(names, names[7:], strict=False)] if shape == "chain" else []
    back = {n: [names[max(0, i - 5)], names[i + 1]] for i, n in enumerate(names[:-1]) if i % 3 == 0}
    g = graph(names, *pairwise(chain), *far, **(back if shape == "loops" else {}))
    started = time.monotonic()
    assert graph_svg(g).count("data-edge") >= 151
    assert time.monotonic() - started < 20


def test_a_figure_without_nodes_takes_no_room():
    assert layout(Figure("empty", "", {}, ()), {}) == Layout(0.0, 0.0, (), ())
