"""`judgegraph meta`, as it is called, on published figures and on what people mistype."""

import csv
import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import judgegraph as jg
from judgegraph.cli import main
from judgegraph.graphs import g_eval, sageval
from judgegraph.runs.item import Item
from judgegraph.types import Sample, Score

FAST = ("--resamples", "20", "--permutations", "20")


def called(*arguments: object, code: int = 0) -> str:
    done = CliRunner().invoke(main, ["meta", *map(str, arguments)])
    assert done.exit_code == code, done.output
    return done.output


def said(*arguments: object) -> dict:
    found: dict = json.loads(called(*arguments, *FAST, "--json"))
    return found


def values(found: dict, criterion: str = "") -> dict[str, float]:
    return {row["statistic"]: row["value"] for row in found["rows"] if row["criterion"] == criterion}


def written(path: Path, rows: list[dict]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_unievals_published_figures_come_out_of_its_file(shared: Path):
    found = said(
        shared / "data/topical_chat/topical_chat_result.json", "--human", "scores.engagingness", "--metric",
        "predict_scores.engagingness", "--group", "source", "--system", "system_id", "--preset", "unieval",
    )  # fmt: skip
    assert {name: round(value, 6) for name, value in values(found).items()} == {
        "pearson": 0.556510, "spearman": 0.604739, "kendall-b": 0.455941,
    }  # fmt: skip


def test_pandalms_figures_depend_on_what_garbage_counts_as(shared: Path, tmp_path: Path):
    people = json.loads((shared / "data/pandalm/testset-v1.json").read_text())
    judged = json.loads((shared / "data/pandalm/gpt-3.5-turbo-testset-v1.json").read_text())
    by = {row["idx"]: row["gpt_result"] for row in judged}
    rows = [{"id": r["idx"], **{f"a{k}": r[f"annotator{k}"] for k in (1, 2, 3)}, "gpt": by[r["idx"]]} for r in people]
    humans = [word for k in (1, 2, 3) for word in ("--human", f"a{k}")]
    table = written(tmp_path / "t.jsonl", rows)
    options = (table, *humans, "--metric", "gpt", "--preset", "pandalm")
    assert "metric 'gpt' says 'Tie'" in called(*options, code=1)
    named = (*options, "--verdicts", "A=1,B=2,tie=0")
    names = ("accuracy", "macro-precision", "macro-recall", "macro-f1")
    tie, wrong = said(*named), said(*named, "--unreadable", "zero")
    assert [round(values(tie)[name], 4) for name in names] == [0.7107, 0.5879, 0.5736, 0.5755]
    assert [round(values(wrong)[name], 4) for name in names] == [0.6977, 0.5365, 0.5324, 0.5274]
    assert tie["rows"][0]["unread"] == {"unreadable": 25}
    assert tie["rows"][0]["failures"]["wrong"] == values(wrong)["accuracy"]


def test_auto_js_figures_come_out_of_both_orders(shared: Path, tmp_path: Path):
    folder = shared / "data/autoj"
    people = [
        json.loads(row) for row in gzip.decompress((folder / "testdata_pairwise.jsonl.gz").read_bytes()).splitlines()
    ]
    first, second = (
        [json.loads(row)["output"] for row in (folder / f"pairwise_{name}.jsonl").read_bytes().splitlines()]
        for name in ("output", "exchange_output")
    )
    rows = [
        {"id": r["row"], "criterion": r["group"], "human": r["label"], "autoj": a, "turned": b}
        for r, a, b in zip(people, first, second, strict=True)
    ]
    options = ("--metric", "autoj", "--exchanged", "autoj=turned", "--verdicts", "A=0,B=1,tie=2", "--preset", "auto-j")
    found = said(written(tmp_path / "t.jsonl", rows), *options, "--swap-back")
    for group, published in {
        "Summarization": (45.83, 73.61, 56.94), "Code": (47.50, 75.83, 54.17),
        "Creative Writing": (59.72, 87.04, 63.43), "General Communication": (55.21, 92.36, 57.29),
    }.items():  # fmt: skip
        got = values(found, group)
        assert tuple(round(100 * got[name], 2) for name in ("agreement", "consistency", "accuracy")) == published


def test_openmevas_figures_differ_by_level(shared: Path, tmp_path: Path):
    prompts = json.loads((shared / "data/openmeva/openmeva.json").read_text())
    each = prompts.values() if isinstance(prompts, dict) else prompts
    rows = [
        {
            "id": p["doc_id"],
            "system": s,
            "group": p["doc_id"],
            "human": g["score"]["human"],
            "gpt": g["score"]["chatgpt"],
        }
        for p in each
        for s, g in p["gen"].items()
    ]
    table = written(tmp_path / "t.jsonl", rows)
    names = ("spearman", "pearson", "kendall-b")
    assert [round(values(said(table, "--metric", "gpt"))[n], 3) for n in names] == [0.412, 0.430, 0.342]
    found = said(table, "--metric", "gpt", "--level", "group")
    assert [round(values(found)[n], 3) for n in names] == [0.456, 0.466, 0.411]
    assert {row["units"] for row in found["rows"]} == {87}


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with a critic, of summaries that the author of the examples judged."""
    points = {"good": 5.0, "fair": 3.0, "dull": 2.0, "poor": 1.0}
    folder = tmp_path_factory.mktemp("runs") / "sageval"
    samples = [
        s.model_copy(update={"human": {"coherence": points[s.meta["quality"]]}})
        for s in jg.load(Path(__file__).parents[2] / "examples/articles.jsonl", limit=14)
    ]
    jg.evaluate(sageval(criteria="summary"), samples, out=folder)
    return folder


def test_a_run_says_agreement_its_signature_and_what_its_critic_was_worth(judged: Path):
    text = called(judged, *FAST)
    for part in ("coherence  sage", "note: not judged by people: Consistency, Fluency, Relevance", "unit:group",
                 "sageval|v:", "critic sage over evaluator/draft"):  # fmt: skip
        assert part in text
    found = said(judged, "--stage", "draft", "--stage", "final")
    assert {row["metric"] for row in found["rows"]} == {"evaluator (draft)", "sage"}
    assert found["source"].startswith("sageval|v:")
    assert found["critic"]


def test_a_run_without_peoples_judgements_says_so_and_still_shows_its_critic(tmp_path: Path):
    samples = list(jg.load(Path(__file__).parents[2] / "examples/articles.jsonl", limit=2))
    jg.evaluate(sageval(criteria="summary"), samples, out=tmp_path / "critic")
    text = called(tmp_path / "critic", *FAST, code=1)  # as without a critic
    assert "no agreement with people: no sample of the run holds people's judgements" in text
    assert "critic sage" in text
    jg.evaluate(g_eval(criteria="summary"), samples, out=tmp_path / "plain")
    told = called(tmp_path / "plain", code=1)
    assert "give them as columns human.CRITERION" in told
    assert "human.overall=COLUMN" in told


def test_a_stage_without_scores_is_named_beside_those_there_are(judged: Path):
    text = called(judged, "--stage", "ballot", code=1)
    assert "the run has no score of it at stage ballot, but at draft, final" in text


@pytest.mark.parametrize(("first", "shown"), [(20.0, "'85,5', sample 's1'"), ("4,5", "'4,5', sample 's0'")])
def test_a_judgement_in_a_run_that_is_no_number_is_named_with_a_cure_for_runs(tmp_path: Path, first, shown: str):
    samples = [
        jg.Sample(id=f"s{i}", output="A text of a few words, more than eight of them.", human={"coherence": human})
        for i, human in enumerate([first, "85,5", "60,5"])
    ]
    jg.evaluate(g_eval(criteria="summary"), samples, out=tmp_path / "run")
    text = " ".join(called(tmp_path / "run", code=1).split())
    assert shown in text
    assert "with --ledger RUN/ledger.sqlite" in text
    assert "--kind" not in text


WRONG_OF_RUN = [
    (("--human", "x"), 2, "--human names columns of a table, and this is a run"),
    (("--exchanged", "a=b"), 2, "--exchanged names columns of a table"),
    (("--level", "group", "--group", "doc"), 1, "expected text in meta.doc; its meta has group, system, quality"),
    (("--against", "nobody"), 1, "no metric 'nobody'; there are sage"),
    (("--metric", "sge"), 1, "the run has no agent 'sge'; did you mean 'sage'? There are evaluator, sage"),
    (("--metric", "evaluator"), 1, "these agents give no answer by it, only scores of stage draft"),
    (("--annotators", "2"), 1, "annotators: coherence: the annotator 2 is wanted, and there is one"),
]


@pytest.mark.parametrize(("options", "code", "text"), WRONG_OF_RUN)
def test_what_a_run_cannot_do_is_said(judged: Path, options: tuple, code: int, text: str):
    assert text in called(judged, *options, *FAST, code=code)


WRONG = [
    (("--metric", "M"), 1, "no column 'M'; did you mean 'm'? The table has id, human, m"),
    (("--metric", "m", "--level", "documents"), 2, "--level takes dataset, group, system or COEFFICIENT=LEVEL"),
    (("--metric", "m", "--level", "group"), 1, "level group needs the group of each item"),
    (("--metric", "m", "--annotators", "all"), 2, "--annotators takes mean, median, majority, or a number"),
    (("--metric", "m", "--preset", "gevall"), 1, "no preset 'gevall'; did you mean 'g-eval'"),
    (("--metric", "m", "--verdicts", "A=1,C=2"), 2, "'C' is none of A, B, tie"),
    (("--metric", "m", "--verdicts", "A"), 2, "--verdicts takes NAME=VALUE"),
    (("--metric", "m", "--order", "a"), 2, "--order takes two or more labels"),
    (("--metric", "m", "--exchanged", "m"), 2, "--exchanged takes NAME=VALUE"),
    (("--metric", "m", "--exchanged", "m=x", "--exchanged", "m=y"), 2, "--exchanged 'm' is given twice"),
    (("--metric", "m", "--metric", "m"), 1, "--metric 'm' is given twice"),
    (("--metric", "m", "--group", "ids"), 1, "t.jsonl, line 1: no column 'ids'; did you mean 'id'?"),
    (("--metric", "m", "--stage", "draft"), 2, "--stage is of runs, and this is a file"),
    (("--metric", "m", "--confidence", "1"), 2, "0<x<1"),
]


@pytest.mark.parametrize(("options", "code", "text"), WRONG, ids=[" ".join(case[0][2:]) or "metric" for case in WRONG])
def test_a_mistake_is_one_line_that_says_what_was_expected(tmp_path: Path, options: tuple, code: int, text: str):
    table = written(tmp_path / "t.jsonl", [{"id": i, "human": i, "m": i % 3} for i in range(6)])
    assert text in called(table, *options, code=code)


@pytest.mark.parametrize("people", [[2, 2, 2], [1]])
def test_where_nothing_is_defined_the_command_fails(tmp_path: Path, people: list[int]):
    table = written(tmp_path / "t.jsonl", [{"human": human, "m": i} for i, human in enumerate(people)])
    assert "no agreement with people: every statistic is undefined" in called(table, "--metric", "m", *FAST, code=1)
    assert '"rows"' in called(table, "--metric", "m", "--json", *FAST, code=1)


def test_what_is_neither_run_nor_table_is_refused(tmp_path: Path, judged: Path):
    assert "no such file, and no folder of a run" in called(tmp_path / "x.csv", code=1)
    assert "manifest.json" in called(tmp_path, code=1)
    assert "name the run's folder" in called(judged / "items.jsonl", code=1)


def test_nothing_foreign_drives_the_terminal(tmp_path: Path):
    bad = "\x1b[2J\u202e[red]m"
    rows = [{"id": f"{bad}{i}", "human": i % 4, "criterion": bad, bad: i % 3 or bad} for i in range(9)]
    text = called(written(tmp_path / "t.jsonl", rows), "--metric", bad, *FAST)
    assert not {"\x1b", "\u202e"} & set(text)
    assert "[red]m" in text
    rows[3]["human"] = bad
    text = called(written(tmp_path / "t.jsonl", rows), "--metric", bad, code=1)
    assert not {"\x1b", "\u202e"} & set(text)


def test_hostile_names_in_a_run_are_printed_safely(tmp_path: Path):
    name = "\x1b[2Jcrit"
    items = [
        Item(sample=Sample(id=str(i), output="x", human={name: float(i % 3)}),
             scores=(Score(criterion=name, agent="\x9bagent", value=float(i % 2)),)) for i in range(6)
    ]  # fmt: skip
    from judgegraph.views.agreement import agreement as laid_out
    from judgegraph.views.terminal import show

    runner = CliRunner()
    with runner.isolation() as (out, *_):
        show(laid_out(jg.agreement(jg.Run({"signature": "s"}, items), resamples=10)))
        text = out.getvalue().decode()
    assert not {"\x1b", "\x9b"} & set(text)


def test_all_presets_are_listed_with_their_sources():
    text = called("--presets")
    assert all(name in text for name in ("g-eval", "closer-look", "fusion-eval-summeval", "llmbar"))


def test_each_number_has_its_signature_and_its_preset(tmp_path: Path):
    table = written(tmp_path / "t.jsonl", [{"human": i % 4, "m": i % 3, "group": str(i // 4)} for i in range(12)])
    found = said(table, "--metric", "m", "--preset", "g-eval", "--constant", "zero")
    assert found["preset"] == "g-eval"
    for row in found["rows"]:
        assert row["signature"].startswith(f"{row['statistic']}|level:group|n:12|unreadable:zero|constant:zero|")
    assert "preset:g-eval" in called(table, "--metric", "m", "--preset", "g-eval", *FAST)


def test_agreement_is_a_table_as_csv_latex_and_markdown_with_the_numbers_of_the_json(tmp_path: Path):
    rows = [{"id": str(at), "criterion": name, "human": at % 5, "judge_a": (at * 3 + 1) % 5, "judge_b": at % 5}
            for at in range(20) for name in ("Ton & Klang", "B|C")]  # fmt: skip
    path = written(tmp_path / "t.jsonl", rows)
    metrics = ("--metric", "judge_a", "--metric", "judge_b", *FAST)
    whole = json.loads(called(path, *metrics, "--json"))
    called(path, *metrics, "--csv", tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(encoding="utf-8-sig", newline="") as file:
        kept = list(csv.DictReader(file))
    assert [
        (row["criterion"], row["metric"], row["statistic"], float(row["value"]), int(row["n"])) for row in kept
    ] == [(row["criterion"], row["metric"], row["statistic"], row["value"], row["n"]) for row in whole["rows"]]
    latex = called(path, *metrics, "--as", "latex")
    assert r"Ton \& Klang & judge\_a" in latex
    assert latex.count(r"\\") == 1 + 4
    markdown = called(path, *metrics, "--as", "markdown").splitlines()
    assert any(line.startswith("| B\\|C | judge_b | 20 | 1.000 ") for line in markdown)
    assert not any("-0.00 " in line for line in markdown)
    assert "one of them" in called(path, "--as", "latex", "--json", code=2)
    assert "ends in .csv" in called(path, "--csv", "t.txt", code=2)
