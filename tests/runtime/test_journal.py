"""The journal: an index made from the items, whatever a kill or a power cut left of it."""

import json
import shutil
import sqlite3

import pytest
from small import Judged, ids, samples

import judgegraph as jg
from judgegraph.data.samples import Mark, id_digest
from judgegraph.errors import ConfigError
from judgegraph.runs import lines as compact
from judgegraph.runs.folder import Folder, InFlight
from judgegraph.runs.item import STRIKE
from judgegraph.runs.lines import Journal

A = Mark(b"a" * 16, b"c" * 8, 4)


def run(judged, count, out, **settings):
    return jg.evaluate(judged.graph, samples(count), out=out, concurrency=1, **settings)


@pytest.fixture
def out(tmp_path):
    return tmp_path / "run"


@pytest.fixture
def begun(out):
    """A run of five finished samples."""
    run(Judged(), 5, out)
    return out


def lines(out):
    return (out / "items.jsonl").read_text().splitlines(keepends=True)


def rows(out):
    with sqlite3.connect(out / "journal.sqlite") as db:
        found = db.execute("SELECT place, status, strikes, offset FROM samples ORDER BY place").fetchall()
    db.close()
    return found


def test_what_is_finished_is_known_at_once_and_after_it_is_opened_again(tmp_path):
    journal = Journal(tmp_path / "j")
    journal.finish(A, "ok", 2, 10, 20)
    for again in (journal, None):
        journal = again or Journal(tmp_path / "j")
        assert journal.known(A.id) == (4, b"c" * 8, "ok", 2, 0, 10)
        assert journal.known(b"b" * 16) is None
        assert journal.state.end == 20
        journal.close()


def test_strikes_add_up_until_they_are_taken_away(tmp_path):
    journal = Journal(tmp_path / "j")
    for _ in range(2):
        journal.count_crash([A])
    assert journal.known(A.id).strikes == 2 * STRIKE
    journal.count_crash([A._replace(waiting=True)])
    assert journal.known(A.id).strikes == 2 * STRIKE + 1
    journal.clear_crashes(A.id)
    assert journal.known(A.id).strikes == 0
    journal.close()


def test_unclean_exits_are_counted_also_in_a_journal_that_was_made_before_they_were(tmp_path):
    journal = Journal(tmp_path / "j")
    journal.close()
    database(tmp_path / "j", "DROP TABLE exits")
    for count in (1, 2):
        journal = Journal(tmp_path / "j")
        journal.count_crash([A, A._replace(id=b"b" * 16)])
        assert journal.exits() == count
        journal.close()


def test_rows_are_committed_before_many_could_be_lost(tmp_path):
    journal = Journal(tmp_path / "j")
    for i in range(1200):
        journal.finish(Mark(id_digest(str(i)), b"c" * 8, i), "ok", 0, i, i + 1)
    other = sqlite3.connect(tmp_path / "j")
    assert other.execute("SELECT COUNT(*) FROM samples").fetchone()[0] >= 1000
    other.close()
    journal.close()


def database(path, statement):
    with sqlite3.connect(path) as db:
        db.execute(statement)
    db.close()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda p: p.write_bytes(b"not a database at all, but long enough to be looked at" * 40), "is no journal"),
        (lambda p: (p.unlink(), database(p, "CREATE TABLE mine (x)")), "no journal of judgegraph"),
        (lambda p: database(p, "PRAGMA user_version = 99"), "newer judgegraph"),
    ],
    ids=["no database", "another's", "a newer one"],
)
def test_a_file_that_is_no_journal_of_ours_is_named_and_left_alone(make, said, begun):
    path = begun / "journal.sqlite"
    make(path)
    before, items = path.read_bytes(), (begun / "items.jsonl").read_bytes()
    with pytest.raises(ConfigError, match=said) as raised:
        run(Judged(), 5, begun)
    assert str(path) in str(raised.value)
    assert (path.read_bytes(), (begun / "items.jsonl").read_bytes()) == (before, items)
    assert len(list(jg.Run.load(begun).items)) == 5  # reading needs no journal


def test_a_removed_journal_is_made_again(begun):
    before = rows(begun)
    (begun / "journal.sqlite").unlink()
    judged = Judged()
    run(judged, 6, begun)
    assert judged.seen == ["s5"]
    assert rows(begun)[:5] == before


def test_lines_that_the_journal_lacks_are_entered(begun):
    early = (begun / "journal.sqlite").read_bytes()
    run(Judged(), 9, begun)
    after = rows(begun)
    (begun / "journal.sqlite").write_bytes(early)  # as if the last rows had not been committed at a kill
    judged = Judged()
    run(judged, 9, begun)
    assert judged.seen == []
    assert rows(begun) == after


def test_a_torn_last_line_is_cut_off_and_its_sample_judged_again(begun):
    whole = (begun / "items.jsonl").read_bytes()
    (begun / "items.jsonl").write_bytes(whole[:-20])
    judged = Judged()
    run(judged, 5, begun)
    assert judged.seen == ["s4"]
    assert len(lines(begun)) == 5
    assert all(json.loads(line) for line in lines(begun))


def test_lines_that_a_power_cut_took_are_judged_again(begun):
    (begun / "items.jsonl").write_text("".join(lines(begun)[:2]))
    judged = Judged()
    run(judged, 5, begun)
    assert judged.seen == ["s2", "s3", "s4"]
    assert sorted(ids(jg.Run.load(begun).items)) == [f"s{i}" for i in range(5)]


@pytest.fixture
def superseded(begun, monkeypatch):
    """s1 and s3 have two lines each, as a kill before the end of a retry leaves them."""
    shutil.rmtree(begun)
    run(Judged("s1", "s3"), 5, begun)
    with monkeypatch.context() as patch:
        patch.setattr("judgegraph.runs.folder.compact", lambda *_: None)
        run(Judged(), 5, begun, retry_failed=True)
    assert len(lines(begun)) == 7
    return begun


def scores(out):
    return {item.id: item.scores[0].status for item in jg.Run.load(out).items}


@pytest.mark.parametrize("journal", [True, False], ids=["with its journal", "without"])
def test_of_several_lines_the_last_one_is_read(journal, superseded):
    if not journal:
        (superseded / "journal.sqlite").unlink()
    found = list(jg.Run.load(superseded).items)
    assert sorted(ids(found)) == [f"s{i}" for i in range(5)]
    assert set(scores(superseded).values()) == {"ok"}


def test_superseded_lines_leave_when_the_run_ends(superseded):
    judged = Judged()
    run(judged, 6, superseded)
    assert judged.seen == ["s5"]
    assert len(lines(superseded)) == 6
    starts = [sum(map(len, lines(superseded)[:i])) for i in range(6)]
    assert sorted(row[3] for row in rows(superseded)) == starts


def test_a_link_laid_in_the_way_of_the_new_file_is_not_followed(superseded, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("of somebody else")
    (superseded / ".items.jsonl.new").symlink_to(other)
    run(Judged(), 6, superseded)
    assert other.read_text() == "of somebody else"
    assert len(lines(superseded)) == 6


@pytest.mark.parametrize("moment", ["before the file is replaced", "after it", "amid the new offsets"])
def test_a_kill_while_lines_leave_loses_nothing(moment, superseded, monkeypatch):
    class Killed(BaseException):
        pass

    def killed(*_, **__):
        raise Killed

    where = {
        "before the file is replaced": ("pathlib.Path.replace", killed),
        "after it": ("judgegraph.runs.folder._move", killed),
        "amid the new offsets": ("judgegraph.runs.folder.id_of_line", twice(compact.id_of_line, 8, killed)),
    }[moment]
    folder = Folder(superseded)
    folder.open(1)
    with monkeypatch.context() as patch:
        patch.setattr(*where)
        with pytest.raises(Killed):
            folder.settle()
    folder.journal._db.rollback()  # what a killed process had not committed
    folder.close()
    assert set(scores(superseded).values()) == {"ok"}
    judged = Judged()
    run(judged, 5, superseded)
    assert judged.seen == []
    assert len(lines(superseded)) == 5
    assert set(scores(superseded).values()) == {"ok"}


def twice(function, times, then):
    """The function so many times, then the other."""
    left = iter(range(times))
    return lambda *given: function(*given) if next(left, None) is not None else then()


def test_marks_of_samples_in_flight_outlive_the_process(tmp_path):
    marks = InFlight(tmp_path / "f")
    marks.clear(3)
    marks.enter(0, A)
    marks.enter(2, A._replace(place=9))
    marks.leave(0)
    again = InFlight(tmp_path / "f")
    assert list(again.left()) == [A._replace(place=9)]
    again.clear(0)
    assert list(marks.left()) == []
    marks.close()
    again.close()
