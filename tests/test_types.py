"""The values that travel: what they refuse, and that they come back from JSON as they went."""

import datetime
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from judgegraph.errors import ScaleError, ValueRefused
from judgegraph.types import (
    Comparison,
    Correction,
    Criterion,
    Finding,
    Note,
    Plan,
    Rectification,
    Sample,
    Scale,
    Score,
    Suggestion,
    joined,
    key_of,
    keyed,
    merged,
    text_of,
)

FIVE = Scale(low=1, high=5)
LABELS = Scale(labels=("Formal", "Casual"))


@pytest.mark.parametrize(
    "value",
    [
        Sample(id="s", query="q", source={"a": [1, "ü"]}, output=[{"x": None}], rival="r", human={"c": [1.0, "x"]}),
        Score(
            criterion="c", agent="a", value=3.5, scale=FIVE, distribution={"3": 0.5, "4": 0.5}, unseen=0.1, notes=("n",)
        ),
        Score(criterion="c", agent="a", label="Formal", scale=LABELS, of="rival", repeat=2),
        Score(criterion="c", agent="a", status="unreadable", reason="?", raw="text"),
        Criterion(name="c", definition="d", steps=("1", "2"), scale=Scale.of("0-1 any"), guideline="g"),
        Rectification(criterion="c", agent="a", action="change", direction="up", value=4.0),
        Suggestion(kind="criterion", criterion="c", definition="d"),
        Plan(text="t", alignment={"c": ("a", "b")}, usage={"a": "u"}),
        Finding(assistant="a", value=0.5),
        Comparison(criterion="c", agent="a", verdict="tie", score_a=1.0, score_b=1.0, order="both"),
        Correction(text="t", original="o", criteria=("c",)),
        Note(agent="a", text="t", status="timeout"),
    ],
    ids=lambda v: type(v).__name__,
)
def test_a_value_comes_back_from_json_as_it_went(value):
    assert type(value).model_validate_json(value.model_dump_json()) == value
    assert type(value).model_validate_json(value.model_dump_json(exclude_defaults=True)) == value


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"value": 3.0, "label": "Formal"},
        {"value": 3.0, "status": "abstained"},
        {"label": "x", "status": "refused"},
        {"value": float("nan")},
        {"value": float("inf")},
        {"value": 3.0, "status": "fine"},
        {"value": 3.0, "repeat": -1},
        {"value": 3.0, "unseen": 1.1},
        {"value": 3.0, "distribution": {"3": float("nan")}},
        {"value": 3.0, "cost": 0},
    ],
    ids=lambda f: str(f)[:60],
)
def test_a_score_that_contradicts_itself_is_refused(fields):
    with pytest.raises(ValueRefused):
        Score(criterion="c", agent="a", **fields)


def test_values_are_frozen():
    score = Score(criterion="c", agent="a", value=1.0)
    with pytest.raises(ValidationError):
        score.value = 5.0


PARTS = st.text(alphabet="/%2F5a", max_size=6)


@given(st.lists(PARTS, min_size=2, max_size=4), st.lists(PARTS, min_size=2, max_size=4))
def test_keys_collide_only_where_their_parts_are_equal(one, two):
    assert (key_of(*one) == key_of(*two)) is (one == two)


@given(PARTS, PARTS, PARTS, PARTS)
def test_scores_of_different_criteria_agents_or_outputs_never_share_a_key(criterion, agent, other, stage):
    def key(c, a, **more):
        return Score(criterion=c, agent=a, value=1.0, **more).key

    assert (key(criterion, agent) == key(agent, criterion)) is (criterion == agent)
    assert key(criterion, agent) != key(criterion, agent, of="rival")
    assert (key(criterion, agent, stage=stage) == key(criterion, agent, stage=other)) is (stage == other)


def test_a_key_is_criterion_agent_stage_repeat():
    assert Score(criterion="a/b", agent="x", value=1.0, stage="draft", repeat=3).key == "a%2Fb/x/draft/3"


@pytest.mark.parametrize(
    ("given", "low", "high", "whole", "shown"),
    [
        ("1-5", 1, 5, True, "1-5"),
        (" 0 - 100 ", 0, 100, True, "0-100"),
        ("1–5", 1, 5, True, "1-5"),
        ("0..1", 0, 1, True, "0-1"),
        ("1 to 7", 1, 7, True, "1-7"),
        ("-2--1", -2, -1, True, "-2--1"),
        ("-1-1", -1, 1, True, "-1-1"),
        ("0-1 any", 0, 1, False, "0-1 any"),
        ("0.5-1.5", 0.5, 1.5, False, "0.5-1.5 any"),
        ({"low": 1, "high": 3}, 1, 3, True, "1-3"),
        (FIVE, 1, 5, True, "1-5"),
    ],
    ids=str,
)
def test_a_range_is_written_in_many_ways(given, low, high, whole, shown):
    scale = Scale.of(given)
    assert (scale.low, scale.high, scale.whole, str(scale)) == (low, high, whole, shown)
    assert Scale.of(str(scale)) == scale


def test_a_list_is_a_scale_of_labels():
    assert (Scale.of(["Formal", "Casual"]), str(LABELS), LABELS.points) == (LABELS, "Formal / Casual", ())


@pytest.mark.parametrize(
    "given",
    [
        "5-1", "1-1", "high", "1-5-9", "", "1-inf", ["one"], [], ["a", "a"], ["Good", "good"], ["", "x"], [" a", "b"],
        [1, 2], {"low": 1}, {"low": 1, "high": 5, "labels": ["a", "b"]}, {"low": 0.5, "high": 2, "whole": True},
        {"low": 1, "high": float("inf")}, {"low": 1, "high": 5, "step": 1}, "0-1000000000", "1-" + "9" * 400, 5, None,
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_scale_is_refused(given):
    with pytest.raises(ValueRefused):
        Scale.of(given)


@pytest.mark.parametrize("value", [0, 5.01, -1, True, "4", None, float("nan"), float("inf"), 10**400, -(10**400), [4]])
def test_what_is_not_on_a_scale_is_a_scale_error(value):
    with pytest.raises(ScaleError):
        FIVE.check(value)


@pytest.mark.parametrize("value", [1, 5, 4.5, 1.0])
def test_what_lies_on_a_scale_is_a_float(value):
    assert FIVE.check(value) == value
    assert isinstance(FIVE.check(value), float)


def test_a_label_scale_refuses_numbers():
    with pytest.raises(ScaleError):
        LABELS.check(1)


def test_a_numeric_scale_refuses_labels():
    with pytest.raises(ScaleError):
        FIVE.check_label("Formal")


@pytest.mark.parametrize("label", ["formal", " FORMAL ", "Formal"])
def test_a_label_is_spelt_as_its_scale_spells_it(label):
    assert LABELS.check_label(label) == "Formal"


@pytest.mark.parametrize("label", ["form", "", None, 1, "Formal/Casual"])
def test_none_of_the_labels_is_a_scale_error(label):
    with pytest.raises(ScaleError):
        LABELS.check_label(label)


def test_unknown_fields_of_a_row_go_to_meta_and_never_to_a_score():
    row = {"id": "1", "output": "o", "score": 5, "status": "ok", "cost": 0, "meta": {"a": 1, "score": 0}}
    assert Sample.of_row(row).meta == {"a": 1, "score": 5, "status": "ok", "cost": 0}


@pytest.mark.parametrize(("given", "meta"), [(None, {}), ("text", {"meta": "text"}), ([1], {"meta": [1]})])
def test_a_meta_that_is_no_mapping_is_kept_under_its_name(given, meta):
    assert Sample.of_row({"id": "1", "output": "o", "meta": given}).meta == meta


def test_empty_cells_of_a_row_are_blank():
    sample = Sample.of_row({"id": "1", "output": "o", "query": None, "source": None, "rival": None, "human": None})
    assert (sample.query, sample.source, sample.rival, sample.human) == ("", "", None, {})


def deep(levels):
    value = {}
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    "fields",
    [
        {"id": ""}, {"output": None}, {"output": 5}, {"output": []}, {"output": ["text"]},
        {"output": {"a": float("nan")}},
        {"output": {"when": datetime.date(2024, 1, 1)}}, {"output": deep(100_000)}, {"output": "\ud800"},
        {"query": "\ud800"}, {"source": {"a": "\udfff"}}, {"human": {"c": float("inf")}}, {"extra": 1},
    ],
    ids=lambda f: next(iter(f)),
)  # fmt: skip
def test_a_sample_that_could_not_be_judged_or_written_is_refused(fields):
    with pytest.raises(ValueRefused):
        Sample(**{"id": "s", "output": "o", **fields})


@given(
    st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5) | st.booleans() | st.none(), max_size=4)
)
def test_json_is_written_stably_and_reads_back(value):
    assert json.loads(text_of(value)) == value
    assert text_of(value) == text_of(dict(value))


def test_a_newer_value_wins_where_branches_meet():
    one, two = Note(agent="a", text="t"), Note(agent="a", text="t", status="timeout")
    assert merged(keyed(one), keyed(two)) == {"a/t": two}
    assert merged(None, None) == {}


def advice(criterion="c", definition="d", agent="a", kind="definition", reason=""):
    return Suggestion(kind=kind, criterion=criterion, definition=definition, agent=agent, reason=reason)


@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        (None, [advice()], [advice()]),
        ([advice()], [advice()], [advice()]),
        ([advice()], [advice(agent="b")], [advice(), advice(agent="b")]),
        ([advice("x"), advice("y")], [advice("z"), advice("x")], [advice("x"), advice("y"), advice("z")]),
        ([advice()], [advice(kind="criterion")], [advice(), advice(kind="criterion")]),
        ([advice()], [advice(definition="e")], [advice(), advice(definition="e")]),
        ([advice(reason="old")], [advice(reason="new")], [advice(reason="new")]),
        ([], [], []),
    ],
)  # fmt: skip
def test_suggestions_are_joined_and_the_same_advice_stands_once(old, new, kept):
    assert joined(old, new) == kept
