"""Scores where Phoenix and Langfuse show them: each once, on the span that gave it, and no number for a failure."""

import base64
import json
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from collector import Collector, collecting, values
from opentelemetry.proto.trace.v1.trace_pb2 import Status
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from takers import PHOENIX, Taker, taking

import judgegraph as jg
import judgegraph.graphs as methods
from judgegraph.answers import roles_of
from judgegraph.cli import main
from judgegraph.testing import scripted
from judgegraph.testing.scripted import TEXTS

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
CRITERION = [jg.Criterion(name="C", definition="d")]
TOOLS = ["phoenix", "langfuse"]


@pytest.fixture
def taker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Taker]:
    monkeypatch.setenv("NO_PROXY", "*")
    for name in ("PHOENIX_API_KEY", "LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY", "OTEL_EXPORTER_OTLP_HEADERS"):
        monkeypatch.delenv(name, raising=False)
    with taking() as server:
        yield server


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> jg.Run:
    people = {"Tone": [4, 3.5, " "], "Fairness": "good"}
    data = [jg.Sample(**{**one.model_dump(), "human": people}) for one in list(jg.load(EXAMPLES / "forms.jsonl"))[:2]]
    return jg.evaluate(methods.sageval(criteria="forms"), data, out=tmp_path_factory.mktemp("forms") / "run")


def address(taker: Taker, tool: str) -> str:
    return taker.url + ("/api/public/otel" if tool == "langfuse" else "")


def plain(kept: dict[Any, Any]) -> list[dict[str, Any]]:
    """What is known of each in one form, whichever tool took it."""
    return [_of_langfuse(one) if hasattr(one, "body") else _of_phoenix(one) for one in kept.values()]


def _of_phoenix(one: Any) -> dict[str, Any]:
    told = one.result
    answer = told.label if told.score is None else told.score
    return {
        "name": one.name, "span": one.span_id, "kind": one.annotator_kind, "answer": answer,
        "reason": told.explanation, "about": one.metadata,
    }  # fmt: skip


def _of_langfuse(one: Any) -> dict[str, Any]:
    body = one.body
    about = {key: value for key, value in body.metadata.items() if key != "annotator_kind"}
    return {
        "name": body.name, "span": body.observationId, "kind": body.metadata["annotator_kind"], "answer": body.value,
        "reason": body.comment, "about": about, "trace": body.traceId,
    }  # fmt: skip


@pytest.mark.parametrize("tool", TOOLS)
def test_each_score_is_there_once_on_the_span_that_gave_it(tool: str, forms: jg.Run, taker: Taker):
    sent = forms.export_otel(address(taker, tool), scores=tool)
    items = {item.id: item for item in forms.items}
    scores = sum(len(item.scores) for item in items.values())
    assert (sent, sent.annotations, len(taker.kept)) == (len(taker.spans), scores + 3 * 2, scores + 3 * 2)
    spans = {span.span_id.hex(): span for span in taker.spans}
    found = plain(taker.kept)
    for sample, item in items.items():
        roles = roles_of(item)
        for score in item.scores:
            name = score.criterion + ("" if roles[score.key] == "answer" else " (draft)")
            (one,) = [one for one in found if (one["name"], one["about"]["sample"]) == (name, sample)]
            keys = [values(event.attributes)["judgegraph.score.key"] for event in spans[one["span"]].events]
            assert score.key in keys
            assert (one["kind"], one["answer"], one["reason"] or "") == ("LLM", score.answer, score.reason)
            assert values(spans[one["span"]].attributes)["judgegraph.sample.id"] == sample
            assert one.get("trace", spans[one["span"]].trace_id.hex()) == spans[one["span"]].trace_id.hex()


@pytest.mark.parametrize("tool", TOOLS)
def test_what_people_said_is_theirs_and_stands_on_the_sample(tool: str, forms: jg.Run, taker: Taker):
    forms.export_otel(address(taker, tool), scores=tool)
    roots = {span.span_id.hex() for span in taker.spans if not span.parent_span_id}
    said = [one for one in plain(taker.kept) if one["kind"] == "HUMAN"]
    assert Counter((one["name"], one["answer"]) for one in said) == {
        ("Tone (human)", 4.0): 2, ("Tone (human)", 3.5): 2, ("Fairness (human)", "good"): 2,
    }  # fmt: skip
    assert {one["span"] for one in said} == (roots if tool == "phoenix" else {None})  # there it is the trace's


@pytest.mark.parametrize("tool", TOOLS)
def test_sent_twice_nothing_is_doubled_and_another_run_is_another(
    tool: str, forms: jg.Run, taker: Taker, tmp_path: Path
):
    url = address(taker, tool)
    count = forms.export_otel(url, scores=tool).annotations
    once = dict(taker.kept)
    assert forms.export_otel(url, scores=tool).annotations == count
    assert taker.kept == once
    again = jg.evaluate(methods.sageval(criteria="forms"), [item.sample for item in forms.items], out=tmp_path / "run")
    again.export_otel(url, scores=tool)
    assert len(taker.kept) == 2 * count


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("reply", ["no score at all", RuntimeError("out of order")], ids=["unreadable", "failed"])
def test_what_has_no_answer_is_sent_as_what_it_is(tool: str, reply: Any, taker: Taker, tmp_path: Path):
    graph = methods.llm_score(judge=scripted(*[reply] * 9), criteria=CRITERION)
    run = jg.evaluate(graph, [jg.Sample(id="s", query="q", output="o")], out=tmp_path / "run")
    run.export_otel(address(taker, tool), scores=tool)
    (score,) = next(run.items).scores
    (one,) = plain(taker.kept)
    assert score.status != "ok"
    assert (one["answer"], one["about"]["status"]) == (score.status, score.status)
    (root,) = [span for span in taker.spans if not span.parent_span_id]
    assert root.status.code == Status.STATUS_CODE_ERROR
    assert root.status.message == f"{score.status}: no answer ({score.reason})"
    assert values(root.attributes)["error.type"] == score.status


@pytest.mark.parametrize("tool", TOOLS)
def test_of_pairs_the_verdicts_and_each_side_are_told_apart(tool: str, taker: Taker, tmp_path: Path):
    run = jg.evaluate(methods.fennec(), list(jg.load(EXAMPLES / "pairs.jsonl"))[:2], out=tmp_path / "run")
    run.export_otel(address(taker, tool), scores=tool)
    found = plain(taker.kept)
    for item in run.items:
        mine = [one for one in found if one["about"]["sample"] == item.id]
        assert len(mine) == len(item.scores) + len(item.comparisons) + 1
        verdicts = {one["name"]: one["answer"] for one in mine if "(verdict" in one["name"]}
        assert verdicts == {f"{one.criterion} (verdict {one.order})": one.verdict for one in item.comparisons}
        rivals = {one["name"]: one["answer"] for one in mine if "(rival" in one["name"]}
        assert rivals == {f"{one.criterion} (rival)": one.answer for one in item.scores if one.of == "rival"}
        assert [one["answer"] for one in mine if one["name"] == "overall"] == [item.overall]


@pytest.mark.parametrize("tool", TOOLS)
def test_redacted_no_reason_is_sent(tool: str, taker: Taker, tmp_path: Path):
    replies = [json.dumps({"score": 3, "reason": "CANARY reason"})] * 9
    graph = methods.llm_score(judge=scripted(*replies), criteria=CRITERION)
    sample = jg.Sample(id="s", query="q", output="o", human={"C": "CANARY label", "CANARY name": 4})
    run = jg.evaluate(graph, [sample], out=tmp_path / "run")
    run.export_otel(address(taker, tool), scores=tool)
    assert "CANARY" in repr(taker.kept)
    taker.kept.clear()
    assert run.export_otel(address(taker, tool), scores=tool, redact=True).annotations == 3
    assert "CANARY" not in repr(taker.kept)
    assert [one["answer"] for one in plain(taker.kept) if one["name"] == "C"] == [3.0]


def test_phoenix_is_known_by_its_answer_and_langfuse_by_its_address(
    forms: jg.Run, taker: Taker, monkeypatch: pytest.MonkeyPatch
):
    def told(*more: str, path: str = "") -> tuple[str, list[str]]:
        taker.paths.clear()
        taker.batches.clear()
        done = CliRunner().invoke(main, ["export", str(forms.folder.path), "--otlp", taker.url + path, *more])
        assert done.exit_code == 0, done.output
        return done.output, taker.paths[1:]

    count = forms.export_otel(exporter=InMemorySpanExporter())
    scores = 2 * (16 + 3)
    assert told() == (f"{count} spans sent\n", [])
    whole = f"{count} spans and {scores} annotations sent\n"
    assert told("--scores", "phoenix") == (whole, ["/v1/span_annotations?sync=true"])
    taker.says = PHOENIX
    assert told() == (whole, ["/v1/span_annotations?sync=true"])
    assert told("--scores", "none") == (f"{count} spans sent\n", [])
    monkeypatch.setenv("PHOENIX_API_KEY", "CANARY")
    taker.does = "status=401"
    done = CliRunner().invoke(main, ["export", str(forms.folder.path), "--otlp", taker.url])
    assert "401 Unauthorized: no; with --scores phoenix PHOENIX_API_KEY is sent" in done.output
    assert not [headers for headers in taker.headers if "authorization" in headers]
    taker.does, taker.says = "ok", {}
    whole = f"{count} spans and {scores} scores sent\n"
    assert told(path="/api/public/otel/v1/traces") == (whole, ["/api/public/ingestion"])


def test_phoenix_is_asked_again_until_it_has_the_spans(forms: jg.Run, taker: Taker, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("judgegraph.traces.annotations.PAUSE", 0.01)
    taker.late = 3
    assert forms.export_otel(taker.url, scores="phoenix").annotations == len(taker.kept) == 38
    assert taker.paths.count("/v1/span_annotations?sync=true") == 4


def test_many_go_in_small_requests(forms: jg.Run, taker: Taker, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("judgegraph.traces.annotations.MANY", 5)
    assert forms.export_otel(address(taker, "langfuse")).annotations == len(taker.kept) == 38
    assert taker.paths.count("/api/public/ingestion") == 8


REFUSED = [
    ("phoenix", "status=401", "answered 401"), ("phoenix", "status=404", "answered 404"),
    ("phoenix", "another JSON", "what Phoenix does not say"), ("phoenix", "nothing", "what Phoenix does not say"),
    ("phoenix", "takes", "28 of 38 left out"), ("phoenix", "elsewhere", "302 Found, a redirect"),
    ("phoenix", "late", "answered 404"),
    ("langfuse", "status=500", "answered 500"), ("langfuse", "error in JSON", "what Langfuse does not say"),
    ("langfuse", "takes", "28 of 38 left out: too"), ("langfuse", "busy", "asks to wait 3600 seconds"),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "does", "why"), REFUSED)
def test_a_refusal_is_a_line_and_no_success(
    tool: str, does: str, why: str, forms: jg.Run, taker: Taker, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    taker.takes, taker.late = 10 if does == "takes" else taker.takes, 99 if does == "late" else 0
    with collecting() as other:
        taker.scores_do, taker.elsewhere, began = does, f"{other.url}/v1/span_annotations", time.monotonic()
        done = CliRunner().invoke(
            main, ["export", str(forms.folder.path), "--otlp", address(taker, tool), "--scores", tool]
        )
        assert other.paths == []
    (line,) = done.output.strip().splitlines()
    assert (done.exit_code, why in line, taker.url in line, "\x1b" in line) == (1, True, True, False)
    assert "took the spans" in line
    assert time.monotonic() - began < 5


KEYS = [  # tool, environment, authorization
    ("phoenix", {"PHOENIX_API_KEY": "CANARYKEY"}, "Bearer CANARYKEY"),
    ("phoenix", {"LANGFUSE_PUBLIC_KEY": "CANARYP", "LANGFUSE_SECRET_KEY": "CANARYS"}, None),
    ("langfuse", {"LANGFUSE_PUBLIC_KEY": "CANARYP", "LANGFUSE_SECRET_KEY": "CANARY%41"}, "CANARYP:CANARY%41"),
    ("langfuse", {"PHOENIX_API_KEY": "CANARYKEY"}, None),
    ("phoenix", {"PHOENIX_API_KEY": "no", "OTEL_EXPORTER_OTLP_HEADERS": "authorization=CANARYOWN"}, "CANARYOWN"),
    ("none", {"PHOENIX_API_KEY": "CANARYKEY"}, None),
]


@pytest.mark.parametrize(("tool", "environment", "said"), KEYS)
def test_a_key_goes_to_its_tool_alone_and_is_never_shown(
    tool: str, environment: dict[str, str], said: str | None, forms: jg.Run, taker: Taker,
    monkeypatch: pytest.MonkeyPatch,
):  # fmt: skip
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    expected = f"Basic {base64.b64encode(said.encode()).decode()}" if said and ":" in said else said
    forms.export_otel(address(taker, tool), scores=tool)
    assert {headers.get("authorization") for headers in taker.headers} == {expected}
    if tool == "none" or not said:
        return
    taker.scores_do = "repeat"
    with pytest.raises(jg.ConfigError, match="not with") as told:
        forms.export_otel(address(taker, tool), scores=tool)
    assert not [one for one in ("CANARY", expected.split()[-1]) if one in str(told.value)]


def test_what_cannot_be_sent_is_told_before_anything_is(
    forms: jg.Run, taker: Taker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    for scores, url, why in (
        ("langfuse", taker.url, "ends in /api/public/otel"), ("mlflow", taker.url, "scores: expected 'auto', 'none'"),
    ):  # fmt: skip
        with pytest.raises(jg.ConfigError, match=why):
            forms.export_otel(url, scores=scores)  # type: ignore[arg-type]
    with pytest.raises(jg.ConfigError, match="goes with an address"):
        forms.export_otel(exporter=InMemorySpanExporter(), scores="phoenix")
    monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", "CANARY")
    with pytest.raises(jg.ConfigError, match="LANGFUSE_SECRET_KEY is not set") as told:
        forms.export_otel(address(taker, "langfuse"))
    monkeypatch.setenv("PHOENIX_API_KEY", "CANARY\u20ac")
    with pytest.raises(jg.ConfigError, match="can stand in no header") as shown:
        forms.export_otel(taker.url, scores="phoenix")
    assert "CANARY" not in str(told.value) + str(shown.value)
    assert taker.paths == []
    wrong = CliRunner().invoke(
        main, ["export", str(forms.folder.path), "-o", str(tmp_path / "x.csv"), "--scores", "none"]
    )
    assert wrong.exit_code == 2


@pytest.mark.parametrize("tool", TOOLS)
def test_redacted_they_stand_where_they_stood(tool: str, taker: Taker, tmp_path: Path):
    aspects = json.dumps({"aspects": [{"name": "CANARY", "definition": "x"}, {"name": "CANARY2", "definition": "y"}]})
    judge = scripted(aspects, *[json.dumps({"score": 3, "reason": "r"})] * 40)
    graph = methods.coascore(judge=judge, criteria=CRITERION, aspects=2)
    run = jg.evaluate(graph, [jg.Sample(id="s", query="q", source="src", output="o")], out=tmp_path / "run")
    run.export_otel(address(taker, tool), scores=tool)
    spans = Counter((one["span"], one["answer"]) for one in plain(taker.kept))
    assert "CANARY (aspect)" in {one["name"] for one in plain(taker.kept)}
    taker.kept.clear()
    run.export_otel(address(taker, tool), scores=tool, redact=True)
    assert Counter((one["span"], one["answer"]) for one in plain(taker.kept)) == spans
    assert "CANARY" not in repr(taker.kept)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", sorted(TEXTS))
@pytest.mark.parametrize("tool", TOOLS)
def test_hostile_names_reasons_and_labels_arrive_as_texts(tool: str, name: str, taker: Taker, tmp_path: Path):
    text = f"C {TEXTS[name][:100]}".strip()
    graph = methods.llm_score(
        judge=scripted(*[json.dumps({"score": 3, "reason": text})] * 9), criteria=[jg.Criterion(name=text)]
    )
    sample = jg.Sample(id=f"id {text}", query="q", output="o", human={text: text})
    run = jg.evaluate(graph, [sample], out=tmp_path / "run")
    assert run.export_otel(address(taker, tool), scores=tool).annotations == len(taker.kept) == 2
    shown = text.replace("\0", "\ufffd")
    assert {one["name"] for one in plain(taker.kept)} == {shown, f"{shown} (human)"}
    assert {one["answer"] for one in plain(taker.kept)} == {3.0, shown}


async def test_a_folder_of_plain_runs_has_no_scores(tmp_path: Path, taker: Taker):
    with jg.tracing(tmp_path):
        await methods.llm_score(criteria=CRITERION).ainvoke({"sample": jg.Sample(id="s", query="q", output="o")})
    done = CliRunner().invoke(main, ["export", str(tmp_path), "--otlp", taker.url, "--scores", "phoenix"])
    told = f"{len(taker.spans)} spans sent, and no annotations: there are no scores\n"
    assert (done.exit_code, done.output) == (0, told)
    assert taker.paths == ["/v1/traces"]


def test_a_collector_that_is_neither_gets_spans_alone(forms: jg.Run):
    with collecting() as server:
        sent = forms.export_otel(server.url)
        assert isinstance(server, Collector)
        assert (sent.annotations, sent.tool, server.paths) == (0, None, ["/v1/traces"])
