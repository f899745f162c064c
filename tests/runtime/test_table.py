"""Scores as CSV: no cell is a formula, whatever separates lists where it is opened, and all is read back as it was."""

import csv
import io
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import judgegraph as jg
from judgegraph.data.load import csv_rows
from judgegraph.data.samples import COLUMNS, marked, unmarked
from judgegraph.errors import ConfigError
from judgegraph.runs.item import Item
from judgegraph.runs.run import PICTURES, Table, row_of
from judgegraph.types import Sample, Score

NASTY = "=+-@\uff1d\uff0b\uff0d\uff20'\"\t\r\n\0\x1b; ,\ufeff\u200b\u00a0aé5"
texts = st.text(st.sampled_from(NASTY), max_size=12) | st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
FORMULA = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b\ufeff\"]*[=+\-@\uff1d\uff0b\uff0d\uff20]")
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?(e[+-]\d+)?")


def score(**more) -> Score:
    return Score(**{"criterion": "Clarity", "agent": "a", "value": 3, **more})


def table(*scores: Score, id: str = "s1") -> Table:
    return Table([row_of(id, one) for one in scores])


def as_text(value: object) -> str:
    return "" if value is None else str(value)


def read(path: Path) -> list[dict]:
    """What our reader makes of it."""
    return [row for _, row in csv_rows(path, ",")]


def cells(path: Path, separator: str = ",") -> list[str]:
    """What a program that knows nothing of us makes of it; none of its lines is one of theirs."""
    text = path.read_bytes().decode("utf-8-sig")
    return [cell for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) for cell in row]


@given(texts)
def test_marking_is_undone_exactly(text: str):
    assert unmarked(marked(text)) == text


@given(texts, texts)
def test_no_two_texts_are_marked_alike(one: str, other: str):
    assert (marked(one) == marked(other)) == (one == other)


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("-5", "'-5"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t'=1"),
        ("\rx", "'\rx"),
        ("\0=1", "'\0=1"),
        ("  +1", "'  +1"),
        ("\uff1d1", "'\uff1d1"),
        ("\ufeff=1", "'\ufeff=1"),
        ("'=1", "''=1"),
        ("''=1", "'''=1"),
        ("'tis", "'tis"),
        ("a=b-c", "a=b-c"),
        ("good\n\nclear; fine", "good\n\nclear; fine"),
        ('a;"=1', "a;'\"=1"),
        ("list:\n- one\n- two", "list:\n'- one\n'- two"),
        ("", ""),
    ],
)
def test_a_text_has_this_form_in_a_cell(text: str, cell: str):
    assert (marked(text), unmarked(cell)) == (cell, text)


def test_marking_a_long_text_takes_no_time():
    start = time.monotonic()
    for text in ("; " * 500_000, " " * 1_000_000, "'" * 1_000_000, "\n" * 1_000_000 + "="):
        assert unmarked(marked(text)) == text
    assert time.monotonic() - start < 10


@given(rows=st.lists(st.tuples(texts.filter(bool), texts, texts, texts), max_size=4))
def test_any_text_comes_back_and_none_begins_as_a_formula(rows, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    made = Table([
        row_of(id, score(criterion=name, value=None, label=label, reason=reason)) for id, name, label, reason in rows
    ])  # fmt: skip
    made.to_csv(path)
    assert read(path) == [{name: as_text(cell).translate(PICTURES) for name, cell in row.items()} for row in made]
    for separator in (",", ";", "\t"):
        assert not [cell for cell in cells(path, separator) if FORMULA.match(cell)]


def test_numbers_stay_numbers(tmp_path: Path):
    made = table(score(value=-0.5), score(value=1e-7, unseen=0.25), score(value=3))
    made.to_csv(tmp_path / "t.csv")
    assert [(row["value"], row["unseen"], row["repeat"]) for row in read(tmp_path / "t.csv")] == [
        ("-0.5", "", "0"), ("1e-07", "0.25", "0"), ("3.0", "", "0"),
    ]  # fmt: skip
    assert [float(row["value"]) for row in read(tmp_path / "t.csv")] == [row["value"] for row in made]


def test_the_file_is_of_rfc_4180_in_utf_8_and_its_first_column_has_its_name(tmp_path: Path):
    table(score(reason='good, "clear"\nand é')).to_csv(tmp_path / "t.csv")
    head = ",".join(COLUMNS)
    line = 's1,Clarity,a,final,0,output,3.0,,ok,,,"good, ""clear""\nand é",answer'
    assert (tmp_path / "t.csv").read_bytes() == f"{head}\r\n{line}\r\n".encode()
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        assert [row["id"] for row in csv.DictReader(file)] == ["s1"]


def test_pandas_reads_what_it_was_given(tmp_path: Path):
    pandas = pytest.importorskip("pandas")
    made = table(score(value=-0.5, reason="good"), score(value=None, label="-", reason="x\ny"))
    made.to_csv(tmp_path / "t.csv")
    frame = pandas.read_csv(tmp_path / "t.csv")
    assert list(frame.columns) == list(COLUMNS)
    assert frame["value"].tolist()[0] == made.to_pandas()["value"].tolist()[0] == -0.5


def test_a_file_with_a_column_more_is_still_ours_and_one_with_a_column_less_is_not(tmp_path: Path):
    table(score(reason="=1"), id="=id").to_csv(tmp_path / "t.csv")
    head, line, _ = (tmp_path / "t.csv").read_bytes().decode("utf-8-sig").split("\r\n")
    more, less = tmp_path / "more.csv", tmp_path / "less.csv"
    more.write_text(f"{head},human\n{line},'=4\n")
    (row,) = read(more)
    assert (row["id"], row["reason"], row["human"]) == ("=id", "=1", "'=4"), "their column is as they wrote it"
    less.write_text(f"{head.removesuffix(',role')}\n{line.rpartition(',')[0]}\n")
    assert read(less)[0]["id"] == "'=id"


def test_foreign_data_keeps_its_quotes(tmp_path: Path):
    (tmp_path / "d.csv").write_text("id,output,reason\n'=1,'=SUM(A1),'-x\n")
    (sample,) = jg.load(tmp_path / "d.csv")
    assert (sample.id, sample.output, sample.meta) == ("'=1", "'=SUM(A1)", {"reason": "'-x"})


def test_scores_are_samples_and_a_table_of_judgements_under_their_own_names(tmp_path: Path):
    path = tmp_path / "t.csv"
    Table([row_of(f"=s{v}", score(value=-v, reason=f"- {v}")) for v in (1, 2)]).to_csv(path)
    found = jg.load(path, fields={"output": "reason"})
    assert [(sample.id, sample.output) for sample in found] == [("=s1", "- 1"), ("=s2", "- 2")]
    (told,) = jg.read_table(path, human=("unseen",), metrics=("value",))
    assert (told.ids, told.metrics["value"]) == (("=s1", "=s2"), (-1.0, -2.0))


def test_a_file_that_cannot_be_written_stays_as_it_is(tmp_path: Path):
    with pytest.raises(ConfigError, match="cannot write"):
        table(score()).to_csv(tmp_path / "none" / "t.csv")

    def rows():
        yield {"id": "s1"}
        raise OSError(28, "No space left on device")

    (tmp_path / "t.csv").write_text("before")
    with pytest.raises(ConfigError, match="No space left"):
        Table(rows()).to_csv(tmp_path / "t.csv")
    assert [p.name for p in tmp_path.iterdir()] == ["t.csv"]
    assert (tmp_path / "t.csv").read_text() == "before"


def test_a_run_writes_its_scores_in_the_order_of_the_dataset(tmp_path: Path):
    items = [
        Item(sample=Sample(id=f"s{n}", output="x"), place=n, scores=[score(agent=a) for a in "ab"]) for n in (2, 0, 1)
    ]
    run = jg.Run({"signature": "s"}, items)
    assert run.export_scores(tmp_path / "t.csv") == 6
    assert [row["id"] for row in read(tmp_path / "t.csv")] == ["s0", "s0", "s1", "s1", "s2", "s2"]
