"""What is put in the wrong place, or made with a wrong setting, is refused by its name, before anything is asked."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send

import judgegraph as jg
from judgegraph.agents import Comparer, Corrector, Evaluator, FusionJudge, Judge, Merge, Planner, Sage, Scorer
from judgegraph.graphs import sageval
from judgegraph.types import EvalState

SUMMARY = jg.criteria_set("summary").criteria
SAMPLE = jg.Sample(id="1", source="The bridge is shut until spring.", output="The bridge is shut.")


def line(**nodes: Any) -> Any:
    made = StateGraph(EvalState)
    for name, node in nodes.items():
        made.add_node(name, node)
    for source, target in pairwise([START, *nodes, END]):
        made.add_edge(source, target)
    return made


NO_NODES = {
    "a decorator": (jg.assistant, "jg.assistant"),
    "a decorator of a name": (jg.agent("fresh-eyes"), "a decorator"),
    "a helper": (jg.panel, "jg.panel"),
    "a tool": (jg.keyed, "jg.keyed"),
    "a method that was not called": (sageval, "sageval"),
}


@pytest.mark.parametrize("name", NO_NODES)
def test_what_takes_no_state_is_no_node_and_no_part_of_one(name: str):
    thing, shown = NO_NODES[name]
    found = [one.message for one in jg.check(line(judge=thing), strict=False).findings if one.code == "not-made"]
    assert found == [f"node 'judge' is {shown}, which takes no state: call it, and add what it gives"]
    for around in (
        lambda: jg.panel(thing, "embedded", criteria="summary"),
        lambda: jg.escalate("embedded", thing, criteria="summary"),
        lambda: jg.gate(thing, jg.failed()),
        lambda: jg.critique(thing, criteria="summary"),
    ):
        with pytest.raises(jg.ConfigError, match="takes no state"):
            around()


def test_a_strict_graph_is_no_node():
    with pytest.raises(jg.WiringError, match="add the graph itself"):
        jg.check(line(judge=jg.strict(sageval())))


WRONG = {
    "criterias": lambda: Evaluator(criterias=SUMMARY),  # type: ignore[call-arg]
    "criteria": lambda: Evaluator(criteria=SUMMARY[0]),  # type: ignore[arg-type]
    "cot": lambda: Evaluator(cot="no"),  # type: ignore[arg-type]
    "name": lambda: Evaluator(name=""),
    "reader": lambda: Evaluator(reader="mean"),  # type: ignore[arg-type]
    "kind": lambda: jg.Reader("Mean"),  # type: ignore[arg-type]
    "samples": lambda: jg.panel("embedded", "g-eval", samples="five"),  # type: ignore[arg-type]
    "combine": lambda: jg.panel("embedded", "g-eval", combine="avg"),  # type: ignore[arg-type]
    "criterion": lambda: jg.panel("embedded", "g-eval", criterion="summary"),  # type: ignore[call-arg]
    "rule": lambda: Corrector(rule="under"),  # type: ignore[arg-type]
    "threshold": lambda: Corrector(threshold="3"),  # type: ignore[arg-type]
    "mode": lambda: Merge(mode="both"),  # type: ignore[arg-type]
    "explain": lambda: Scorer(explain="sometimes"),  # type: ignore[arg-type]
    "reply": lambda: Judge(reply="json"),  # type: ignore[arg-type]
    "labels": lambda: Comparer(labels="letters"),  # type: ignore[arg-type]
    "calls": lambda: Sage(calls="two"),  # type: ignore[arg-type]
    "assistants": lambda: Planner(assistants=["rouge-l"]),  # type: ignore[arg-type]
    "temperature": lambda: jg.Endpoint(model="openai:m", temperature="hot"),  # type: ignore[arg-type]
    "at_most": lambda: jg.bounded(lambda state: END),  # type: ignore[call-overload]
    "hears": lambda: jg.judge_agent("a", "You judge.", hears=3),  # type: ignore[arg-type]
    "argument: 'assistants'": lambda: FusionJudge(),  # type: ignore[call-arg]
}


@pytest.mark.parametrize("setting", WRONG)
def test_a_wrong_setting_is_refused_by_its_name(setting: str):
    with pytest.raises(jg.ConfigError, match=setting):
        WRONG[setting]()


def test_a_setting_by_place_says_how_it_is_written():
    with pytest.raises(jg.ConfigError, match=r"Evaluator\(judge=\.\.\.\)"):
        Evaluator("embedded")  # type: ignore[misc]


WAYS: dict[str, Any] = {
    "a name": "critik", "a list in a list": [["critique"]], "a set": {"critique"}, "some": ["critique", "elsewhere"],
    "a Send": Send("critik", {"sample": SAMPLE}),
}  # fmt: skip


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("commanded", [False, True])
def test_a_way_to_no_node_fails_the_sample_where_langgraph_says_nothing(name: str, commanded: bool):
    """The way is known only when it is taken: what stands in the source says nothing of it."""
    if commanded and name == "a set":
        pytest.skip("LangGraph takes any collection of a command's")
    found = dict(WAYS)

    def decide(state: EvalState) -> Any:
        return found[name]

    async def lead(state: EvalState) -> Any:
        return Command(goto=found[name])

    made = StateGraph(EvalState)
    made.add_node("judge", Evaluator(criteria=SUMMARY))
    made.add_node("critique", jg.critique("sage", criteria="summary"))
    made.add_node("lead", lead if commanded else lambda state: {})
    made.add_edge(START, "judge")
    made.add_edge("judge", "lead")
    made.add_edge("critique", END)
    if not commanded:
        made.add_conditional_edges("lead", decide)
    (item,) = jg.evaluate(made.compile(), [SAMPLE], check=False).items
    assert item.status == "agent_error"
    assert "what follows node 'lead' leads to" in str(item.error)
    assert "there is no such node" in str(item.error)


def test_one_opinion_under_two_names_is_refused_and_two_are_not():
    def twice(**second: Any) -> list[str]:
        one, other = jg.critique("sage", criteria="summary"), jg.critique("sage", criteria="summary", **second)
        made = line(judge=Evaluator(criteria=SUMMARY), one=one, other=other)
        return [f"{found.severity} {found.code}" for found in jg.check(made, strict=False).findings]

    assert twice(name="second") == ["error same-opinion"]
    assert twice(name="second", judge="openai:m") == twice(name="second", stage="final", of="sage") == []


CONDITIONS = {
    "no text": (lambda state: "no", "no criterion has that name"),
    "two arguments": (lambda state, other: True, "missing 1 required positional argument"),
    "keys for criteria": (lambda state: list(state["scores"]), "no criterion has that name"),
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_dry_check_asks_conditions_of_ones_own(name: str):
    when, said = CONDITIONS[name]
    made = line(judge=Evaluator(criteria=SUMMARY), critique=jg.critique("sage", when=when, criteria="summary"))
    try:
        found = " ".join(map(str, jg.dry_check(made.compile())))
    except jg.ConfigError as error:
        found = str(error)
    assert said in found
