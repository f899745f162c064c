"""`judgegraph prompts`: the templates of a method, and what a sample is asked; nothing is sent."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import judgegraph as jg
from judgegraph.cli import main
from judgegraph.graphs import llm_score
from judgegraph.prompts import known, load
from judgegraph.prompts.template import watched

ROOT = Path(__file__).resolve().parents[2]
FORMS = str(ROOT / "examples/forms.jsonl")


def told(*words, code=0):
    result = CliRunner().invoke(main, ["prompts", *words])
    assert result.exit_code == code, result.output
    return result.stdout if code == 0 else result.stderr


def test_without_a_method_every_template_is_listed_with_its_source():
    assert json.loads(told("--json")) == {name: load(name).source for name in known()}


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (["sageval"], {"evaluate": ["evaluate"], "critique": ["critique"]}),
        (
            ["sageval", "-s", "critic_calls=three"],
            {"critique": ["critique_scores", "critique_definitions", "critique_criteria"]},
        ),
        (["llm-score"], {"score": ["llm_score"]}),
    ],
)  # fmt: skip
def test_the_templates_of_a_method_stand_whole(words, asked):
    found = json.loads(told(*words, "--json"))
    for node, names in asked.items():
        assert [one["prompt"] for one in found if one["node"] == node] == names
    for one in found:
        prompt = load(one["prompt"])
        assert [(m["role"], m["text"]) for m in one["messages"]] == list(prompt.parts)
        assert (one["digest"], one["fields"]) == (prompt.digest, sorted(prompt.fields))
        for _, text in prompt.parts:
            assert text in told(*words)


def test_rendered_prompts_are_those_that_a_run_sends():
    sent = json.loads(told("llm-score", "-c", "forms", "--render", FORMS, "-n", "2", "--json"))
    seen = []
    token = watched.set(lambda prompt, texts: seen.append((prompt, dict(texts))))
    try:
        jg.evaluate(llm_score(criteria="forms"), jg.load(FORMS, limit=2))
    finally:
        watched.reset(token)
    asked = {tuple(text for _, text in prompt.render(**texts).messages) for prompt, texts in seen}
    assert {tuple(m["text"] for m in one["messages"]) for one in sent} == asked
    assert len(sent) == len(asked) == 16


def test_what_a_judge_would_have_said_is_said_to_be_invented():
    head = told("sageval", "--render", FORMS).splitlines()[0]
    assert head == "2 calls for 1 sample; nothing was sent: what a judge said before and a prompt quotes is invented"


def test_a_model_that_no_key_is_there_for_is_not_asked(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert told("llm-score", "-j", "openai:m", "--render", FORMS).startswith("4 calls for 1 sample; nothing was sent: ")


def test_data_without_a_method_is_a_mistake():
    assert "--render needs a METHOD" in told("--render", FORMS, code=2)
