"""A ledger that is only read: what it gives, and that it leaves everything as it was."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from judgegraph.calls.ledger import Ledger, LedgerError, Paid, ReadOnlyLedger

ONE, TWO = b"1" * 16, b"2" * 16


async def filled(path: Path) -> Ledger:
    ledger = Ledger(path)

    async def pay() -> Paid:
        return Paid(b"[]", "openai:m", 10, 5, 0.25)

    await ledger.answer(ONE, pay)
    return ledger


def state(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_file_that_is_not_there_holds_nothing_and_is_not_made(tmp_path: Path):
    kept = ReadOnlyLedger(tmp_path / "none.sqlite")
    assert kept.get(ONE) is None
    kept.close()
    assert ReadOnlyLedger(None).get(ONE) is None
    assert not list(tmp_path.iterdir())


async def test_a_finished_ledger_is_read_and_left_as_it_was(tmp_path: Path):
    path = tmp_path / "ledger.sqlite"
    (await filled(path)).close()
    before = state(tmp_path)
    kept = ReadOnlyLedger(path)
    found = kept.get(ONE)
    assert found is not None
    assert (found.body, found.model, found.prompt, found.completion, found.usd) == (b"[]", "openai:m", 10, 5, 0.25)
    assert kept.get(TWO) is None
    kept.close()
    assert state(tmp_path) == before


async def test_what_a_run_under_way_has_committed_is_read(tmp_path: Path):
    path = tmp_path / "ledger.sqlite"
    ledger = await filled(path)
    kept = ReadOnlyLedger(path)
    assert kept.get(ONE) is not None
    kept.close()
    ledger.close()


def made(path: Path) -> None:
    async def make() -> None:
        (await filled(path)).close()

    asyncio.run(make())


def test_a_read_only_folder_is_no_obstacle(tmp_path: Path):
    path = tmp_path / "ledger.sqlite"
    made(path)
    path.chmod(0o400)
    tmp_path.chmod(0o500)
    try:
        assert ReadOnlyLedger(path).get(ONE) is not None
    finally:
        tmp_path.chmod(0o700)


async def test_a_damaged_row_is_none(tmp_path: Path):
    path = tmp_path / "ledger.sqlite"
    (await filled(path)).close()
    with sqlite3.connect(path) as db:
        db.execute("UPDATE replies SET body = '[ ]'")
    db.close()
    assert ReadOnlyLedger(path).get(ONE) is None


def _foreign(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE t (a)")
    db.close()


def _newer(path: Path) -> None:
    made(path)
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (_foreign, "no ledger of judgegraph"),
        (_newer, "written by a newer judgegraph"),
        (lambda path: path.write_bytes(b"not a database at all" * 200), "is no ledger"),
    ],
    ids=["another database", "a newer version", "no database"],
)
def test_a_file_that_is_none_of_ours_is_named_and_left(make, said: str, tmp_path: Path):
    path = tmp_path / "x.sqlite"
    make(path)
    before = path.read_bytes()
    with pytest.raises(LedgerError, match=said) as error:
        ReadOnlyLedger(path)
    assert str(path) in str(error.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "change",
    ["prompt = 9", "prompt = 'ten'", "completion = 6", "usd = NULL", "usd = 0.5", "model = CAST(x'ff' AS TEXT)"],
)
async def test_a_row_whose_usage_was_changed_is_none_and_asked_again(tmp_path: Path, change: str):
    path = tmp_path / "ledger.sqlite"
    (await filled(path)).close()
    with sqlite3.connect(path) as db:
        db.execute(f"UPDATE replies SET {change}")
    db.close()
    assert ReadOnlyLedger(path).get(ONE) is None
    ledger = Ledger(path)
    assert ledger.get(ONE) is None
    assert ledger.counts.damaged == 1
