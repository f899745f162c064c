"""G-Eval: one message per criterion, the number weighted by probability, else by samples, else as stated."""

import math
import sys

import pytest
from drawing import arrows, figure
from langchain_core.messages import AIMessage
from langgraph.graph import END, START, StateGraph

from judgegraph.graphs.g_eval import g_eval
from judgegraph.testing import scripted
from judgegraph.types import Criterion, EvalState, Sample, Scale

MODULE = sys.modules["judgegraph.graphs.g_eval"]
SAMPLE = Sample(id="s1", query="Sum up.", source="The source.", output="The output.")
CLARITY = Criterion(name="Clarity", definition="One reading only.", steps=("Read it.", "Choose."))
TONE = Criterion(name="Tone", scale=Scale(labels=("warm", "cold")))


def token(text, **top):
    listed = [{"token": t, "logprob": math.log(p)} for t, p in top.items()]
    return {"token": text, "logprob": max(x["logprob"] for x in listed), "top_logprobs": listed}


def weighted(text, *tokens):
    return AIMessage(text, response_metadata={"logprobs": {"content": list(tokens)}, "finish_reason": "stop"})


async def scored(*replies, criteria=(CLARITY,), **settings):
    judge = scripted(*replies)
    final = await g_eval(judge, criteria=criteria, **settings).ainvoke({"sample": SAMPLE})
    return judge, next(iter(final["scores"].values()))


def test_the_graph_is_the_figure_of_its_docstring():
    assert arrows(g_eval()) == figure(MODULE.__doc__)


async def test_log_probabilities_weigh_the_number():
    judge, score = await scored(weighted("4", token("4", **{"4": 0.6, "5": 0.2, "x": 0.2})))
    assert score.value == pytest.approx((4 * 0.6 + 5 * 0.2) / 0.8)
    assert (score.reader, score.unseen, len(judge.calls)) == ("logprobs", pytest.approx(0.2), 1)


@pytest.mark.parametrize("number", ["2", "3", "2.3", "4"])
async def test_twenty_identical_replies_give_that_number(number):
    judge, score = await scored(number, [number] * 20)
    assert (score.value, score.reader) == (float(number), "samples")
    assert (judge.asked[1]["n"], judge.asked[1]["temperature"]) == (20, 1.0)


async def test_the_mean_of_samples_is_not_rounded():
    _, score = await scored("4", ["4"] * 7 + ["5"] * 13)
    assert score.value == pytest.approx(4.65)
    assert score.distribution == {"4": 0.35, "5": 0.65}


async def test_a_sample_without_a_number_is_left_out_and_counted():
    _, score = await scored("4", ["4"] * 18 + ["Yes", "5"])
    assert score.value == pytest.approx((18 * 4 + 5) / 19)
    assert score.notes == ("the judge gives no log-probabilities", "1 of 20 replies left out: unreadable")


async def test_one_sample_takes_the_stated_number():
    judge, score = await scored("Clarity: 4", samples=1)
    assert (score.value, score.reader, len(judge.calls)) == (4.0, "stated", 1)


@pytest.mark.parametrize(("settings", "kind"), [({}, "human"), ({"role": "system"}, "system")])
async def test_the_whole_prompt_is_one_message(settings, kind):
    judge, _ = await scored("4", samples=1, **settings)
    (message,) = judge.calls[0]
    assert message.type == kind
    assert all(said in message.content for said in ("One reading only.", "1. Read it.", "Scale: 1-5", "The source."))
    assert message.content.endswith("- Score:")  # the name stands in its section: a model may have written it


async def test_a_form_holds_the_score_alone():
    judge, score = await scored({"score": 3}, samples=1, reply="form")
    assert list(judge.asked[0]["response_format"]["json_schema"]["schema"]["properties"]) == ["score"]
    assert score.value == 3.0


async def test_a_label_is_read_too():
    _, score = await scored("cold", samples=1, criteria=(TONE,))
    assert (score.label, score.status) == ("cold", "ok")


async def test_one_criterion_that_fails_leaves_the_others():
    judge = scripted(ValueError("broken"), "cold")
    final = await g_eval(judge, criteria=(CLARITY, TONE), samples=1).ainvoke({"sample": SAMPLE})
    assert {s.criterion: s.status for s in final["scores"].values()} == {"Clarity": "provider_error", "Tone": "ok"}


async def test_nested_beside_another_it_doubles_nothing():
    graph = StateGraph(EvalState)
    for name in ("one", "two"):
        graph.add_node(name, g_eval(scripted("4", "cold"), criteria=(CLARITY, TONE), samples=1))
        graph.add_edge(START, name)
        graph.add_edge(name, END)
    final = await graph.compile().ainvoke({"sample": SAMPLE})
    assert list(final["scores"]) == ["Clarity/g-eval/final/0", "Tone/g-eval/final/0"]


async def test_the_embedded_judge_fills_in_the_form():
    sample = Sample(id="s1", source="The bridge closed on Monday. Repairs take a year.", output="The bridge is closed.")
    final = await g_eval().ainvoke({"sample": sample})
    assert {(s.status, s.reader) for s in final["scores"].values()} == {("ok", "logprobs")}
    assert len(final["scores"]) == 4
