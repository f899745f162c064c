"""A person decides at the terminal on what the critic suggests, and the run goes on by the new criteria."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from judgegraph.cli.main import main
from judgegraph.prompts.criteria_sets import criteria_set

FORMS = str(Path(__file__).resolve().parents[2] / "examples/forms.jsonl")


@pytest.fixture
def form(tmp_path):
    """The one example whose critic suggests a criterion."""
    rows = [line for line in Path(FORMS).read_text().splitlines(True) if json.loads(line)["id"] == "school-trip"]
    path = tmp_path / "one.jsonl"
    path.write_text("".join(rows) + "".join(rows).replace("school-trip", "again"))
    return str(path)


def reviewed(*args, answers=""):
    return CliRunner().invoke(main, ["review", "sageval", *args], input=answers)


def test_an_accepted_criterion_is_judged_by_and_saved(form, tmp_path):
    save = tmp_path / "mine.yaml"
    done = reviewed(form, "-n", "2", "--save", str(save), answers="a\nr\n")
    assert done.exit_code == 0, done.output
    assert done.output.count("new criterion Privacy") == 1  # it is known to the sample after it
    assert next(line for line in done.output.splitlines() if line.split()[:1] == ["Privacy"]).endswith("(new)")
    saved = criteria_set(str(save)).criteria
    assert [c.name for c in saved] == [*(c.name for c in criteria_set("forms").criteria), "Privacy"]
    assert saved[:-1] == criteria_set("forms").criteria


def test_a_rejected_one_changes_nothing(form):
    done = reviewed(form, answers="r\n")
    assert done.exit_code == 0
    assert "(new)" not in done.output
    assert "(was" not in done.output


def test_an_edited_one_has_the_name_and_definition_that_were_typed(form, tmp_path):
    save = tmp_path / "mine.yaml"
    done = reviewed(form, "--save", str(save), answers="e\nIt asks for no secret.\nDiscretion\n")
    assert done.exit_code == 0, done.output
    last = criteria_set(str(save)).criteria[-1]
    assert (last.name, last.definition) == ("Discretion", "It asks for no secret.")


def test_a_name_that_is_taken_is_asked_for_again(form):
    done = reviewed(form, answers="e\nx\nTone\nr\n")
    assert done.exit_code == 0, done.output
    assert "there is a criterion 'Tone' already" in done.output


def test_without_a_suggestion_nobody_is_asked():
    done = reviewed(FORMS)
    assert done.exit_code == 0
    assert "accept" not in done.output


def test_a_file_that_is_there_is_not_written_over(form, tmp_path):
    save = tmp_path / "mine.yaml"
    save.write_text("mine")
    done = reviewed(form, "--save", str(save))
    assert done.exit_code == 2
    assert "it exists already" in done.output
    assert save.read_text() == "mine"


def test_a_method_without_criteria_of_its_own_says_so(form):
    done = CliRunner().invoke(main, ["review", "fennec", form])
    assert done.exit_code == 1
    assert "no agent of the graph holds criteria" in done.output
