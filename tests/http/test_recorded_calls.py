"""A real server's answers, recorded and played: the same scores, faults included, and no key in the file."""

import asyncio
import json
from typing import Any

import pytest
from langchain_openai import ChatOpenAI

import judgegraph as jg
from judgegraph.errors import JudgegraphError
from judgegraph.graphs import fusion_eval, sageval
from judgegraph.testing import playing, recording

KEY, HEADER = "canary-key-0123456789", "canary-header-0123456789"
CRITERIA = [jg.Criterion(name="Clarity"), jg.Criterion(name="Tone", scale=jg.Scale.of(["good", "bad"]))]
SAMPLES = [jg.Sample(id=f"s{n}", source="The library opens at nine.", output=f"It opens at {n}.") for n in range(3)]
FAULTS = "429=0,ok,half,400,ok,500,length,content_filter,refusal,plain-200,ok"
SCRIPTS = ["ok", "null-logprobs", "no-logprobs", "few-logprobs", "no-schema", "one-choice", "newer", "no-temperature"]


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def endpoint(site: Any) -> Any:
    return site.judge(attempts=2, temperature=0.5)


def model(site: Any) -> Any:
    return ChatOpenAI(model="stub", base_url=site.url, api_key=KEY, default_headers={"X-Team": HEADER})


def scores(judge: Any, method: Any) -> list[Any]:
    run = jg.evaluate(method(judge, criteria=CRITERIA), SAMPLES, concurrency=1)  # what is asked hangs on what is known
    return [{**score.model_dump(), "reason": ""} for item in run.items for score in item.scores]


@pytest.mark.parametrize("script", [*SCRIPTS, FAULTS])
@pytest.mark.parametrize("judge", [endpoint, model])
@pytest.mark.sampled(6)
def test_played_scores_are_those_that_were_recorded(script, judge, server, tmp_path):
    path, site = tmp_path / "calls.jsonl", server(script)
    recorded = scores(recording(judge(site), path), sageval)
    count, player = site.count, playing(path)
    assert scores(player, sageval) == recorded
    assert player.unplayed == 0
    assert site.count == count, "a player asks nobody"
    assert len(path.read_text().splitlines()) == count + 1, "a line for each request and one for the judge"
    assert "canary" not in path.read_text()


@pytest.mark.parametrize("script", SCRIPTS)
def test_scores_are_those_of_the_judge_itself(script, server, tmp_path):
    asked = scores(endpoint(server(script)), sageval)
    assert scores(recording(endpoint(server(script)), tmp_path / "calls.jsonl"), sageval) == asked


def test_tools_are_called_by_the_recording_too(server, tmp_path):
    path, site = tmp_path / "calls.jsonl", server("ok")

    def method(judge: Any, **settings: Any) -> Any:
        return fusion_eval(judge, consult="tools", **settings)

    assert scores(recording(endpoint(site), path), method) == scores(playing(path), method)
    assert any(
        choice.get("tool_calls")
        for line in map(json.loads, path.read_text().splitlines()[1:])
        for choice in line["reply"]["choices"]
    )


@pytest.mark.parametrize("script", ["401", "500", "plain-500", "reset", "hang"])
def test_what_ends_a_call_ends_it_alike_when_played(script, server, tmp_path):
    path = tmp_path / "calls.jsonl"
    judge = server(script).judge(attempts=1, timeout=1.0 if script == "hang" else 5.0)
    told = []
    for made in (lambda: recording(judge, path), lambda: playing(path)):
        with pytest.raises(JudgegraphError) as caught:
            asyncio.run(jg.ask(made(), "Judge this."))
        told.append((type(caught.value), getattr(caught.value, "status", "")))
    assert told[0] == told[1]
    assert "canary" not in path.read_text()
