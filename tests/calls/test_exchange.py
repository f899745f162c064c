"""A reply as plain values: tokens by their bytes, texts that can be written to a file."""

import math

import pytest
from langchain_core.messages import AIMessage

from judgegraph.calls.types import choice_of, tokens_of


def entry(text, logprob=0.0, top=(), data=None):
    return {"token": text, "logprob": logprob, "bytes": data, "top_logprobs": list(top)}


def split(text, cuts):
    """A text in entries of so many bytes each, as an API gives them: a broken character shows as escapes."""
    data, at = text.encode(), 0
    for size in cuts:
        part = data[at : at + size]
        yield entry(part.decode("utf-8", "backslashreplace"), math.log(0.5), data=list(part))
        at += size


def test_tokens_that_split_a_character_are_joined_by_their_bytes():
    tokens = tokens_of({"content": list(split("😀 4", [2, 2, 1, 1]))})
    assert [t.text for t in tokens] == ["😀", " ", "4"]
    assert tokens[0].top == {"😀": pytest.approx(math.log(0.25))}


def test_a_token_may_begin_inside_a_character_and_end_behind_it():
    tokens = tokens_of({"content": list(split("é4}", [1, 2, 1]))})
    assert "".join(t.text for t in tokens) == "é4}"


def test_an_alternative_that_is_no_whole_character_is_left_out():
    top = [entry("4", -0.5, data=[52]), entry("\\xf0", -1.0, data=[0xF0])]
    (token,) = tokens_of({"content": [entry("4", -0.5, top, [52])]})
    assert token.top == {"4": -0.5}


def test_the_token_that_was_written_counts_also_where_it_is_not_among_the_top():
    (token,) = tokens_of({"content": [entry("4", -3.0, [entry("5", -0.1)])]})
    assert token.top == {"5": -0.1, "4": -3.0}


@pytest.mark.parametrize(
    "logprobs",
    [
        None, {}, {"content": None}, {"content": []}, [], "none", {"content": ["4"]},
        {"content": [{"token": "4"}]}, {"content": [{"logprob": 0}]},
        {"content": [entry("4", None)]}, {"content": [entry("4", -(10**400))]},
        {"content": [entry("x", data=[0xF0])]}, {"content": [entry("4", top=[{"token": "5"}])]},
    ],
    ids=lambda given: str(given)[:50],
)  # fmt: skip
def test_log_probabilities_that_make_no_sense_are_none(logprobs):
    assert tokens_of(logprobs) is None


@pytest.mark.parametrize("broken", [float("nan"), 0.7, float("inf"), "-0.1", None, False, [-0.1]])
def test_a_place_with_no_log_probability_says_nothing_of_its_token(broken):
    first, second = tokens_of({"content": [entry("4", -0.5, [entry("5", broken)]), entry("!", broken)]})
    assert (first.text, dict(first.top), second.text, dict(second.top)) == ("4", {}, "!", {})


@pytest.mark.parametrize(
    ("own", "top", "sound"),
    [
        (-0.5, [("4", -0.5), ("5", -1.0)], True),
        (-0.5, [("4", -0.503), ("5", -1.0)], True),  # rounding
        (-9999.0, [("4", -30.0), ("5", 0.0)], True),
        (-5.0, [("4", -5.0), ("5", -0.01)], True),  # it was sampled
        (-5.0, [("5", -0.01)], True),  # also too improbable for the list
        (-0.5, [("4", -3.0), ("4", -0.5), ("5", -2.0)], True),  # two tokens of one text
        (-0.5, [], True),
        (-5.0, [("4", -0.1), ("5", -3.0)], False),
        (-0.1, [("4", -5.0), ("5", -5.0)], False),
        (-0.1, [("5", -3.0), ("2", -4.0)], False),  # what is above all is among the alternatives
        ("-0.5", [("4", -0.5)], False),
    ],
)
def test_a_token_that_its_alternatives_contradict_has_no_log_probability(own, top, sound):
    (token, _) = tokens_of({"content": [entry("4", own, [entry(*one) for one in top]), entry("!", -0.1)]})
    assert bool(token.top) == sound


def test_half_of_an_emoji_does_not_reach_a_file():
    assert choice_of(AIMessage("a \ud83d b"), None).text == "a ? b"


def test_text_in_blocks_is_one_text():
    message = AIMessage([{"type": "text", "text": "4"}, {"type": "text", "text": "!"}])
    assert choice_of(message, {"finish_reason": "stop"}).text == "4!"
