"""`judgegraph meta RUN` of a run that consulted assistants: their means as metrics, and weights for another run."""

import json

import pytest
from click.testing import CliRunner

import judgegraph as jg
from judgegraph.cli import main
from judgegraph.graphs import fusion_eval, llm_score

POINTS = {"good": 5.0, "fair": 3.0, "dull": 2.0, "poor": 1.0}


@pytest.fixture(scope="module")
def samples():
    known = jg.load("examples/articles.jsonl")
    return [s.model_copy(update={"human": {"relevance": POINTS[s.meta["quality"]]}}) for s in known]


@pytest.fixture(scope="module")
def run(samples, tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "fusion"
    jg.evaluate(fusion_eval(criteria="summary", consult="all"), samples, out=out)
    return out


def call(*arguments):
    return CliRunner().invoke(main, ["meta", *map(str, arguments), "--no-tests", "--resamples", "50"])


def test_aggregates_are_metrics_beside_the_others(run):
    found = json.loads(call(run, "--aggregates", "--json").output)
    metrics = {row["metric"] for row in found["rows"]}
    assert {"fusion-judge", "rouge-l", "AVG(AE)", "CorrW(AE) cross-fitted"} <= metrics


def test_weights_are_written_and_read_by_the_method(run, samples, tmp_path):
    path = tmp_path / "weights.json"
    assert call(run, "--weights-out", path).exit_code == 0
    weights = json.loads(path.read_text())["relevance"]
    assert sum(weights.values()) == pytest.approx(1)
    assert min(weights.values()) >= 0
    target = [c for c in jg.criteria_set("summary").criteria if c.name == "Relevance"]
    done = jg.evaluate(fusion_eval(criteria=target, fuse="weighted", weights=str(path)), samples[:2])
    assert [row["status"] for row in done.scores() if row["stage"] == "final"] == ["ok", "ok"]


def test_a_run_without_assistants_has_none_of_them(samples, tmp_path):
    jg.evaluate(llm_score(criteria="summary"), samples[:4], out=tmp_path / "plain")
    for option in (["--aggregates"], ["--weights-out", tmp_path / "weights.json"]):
        done = call(tmp_path / "plain", *option)
        assert done.exit_code == 1
        assert "no assistant was consulted in this run" in done.output
    assert not (tmp_path / "weights.json").exists()


def test_a_table_has_no_assistants(tmp_path):
    (tmp_path / "t.csv").write_text("id,human,m\n1,1,1\n2,2,2\n")
    done = call(tmp_path / "t.csv", "--metric", "m", "--aggregates")
    assert done.exit_code == 2
    assert "--aggregates is of runs" in done.output
