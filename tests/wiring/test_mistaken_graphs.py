"""Every graph of the corpus is refused before anything is asked, with node, key and cure; what was meant passes."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import mistaken_graphs
import pytest
from langgraph.graph import END, START
from mistaken_graphs import CORPUS, Turning
from typing_extensions import TypedDict

import judgegraph as jg
from judgegraph.calls.context import context
from judgegraph.types import EvalState


class Private(TypedDict):
    rounds: int


SAMPLES = [jg.Sample(id="1", query="Why?", source="The bridge is shut until spring.", output="It is shut.")]
BY_NAME = pytest.mark.parametrize(("build", "node", "key", "cure"), CORPUS, ids=[entry[0].__name__ for entry in CORPUS])
AT_RUNS = {  # another caller may bring it
    "key_of_the_state_that_nobody_writes", "judge_without_criteria_it_could_have", "each_without_criteria",
    "stage_that_holds_no_answer", "state_without_a_sample", "output_without_what_is_written",
    "graph_that_writes_no_result",
}  # fmt: skip
AT_COMPILE = {"no_way_in", "edge_to_a_misspelt_node", "map_to_no_node"}  # LangGraph compiles none of these


def named(message: str, node: str, key: str, cure: str) -> bool:
    return all(part in message for part in (node, key, cure))


def test_every_graph_is_in_the_table():
    written = {
        name for name, thing in vars(mistaken_graphs).items()
        if inspect.isfunction(thing) and [*inspect.signature(thing).parameters] == ["right", "folder"]
    }  # fmt: skip
    assert written == {entry[0].__name__ for entry in CORPUS}
    assert len(CORPUS) >= 31


@pytest.mark.sampled(4)
@BY_NAME
def test_a_mistaken_graph_is_refused_when_it_is_built_or_checked(
    build: Any, node: str, key: str, cure: str, tmp_path: Path
):
    if build.__name__ in AT_RUNS:
        assert jg.check(build(False, tmp_path)).ok
        return
    with pytest.raises(jg.ConfigError) as refused:
        jg.check(build(False, tmp_path))
    assert [line for line in str(refused.value).splitlines() if named(line, node, key, cure)] != []


@pytest.mark.sampled(4)
@BY_NAME
def test_a_run_of_a_mistaken_graph_ends_before_its_first_call(
    build: Any, node: str, key: str, cure: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    if build.__name__ in AT_COMPILE:
        with pytest.raises(ValueError, match=r"entrypoint|unknown"):
            build(False, tmp_path).compile()
        return
    monkeypatch.setattr("judgegraph.embedded.model.EmbeddedJudge._answer", forbidden)
    with pytest.raises(jg.ConfigError) as refused:
        jg.evaluate(build(False, tmp_path).compile(name="mine"), SAMPLES, out=tmp_path / "run")
    assert named(str(refused.value), node, key, cure)
    assert not (tmp_path / "run").exists()
    assert context.get() is None


def forbidden(*_: Any, **__: Any) -> Any:
    raise AssertionError("a judge was asked")


@pytest.mark.sampled(4)
@BY_NAME
def test_the_graph_that_was_meant_passes_and_is_judged(build: Any, node: str, key: str, cure: str, tmp_path: Path):
    graph = build(True, tmp_path)
    assert [finding for finding in jg.check(graph).findings if finding.code != "no-path-map"] == []
    run = jg.evaluate(graph.compile(name="mine"), SAMPLES)
    assert [item.status for item in run.items] == ["ok"]
    assert run.summary().judged


def test_right_graphs_with_routes_of_their_own_keys_pass():
    def count(state: Turning):  # type: ignore[no-untyped-def]
        return {"rounds": state.get("rounds", 0) + 1, "scores": mistaken_graphs.rated()}

    def again(state: Turning) -> str:
        return "count" if state["rounds"] < 3 else END

    def privately(state: Private) -> str:
        return "count" if state["rounds"] < 3 else END

    for decide in (again, privately):
        made = mistaken_graphs.graph((START, "count"), state=Turning, count=count)
        made.add_conditional_edges("count", decide, ["count", END])
        assert jg.check(made).findings == ()
        (item,) = jg.evaluate(made.compile(name="mine"), SAMPLES).items
        assert (item.status, item.other["rounds"]) == ("ok", 3)


def test_a_condition_that_names_no_criterion_at_run_time_is_told(tmp_path: Path):
    named = {"it": "Fluencyy"}

    def decide(state: EvalState) -> list[str]:
        return [str(named.pop("it", "Fluencyy"))]

    run = jg.evaluate(mistaken_graphs.reviewed(when=decide).compile(name="mine"), SAMPLES)
    assert "did you mean 'Fluency'?" in run.summary().notices["doubt-unknown"].text


def test_a_condition_by_itself_is_neither_true_nor_false():
    with pytest.raises(jg.ConfigError, match=r"jg\.low\(\.\.\.\)\(state\)"):
        bool(jg.low(below=3))
