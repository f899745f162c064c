"""Export to OpenTelemetry: what a collector receives is the trace, whole, once recognisable, and nothing unasked."""

import base64
import json
import logging
import os
import socket
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from click.testing import CliRunner
from collector import MIRRORS, Collector, collecting, values
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import judgegraph as jg
import judgegraph.graphs as methods
from judgegraph.cli import main
from judgegraph.testing import Scripted, scripted
from judgegraph.testing.scripted import TEXTS
from judgegraph.trace.otel import CONVENTIONS, attributes
from judgegraph.trace.record import Step

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
METHODS = [  # method, data, arguments
    ("sageval", "forms", {"criteria": "forms"}), ("fusion_eval", "articles", {}), ("fennec", "pairs", {}),
    ("coascore", "articles", {}), ("g_eval", "articles", {}), ("llm_score", "articles", {}),
]  # fmt: skip
OPERATIONS = {"graph": "invoke_workflow", "agent": "invoke_agent", "model": "chat", "tool": "execute_tool"}
CRITERION = [jg.Criterion(name="C", definition="d")]


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    monkeypatch.setenv("NO_PROXY", "*")
    with collecting() as server:
        yield server


def run_of(method: str, file: str, out: Path, count: int = 2, **settings: Any) -> jg.Run:
    graph = getattr(methods, method)(**settings)
    return jg.evaluate(graph, list(jg.load(EXAMPLES / f"{file}.jsonl"))[:count], out=out)


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> jg.Run:
    return run_of("sageval", "forms", tmp_path_factory.mktemp("forms") / "run", criteria="forms")


def by_trace(spans: list[Any]) -> dict[str, dict[bytes, Any]]:
    """Sample -> its spans by their ids."""
    found: dict[str, dict[bytes, Any]] = {}
    for span in spans:
        found.setdefault(values(span.attributes)["judgegraph.sample.id"], {})[span.span_id] = span
    return found


def shape(spans: dict[bytes, Any], at: Any) -> Any:
    below = [shape(spans, one) for one in spans.values() if one.parent_span_id == at.span_id]
    name = at.name if at.parent_span_id else at.name.removesuffix(" " + values(at.attributes)["judgegraph.sample.id"])
    return name.rpartition(" ")[2], (at.end_time_unix_nano - at.start_time_unix_nano) // 1000, below


def shape_of(step: Step) -> Any:
    return step.name.rpartition(":")[2], round(step.ms * 1e6) // 1000, [shape_of(one) for one in step.steps]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("method", "file", "settings"), METHODS, ids=[name for name, *_ in METHODS])
def test_a_collector_receives_the_tree_of_each_sample(
    method: str, file: str, settings: dict[str, Any], tmp_path: Path, collector: Collector
):
    run = run_of(method, file, tmp_path / "run", **settings)
    began = time.time()
    assert run.export_otel(collector.url) == len(collector.spans)
    found = by_trace(collector.spans)
    assert set(found) == {item.id for item in run.items}
    for sample, spans in found.items():
        root = run.trace(sample).root
        (first,) = [span for span in spans.values() if not span.parent_span_id]
        assert shape(spans, first) == shape_of(root)
        assert first.name == f"invoke_workflow {root.name} {sample}"
        assert {values(s.attributes)["session.id"] for s in spans.values()} == {run.manifest["run"]}
        assert len({span.trace_id for span in spans.values()}) == 1
        assert all(not s.parent_span_id or s.parent_span_id in spans for s in spans.values())
        assert 0 < began - first.start_time_unix_nano / 1e9 < 120
        for step, span in zip(root.walk(), spans.values(), strict=True):
            told = values(span.attributes)
            assert told.get("gen_ai.operation.name") == OPERATIONS.get(step.kind)
            assert (span.kind == Span.SPAN_KIND_CLIENT) == (step.kind == "model")
            assert span.status.code == Status.STATUS_CODE_UNSET


def test_a_model_call_is_told_by_the_conventions(forms: jg.Run, collector: Collector):
    forms.export_otel(collector.url, samples=["onboarding"])
    (root,) = [span for span in collector.spans if not span.parent_span_id]
    call = next(span for span in collector.spans if span.name == "chat embedded")
    step = next(step for step in forms.trace("onboarding").root.walk() if step.kind == "model")
    told = values(call.attributes)
    assert json.loads(told["gen_ai.input.messages"]) == [
        {"role": role, "parts": [{"type": "text", "content": text}]} for role, text in step.messages
    ]
    assert json.loads(told["gen_ai.output.messages"]) == [
        {"role": "assistant", "parts": [{"type": "text", "content": step.replies[0]}], "finish_reason": "stop"}
    ]
    expected = {
        "gen_ai.provider.name": "judgegraph.embedded", "gen_ai.request.model": "embedded",
        "gen_ai.request.temperature": 0.0, "gen_ai.response.finish_reasons": ["stop"], "gen_ai.output.type": "json",
        "gen_ai.usage.input_tokens": step.about["prompt_tokens"], "llm.token_count.prompt": step.about["prompt_tokens"],
        "gen_ai.usage.output_tokens": step.about["completion_tokens"], "openinference.span.kind": "LLM",
        "judgegraph.address": step.about["address"], "judgegraph.prompt": step.about["prompt"],
        "judgegraph.requests": 1, "judgegraph.place": "evaluate", "output.value": step.replies[0],
    }  # fmt: skip
    assert {name: told.get(name) for name in expected} == expected
    first = values(root.attributes)
    assert (first["judgegraph.run.id"], first["judgegraph.signature"]) == (forms.manifest["run"], forms.signature)
    assert (collector.resource["service.name"], collector.paths) == ("judgegraph", ["/v1/traces"])
    scope = collector.batches[0].resource_spans[0].scope_spans[0]
    assert (scope.scope.name, scope.schema_url) == ("judgegraph", CONVENTIONS)


def test_each_score_is_an_event_on_the_span_that_gave_it(forms: jg.Run, collector: Collector):
    forms.export_otel(collector.url, samples=["onboarding"])
    item = next(item for item in forms.items if item.id == "onboarding")
    told = [
        (span.name, values(event.attributes)) for span in collector.spans for event in span.events
        if event.name == "gen_ai.evaluation.result" and event.time_unix_nano == span.end_time_unix_nano
    ]  # fmt: skip
    assert len(told) == len(item.scores) == 16  # each once, draft and final
    for score in item.scores:
        (name, about) = next(one for one in told if one[1]["judgegraph.score.key"] == score.key)
        assert name == f"invoke_agent {'Evaluator' if score.stage == 'draft' else 'Rectify'}"
        assert about["gen_ai.evaluation.name"] == score.criterion
        assert about.get("gen_ai.evaluation.score.value") == score.value
        assert about.get("gen_ai.evaluation.score.label") == score.label
        assert about.get("gen_ai.evaluation.explanation", "") == score.reason
        assert json.loads(about.get("judgegraph.score.distribution", "null")) == score.distribution


def test_what_failed_is_an_error_and_no_number(tmp_path: Path, collector: Collector):
    graph = methods.llm_score(judge=scripted(*["no score at all"] * 4), criteria=CRITERION)
    run = jg.evaluate(graph, [jg.Sample(id="s", query="q", output="o")], out=tmp_path / "run")
    run.export_otel(collector.url)
    (event,) = [event for span in collector.spans for event in span.events]
    told = values(event.attributes)
    assert "gen_ai.evaluation.score.value" not in told
    assert told["error.type"] == told["judgegraph.score.status"] == next(run.items).scores[0].status != "ok"


def test_a_failed_call_is_an_error_with_its_reason(tmp_path: Path, collector: Collector):
    graph = methods.llm_score(judge=scripted(*[RuntimeError("out of order")] * 9), criteria=CRITERION)
    run = jg.evaluate(graph, [jg.Sample(id="s", query="q", output="o")], out=tmp_path / "run")
    run.export_otel(collector.url)
    (call,) = [span for span in collector.spans if span.name.startswith("chat ")]
    assert (call.status.code, "out of order" in call.status.message) == (Status.STATUS_CODE_ERROR, True)
    run.export_otel(collector.url, redact=True)
    assert collector.spans[-1].trace_id == call.trace_id
    assert not any("out of order" in span.status.message for span in collector.spans[len(collector.spans) // 2 :])


def test_sent_twice_it_has_the_same_ids_and_other_runs_have_others(tmp_path: Path, collector: Collector, forms: jg.Run):
    count = forms.export_otel(collector.url)
    assert forms.export_otel(collector.url) == count
    ids = [(span.trace_id, span.span_id) for span in collector.spans]
    assert ids[:count] == ids[count:]
    assert len(set(ids)) == count
    assert all(len(trace) == 16 and len(span) == 8 for trace, span in ids)
    run_of("sageval", "forms", tmp_path / "run", criteria="forms").export_otel(collector.url)
    assert not {span.trace_id for span in collector.spans[2 * count :]} & {trace for trace, _ in ids}


def test_redacted_no_text_is_sent(tmp_path: Path, collector: Collector):
    sample = jg.Sample(id="s", query="CANARY q", source="CANARY s", output="The CANARY text. It is short.")
    run = jg.evaluate(methods.fusion_eval(), [sample], out=tmp_path / "run")
    run.export_otel(collector.url)
    whole = b"".join(batch.SerializeToString() for batch in collector.batches)
    replies = [reply for step in run.trace("s").root.walk() for reply in step.replies]
    assert b"CANARY" in whole
    collector.batches.clear()
    run.export_otel(collector.url, redact=True)
    sent = b"".join(batch.SerializeToString() for batch in collector.batches)
    assert b"CANARY" not in sent
    assert replies
    assert not any(reply.encode() in sent for reply in replies)
    reasons = [score.reason for score in next(run.items).scores if score.reason]
    assert reasons
    assert not any(reason.encode() in sent for reason in reasons)
    assert b"gen_ai.usage.input_tokens" in sent
    assert b"gen_ai.evaluation.score.value" in sent


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", sorted(TEXTS))
def test_hostile_texts_arrive_as_texts(name: str, tmp_path: Path, collector: Collector):
    text = TEXTS[name]
    sample = jg.Sample(id=f"id \x1b[31m{text[:40]}", query="q", output=text)
    run = jg.evaluate(methods.llm_score(criteria=CRITERION), [sample], out=tmp_path / "run")
    assert run.export_otel(collector.url) == len(collector.spans) > 0
    (root,) = [span for span in collector.spans if not span.parent_span_id]
    told = values(root.attributes)
    assert told["judgegraph.sample.id"] == sample.id.replace("\0", "\ufffd")
    assert json.loads(told["input.value"]).get("output", "") == text.replace("\0", "\ufffd")


def test_many_samples_go_in_small_requests(tmp_path: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("judgegraph.traces.otel.SPANS", 7)
    samples = [jg.Sample(id=f"s{n}", query="q", output=f"text {n}") for n in range(20)]
    run = jg.evaluate(methods.llm_score(criteria=CRITERION), samples, out=tmp_path / "run")
    count = run.export_otel(collector.url)
    assert len(collector.batches) == -(-count // 7)
    assert len(by_trace(collector.spans)) == 20


REFUSED = [
    ("status=500", "500"), ("status=401", "401"), ("status=404", "404"), ("page", "is this the address"),
    ("elsewhere", "302 Found, a redirect"), ("part=3", "3 of them left out"), ("hang=3", "did not take the spans"),
    ("status=503", "503 Service Unavailable"), ("nowhere", "answered 302"), ("unchanged", "answered 304"),
    ("busy", "429 Too Many Requests, and asks to wait 3600 seconds"), ("busy until", "to wait until Wed, 21 Oct 2099"),
    ("part in JSON", "3 of them left out: old"), ("another JSON", "what no collector says"),
    ("error in JSON", 'collector? it says {"error": "quota used up"}'),
    ("error of no kind", 'it says {"code": 7, "message": "denied"}'),
    ("garbage", "what no collector says"), ("drip", "no answer in 1."), ("bomb", "what no collector says"),
]  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("does", "why"), REFUSED, ids=[does for does, _ in REFUSED])
def test_a_refusal_is_told_in_a_line_and_ends_in_time(
    does: str, why: str, forms: jg.Run, collector: Collector, monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
):  # fmt: skip
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1.5")
    collector.does, began = does, time.monotonic()
    with caplog.at_level(logging.DEBUG, "opentelemetry"):
        done = CliRunner().invoke(main, ["export", str(forms.folder.path), "--otlp", collector.url])
    assert done.exit_code == 1
    (line,) = done.output.strip().splitlines()
    assert why in line
    assert collector.url in line
    assert "\x1b" not in line
    assert time.monotonic() - began < 10
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def test_nobody_there_is_told_without_what_the_address_hides(forms: jg.Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    with pytest.raises(jg.ConfigError, match="did not take the spans") as told:
        forms.export_otel(f"http://me:CANARY-PASS@127.0.0.1:{port}/?api_key=CANARY-KEY")
    assert "CANARY" not in str(told.value)


@pytest.mark.parametrize("does", ["nothing", "whole in JSON", "whole by its other name", "whole and empty"])
def test_an_empty_answer_and_one_in_json_are_answers(does: str, forms: jg.Run, collector: Collector):
    collector.does = does
    assert forms.export_otel(collector.url) > 0


def test_of_a_swollen_answer_little_is_held(forms: jg.Run, collector: Collector):
    collector.does = "bomb"
    tracemalloc.start()
    try:
        with pytest.raises(jg.ConfigError, match="what no collector says"):
            forms.export_otel(collector.url)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("query", ["api_key=CANARY{k", "api_key=CANARY k%zz", 'api_key=CANARY"x', "CANARY\u00e9"])
def test_no_query_is_ever_shown(query: str, forms: jg.Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.5")
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    with pytest.raises(jg.ConfigError, match="Connection refused") as told:
        forms.export_otel(f"http://127.0.0.1:{port}/?{query}")
    assert "CANARY" not in str(told.value)


def test_what_a_collector_repeats_of_keys_is_not_shown(
    forms: jg.Run, collector: Collector, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer CANARYTOKEN")
    collector.does = "echo"
    with pytest.raises(jg.ConfigError, match="answered 400 Bad Request: not with") as told:
        forms.export_otel(f"{collector.url}/?api_key=CANARY{{k")
    assert "CANARY" not in str(told.value)


@pytest.mark.parametrize("does", MIRRORS)
@pytest.mark.parametrize("given", ["login", "header"])
def test_a_login_that_a_collector_repeats_is_not_shown(
    does: str, given: str, forms: jg.Run, collector: Collector, monkeypatch: pytest.MonkeyPatch
):
    told = base64.b64encode(b"CANARYme?:CANARY>>x").decode()
    assert "/" in told
    assert told.endswith("=")
    url = collector.url
    if given == "login":
        url = url.replace("//", "//CANARYme%3f:CANARY>>x@")
    else:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", f"authorization=Basic {told}")
    collector.does = does
    with pytest.raises(jg.ConfigError, match="not") as shown:
        forms.export_otel(url)
    assert collector.headers[0]["authorization"] == f"Basic {told}"
    line = str(shown.value)
    assert "..." in line
    assert not [one for one in ("CANARY", "me?", ">>", *told.rstrip("=").split("/")) if one in line]


LOGINS = [  # of the address, headers -> authorization
    ("", "", None),
    ("me:word", "", "me:word"),
    ("m%C3%A9:a%40b%3Ac d", "", "m\u00e9:a@b:c d"),
    ("KEY", "", "KEY:"),
    (":word", "", ":word"),
    (":", "", None),
    ("", "authorization=Bearer KEY", "Bearer KEY"),
    ("me:word", "Authorization=Bearer KEY", "Bearer KEY"),
    ("me:word", "x-api-key=KEY", "me:word"),
]


@pytest.mark.parametrize("netrc", [False, True], ids=["alone", "with a .netrc"])
@pytest.mark.parametrize(("login", "headers", "sent"), LOGINS)
def test_a_header_comes_before_a_login_and_no_netrc_is_read(
    login: str, headers: str, sent: str | None, netrc: bool, forms: jg.Run, collector: Collector, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):  # fmt: skip
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    if netrc:
        (tmp_path / ".netrc").write_text("machine 127.0.0.1 login other password OTHER\n")
        (tmp_path / ".netrc").chmod(0o600)
        assert requests.utils.get_netrc_auth(collector.url) == ("other", "OTHER")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", headers)
    forms.export_otel(collector.url.replace("//", f"//{login}@") if login else collector.url)
    basic = sent and f"Basic {base64.b64encode(sent.encode()).decode()}"
    assert collector.headers[0].get("authorization") == (sent if sent == "Bearer KEY" else basic)
    assert collector.headers[0]["host"] == collector.url.removeprefix("http://")


def test_a_proxy_of_the_environment_is_asked(forms: jg.Run, collector: Collector, monkeypatch: pytest.MonkeyPatch):
    for name, value in {"http_proxy": collector.url, "no_proxy": "", "NO_PROXY": ""}.items():
        monkeypatch.setenv(name, value)
    forms.export_otel("http://me:word@collector.invalid")
    assert collector.paths == ["http://collector.invalid/v1/traces"]
    assert collector.headers[0]["authorization"] == "Basic bWU6d29yZA=="


HEADERS = [
    "Bearer CANARY", "authorization: Bearer CANARY", "x=1,bad header=CANARY", "a=b;CANARY", "x=CANARY%0Ax:y",
    "x=CANARY\u20ac",
]  # fmt: skip


@pytest.mark.parametrize("headers", HEADERS)
def test_a_mistaken_header_is_told_without_its_value_and_nothing_is_sent(
    headers: str, forms: jg.Run, collector: Collector, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", headers)
    done = CliRunner().invoke(main, ["export", str(forms.folder.path), "--otlp", collector.url])
    assert (done.exit_code, len(done.output.strip().splitlines()), collector.paths) == (1, 1, [])
    assert "OTEL_EXPORTER_OTLP_HEADERS: entry" in done.output
    assert "CANARY" not in done.output + caplog.text


def test_a_limit_that_opentelemetry_cannot_read_is_told_in_a_line(forms: jg.Run, tmp_path: Path):
    code = (
        f"from judgegraph.cli import main; main(['export', {str(forms.folder.path)!r}, '--otlp', 'http://127.0.0.1:1'])"
    )
    env = {**os.environ, "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT": "x"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env=env)
    assert done.returncode == 1
    assert ("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT" in done.stderr, "Traceback" in done.stderr) == (True, False)


@pytest.mark.parametrize("samples", ["onboarding", [], [5], 5])
def test_samples_are_ids(samples: Any, forms: jg.Run):
    with pytest.raises(jg.ConfigError, match=r"samples: (ids of samples|expected none or a list)"):
        forms.export_otel(exporter=InMemorySpanExporter(), samples=samples)


def test_an_exporter_is_one(forms: jg.Run):
    with pytest.raises(jg.ConfigError, match="is no exporter"):
        forms.export_otel(exporter=5)


def test_names_that_a_model_wrote_are_not_sent_redacted(tmp_path: Path, collector: Collector):
    aspects = json.dumps({"aspects": [{"name": "CANARY", "definition": "x"}, {"name": "CANARY2", "definition": "y"}]})
    judge = scripted(aspects, *[json.dumps({"score": 3, "reason": "r"})] * 40)
    graph = methods.coascore(judge=judge, criteria=CRITERION, aspects=2)
    run = jg.evaluate(graph, [jg.Sample(id="s", query="q", source="src", output="o")], out=tmp_path / "run")
    run.export_otel(collector.url)
    assert b"CANARY" in b"".join(batch.SerializeToString() for batch in collector.batches)
    collector.batches.clear()
    run.export_otel(collector.url, redact=True)
    assert len(collector.spans) > 3
    assert b"CANARY" not in b"".join(batch.SerializeToString() for batch in collector.batches)


def test_no_escape_of_a_nul_is_sent(tmp_path: Path, collector: Collector):
    sample = jg.Sample(id="s", query="q", output="a\0b and \\u0000 as it is")
    jg.evaluate(methods.llm_score(criteria=CRITERION), [sample], out=tmp_path / "run").export_otel(collector.url)
    said = [one for span in collector.spans for one in values(span.attributes).values() if isinstance(one, str)]
    assert not [one for one in said if "\0" in one or "a\\u0000b" in one]
    (root,) = [span for span in collector.spans if not span.parent_span_id]
    assert json.loads(values(root.attributes)["input.value"])["output"] == "a\ufffdb and \\u0000 as it is"


def test_a_request_is_counted_in_bytes(tmp_path: Path, collector: Collector):
    samples = [jg.Sample(id=f"s{n}", query="q", output="\u6f22" * 150_000) for n in range(4)]
    jg.evaluate(methods.llm_score(criteria=CRITERION), samples, out=tmp_path / "run").export_otel(collector.url)
    assert len(collector.batches) > 1
    assert max(len(batch.SerializeToString()) for batch in collector.batches) < 2_100_000


JUDGES = [
    ("openai:gpt-4.1", "openai"), ("ChatOpenAI:gpt-4.1", "openai"), ("AzureChatOpenAI:gpt-4.1", "azure.ai.openai"),
    ("ChatAnthropic:claude", "anthropic"), ("MyModel:one", "mymodel"), ("embedded@t0", "judgegraph.embedded"),
]  # fmt: skip


@pytest.mark.parametrize(("judge", "provider"), JUDGES)
def test_a_provider_is_named_as_the_conventions_do(judge: str, provider: str):
    assert attributes(Step("model", judge, 0, 1, "ok", {}), texts=True)["gen_ai.provider.name"] == provider


class Placed(Scripted):
    """As a model object with an address."""

    model_name: str = "gpt-x@2025"
    base_url: str = "http://CANARY.invalid:8000/v1"


def test_an_agent_names_the_model_that_its_calls_name_and_no_address(tmp_path: Path, collector: Collector):
    judge = Placed(script=[json.dumps({"score": 3, "reason": "r"})] * 9)
    graph = methods.llm_score(judge=judge, criteria=CRITERION)
    jg.evaluate(graph, [jg.Sample(id="s", query="q", output="o")], out=tmp_path / "run").export_otel(collector.url)
    told = {span.name.split()[0]: values(span.attributes) for span in collector.spans}
    agent, chat = told["invoke_agent"], told["chat"]
    names = ("gen_ai.provider.name", "gen_ai.request.model")
    assert [agent[name] for name in names] == [chat[name] for name in names] == ["placed", "gpt-x@2025"]
    assert agent["judgegraph.judge"].startswith("Placed:gpt-x@2025@")
    assert agent["judgegraph.judge"].endswith("@CANARY.invalid:8000/v1")
    assert [key for key, one in agent.items() if "CANARY" in str(one)] == ["judgegraph.judge"]


LINES = [  # an agent's judges, names of the calls -> provider, model
    ("openai:gpt-x@t0.7@127.0.0.1:18765/v1", [], "openai", "gpt-x"),
    ("openai:gpt-x@127.0.0.1:18765/v1", ["openai:gpt-x"], "openai", "gpt-x"),
    ("embedded@t0@set1a2b3c4d", [], "judgegraph.embedded", "embedded"),
    ("ChatOpenAI@t0@host:8000/v1", [], "judgegraph", "ChatOpenAI"),
    ("ollama:llama3:8b@t0@host:1/v1", [], "ollama", "llama3:8b"),
    ("mine:@cf/meta@t0@host", [], "mine", "@cf/meta"),
    ("google_vertexai:claude@2024@t0", ["google_vertexai:claude@2024"], "gcp.vertex_ai", "claude@2024"),
    ("google_vertexai:claude@2024@t0", ["openai:of-an-assistant"], "gcp.vertex_ai", "claude"),
    ("openai:a@t0@host,openai:a@t1@host", ["openai:a"], "openai", "a"),
    ("openai:a@t0@host,openai:b@t1@host", ["openai:a", "openai:b"], "openai", None),
    ("openai:a@t0@host,embedded", [], None, None),
]


@pytest.mark.parametrize(("judge", "calls", "provider", "model"), LINES)
def test_of_a_judge_the_model_alone_is_named(judge: str, calls: list[str], provider: str | None, model: str | None):
    below = tuple(Step("model", name, 0, 1) for name in calls)
    told = attributes(Step("agent", "Agent", 0, 1, "ok", {"judge": judge}, steps=below), texts=True)
    assert (told.get("gen_ai.provider.name"), told.get("gen_ai.request.model")) == (provider, model)
    assert told["judgegraph.judge"] == judge


def test_headers_come_from_the_environment_and_the_path_is_kept(
    forms: jg.Run, collector: Collector, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-api-key=k%201,Authorization=Basic abc")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "mine")
    forms.export_otel(f"{collector.url}/api/public/otel/", scores="none")
    forms.export_otel(f"{collector.url}/otel/v1/traces?key=1")
    assert collector.headers[0]["x-api-key"] == "k 1"
    assert collector.headers[0]["authorization"] == "Basic abc"
    assert collector.paths == ["/api/public/otel/v1/traces", "/otel/v1/traces?key=1"]
    assert collector.resource["service.name"] == "mine"


def test_an_exporter_of_ones_own_gets_the_spans_and_stays_open(forms: jg.Run):
    exporter = InMemorySpanExporter()
    count = forms.export_otel(exporter=exporter, samples=["onboarding"])
    assert forms.export_otel(exporter=exporter, samples=["onboarding"]) == count
    assert len(exporter.get_finished_spans()) == 2 * count


@pytest.mark.parametrize("given", [{}, {"endpoint": "http://127.0.0.1:1", "exporter": InMemorySpanExporter()}])
def test_nothing_goes_anywhere_unasked(
    given: dict[str, Any], forms: jg.Run, collector: Collector, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    with pytest.raises(jg.ConfigError, match="nothing is sent anywhere unasked"):
        forms.export_otel(**given)
    assert collector.paths == []


def test_an_address_is_text(forms: jg.Run):
    with pytest.raises(jg.ConfigError, match="is no text; write what is not ASCII as %XX"):
        forms.export_otel("http://127.0.0.1:1/?key=\udcff")


@pytest.mark.parametrize("url", ["", "ftp://127.0.0.1", "127.0.0.1:4318", "http://", "http://[", "http://h:x"])
def test_an_address_is_one(url: str, forms: jg.Run):
    with pytest.raises(jg.ConfigError, match="begins with http"):
        forms.export_otel(url)


def test_what_is_not_there_is_told(tmp_path: Path, forms: jg.Run, collector: Collector):
    with pytest.raises(jg.ConfigError, match=r"no sample 'onbording'; did you mean 'onboarding'\?"):
        forms.export_otel(collector.url, samples=["onbording"])
    sample = jg.Sample(id="s", query="q", output="o")
    plain = jg.evaluate(methods.llm_score(criteria=CRITERION), [sample], out=tmp_path / "run", trace=False)
    held = jg.evaluate(methods.llm_score(criteria=CRITERION), [sample])
    for run in (plain, held):
        with pytest.raises(jg.ConfigError, match="no spans were recorded"):
            run.export_otel(collector.url)
    assert collector.paths == []


async def test_a_folder_of_plain_runs_is_sent_by_the_command(tmp_path: Path, collector: Collector):
    with jg.tracing(tmp_path):
        for n in range(2):
            await methods.llm_score(criteria=CRITERION).ainvoke(
                {"sample": jg.Sample(id=f"s{n}", query="q", output="o")}
            )
    done = CliRunner().invoke(main, ["export", str(tmp_path), "--otlp", collector.url, "--sample", "s1"])
    assert (done.exit_code, set(by_trace(collector.spans))) == (0, {"s1"})
    assert done.output == f"{len(collector.spans)} spans sent\n"
    count = len(collector.paths)
    for more in (["--sample", "s9"], ["--sample", "s1", "--sample", "s9"]):
        done = CliRunner().invoke(main, ["export", str(tmp_path), "--otlp", collector.url, *more])
        assert (done.exit_code, "has no sample 's9'" in done.output, len(collector.paths)) == (1, True, count)


@pytest.mark.parametrize("more", [[], ["-o", "x.csv", "--otlp", "http://h"], ["-o", "x.csv", "--redact", "texts"]])
def test_the_command_says_what_it_needs(more: list[str], forms: jg.Run):
    assert CliRunner().invoke(main, ["export", str(forms.folder.path), *more]).exit_code == 2


def test_without_the_extra_a_line_names_it(forms: jg.Run):
    code = f"""
import sys
sys.modules["opentelemetry.sdk.resources"] = None
from judgegraph.cli import main
main(["export", {str(forms.folder.path)!r}, "--otlp", "http://127.0.0.1:1"])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert "pip install 'judgegraph[otel]'" in done.stderr
    assert "Traceback" not in done.stderr
