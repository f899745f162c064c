"""What each construct of a graph file becomes in LangGraph, and that it runs so."""

import json
import re
import sys

import pytest
from small_files import FILE, graph, written

import judgegraph as jg
from judgegraph.agents.critics import DevilsAdvocate
from judgegraph.compiled import agents_of
from judgegraph.errors import ConfigError
from judgegraph.graph_files.build import graph_factory
from judgegraph.testing import scripted
from judgegraph.types import Criterion, Sample, Scale

SAMPLE = Sample(id="s", query="Summarise.", source="The town closed the bridge to cars.", output="A bridge is closed.")
CLARITY = Criterion(name="Clarity", definition="One reading only.")
GOOD = {"clarity": {"reason": "fine", "score": 4}}


async def state_of(made, sample=SAMPLE):
    return await made.ainvoke({"sample": sample})


def agents(made):
    return dict(agents_of(made))


CODE = """
from judgegraph.types import EvalState, Note, keyed

RAN = []

def step(name):
    async def run(state: EvalState) -> EvalState:
        RAN.append(name)
        return {"notes": keyed(Note(agent=name, text="ran"))}
    return run

a, b, c, d, e, f = map(step, "abcdef")

def always(state):
    return True

def never(state):
    return {}

def boom(state):
    raise ValueError("boom")
"""


async def ran(folder, edges):
    """Names of the steps in the order they ran, and the graph."""
    written(folder, CODE, "steps.py")
    used = [n for n in "abcdef" if re.search(rf"(?<![\w.:]){n}\b", edges)]
    made = graph(folder, "\n".join(f"{n}: steps.py:{n}" for n in used), edges)
    await state_of(made)
    own = next(module for name, module in reversed(sys.modules.items()) if name.startswith("judgegraph_user_steps"))
    return "".join(own.RAN), made


@pytest.mark.parametrize(
    ("edges", "order"),
    [
        ("start -> a -> b -> end", "ab"),
        ("start -> a, b -> c -> end", "abc"),
        ("start -> a, b -> c\nc -> d -> end", "abcd"),
        ("'start -> [a, b] -> c -> end'", "abc"),
        ("{from: start, to: [a, b]}\n{from: [a, b], to: c}\n{from: c, to: end}", "abc"),
        ("start -> a -> b -> c\na -> c -> end", "abc"),
        ("start -> a -> b -> c\nstart -> c -> end", "abc"),
        ("start -> a, b, d\na, b -> e -> c\nc, d -> f -> end", "abdecf"),
    ],
)
async def test_every_node_runs_once_and_after_all_that_lead_to_it(edges, order, tmp_path):
    found, made = await ran(tmp_path, edges)
    assert found == order
    assert jg.check(made).ok


@pytest.mark.parametrize(
    ("edges", "order"),
    [
        ("start -> a\n{from: a, to: b, when: steps.py:always}\nb -> end", "ab"),
        ("start -> a\n{from: a, to: b, when: steps.py:never}\nb -> end", "a"),
        ("start -> a\n{from: a, to: b, when: steps.py:never, else: c}\nb, c -> d -> end", "acd"),
        ("start -> a\n{from: a, to: b, when: steps.py:always, else: c}\nb, c -> d -> end", "abd"),
        ("start -> a\n{from: a, to: [b, c], when: steps.py:always, else: d}\nb, c, d -> e -> end", "abce"),
        (
            "start -> a\n{from: a, to: b, when: steps.py:never}\n{from: a, to: c, when: steps.py:always}\n"
            "{from: a, to: d, when: steps.py:always, else: e}\nb, c, d, e -> f -> end",
            "acf",
        ),
        ("{from: start, to: a, when: steps.py:never, else: b}\na, b -> end", "b"),
        ("start -> a\n{from: a, to: b, when: {either: [steps.py:never, failed]}}\nb -> end", "a"),
        ("start -> a, b\n{from: a, to: c, when: steps.py:never, else: d}\nb, c, d -> e -> end", "abde"),
        ("start -> a\n{from: a, to: b, when: steps.py:always, else: [c, d]}\nb -> c\nc, d -> e -> end", "abce"),
        ("start -> a\n{from: a, to: b, when: steps.py:never, else: [c, d]}\nb -> c\nc, d -> e -> end", "acde"),
    ],
)
async def test_a_choice_goes_the_first_way_that_holds(edges, order, tmp_path):
    found, made = await ran(tmp_path, edges)
    assert found == order
    assert jg.check(made).ok


def test_a_join_that_could_run_twice_is_refused(tmp_path):
    written(tmp_path, CODE, "steps.py")
    edges = (
        "start -> a, b\n{from: a, to: [c, d], when: steps.py:always}\nc -> e\nd -> c\ne -> f\n"
        "{from: b, to: f, when: steps.py:always}\nf -> end"
    )
    with pytest.raises(ConfigError, match=r"line 9, 'nodes.f': node 'f' runs twice.*a graph file of its own"):
        graph(tmp_path, "\n".join(f"{n}: steps.py:{n}" for n in "abcdef"), edges)


async def test_a_condition_on_an_edge_looks_at_the_scores_its_source_wrote(tmp_path):
    low = {"clarity": {"reason": "poor", "score": 1}}
    nodes = "first: {use: evaluator, with: {stage: %s}}\nmore: rouge-l"
    edges = "start -> first\n{from: first, to: more, when: {low: {below: 3}}}\nmore -> end"
    for stage in ("draft", "final"):
        made = graph(tmp_path, nodes % stage, edges, judge=scripted(*[low] * 5), criteria=[CLARITY])
        assert "findings" in await state_of(made)
    other = edges.replace("below: 3", "below: 3, stage: draft")
    with pytest.raises(jg.ConfigError, match="at stage 'draft', and no node writes any such score"):
        graph(tmp_path, nodes % "final", other, criteria=[CLARITY])


def test_judges_are_the_files_by_name_or_models_and_each_node_may_have_its_own(tmp_path):
    head = "criteria: summary\njudge: cheap\njudges: {cheap: 'openai:small', strong: {model: 'openai:big', seed: 3}}"
    nodes = """a: evaluator
    b: {use: evaluator, judge: strong, with: {name: b}}
    c: {use: evaluator, judge: {model: embedded, temperature: 1}, with: {name: c}}
    d: {use: sageval, with: {critic_judge: strong, name: d}}"""
    made = graph(tmp_path, nodes, "start -> a, b, c, d -> end", head)
    strong = jg.Endpoint(model="openai:big", seed=3)
    found = agents(made)
    assert [found[n].judge for n in "abc"] == ["openai:small", strong, jg.Endpoint(model="embedded", temperature=1)]
    assert (found["d/evaluate"].judge, found["d/critique"].judge) == ("openai:small", strong)
    other = agents(graph(tmp_path, nodes, "start -> a, b, c, d -> end", head, judge="openai:other"))
    assert [other[n].judge for n in ("a", "b", "d/evaluate")] == ["openai:other", strong, "openai:other"]


def test_criteria_are_a_set_a_file_beside_it_or_a_list_and_each_node_may_have_its_own(tmp_path):
    written(tmp_path, "task: A haiku.\ncriteria:\n  - {name: Form, definition: Three lines.}\n", "mine.yaml")
    nodes = """a: evaluator
    b: {use: scorer, criteria: mine.yaml}
    c: {use: g-eval, criteria: [{name: Tone, definition: How it sounds., scale: [warm, cold]}]}"""
    edges = "start -> a, b, c -> end"
    found = agents(graph(tmp_path, nodes, edges))
    assert [c.name for c in found["a"].criteria] == ["Coherence", "Consistency", "Fluency", "Relevance"]
    assert [(c.name, found["b"].task) for c in found["b"].criteria] == [("Form", "A haiku.")]
    assert found["c/score"].criteria[0].scale == Scale(labels=("warm", "cold"))
    found = agents(graph(tmp_path, nodes, edges, "criteria: mine.yaml\ntask: A poem."))
    assert {found[n].task for n in ("a", "b", "c/score")} == {"A poem."}
    found = agents(graph(tmp_path, nodes, edges, criteria=[CLARITY]))
    assert [tuple(c.name for c in found[n].criteria) for n in "ab"] == [("Clarity",), ("Form",)]


async def test_each_runs_a_node_once_per_criterion_side_by_side(tmp_path):
    judge = scripted(*[{"score": 4, "reason": "r"}] * 4)
    made = graph(tmp_path, "one: {use: scorer, each: criteria}", "start -> one -> end", judge=judge)
    assert len((await state_of(made))["scores"]) == len(judge.calls) == 4
    whole = graph(tmp_path, "one: {use: sageval, each: criteria, criteria: forms}", "start -> one -> end")
    assert len((await state_of(whole))["scores"]) == 16


async def test_a_panel_takes_judges_by_name_models_methods_and_nodes_with_settings(tmp_path):
    head = "criteria: summary\njudges: {cheap: {model: embedded, temperature: 0.5}}"
    nodes = "p: {use: panel, with: {judges: [cheap, embedded, llm-score, {use: g-eval, with: {samples: 2}}]}}"
    state = await state_of(graph(tmp_path, nodes, "start -> p -> end", head))
    ballots = {s.agent for s in state["scores"].values() if s.stage == "ballot"}
    assert ballots == {"cheap", "p-2", "p-llm-score", "p-g-eval"}
    assert {s.agent for s in state["scores"].values() if s.stage == "final" and s.criterion == "Fluency"} >= {"p"}
    named = "p: {use: panel, with: {judges: {x: cheap, y: {use: scorer, with: {stage: z}}}, combine: vote}}"
    state = await state_of(graph(tmp_path, named, "start -> p -> end", head))
    assert {s.agent for s in state["scores"].values() if s.stage == "ballot"} == {"x", "y"}


@pytest.mark.parametrize(
    "node",
    [
        "{use: gate, with: {node: {use: critique, with: {critic: sage}}, when: {wide: {above: 0}}}}",
        "{use: gate, with: {node: {use: scorer, with: {name: two}}, when: wide, otherwise: rouge-l}}",
        "{use: critique, with: {critic: sage, when: {either: [wide, failed]}}}",
        "{use: critique, judge: embedded, with: {critic: {use: sage, with: {calls: three}}}}",
        "{use: refine, with: {critic: sage, rounds: 2}}",
    ],
)
async def test_helpers_and_critics_follow_an_evaluator(node, tmp_path):
    made = graph(tmp_path, f"e: evaluator\nc: {node}", "start -> e -> c -> end", "criteria: forms")
    state = await state_of(made)
    assert {s.stage for s in state["scores"].values()} >= {"draft"}
    assert jg.check(made).ok


async def test_an_escalation_asks_the_strong_judge(tmp_path):
    head = "criteria: summary\njudges: {strong: {model: embedded, temperature: 1}}"
    node = "both: {use: escalate, with: {cheap: embedded, strong: strong, when: {wide: {above: 0}}}}"
    state = await state_of(graph(tmp_path, node, "start -> both -> end", head))
    assert {s.stage for s in state["scores"].values()} == {"draft", "escalated", "final"}


async def test_methods_are_nodes_by_name_fennec_and_fusion_eval_too(tmp_path):
    nodes = """fennec: {use: fennec, with: {branches: 2, mode: single}}
    fusion: {use: fusion-eval, with: {predictions: 2}}
    rouge: rouge-l
    critique: {use: critique, with: {of: judge, stage: final}}"""
    made = graph(tmp_path, nodes, "start -> fennec, fusion, rouge -> critique -> end")
    state = await state_of(made)
    whole = await state_of(jg.load_graph(tmp_path / "small.yaml"))
    assert state["scores"] == whole["scores"]
    alone = await factory_of("fennec", branches=2, mode="single", criteria="summary").ainvoke({"sample": SAMPLE})
    fusion = await factory_of("fusion-eval", predictions=2, criteria="summary").ainvoke({"sample": SAMPLE})
    assert alone["scores"].items() <= state["scores"].items()
    assert fusion["scores"].items() <= state["scores"].items()
    assert state["overall"] == fusion["overall"]  # the later of the two stands


def factory_of(name, **settings):
    from judgegraph.registry import factory

    return factory(name)(**settings)


async def test_another_file_is_a_node_that_keeps_what_it_says_itself(tmp_path):
    inner = "name: inner\nnodes: {a: evaluator}\nedges: [start -> a -> end]\n"
    written(tmp_path, inner.replace("evaluator", "{use: evaluator, with: {name: plain}}"), "plain.yaml")
    written(tmp_path, "criteria: forms\njudge: openai:own\n" + inner, "own.yaml")
    nodes = "a: plain.yaml\nb: ./own.yaml\nc: {use: own.yaml, judge: embedded, criteria: summary}"
    made = graph(tmp_path, nodes, "start -> a -> b -> c -> end", "criteria: summary\njudge: openai:outer")
    found = agents(made)
    assert [found[f"{n}/a"].judge for n in "abc"] == ["openai:outer", "openai:own", "embedded"]
    assert [len(found[f"{n}/a"].criteria) for n in "abc"] == [4, 8, 4]


AGENT = """
from dataclasses import dataclass
from typing_extensions import TypedDict
from judgegraph.types import Note, Notes, Sample, keyed

class Reads(TypedDict):
    sample: Sample

class Writes(TypedDict):
    notes: Notes

@dataclass(frozen=True, kw_only=True)
class Tidy:
    '''Notes how long an output is.'''
    judge: str = "embedded"
    least: int = 3
    name: str = "tidy"

    async def __call__(self, state: Reads) -> Writes:
        return {"notes": keyed(Note(agent=self.name, text=f"{self.judge} {self.least}"))}

def made(judge="embedded", criteria="forms"):
    from judgegraph.graphs import sageval
    return sageval(judge, criteria=criteria)

def broken():
    raise RuntimeError("on purpose")
"""


async def test_code_beside_the_file_is_a_class_a_function_or_a_factory(tmp_path):
    written(tmp_path, AGENT, "mine.py")
    nodes = "a: {use: mine.py:Tidy, with: {least: 5}}\nb: {use: mine.py:made, criteria: summary}"
    made = graph(tmp_path, nodes, "start -> a, b -> end", "judge: openai:m")
    assert agents(made)["b/evaluate"].judge == "openai:m"
    assert len(agents(made)["b/evaluate"].criteria) == 4
    state = await state_of(graph(tmp_path, nodes, "start -> a, b -> end"))
    assert state["notes"]["tidy/embedded 5"]
    for node, said in [
        ("{use: mine.py:Tidy, with: {least: few}}", "'nodes.a.with.least': expected a whole number, got text"),
        ("{use: mine.py:Tidy, with: {leest: 1}}", "has no such setting; did you mean 'least'?"),
        ("mine.py:broken", "cannot be made: RuntimeError: on purpose"),
        ("mine.py:nothing", "has no function 'nothing'"),
    ]:
        with pytest.raises(ConfigError) as raised:
            graph(tmp_path, f"a: {node}", "start -> a -> end")
        assert said in str(raised.value)
        assert "line 4" in str(raised.value)


def test_json_says_the_same_as_yaml(tmp_path):
    import yaml

    from judgegraph.runs.identity import configuration

    data = json.dumps(yaml.safe_load(FILE), indent="\t")
    ours, theirs = jg.load_graph(written(tmp_path)), jg.load_graph(written(tmp_path, data, "small.json"))
    assert configuration(ours) == configuration(theirs)


def test_outputs_are_what_nodes_write_or_what_the_file_names(tmp_path):
    made = jg.load_graph(written(tmp_path))
    assert list(made.get_output_jsonschema()["properties"]) == ["scores", "rectifications", "suggestions", "notes"]
    some = jg.load_graph(written(tmp_path, FILE + "outputs: [scores]\n"))
    assert list(some.get_output_jsonschema()["properties"]) == ["scores"]
    assert set(made.get_input_jsonschema()["properties"]) == {"sample", "criteria", "task"}


def test_the_one_critic_of_a_file_can_be_swapped_and_who_rectifies_goes_by_its_name(tmp_path):
    path = written(tmp_path)
    found = agents(jg.load_graph(path, critic="devils-advocate"))
    assert isinstance(found["critique"], DevilsAdvocate)
    assert found["rectify"].name == found["critique"].name != "sage"
    assert [c.name for c in found["critique"].criteria] == [c.name for c in found["evaluate"].criteria]
    mine = DevilsAdvocate(name="mine", judge="openai:m")
    found = agents(jg.load_graph(path, critic=mine))
    assert (found["critique"], found["rectify"].name) == (mine, "mine")
    helper = FILE.replace("{use: sage, with: {calls: three}}", "{use: critique, with: {critic: sage}}")
    helper = helper.replace("  rectify: rectify\n", "").replace("  - critique -> rectify -> end", "  - critique -> end")
    swapped = agents(jg.load_graph(written(tmp_path, helper), critic="devils-advocate"))
    assert isinstance(swapped["critique/critic"], DevilsAdvocate)


def test_a_file_without_one_critic_has_none_to_swap(tmp_path):
    import inspect

    with_one = graph_factory(written(tmp_path))
    assert list(inspect.signature(with_one).parameters) == ["judge", "criteria", "critic"]
    none = written(tmp_path, "name: x\ncriteria: forms\nnodes: {a: evaluator}\nedges: [start -> a -> end]\n")
    assert list(inspect.signature(graph_factory(none)).parameters) == ["judge", "criteria"]
    with pytest.raises(ConfigError, match="has no critics to swap"):
        jg.load_graph(none, critic="sage")


def test_two_critics_and_one_that_rectifies_need_a_word(tmp_path):
    nodes = "e: evaluator\na: sage\nb: devils-advocate\nr: rectify"
    edges = "start -> e -> a, b -> r -> end"
    with pytest.raises(ConfigError, match=r"line 7, 'nodes.r': there are 2 critics; say whose verdicts count"):
        graph(tmp_path, nodes, edges)
    said = nodes.replace("r: rectify", "r: {use: rectify, with: {name: sage}}")
    assert agents(graph(tmp_path, said, edges))["r"].name == "sage"


def test_a_factory_builds_afresh_each_time_and_tells_old_mistakes_once(tmp_path):
    build = graph_factory(written(tmp_path))
    assert build() is not build()
    for _ in range(2):
        with pytest.raises(ConfigError) as raised:
            build(critic="sagge")
        assert len(str(raised.value).splitlines()) == 1
    assert build(judge="openai:m").get_name() == "small"


def test_building_asks_nobody_and_needs_no_key(tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    text = FILE.replace("judges:", "judge: strong\njudges:")
    assert agents(jg.load_graph(written(tmp_path, text)))["evaluate"].judge.model == "openai:m"
