"""Assistants that read a form's structure: each sees the defect that was planted for it, and no other form's."""

import json
from pathlib import Path

import pytest

import judgegraph as jg
from judgegraph.tools import Unmeasurable, assistant, measure
from judgegraph.tools.form import schema

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FORMS = {s.id: s for s in jg.load(EXAMPLES / "forms.jsonl")}
TWINS = list(jg.load(EXAMPLES / "forms.twins.jsonl"))
PLANTED = {"duplicate-question": ("form-duplicates", "self-bleu"), "overlapping-options": ("form-overlaps",)}


@pytest.mark.parametrize("defect", PLANTED)
def test_a_planted_defect_moves_its_assistant_and_is_named(defect):
    twins = [t for t in TWINS if t.id.endswith("." + defect)]
    assert len(twins) >= 4
    for twin in twins:
        before = FORMS[twin.id.rpartition(".")[0]]
        for name in PLANTED[defect]:
            now, then = measure(name, twin.output), measure(name, before.output)
            assert now.value > then.value, (twin.id, name)
            assert name == "self-bleu" or ": " in now.reason


def test_a_form_in_a_text_is_read_like_the_form():
    for sample in list(FORMS.values())[:3]:
        for name in ("form-exits", "form-reading-level", "self-bleu", "readability", "word-count"):
            assert measure(name, json.dumps(sample.output)) == measure(name, sample.output)


@pytest.mark.parametrize(
    ("output", "said"),
    [("Just prose.", "it is no JSON"), ({"title": "Empty"}, "no question was found"), ('{"a": ', "it is no JSON")],
)
def test_what_is_no_form_is_skipped_with_the_reason(output, said):
    for name in ("form-duplicates", "form-overlaps", "form-exits", "form-reading-level", "form-schema", "self-bleu"):
        finding = measure(name, output)
        assert (finding.value, finding.status) == (None, "skipped")
        assert said in finding.reason


def test_a_choice_without_options_and_an_id_that_stands_twice_are_faults():
    questions = [
        {"id": "q1", "type": "single_choice", "text": "Which one?", "options": []},
        {"id": "q1", "text": "Why?"},
    ]
    finding = measure("form-schema", {"questions": questions})
    assert finding.value == 0.0
    assert finding.reason == "question 1 offers no choice; the id 'q1' stands twice"


def test_a_schema_of_ones_own_is_met_or_not():
    pytest.importorskip("jsonschema")
    strict = schema({"type": "object", "required": ["title"], "properties": {"title": {"type": "string"}}})
    assert measure(strict, {"title": "A form"}).value == 1.0
    wrong = measure(strict, {"title": 3})
    assert (wrong.value, wrong.reason) == (0.0, "title: 3 is not of type 'string'")


def test_a_form_without_choices_has_no_share_of_them():
    with pytest.raises(Unmeasurable, match="no question of choice"):
        assistant("form-exits")(jg.Sample(id="s", output={"questions": [{"question": "Why?"}]}))
