"""Providers by name: what is missing is one line that names the extra, and nothing is imported before it is asked."""

import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

from judgegraph.calls import Endpoint
from judgegraph.errors import ConfigError, ExtraError
from judgegraph.graphs import llm_score
from judgegraph.models import judges
from judgegraph.models.judges import PROVIDERS, Judge, resolve, takes_no_temperature
from judgegraph.models.prices import Prices
from judgegraph.runs.identity import judge_line

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_package_that_is_missing_is_one_line_with_its_extra(provider, monkeypatch):
    monkeypatch.setattr(judges, "_is_installed", lambda package: False)
    assert llm_score(f"{provider}:m")  # a graph is made without it
    with pytest.raises(ExtraError) as error:
        resolve(f"{provider}:m")
    extra = PROVIDERS[provider].extra
    assert str(error.value) == f"judge {provider}:m needs the extra '{extra}': pip install 'judgegraph[{extra}]'"


def test_every_extra_is_in_pyproject_and_brings_its_package():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for provider in PROVIDERS.values():
        brought = [one.partition(">")[0].replace("-", "_") for one in extras[provider.extra]]
        assert "langchain" in brought
        assert provider.package in [*brought, "langchain_openai"]


async def test_an_unknown_provider_says_which_there_are(monkeypatch):
    monkeypatch.setattr(judges, "_is_installed", lambda package: False)
    with pytest.raises(ConfigError, match="'embedded' and 'openai:' are built in, anthropic:, google_genai:"):
        resolve("nobody:m")


async def test_a_missing_key_names_the_providers_own_variable(monkeypatch):
    monkeypatch.setattr(judges, "_is_installed", lambda package: True)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(ConfigError, match="no key; set ANTHROPIC_API_KEY"):
        resolve("anthropic:m")
    with pytest.raises(ConfigError, match="no key; set TEAM_KEY"):
        resolve(Endpoint(model="anthropic:m", api_key_env="TEAM_KEY"))


@pytest.mark.parametrize(
    ("model", "known"),
    [
        ("openai:o3-mini", True), ("openai:gpt-5", True), ("openai:gpt-5-mini-2025-08-07", True), ("openai:o1", True),
        ("openai:gpt-5-chat-latest", False), ("openai:gpt-4.1", False), ("openai:gpt-5.1", False), ("x:foo3", False),
    ],
)  # fmt: skip
def test_models_that_take_no_temperature_are_known_by_name(model, known):
    assert takes_no_temperature(model) is known


async def test_a_reasoning_model_is_asked_without_a_temperature_from_the_start(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k-0123456789")
    assert resolve("openai:o3-mini").support.refused == {"temperature", "top_p"}
    assert resolve("openai:gpt-4.1").support.refused == set()
    own = Endpoint(model="openai:o3-mini", base_url="http://127.0.0.1:9/v1")
    assert resolve(own).support.refused == set()  # a server of one's own may call its model as it likes


def test_effort_is_checked_and_stands_in_the_signature():
    assert judge_line(Endpoint(model="openai:o3", effort="low"), 0.0) == "openai:o3@t0@effort-low"
    with pytest.raises(ConfigError, match="effort: expected 'none', 'minimal', 'low'"):
        Endpoint(model="openai:o3", effort="lots")


@pytest.mark.slow
def test_nothing_of_a_provider_is_imported_by_making_a_graph():
    code = (
        "import sys; from judgegraph.graphs import llm_score; llm_score('anthropic:m');"
        "print([m for m in sys.modules if m.split('.')[0] in ('langchain', 'anthropic', 'langchain_anthropic')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


MODELS = ["anthropic:claude-sonnet-4-5", "google_genai:gemini-2.5-flash", "openai:gpt-4.1-mini"]


@pytest.mark.parametrize("model", MODELS)
def test_prices_are_known_at_a_providers_own_address_alone(model, monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    nobody = SimpleNamespace(_llm_type="nobody")
    judge = Judge(model, nobody, Endpoint(model=model), True)
    price = Prices.load(None).price_of(judge)
    assert price is not None
    assert 0 < price.prompt < price.completion
    elsewhere = Endpoint(model=model, base_url="http://127.0.0.1:9/v1")
    assert Prices.load(None).price_of(Judge(model, nobody, elsewhere, True)) is None
