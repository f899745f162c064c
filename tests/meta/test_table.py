"""Tables of people's judgements, as they come."""

import gzip
import json
import math
from pathlib import Path

import pytest

import judgegraph as jg
from judgegraph.errors import ConfigError, DataError
from judgegraph.meta.columns import Columns

CSV = "id,doc,human,m\n1,d1,2,3\n2,d1,4,\n3,d2,5,oops\n4,d2,1,2.5\n"


def table(tmp_path: Path, text: str, name: str = "t.csv") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def jsonl(tmp_path: Path, *rows: dict) -> Path:
    return table(tmp_path, "".join(json.dumps(row) + "\n" for row in rows), "t.jsonl")


def test_obvious_columns_need_no_name_and_empty_and_unreadable_cells_are_told_apart(tmp_path: Path):
    (found,) = jg.read_table(table(tmp_path, CSV), metrics=("m",), group="doc")
    assert found.kind == "number"
    assert found.ids == ("1", "2", "3", "4")
    assert found.human == ((2.0,), (4.0,), (5.0,), (1.0,))
    assert found.metrics == {"m": (3.0, None, None, 2.5)}
    assert found.statuses == {"m": ("ok", "missing", "unreadable", "ok")}
    assert (found.groups, found.systems) == (("d1", "d1", "d2", "d2"), None)


@pytest.mark.parametrize("name", ["t.csv.gz", "t.tsv", "t.parquet"])
def test_all_kinds_of_tables_say_the_same(tmp_path: Path, name: str):
    wanted = jg.read_table(table(tmp_path, CSV), metrics=("m",))
    path = tmp_path / name
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(CSV.encode()))
    elif name.endswith(".tsv"):
        path.write_text(CSV.replace(",", "\t"))
    else:
        pandas = pytest.importorskip("pandas")
        rows = [line.split(",") for line in CSV.split()]
        frame = pandas.DataFrame(rows[1:], columns=rows[0])
        frame.assign(human=frame.human.astype(float)).to_parquet(path)
    assert jg.read_table(path, metrics=("m",)) == wanted


def test_a_column_of_criteria_makes_one_of_each_and_nested_columns_are_named_by_dots(tmp_path: Path):
    rows = [{"id": i, "criterion": c, "says": {"m": i}, "human": [i, i + 1]} for i in (1, 2) for c in ("x", "y")]
    x, y = jg.read_table(jsonl(tmp_path, *rows), metrics=("says.m",))
    assert (x.criterion, y.criterion) == ("x", "y")
    assert x.metrics == {"says.m": (1.0, 2.0)}
    assert x.human == ((1.0, 2.0), (2.0, 3.0))


def test_an_annotator_keeps_his_place(tmp_path: Path):
    path = table(tmp_path, "h1,h2,m\n1,,2\n,,3\n2,3,4\n")
    (found,) = jg.read_table(path, human=("h1", "h2"), metrics=("m",))
    assert found.human[0][0] == 1.0
    assert math.isnan(float(found.human[0][1]))
    assert found.human[1:] == ((), (2.0, 3.0))


VERDICTS = [
    ("A B tie", None, {}),
    ("[[A]] [[B]] [[C]]", None, {}),
    ("first second tie", None, {}),
    ("a b draw", None, {}),
    ("1 2 0", "verdict", {"1": "A", "2": "B", "0": "tie"}),
    ("0 1 2", "verdict", {"0": "A", "1": "B", "2": "tie"}),
    ("links rechts gleich", None, {"links": "A", "rechts": "B", "gleich": "tie"}),
]


@pytest.mark.parametrize(("words", "kind", "verdicts"), VERDICTS, ids=[case[0] for case in VERDICTS])
def test_verdicts_are_known_by_many_words(tmp_path: Path, words: str, kind, verdicts):
    rows = [{"human": word, "m": word} for word in words.split()]
    (found,) = jg.read_table(jsonl(tmp_path, *rows), metrics=("m",), kind=kind, verdicts=verdicts)
    assert found.kind == "verdict"
    assert found.human == (("A",), ("B",), ("tie",))
    assert found.metrics["m"] == ("A", "B", "tie")


def test_one_and_two_alone_are_the_two_sides_and_a_third_number_must_be_said(tmp_path: Path):
    rows = [{"human": 1, "m": "1"}, {"human": 2, "m": 2.0}]
    (found,) = jg.read_table(jsonl(tmp_path, *rows), metrics=("m",), kind="verdict")
    assert found.metrics["m"] == ("A", "B")
    path = jsonl(tmp_path, *rows, {"human": 0, "m": 0})
    with pytest.raises(ConfigError, match="written as 0, 1, 2: say which is which"):
        jg.read_table(path, metrics=("m",), kind="verdict")


def test_exchanged_verdicts_are_mapped_back_where_they_name_the_place(tmp_path: Path):
    rows = [
        {"human": "A", "m": "A", "x": "B"},
        {"human": "B", "m": "tie", "x": "tie"},
        {"human": "B", "m": "B", "x": ""},
    ]
    path = jsonl(tmp_path, *rows)
    (as_is,) = jg.read_table(path, exchanged={"m": "x"})
    (turned,) = jg.read_table(path, exchanged={"m": "x"}, swap_back=True)
    assert as_is.exchanged["m"] == ("B", "tie", None)
    assert turned.exchanged["m"] == ("A", "tie", None)


def test_labels_meet_whatever_their_case_and_an_order_refuses_what_it_does_not_name(tmp_path: Path):
    rows = [{"human": "Good", "m": "good "}, {"human": "Poor", "m": "awful"}, {"human": True, "m": "TRUE"}]
    (found,) = jg.read_table(jsonl(tmp_path, *rows), metrics=("m",))
    assert (found.kind, found.metrics["m"]) == ("label", ("Good", "awful", "true"))
    (ordered,) = jg.read_table(jsonl(tmp_path, *rows[:2]), metrics=("m",), order=("poor", "fair", "good"))
    assert ordered.human == (("good",), ("poor",))
    assert ordered.metrics["m"] == ("good", None)
    assert ordered.label_order == ("poor", "fair", "good")
    with pytest.raises(DataError, match=r"line 3: people's judgement 'True' cannot be read; expected poor, fair, good"):
        jg.read_table(jsonl(tmp_path, *rows), metrics=("m",), order=("poor", "fair", "good"))


WRONG = [
    ("human,m\n1,2\n", {"metrics": ("M",)}, "no column 'M'; did you mean 'm'"),
    ("people,m\n1,2\n", {"metrics": ("m",)}, "which column holds people's judgements"),
    ("human,x\n1,2\n", {}, "which column is compared with them"),
    ("human,m\n1,2\nbad,3\n", {"metrics": ("m",), "kind": "number"}, "line 3: people's judgement 'bad' cannot be read"),
    ("human,m\n1,2\nbad,3\n", {"metrics": ("m",)}, r"numbers \('1'\) and words \('bad'\)"),
    ("human,m\n1,good\n2,fine\n", {"metrics": ("m",)}, r"people gave numbers, and metric 'm' says 'good' \(.*line 2\)"),
    ("human,m\n1,1\n2,tie\n", {"metrics": ("m",)}, "metric 'm' says 'tie'"),
    ("human,m\nA,1\nB,2\n0,3\n", {"metrics": ("m",), "kind": "verdict"}, "say which is which"),
    ("human,m,group\n1,2,\n", {"metrics": ("m",)}, "line 2, column group: expected text or a whole"),
    ("human,m\n1,2,3\n", {"metrics": ("m",)}, "line 2: expected 2 cells as in line 1, got 3"),
    ("human,m\n", {"metrics": ("m",)}, "holds no rows"),
    ("human,m\n1e200,2\n", {"metrics": ("m",), "kind": "number"}, "judgement '1e200' cannot be read"),
    ("human,m\nA,A\n", {"metrics": ("m",), "kind": "verdict", "order": ("A", "B")}, "an order is of labels"),
    ("human,m\n1,2\n", {"metrics": ("m",), "order": ("a", "b")}, "judgement '1' cannot be read; expected a, b"),
    ("human,m,x\nA,A,B\n", {"metrics": ("m",), "exchanged": {"n": "x"}}, "exchanged order of 'n'"),
    ("human,m\n1,2\n\x1b[31m,3\n", {"metrics": ("m",), "kind": "number"}, r"judgement '\\x1b\[31m'"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "named", "said"), WRONG, ids=[case[2][:40] for case in WRONG])
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, text: str, named: dict, said: str):
    with pytest.raises(ConfigError, match=said):
        jg.read_table(table(tmp_path, text), **named)


def test_a_bomb_is_refused(tmp_path: Path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"human,m,x\n" + (b"1,2," + b"x" * 1_000_000 + b"\n") * 90, 1))
    with pytest.raises(DataError, match="unpacks to over"):
        jg.read_table(path, metrics=("m",))


def test_columns_may_be_given_as_one_value(tmp_path: Path):
    path = table(tmp_path, CSV)
    assert jg.read_table(path, Columns(metrics=("m",))) == jg.read_table(path, metrics=("m",))
