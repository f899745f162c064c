"""Export to a real Phoenix, which runs in an environment of its own: it is read back what it understood.

`make phoenix` installs it in .phoenix (about 850 MB) and runs this.
"""

import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

import judgegraph as jg
import judgegraph.graphs as methods
from judgegraph.testing import scripted

ROOT = Path(__file__).resolve().parents[2]
PHOENIX = Path(os.environ.get("PHOENIX", ROOT / ".phoenix/bin/phoenix"))
KINDS = {"graph": "CHAIN", "node": "CHAIN", "agent": "AGENT", "model": "LLM", "tool": "TOOL"}
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not PHOENIX.exists(), reason="skipped: no Phoenix; `make phoenix` installs one"),
]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as held:
        return int(held.getsockname()[1])


def answer(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=10) as found:
        return json.load(found)


@pytest.fixture(scope="module")
def phoenix(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("phoenix")) as url:
        yield url


@contextmanager
def serving(folder: Path, **more: str) -> Iterator[str]:
    """A Phoenix of its own, in a folder, with more variables."""
    port = free_port()
    settings = {
        "PHOENIX_WORKING_DIR": str(folder), "PHOENIX_PORT": str(port), "PHOENIX_GRPC_PORT": str(free_port()),
        "PHOENIX_HOST": "127.0.0.1", "PHOENIX_TELEMETRY_ENABLED": "false", "PHOENIX_ALLOW_EXTERNAL_RESOURCES": "false",
    }  # fmt: skip
    url = f"http://127.0.0.1:{port}"
    with (
        open(folder / "log", "wb") as log,
        subprocess.Popen(
            [PHOENIX, "serve"], env=os.environ | settings | more, cwd=folder, stdout=log, stderr=log
        ) as server,
    ):
        try:
            wait_for(url, server)
            yield url
        finally:
            server.terminate()  # by its own id
            server.wait(timeout=30)


def wait_for(url: str, server: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + 90
    while time.monotonic() < until:
        assert server.poll() is None, "Phoenix ended"
        try:
            urllib.request.urlopen(f"{url}/healthz", timeout=5).close()
            return
        except OSError:
            time.sleep(0.5)
    raise AssertionError("Phoenix does not answer")


def spans(url: str, count: int, project: str) -> list[dict[str, Any]]:
    """What Phoenix has, when it has written as many as were sent."""
    until, found = time.monotonic() + 30, list[dict[str, Any]]()
    while len(found) < count and time.monotonic() < until:
        time.sleep(0.5)
        try:
            found = answer(f"{url}/v1/projects/{project}/spans?limit=1000")["data"]
        except urllib.error.HTTPError:  # the project comes with the first span
            continue
    return found


def annotations(url: str, ids: list[str], project: str) -> list[dict[str, Any]]:
    """All that Phoenix shows beside these spans."""
    asked = urllib.parse.urlencode([("limit", "10000"), *(("span_ids", one) for one in ids)])
    found: list[dict[str, Any]] = answer(f"{url}/v1/projects/{project}/span_annotations?{asked}")["data"]
    return found


def graphql(url: str, query: str) -> Any:
    body = json.dumps({"query": query}).encode()
    asked = urllib.request.Request(f"{url}/graphql", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(asked, timeout=10) as found:
        return json.load(found)["data"]


@pytest.fixture
def project(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """One for each test; spans go to it by what the environment says of their resource."""
    name = request.node.name.replace("_", "-")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", f"openinference.project.name={name}")
    monkeypatch.setenv("NO_PROXY", "*")
    return str(name)


def test_phoenix_shows_what_was_done(phoenix: str, project: str, tmp_path: Path):
    sent: dict[str, Any] = {}
    for name, file, settings in (("sageval", "forms", {"criteria": "forms"}), ("fusion_eval", "articles", {})):
        data = list(jg.load(ROOT / f"examples/{file}.jsonl"))[:2]
        run = jg.evaluate(getattr(methods, name)(**settings), data, out=tmp_path / name)
        assert run.export_otel(phoenix) > 10
        run.export_otel(phoenix)  # twice: Phoenix knows them by their ids
        sent |= {item.id: (item, list(run.trace(item.id).root.walk())) for item in run.items}
    total = sum(len(steps) for _, steps in sent.values())
    found = spans(phoenix, total, project)
    assert len(found) == total
    ids = {span["context"]["span_id"]: span for span in found}
    for sample, (item, steps) in sent.items():
        mine = [span for span in found if span["attributes"]["judgegraph.sample.id"] == sample]
        assert sorted(span["span_kind"] for span in mine) == sorted(
            "EVALUATOR" if step.kind == "agent" and step.scores else KINDS[step.kind] for step in steps
        )
        assert sum(span["parent_id"] is None for span in mine) == 1
        assert all(span["parent_id"] is None or span["parent_id"] in ids for span in mine)
        events = [event for span in mine for event in span["events"]]
        assert len(events) == len(item.scores)
        calls = [step for step in steps if step.kind == "model"]
        shown = [span["attributes"] for span in mine if span["span_kind"] == "LLM"]
        for key, name in (("llm.token_count.prompt", "prompt_tokens"), ("llm.model_name", "")):
            expected = sorted(step.about[name] if name else step.name for step in calls)
            assert sorted(about[key] for about in shown) == expected
        said = {message for step in calls for _, message in step.messages}
        assert {about["llm.input_messages.0.message.content"] for about in shown} <= said


def test_phoenix_shows_scores_as_annotations_and_a_run_as_a_session(phoenix: str, project: str, tmp_path: Path):
    data = [
        jg.Sample(**{**one.model_dump(), "human": {"Tone": [4.0, 3.5], "Fairness": "good"}})
        for one in list(jg.load(ROOT / "examples/forms.jsonl"))[:3]
    ]
    run = jg.evaluate(methods.sageval(criteria="forms"), data, out=tmp_path / "run")
    for _ in range(2):  # the second time nothing is added
        sent = run.export_otel(phoenix)
        assert (sent.tool, sent.annotations) == ("phoenix", 3 * (16 + 3))
    found = spans(phoenix, sent, project)
    assert len(found) == sent
    names = {span["context"]["span_id"]: span for span in found}
    shown = annotations(phoenix, list(names), project)
    assert len(shown) == sent.annotations
    roots = {span["name"] for span in found if span["parent_id"] is None}
    assert roots == {f"invoke_workflow sageval {one.id}" for one in data}
    judged = [one for one in shown if one["annotator_kind"] == "LLM"]
    means: dict[str, list[Any]] = {}
    for item in run.items:
        mine = [one for one in judged if one["metadata"]["sample"] == item.id]
        for score in item.scores:
            more, agent = (" (draft)", "Evaluator") if score.stage == "draft" else ("", "Rectify")
            (one,) = [one for one in mine if one["name"] == score.criterion + more]
            assert names[one["span_id"]]["name"] == f"invoke_agent {agent}"
            assert (one["result"]["score"], one["result"]["explanation"] or "") == (score.value, score.reason)
            assert one["result"]["label"] == score.label
            if score.value is not None:
                means.setdefault(one["name"], []).append(score.value)
    people = [one for one in shown if one["annotator_kind"] == "HUMAN"]
    assert Counter((one["name"], one["result"]["score"], one["result"]["label"]) for one in people) == {
        ("Tone (human)", 4.0, None): 3, ("Tone (human)", 3.5, None): 3, ("Fairness (human)", None, "good"): 3,
    }  # fmt: skip
    assert {names[one["span_id"]]["name"] for one in people} == roots
    told = graphql(phoenix, SUMMARIES)["projects"]["edges"]
    (mine,) = [one["node"] for one in told if one["node"]["name"] == project]
    assert [one["node"] for one in mine["sessions"]["edges"]] == [
        {"sessionId": run.manifest["run"], "numTraces": len(data)}
    ]
    assert mine["spanAnnotationSummary"]["meanScore"] == pytest.approx(fmean(means["Fairness"]))


SUMMARIES = """{projects {edges {node {
    name sessions(first: 10) {edges {node {sessionId numTraces}}}
    spanAnnotationSummary(annotationName: "Fairness") {meanScore}
}}}}"""


def test_phoenix_shows_errors_as_errors(phoenix: str, project: str, tmp_path: Path):
    statuses, count = {}, 0
    criteria = [jg.Criterion(name="note", definition="d")]  # a name that Phoenix keeps for itself
    for name, reply in (("unreadable", "no score at all"), ("failed", RuntimeError("out of order"))):
        graph = methods.llm_score(judge=scripted(*[reply] * 9), criteria=criteria)
        run = jg.evaluate(graph, [jg.Sample(id=name, query="q", output="o")], out=tmp_path / name)
        count += run.export_otel(phoenix)
        (score,) = next(run.items).scores
        statuses[name] = score
    found = spans(phoenix, count, project)
    shown = annotations(phoenix, [span["context"]["span_id"] for span in found], project)
    for name, score in statuses.items():
        mine = [span for span in found if span["attributes"]["judgegraph.sample.id"] == name]
        assert {span["status_code"] for span in mine} == {"ERROR"}
        (root,) = [span for span in mine if span["parent_id"] is None]
        assert root["status_message"] == f"{score.status}: no answer ({score.reason})"
        (one,) = [one for one in shown if one["metadata"]["sample"] == name]
        assert (one["result"]["score"], one["result"]["label"]) == (None, score.status)
        assert (one["name"], one["result"]["explanation"]) == ("note (score)", score.reason)


def test_a_phoenix_that_asks_for_a_key_gets_it(tmp_path: Path, project: str, monkeypatch: pytest.MonkeyPatch):
    key = "a-key-of-32-characters-1234567890"
    asks = {"PHOENIX_ENABLE_AUTH": "true", "PHOENIX_SECRET": f"s{key}", "PHOENIX_ADMIN_SECRET": key}
    run = jg.evaluate(
        methods.llm_score(criteria="forms"), list(jg.load(ROOT / "examples/forms.jsonl"))[:1], out=tmp_path / "run"
    )
    (tmp_path / "phoenix").mkdir()
    with serving(tmp_path / "phoenix", **asks) as url:
        monkeypatch.setenv("PHOENIX_API_KEY", key)
        with pytest.raises(
            jg.ConfigError, match=r"401 Unauthorized.*with --scores phoenix PHOENIX_API_KEY is sent"
        ) as told:
            run.export_otel(url)
        assert key not in str(told.value)
        sent = run.export_otel(url, scores="phoenix")
        assert sent.annotations == len(next(run.items).scores)
        monkeypatch.delenv("PHOENIX_API_KEY")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", f"authorization=Bearer {key}")
        assert run.export_otel(url).annotations == sent.annotations
