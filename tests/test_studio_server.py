"""LangGraph's own development server starts from langgraph.json, lists every method and runs them over HTTP."""

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from judgegraph.registry import METHODS
from judgegraph.registry.shipped import PEER_METHODS

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = {"id": "1", "query": "Why?", "source": "It rained on Monday.", "output": "Because it rained."}
STARTS_WITHIN, RUNS_WITHIN = 60.0, 60.0  # seconds


def asked(port, method, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=RUNS_WITHIN)
    try:
        connection.request(method, path, json.dumps(body) if body else None, {"content-type": "application/json"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def is_up(port):
    try:
        return asked(port, "GET", "/ok")[0] == 200
    except (OSError, ValueError, http.client.HTTPException):
        return False


def copied(folder):
    """langgraph.json elsewhere, as the server keeps files of its own beside it."""
    listed = json.loads((ROOT / "langgraph.json").read_text())
    listed["graphs"] = {n: f"{ROOT / p.partition(':')[0]}:{p.partition(':')[2]}" for n, p in listed["graphs"].items()}
    (folder / "langgraph.json").write_text(json.dumps({**listed, "dependencies": [str(ROOT)]}))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    pytest.importorskip("langgraph_api", reason="skipped: langgraph dev comes with the extra studio")
    folder = tmp_path_factory.mktemp("studio")
    copied(folder)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload", "--port", str(port)]
    quiet = {"LANGSMITH_TRACING": "false", "LANGGRAPH_CLI_NO_ANALYTICS": "1", "JUDGEGRAPH_JUDGE": ""}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, env={**os.environ, **quiet})
        try:
            end = time.monotonic() + STARTS_WITHIN
            while not is_up(port) and process.poll() is None and time.monotonic() < end:
                time.sleep(0.2)
            assert is_up(port), (folder / "log").read_text(errors="replace")[-3000:]
            yield port
        finally:
            process.terminate()
            try:
                process.wait(timeout=15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@pytest.mark.long
def test_every_method_is_listed(server):
    _, listed = asked(server, "POST", "/assistants/search", {"limit": 100})
    assert {one["graph_id"] for one in listed} == {*METHODS, *PEER_METHODS}


@pytest.mark.long
def test_a_sample_without_output_is_told_to_the_client(server):
    sent = {"assistant_id": "g-eval", "input": {"sample": {"id": "1"}}}
    _, answer = asked(server, "POST", "/runs/wait", sent)
    assert answer["__error__"]["error"] == "InputError"
    assert answer["__error__"]["message"] == "sample.output: Field required"


@pytest.mark.long
@pytest.mark.parametrize("method", [*METHODS, *PEER_METHODS])
def test_a_method_runs_over_http(server, method):
    status, state = asked(server, "POST", "/runs/wait", {"assistant_id": method, "input": {"sample": SAMPLE}})
    assert status == 200
    assert any(score["value"] for score in state["scores"].values()), state
