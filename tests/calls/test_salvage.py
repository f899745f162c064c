"""What is salvaged of a damaged ledger: every row that still stands in the file, and none that was not paid for."""

import asyncio
import random
import shutil
import sqlite3
import subprocess
import sys
from hashlib import blake2b

import pytest

from judgegraph.calls.ledger import Ledger, LedgerError, Paid
from judgegraph.runs.repair import in_use, looked_at, salvaged

COUNT, PAGE = 600, 4096


def address(number):
    return blake2b(str(number).encode(), digest_size=16).digest()


def body(number):
    """Small ones, some on a page of their own, some on many."""
    return b"%d " % number * random.Random(number).choice([5, 50, 400, 4000])


async def fill(ledger):
    def payer(number):
        async def pay():
            usd = random.Random(number).choice([None, 0.0, 1.0, 0.123])
            return Paid(body(number), "m", 10, number, usd)

        return pay

    await asyncio.gather(*(ledger.answer(address(n), payer(n)) for n in range(COUNT)))


@pytest.fixture(scope="module")
def ledgers(tmp_path_factory):
    """A ledger that was closed, and one whose process was killed, so that much of it is in its log."""
    place = tmp_path_factory.mktemp("ledgers")
    ledger = Ledger(place / "closed.sqlite", "run")
    asyncio.run(fill(ledger))
    for end in ("", "-wal"):
        shutil.copyfile(f"{ledger.path}{end}", f"{place / 'killed.sqlite'}{end}")
    ledger.close()
    return place


def zeroed(data, first, count):
    return data[: first * PAGE] + bytes(count * PAGE) + data[(first + count) * PAGE :]


DAMAGES = {
    "nothing": (lambda data: data, COUNT),
    "pages in its middle": (lambda data: zeroed(data, len(data) // PAGE // 2, 6), COUNT - 60),
    "its head": (lambda data: zeroed(data, 0, 1), COUNT),
    "the top of its tables": (lambda data: zeroed(data, 1, 2), COUNT - 60),
    "its end": (lambda data: data[: len(data) // 2], COUNT // 4),
    "within a page": (lambda data: data[:-1000], COUNT - 60),
}


@pytest.mark.parametrize("kind", ["closed", "killed"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_what_stands_in_the_pages_is_salvaged_and_nothing_else(damage, kind, ledgers, tmp_path):
    change, least = DAMAGES[damage]
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(change((ledgers / f"{kind}.sqlite").read_bytes()))
    if kind == "killed":
        shutil.copyfile(ledgers / "killed.sqlite-wal", f"{path}-wal")
    before = {one.name: one.read_bytes() for one in tmp_path.iterdir()}
    found = looked_at(path)
    if kind == "closed":  # else what is damaged may stand in the log
        assert found.sound is (damage == "nothing")
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == before
    assert salvaged(path, tmp_path / "new.sqlite") == found
    assert found.replies >= least
    new = Ledger(tmp_path / "new.sqlite", "run")
    rows = [(n, new.row(address(n))) for n in range(COUNT)]
    assert sum(row is not None for _, row in rows) == found.replies == new.count()
    assert {row.body == body(n) and row.completion == n for n, row in rows if row is not None} == {True}
    assert new.counts.damaged == 0
    if found.payments:
        assert new.spent()[0] == COUNT
    new.close()


def test_a_flipped_digit_of_a_reply_is_left_out(ledgers, tmp_path):
    path = tmp_path / "ledger.sqlite"
    shutil.copyfile(ledgers / "closed.sqlite", path)
    with sqlite3.connect(path) as db:
        db.execute(
            "UPDATE replies SET body = x'34' || substr(body, 2) WHERE address IN (?, ?)", [address(1), address(2)]
        )
        db.execute("UPDATE payments SET usd = 0")
    db.close()
    found = salvaged(path, tmp_path / "new.sqlite")
    assert (found.replies, found.payments, found.damaged, found.problem) == (COUNT - 2, 0, 3, "")


def test_of_a_reply_that_was_replaced_the_later_one_is_salvaged(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite", "run")

    async def pay_all(word, anew):
        async def pay():
            return Paid(word * 700)

        await asyncio.gather(*(ledger.answer(address(n), pay, anew=anew) for n in range(40)))

    asyncio.run(pay_all(b"old", False))
    ledger._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    asyncio.run(pay_all(b"new", True))
    shutil.copyfile(ledger.path, tmp_path / "torn.sqlite")
    shutil.copyfile(f"{ledger.path}-wal", tmp_path / "torn.sqlite-wal")
    ledger.close()
    data = (tmp_path / "torn.sqlite").read_bytes()
    (tmp_path / "torn.sqlite").write_bytes(b"not SQLite any more" + data[19:])
    log = (tmp_path / "torn.sqlite-wal").read_bytes()
    (tmp_path / "torn.sqlite-wal").write_bytes(log[:2] + b"\0\0" + log[4:])  # SQLite itself does not read it then
    salvaged(tmp_path / "torn.sqlite", tmp_path / "salvaged.sqlite")
    found = Ledger(tmp_path / "salvaged.sqlite")
    assert {found.get(address(n)) for n in range(40)} == {b"new" * 700}
    found.close()


def test_a_ledger_that_a_process_has_open_is_known(tmp_path):
    path = tmp_path / "ledger.sqlite"
    Ledger(path).close()
    assert not in_use(path)
    code = f"""
from judgegraph.calls.ledger import Ledger
Ledger({str(path)!r}).count(); print("open", flush=True); input()
"""
    with subprocess.Popen([sys.executable, "-c", code], stdin=-1, stdout=-1, text=True) as process:
        assert process.stdout.readline() == "open\n"
        assert in_use(path)
        process.communicate("\n")
    assert not in_use(path)


@pytest.mark.parametrize(
    ("make", "said"),
    [("CREATE TABLE mine (x)", "no ledger of judgegraph"), ("PRAGMA user_version = 99", "newer judgegraph")],
)
def test_what_is_no_ledger_of_ours_is_left_alone(make, said, tmp_path):
    path = tmp_path / "ledger.sqlite"
    if "user_version" in make:
        Ledger(path).close()
    with sqlite3.connect(path) as db:
        db.execute(make)
    db.close()
    with pytest.raises(LedgerError, match=said):
        looked_at(path)
