"""Samples among each other, and what each node took: by items and spans, also where samples were taken up again."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from small import samples

import judgegraph as jg
from judgegraph.answers import doubt
from judgegraph.graphs import sageval
from judgegraph.runs.item import Item
from judgegraph.runs.run import Run
from judgegraph.traces.read import (
    ORDERS,
    node_times,
    ranked_sample,
    ranked_samples,
    ranked_traces,
    top,
    tops,
    traces_in,
    within,
)
from judgegraph.types import Comparison, Sample, Scale, Score

FIVE, LABELS = Scale(low=1, high=5), Scale(labels=("bad", "fair", "good"))
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def score(value: float | str | None, criterion: str = "Clarity", **fields: Any) -> Score:
    answer = {"label": value, "scale": LABELS} if isinstance(value, str) else {"value": value, "scale": FIVE}
    return Score(**{"criterion": criterion, "agent": "a", **answer, **fields})


def moved(draft: float | str, final: float | str, criterion: str = "Clarity") -> tuple[Score, Score]:
    one = score(draft, criterion, stage="draft")
    return one, score(final, criterion, draft=one.key)


def item(*scores: Score, id: str = "s", **fields: Any) -> Item:
    return Item(sample=Sample(id=id, output="t"), scores=scores, **fields)


CHANGES = [
    (moved(4, 2), 0.5, "Clarity"),
    (moved(3, 3), 0.0, None),
    ((*moved(3, 3), *moved(5, 4, "Depth")), 0.25, "Depth"),
    (moved("good", "bad"), 1.0, "Clarity"),
    (moved("good", "good"), 0.0, None),
    ((score(3),), None, None),
    ((score(3, stage="draft"),), None, None),
    ((), None, None),
]


@pytest.mark.parametrize(("scores", "change", "criterion"), CHANGES)
def test_change_is_the_most_that_any_score_moved(scores, change, criterion):
    one = ranked_sample(item(*scores))
    assert (one.change, one.changed_criterion) == (change, criterion)


def test_the_score_that_moved_most_is_told_with_both_answers():
    one = ranked_sample(item(*moved(4, 3, "Depth"), *moved(4, 2)))
    assert (one.changed_from, one.changed_to) == (4, 2)


VALUES = [
    ((score(1), score(5, "Depth")), 0.5),
    ((score(5), score("good", "Tone")), 1.0),
    ((score(4), score(2, of="rival")), 0.75),
    ((score(4, stage="draft"),), 0.75),  # of a graph without a critic, or whose gate stayed closed
    ((score("good"),), None),
    ((Score(criterion="c", agent="a", value=7.0),), None),
]


@pytest.mark.parametrize(("scores", "value"), VALUES)
def test_value_is_the_mean_of_final_numbers_on_their_scales(scores, value):
    assert ranked_sample(item(*scores)).value == value


DOUBTS = [
    (score(3, distribution={"3": 1.0}), 0.0),
    (score(3, distribution={"1": 0.5, "5": 0.5}), 1.0),
    (score(3, distribution={"2": 0.5, "4": 0.5}), 0.5),
    (score(3, distribution={"3": 2.0, "5": 0.0}), 0.0),
    (score("good", distribution={"good": 1.0}), 0.0),
    (score("good", distribution={"good": 1 / 3, "bad": 1 / 3, "fair": 1 / 3}), 1.0),
    (score("good", distribution={"good": 0.5, "bad": 0.5}), 0.75),
    (score("good", distribution={"good": 0.8, "bad": 0.1, "fair": 0.1}), 0.3),
    (score("good", distribution={"good": 0.8, "bad": 0.2}), 0.3),
    (score("a", scale=Scale(labels=("a", "b")), distribution={"a": 0.5, "b": 0.5}), 1.0),
    (score("a", scale=None, distribution={"a": 3.0, "b": 1.0}), 0.5),
    (score("a", scale=None, distribution={"a": 3.0}), 0.0),
    (Score(criterion="c", agent="a", value=7.0, distribution={"7": 0.5, "1": 0.5}), None),
    (score(3), None),
    (score(3, distribution={}), None),
    (score(3, distribution={"many": 1.0}), None),
    (Score(criterion="c", agent="a", status="unreadable", distribution={"1": 1.0}), None),
]


@pytest.mark.parametrize(("one", "expected"), DOUBTS)
def test_doubt_is_how_wide_a_distribution_is(one, expected):
    found = doubt(one)
    assert found == (expected if expected is None else pytest.approx(expected, abs=1e-9))


@pytest.mark.parametrize("top", [0.7, 0.8, 0.9, 0.95])
def test_doubt_of_two_labels_and_of_two_neighbours_on_a_scale_are_of_a_size(top):
    """Of a label and a number that are as sure of themselves neither alone fills a list of the most uncertain."""
    labels = doubt(score("bad", distribution={"bad": top, "good": 1 - top}))
    numbers = doubt(score(4, distribution={"4": top, "3": 1 - top}))
    assert 1 / 2 < labels / numbers < 2


ITEMS = [
    item(*moved(4, 2), id="moved", place=0, ms=5.0),
    item(*moved(5, 5), id="kept", place=1, ms=50.0),
    item(score(1), id="low", place=2, ms=9.0),
    item(score(5, distribution={"1": 0.5, "5": 0.5}), id="doubted", place=3, ms=7.0),
    item(id="failed", place=4, ms=1.0, status="timeout", reason="late"),
]
FIRST = [
    ("score", ["low", "moved", "kept", "doubted", "failed"]),
    ("change", ["moved", "kept", "low", "doubted", "failed"]),
    ("doubt", ["doubted", "moved", "kept", "low", "failed"]),
    ("cost", ["moved", "kept", "low", "doubted", "failed"]),
    ("time", ["kept", "low", "doubted", "moved", "failed"]),
    ("failures", ["failed", "moved", "kept", "low", "doubted"]),
]


@pytest.mark.parametrize(("order", "expected"), FIRST)
def test_an_order_has_what_it_asks_for_first_and_what_lacks_it_last(order, expected):
    run = Run({}, ITEMS)
    assert [one.id for one in top(run, order, 10)] == expected
    assert [one.id for one in top(run, order, 2)] == expected[:2]
    assert [one.id for one in tops(run, {order: 1, "time": 1})[order]] == expected[:1]
    assert top(run, order, 0) == []


def test_of_many_samples_the_first_are_the_same_as_of_all():
    many = [item(score(1 + (n * 37 % 400) / 100), id=f"s{n}", place=n) for n in range(500)]
    found = [one.value for one in top(Run({}, many), "score", 7)]
    assert found == sorted(ranked_sample(one).value for one in many)[:7]


def test_only_samples_of_a_status_and_scores_of_a_criterion():
    run = Run({}, [*ITEMS, item(score(2, "Depth"), *moved(1, 5), id="two", place=5)])
    assert [one.id for one in ranked_samples(run, status="timeout")] == ["failed"]
    (depth,) = ranked_samples(run, criterion="Depth")
    assert (depth.id, depth.value, depth.change) == ("two", 0.25, None)


def test_a_pair_stands_with_its_verdict():
    pair = Comparison(criterion="overall", agent="m", verdict="B", order="both")
    assert ranked_sample(item(comparisons=(pair,), verdict="B")).verdict == "B"


def test_without_spans_nothing_is_known_of_calls(tmp_path: Path):
    run = jg.evaluate(sageval(criteria="forms"), given(1), out=tmp_path / "run", trace=False)
    (one,) = ranked_samples(run)
    assert (one.calls, one.paid, one.tokens, one.usd, one.unpriced) == (None, None, None, None, 0)
    assert node_times(run) == {}


def given(count: int) -> list[Sample]:
    return list(jg.load(EXAMPLES / "forms.jsonl"))[:count]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return jg.evaluate(sageval(criteria="forms"), given(3), out=tmp_path_factory.mktemp("one") / "run")


def test_calls_tokens_and_money_are_those_of_the_manifest(run: Run):
    told, counted = run.manifest["calls"], list(ranked_samples(run))
    assert sum(one.calls for one in counted) == told["replies"] == 6
    assert sum(one.tokens for one in counted) == told["prompt_tokens"] + told["completion_tokens"]
    assert sum(one.usd for one in counted) == run.manifest["spent"]["usd"]
    assert {*ORDERS} >= {"score", "change", "doubt", "cost", "time", "failures"}


def test_a_node_is_told_with_its_visits_times_and_calls(run: Run):
    times = node_times(run)
    assert list(times) == ["evaluate", "critique", "rectify"]
    assert [one.visits for one in times.values()] == [3, 3, 3]
    assert [one.calls for one in times.values()] == [3, 3, 0]
    for one in times.values():
        assert 0 < one.median <= one.slowest * 1.025
        assert one.slowest <= one.ms <= 3 * one.slowest
    assert within(times, "").prompt_tokens == run.manifest["calls"]["prompt_tokens"]


def journey(id: str, *spans: list[Any], kept: bool = True) -> str:
    head = [0, None, "graph", "g", 0.0, 9.0, "ok", {}]
    told = {"id": id, "t": 1.0, "spans": [head, *spans]}
    return json.dumps(told if kept else told | {"kept": False}, separators=(",", ":"))


def node(number: int, ms: float, name: str = "judge", parent: int = 0, status: str = "ok") -> list[Any]:
    return [number, parent, "node", name, 0.0, ms, status, {}]


def call(number: int, parent: int, usd: float | None = 0.5, source: str = "paid") -> list[Any]:
    paid = {"requests": 2, "prompt_tokens": 10, "completion_tokens": 5, "usd": usd} if source == "paid" else {}
    return [number, parent, "model", "m", 0.0, 1.0, "ok", {"from": source, **paid}]


def written(folder: Path, *lines: str) -> Run:
    folder.mkdir()
    (folder / "manifest.json").write_text('{"judgegraph": "0", "state": "finished", "signature": "g"}')
    (folder / "spans.jsonl").write_text("".join(f"{one}\n" for one in lines))
    ids = dict.fromkeys(found[1] for one in lines if (found := re.match('{"id":"(.*?)"', one)))
    items = [Item(sample=Sample(id=id, output="t")) for id in ids]
    (folder / "items.jsonl").write_text("".join(f"{one.line()}\n" for one in items))
    return Run.load(folder)


RETAKEN = [
    (journey("a", node(1, 4), call(2, 1)), journey("a", node(1, 7), call(2, 1)), 7),
    (journey("a", node(1, 4), call(2, 1)), journey("a", node(1, 7), call(2, 1), kept=False), 4),
    (journey("a", node(1, 4), call(2, 1), kept=False), journey("a", node(1, 7), call(2, 1), kept=False), 7),
    (journey("a", node(1, 4), call(2, 1), kept=False), journey("a", node(1, 7), call(2, 1)), 7),
]


@pytest.mark.parametrize(("first", "second", "stands"), RETAKEN)
def test_of_a_retaken_sample_one_journey_stands_and_all_were_paid(first, second, stands, tmp_path: Path):
    run = written(tmp_path / "run", first, journey("b", node(1, 1), call(2, 1, source="ledger")), second)
    judge = node_times(run)["judge"]
    assert (judge.visits, judge.ms, judge.calls, judge.paid, judge.found) == (2, stands + 1, 3, 2, 1)
    assert (judge.usd, judge.requests, judge.prompt_tokens) == (1.0, 4, 20)
    both = {one.id: (one.calls, one.paid, one.usd) for one in ranked_samples(run)}
    assert both == {"a": (2, 2, 1.0), "b": (1, 0, 0.0)}
    assert (run.trace("a").root.steps[0].ms, run.trace("a").attempts) == (stands, 2)


def test_a_damaged_line_neither_stands_nor_hides_another(tmp_path: Path):
    whole = journey("a", node(1, 4))
    run = written(tmp_path / "run", whole, '{"id":"a","t":1,"spans":[[0', whole.replace("node", "none"), "[]")
    assert node_times(run)["judge"].visits == 1
    assert run.trace("a").attempts == 1


def test_what_has_no_price_is_counted_and_no_zero(tmp_path: Path):
    run = written(tmp_path / "run", journey("a", node(1, 4), call(2, 1, None)),
                  journey("b", node(1, 4), call(2, 1, None), call(3, 1)))  # fmt: skip
    assert {one.id: (one.usd, one.unpriced) for one in ranked_samples(run)} == {"a": (None, 1), "b": (0.5, 1)}
    assert (node_times(run)["judge"].usd, node_times(run)["judge"].unpriced) == (0.5, 2)


def test_what_nodes_within_asked_for_is_theirs_and_can_be_added_up(tmp_path: Path):
    inner = [node(1, 9, "weigh"), node(2, 4, "judge", 1), call(3, 2), call(4, 1), call(5, 0)]
    times = node_times(written(tmp_path / "run", journey("a", *inner)))
    assert {place: one.calls for place, one in times.items()} == {"weigh": 1, "weigh/judge": 1, "": 1}
    assert [within(times, place).calls for place in ("weigh", "weigh/judge", "", "none")] == [2, 1, 3, 0]
    assert (within(times, "weigh").visits, within(times, "weigh").ms) == (1, 9)


def test_the_median_of_many_visits_is_near_the_true_one(tmp_path: Path):
    lines = [journey(f"s{n}", node(1, 10 + n)) for n in range(201)]
    assert node_times(written(tmp_path / "run", *lines))["judge"].median == pytest.approx(110, rel=0.026)


def test_failures_of_visits_and_of_calls_are_told_apart(tmp_path: Path):
    broken = [*call(2, 1, source="joined")[:6], "provider_error", {"from": "joined"}]
    run = written(tmp_path / "run", journey("a", node(1, 4, status="agent_error"), broken))
    judge = node_times(run)["judge"]
    assert (judge.failures, judge.failed_calls, judge.found) == (1, 1, 0)


def test_a_folder_without_a_manifest_is_read_by_its_journeys(tmp_path: Path):
    written(tmp_path / "run", journey("a", node(1, 4), call(2, 1)), journey("b", node(1, 5)), journey("a"))
    (tmp_path / "run/manifest.json").unlink()
    assert [(one.id, one.place, one.calls) for one in ranked_traces(tmp_path / "run")] == [
        ("a", 1, 1),
        ("b", 2, 0),
        ("a", 3, 0),
    ]
    assert [one.number for one in traces_in(tmp_path / "run", "a")] == [1, 3]
    assert "node judge  4.0 ms" in str(next(traces_in(tmp_path / "run")))
    with pytest.raises(jg.errors.DataError, match="holds no trace"):
        next(traces_in(tmp_path))


def test_more_samples_than_memory_is_given_to_are_still_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("judgegraph.data.samples.IN_MEMORY", 3)
    lines = [journey(one.id, node(1, 1)) for one in [*samples(20), *samples(20)]]
    run = written(tmp_path / "run", *lines)
    assert node_times(run)["judge"].visits == 20
    assert len(list(ranked_samples(run))) == 20
