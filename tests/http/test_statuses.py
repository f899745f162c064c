"""What a call and a node did is their status: in spans, in the node table, in a trace and in OpenTelemetry."""

from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

import judgegraph as jg
from judgegraph.errors import status_text
from judgegraph.graphs import g_eval, llm_score
from judgegraph.report import graph as graph_parts
from judgegraph.trace.record import SPANS, recorded_traces
from judgegraph.traces.read import node_times
from judgegraph.types import Criterion, Sample
from judgegraph.views.blocks import Grid

CLARITY = [Criterion(name="Clarity", definition="It is clear.")]
SAMPLE = Sample(id="s0", query="q", output="the text of sample 0")
CANARY = "I will not judge this"  # what the server's refusals say

FAULTS = [  # what the server does, status of the node, those of the calls in the order of asking without doubles
    ("ok", "ok", ["ok"]),
    ("refusal", "refused", ["refused"]),
    ("content_filter", "filtered", ["filtered"]),
    ("filter-400", "filtered", ["filtered"]),
    ("length", "truncated", ["truncated"]),
    ("half", "unreadable", ["unreadable"]),
    ("400", "provider_error", ["provider_error"]),
    ("500", "provider_error", ["provider_error"]),
    ("empty", "provider_error", ["provider_error"]),
    ("hang", "timeout", ["timeout"]),
    ("prose,ok", "ok", ["unreadable", "ok"]),  # asked for again, and read then
    ("half,ok", "ok", ["unreadable", "ok"]),
    ("500,ok", "ok", ["ok"]),  # one call, sent twice
]


def judged(judge: Any, out: Path, **settings: Any) -> jg.Run:
    return jg.evaluate(llm_score(judge=judge, criteria=CLARITY), [SAMPLE], out=out, **settings)


def statuses(run: jg.Run, kind: str) -> list[str]:
    (journey,) = recorded_traces(run.folder.path / SPANS)
    return list(dict.fromkeys(span.status for span in journey.spans if span.kind == kind))


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("script", "node", "calls"), FAULTS, ids=[script for script, *_ in FAULTS])
def test_a_fault_of_a_reply_is_the_status_of_its_call_and_reaches_its_node(
    script: str, node: str, calls: list[str], server, tmp_path: Path, no_backoff
):
    judge = server(script).judge(attempts=2, timeout=0.5 if script == "hang" else 5.0)
    run = judged(judge, tmp_path / "run")
    (item,) = run.items
    assert [score.status for score in item.scores] == [node]
    assert (statuses(run, "node"), statuses(run, "model")) == ([node], calls)
    times = node_times(run)["score"]
    assert (times.failures, dict(times.statuses)) == ((0, {}) if node == "ok" else (1, {node: 1}))
    assert (times.failed_calls > 0) == (set(calls) != {"ok"})
    (grid,) = [block for block in graph_parts.graph_part(run).blocks if isinstance(block, Grid)]
    row = dict(zip(grid.head, grid.rows[0], strict=True))
    assert row["Failed runs"] == ("0" if node == "ok" else f"1 ({status_text(node)} 1)")
    assert row["Failed calls"] == str(times.failed_calls)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("script", "node", "calls"), FAULTS, ids=[script for script, *_ in FAULTS])
def test_opentelemetry_has_an_error_with_its_reason_where_a_call_or_a_node_failed(
    script: str, node: str, calls: list[str], server, tmp_path: Path, no_backoff
):
    judge = server(script).judge(attempts=2, timeout=0.5 if script == "hang" else 5.0)
    run = judged(judge, tmp_path / "run")
    sent = InMemorySpanExporter()
    run.export_otel(exporter=sent)
    by_kind: dict[str, list[Any]] = {}
    for span in sent.get_finished_spans():
        by_kind.setdefault(span.name.split()[0], []).append(span.status)
    one_answer = [("score", [node]), ("invoke_agent", [node]), ("invoke_workflow", [node])]
    for name, expected in (*one_answer, ("chat", calls)):
        codes = {(one.status_code, (one.description or "").partition(":")[0]) for one in by_kind[name]}
        assert codes == {(StatusCode.UNSET, "") if x == "ok" else (StatusCode.ERROR, x) for x in expected}
        assert all(": " in (one.description or ": ") for one in by_kind[name])  # the reason
    hidden = InMemorySpanExporter()
    run.export_otel(exporter=hidden, redact=True)
    told = [span.status for span in hidden.get_finished_spans() if span.status.status_code == StatusCode.ERROR]
    assert {one.description for one in told} == {node, *calls} - {"ok"}


def test_no_word_of_a_reply_gets_into_a_span(server, tmp_path: Path):
    run = judged(server("refusal").judge(), tmp_path / "run")
    assert CANARY not in (tmp_path / "run" / SPANS).read_text()
    (item,) = run.items
    assert CANARY in item.scores[0].reason
    assert CANARY in str(run.trace("s0"))
    assert CANARY not in (tmp_path / "run" / SPANS).read_text()


def test_a_reply_that_could_not_be_read_and_lay_in_the_ledger_is_found_and_not_unsent(server, tmp_path: Path):
    site = server("half")
    judged(site.judge(), tmp_path / "one", ledger=tmp_path / "ledger.sqlite")
    again = judged(site.judge(), tmp_path / "two", ledger=tmp_path / "ledger.sqlite")
    times = node_times(again)["score"]
    assert times.calls == times.found == times.failed_calls > 1
    assert (times.unsent, times.paid) == (0, 0)


@pytest.mark.parametrize(
    ("script", "status"), [("one-choice,prose,ok", "ok"), ("half", "unreadable")], ids=["some", "none"]
)
def test_of_several_choices_a_call_failed_where_none_could_be_read(script: str, status: str, server, tmp_path: Path):
    graph = g_eval(judge=server(script).judge(), criteria=CLARITY, samples=3, logprobs=False)
    run = jg.evaluate(graph, [SAMPLE], out=tmp_path / "run")
    (item,) = run.items
    assert [score.status for score in item.scores] == statuses(run, "node") == [status]
    assert ("unreadable" in statuses(run, "model"), "ok" in statuses(run, "model")) == (True, status == "ok")


async def test_plain_langgraph_runs_have_the_same_statuses(server, tmp_path: Path):
    with jg.tracing(tmp_path / "traced"):
        await llm_score(judge=server("refusal").judge(), criteria=CLARITY).ainvoke({"sample": SAMPLE})
    (journey,) = recorded_traces(tmp_path / "traced" / SPANS)
    assert [(span.kind, span.status) for span in journey.spans[1:]] == [("node", "refused"), ("model", "refused")]
