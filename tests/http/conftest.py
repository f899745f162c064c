"""A server over loopback for a session of tests; each test has a script and a count of its own."""

from __future__ import annotations

import itertools
import json
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from judgegraph.calls import Endpoint

SERVER = Path(__file__).with_name("server.py")
KEY = "canary-key-0123456789"
_names = itertools.count()


@dataclass(frozen=True)
class Scripted:
    """An address with a script, and what came there."""

    url: str
    seen_at: str

    def judge(self, **settings: Any) -> Endpoint:
        return Endpoint(model="openai:stub", base_url=self.url, **{"timeout": 5.0, "attempts": 3, **settings})

    @property
    def seen(self) -> list[dict[str, Any]]:
        with urllib.request.urlopen(self.seen_at) as answer:
            found: list[dict[str, Any]] = json.load(answer)
        return found

    @property
    def count(self) -> int:
        return len(self.seen)

    def sent(self, name: str) -> list[Any]:
        """One parameter of every request, None where it was not sent."""
        return [one["body"].get(name) for one in self.seen]


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    with subprocess.Popen([sys.executable, str(SERVER)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()  # by its own id
        process.wait(timeout=10)


@pytest.fixture
def unused_port() -> int:
    """Where nobody listens: connections are refused."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


@pytest.fixture
def server(address: str) -> Callable[[str], Scripted]:
    def start(script: str) -> Scripted:
        name = f"t{next(_names)}"
        return Scripted(f"{address}/{script}/{name}/v1", f"{address}/seen/{name}")

    return start


BOTH_WAYS = ("test_requests",)  # modules about requests themselves: each test runs on both transports


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    asks = {"server", "stub_url"} & set(metafunc.fixturenames)
    if asks and metafunc.module.__name__.rpartition(".")[2] in BOTH_WAYS:
        metafunc.parametrize("transport", ["fast", "langchain"], indirect=True)


@pytest.fixture
def transport(request: pytest.FixtureRequest) -> str:
    """How "openai:" judges are asked in this test."""
    return str(getattr(request, "param", "auto"))


@pytest.fixture(autouse=True)
def _keyed(monkeypatch: pytest.MonkeyPatch, transport: str) -> None:
    monkeypatch.setenv("JUDGEGRAPH_TRANSPORT", transport)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@pytest.fixture
def no_backoff(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries at once where the server names no time."""
    monkeypatch.setattr("judgegraph.calls.call._backoff", lambda _: 0.0)
