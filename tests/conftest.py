"""What many tests share."""

import gc
import inspect
import itertools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("judgegraph", deadline=None)  # tests of their own measure how long what takes
settings.load_profile("judgegraph")
gc.set_threshold(100_000, 50, 50)  # by default the collector takes a tenth of all tests
ROWS = 3  # from so many rows on a table that asks for nothing is one case
MEMORY = Path("/dev/shm")  # every run waits until the disk has its folder: tests need not
ROOM = 4 << 30  # bytes


def room_in_memory() -> bool:
    """Whether folders of tests have room in memory, where programs may be run too."""
    about = os.statvfs(MEMORY) if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) else None
    return about is not None and about.f_bavail * about.f_frsize > ROOM and not about.f_flag & os.ST_NOEXEC


if room_in_memory():
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--each-row", action="store_true", help="a case for each row of a table, to look at one with -k")


def pytest_collection_finish() -> None:
    """What was imported and collected stays: the collector need not look at it again and again."""
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Make a table of rows that need no fixture one case, and leave all but the samples of a long table to `soak`.

    Every row of the first kind runs, and a failure names each row that failed: one law is one case. Of a table marked
    `sampled(n)` every n-th row is a case of the fast tests; the others are marked `soak`.
    """
    found: list[pytest.Item] = []
    for _, group in itertools.groupby(items, key=lambda item: item.nodeid.partition("[")[0]):
        rows = list(group)
        if (mark := rows[0].get_closest_marker("sampled")) is not None:
            for place, item in enumerate(rows):
                if place % mark.args[0]:
                    item.add_marker(pytest.mark.soak)
        found += [of_rows(rows)] if not config.getoption("--each-row") and is_table(rows) else rows
    items[:] = found


def is_table(rows: list[pytest.Item]) -> bool:
    """Whether one function is called with nothing but the values of each row."""
    item = rows[0]
    if len(rows) < ROWS or not isinstance(item, pytest.Function) or item.cls is not None:
        return False
    if any(mark.name not in ("parametrize", "asyncio") for row in rows for mark in row.iter_markers()):
        return False  # a row of its own kind, or a table that is sampled, long or skipped
    given = set(item.callspec.params)
    own = {"_own_cache", "_one_width", "request", "tmp_path_factory", "monkeypatch"}  # of every test, see below
    loop = {
        name for name in item.fixturenames if name.startswith(("event_loop", "_function_scoped", "_session_scoped"))
    }
    asked = set(inspect.signature(item.obj).parameters)
    indirect = any(mark.kwargs.get("indirect") for mark in item.iter_markers("parametrize"))
    values = {name for mark in item.iter_markers("parametrize") for name in names_of(mark.args[0])}
    return not indirect and asked == given == values and not set(item.fixturenames) - given - own - loop


def names_of(argnames: str | list[str] | tuple[str, ...]) -> list[str]:
    return [name.strip() for name in argnames.split(",")] if isinstance(argnames, str) else list(argnames)


def of_rows(rows: list[pytest.Item]) -> pytest.Item:
    """The first case, which now calls its function with every row and tells of all that fail."""
    first: Any = rows[0]
    call: Callable[..., Any] = first.obj
    table = [(row.callspec.id, row.callspec.params) for row in rows if isinstance(row, pytest.Function)]

    def told(failed: dict[str, BaseException]) -> None:
        if len(failed) == 1:
            [(row, error)] = failed.items()
            error.add_note(f"row [{row}] of {len(table)}")
            raise error
        if failed:
            for row, error in failed.items():
                error.add_note(f"row [{row}]")
            raise BaseExceptionGroup(f"{len(failed)} of {len(table)} rows: {', '.join(failed)}", list(failed.values()))

    def each(**_: Any) -> None:
        failed: dict[str, BaseException] = {}
        for row, values in table:
            try:
                call(**values)
            except (Exception, pytest.fail.Exception) as error:
                failed[row] = error
        told(failed)

    async def each_awaited(**_: Any) -> None:
        failed: dict[str, BaseException] = {}
        for row, values in table:
            try:
                await call(**values)
            except (Exception, pytest.fail.Exception) as error:
                failed[row] = error
        told(failed)

    first.obj = each_awaited if inspect.iscoroutinefunction(call) else each
    first.name = first.originalname
    first._nodeid = first.nodeid.partition("[")[0]
    return first


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
