"""Judges of other providers, by LangChain's own packages, on the providers' wire formats over loopback."""

import asyncio
import json

import pytest

import judgegraph as jg
from judgegraph.compiled import run_sync
from judgegraph.doctor import examine
from judgegraph.errors import ConfigError
from judgegraph.graphs import llm_score

pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore:.*grpcio.*:FutureWarning"),
    pytest.mark.filterwarnings("ignore:::google"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),  # of the SDKs, where they end badly
]

SAMPLES = [
    jg.Sample(id=str(n), query="Why is the sky blue?", output=f"Short waves are scattered, {n}.") for n in (1, 2)
]
DEPTH = jg.Criterion(name="Depth", definition="Does it say why?")


def judged(wire, script="ok", samples=SAMPLES[:1], **settings):
    at = wire(script)
    about = {name: settings.pop(name) for name in ("budget",) if name in settings}
    return jg.evaluate(llm_score(at.judge(**settings), criteria=[DEPTH]), samples, **about), at


def score(run):
    (found,) = next(iter(run.items)).scores
    return found


def test_a_score_comes_back_with_what_it_cost(wire, provider):
    run, at = judged(wire, samples=SAMPLES)
    assert [s.value for item in run.items for s in item.scores] == [4.0, 4.0]
    calls = run.manifest["calls"]
    assert (calls["prompt_tokens"], calls["completion_tokens"]) == (22, 14)
    assert len(at.seen) == 2
    assert all("canary" not in json.dumps(one["body"]) for one in at.seen)


def test_one_judge_serves_two_runs_and_a_loop_of_its_own(wire, provider):
    graph = llm_score(wire("ok").judge(), criteria=[DEPTH])
    for _ in range(2):
        assert score(jg.evaluate(graph, SAMPLES[:1])).value == 4.0
    final = asyncio.run(graph.ainvoke({"sample": SAMPLES[0]}))
    assert [s.value for s in final["scores"].values()] == [4.0]


def test_a_reply_that_was_cut_off_is_truncated_and_no_score(wire, provider):
    run, _ = judged(wire, "length")
    assert (score(run).status, score(run).value) == ("truncated", None)


@pytest.mark.parametrize("script", ["refusal"])
def test_a_refusal_is_a_status(wire, provider, script):
    if provider == "ollama":
        pytest.skip("Ollama's format has no refusals")
    run, _ = judged(wire, script)
    assert score(run).status == {"anthropic": "refused", "google_genai": "filtered"}[provider]


def test_a_filtered_prompt_is_a_status(wire, provider):
    if provider != "google_genai":
        pytest.skip("only Gemini's format says so in a reply")
    assert score(judged(wire, "filter")[0]).status == "filtered"


def test_a_limit_is_waited_for_as_long_as_the_server_says_and_sent_again_by_us_alone(wire, provider):
    run, at = judged(wire, "429=1,ok")
    assert score(run).value == 4.0
    first, second = at.seen
    if provider != "ollama":  # its client does not hand on the header
        assert second["at"] - first["at"] >= 1.0


def test_an_error_of_the_server_is_tried_as_often_as_the_endpoint_says(wire, provider):
    run, at = judged(wire, "500", attempts=2)
    assert (score(run).status, len(at.seen)) == ("provider_error", 2)


def test_a_bad_request_is_not_sent_again(wire, provider):
    run, at = judged(wire, "400")
    assert (score(run).status, len(at.seen)) == ("provider_error", 1)


def test_a_refused_key_ends_the_run_and_stands_in_no_message(wire, provider):
    with pytest.raises(ConfigError) as error:
        judged(wire, "401")
    assert "401" in str(error.value) or "no such key" in str(error.value)
    assert "canary" not in str(error.value)


def test_a_request_that_hangs_is_a_timeout(wire, provider):
    run, _ = judged(wire, "hang=3", timeout=0.5, attempts=1)
    assert score(run).status == "timeout"


def test_a_budget_holds(wire, provider):
    run, at = judged(wire, samples=SAMPLES, budget=jg.Budget(calls=1))
    assert len(at.seen) == 1
    assert run.manifest["state"] != "finished"


def test_limits_and_settings_go_out_under_the_providers_own_names(wire, provider):
    _, at = judged(wire, max_tokens=77, temperature=0.0, top_p=0.5)
    (body,) = [one["body"] for one in at.seen]
    if provider == "anthropic":
        assert (body["max_tokens"], body["temperature"]) == (77, 0.0)
    elif provider == "google_genai":
        assert (body["generationConfig"]["maxOutputTokens"], body["generationConfig"]["temperature"]) == (77, 0.0)
    else:
        assert (body["options"]["num_predict"], body["options"]["temperature"]) == (77, 0.0)


def test_what_a_provider_has_no_setting_for_is_noted_and_not_sent(wire, provider):
    run, at = judged(wire, seed=7)
    if provider == "ollama":
        assert at.seen[0]["body"]["options"]["seed"] == 7
        assert score(run).notes == ()
    else:
        assert "the judge takes no seed" in score(run).notes
        assert "seed" not in json.dumps(at.seen[0]["body"])


def test_a_model_that_takes_no_temperature_is_asked_without_and_that_is_noted(wire, provider):
    if provider != "anthropic":
        pytest.skip("the stub's Anthropic alone refuses it")
    run, at = judged(wire, "no-temperature", samples=SAMPLES, temperature=0.0)
    assert [("temperature" in one["body"]) for one in at.seen].count(True) <= 2
    assert all("the judge takes no temperature" in s.notes for item in run.items for s in item.scores)


def test_a_model_that_may_not_be_forced_to_a_tool_is_told_the_form_in_words(wire, provider):
    if provider != "anthropic":
        pytest.skip("the stub's Anthropic alone refuses it")
    run, at = judged(wire, "no-forced-tool")
    assert score(run).value == 4.0
    assert "Its JSON Schema" in json.dumps(at.seen[-1]["body"]["messages"])


def test_doctor_is_green(wire, provider, monkeypatch, tmp_path):
    monkeypatch.setenv("JUDGEGRAPH_CACHE", str(tmp_path))
    found = run_sync(examine(wire("ok").judge(), timeout=5))
    assert [(one.name, one.found) for one in found.deviations] == []
    good = {one.name for one in found.probes if one.ok}
    assert good >= {"text", "usage", "max tokens", "json_schema", "strict values", "tools"}
    assert found.support.json_schema is True


def test_effort_goes_out_as_the_provider_calls_it(wire, provider):
    if provider == "google_genai":
        _, at = judged(wire, effort="low")
        config = at.seen[0]["body"]["generationConfig"]
        assert '"low"' in json.dumps(config["thinkingConfig"]).lower()
    elif provider == "ollama":
        _, at = judged(wire, effort="low")
        assert at.seen[0]["body"]["think"] == "low"
    else:
        _, at = judged(wire, effort="low")
        assert at.seen[0]["body"]["output_config"]["effort"] == "low"
