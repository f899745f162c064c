"""G-Eval on real replies: 20 ChatGPT samples per TopicalChat item, through the graph, against published figures."""

import gzip
import json
from collections import defaultdict
from statistics import fmean

import pytest
from scipy.stats import kendalltau, pearsonr

from judgegraph.graphs.g_eval import g_eval
from judgegraph.replies.free_text import read_rating, text_reading
from judgegraph.testing import scripted
from judgegraph.types import Criterion, Sample, Scale

# Chiang and Lee 2023, table 2, as recomputed from the recordings: r over all items, tau per dialogue, replies without
# a number ("Yes") left out.
PUBLISHED = [
    ("coh", "geval", 0.468, 0.391, 0),
    ("eng", "geval", 0.549, 0.513, 0),
    ("coh", "geval_no_auto_cot", 0.443, 0.404, 3),
    ("eng", "geval_no_auto_cot", 0.557, 0.535, 0),
]
NAMES = {"coh": "Coherence", "eng": "Engagingness"}


def recorded(shared, aspect, prompt):
    """[(sample, human score, its 20 replies)]; items whose request failed are not in the recording."""
    folder = shared / "data" / "topical_chat"
    people = {
        (row["source"], row["system_id"]): row["scores"]
        for row in json.loads((folder / "topical_chat_result.json").read_text())
    }
    found = []
    packed = (folder / "gpt-3.5" / f"gpt3.5_{aspect}_{prompt}.json.gz").read_bytes()
    for i, row in enumerate(json.loads(gzip.decompress(packed))):
        human = people[row["source"], row["system_id"]][NAMES[aspect].lower()]
        sample = Sample(id=str(i), query=row["source"], source=row["context"], output=row["system_output"])
        found.append((sample, human, row["all_responses"]))
    return found


def judge_of(items):
    """Answers the first call, which asks for log-probabilities and gets none, with one reply; all others with 20."""
    first = next(r for r in items[0][2] if read_rating(r, "1-3").status == "ok")
    return scripted([first], *(replies for _, _, replies in items))


def per_dialogue(items, scores):
    """Mean tau-b over dialogues, those left out where either side is constant."""
    groups = defaultdict(list)
    for (sample, human, _), score in zip(items, scores, strict=True):
        groups[sample.query].append((score, human))
    sides = [tuple(zip(*pairs, strict=True)) for pairs in groups.values()]
    return fmean(kendalltau(ours, human).statistic for ours, human in sides if len({*ours}) > 1 and len({*human}) > 1)


async def figures(items, name, **settings):
    """(r over all items, mean tau per dialogue, replies left out), by the graph's own scores."""
    judge = judge_of(items)
    graph = g_eval(judge, criteria=[Criterion(name=name, scale="1-3")], **settings)
    scores = []
    for sample, _, _ in items:
        (score,) = (await graph.ainvoke({"sample": sample}))["scores"].values()
        assert (score.status, score.reader) == ("ok", "samples")
        scores.append(score)
    assert [asked.get("n", 1) for asked in judge.asked] == [1] + [20] * len(items)
    values = [score.value for score in scores]
    notes = [note for score in scores for note in score.notes if "left out" in note]
    left_out = sum(int(note.split()[0]) for note in notes)
    return pearsonr(values, [human for _, human, _ in items]).statistic, per_dialogue(items, values), left_out


@pytest.mark.parametrize(
    ("aspect", "prompt", "r", "tau", "left_out"), PUBLISHED, ids=[f"{row[0]}-{row[1]}" for row in PUBLISHED]
)
@pytest.mark.long
async def test_samples_read_as_their_authors_did_give_the_published_agreement(shared, aspect, prompt, r, tau, left_out):
    items = recorded(shared, aspect, prompt)
    found = await figures(items, NAMES[aspect], first_digit=True)
    print(f"{aspect} {prompt}: n {len(items)}, r {found[0]:.4f}, tau {found[1]:.4f}")
    assert (round(found[0], 3), round(found[1], 3), found[2]) == (r, tau, left_out)


# Read as they stand: "2.5" is 2.5, where the authors kept its first digit, and "1. 2" is 2, where they kept the 1.
AS_THEY_STAND = [("coh", "geval", 0.468, 0.391, 0), ("eng", "geval", 0.551, 0.515, 0)]


@pytest.mark.parametrize(("aspect", "prompt", "r", "tau", "left_out"), AS_THEY_STAND, ids=["coherence", "engagingness"])
@pytest.mark.long
async def test_samples_as_they_stand_differ_by_fractions_alone(shared, aspect, prompt, r, tau, left_out):
    items = recorded(shared, aspect, prompt)
    found = await figures(items, NAMES[aspect])
    print(f"{aspect} {prompt}: n {len(items)}, r {found[0]:.4f}, tau {found[1]:.4f}, {found[2]} left out")
    assert (round(found[0], 3), round(found[1], 3), found[2]) == (r, tau, left_out)
    scale = Scale.of("1-3")
    replies = [x for _, _, twenty in items for x in twenty]
    differ = [x for x in replies if text_reading(x, scale).value != text_reading(x, scale, first_digit=True).value]
    assert all("." in x for x in differ)
    assert len(differ) <= 0.01 * len(replies)
