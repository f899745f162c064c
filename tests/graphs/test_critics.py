"""The critic of a method by name: what it is given, what the final scores are called, and what is refused."""

from dataclasses import dataclass, replace

import pytest
from langgraph.graph import START, StateGraph

import judgegraph as jg
from judgegraph.agents.critics import DevilsAdvocate, SelfReflection
from judgegraph.agents.panel import CriticPanel
from judgegraph.agents.sage import Sage
from judgegraph.agents.under_review import Critique, Reviewed
from judgegraph.calls import Reader
from judgegraph.cli.options import graph_of
from judgegraph.compiled import agents_of
from judgegraph.errors import ConfigError
from judgegraph.graphs import sageval
from judgegraph.prompts.criteria import criteria_set
from judgegraph.registry.lookup import REGISTERED
from judgegraph.registry.shipped import CRITICS
from judgegraph.runs.identity import configuration, signature
from judgegraph.types import Criterion, Rectification, Sample, keyed

CLARITY = [Criterion(name="Clarity")]
SAMPLE = Sample(id="s", query="Say when it opens.", source="It opens in May.", output="The bridge opens in May.")


@pytest.fixture(autouse=True)
def _own_registry():
    before = dict(REGISTERED)
    yield
    REGISTERED.clear()
    REGISTERED.update(before)


def agents(**settings):
    return dict(agents_of(sageval(criteria=CLARITY, **settings)))


async def finals(**settings):
    state = await sageval(criteria=CLARITY, **settings).ainvoke({"sample": SAMPLE})
    return [s for s in state["scores"].values() if s.stage == "final"]


async def agrees(state: Reviewed) -> Critique:
    drafts = [s for s in state["scores"].values() if s.stage == "draft"]
    return {"rectifications": keyed(*(Rectification(criterion=s.criterion, agent="x") for s in drafts)),
            "suggestions": []}  # fmt: skip


def as_graph(name):
    graph = StateGraph(jg.EvalState, input_schema=Reviewed, output_schema=Critique)
    graph.add_node("agree", agrees)
    graph.add_edge(START, "agree")
    return graph.compile(**({"name": name} if name else {}))


@pytest.mark.parametrize("name", CRITICS)
async def test_every_critic_of_ours_has_its_name_on_the_final_scores(name):
    (final,) = await finals(critic=name)
    assert (final.agent, final.status) == (name, "ok")
    (final,) = await finals(critic=name, name="a")
    assert final.agent == f"a-{name}"


def test_sage_by_name_is_the_default():
    assert agents(critic="sage") == agents()
    assert agents(critic="sage", critic_calls="three", name="a") == agents(critic_calls="three", name="a")
    told = [configuration(sageval(criteria=CLARITY, **more)) for more in ({}, {"critic": "sage"})]
    assert told[0] == told[1]


def test_a_critic_by_name_gets_what_it_takes():
    critic = agents(critic="devils-advocate", judge="openai:m", samples=3)["critique"]
    assert isinstance(critic, DevilsAdvocate)
    assert (critic.judge, critic.reader, critic.stage) == ("openai:m", Reader("weighted", samples=3), "draft")
    assert [c.name for c in critic.criteria] == ["Clarity"]
    assert agents(critic="devils-advocate", critic_judge="openai:n")["critique"].judge == "openai:n"


def test_another_critic_is_another_signature():
    lines = {signature(sageval(criteria=CLARITY, critic=name)) for name in (None, *CRITICS)}
    assert len(lines) == 1 + len(CRITICS)


@pytest.mark.parametrize(
    ("critic", "called"),
    [
        (agrees, "agrees"), (Sage(criteria=CLARITY, name="mine"), "mine"), (as_graph("two-eyes"), "two-eyes"),
        (as_graph(""), "critic"),
    ],
    ids=["a function", "an agent", "a graph", "a graph without a name"],
)  # fmt: skip
async def test_the_final_scores_have_the_name_of_an_agent_that_was_passed_in(critic, called):
    (final,) = await finals(critic=critic)
    assert (final.agent, final.status) == (called, "ok")
    (final,) = await finals(critic=critic, name="a")
    assert (final.agent, final.status) == (f"a-{called}", "ok")
    assert "object at" not in signature(sageval(critic=critic))


@dataclass(frozen=True, kw_only=True)
class Fussy:
    """A critic with criteria in a field of its own making."""

    criteria: str = ""
    name: str = "fussy"

    async def __call__(self, state: Reviewed) -> Critique:
        return await agrees(state)


@pytest.mark.parametrize("critic", [Sage(), SelfReflection(), DevilsAdvocate(), CriticPanel(critics=(Sage(),))])
@pytest.mark.parametrize("each", [False, True])
async def test_a_critic_object_without_criteria_reviews_by_the_methods(critic, each):
    state = await sageval(criteria="summary", critic=critic, each=each).ainvoke({"sample": SAMPLE})
    finals = {s.criterion: s.status for s in state["scores"].values() if s.stage == "final"}
    assert finals == dict.fromkeys([c.name for c in criteria_set("summary").criteria], "ok")


def test_a_critic_object_keeps_the_criteria_that_it_has():
    own = [Criterion(name="Tone")]
    given = {"own": Sage(criteria=own), "none": Sage(), "other": Fussy()}
    held = {name: agents(critic=critic)["critique"] for name, critic in given.items()}
    assert held["own"] is given["own"]
    assert held["none"] == replace(given["none"], criteria=tuple(CLARITY))
    assert held["other"] is given["other"]


def test_a_critic_object_is_told_as_what_was_passed_in():
    line = signature(sageval(criteria=CLARITY, critic=Sage(calls="three")))
    assert "|critique.calls:three|" in line
    assert signature(sageval(criteria=CLARITY, critic=Sage())).count("criteria:") == 1


async def test_a_function_and_a_graph_are_critics_by_name_too():
    jg.critic("yes")(agrees)
    jg.critic("eyes")(lambda judge="embedded": as_graph("inner"))
    assert [(await finals(critic=name))[0].agent for name in ("yes", "eyes")] == ["yes", "inner"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"critic": "sagee"}, "sageval: critic: no critic 'sagee'; did you mean 'sage'? known: sage, "),
        ({"critic": "evaluator"}, "sageval: critic: no critic 'evaluator'; "),
        ({"critic": Sage}, "sageval: critic: expected a critic's name or an agent, got the class Sage"),
        ({"critic": 3}, "sageval: critic: expected a critic's name or an agent, got int"),
        (
            {"critic": "devils-advocate", "critic_calls": "three"},
            "'devils-advocate' takes no calls: leave critic_calls",
        ),
        (
            {"critic": "yes", "critic_judge": "openai:m"},
            "sageval: critic: 'yes' takes no judge: leave critic_judge out",
        ),
    ],
)
def test_a_critic_that_cannot_be_is_told_in_a_line(settings, said):
    jg.critic("yes")(agrees)
    with pytest.raises(ConfigError) as error:
        sageval(**settings)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def built(method, *settings, critic=None):
    return graph_of(method, criteria=None, judge=None, settings=settings, critic=critic)


def test_the_command_line_says_it_in_two_ways_that_are_the_same():
    one, two = built("sageval", critic="devils-advocate"), built("sageval", "critic=devils-advocate")
    assert signature(one) == signature(two)
    assert configuration(one) == configuration(two)
    assert signature(built("sageval", critic="sage")) != signature(built("sageval", critic="devils-advocate"))


@pytest.mark.parametrize(
    ("method", "settings", "critic", "said"),
    [
        ("coascore", (), "sage", "coascore has no critic to swap: leave --critic out"),
        ("sageval", ("critic=sage",), "sage", "sageval: critic: given twice"),
        ("sageval", (), "none", "sageval: critic: no critic 'none'; known: sage, "),
        ("sageval", (), "zzz", "sageval: critic: no critic 'zzz'; known: sage, "),
    ],
)
def test_a_critic_of_the_command_line_that_cannot_be_is_told(method, settings, critic, said):
    with pytest.raises(ConfigError, match=said):
        built(method, *settings, critic=critic)
