"""Systems ranked pair by pair: by hand, and as published for SummEval."""

import gzip
import json

import numpy as np
import pytest

from judgegraph.bench.summeval import theirs
from judgegraph.stats.ranking import PairsRanked, ranked_pairs

# documents x systems: people see 0 > 1 > 2, by wins and by means
PEOPLE = np.array([[5, 3, 1], [5, 4, 2], [1, 4, 3.0]])
GROUP, SYSTEM = np.repeat(np.arange(3), 3), np.tile(np.arange(3), 3)


def ranked(metric, people=PEOPLE, **settings):
    return ranked_pairs(people.ravel(), np.array(metric, dtype=float).ravel(), GROUP, SYSTEM, **settings)


def test_people_rank_as_people_do():
    assert ranked(PEOPLE) == PairsRanked(right=3, pairs=3, close_right=2, close_pairs=2)


def test_a_system_is_ahead_that_wins_more_than_half_of_the_documents_whatever_its_mean():
    metric = [[2, 1, 0], [2, 1, 0], [1, 9, 0]]
    assert ranked(metric).right == 3
    assert ranked(metric, rule="mean") == PairsRanked(right=2, pairs=3, close_right=1, close_pairs=2)


def test_a_draw_is_right_only_where_people_see_one():
    draw = [[1, 1, 0], [1, 1, 0], [1, 1, 0]]
    assert ranked(draw).right == 2
    assert ranked(draw, people=np.array(draw, dtype=float)).right == 3
    assert ranked(draw, people=np.array([[1, 2, 0], [2, 1, 0], [1, 1, 0.0]])).right == 3


def test_ties_count_half_to_each():
    assert ranked([[5, 3, 1], [3, 3, 1], [3, 3, 1]]).right == 3


def test_close_pairs_are_adjacent_or_of_few_wins_or_named():
    # of 0 and 1, 0 and 2 people let 0 win two of three; 1 wins all from 2
    assert ranked(PEOPLE, close=0.7).close_pairs == 2
    assert ranked(PEOPLE, close=0.6).close_pairs == 0
    assert ranked(PEOPLE, close=1.0).close_pairs == 3
    assert ranked(PEOPLE, close=[(2, 0)]) == PairsRanked(right=3, pairs=3, close_right=1, close_pairs=1)


def test_systems_are_compared_on_the_documents_that_both_have():
    keep = np.array([True, True, False, True, False, True, False, True, True])  # each pair shares a document or two
    metric = np.where(GROUP == 0, -1.0, 1.0) * PEOPLE.ravel()
    found = ranked_pairs(PEOPLE.ravel()[keep], metric[keep], GROUP[keep], SYSTEM[keep])
    assert (found.right, found.pairs) == (2, 3)


def test_systems_without_a_document_in_common_make_no_pair():
    found = ranked_pairs(np.ones(2), np.ones(2), np.array([0, 1]), np.array([0, 1]))
    assert found == PairsRanked(0, 0, 0, 0)
    assert ranked_pairs(*np.empty((2, 0)), *np.empty((2, 0), dtype=int)) == PairsRanked(0, 0, 0, 0)


def test_what_makes_no_table_is_refused():
    with pytest.raises(ValueError, match="two items of one document"):
        ranked_pairs(np.ones(2), np.ones(2), np.zeros(2, dtype=int), np.zeros(2, dtype=int))
    with pytest.raises(ValueError, match="one length"):
        ranked_pairs(np.ones(2), np.ones(2), np.zeros(1, dtype=int), np.zeros(2, dtype=int))


@pytest.mark.parametrize(("aspect", "right"), [("coherence", 54), ("consistency", 56)])
def test_gpt_3_5_ranks_systems_of_summeval_as_published(shared, aspect, right):
    # the paper's four-aspect means, 58.5 of 66 and 7 of 11 close pairs, need fluency and relevance, which are not here
    folder = shared / "data/summeval"
    with gzip.open(folder / "annotations_12systems.jsonl.gz", "rt") as file:
        items = [json.loads(line) for line in file]
    with (folder / f"judges/gpt-3.5-turbo-0301/{aspect}_rts.jsonl").open() as file:
        replies = {(row["system_id"], row["id"]): row["resp"] for row in map(json.loads, file)}
    human = np.array([np.mean([expert[aspect] for expert in item["expert_annotations"]]) for item in items])
    metric = np.array([theirs(replies[item["system_id"], item["id"]], "rts")[0] for item in items])
    codes = [np.unique([item[key] for item in items], return_inverse=True)[1] for key in ("id", "system_id")]
    found = ranked_pairs(human, metric, *codes)
    assert (found.right, found.pairs, found.close_pairs) == (right, 66, 11)
