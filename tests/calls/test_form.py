"""What a model is asked to return, and how an answer in it is read."""

import pytest
from pydantic import BaseModel

from judgegraph.calls.asking import Form, Incomplete, answer_of, answer_schema, enum_of, ratings_form, record, strict
from judgegraph.errors import ScaleError
from judgegraph.prompts.template import slugs
from judgegraph.types import Criterion, Scale

FIVE, ANY, TONE = Scale.of("1-5"), Scale.of("0-1 any"), Scale.of(["warm", "cold"])
FORM = ratings_form(slugs([Criterion(name="Clarity"), Criterion(name="Tone", scale=TONE)]))
GOOD = {"clarity": {"reason": "r", "score": 4}, "tone": {"reason": "r", "label": "warm"}}


@pytest.mark.parametrize(
    ("scale", "kind"),
    [
        (FIVE, {"type": "integer", "enum": [1, 2, 3, 4, 5]}),
        (Scale.of("0-100"), {"type": "integer", "minimum": 0, "maximum": 100}),
        (ANY, {"type": "number", "minimum": 0, "maximum": 1}),
        (TONE, {"type": "string", "enum": ["warm", "cold"]}),
    ],
)
def test_a_scale_is_a_schema(scale, kind):
    assert answer_schema(scale) == {"anyOf": [kind, {"type": "null"}]}
    assert answer_schema(scale, nullable=False) == kind


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        (4, 4.0),
        (4.5, 4.5),
        ("4", 4.0),
        (" 4.5 ", 4.5),
        ("+4", 4.0),
        ("four", 4.0),
        (" Four ", 4.0),
        ("4/5", 4.0),
        ("4 out of 5", 4.0),
        (None, None),
    ],
)
def test_an_answer_is_a_number_on_the_scale_or_an_abstention(answer, value):
    assert answer_of({"score": answer}, FIVE) == value


@pytest.mark.parametrize(
    "answer",
    [
        0,
        6,
        True,
        "eight",
        "4/10",
        "not 4",
        "4 or 5",
        "80%",
        "1_0",
        "nan",
        "inf",
        "1e1",
        "٤",
        "",
        [4],
        {"score": 4},
        10**400,
        "9" * 5000,
    ],
)
def test_anything_else_is_refused(answer):
    with pytest.raises(ScaleError):
        answer_of({"score": answer}, FIVE)


@pytest.mark.parametrize("entry", [None, 4, [], {}, {"label": "warm"}, {"Score": 4}])
def test_an_entry_without_its_answer_is_refused(entry):
    with pytest.raises(ValueError, match="score"):
        answer_of(entry, FIVE)


def test_reasons_stand_before_scores_and_all_is_required():
    clarity = FORM.schema["properties"]["clarity"]
    assert list(clarity["properties"]) == clarity["required"] == ["reason", "score"]
    assert (clarity["title"], clarity["additionalProperties"]) == ("Clarity", False)


@pytest.mark.parametrize(
    ("data", "read"),
    [
        ({**GOOD, "clarity": {"reason": "r", "score": 9}}, ["tone"]),
        ({"clarity": GOOD["clarity"]}, ["clarity"]),
        ({**GOOD, "tone": {"label": "lukewarm"}}, ["clarity"]),
        ([], []),
        (None, []),
    ],
)
def test_what_can_be_read_is_kept_and_the_rest_named(data, read):
    with pytest.raises(Incomplete) as caught:
        FORM.read(data)
    assert (list(caught.value.value), caught.value.got) == (read, len(read))


def test_surplus_entries_are_left_out():
    assert FORM.read({**GOOD, "extra": 1}) == GOOD


class Inner(BaseModel):
    default: int = 3
    properties: str = "p"


class Outer(BaseModel):
    inner: Inner
    note: str | None = None


def test_a_pydantic_class_becomes_a_strict_schema_whatever_its_fields_are_called():
    schema = Form.of(Outer).schema
    assert schema["required"] == ["inner", "note"]
    inner = schema["$defs"]["Inner"]
    assert (inner["required"], list(inner["properties"])) == (["default", "properties"],) * 2
    assert inner["properties"]["default"] == {"type": "integer", "title": "Default"}
    assert "required" not in inner["properties"]


def test_the_form_of_a_generic_class_has_a_name_that_servers_take():
    from typing import Generic, TypeVar

    T = TypeVar("T")

    class Box(BaseModel, Generic[T]):
        held: T

    assert Form.of(Box[int]).name == "Box_int_"


def test_a_pydantic_complaint_says_where_and_quotes_no_input():
    with pytest.raises(ValueError, match=r"inner\.default") as caught:
        Form.of(Outer).read({"inner": {"default": "SECRET", "properties": "p"}})
    assert "SECRET" not in str(caught.value)


def test_small_schemas():
    assert enum_of([]) == {"type": "string"}
    assert enum_of(x for x in "ab") == {"type": "string", "enum": ["a", "b"]}
    assert record({"a": {}}, title="t")["required"] == ["a"]
    assert strict([{"default": 1, "type": "integer"}]) == [{"type": "integer"}]


@pytest.mark.parametrize(
    "beside",
    [
        {"out_of": 10}, {"max_score": 100}, {"final_score": 2}, {"error": "could not read it"}, {"scale": "1-10"},
        {"error": "timeout"}, {"refusal": True}, {"refused": True}, {"status": "error"}, {"scale": 10},
        {"reason": "Unable to evaluate, no text was provided."}, {"reason": "The text could not be evaluated."},
        {"reason": "Cannot be rated; default 4."},
        {"reason": "I cannot rate this; 4 is a placeholder."}, {"reason": "I refuse to rate this text."},
    ],
)  # fmt: skip
def test_what_stands_beside_a_score_and_gainsays_it_makes_it_unreadable(beside):
    scale = Scale.of("1-5")
    fine = {
        "reason": "I cannot rate it higher.",
        "out_of": 5,
        "final_score": 4,
        "scale": "1-5",
        "error": None,
        "refusal": False,
        "status": "ok",
        "errors": ["a typo"],
    }
    assert answer_of({"score": 4, **fine}, scale) == 4
    with pytest.raises(ValueError, match=r"out of|two scores|beside|on a scale"):
        answer_of({"score": 4, "reason": "fine", **beside}, scale)
