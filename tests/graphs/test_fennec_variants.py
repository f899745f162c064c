"""Fennec's rows: how many branches, alone, side by side, in both orders, apart, by votes."""

import pytest
from drawing import arrows
from test_fennec import NAMES, ONE, PAIR, Cast

import judgegraph as jg
from judgegraph.errors import ConfigError
from judgegraph.graphs import fennec
from judgegraph.registry import VARIANTS, factory
from judgegraph.runs.identity import configuration, signature
from judgegraph.types import Criterion, Sample

ROWS = [name for name, variant in VARIANTS.items() if variant.method == "fennec"]
GIVEN = [Criterion(name=name, guideline=f"how to grade {name}") for name in ("Truth", "Depth")]
LONG = "The sky is blue because air scatters short waves of sunlight more than long ones."
SHORT = "It is blue because it reflects the sea, as everybody knows, and that is all there is."


def written(cast):
    return [str(call[1].content) for call in cast.model.calls]


def judged(cast):
    return [text for text in written(cast) if "<output-" in text or "<response_a-" in text]


async def test_a_row_of_branches_asks_for_so_many_criteria_and_changes_nothing_else():
    asked = {}
    for count in (1, 2, 3, 4, 5, 10):
        names = [f"C{i}" for i in range(count)]
        cast = Cast(dict.fromkeys(names, 4), names)
        await cast(ONE, factory(f"fennec-{count}")(cast.model))
        assert cast.steps.count("judge") == cast.steps.count("guide") == count
        asked[count] = written(cast)
    first = {asked[count][0].replace(f"Write the {count} ", "Write the N ") for count in asked}
    assert len(first) == 1
    assert set(asked[1]) - {asked[1][0]} <= set(asked[10])  # a criterion is judged alike, however many there are


def test_five_branches_are_fennec_as_it_is():
    assert configuration(factory("fennec-5")()) == configuration(fennec())


async def test_single_scores_the_output_alone_also_beside_a_rival():
    cast = Cast(dict.fromkeys(NAMES, 4))
    state = await cast(PAIR, factory("fennec-single")(cast.model))
    assert not any("text of b" in text for text in written(cast))
    assert (state["verdict"], state["overall"], cast.steps.count("judge")) == (None, 4, 5)


@pytest.mark.parametrize("name", ["fennec-pair", "fennec-both", "fennec-votes", "fennec-apart"])
async def test_without_a_rival_a_row_of_pairs_judges_nothing_and_says_so(name):
    cast = Cast({})
    state = await cast(ONE, factory(name)(cast.model))
    assert cast.steps == []
    (total,) = state["comparisons"].values()
    assert (total.status, total.reason, state["verdict"]) == ("skipped", "the sample has no rival", None)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"mode": "apart", "orders": "both"}, "orders: 'both' would do nothing, as mode: 'apart'"),
        ({"mode": "apart", "orders": "BA"}, "orders: 'BA' would do nothing"),
        ({"mode": "apart", "labels": "response", "orders": "BA"}, "orders: 'BA' and labels: 'response' would"),
        ({"mode": "single", "labels": "response"}, "labels: 'response' would do nothing, as mode: 'single'"),
        ({"mode": "single", "merge": "votes"}, "merge: 'votes' would do nothing, as mode: 'single' compares nothing"),
    ],
    ids=str,
)
def test_settings_that_would_do_nothing_are_refused(settings, said):
    with pytest.raises(ConfigError, match=f"^fennec: {said}"):
        fennec(**settings)


def test_a_rows_own_settings_count_among_those_that_would_do_nothing():
    with pytest.raises(ConfigError, match="orders: 'both' and labels: 'response' would do nothing, as mode: 'apart'"):
        factory("fennec-both")(mode="apart")
    assert factory("fennec-both")(mode="apart", orders="AB", labels="position")
    assert factory("fennec-votes")(mode="apart")  # votes of the criteria, each response scored alone


async def test_both_orders_are_those_of_the_pair_and_its_exchange():
    cast, one = (Cast(dict.fromkeys(NAMES, (4, 2))) for _ in range(2))
    state = await cast(PAIR, factory("fennec-both")(cast.model))
    await one(PAIR, factory("fennec-pair")(one.model))
    assert set(judged(one)) < set(judged(cast))
    assert len(judged(cast)) == 2 * len(judged(one)) == 10
    orders = [c.order for c in state["comparisons"].values() if c.criterion == "overall"]
    assert orders == ["AB", "BA", "both"]


async def test_votes_ask_the_same_and_count_verdicts():
    scores = {"Truth": (3, 2), "Depth": (3, 2), "Tone": (1, 5)}
    casts = [Cast(scores, list(scores)) for _ in range(2)]
    by = [await c(PAIR, factory(n)(c.model)) for c, n in zip(casts, ("fennec-pair", "fennec-votes"), strict=True)]
    assert [state["verdict"] for state in by] == ["B", "A"]
    assert sorted(judged(casts[0])) == sorted(judged(casts[1]))


class Apart(Cast):
    """Scores a response by its text, whichever sample it stands in."""

    def __init__(self, by_text, names=("Truth", "Depth"), **replies):
        super().__init__({}, names, **replies)
        self.by_text = by_text

    def answer(self, messages):
        text = str(messages[1].content)
        if not self.step(text).startswith("judge"):
            return super().answer(messages)
        self.steps.append("judge")
        found = [value for key, value in self.by_text.items() if key in text]
        assert len(found) == 1, "one response is in view"
        return self.scored(found[0])


async def test_apart_each_response_is_scored_alone_and_the_sums_decide():
    cast = Apart({"text of a": 3, "text of b": 5})
    state = await cast(PAIR, factory("fennec-apart")(cast.model))
    total = state["comparisons"]["overall/merge/AB"]
    assert (total.score_a, total.score_b, state["verdict"], state["overall"]) == (6, 10, "B", 3)
    assert sorted(cast.steps) == ["branch", "guide", "guide", *["judge"] * 4]
    assert {key: s.value for key, s in state["scores"].items()} == {
        "Truth/judge/final/0": 3, "Truth/judge/final/0/rival": 5,
        "Depth/judge/final/0": 3, "Depth/judge/final/0/rival": 5,
    }  # fmt: skip
    assert [c.verdict for key, c in state["comparisons"].items() if "/judge/" in key] == ["B", "B"]


async def test_apart_asks_what_single_asks_of_each_response():
    cast = Apart({"text of a": 3, "text of b": 5})
    await cast(PAIR, factory("fennec-apart")(cast.model))
    alone = []
    for text in ("text of a", "text of b"):
        single = Apart({"text of a": 3, "text of b": 5})
        await single(ONE.model_copy(update={"output": text}), factory("fennec-single")(single.model))
        alone += judged(single)
    assert sorted(judged(cast)) == sorted(alone)


async def test_apart_each_low_response_is_corrected():
    cast = Apart({"text of a": 4, "text of b": 1}, names=("Truth",))
    state = await cast(PAIR, factory("fennec-apart")(cast.model))
    assert {of: c.original for of, c in state["corrections"].items()} == {"rival": "text of b"}


async def test_apart_a_side_that_cannot_be_read_loses_no_other():
    cast = Apart({"text of a": 3, "text of b": "nonsense"})
    state = await cast(PAIR, factory("fennec-apart")(cast.model))
    assert (state["verdict"], state["comparisons"]["overall/merge/AB"].status) == (None, "unreadable")
    assert state["scores"]["Truth/judge/final/0"].value == 3


def test_a_response_that_stands_in_many_pairs_is_scored_once():
    texts = [f"{LONG} {i}" for i in range(3)]
    pairs = [
        Sample(id=f"{a}{b}", query="Why is the sky blue?", output=texts[a], rival=texts[b])
        for a in range(3) for b in range(3) if a != b
    ]  # fmt: skip
    run = jg.evaluate(fennec(mode="apart", criteria=GIVEN, correct="off"), pairs)
    assert run.manifest["calls"]["replies"] == len(texts) * len(GIVEN)


def test_the_inner_figure_of_apart():
    drawn = fennec(mode="apart").get_graph(xray=True)
    inside = {e.source + ">" + e.target for e in drawn.edges if e.source == "weigh:guide"}
    assert inside == {"weigh:guide>weigh:judge", "weigh:guide>weigh:judge_rival"}
    assert arrows(fennec(mode="apart")) == arrows(fennec())


@pytest.mark.parametrize("name", ROWS)
async def test_each_row_is_wired_and_answers_without_a_key(name):
    graph = factory(name)()
    found = jg.check(graph)
    assert (found.ok, list(found.findings)) == (True, [])
    state = await graph.ainvoke({"sample": Sample(id="s", query="Why is the sky blue?", output=LONG, rival=SHORT)})
    answered = state["overall"] if name == "fennec-single" else state["verdict"]
    assert answered is not None


@pytest.mark.parametrize("name", ROWS)
def test_a_row_is_the_method_with_its_settings_and_no_other(name):
    by_name, by_hand = factory(name)(), fennec(**VARIANTS[name].settings)
    assert (configuration(by_name), signature(by_name)) == (configuration(by_hand), signature(by_hand))
    assert name == "fennec-5" or configuration(by_name) != configuration(fennec())


@pytest.mark.parametrize("name", ["fennec-1", "fennec-both", "fennec-apart"])
def test_a_plan_of_a_row_holds(name):
    samples = [Sample(id=i, query="Why is the sky blue?", output=LONG, rival=SHORT + i) for i in "12"]
    forecast, run = jg.plan(factory(name)(), samples), jg.evaluate(factory(name)(), samples)
    lowest, _, highest = forecast.total.rest
    made = run.manifest["calls"]["replies"]
    assert forecast.total.exact + lowest <= made <= forecast.total.exact + highest
    assert forecast.own_code == ()
