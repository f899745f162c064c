"""How many rows a file has, for the time that is left: cheap, whatever stands in them."""

import gzip
import json

import pytest

from judgegraph.data.load import RowCount, load

ROWS = [{"id": f"s{i}", "output": f'a "text"\nof {i}'} for i in range(5)]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS)
CSV = "id,output\n" + "".join(f's{i},"two\nlines"\n' for i in range(5))


def written(path, content):
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content)
    return load(path, strict=False)


@pytest.mark.parametrize(
    ("name", "content", "rows"),
    [
        ("d.jsonl", LINES + "\n  \n", 5),
        ("d.jsonl", LINES + "no JSON", 6),
        ("d.jsonl.gz", gzip.compress(LINES.encode(), mtime=0), 5),
        ("d.json", json.dumps(ROWS, indent=1), 5),
        ("d.json", LINES, 5),
        ("d.csv", CSV, 5),
        ("d.tsv", CSV.replace(",", "\t"), 5),
    ],
)
def test_rows_are_counted_in_every_format(name, content, rows, tmp_path):
    samples = written(tmp_path / name, content)
    assert RowCount(samples.path, samples.format).within(10) == rows
    assert samples.count() + len(samples.rejected) == rows


def test_a_parquet_file_says_it_itself(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.Table.from_pylist(ROWS), tmp_path / "d.parquet")
    assert RowCount(tmp_path / "d.parquet", "parquet").within(10) == 5


def test_counting_ends_where_no_more_are_wanted(tmp_path):
    samples = written(tmp_path / "d.jsonl", LINES)
    assert RowCount(samples.path, samples.format, 3).within(10) == 3
    assert RowCount(samples.path, samples.format, 9).within(10) == 5


@pytest.mark.parametrize("content", [b"\xff\xfe[]", None], ids=["UTF-16", "no file"])
def test_what_cannot_be_counted_is_not_known(content, tmp_path):
    if content is not None:
        (tmp_path / "d.jsonl").write_bytes(content)
    assert RowCount(tmp_path / "d.jsonl", "jsonl").within(10) is None
