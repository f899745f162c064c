"""`judgegraph export`: a run's scores as CSV, its items as JSON lines."""

import csv
import json
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner

import judgegraph as jg
from judgegraph.cli import main
from judgegraph.errors import ConfigError
from judgegraph.graphs import llm_score
from judgegraph.types import Criterion, Sample

SAMPLES = [Sample(id=f"=s{n}", query="q", output=f"text number {n} is clear.") for n in range(3)]


def call(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments])


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export") / "run"
    jg.evaluate(llm_score(criteria=[Criterion(name="Clarity")]), SAMPLES, out=folder, concurrency=3)
    return folder


def test_the_table_has_a_row_for_each_score_in_the_order_of_the_dataset(run: Path, tmp_path: Path):
    done = call("export", run, "-o", tmp_path / "s.csv")
    assert (done.exit_code, done.output.strip()) == (0, f"{tmp_path / 's.csv'}: 3 scores")
    with (tmp_path / "s.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["id"], row["criterion"]) for row in rows] == [(f"'=s{n}", "Clarity") for n in range(3)]
    assert stat.S_IMODE((tmp_path / "s.csv").stat().st_mode) == 0o600


def test_the_items_are_those_of_run_export(run: Path, tmp_path: Path):
    done = call("export", run, "-o", tmp_path / "i.jsonl")
    assert (done.exit_code, done.output.strip()) == (0, f"{tmp_path / 'i.jsonl'}: 3 items")
    jg.Run.load(run).export(tmp_path / "same.jsonl")
    assert (tmp_path / "i.jsonl").read_bytes() == (tmp_path / "same.jsonl").read_bytes()
    lines = [json.loads(line) for line in (tmp_path / "i.jsonl").read_text().splitlines()]
    assert [line["sample"]["id"] for line in lines] == [s.id for s in SAMPLES]


def test_another_ending_another_folder_and_a_file_of_the_run_are_refused(run: Path, tmp_path: Path):
    done = call("export", run, "-o", tmp_path / "s.xlsx")
    assert (done.exit_code, "it ends in .csv (scores) or .jsonl (items)" in done.output) == (2, True)
    assert call("export", tmp_path, "-o", tmp_path / "s.csv").exit_code == 1
    before = (run / "items.jsonl").read_bytes()
    done = call("export", run, "-o", run / "items.jsonl")
    assert (done.exit_code, "is a file of the run itself" in done.output) == (1, True)
    (tmp_path / "link.csv").symlink_to(run / "items.jsonl")
    assert call("export", run, "-o", tmp_path / "link.csv").exit_code == 1
    assert (run / "items.jsonl").read_bytes() == before


def test_no_file_that_a_run_left_is_written_over(run: Path):
    files = sorted(path for path in run.iterdir() if path.is_file())
    assert {"items.jsonl", "ledger.sqlite", "manifest.json"} <= {path.name for path in files}
    for path in files:
        for write in (jg.Run.load(run).export, jg.Run.load(run).export_scores):
            with pytest.raises(ConfigError, match="is a file of the run itself"):
                write(path)


def test_a_damaged_line_is_left_out_and_told(run: Path, tmp_path: Path):
    copy = tmp_path / "run"
    copy.mkdir()
    for name in ("manifest.json", "items.jsonl"):
        (copy / name).write_bytes((run / name).read_bytes())
    lines = (copy / "items.jsonl").read_text().splitlines()
    (copy / "items.jsonl").write_text("\n".join([lines[0], "{no item", *lines[2:]]) + "\n")
    done = call("export", copy, "-o", tmp_path / "s.csv")
    assert (done.exit_code, done.output.strip()) == (
        0,
        f"{tmp_path / 's.csv'}: 2 scores; left out: 1 damaged line",
    )
