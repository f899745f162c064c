"""A gate: what stands behind it is asked where something is in doubt, and nowhere else."""

import pytest
from drawing import arrows, figure
from langgraph.graph import END, START, StateGraph

import judgegraph as jg
from judgegraph import registry
from judgegraph.agents.evaluator import Evaluator
from judgegraph.agents.sage import Sage
from judgegraph.compose import gate as module
from judgegraph.errors import ConfigError
from judgegraph.planning.dry_run import own_code
from judgegraph.runs.identity import configuration, differences, signature
from judgegraph.testing import scripted
from judgegraph.types import Criterion, Note, Sample, keyed

SAMPLE = Sample(id="s1", query="Say when it opens.", source="It opens in May.", output="It opens in May.")
CLARITY = Criterion(name="Clarity", definition="One reading only.")
DRAFT = {"clarity": {"reason": "fine", "score": 2}}


async def marks(state: jg.EvalState) -> jg.EvalState:
    return {"notes": keyed(Note(agent="node", text="asked"))}


async def other(state: jg.EvalState) -> jg.EvalState:
    return {"notes": keyed(Note(agent="other", text="asked"))}


def graph_of(node, before=None):
    graph = StateGraph(jg.EvalState)
    graph.add_node("evaluate", before or Evaluator(judge=scripted(DRAFT), criteria=[CLARITY], reader=jg.Reader()))
    graph.add_node("gate", node)
    graph.add_edge(START, "evaluate")
    graph.add_edge("evaluate", "gate")
    graph.add_edge("gate", END)
    return graph.compile()


async def notes(node):
    return sorted((await graph_of(node).ainvoke({"sample": SAMPLE}))["notes"])


@pytest.mark.parametrize(
    ("when", "otherwise", "said"),
    [
        (jg.low(3), None, ["node/asked"]),
        (jg.low(2), None, ["gate/closed: nothing was in doubt"]),
        (jg.low(2), other, ["other/asked"]),
        (jg.low(3), other, ["node/asked"]),
        ({"low": 3}, None, ["node/asked"]),
        (lambda state: state["sample"].id == "s1", None, ["node/asked"]),
        (lambda state: False, other, ["other/asked"]),
        (jg.low(3, stage="final"), None, ["gate/low looks at stage 'final', where no score stands"]),
    ],
)
async def test_the_node_is_asked_where_something_is_in_doubt(when, otherwise, said):
    assert await notes(jg.gate(marks, when, otherwise=otherwise)) == said


async def test_a_critic_behind_a_closed_gate_is_not_called():
    judge = scripted()
    final = await graph_of(jg.gate(Sage(judge=judge, criteria=[CLARITY]), jg.low(2))).ainvoke({"sample": SAMPLE})
    assert judge.calls == []
    assert not final["rectifications"]
    assert list(final["scores"]) == ["Clarity/evaluator/draft/0"]


async def test_a_closed_gate_says_nothing_anew_that_others_said_beside_it():
    async def overall(state: jg.EvalState) -> jg.EvalState:
        return {"overall": 1.0}

    async def later(state: jg.EvalState) -> jg.EvalState:
        return {"overall": 2.0}

    graph = StateGraph(jg.EvalState)
    graph.add_node("first", overall)
    graph.add_node("a_later", later)
    graph.add_node("gate", jg.gate("g-eval", jg.low(3), criteria="summary"))
    graph.add_edge(START, "first")
    for name in ("a_later", "gate"):
        graph.add_edge("first", name)
        graph.add_edge(name, END)
    assert (await graph.compile().ainvoke({"sample": SAMPLE}))["overall"] == 2.0


async def test_a_key_of_the_callers_own_reaches_the_node_and_comes_back():
    class Mine(jg.EvalState, total=False):
        mood: str

    async def changes(state: Mine) -> Mine:
        return {"mood": state["mood"] + "!"}

    graph = StateGraph(Mine)
    graph.add_node("gate", jg.gate(changes, lambda state: True))
    graph.add_edge(START, "gate")
    assert (await graph.compile().ainvoke({"sample": SAMPLE, "mood": "good"}))["mood"] == "good!"


@pytest.mark.parametrize("inner", [jg.low(3), jg.low(2)], ids=["open", "closed"])
async def test_a_gate_in_a_gate_asks_where_both_are_open(inner):
    said = await notes(jg.gate(jg.gate(marks, inner, name="inner"), jg.low(3)))
    assert said == (["node/asked"] if inner.below == 3 else ["inner/closed: nothing was in doubt"])


@pytest.mark.parametrize("which", ["nobody", 7])
def test_what_can_be_no_node_is_refused(which):
    with pytest.raises(ConfigError):
        jg.gate(which, "wide")


def test_the_graph_is_the_figure_of_the_docstring():
    assert arrows(jg.gate("sage", "wide")) == figure((module.__doc__ or "").split("Escalated:")[0])
    assert "doubt > otherwise" in arrows(jg.gate("sage", "wide", otherwise="self-reflection"))
    jg.check(graph_of(jg.gate(jg.critique("sage"), "wide", otherwise=jg.critique("self-reflection"))))


def test_a_setting_of_a_condition_is_one_line_of_the_configuration_and_stands_in_the_signature():
    old, new = (graph_of(jg.gate("sage", jg.wide(above))) for above in (0.2, 0.3))
    (line,) = differences(configuration(old), configuration(new))
    assert line == "nodes.gate/doubt.options.when.above: 0.2 -> 0.3"
    assert "|gate/when:wide(stage=draft, above=0.2)|" in signature(old)
    both = (graph_of(jg.gate("sage", jg.either(jg.wide(above), "failed"))) for above in (0.2, 0.3))
    assert len(differences(*map(configuration, both))) == 1


def test_the_code_of_a_function_is_part_of_the_configuration():
    def limit(words):
        return lambda state: len(state["sample"].output.split()) < words

    old, same, new = (graph_of(jg.gate("sage", limit(words))) for words in (5, 5, 9))
    assert configuration(old) == configuration(same)
    assert configuration(old) != configuration(new)


def test_a_plan_knows_both_ends_whatever_a_condition_looks_at():
    for when in (jg.wide(), jg.low(1), lambda state: state["scores"]["Clarity/evaluator/draft/0"].reason == "never"):
        graph = graph_of(
            jg.gate("sage", when, criteria=[CLARITY]), before=Evaluator(criteria=[CLARITY], reader=jg.Reader())
        )
        forecast = jg.plan(graph, [SAMPLE])
        made = {node.node: node for node in forecast.nodes}
        assert (forecast.complete, made["evaluate"].exact, made["gate/ask"].exact) == (True, 1, 0)
        assert made["gate/ask"].rest[0] == 0 < made["gate/ask"].rest[1]
        assert own_code(graph) == ()


def test_a_plan_over_known_replies_is_exact(tmp_path):
    graph = graph_of(
        jg.gate(jg.critique("sage", criteria=[CLARITY]), jg.low(share=0.5)),
        before=Evaluator(criteria=[CLARITY], reader=jg.Reader()),
    )
    samples = [Sample(id=str(n), source="It opens in May.", output="It opens. " * n) for n in range(1, 5)]
    ledger = tmp_path / "ledger.sqlite"
    before = jg.plan(graph, samples)
    run = jg.evaluate(graph, samples, ledger=ledger)
    after = jg.plan(graph, samples, ledger=ledger)
    sent = run.manifest["calls"]["replies"]
    assert (after.total.exact, after.total.kept, after.total.rest) == (sent, sent, (0, 0, 0))
    assert before.total.exact + before.total.rest[0] <= sent <= before.total.exact + before.total.rest[1]


async def test_without_any_score_a_gate_is_closed_and_the_run_goes_on():
    async def silent(state: jg.EvalState) -> jg.EvalState:
        return {}

    final = await graph_of(jg.gate("sage", jg.either("wide", "failed")), before=silent).ainvoke({"sample": SAMPLE})
    (note,) = final["notes"].values()
    assert (note.kind, note.status) == ("condition-blind", "skipped")
    assert note.text.count("where no score stands") == 2


def test_a_gate_is_there_by_name():
    made = registry.make("agent", "gate", {"node": "sage", "when": {"wide": 0.2}}, judge="embedded", stage="draft")
    assert made.get_name() == "gate"
