"""One competitor of `overhead.py` in one fresh process: so many judge calls against a stub, and what they cost.

    python overhead_workers.py NAME URL CALLS IN_FLIGHT

It prints one line of JSON: {"calls", "cpu_s", "wall_s", "versions", ...}. CPU is of this process alone, without its
imports and a first few calls. Every competitor asks for the same, a reason and a whole score from 1 to 5, about a
prompt of about 1,500 characters that no other call has. Only the competitors that are judgegraph import it, so the
file runs in any environment.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

WARM = 64
CHARACTERS = 1500
WORDS = "the report sets out what was done and why it matters to those who read it in a hurry before noon "
TASK = "Rate how clear this text is, from 1 to 5, and give a reason. "
SCHEMA = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "score": {"type": "integer", "enum": [1, 2, 3, 4, 5]}},
    "required": ["reason", "score"],
    "additionalProperties": False,
}
FORM = {"type": "json_schema", "json_schema": {"name": "verdict", "schema": SCHEMA, "strict": True}}
TEMPLATE = 650  # characters that judgegraph's own prompt has around the judged text


def text(number: int, size: int) -> str:
    """A text of this size that differs from that of every other number at its start."""
    return (f"Text {number}. " + WORDS * 20)[:size]


def prompt(number: int) -> str:
    """A whole prompt."""
    return TASK + text(number, CHARACTERS - len(TASK))


def cpu() -> float:
    """Seconds of CPU of this process so far, its threads and the kernel's part included."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def many(one: Callable[[int], Awaitable[Any]], first: int, count: int, flight: int) -> None:
    """So many calls, so many in flight."""
    numbers = iter(range(first, first + count))

    async def worker() -> None:
        for number in numbers:
            await one(number)

    await asyncio.gather(*(worker() for _ in range(flight)))


async def timed(one: Callable[[int], Awaitable[Any]], calls: int, flight: int) -> dict[str, float]:
    """CPU and wall seconds of the calls, after some that do not count."""
    await many(one, 10_000_000, min(WARM, calls), flight)
    used, start = cpu(), time.perf_counter()
    await many(one, 0, calls, flight)
    return {"calls": calls, "cpu_s": cpu() - used, "wall_s": time.perf_counter() - start}


async def raw_aiohttp(url: str, calls: int, flight: int) -> dict[str, float]:
    """The floor: a request, its reply, parsed; nothing kept."""
    import aiohttp
    import orjson

    headers = {"Authorization": "Bearer k", "Content-Type": "application/json"}
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, headers=headers) as session:

        async def one(number: int) -> Any:
            messages = [{"role": "user", "content": prompt(number)}]
            body = {"model": "stub", "messages": messages, "response_format": FORM}
            async with session.post(f"{url}/chat/completions", data=orjson.dumps(body)) as response:
                answer = orjson.loads(await response.read())
            return orjson.loads(answer["choices"][0]["message"]["content"])["score"]

        return await timed(one, calls, flight)


def _graph(node: Any) -> Any:
    from langgraph.graph import END, START, StateGraph
    from typing_extensions import TypedDict

    class State(TypedDict, total=False):
        prompt: str
        score: int

    globals()["State"] = State  # where langgraph looks up the annotation
    graph = StateGraph(State)
    graph.add_node("judge", node)
    graph.add_edge(START, "judge")
    graph.add_edge("judge", END)
    return graph.compile()


async def bare_graph(url: str, calls: int, flight: int) -> dict[str, float]:
    """One node that calls no model: what a run of a graph costs by itself."""

    async def node(state: Any) -> Any:
        await asyncio.sleep(0)
        return {"score": 4}

    graph = _graph(node)
    return await timed(lambda number: graph.ainvoke({"prompt": prompt(number)}), calls, flight)


async def langgraph_chatopenai(url: str, calls: int, flight: int) -> dict[str, float]:
    """As people write it: ChatOpenAI with structured output of a pydantic class in a node, one run per sample."""
    from typing import Literal

    from langchain_openai import ChatOpenAI
    from pydantic import BaseModel

    class Verdict(BaseModel):
        reason: str
        score: Literal[1, 2, 3, 4, 5]

    model = ChatOpenAI(model="stub", base_url=url, api_key="k").with_structured_output(Verdict)

    async def node(state: Any) -> Any:
        return {"score": (await model.ainvoke(state["prompt"])).score}

    graph = _graph(node)
    return await timed(lambda number: graph.ainvoke({"prompt": prompt(number)}), calls, flight)


async def openevals(url: str, calls: int, flight: int) -> dict[str, float]:
    """openevals with a judge's model made once."""
    from langchain_openai import ChatOpenAI
    from openevals.llm import create_async_llm_as_judge

    judge = create_async_llm_as_judge(
        prompt=TASK + "{outputs}", judge=ChatOpenAI(model="stub", base_url=url, api_key="k"), choices=[1, 2, 3, 4, 5],
    )  # fmt: skip
    size = CHARACTERS - len(TASK)
    return await timed(lambda number: judge(outputs=text(number, size)), calls, flight)


async def verdict(url: str, calls: int, flight: int) -> dict[str, float]:
    """haizelabs' verdict: one judge unit over a dataset, in its own threads; its rate limiter off."""
    from datasets import Dataset
    from verdict import Pipeline, config
    from verdict.common.judge import JudgeUnit
    from verdict.dataset import DatasetWrapper
    from verdict.scale import DiscreteScale

    os.environ.update({"OPENAI_API_BASE": url, "OPENAI_BASE_URL": url})
    config.state.rate_limiter_disabled = True

    def run(first: int, count: int) -> None:
        rows = [{"text": text(first + i, CHARACTERS - len(TASK))} for i in range(count)]
        unit = JudgeUnit(scale=DiscreteScale((1, 5)), explanation=True)
        pipeline = Pipeline() >> unit.prompt(TASK + "{source.text}").via("openai/stub")
        frame, _ = pipeline.run_from_dataset(DatasetWrapper(Dataset.from_list(rows)), max_workers=flight)
        assert len(frame) > 0.9 * count, f"{len(frame)} of {count} were scored"

    run(10_000_000, min(WARM, calls))
    used, start = cpu(), time.perf_counter()
    run(0, calls)
    return {"calls": calls, "cpu_s": cpu() - used, "wall_s": time.perf_counter() - start}


def _samples(first: int, count: int) -> Any:
    from judgegraph import Sample

    return (Sample(id=f"s{n}", output=text(n, CHARACTERS - TEMPLATE)) for n in range(first, first + count))


async def _evaluated(
    graph: Any, calls: int, flight: int, per_sample: int = 1, warm_ledger: bool = False, trace: bool = False
) -> Any:
    """A whole run: ledger on disk, validation, a folder with a line per sample, the manifest; spans only if asked for.

    benchmarks/tracing.py says what spans cost.
    """
    from judgegraph import aevaluate

    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "shared.sqlite"
        samples = calls // per_sample

        async def run(name: str, first: int, count: int) -> Any:
            out = Path(folder) / name
            return await aevaluate(
                graph, _samples(first, count), out=out, ledger=ledger, concurrency=flight, trace=trace
            )

        await run("warm", 10_000_000, min(WARM, samples))
        if warm_ledger:
            await run("paid", 0, samples)
        used, start = cpu(), time.perf_counter()
        done = await run("run", 0, samples)
        used, wall = cpu() - used, time.perf_counter() - start
        scored = sum(score.status == "ok" for item in done.items for score in item.scores)
        assert scored == samples * per_sample, f"{scored} of {samples * per_sample} were scored"
        return {"calls": calls, "cpu_s": used, "wall_s": wall, "sent": done.manifest["calls"]["requests"]}


def _criteria() -> list[Any]:
    from judgegraph import Criterion

    return [Criterion(name="Clarity", definition="Is the text clear?")]


def _endpoint(url: str, model: str = "stub") -> Any:
    from judgegraph import Endpoint

    return Endpoint(model=f"openai:{model}", base_url=url)


async def judgegraph_one(url: str, calls: int, flight: int) -> Any:
    """One judge by the fast path."""
    from judgegraph.graphs import llm_score

    return await _evaluated(llm_score(_endpoint(url), criteria=_criteria()), calls, flight)


async def judgegraph_five(url: str, calls: int, flight: int) -> Any:
    """Five judges side by side and a node that joins them; per call."""
    return await _evaluated(_five(url), calls, flight, per_sample=5)


async def judgegraph_traced(url: str, calls: int, flight: int) -> Any:
    """One judge, with spans."""
    from judgegraph.graphs import llm_score

    return await _evaluated(llm_score(_endpoint(url), criteria=_criteria()), calls, flight, trace=True)


async def judgegraph_five_traced(url: str, calls: int, flight: int) -> Any:
    """Five judges side by side, with spans; per call."""
    return await _evaluated(_five(url), calls, flight, per_sample=5, trace=True)


async def bare_five(url: str, calls: int, flight: int) -> dict[str, float]:
    """The graph of `judgegraph-five` asking over raw aiohttp: what LangGraph and HTTP cost by themselves."""
    import aiohttp
    import orjson
    from langgraph.graph import END, START, StateGraph

    import judgegraph as jg

    headers = {"Authorization": "Bearer k", "Content-Type": "application/json"}
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), headers=headers) as session:

        def judge(number: int) -> Any:
            async def node(state: jg.EvalState) -> jg.EvalState:
                messages = [{"role": "user", "content": TASK + str(state["sample"].output)}]
                body = {"model": f"stub-{number}", "messages": messages, "response_format": FORM}
                async with session.post(f"{url}/chat/completions", data=orjson.dumps(body)) as response:
                    answer = orjson.loads(await response.read())
                value = orjson.loads(answer["choices"][0]["message"]["content"])["score"]
                score = jg.Score(criterion="Clarity", agent=f"judge-{number}", value=value)
                return {"scores": {score.key: score}}

            return node

        async def join(state: jg.EvalState) -> jg.EvalState:
            values = [score.value for score in state["scores"].values() if score.value is not None]
            return {"overall": sum(values) / len(values)}

        graph = StateGraph(jg.EvalState)
        graph.add_node("join", join, defer=True)
        for number in range(5):
            graph.add_node(f"judge-{number}", judge(number))
            graph.add_edge(START, f"judge-{number}")
            graph.add_edge(f"judge-{number}", "join")
        graph.add_edge("join", END)
        compiled = graph.compile()
        got = await timed(lambda n: compiled.ainvoke({"sample": next(iter(_samples(n, 1)))}), calls // 5, flight)
        return {**got, "calls": calls}


def _five(url: str) -> Any:
    from langgraph.graph import END, START, StateGraph

    import judgegraph as jg
    from judgegraph.agents.scorer import Scorer

    async def join(state: jg.EvalState) -> jg.EvalState:
        values = [score.value for score in state["scores"].values() if score.value is not None]
        return {"overall": sum(values) / len(values)}

    graph = StateGraph(jg.EvalState)
    graph.add_node("join", join, defer=True)
    for number in range(5):
        judge = _endpoint(url, f"stub-{number}")
        graph.add_node(f"judge-{number}", Scorer(judge=judge, criteria=_criteria(), name=f"judge-{number}"))
        graph.add_edge(START, f"judge-{number}")
        graph.add_edge(f"judge-{number}", "join")
    graph.add_edge("join", END)
    return graph.compile()


async def judgegraph_chatopenai(url: str, calls: int, flight: int) -> Any:
    """One judge, given as a ChatOpenAI object."""
    from langchain_openai import ChatOpenAI

    from judgegraph.graphs import llm_score

    judge = ChatOpenAI(model="stub", base_url=url, api_key="k")
    return await _evaluated(llm_score(judge, criteria=_criteria()), calls, flight)


async def judgegraph_again(url: str, calls: int, flight: int) -> Any:
    """The same samples once more, into a new folder, on a ledger that has all replies."""
    from judgegraph.graphs import llm_score

    return await _evaluated(llm_score(_endpoint(url), criteria=_criteria()), calls, flight, warm_ledger=True)


async def memory(url: str, samples: int, flight: int) -> Any:
    """Resident memory in MB: right after imports, and after every 10,000 samples of a streamed run."""
    import judgegraph as jg
    from judgegraph.graphs import llm_score

    graph = llm_score(_endpoint(url), criteria=_criteria())
    base, seen, done = resident(), [], 0

    def count(_: Any) -> None:
        nonlocal done
        done += 1
        if done % 10_000 == 0:
            seen.append(round(resident(), 2))

    with tempfile.TemporaryDirectory() as folder:
        await jg.aevaluate(graph, _samples(0, samples), out=Path(folder) / "run", on_item=count, concurrency=flight)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"calls": samples, "base_mb": base, "peak_mb": peak, "every_10000_mb": seen}


async def ledger(_: str, calls: int, flight: int) -> dict[str, float]:
    """Replies of 300 bytes put into a ledger on disk, found again, and rows of a journal."""
    from judgegraph.calls.ledger import Ledger, Paid
    from judgegraph.runs.lines import Journal, Mark

    async def pay() -> Paid:
        await asyncio.sleep(0)
        return Paid(b"r" * 300, "stub", 400, 50, 0.001)

    with tempfile.TemporaryDirectory() as folder:
        kept = Ledger(Path(folder) / "ledger.sqlite", run="r")
        used = cpu()
        await many(lambda number: kept.answer(number.to_bytes(16, "big"), pay), 0, calls, flight)
        put, start = cpu() - used, time.perf_counter()
        found = sum(kept.get(number.to_bytes(16, "big")) is not None for number in range(calls))
        seconds, used = time.perf_counter() - start, cpu()
        assert found == calls
        kept.close()
        journal = Journal(Path(folder) / "journal.sqlite")
        for number in range(calls):
            mark = Mark(number.to_bytes(16, "big"), b"12345678", number)
            journal.finish(mark, "ok", 0, 300 * number, 300 * number + 300)
        journal.close()
        return {
            "calls": calls, "put_ms": 1000 * put / calls, "journal_ms": 1000 * (cpu() - used) / calls,
            "finds": calls / seconds,
        }  # fmt: skip


def resident() -> float:
    """MB of memory that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


WORKERS: dict[str, Callable[[str, int, int], Awaitable[Any]]] = {
    "raw-aiohttp": raw_aiohttp,
    "bare-graph": bare_graph,
    "langgraph-chatopenai": langgraph_chatopenai,
    "openevals": openevals,
    "verdict": verdict,
    "judgegraph": judgegraph_one,
    "judgegraph-five": judgegraph_five,
    "bare-five": bare_five,
    "ledger": ledger,
    "judgegraph-chatopenai": judgegraph_chatopenai,
    "judgegraph-again": judgegraph_again,
    "judgegraph-traced": judgegraph_traced,
    "judgegraph-five-traced": judgegraph_five_traced,
    "memory": memory,
}
PACKAGES = (
    "judgegraph", "langgraph", "langchain-core", "langchain-openai", "openai", "aiohttp", "openevals", "verdict",
)  # fmt: skip


def _version(package: str) -> str:
    try:
        return version(package)
    except ModuleNotFoundError:
        return ""


if __name__ == "__main__":
    name, url, calls, flight = sys.argv[1:]
    os.environ.update({"OPENAI_API_KEY": "k", "LANGSMITH_TRACING": "false"})
    found = asyncio.run(WORKERS[name](url, int(calls), int(flight)))  # type: ignore[arg-type]
    versions = {package: got for package in PACKAGES if (got := _version(package))}
    print(json.dumps({**found, "versions": versions}))
