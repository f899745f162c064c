"""Metrics as a node: a finding and a score of each, off the event loop."""

import threading

import pytest
from langgraph.graph import END, START, StateGraph

import judgegraph as jg
from judgegraph.compose.nodes import as_node
from judgegraph.errors import ConfigError
from judgegraph.graphs import sageval
from judgegraph.tools.catalogue import Metric, Unmeasurable
from judgegraph.types import EvalState, Finding, Sample

SAMPLE = Sample(id="s1", output="The bridge is closed.", reference="The bridge is closed for a year.")


def metric(measure, name="mine"):
    return Metric(name=name, about="Something of ours.", measure=measure)


async def run(node, sample=SAMPLE, **before):
    graph = StateGraph(EvalState)
    graph.add_node("metrics", node)
    graph.add_edge(START, "metrics")
    graph.add_edge("metrics", END)
    return await graph.compile().ainvoke({"sample": sample, **before})


async def test_each_metric_has_a_finding_and_a_score_of_the_same_value():
    final = await run(jg.metric_node("rouge-l", "length-ratio"))
    assert list(final["scores"]) == ["rouge-l/metric/metric/0", "length-ratio/metric/metric/0"]
    for name, finding in final["findings"].items():
        score = final["scores"][f"{name}/metric/metric/0"]
        assert (score.value, score.status, score.reason) == (finding.value, "ok", finding.reason)
        assert (score.scale, score.reader) == (None, "plain")
    assert final["findings"]["rouge-l"].value == pytest.approx(8 / 11)


async def test_what_a_sample_lacks_is_a_status_and_never_a_zero():
    final = await run(jg.metric_node("rouge-l"), Sample(id="s", output="Text."))
    score = final["scores"]["rouge-l/metric/metric/0"]
    assert (score.value, score.status) == (None, "skipped")
    assert score.reason == final["findings"]["rouge-l"].reason != ""


@pytest.mark.parametrize(
    ("measure", "status", "reason"),
    [
        (lambda sample: 1 / 0, "agent_error", "ZeroDivisionError"),
        (lambda sample: float("nan"), "agent_error", "no finite number"),
        (lambda sample: (_ for _ in ()).throw(Unmeasurable("no words")), "skipped", "no words"),
    ],
    ids=["an exception", "no number", "nothing to measure"],
)
async def test_a_metric_that_fails_fails_alone(measure, status, reason):
    final = await run(jg.metric_node(metric(measure), "length-ratio"), SAMPLE)
    score = final["scores"]["mine/metric/metric/0"]
    assert (score.value, score.status) == (None, status)
    assert reason in score.reason
    assert "length-ratio/metric/metric/0" in final["scores"]


async def test_it_measures_off_the_event_loop():
    threads = []
    final = await run(jg.metric_node(metric(lambda sample: float(threads.append(threading.get_ident()) or 1))))
    assert final["scores"]["mine/metric/metric/0"].value == 1.0
    assert threads != [threading.get_ident()]


async def test_an_assistant_that_asks_others_is_awaited():
    class Slow:
        name, about = "slow", "Takes its time."

        async def __call__(self, sample):
            return 0.5

    assert (await run(jg.metric_node(Slow())))["scores"]["slow/metric/metric/0"].value == 0.5


async def test_what_was_asked_before_is_not_asked_again_and_has_its_score():
    asked = []
    node = jg.metric_node(metric(lambda sample: float(asked.append(1) or 1)))
    final = await run(node, findings={"mine": Finding(assistant="mine", value="high")})
    assert asked == []
    assert final["scores"]["mine/metric/metric/0"].label == "high"


async def test_two_stand_side_by_side_with_a_method_and_keep_all_they_say():
    graph = StateGraph(EvalState)
    for name, node in {"a": jg.metric_node("chrf"), "b": as_node("novelty"), "judged": sageval()}.items():
        graph.add_node(name, node)
        graph.add_edge(START, name)
        graph.add_edge(name, END)
    sample = SAMPLE.model_copy(update={"source": "The old bridge is closed for repairs."})
    final = await graph.compile().ainvoke({"sample": sample})
    assert set(final["findings"]) == {"chrf", "novelty"}
    alone = (await sageval().ainvoke({"sample": sample}))["scores"]
    metrics = {key for key, s in final["scores"].items() if s.stage == "metric"}
    assert {key: s for key, s in final["scores"].items() if key not in metrics} == alone
    assert len(metrics) == 2


async def test_its_name_and_stage_are_those_of_its_scores():
    final = await run(jg.metric_node("rouge-l", name="words", stage="draft"))
    assert list(final["scores"]) == ["rouge-l/words/draft/0"]


@pytest.mark.parametrize(
    ("which", "words"),
    [((), "no assistants"), (("nothing",), "nothing"), ((7,), "an assistant is"), (("chrf", "chrf"), "two assistants")],
    ids=["none", "no name", "a number", "twice"],
)
def test_what_is_no_metric_is_said_when_it_is_built(which, words):
    with pytest.raises(ConfigError, match=words):
        jg.metric_node(*which)


def test_it_runs_in_evaluate_and_a_plan_counts_no_call(tmp_path):
    graph = StateGraph(EvalState)
    graph.add_node("metrics", jg.metric_node("rouge-l"))
    graph.add_edge(START, "metrics")
    graph.add_edge("metrics", END)
    compiled = graph.compile()
    assert jg.plan(compiled, [SAMPLE]).total.exact == 0
    run = jg.evaluate(compiled, [SAMPLE], out=tmp_path)
    assert "assistants:rouge-l" in run.signature
    (item,) = jg.Run.load(tmp_path).items
    assert [(s.criterion, s.value) for s in item.scores] == [("rouge-l", pytest.approx(8 / 11))]


async def test_a_value_off_the_range_that_a_description_says_is_noted_and_counted():
    about = "Measures x\nRange: {}; higher = better"
    for span, off in (("0 to 1", True), ("0 to 7", False), ("0 or more", False), ("-1 to 1, of usual texts", False)):
        final = await run(jg.metric_node(Metric(name="mine", about=about.format(span), measure=lambda _: 7.0)))
        kinds = [note.kind for note in final["notes"].values()]
        (score,) = final["scores"].values()
        assert (kinds, bool(score.notes)) == ((["assistants-off-range"], True) if off else ([], False))
