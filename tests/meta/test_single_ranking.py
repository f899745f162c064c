"""Systems ranked by single scores, as Fennec does (section 6.3, figure 4): `fennec-single`, then `judgegraph rank`."""

import json
from pathlib import Path
from statistics import fmean

import pytest
from click.testing import CliRunner

import judgegraph as jg
from judgegraph.cli import main

ARTICLES = Path(__file__).resolve().parents[2] / "examples/articles.jsonl"


def call(*arguments):
    done = CliRunner().invoke(main, list(map(str, arguments)), env={"COLUMNS": "80"})
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.slow
def test_outputs_scored_alone_rank_their_systems_within_each_document(tmp_path):
    rows = [json.loads(line) for line in ARTICLES.read_text("utf-8").splitlines()]
    data, run = tmp_path / "outputs.jsonl", tmp_path / "run"
    for row in rows:
        row["meta"] = {"doc": row["meta"]["group"], "system": row["meta"]["quality"]}  # a system of each quality
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    call("run", "fennec-single", data, "-o", run, "-s", "correct=off", "--json")
    found = json.loads(call("rank", run, "--system", "system", "--group", "doc", "--resamples", 20, "--json"))
    (overall,) = [ranking for ranking in found if ranking["criterion"] == "overall"]
    items = list(jg.Run.load(run).items)
    assert overall["units"] == len({row["meta"]["doc"] for row in rows})
    assert {item.verdict for item in items} == {None}
    for system in overall["systems"]:
        scores = [item.overall for item in items if item.sample.meta["system"] == system["system"]]
        assert system["score"] == pytest.approx(fmean(scores))
    assert [system["system"] for system in overall["systems"]][-1] == "poor"
