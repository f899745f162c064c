"""Export to a real Phoenix, which runs in an environment of its own: it is read back what it understood.

`make phoenix` installs it in .phoenix (about 850 MB) and runs this.
"""

import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import judgegraph as jg
import judgegraph.graphs as methods

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
    folder, port = tmp_path_factory.mktemp("phoenix"), free_port()
    settings = {
        "PHOENIX_WORKING_DIR": str(folder), "PHOENIX_PORT": str(port), "PHOENIX_GRPC_PORT": str(free_port()),
        "PHOENIX_HOST": "127.0.0.1", "PHOENIX_TELEMETRY_ENABLED": "false", "PHOENIX_ALLOW_EXTERNAL_RESOURCES": "false",
    }  # fmt: skip
    url = f"http://127.0.0.1:{port}"
    with (
        open(folder / "log", "wb") as log,
        subprocess.Popen([PHOENIX, "serve"], env=os.environ | settings, cwd=folder, stdout=log, stderr=log) as server,
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


def spans(url: str, count: int) -> list[dict[str, Any]]:
    """What Phoenix has, when it has written as many as were sent."""
    until, found = time.monotonic() + 30, list[dict[str, Any]]()
    while len(found) < count and time.monotonic() < until:
        time.sleep(0.5)
        try:
            found = answer(f"{url}/v1/projects/judgegraph/spans?limit=500")["data"]
        except urllib.error.HTTPError:  # the project comes with the first span
            continue
    return found


def test_phoenix_shows_what_was_done(phoenix: str, tmp_path: Path):
    sent: dict[str, Any] = {}
    for name, file, settings in (("sageval", "forms", {"criteria": "forms"}), ("fusion_eval", "articles", {})):
        data = list(jg.load(ROOT / f"examples/{file}.jsonl"))[:2]
        run = jg.evaluate(getattr(methods, name)(**settings), data, out=tmp_path / name)
        assert run.export_otel(phoenix) > 10
        run.export_otel(phoenix)  # twice: Phoenix knows them by their ids
        sent |= {item.id: (item, list(run.trace(item.id).root.walk())) for item in run.items}
    total = sum(len(steps) for _, steps in sent.values())
    found = spans(phoenix, total)
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
