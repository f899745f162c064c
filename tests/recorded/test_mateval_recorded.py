"""MATEval's recorded discussions through the graph: each reply stands in the place of the model's."""

from collections import Counter

import pytest

import judgegraph as jg
from judgegraph.agents.discussion import scores_of
from judgegraph.bench.files import field, rows_of
from judgegraph.bench.mateval import COLLECTION, ERRORS, TRANSCRIPTS
from judgegraph.graphs.mateval import mateval
from judgegraph.testing import scripted
from judgegraph.types import Sample

SETTINGS = {"one-by-one": ("one_by_one_agent", "plain"), "CoT": ("COT_FB_agent", "cot")}
OFF_SCALE = {"one-by-one": 13, "CoT": 1}  # 12 blocks state +1 for an error, two -3: unreadable on -2-0


def replies(row, where, prefix):
    """The ten replies of a discussion, in the order in which they came."""
    keys = [
        f"{prefix}{n}_{who}" if who else f"Feedback_{n}" for n in "123" for who in ("1", "2", "") if who or n != "3"
    ]
    return [field(row, key, where, str) for key in (*keys, f"{prefix}_summary", "text_summary")]


async def discussed(shared, judge, count):
    name, _ = TRANSCRIPTS[judge]
    prefix, strategy = SETTINGS[judge]
    rows = rows_of(shared / "data/mateval" / name)[:count]
    said = [replies(row, where, prefix) for where, row in rows]
    graph = mateval(scripted(*(one for ten in said for one in ten)), strategy=strategy, reply="text")
    states = []
    for number, (where, row) in enumerate(rows):
        sample = Sample(id=str(number), query=field(row, "prompt", where, str), output=field(row, "story", where, str))
        states.append(await graph.ainvoke({"sample": sample}))
    return said, states


@pytest.mark.parametrize("judge", SETTINGS)
@pytest.mark.parametrize("count", [12, pytest.param(200, marks=pytest.mark.long)])
async def test_a_recorded_discussion_comes_out_of_the_graph_as_it_went(shared, judge, count):
    said, states = await discussed(shared, judge, count)
    off = Counter()
    for ten, state in zip(said, states, strict=True):
        assert [one.text for one in state["transcript"].values()][:8] == [one.strip() for one in ten[:8]]
        assert state["report"] == ten[9].strip()
        read = scores_of(ten[8], ERRORS, every_block=True)
        for error in ERRORS:
            score = state["scores"][f"{error}/summary/final/0"]
            off["far"] += score.status == "unreadable"
            assert score.value == (read[error] if score.status == "ok" else None)
            assert score.status == "ok" or not -2 <= (read[error] if read[error] is not None else 9) <= 0
    assert count < 200 or off["far"] == OFF_SCALE[judge]


def test_stories_are_the_collections_own(shared):
    (first, *_) = COLLECTION.samples(shared / "data/mateval")
    (_, row), *_ = rows_of(shared / "data/mateval" / TRANSCRIPTS["CoT"][0])
    assert (first.query, first.output) == (row["prompt"], row["story"])
    assert jg.check(mateval()).ok
