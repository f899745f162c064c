"""Criteria as contracts: levels, half steps, labels with values, weights and points, thresholds."""

import json

import pytest
from click.testing import CliRunner

import judgegraph as jg
from judgegraph.calls.asking import answer_schema
from judgegraph.cli import main
from judgegraph.graphs import llm_score
from judgegraph.prompts.criteria import as_yaml, criteria_set
from judgegraph.prompts.template import criterion_text
from judgegraph.runs.identity import serialise_setting
from judgegraph.types import number_of, weighted_overall

RUBRIC = """\
name: mine
task: The output is an answer.
criteria:
  - name: Helpfulness
    definition: It does what was asked.
    scale: 1-5 by halves
    levels: {1: of no use, 3.5: of some use, 5: can be used at once}
    weight: 3
    threshold: 3
  - name: Clarity
    definition: It is easy to follow.
    scale: {poor: 0, fair: 0.5, good: 1}
    levels: {poor: read twice, good: read once}
    threshold: fair
  - name: Redundancy
    definition: It says things twice.
    scale: {"no": 0, "yes": 1}
    weight: -2
"""


@pytest.fixture
def rubric(tmp_path):
    path = tmp_path / "rubric.yaml"
    path.write_text(RUBRIC)
    return path


def test_a_file_reads_as_it_is_written_again(rubric, tmp_path):
    found = criteria_set(rubric)
    help_, clarity, redundancy = found.criteria
    assert help_.levels == (("1", "of no use"), ("3.5", "of some use"), ("5", "can be used at once"))
    assert (str(help_.scale), help_.weight, help_.threshold) == ("1-5 by halves", 3, 3)
    assert (clarity.scale.labels, clarity.scale.values, clarity.threshold) == (
        ("poor", "fair", "good"),
        (0, 0.5, 1),
        "fair",
    )
    assert redundancy.weight == -2
    again = tmp_path / "again.yaml"
    again.write_text(as_yaml(found))
    assert criteria_set(again) == found
    assert criteria_set(again).digest == found.digest


def test_levels_are_the_guideline_that_every_method_shows(rubric):
    text = criterion_text(criteria_set(rubric).criteria[0])
    assert "Guideline: 1: of no use\n3.5: of some use\n5: can be used at once" in text


def test_a_criterion_without_them_is_as_it_was():
    plain = jg.Criterion(name="A", definition="B")
    assert set(json.loads(plain.model_dump_json())) == {"name", "definition", "steps", "scale", "guideline", "examples"}
    assert set(json.loads(plain.scale.model_dump_json())) == {"low", "high", "whole", "labels"}
    assert criteria_set("general").digest == "1f911e52"


def test_half_steps_are_what_a_judge_is_offered():
    scale = jg.Scale.of("1-3 by halves")
    assert scale.steps == (1, 1.5, 2, 2.5, 3)
    assert answer_schema(scale, nullable=False) == {"type": "number", "enum": [1, 1.5, 2, 2.5, 3]}
    for wrong in ("1.5-3 by halves", "0-100 by halves"):
        with pytest.raises(ValueError, match="by halves"):
            jg.Scale.of(wrong)


def test_labels_have_numbers_where_their_scale_gives_them_some():
    scale = jg.Scale(labels=("poor", "good"), values=(0, 10))
    assert number_of(jg.Score(criterion="A", agent="a", label="good", scale=scale)) == 10
    assert number_of(jg.Score(criterion="A", agent="a", label="good", scale=jg.Scale(labels=("poor", "good")))) is None
    assert number_of(jg.Score(criterion="A", agent="a", status="refused", scale=scale)) is None


def scored(name, value, scale="0-1 any", **more):
    return jg.Score(criterion=name, agent="a", value=value, scale=jg.Scale.of(scale), **more)


def test_the_overall_is_the_weighted_mean_and_with_points_what_healthbench_takes():
    heavy, light = jg.Criterion(name="A", weight=3), jg.Criterion(name="B")
    assert weighted_overall([scored("A", 1), scored("B", 0)], [heavy, light]) == pytest.approx(0.75)
    assert weighted_overall([scored("A", 5, "1-5"), scored("B", 0)], [heavy, light]) == pytest.approx(0.75)
    met = jg.Criterion(name="A", weight=5), jg.Criterion(name="B", weight=5), jg.Criterion(name="C", weight=-8)
    assert weighted_overall([scored("A", 1), scored("B", 0), scored("C", 0)], met) == pytest.approx(0.5)
    assert weighted_overall([scored("A", 1), scored("B", 1), scored("C", 1)], met) == pytest.approx(0.2)
    assert weighted_overall([scored("A", 1), scored("B", 0), scored("C", 1)], met) == 0  # never below
    assert weighted_overall([scored("A", 1)], [heavy, light]) is None  # what is missing is no zero
    assert weighted_overall([scored("A", 1)], [jg.Criterion(name="A", weight=-1)]) is None


def test_a_run_has_it_for_each_sample_and_on_the_whole(rubric):
    samples = [jg.Sample(id=str(n), query="Say it.", output="The library opens at nine.") for n in range(6)]
    run = jg.evaluate(llm_score(criteria=rubric), samples)
    for item in run.items:
        assert item.overall == weighted_overall(item.scores, criteria_set(rubric).criteria)
        assert item.overall is not None
    assert "weighted overall: " in str(run.summary())
    (outcome,) = jg.require(run, "overall >= 0")
    assert (outcome.met, outcome.samples) == (True, 6)
    plain = jg.evaluate(llm_score(criteria="general"), samples)
    assert {item.overall for item in plain.items} == {None}
    assert "weighted overall" not in str(plain.summary())


def test_thresholds_of_the_file_are_required_by_one_word(rubric, tmp_path):
    data = tmp_path / "data.jsonl"
    rows = [{"id": n, "query": "Say it.", "output": "The library opens at nine."} for n in range(6)]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = CliRunner().invoke(main, ["run", "llm-score", str(data), "-c", str(rubric), "--require", "thresholds"])
    assert "required: Helpfulness >= 3: " in done.output
    assert "required: Clarity >= 0.5: " in done.output
    assert done.exit_code in (0, 5)
    assert (done.exit_code == 5) == ("not met" in done.output)
    none = CliRunner().invoke(main, ["run", "llm-score", str(data), "-c", "general", "--require", "thresholds"])
    assert none.exit_code == 1
    assert "no criterion of this run has a threshold" in none.output


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("weight: 3", "weight: many", "line 8, 'weight': expected a number from -1000 to 1000"),
        ("threshold: 3", "threshold: 7", "'threshold'|'score'"),
        ("threshold: fair", "threshold: lovely", "expected a value on the scale poor / fair / good"),
        ("{poor: 0, fair: 0.5, good: 1}", "[poor, fair, good]", "give the labels values"),
        ("3.5: of some use", "9: of some use", "expected a value on the scale 1-5 by halves"),
        ("{poor: 0, fair: 0.5, good: 1}", "{poor: 0, fair: 0.5, good: x}", "the label's value"),
        ("{poor: read twice, good: read once}", "{good: a, good: b}", "given twice"),
    ],
)
def test_mistakes_are_named_by_line_and_key(rubric, before, after, said):
    rubric.write_text(RUBRIC.replace(before, after))
    with pytest.raises(jg.ConfigError, match=said):
        criteria_set(rubric)


def test_a_configuration_tells_what_came_later_only_where_it_is_used():
    """So that a run folder of before goes on."""
    assert serialise_setting(jg.Scale.of("1-5")) == {"low": 1.0, "high": 5.0, "whole": True, "labels": []}
    assert serialise_setting(jg.Scale.of("1-5 by halves"))["halves"] is True
    assert not {"levels", "weight", "threshold"} & serialise_setting(jg.Criterion(name="A")).keys()
