"""`jg.tracing` over the wire: as many requests as without it, by the same way, and spans that tell of each."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel

import judgegraph as jg
from judgegraph.graphs import llm_score
from judgegraph.trace.record import Step
from judgegraph.traces.read import traces_in

CRITERION = [jg.Criterion(name="Clarity", definition="It is clear.")]
SAMPLE = jg.Sample(id="s0", query="q", output="the text")


def judged(judge: Any, times: int = 1) -> None:
    async def run() -> None:
        graph = llm_score(judge=judge, criteria=CRITERION)
        for _ in range(times):
            await graph.ainvoke({"sample": SAMPLE})

    asyncio.run(run())


def calls(path: Path) -> list[Step]:
    return [step for found in traces_in(path) for step in found.root.walk() if step.kind == "model"]


def test_every_call_is_made_and_told(server, tmp_path: Path):
    site = server("ok")
    with jg.tracing(tmp_path):
        judged(site.judge(), times=3)
    steps = calls(tmp_path)
    assert site.count == len(steps) == 3
    for step, sent in zip(steps, site.sent("messages"), strict=True):
        assert [{"role": role, "content": text} for role, text in step.messages] == sent
        assert (step.about["prompt_tokens"], step.about["completion_tokens"], step.about["from"]) == (10, 5, "paid")
        assert "because" in step.replies[0]


def test_retries_are_counted_and_a_failed_call_keeps_what_was_asked(server, tmp_path: Path, no_backoff):
    site = server("500,500,500")
    with jg.tracing(tmp_path):
        judged(site.judge())
    (step,) = calls(tmp_path)
    assert step.about["requests"] == site.count == 3
    assert (step.status, step.replies) == ("provider_error", ())
    assert [{"role": role, "content": text} for role, text in step.messages] == site.sent("messages")[0]


def test_the_short_way_to_a_server_stays_open(server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("JUDGEGRAPH_TRANSPORT", "fast")

    async def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("the long way")

    monkeypatch.setattr(BaseChatModel, "agenerate", refuse)
    with jg.tracing(tmp_path):
        judged(server("ok").judge())
    assert [step.status for step in calls(tmp_path)] == ["ok"]
