"""The ledger: paid once, also while under way; a damaged row is asked again, a foreign file left alone."""

import asyncio
import os
import sqlite3
import subprocess
import sys
from contextlib import contextmanager

import pytest

from judgegraph.calls.budget import OverBudget
from judgegraph.calls.ledger import Ledger, LedgerError, Paid
from judgegraph.errors import AuthError, ReplyError

A, B = b"a" * 16, b"b" * 16


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.sqlite"


class Payer:
    """Counts how often it is asked to pay; each time it does what the script says."""

    def __init__(self, *script, wait=0.01):
        self.script, self.wait, self.count = list(script), wait, 0

    async def __call__(self):
        self.count += 1
        await asyncio.sleep(self.wait)
        does = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(does, Exception):
            raise does
        return Paid(does)


async def test_the_second_call_is_found(path):
    ledger, pay = Ledger(path), Payer(b"reply")
    assert [await ledger.answer(A, pay) for _ in range(3)] == [b"reply"] * 3
    assert (pay.count, ledger.counts.paid, ledger.counts.hits) == (1, 1, 2)


async def test_another_address_is_another_call(path):
    ledger, pay = Ledger(path), Payer(b"reply")
    await ledger.answer(A, pay)
    await ledger.answer(B, pay)
    assert pay.count == 2


async def test_of_a_thousand_at_once_one_pays(path):
    ledger, pay = Ledger(path), Payer(b"reply")
    assert set(await asyncio.gather(*(ledger.answer(A, pay) for _ in range(1000)))) == {b"reply"}
    assert (pay.count, ledger.counts.joined) == (1, 999)


async def test_it_is_committed_before_its_waiter_sees_it(path):
    ledger = Ledger(path)
    await ledger.answer(A, Payer(b"reply"))
    other = sqlite3.connect(path)
    assert other.execute("SELECT body FROM replies").fetchall() == [(b"reply",)]
    other.close()


async def test_a_failed_call_lets_the_next_waiter_try(path):
    ledger, pay = Ledger(path), Payer(ValueError("first"), b"reply")
    got = await asyncio.gather(*(ledger.answer(A, pay) for _ in range(5)), return_exceptions=True)
    assert [str(g) for g in got if isinstance(g, Exception)] == ["first"]
    assert got.count(b"reply") == 4
    assert pay.count == 2


@pytest.mark.parametrize("error", [ValueError("no"), ReplyError("no", status="timeout")])
async def test_where_it_fails_twice_it_fails_for_all_who_wait_and_later_calls_try_anew(path, error):
    ledger, pay = Ledger(path), Payer(error, wait=0)
    got = await asyncio.gather(*(ledger.answer(A, pay) for _ in range(30)), return_exceptions=True)
    assert [str(g) for g in got] == ["no"] * 30
    assert pay.count == 2
    assert await ledger.answer(A, Payer(b"reply")) == b"reply"


async def test_a_request_that_no_server_will_take_is_sent_once_for_all_who_wait(path):
    refused = ReplyError("400", status="provider_error")
    refused.final = True
    ledger, pay = Ledger(path), Payer(refused)
    got = await asyncio.gather(*(ledger.answer(A, pay) for _ in range(200)), return_exceptions=True)
    assert {(str(g), g.status) for g in got} == {("400", "provider_error")}
    assert len(set(map(id, got))) == 200  # each has its own to write notes on
    assert pay.count == 1
    with pytest.raises(ReplyError):
        await ledger.answer(A, pay)
    assert pay.count == 2


async def test_who_was_over_budget_keeps_no_other_from_trying(path):
    ledger, pay = Ledger(path), Payer(OverBudget("no"), OverBudget("no"), ReplyError("500"), b"reply")
    got = await asyncio.gather(*(ledger.answer(A, pay) for _ in range(6)), return_exceptions=True)
    assert [str(g) for g in got if isinstance(g, Exception)] == ["no", "no", "500"]
    assert got.count(b"reply") == 3


@pytest.mark.parametrize("bad", [Paid(b"bad", "m", 2**63), Paid(b"bad", usd="dear"), Paid("no bytes")], ids=str)
async def test_a_row_that_cannot_be_kept_fails_alone_and_at_once(path, bad):
    async def pay():
        return bad

    ledger, good = Ledger(path), Payer(b"good", wait=0)
    calls = [ledger.answer(A, pay), *(ledger.answer(bytes([n]) * 16, good) for n in range(3))]
    first, *others = await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 5)
    assert isinstance(first, LedgerError)
    assert str(path) in str(first)
    assert others == [b"good"] * 3
    assert (ledger.spent()[0], ledger.count()) == (3, 3)


async def test_a_lone_surrogate_in_a_models_name_does_no_harm(path):
    async def pay():
        return Paid(b"reply", "openai:\ud800", 10, 5, 0.25)

    ledger = Ledger(path)
    await ledger.answer(A, pay)
    assert ledger.get(A) == b"reply"
    assert ledger.spent() == (1, 10, 5, 0.25, 0, 0, 0)


@pytest.mark.parametrize("anew", [False, True])
async def test_of_two_ledgers_on_one_file_one_pays_and_the_other_waits_for_it(path, anew):
    bodies = iter([b"first", b"second"])

    async def pay():
        await asyncio.sleep(0.02)
        return Paid(next(bodies), "m", 10, 5, 0.25)

    waits = []

    @contextmanager
    def waiting():
        waits.append("begun")
        yield
        waits.append("ended")

    one, two = Ledger(path, "one"), Ledger(path, "two")
    got = await asyncio.gather(one.answer(A, pay, anew=anew), two.answer(A, pay, anew=anew, waiting=waiting))
    assert got == [b"first"] * 2
    assert (one.spent(), two.spent()) == ((1, 10, 5, 0.25, 0, 0, 0), (0, 0, 0, 0.0, 0, 0, 0))
    assert (two.counts.joined, waits, two.leases.waiting) == (1, ["begun", "ended"], 0)
    assert await one.answer(A, pay, anew=True) == b"second"


@pytest.mark.parametrize("end", ["fails", "is cancelled", "cannot be kept", "closes"])
async def test_whoever_does_not_get_a_reply_gives_the_call_free(path, end):
    one, two = Ledger(path), Ledger(path)
    does = {"fails": ValueError("no"), "cannot be kept": "no bytes"}.get(end, b"one")
    first = asyncio.create_task(one.answer(A, Payer(does, wait=0.02 if end in ("fails", "cannot be kept") else 30)))
    await asyncio.sleep(0.01)
    second = asyncio.create_task(two.answer(A, Payer(b"two", wait=0)))
    await _until(lambda: two.leases.waiting)
    if end == "is cancelled":
        first.cancel()
    if end == "closes":
        one.close()
    assert await asyncio.wait_for(second, 5) == b"two"
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)


async def test_ledgers_hold_many_leases_and_closing_one_keeps_those_of_the_other(path):
    one, two, three = Ledger(path), Ledger(path), Ledger(path)
    held = [asyncio.create_task(one.answer(bytes([n]) * 16, Payer(b"one", wait=0.2))) for n in range(200)]
    other = asyncio.create_task(two.answer(B, Payer(b"two", wait=30)))
    await asyncio.sleep(0.05)
    two.close()
    other.cancel()
    late = Payer(b"three")
    assert set(await asyncio.gather(*(three.answer(bytes([n]) * 16, late) for n in range(200)))) == {b"one"}
    assert (set(await asyncio.gather(*held)), late.count) == ({b"one"}, 0)


def test_a_file_of_leases_that_cannot_be_made_is_named(path):
    ledger = Ledger(path)
    path.with_name("ledger.sqlite.leases").mkdir()
    with pytest.raises(LedgerError, match=r"cannot share the ledger .*ledger\.sqlite"):
        asyncio.run(ledger.answer(A, Payer(b"reply")))


async def test_two_processes_of_one_run_add_up(path):
    one, two = Ledger(path, "r"), Ledger(path, "r")
    for number in range(6):

        async def pay():
            return Paid(b"reply", "m", 10, 5, None, estimated=True)

        await (one, two)[number % 2].answer(bytes([number]) * 16, pay)
    assert one.spent() == two.spent() == (6, 60, 30, 0.0, 6, 6, 0)


async def test_a_call_without_a_price_takes_nothing_from_what_was_paid_before():
    ledger = Ledger(run="one")
    for usd in (0.25, None, 0.5):

        async def pay(usd=usd):
            return Paid(b"reply", "m", 10, 5, usd)

        await ledger.answer(A, pay, anew=True)
    assert ledger.spent() == (3, 30, 15, 0.75, 0, 1, 0)


async def test_a_refused_key_is_tried_once_for_all_who_wait(path):
    ledger, pay = Ledger(path), Payer(AuthError("401"))
    got = await asyncio.gather(*(ledger.answer(A, pay) for _ in range(5)), return_exceptions=True)
    assert [type(g) for g in got] == [AuthError] * 5
    assert pay.count == 1


async def test_a_waiters_cancellation_does_not_cancel_the_others(path):
    ledger, pay = Ledger(path), Payer(b"reply", wait=0.05)
    payer, *others = [asyncio.create_task(ledger.answer(A, pay)) for _ in range(4)]
    await asyncio.sleep(0.01)
    payer.cancel()
    others[0].cancel()
    got = await asyncio.gather(payer, *others, return_exceptions=True)
    assert [type(g) for g in got] == [asyncio.CancelledError, asyncio.CancelledError, bytes, bytes]
    assert pay.count == 1


async def test_a_call_that_nobody_waits_for_any_more_is_given_up(path):
    ledger, pay = Ledger(path), Payer(b"reply", wait=30)
    task = asyncio.create_task(ledger.answer(A, pay))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.wait_for(ledger.answer(A, Payer(b"later")), 5) == b"later"


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE replies SET body = x'00' || substr(body, 2)",
        "UPDATE replies SET sum = x'0000000000000000'",
        "UPDATE replies SET body = substr(body, 1, 2)",
        "UPDATE replies SET body = (SELECT body FROM replies r WHERE r.address <> replies.address)",
    ],
    ids=["a flipped byte", "a wrong checksum", "cut off", "two bodies exchanged"],
)
async def test_a_damaged_row_is_asked_again_and_counted(path, damage):
    ledger = Ledger(path)
    await ledger.answer(A, Payer(b"reply a"))
    await ledger.answer(B, Payer(b"reply b"))
    ledger.close()
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE old AS SELECT * FROM replies")
        db.execute(damage.replace("FROM replies r", "FROM old r"))
        db.execute("DROP TABLE old")
    db.close()
    again, pay = Ledger(path), Payer(b"anew")
    assert await again.answer(A, pay) == b"anew"
    assert again.counts.damaged == 1
    assert await again.answer(A, pay) == b"anew"
    assert pay.count == 1


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda p: p.write_bytes(b"not a database at all, but long enough to be looked at" * 40), "no ledger"),
        (lambda p: _database(p, "CREATE TABLE mine (x)"), "no ledger of judgegraph"),
        (lambda p: (Ledger(p).close(), _database(p, "PRAGMA user_version = 99")), "newer judgegraph"),
        (lambda p: p.mkdir(), "cannot open"),
    ],
    ids=["no database", "another's", "a newer one", "a folder"],
)
def test_a_file_that_is_no_ledger_of_ours_is_named_and_left_alone(path, make, said):
    make(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(LedgerError, match=said) as caught:
        Ledger(path)
    assert str(path) in str(caught.value)
    assert before is None or path.read_bytes() == before


def _database(path, statement):
    with sqlite3.connect(path) as db:
        db.execute(statement)
    db.close()


async def test_its_files_are_their_owners_alone(path):
    ledger = Ledger(path)
    await ledger.answer(A, Payer(b"reply"))
    assert {f.stat().st_mode & 0o077 for f in path.parent.iterdir()} == {0}


async def test_a_reply_that_cannot_be_committed_is_an_error_not_a_reply(path):
    ledger = Ledger(path)
    ledger._db.execute("PRAGMA query_only = ON")
    with pytest.raises(LedgerError, match="cannot write the ledger"):
        await ledger.answer(A, Payer(b"reply"))
    ledger._db.execute("PRAGMA query_only = OFF")
    assert await ledger.answer(A, Payer(b"reply")) == b"reply"


def test_a_killed_process_loses_nothing_that_was_answered(path):
    code = f"""
import asyncio, os
from judgegraph.calls.ledger import Ledger, Paid
async def main():
    ledger = Ledger({str(path)!r})
    for i in range(50):
        async def pay(): return Paid(b"reply")
        await ledger.answer(i.to_bytes(16, "big"), pay)
        print(i, flush=True)
    os.kill(os.getpid(), 9)
asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == -9
    seen = len(done.stdout.split())
    assert Ledger(path).count() == seen == 50


def test_two_processes_use_one_ledger_at_once(path):
    code = f"""
import asyncio
from judgegraph.calls.ledger import Ledger, Paid
async def main():
    ledger = Ledger({str(path)!r})
    async def pay(): return Paid(b"reply")
    await asyncio.gather(*(ledger.answer(i.to_bytes(16, "big"), pay) for i in range(300)))
    ledger.close()
asyncio.run(main())
"""
    both = [subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True) for _ in range(2)]
    for process in both:
        assert process.communicate(timeout=60)[1] == ""
        assert process.returncode == 0
    assert Ledger(path).count() == 300


async def _until(true):
    for _ in range(100):
        if true():
            return
        await asyncio.sleep(0)


async def test_closing_commits_what_was_paid_for_in_the_same_moment(path):
    ledger = Ledger(path)
    task = asyncio.create_task(ledger.answer(A, Payer(b"reply", wait=0)))
    await asyncio.wait_for(_until(lambda: ledger._rows), 5)
    ledger.close()
    assert await task == b"reply"
    assert Ledger(path).get(A) == b"reply"


async def test_without_a_path_it_holds_in_memory(tmp_path):
    ledger, pay = Ledger(), Payer(b"reply")
    assert [await ledger.answer(A, pay) for _ in range(2)] == [b"reply"] * 2
    assert pay.count == 1
    assert list(tmp_path.iterdir()) == []


async def test_what_a_run_paid_for_a_reply_that_it_replaced_stays_paid():
    ledger = Ledger(run="one")

    async def pay():
        return Paid(b"reply", "m", 10, 5, 0.25)

    await ledger.answer(A, pay)
    await ledger.answer(A, pay, anew=True)
    assert ledger.spent()[:4] == (2, 20, 10, 0.5)
    ledger.run = "two"
    await ledger.answer(A, pay, anew=True)
    assert ledger.spent()[:4] == (1, 10, 5, 0.25)
    ledger.run = "one"
    assert ledger.spent()[:4] == (2, 20, 10, 0.5)


async def test_its_log_is_forced_to_disk_for_many_replies_at_once_within_fifty_milliseconds(path, monkeypatch):
    forced, loop, done = [], asyncio.get_running_loop(), asyncio.Event()

    def fsync(handle):
        forced.append(os.readlink(f"/proc/self/fd/{handle}"))
        loop.call_soon_threadsafe(done.set)

    monkeypatch.setattr("judgegraph.calls.ledger.os.fsync", fsync)
    ledger = Ledger(path)
    await asyncio.gather(*(ledger.answer(bytes([n]) * 16, Payer(b"reply")) for n in range(20)))
    paid = loop.time()
    await asyncio.wait_for(done.wait(), 5)
    assert loop.time() - paid < 0.05 + 0.1  # and the time it takes to be scheduled
    await asyncio.sleep(0.1)
    assert forced == [f"{path}-wal"]  # nothing new, nothing to force
    ledger.close()


def test_its_commits_survive_a_killed_process_and_its_log_is_forced_at_checkpoints(path):
    ledger = Ledger(path)
    assert [ledger._db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")] == [
        "wal",
        1,
    ]
    ledger.close()
