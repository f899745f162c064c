"""A budget is a hard stop: with 64 calls in flight, at most those in flight pass it."""

import asyncio
import time
from contextlib import closing

import pytest
from click.testing import CliRunner
from langgraph.graph import END, START, StateGraph

import judgegraph as jg
from judgegraph.calls import Endpoint, ask
from judgegraph.calls.budget import Budget, BudgetTracker, OverBudget
from judgegraph.calls.context import CallContext, context
from judgegraph.calls.ledger import Ledger
from judgegraph.cli import main
from judgegraph.errors import ConfigError, ReplyError
from judgegraph.graphs import g_eval, llm_score
from judgegraph.models.prices import Price, Prices
from judgegraph.report.page import facts
from judgegraph.types import EvalState
from judgegraph.views.run import Pace, costs, details

pytestmark = pytest.mark.slow

WIDTH, REAL = 64, 15  # in flight; tokens that a reply of our server says it took


async def spend(judge, purse, count=400, prompt="q", **settings):
    """(answered, refused) of `count` different calls, 64 at a time."""
    ledger = Ledger()
    token = context.set(CallContext(purse=purse, ledger=ledger))
    gate = asyncio.Semaphore(WIDTH)

    async def one(number):
        async with gate:
            try:
                await ask(judge, f"{prompt} {number}", **settings)
            except OverBudget:
                return False
        return True

    try:
        done = await asyncio.gather(*(one(number) for number in range(count)))
    finally:
        context.reset(token)
        ledger.close()
    return sum(done), count - sum(done)


async def test_tokens_pass_their_cap_at_most_by_the_calls_in_flight(server):
    site, purse, cap = server("slow=0.02"), BudgetTracker(Budget(tokens=3000)), 3000
    done, refused = await spend(site.judge(), purse, max_tokens=3)  # estimated at half of what is told
    assert refused > 0
    assert site.count == done == purse.spent.calls
    assert purse.spent.tokens == done * REAL
    assert cap - WIDTH * REAL <= purse.spent.tokens <= cap + WIDTH * REAL


async def test_calls_never_pass_their_cap(server):
    site = server("slow=0.02")
    done, refused = await spend(site.judge(), BudgetTracker(Budget(calls=100)), count=200)
    assert (done, refused, site.count) == (100, 100, 100)


async def test_money_never_passes_its_cap_where_estimates_hold(server):
    site, cap = server("slow=0.02"), 0.02
    purse = BudgetTracker(Budget(usd=cap), prices=Prices({"openai:stub": Price(1.0, 20.0)}, {}, ""))
    done, refused = await spend(site.judge(), purse, prompt="a prompt of forty characters or so, here", max_tokens=5)
    assert refused > 0
    assert site.count == done
    assert purse.spent.usd == pytest.approx(done * (10 * 1 + 5 * 20) / 1e6)
    assert 0.8 * cap < purse.spent.usd <= cap


@pytest.mark.parametrize(
    ("script", "booked"),
    [
        ("hang", "estimate"), ("reset", "estimate"), ("500", "estimate"), ("truncated", "estimate"),
        ("plain-200", "estimate"), ("empty", "usage"), ("429=0", "nothing"), ("408", "nothing"),
    ],
)  # fmt: skip
async def test_whatever_comes_back_no_more_requests_are_sent_than_the_budget_has(server, no_backoff, script, booked):
    site, purse = server(script), BudgetTracker(Budget(calls=3))
    judge = site.judge(timeout=0.5, attempts=5, max_tokens=50, patience=0)
    assert await spend(judge, purse, count=20) == (0, 20)
    assert site.count == purse.spent.requests == purse.spent.unanswered == 3
    assert (purse.spent.calls, purse.spent.estimated) == (0, 3 if booked == "estimate" else 0)
    assert purse.spent.completion_tokens == 3 * {"estimate": 50, "usage": 5, "nothing": 0}[booked]


async def test_each_retry_is_a_request_of_its_own(server, no_backoff):
    site, purse = server("500,500,ok"), BudgetTracker(Budget(calls=3))
    assert await spend(site.judge(), purse, count=1) == (1, 0)
    assert (site.count, purse.spent.calls, purse.spent.unanswered) == (3, 1, 2)
    site, purse = server("500,500,ok"), BudgetTracker(Budget(calls=2))
    assert await spend(site.judge(), purse, count=1) == (0, 1)
    assert site.count == 2


async def test_a_refused_request_takes_no_tokens_of_the_budget(server, no_backoff):
    site, purse = server("429=0,429=0,ok"), BudgetTracker(Budget(tokens=400))
    assert await spend(site.judge(), purse, count=1, max_tokens=300) == (1, 0)
    assert (site.count, purse.spent.tokens) == (3, REAL)


async def test_a_request_that_no_server_received_takes_nothing(unused_port):
    purse = BudgetTracker(Budget(calls=2))
    judge = Endpoint(model="openai:m", base_url=f"http://127.0.0.1:{unused_port}/v1", patience=0, attempts=2)
    for _ in range(3):
        with pytest.raises(ReplyError, match="cannot connect to "):
            await spend(judge, purse, count=1)
    assert (purse.spent.requests, purse.spent.tokens) == (0, 0)


async def test_a_call_that_is_cancelled_stays_booked(server):
    site, purse = server("hang"), BudgetTracker(Budget(calls=3))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await spend(site.judge(), purse, count=20, max_tokens=50)
    assert site.count == purse.spent.requests == 3
    assert purse.spent.completion_tokens == 150


def test_a_run_and_its_next_process_together_keep_to_the_budget(server, tmp_path):
    site, out = server("hang,hang,500,ok"), tmp_path / "run"
    graph = llm_score(site.judge(timeout=0.4, attempts=1), criteria=[jg.Criterion(name="Clarity")])
    samples = [jg.Sample(id=str(n), output=f"text {n}") for n in range(20)]
    for cap in (3, 5, 5):
        run = jg.evaluate(graph, samples, out=out, budget=Budget(calls=cap), concurrency=2)
        assert site.count == cap
        assert run.manifest["state"] == "over_budget"
    spent = run.manifest["spent"]
    assert (spent["calls"], spent["unanswered"]) == (2, 3)
    with closing(Ledger(out / "ledger.sqlite", run.manifest["run"])) as ledger:  # also where no manifest was written
        assert ledger.spent() == tuple(spent.values())


@pytest.mark.parametrize(("script", "cap"), [("hang", 3), ("429=60", 40)])
def test_a_sample_ends_in_time_while_one_of_its_calls_hangs_and_others_wait_for_the_budget(server, script, cap):
    site = server(script)
    judge = site.judge(timeout=20.0, attempts=2)

    async def many(state: EvalState) -> EvalState:
        await asyncio.gather(*(ask(judge, f"{state['sample'].id} {n}") for n in range(5)))
        return {}

    graph = StateGraph(EvalState).add_node("many", many).add_edge(START, "many").add_edge("many", END).compile()
    samples, start = [jg.Sample(id=str(n), output="text") for n in range(2)], time.monotonic()
    run = jg.evaluate(graph, samples, timeout=1.0, budget=Budget(calls=cap), check=False)
    assert time.monotonic() - start < 8
    assert {item.status for item in run.items} <= {"timeout", "over_budget"}
    assert site.count <= cap
    told = [item.reason for item in run.items if item.status == "timeout"]
    assert told
    assert all(("longer than a sample may take" in why) == (script != "hang") for why in told)


@pytest.mark.parametrize("script", ["500,empty,ok", "ok"])
def test_progress_end_and_page_tell_the_same_numbers(server, tmp_path, no_backoff, script):
    graph, told = llm_score(server(script).judge(attempts=5), criteria=[jg.Criterion(name="Clarity")]), []
    for count in (3, 5):
        samples = [jg.Sample(id=str(n), output=f"text {n}") for n in range(count)]
        run = jg.evaluate(graph, samples, out=tmp_path / "run", on_progress=told.append, concurrency=1)
    lost = 2 if script != "ok" else 0
    now = told[-1]
    said = [one.partition(" (estimated")[0] for one in costs(run.manifest) if one != "price unknown"]
    assert (now.calls, now.unanswered) == (5, lost)
    assert said[0] == "5 calls"
    told_at_end = [one.removesuffix(" (2 now)") for one in details(now, 5, Pace(), ended=True)]
    shared = [one for one in said if one.endswith("in a prefix sent before")]
    assert len(shared) == 1
    assert told_at_end[1 : len(said)] == [one for one in said if one not in shared]
    page = dict(facts(run, run.summary(), 0))
    assert page["Model calls"] == "5 paid" + ", 2 requests without a reply of use" * (lost > 0)
    assert page["Tokens"] == f"{now.prompt_tokens:,} in, {now.completion_tokens:,} out"


@pytest.mark.parametrize(("script", "cap"), [("no-n", 4), ("one-choice", 2)])
def test_a_mean_of_samples_that_a_budget_cuts_short_has_the_budgets_status(server, script, cap):
    graph = g_eval(server(script).judge(), criteria=[jg.Criterion(name="Clarity")], samples=8, logprobs=False)
    (item,) = jg.evaluate(graph, [jg.Sample(id="a", output="text")], budget=Budget(calls=cap)).items
    (score,) = item.scores
    assert (item.status, score.status) == ("over_budget", "over_budget")
    assert f"of 8 replies could be read, fewer than half: the budget of {cap} calls leaves no room" in score.reason


async def test_the_budget_of_an_assistant_is_a_hard_stop_too(server, no_backoff):
    site = server("500")
    graph = llm_score(site.judge(attempts=5), criteria=[jg.Criterion(name="Clarity")])
    assistant = jg.as_assistant(graph, about="From 1 to 5; high is good", budget=jg.Budget(calls=2))
    finding = await assistant(jg.Sample(id="a", output="text"))
    assert (site.count, finding.status) == (2, "over_budget")


async def test_usage_that_a_server_does_not_tell_is_counted_by_estimate(server):
    site, purse = server("no-usage"), BudgetTracker(Budget(tokens=1000))
    done, refused = await spend(site.judge(), purse, prompt="a prompt of forty characters or so, here", max_tokens=86)
    assert (done, refused, site.count) == (10, 390, 10)
    assert (purse.spent.estimated, purse.spent.completion_tokens) == (10, 860)


async def test_without_a_price_nothing_is_sent_under_a_cap_in_usd(server):
    site = server("ok")
    with pytest.raises(ConfigError, match="its price is not known"):
        await spend(site.judge(), BudgetTracker(Budget(usd=1.0)), count=1)
    assert site.count == 0


async def test_what_the_ledger_answers_takes_nothing_of_the_budget(server):
    site, purse, ledger = server("ok"), BudgetTracker(Budget(calls=1)), Ledger()
    token = context.set(CallContext(purse=purse, ledger=ledger))
    try:
        for _ in range(3):
            await ask(site.judge(), "the same")
        with pytest.raises(OverBudget, match="1 spent"):
            await ask(site.judge(), "another")
    finally:
        context.reset(token)
        ledger.close()
    assert (site.count, purse.spent.calls) == (1, 1)


def test_a_budget_in_usd_without_a_price_is_a_wrong_usage_told_before_a_folder_is_made(server, tmp_path):
    data, out = tmp_path / "a.jsonl", tmp_path / "run"
    data.write_text('{"id": "a", "output": "a text of several words"}\n')
    command = ["run", "llm-score", str(data), "-j", "openai:of-nobody", "--base-url", server("ok").url, "-o", str(out)]
    done = CliRunner().invoke(main, [*command, "--budget-usd", "1"])
    assert (done.exit_code, out.exists()) == (2, False)
    assert "its price is not known" in done.output
