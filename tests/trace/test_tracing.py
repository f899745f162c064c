"""`jg.tracing`: a plain LangGraph run records what `evaluate` records of the same sample, and is left as it is."""

import asyncio
import contextvars
import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import pytest
from click.testing import CliRunner
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

import judgegraph as jg
import judgegraph.graphs as methods
from judgegraph.cli import main
from judgegraph.testing import scripted
from judgegraph.trace.record import SPANS, RecordedTrace, Recorder, Span, SpanFile, recorded_traces
from judgegraph.traces.read import FolderTrace, traces_in

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
METHODS = [  # method, data, arguments
    ("sageval", "forms", {"criteria": "forms"}), ("fusion_eval", "articles", {}), ("fennec", "pairs", {}),
    ("coascore", "articles", {}), ("g_eval", "articles", {}), ("llm_score", "articles", {}),
]  # fmt: skip
SAMPLE = jg.Sample(id="s9", query="q", output="o")
PAID = ("from", "requests", "prompt_tokens", "completion_tokens", "usd", "item_ms")  # who was first pays, in a run


class Counted(TypedDict, total=False):
    sample: Any
    count: int
    seen: Annotated[list[int], lambda a, b: a + b]


def told(path: Path) -> list[RecordedTrace]:
    return list(recorded_traces(path / SPANS))


def tree(journey: RecordedTrace) -> Any:
    """Kinds, names, statuses, what is told of each and what stands below it; siblings may begin in any order."""

    def of(span: Span) -> Any:
        about = json.dumps({k: v for k, v in span.about.items() if k not in PAID}, sort_keys=True)
        below = [of(one) for one in journey.spans[1:] if one.parent == span.id]
        return span.kind, span.name, span.status, about, sorted(below)

    return of(journey.spans[0])


def names(journey: RecordedTrace) -> list[str]:
    return [journey.node_path(span) for span in journey.spans if span.kind == "node"]


def samples(file: str, count: int) -> list[jg.Sample]:
    return list(jg.load(EXAMPLES / f"{file}.jsonl"))[:count]


def texts(root: Any) -> list[Any]:
    return sorted((step.messages, step.replies) for step in root.walk() if step.kind == "model")


def chain(*nodes: Any, saver: Any = None) -> Any:
    graph = StateGraph(Counted)
    for node in nodes:
        graph.add_node(node.__name__, node)
    ways = [START, *(node.__name__ for node in nodes), END]
    for start, end in pairwise(ways):
        graph.add_edge(start, end)
    return graph.compile(checkpointer=saver)


async def one(state: Counted) -> Counted:
    return {"count": state.get("count", 0) + 1}


def plainly(state: Counted) -> Counted:
    return {"count": 1}


async def two(state: Counted) -> Counted:
    return {"count": state.get("count", 0) + 1}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("method", "file", "settings"), METHODS, ids=[name for name, *_ in METHODS])
async def test_the_tree_and_the_texts_are_those_of_a_run(
    method: str, file: str, settings: dict[str, Any], tmp_path: Path
):
    graph, given = getattr(methods, method)(**settings), samples(file, 2)
    run = await jg.aevaluate(graph, given, out=tmp_path / "run")
    with jg.tracing(tmp_path / "plain"):
        await asyncio.gather(*(graph.ainvoke({"sample": sample}) for sample in given))
    of_run, plain = ({j.sample: tree(j) for j in told(tmp_path / name)} for name in ("run", "plain"))
    assert plain == of_run
    assert {sample.id for sample in given} == set(plain)
    for found in traces_in(tmp_path / "plain"):
        theirs = run.trace(found.sample).root
        assert theirs is not None
        assert texts(found.root) == texts(theirs)
        assert all(messages and replies for messages, replies in texts(found.root))


async def test_the_result_is_the_same_with_and_without(tmp_path: Path):
    graph, (sample,) = methods.g_eval(), samples("articles", 1)
    before = await graph.ainvoke({"sample": sample})
    with jg.tracing(tmp_path):
        within = await graph.ainvoke({"sample": sample})
    assert within == before == await graph.ainvoke({"sample": sample})
    assert len(told(tmp_path)) == 1  # what runs outside is not recorded


async def test_nothing_is_answered_from_the_ledger_and_each_span_names_its_own_reply(tmp_path: Path):
    judge = scripted(*(f'{{"score": {n}, "reason": "turn {n}"}}' for n in (2, 4, 4)))
    graph, sample = methods.llm_score(judge=judge, criteria=[jg.Criterion(name="C", definition="d")]), jg.Sample(
        id="s", query="q", output="o"
    )  # fmt: skip
    for _ in range(3):
        with jg.tracing(tmp_path):
            await graph.ainvoke({"sample": sample})
    calls = [step for found in traces_in(tmp_path) for step in found.root.walk() if step.kind == "model"]
    assert ["turn 2" in calls[0].replies[0], "turn 4" in calls[1].replies[0]] == [True, True]
    addresses = [step.about["address"] for step in calls]
    assert addresses[0] != addresses[1] == addresses[2]  # the same reply is kept once
    assert calls[0].messages == calls[1].messages != ()


async def test_redacted_no_text_is_written(tmp_path: Path):
    judge = scripted('{"score": 4, "reason": "CANARY-REPLY"}')
    graph = methods.llm_score(judge=judge, criteria=[jg.Criterion(name="C", definition="d")])
    with jg.tracing(tmp_path / "t", redact=("texts",)):
        await graph.ainvoke({"sample": jg.Sample(id="s", query="q", output="CANARY-TEXT")})
    written = b"".join(path.read_bytes() for path in (tmp_path / "t").iterdir())
    assert b"CANARY" not in written
    assert [span.kind for span in told(tmp_path / "t")[0].spans].count("model") == 1


async def test_an_inner_graph_stands_in_its_node_and_a_stream_is_a_run_too(tmp_path: Path):
    inner = chain(one, two)

    async def around(state: Counted) -> Counted:
        found = await inner.ainvoke({"count": state.get("count", 0)})
        return {"count": found["count"]}

    outer = StateGraph(Counted).add_node("direct", inner).add_node("around", around)
    graph = outer.add_edge(START, "direct").add_edge("direct", "around").add_edge("around", END).compile()
    with jg.tracing(tmp_path):
        updates = [update async for update in graph.astream({"sample": SAMPLE, "count": 1})]
    (journey,) = told(tmp_path)
    assert names(journey) == ["direct", "direct/one", "direct/two", "around", "around/one", "around/two"]
    assert (journey.sample, journey.spans[0].status, len(updates)) == ("s9", "ok", 2)


async def test_several_graphs_at_once_keep_their_spans_apart(tmp_path: Path):
    async def slow(state: Counted) -> Counted:
        await asyncio.sleep(0.01 * (state["count"] % 3))
        return {"count": state["count"]}

    graph = chain(slow, one)
    with jg.tracing(tmp_path):
        found = await asyncio.gather(*(graph.ainvoke({"count": n}) for n in range(20)))
    assert [state["count"] for state in found] == list(range(1, 21))
    assert [names(journey) for journey in told(tmp_path)] == [["slow", "one"]] * 20
    assert sorted(journey.sample for journey in told(tmp_path)) == sorted(f"run-{n}" for n in range(1, 21))


def test_a_graph_of_plain_functions_is_traced_in_its_threads(tmp_path: Path):
    def left(state: Counted) -> Counted:
        return {"seen": [threading.get_ident()]}

    def right(state: Counted) -> Counted:
        return {"seen": [0]}

    graph = StateGraph(Counted).add_node("left", left).add_node("right", right)
    built = graph.add_edge(START, "left").add_edge(START, "right").compile()
    with jg.tracing(tmp_path):
        built.invoke({"count": 1})
    (journey,) = told(tmp_path)
    assert sorted(names(journey)) == ["left", "right"]
    assert [span.about["writes"] for span in journey.spans[1:]] == [{"seen": 1}] * 2


async def test_a_failure_is_told_and_raised_as_it_is(tmp_path: Path):
    async def breaks(state: Counted) -> Counted:
        raise KeyError("no such thing")

    with jg.tracing(tmp_path), pytest.raises(KeyError, match="no such thing"):
        await chain(one, breaks).ainvoke({})
    (journey,) = told(tmp_path)
    assert [span.status for span in journey.spans] == ["agent_error", "ok", "agent_error"]
    assert "no such thing" in journey.spans[2].about["error"]


async def test_a_graph_that_waits_for_a_person_is_skipped_and_goes_on_as_another_run(tmp_path: Path):
    async def asks(state: Counted) -> Counted:
        return {"count": interrupt("how many?")}

    graph, thread = chain(one, asks, two, saver=InMemorySaver()), {"configurable": {"thread_id": "t"}}
    with jg.tracing(tmp_path):
        stopped = await graph.ainvoke({"sample": {"id": "s1"}}, thread)
        ended = await graph.ainvoke(Command(resume=7), thread)
    assert (bool(stopped["__interrupt__"]), ended["count"]) == (True, 8)
    first, second = told(tmp_path)
    assert [(span.name, span.status) for span in first.spans[1:]] == [("one", "ok"), ("asks", "skipped")]
    assert (first.spans[0].status, second.spans[0].status) == ("skipped", "ok")
    assert (names(second), first.sample, second.sample) == (["asks", "two"], "s1", "s1")


async def test_the_innermost_records_and_a_run_within_records_for_itself(tmp_path: Path):
    graph, given = methods.g_eval(), samples("articles", 2)
    with jg.tracing(tmp_path / "outer"):
        with jg.tracing(tmp_path / "inner"):
            await chain(one).ainvoke({})
        await jg.aevaluate(graph, given, out=tmp_path / "run")
        await jg.aplan(graph, given)
        await chain(two).ainvoke({})
    assert [names(journey) for journey in told(tmp_path / "inner")] == [["one"]]
    assert [names(journey) for journey in told(tmp_path / "outer")] == [["two"]]
    assert len(told(tmp_path / "run")) == 2


async def test_a_run_within_a_traced_node_keeps_its_spans_to_itself(tmp_path: Path):
    given = samples("articles", 1)

    async def judges(state: Counted) -> Counted:
        await jg.aevaluate(methods.g_eval(), given, out=tmp_path / "run")
        return {"count": 1}

    with jg.tracing(tmp_path / "plain"):
        await chain(judges, one).ainvoke({})
    assert [names(journey) for journey in told(tmp_path / "plain")] == [["judges", "one"]]
    (journey,) = told(tmp_path / "run")
    assert [span.kind for span in journey.spans].count("model") >= 1


async def test_a_run_within_a_node_of_a_run_has_a_trace_of_its_own(tmp_path: Path):
    given = samples("articles", 1)

    async def judges(state: Counted) -> Counted:
        await jg.aevaluate(methods.g_eval(), given, out=tmp_path / "inner")
        return {"count": 1}

    await jg.aevaluate(chain(judges, one), given, out=tmp_path / "outer")
    assert [names(journey) for journey in told(tmp_path / "outer")] == [["judges", "one"]]
    assert len(told(tmp_path / "inner")) == 1


async def test_a_tool_in_which_a_graph_runs_holds_its_nodes(tmp_path: Path):
    inner = methods.llm_score(criteria=[jg.Criterion(name="C", definition="d")])
    tool = jg.as_assistant(inner, about="clearness, from 1 to 5, high is good", name="clear")
    asks = StateGraph(jg.EvalState).add_node("asks", jg.metric_node(tool)).add_edge(START, "asks")
    graph, given = asks.add_edge("asks", END).compile(), samples("articles", 1)
    await jg.aevaluate(graph, given, out=tmp_path / "run")
    with jg.tracing(tmp_path / "plain"):
        await graph.ainvoke({"sample": given[0]})
    (of_run,), (plain,) = told(tmp_path / "run"), told(tmp_path / "plain")
    assert tree(plain) == tree(of_run)
    (found,) = [span for span in plain.spans if span.kind == "tool"]
    assert [span.kind for span in plain.spans if span.parent == found.id] == ["node"]


async def test_what_is_under_way_at_the_end_is_written_as_it_is(tmp_path: Path):
    reached, go = asyncio.Event(), asyncio.Event()

    async def waits(state: Counted) -> Counted:
        reached.set()
        await go.wait()
        return {"count": 5}

    with jg.tracing(tmp_path):
        task = asyncio.create_task(chain(waits, one).ainvoke({}))
        await reached.wait()
    go.set()
    assert (await task)["count"] == 6
    (journey,) = told(tmp_path)
    assert [span.status for span in journey.spans] == ["skipped", "skipped"]


async def test_a_ledger_that_cannot_be_written_costs_a_warning_and_no_call(tmp_path: Path):
    judge = scripted('{"score": 4, "reason": "r"}')
    graph = methods.llm_score(judge=judge, criteria=[jg.Criterion(name="C", definition="d")])

    async def run() -> Any:
        with jg.tracing(tmp_path):
            sqlite3.connect(tmp_path / "notes.sqlite").execute("DROP TABLE replies").connection.close()
            return await graph.ainvoke({"sample": SAMPLE})

    with pytest.warns(RuntimeWarning, match="is incomplete: OperationalError: no such table"):
        found = await run()
    assert [score.value for score in found["scores"].values()] == [4]
    assert [span.kind for span in told(tmp_path)[0].spans].count("model") == 1


@pytest.mark.parametrize("bad", [None, "", 3, "a\0b"])
def test_a_folder_has_a_name(bad: Any):
    with pytest.raises(jg.ConfigError, match=r"a folder has a name|expected"), jg.tracing(bad):
        pass


def test_what_cannot_be_a_folder_of_traces_is_left_as_it_is(tmp_path: Path):
    jg.evaluate(methods.g_eval(), samples("articles", 1), out=tmp_path / "run")
    (tmp_path / "file").write_text("mine")
    cases: Mapping[str, tuple[Path, dict[str, Any]]] = {
        "is a run's folder": (tmp_path / "run", {}),
        "cannot be written": (tmp_path / "file", {}),
        "redact is a list of what is not kept": (tmp_path / "new", {"redact": ("prompts",)}),
    }
    for why, (path, settings) in cases.items():
        with pytest.raises(jg.ConfigError, match=why), jg.tracing(path, **settings):
            pass
    assert ((tmp_path / "file").read_text(), (tmp_path / "new").exists()) == ("mine", False)


def test_the_command_shows_it(tmp_path: Path):
    async def run() -> None:
        with jg.tracing(tmp_path):
            await methods.g_eval().ainvoke({"sample": samples("articles", 1)[0]})

    asyncio.run(run())
    done = CliRunner().invoke(main, ["trace", str(tmp_path), "--sample", "mill-bridge.s1"])
    assert done.exit_code == 0, done.output
    assert "embedded" in done.output


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    from judgegraph.trace.record import recorder, traced, tracer, within

    yield
    assert (tracer.get(), traced.get(), recorder.get(), within.get()) == (None, None, None, 0)


def test_a_trace_of_a_folder_is_told_as_text(tmp_path: Path):
    async def run() -> None:
        with jg.tracing(tmp_path):
            await chain(one).ainvoke({})

    asyncio.run(run())
    (found,) = traces_in(tmp_path)
    assert isinstance(found, FolderTrace)
    assert "one" in str(found)


async def test_no_run_is_answered_from_what_was_traced(tmp_path: Path):
    graph, (sample,) = methods.g_eval(), samples("articles", 1)
    with jg.tracing(tmp_path / "t"):
        await graph.ainvoke({"sample": sample})
    with pytest.raises(jg.ConfigError, match=r"holds traces of plain runs \(jg.tracing\)"):
        await jg.aevaluate(graph, [sample], out=tmp_path / "t")
    with pytest.raises(jg.ConfigError, match="holds traces"), jg.tracing(tmp_path / "t"):
        await jg.aevaluate(graph, [sample], out=tmp_path / "t")
    assert not (tmp_path / "t" / "ledger.sqlite").exists()
    assert len(list(traces_in(tmp_path / "t"))) == 1


async def test_another_that_holds_the_file_costs_a_moment_and_no_text(tmp_path: Path):
    graph = methods.llm_score(criteria=[jg.Criterion(name="C", definition="d")])
    await graph.ainvoke({"sample": SAMPLE})
    with jg.tracing(tmp_path):
        other = sqlite3.connect(tmp_path / "notes.sqlite", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        for _ in range(4):
            await graph.ainvoke({"sample": SAMPLE})
        took = time.monotonic() - began
        other.execute("ROLLBACK")
        other.close()
    assert took < 2
    calls = [step for found in traces_in(tmp_path) for step in found.root.walk() if step.kind == "model"]
    assert len(calls) == 4
    assert all(step.messages and step.replies for step in calls)


async def test_what_another_holds_to_the_end_is_told(tmp_path: Path):
    graph = methods.llm_score(criteria=[jg.Criterion(name="C", definition="d")])

    async def run() -> None:
        with jg.tracing(tmp_path):
            other.execute("BEGIN IMMEDIATE")
            await graph.ainvoke({"sample": SAMPLE})

    with jg.tracing(tmp_path):
        pass
    warned = pytest.warns(RuntimeWarning, match="is incomplete: .* 1 reply not kept")
    with closing(sqlite3.connect(tmp_path / "notes.sqlite", isolation_level=None)) as other, warned:
        await run()


@pytest.mark.filterwarnings("error")
async def test_where_warnings_are_errors_what_was_raised_within_is_heard(tmp_path: Path):
    graph = methods.llm_score(criteria=[jg.Criterion(name="C", definition="d")])

    async def run() -> None:
        with jg.tracing(tmp_path):
            sqlite3.connect(tmp_path / "notes.sqlite").execute("DROP TABLE replies").connection.close()
            await graph.ainvoke({"sample": SAMPLE})
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine") as told:
        await run()
    assert "is incomplete" in told.value.__notes__[0]


@pytest.mark.parametrize("redact", [None, 5, "texts", ("prompts",)])
def test_what_is_not_kept_is_a_list(redact: Any, tmp_path: Path):
    with (
        pytest.raises(jg.ConfigError, match=r"redact(: expected| is a list)"),
        jg.tracing(tmp_path, redact=redact),
    ):
        pass


async def test_a_sample_whose_id_raises_is_a_run_like_others(tmp_path: Path):
    class Wild:
        @property
        def id(self) -> str:
            raise RuntimeError("no id")

    with jg.tracing(tmp_path):
        await chain(one).ainvoke({"sample": Wild()})
    assert [(journey.sample, names(journey)) for journey in told(tmp_path)] == [("run-1", ["one"])]


def test_what_is_closed_writes_to_no_other_file(tmp_path: Path):
    file = SpanFile(tmp_path / SPANS)
    file.close()
    other = os.open(tmp_path / "other", os.O_CREAT | os.O_WRONLY, 0o600)  # it may get the number that was let go
    try:
        with pytest.raises(OSError, match="Bad file descriptor"):
            file.add(b"a line\n")
        file.close()
        os.write(other, b"mine")
    finally:
        os.close(other)
    assert (tmp_path / "other").read_bytes() == b"mine"


def test_a_thread_that_ends_its_graph_after_the_file_was_closed_writes_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    ends, closes = threading.Event(), threading.Event()
    line = Recorder.line

    def late(self: Recorder, *args: Any, **more: Any) -> bytes:
        ends.set()
        closes.wait(0.5)  # the folder is being left meanwhile
        return line(self, *args, **more)

    monkeypatch.setattr(Recorder, "line", late)
    with jg.tracing(tmp_path / "t"):
        here = contextvars.copy_context()
        thread = threading.Thread(target=here.run, args=(chain(plainly).invoke, {"count": 1}))
        thread.start()
        ends.wait(5)
    other = os.open(tmp_path / "other", os.O_CREAT | os.O_WRONLY, 0o600)
    closes.set()
    thread.join()
    os.close(other)
    assert (tmp_path / "other").read_bytes() == b""
    assert len(told(tmp_path / "t")) == 1


async def test_redacted_no_name_that_a_model_wrote_is_kept(tmp_path: Path):
    aspects = json.dumps({"aspects": [{"name": "CANARY", "definition": "x"}, {"name": "CANARY2", "definition": "y"}]})
    for redact in ((), ("texts",)):
        judge = scripted(aspects, *[json.dumps({"score": 3, "reason": "r"})] * 40)
        graph = methods.coascore(judge=judge, criteria=[jg.Criterion(name="C", definition="d")], aspects=2)
        with jg.tracing(tmp_path / str(len(redact)), redact=redact):
            await graph.ainvoke({"sample": jg.Sample(id="s", query="q", source="src", output="o")})
    assert b"CANARY" in (tmp_path / "0" / SPANS).read_bytes()
    assert not [path for path in (tmp_path / "1").iterdir() if b"CANARY" in path.read_bytes()]
