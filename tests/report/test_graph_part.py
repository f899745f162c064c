"""The graph of a run: its text names every edge, and its picture and its table count the same calls."""

import re
from pathlib import Path

import pytest

import judgegraph as jg
from judgegraph.compose.nodes import as_node
from judgegraph.registry import METHODS
from judgegraph.report.drawing.figure import figure_of
from judgegraph.report.drawing.render import sentence
from judgegraph.report.graph import graph_part, run_figure
from judgegraph.runs.identity import configuration
from judgegraph.views.blocks import Grid, Para, Picture

ROOT = Path(__file__).resolve().parents[2]


def choices(figure) -> dict[str, list[list[str]]]:
    """Place of a node -> the targets of each of its conditions."""
    return {
        f.path + node: sorted([edge.target for edge in choice.edges] for choice in some)
        for f in figure.everywhere()
        for node, some in f.choices.items()
    }


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_condition_of_a_method_is_told_of_its_run(name: str):
    graph = as_node(f"method/{name}")
    drawn = run_figure({"method": name, "configuration": configuration(graph)})
    assert drawn is not None
    assert choices(drawn) == choices(figure_of(graph))


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["START -> a or b by pick", "a -> END", "b -> END"], "START -> a or b; a -> END; b -> END"),
        (["START -> a", "a -> b (low) or END (high) by f", "b -> END"],
         "START -> a; a -> b [low] or END [high]; b -> END"),
        (["START -> a", "a -> END by its command", "a -> b by its command", "b -> END"],
         "START -> a; a -> b or END; b -> END"),
        (["START -> a", "a -> b", "a -> b (yes) or b (no) by f", "b -> END"],
         "START -> a; a -> b; b [yes / no]; b -> END"),
    ],
)  # fmt: skip
def test_the_text_of_a_graph_has_its_conditional_edges(lines: list[str], text: str):
    drawn = run_figure({"configuration": {"nodes.a": "x", "nodes.b": "y", "edges": lines}})
    assert sentence(drawn) == text


def rows(run: jg.Run) -> dict[str, dict[str, str]]:
    grid = next(block for block in graph_part(run).blocks if isinstance(block, Grid))
    return {row[0]: dict(zip(grid.head, row, strict=True)) for row in grid.rows}


def badges(run: jg.Run) -> dict[str, str]:
    """Place of a node -> all lines of its box."""
    (picture,) = (block for block in graph_part(run).blocks if isinstance(block, Picture))
    groups = re.findall(r'<g class="jg-[a-z]+-group" data-place="([^"]+)"[^>]*>(.*?)</g>', picture.svg)
    return {place: " ".join(re.findall(r"<text[^>]*>([^<]+)<", inner)) for place, inner in groups}


def judged(method: str, folder: Path, **settings: object) -> jg.Run:
    data = {"sageval": "forms.jsonl", "fennec": "pairs.jsonl"}[method]
    samples = list(jg.load(ROOT / "examples" / data))[:3]
    return jg.evaluate(as_node(f"method/{method}"), samples, out=folder / "run", **settings)


def test_calls_that_a_budget_refused_are_no_model_calls(tmp_path: Path):
    run = judged("sageval", tmp_path, budget=jg.Budget(calls=1), concurrency=1)
    table, drawn = rows(run), badges(run)
    assert sum(int(row["Model calls"] or 0) for row in table.values()) == 1
    refused = [place for place, row in table.items() if not row["Model calls"]]
    assert refused
    assert not any(" calls" in drawn[place] for place in refused)


def test_the_table_says_the_same_of_each_node_as_the_picture(tmp_path: Path):
    run = judged("fennec", tmp_path)
    table, drawn = rows(run), badges(run)
    assert len(table) > 3
    for place, row in table.items():
        told = re.search(r"([\d,]+) calls", drawn[place])
        assert (told[1] if told else "") == row["Model calls"], place
    inner = sum(int(row["Model calls"] or 0) for place, row in table.items() if place.startswith("weigh/"))
    assert table["weigh"]["Model calls"] == str(inner)
    assert "counts in both" in " ".join(b.text for b in graph_part(run).blocks if isinstance(b, Para))
