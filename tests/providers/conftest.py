"""A server over loopback that speaks as Anthropic, Gemini and Ollama do; each test has a script of its own."""

from __future__ import annotations

import gc
import itertools
import json
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from judgegraph.calls import Endpoint

SERVER = Path(__file__).with_name("wires.py")
KEY = "canary-key-0123456789"
MODELS = {"anthropic": "claude-stub", "google_genai": "gemini-3-stub", "ollama": "stub"}
PACKAGES = {"anthropic": "langchain_anthropic", "google_genai": "langchain_google_genai", "ollama": "langchain_ollama"}
_names = itertools.count()


@dataclass(frozen=True)
class Wire:
    """An address with a script, and what came there."""

    provider: str
    url: str
    seen_at: str

    def judge(self, **settings: Any) -> Endpoint:
        about = {"timeout": 5.0, "attempts": 3, "base_url": self.url, **settings}
        return Endpoint(model=f"{self.provider}:{MODELS[self.provider]}", **about)

    @property
    def seen(self) -> list[dict[str, Any]]:
        with urllib.request.urlopen(self.seen_at, timeout=5) as answer:
            found: list[dict[str, Any]] = json.load(answer)
        return found


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    with subprocess.Popen([sys.executable, str(SERVER)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()  # by its own id
        process.wait(timeout=10)


@pytest.fixture(params=list(MODELS))
def provider(request: pytest.FixtureRequest) -> str:
    """Each provider whose package is installed; the others are skipped, saying so."""
    name = str(request.param)
    pytest.importorskip(PACKAGES[name], reason=f"{PACKAGES[name]} is not installed")
    pytest.importorskip("langchain", reason="langchain is not installed")
    return name


@pytest.fixture
def wire(address: str, provider: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Wire]]:
    for variable in ("ANTHROPIC_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.setenv(variable, KEY)

    def scripted(script: str = "ok") -> Wire:
        name = f"n{next(_names)}"
        return Wire(provider, f"{address}/{script}/{name}", f"{address}/seen/{name}")

    yield scripted
    gc.collect()  # what an SDK left unawaited is told here, and not in somebody else's test
