"""Whatever is moved or merged inside, users see what they saw: outputs, pages, files of runs, names, addresses."""

import json
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import judgegraph as jg
from judgegraph.cli import main

HERE = Path(__file__).resolve().parent
CRITERIA = str(HERE / "data/criteria.yaml")
NOTES = (HERE / "data/notes.jsonl").read_text().splitlines(keepends=True)


@pytest.mark.long
@pytest.mark.timeout(480)
def test_users_see_what_they_saw(tmp_path: Path):
    """Where a difference is meant: `python tests/golden/made.py --write`, and read its diff."""
    made = subprocess.run(
        [sys.executable, str(HERE / "made.py")],
        cwd=tmp_path, capture_output=True, text=True, timeout=450, check=False,
    )  # fmt: skip
    assert made.returncode == 0, f"{made.stdout[:8000]}\n{made.stderr[-2000:]}"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A run's folder that an earlier version wrote, over the first three samples."""
    shutil.copytree(HERE / "folder_of_today/run", tmp_path / "run")
    return tmp_path / "run"


def called(*words: Any) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)


def again(old: Path, samples: int) -> dict[str, Any]:
    """The command that made the folder, over so many samples."""
    data = old.with_name("three.jsonl")
    data.write_text("".join(NOTES[:samples]))
    result = called("run", "sageval", data, "-c", CRITERIA, "-o", old, "--concurrency", 1, "--json")
    assert result.exit_code == 0, result.stderr
    told: dict[str, Any] = json.loads(result.stdout)
    return told


def addresses(folder: Path) -> set[bytes]:
    at = sqlite3.connect(folder / "ledger.sqlite")
    try:
        return {row[0] for row in at.execute("select address from replies")}
    finally:
        at.close()


def test_an_old_folder_is_read(old: Path):
    run = jg.Run.load(old)
    assert [item.id for item in run.items] == ["owl-1", "fox-1", "elk-1"]
    assert run.summary().samples["ok"] == 3
    assert len(run.scores()) == 18
    assert "model embedded" in str(run.trace("owl-1"))
    assert run.trace("owl-1").untraced == ""
    for words in (["trace", old], ["trace", old, "--sample", "fox-1"], ["meta", old, "--resamples", 0]):
        assert called(*words).exit_code == 0, words
    assert called("report", old, "-o", old / "page.html").exit_code == 0
    assert called("repair", old).output.endswith("all is sound; nothing was written\n")


def test_an_old_run_goes_on_with_nothing_to_pay(old: Path):
    before = (old / "items.jsonl").read_bytes()
    told = again(old, 3)
    assert told["samples"] == {"ok": 3}
    assert told["calls"]["ledger"] == {
        "hits": 0,
        "joined": 0,
        "paid": 6,
        "damaged": 0,
        "overtaken": 0,
    }  # of both sessions
    assert (old / "items.jsonl").read_bytes() == before


def test_an_old_run_takes_one_more_sample_and_pays_for_that_alone(old: Path):
    before = addresses(old)
    told = again(old, 4)
    assert told["samples"] == {"ok": 4}
    assert told["spent"]["calls"] == 8
    assert before < addresses(old)
    assert len(addresses(old)) == 8


def test_an_old_ledger_pays_for_a_new_run(old: Path, tmp_path: Path):
    data = tmp_path / "three.jsonl"
    data.write_text("".join(NOTES[:3]))
    words = (
        "run",
        "sageval",
        data,
        "-c",
        CRITERIA,
        "--ledger",
        old / "ledger.sqlite",
        "-o",
        tmp_path / "new",
        "--json",
    )
    told = json.loads(called(*words).stdout)
    assert told["calls"]["ledger"] == {"hits": 6, "joined": 0, "paid": 0, "damaged": 0, "overtaken": 0}


BARE = {"id": "3", "output": "At nine.", "query": "When does it open?"}
SHOWN = {
    "references": ["At nine.", "Nine."], "facts": {"since": 2019},
    "contexts": [{"id": "h", "text": "Mondays: nine to six."}],
    "turns": [
        {"role": "user", "content": "When?"},
        {"role": "assistant", "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": "hours"}'}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "nine"},
    ],
}  # fmt: skip


@pytest.mark.slow
def test_a_folder_with_evidence_of_a_version_that_counted_none_goes_on_and_is_told(tmp_path: Path):
    """Its items hold the evidence; its manifest says nothing of it, and its messages no fields that came later."""
    data, out = tmp_path / "data.jsonl", tmp_path / "run"
    rows = [{**BARE, **SHOWN, "id": "1"}, {**BARE, **SHOWN, "id": "2"}]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ("run", "sageval", data, "-c", "general", "-o", out, "--concurrency", 1, "--json")
    first = json.loads(called(*words).stdout)
    signature = first["signature"]
    about = json.loads((out / "manifest.json").read_text())
    assert about.pop("evidence") == {"contexts": 2, "turns": 2, "facts": 2}
    about["signature"] = "|".join(part for part in signature.split("|") if not part.startswith("evidence:"))
    for key in ("unreachable", "damaged_lines", "checksums", "spent_before", "versions"):
        about.pop(key, None)
    (out / "manifest.json").write_text(json.dumps(about))
    items = [json.loads(line) for line in (out / "items.jsonl").read_text().splitlines()]
    assert all(item["sample"]["turns"][1]["calls"][0]["more"] == {"type": "function"} for item in items)
    for item in items:
        del item["sample"]["turns"][1]["calls"][0]["more"]
    (out / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))

    again = json.loads(called(*words).stdout)
    assert again["samples"] == {"ok": 2}
    assert again["spent"]["calls"] == first["spent"]["calls"]  # nothing more was paid
    data.write_text(data.read_text() + json.dumps({**BARE, **SHOWN}) + "\n")
    more = json.loads(called(*words).stdout)
    assert more["samples"] == {"ok": 3}
    assert more["signature"] == signature
    run = jg.Run.load(out)
    assert {tuple(sorted(item.sample.shown_evidence())) for item in run.items} == {
        ("contexts", "facts", "references", "turns")
    }
    assert called("report", out, "-o", tmp_path / "page.html").exit_code == 0
    assert "Mondays: nine to six." in (tmp_path / "page.html").read_text()
    assert called("trace", out, "--sample", "1").exit_code == 0
