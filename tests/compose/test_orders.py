"""Any pair judge asked in both orders: what was said is mapped back, and combined under a named rule."""

import asyncio
from dataclasses import dataclass
from itertools import product

import pytest
from typing_extensions import TypedDict

import judgegraph as jg
from judgegraph.agents.orders import OrderMerge, comparison_back, exchanged
from judgegraph.errors import ConfigError
from judgegraph.testing import scripted
from judgegraph.types import Comparison, Comparisons, Sample, keyed

PAIR = jg.Sample(id="1", query="Q", output="short", rival="rather longer")
VERDICTS = ("A", "B", "tie", None)
BACK = {"A": "B", "B": "A", "tie": "tie", None: None}


class Pair(TypedDict):
    sample: Sample


class Compared(TypedDict):
    comparisons: Comparisons


@dataclass(frozen=True, kw_only=True)
class Longer:
    """Prefers the longer text; with a bias what stands first."""

    biased: bool = False
    name: str = "longer"

    async def __call__(self, state: Pair) -> Compared:
        a, b = (len(str(text)) for text in (state["sample"].output, state["sample"].rival))
        verdict = "A" if self.biased or a > b else "B" if b > a else "tie"
        return {"comparisons": keyed(Comparison(criterion="overall", agent=self.name, verdict=verdict))}


@dataclass(frozen=True, kw_only=True)
class Both(Longer):
    """Asks both orders by itself."""

    async def __call__(self, state: Pair) -> Compared:
        both = (Comparison(criterion="overall", agent=self.name, verdict="A", order=o) for o in ("AB", "BA"))
        return {"comparisons": keyed(*both)}


def judged(node, sample=PAIR):
    run = jg.evaluate(node, [sample])
    return run, {c.order: c.verdict for c in next(iter(run.items)).comparisons if c.agent.endswith("merge")}


def test_a_judge_that_keeps_to_the_texts_says_the_same_in_both_orders_and_a_biased_one_ties():
    run, said = judged(jg.orders(Longer()))
    assert (said, run.summary().consistent, run.summary().both) == ({"AB": "B", "BA": "B", "both": "B"}, 1, 1)
    run, said = judged(jg.orders(Longer(biased=True)))
    assert (said, run.summary().consistent, run.summary().both) == ({"AB": "A", "BA": "B", "both": "tie"}, 0, 1)
    assert next(iter(run.items)).verdict == "tie"


def merged(first, second, combine, **scores):
    """What the merge makes of two verdicts, both by position as the judge said them."""
    runs = {
        order: {"comparisons": keyed(Comparison(
            criterion="overall", agent="j", verdict=verdict, status="ok" if verdict else "unreadable",
            **scores.get(order, {}),
        ))}
        for order, verdict in (("AB", first), ("BA", second))
    }  # fmt: skip
    found = asyncio.run(OrderMerge(combine=combine)({"sample": PAIR, "runs": runs}))
    return found["comparisons"]["overall/orders-merge/both"], found["verdict"]


@pytest.mark.parametrize("combine", ["agree-else-tie", "mean"])
def test_of_every_two_verdicts_the_rule_gives_one_and_none_where_an_order_could_not_be_read(combine):
    points = {"A": 1.0, "B": 0.0, "tie": 0.5}
    for first, second in product(VERDICTS, VERDICTS):
        both, verdict = merged(first, second, combine)
        back = BACK[second]
        if first is None or back is None:
            assert (verdict, both.status) == (None, "unreadable")
        elif combine == "agree-else-tie":
            assert verdict == (first if first == back else "tie")
        else:
            mean = (points[first] + points[back]) / 2
            assert verdict == ("A" if mean > 0.5 else "B" if mean < 0.5 else "tie")


def test_the_mean_is_of_the_scores_where_both_orders_have_them():
    scores = {"AB": {"score_a": 8, "score_b": 6}, "BA": {"score_a": 9, "score_b": 3}}  # of BA its A is the rival
    both, verdict = merged("A", "A", "mean", **scores)
    assert (verdict, both.score_a, both.score_b) == ("B", 5.5, 7.5)
    assert merged("A", "A", "agree-else-tie", **scores)[1] == "tie"


def test_to_exchange_twice_is_to_exchange_not_at_all():
    assert exchanged(exchanged(PAIR)) == PAIR
    one = Comparison(criterion="x", agent="j", verdict="A", score_a=1, score_b=2)
    twice = comparison_back(comparison_back(one))
    assert (twice.verdict, twice.score_a, twice.score_b) == ("A", 1, 2)
    alone = Sample(id="1", output="o")
    assert exchanged(alone) == alone


def test_scores_of_both_orders_stand_side_by_side_under_the_side_that_they_are_of():
    judge = scripted("8 6", "8 6")
    form = jg.judge_form("judgelm", judge=judge, template="{query}\n{A}\n{B}\n", orders="both", combine="mean")
    run = jg.evaluate(form, [PAIR])
    (item,) = run.items
    assert {(s.of, s.repeat): s.value for s in item.scores} == {
        ("output", 0): 8, ("rival", 0): 6, ("rival", 1): 8, ("output", 1): 6,
    }  # fmt: skip
    assert item.verdict == "tie"


def test_a_method_by_its_name_is_asked_in_both_orders_and_the_graph_is_sound():
    node = jg.orders("fennec", judge="embedded", mode="pair", correct="off", branches=2)
    assert not jg.check(node).findings
    run = jg.evaluate(node, [PAIR])
    (item,) = run.items
    assert {c.order for c in item.comparisons if c.agent == "orders-merge"} == {"AB", "BA", "both"}
    assert {c.order for c in item.comparisons if c.agent == "comparer"} == {"AB", "BA"}
    assert "combine:agree-else-tie" in run.signature


def test_a_sample_without_a_rival_is_asked_in_no_order():
    run, said = judged(jg.orders(jg.judge_form("verdict", judge=scripted(), orders="AB")), Sample(id="1", output="o"))
    assert said == {"AB": None}
    assert next(iter(run.items)).verdict is None


def test_what_is_no_pair_judge_or_asks_both_orders_itself_is_refused():
    with pytest.raises(ConfigError, match="a pair judge writes 'comparisons'"):
        jg.orders("llm-score")
    with pytest.raises(ConfigError, match=r"combine: expected '.*' or '.*', got 'vote'"):
        jg.orders(Longer(), combine="vote")
    with pytest.raises(ConfigError, match="asks in both orders by itself"):
        jg.evaluate(jg.orders(Both()), [PAIR])
