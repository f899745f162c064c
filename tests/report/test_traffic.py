"""The graph of a run with its traffic: the shares are those of the ways that samples took."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from langgraph.graph import END, START, StateGraph

import judgegraph as jg
from judgegraph.graphs import sageval
from judgegraph.report.graph import graph_part, run_figure, times_and_traffic
from judgegraph.types import Score, keyed
from judgegraph.views.blocks import Para, Picture

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def number(state: jg.EvalState) -> int:
    return int(state["sample"].id.removeprefix("s"))


def scored(name: str):
    async def node(state: jg.EvalState) -> jg.EvalState:
        if name == "b" and number(state) == 7:
            raise ValueError("seven")
        return {"scores": keyed(Score(criterion="C", agent=name, value=3, scale="1-5"))}

    return node


def first(state: jg.EvalState) -> Literal["a", "b", "__end__"]:
    """Three ways: a at multiples of 3, else b when it is odd, else nowhere."""
    return "a" if number(state) % 3 == 0 else "b" if number(state) % 2 else "__end__"


def again(state: jg.EvalState) -> Literal["b", "__end__"]:
    return "b" if number(state) % 2 else "__end__"


def never(state: jg.EvalState) -> Literal["spare", "__end__"]:
    return "spare" if number(state) > 100 else "__end__"


def graph(inner: bool = False):
    g = StateGraph(jg.EvalState)
    for name in ("start", "a", "b", "spare"):
        g.add_node(name, scored(name))
    g.add_edge(START, "start")
    g.add_conditional_edges("start", first)
    g.add_conditional_edges("a", again)
    g.add_conditional_edges("b", never)
    g.add_edge("spare", END)
    made = g.compile(name="ways")
    if not inner:
        return made
    outer = StateGraph(jg.EvalState)
    outer.add_node("inner", made)
    outer.add_edge(START, "inner")
    outer.add_edge("inner", END)
    return outer.compile(name="outer")


def judged(folder: Path, made: object, n: int = 12) -> jg.Run:
    return jg.evaluate(made, [jg.Sample(id=f"s{k}", output="one two three") for k in range(n)], out=folder / "run")


def test_each_branch_has_the_share_of_the_samples_that_took_it(tmp_path: Path):
    for inner in (False, True):
        run = judged(tmp_path / str(inner), graph(inner))
        at = "inner/" if inner else ""
        _, found = times_and_traffic(run, run_figure(run.manifest))
        third, odd = {0, 3, 6, 9}, {1, 5, 7, 11}
        assert found.taken[f"{at}start", f"{at}a"] == len(third)
        assert found.taken[f"{at}start", f"{at}b"] == len(odd)  # 3 and 9 came to b by way of a
        assert found.taken[f"{at}start", f"{at}__end__"] == 12 - len(third | odd)
        assert found.taken[f"{at}a", f"{at}b"] == 2
        assert found.taken[f"{at}a", f"{at}__end__"] == 2
        assert found.reached[f"{at}b"] == 5  # of six one failed: it chose nothing
        assert found.taken[f"{at}b", f"{at}__end__"] == 5
        assert found.share((f"{at}start", f"{at}a")) == "33 %"


def test_a_loop_counts_a_sample_once_on_each_edge(tmp_path: Path):
    rounds: dict[str, int] = {}

    async def work(state: jg.EvalState) -> jg.EvalState:
        rounds[state["sample"].id] = rounds.get(state["sample"].id, 0) + 1
        return {"scores": keyed(Score(criterion="C", agent="work", value=3, scale="1-5"))}

    def more(state: jg.EvalState) -> Literal["work", "__end__"]:
        return "work" if rounds[state["sample"].id] <= number(state) else "__end__"

    g = StateGraph(jg.EvalState)
    g.add_node("work", work)
    g.add_edge(START, "work")
    g.add_conditional_edges("work", jg.bounded(more, at_most=4))
    run = judged(tmp_path, g.compile(name="loop"), 3)
    _, found = times_and_traffic(run, run_figure(run.manifest))
    assert found.taken["work", "work"] == 2
    assert found.taken["work", "__end__"] == 3


def test_the_picture_shows_shares_failures_and_what_never_ran(tmp_path: Path):
    blocks = graph_part(judged(tmp_path, graph())).blocks
    svg = next(one.svg for one in blocks if isinstance(one, Picture))
    marks = dict(re.findall(r'data-place="([^"]+)" data-mark="(\w+)"', svg))
    assert marks == {"b": "failed", "spare": "idle"}
    assert set(re.findall(r'data-edge="([^"]+)" data-mark="idle"', svg)) == {"b > spare", "spare > END"}
    assert "33 %" in svg
    said = " ".join(one.text for one in blocks if isinstance(one, Para))
    assert "(of 12)" in said
    assert "runs of this node failed" in said
    assert "Dimmed, as it never ran: spare." in said


def test_a_graph_without_choices_and_failures_is_as_it_was(tmp_path: Path):
    run = jg.evaluate(sageval(criteria="summary"), [*jg.load(EXAMPLES / "articles.jsonl", limit=2)], out=tmp_path / "r")
    blocks = graph_part(run).blocks
    svg = next(one.svg for one in blocks if isinstance(one, Picture))
    assert "data-mark" not in svg
    assert " %<" not in svg
    assert not any("dashed" in one.text or "immed" in one.text for one in blocks if isinstance(one, Para))
