"""What a condition, a node or an assistant carries beside its code is part of what a run's results depend on."""

import functools
import operator
import subprocess
import sys
from dataclasses import dataclass

import pytest
from langgraph.graph import END, START, StateGraph

import judgegraph as jg
from judgegraph.agents.evaluator import Evaluator
from judgegraph.agents.sage import Sage
from judgegraph.errors import ConfigError
from judgegraph.graphs import sageval
from judgegraph.prompts.criteria import criteria_set
from judgegraph.runs.identity import MOST, closed_over, configuration, differences, serialise_setting, signature
from judgegraph.tools.catalogue import Metric
from judgegraph.types import Criterion, EvalState

CRITERIA = criteria_set("summary").criteria
OTHERS = [c.model_copy(update={"definition": f"Another side of {c.name}."}) for c in CRITERIA]
EVALUATOR = Evaluator(criteria=CRITERIA)


class Above:
    """A condition that is a plain object."""

    def __init__(self, limit):
        self.limit = limit

    def __call__(self, state):
        return self.limit > 1

    def ok(self, state):
        return self(state)


class Slotted:
    __slots__ = ("limit",)

    def __init__(self, limit):
        self.limit = limit

    def __call__(self, state):
        return self.limit > 1


class Holding:
    """A condition that asks another object."""

    def __init__(self, inner):
        self.inner = inner

    def __call__(self, state):
        return self.inner(state)


def above(limit, state):
    return limit > 1


def closing(limits):
    return lambda state: bool(limits)


def line(**nodes):
    graph, before = StateGraph(EvalState), START
    for name, node in nodes.items():
        graph.add_node(name, node)
        graph.add_edge(before, name)
        before = name
    graph.add_edge(before, END)
    return graph.compile(name="line")


def gated(when):
    return line(gate=jg.gate(EVALUATOR, when))


def measured(limit, sample):
    return float(limit)


@dataclass(frozen=True)
class Checker:
    limit: int
    name: str = "checker"
    about: str = "A number."

    def __call__(self, sample):
        return float(self.limit)


WAYS = {
    "a plain object": Above,
    "an object with slots": Slotted,
    "an object in an object": lambda n: Holding(Above(n)),
    "a bound method": lambda n: Above(n).ok,
    "a partial": lambda n: functools.partial(above, n),
    "a partial by keyword": lambda n: functools.partial(above, limit=n),
    "a partial in a partial": lambda n: functools.partial(functools.partial(above, n)),
    "a partial of an object": lambda n: functools.partial(above, Above(n)),
    "a getter": lambda n: operator.itemgetter(f"key{n}"),
    "a closed-over list": lambda n: closing([n]),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_what_a_condition_is_set_to_is_one_line(way):
    (found,) = differences(configuration(gated(way(0))), configuration(gated(way(3))))
    assert found.startswith("nodes.gate/doubt.options.when.decide")
    assert differences(configuration(gated(way(3))), configuration(gated(way(3)))) == []


def routed(choose):
    graph = StateGraph(EvalState)
    graph.add_node("e", EVALUATOR)
    graph.add_conditional_edges(START, choose, ["e", END])
    graph.add_edge("e", END)
    return graph.compile(name="routed")


@pytest.mark.parametrize(
    "way",
    [
        lambda n: functools.partial(above, n), Above, lambda n: Above(n).ok,
        lambda n: functools.partial(operator.contains, [n]),
    ],
    ids=["a partial", "an object", "a bound method", "a partial of Python's"],
)  # fmt: skip
def test_what_a_choice_between_edges_is_set_to_counts(way):
    assert configuration(routed(way(3))) == configuration(routed(way(3)))
    found = differences(configuration(routed(way(0))), configuration(routed(way(3))))
    assert [said.split(":")[0] for said in found] == ["edges", "edges"]


def test_the_arguments_of_a_node_that_is_a_partial_are_told_by_their_names():
    def node(state: EvalState, limit: int) -> EvalState:
        return {}

    old, new = (line(n=functools.partial(node, limit=limit)) for limit in (1, 2))
    assert differences(configuration(old), configuration(new)) == ["nodes.n.options.limit: 1 -> 2"]


def test_what_a_result_is_gathered_in_is_no_setting():
    class Seen:
        def __init__(self):
            self.ids = []

    seen = Seen()

    def node(state: EvalState) -> EvalState:
        seen.ids.append(state["sample"].id)
        return {}

    graph = line(n=node)
    before = configuration(graph)
    seen.ids.append("a")
    assert configuration(graph) == before
    assert closed_over(seen) == f"{serialise_setting(seen)['is']}"


def test_objects_that_lead_back_to_one_another_come_to_an_end():
    first, second = Holding(None), Holding(None)
    first.inner, second.inner = second, first
    assert serialise_setting(first)["inner"]["inner"] == serialise_setting(first)["is"]
    many = Holding([Above(n) for n in range(3 * MOST)])
    assert sum(isinstance(one, dict) for one in serialise_setting(many)["inner"]) == MOST - 1


def test_objects_in_a_set_are_told_alike_in_every_process():
    code = """
import json
from judgegraph.runs.identity import serialise_setting
class T:
    def __init__(self, n): self.n, self.more = n, shared
class Shared:
    n = 1
    def __init__(self): self.x = 2
shared = Shared()
print(json.dumps(serialise_setting({T(n) for n in "abcdef"})))
"""
    run = functools.partial(subprocess.run, [sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert len({run(env={"PYTHONHASHSEED": seed}).stdout for seed in ("1", "2", "3")}) == 1


def test_no_key_of_an_object_is_told():
    condition = Above(3)
    condition.api_key, condition.headers = "canary-key", {"a": "canary-header"}
    assert "canary" not in str(serialise_setting(condition)) + str(
        serialise_setting(functools.partial(above, api_key="canary-key"))
    )


@pytest.mark.parametrize("make", [jg.critique, jg.refine], ids=["critique", "refine"])
def test_the_criteria_that_a_critic_is_shown_count_where_it_has_none_of_its_own(make):
    old, new = (line(e=EVALUATOR, c=make(Sage(), criteria=given)) for given in (CRITERIA, OTHERS))
    found = differences(configuration(old), configuration(new))
    assert len(found) >= len(CRITERIA)
    assert any("Another side of" in said for said in found)
    assert signature(old) != signature(new)


def test_a_run_by_other_criteria_of_a_critique_does_not_go_on(tmp_path):
    sample = jg.Sample(id="a", query="q", source="It rained.", output="It rained.")
    old, new = (line(e=EVALUATOR, c=jg.critique(Sage(), criteria=given)) for given in (CRITERIA, OTHERS))
    jg.evaluate(old, [sample], out=tmp_path / "run")
    with pytest.raises(ConfigError, match="Another side of"):
        jg.evaluate(new, [sample], out=tmp_path / "run")
    assert jg.evaluate(old, [sample], out=tmp_path / "run").manifest["samples"]["done"] == 1


def asked(**settings):
    return line(m=jg.metric_node(jg.as_assistant(sageval(criteria="summary"), about="quality", **settings)))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"criterion": "Fluency"}, "(criterion Fluency)"), ({"budget": jg.Budget(calls=9)}, "(budget calls 9)"),
        ({"budget": jg.Budget(calls=1)}, "(budget calls 1)"),
    ],
    ids=str,
)  # fmt: skip
def test_the_settings_of_a_graph_that_is_an_assistant_count(settings, said):
    plain, other = (configuration(graph)["nodes.m.assistants"]["sageval"] for graph in (asked(), asked(**settings)))
    assert other == f"{plain} {said}"


@pytest.mark.parametrize(
    "make", [lambda n: Metric(name="m", about="x", measure=functools.partial(measured, n)), Checker],
    ids=["a metric of a partial", "an object"],
)  # fmt: skip
def test_what_an_assistant_of_ones_own_is_set_to_counts(make):
    old, new = (configuration(line(m=jg.metric_node(make(n)))) for n in (1, 2))
    assert len(differences(old, new)) == 1
    assert configuration(line(m=jg.metric_node(make(2)))) == new


CLARITY = Criterion(name="Clarity")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (jg.critique("sage", of="a"), jg.critique("sage", of="b")),
        (jg.critique("sage", stage="draft"), jg.critique("sage", stage="final")),
        (jg.refine("sage", of="a"), jg.refine("sage", of="b")),
        (jg.critique("sage", when=lambda s: True), jg.critique("sage", when=lambda s: False)),
        (jg.critique("sage", when=Above(0)), jg.critique("sage", when=Above(3))),
        (jg.gate(EVALUATOR, lambda s: True), jg.gate(EVALUATOR, lambda s: False)),
        (jg.gate(EVALUATOR, jg.either("wide", Above(0))), jg.gate(EVALUATOR, jg.either("wide", Above(3)))),
        (jg.escalate(when=lambda s: True), jg.escalate(when=lambda s: False)),
    ],
    ids=["of", "stage", "of, refine", "a lambda", "an object", "gate", "either", "escalate"],
)
def test_what_a_helper_is_set_to_changes_the_signature(old, new):
    graphs = [line(e=EVALUATOR, x=one) for one in (old, new)]
    assert signature(graphs[0]) != signature(graphs[1])
    assert signature(old) != signature(new)
    assert signature(graphs[0]).isprintable()


def test_a_condition_of_ours_adds_no_digest_to_the_signature():
    assert "when.code" not in signature(line(x=jg.gate(EVALUATOR, jg.wide(above=0.2))))
    assert "x/when:wide(stage=draft, above=0.2)" in signature(line(x=jg.gate(EVALUATOR, jg.wide(above=0.2)))).split("|")
