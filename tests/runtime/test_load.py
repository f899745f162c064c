"""Data files: what loads, what is refused and how it is said, and what it costs."""

import datetime
import decimal
import gzip
import json
import sys
import time
import tracemalloc

import pyarrow
import pytest
from pyarrow import parquet

from judgegraph.data import load as load_text
from judgegraph.data.load import load
from judgegraph.data.samples import meant, plain
from judgegraph.errors import ConfigError, DataError, ExtraError
from judgegraph.types import Sample

ROWS = [
    {"id": "a", "query": "Why?", "source": "x", "output": "It is, é.", "human": {"coherence": 4.5}, "lang": "en"},
    {"id": "b", "query": "", "source": "", "output": "No\nit is not.", "human": {}, "lang": "fr"},
]  # fmt: skip
SAMPLES = [Sample.of_row(row) for row in ROWS]


def jsonl(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def written(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def rejections(path, **options):
    samples = load(path, strict=False, **options)
    samples.count()
    return [(r.line, r.field, r.reason) for r in samples.rejected]


TABLE = 'id,query,source,output,human.coherence,lang\na,Why?,x,"It is, é.",4.5,en\nb,,,"No\nit is not.",,fr\n'
FILES = {
    "rows.jsonl": jsonl(ROWS),
    "rows.ndjson": b"\n" + jsonl(ROWS).replace(b"\n", b"\r\n\r\n"),
    "no newline at the end.jsonl": jsonl(ROWS).rstrip(),
    "bom.jsonl": b"\xef\xbb\xbf" + jsonl(ROWS),
    "list.json": json.dumps(ROWS).encode(),
    "indented.json": b"\xef\xbb\xbf\n" + json.dumps(ROWS, indent=2).encode(),
    "lines.json": jsonl(ROWS),
    "rows.csv": TABLE.encode(),
    "bom.csv": b"\xef\xbb\xbf" + TABLE.encode(),
    "windows.csv": TABLE.replace("fr\n", "fr\r\n\r\n").encode(),
    "semicolons.csv": TABLE.replace("is, é", "is; é").replace(",", ";").replace("is; é", "is, é").encode(),
    "rows.tsv": TABLE.replace("is, é", "is; é").replace(",", "\t").replace("is; é", "is, é").encode(),
    "rows.jsonl.gz": gzip.compress(jsonl(ROWS)),
    "rows.csv.gz": gzip.compress(TABLE.encode()),
    "list.json.gz": gzip.compress(json.dumps(ROWS).encode()),
}


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_samples(tmp_path, name):
    assert list(load(written(tmp_path / name, FILES[name]))) == SAMPLES


def test_parquet_gives_the_same_samples(tmp_path):
    rows = [{**row, "human": {"coherence": row["human"].get("coherence")}} for row in ROWS]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "rows.parquet")
    assert list(load(tmp_path / "rows.parquet")) == SAMPLES


def test_a_format_may_be_named_whatever_the_ending(tmp_path):
    assert list(load(written(tmp_path / "rows.txt", jsonl(ROWS)), format="jsonl")) == SAMPLES


def test_samples_are_read_anew_each_time_and_no_further_than_asked(tmp_path):
    samples = load(written(tmp_path / "rows.jsonl", jsonl(ROWS) + b"broken\n"))
    assert samples[0] == SAMPLES[0]
    assert samples[:2] == SAMPLES
    assert next(iter(samples)) == next(iter(samples)) == SAMPLES[0]
    with pytest.raises(DataError, match="line 3"):
        samples[2]
    with pytest.raises(DataError, match="line 3"):
        samples.count()


def test_a_place_is_counted_from_the_start(tmp_path):
    samples = load(written(tmp_path / "rows.jsonl", jsonl(ROWS)))
    assert samples.count() == 2
    for place in (2, -1):
        with pytest.raises(IndexError):
            samples[place]


def test_a_limit_counts_samples_and_reads_no_further(tmp_path):
    path = written(tmp_path / "rows.jsonl", b"broken\n" + jsonl(ROWS) + b"broken too\n")
    samples = load(path, limit=2, strict=False)
    assert list(samples) == SAMPLES
    assert [r.line for r in samples.rejected] == [1]
    assert list(load(path, limit=0)) == []
    with pytest.raises(ConfigError, match="got -1"):
        load(path, limit=-1)


def test_rejections_are_those_of_the_latest_reading(tmp_path):
    samples = load(written(tmp_path / "rows.jsonl", b"{}\n" + jsonl(ROWS)), strict=False)
    assert list(samples) == list(samples) == SAMPLES
    assert len(samples.rejected) == 1


def test_columns_are_renamed_and_those_in_their_way_go_to_meta(tmp_path):
    row = {"key": 7, "output": "old", "reply": {"text": "new"}, "scores": {"coh": 3}, "score": 5, "cost": -1}
    path = written(tmp_path / "rows.jsonl", jsonl([row]))
    fields = {"id": "key", "output": "reply.text", "human.coherence": "scores.coh"}
    sample = load(path, fields=fields)[0]
    assert (sample.id, sample.output, sample.human) == ("7", "new", {"coherence": 3})
    assert sample.meta == {
        "output": "old", "reply": {"text": "new"}, "scores": {"coh": 3}, "score": 5, "cost": -1,
    }  # fmt: skip


def test_a_column_renamed_no_longer_fills_its_own_field(tmp_path):
    path = written(tmp_path / "rows.jsonl", jsonl([{"source": "an article", "output": "x"}]))
    sample = load(path, fields={"query": "source"})[0]
    assert (sample.query, sample.source, sample.meta) == ("an article", "", {})


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"ouput": "x"}, "fields: 'ouput' is no field of a sample; did you mean 'output'? Known: id, query"),
        ({"human.": "x"}, "fields: 'human.' is no field"),
        ({"meta": "x"}, "fields: 'meta' is no field"),
        ({"meta.group": "doc"}, "name the column where it is used: --group doc of compare, meta, rank or report"),
        ({"meta.system": "bot"}, "name the column where it is used: --system bot of meta or rank"),
    ],
)
def test_a_field_that_no_sample_has_is_refused_at_once(tmp_path, fields, said):
    with pytest.raises(DataError) as error:
        load(written(tmp_path / "rows.jsonl", jsonl(ROWS)), fields=fields)
    assert said in str(error.value)


def test_a_row_without_the_column_that_was_named_is_rejected(tmp_path):
    path = written(tmp_path / "rows.jsonl", jsonl(ROWS))
    reason = "the row has no column 'summary'; it has id, query, source, output, human, lang"
    assert rejections(path, fields={"source": "summary"}) == [(1, "source", reason), (2, "source", reason)]


def test_rows_without_an_id_are_called_by_their_line(tmp_path):
    path = written(tmp_path / "rows.jsonl", jsonl([{"output": "x"}]) + b"\n" + jsonl([{"output": "y"}]))
    assert [s.id for s in load(path)] == ["line-1", "line-3"]


@pytest.mark.parametrize("id", [None, "", True, 1.5, ["a"]])
def test_an_id_that_is_there_must_be_text_or_a_whole_number(tmp_path, id):
    [(line, field, reason)] = rejections(written(tmp_path / "rows.jsonl", jsonl([{"id": id, "output": "x"}])))
    assert (line, field) == (1, "id")
    assert reason.startswith("expected text of one character or more, got ")


def test_a_doubled_id_is_rejected_with_both_lines(tmp_path):
    rows = [{"id": "7", "output": "x"}, {"id": "8", "output": "x"}, {"id": 7, "output": "y"}]
    path = written(tmp_path / "rows.jsonl", jsonl(rows))
    assert rejections(path) == [(3, "id", "is the id of line 1 too; ids must be unique")]
    with pytest.raises(DataError, match=r"rows\.jsonl, line 3, id '7', field id: is the id of line 1 too"):
        load(path).count()


def test_a_rejected_row_takes_no_id(tmp_path):
    path = written(tmp_path / "rows.jsonl", jsonl([{"id": "a"}, {"id": "a", "output": "x"}]))
    assert [s.output for s in load(path, strict=False)] == ["x"]


def test_human_labels_of_a_table_are_numbers_or_labels(tmp_path):
    table = 'output,human.a,human.b,human.c,human\nx,4,formal,,\ny,,,  ,\nz,1e2,4;5,0,"{""d"": [1, 2]}"\n'
    found = [s.human for s in load(written(tmp_path / "rows.csv", table))]
    assert found == [{"a": 4, "b": "formal"}, {}, {"a": 100, "b": "4;5", "c": 0, "d": [1, 2]}]


def test_a_cell_that_starts_like_json_stays_text(tmp_path):
    sample = load(written(tmp_path / "rows.csv", 'source,output\n[1],"{""a"": 1}"\n'))[0]
    assert (sample.source, sample.output) == ("[1]", '{"a": 1}')


def test_an_empty_cell_is_no_rival_and_no_reference_but_may_be_an_output(tmp_path):
    sample = load(written(tmp_path / "rows.csv", ",rival,reference,output\n0,,,\n"))[0]
    assert (sample.rival, sample.reference, sample.output) == (None, None, "")
    assert sample.meta == {"column 1": "0"}


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_columns_of_meta_in_dots_are_its_names(tmp_path, name):
    csv = "output,meta.group,meta.a.b,topic,meta.\nt,g1,x,sea,rest\n"
    row = {"output": "t", "meta": {"lang": "en"}, "meta.group": "g1", "meta.a.b": "x", "topic": "sea", "meta.": "rest"}
    (sample,) = load(written(tmp_path / name, csv if name == "a.csv" else jsonl([row])))
    rest = {} if name == "a.csv" else {"lang": "en"}
    assert sample.meta == {**rest, "topic": "sea", "meta.": "rest", "group": "g1", "a.b": "x"}


def test_a_name_of_meta_that_is_given_twice_is_refused(tmp_path):
    (one,) = rejections(written(tmp_path / "a.csv", "output,meta.group,group\nt,g1,g2\n"))
    assert "given twice: 'group' is there too" in one[2]


def test_nothing_in_meta_becomes_a_field(tmp_path):
    row = {"id": "a", "output": "x", "meta": {"id": "z", "output": "y"}, "status": "ok"}
    sample = load(written(tmp_path / "rows.jsonl", jsonl([row])))[0]
    assert (sample.id, sample.output) == ("a", "x")
    assert sample.meta == {"id": "z", "output": "y", "status": "ok"}


DEEP = '{"id": "x", "output": ' + '{"a": ' * 120 + "1" + "}" * 121


@pytest.mark.parametrize(
    ("row", "field", "said"),
    [
        ('{"id": "x"}', "output", "missing; expected text, a JSON object or a list of objects; the row has id"),
        ('{"output": []}', "output", "a list of objects, got an empty list"),
        ('{"output": true}', "output", "a list of objects, got true"),
        ('{"output": "x", "query": 3}', "query", "expected text, got a number"),
        ('{"output": "x", "query": ["y"]}', "query", "expected text, got a list"),
        ('{"output": "x", "rival": 3}', "rival", "expected text, a JSON object or a list of objects, got a number"),
        ('{"output": "x", "human": 3}', "human", "an object of numbers, labels or lists of them, got a number"),
        ('{"output": "x", "human": {"a": {}}}', "human.a", "a number, a label, or a list of them, got an object"),
        ('{"output": "x", "human": {"a": [1, null]}}', "human.a", "got a list with something else in it"),
        ('{"output": "x", "human": {"a": 1}, "human.a": 2}', "human.a", "given twice"),
        ('{"output": "x", "human": {"a": [1, NaN]}}', "human.a[1]", "nan is no number that JSON has"),
        ('{"output": "x", "human": {"a": 1e999}}', "human.a", "inf is no number that JSON has"),
        ('{"output": "x", "deep": {"er": [-Infinity]}}', "deep.er[0]", "-inf is no number that JSON has"),
        ('{"output": {"a": "\\ud800"}}', "output.a", "holds a lone surrogate (\\ud800)"),
        ('{"output": {"\\udfff": 1}}', "output", "holds a lone surrogate (\\udfff)"),
        ('{"id": "\\ud800", "output": "x"}', "id", "lone surrogate"),
        ('{"output": {"a": 1, "a": 1}}', "output.a", "the key is given twice in one object"),
        ('{"output": "x", "n": ' + "9" * 5000 + "}", "n", "is a whole number of over 308 digits"),
        ("[" * 100_000, "", "is nested too deeply"),
        (DEEP, "output" + ".a" * 36 + ".…", "is nested deeper than 100 levels"),
        ("{'id': 1}", "", "is not JSON: Expecting property name enclosed in double quotes at character 2"),
        ('{"output": "x"} {}', "", "is not JSON: more text behind the value, at character 17"),
        ('["x"]', "", "expected a JSON object, got a list"),
        ("null", "", "expected a JSON object, got null"),
        ('"\x1b[31m"', "", "is not JSON: Invalid control character at character 2"),
    ],
)  # fmt: skip
def test_a_bad_row_is_named_by_line_and_field_and_its_neighbours_load(tmp_path, row, field, said):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(ROWS[0]) + "\n" + row + "\n" + json.dumps(ROWS[1]) + "\n", "utf-8")
    samples = load(path, strict=False)
    assert list(samples) == SAMPLES
    [rejection] = samples.rejected
    assert (rejection.line, rejection.field) == (2, field)
    assert said in rejection.reason
    assert str(rejection).isprintable()
    with pytest.raises(DataError) as error:
        load(path).count()
    assert str(error.value) == str(rejection)


def test_ids_and_paths_are_printed_inert(tmp_path):
    path = written(tmp_path / "a\x1b[31m.jsonl", jsonl([{"id": "\x1b]0;pwned\x07\u202e", "output": 1}]))
    samples = load(path, strict=False)
    samples.count()
    assert str(samples.rejected[0]).isprintable()
    assert repr(samples).isprintable()


def test_a_line_that_is_too_long_is_left_out_and_the_next_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(load_text, "MOST_LINE", 1000)
    for size in (1001, 2000, 2001, 5432):
        long = json.dumps({"id": "l", "output": "x" * size}).encode()
        path = written(tmp_path / "rows.jsonl", jsonl(ROWS[:1]) + long + b"\n" + jsonl(ROWS[1:]))
        assert rejections(path) == [(2, "", "is longer than 1,000 bytes")]
        assert list(load(path, strict=False)) == SAMPLES


@pytest.mark.parametrize(
    ("text", "lines", "said"),
    [
        (b'[{"output": "x"}, {"output": 3}, 4,\n{"output": "y"}]', [2, 3], "expected a JSON object, got a number"),
        (b'[{"output": "x"},\n{"output": "y"}\n{"output": "z"}]', [3], "expected ',' or ']' (from line 3); rows"),
        (b'[{"output": "x"},\n{"output": "y"},]', [3], "is not JSON: Expecting value at character 1 (from line 2)"),
        (b'[{"output": "x"},\n{"output": "y"}', [3], "expected ',' or ']' (from line 2); rows after it cannot"),
        (b'[{"output": "x"},\n{"output": "caf\xe9"}]', [1], "line 2 is not UTF-8"),
        (b'[{"id": 1, "output": "x"}, {"id": 1, "output": "x"}]', [2], "is the id of row 1 too"),
        (b'[', [1], "is not JSON: Expecting value"),
    ],
)  # fmt: skip
def test_a_bad_item_of_a_list_is_named_by_its_number(tmp_path, text, lines, said):
    found = rejections(written(tmp_path / "rows.json", text))
    assert [line for line, _, _ in found] == lines
    assert said in found[-1][2]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("id,output\na,x\nb,y,z\nc,z\n", 3, "expected 2 cells as in line 1, got 3"),
        ('id,output\na,"x\ny"\nb\nc,z\n', 4, "expected 2 cells as in line 1, got 1"),
        ('id,output\na,x\nb,"y"y\nc,z\n', 3, "is no row of a table: ',' expected after '\"'"),
        ('id,output\na,x\nb,"y\nc,z\n', 3, "a quote opened here is never closed; rows after it cannot be read"),
        ("id,output,human.a\na,x,nan\n", 2, "nan is no number"),
        ("id,output,human\na,x,good\n", 2, "expected a JSON object; or one column per criterion: human.NAME"),
        ("id,output\n,x\n", 2, "expected text of one character or more, got empty text"),
        (b"id,output\na,x\nb,caf\xe9\nc,y\n", 3, "is not UTF-8; save the file as UTF-8"),
    ],
)
def test_a_bad_row_of_a_table_is_named_by_the_line_it_starts_in(tmp_path, text, line, said):
    found = rejections(written(tmp_path / "rows.csv", text))
    assert [found[0][0], len(found)] == [line, 1]
    assert said in found[0][2]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("rows.jsonl", b"", "holds no rows"),
        ("rows.csv", b"id,output\n", "holds no rows"),
        ("rows.json", b" []", "holds no rows"),
        ("rows.csv", b"", "line 1: expected the columns' names"),
        ("rows.csv", b"id,output,id\na,b,c\n", "line 1: column 'id' is there twice"),
        ("rows.jsonl", '{"output": "x"}\n'.encode("utf-16"), "is UTF-16; save the file as UTF-8"),
        ("rows.csv", "id,output\n".encode("utf-16"), "is UTF-16"),
        ("rows.parquet", b"PAR1 not at all", "is no Parquet file"),
        ("rows.xlsx", b"PK", "'.xlsx' is no format of data; expected jsonl, json, csv, tsv or parquet"),
        ("rows.zip", b"PK", "'.zip' is no format"),
        ("rows.pkl", b"cos\nsystem\n", "'.pkl' is no format"),
        ("rows", b"{}", "has no ending of data"),
    ],
)
def test_a_file_that_cannot_be_read_at_all_is_refused(tmp_path, name, content, said):
    with pytest.raises(DataError) as error:
        load(written(tmp_path / name, content), strict=False).count()
    assert said in str(error.value)
    assert name in str(error.value)


@pytest.mark.parametrize("name", ["absent.jsonl", "absent.csv.gz", "absent.parquet", "folder.jsonl"])
def test_a_file_that_is_not_there_is_refused_at_once(tmp_path, name):
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.raises(DataError, match=r"No such file|Is a directory"):
        load(tmp_path / name)


def test_a_gzip_file_cut_off_gives_its_rows_and_says_where(tmp_path):
    rows = [{"id": str(n), "output": str(hash(n * 7919))} for n in range(5000)]
    packed = gzip.compress(jsonl(rows))
    samples = load(written(tmp_path / "rows.jsonl.gz", packed[: len(packed) // 2]), strict=False)
    found = samples.count()
    assert 0 < found < 5000
    assert [(r.line, r.reason) for r in samples.rejected] == [
        (found + 1, "the gzip file is damaged or cut off here; rows after it cannot be read")
    ]


@pytest.mark.long
def test_a_gzip_bomb_is_refused_while_it_unpacks_whatever_size_it_declares(tmp_path):
    bomb = gzip.compress(b" " * 2**20 * 70, compresslevel=9)
    liar = bomb[:-4] + (1000).to_bytes(4, "little")
    for name, content in [("a.jsonl.gz", bomb), ("a.json.gz", bomb), ("a.csv.gz", b"a,output\n"), ("b.jsonl.gz", liar)]:
        content = gzip.compress(content) + bomb if name == "a.csv.gz" else content
        tracemalloc.start()
        with pytest.raises(DataError, match="unpacks to over 100 times its size"):
            load(written(tmp_path / name, content), strict=False).count()
        assert tracemalloc.get_traced_memory()[1] < 100 * 2**20
        tracemalloc.stop()


def test_a_table_that_declares_more_rows_than_bytes_is_refused(tmp_path):
    column = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 2_000_000, "int8"), ["x"])
    path = tmp_path / "many.parquet"
    parquet.write_table(pyarrow.table({"output": column}), path)
    assert path.stat().st_size < 100_000
    with pytest.raises(DataError, match="declares 2,000,000 rows in"):
        load(path)


@pytest.mark.long
def test_a_table_that_unpacks_to_absurdly_more_than_its_size_is_refused(tmp_path):
    path = tmp_path / "wide.parquet"
    rows = ["x" * 2**20 + str(n) for n in range(70)]
    parquet.write_table(pyarrow.table({"output": rows}), path, compression="gzip", use_dictionary=False)
    with pytest.raises(DataError, match="unpacks to over 100 times its size"):
        load(path)


def test_a_cell_of_a_table_that_json_cannot_hold_is_its_rows_fault(tmp_path):
    when, tenth = datetime.datetime(2024, 5, 1, 12), decimal.Decimal("0.1")
    rows = [
        {"id": 1, "output": "x", "when": when, "price": tenth, "blob": None, "human.a": 1.0},
        {"id": 2, "output": "x", "when": when, "price": tenth, "blob": b"\x00", "human.a": 1.0},
        {"id": 3, "output": None, "when": when, "price": tenth, "blob": None, "human.a": None},
        {"id": 4, "output": "y", "when": when, "price": tenth, "blob": None, "human.a": float("nan")},
        {"id": 5, "output": "z", "when": None, "price": None, "blob": None, "human.a": None},
    ]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "rows.parquet")
    samples = load(tmp_path / "rows.parquet", strict=False)
    found = list(samples)
    assert [s.id for s in found] == ["1", "5"]
    assert found[0].meta == {"when": "2024-05-01T12:00:00", "price": 0.1, "blob": None}
    assert [s.human for s in found] == [{"a": 1.0}, {}]
    said = [str(r).split("rows.parquet, ")[1] for r in samples.rejected]
    assert said == [
        "row 2, id '2', field blob: expected text, a number or JSON, got bytes",
        "row 3, id '3', field output: expected text, a JSON object or a list of objects, got null",
        "row 4, id '4', field human.a: nan is no number that JSON has; leave the value out, or write null",
    ]


def test_text_of_a_table_that_is_no_utf8_is_its_rows_fault(tmp_path):
    broken = pyarrow.array([b"good", b"caf\xe9"]).cast(pyarrow.binary()).view(pyarrow.string())
    parquet.write_table(pyarrow.table({"output": broken}), tmp_path / "rows.parquet")
    assert [s.id for s in load(tmp_path / "rows.parquet", strict=False)] == ["row-1"]
    [(row, field, reason)] = rejections(tmp_path / "rows.parquet")
    assert (row, field) == (2, "output")
    assert reason.startswith("cannot be read: ")


def test_parquet_without_its_extra_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ExtraError, match=r"^reading Parquet needs the extra 'parquet': pip install"):
        load(written(tmp_path / "rows.parquet", b"PAR1"))


@pytest.mark.long
def test_memory_stays_flat_while_a_file_streams(tmp_path):
    def rows(count):
        return (json.dumps({"id": str(n), "output": "word " * 200}) + "\n" for n in range(count))

    (tmp_path / "rows.jsonl").write_text("".join(rows(20_000)))  # 20 MB
    tracemalloc.start()
    start = time.monotonic()
    assert load(tmp_path / "rows.jsonl").count() == 20_000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * 2**20
    assert time.monotonic() - start < 30


def test_plain_keeps_what_json_can_write():
    value = {"a": [1, 2.5, None, True, "é\x00"], "b": {"c": []}}
    assert plain(value, "x") == value


TABLE = "id,output\n" + "#,a\n" * 20  # each "#" gets a number of its own
ROW = '{"id": "#", "output": "a"}'


@pytest.mark.parametrize(
    ("name", "text", "lost", "said"),
    [
        ("a.csv", TABLE + 'y,"open\n' + "#,a\n" * 100, 100, "101 lines were not read, about 100 more rows"),
        ("a.csv", TABLE + 'y,"open\n' + "#,a\n" * 50 + 'w,"b"\nlast,c\n', 51, "about 51 more rows"),
        ("a.csv", "id,output\n" + '#,"a\nb"\n' * 20 + 'y,"open\n' + "#,a\n" * 99, 49, "about 49 more rows"),
        ("a.csv", TABLE + "y,a,b\n" + "#,a\n" * 9, 0, "expected 2 cells"),
        ("a.json", f"[{f'{ROW},' * 9} {{'id': 1}}, {f'{ROW},' * 20} 1]", 20, "more rows"),
        ("a.json", f"[{f'{ROW},' * 9} {ROW[:9]}", None, "cannot be read"),
        ("a.jsonl", f"{ROW}\n" * 9 + ROW[:20], None, "the file is cut off here"),
        ("a.jsonl", f"{ROW}\n" * 9 + f"{ROW[:20]}\n{ROW}\n", 0, "not JSON"),
    ],
)
def test_rows_that_one_fault_hides_are_counted(tmp_path, name, text, lost, said):
    first, *parts = text.split("#")
    path = written(tmp_path / name, first + "".join(f"n{at}{part}" for at, part in enumerate(parts)))
    samples = load(path, strict=False)
    assert samples.count()
    assert said in samples.rejected[0].reason
    assert samples.rejected[0].lost == (lost if lost is None else pytest.approx(lost, abs=2))


@pytest.mark.parametrize(
    ("key", "near"),
    [("qurey", "query"), ("rivall", "rival"), ("Output", "output"), ("humna.Fluency", "human.Fluency"),
     ("source_id", ""), ("preference", ""), ("outputs.raw", ""), ("model", ""), ("id2", ""), ("query", ""),
     ("contxts", "contexts"),
     ("refrences", "references"), ("image", "images"), ("factor", ""), ("returns", "")],
)  # fmt: skip
def test_a_column_that_is_nearly_spelt_as_a_field_is_known(key, near):
    assert meant(key) == near


def test_misspelt_columns_are_counted_once_each_and_stay_in_meta(tmp_path):
    rows = [{"output": "t", "rivall": "u"}, {"output": "t", "rivall": "u", "other": 1}, {"output": "t", "rival": "u"}]
    rows.append({"output": "t", "rival": "u", "rivall": "an own key beside the field"})
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, rows)))
    samples = load(tmp_path / "d.jsonl")
    assert [sample.meta.get("rivall") for sample in samples][:2] == ["u", "u"]
    (one,) = samples.misspelt.values()
    assert (one.key, one.meant, one.line, one.rows) == ("rivall", "rival", 1, 2)
    assert str(one).endswith("did you mean 'rival'?")
