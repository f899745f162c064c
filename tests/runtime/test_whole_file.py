"""Files that are written whole: where nobody can lead the write elsewhere, and nothing gathers."""

import os
import stat
import time
from pathlib import Path

import pytest

from judgegraph.errors import ConfigError
from judgegraph.runs.folder import write_lines


def test_a_link_of_the_old_name_leads_no_write_elsewhere(tmp_path: Path):
    items = tmp_path / "items.jsonl"
    items.write_text("the run's\n")
    for name in (".x.jsonl.new", ".x.jsonl"):
        (tmp_path / name).symlink_to(items)
    assert write_lines(tmp_path / "x.jsonl", ["one", "two"]) == 2
    assert items.read_text() == "the run's\n"
    assert (tmp_path / "x.jsonl").read_text() == "one\ntwo\n"


def test_it_is_its_owners_alone_and_new_each_time(tmp_path: Path):
    seen = set()

    def lines():
        (new,) = tmp_path.glob(".x.csv.*.new")
        seen.add(new.name)
        yield "one"

    for _ in range(2):
        write_lines(tmp_path / "x.csv", lines())
    assert len(seen) == 2
    assert stat.S_IMODE((tmp_path / "x.csv").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]


def test_an_error_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path):
    def lines():
        yield "half"
        raise KeyError("broken")

    (tmp_path / "x").write_text("old")
    with pytest.raises(KeyError):
        write_lines(tmp_path / "x", lines())
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"x": "old"}


def test_what_a_killed_process_left_goes_and_what_is_being_written_stays(tmp_path: Path):
    old, young, other = (tmp_path / f".{name}.new" for name in ("x.12345678", "x.87654321", "y.12345678"))
    for path in (old, young, other):
        path.write_text("half")
    for path in (old, other):
        os.utime(path, (time.time() - 7200,) * 2)
    write_lines(tmp_path / "x", ["whole"])
    assert {path.name for path in tmp_path.iterdir()} == {"x", young.name, other.name}


@pytest.mark.parametrize(("name", "said"), [("none/x", "No such file"), ("folder", "Is a directory")])
def test_an_error_names_the_file_that_was_asked_for(name: str, said: str, tmp_path: Path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(ConfigError, match=said) as raised:
        write_lines(tmp_path / name, ["one"])
    assert str(raised.value).startswith(f"cannot write {tmp_path / name}: ")


def test_a_name_as_long_as_a_system_takes_can_be_written(tmp_path: Path):
    assert write_lines(tmp_path / ("n" * 255), ["one"]) == 1
