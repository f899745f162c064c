"""Comparisons as a table: every verdict with its order, the sample's own at the end, and no cell is a formula."""

import csv
import io
from pathlib import Path

import pytest

import judgegraph as jg
from judgegraph.data.load import csv_rows
from judgegraph.data.samples import COLUMNS as SCORED
from judgegraph.data.samples import PAIR_COLUMNS as COLUMNS
from judgegraph.graphs import fennec, llm_score
from judgegraph.runs.item import Item
from judgegraph.runs.run import pair_rows
from judgegraph.types import Comparison, Criterion, Sample, Score

PAIRS = Path(__file__).parents[2] / "examples/pairs.jsonl"
CRITERIA = [Criterion(name=name) for name in ("Depth", "Clarity")]


def comparison(**more) -> Comparison:
    return Comparison(**{"criterion": "Depth", "agent": "comparer", "verdict": "A", **more})


def item(*comparisons: Comparison, verdict=None, id: str = "p1", **more) -> Item:
    return Item(sample=Sample(id=id, output="x", rival="y"), comparisons=comparisons, verdict=verdict, **more)


def run_of(*items: Item) -> jg.Run:
    return jg.Run({"signature": "s"}, items)


@pytest.fixture(scope="module")
def run() -> jg.Run:
    return jg.evaluate(fennec(criteria=CRITERIA, orders="both"), jg.load(PAIRS, limit=6))


def test_a_row_says_what_a_judge_said_by_a_criterion_in_an_order(run: jg.Run):
    one, *_ = run.items
    told = [row for row in run.comparisons() if row["id"] == one.id]
    assert [(row["criterion"], row["agent"], row["order"]) for row in told] == [
        *((name, "comparer", order) for name in ("Depth", "Clarity") for order in ("AB", "BA")),
        *(("overall", "merge", order) for order in ("AB", "BA", "both")),
    ]  # fmt: skip
    for row, made in zip(told, one.comparisons, strict=True):
        assert tuple(row) == COLUMNS
        assert row == {"id": one.id, **{name: getattr(made, name) for name in COLUMNS[1:]}}


@pytest.mark.parametrize("settings", [{"orders": "AB"}, {"orders": "BA"}, {"orders": "both"}, {"mode": "apart"}])
def test_the_last_overall_row_has_the_verdict_of_the_sample(settings: dict[str, str]):
    pandas = pytest.importorskip("pandas")
    made = jg.evaluate(fennec(criteria=CRITERIA, **settings), jg.load(PAIRS, limit=6))
    frame = made.comparisons().to_pandas()
    assert list(frame.columns) == list(COLUMNS)
    last = frame[frame.criterion == "overall"].drop_duplicates("id", keep="last").set_index("id").verdict
    assert last.to_dict() == {item.id: item.verdict for item in made.items}
    assert len(set(last)) > 1
    pandas.testing.assert_index_equal(frame.index, pandas.RangeIndex(len(frame)))


@pytest.mark.parametrize(
    ("made", "verdict", "more"),
    [
        ((), "B", ["B"]),
        ((comparison(),), "B", ["B"]),
        ((comparison(criterion="overall", verdict="A"),), "B", ["B"]),
        ((comparison(criterion="overall", verdict=None, status="unreadable"),), "tie", ["tie"]),
        ((comparison(criterion="overall", verdict="B"), comparison(criterion="overall", order="BA")), "B", ["B"]),
        ((comparison(criterion="overall", verdict="B"),), "B", []),
        ((comparison(criterion="overall", verdict="B"),), None, []),
        ((), None, []),
    ],
)
def test_a_verdict_that_no_comparison_has_stands_in_a_row_of_its_own(made, verdict, more):
    rows = list(pair_rows(item(*made, verdict=verdict)))
    assert [row["verdict"] for row in rows] == [c.verdict for c in made] + more
    for row in rows[len(made) :]:
        told = {"id": "p1", "criterion": "overall", "verdict": verdict, "status": "ok"}
        assert row == {**dict.fromkeys(COLUMNS), **told}


def test_what_could_not_be_compared_is_a_row_with_its_status():
    lost = comparison(verdict=None, status="unreadable", reason="no JSON", order="BA")
    (row,) = run_of(item(lost)).comparisons()
    assert (row["order"], row["verdict"], row["score_a"], row["score_b"]) == ("BA", None, None, None)
    assert (row["status"], row["reason"]) == ("unreadable", "no JSON")


def test_a_run_without_pairs_has_none():
    told = jg.evaluate(llm_score(criteria=CRITERIA), [Sample(id="one", output="clear")]).comparisons()
    assert (len(told), str(told)) == (0, "a table of 0 comparisons")
    pandas = pytest.importorskip("pandas")
    assert list(told.to_pandas().columns) == list(COLUMNS)
    assert isinstance(told.to_pandas(), pandas.DataFrame)


HOSTILE = ("=1+1", "-x", "@SUM(A1)", "\t=1", "a;=1", "a\n- b", "'=1", "\uff1d1")


@pytest.mark.parametrize("text", HOSTILE)
def test_no_cell_is_a_formula_and_our_readers_give_it_back(text: str, tmp_path: Path):
    path = tmp_path / "c.csv"
    made = comparison(criterion=text, agent=text, reason=text, score_a=-0.5, score_b=4)
    run = run_of(item(made, id=text))
    assert run.export_comparisons(path) == 1
    run.comparisons().to_csv(tmp_path / "same.csv")
    assert (tmp_path / "same.csv").read_bytes() == path.read_bytes()
    cells = list(csv.reader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))[1]
    assert not [cell for cell in cells if cell[0] in "=@\t\uff1d" or cell == "-x"]
    assert cells[5:7] == ["-0.5", "4.0"], "numbers are plain"
    ((_, row),) = csv_rows(path, ",")
    assert [row[name] for name in ("id", "criterion", "agent", "reason")] == [text] * 4
    (sample,) = jg.load(path, fields={"output": "reason"})
    assert (sample.id, sample.output) == (text, text)
    (told,) = jg.read_table(path, human=("score_a",), metrics=("score_b",))
    assert (told.ids, told.metrics["score_b"]) == ((text.strip(),), (4.0,))


def test_a_table_joined_with_scores_is_ours_in_both_and_one_with_a_column_less_is_not(tmp_path: Path):
    names = [*SCORED, *(name for name in COLUMNS if name not in SCORED)]
    for name, kept in (("both.csv", names), ("less.csv", [n for n in COLUMNS if n != "order"])):
        with (tmp_path / name).open("w", newline="") as file:
            csv.writer(file).writerows([kept, ["'=1" if n in ("id", "verdict", "reader") else "" for n in kept]])
    ((_, both),), ((_, less),) = csv_rows(tmp_path / "both.csv", ","), csv_rows(tmp_path / "less.csv", ",")
    assert (both["id"], both["verdict"], both["reader"]) == ("=1", "=1", "=1")
    assert (less["id"], less["verdict"]) == ("'=1", "'=1")


def test_a_run_writes_them_in_the_order_of_the_dataset(tmp_path: Path):
    run = run_of(*(item(comparison(), comparison(order="BA"), id=f"p{n}", place=n) for n in (2, 0, 1)))
    assert run.export_comparisons(tmp_path / "c.csv") == 6
    rows = [(row["id"], row["order"]) for _, row in csv_rows(tmp_path / "c.csv", ",")]
    assert rows == [(f"p{n}", order) for n in range(3) for order in ("AB", "BA")]


def test_a_notebook_shows_them_by_their_own_columns():
    score = Score(criterion="Depth", agent="comparer", value=3)
    run = run_of(item(comparison(reason="<script>", order="BA", score_a=4, score_b=3), scores=(score,)))
    page = run.comparisons()._repr_html_()
    assert "1 comparisons" in page
    assert [page.count(f">{name}</th>") for name in COLUMNS] == [1] * len(COLUMNS)
    assert (">4.00</td>" in page, "&lt;script&gt;" in page, "<script>" in page) == (True, True, False)
    assert ">repeat</th>" not in run.scores()._repr_html_()
