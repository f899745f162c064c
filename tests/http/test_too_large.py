"""A prompt above the limit is a status with size and limit, and costs nothing."""

import pytest

import judgegraph as jg
from judgegraph.graphs import fennec, llm_score
from judgegraph.report.sections_run import tally_of
from judgegraph.types import Sample

LONG = "word " * 30_000


async def test_a_sample_that_is_too_large_is_not_sent_and_its_neighbour_is_judged(server):
    site = server("ok")
    samples = [Sample(id="long", source=LONG, output="A reply."), Sample(id="short", source="a b", output="A reply.")]
    graph = llm_score(judge=site.judge(), criteria="summary")
    run = await jg.aevaluate(graph, samples, limits=jg.Limits(prompt=100_000))
    by_id = {item.id: item for item in run.items}
    assert {score.status for score in by_id["short"].scores} == {"ok"}
    assert {score.status for score in by_id["long"].scores} == {"too_large"}
    assert site.count == len(by_id["short"].scores)
    reason = by_id["long"].scores[0].reason
    assert "and at most 100,000 are sent" in reason
    assert "--max-prompt" in reason
    assert "words" not in reason


async def test_without_a_word_from_the_user_there_is_a_limit_and_none_can_be_asked_for(server):
    site = server("ok")
    sample = Sample(id="long", source=LONG * 3, output="A reply.")
    graph = llm_score(judge=site.judge(), criteria=[jg.Criterion(name="Coherence")])
    refused = await jg.aevaluate(graph, [sample])
    assert next(refused.items).scores[0].status == "too_large"
    assert site.count == 0
    sent = await jg.aevaluate(graph, [sample], limits=jg.Limits(prompt=None))
    assert next(sent.items).scores[0].status == "ok"


async def test_a_plan_leaves_out_what_would_not_be_sent():
    samples = [Sample(id="long", query="Say it.", output=LONG), Sample(id="short", query="Say it.", output="It.")]
    graph = fennec(judge="openai:m", criteria="general")
    limited = await jg.aplan(graph, samples, limits=jg.Limits(prompt=100_000))
    both = await jg.aplan(graph, samples, limits=jg.Limits(prompt=None))
    assert limited.total.cost.highest.calls < both.total.cost.highest.calls


def test_the_page_counts_a_final_score_that_lacks_its_draft_with_the_draft():
    long, short = jg.Sample(id="long", query="q", output="x" * 500_000), jg.Sample(id="short", query="q", output="Yes.")
    run = jg.evaluate(jg.graphs.sageval("embedded", criteria=[jg.Criterion(name="Clarity")]), [long, short])
    scores = next(item for item in run.items if item.id == "long").scores
    assert [score.status for score in scores] == ["too_large", "too_large"]
    told = tally_of(run)
    assert [(one.status, one.scores) for one in told.causes.commonest] == [("too_large", 1)]


WORDED = (
    "openai", "openai-input", "a-minute", "llama.cpp", "llama.cpp-batch", "vllm", "sglang", "anthropic",
    "gemini", "bytes",
)  # fmt: skip


@pytest.mark.parametrize("worded", WORDED)
@pytest.mark.parametrize("transport", ["fast", "langchain"], indirect=True)
async def test_a_server_that_refuses_a_prompt_for_its_length_is_asked_once_and_told_so(worded, transport, server):
    """As their servers word it, and as a proxy does that looks at bytes alone; the run goes on."""
    site = server(f"too-large-{worded},ok")
    samples = [Sample(id="long", source="a b", output="A reply."), Sample(id="short", source="a b", output="Another.")]
    graph = llm_score(judge=site.judge(), criteria=[jg.Criterion(name="Coherence")])
    run = await jg.aevaluate(graph, samples, concurrency=1)
    assert [(item.id, score.status) for item in run.items for score in item.scores] == [
        ("long", "too_large"), ("short", "ok"),
    ]  # fmt: skip
    assert site.count == 2
