"""What may stand in a graph, and which keys it reads and writes."""

from dataclasses import dataclass

import pytest
from langgraph.graph import START, StateGraph
from pydantic import BaseModel
from typing_extensions import TypedDict

from judgegraph.agents.evaluator import Evaluator
from judgegraph.agents.sage import Sage
from judgegraph.agents.scorer import Scorer
from judgegraph.compiled import keys, vocabulary
from judgegraph.compose.nodes import MetricNode, as_node
from judgegraph.errors import ConfigError
from judgegraph.graphs import fennec, g_eval
from judgegraph.graphs.sageval import builder
from judgegraph.prompts.criteria import criteria_set
from judgegraph.types import Asked, Criterion, EvalState, Sample, Scores

OWN = [Criterion(name="Own")]


class Writes(TypedDict):
    scores: Scores


class Model(BaseModel):
    sample: Sample
    task: str = ""


@dataclass
class Data:
    sample: Sample


async def plain(state):
    return {}


async def modelled(state: Model) -> Writes:
    return {"scores": {}}


async def of_data(state: Data) -> Writes | None:
    return None


async def unreadable(state: "Nowhere") -> "Nothing":  # noqa: F821
    return {}


def agents(node):
    return [getattr(spec.runnable, "afunc", None) for spec in node.builder.nodes.values()]


@pytest.mark.parametrize(
    ("name", "kind"),
    [("evaluator", Evaluator), ("agent/evaluator", Evaluator), ("sage", Sage), ("rouge-l", MetricNode)],
)
def test_a_name_makes_an_agent(name, kind):
    assert isinstance(as_node(name), kind)


def test_what_is_made_by_name_is_given_what_it_takes_of_what_is_offered():
    offered = {"judge": "openai:m", "criteria": OWN, "task": None, "name": "mine", "first_digit": True, "nothing": 1}
    agent = as_node("evaluator", **offered)
    assert (agent.judge, agent.criteria, agent.name) == ("openai:m", tuple(OWN), "mine")
    (scorer,) = agents(as_node("g-eval", **offered))
    assert isinstance(scorer, Scorer)
    assert (scorer.judge, list(scorer.criteria), scorer.name) == ("openai:m", OWN, "mine-g-eval")
    assert scorer.reader.first_digit is True


def test_settings_of_the_user_come_before_what_is_offered():
    assert as_node("evaluator", {"judge": "openai:a"}, judge="openai:b").judge == "openai:a"
    (scorer,) = agents(as_node("llm-score", {"criteria": OWN}, criteria="forms"))
    assert list(scorer.criteria) == OWN


def test_the_task_of_criteria_reaches_an_agent_that_is_given_none():
    assert as_node("evaluator", criteria="summary").task == criteria_set("summary").task != Evaluator().task
    assert as_node("evaluator", criteria="summary", task="a poem").task == "a poem"


def test_a_file_names_a_method(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from judgegraph.graphs import g_eval\n\n\ndef mine(judge='embedded'):\n    return g_eval(judge)\n"
    )
    node = as_node(f"{tmp_path / 'mine.py'}:mine", judge="openai:m", name="not taken")
    assert agents(node)[0].judge == "openai:m"
    with pytest.raises(ConfigError, match="has no setting tone; known: judge"):
        as_node(f"{tmp_path / 'mine.py'}:mine", {"tone": 1})


def test_agents_functions_and_graphs_are_nodes_as_they_are_and_a_builder_is_compiled():
    graph, agent = g_eval(), Evaluator()
    for node in (graph, agent, plain):
        assert as_node(node) is node
    assert hasattr(as_node(builder()), "ainvoke")


@pytest.mark.parametrize(
    ("which", "settings", "words"),
    [
        ("nobody", None, "no agent, critic, method or assistant 'nobody'"),
        ("critic/evaluator", None, "no critic 'evaluator'"),
        (Evaluator, None, r"write Evaluator\(\.\.\.\)"),
        (None, None, "a node is a name, .*; got None"),
        ({"a": 1}, None, "a node is a name"),
        (Evaluator(), {"name": "a"}, "made already: name would change nothing"),
        ("evaluator", {"tone": 1}, "agent 'evaluator' has no setting tone"),
        ("g-eval", {"tone": 1}, "method 'g-eval' has no setting tone"),
    ],
    ids=["no name", "no such kind", "a class", "none", "a mapping", "settings", "agent's setting", "method's setting"],
)  # fmt: skip
def test_what_is_no_node_is_refused(which, settings, words):
    with pytest.raises(ConfigError, match=words):
        as_node(which, settings)


ALL = set(vocabulary())


@pytest.mark.parametrize(
    ("node", "reads", "writes"),
    [
        (Evaluator(), {"sample", "criteria"}, {"scores"}),
        (Sage(), {"sample", "scores", "criteria"}, {"rectifications", "suggestions", "notes"}),
        (g_eval(), {*Asked.__annotations__}, {"scores"}),
        (fennec(), {*Asked.__annotations__}, {
            "branches", "guidelines", "scores", "comparisons", "corrections", "overall", "verdict", "notes",
        }),
        (modelled, {"sample", "task"}, {"scores"}),
        (of_data, {"sample"}, {"scores"}),
        (plain, ALL, ALL),
        (unreadable, ALL, ALL),
    ],
    ids=["an agent", "a critic", "a method", "fennec", "a model", "a dataclass", "no annotations", "unknown names"],
)  # fmt: skip
def test_keys_are_those_of_annotations_and_schemas(node, reads, writes):
    found = keys(node)
    assert (set(found[0]), set(found[1])) == (reads, writes)


def test_the_vocabulary_is_that_of_the_shared_state():
    assert set(EvalState.__annotations__) == ALL


async def test_a_node_in_a_graph_is_handed_just_what_keys_says():
    seen = []

    async def reads(state: Asked) -> Writes:
        seen.append(set(state))
        return {"scores": {}}

    graph = StateGraph(EvalState)
    graph.add_node("reads", as_node(reads))
    graph.add_edge(START, "reads")
    await graph.compile().ainvoke({"sample": Sample(id="s", output="t"), "task": "t", "notes": {}})
    assert seen == [{"sample", "task"}]
    assert set(keys(reads)[0]) >= seen[0]
