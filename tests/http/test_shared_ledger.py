"""Two processes on one ledger at the same moment: a call is paid for once, and whoever dies holds nobody up."""

import asyncio
import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest
from rich.console import Console

import judgegraph as jg
from judgegraph.calls import Endpoint
from judgegraph.calls.ledger import Ledger, Paid
from judgegraph.graphs import llm_score
from judgegraph.views.run import end
from judgegraph.views.terminal import show

pytestmark = pytest.mark.slow

COUNT = 60
RUN = """
import json, sys
import judgegraph as jg
from judgegraph.calls import Endpoint
from judgegraph.graphs import llm_score
url, ledger, count, timeout = sys.argv[1:]
judge = Endpoint(model="openai:stub", base_url=url, timeout=100, attempts=3)
samples = [jg.Sample(id=f"s{n}", output=f"text number {n}") for n in range(int(count))]
run = jg.evaluate(
    llm_score(judge, criteria=[jg.Criterion(name="Clarity")]), samples, ledger=ledger, concurrency=16,
    timeout=float(timeout), budget=jg.Budget(calls=int(count)),
)
print(json.dumps([sorted({item.status for item in run.items}), run.manifest["calls"]["ledger"], run.manifest["spent"]]))
"""


def start(site, ledger, count=COUNT, timeout=60.0):
    command = [sys.executable, "-c", RUN, site.url, str(ledger), str(count), str(timeout)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def result(process):
    said, wrong = process.communicate(timeout=60)
    assert process.returncode == 0, wrong
    return json.loads(said)


def sent(site, count):
    """Wait until so many requests have come."""
    deadline = time.monotonic() + 30
    while site.count < count and time.monotonic() < deadline:
        time.sleep(0.02)
    return site.count


async def paid():
    return Paid(b"reply")


def test_two_processes_that_want_the_same_calls_pay_once(server, tmp_path):
    site, ledger = server("slow=0.05"), tmp_path / "calls.sqlite"
    found = [result(process) for process in [start(site, ledger), start(site, ledger)]]
    assert site.count == COUNT
    assert [statuses for statuses, _, _ in found] == [["ok"]] * 2
    assert sum(counts["paid"] for _, counts, _ in found) == COUNT
    assert sum(spent["calls"] for _, _, spent in found) == COUNT


@pytest.mark.long
def test_when_one_is_killed_the_other_pays_for_what_it_had_under_way(server, tmp_path):
    site, ledger = server(",".join(["slow=60"] * 8 + ["ok"])), tmp_path / "calls.sqlite"
    first = start(site, ledger, 8)
    assert sent(site, 8) == 8
    second = start(site, ledger, 8, timeout=1.0)  # a sample has less than it has to wait: its clock stands meanwhile
    time.sleep(4)
    assert (second.poll(), site.count) == (None, 8)
    first.kill()
    first.communicate()
    statuses, counts, spent = result(second)
    assert (statuses, counts["paid"], spent["calls"], site.count) == (["ok"], 8, 8, 16)


@pytest.mark.long
def test_what_fails_in_one_process_the_other_tries_for_itself(server, tmp_path):
    site, ledger = server("400,400,400,400,ok"), tmp_path / "calls.sqlite"
    found = [result(process) for process in [start(site, ledger, 4), start(site, ledger, 4)]]
    paid = sum(counts["paid"] for _, counts, _ in found)
    assert site.count == 4 + paid  # the four that failed; nothing that came is paid for twice
    assert paid >= 2  # four failures leave at least two samples that failed in one process at most


async def test_a_ledger_that_an_older_version_made_takes_leases_too(tmp_path):
    ledger = Ledger(tmp_path / "calls.sqlite")
    await ledger.answer(b"a" * 16, paid)
    ledger.close()
    with closing(sqlite3.connect(ledger.path)) as db:
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
    assert tables == {"replies", "payments"}  # as ever: a version without leases reads the file too
    (tmp_path / "calls.sqlite.leases").unlink()
    again = Ledger(ledger.path)
    assert await again.answer(b"a" * 16, paid) == b"reply"
    assert not (tmp_path / "calls.sqlite.leases").exists()  # nothing was paid for
    await again.answer(b"b" * 16, paid)
    assert os.stat(tmp_path / "calls.sqlite.leases").st_mode & 0o777 == 0o600


def test_a_lease_ends_with_its_process_though_a_child_of_it_lives_on(tmp_path):
    code = f"""
import asyncio, os, time
from judgegraph.calls.ledger import Ledger
async def main():
    async def pay():
        if (child := os.fork()) == 0:
            time.sleep(60)
            os._exit(0)
        print(child, flush=True)
        os.kill(os.getpid(), 9)
    await Ledger({str(tmp_path / "calls.sqlite")!r}).answer(b"a" * 16, pay)
asyncio.run(main())
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        child = int(process.stdout.readline())
        process.wait(timeout=30)

        async def take():
            ledger = Ledger(tmp_path / "calls.sqlite")
            return await asyncio.wait_for(ledger.answer(b"a" * 16, paid), 30)

        try:
            assert asyncio.run(take()) == b"reply"
            os.kill(child, 0)  # it lives
        finally:
            os.kill(child, signal.SIGKILL)


def test_a_process_that_was_stopped_is_not_waited_for_for_ever(server, tmp_path, monkeypatch):
    site, ledger = server("slow=60,ok"), tmp_path / "calls.sqlite"
    first = start(site, ledger, 1)
    try:
        assert sent(site, 1) == 1
        first.send_signal(signal.SIGSTOP)
        monkeypatch.setattr("judgegraph.calls.call._longest", lambda _: 1.5)
        graph = llm_score(
            Endpoint(model="openai:stub", base_url=site.url, timeout=100, attempts=3),
            criteria=[jg.Criterion(name="Clarity")],
        )
        begun = time.monotonic()
        run = jg.evaluate(graph, [jg.Sample(id="s0", output="text number 0")], ledger=ledger, timeout=1.0)
        assert 1.4 < time.monotonic() - begun < 20
    finally:
        first.kill()
        first.communicate()
    assert [item.status for item in run.items] == ["ok"]
    assert (site.count, run.manifest["calls"]["ledger"]["overtaken"]) == (2, 1)
    told = io.StringIO()
    show(end(run, run.summary(), [], None), Console(file=told, width=200))
    assert "1 call of another run with this ledger came to no end, and it was paid for here too" in told.getvalue()


async def test_a_process_that_goes_on_is_waited_for_as_long_as_it_does(tmp_path):
    """It commits other replies meanwhile, such as under a limit of few requests a minute."""
    one, two = Ledger(tmp_path / "calls.sqlite"), Ledger(tmp_path / "calls.sqlite")
    done = asyncio.Event()

    async def slow():
        await done.wait()
        return Paid(b"reply")

    holds = asyncio.create_task(one.answer(b"a" * 16, slow))
    await asyncio.sleep(0.05)
    waits = asyncio.create_task(two.answer(b"a" * 16, paid, patience=1.2))
    for n in range(5):
        await asyncio.sleep(0.5)
        await one.answer(bytes([n]) * 16, paid)
    assert not waits.done()
    done.set()
    assert await holds == await waits == b"reply"
    assert (two.counts.paid, two.counts.overtaken) == (0, 0)
    one.close()
    two.close()
