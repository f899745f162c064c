"""Tables of people's judgements, as they come."""

import gzip
import json
import math
from pathlib import Path

import pytest

import judgegraph as jg
from judgegraph.errors import ConfigError, DataError
from judgegraph.meta.cells import Columns

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
    told = [
        f"'{w}' as {v} (1)" for w, v in zip(words.split(), ("A", "B", "tie"), strict=True) if w.lower() != v.lower()
    ]
    assert found.notes == ((f"verdicts were read so: {', '.join(told)}",) if told else ())


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


def test_words_for_nothing_are_no_label_of_people_and_no_wrong_answer_of_a_metric(tmp_path: Path):
    text = "human,m\nyes,yes\nno,NA\nNA,yes\nn/a,no\nno,none\nyes,-\n"
    (found,) = jg.read_table(table(tmp_path, text), metrics=("m",))
    assert found.human == (("yes",), ("no",), (), (), ("no",), ("yes",))
    assert found.metrics["m"] == ("yes", None, "yes", "no", None, None)
    assert found.statuses["m"] == ("ok", "missing", "ok", "ok", "missing", "missing")
    assert found.notes[0].startswith("'NA' counts as no judgement of people (1 of them)")
    (ordered,) = jg.read_table(table(tmp_path, text), metrics=("m",), order=("no", "NA", "yes"))
    assert (ordered.human[2], ordered.metrics["m"][1]) == (("NA",), "NA")


def test_none_is_a_label_where_people_use_it(tmp_path: Path):
    (found,) = jg.read_table(table(tmp_path, "human,m\nnone,None\nmild,none\n"), metrics=("m",))
    assert (found.kind, found.human, found.metrics["m"]) == ("label", (("none",), ("mild",)), ("none", "none"))
    assert found.notes == ()


def test_a_verdict_that_is_not_there_is_missing(tmp_path: Path):
    (found,) = jg.read_table(table(tmp_path, "human,m\nA,NA\nB,B\nNA,A\n"), metrics=("m",))
    assert (found.human, found.statuses["m"]) == ((("A",), ("B",), ()), ("missing", "ok", "ok"))


def test_a_metric_that_mostly_speaks_otherwise_is_noted(tmp_path: Path):
    text = "human,m,k\ngood,good,good\nbad,awful,bad\ngood,fine,fine\n"
    (found,) = jg.read_table(table(tmp_path, text), metrics=("m", "k"))
    assert found.notes == ("m: 2 of 3 answers counted as wrong, being none of people's labels, such as 'awful'",)
    said = jg.agreement([found], resamples=0).notes
    assert said == found.notes


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.parquet"])
def test_a_number_without_end_cannot_be_read_in_any_format(tmp_path: Path, name: str):
    path = tmp_path / name
    numbers = [2.0, math.inf, -math.inf, math.nan]
    if name == "t.csv":
        path.write_text("human,m\n" + "".join(f"1,{number}\n" for number in numbers))
    elif name == "t.jsonl":
        path.write_text("".join(json.dumps({"human": 1, "m": number}) + "\n" for number in numbers))
    else:
        pandas = pytest.importorskip("pandas")
        pandas.DataFrame({"human": 1, "m": numbers}).to_parquet(path)
    (found,) = jg.read_table(path, metrics=("m",))
    assert found.metrics["m"] == (2.0, None, None, None)
    assert found.statuses["m"] == ("ok", "unreadable", "unreadable", "missing")


NAMED = ("id", "group", "system", "criterion")


@pytest.mark.parametrize("column", NAMED)
def test_a_misspelt_column_is_said_with_the_one_that_may_be_meant(tmp_path: Path, column: str):
    csv = table(tmp_path, "human,m,name\n1,2,x\n")
    with pytest.raises(DataError, match=r"t.csv: no column 'nam'; did you mean 'name'\? The table has human, m, name"):
        jg.read_table(csv, metrics=("m",), **{column: "nam"})
    path = jsonl(tmp_path, {"human": 1, "m": 2, "nam": "x"}, {"human": 1, "m": 2, "nme": "x"})
    with pytest.raises(DataError, match=r"line 2: no column 'nam'; did you mean 'nme'\? The row has human, m, nme"):
        jg.read_table(path, metrics=("m",), **{column: "nam"})


@pytest.mark.parametrize("space", ["", " "])
def test_white_space_around_a_columns_name_is_no_other_name(tmp_path: Path, space: str):
    names = {"human": f"people{space}", "metrics": (f"rouge{space}",), "group": f"{space}doc"}
    csv = table(tmp_path, 'id,"people ",rouge ,doc \n1,3,2,a\n2,4,5,b\n')
    rows = jsonl(tmp_path, *({"id": n, "people ": n, " rouge": n, "doc ": "d"} for n in (1, 2)))
    for path, name in ((csv, "rouge"), (rows, " rouge")):
        (found,) = jg.read_table(path, **names)
        assert found.statuses[name] == ("ok", "ok")
        assert found.groups is not None


@pytest.mark.parametrize("column", NAMED)
def test_half_a_character_in_a_name_is_refused_with_its_place(tmp_path: Path, column: str):
    path = jsonl(tmp_path, {"human": 1, "m": 2, "name": "x"}, {"human": 1, "m": 2, "name": "\ud800"})
    with pytest.raises(DataError, match="line 2, column name: holds a lone surrogate"):
        jg.read_table(path, metrics=("m",), **{column: "name"})


WRONG = [
    ("human,m\n1,2\n", {"metrics": ("m", "m")}, "--metric 'm' is given twice"),
    ("h,g,m\n1,2,3\n", {"human": ("h", "h", "g"), "metrics": ("m",)}, "--human 'h' is given twice"),
    ("human,m\ngood,0.9\nbad,0.1\n", {"metrics": ("m",)}, "labels are good, bad, and metric 'm' never .*'0.9'.*line 2"),
    ("human,m\ngood,positive\nbad,negative\n", {"metrics": ("m",)}, "write both in the same words, or name all labels"),
    ("human,m\ntrue,1\nfalse,0\n", {"metrics": ("m",)}, "labels are true, false, and metric 'm' never says one"),
    ("human,m\nbad,x\nbad,y\n", {"metrics": ("m",), "order": ("bad", "good")}, "labels are bad, good, and metric 'm'"),
    ('human,m\n"1,5",2\n"2",3\n', {"metrics": ("m",)}, "numbers .*'2'.* and words .*'1,5'"),
    ('human,m\n"1,5",2\n"2,5",3\n', {"metrics": ("m",)}, "written as '1,5', which is no number; .* --kind label"),
    ("human,m\n4/5,3/5\n2/5,2/5\n", {"metrics": ("m",)}, "written as '4/5', which is no number"),
    ("human,m\n80%,3\n20 %,2\n", {"metrics": ("m",)}, "written as '80%', which is no number"),
    ("human,m\n1,2\n", {"metrics": ("M",)}, "no column 'M'; did you mean 'm'"),
    ("people,m\n1,2\n", {"metrics": ("m",)}, "which column holds people's judgements"),
    ("human,x\n1,2\n", {}, "which column is compared with them"),
    ("human,m\nA,B\nBoth bad,A\n", {"metrics": ("m",), "kind": "verdict"}, "the like .--verdicts A=WORD"),
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
