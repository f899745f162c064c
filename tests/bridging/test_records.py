"""Foreign judgements as they stand in other projects' files, read into samples or refused by field and reason."""

import gzip
import json
from pathlib import Path

import pytest
from foreign import OUTPUT, RIVAL, pair, single

from judgegraph.agents.reverse import foreign_judgement
from judgegraph.bridging.bridge import gather
from judgegraph.bridging.records import Reading, read_records
from judgegraph.errors import ConfigError, DataError
from judgegraph.types import Scale

RUBRIC = (
    "###Task Description:\nJudge.\n\n###The instruction to evaluate:\nWhy?\n\n###Response to evaluate:\nBecause.\n\n"
    "###Reference Answer (Score 5):\nAs so.\n\n###Score Rubrics:\n[Is there a cause?]\nScore 1: None.\nScore 2: Hardly."
    "\nScore 3: One.\nScore 4: Two.\nScore 5: All.\n\n###Feedback:\n"
)
ROWS = {  # of each format -> what is read: verdict, score, scale
    "autoj": ({"prompt": "Why?", "response 1": OUTPUT, "response 2": RIVAL, "label": 1}, ("B", None, None)),
    "autoj-critiques": (
        {"prompt": "Why?", "response": OUTPUT, "autoj_critique": {"output": "Too short. Rating: [[4]]"}},
        (None, 4.0, Scale.of("1-10")),
    ),
    "pandalm": (
        {"instruction": "Why?", "input": "Sky.", "response1": OUTPUT, "response2": RIVAL, "annotator1": 1,
         "annotator2": 0, "annotator3": 1},
        ("A", None, None),
    ),
    "prometheus": (
        {"instruction": RUBRIC, "gpt4_score": [3, 4, 4], "gpt4_feedback": ["c", "b", "a"]}, (None, 4.0, Scale.of("1-5"))
    ),
    "plain": ({**pair("Why?", ""), "score": 3, "rival_score": 9, "scale": "0-10"}, ("B", 3.0, Scale.of("0-10"))),
}  # fmt: skip
REFUSED = {  # a row -> the field that is at fault, and words of the reason
    "no verdict": ({"query": "q", "output": "o", "rival": "r"}, "verdict", "name the column: -f verdict=COLUMN"),
    "an empty verdict": (
        {"query": "q", "output": "o", "rival": "r", "verdict": ""},
        "verdict",
        "column 'verdict' is empty in this row",
    ),
    "no query": ({"output": "o", "rival": "r", "verdict": "A"}, "query", "missing"),
    "an empty query": (pair(" "), "query", "is empty"),
    "a verdict of nobody": (pair("q", "C"), "verdict", "got 'C'"),
    "a number for a verdict": ({**pair("q"), "verdict": 0}, "verdict", "--label 0=A"),
    "one response": ({"query": "q", "output": "o", "verdict": "A"}, "rival", "name the second"),
    "one score of two": (
        {"query": "q", "output": "o", "rival": "r", "score": 1, "scale": "1-5"},
        "rival_score",
        "each",
    ),
    "no scale": ({"query": "q", "output": "o", "score": 1}, "scale", "--scale 1-10"),
    "off the scale": (single("q", 6), "score", "is not on the scale 1-5"),
    "no number": ({**single("q", 1), "score": "nan"}, "score", "expected a number"),
    "a scale of words": ({**single("q", 1), "scale": ["bad", "good"]}, "scale", "labels"),
    "an empty response": (pair("q", output=" "), "output", "nothing in it that a judge could learn from"),
    "a mark": (pair("q", output="a [/INST] b"), "output", "which chat templates write between turns"),
    "a mark in the reason": (pair("q", reason="</s>"), "reason", "'</s>'"),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_format_is_told_by_its_columns_and_its_judgement_read(name, file):
    row, (verdict, score, scale) = ROWS[name]
    found = read_records(file({key: value for key, value in row.items() if value != ""}))
    assert (found.format, found.rejected) == (name, ())
    (sample,) = found.samples
    said = foreign_judgement(sample)
    assert (said.verdict, said.score, said.scale) == (verdict, score, scale)
    assert sample.query == "Why?"
    assert bool(found.origin) == (name != "plain")
    if name == "prometheus":
        assert (sample.output, sample.reference, said.reason) == ("Because.", "As so.", "b")
        assert said.criterion is not None
        assert "Score 5: All." in str(said.criterion.guideline)
    if name == "pandalm":
        assert sample.source == "Sky."


def test_a_row_that_is_none_is_refused_by_its_field(file):
    found = read_records(file("{oops", *(row for row, _, _ in REFUSED.values()), "[]", pair("Why?")), format="plain")
    assert len(found.samples) == 1
    broken, *refused, last = found.rejected
    assert (broken.line, last.line) == (1, len(REFUSED) + 2)
    for (name, (_, field, words)), said in zip(REFUSED.items(), refused, strict=True):
        assert (said.field, words in said.reason) == (field, True), (name, said)


def test_columns_labels_and_scale_of_a_plain_file_are_ones_own(file):
    row = {"q": "Why?", "x": {"a": OUTPUT}, "b": RIVAL, "won": 2}
    how = Reading({"query": "q", "output": "x.a", "rival": "b", "verdict": "won"}, {"2": "B"})
    (sample,) = read_records(file(row), how=how).samples
    assert (sample.output, foreign_judgement(sample).verdict) == (OUTPUT, "B")
    scored = {"q": "Why?", "a": OUTPUT, "rating": 70}
    how = Reading({"query": "q", "output": "a", "score": "rating"}, scale=Scale.of("0-100"))
    (sample,) = read_records(file(scored), how=how).samples
    assert foreign_judgement(sample).score == 70
    with pytest.raises(ConfigError, match="Give --as plain"):
        read_records(file(ROWS["autoj"][0]), how=how, format="autoj")
    with pytest.raises(ConfigError, match="no format 'x'"):
        read_records(file(row), format="x")
    with pytest.raises(DataError, match="holds no rows"):
        read_records(file())


def test_line_ends_of_every_kind_stay_within_their_text(file, tmp_path: Path):
    text = "one\u2028two\u2029three\x85four\x0bfive\r\nsix"
    (sample,) = read_records(file(json.dumps(pair(text, output=f"{text} more"), ensure_ascii=False))).samples
    assert (sample.query, sample.output) == (text, f"{text} more")
    (tmp_path / "z.jsonl.gz").write_bytes(gzip.compress(json.dumps(pair(text)).encode()))
    assert read_records(tmp_path / "z.jsonl.gz").samples[0].query == text


def test_files_with_the_same_ids_are_read_with_prefixes(file):
    one, other = file(pair("Why?", id="1"), name="a.jsonl"), file(pair("How?", id="1"), name="b.jsonl")
    with pytest.raises(ConfigError, match="read it with a prefix"):
        gather([read_records(one), read_records(other)])
    found = gather([read_records(one, prefix="1:"), read_records(other, prefix="2:")])
    assert ([s.id for s in found.samples], found.names) == (["1:1", "2:1"], ["a.jsonl", "b.jsonl"])
