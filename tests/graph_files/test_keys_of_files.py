"""A graph file sends no variable of the environment to an address that the user did not allow it for."""

import pytest
from click.testing import CliRunner

import judgegraph as jg
from judgegraph.cli import main
from judgegraph.errors import ConfigError
from judgegraph.wiring.check import destinations

FILE = """
name: one
judge: {{model: "openai:m", {judge}}}
criteria: general
nodes: {{score: llm-score}}
edges: [start -> score -> end]
"""
EVIL = 'base_url: "https://evil.example/v1"'


def graph_file(tmp_path, judge):
    path = tmp_path / "one.yaml"
    path.write_text(FILE.format(judge=judge))
    return path


def test_a_named_variable_beside_an_address_is_refused_with_the_cure(tmp_path, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-value-of-mine")
    path = graph_file(tmp_path, f"{EVIL}, api_key_env: AWS_SECRET_ACCESS_KEY")
    with pytest.raises(ConfigError, match=r"JUDGEGRAPH_KEYS=AWS_SECRET_ACCESS_KEY@evil\.example") as error:
        jg.load_graph(path)
    assert "line 3" in str(error.value)
    assert "secret-value" not in str(error.value)


@pytest.mark.parametrize(
    ("judge", "allowed", "said"),
    [
        (EVIL, "", "https://evil.example/v1, without a key"),
        (EVIL, "OPENAI_API_KEY@other.example", "https://evil.example/v1, without a key"),
        (EVIL, "OPENAI_API_KEY@evil.example.org", "https://evil.example/v1, without a key"),
        (EVIL, "OPENAI_API_KEY@evil.example:8443", "https://evil.example/v1, without a key"),
        (EVIL, " A@b , OPENAI_API_KEY@https://EVIL.example:443/v1",
         "https://evil.example/v1, with the key in OPENAI_API_KEY"),
        (f"{EVIL}, api_key_env: TEAM", "TEAM@evil.example", "https://evil.example/v1, with the key in TEAM"),
        ('base_url: "https://127.0.0.1@evil.example/v1"', "", "https://evil.example/v1, without a key"),
        ('base_url: "http://127.0.0.1.evil.example/v1"', "", "http://127.0.0.1.evil.example/v1, without a key"),
        ('base_url: "http://127.0.0.1:8000/v1"', "", "http://127.0.0.1:8000/v1, with the key in OPENAI_API_KEY"),
        ('base_url: "http://localhost:8000/v1"', "", "http://localhost:8000/v1, with the key in OPENAI_API_KEY"),
        ("temperature: 0", "", "https://api.openai.com/v1, with the key in OPENAI_API_KEY"),
    ],
)  # fmt: skip
def test_a_key_goes_where_the_user_allowed_it(tmp_path, monkeypatch, judge, allowed, said):
    monkeypatch.setenv("OPENAI_API_KEY", "k-12345678")
    monkeypatch.setenv("TEAM", "t-12345678")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("JUDGEGRAPH_KEYS", allowed)
    assert destinations(jg.load_graph(graph_file(tmp_path, judge))) == [f"openai:m: texts go to {said}"]


def test_a_variable_of_ones_own_for_the_provider_is_to_be_allowed_too(tmp_path, monkeypatch):
    path = graph_file(tmp_path, "api_key_env: AWS_SECRET_ACCESS_KEY")
    with pytest.raises(ConfigError, match=r"AWS_SECRET_ACCESS_KEY to api\.openai\.com"):
        jg.load_graph(path)
    monkeypatch.setenv("JUDGEGRAPH_KEYS", "AWS_SECRET_ACCESS_KEY@api.openai.com")
    assert jg.load_graph(path)


def test_another_provider_is_named_as_where_its_key_would_go(tmp_path):
    path = graph_file(tmp_path, "api_key_env: AWS_SECRET_ACCESS_KEY")
    path.write_text(path.read_text().replace("openai:m", "anthropic:m"))
    with pytest.raises(ConfigError, match="AWS_SECRET_ACCESS_KEY to anthropic by itself"):
        jg.load_graph(path)


@pytest.mark.long
def test_check_and_run_print_where_texts_go(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k-12345678")
    checked = CliRunner().invoke(main, ["check", str(graph_file(tmp_path, EVIL))])
    assert "texts go to https://evil.example/v1, without a key" in checked.output
    embedded = CliRunner().invoke(main, ["check", "sageval"])
    assert "every judge here is embedded and sends nothing" in embedded.output
    path, data = graph_file(tmp_path, 'base_url: "http://127.0.0.1:9/v1", attempts: 1'), tmp_path / "data.jsonl"
    data.write_text('{"output": "It is."}\n')
    run = CliRunner().invoke(main, ["run", str(path), str(data), "--timeout", "0.01"])
    assert "texts go to http://127.0.0.1:9/v1, with the key in OPENAI_API_KEY" in run.stderr


async def test_an_address_beside_another_provider_is_refused_where_it_was_left_aside():
    judge = jg.Endpoint(model="groq:m", base_url="https://gateway.example")
    with pytest.raises(
        ConfigError, match="base_url is of 'openai:MODEL', which speaks to any compatible server, and of anthropic"
    ):
        await jg.ask(judge, "How good is it?")
