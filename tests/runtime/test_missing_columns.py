"""A column that a table lacks is named once, with what may be meant, and nothing is judged."""

import pytest
from click.testing import CliRunner

from judgegraph.cli import main
from judgegraph.data.load import load
from judgegraph.errors import DataError

HEAD = "qid,Question,Answer text,rating\n"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "no column 'output', which holds what is judged; name it: fields={'output': 'Answer text'}"),
        ({"output": "answer"}, "no column 'answer' for output; did you mean 'Answer text'? The file has qid, Question"),
        ({"output": "Answer text", "query": "question"}, "no column 'question' for query; did you mean 'Question'?"),
        ({"output": "Answer text", "human.Quality": "raiting"}, "for human.Quality; did you mean 'rating'?"),
        ({"output": "zzz"}, "no column 'zzz' for output. The file has qid, Question, Answer text, rating"),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_it_is_told_once_with_what_may_be_meant(tmp_path, ending, fields, said):
    path = tmp_path / f"rows.{ending}"
    if ending == "csv":
        path.write_text(HEAD + "1,What?,It is so,3\n" * 3)
    else:
        pyarrow = pytest.importorskip("pyarrow", reason="skipped: no pyarrow")
        from pyarrow import parquet

        parquet.write_table(pyarrow.table({name: ["x"] for name in HEAD.strip().split(",")}), path)
    with pytest.raises(DataError) as error:
        load(path, fields=fields, strict=False)
    assert said in str(error.value)


def test_rows_of_json_that_lack_it_are_told_together_and_the_criteria_set_is_named(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"output": "It leaves at nine from the pier, and the fare is four."}\n' + '{"x": 1}\n' * 12)
    done = CliRunner().invoke(main, ["run", "llm-score", str(path), "-c", "general"])
    assert done.exit_code == 0
    said = " ".join(done.stdout.split())
    assert said.count("field output: missing") == 1
    assert "and 11 more for this reason: line 3, 4, 5" in said
    assert "criteria: general (" in said


def test_a_misspelt_output_of_json_is_told_with_what_to_write(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"outptu": "It leaves at nine."}\n')
    with pytest.raises(DataError, match=r"field output: missing; .* perhaps it is 'outptu': -f output=outptu"):
        list(load(path))


@pytest.mark.parametrize("asked", ["answer", "answer ", " answer"])
@pytest.mark.parametrize("written", ["answer", "answer "])
def test_white_space_around_a_columns_name_is_no_other_name(tmp_path, written, asked):
    csv, jsonl = tmp_path / "rows.csv", tmp_path / "rows.jsonl"
    csv.write_text(f'id,"{written}"\n1,It is so\n')
    jsonl.write_text(f'{{"id": "1", "{written}": "It is so"}}\n')
    for path in (csv, jsonl):
        (sample,) = load(path, fields={"output": asked})
        assert (sample.output, dict(sample.meta)) == ("It is so", {})


def test_of_two_names_that_differ_in_white_space_alone_one_is_meant_as_it_is_written(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"answer": "one", "answer ": "two", "note ": 1, " note": 2}\n')
    assert [load(path, fields={"output": name})[0].output for name in ("answer", "answer ")] == ["one", "two"]
    with pytest.raises(DataError, match="no column 'note'; it has answer, 'answer ', 'note ', ' note'"):
        load(path, fields={"output": "note"}).count()
