"""Settings of methods: what an annotation says is what a builder takes."""

from typing import Annotated, Literal

import pytest
from langgraph.graph import END, START, StateGraph
from pydantic import Field

from judgegraph.agents.sage import Sage
from judgegraph.errors import ConfigError, expected
from judgegraph.graphs.sageval import builder as sageval_builder
from judgegraph.graphs.settings import OneToFive, Samples, Temperature, UpToFifty, UpToHundred, fault, named
from judgegraph.registry import METHODS, factory, spec_of
from judgegraph.testing import scripted
from judgegraph.types import EvalState


@pytest.mark.parametrize(
    ("hint", "words"),
    [
        (Samples, "a whole number, 1 or more"),
        (UpToFifty, "a whole number from 1 to 50"),
        (Temperature, "a number, 0 or more"),
        (Temperature | None, "a number, 0 or more, or none"),
        (OneToFive, "a number from 1 to 5"),
        (bool, "true or false"),
        (str, "text"),
        (Literal["only"], "'only'"),
        (Literal["one", "three"], "'one' or 'three'"),
        (Literal["a", "b"] | None, "'a', 'b' or none"),
        (Annotated[int, Field(le=3)], "a whole number, 3 or less"),
    ],
)
def test_an_annotation_is_said_in_words(hint, words):
    assert expected(hint) == words


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (Samples, 0), (Samples, True), (Samples, 2.5), (Samples, "3"), (Samples, None), (UpToFifty, 51),
        (UpToHundred, 101), (Temperature, -0.1), (Temperature, float("nan")), (Temperature, float("inf")),
        (Temperature, "1"), (OneToFive, float("inf")), (OneToFive, 0.9), (bool, 1), (bool, "true"), (Literal["a"], "b"),
        (Literal["a"], None),
    ],
    ids=str,
)  # fmt: skip
def test_what_an_annotation_does_not_allow_is_refused(hint, value):
    assert fault(hint, value).startswith(f"expected {expected(hint)}, got ")


@pytest.mark.parametrize(
    ("hint", "value"),
    [(Samples, 1), (UpToFifty, 50), (Temperature, 0), (Temperature | None, None), (OneToFive, 5), (bool, False)],
)
def test_what_it_allows_is_not(hint, value):
    assert fault(hint, value) == ""


WRONG = [
    ("coascore", {"aspects": 0}), ("coascore", {"aspects": 101}), ("coascore", {"reply": "xml"}),
    ("coascore", {"reasons": "yes"}), ("sageval", {"samples": 0}), ("sageval", {"critic_calls": "four"}),
    ("sageval", {"critic": "sagee"}), ("sageval", {"critic": 3}), ("sageval", {"each": 1}), ("g-eval", {"samples": -1}),
    ("g-eval", {"role": "tool"}),
    ("g-eval", {"temperature": float("nan")}), ("g-eval", {"temperature": -1}), ("llm-score", {"cot": None}),
    ("llm-score", {"reply": 1}), ("fennec", {"branches": 51}), ("fennec", {"threshold": "low"}),
    ("fennec", {"threshold": 0.5}), ("fennec", {"threshold": 30.0}),
    ("fusion-eval", {"predictions": 0}), ("fusion-eval", {"rounds": 51}), ("fusion-eval", {"consult": "some"}),
    ("fusion-eval", {"temperature": float("inf")}), ("fusion-eval", {"planner_judge": "gpt"}),
    *((method, {"name": None}) for method in METHODS), *((method, {"judge": 3}) for method in METHODS),
]  # fmt: skip


@pytest.mark.parametrize(("method", "settings"), WRONG, ids=str)
def test_a_builder_names_the_setting_it_refuses(method, settings):
    with pytest.raises(ConfigError, match=f"^{method}: {next(iter(settings))}: "):
        factory(method)(**settings)


def test_every_wrong_setting_has_its_line():
    with pytest.raises(ConfigError) as error:
        factory("sageval")(critic_calls="four", samples=2.5)
    assert str(error.value).splitlines() == [
        "sageval: critic_calls: expected 'one' or 'three', got 'four'",
        "sageval: samples: expected a whole number, 1 or more, got 2.5",
    ]


@pytest.mark.parametrize("method", METHODS)
def test_an_unknown_setting_is_told_with_those_there_are(method):
    with pytest.raises(ConfigError, match=f"{method} has no setting aspectz; "):
        factory(method)(aspectz=3)


@pytest.mark.parametrize("judge", ["gpt-4", "openai:", ":x", " :x", "", ["embedded"], 3, object()])
def test_what_names_no_judge_is_refused_when_the_graph_is_built(judge):
    with pytest.raises(ConfigError, match="sageval: critic_judge: "):
        factory("sageval")(critic_judge=judge)


@pytest.mark.parametrize("judge", ["embedded", "openai:any", "ollama:llama3:8b", scripted()])
def test_a_judge_is_a_name_or_a_model(judge):
    assert factory("sageval")(judge=judge, critic_judge=judge)


def test_a_key_given_for_a_judge_is_not_repeated():
    with pytest.raises(ConfigError) as error:
        factory("sageval")(judge="sk-abcdefghijklmnop")
    assert "abcdefgh" not in str(error.value)


def test_a_role_has_the_name_before_it():
    assert (named("", "evaluator"), named("a", "evaluator")) == ("evaluator", "a-evaluator")


@pytest.mark.parametrize("name", METHODS)
def test_nothing_is_hung_on_a_graph_and_what_it_declares_goes_with_it(name):
    graph = factory(name)(scripted(), name="a")
    assert set(vars(graph.builder)) == set(vars(StateGraph(EvalState)))
    declared = spec_of(graph)
    assert declared is not None
    assert declared.own_nodes == set(graph.builder.nodes)
    assert spec_of(graph.with_config(tags=["mine"])) is declared
    outer = StateGraph(EvalState)
    outer.add_node("method", graph)
    outer.add_edge(START, "method")
    outer.add_edge("method", END)
    whole = outer.compile()
    assert spec_of(whole) is None
    assert spec_of(whole.builder.nodes["method"].runnable) is declared


def test_an_agent_that_is_passed_in_is_not_described_by_the_settings():
    own = spec_of(sageval_builder(scripted(), critic=Sage(judge=scripted()), each=True))
    assert own is not None
    assert own.settings == {"critic": "sage", "each": True}
    assert own.own_nodes == {"evaluate", "rectify"}
