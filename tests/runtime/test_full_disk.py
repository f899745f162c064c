"""A disk that is full, or may not be written: one clear line, and nothing that was finished is lost."""

import contextlib
import os
import subprocess

import pytest
from small import Judged, fine, graph_of, ids, samples

import judgegraph as jg
from judgegraph.errors import ConfigError
from judgegraph.runs.lines import Journal
from judgegraph.types import Sample


@pytest.fixture
def disk(tmp_path):
    """A disk of 512 KiB of its own."""
    if os.geteuid():
        pytest.skip("skipped: only root may mount a disk")
    place = tmp_path / "disk"
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", place], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"skipped: no disk can be mounted here ({done.stderr.strip()})")
    yield place
    subprocess.run(["umount", place], check=True)


def long_samples(count):
    return [Sample(id=f"s{i}", output=f"{i} " + "word " * 2000) for i in range(count)]


@pytest.mark.parametrize("hog", [0, 300_000], ids=["by the items", "by another"])
def test_a_full_disk_ends_the_run_and_the_same_command_goes_on_when_there_is_room(hog, disk):
    (disk / "hog").write_bytes(bytes(hog))
    judged = Judged()
    with pytest.raises(
        ConfigError, match=r"cannot write .*(No space left on device|disk is full|disk I/O error)"
    ) as error:
        jg.evaluate(judged.graph, long_samples(60), out=disk / "run", concurrency=4)
    assert "\n" not in str(error.value)
    finished = ids(jg.Run.load(disk / "run").items)
    assert 0 < len(finished) < 60
    (disk / "hog").unlink()
    subprocess.run(["mount", "-o", "remount,size=8m", disk], check=True)
    judged.seen.clear()
    run = jg.evaluate(judged.graph, long_samples(60), out=disk / "run")
    assert not set(judged.seen) & set(finished)
    assert sorted(ids(run.items)) == sorted(f"s{i}" for i in range(60))
    assert run.manifest["state"] == "finished"


def test_a_folder_that_may_only_be_read_is_told_in_one_line_and_can_be_read(disk):
    jg.evaluate(graph_of(fine), samples(3), out=disk / "run")
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    with pytest.raises(ConfigError, match=r"cannot write .*Read-only file system") as error:
        jg.evaluate(graph_of(fine), samples(4), out=disk / "run")
    assert "\n" not in str(error.value)
    assert len(list(jg.Run.load(disk / "run").items)) == 3


def test_a_journal_that_cannot_be_written_ends_the_run_and_leaves_no_gap(tmp_path, monkeypatch):
    """Whatever is finished after the failure is not entered behind it."""
    finish = Journal.finish

    def failing(self, mark, *rest):
        if mark.place == 2 and self._failure is None:
            self._db.execute("PRAGMA query_only = ON")
        with contextlib.ExitStack() as then:
            then.callback(self._db.execute, "PRAGMA query_only = OFF")
            finish(self, mark, *rest)
            self.commit()  # rows are written together

    judged = Judged()
    with monkeypatch.context() as patch:
        patch.setattr(Journal, "finish", failing)
        with pytest.raises(ConfigError, match="cannot write"):
            jg.evaluate(judged.graph, samples(9), out=tmp_path / "run", concurrency=3)
    kept = ids(jg.Run.load(tmp_path / "run").items)
    assert len(kept) >= 3
    judged.seen.clear()
    run = jg.evaluate(judged.graph, samples(9), out=tmp_path / "run")
    assert not set(judged.seen) & set(kept)
    assert sorted(ids(run.items)) == [f"s{i}" for i in range(9)]
