"""Files of a collection: found with or without .gz, and told with file and place where they are broken."""

import gzip
from pathlib import Path

import pytest

from judgegraph.bench.files import read_json, read_lines, rows_of
from judgegraph.errors import DataError


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"a": ', "line 1, column 7: no JSON"),
        (b'[\n{"a" 1}]', "line 2, column 6: no JSON"),
        (b"\x80\x04\x95 a pickle", "line 1: no UTF-8 text; a pickle is never read"),
        (b"[" * 100_000, "line 1: no JSON that we read"),
        (b"[" + b"9" * 5000 + b"]", "line 1: no JSON that we read"),
    ],
)
def test_a_broken_file_is_told_with_file_and_place(tmp_path: Path, content, said):
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(DataError, match=r"x\.json") as error:
        read_json(tmp_path / "x.json")
    assert said in str(error.value)


@pytest.mark.parametrize(
    "content", [b"no gzip", gzip.compress(bytes(range(256)), mtime=0)[:60]], ids=["none", "cut off"]
)
def test_a_broken_archive_is_told(tmp_path: Path, content):
    (tmp_path / "x.json.gz").write_bytes(content)
    with pytest.raises(DataError, match=r"x\.json\.gz: cannot be read"):
        read_json(tmp_path / "x.json")


def test_a_name_stands_for_the_file_with_and_without_gz(tmp_path: Path):
    (tmp_path / "a.json").write_text("[1]")
    (tmp_path / "b.json.gz").write_bytes(gzip.compress(b"[2]"))
    assert read_json(tmp_path / "a.json.gz") == [1]
    assert read_json(tmp_path / "b.json") == [2]
    with pytest.raises(DataError, match=r"no .*c\.json; `judgegraph bench` lists the files"):
        read_json(tmp_path / "c.json")


def test_lines_are_numbered_as_an_editor_does(tmp_path: Path):
    (tmp_path / "x.jsonl").write_text('{"a": "one\u2028line"}\n\n[1]\n')
    with pytest.raises(DataError, match=r"x\.jsonl, line 3: expected a JSON object, got list"):
        read_lines(tmp_path / "x.jsonl")


def test_rows_of_a_list_and_of_an_object_have_their_places(tmp_path: Path):
    (tmp_path / "x.json").write_text('{"k\\u001b": {}, "l": 3}')
    with pytest.raises(DataError, match=r"x\.json, 'l': expected an object, got int"):
        rows_of(tmp_path / "x.json")
    (tmp_path / "x.json").write_text('[{"a": 1}]')
    assert rows_of(tmp_path / "x.json") == [(f"{tmp_path / 'x.json'}, item 1", {"a": 1})]
