"""The reason beside a value in free text, and the first digit."""

import time

import pytest

from judgegraph.replies.free_text import reason_without_value, text_reading
from judgegraph.types import Scale

FIVE, TONE = Scale.of("1-5"), Scale.of(["positive", "negative"])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("4", ""),
        ("**4**", ""),
        ("[[4]]", ""),
        (r"\boxed{4}", ""),
        ("Four", ""),
        ("- Coherence: 4", ""),
        ("4. Clear.", "Clear."),
        ("4 stars. Because it holds.", "Because it holds."),
        ("Rating: 4\nReads well; it has 3 parts.", "Reads well; it has 3 parts."),
        ("**Score (1-5)**: 4/5 - good", "good"),
        ("Response Score: 4\nExplanation: of 5 points 3 are there", "of 5 points 3 are there"),
        ("Score for Flow: 4 out of 5.\n**Reason:** short", "short"),
        ("Three and a half. It holds.", "It holds."),
        ("<score>4</score> fine", "fine"),
        ("It rambles. Score: 3", "It rambles. Score: 3"),
        ("4 of the facts are right, hence a score of 4", "4 of the facts are right, hence a score of 4"),
        ("I give it a 3, as two facts are missing.", "I give it a 3, as two facts are missing."),
        ("I think this is decent work: 4", "I think this is decent work: 4"),
        ('{"score": 4, "why": "short"}', '{"score": 4, "why": "short"}'),
    ],
)
def test_the_value_that_opens_a_reply_is_no_part_of_its_reason(text, reason):
    reading = text_reading(text, FIVE)
    assert reading.status == "ok"
    assert reason_without_value(text, reading.span) == reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("positive", ""),
        ("Label: positive\nIt has 3 kind words.", "It has 3 kind words."),
        ("The tone is positive.", "The tone is positive."),
    ],
)
def test_so_is_a_label(text, reason):
    assert reason_without_value(text, text_reading(text, TONE).span) == reason


def test_without_a_place_the_reply_is_the_reason():
    assert reason_without_value(" A fine text. ", None) == "A fine text."


@pytest.mark.parametrize(("text", "status"), [("2.5", "ok"), ("N/A: it has 3 parts", "abstained"), ("9", "unreadable")])
def test_the_first_digit_is_looked_for_where_the_reply_does_not_abstain(text, status):
    assert text_reading(text, FIVE, first_digit=True).status == status


@pytest.mark.parametrize("bit", ["a ", "score ", "* ", "a: ", "4 "])
def test_hostile_text_costs_little(bit):
    text = (bit * 60_000)[:60_000]
    start = time.process_time()
    reason_without_value(text, (99, 100))
    assert time.process_time() - start < 1  # what is quadratic takes minutes
