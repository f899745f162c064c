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
from judgegraph.calls.asking import replies
from judgegraph.calls.ledger import Ledger
from judgegraph.errors import ConfigError, DataError
from judgegraph.graphs import coascore, fennec, fusion_eval, g_eval, llm_score, sageval, trajectory
from judgegraph.models.judges import Endpoint, Support, _by_loop, _by_model, keep, trying
from judgegraph.planning import dry_run as play
from judgegraph.planning import dry_run as rehearsal
from judgegraph.planning.dry_run import Amount
from judgegraph.planning.forecast import TOTAL, Pilot, PilotCost, Range
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
        tokens = [{"token": t, "logprob": -0.01} for t in TOKEN.findall(text)]
        content = [{**one, "top_logprobs": [one]} for one in tokens]
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
@pytest.mark.sampled(16)
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
    unread = habit == "abstains" and name.startswith("sageval")  # nothing to review, so no critic is asked
    if habit != "never readable" and not unread:  # a call without any readable reply ends its sample early
        assert lowest <= made
    if habit in ("plain", "abstains"):
        assert made <= readable
    if habit != "no log-probabilities" and not unread:  # there some are asked for several replies in the place of one
        assert forecast.total.exact <= made

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
    assert "no end was found within 0.02 s" in str(forecast.mishaps[0])


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


def test_samples_about_which_nobody_is_asked_are_told_with_the_reason():
    told = jg.Sample(id="1", query="q", output="It is shut for repairs, they say.")
    picture = jg.Sample(id="2", output="It is shut.", images=["https://example.org/a.png"])
    one = next(line for line in jg.plan(llm_score(), [told, picture]).basis if "Nobody" in line)
    assert one.startswith("Nobody is asked about 1 sample: embedded sees no images")
    both = jg.plan(trajectory(), [told, told.model_copy(update={"id": "2"})])
    assert any(line.startswith("Nobody is asked about 2 samples: the sample has no steps") for line in both.basis)
    assert not [line for line in jg.plan(llm_score(), [told]).basis if "Nobody" in line]


def test_a_judge_that_sees_no_images_is_named_where_others_of_the_graph_do():
    sighted = jg.Endpoint(model="openai:gpt-4.1", vision=True)
    panel = jg.panel({"one": llm_score(), "two": llm_score(sighted)}, criteria="summary")
    picture = jg.Sample(id="1", output="It is shut.", images=["data:image/png;base64,iVBORw0KGgo="])
    plain = jg.Sample(id="2", output="It is shut for repairs.")
    found = [line for line in jg.plan(panel, [picture, plain]).basis if "images" in line]
    assert [line.partition(":")[0] for line in found] == [
        "embedded sees no images and is not asked about 1 sample with images, where its scores are skipped"
    ]
    assert not [line for line in jg.plan(panel, [picture], without=["images"]).basis if "images" in line]


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


FOUND = {
    "one choice": Support(json_schema=True, logprobs=True, n=False),
    "one choice, no log-probabilities": Support(json_schema=True, logprobs=False, n=False),
    "no schema": Support(json_schema=False, logprobs=True, n=True),
    "nothing": Support(json_schema=False, logprobs=False, n=False),
}


@pytest.mark.parametrize("found", FOUND)
@pytest.mark.parametrize("name", ["sageval", "g-eval, form, labels", "fennec pairs", "llm-score", "coascore"])
@pytest.mark.sampled(3)
def test_what_doctor_found_is_planned_with(name: str, found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("JUDGEGRAPH_CACHE", str(tmp_path))
    judge = Endpoint(model="openai:mine", base_url="http://localhost:1/v1")
    keep(judge, FOUND[found])
    factory, settings, given = GRAPHS[name]
    forecast = jg.plan(factory(judge=judge, **settings), given)
    for node in (*forecast.nodes, forecast.total):
        lowest, readable, highest = node.rest
        assert 0 <= lowest <= readable <= highest, node.node
        ends = (node.cost.lowest.parts, node.cost.middle.parts, node.cost.highest.parts)
        assert all(low <= middle <= high for low, middle, high in zip(*ends, strict=True))


def test_a_judge_known_to_give_one_choice_is_asked_for_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("JUDGEGRAPH_CACHE", str(tmp_path))
    judge = Endpoint(model="openai:mine", base_url="http://localhost:1/v1")
    keep(judge, Support(json_schema=True, logprobs=True, n=False))

    async def ask(state: State) -> State:
        said = await jg.ask(judge, f"What of {state['sample'].output}?")
        got = await replies(judge, f"Why is {state['sample'].output} {said}?", n=3)
        return {"answer": str(len(got))}

    graph = StateGraph(State)
    graph.add_node("ask", ask)
    graph.add_edge(START, "ask")
    graph.add_edge("ask", END)
    forecast = jg.plan(graph.compile(), samples(2))
    assert forecast.total.exact == 2
    assert forecast.total.rest[:2] == (2 * 3, 2 * 3), "none of the three is asked again"


def test_code_of_ones_own_is_named_and_ours_is_not():
    forecast = jg.plan(custom(lambda state: {}), samples(1))
    assert forecast.own_code == ("node 'ask'", "node 'use'")
    assert forecast.basis[0].startswith("Exact as far as 4 kinds of invented replies show: code of your own")
    assert forecast.to_dict()["own_code"] == ["node 'ask'", "node 'use'"]
    for name, (factory, settings, given) in GRAPHS.items():
        assert jg.plan(factory(**settings), given[:1]).own_code == (), name


def looping(goes_on: Any) -> Any:
    async def ask(state: State) -> State:
        return {"answer": state.get("answer", "") + await jg.ask("openai:m", f"After {state.get('answer')}?")}

    graph = StateGraph(State)
    graph.add_node("ask", ask)
    graph.add_edge(START, "ask")
    graph.add_conditional_edges("ask", lambda state: "ask" if goes_on(state["answer"]) else END, ["ask", END])
    return graph.compile(name="loop")


@pytest.mark.long
def test_a_gate_that_looks_at_text_meets_short_answers_too():
    forecast = jg.plan(looping(lambda answer: "Yes" not in answer and len(answer) < 900), samples(40))
    assert forecast.own_code == ("node 'ask'", "what follows 'ask'")
    assert forecast.complete
    assert forecast.total.exact + forecast.total.rest[0] < forecast.total.exact + forecast.total.rest[1]


def test_a_graph_that_asks_on_and_on_is_given_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(play, "MOST", 20)
    forecast = jg.plan(looping(lambda answer: True), samples(50))
    assert (forecast.complete, forecast.samples, forecast.failed) == (False, 1, 1)
    assert "no end was found: it asks more than 20 questions" in str(forecast.mishaps[0])
    assert forecast.basis[0] == "Given up after 1 of the samples; the others were not planned."


def test_mishaps_of_a_kind_are_one_with_a_count():
    def use(state: State) -> State:
        raise RuntimeError(f"of '{state['sample'].id}': {state['answer']!r}")

    forecast = jg.plan(custom(use), samples(30))
    (mishap,) = forecast.mishaps
    assert (mishap.sample, mishap.count, forecast.failed) == ("s0", 30, 30)


def test_a_projection_is_the_mean_with_its_interval_within_the_bounds_of_what_is_left():
    cost = PilotCost(2, {"ok": 2}, 6, 0, 0, None, used=2)
    rows = {TOTAL: [Amount(2, 100, 10, 1.0), Amount(4, 300, 10, 1.0)]}
    bounds = Range(Amount(calls=10), Amount(calls=40), Amount(calls=60))
    found = Pilot(cost, rows, {}).projected(TOTAL, 8, bounds)
    assert found is not None
    half = 1.96 * math.sqrt(2) * math.sqrt(8 * (1 + 8 / 2))  # 17.53 calls
    assert (found.lowest.calls, found.middle.calls, found.highest.calls) == (10, 24, 40)
    assert math.isclose(found.middle.prompt, 1600)
    assert math.isclose(found.highest.prompt - 1600, 100 * half)
    assert (found.lowest.completion, found.highest.completion) == (80, 80)
    again = Pilot(cost, rows, {}, again=True).projected(TOTAL, 8, bounds)
    assert again is not None
    assert math.isclose(again.highest.calls, 24 + half)
    assert Pilot(cost, rows, {}).projected("nobody", 8, bounds) is None


def test_replies_are_as_long_as_the_pilots_were_and_bounds_are_those_of_the_samples_left(tmp_path: Path):
    graph, path = llm_score(), tmp_path / "l.sqlite"
    forecast = jg.plan(graph, samples(5), pilot=2, ledger=path)
    assert forecast.pilot is not None
    each = forecast.pilot.completion_tokens / forecast.pilot.calls
    assert each != 256
    assert math.isclose(forecast.total.cost.lowest.completion, each * 12)
    projected = forecast.total.projected
    assert projected is not None
    assert (projected.lowest.calls, projected.highest.calls) == (12, 12)
    assert forecast.to_dict()["total"]["projected"]["low"]["calls"] == 12


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "settings", "data"),
    [
        (llm_score, {"criteria": "summary"}, "articles"),
        (sageval, {"each": True}, "forms"),
        (sageval, {"critic_calls": "three"}, "forms"),
        (fennec, {"mode": "pair"}, "pairs"),
        (g_eval, {"criteria": "forms"}, "forms"),
    ],
    ids=["llm-score", "sageval each", "sageval three", "fennec pair", "g-eval"],
)
async def test_calls_about_one_sample_share_most_of_their_prompts(method, settings, data):
    given = list(jg.load(Path(__file__).parents[2] / "examples" / f"{data}.jsonl"))[:16]
    graph = method(**settings)
    run = await jg.aevaluate(graph, given)
    counts = run.manifest["calls"]["prefixes"]
    assert counts["sent_before"] >= 0.72 * counts["prompt_tokens"]
    found = await jg.aplan(graph, given)
    assert found.prefix_share is not None
    assert f"{found.prefix_share:.0%} of prompt tokens are in a prefix sent before" in "\n".join(found.basis)
    assert found.to_dict()["prefix_share"] == found.prefix_share


def test_samples_that_a_budget_kept_from_their_end_bind_a_plan_as_they_bind_the_run(tmp_path: Path):
    """They are planned for again, and what the run would refuse (another sample, another graph) the plan refuses."""
    given, graph = samples(4), llm_score(criteria="summary")
    a_sample = jg.evaluate(graph, given[:1]).manifest["calls"]["replies"]
    kept = jg.evaluate(graph, given, out=tmp_path, budget=jg.Budget(calls=2 * a_sample), concurrency=1)
    assert {item.status for item in kept.items} == {"ok", "over_budget"}
    done = sum(item.status == "ok" for item in kept.items)
    plan = jg.plan(graph, given, out=tmp_path)
    assert (plan.finished, plan.samples) == (done, 4 - done)
    changed = [*given[:3], given[3].model_copy(update={"output": "another text"})]
    for does in (jg.plan, jg.evaluate):
        with pytest.raises(DataError, match="is not what it was"):
            does(graph, changed, out=tmp_path)
    refused = tmp_path / "refused"
    jg.evaluate(graph, given[:1], out=refused, budget=jg.Budget(calls=1))
    for does in (jg.plan, jg.evaluate):
        with pytest.raises(ConfigError, match="another configuration"):
            does(llm_score(criteria="dialogue"), given[:1], out=refused)
