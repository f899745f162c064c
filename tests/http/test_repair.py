"""`judgegraph repair`: after real damage the same command goes on, and pays for what was lost alone."""

import json
import os
import re
import shutil
import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner

import judgegraph as jg
from judgegraph.cli.main import main
from judgegraph.runs.repair import repair

pytestmark = pytest.mark.slow

COUNT = 40
PARTS = ("manifest.json", "items.jsonl", "spans.jsonl", "ledger.sqlite", "ledger.sqlite.texts", "journal.sqlite")


@pytest.fixture
def work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "canary")
    rows = ({"id": f"s{n}", "output": f"text number {n} " + "of many words " * 40} for n in range(COUNT))
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def call(*words):
    return CliRunner().invoke(main, list(map(str, words)))


def judged(site, out="run", *more):
    """The run command; what it prints as JSON."""
    words = ("llm-score", "data.jsonl", "-c", "summary", "-j", "openai:stub", "--base-url", site.url)
    done = call("run", *words, "--out", out, "--json", "--concurrency", 4, *more)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def exported(run):
    jg.Run.load(run).export("out.jsonl")
    return Path("out.jsonl").read_bytes()


def change(name, how):
    path = f"run/{name}"
    Path(path).write_bytes(how(Path(path).read_bytes()))


def digit():
    change("items.jsonl", lambda data: re.sub(rb'"value":4', b'"value":2', data, count=1))


def cut_items():
    change("items.jsonl", lambda data: data[: len(data) // 2])


def zeroed_pages():
    def zeroed(data):
        at = len(data) // 4096 // 2 * 4096
        return data[:at] + bytes(8192) + data[at + 8192 :]

    change("ledger.sqlite", zeroed)


def cut_ledger():
    change("ledger.sqlite", lambda data: data[: len(data) // 3 * 2])


def no_ledger_any_more():
    change("ledger.sqlite", lambda data: b"somebody's notes" + data[16:])


def digits_of_replies():
    with sqlite3.connect("run/ledger.sqlite") as db:
        db.execute(
            "UPDATE replies SET body = CAST(replace(CAST(body AS TEXT), '4', '2') AS BLOB) WHERE address < x'40'"
        )
    db.close()


def spans():
    change("spans.jsonl", lambda data: data.replace(b'"spans"', b'"spons"', 2)[:-9])
    change("ledger.sqlite.texts", lambda data: data.replace(b"text number 7", b"text number 8"))


DAMAGES = {
    "a digit": (digit, "items.jsonl"), "items cut off": (cut_items, "items.jsonl"),
    "zeroed pages": (zeroed_pages, "ledger.sqlite"), "a ledger cut off": (cut_ledger, "ledger.sqlite"),
    "a ledger's head": (no_ledger_any_more, "ledger.sqlite"), "replies": (digits_of_replies, "ledger.sqlite"),
    "spans and texts": (spans, "spans.jsonl"),
    "a journal": (lambda: Path("run/journal.sqlite").write_bytes(b"no journal" * 99), "journal.sqlite"),
}  # fmt: skip


@pytest.mark.sampled(8)
@pytest.mark.parametrize("where", ["--in-place", "--out"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_after_a_repair_the_same_command_goes_on_and_pays_for_what_was_lost_alone(damage, where, server, work):
    site = server("ok")
    judged(site)
    whole, paid = exported("run"), site.count
    harm, name = DAMAGES[damage]
    harm()
    before = {one.name: one.read_bytes() for one in (work / "run").iterdir()}
    dry = call("repair", "run", "--json")
    told = json.loads(dry.stdout)
    assert (dry.exit_code, told["sound"], told["goes_on"], told["written"]) == (1, False, True, None)
    assert name in [part["name"] for part in told["parts"] if part["state"] != "sound"]
    assert {one.name: one.read_bytes() for one in (work / "run").iterdir()} == before
    done = call("repair", "run", where, *(["new"] if where == "--out" else []))
    assert done.exit_code == 0, done.output
    kept = work / ("run" if where == "--out" else "run/damaged-1") / name
    assert kept.read_bytes() == before[name]  # the damaged file stays
    folder = "new" if where == "--out" else "run"
    assert repair(folder).sound
    rows = repair(folder).parts[3 if (work / folder / "spans.jsonl").exists() else 2].sound
    assert judged(site, folder)["state"] == "finished"
    assert exported(folder) == whole
    assert site.count - paid == 0  # the items are there, or their replies
    judged(site, "again", "--ledger", f"{folder}/ledger.sqlite")
    assert site.count - paid == paid - rows  # and no other
    assert exported("again") == whole
    assert {one.stat().st_mode & 0o077 for one in (work / folder).iterdir() if one.is_file()} == {0}


def test_a_sound_run_is_told_so_and_left_as_it_is(server, work):
    judged(server("ok"))
    (work / "run/journal.sqlite").unlink()  # an index, which the next run makes again
    before = {one.name: one.stat().st_mtime_ns for one in (work / "run").iterdir()}
    for words in ((), ("--in-place",)):
        done = call("repair", "run", *words)
        assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, "all is sound; nothing was written")
    assert {one.name: one.stat().st_mtime_ns for one in (work / "run").iterdir() if one.name != ".lock"} == {
        name: time for name, time in before.items() if name != ".lock"
    }
    assert call("repair", "run", "--out", "copy").exit_code == 0
    assert exported("copy") == exported("run")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("where", ["--in-place", "--out"])
@pytest.mark.parametrize("lost", ["missing", "damaged"])
def test_without_a_manifest_the_same_command_begins_anew_and_pays_nothing(lost, where, server, work):
    site = server("ok")
    judged(site)
    whole, paid = exported("run"), site.count
    if lost == "missing":
        os.unlink("run/manifest.json")
    else:
        change("manifest.json", lambda data: data[:99])
    refused = call("run", "llm-score", "data.jsonl", "-c", "summary", "--out", "run")
    assert refused.exit_code == 1
    assert "judgegraph repair" in refused.stderr
    done = call("repair", "run", where, *(["new"] if where == "--out" else []))
    assert (done.exit_code, "cannot be salvaged" in done.stdout) == (0, True)
    folder = "new" if where == "--out" else "run"
    assert Path(f"{folder}/salvaged-items.jsonl").read_bytes().count(b"\n") == COUNT
    judged(site, folder)
    assert (exported(folder), site.count) == (whole, paid)


def test_a_later_line_that_is_damaged_takes_the_earlier_ones_of_its_sample_with_it(server, work):
    site = server("ok")
    judged(site)
    whole = exported("run")
    change("items.jsonl", lambda data: data + re.sub(rb'"value":4', b'"value":2', data.splitlines(True)[0], count=1))
    done = call("repair", "run", "--in-place")
    assert "has a later line, which is damaged" in done.stdout
    assert Path("run/items.jsonl").read_bytes().count(b"\n") == COUNT - 1
    judged(site)
    assert exported("run") == whole


def test_a_shared_ledger_is_repaired_by_its_own_name(server, work):
    site = server("ok")
    judged(site, "run", "--ledger", "calls.sqlite")
    paid = site.count
    data = Path("calls.sqlite").read_bytes()
    Path("calls.sqlite").write_bytes(data[:8192] + bytes(8192) + data[16384:])
    done = call("repair", "run")
    assert done.exit_code == 1
    assert "judgegraph repair run/../calls.sqlite" in done.stdout
    assert call("repair", "run", "--out", "copy").exit_code == 0
    assert json.loads(Path("copy/manifest.json").read_text())["ledger"] == "../calls.sqlite"
    shutil.copyfile("calls.sqlite", "other.sqlite")
    assert call("repair", "other.sqlite", "--out", "new.sqlite").exit_code == 0
    done = call("repair", "calls.sqlite", "--in-place", "--json")
    told = json.loads(done.stdout)
    assert (done.exit_code, told["backup"]) == (0, "calls.sqlite.damaged-1")
    assert Path("calls.sqlite.damaged-1/calls.sqlite").read_bytes() == Path("other.sqlite").read_bytes()
    for ledger in ("calls.sqlite", "new.sqlite"):
        before = site.count
        judged(site, f"again-{ledger}", "--ledger", ledger)
        assert site.count - before == paid - told["parts"][0]["sound"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("run", "--out", "data.jsonl"), 1, "data.jsonl is there"),
        (("run", "--out", "new", "--in-place"), 2, "give one of the two"),
        (("empty",), 1, "is no run's folder"),
        (("data.jsonl",), 1, "it is no database any more"),
    ],
)
def test_what_cannot_be_done_is_said(words, code, said, server, work):
    judged(server("ok"))
    (work / "empty").mkdir()
    done = call("repair", *words)
    assert (done.exit_code, said in done.output) == (code, True), done.output


def test_a_folder_that_is_being_written_is_left_alone(server, work):
    from filelock import FileLock

    judged(server("ok"))
    digit()
    with FileLock(work / "run/.lock"):
        for words in (("--in-place",), ("--out", "new")):
            done = call("repair", "run", *words)
            assert (done.exit_code, "is being written by a run" in done.stderr) == (1, True)
        assert call("repair", "run").exit_code == 1  # looking is free
