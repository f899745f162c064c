"""A planted defect lowers the criterion it belongs to, more than the others."""

import json
from typing import Any

import pytest
from asking import FAITHFUL, INVENTED, SOURCE, answer, rated, scores, sections

REQUEST = "Write a short survey for visitors of our public swimming pool about cleanliness, opening hours and prices."
SURVEY: dict[str, Any] = {
    "title": "Your visit to the pool",
    "description": "Thank you for helping us. Five minutes are enough.",
    "questions": [
        {
            "type": "single_choice",
            "text": "How old are you?",
            "options": ["Under 18", "18 to 30", "31 to 60", "61 or older"],
        },
        {"type": "rating", "text": "How clean was the pool?", "options": ["1", "2", "3", "4", "5"]},
        {"type": "single_choice", "text": "Do the opening hours suit you?", "options": ["Yes", "Partly", "No"]},
        {"type": "rating", "text": "How fair do you find our prices?", "options": ["1", "2", "3", "4", "5"]},
        {"type": "text", "text": "What should we improve before the summer?", "options": []},
    ],
}
FORM_NAMES = ("Accuracy", "Semantic Diversity", "Grammar", "Relevancy", "Fairness")


def survey(place: int, **changes: Any) -> str:
    questions = [dict(q) for q in SURVEY["questions"]]
    questions[place] |= changes
    return json.dumps(SURVEY | {"questions": questions}, indent=2)


@pytest.mark.parametrize(
    ("defect", "name"),
    [
        (survey(3, text="How clean was the pool today?"), "Semantic Diversity"),
        (survey(0, options=["18-30", "30-60", "60-99"]), "Semantic Diversity"),
        (survey(1, text="How clean were the the pool"), "Grammar"),
        (survey(3, text="Which guitar strings last longest?", options=["Nylon", "Steel"]), "Relevancy"),
        (survey(3, text="Everyone knows that old people complain, don't you agree?"), "Fairness"),
        (survey(2, options=[]), "Accuracy"),
    ],
    ids=["duplicate", "overlap", "grammar", "off topic", "unfair", "no choice"],
)
def test_a_planted_defect_of_a_form_lowers_its_criterion_most(defect: str, name: str) -> None:
    good = scores(sections(query=REQUEST, output=json.dumps(SURVEY, indent=2)), *FORM_NAMES)
    bad = scores(sections(query=REQUEST, output=defect), *FORM_NAMES)
    falls = {n: (good[n] or 0) - (bad[n] or 0) for n in FORM_NAMES}
    assert good[name] is not None
    assert good[name] > 3.9
    assert falls[name] > 0.3
    assert falls[name] == max(falls.values())


@pytest.mark.parametrize("name", ["Consistency", "Relevance", "Overall quality"])
def test_an_invented_summary_scores_far_below_a_faithful_one(name: str) -> None:
    good = scores(sections(source=SOURCE, output=FAITHFUL), name)[name]
    bad = scores(sections(source=SOURCE, output=INVENTED), name)[name]
    assert good is not None
    assert bad is not None
    assert good > 3.5
    assert bad < good - 1


def test_a_reason_names_the_evidence() -> None:
    form = {
        "type": "object",
        "properties": {"reason": {"type": "string"}, "score": {"type": "integer", "enum": [1, 2, 3]}},
    }
    prompt = sections(
        criterion="## Consistency\nScale: 1-3", source=SOURCE, output=FAITHFUL + " Mr Quill paid 7 crowns."
    )
    reason = answer(prompt, form)["reason"]
    assert "% of its word pairs stand in the source" in reason
    assert "sentence 3 holds a name or number the source lacks" in reason


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("Rhyme scheme", {"source": SOURCE, "output": FAITHFUL}),
        ("Accuracy", {"query": "Who built the pier?", "output": FAITHFUL}),
        ("Relevance", {"output": FAITHFUL}),
    ],
)
def test_without_evidence_it_abstains(name: str, texts: dict[str, str]) -> None:
    assert scores(sections(**texts), name)[name] is None


def test_a_turn_that_uses_the_fact_is_better_grounded_than_a_stock_reply() -> None:
    talk = {
        "query": "A: Do you like owls?\nB: I saw one last night!",
        "source": "The eyes of an owl are fixed in their sockets.",
    }
    names = ("Groundedness", "Engagingness", "Overall")
    rich = scores(
        sections(**talk, output="Lucky you! Did you know that an owl's eyes are fixed in their sockets?"), *names
    )
    bland = scores(sections(**talk, output="That's cool."), *names)
    assert all((rich[n] or 0) > (bland[n] or 0) + 0.5 for n in names)


def test_a_text_that_says_more_of_its_data_is_more_informative() -> None:
    data = "inform(name='The Eagle', food=french, area=riverside)"
    full = scores(
        sections(source=data, output="The Eagle serves French food in the riverside area."), "Informativeness"
    )
    part = scores(sections(source=data, output="The Eagle is nice."), "Informativeness")
    assert (full["Informativeness"] or 0) > (part["Informativeness"] or 0) + 1


@pytest.mark.parametrize(("text", "label"), [("Thank you so much, what a lovely, happy day!", "positive"),
                                             ("An awful, rude and dirty place. I hate it.", "negative"),
                                             ("The office opens at nine and closes at five.", "neutral")])  # fmt: skip
def test_tone_is_a_label(text: str, label: str) -> None:
    labels = {"anyOf": [{"type": "string", "enum": ["positive", "neutral", "negative"]}, {"type": "null"}]}
    form = {"type": "object", "properties": {"tone": {"title": "Tone", "type": "object", "properties": {
        "reason": {"type": "string"}, "label": labels}}}}  # fmt: skip
    held = answer(sections(output=text), form)["tone"]
    assert held["label"] == label
    assert "word" in held["reason"]


QUERY = "Explain why bread dough should rest before it is baked."
TOLD = (
    "While dough rests, yeast eats sugars in the flour and gives off gas, which makes the bread light. "
    "Gluten that was stretched by kneading relaxes, so that the loaf keeps its shape when it is baked."
)
STRAY = "Look at the lens of a used camera first. Hold it against the light and search for scratches and dust."
EMPTY = (
    "It is important that bread dough rests before it is baked. There are many good reasons why dough should rest, "
    "and each of them matters in its own way."
)


def test_an_answer_off_the_request_loses_relevance_and_an_empty_one_helpfulness() -> None:
    names = ("Helpfulness", "Completeness", "Relevance")
    told, stray, empty = (scores(sections(query=QUERY, output=o), *names) for o in (TOLD, STRAY, EMPTY))
    off = {n: (told[n] or 0) - (stray[n] or 0) for n in names}
    hollow = {n: (told[n] or 0) - (empty[n] or 0) for n in names}
    assert max(off, key=lambda n: off[n]) == "Relevance"
    assert max(hollow, key=lambda n: hollow[n]) == "Helpfulness"
    assert hollow["Relevance"] < 0.5


def test_more_of_a_defect_never_raises_a_form() -> None:
    last: dict[str, float | None] | None = None
    for count in range(4):
        form = SURVEY | {"questions": SURVEY["questions"] + [SURVEY["questions"][1]] * count}
        held = scores(sections(query=REQUEST, output=json.dumps(form)), "Semantic Diversity", "Audience Engagement")
        assert last is None or all((held[n] or 0) <= (last[n] or 0) + 1e-9 for n in held)
        last = held


CHINESE = "这座桥关闭到春天。一月份冰破坏了两个桥墩。修理费用为两百万欧元。"
RUSSIAN = "Мост закрыт до весны, потому что лёд в январе сломал две опоры."


@pytest.mark.parametrize(
    ("texts", "which"),
    [
        ({"source": CHINESE, "output": CHINESE.split("。")[0] + "。"}, "text"),
        ({"source": SOURCE, "output": RUSSIAN}, "text"),
        ({"query": "Why is the bridge shut?", "output": "الجسر مغلق حتى الربيع لأن الجليد كسر دعامتين"}, "text"),
        ({"source": CHINESE, "output": FAITHFUL}, "source"),
        ({"query": RUSSIAN, "output": FAITHFUL}, "request"),
    ],
)
def test_of_another_script_it_says_nothing(texts: dict[str, str], which: str) -> None:
    names = ("Coherence", "Consistency", "Relevance", "Clarity", "Fluency", "Overall")
    assert set(scores(sections(**texts), *names).values()) == {None}
    why = f"No evidence: my features read English; this {which} is in another script."
    assert answer(sections(**texts), rated("Clarity"))["clarity"]["reason"] == why


def test_a_few_signs_of_another_script_in_a_text_change_nothing() -> None:
    plain, mixed = (scores(sections(source=SOURCE, output=FAITHFUL + s), "Relevance") for s in ("", " (桥)"))
    assert abs((plain["Relevance"] or 0) - (mixed["Relevance"] or 0)) < 0.5


def test_the_tone_of_another_script_is_unknown() -> None:
    labels = {"anyOf": [{"type": "string", "enum": ["positive", "neutral", "negative"]}, {"type": "null"}]}
    entry = {"title": "Tone", "type": "object", "properties": {"reason": {"type": "string"}, "label": labels}}
    held = answer(sections(output=RUSSIAN), {"type": "object", "properties": {"tone": entry}})["tone"]
    assert held["label"] is None
    assert "another script" in held["reason"]
