"""A budget is a hard stop: with 64 calls in flight, at most those in flight pass it."""

import asyncio

import pytest

from judgegraph.calls import ask
from judgegraph.calls.budget import Budget, OverBudget, Purse
from judgegraph.calls.context import CallContext, context
from judgegraph.calls.ledger import Ledger
from judgegraph.errors import ConfigError, ReplyError
from judgegraph.models.prices import Price, Prices

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
    site, purse, cap = server("slow=0.02"), Purse(Budget(tokens=3000)), 3000
    done, refused = await spend(site.judge(), purse, max_tokens=3)  # estimated at half of what is told
    assert refused > 0
    assert site.count == done == purse.spent.calls
    assert purse.spent.tokens == done * REAL
    assert cap - WIDTH * REAL <= purse.spent.tokens <= cap + WIDTH * REAL


async def test_calls_never_pass_their_cap(server):
    site = server("slow=0.02")
    done, refused = await spend(site.judge(), Purse(Budget(calls=100)), count=200)
    assert (done, refused, site.count) == (100, 100, 100)


async def test_money_never_passes_its_cap_where_estimates_hold(server):
    site, cap = server("slow=0.02"), 0.02
    purse = Purse(Budget(usd=cap), prices=Prices({"openai:stub": Price(1.0, 20.0)}, {}, ""))
    done, refused = await spend(site.judge(), purse, prompt="a prompt of forty characters or so, here", max_tokens=5)
    assert refused > 0
    assert site.count == done
    assert purse.spent.usd == pytest.approx(done * (10 * 1 + 5 * 20) / 1e6)
    assert 0.8 * cap < purse.spent.usd <= cap


async def test_a_call_with_its_retries_is_one_call_and_a_failed_one_none(server, no_backoff):
    site, purse = server("500,500,ok"), Purse(Budget(calls=1))
    assert await spend(site.judge(), purse, count=1) == (1, 0)
    assert (site.count, purse.spent.calls) == (3, 1)
    lost, purse = server("500"), Purse(Budget(calls=1))
    with pytest.raises(ReplyError, match="500"):
        await spend(lost.judge(), purse, count=1)
    assert purse.spent.calls == 0


async def test_usage_that_a_server_does_not_tell_is_counted_by_estimate(server):
    site, purse = server("no-usage"), Purse(Budget(tokens=1000))
    done, refused = await spend(site.judge(), purse, prompt="a prompt of forty characters or so, here", max_tokens=86)
    assert (done, refused, site.count) == (10, 390, 10)
    assert (purse.spent.estimated, purse.spent.completion_tokens) == (10, 860)


async def test_without_a_price_nothing_is_sent_under_a_cap_in_usd(server):
    site = server("ok")
    with pytest.raises(ConfigError, match="its price is not known"):
        await spend(site.judge(), Purse(Budget(usd=1.0)), count=1)
    assert site.count == 0


async def test_what_the_ledger_answers_takes_nothing_of_the_budget(server):
    site, purse, ledger = server("ok"), Purse(Budget(calls=1)), Ledger()
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
