"""A stub of an OpenAI-compatible server with latency and faults of its own, for one test."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Stub:
    """A server that runs, by its address."""

    url: str

    def stats(self) -> dict[str, Any]:
        with urllib.request.urlopen(self.url.removesuffix("/v1") + "/stats", timeout=10) as answer:
            found: dict[str, Any] = json.load(answer)
        return found

    def settled(self) -> dict[str, Any]:
        """Its counts when nothing is in flight any more: a killed client's requests have ended."""
        deadline = time.monotonic() + 10
        while (found := self.stats())["in_flight"] and time.monotonic() < deadline:
            time.sleep(0.02)
        return found

    def answered(self) -> int:
        """Replies sent in full with status 200; without `drop`, which counts as one too."""
        return int(self.settled()["by_status"].get("200", 0))

    def reset(self, **options: Any) -> None:
        request = urllib.request.Request(
            self.url.removesuffix("/v1") + "/reset", json.dumps(options).encode(), method="POST"
        )
        urllib.request.urlopen(request, timeout=10).close()


@contextmanager
def stub(shared: Path, *options: str) -> Generator[Stub]:
    """Started with options of its own, stopped by its own id."""
    command = [sys.executable, str(shared / "bench/stub_server.py"), "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield Stub(process.stdout.readline().split()[-1])
        finally:
            process.terminate()
            process.wait(timeout=10)
