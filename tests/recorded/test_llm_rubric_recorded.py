"""LLM-Rubric's recorded distributions, through the weighted reader of a graph: the two rows of its authors' README."""

import csv
import gzip
import io
import math

import pytest
from langchain_core.messages import AIMessage
from scipy.stats import kendalltau, pearsonr, spearmanr

from judgegraph.graphs.g_eval import g_eval
from judgegraph.testing import scripted
from judgegraph.types import Criterion, Sample

ANSWERS = "1234"
README = {
    "expected": (0.1773, 0.0867, 0.0659),
    "most likely": (0.1401, 0.0870, 0.0811),
}  # Q0: Pearson, Spearman, Kendall
RMSE = 0.9187  # of the expected value
OVERALL = Criterion(name="Overall", definition="How satisfied a user is.", scale="1-4")


def rows(path):
    return [*csv.DictReader(io.StringIO(gzip.decompress(path.read_bytes()).decode()), delimiter="\t")]


@pytest.fixture(scope="module")
def recorded(shared):
    """[(probability of each answer, what a person answered)] for question 0 of every dialogue."""
    folder = shared / "data/llm_rubric"
    human = {row["text_id"]: float(row["Q0"]) for row in rows(folder / "human_judges_real_convs_FIXED_ANON.tsv.gz")}
    judged = [
        row for row in rows(folder / "gpt-3.5-turbo-16k_real_evaluations_FIXED.tsv.gz") if row["criterion"] == "Q0"
    ]
    return [([float(row[f"answer{n}_prob"]) for n in ANSWERS], human[row["text_id"]]) for row in judged]


def reply(probabilities):
    """As a server gives a number of one token with the probabilities of all four."""
    top = [{"token": t, "logprob": math.log(p)} for t, p in zip(ANSWERS, probabilities, strict=True)]
    best = max(top, key=lambda one: one["logprob"])
    held = {"content": [{**best, "top_logprobs": top}]}
    return AIMessage(best["token"], response_metadata={"logprobs": held, "finish_reason": "stop"})


@pytest.mark.slow
async def test_expected_and_most_likely_answers_agree_with_people_as_published(recorded):
    judge = scripted(*(reply(probabilities) for probabilities, _ in recorded))
    graph = g_eval(judge, criteria=[OVERALL])
    scores = []
    for number in range(len(recorded)):
        state = await graph.ainvoke({"sample": Sample(id=str(number), output=f"dialogue {number}")})
        scores.append(state["scores"]["Overall/g-eval/final/0"])
    assert (len(scores), {score.reader for score in scores}) == (223, {"logprobs"})
    human = [answer for _, answer in recorded]
    ours = {
        "expected": [score.value for score in scores],
        "most likely": [float(max(score.distribution, key=score.distribution.get)) for score in scores],
    }
    for row, values in ours.items():
        found = [statistic(values, human).statistic for statistic in (pearsonr, spearmanr, kendalltau)]
        assert tuple(round(one, 4) for one in found) == README[row], row
    off = [(value - answer) ** 2 for value, answer in zip(ours["expected"], human, strict=True)]
    assert round(math.sqrt(sum(off) / len(off)), 4) == RMSE
