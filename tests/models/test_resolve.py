"""Who answers: names, endpoints and chat model objects become judges, at the first call and not before."""

import asyncio
import gc
import sys
import weakref

import pytest
from langchain_core.language_models import FakeListChatModel

from judgegraph.calls import Endpoint, name_of
from judgegraph.errors import ConfigError, bare, credentials, secrets_of
from judgegraph.models.judges import _by_model, resolve
from judgegraph.testing import scripted


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("judge", ["gpt-4", "", "openai:", ":x", " :x", "nobody:model", 5, None, lambda: None])
async def test_what_is_no_judge_is_refused(judge):
    with pytest.raises(ConfigError, match="judge"):
        resolve(judge)


async def test_a_chat_model_object_needs_no_aiohttp(monkeypatch):
    monkeypatch.setitem(sys.modules, "aiohttp", None)  # as without the extra `fast`
    monkeypatch.delitem(sys.modules, "judgegraph.models.http", raising=False)
    assert resolve(scripted("a")).short is None


@pytest.mark.parametrize("judge", ["openai:", ":x", " :x", "openai: "])
async def test_a_judge_needs_a_provider_and_a_model(judge):
    with pytest.raises(ConfigError, match=f"no judge '{judge.strip()}'; write"):
        resolve(judge)


async def test_a_missing_key_names_its_variable():
    with pytest.raises(ConfigError, match="MY_KEY"):
        resolve(Endpoint(model="openai:gpt-4.1-mini", api_key_env="MY_KEY"))


async def test_a_server_of_ones_own_needs_no_key():
    assert resolve(Endpoint(model="openai:m", base_url="http://127.0.0.1:9/v1")).speaks_openai


@pytest.mark.parametrize("settings", [{"timeout": 0}, {"timeout": float("nan")}, {"attempts": 0}, {"asks": 0}])
def test_settings_that_could_never_give_an_answer_are_refused(settings):
    with pytest.raises(ConfigError, match="m:"):
        Endpoint(model="m", **settings)


def test_a_judge_is_made_once_per_event_loop():
    endpoint = Endpoint(model="openai:m", base_url="http://127.0.0.1:9/v1")

    async def twice():
        assert resolve(endpoint) is resolve(Endpoint(model="openai:m", base_url="http://127.0.0.1:9/v1"))
        return resolve(endpoint)

    assert asyncio.run(twice()) is not asyncio.run(twice())


async def test_what_is_learnt_of_a_model_object_stays_with_it_and_goes_with_it():
    model = scripted("a")
    resolve(model).support.logprobs = False
    assert resolve(model).support.logprobs is False
    assert resolve(scripted("a")).support.logprobs is None
    gone, key = weakref.ref(model), id(model)
    del model
    gc.collect()
    assert gone() is None
    assert key not in _by_model


@pytest.mark.parametrize(
    ("judge", "name"),
    [
        ("embedded", "embedded"),
        (Endpoint(model="openai:m", base_url="http://u:secret@h/v1"), "openai:m"),
        (FakeListChatModel(responses=["a"]), "FakeListChatModel"),
    ],
)
def test_a_judge_has_a_name_without_being_made(judge, name):
    assert name_of(judge) == name


@pytest.mark.parametrize(
    ("url", "shown", "found"),
    [
        ("http://h:1/v1", "http://h:1/v1", set()),
        (
            "https://me:p%40ss@h/v1?k=abc#f",
            "https://h/v1",
            {"me:p%40ss", "me", "p%40ss", "p@ss", "bWU6cEBzcw==", "abc"},
        ),
        ("https://token@h/", "https://h/", {"token", "", "dG9rZW46"}),
    ],
)
def test_the_keys_in_an_address_are_known_and_not_shown(url, shown, found):
    assert bare(url) == shown
    assert set(credentials(url)) == found


def test_the_secrets_of_a_chat_model_are_its_keys_headers_and_logins():
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(model="m", api_key="key-1234", base_url="http://u:word@h/v1", default_headers={"X-A": "head-1"})
    assert {"key-1234", "word", "head-1"} <= set(secrets_of(model))
    assert secrets_of(scripted("a secret?")) == ()


@pytest.mark.parametrize("transport", ["fast", "langchain"])
async def test_white_space_around_a_key_is_no_part_of_it(monkeypatch, transport):
    monkeypatch.setenv("MY_KEY", " canary-1234\n")
    judge = resolve(Endpoint(model="openai:m", api_key_env="MY_KEY", transport=transport))
    key = judge.model.api_key if transport == "fast" else judge.model.openai_api_key
    assert key.get_secret_value() == "canary-1234"
    assert "canary-1234" in judge.secrets


@pytest.mark.parametrize("key", ["canary\u2019", "canary\ncanary", "canar\x07y", "canar\u00fc"])
async def test_a_key_that_no_header_can_hold_is_refused_at_the_start(monkeypatch, key):
    monkeypatch.setenv("MY_KEY", key)
    with pytest.raises(ConfigError, match="the key in MY_KEY has a character") as caught:
        resolve(Endpoint(model="openai:m", api_key_env="MY_KEY"))
    assert "canar" not in str(caught.value)


async def test_a_key_of_white_space_is_none(monkeypatch):
    monkeypatch.setenv("MY_KEY", " \n")
    with pytest.raises(ConfigError, match="no key; set MY_KEY"):
        resolve(Endpoint(model="openai:m", api_key_env="MY_KEY"))
