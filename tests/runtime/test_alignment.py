"""Which assistant a plan assigned to which criterion, over a run: rows, JSON, a table, in page and notebook."""

import json

from click.testing import CliRunner

import judgegraph as jg
from judgegraph.cli import main
from judgegraph.graphs import fusion_eval
from judgegraph.testing import scripted
from judgegraph.types import Criterion, Sample

CRITERIA = [Criterion(name="Clarity"), Criterion(name="Wit")]
REPLY = {key: {"reason": "r", "score": 3} for key in ("clarity", "wit", "overall")}
PLAN = {"plan": "p", "alignment": {"clarity": ["word-count", "coverage"], "wit": []}, "usage": {}}
SAMPLES = [Sample(id="a", output="It is shut.", source="The bridge is shut."), Sample(id="b", output="It rains.")]


def test_the_plan_of_a_run_is_told_with_what_came_of_it(tmp_path):
    judge = scripted(PLAN, [REPLY] * 8, [REPLY] * 8)
    graph = fusion_eval(judge, criteria=CRITERIA, assistants=["word-count", "coverage", "bleu"], consult="all")
    run = jg.evaluate(graph, SAMPLES, out=tmp_path / "run", concurrency=1)
    rows = {(row["criterion"], row["assistant"]): row for row in run.alignment().rows}
    assert (rows["Clarity", "word-count"]["assigned"], rows["Clarity", "word-count"]["ok"]) == (2, 2)
    assert (rows["Clarity", "coverage"]["consulted"], rows["Clarity", "coverage"]["ok"]) == (2, 1)
    assert rows["Clarity", "coverage"]["absent"] == "skipped: the sample has no source"
    assert rows["Wit", "word-count"]["assigned"] == 0
    shown = CliRunner().invoke(main, ["plan", "--alignment", str(tmp_path / "run")])
    laid_out = [[*map(str.strip, line.split(maxsplit=2))] for line in shown.output.splitlines()[1:4]]
    assert laid_out == [
        ["assistant", "Clarity", "without a value"],
        ["word-count", "yes"],
        ["coverage", "yes", "1 of 2 samples, skipped: the sample has no source"],
    ]
    assert shown.output.splitlines()[4:] == ["judged without an assistant: Wit"]
    assert CliRunner().invoke(main, ["tools", "--alignment", str(tmp_path / "run")]).output == shown.output
    page = jg.write_report(run, tmp_path / "page.html").read_text(encoding="utf-8")
    for text in ("1 of 2 samples, skipped: the sample has no source", "judged without an assistant: Wit"):
        assert text in page
        assert text in run._repr_html_()
    hidden = jg.write_report(run, tmp_path / "hidden.html", redact=("texts",)).read_text(encoding="utf-8")
    assert "judged without an assistant: Wit" in hidden
    told = json.loads(CliRunner().invoke(main, ["plan", "--alignment", str(tmp_path / "run"), "--json"]).output)
    assert told["alignment"] == run.alignment().rows


def test_a_run_without_a_plan_says_so(tmp_path):
    jg.evaluate(fusion_eval(plan=False, assistants=["word-count"]), SAMPLES[:1], out=tmp_path / "run")
    shown = CliRunner().invoke(main, ["plan", "--alignment", str(tmp_path / "run")])
    assert shown.output.startswith("no sample of this run has a plan")
