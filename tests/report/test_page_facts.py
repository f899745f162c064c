"""The facts at the top of the page and the table of nodes: time, money and calls are told as they are known."""

import json
import re
from html import escape
from pathlib import Path

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from report_runs import one_node
from test_page_truth import score

import judgegraph as jg
from judgegraph.compose.nodes import as_node
from judgegraph.graphs import sageval
from judgegraph.report.drawing.figure import figure_of
from judgegraph.report.drawing.render import sentence
from judgegraph.report.graph import graph_part, run_figure
from judgegraph.report.page import facts
from judgegraph.runs.identity import configuration, fan_outs
from judgegraph.testing import scripted
from judgegraph.types import Asked
from judgegraph.views.blocks import Grid, Para, cost
from judgegraph.views.run import answers_grid

CLEAR = jg.Criterion(name="Clear")


def samples(count: int) -> list[jg.Sample]:
    return [jg.Sample(id=str(n), query="q", output="o") for n in range(count)]


def head(run: jg.Run, path: Path, **settings) -> str:
    page = jg.write_report(run, path, **settings).read_text()
    found = re.search(r'<p class="when">(.*?)</p>', page)
    assert found
    return found[1]


def judging(*finals: float | None):
    """A graph with a draft of 4 for each sample, and a final score of the sample's number."""

    async def judge(state: jg.EvalState) -> jg.EvalState:
        draft = score("Depth", "evaluator", 4)
        return {"scores": {s.key: s for s in (draft, score("Depth", "sage", finals[int(state["sample"].id)], draft))}}

    return one_node("judge", judge)


@pytest.mark.parametrize("redact", [(), ("texts",)])
def test_the_page_tells_the_time_that_was_worked_and_no_other(tmp_path: Path, redact: tuple[str, ...]):
    run = jg.evaluate(judging(3), samples(1), out=tmp_path / "run")
    told = {"started": "2026-01-01T00:00:00+00:00", "ended": "2026-01-01T05:00:00+00:00"}
    for seconds, want in ((14.21, " · took 14.2 s"), (0.35, " · took 350 ms"), (0.0, ""), (None, "")):
        known = jg.Run({**run.manifest, **told, "seconds": seconds}, (), run.folder)
        assert re.findall(r" · took [^·]*[^· ]", head(known, tmp_path / "page.html", redact=redact)) == [want] * bool(
            want
        )
    old = jg.Run({key: v for key, v in (run.manifest | told).items() if key != "seconds"}, (), run.folder)
    assert "took" not in head(old, tmp_path / "page.html", redact=redact)


def test_a_killed_run_is_nowhere_on_the_page_told_as_running(tmp_path: Path):
    run = jg.evaluate(judging(3, 3), samples(2), out=tmp_path / "run")
    killed = {**run.manifest, "state": "running", "ended": None, "samples": {"done": 0, "failed": 0, "total": 32}}
    page = jg.write_report(jg.Run(killed, (), run.folder), tmp_path / "page.html").read_text()
    assert page.count("unfinished: 2 of 32 samples done; its process is gone") == 4  # head, facts, findings, about
    assert not re.search(r">\s*running\b", page)
    assert "not yet" not in page


@pytest.mark.parametrize(
    ("finals", "want"),
    [
        ((3.0, 2.0, 1.0), "3 judged of 3"),
        ((3.0, None, None), "1 of 3 with a final score; 2 with drafts alone"),
        ((None, None, None), "0 of 3 with a final score; 3 with drafts alone"),
    ],
)
def test_drafts_alone_are_not_told_as_judged(finals: tuple[float | None, ...], want: str):
    run = jg.evaluate(judging(*finals), samples(3))
    assert dict(facts(run, run.summary(), 0))["Samples"] == want


@pytest.mark.parametrize(
    ("finals", "drafts", "mean"),
    [
        ((3.0, None), "4.00 > 3.00 (n 1)", "3.00"),
        ((None, None), "4.00 (n 2)", "-"),
        ((3.0, 2.0), "4.00", "2.50"),
    ],
)
def test_a_mean_of_drafts_says_of_how_many_it_is(finals: tuple, drafts: str, mean: str):
    summary = jg.evaluate(judging(*finals), samples(2)).summary()
    (final,) = (x for x in summary.lines.values() if x.stage == "final")
    grid = answers_grid(summary, [final], {})
    told = dict(zip(grid.head, grid.rows[0], strict=True))
    assert (told["draft"], told["score"]) == (drafts, mean)
    assert f">{escape(drafts)}<" in summary._repr_html_()


@pytest.mark.parametrize(
    ("bill", "want"),
    [
        ((0.0, 137, 137), "price unknown (137 calls)"),
        ((0.0, 27, 27, "at least "), "price unknown (at least 27 calls)"),
        ((0.12, 30, 5), "$0.12, and 5 calls of unknown price"),
        ((0.12, 30, 1, "at least "), "at least $0.12, and at least 1 call of unknown price"),
        ((0.0, 30, 0), "$0.00"),
        ((0.0, 0, 0, "at least "), "at least $0.00"),
    ],
)
def test_a_price_that_is_not_known_is_not_told_as_nothing(bill: tuple, want: str):
    assert cost(*bill) == want


def test_a_run_of_unknown_price_says_so_at_the_top_and_by_node(tmp_path: Path):
    run = jg.evaluate(sageval(judge=scripted("{}"), criteria=[CLEAR]), samples(1), out=tmp_path / "run")
    unpriced = {**run.manifest, "spent": {"calls": 5, "unpriced": 5, "usd": 0.0}}
    assert dict(facts(jg.Run(unpriced, (), run.folder), run.summary(), 0))["Cost"] == "price unknown (5 calls)"
    billed = {"by_node": {"evaluate": {"calls": 2, "unpriced": 2, "found": 3, "usd": 0.0}}}
    (tmp_path / "run/spans.jsonl").unlink()
    (grid,) = (
        b for b in graph_part(jg.Run({**unpriced, "calls": billed}, (), run.folder)).blocks if isinstance(b, Grid)
    )
    row = dict(zip(grid.head, grid.rows[0], strict=True))
    assert (row["Paid calls"], row["Calls not paid for"], row["Cost"]) == ("2", "3", "price unknown (2 calls)")


def shared_run(folder: Path) -> jg.Run:
    """Three samples of one text at once: one pays, the others wait for it; a fourth run finds it in the ledger."""

    async def judge(state: jg.EvalState) -> jg.EvalState:
        await jg.ask("embedded", "Say something.")
        return {"scores": {}}

    return jg.evaluate(one_node("judge", judge), samples(3), out=folder, ledger=folder.parent / "ledger.sqlite")


def nodes_of(run: jg.Run) -> dict[str, str]:
    grid = next(block for block in graph_part(run).blocks if isinstance(block, Grid))
    return dict(zip(grid.head, grid.rows[0], strict=True))


def test_a_call_shared_with_another_is_not_told_as_from_the_ledger(tmp_path: Path):
    run, later = shared_run(tmp_path / "run"), shared_run(tmp_path / "later")
    row = nodes_of(run)
    assert dict(facts(run, run.summary(), 0))["Model calls"] == "1 paid, 2 shared with another call"
    assert (row["Paid"], row["From ledger"], row["Shared"]) == ("1", "0", "2")
    assert dict(facts(later, later.summary(), 0))["Model calls"] == "0 paid, 3 from the ledger"
    assert nodes_of(later)["From ledger"] == "3"
    assert "Shared" not in nodes_of(later)


def test_a_nodes_time_is_said_to_hold_its_waiting(tmp_path: Path):
    run = jg.evaluate(judging(3), samples(1), out=tmp_path / "run")
    grid, *_ = (block for block in graph_part(run).blocks if isinstance(block, Grid))
    said = " ".join(block.text for block in graph_part(run).blocks if isinstance(block, Para))
    assert "from its start to its end" in grid.caption
    assert "Waiting is in it" in said


def send_each(state: jg.EvalState) -> list[Send]:
    return [Send("judge", {"sample": state["sample"], "criterion": CLEAR})]


def inner() -> object:
    async def judge(state: Asked) -> jg.EvalState:
        return {"scores": {}}

    graph = StateGraph(jg.EvalState)
    graph.add_node("judge", judge)
    graph.add_conditional_edges(START, send_each, ["judge"])
    graph.add_edge("judge", END)
    return graph.compile(name="inner")


@pytest.mark.parametrize(
    "graph",
    [as_node("method/sageval", each=True), as_node("method/fennec"), one_node("weigh", inner())],
    ids=["each criterion", "a method", "a graph in a node"],
)
def test_a_fan_out_is_drawn_of_a_run_as_of_its_graph(graph: object):
    told = {"configuration": configuration(graph), "fan_outs": fan_outs(graph)}
    drawn, real = run_figure(told), figure_of(graph)
    assert drawn is not None

    def sent(figure) -> set[tuple[str, str, str]]:
        return {(f.path, e.source, e.target) for f in figure.everywhere() for e in f.edges if e.sends}

    assert sent(drawn) == sent(real)
    older = run_figure({"configuration": told["configuration"]})
    assert older is not None
    assert sent(older) == set()
    assert len(sentence(older)) <= len(sentence(drawn))


def test_the_manifest_of_a_run_tells_its_fan_outs(tmp_path: Path):
    jg.evaluate(one_node("weigh", inner()), samples(1), out=tmp_path / "run")
    assert json.loads((tmp_path / "run/manifest.json").read_text())["fan_outs"] == ["weigh/START -> weigh/judge"]
