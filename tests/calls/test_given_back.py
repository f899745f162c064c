"""What a call takes is given back however it ends, and no clock runs while a call waits: in virtual time."""

import asyncio
import itertools
import random

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from virtual_time import virtually

from judgegraph.calls.budget import Budget, BudgetTracker, OverBudget, OverPartBudget, PartBudget, part_budget
from judgegraph.calls.call import RequestSlot, send
from judgegraph.calls.context import CallContext, UnitCalls, Waiters, context, unit
from judgegraph.calls.ledger import Ledger
from judgegraph.calls.limits import limiter_of
from judgegraph.calls.types import Call
from judgegraph.data.samples import Mark
from judgegraph.errors import ConfigError, ReplyError
from judgegraph.models.judges import Endpoint, Judge
from judgegraph.models.prices import Price, Prices
from judgegraph.runs.worker import Unit, Work
from judgegraph.testing import Scripted
from judgegraph.types import Sample

_servers = itertools.count()


class Server(Scripted):
    """A model that answers by `answer()`, a coroutine function that gives (choices, prompt and completion tokens)."""

    script: list = []
    answer: object = None

    def _combine_llm_outputs(self, llm_outputs):
        return llm_outputs[0]

    async def _agenerate(self, messages, stop=None, run_manager=None, **kwargs):
        self._calls.append(messages)
        choices, *usage = await self.answer()
        told = dict(zip(("prompt_tokens", "completion_tokens"), usage, strict=True))
        replies = [ChatGeneration(message=AIMessage("reply")) for _ in range(choices)]
        return ChatResult(generations=replies, llm_output={"token_usage": told})


def slow(seconds):
    async def answer():
        await asyncio.sleep(seconds)
        return 1, 10, 5

    return answer


def judge_of(answer, **settings):
    """In virtual time, with a limiter that no other test has."""
    url = f"http://127.0.0.1:9/turn{next(_servers)}/v1"
    judge = Judge("openai:m", Server(answer=answer), Endpoint(model="openai:m", base_url=url, **settings), True)
    limiter_of(judge)._clock = lambda: asyncio.get_running_loop().time()
    return judge


def call(text, **settings):
    return Call((HumanMessage(text),), settings=settings)


def prices():
    return Prices({"openai:m": Price(1.0, 10.0)}, {}, "")


class Graph:
    """Its nodes run side by side; the first that fails ends them all, as LangGraph's do."""

    def __init__(self, *nodes):
        self.nodes = nodes

    async def ainvoke(self, state):
        try:
            async with asyncio.TaskGroup() as group:
                for node in self.nodes:
                    group.create_task(node())
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        return {}


def sample(run, timeout, *nodes):
    """A task in which a worker of a run judges one sample; its item's status."""
    one = Unit(Sample(id="s", output="text"), Mark(b"i" * 16, b"c" * 8, 0))
    work = Work(Graph(*nodes), timeout, units=iter([one]), calls=run)

    async def judged():
        context.set(run)
        await work.take(0)
        return work.items[0].status

    return asyncio.ensure_future(judged())


def asks(judge, text, **settings):
    return lambda: send(judge, call(text, **settings))


def fails(after):
    async def node():
        await asyncio.sleep(after)
        raise ValueError("another node failed")

    return node


def within(part, node):
    """A node that asks within the allowance of a part of its sample's work; what has no room there is left out."""

    async def asking():
        before = part_budget.set(part)
        try:
            await node()
        except OverPartBudget:
            pass
        finally:
            part_budget.reset(before)

    return asking


def at_rest(judge, run, parts=()):
    """Nothing that a call takes is left taken."""
    for part in parts:
        taken = part.purse._held
        assert (taken.calls, taken.tokens, taken.usd, part._turn.locked()) == (0, 0, 0.0, False)
        assert not any(asked.wanted or asked.share.open for asked in part._asked.values())
        cap = part.purse.budget.calls
        assert cap is None or part.purse.spent.calls <= cap
    limiter, held, slots = limiter_of(judge), run.purse._held, run.slots(judge)
    assert slots is None or slots._value == run.width
    assert (limiter._in_flight, len(limiter._queue)) == (0, 0)
    assert (held.calls, held.tokens, held.usd) == (0, 0, 0.0)
    assert not run.awaited
    assert not run.ledger._flights._flights


def waiting_for(held, takes):
    """A judge and a run in which one call is under way, and the next one waits for what it has or has used."""
    own = {"place": {"in_flight": 1}, "minute": {"rpm": 1}}.get(held, {})
    judge = judge_of(slow(takes), max_tokens=50, **own)
    purse = BudgetTracker(Budget(tokens=400) if held == "budget" else None, prices=Prices({}, {}, ""))
    return judge, CallContext(width=1 if held == "slot" else 8, ledger=Ledger(), purse=purse)


WAITS = ["slot", "place", "minute", "budget"]


@pytest.mark.parametrize("end", ["a node fails", "cancelled"])
@pytest.mark.parametrize("held", WAITS)
def test_a_shared_call_goes_on_when_the_sample_that_pays_for_it_ends_while_it_waits(held, end):
    async def work():
        judge, run = waiting_for(held, 3)
        first = sample(run, 100, asks(judge, "busy"))
        await asyncio.sleep(0.1)
        payer = sample(run, 100, asks(judge, "shared"), *([fails(1)] if end == "a node fails" else []))
        await asyncio.sleep(0.1)
        joined = sample(run, 100, asks(judge, "shared"))
        await asyncio.sleep(0.1)
        assert len(judge.model.calls) == 1
        if end == "cancelled":
            payer.cancel()
        done = await asyncio.gather(first, payer, joined, return_exceptions=True)
        assert (done[0], done[2]) == ("ok", "ok")
        assert done[1] == "agent_error" or isinstance(done[1], asyncio.CancelledError)
        assert len(judge.model.calls) == 2
        at_rest(judge, run)
        run.ledger.close()

    virtually(work())


@pytest.mark.parametrize("held", WAITS)
def test_no_clock_runs_of_samples_that_wait_for_one_call_while_it_waits(held):
    async def work():
        judge, run = waiting_for(held, 3)
        first = sample(run, 4, asks(judge, "busy"))
        await asyncio.sleep(0.1)
        others = [sample(run, 4, asks(judge, "shared")) for _ in range(3)]
        await asyncio.sleep(0.1)
        others.append(sample(run, 4, asks(judge, "shared")))
        assert await asyncio.gather(first, *others) == ["ok"] * 5
        assert len(judge.model.calls) == 2
        at_rest(judge, run)
        run.ledger.close()

    virtually(work())


@pytest.mark.parametrize("held", ["place", "slot", "budget"])
def test_a_clock_runs_while_one_call_is_at_the_server_though_others_wait(held):
    """Each call takes three seconds, and one goes at a time: of a sample's own, the second ends after its time."""

    async def work():
        judge, run = waiting_for(held, 3)
        asked = sample(run, 4, asks(judge, "one"), asks(judge, "two"), asks(judge, "three"))
        start = asyncio.get_running_loop().time()
        assert await asked == "timeout"
        assert asyncio.get_running_loop().time() - start == pytest.approx(4, abs=0.1)
        at_rest(judge, run)
        run.ledger.close()

    virtually(work())


@pytest.mark.parametrize("shared", [False, True], ids=["one sample", "a sample that joined"])
def test_a_call_whose_judge_waits_to_ask_another_is_held_too(shared):
    async def work():
        inner, run = waiting_for("place", 3)

        async def answer():
            await asks(inner, "asked by a judge")()
            return 1, 10, 5

        asker, busy = judge_of(answer), sample(run, 100, asks(inner, "busy"))
        await asyncio.sleep(0.1)
        asked = [sample(run, 4, asks(asker, "outer"), asks(inner, "more"))]
        await asyncio.sleep(0.1)
        asked += [sample(run, 4, asks(asker, "outer"))] * shared
        assert await asyncio.gather(busy, *asked) == ["ok", "timeout", *["ok"] * shared]
        start = asyncio.get_running_loop().time()
        busy = sample(run, 100, asks(inner, "busy again"))
        await asyncio.sleep(0.1)
        assert await sample(run, 3.5, asks(judge_of(answer), "another outer")) == "ok"
        assert asyncio.get_running_loop().time() - start < 10
        await busy
        run.ledger.close()

    virtually(work())


@pytest.mark.parametrize("held", [*WAITS, "nothing"])
def test_clocks_run_again_when_a_shared_call_that_is_slow_has_its_turn(held):
    async def work():
        judge, run = waiting_for(held, 5)
        calls = [sample(run, 100, asks(judge, "busy"))]
        await asyncio.sleep(0.1)
        calls += [sample(run, 4, asks(judge, "shared")) for _ in range(2)]
        assert await asyncio.gather(*calls) == ["ok", "timeout", "timeout"]
        at_rest(judge, run)
        run.ledger.close()

    virtually(work())


def test_a_clock_that_has_ended_is_left_alone():
    async def work():
        calls = UnitCalls(clock=asyncio.timeout(5))
        async with calls.clock:
            calls.changed(1, 1)
        calls.changed(0, -1)
        calls.changed(0, 1)
        calls.changed(-1, -1)

    virtually(work())


class Broken(Waiters):
    def start(self):
        raise RuntimeError("no clock")


@pytest.mark.parametrize("held", ["slot", "place"])
def test_a_turn_gives_back_what_it_took_whatever_fails(held):
    async def work():
        slots, judge = asyncio.Semaphore(1), judge_of(slow(1), in_flight=1)
        limiter = limiter_of(judge)
        before = RequestSlot(slots if held == "slot" else None, limiter.ticket(1), None)
        await before.__aenter__()
        waiting = asyncio.ensure_future(RequestSlot(slots, limiter.ticket(1), Broken()).__aenter__())
        await asyncio.sleep(1)
        await before.__aexit__(None)
        with pytest.raises(RuntimeError, match="no clock"):
            await waiting
        assert (slots._value, limiter._in_flight, len(limiter._queue)) == (1, 0, 0)

    virtually(work())


async def test_a_reply_is_paid_for_and_kept_though_its_progress_cannot_be_written():
    judge, run = judge_of(slow(0)), CallContext(ledger=Ledger(), purse=BudgetTracker(prices=Prices({}, {}, "")))

    def full():
        raise ConfigError("no space left on device")

    tokens = context.set(run), unit.set(UnitCalls(progressed=full))
    try:
        with pytest.raises(ConfigError, match="no space"):
            await send(judge, call("one"))
        assert (run.purse.spent.calls, run.purse.spent.tokens, run.ledger.count()) == (1, 15, 1)
        at_rest(judge, run)
        assert (await send(judge, call("one")))[0].text == "reply"  # it is found, which is no progress
        assert len(judge.model.calls) == 1
    finally:
        context.reset(tokens[0])
        unit.reset(tokens[1])
        run.ledger.close()


async def test_progress_is_told_once_and_by_who_paid():
    told = []
    judge, run = judge_of(slow(0)), CallContext(ledger=Ledger(), purse=BudgetTracker(prices=Prices({}, {}, "")))
    tokens = context.set(run), unit.set(UnitCalls(progressed=lambda: told.append(run.ledger.count())))
    try:
        for text in ("one", "one", "two"):
            await send(judge, call(text))
    finally:
        context.reset(tokens[0])
        unit.reset(tokens[1])
        run.ledger.close()
    assert told == [1]  # when it was in the ledger


async def test_who_comes_just_as_a_shared_call_ends_does_not_wait_for_it_for_ever():
    ledger, go, refused = Ledger(), asyncio.get_running_loop().create_future(), 0

    async def pay():
        nonlocal refused
        refused += 1
        await go
        raise OverBudget("no room")

    async def late():
        await go  # told in the same turn of the loop as `pay`, and after it
        await ledger.answer(b"a" * 16, pay)

    first = asyncio.ensure_future(ledger.answer(b"a" * 16, pay))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    second = asyncio.ensure_future(late())
    await asyncio.sleep(0)
    go.set_result(None)
    done = await asyncio.gather(first, second, return_exceptions=True)
    assert [type(one) for one in done] == [OverBudget, OverBudget]
    assert refused == 2
    ledger.close()


@pytest.mark.parametrize(("cap", "sent", "status"), [(1700, 1, "over_budget"), (9000, 2, "provider_error")])
async def test_replies_without_choices_are_paid_for_and_end_a_budget(monkeypatch, cap, sent, status):
    monkeypatch.setattr("judgegraph.calls.call._backoff", lambda _: 0.0)

    async def empty():
        return 0, 1000, 500

    judge = judge_of(empty, attempts=3)
    run = CallContext(ledger=Ledger(), purse=BudgetTracker(Budget(tokens=cap), prices=Prices({}, {}, "")))
    token = context.set(run)
    try:
        with pytest.raises(ReplyError) as caught:
            await send(judge, call("one"))
        assert caught.value.status == status
        assert (len(judge.model.calls), run.purse.spent.tokens) == (sent, 1500 * sent)
        at_rest(judge, run)
    finally:
        context.reset(token)
        run.ledger.close()


async def test_a_reply_after_one_without_choices_is_kept_with_what_both_took(monkeypatch):
    monkeypatch.setattr("judgegraph.calls.call._backoff", lambda _: 0.0)
    replies = iter([(0, 1000, 500), (1, 1000, 20)])

    async def second():
        return next(replies)

    judge = judge_of(second)
    purse = BudgetTracker(prices=Prices({"openai:m": Price(1.0, 10.0)}, {}, ""))
    run = CallContext(ledger=Ledger(), purse=purse)
    token = context.set(run)
    try:
        await send(judge, call("one"))
    finally:
        context.reset(token)
    spent = run.purse.spent
    assert (spent.calls, spent.prompt_tokens, spent.completion_tokens) == (1, 2000, 520)
    assert spent.usd == pytest.approx(0.0072)
    kept = run.ledger.spent()
    run.ledger.close()
    assert tuple(kept)[:3] == (1, 2000, 520)
    assert tuple(kept)[3] == pytest.approx(0.0072)


def drawn_part(draw, parts):
    """An allowance of one sample's work, of several kinds, half of them inside another one."""
    caps = [{"calls": 1}, {"calls": 2}, {"tokens": 600}, {"tokens": 5000}, {"calls": 3, "tokens": 700}]
    around = drawn_part(draw, parts) if draw.random() < 0.5 else None
    parts.append(PartBudget(BudgetTracker(Budget(**draw.choice(caps)), prices=Prices({}, {}, "")), around))
    return parts[-1]


async def fuzz(seed, parted=False):
    draw = random.Random(seed)

    async def answer():
        await asyncio.sleep(draw.choice([0, 0, 0.1, 3.0]))
        kind = draw.random()
        if kind < 0.1:
            raise ConnectionError("gone")
        if kind < 0.2:
            return 0, 10, 200
        return 1, 10, draw.choice([5, 300])

    limits = [{}, {"in_flight": 2}, {"rpm": 6}, {"in_flight": 3, "rpm": 20}, {"tpm": 3000}][seed % 5]
    judge = judge_of(answer, attempts=2, timeout=2.0, max_tokens=100, **limits)
    caps = [None, Budget(tokens=12_000), Budget(tokens=2_000), Budget(calls=15)][draw.randrange(4)]
    purse = BudgetTracker(caps, prices=Prices({}, {}, ""))
    run = CallContext(width=draw.choice([None, 1, 3, 8]), ledger=Ledger(), purse=purse)

    def nodes(number):
        texts = [f"shared {draw.randrange(4)}" if draw.random() < 0.6 else f"own {number} {k}" for k in range(3)]
        asking = [asks(judge, text) for text in texts]
        if parted:
            some = [None, drawn_part(draw, parts), drawn_part(draw, parts)]
            asking = [within(draw.choice(some), node) for node in [*asking, *asking]]
        yield from asking
        if draw.random() < 0.2:
            yield fails(draw.random() * 10)

    tasks, parts = [], []
    for number in range(24):
        tasks.append(sample(run, draw.choice([0.5, 4, 30]), *nodes(number)))
        await asyncio.sleep(draw.choice([0, 0, 0.05, 2]))
        if draw.random() < 0.4:
            draw.choice(tasks).cancel()
    for _ in range(8):
        await asyncio.sleep(draw.random() * 20)
        draw.choice(tasks).cancel()
    done = await asyncio.gather(*tasks, return_exceptions=True)
    for _ in range(10):
        await asyncio.sleep(0)  # calls that nobody wants any more come to their end
    kinds = {one if isinstance(one, str) else type(one).__name__ for one in done}
    at_rest(judge, run, parts)
    judge.model.answer, run.purse.budget = slow(0), None
    assert await sample(run, 4, asks(judge, "a fresh one")) == "ok"
    at_rest(judge, run)
    run.ledger.close()
    return kinds


@pytest.mark.parametrize(
    ("parted", "seeds"), [(False, 150), (True, 60)], ids=["the run's budget", "and those of parts of the work"]
)
@pytest.mark.long
def test_whatever_ends_a_sample_nothing_that_it_took_is_lost(monkeypatch, parted, seeds):
    monkeypatch.setattr("judgegraph.calls.call._backoff", lambda _: 0.5)
    ends = set().union(*(virtually(fuzz(seed, parted)) for seed in range(seeds)))
    assert ends == {"ok", "agent_error", "timeout", "over_budget", "CancelledError"}
