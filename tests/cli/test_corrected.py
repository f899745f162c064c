"""`judgegraph corrected`: a run's corrections as a file of samples, and what they gained."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import judgegraph as jg
from judgegraph.cli import main
from judgegraph.graphs import fennec
from judgegraph.testing import scripted
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


@pytest.fixture
def of_another(tmp_path: Path) -> Path:
    """A run that the embedded judge scored and another one corrected; the last came back as it was."""

    def answer(messages):
        text = str(messages[-1].content)
        same = "over Rome" in text
        return {"response": SAMPLE.output if same else "The sky is blue over the sea, as air scatters blue light."}

    queries = [SAMPLE.query, *(f"Why is the sky blue over {place}?" for place in ("land", "Rome"))]
    samples = [SAMPLE.model_copy(update={"id": str(n), "query": query}) for n, query in enumerate(queries)]
    settings = {"threshold": 5.0, "correct": "at-most", "corrector_judge": scripted(*[answer] * 3)}
    jg.evaluate(fennec(criteria=[HARSH], **settings), samples, out=tmp_path / "other")
    return tmp_path / "other"


def test_it_says_what_corrections_gained_and_keeps_it(of_another: Path, tmp_path: Path):
    done = call("corrected", of_another, "-j", "embedded", "--to", tmp_path / "gain")
    assert done.exit_code == 0, done.output
    for said in ("No gain is shown: +", "2 corrections of 2 queries; sign test p 0.500",
                 "3 responses scored low: 2 changed, 1 unchanged, left out", "judged by embedded", "2 queries only",
                 "low scores picked", "Coverage"):  # fmt: skip
        assert said in " ".join(done.output.split()), said
    again = call("corrected", of_another, "-j", "embedded", "--to", tmp_path / "gain", "--json")
    told = json.loads(again.stdout)
    assert told["overall"]["n"] == told["responses"]["ok"] == 2
    assert told["saved"] == str(tmp_path / "gain/gain.json")


def test_the_judge_that_corrected_is_refused_unless_one_insists(run: Path):
    done = call("corrected", run, "-j", "embedded")
    assert (done.exit_code, "it would judge its own work" in done.output) == (1, True)
    done = call("corrected", run, "-j", "embedded", "--same-judge")
    assert (done.exit_code, "the judge is the one that corrected" in done.output) == (0, True)


@pytest.mark.parametrize(
    ("more", "said"),
    [((), "give one or both"), (("-o", "c.jsonl", "--to", "x"), "--to would do nothing without --judge"),
     (("-j", "embedded", "--retry-failed"), "name its folder"),
     (("-j", "embedded", "--base-url", "http://127.0.0.1:1/v1"), "names a server for a model")],
)  # fmt: skip
def test_options_that_do_nothing_are_refused(more, said, run: Path):
    done = call("corrected", run, *more)
    assert (done.exit_code, said in done.output) == (2, True), done.output


def test_where_nothing_was_scored_the_exit_code_says_so(of_another: Path):
    done = call("corrected", of_another, "-j", "embedded", "--max-prompt", 10)
    assert (done.exit_code, "Nothing can be said of the gain" in done.output) == (1, True), done.output
