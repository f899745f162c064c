"""What a graph made of a pair that was cut off is no verdict, wherever verdicts are summed up."""

import judgegraph as jg
from judgegraph.agents.merge import Merge
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.judgements import read_run
from judgegraph.meta.probes import Seen
from judgegraph.meta.ranking import contests, of_run
from judgegraph.report.figures import Orders, Pool
from judgegraph.runs.item import Item
from judgegraph.runs.run import Run
from judgegraph.runs.summary import summarise
from judgegraph.types import Comparison, Criterion, Sample, keyed

CRITERIA = [Criterion(name=name) for name in ("Clarity", "Tone")]


def _item(id: str, status: str = "ok", cut: bool = False) -> Item:
    """A wins by both criteria in the given order, and in the exchanged one by Clarity, where it is not cut off."""
    meta = {"system": "x", "rival_system": "y"}
    sample = Sample(id=id, query="q", output="a", rival="b", human={"overall": "A"}, meta=meta)
    lost = {"score_a": None, "score_b": None, "verdict": None, "status": "over_budget"}
    gone = ("BA", "Tone") if cut else None
    won = {"score_a": 4, "score_b": 2, "verdict": "A"}
    found = [
        Comparison(criterion=c.name, agent="comparer", order=order, **(lost if (order, c.name) == gone else won))
        for order in ("AB", "BA") for c in CRITERIA
    ]  # fmt: skip
    merged = Merge()({"sample": sample, "criteria": CRITERIA, "comparisons": keyed(*found)})
    comparisons = (*found, *merged["comparisons"].values())
    verdict, overall = merged["verdict"], merged["overall"]
    return Item(sample=sample, status=status, comparisons=comparisons, verdict=verdict, overall=overall)


WHOLE = Run({"signature": "x"}, [_item("s1"), _item("s2")])
CUT = Run({"signature": "x"}, [_item("s1"), _item("s2", "over_budget", cut=True)])


def test_a_pair_that_was_cut_off_is_none_of_the_verdicts():
    assert CUT.held[1].verdict == "A"  # of the criterion that was read in both orders
    summary = summarise(CUT.items, "x")
    assert (dict(summary.verdicts), summary.both, summary.consistent) == ({"A": 1, "none": 1}, 1, 1)
    orders = Orders()
    for item in CUT.items:
        orders.add(item, Pool())
    assert {sum(counts.values()) for counts in orders.flips.values()} == {1}
    assert orders.met == {("x", "y"): {"A": 1}}
    assert [Seen.of(item).verdict for item in CUT.items] == ["A", None]


def test_neither_people_nor_a_ranking_are_held_against_it():
    (judged,) = read_run(CUT).judgements
    assert set(judged.metrics.values()) == {("A", None)}
    assert {statuses[1] for statuses in judged.statuses.values()} == {"over_budget"}
    for entrants in of_run(CUT):
        assert {len([a for a in said if a]) for said in entrants.judged.metrics.values()} == {1}


def test_what_it_lost_to_another_run_is_a_failure():
    found = jg.diff_runs(WHOLE, CUT)
    assert set(found.causes) == {"failure"}
    assert {line.lost for line in found.lines.values()} == {1}


def test_a_ranking_by_both_orders_misses_nothing_where_nothing_is_missing():
    for entrants in of_run(WHOLE):
        for contest in contests(entrants, Conventions(unreadable="tie")):
            assert contest.unread == 0
