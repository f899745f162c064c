"""Model calls in spans: what a server counted is what they tell, whoever asked and whoever paid."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

import judgegraph as jg
from judgegraph.calls import Endpoint
from judgegraph.graphs import llm_score
from judgegraph.runs.run import Run
from judgegraph.trace.record import SPANS, Span, recorded_traces
from judgegraph.traces.read import node_times, ranked_samples, within
from judgegraph.types import Criterion, Sample

CRITERION = [Criterion(name="Clarity", definition="It is clear.")]


def given(count: int = 1) -> list[Sample]:
    return [Sample(id=f"s{n}", query="q", output=f"the text of sample {n}") for n in range(count)]


def judged(judge: Endpoint, out: Path, samples: list[Sample], **settings: Any) -> Run:
    return jg.evaluate(llm_score(judge=judge, criteria=CRITERION), samples, out=out, **settings)


def calls(run: Run) -> list[Span]:
    return [span for one in recorded_traces(run.folder.path / SPANS) for span in one.spans if span.kind == "model"]


def about(run: Run, name: str) -> list[Any]:
    return [span.about.get(name) for span in calls(run)]


@pytest.mark.parametrize("fault", ["500", "schema-500,500", "429=0,reset"])
def test_requests_are_those_that_the_server_counted(fault: str, server, tmp_path: Path, no_backoff):
    site = server(f"{fault},ok")
    run = judged(site.judge(), tmp_path / "run", given())
    assert sum(about(run, "requests")) == site.count > 1
    assert about(run, "from") == ["paid"]
    times = within(node_times(run), "")
    assert (times.calls, times.paid, times.found, times.requests) == (1, 1, 0, site.count)


def test_a_call_and_its_reply_are_told_as_they_went_over_the_wire(server, tmp_path: Path):
    site = server("ok")
    run = judged(site.judge(), tmp_path / "run", given())
    (step,) = [step for step in run.trace("s0").root.walk() if step.kind == "model"]
    (sent,) = site.sent("messages")
    assert [{"role": role, "content": text} for role, text in step.messages] == sent
    assert "because" in step.replies[0]
    assert (step.about["prompt_tokens"], step.about["completion_tokens"]) == (10, 5)


def test_what_lies_in_the_ledger_is_told_and_costs_nothing_again(server, tmp_path: Path):
    site = server("ok")
    first = judged(site.judge(), tmp_path / "one", given(3), ledger=tmp_path / "ledger.sqlite")
    again = judged(site.judge(), tmp_path / "two", given(3), ledger=tmp_path / "ledger.sqlite")
    assert (about(first, "from"), about(again, "from")) == (["paid"] * 3, ["ledger"] * 3)
    assert site.count == 3
    assert [(one.calls, one.paid, one.usd) for one in ranked_samples(again)] == [(1, 0, 0.0)] * 3
    assert within(node_times(again), "").found == 3
    (step,) = [step for step in again.trace("s1").root.walk() if step.kind == "model"]
    assert "the text of sample 1" in step.messages[-1][1]
    assert (len(step.replies), step.about["prompt_tokens"]) == (1, 10)


def test_a_ledger_of_a_run_without_spans_learns_what_was_asked_from_one_with(server, tmp_path: Path):
    site, shared = server("ok"), tmp_path / "ledger.sqlite"
    judged(site.judge(), tmp_path / "one", given(), ledger=shared, trace=False)
    again = judged(site.judge(), tmp_path / "two", given(), ledger=shared)
    (step,) = [step for step in again.trace("s0").root.walk() if step.kind == "model"]
    assert step.messages
    assert site.count == 1


def test_of_two_samples_that_want_one_call_one_pays_and_one_joins(server, tmp_path: Path):
    same = [Sample(id=id, query="q", output="the very same") for id in ("a", "b")]
    site = server("slow=0.3")
    run = judged(site.judge(), tmp_path / "run", same)
    assert sorted(about(run, "from")) == ["joined", "paid"]
    assert site.count == 1
    assert sum(one.paid for one in ranked_samples(run)) == 1
    assert all(
        step.messages and step.replies for id in "ab" for step in run.trace(id).root.walk() if step.kind == "model"
    )


def test_a_call_that_failed_is_told_with_its_status_and_what_was_asked(server, tmp_path: Path, no_backoff):
    site = server("500")
    run = judged(site.judge(attempts=2), tmp_path / "run", given())
    (step,) = [step for step in run.trace("s0").root.walk() if step.kind == "model"]
    assert (step.status, step.about["requests"], step.replies) == ("provider_error", 2, ())
    assert "500" in step.about["error"]
    assert "the text of sample 0" in step.messages[-1][1]
    assert node_times(run)[step.about["place"]].failed_calls == 1


def test_a_call_that_the_clock_cut_off_is_closed_and_keeps_what_was_asked(server, tmp_path: Path):
    site = server("hang")
    run = judged(site.judge(timeout=30.0), tmp_path / "run", given(), timeout=0.5)
    (step,) = [step for step in run.trace("s0").root.walk() if step.kind == "model"]
    assert step.status == "timeout"
    assert "the text of sample 0" in step.messages[-1][1]


def test_nothing_more_is_asked_with_spans_than_without(server, tmp_path: Path):
    counts = []
    for trace in (True, False):
        site = server("ok")
        judged(site.judge(), tmp_path / str(trace), given(4), trace=trace)
        counts.append(site.count)
    assert counts == [4, 4]


async def test_a_run_that_is_cancelled_leaves_whole_lines(server, tmp_path: Path):
    site = server("slow=0.05")
    graph = llm_score(judge=site.judge(timeout=30.0), criteria=CRITERION)
    began = asyncio.Event()
    run = jg.aevaluate(graph, given(30), out=tmp_path / "run", concurrency=2, on_item=lambda _: began.set())
    task = asyncio.create_task(run)
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    left = Run.load(tmp_path / "run")
    assert {item.id for item in left.items} <= {one.sample for one in recorded_traces(tmp_path / "run" / SPANS)}
    done = await jg.aevaluate(graph, given(30), out=tmp_path / "run")
    assert len({one.sample for one in recorded_traces(tmp_path / "run" / SPANS)}) == 30
    assert all(done.trace(f"s{n}").root.status == "ok" for n in range(30))


@pytest.mark.parametrize("script", ["empty", "empty,ok"])
def test_replies_that_were_paid_for_and_no_use_are_in_the_bill(script: str, server, tmp_path: Path, no_backoff):
    site = server(script)
    run = judged(site.judge(), tmp_path / "run", given())
    tokens = [
        (span.about.get("prompt_tokens") or 0) + (span.about.get("completion_tokens") or 0) for span in calls(run)
    ]
    spent = run.manifest["spent"]
    assert sum(tokens) == spent["prompt_tokens"] + spent["completion_tokens"] > 15
    assert sum(about(run, "requests")) == site.count > 1
