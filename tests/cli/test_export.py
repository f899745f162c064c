"""`judgegraph export`: a run's scores and comparisons as CSV, its items as JSON lines."""

import csv
import json
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner

import judgegraph as jg
from judgegraph.cli import main
from judgegraph.errors import ConfigError
from judgegraph.graphs import fennec, llm_score
from judgegraph.runs.item import Item
from judgegraph.types import Comparison, Criterion, Sample, Score

PAIRS = Path(__file__).parents[2] / "examples/pairs.jsonl"
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
    assert (done.exit_code, "it ends in .csv (scores or comparisons) or .jsonl (items)" in done.output) == (2, True)
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
        for write in (jg.Run.load(run).export, jg.Run.load(run).export_scores, jg.Run.load(run).export_comparisons):
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
    assert (done.exit_code, done.stdout.strip()) == (
        0,
        f"{tmp_path / 's.csv'}: 2 scores; left out: 1 damaged line",
    )
    assert f"left out: {copy / 'items.jsonl'}, line 2: is no finished sample" in done.stderr


@pytest.fixture(scope="module")
def paired(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("paired") / "run"
    jg.evaluate(fennec(orders="both", branches=2), jg.load(PAIRS, limit=2), out=folder)
    return folder


def test_comparisons_are_a_table_when_asked_for(paired: Path, tmp_path: Path):
    path = tmp_path / "c.csv"
    done = call("export", paired, "-o", path, "--what", "comparisons")
    assert (done.exit_code, done.stdout, done.stderr) == (0, f"{path}: 14 comparisons\n", "")
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = [(row["id"], row["criterion"], row["order"], row["verdict"]) for row in csv.DictReader(file)]
    items = sorted(jg.Run.load(paired).items, key=lambda item: item.place)
    assert rows == [(item.id, c.criterion, c.order, c.verdict) for item in items for c in item.comparisons]
    assert {row[2] for row in rows} == {"AB", "BA", "both"}


def test_a_table_of_scores_says_that_there_are_comparisons_too(paired: Path, run: Path, tmp_path: Path):
    done = call("export", paired, "-o", tmp_path / "s.csv")
    told = "this run has 14 comparisons too (verdicts on pairs): --what comparisons writes them\n"
    assert (done.stdout, done.stderr) == (f"{tmp_path / 's.csv'}: 16 scores\n", told)
    same = call("export", paired, "-o", tmp_path / "same.csv", "--what", "scores")
    assert (tmp_path / "same.csv").read_bytes() == (tmp_path / "s.csv").read_bytes()
    assert same.stderr == told
    assert call("export", run, "-o", tmp_path / "plain.csv").stderr == ""


def test_a_run_without_comparisons_makes_a_table_without_rows_and_says_so(run: Path, tmp_path: Path):
    done = call("export", run, "-o", tmp_path / "c.csv", "--what", "comparisons")
    assert (done.exit_code, done.stdout) == (0, f"{tmp_path / 'c.csv'}: 0 comparisons\n")
    assert done.stderr == "no comparisons: no pairs were judged in this run, so the table has no rows\n"
    head = b"id,criterion,agent,order,verdict,score_a,score_b,status,reason\r\n"
    assert (tmp_path / "c.csv").read_bytes() == head


def test_items_hold_the_comparisons_and_the_help_says_so(paired: Path, tmp_path: Path):
    done = call("export", paired, "-o", tmp_path / "i.jsonl")
    assert (done.exit_code, done.stderr) == (0, "")
    lines = [json.loads(line) for line in (tmp_path / "i.jsonl").read_text().splitlines()]
    items = sorted(jg.Run.load(paired).items, key=lambda item: item.place)
    assert [[Comparison(**c) for c in line["comparisons"]] for line in lines] == [list(i.comparisons) for i in items]
    assert [line["verdict"] for line in lines] == [item.verdict for item in items]
    said = " ".join(call("export", "--help").output.split())
    assert "Items hold all of a sample in one line: scores, comparisons, verdict" in said


@pytest.mark.parametrize("where", [("-o", "i.jsonl"), ("--otlp", "http://127.0.0.1:9")])
def test_what_goes_with_a_table_alone(where: tuple[str, str], run: Path, tmp_path: Path):
    done = call("export", run, *where, "--what", "comparisons")
    assert (done.exit_code, "--what goes with -o FILE.csv" in done.output) == (2, True)


@pytest.mark.parametrize("what", ["s.csv", "i.jsonl"])
def test_an_export_of_an_unfinished_run_says_so(what: str, tmp_path: Path):
    graph = llm_score(criteria=[Criterion(name="Clarity")])
    jg.evaluate(graph, SAMPLES, out=tmp_path / "run", budget=jg.Budget(calls=2), concurrency=1)
    done = call("export", tmp_path / "run", "-o", tmp_path / what)
    assert (done.exit_code, done.stderr) == (0, "unfinished: 2 of 3 samples done; its budget is spent\n")


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def grouped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("grouped") / "run"
    texts = ["The bridge was closed in May, as the council had voted.", "Bridge bridge bridge.", ""]
    samples = [
        Sample(id=f"s{at}", query="What happened?", output=text, human={"Clarity": [4, 5]} if not at else {},
               meta={"system": "old" if at else "new", "n": at})
        for at, text in enumerate(texts)
    ]  # fmt: skip
    jg.evaluate(llm_score(criteria=[Criterion(name="Clarity"), Criterion(name="Fluency")]), samples, out=folder)
    return folder


def test_a_table_has_what_the_samples_hold_where_it_is_asked_for(grouped: Path, tmp_path: Path):
    path = tmp_path / "s.csv"
    columns = ("query", "output", "human", "system", "n")
    done = call("export", grouped, "-o", path, *(word for name in columns for word in ("--with", name)))
    assert done.exit_code == 0, done.output
    rows = rows_of(path)
    assert [row["human"] for row in rows] == ["4.5", "", "", "", "", ""]  # of Clarity alone, of one sample alone
    assert [(row["system"], row["n"], row["query"]) for row in rows[:3:2]] == [
        ("new", "0", "What happened?"), ("old", "1", "What happened?")
    ]  # fmt: skip
    assert rows[2]["output"] == "Bridge bridge bridge."
    assert jg.Run.load(grouped).scores(columns).to_pandas()["human"].count() == 1


def test_a_table_by_group_has_a_row_for_each_group_and_criterion(grouped: Path, tmp_path: Path):
    path = tmp_path / "g.csv"
    assert call("export", grouped, "-o", path, "--group", "system").exit_code == 0
    scores = jg.Run.load(grouped).scores(["system"]).rows
    rows = rows_of(path)
    assert [(row["group"], row["criterion"], row["n"]) for row in rows] == [
        ("new", "Clarity", "1"), ("new", "Fluency", "1"), ("old", "Clarity", "2"), ("old", "Fluency", "2")
    ]  # fmt: skip
    for row in rows:
        own = [one for one in scores if (one["system"], one["criterion"]) == (row["group"], row["criterion"])]
        values = [one["value"] for one in own if one["status"] == "ok"]
        assert (int(row["ok"]), row["scale"]) == (len(values), "1-5")
        assert float(row["mean"]) == sum(values) / len(values)
        assert (row["sd"] == "") == (len(values) < 2)


def test_verdicts_by_group_are_counted(tmp_path: Path):
    samples = list(jg.load(PAIRS, limit=4))
    samples = [one.model_copy(update={"meta": {"kind": "x" if at else "y"}}) for at, one in enumerate(samples)]
    jg.evaluate(fennec(branches=1), samples, out=tmp_path / "run")
    assert call("export", tmp_path / "run", "-o", tmp_path / "g.csv", "--what", "comparisons",
                "--group", "kind").exit_code == 0  # fmt: skip
    rows = rows_of(tmp_path / "g.csv")
    assert [(row["group"], row["n"]) for row in rows] == [("x", "3"), ("y", "1")]
    assert sum(int(row[one]) for row in rows for one in ("A", "B", "tie", "none")) == 4


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--with", "sytem"), "did you mean 'system'"), (("--group", "nothing_like_it"), "samples have query, output"),
        (("--with", "label"), "a row has it already"), (("--with", "n", "--with", "n"), "a row has it already"),
        (("--with", "n", "--group", "n"), "one of them"), (("--group", "human"), "as a column it can be had"),
        (("--group", "n", "--group", "system"), "one column"),
    ],
)  # fmt: skip
def test_columns_that_nobody_has_or_that_stand_there_are_refused_with_what_there_is(grouped, tmp_path, words, said):
    done = call("export", grouped, "-o", tmp_path / "s.csv", *words)
    assert done.exit_code != 0
    assert said in str(done.exception) + done.output
    assert not (tmp_path / "s.csv").exists()


def test_a_group_whose_samples_failed_stands_there_with_their_number():
    def judged(name: str, group: str, *scores: Score, status: str = "ok") -> Item:
        return Item(sample=Sample(id=name, output="t", meta={"system": group}), scores=scores, status=status)

    score = Score(criterion="A", agent="judge", value=4, scale=jg.Scale.of("1-5"))
    items = [judged("a", "x", score), judged("b", "x", status="timeout"), judged("c", "y", status="timeout")]
    rows = jg.Run({"signature": "s"}, items).by_group("system").rows
    assert [(row["group"], row["samples"], row.get("criterion"), row["n"]) for row in rows] == [
        ("x", 2, "A", 1), ("y", 1, None, 0)
    ]  # fmt: skip
