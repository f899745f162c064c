"""Suggestions: a criterion or another definition only where a sample shows why."""

import json
from typing import Any

import pytest
from asking import answer, sections

ITEM = {"type": "object", "properties": {k: {"type": "string"} for k in ("name", "definition", "reason")}}
FORM = {"type": "object", "properties": {"new_criteria": {"type": "array", "maxItems": 3, "items": ITEM}}}
REQUEST = "A short survey for visitors of our pool about cleanliness, opening hours and prices."
HEAD = {
    "title": "Your visit to the pool",
    "description": "Your answers help us plan the next season.",
}
SOUND = [
    {"type": "rating", "text": "How clean was the pool, from 1 (dirty) to 5 (spotless)?", "options": list("12345")},
    {"type": "single_choice", "text": "Do the opening hours suit you?", "options": ["Yes", "Partly", "No"]},
    {"type": "text", "text": "Which price would seem fair to you?", "options": []},
]


def suggested(questions: list[dict[str, Any]], known: str = "Accuracy", **head: str) -> dict[str, str]:
    """Name -> reason of the criteria that a form calls for."""
    form = json.dumps({**HEAD, **head, "questions": questions})
    prompt = sections(criteria=f"## {known}\nScale: 1-5", query=REQUEST, output=form)
    return {row["name"]: row["reason"] for row in answer(prompt, FORM)["new_criteria"]}


def choice(text: str, *options: str) -> dict[str, Any]:
    return {"type": "single_choice", "text": text, "options": [*options]}


def test_a_sound_form_calls_for_no_new_criterion() -> None:
    assert suggested(SOUND) == {}


@pytest.mark.parametrize(
    ("questions", "head", "name", "seen"),
    [
        ([*SOUND, choice("What is your income?", "Low", "High")], {}, "Privacy", "question 4"),
        ([choice(f"Which {w} do you use?", "Left", "Right") for w in ("pool", "door", "bench")] + SOUND[2:], {},
         "Answerability", "3 of 3"),
        (SOUND[:2], {"description": "Survey."}, "Stated purpose", "too short"),
        ([choice(f"Did you like the {w}?", "Yes", "No") for w in ("pool", "price", "staff")], {},
         "Depth of answers", "3 of 3"),
        ([SOUND[0], SOUND[1], SOUND[1]], {}, "Room for comment", "none of its questions is open"),
        ([SOUND[2], *SOUND[:2], choice("Is the price fair?", "Yes", "No", "Not sure")], {}, "Question order", "ends"),
        ([*SOUND[1:], {**SOUND[0], "text": "How clean was the pool?"}], {}, "Scale labels", "question 3"),
        ([*SOUND, SOUND[1]], {}, "Redundancy", "questions 2 and 4"),
    ],
)  # fmt: skip
def test_a_gap_is_named_with_what_was_seen(
    questions: list[dict[str, Any]], head: dict[str, str], name: str, seen: str
) -> None:
    found = suggested(questions, **head)
    assert seen.lower() in found[name].lower()


def test_a_criterion_that_is_known_is_not_suggested() -> None:
    questions = [*SOUND, choice("What is your income?", "Low", "High")]
    assert "Privacy" not in suggested(questions, known="Privacy")


def test_the_options_of_a_quiz_need_no_way_out() -> None:
    questions = [choice(f"What does {w} mean?", "Left", "Right") for w in ("ebb", "tide", "neap")] + SOUND[2:]
    assert "Answerability" not in suggested(questions, title="Quiz on the tides")


def test_the_privacy_of_a_form_that_promises_it_is_no_gap() -> None:
    questions = [*SOUND, choice("What is your income?", "Low", "High")]
    assert "Privacy" not in suggested(questions, description="Your answers are anonymous and help us plan the season.")
