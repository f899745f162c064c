"""A server over loopback, data and criteria for commands that are called as people call them."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

SERVER = Path(__file__).resolve().parents[1] / "http/server.py"
CRITERIA = "name: one\ntask: a text\ncriteria:\n- name: Clarity\n  definition: It is clear.\n"
_names = itertools.count()


@dataclass(frozen=True)
class Site:
    """Where a script answers, and what it was asked."""

    url: str
    seen_at: str
    data: Path

    @property
    def count(self) -> int:
        with urllib.request.urlopen(self.seen_at) as answer:
            return len(json.load(answer))

    def command(self, *more: object) -> list[str]:
        """`judgegraph run` with one call for each sample."""
        criteria = self.data.with_name("criteria.yaml")
        judge = ("--judge", "openai:stub", "--base-url", self.url)
        return [str(x) for x in ("run", "llm-score", self.data, "-c", criteria, *judge, *more)]


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    with subprocess.Popen([sys.executable, str(SERVER)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()  # by its own id
        process.wait(timeout=10)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Nine samples."""
    rows = [{"id": f"s{i}", "query": "q", "source": "A text.", "output": f"text {i}"} for i in range(9)]
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "criteria.yaml").write_text(CRITERIA)
    return path


@pytest.fixture
def site(address: str, data: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Site]:
    monkeypatch.setenv("OPENAI_API_KEY", "k")

    def start(script: str) -> Site:
        name = f"c{next(_names)}"
        return Site(f"{address}/{script}/{name}/v1", f"{address}/seen/{name}", data)

    return start
