"""Damage to a ledger: what is in it comes back as it was paid for, or is paid for again; never otherwise."""

import random
import sqlite3

import pytest

from judgegraph.calls.ledger import SCHEMA, Ledger, LedgerError, Paid, ReadOnlyLedger

COUNT = 200


def address(number):
    return number.to_bytes(16, "big")


def body(number):
    return f'[{{"text": "the score of sample {number} is {number % 5 + 1}"}}]'.encode()


async def asked(ledger):
    """Every reply, each paid for with the true body where the ledger has none; and how many were paid for."""
    paid = []

    def payer(number):
        async def pay():
            paid.append(number)
            return Paid(body(number))

        return pay

    return [await ledger.answer(address(n), payer(n)) for n in range(COUNT)], paid


@pytest.fixture
async def path(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    replies, paid = await asked(ledger)
    assert (len(replies), len(paid)) == (COUNT, COUNT)
    ledger.close()
    return ledger.path


def altered(path, change):
    """Change rows behind the ledger's back: `change(address, body, sum)` gives the new body and sum."""
    with sqlite3.connect(path) as db:
        rows = db.execute("SELECT address, body, sum FROM replies ORDER BY address").fetchall()
        for row in rows:
            db.execute("UPDATE replies SET body = ?, sum = ? WHERE address = ?", (*change(*row), row[0]))
    db.close()


async def check_all_paid_again(path):
    ledger = Ledger(path)
    replies, paid = await asked(ledger)
    assert replies == [body(n) for n in range(COUNT)]
    assert paid == list(range(COUNT))
    assert ledger.counts.damaged == COUNT
    again, paid = await asked(ledger)
    assert (again, paid) == (replies, [])
    ledger.close()


async def test_a_flipped_bit_in_each_of_200_bodies_is_noticed_counted_and_mended(path):
    dice = random.Random(9)

    def flipped(_, data, check):
        place = dice.randrange(len(data))
        return data[:place] + bytes([data[place] ^ 1 << dice.randrange(8)]) + data[place + 1 :], check

    altered(path, flipped)
    await check_all_paid_again(path)


async def test_a_flipped_bit_in_each_of_200_checksums_is_noticed_too(path):
    altered(path, lambda _, data, check: (data, bytes([check[0] ^ 1]) + check[1:]))
    await check_all_paid_again(path)


async def test_whole_rows_that_changed_places_are_noticed_though_body_and_checksum_fit_each_other(path):
    with sqlite3.connect(path) as db:
        rows = db.execute("SELECT body, sum FROM replies ORDER BY address").fetchall()
    db.close()
    moved = iter(rows[1:] + rows[:1])
    altered(path, lambda *_: next(moved))
    await check_all_paid_again(path)


async def test_a_body_of_another_type_is_noticed(path):
    altered(path, lambda _, data, check: (data.decode()[:-1], check))
    await check_all_paid_again(path)


async def outcome(path):
    """ "refused", or how many replies were paid for again; a reply that is not the true one fails the test."""
    said = None
    try:
        ledger = Ledger(path)
        try:
            replies, paid = await asked(ledger)
        finally:
            ledger.close()
    except LedgerError as error:
        said = str(error)
    if said is not None:
        assert str(path) in said
        return "refused"
    assert replies == [body(n) for n in range(COUNT)]
    return len(paid)


async def test_a_flipped_bit_anywhere_in_the_file_never_becomes_a_reply(path, tmp_path):
    whole, dice, seen = path.read_bytes(), random.Random(10), []
    assert body(7) in whole  # the log was folded into the file: what is damaged is what is read
    for number in range(200):
        place = dice.randrange(len(whole))
        copy = tmp_path / f"copy-{number}.sqlite"
        copy.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << dice.randrange(8)]) + whole[place + 1 :])
        seen.append(await outcome(copy))
        copy.unlink()
    assert any(isinstance(found, int) and found > 0 for found in seen)
    assert len(seen) == 200


@pytest.mark.parametrize("share", [0.02, 0.3, 0.7, 0.99])
async def test_a_file_that_was_cut_off_is_refused_or_its_losses_are_paid_for_again(path, share):
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    found = await outcome(path)
    assert found == "refused" or found > 0


@pytest.mark.parametrize(("version", "said"), [(SCHEMA - 1, "older"), (SCHEMA + 1, "newer")])
async def test_a_file_of_another_version_is_named_and_left_as_it_is(path, version, said):
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version = {version}")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    before = path.read_bytes()
    with pytest.raises(LedgerError, match=said) as caught:
        Ledger(path)
    assert str(path) in str(caught.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "change", ["prompt = 9", "usd = -1", "model = CAST(x'ff' AS TEXT)", "sum = 'x'", "run = 'rum'"]
)
async def test_what_a_run_paid_is_told_as_it_was_or_not_at_all(tmp_path, change):
    async def pay():
        return Paid(b"reply", "m", 10, 5, 0.25)

    ledger = Ledger(tmp_path / "ledger.sqlite", "run")
    await ledger.answer(address(1), pay)
    ledger.close()
    with sqlite3.connect(ledger.path) as db:
        db.execute(f"UPDATE payments SET {change}")
    db.close()
    again = Ledger(ledger.path, "run")
    if change.startswith("run"):
        assert again.spent() == (1, 10, 5, 0.25, 0, 0, 0)
        return
    with pytest.raises(LedgerError, match="what run 'run' has paid is damaged") as caught:
        again.spent()
    assert str(ledger.path) in str(caught.value)
    assert again.get(address(1)) == b"reply"
    assert Ledger(ledger.path, "other").spent() == (0, 0, 0, 0.0, 0, 0, 0)


async def test_a_ledger_whose_tables_are_gone_is_named_and_no_error_of_sqlite_comes_through(path):
    with sqlite3.connect(path) as db:
        db.execute("DROP TABLE payments")
        db.execute("DROP TABLE replies")
        db.execute("CREATE TABLE other (x)")
    db.close()
    ledger = Ledger(path)
    for ask in (
        ledger.spent,
        ledger.count,
        lambda: ledger.get(address(1)),
        lambda: ReadOnlyLedger(path).get(address(1)),
    ):
        with pytest.raises(LedgerError, match=r"ledger\.sqlite"):
            ask()
