"""A plan sends nothing, changes nothing, and what then happens lies between its ends."""

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.graph import END, START, StateGraph
from pydantic import PrivateAttr
from typing_extensions import TypedDict

import judgegraph as jg
from judgegraph.calls.ledger import Ledger
from judgegraph.errors import ConfigError
from judgegraph.graphs import coascore, fennec, fusion_eval, g_eval, llm_score, sageval
from judgegraph.models.resolve import _by_loop, _by_model, trying
from judgegraph.runtime import rehearsal
from judgegraph.types import Sample

TOKEN = re.compile(r"\d|[A-Za-z]+|\s+|[^\w\s]|\w")


def samples(count: int = 4, **fields: Any) -> list[Sample]:
    return [
        Sample(id=f"s{i}", **{"query": f"question {i // 2}", "output": f"text {i}", **fields}) for i in range(count)
    ]


PAIRS = samples(rival="another text")


class Odd(BaseChatModel):
    """A judge with a habit: what servers were seen to do."""

    habit: str
    speaks_openai: bool = True
    _asked: int = PrivateAttr(0)

    @property
    def _llm_type(self) -> str:
        return "odd"

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        self._asked += 1
        count = 1 if self.habit == "one choice" else int(kwargs.get("n") or 1)
        return ChatResult(generations=[self._choice(str(messages[-1].content), kwargs) for _ in range(count)])

    def _choice(self, asked: str, kwargs: dict[str, Any]) -> ChatGeneration:
        form = (kwargs.get("response_format") or {}).get("json_schema")
        again = asked.startswith("Your reply could not be used")
        broken = self.habit == "never readable" or (self.habit == "unreadable at first" and not again)
        text = "{" if broken else json.dumps(self._value(form["schema"])) if form else self._text(asked)
        if broken and not form:
            text = ""
        calls = []
        if kwargs.get("tools") and not broken:
            calls = [{"name": kwargs["tools"][0]["function"]["name"], "args": {}, "id": f"c{self._asked}"}]
        content = [{"token": t, "logprob": -0.01, "top_logprobs": []} for t in TOKEN.findall(text)]
        given = {"content": content} if kwargs.get("logprobs") and self.habit != "no log-probabilities" else None
        info = {"finish_reason": "stop", "logprobs": given}
        return ChatGeneration(message=AIMessage("" if calls else text, tool_calls=calls), generation_info=info)

    def _text(self, asked: str) -> str:
        return "N/A" if self.habit == "abstains" and "Score" in asked else "Final score: 2"

    def _value(self, schema: Any) -> Any:
        if "anyOf" in schema:
            return None if self.habit == "abstains" else self._value(schema["anyOf"][0])
        if "enum" in schema:
            return 2 if 2 in schema["enum"] else schema["enum"][0]
        kind = schema.get("type")
        if kind == "object":
            held = list(schema["properties"].items())
            part = self.habit == "leaves parts out" and len(held) > 2
            return {name: self._value(inner) for name, inner in held[: -1 if part else None]}
        if kind == "array":
            return [self._value(schema["items"]) for _ in range(schema.get("minItems", 1))]
        return f"words {self._asked} {id(schema) % 97}" if kind == "string" else 2


HABITS = (
    "plain", "no log-probabilities", "one choice", "unreadable at first", "never readable", "abstains",
    "leaves parts out",
)  # fmt: skip
GRAPHS: dict[str, tuple[Any, dict[str, Any], list[Sample]]] = {
    "sageval": (sageval, {}, samples()),
    "sageval, three calls": (sageval, {"critic_calls": "three", "criteria": "summary"}, samples()),
    "sageval, each": (sageval, {"each": True, "criteria": "summary"}, samples()),
    "coascore": (coascore, {"aspects": 3}, samples()),
    "coascore in text": (coascore, {"aspects": 3, "reply": "text"}, samples()),
    "fennec": (fennec, {"branches": 3}, samples()),
    "fennec pairs": (fennec, {"branches": 3, "orders": "both"}, PAIRS),
    "fennec in text": (fennec, {"branches": 3, "reply": "text", "correct": "at-most"}, PAIRS),
    "fusion-eval": (fusion_eval, {"predictions": 3}, samples()),
    "fusion-eval, no plan": (fusion_eval, {"predictions": 3, "plan": False}, samples()),
    "g-eval": (g_eval, {"samples": 3}, samples()),
    "g-eval, form, labels": (g_eval, {"samples": 3, "reply": "form", "criteria": "forms"}, samples()),
    "llm-score": (llm_score, {}, samples()),
}


@pytest.mark.parametrize("habit", HABITS)
@pytest.mark.parametrize("name", GRAPHS)
def test_whatever_a_judge_does_its_calls_lie_between_the_ends(name: str, habit: str, tmp_path: Path):
    factory, settings, given = GRAPHS[name]
    graph = factory(judge=Odd(habit=habit), **settings)
    forecast = jg.plan(graph, given)
    assert forecast.complete
    path = tmp_path / "ledger.sqlite"
    jg.evaluate(graph, given, ledger=path)
    made = Ledger(path).count()
    lowest, readable, highest = (forecast.total.exact + more for more in forecast.total.rest)
    assert made <= highest
    if habit != "never readable":  # a call without any readable reply ends its sample early
        assert lowest <= made
    if habit in ("plain", "abstains"):
        assert made <= readable
    if habit != "no log-probabilities":  # there some are asked for several replies in the place of one
        assert forecast.total.exact <= made

    if habit == "no log-probabilities":
        return  # which of the first calls find that out depends on timing, and what they say goes on to others
    after = jg.plan(graph, given, ledger=path)
    assert (after.total.missing, after.total.rest) == (0, (0, 0, 0))


def test_a_plan_needs_no_key_makes_no_judge_and_leaves_what_is_known_of_one(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    before = [dict(known) for known in _by_loop.values()]
    forecast = jg.plan(llm_score(judge="openai:m", criteria="summary"), samples())
    assert (forecast.total.exact, forecast.total.rest[:2]) == (16, (0, 0))
    assert [dict(known) for known in _by_loop.values()] == before
    assert trying.get() is None
    model = Odd(habit="plain")
    jg.plan(g_eval(judge=model), samples())
    support = _by_model[id(model)].support
    assert (support.logprobs, support.json_schema, support.n) == (None, None, None)
    assert model._asked == 0


def test_an_unknown_judge_is_told_as_in_a_run():
    with pytest.raises(ConfigError, match="no judge 'gpt'"):
        jg.plan(llm_score(judge=jg.Endpoint(model="gpt", base_url="http://x")), samples())


def test_calls_are_told_by_node_in_the_order_of_asking():
    forecast = jg.plan(fennec(branches=3), PAIRS)
    assert [node.node for node in forecast.nodes] == ["branch", "weigh/guide", "weigh/compare", "correct"]
    branch, guide, compare, correct = forecast.nodes
    assert (branch.exact, branch.rest) == (2, (0, 0, 4)), "two queries among four samples"
    assert guide.rest[:2] == (2, 6)
    assert compare.rest[:2] == (4, 12)
    assert correct.rest[:2] == (0, 8)
    assert forecast.total.exact == 2


def test_money_is_told_where_a_price_is_known_and_tokens_always(tmp_path: Path):
    graph = llm_score(judge="openai:secret-model", criteria="summary")
    unknown = jg.plan(graph, samples())
    assert (unknown.priced, unknown.unpriced) == (False, ("openai:secret-model",))
    assert unknown.total.cost.lowest.prompt > 1000
    table = tmp_path / "prices.yaml"
    table.write_text('prices:\n  "openai:secret-model": {prompt: 1.0, completion: 2.0}\n')
    known = jg.plan(graph, samples(), prices=table)
    least = known.total.cost.lowest
    assert known.priced
    assert math.isclose(least.usd, (least.prompt + 2 * least.completion) / 1e6)
    assert least.completion == 16 * 256
    assert any("assumption" in line for line in known.basis)


class State(TypedDict, total=False):
    sample: Sample
    answer: str


def custom(node: Any) -> Any:
    async def ask(state: State) -> State:
        return {"answer": await jg.ask("openai:m", f"What of {state['sample'].output}?")}

    graph = StateGraph(State)
    graph.add_node("ask", ask)
    graph.add_node("use", node)
    graph.add_edge(START, "ask")
    graph.add_edge("ask", "use")
    graph.add_edge("use", END)
    return graph.compile(name="mine")


def test_a_node_that_fails_is_named_and_the_plan_says_that_it_is_incomplete():
    def use(state: State) -> State:
        return {"answer": str(int(state["answer"]))}

    forecast = jg.plan(custom(use), samples(2))
    assert not forecast.complete
    mishap = forecast.mishaps[0]
    assert (mishap.sample, mishap.node) == ("s0", "use")
    assert mishap.reason.startswith("ValueError: invalid literal")
    assert forecast.total.exact == 2, "what was asked before is counted"


def test_a_node_that_hangs_ends_the_plan_soon(monkeypatch: pytest.MonkeyPatch):
    import asyncio

    async def use(state: State) -> State:
        await asyncio.sleep(60)
        return {}

    monkeypatch.setattr(rehearsal, "PATIENCE", 0.02)
    forecast = jg.plan(custom(use), samples(50))
    assert not forecast.complete
    assert forecast.samples == 1
    assert "no end within 0.02 s" in str(forecast.mishaps[0])


def test_a_pilot_is_paid_for_where_the_run_finds_it(tmp_path: Path):
    given, path = samples(10), tmp_path / "ledger.sqlite"
    graph = fennec(branches=2)
    with pytest.raises(ConfigError, match="name a ledger"):
        jg.plan(graph, given, pilot=3)
    forecast = jg.plan(graph, given, pilot=3, ledger=path)
    held = Ledger(path).count()
    assert forecast.pilot is not None
    assert (forecast.pilot.samples, forecast.pilot.calls, dict(forecast.pilot.statuses)) == (3, held, {"ok": 3})
    assert forecast.total.kept >= held
    projected = forecast.total.projected
    assert projected is not None
    low, mean, high = projected.lowest.calls, projected.middle.calls, projected.highest.calls
    assert forecast.total.cost.lowest.calls <= low <= mean <= high <= forecast.total.cost.highest.calls
    jg.evaluate(graph, given, ledger=path)
    assert low <= Ledger(path).count() - held <= high


def test_calls_that_all_samples_share_are_not_projected(tmp_path: Path):
    graph = fusion_eval(predictions=2)
    forecast = jg.plan(graph, samples(8), pilot=3, ledger=tmp_path / "l.sqlite")
    by_node = {node.node: node.projected for node in forecast.nodes}
    assert by_node["plan"] is not None
    assert by_node["plan"].middle.calls == 0
    assert by_node["judge"] is not None
    assert by_node["judge"].middle.calls == 5


def test_samples_are_counted_as_they_are_planned():
    told: list[int] = []
    jg.plan(llm_score(), samples(3), on_sample=told.append)
    assert told == [1, 2, 3]


def test_a_plan_as_json_is_plain():
    forecast = jg.plan(llm_score(criteria="summary"), samples(2))
    found = json.loads(json.dumps(forecast.to_dict()))
    assert found["nodes"][0]["node"] == "score"
    assert found["nodes"][0]["exact"] == 8
    assert found["total"]["rest"] == {"lowest": 0, "readable": 0, "highest": 16}
    assert set(found["total"]["to_pay"]["lowest"]) == {"calls", "prompt_tokens", "completion_tokens", "usd"}
