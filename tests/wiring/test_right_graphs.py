"""No false alarm: graphs put together as they should be, shipped and random, have no finding at all."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from typing_extensions import TypedDict

import judgegraph as jg
from judgegraph import registry
from judgegraph.agents.evaluator import Evaluator
from judgegraph.agents.judge import Judge
from judgegraph.agents.sage import Rectify, Sage
from judgegraph.graphs import coascore, fennec, fusion_eval, g_eval, sageval
from judgegraph.types import EvalState

SHIPPED: list[tuple[str, dict[str, Any]]] = [
    ("sageval", {"critic_calls": "three"}), ("sageval", {"name": "a"}),
    *(("sageval", {"each": each, "critic": critic}) for each in (True, False) for critic in registry.names("critic")),
    ("coascore", {}), ("coascore", {"reply": "text", "reasons": True, "aspects": 3}),
    *(
        ("fennec", {"mode": mode, "correct": correct, "orders": orders})
        for mode in ("auto", "single", "pair") for correct in ("below", "at-most", "off") for orders in ("AB", "both")
        if (mode, orders) != ("single", "both")  # refused: it would do nothing
    ),
    *(("fusion-eval", {"plan": plan, "consult": how}) for plan in (True, False) for how in (None, "tools", "all")),
    ("g-eval", {}), ("llm-score", {}), ("llm-score", {"cot": True}),
]  # fmt: skip


@pytest.mark.parametrize(("method", "given"), SHIPPED, ids=str)
def test_a_shipped_method_has_no_finding(method: str, given: dict[str, Any]):
    graph = registry.factory(method)(**given)
    assert jg.check(graph).findings == ()
    assert jg.check(graph.builder).findings == ()


def side_by_side(*nodes: Any) -> Any:
    """All at once, then a critic over the drafts."""
    graph = StateGraph(EvalState)
    for number, node in enumerate(nodes):
        graph.add_node(f"n{number}", node)
        graph.add_edge(START, f"n{number}")
        graph.add_edge(f"n{number}", "critique")
    graph.add_node("critique", Sage(stage="final", name="over-all"), defer=True)
    graph.add_node("rectify", Rectify(stage="final", name="over-all"))
    graph.add_edge("critique", "rectify")
    graph.add_edge("rectify", END)
    return graph


def after_drafts(node: Any) -> Any:
    graph = StateGraph(EvalState)
    graph.add_node("evaluate", Evaluator())
    graph.add_node("then", node)
    graph.add_edge(START, "evaluate")
    graph.add_edge("evaluate", "then")
    graph.add_edge("then", END)
    return graph


NESTED = {
    "methods side by side": lambda: side_by_side(sageval(), coascore(), fennec(), fusion_eval(), g_eval()),
    "two of one method by name": lambda: side_by_side(sageval(name="a"), sageval(name="b", each=True)),
    "a panel": lambda: side_by_side(jg.panel("embedded", "g-eval", "sageval", criteria="forms")),
    "each": lambda: side_by_side(jg.each(Judge(), criteria="forms"), jg.metric_node("rouge-l")),
    "a gate": lambda: after_drafts(jg.gate(Evaluator(name="second"), jg.wide())),
    "a critique behind a gate": lambda: after_drafts(jg.critique("sage", when=jg.wide())),
    "a refinement": lambda: after_drafts(jg.refine("sage", rounds=2)),
    "an escalation": lambda: side_by_side(jg.escalate("embedded", "openai:strong", when=jg.wide(), criteria="forms")),
    "a person": lambda: jg.with_person(sageval()),
}


@pytest.mark.parametrize("name", NESTED)
def test_methods_and_helpers_as_nodes_of_other_graphs_have_no_finding(name: str):
    assert jg.check(NESTED[name]()).findings == ()


MOST = 8  # nodes, about


class Maker:
    """Builds a random graph piece by piece; each piece tells where it is entered, left, and what it surely wrote."""

    def __init__(self, draw: Any) -> None:
        self.draw, self.number = draw, 0
        keys = {f"k{number}": str for number in range(MOST + 200)}
        counts = {f"rounds{number}": int for number in range(MOST + 200)}
        state = TypedDict("State", {**keys, **counts}, total=False)  # type: ignore[operator]
        self.graph = StateGraph(state, input_schema=TypedDict("In", {"k0": str}))  # type: ignore[operator]

    def node(self, known: frozenset[str], *, defer: bool = False, **more: Any) -> tuple[str, frozenset[str]]:
        """A node that reads some of what is there, and writes a key of its own."""
        self.number += 1
        name, key = f"n{self.number}", f"k{self.number}"
        reads = self.draw(st.frozensets(st.sampled_from(sorted(known)), max_size=3)) if known else frozenset()

        def run(state: Any) -> Any:
            return {}

        run.__annotations__ = {
            "state": TypedDict(f"R{name}", dict.fromkeys(reads, str)) if reads else dict,  # type: ignore[operator]
            "return": TypedDict(f"W{name}", {key: str, **more}),  # type: ignore[operator]
        }
        self.graph.add_node(name, run, defer=defer)
        return name, known | {key}

    def series(self, known: frozenset[str], kinds: list[str]) -> tuple[str, str, frozenset[str]]:
        first = last = ""
        for kind in self.draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=3)):
            kind = kind if self.number < MOST else "leaf"
            start, end, known = getattr(self, kind)(known)
            if last:
                self.graph.add_edge(last, start)
            first, last = first or start, end
        return first, last, known

    def leaf(self, known: frozenset[str]) -> tuple[str, str, frozenset[str]]:
        name, known = self.node(known)
        return name, name, known

    def either(self, known: frozenset[str]) -> tuple[str, str, frozenset[str]]:
        """One arm or the other; only what both know is known after."""
        fork, known = self.node(known)
        arms = [self.series(known, ["leaf", "either"]) for _ in range(2)]
        self.graph.add_conditional_edges(fork, lambda state: arms[0][0], [arm[0] for arm in arms])
        join, after = self.node(arms[0][2] & arms[1][2])
        for _, end, _ in arms:
            self.graph.add_edge(end, join)
        return fork, join, after

    def both(self, known: frozenset[str]) -> tuple[str, str, frozenset[str]]:
        """Arms of any length side by side, and a deferred join that knows what all of them do."""
        fork, known = self.node(known)
        arms = [self.series(known, ["leaf", "either", "loop"]) for _ in range(2)]
        join, after = self.node(arms[0][2] | arms[1][2], defer=True)
        for start, end, _ in arms:
            self.graph.add_edge(fork, start)
            self.graph.add_edge(end, join)
        return fork, join, after

    def fan(self, known: frozenset[str]) -> tuple[str, str, frozenset[str]]:
        """One run per item, or straight on; what is sent brings its own keys."""
        fork, known = self.node(known)
        self.number += 1
        worker, (join, after) = f"n{self.number}", self.node(known, defer=True)

        def work(state: dict[str, Any]) -> None:
            return None

        def spread(state: Any) -> list[Send] | str:
            return [Send(worker, {"item": item}) for item in state.get("items", ())] or join

        self.graph.add_node(worker, work)
        self.graph.add_conditional_edges(fork, spread, [worker, join])
        self.graph.add_edge(worker, join)
        return fork, join, after

    def loop(self, known: frozenset[str]) -> tuple[str, str, frozenset[str]]:
        """A node that goes back until a count is reached."""
        most, count = self.draw(st.integers(1, 5)), f"rounds{self.number}"
        start, inside = self.node(known, **{count: int})
        end, after = self.node(inside)

        def again(state: Any) -> str:
            return start if state.get(count, 0) < most else end

        self.graph.add_conditional_edges(start, again, [start, end])
        return start, end, after


@pytest.mark.long
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.data())
def test_a_random_graph_that_is_built_right_has_no_finding(data: Any):
    maker = Maker(data.draw)
    start, end, _ = maker.series(frozenset({"k0"}), ["leaf", "either", "both", "fan", "loop"])
    maker.graph.add_edge(START, start)
    maker.graph.add_edge(end, END)
    found = jg.check(maker.graph, strict=False).findings
    assert found == (), "\n".join(map(str, found))


@pytest.mark.parametrize(
    "judge", ["openai:no-such-model", "anthropic:claude", "embedded", jg.Endpoint(model="openai:a")]
)
def test_a_judge_is_looked_at_by_its_name_alone(judge: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    graph = StateGraph(EvalState)
    graph.add_node("evaluate", Evaluator(judge=judge))
    graph.add_edge(START, "evaluate")
    graph.add_edge("evaluate", END)
    assert jg.check(graph).findings == ()
