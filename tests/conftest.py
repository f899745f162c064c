"""What many tests share."""

import itertools
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a table marked `sampled(n)` every n-th case runs with the fast tests, the others with the long ones."""
    met: Counter[str] = Counter()
    for item in items:
        if (mark := item.get_closest_marker("sampled")) is None:
            continue
        table = item.nodeid.partition("[")[0]
        if met[table] % mark.args[0]:
            item.add_marker(pytest.mark.long)
        met[table] += 1


SHARED = Path(__file__).resolve().parents[2] / "shared"
_caches = itertools.count()


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `doctor` once found on this machine changes no test."""
    monkeypatch.setenv("JUDGEGRAPH_CACHE", str(tmp_path_factory.getbasetemp() / f"cache-{next(_caches)}"))


@pytest.fixture(autouse=True)
def _one_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is printed is as wide for a worker of pytest-xdist, which sets COLUMNS, as without one."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of human judgements and recorded replies beside the checkout; without it a test skips."""
    if not SHARED.is_dir():
        pytest.skip("skipped: no ../shared")
    return SHARED


@pytest.fixture(scope="session")
def stub_url(shared: Path) -> Iterator[str]:
    """The address of a stub of an OpenAI-compatible server, started for the session and stopped by its own id."""
    command = [sys.executable, str(shared / "bench/stub_server.py"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().split()[-1]
        process.terminate()
        process.wait(timeout=10)
