"""Files that unpack to far more than they hold are refused before they are unpacked: measured in a fresh process."""

import gzip
import json
import subprocess
import sys
import zipfile

import pytest

from judgegraph.data.load import load
from judgegraph.errors import DataError

pytestmark = pytest.mark.slow

MOST_MEMORY = 500 * 2**20  # bytes, promise 25
CODE = """
import json, resource, sys, time
from judgegraph.errors import DataError
from judgegraph.data.load import load
if sys.argv[1].endswith(".parquet"):
    import pyarrow.parquet
start = time.monotonic()
try:
    said = load(sys.argv[1], strict=False).count()
except DataError as error:
    said = str(error)
lines = open("/proc/self/status") if sys.platform == "linux" else ()  # ru_maxrss holds the parent's peak there
peaks = [1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM")]
peak = peaks[0] if peaks else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([said, peak, time.monotonic() - start]))
"""


def tried(path):
    """What loading said, the peak of the process's memory in bytes, and seconds."""
    done = subprocess.run([sys.executable, "-c", CODE, str(path)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", ["rows.jsonl.gz", "rows.json.gz", "rows.csv.gz", "rows.jsonl"])
@pytest.mark.sampled(4)
def test_a_gigabyte_in_a_megabyte_is_refused(tmp_path, name):
    piece = gzip.compress(b" " * 2**24, compresslevel=9)
    path = tmp_path / name
    path.write_bytes(piece * 64)  # members of one file, 1 GiB in all
    assert path.stat().st_size * 200 < 2**30
    said, peak, seconds = tried(path)
    assert "unpacks to over 100 times its size" in str(said)
    assert peak < MOST_MEMORY
    assert seconds < 60


def varint(number):
    """As Thrift's compact protocol writes a whole number of 64 bits."""
    number, found = number << 1, bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])


def test_a_table_that_declares_a_billion_rows_is_refused(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="skipped: no pyarrow")
    from pyarrow import parquet

    path, rows = tmp_path / "rows.parquet", 100_003
    column = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * rows, "int8"), ["x"])
    parquet.write_table(pyarrow.table({"output": column}), path)
    data = path.read_bytes()
    size = int.from_bytes(data[-8:-4], "little")
    footer = data[-8 - size : -8]
    assert varint(rows) in footer
    liar = footer.replace(varint(rows), varint(10**9))
    path.write_bytes(data[: -8 - size] + liar + len(liar).to_bytes(4, "little") + b"PAR1")
    assert parquet.read_metadata(path).num_rows == 10**9
    said, peak, seconds = tried(path)
    assert "declares 1,000,000,000 rows in" in str(said)
    assert peak < MOST_MEMORY
    assert seconds < 10


def test_an_archive_is_no_data_file_whatever_it_is_called(tmp_path):
    inner, outer = tmp_path / "inner.zip", tmp_path / "data.zip"
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("rows.jsonl", b" " * 2**24)
    with zipfile.ZipFile(outer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(inner, "inner.zip")
    with pytest.raises(DataError, match="no format of data"):
        load(outer)
    renamed = outer.rename(tmp_path / "data.jsonl")
    with pytest.raises(DataError, match="line 1"):
        load(renamed).count()


def values_written_once(kind, pyarrow):
    """A table whose file keeps one large value once, and whose rows refer to it."""
    ids, outputs = [str(n) for n in range(60)], ["a reply"] * 60
    large = {
        "text": lambda: pyarrow.array(["x" * 60_000_000]).take(pyarrow.array([0] * 10)).dictionary_encode(),
        "list of texts": lambda: pyarrow.array([["x" * 4_000_000] * 60]),
        "list of numbers": lambda: pyarrow.array([[0] * 20_000_000]),
        "bytes of one size": lambda: pyarrow.array([b"0" * 40_000_000] * 6, pyarrow.binary(40_000_000)),
    }[kind]()
    rows = len(large)
    return pyarrow.table({"id": ids[:rows], "output": outputs[:rows], "large": large})


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("text", "field large: is 60,000,000 bytes; a row may have 16,777,216 in all"),
        ("list of texts", "field large: is 240,000,000 bytes; a row may have 16,777,216 in all"),
        ("list of numbers", "unpacks to over 100 times its size"),
        ("bytes of one size", "unpacks to over 100 times its size"),
    ],
)
def test_a_table_whose_rows_share_a_large_value_is_bounded(tmp_path, kind, said):
    pyarrow = pytest.importorskip("pyarrow", reason="skipped: no pyarrow")
    from pyarrow import parquet

    path = tmp_path / "rows.parquet"
    table = values_written_once(kind, pyarrow)
    parquet.write_table(table, path, compression="zstd", dictionary_pagesize_limit=10**9, store_schema=False)
    assert path.stat().st_size < 50_000
    counted, peak, _ = tried(path)
    assert peak < MOST_MEMORY
    if "field" in said:
        assert counted == 0
        rejected = load(path, strict=False)
        assert list(rejected) == []
        assert said in str(rejected.rejected[0])
    else:
        assert said in counted


def test_a_table_with_nested_and_empty_cells_is_read_as_it_was_written(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="skipped: no pyarrow")
    from pyarrow import parquet

    pairs = pyarrow.map_(pyarrow.string(), pyarrow.string())
    rows = {
        "id": ["1", "2", "3"], "output": ["one", "two", "three"], "tags": [["a", "b"], [], None],
        "parts": [{"n": [1, 2], "t": "x"}, None, {"n": None, "t": "y"}],
        "pairs": pyarrow.array([[("k", "v")], [], None], pairs), "large": ["x" * 17_000_000, "", "z"],
    }  # fmt: skip
    path = tmp_path / "rows.parquet"
    parquet.write_table(pyarrow.table(rows), path)
    samples = load(path, strict=False)
    second, third = samples
    assert second.meta == {"tags": [], "parts": None, "pairs": [], "large": ""}
    assert third.meta == {"tags": None, "parts": {"t": "y"}, "pairs": None, "large": "z"}
    assert "field large: is 17,000,000 bytes" in str(samples.rejected[0])
