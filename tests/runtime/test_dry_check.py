"""Graphs with functions of one's own are run dry by `check`: what would fail every sample of a run is refused."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from langgraph.graph import END, START, StateGraph

import judgegraph as jg
from judgegraph.agents.evaluator import Evaluator
from judgegraph.agents.sage import Rectify, Sage
from judgegraph.cli.main import main
from judgegraph.planning.dry_run import dry_check
from judgegraph.types import EvalState, Sample

SUMMARY = jg.criteria_set("summary").criteria


def rated(value: Any = 4.0, **more: Any) -> Any:
    given = {"criterion": "Wit", "agent": "wit", "value": value, "scale": jg.Scale.of("1-5"), "stage": "final"}
    return jg.keyed(jg.Score(**(given | more)))


PENDING: list[Any] = []  # what `later` gave


def later(value: Any) -> Any:
    async def given() -> Any:
        return value

    PENDING.append(given())
    return PENDING[-1]


def line(state: Any = EvalState, **nodes: Any) -> Any:
    graph = StateGraph(state)
    for name, node in nodes.items():
        graph.add_node(name, node)
    for source, target in pairwise([START, *nodes, END]):
        graph.add_edge(source, target)
    return graph.compile(name="mine")


def node(written: Callable[[Any], Any]) -> Any:
    """A graph of one function, which gives what `written` makes of the state."""

    async def judge(state):  # type: ignore[no-untyped-def]
        return written(state)

    return line(judge=judge)


def cleared(state: Any) -> Any:
    state["scores"].clear()
    return {}


def lost_way() -> Any:
    graph = StateGraph(EvalState)
    graph.add_node("judge", lambda state: {"scores": rated()})
    graph.add_edge(START, "judge")
    graph.add_conditional_edges("judge", lambda state: {"low": END}.get("hgih"), [END])
    return graph.compile(name="mine")


WRONG: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {  # mistake -> its graph; node, key and cure
    "scores as a list": (
        lambda: node(lambda s: {"scores": [*rated().values()]}), ("'judge'", "scores", "write scores=keyed(Score("),
    ),
    "scores as a function": (lambda: node(lambda s: {"scores": rated}), ("'judge'", "scores", "is a function")),
    "scores as numbers": (lambda: node(lambda s: {"scores": {"Wit": 4.0}}), ("'judge'", "scores['Wit']", "a float")),
    "a score under its criterion": (
        lambda: node(lambda s: {"scores": {"Wit": rated().popitem()[1]}}), ("'judge'", "scores['Wit']", "keyed("),
    ),
    "a verdict in words": (lambda: node(lambda s: {"verdict": "the first"}), ("'judge'", "verdict", 'write "A", "B"')),
    "a value that nobody awaited": (
        lambda: node(lambda s: {"scores": rated(later(4))}), ("'judge'", "'scores'", "a coroutine (await it)"),
    ),
    "scores that nobody awaited": (
        lambda: node(lambda s: {"scores": later(rated())}), ("'judge'", "scores", "a coroutine (await it)"),
    ),
    "a result that nobody awaited": (lambda: node(lambda s: later({})), ("'judge'", "coroutine (await it)", "return")),
    "a value in words": (lambda: node(lambda s: {"scores": rated("4.2")}), ("'judge'", "'scores'", "got a str")),
    "a value that is true": (lambda: node(lambda s: {"scores": rated(True)}), ("'judge'", "'scores'", "got a bool")),
    "a value that is no number": (
        lambda: node(lambda s: {"scores": rated(float("nan"))}), ("'judge'", "'scores'", "finite number"),
    ),
    "a value off its scale": (
        lambda: node(lambda s: {"scores": rated(80.0)}), ("'judge'", "scores[", "not on the scale 1-5; write a value"),
    ),
    "a key that is made up": (
        lambda: node(lambda s: {"sco" + "re": rated()}), ("'judge'", "'score'", "did you mean 'scores'?"),
    ),
    "two nodes that write one score": (
        lambda: line(a=lambda s: {"scores": rated(2)}, b=lambda s: {"scores": rated(5)}),
        ("'b'", "scores[", "another agent= or stage="),
    ),
    "scores that are taken out": (
        lambda: line(judge=Evaluator(criteria=SUMMARY, stage="final"), drop=cleared),
        ("'drop'", "scores[", "leave the state as it is"),
    ),
    "a name that nobody gave": (lambda: node(lambda s: {"scores": ratd()}), ("'judge'", "name 'ratd' is not")),  # type: ignore[name-defined]  # noqa: F821
    "a way that is not there": (lost_way, ("'judge'", "none of its targets", "return one of them, or END")),
    "nothing is written": (lambda: node(lambda s: {}), ("wrote no score", "return {'scores'")),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_every_sample_would_fail_by_is_refused_with_node_key_and_cure(name: str):
    made, said = WRONG[name]
    (found,) = dry_check(made())
    while PENDING:
        PENDING.pop().close()
    assert (found.code, found.severity) == ("wrong-value", "error")
    assert [part for part in said if part not in found.message] == []
    assert "\n" not in found.message


def of_the_topic(state: Any) -> Any:
    return {"scores": rated(float(state["sample"].meta["grade"]))}


UNSURE: dict[str, tuple[Callable[[], Any], str]] = {
    "a column of one's own": (lambda: node(of_the_topic), "node 'judge' failed: KeyError: 'grade'"),
    "a field of an output that is JSON": (lambda: node(lambda s: s["sample"].output["answer"]), "string indices"),
    "a table by ids": (lambda: node(lambda s: {"x": 1}[s["sample"].id]), "KeyError: '1'"),
    "a verdict for pairs": (lambda: node(lambda s: {"verdict": "A"}), "on a sample without rival, node 'judge'"),
    "a number without a scale": (lambda: node(lambda s: {"scores": rated(80.0, scale=None)}), "give the score a scale"),
    "a criterion that is misspelt": (
        lambda: line(
            judge=Evaluator(criteria=SUMMARY, stage="final"),
            mine=lambda s: {"scores": rated(criterion="Fluencyy")},
        ),
        "did you mean 'Fluency'?",
    ),
    "metrics for answers": (lambda: line(a=jg.metric_node("chrf"), b=lambda s: {"notes": {}}), "no score is an answer"),
    "no answer, and no reason": (
        lambda: node(lambda s: {"scores": rated(None, status="unreadable")}), "agent 'wit' gives no reason",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNSURE)
def test_what_may_be_right_on_other_samples_is_a_warning(name: str):
    made, said = UNSURE[name]
    (found,) = dry_check(made())
    assert (found.code, found.severity) == ("failed-dry-run", "warning")
    assert said in found.message


def test_graphs_of_ours_are_not_run_and_right_ones_pass():
    assert dry_check(line(judge=Evaluator(criteria=SUMMARY), critique=Sage(criteria=SUMMARY), rectify=Rectify())) == ()
    assert dry_check(node(lambda s: {"scores": rated()})) == ()


def test_check_refuses_it_and_runs_none_without_calls(tmp_path: Path):
    (tmp_path / "mine.py").write_text(
        "from langgraph.graph import END, START, StateGraph\n"
        "import judgegraph as jg\n"
        "def judge(state):\n"
        "    return {'scores': {'Wit': 4}}\n"
        "def mine():\n"
        "    g = StateGraph(jg.EvalState)\n"
        "    g.add_node('judge', judge)\n"
        "    g.add_edge(START, 'judge')\n"
        "    g.add_edge('judge', END)\n"
        "    return g.compile(name='mine')\n"
    )
    graph = f"{tmp_path / 'mine.py'}:mine"
    told = CliRunner().invoke(main, ["check", graph])
    assert told.exit_code == 1
    assert "wrong-value: node 'judge' wrote scores['Wit'], which is an int and no Score" in told.stderr
    assert '"wired": false' in CliRunner().invoke(main, ["check", graph, "--json"]).stdout
    assert CliRunner().invoke(main, ["check", graph, "--no-calls"]).exit_code == 0
    (tmp_path / "data.jsonl").write_text('{"id": "a", "source": "An article.", "output": "A text of it."}\n')
    plan = CliRunner().invoke(main, ["plan", graph, str(tmp_path / "data.jsonl")])
    assert plan.exit_code == 1
    assert "node 'judge' wrote scores['Wit']" in " ".join(plan.output.split())


def test_the_command_asks_a_condition_of_ones_own_in_a_graph_without_nodes_of_ones_own(tmp_path: Path):
    (tmp_path / "mine.py").write_text("""
import judgegraph as jg
from judgegraph.agents.evaluator import Evaluator
from langgraph.graph import END, START, StateGraph

def doubt(state, more):
    return ["Fluency"]

def graph():
    made = StateGraph(jg.EvalState)
    made.add_node("judge", Evaluator(criteria=jg.criteria_set("summary").criteria))
    made.add_node("review", jg.critique("sage", when=doubt, criteria="summary"))
    made.add_edge(START, "judge")
    made.add_edge("judge", "review")
    made.add_edge("review", END)
    return made.compile()
""")
    told = CliRunner().invoke(main, ["check", f"{tmp_path}/mine.py:graph"])
    assert told.exit_code == 1
    assert "wrong-value: node 'review/doubt' failed: TypeError: doubt() missing" in " ".join(told.output.split())


def test_what_is_found_by_building_and_checking(tmp_path: Path):
    rouge = jg.metric_node("rouge-l")
    with pytest.raises(jg.ConfigError, match="judges by no criterion: add it as a node beside the panel"):
        jg.panel(rouge, "embedded", criteria="summary")
    with pytest.raises(jg.ConfigError, match="each: a metric judges by no criterion"):
        jg.each("rouge-l", criteria="summary")

    def of_a_sample(sample: Sample) -> Any:
        return {"scores": rated()}

    with pytest.raises(jg.WiringError, match=r"takes a sample, and a node is given the state: take `state`"):
        jg.check(line(judge=of_a_sample))
    none = [one.model_copy(update={"weight": 0.0}) for one in SUMMARY]
    with pytest.raises(jg.WiringError, match=r"node 'judge': no criterion has a 'weight' above 0"):
        jg.check(line(judge=Evaluator(criteria=none)))
    twice = line(judge=Evaluator(criteria=SUMMARY), critique=Sage(criteria=SUMMARY), one=Rectify(), two=Rectify())
    (told,) = jg.check(twice).findings
    assert (told.code, told.node) == ("same-opinion", "two")
