"""Any graph as an assistant: a planner calls SAGEval or a metric alike."""

import asyncio
import json

import pytest
from langchain_core.messages import AIMessage
from langgraph.graph import END, START, StateGraph

import judgegraph as jg
from judgegraph.calls.context import CallContext, context
from judgegraph.calls.estimate import acount_calls
from judgegraph.calls.ledger import Ledger
from judgegraph.errors import ConfigError
from judgegraph.graphs import coascore, fennec, fusion_eval, g_eval, llm_score, sageval
from judgegraph.testing import scripted
from judgegraph.tools import assistant, assistants, find
from judgegraph.tools.langchain import as_dict, as_tool
from judgegraph.types import Criterion, EvalState, Sample

SAMPLE = Sample(id="1", query="Why is it shut?", source="The bridge is shut until spring.", output="It is shut.")
PAIR = SAMPLE.model_copy(update={"rival": "Spring is nice."})
ABOUT = "Measures: what a judge thinks of it\nRange: 1 to 5; high is good"
ONE = [Criterion(name="Clarity", definition="It is clear.")]
TWO = [*ONE, Criterion(name="Depth", definition="It is deep.", scale="1-5")]
LABELS = [Criterion(name="Tone", definition="Its tone.", scale=["formal", "plain"])]


def stated(value):
    return json.dumps({"score": value, "reason": "so it is"})


@pytest.mark.parametrize(
    ("judge", "criteria", "criterion", "expected"),
    [
        (scripted(stated(4)), ONE, None, (4.0, "ok")),
        (scripted(stated(4), stated(1)), TWO, None, (2.5, "ok")),
        (scripted(stated(4), stated(1)), TWO, "Depth", (1.0, "ok")),
        (scripted(stated(4), stated(1)), TWO, "Breadth", (None, "skipped")),
        (scripted(json.dumps({"label": "plain", "reason": "r"})), LABELS, None, ("plain", "ok")),
        (scripted("I will not say."), ONE, None, (None, "refused")),
    ],
    ids=["its score", "the mean", "one of two", "none of them", "a label", "a refusal"],
)
async def test_the_finding_is_the_graphs_answer_or_why_there_is_none(judge, criteria, criterion, expected):
    judge.script.extend(judge.script[-1:] * 5)  # an unreadable reply is asked for again
    graph = llm_score(judge=judge, criteria=criteria)
    finding = await find(jg.as_assistant(graph, name="sub", about=ABOUT, criterion=criterion), SAMPLE)
    assert (finding.assistant, finding.value, finding.status) == ("sub", *expected)


async def test_its_value_is_what_the_graph_alone_would_say():
    alone = await g_eval(criteria="general").ainvoke({"sample": SAMPLE})
    finals = {s.criterion: s.value for s in alone["scores"].values() if s.value is not None}
    name = next(iter(finals))
    one = jg.as_assistant(g_eval(criteria="general"), about=ABOUT, criterion=name)
    assert (await find(one, SAMPLE)).value == finals[name]
    pair = await fennec().ainvoke({"sample": PAIR})
    told = await find(jg.as_assistant(fennec(), about=ABOUT), PAIR)
    assert told.value == (pair["overall"] if pair["overall"] is not None else pair["verdict"])


async def test_a_mean_of_several_scales_is_none():
    mixed = [*ONE, Criterion(name="Share", definition="How much.", scale="0-100")]
    finding = await find(
        jg.as_assistant(llm_score(judge=scripted(stated(4), stated(70)), criteria=mixed), about="x"), SAMPLE
    )
    assert (finding.value, finding.status) == (None, "skipped")
    assert "name one criterion" in finding.reason


async def test_its_own_budget_ends_it_and_not_the_sample():
    sub = jg.as_assistant(llm_score(criteria=TWO), name="sub", about=ABOUT, budget=jg.Budget(calls=1))
    graph = fusion_eval(criteria=ONE, assistants=["novelty", sub], consult="all", plan=False)
    run = await jg.aevaluate(graph, [SAMPLE, SAMPLE.model_copy(update={"id": "2"})])
    for item in run.items:
        found = {f.assistant: f for f in item.findings}
        assert item.status == "ok"
        assert found["novelty"].status == "ok"
        assert found["sub"].status == "ok"
        assert "over_budget" in found["sub"].reason  # of one of its two calls, in every sample
        assert item.overall is not None


async def test_a_budget_is_kept_call_by_call_and_counts_in_the_runs_own():
    calls = CallContext()
    before = context.set(calls)
    try:
        for cap, asked in ((1, 1), (5, 2)):
            judge = scripted(*[stated(3)] * 4)
            sub = jg.as_assistant(llm_score(judge=judge, criteria=TWO), about=ABOUT, budget=jg.Budget(calls=cap))
            assert (await find(sub, SAMPLE)).value == 3.0
            assert len(judge.calls) == asked
        assert calls.purse.spent.calls == 3
    finally:
        context.reset(before)


async def test_with_no_room_for_any_call_the_finding_says_over_budget():
    judge = scripted(*[stated(3)] * 4)
    sub = jg.as_assistant(llm_score(judge=judge, criteria=ONE), about=ABOUT, budget=jg.Budget(tokens=1))
    run = await jg.aevaluate(fusion_eval(criteria=ONE, assistants=[sub], plan=False), [SAMPLE])
    (item,) = run.items
    assert [f.status for f in item.findings] == ["over_budget"]
    assert "budget of 1 tokens" in item.findings[0].reason
    assert (item.status, judge.calls) == ("ok", [])


def of(*nodes):
    """A graph of nodes in a row."""
    graph, before = StateGraph(EvalState), START
    for number, node in enumerate(nodes):
        graph.add_node(f"n{number}", node)
        graph.add_edge(before, before := f"n{number}")
    graph.add_edge(before, END)
    return graph.compile()


@pytest.mark.parametrize(("outer", "inner"), [(3, 9), (9, 3), (9, 9)])
@pytest.mark.parametrize("in_a_run", [True, False])
async def test_an_assistant_inside_an_assistant_counts_in_both_budgets(outer, inner, in_a_run):
    judge = scripted(*[stated(3)] * 9)
    four = [Criterion(name=f"Side {n}", definition=f"Side {n}.", scale="1-5") for n in range(4)]
    deep = jg.as_assistant(llm_score(judge=judge, criteria=four), about=ABOUT, budget=jg.Budget(calls=inner))
    graph = of(llm_score(judge=judge, criteria=ONE), jg.metric_node(deep))
    sub = jg.as_assistant(graph, name="sub", about=ABOUT, budget=jg.Budget(calls=outer))
    before = context.set(CallContext(ledger=Ledger()) if in_a_run else None)
    try:
        await find(sub, SAMPLE)
    finally:
        context.reset(before)
    assert len(judge.calls) == min(outer, 1 + min(inner, 4))


@pytest.fixture
def prices(tmp_path):
    path = tmp_path / "prices.yaml"
    path.write_text('prices:\n  "*": {prompt: 1, completion: 1}\n')
    return path


@pytest.mark.parametrize("caps", [{"calls": 1}, {"tokens": 700}, {"usd": 0.0007}], ids=str)
async def test_its_finding_is_the_same_whoever_paid_for_its_calls(tmp_path, prices, caps):
    """Alone, beside a node that asks the same, in runs over one ledger, and without a run."""

    def judge():
        return scripted(*[stated(2)] * 9)

    def sub():
        return jg.as_assistant(llm_score(judge=judge(), criteria=TWO), about=ABOUT, budget=jg.Budget(**caps))

    ledger, found = tmp_path / "ledger.sqlite", []
    for neighbour, kept in ((False, None), (True, None), (False, ledger), (True, ledger), (False, ledger)):
        nodes = [llm_score(judge=judge(), criteria=TWO)] if neighbour else []
        run = await jg.aevaluate(of(*nodes, jg.metric_node(sub())), [SAMPLE], ledger=kept, prices=prices)
        found += [finding for item in run.items for finding in item.findings]
    if "usd" not in caps:  # where no price file is at hand
        found.append(await find(sub(), SAMPLE))
    assert {(f.value, f.reason) for f in found} == {(2.0, "Clarity 2, Depth over_budget")}


@pytest.mark.parametrize("caps", [{"calls": 1}, {"calls": 3}, {"calls": 9}, {"tokens": 1400}], ids=str)
@pytest.mark.sampled(2)
async def test_plan_and_check_keep_its_budget(caps):
    sub = jg.as_assistant(sageval(criteria=TWO, each=True), about=ABOUT, budget=jg.Budget(**caps))
    graph = of(jg.metric_node(sub))
    samples = [SAMPLE, SAMPLE.model_copy(update={"id": "2", "output": "Spring is nice."})]
    planned = (await jg.aplan(graph, samples)).total
    counted = (await acount_calls(graph)).plain[0]
    least, most = (int(n) for n in (counted.split(" to ") * 2)[:2])
    made = (await jg.aevaluate(graph, samples)).manifest["calls"]["replies"]
    assert planned.exact + planned.rest[0] <= made <= planned.exact + planned.rest[-1]
    assert 2 * least <= made <= 2 * most
    if "calls" in caps:
        each = min(3, caps["calls"])
        assert (made, counted) == (2 * each, str(each))
        assert planned.exact + planned.rest[1] <= 2 * caps["calls"]  # where every reply can be read
    else:
        assert (least, most) == (1, 3)  # by what replies take


async def test_a_plan_of_a_budget_in_usd_takes_the_prices_it_is_given(prices):
    sub = jg.as_assistant(llm_score(judge=scripted(), criteria=ONE), about=ABOUT, budget=jg.Budget(usd=1))
    graph = of(jg.metric_node(sub))
    assert (await jg.aplan(graph, [SAMPLE], prices=prices)).total.exact == 1
    with pytest.raises(ConfigError, match="its price is not known"):
        await jg.aplan(graph, [SAMPLE])
    assert (await acount_calls(graph)).plain[0] == "1"  # a count needs no price


def calls(*names):
    return AIMessage("", tool_calls=[{"name": n, "args": {}, "id": f"id-{n}"} for n in names])


async def test_a_planner_calls_sageval_coascore_and_a_metric_alike():
    subs = [
        jg.as_assistant(sageval(criteria=ONE), name="sage-review", about=ABOUT),
        jg.as_assistant(coascore(criteria=ONE, aspects=2), name="aspects", about=ABOUT),
    ]
    names = ["rouge-l", "sage-review", "aspects"]
    judge = scripted(calls(*names[:2]), calls(names[2]))
    graph = fusion_eval(criteria=ONE, assistants=["rouge-l", *subs], plan=False, consult="tools", planner_judge=judge)
    final = await graph.ainvoke({"sample": SAMPLE})
    assert list(final["findings"]) == names
    assert all(f.status == "ok" for f in final["findings"].values())
    assert {s.agent for s in final["scores"].values()} == {"fusion-judge"}  # what they wrote goes no further
    told = [m.content for m in judge.calls[1] if m.type == "tool"]
    assert [t.partition(":")[0] for t in told] == names[:2]


async def test_as_a_tool_it_is_awaited_and_carries_its_finding():
    sub = jg.as_assistant(llm_score(judge=scripted(stated(4)), criteria=ONE), name="sub", about=ABOUT)
    assert as_dict(sub)["function"]["name"] == "sub"
    call = {"type": "tool_call", "name": "sub", "id": "1", "args": {"sample": SAMPLE}}
    message = await as_tool(sub).ainvoke(call)
    assert (message.content, message.artifact.value) == ("sub: 4", 4.0)


async def test_plan_sees_its_calls_and_a_run_makes_them():
    sub = jg.as_assistant(llm_score(criteria=TWO), name="sub", about=ABOUT)
    graph = fusion_eval(criteria=ONE, assistants=[sub], plan=False)
    planned = await jg.aplan(graph, [SAMPLE])
    run = await jg.aevaluate(graph, [SAMPLE])
    assert planned.total.exact + planned.total.rest[0] == run.manifest["calls"]["replies"] == 3


async def test_it_stands_in_a_graph_with_a_checkpointer():
    from langgraph.checkpoint.memory import InMemorySaver

    subs = [jg.as_assistant(llm_score(criteria=ONE), name=n, about=ABOUT) for n in ("a", "b")]
    graph = fusion_eval(criteria=ONE, assistants=subs, plan=False).builder.compile(
        checkpointer=InMemorySaver(serde=jg.serializer())
    )
    final = await graph.ainvoke({"sample": SAMPLE}, {"configurable": {"thread_id": "1"}})
    assert {f.status for f in final["findings"].values()} == {"ok"}


def test_another_judge_in_it_is_another_configuration():
    from judgegraph.runs.identity import configuration

    def table(judge):
        sub = jg.as_assistant(llm_score(judge=judge, criteria=ONE), name="sub", about=ABOUT)
        return configuration(fusion_eval(assistants=[sub]))

    assert table("embedded") == table("embedded") != table("openai:m")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"graph": "sageval", "about": "x"}, "expected a compiled LangGraph or a StateGraph, got str"),
        ({"graph": llm_score(), "about": " "}, "about: say what it measures"),
        ({"graph": llm_score(), "about": "x", "budget": 5}, "expected none or a Budget, got 5"),
    ],
)
def test_what_is_no_assistant_is_refused(given, said):
    with pytest.raises(ConfigError, match=said):
        jg.as_assistant(**given)


def test_two_of_one_name_and_a_name_no_tool_can_have_are_refused():
    subs = [jg.as_assistant(llm_score(), about="x")] * 2
    with pytest.raises(ConfigError, match="two assistants are called 'llm-score'"):
        assistants(subs)
    with pytest.raises(ConfigError, match="a name is 1 to 64 letters"):
        assistant(jg.as_assistant(llm_score(), about="x", name="two words"))


async def test_an_async_assistant_may_give_a_number_and_a_failure_is_said():
    class Sleeps:
        name, about = "sleeps", "x"

        async def __call__(self, sample):
            await asyncio.sleep(0)
            return 0.5

    class Breaks(Sleeps):
        async def __call__(self, sample):
            raise ValueError("no")

    assert (await find(Sleeps(), SAMPLE)).value == 0.5
    assert (await find(Breaks(), SAMPLE)).status == "agent_error"


def test_a_criterion_that_is_nearly_spelt_as_one_of_the_graph_is_refused_when_the_assistant_is_made():
    with pytest.raises(ConfigError, match="no 'Fluencyy' in the graph: did you mean 'Fluency'"):
        jg.as_assistant(g_eval(criteria="summary"), about="Fluency, 1 to 5", criterion="Fluencyy")
