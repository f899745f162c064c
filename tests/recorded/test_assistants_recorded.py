"""UniEval's recorded predictions as assistants: a run's findings give its published figures, with means beside them."""

import json
import math
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

import judgegraph as jg
from judgegraph.bench.topical_chat import COLLECTION
from judgegraph.graphs import fusion_eval
from judgegraph.meta.aggregate import aggregates_of
from judgegraph.meta.conventions import chosen
from judgegraph.meta.judgements import of_run
from judgegraph.tools.catalogue import About, Metric

UNIEVAL = {  # Pearson, Spearman, Kendall over all 360 turns, as its authors print them
    "Naturalness": (0.443666, 0.513986, 0.373973),
    "Coherence": (0.595143, 0.612942, 0.465915),
    "Engagingness": (0.556510, 0.604739, 0.455941),
    "Groundedness": (0.536209, 0.574954, 0.451533),
    "Understandability": (0.380038, 0.467807, 0.360741),
    "Overall": (0.632796, 0.662583, 0.487272),
}
RANGES = {"Engagingness": "0 to 4", "Overall": "0 to 2"}


def as_assistant(criterion, values):
    about = About(
        measures=f"{criterion.lower()} as UniEval said", range=RANGES.get(criterion, "0 to 1"), reads="the sample's id",
        direction="higher = better", cost="nothing", licence="MIT", source="Zhong et al. 2022, arXiv:2210.07197",
    )  # fmt: skip
    return Metric(name=f"unieval-{criterion.lower()}", about=about, measure=lambda sample: values[sample.id])


@pytest.fixture(scope="module")
def run(shared, tmp_path_factory):
    folder = shared / "data/topical_chat"
    samples = [*COLLECTION.samples(folder)]
    rows = json.loads((folder / "topical_chat_result.json").read_text())
    said = {sample.id: row["predict_scores"] for sample, row in zip(samples, rows, strict=True)}
    offers = [as_assistant(name, {id: one[name.lower()] for id, one in said.items()}) for name in UNIEVAL]
    graph = fusion_eval(criteria="dialogue", assistants=offers, fuse="average")
    return jg.evaluate(graph, samples, out=tmp_path_factory.mktemp("run") / "run")


@pytest.mark.slow
def test_the_published_figures_come_out_of_a_runs_findings_to_six_digits(run):
    conventions = chosen("unieval", resamples=0)
    found = jg.agreement(of_run(run, assistants=True), conventions, tests=False)
    for criterion, figures in UNIEVAL.items():
        rows = [
            found.row(name, f"unieval-{criterion.lower()}", criterion) for name in ("pearson", "spearman", "kendall-b")
        ]
        assert tuple(round(row.value, 6) for row in rows) == figures
        assert {row.n for row in rows} == {360}


@pytest.mark.slow
def test_single_assistants_and_their_means_stand_in_one_table_with_intervals(run):
    conventions = chosen("unieval", resamples=20)
    judged = aggregates_of(run, of_run(run, assistants=True), conventions)
    found = jg.agreement(judged, conventions, tests=False)
    metrics = {row.metric for row in found.rows if row.criterion == "Coherence"}
    assert {"unieval-coherence", "unieval-overall", "AVG(AE)", "CorrW(AE) cross-fitted"} <= metrics
    for row in found.rows:
        if row.statistic == "spearman" and row.criterion == "Coherence":
            low, high = row.interval
            assert math.isnan(row.value) or low <= row.value <= high


@pytest.mark.long
def test_the_fusing_judge_stands_in_the_same_table_whether_or_not_fusing_helps(shared):
    """The table of benchmarks/fusion.py, of its first turns: fused, three means and single assistants."""
    spec = spec_from_file_location("fusion", Path(__file__).parents[2] / "benchmarks/fusion.py")
    fusion = module_from_spec(spec)
    spec.loader.exec_module(fusion)
    found, requests = fusion.judged(shared / "data", n=60, resamples=20)
    rows = {row.metric: row for row in found.rows if (row.statistic, row.criterion) == ("spearman", "Coherence")}
    means = {"AVG(AE)", "LLMSel(AE)", "CorrW(AE) cross-fitted"}
    assert {"fusion-judge", "unieval-coherence", "gpt35-coherence", "rouge-l"} | means <= rows.keys()
    assert requests == 61  # a plan, and a judgement of each turn
    assert all(row.interval[0] <= row.value <= row.interval[1] for row in rows.values())
