"""ROUGE, chrF and BLEU beside SummEval's eleven references: tau-b over 16 systems, as published."""

import json
from gzip import open as unzip

import pytest

import judgegraph as jg
from judgegraph.bench.summeval import COLLECTION, FILE, NAMES
from judgegraph.meta.cells import Judgements
from judgegraph.meta.conventions import chosen
from judgegraph.tools.metrics import bleu, chrf, rouge_1, rouge_2

PAIR = 2 / 120  # what tau moves by where one of the 120 pairs of systems turns round
AS_PUBLISHED = {  # the setting that gives the figures, and by how many pairs of systems a criterion may be off
    "ROUGE-1": (rouge_1(stem=True, over="mean"), 0),
    "ROUGE-2": (rouge_2(stem=True, over="mean"), 0),
    "CHRF": (chrf(), 2),  # why is not known, nor of BLEU: other values may have been used than these settings give
    "BLEU": (bleu(lowercase=True), 2),
}


@pytest.fixture(scope="module")
def judged(shared):
    folder = shared / "data/summeval"
    samples = [*COLLECTION.samples(folder)]
    with unzip(folder / FILE, "rt") as file:
        references = {article: row["ref_summs"] for article, row in json.load(file).items()}
    given = [sample.model_copy(update={"references": tuple(references[sample.meta["group"]])}) for sample in samples]
    columns = {name: tuple(map(metric, given)) for name, (metric, _) in AS_PUBLISHED.items()}
    return [
        Judgements(
            criterion=name, kind="number", ids=tuple(sample.id for sample in samples), metrics=columns,
            human=tuple((sample.human[name],) for sample in samples),
            systems=tuple(sample.meta["system"] for sample in samples),
        )
        for name in NAMES
    ]  # fmt: skip


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_surface_metrics_rank_systems_as_published(judged):
    found = jg.agreement(judged, chosen(coefficients=("kendall-b",), level="system", resamples=0), tests=False)
    published = {(f.judge, f.criterion): f.value for f in COLLECTION.published if "table 2, 16" in f.source}
    for name, (_, pairs) in AS_PUBLISHED.items():
        for criterion in NAMES:
            value = found.row("kendall-b", name, criterion).value
            assert abs(value - published[name, criterion]) < 0.0006 + pairs * PAIR, (name, criterion, value)
