"""`judgegraph corrected`: a run's corrections as a file of samples."""

from pathlib import Path

import pytest
from click.testing import CliRunner

import judgegraph as jg
from judgegraph.cli import main
from judgegraph.graphs import fennec
from judgegraph.types import Criterion, Sample

HARSH = Criterion(name="Coverage", definition="It takes up what was asked.", guideline="1 nothing, 5 all")
SAMPLE = Sample(id="s1", query="Why is the sky blue over the sea?", output="No idea, sorry sorry, ask somebody else.")


def call(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments])


@pytest.fixture
def run(tmp_path: Path) -> Path:
    jg.evaluate(fennec(criteria=[HARSH], threshold=5.0, correct="at-most"), [SAMPLE], out=tmp_path / "run")
    return tmp_path / "run"


def test_it_writes_samples_that_a_run_takes(run: Path, tmp_path: Path):
    done = call("corrected", run, "-o", tmp_path / "c.jsonl")
    assert (done.exit_code, done.output.strip()) == (0, f"{tmp_path / 'c.jsonl'}: 1 correction")
    (sample,) = jg.load(tmp_path / "c.jsonl")
    assert (sample.id, sample.rival) == ("s1:output", SAMPLE.output)
    again = call("run", "fennec-pair", tmp_path / "c.jsonl", "--json")
    assert again.exit_code == 0, again.output


@pytest.mark.parametrize(
    ("settings", "said"), [({"correct": "off"}, "no response was corrected"), ({"threshold": 1.0}, "no response was")]
)
def test_a_run_without_corrections_is_told_and_no_file_is_written(settings, said, tmp_path: Path):
    jg.evaluate(fennec(criteria=[HARSH], **settings), [SAMPLE], out=tmp_path / "run")
    done = call("corrected", tmp_path / "run", "-o", tmp_path / "c.jsonl")
    assert (done.exit_code, said in done.output) == (1, True)
    assert not (tmp_path / "c.jsonl").exists()


def test_a_folder_that_is_no_run_and_a_file_of_another_kind_are_refused(run: Path, tmp_path: Path):
    assert call("corrected", tmp_path, "-o", tmp_path / "c.jsonl").exit_code == 1
    done = call("corrected", run, "-o", tmp_path / "c.csv")
    assert (done.exit_code, "it ends in .jsonl" in done.output) == (2, True)
    done = call("corrected", run, "-o", run / "items.jsonl")
    assert (done.exit_code, "is a file of the run itself" in done.output) == (1, True)
