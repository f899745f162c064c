"""What a node raises fails its sample; only what would meet every sample alike ends the run."""

import asyncio
import json

import pytest
from small import fine, graph_of, samples

import judgegraph as jg
from judgegraph.calls.ledger import LedgerError
from judgegraph.data.samples import Mark
from judgegraph.errors import AuthError, ConfigError, DataError
from judgegraph.graphs import llm_score
from judgegraph.runs.worker import Unit, Work
from judgegraph.testing import scripted
from judgegraph.types import EvalState


def raising(error, sync=False):
    async def node(state: EvalState) -> EvalState:
        if state["sample"].id == "s1":
            raise error
        return await fine(state)

    def plain(state: EvalState) -> EvalState:
        return asyncio.run(node(state))

    return graph_of(plain if sync else node)


@pytest.mark.parametrize("sync", [False, True], ids=["a coroutine", "a plain function"])
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (SystemExit(7), "SystemExit: 7"),
        (ConfigError("no such tool"), "ConfigError: no such tool"),
        (DataError("not this sample"), "DataError: not this sample"),
    ],
    ids=["an exit", "a wrong setting", "wrong data"],
)
def test_what_a_node_raises_fails_its_sample_only_and_the_run_can_end(error, said, sync, tmp_path):
    run = jg.evaluate(raising(error, sync), samples(4), out=tmp_path / "run", concurrency=2)
    assert run.manifest["state"] == "finished"
    assert {i.id: i.status for i in run.items} == {"s0": "ok", "s1": "agent_error", "s2": "ok", "s3": "ok"}
    (reason,) = [i.reason for i in run.items if i.status != "ok"]
    assert reason.partition(" (node ")[0] == said


@pytest.mark.parametrize("error", [AuthError("no key"), LedgerError("full"), KeyboardInterrupt()])
def test_what_would_meet_every_sample_alike_ends_the_run(error, tmp_path):
    with pytest.raises(type(error)):
        jg.evaluate(raising(error), samples(4), out=tmp_path / "run", concurrency=1)
    assert json.loads((tmp_path / "run/manifest.json").read_text())["state"] == "stopped"


class Waiting:
    """A graph that waits for a task of its own, as a graph does for its nodes."""

    def __init__(self, error):
        self.error = error

    async def ainvoke(self, state):
        async def node():
            if state["sample"].id == "s1":
                raise self.error
            return {}

        return await asyncio.create_task(node())


def test_a_closed_generator_in_a_node_fails_its_sample_and_leaves_the_worker_at_work():
    units = iter(Unit(sample, Mark(b"", b"", place)) for place, sample in enumerate(samples(3)))
    work = Work(Waiting(GeneratorExit("mine")), 5.0, units=units)
    asyncio.run(work.take(0))
    assert [(i.id, i.status, i.reason) for i in work.items if i.status != "ok"] == [
        ("s1", "agent_error", "GeneratorExit: mine")
    ]
    assert len(work.items) == 3


def test_a_worker_that_is_closed_itself_is_gone():
    class Stuck:
        async def ainvoke(self, state):
            await Never()

    class Never:
        def __await__(self):
            yield

    work = Work(Stuck(), 5.0, units=iter([Unit(samples(1)[0], Mark(b"", b"", 0))]))
    coroutine = work._judge(next(work.units), 0)

    async def start():
        task = asyncio.create_task(coroutine)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(start())
    assert work.items == []


def test_a_price_that_is_not_known_ends_a_run_with_a_budget_in_usd(tmp_path):
    graph = llm_score(scripted({"reason": "r", "score": 4}), criteria=[jg.Criterion(name="Clarity")])
    with pytest.raises(ConfigError, match="its price is not known"):
        jg.evaluate(graph, samples(2), out=tmp_path / "run", budget=jg.Budget(usd=1))


def test_a_judge_that_cannot_be_made_at_its_first_call_ends_the_run(tmp_path):
    async def node(state: EvalState) -> EvalState:
        await jg.ask("no-such-judge", "hello")
        return {}

    with pytest.raises(ConfigError, match="no judge 'no-such-judge'"):
        jg.evaluate(graph_of(node), samples(2), out=tmp_path / "run")
