"""The signature: what numbers depend on changes it, what they do not depend on leaves it."""

import pytest
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, StateGraph

from judgegraph.agents.evaluator import Evaluator
from judgegraph.agents.merge import Merge
from judgegraph.agents.panel import CriticPanel
from judgegraph.agents.sage import Sage
from judgegraph.calls import Endpoint, Reader
from judgegraph.graphs import coascore, fennec, fusion_eval, g_eval, llm_score, sageval
from judgegraph.prompts.criteria import criteria_set
from judgegraph.registry import METHODS, factory
from judgegraph.runs.identity import details, signature
from judgegraph.testing import Scripted
from judgegraph.tools.catalogue import OF_TEXT
from judgegraph.types import Criterion, EvalState


class Tuned(Scripted):
    temperature: float = 0.25
    seed: int = 7
    model_name: str = "mine"
    openai_api_base: str = "http://user:word@host:8000/v1"


def parts(graph):
    return dict(part.partition(":")[::2] for part in signature(graph).split("|"))


def outer(**nodes):
    graph = StateGraph(EvalState)
    for name, node in nodes.items():
        graph.add_node(name, node)
        graph.add_edge(START, name)
        graph.add_edge(name, END)
    return graph.compile(name="outer")


CLARITY = [Criterion(name="Clarity")]


@pytest.mark.parametrize(
    ("make", "settings"),
    [
        (sageval, {"each": True}), (sageval, {"critic_calls": "three"}), (sageval, {"samples": 3}),
        (sageval, {"criteria": "general"}), (sageval, {"criteria": CLARITY}), (sageval, {"critic_judge": "openai:m"}),
        (sageval, {"judge": Endpoint(model="embedded", temperature=0.5)}),
        (sageval, {"judge": Endpoint(model="embedded", seed=1)}), (sageval, {"critic": Evaluator()}),
        (coascore, {"aspects": 5}), (coascore, {"reasons": True}), (coascore, {"reply": "text"}),
        (fennec, {"task": "a poem"}), (fennec, {"temperature": 0.5}), (fennec, {"temperature": None}),
        (fennec, {"branches": 3}), (fennec, {"orders": "both"}), (fennec, {"merge": "votes"}),
        (fennec, {"correct": "off"}),
        (fennec, {"threshold": 2.0}), (fennec, {"labels": "response"}), (fennec, {"mode": "pair"}),
        (fusion_eval, {"assistants": ["chrf"]}), (fusion_eval, {"plan": False}), (fusion_eval, {"consult": "all"}),
        (fusion_eval, {"rounds": 2}), (fusion_eval, {"predictions": 3}), (fusion_eval, {"temperature": 0.5}),
        (g_eval, {"samples": 3}), (g_eval, {"temperature": 2.0}), (g_eval, {"role": "system"}),
        (g_eval, {"first_digit": True}), (g_eval, {"reply": "form"}), (llm_score, {"cot": True}),
    ],
    ids=lambda v: str(v) if isinstance(v, dict) else getattr(v, "__name__", ""),
)  # fmt: skip
def test_every_setting_that_numbers_depend_on_changes_it(make, settings):
    assert signature(make(**settings)) != signature(make())


@pytest.mark.parametrize("method", METHODS)
def test_it_is_one_short_line_and_always_the_same(method):
    line = signature(factory(method)())
    assert line == signature(factory(method)())
    assert len(line) < 300
    assert line.isprintable()


@pytest.mark.parametrize("method", METHODS)
def test_a_name_is_no_setting(method):
    assert signature(factory(method)(name="a")) == signature(factory(method)())


def test_fennec_names_its_judge_once_with_its_temperature():
    assert parts(fennec())["judge"] == "embedded@t0"
    assert "judge" not in details(fennec())["nodes"]["merge"]
    assert Merge().judge_name == "judge"


@pytest.mark.parametrize(
    ("judge", "shown"),
    [
        ("openai:m", "openai:m"),
        (Endpoint(model="openai:m"), "openai:m"),
        (Endpoint(model="openai:m", temperature=0), "openai:m@t0"),
        (Endpoint(model="openai:m", temperature=0.7, seed=3, top_p=0.9, max_tokens=9), "openai:m@t0.7@p0.9@max9@seed3"),
        (Endpoint(model="openai:m", base_url="http://localhost:8000/v1"), "openai:m@localhost:8000/v1"),
        (Endpoint(model="openai:m", base_url="https://me:secret@h.org/v1?key=secret"), "openai:m@h.org/v1"),
        (Tuned(script=[]), "Tuned:mine@t0.25@seed7@host:8000/v1"),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_a_judge_has_its_settings_and_its_host_and_no_login(judge, shown, monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    line = signature(sageval(judge))
    assert parts(sageval(judge))["judge"] == shown
    assert "secret" not in line
    assert "word" not in line


def test_an_agents_own_temperature_comes_before_its_endpoints():
    judge = Endpoint(model="openai:m", temperature=0.7, base_url="http://h/v1")
    assert parts(llm_score(judge))["judge"] == "openai:m@t0@h/v1"
    assert parts(fennec(judge, temperature=None))["judge"] == "openai:m@t0.7@h/v1"


def test_the_host_of_the_environment_counts_too(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://me:word@elsewhere:9/v1")
    assert parts(sageval("openai:m"))["judge"] == "openai:m@elsewhere:9/v1"
    assert parts(sageval("embedded"))["judge"] == "embedded"


def test_a_reader_that_samples_has_the_samples_temperature():
    assert parts(g_eval(temperature=2.0))["reader"] == "weighted:20@t2"
    assert parts(fusion_eval())["reader"] == "mean:8@t1"
    assert parts(coascore())["reader"] == "stated"


def test_assistants_stand_by_name_in_their_order():
    assert parts(fusion_eval(assistants=["chrf", "rouge-l"]))["assistants"] == "chrf,rouge-l"


def test_criteria_and_task_have_the_digest_of_their_set():
    assert parts(sageval(criteria="forms"))["criteria"] == criteria_set("forms").digest
    assert "task" in parts(fennec())
    assert "criteria" in parts(fennec(criteria="general"))


def test_settings_are_those_that_are_no_defaults():
    found = parts(fennec(branches=5, orders="both", threshold=2.5, correct="below"))
    assert {k: found[k] for k in found if k in ("branches", "orders", "threshold", "correct")} == {
        "orders": "both", "threshold": "2.5",
    }  # fmt: skip


def test_nested_methods_and_agents_tell_their_settings_with_their_place():
    graph = outer(sage=sageval(each=True), alone=Evaluator(criteria=CLARITY, stage="x", reader=Reader()))
    found = parts(graph)
    assert found["sage/each"] == "true"
    assert found["reader"] == "weighted:5@t1,stated"


def test_criteria_of_one_name_in_two_methods_do_not_clash():
    two = [[Criterion(name="Clarity", definition=d)] for d in ("one", "two")]
    both = outer(a=sageval(criteria=two[0]), b=sageval(criteria=two[1], name="b"))
    same = outer(a=sageval(criteria=two[0]), b=sageval(criteria=two[0], name="b"))
    assert parts(both)["criteria"] != parts(same)["criteria"]
    assert signature(outer(a=sageval(criteria=two[0]), b=sageval(criteria=[Criterion(name="clarity")])))


def test_a_bar_in_a_name_makes_no_part_of_its_own():
    assert "model" not in parts(sageval("openai:x|model:y"))


def test_what_a_manifest_keeps_of_a_node():
    nodes = details(fusion_eval(consult="all"))["nodes"]
    assert set(nodes["judge"]) == {"agent", "judge", "prompt", "reader", "assistants"}
    assert nodes["consult"]["assistants"] == list(OF_TEXT)


def test_an_agent_that_was_passed_in_tells_its_own_settings():
    plain, three = (sageval(critic=Sage(criteria=CLARITY, calls=calls)) for calls in ("one", "three"))
    assert signature(plain) != signature(three)
    assert parts(three)["critique.calls"] == "three"
    assert "critique.calls" not in parts(sageval(critic_calls="three"))
    assert parts(outer(inner=sageval(critic=Sage(calls="three"))))["inner/critique.calls"] == "three"


def test_a_panel_of_critics_names_them_and_the_prompts_that_they_use():
    found = parts(sageval(critic=CriticPanel(critics=("sage", "self-reflection"))))
    assert found["critique.critics"] == "sage,self-reflection"
    assert [one.partition("@")[0] for one in found["prompts"].split(",")] == ["evaluate", "critique", "self_reflection"]
    assert "panel_critique@" in parts(sageval(critic="critic-panel"))["prompts"]
    assert parts(sageval(critic="critic-panel"))["critique.critics"] == "close reader,editor,respondent"


def test_a_critic_that_asks_three_times_is_told_by_its_three_prompts():
    found = [one.partition("@")[0] for one in parts(sageval(critic_calls="three"))["prompts"].split(",")]
    assert found == ["evaluate", "critique_scores", "critique_definitions", "critique_criteria"]


def test_another_role_or_critic_of_a_panel_is_another_signature():
    panels = [
        CriticPanel(), CriticPanel(roles={"editor": "edits."}), CriticPanel(roles={"editor": "cuts."}),
        CriticPanel(critics=("sage",)), CriticPanel(critics=(Sage(),)), CriticPanel(critics=(Sage(calls="three"),)),
        CriticPanel(critics=(Sage(judge="openai:m"),)),
    ]  # fmt: skip
    lines = [signature(sageval(critic=panel)) for panel in panels]
    assert len(set(lines)) == len(panels)
    assert "judge:embedded,openai:m|" in lines[-1]
    assert "object at" not in "".join(lines)


def test_two_paths_of_one_host_are_two_judges():
    one, two = (Endpoint(model="openai:m", base_url=f"http://h:1/{path}") for path in ("v1", "v2/"))
    assert [parts(sageval(judge))["judge"] for judge in (one, two)] == ["openai:m@h:1/v1", "openai:m@h:1/v2"]


def chat(**settings):
    return parts(sageval(ChatOpenAI(model="m", base_url="http://h/v1", **{"api_key": "key-1234", **settings})))["judge"]


def test_a_chat_model_object_tells_what_was_set_on_it_as_a_digest():
    assert chat(temperature=0) == "ChatOpenAI:m@t0@h/v1"
    low = chat(reasoning_effort="low")
    assert low == chat(reasoning_effort="low", api_key="other-key", max_retries=9, timeout=3)
    seen = {chat(), low, chat(reasoning_effort="high"), chat(stop=["END"]), chat(extra_body={"top_k": 1})}
    seen |= {chat(extra_body={"seed": seed}) for seed in (1, 2)}
    assert len(seen) == 7


def test_a_secret_on_a_chat_model_object_does_not_count_and_is_not_shown():
    one, two = (chat(default_headers={"X-Key": f"head-{n}"}, reasoning_effort="low") for n in (1, 2))
    assert one == two
    assert "head" not in one
