"""The budget: reserved before a call, settled by its reply; what passes a cap is bounded by the calls under way."""

import asyncio
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage

from judgegraph.calls.budget import Budget, BudgetTracker, OverBudget
from judgegraph.calls.ledger import Ledger, Paid
from judgegraph.calls.types import Call
from judgegraph.errors import ConfigError
from judgegraph.models.judges import Endpoint, Judge
from judgegraph.models.prices import Price, Prices
from judgegraph.testing import scripted

JUDGE = Judge("openai:m", scripted(), Endpoint(model="openai:m", base_url="http://localhost:1/v1"), speaks_openai=True)
PRICES = Prices({"openai:m": Price(1.0, 10.0)}, {}, "")


def call(characters=40, n=1, form="rating", **given):
    return Call((HumanMessage("x" * characters),), form=form, n=n, settings=given)


def purse(**caps):
    return BudgetTracker(Budget(**caps) if caps else None, prices=PRICES)


@pytest.mark.parametrize(
    ("caps", "said"),
    [
        ({}, "a budget needs a cap"),
        ({"calls": 0}, "calls is a whole number above 0, got 0"),
        ({"calls": 1.5}, "calls is a whole number above 0, got 1.5"),
        ({"tokens": -1}, "tokens is a whole number above 0, got -1"),
        ({"tokens": True}, "got True"),
        ({"usd": 0.0}, "usd is a finite number above 0, got 0.0"),
        ({"usd": math.inf}, "got inf"),
        ({"usd": math.nan}, "got nan"),
        ({"usd": "5"}, "got '5'"),
    ],
)
def test_a_cap_is_a_number_above_zero(caps, said):
    with pytest.raises(ConfigError, match=said):
        Budget(**caps)


def test_without_a_budget_everything_is_booked_and_nothing_refused():
    own = purse()
    for _ in range(3):
        own.reserve(JUDGE, call()).settle(1000, 100)
    assert (own.spent.calls, own.spent.tokens, own.spent.estimated, own.spent.unpriced) == (3, 3300, 0, 0)
    assert own.spent.usd == pytest.approx(3 * (1000 * 1 + 100 * 10) / 1e6)


@pytest.mark.parametrize(
    ("caps", "said"),
    [
        ({"calls": 2}, "the budget of 2 calls leaves no room: 1 spent, 1 set aside for calls under way, 1 needed"),
        ({"tokens": 1400}, "the budget of 1,400 tokens leaves no room: 1,100 spent, 114 set aside"),
        ({"usd": 0.0031}, "the budget of 0.0031 USD leaves no room: 0.002 USD spent, 0.001014 USD set aside"),
    ],
)
def test_a_call_that_may_pass_a_cap_is_refused_and_the_cap_named(caps, said):
    own = purse(**caps)
    own.reserve(JUDGE, call()).settle(1000, 100)
    own.reserve(JUDGE, call(form="other", max_tokens=100))
    with pytest.raises(OverBudget, match=said) as refused:
        own.reserve(JUDGE, call(characters=4000, form="third", max_tokens=200))
    assert refused.value.status == "over_budget"


def test_after_a_refusal_what_is_smaller_still_fits():
    own = purse(tokens=300)
    with pytest.raises(OverBudget):
        own.reserve(JUDGE, call(max_tokens=400))
    own.reserve(JUDGE, call(max_tokens=200))


def test_a_call_that_failed_gives_its_share_back():
    own = purse(calls=1)
    own.reserve(JUDGE, call()).release()
    share = own.reserve(JUDGE, call())
    share.settle(1, 1)
    share.release()
    assert own.spent.calls == 1
    with pytest.raises(OverBudget):
        own.reserve(JUDGE, call())


def test_a_reply_is_reserved_as_long_as_it_may_be_else_as_others_like_it_were():
    own = purse()
    assert own.reserve(JUDGE, call(n=2, max_tokens=50)).completion == 100
    assert own.reserve(JUDGE, call(n=2, max_completion_tokens=60)).completion == 120
    first = own.reserve(JUDGE, call(n=2))
    assert first.completion == 2 * 256
    first.settle(14, 40)
    own.reserve(JUDGE, call()).settle(14, 50)
    assert own.reserve(JUDGE, call(n=3)).completion == 90
    assert own.reserve(JUDGE, call(form="critique")).completion == 256


def test_a_prompt_is_reserved_by_its_length_and_by_what_replies_said_of_others_like_it():
    own = purse()
    first = own.reserve(JUDGE, call(characters=400))
    assert first.prompt == 104
    first.settle(312, 10)
    assert own.reserve(JUDGE, call(characters=400)).prompt == 312
    assert own.reserve(JUDGE, call(characters=400, form="critique")).prompt == 104
    own.reserve(JUDGE, call(characters=400, form="critique")).settle(10, 10)
    assert own.reserve(JUDGE, call(characters=400, form="critique")).prompt == 104


def test_usage_that_is_not_told_is_booked_by_estimate_and_marked():
    own = purse()
    share = own.reserve(JUDGE, call(max_tokens=50))
    estimated = share.prompt + share.completion
    usd = share.settle(0, 0)
    assert (own.spent.tokens, own.spent.estimated) == (estimated, 1)
    assert usd == own.spent.usd > 0
    own.reserve(JUDGE, call()).settle(-500, 20)
    assert own.spent.completion_tokens == 50 + 20
    assert (own.spent.tokens, own.spent.estimated) == (estimated + 20, 1)


def test_a_judge_without_a_price_ends_a_run_with_a_cap_in_usd_before_it_is_asked():
    own = BudgetTracker(Budget(usd=5), prices=Prices({}, {}, ""))
    with pytest.raises(ConfigError, match="judge openai:m: its price is not known") as refused:
        own.reserve(JUDGE, call())
    assert '{"prices": {"openai:m@localhost:1/v1": {"prompt": ...' in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_judge_without_a_price_is_counted_as_such_where_no_cap_needs_it():
    own = BudgetTracker(Budget(tokens=10_000), prices=Prices({}, {}, ""))
    assert own.reserve(JUDGE, call()).settle(10, 5) is None
    assert (own.spent.unpriced, own.spent.usd) == (1, 0.0)


async def test_a_resumed_run_counts_what_it_paid_for_earlier():
    ledger = Ledger(run="r1")

    async def pay():
        return Paid(b"[]", "openai:m", 700, 200, 0.5)

    await ledger.answer(b"1" * 16, pay)
    own = purse(tokens=1000, usd=5)
    own.resume(*ledger.spent())
    ledger.close()
    assert (own.spent.calls, own.spent.tokens, own.spent.usd, own.spent.unpriced) == (1, 900, 0.5, 0)
    with pytest.raises(OverBudget, match="900 spent"):
        own.reserve(JUDGE, call())


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["reserve", "settle", "release"]),
        st.integers(0, 400),  # characters of a prompt, or its real tokens
        st.integers(0, 300),  # tokens a reply may have, or has; 0: no limit, or none told
        st.integers(1, 3),
    ),
    max_size=60,
)


@settings(max_examples=200)
@given(
    STEPS,
    st.one_of(st.none(), st.integers(1, 8)),
    st.one_of(st.none(), st.integers(1, 3000)),
    st.one_of(st.none(), st.floats(1e-6, 0.02)),
)
def test_a_cap_is_passed_at_most_by_what_calls_took_beyond_their_estimates(steps, calls, tokens, usd):
    caps = {name: cap for name, cap in (("calls", calls), ("tokens", tokens), ("usd", usd)) if cap is not None}
    own, underway = purse(**caps), []
    sizes = {}  # share -> tokens and USD as they were estimated
    tokens_beyond = usd_beyond = 0.0
    for step, one, two, n in [*steps, *[("settle", 300, 300, 1)] * len(steps)]:
        if step == "reserve":
            try:
                share = own.reserve(JUDGE, call(one, n, **({"max_tokens": two} if two else {})))
            except OverBudget:
                continue
            underway.append(share)
            sizes[id(share)] = share.prompt + share.completion, share.usd
            tokens_held, usd_held = map(sum, zip(*(sizes[id(s)] for s in underway), strict=True))
            assert own.spent.calls + len(underway) <= caps.get("calls", math.inf)
            assert own.spent.tokens + tokens_held <= caps.get("tokens", math.inf)
            assert own.spent.usd + usd_held <= caps.get("usd", math.inf) * (1 + 1e-6)
        elif underway:
            share = underway.pop(one % len(underway))
            if step == "release":
                share.release()
                continue
            booked = own.spent.tokens, own.spent.usd
            share.settle(one, two)
            guess = sizes[id(share)]
            tokens_beyond += max(0, own.spent.tokens - booked[0] - guess[0])
            usd_beyond += max(0.0, own.spent.usd - booked[1] - guess[1])
    assert own.spent.calls <= caps.get("calls", math.inf)
    assert own.spent.tokens <= caps.get("tokens", math.inf) + tokens_beyond
    assert own.spent.usd <= caps.get("usd", math.inf) * (1 + 1e-6) + usd_beyond + 1e-12


async def test_a_call_that_fits_but_for_what_is_set_aside_waits_and_is_made():
    own = purse(tokens=400)
    first = own.reserve(JUDGE, call())
    waiting = asyncio.create_task(own.reserve_later(JUDGE, call()))
    await asyncio.sleep(0)
    assert not waiting.done()
    first.settle(10, 5)
    assert (await asyncio.wait_for(waiting, 5)).prompt > 0


async def test_a_call_for_which_no_room_was_left_is_refused_when_the_last_one_under_way_has_ended():
    own = purse(tokens=400)
    first = own.reserve(JUDGE, call())
    waiting = asyncio.create_task(own.reserve_later(JUDGE, call()))
    await asyncio.sleep(0)
    first.settle(300, 99)
    with pytest.raises(OverBudget, match="399 spent"):
        await asyncio.wait_for(waiting, 5)


async def test_one_that_waits_may_be_cancelled():
    own = purse(tokens=400)
    first = own.reserve(JUDGE, call())
    waiting = asyncio.create_task(own.reserve_later(JUDGE, call()))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    first.settle(10, 5)
    assert own.reserve(JUDGE, call()).prompt > 0


@pytest.mark.parametrize("spent", [0.1 + 0.2, 0.3])
def test_whether_a_call_may_fit_later_is_told_with_the_same_hair_as_whether_it_fits(spent):
    wanted = purse().reserve(JUDGE, call()).usd
    own = purse(usd=0.3 + wanted)
    own.spent.usd, own.spent.calls = spent, 1
    own.reserve(JUDGE, call())
    with pytest.raises(OverBudget) as refused:
        own.reserve(JUDGE, call())
    assert refused.value.later
