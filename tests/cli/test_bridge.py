"""`judgegraph bridge`: counts and rejects come before anything is written, and what came to nothing is no success."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from foreign import OUTPUT, RIVAL

import judgegraph as jg
from judgegraph.cli import main
from judgegraph.graphs import fennec
from judgegraph.types import Sample

ROWS = [
    {"query": "Why is the sky blue?", "output": OUTPUT, "rival": "I do not know.", "verdict": "A"},
    {"query": "How do tides come about?", "output": OUTPUT, "rival": OUTPUT, "verdict": "tie"},
    {"query": "What is rust?", "output": OUTPUT, "rival": OUTPUT, "verdict": "C"},
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return tmp_path / "rows.jsonl"


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)

    def of(*arguments, code=0, said="", **more):
        done = CliRunner().invoke(main, ["bridge", *map(str, arguments)], **more)
        assert (done.exit_code, said in done.output) == (code, True), done.output
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done

    return of


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_a_dry_run_names_the_rejects_and_asks_and_writes_nothing(call, data, tmp_path):
    done = call(data, "--dry-run", "--to", "set", "-o", "run", said="2 judgements to bridge, of 3 read")
    assert "rows.jsonl, line 3: unreadable: field verdict: expected one of" in done.output
    assert files(tmp_path) == {"rows.jsonl"}
    said = json.loads(call(data, "--dry-run", "--json").stdout)
    assert (said["read"], said["to_bridge"], len(said["rejects"]), said["plan"] is not None) == (3, 2, 1, True)


def test_counts_and_rejects_come_first_then_the_folder_if_that_is_wanted(call, data, tmp_path):
    done = call(data, "--to", "set", input="n\n", said="nothing was written")
    assert done.stdout.index("1 reject") < done.stdout.index("Write the training set to set?")
    assert "licence not stated" in done.stdout
    assert "each of 2 queries is drawn by chance" in " ".join(done.stdout.split()), "splits of so few queries"
    assert not (tmp_path / "set").exists()
    call(data, "--to", "set", input="y\n", said="README.md is the data card")
    call(data, "--to", "set", "--yes", code=1, said="is there already and is not empty")
    said = json.loads(call(data, "--to", "other", "--yes", "--json").stdout)
    assert said["read"] == said["consistent"] + said["unjudged"] + len(said["rejects"]) == 3
    assert said["written"] == "other"
    assert files(tmp_path / "set") == files(tmp_path / "other") > {"README.md", "rejects.jsonl", "counts.json"}


def test_the_same_command_again_takes_its_run_and_gives_the_same_bytes(call, data, tmp_path):
    for name in ("one", "two"):
        call(data, "-o", "run", "--to", name, "--yes")
    for name in files(tmp_path / "one"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_where_no_row_comes_of_it_the_exit_code_says_so(call, tmp_path):
    (tmp_path / "bad.jsonl").write_text(json.dumps(ROWS[2]) + "\n" + "{\n")
    call("bad.jsonl", code=1, said="nothing to bridge: bad.jsonl, line 1: the record could not be read: field verdict")
    call("bad.jsonl", "--dry-run", code=1, said="0 judgements to bridge, of 2 read")
    (tmp_path / "other.jsonl").write_text(json.dumps({**ROWS[1], "verdict": "B", "rival": RIVAL}) + "\n")
    done = call("other.jsonl", "--to", "set", "--yes", code=1, said="no row came of it")
    assert "0 of 1 judgement (0 %) hold" in done.output
    assert not (tmp_path / "set").exists()
    (tmp_path / "none.jsonl").write_text("")
    call("none.jsonl", code=1, said="none.jsonl: holds no rows")
    call("other.jsonl", "bad.jsonl", "--strict", code=1, said="bad.jsonl, line 1")


def test_what_the_budget_cut_off_is_not_written_and_goes_on(call, data, tmp_path):
    done = call(data, "-o", "run", "--to", "set", "--yes", "--budget-calls", 1, "--concurrency", 1, code=3)
    assert "2 judgements not judged anew" in done.output
    assert not (tmp_path / "set").exists()
    call(data, "-o", "run", "--to", "set", "--yes", said="set: 4 rows")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((), 2, "name DATA, a file of judgements, or --branching RUN"),
        (("rows.jsonl", "--shares", "1"), 2, "two numbers"),
        (("rows.jsonl", "--shares", "0.5,0.5"), 2, "below 1"),
        (("rows.jsonl", "--shares", "nan,0"), 2, "below 1"),
        (("rows.jsonl", "--label", "0=C"), 2, "--label takes WORD=A"),
        (("rows.jsonl", "--scale", "x"), 2, "--scale takes LOW-HIGH"),
        (("rows.jsonl", "-f", "answer=output"), 1, "no field of a judgement"),
        (("rows.jsonl", "--as", "judgelm"), 1, "no format 'judgelm' of judgements; known: autoj"),
        (("rows.jsonl", "--origin", "a", "--origin", "b"), 2, "there are 1"),
        (("rows.jsonl", "--to", "set", "--json"), 2, "give --yes too"),
        (("rows.jsonl", "--branching", "run"), 1, "data is made by branching in runs of fennec"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_asked(arguments, code, said, call, data, tmp_path):
    if "--branching" in arguments:
        jg.evaluate(jg.graphs.llm_score(criteria="summary"), [Sample(id="s", output="x")], out=tmp_path / "run")
    done = call(*arguments, code=code, said=said)
    assert "judging" not in done.output


def test_runs_of_fennec_join_or_stand_alone(call, data, tmp_path):
    sample = Sample(id="s", query="Why is the sky blue?", output=OUTPUT, rival="I do not know.")
    for folder in ("a/run", "b/run"):
        jg.evaluate(fennec(branches=1, orders="both"), [sample], out=tmp_path / folder)
    done = call("--branching", "a/run", "--branching", "b/run", "--to", "alone", "--yes", "--origin", "Ours")
    assert "all made by branching" in done.stdout
    assert "2-run: licence not stated" in done.stdout
    assert "| 1-run | branching | 1 | 0 | embedded | Ours |" in (tmp_path / "alone/README.md").read_text()
    said = json.loads(call(data, "--branching", "a/run", "--json").stdout)
    tasks = [split for split in said["rows"].values() if sum(split.values())]
    assert sum(one["criteria"] for one in tasks) == sum(one["guideline"] for one in tasks) == 1
    assert sum(one["judge"] for one in tasks) >= 4
