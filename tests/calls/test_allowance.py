"""What a part of the work may ask: counted the same whoever pays, also by the parts around it."""

import asyncio
import itertools

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from judgegraph.calls.budget import Budget, BudgetTracker, OverPartBudget, PartBudget, part_budget
from judgegraph.calls.call import send
from judgegraph.calls.context import CallContext, context
from judgegraph.calls.ledger import Ledger
from judgegraph.calls.types import Call
from judgegraph.errors import ConfigError, ReplyError
from judgegraph.models.judges import Endpoint, Judge
from judgegraph.models.prices import Price, Prices
from judgegraph.testing import Scripted

PRICES = Prices({"openai:m": Price(1.0, 10.0)}, {}, "")
_servers = itertools.count()


class Told(Scripted):
    """Answers with the tokens that a prompt asks for ("... 900"), in as many turns of the loop as `turns` says."""

    script: list = []
    turns: int = 0

    def _combine_llm_outputs(self, llm_outputs):
        return llm_outputs[0]

    async def _agenerate(self, messages, stop=None, run_manager=None, **kwargs):
        self._calls.append(messages)
        for _ in range(self.turns):
            await asyncio.sleep(0)
        took = int(messages[0].content.split()[-1])
        if not took:
            raise ConnectionError("gone")
        if took == 1:
            raise ConnectionRefusedError("nobody there")
        usage = {"token_usage": {"prompt_tokens": 10, "completion_tokens": took}}
        return ChatResult(generations=[ChatGeneration(message=AIMessage("reply"))], llm_output=usage)


def judge_of(**fields):
    url = f"http://127.0.0.1:9/part{next(_servers)}/v1"
    return Judge("openai:m", Told(**fields), Endpoint(model="openai:m", base_url=url, attempts=1, patience=0), True)


def part(parent=None, **caps):
    return PartBudget(BudgetTracker(Budget(**caps), prices=PRICES), parent)


async def asked(judge, one, *texts, run=None):
    """For each text, asked side by side within an allowance: "ok", or why not."""
    before = context.set(run), part_budget.set(one)

    async def ask(text):
        try:
            await send(judge, Call((HumanMessage(text),)))
        except ReplyError as error:
            return error.status if not isinstance(error, OverPartBudget) else "no allowance"
        return "ok"

    try:
        return await asyncio.wait_for(asyncio.gather(*map(ask, texts)), 5)
    finally:
        part_budget.reset(before[1])
        context.reset(before[0])


def at_rest(*parts):
    for one in parts:
        held = one.purse._held
        assert (held.calls, held.tokens, held.usd, one._turn.locked()) == (0, 0, 0.0, False)
        assert all(not asked.wanted for asked in one._asked.values())


LONG = ["first 900", "second 900", "third 900"]  # tokens; nobody would guess as many


@pytest.mark.parametrize(
    ("caps", "expected"),
    [
        ({"calls": 2}, ["ok", "ok", "no allowance"]),
        ({"tokens": 1900}, ["ok", "ok", "no allowance"]),
        ({"tokens": 1200}, ["ok", "no allowance", "no allowance"]),
        ({"usd": 0.0185}, ["ok", "ok", "no allowance"]),
    ],
    ids=str,
)
async def test_what_has_room_is_the_same_whoever_pays(caps, expected):
    """Without a run, in a new one, beside neighbours who ask the same at that moment, and where all lie in a ledger."""
    ledger, judge = Ledger(), judge_of(turns=5)
    run = CallContext(ledger=ledger, purse=BudgetTracker(prices=PRICES))
    assert await asked(judge, part(**caps), *LONG) == expected
    parts = [part(**caps) for _ in range(3)]
    assert await asyncio.gather(*(asked(judge, one, *LONG, run=run) for one in parts)) == [expected] * 3
    paid = run.purse.spent.calls
    assert paid == expected.count("ok")
    assert await asked(judge, None, *LONG, run=run) == ["ok"] * 3
    last = part(**caps)
    assert await asked(judge, last, *LONG, run=run) == expected
    assert run.purse.spent.calls == 3  # the ledger's answers cost the run nothing
    assert {one.purse.spent.tokens for one in (*parts, last)} == {910 * expected.count("ok")}
    at_rest(*parts, last)
    ledger.close()


async def test_equal_questions_are_one_call_in_a_run_and_each_one_without():
    run, judge = CallContext(ledger=Ledger(), purse=BudgetTracker(prices=PRICES)), judge_of(turns=2)
    same = ["one 5"] * 3
    assert await asked(judge, part(calls=1), *same, run=run) == ["ok"] * 3
    assert len(judge.model.calls) == 1
    assert sorted(await asked(judge, part(calls=1), *same)) == ["no allowance", "no allowance", "ok"]
    assert len(judge.model.calls) == 2
    run.ledger.close()


@pytest.mark.parametrize("run", [True, False], ids=["in a run", "without one"])
@pytest.mark.parametrize(("outer", "inner"), [(2, 9), (9, 2)])
async def test_a_call_counts_in_its_part_and_in_the_parts_around_it(outer, inner, run):
    here = CallContext(ledger=Ledger(), purse=BudgetTracker(prices=PRICES)) if run else None
    around = part(calls=outer)
    within, judge = part(around, calls=inner), judge_of(turns=1)
    assert await asked(judge, within, *LONG, run=here) == ["ok", "ok", "no allowance"]
    assert (around.purse.spent.calls, within.purse.spent.calls, len(judge.model.calls)) == (2, 2, 2)
    at_rest(around, within)
    if here:
        here.ledger.close()


async def test_only_a_call_that_was_not_received_leaves_its_room_to_the_next():
    run, judge, one = CallContext(ledger=Ledger(), purse=BudgetTracker(prices=PRICES)), judge_of(turns=1), part(calls=2)
    said = await asked(judge, one, "refused 1", "fails 0", "second 5", "third 5", run=run)
    assert said == ["provider_error", "provider_error", "ok", "no allowance"]
    assert (one.purse.spent.calls, one.purse.spent.unanswered) == (1, 1)
    at_rest(one)
    run.ledger.close()


async def test_a_cap_in_usd_ends_the_run_where_a_price_is_not_known():
    one = PartBudget(BudgetTracker(Budget(usd=1), prices=Prices({}, {}, "")))
    with pytest.raises(ConfigError, match="its price is not known") as caught:
        await asked(judge_of(), one, "one 5")
    assert caught.value.ends_run
    at_rest(one)
