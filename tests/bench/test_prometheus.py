"""Prometheus: three runs of GPT-4 with one another, by the path of `judgegraph bench prometheus --recorded`."""

import json

import pytest
from click.testing import CliRunner

from judgegraph.bench.prometheus import COLLECTION, criterion_of, parts_of
from judgegraph.cli import main
from judgegraph.errors import DataError
from judgegraph.types import Sample

RUBRIC = "[Is it short?]\n" + "\n".join(f"Score {n}: words of {n}" for n in range(1, 6))
PROMPT = f"""###Task Description:
Judge.
###The instruction to evaluate:
Say hello.

###Response to evaluate:
Hello!
### A heading of the response's own
###Reference Answer (Score 5):
Hi.
###Score Rubrics:
{RUBRIC}
###Feedback: """
ROW = {"idx": 3, "response_source": "wizard", "category": "generic", "instruction": PROMPT, "gpt4_score": [4, 5, 4]}


def test_runs_of_one_judge_agree_as_reproduced(shared):
    """Mean of the three pairs .809, .723 and .699, as ../shared/data/README.md has them; GPT-4 is no people."""
    command = ["bench", "prometheus", "--data", str(shared / "data"), "--recorded", "--resamples", "0"]
    told = json.loads(CliRunner().invoke(main, [*command, "--json"]).stdout)
    (runs,) = told["among"]
    means = {name: round(mean, 3) for name, mean in runs["means"].items()}
    assert means == {"pearson": 0.809, "spearman": 0.723, "kendall-b": 0.699}
    level = [cell for cell in told["cells"] if cell["level"] == "dataset"]
    assert {name: [c["value"] for c in level if c["statistic"] == name] for name in means} == runs["pairs"]
    assert (told["judges"], runs["annotators"], runs["n"]) == ("GPT-4's runs", 3, 320)
    text = " ".join(CliRunner().invoke(main, command).stdout.split())
    assert "GPT-4's runs, Rubric, two by two (1-2, 1-3, 2-3), n 320: pearson .799 .804 .822, mean .809" in text
    assert "people" not in text


def test_a_response_that_stands_twice_is_told(tmp_path):
    folder = _written(tmp_path, ROW, {**ROW, "idx": 4}, ROW)
    for read in (COLLECTION.recorded, lambda where: list(COLLECTION.samples(where))):
        with pytest.raises(DataError, match=r"vicuna_eval.json, item 3: the id '3/wizard' again, as item 1 has it"):
            read(folder)


def test_every_prompt_is_taken_apart_without_a_rest(shared):
    samples = list(COLLECTION.samples(shared / "data/prometheus"))
    assert len(samples) == len({sample.id for sample in samples}) == 320
    assert len({sample.meta["group"] for sample in samples}) == 80
    assert len({sample.meta["system"] for sample in samples}) == 4
    for sample in samples:
        assert all((sample.query, sample.output, sample.reference))
        assert "###" not in f"{sample.query}{sample.reference}{sample.source}"
        assert criterion_of(sample).guideline.count("Score ") >= 5
    assert len({criterion_of(sample).definition for sample in samples}) == 44


def _written(folder, *rows):
    (folder / "vicuna_eval.json").write_text(json.dumps(rows))
    return folder


def test_a_prompt_becomes_a_sample_and_a_criterion(tmp_path):
    (sample,) = COLLECTION.samples(_written(tmp_path, ROW))
    assert (sample.id, sample.query, sample.reference) == ("3/wizard", "Say hello.", "Hi.")
    assert sample.output == "Hello!\n### A heading of the response's own"
    assert sample.human == {"Rubric": [4, 5, 4]}
    criterion = criterion_of(sample)
    assert (criterion.definition, str(criterion.scale)) == ("Is it short?", "1-5")
    assert criterion.guideline.startswith("Score 1: words of 1\n")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"instruction": "Judge this."}, r"item 1, key 'instruction': expected the headings .* got none"),
        ({"instruction": PROMPT + "\n###Feedback:"}, r"got Task Description:, .*, Feedback:, Feedback:"),
        ({"instruction": PROMPT.replace("[Is it short?]", "Is it short?")}, r"expected a rubric"),
        ({"gpt4_score": [4, 5]}, r"key 'gpt4_score': expected 3 scores, got 2"),
        ({"gpt4_score": [4, 5, "five"]}, r"key 'gpt4_score': expected a finite number, got 'five'"),
        ({"idx": None}, r"key 'idx'"),
    ],
)
def test_a_broken_file_is_told_with_its_place(tmp_path, changed, said):
    with pytest.raises(DataError, match=said):
        list(COLLECTION.samples(_written(tmp_path, {**ROW, **changed})))


def test_a_sample_of_another_origin_has_no_rubric():
    with pytest.raises(DataError, match="no rubric"):
        criterion_of(Sample(id="x", output="text", source="an article"))


def test_headings_of_a_response_do_not_pass_for_the_prompts():
    with pytest.raises(DataError, match="Response to evaluate:, Score Rubrics:, Reference"):
        parts_of(PROMPT.replace("Hello!", "Hello!\n###Score Rubrics:\n[Is it mine?]\nScore 1: no"), "here")
