"""Azure, Mistral, LiteLLM and Bedrock: their own SDKs ask a server on loopback."""

import gc
import itertools
import json
import subprocess
import sys
import urllib.request

import pytest

import judgegraph as jg
from judgegraph.calls import Endpoint
from judgegraph.compiled import run_sync
from judgegraph.doctor import examine
from judgegraph.errors import ConfigError
from judgegraph.graphs import llm_score

KEY = "canary-key-0123456789"
JUDGES = {  # model, what stands behind the address of the stub, the package
    "azure_openai": ("azure_openai:stub", "", "langchain_openai"),
    "mistralai": ("mistralai:mistral-stub", "/v1", "langchain_mistralai"),
    "litellm": ("litellm:openai/stub", "/v1", "langchain_litellm"),
    "bedrock_converse": ("bedrock_converse:anthropic.claude-3-stub-v1:0", "", "langchain_aws"),
    "bedrock": ("bedrock:anthropic.claude-3-stub-v1:0", "", "langchain_aws"),
}
VARIABLES = {
    **dict.fromkeys(("AZURE_OPENAI_API_KEY", "MISTRAL_API_KEY", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY"), KEY),
    "OPENAI_API_VERSION": "2024-10-21", "AWS_ACCESS_KEY_ID": "id", "AWS_DEFAULT_REGION": "eu-west-1",
    "AWS_EC2_METADATA_DISABLED": "true", "LITELLM_LOCAL_MODEL_COST_MAP": "True",
}  # fmt: skip
SAMPLES = [jg.Sample(id=str(n), query="Why is the sky blue?", output=f"Waves are scattered, {n}.") for n in (1, 2)]
DEPTH = jg.Criterion(name="Depth", definition="Does it say why?")
_names = itertools.count()

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]  # of the SDKs, at their import


@pytest.fixture(params=list(JUDGES))
def provider(request, monkeypatch):
    pytest.importorskip("langchain", reason="langchain is not installed")
    pytest.importorskip(JUDGES[request.param][2], reason=f"{JUDGES[request.param][2]} is not installed")
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    yield request.param
    gc.collect()


@pytest.fixture
def judged(address, provider):
    model, behind, _ = JUDGES[provider]

    def run(script="ok", samples=SAMPLES[:1], **settings):
        name = f"c{next(_names)}"
        about = {"timeout": 20.0, "attempts": 3, "base_url": f"{address}/{script}/{name}{behind}", **settings}
        graph = llm_score(Endpoint(model=model, **about), criteria=[DEPTH])
        found = jg.evaluate(graph, samples)
        with urllib.request.urlopen(f"{address}/seen/{name}", timeout=5) as answer:
            return found, json.load(answer)

    return run


def score(run):
    (found,) = next(iter(run.items)).scores
    return found


def test_a_score_comes_back_with_what_it_cost_and_no_key_in_a_body(judged):
    run, seen = judged(samples=SAMPLES)
    assert [s.value for item in run.items for s in item.scores] == [4.0, 4.0]
    calls = run.manifest["calls"]
    assert (calls["prompt_tokens"], calls["completion_tokens"], len(seen)) == (22, 14, 2)
    assert all("canary" not in json.dumps(one["body"]) for one in seen)


def test_a_reply_that_was_cut_off_and_a_filtered_one_are_statuses(judged):
    assert (score(judged("length")[0]).status, score(judged("length")[0]).value) == ("truncated", None)
    assert score(judged("refusal")[0]).status in ("filtered", "refused")


def test_errors_are_sent_again_by_us_alone(judged):
    run, seen = judged("500", attempts=2)
    assert (score(run).status, len(seen)) == ("provider_error", 2)
    run, seen = judged("400")
    assert (score(run).status, len(seen)) == ("provider_error", 1)
    run, seen = judged("429=1,ok")
    assert (score(run).value, len(seen)) == (4.0, 2)


def test_a_failure_is_told_once_and_no_traceback_of_an_sdk_is_printed(address, provider):
    model, behind, _ = JUDGES[provider]
    code = (
        "import judgegraph as jg\nfrom judgegraph.graphs import llm_score\n"
        f"judge = jg.Endpoint(model={model!r}, attempts=1, base_url='{address}/500/c{next(_names)}{behind}')\n"
        "run = jg.evaluate(llm_score(judge), [jg.Sample(id='1', output='It scatters.')])\n"
        "print(next(iter(run.items)).scores[0].status)"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=100)
    assert (done.stdout.split(), "Traceback" in done.stderr) == (["provider_error"], False), done.stderr


def test_a_refused_key_ends_the_run_and_stands_in_no_message(judged):
    with pytest.raises(ConfigError) as error:
        judged("401")
    assert "canary" not in str(error.value)


def test_limits_go_out_under_the_providers_own_names(judged, provider):
    body = judged(max_tokens=77, temperature=0.0)[1][0]["body"]
    config = body.get("inferenceConfig", body)
    named = {"bedrock_converse": "maxTokens", "azure_openai": "max_completion_tokens"}
    assert config[named.get(provider, "max_tokens")] == 77
    assert config["temperature"] == 0.0


def test_doctor_finds_that_each_does_as_its_interface_says(address, provider, monkeypatch, tmp_path):
    monkeypatch.setenv("JUDGEGRAPH_CACHE", str(tmp_path))
    model, behind, _ = JUDGES[provider]
    judge = Endpoint(model=model, timeout=20.0, base_url=f"{address}/ok/c{next(_names)}{behind}")
    found = run_sync(examine(judge, timeout=20))
    assert [(one.name, one.found) for one in found.deviations] == []
