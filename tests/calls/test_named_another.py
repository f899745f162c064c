"""A rating that another criterion's name heads is not the rating that was asked for."""

import pytest

from judgegraph.replies.free_text import read_rating

OTHERS = (
    "Faithfulness: 5",
    "**Relevance**: 4",
    "Accuracy score: 4",
    "Tone: 2, Clarity: 2",
    "Fluency - 5",
    "Safety = 3/5",
)
OWN = (
    ("Faithfulness: 5", "Faithfulness"), ("Relevance: 5", "Relevancy to a query"),
    ("Consistency: 5", "Factual consistency"),
    ("Clarity: 2\nOverall: 5", "Helpfulness"), ("Answer: 5", "Helpfulness"), ("Bewertung: 5", "Hilfreich"),
    ("Tone: 5", "Clarity and tone"), ("Faithfulness: 5", ""),
)  # fmt: skip


@pytest.mark.parametrize("text", OTHERS)
def test_what_is_said_of_another_criterion_is_unreadable(text):
    read = read_rating(text, "1-5", "Helpfulness")
    assert (read.value, read.status) == (None, "unreadable")


@pytest.mark.parametrize(("text", "name"), OWN)
def test_the_criterion_itself_a_rating_over_all_and_other_words_are_read(text, name):
    assert read_rating(text, "1-5", name).value == 5.0
