"""From token log-probabilities to a weighted score: never a weight that belongs to another value."""

import itertools
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgegraph.calls.ratings import expected, masses_at, offset, unsound
from judgegraph.calls.types import Token
from judgegraph.types import Scale

FIVE, TEN, HUNDRED = Scale(low=1, high=5), Scale(low=1, high=10), Scale(low=0, high=100)
TONE = Scale(labels=("positive", "negative", "neutral"))
GOOD = Scale(labels=("good", "goodish", "very good", "very bad"))


def tok(text, **odds):
    """A token; `odds` are spelt with "_" for a space before, as in tok("4", **{"5": .3})."""
    top = {k: math.log(p) for k, p in odds.items()}
    top.setdefault(text, math.log(max(1e-9, 1 - sum(odds.values()))))
    return Token(text, top)


def masses(tokens, value, scale):
    """At the last place where the value stands in the joined tokens."""
    start = "".join(t.text for t in tokens).rindex(value)
    return {k: round(p, 6) for k, p in masses_at(tokens, (start, start + len(value)), scale).items()}


@pytest.mark.parametrize(
    ("tokens", "value", "scale", "found"),
    [
        ([tok('{"score": '), tok("4", **{"5": 0.3, "3": 0.1}), tok("}")], "4", FIVE, {"5": 0.3, "3": 0.1, "4": 0.6}),
        ([tok('{"score":'), tok(" 4", **{" 5": 0.3, "4": 0.2}), tok("}")], "4", FIVE, {"5": 0.3, "4": 0.7}),
        ([tok('{"score"'), tok(":4", **{":5": 0.3, ": ": 0.2}), tok("}")], "4", FIVE, {"5": 0.3, "4": 0.5}),
        ([tok('{"score'), tok('": 4', **{'": 5': 0.3}), tok("}")], "4", FIVE, {"5": 0.3, "4": 0.7}),
        ([tok('{"score'), tok('"  :  4', **{'"  :  5': 0.3}), tok("}")], "4", FIVE, {"5": 0.3, "4": 0.7}),
        ([tok('{"score": '), tok("4}", **{"5}": 0.2, "5": 0.1, "4,": 0.2})], "4", FIVE, {"5": 0.3, "4": 0.7}),
        ([tok('{"score": "'), tok('4"', **{'5"': 0.2}), tok("}")], "4", FIVE, {"5": 0.2, "4": 0.8}),
        ([tok("score "), tok("4", **{"four": 0.2, "4.5": 0.1, "4.": 0.1, "45": 0.1})], "4", FIVE, {"4": 0.5}),
        ([tok("I gave 4 of 5. Score: "), tok("4", **{"2": 0.4}), tok(".")], "4", FIVE, {"2": 0.4, "4": 0.6}),
        ([tok("😀é: "), tok("4", **{"2": 0.4})], "4", FIVE, {"2": 0.4, "4": 0.6}),
        ([tok("4", **{"Q4": 0.2, "x4": 0.2, "-4": 0.1})], "4", FIVE, {"4": 0.5}),
        ([tok("-"), tok("1", **{"2": 0.4})], "-1", Scale(low=-2, high=2), {"-2": 0.4, "-1": 0.6}),
        ([tok("4"), tok(".5")], "4.5", FIVE, {}),
        ([tok("4"), tok("5")], "45", FIVE, {}),
        ([tok("null")], "null", FIVE, {}),
    ],
    ids=[
        "plain", "space", "merged :4", "merged quote", "long lead", "merged 4}", "quoted", "what is no point is unseen",
        "repeated before", "emoji before", "letters before", "minus", "a fraction", "off the scale", "null",
    ],
)  # fmt: skip
def test_the_mass_of_a_point_is_found_however_the_tokens_fall(tokens, value, scale, found):
    assert masses(tokens, value, scale) == found


@pytest.mark.parametrize(
    ("tokens", "value", "scale", "found"),
    [
        ([tok("1", **{"7": 0.4}), tok("0", **{",": 0.25})], "10", TEN, {"7": 0.4, "10": 0.45, "1": 0.15}),
        ([tok("1", **{"7": 0.4}), tok(",", **{"0": 0.25})], "1", TEN, {"7": 0.4, "1": 0.45, "10": 0.15}),
        ([tok("7", **{"1": 0.4}), tok(",")], "7", TEN, {"7": 0.6}),
        ([tok("10", **{"1": 0.4, "9": 0.1}), tok(",")], "10", TEN, {"1": 0.4, "9": 0.1, "10": 0.5}),
        ([tok("7", **{"1,": 0.4}), tok(",")], "7", TEN, {"7": 0.6, "1": 0.4}),
        ([tok("7"), tok("5", **{"0": 0.2}), tok("}")], "75", HUNDRED, {"70": 0.2, "75": 0.8}),
        ([tok("7", **{"8": 0.3}), tok("}", **{"5": 0.1})], "7", HUNDRED, {"75": 0.07, "7": 0.63}),
        ([tok("1"), tok("0", **{"5": 0.1}), tok("0", **{"}": 0.5})], "100", HUNDRED,
         {"15": 0.1, "10": 0.45, "100": 0.45}),
        ([tok("100", **{"10": 0.3})], "100", HUNDRED, {"10": 0.3, "100": 0.7}),
    ],
    ids=[
        "1 then 0", "1 that could go on", "an open 1 is unseen", "one token for 10", "a closed 1", "75 digit by digit",
        "7 that could go on", "three digits", "one token for 100",
    ],
)  # fmt: skip
def test_a_number_in_several_tokens_forks_at_each(tokens, value, scale, found):
    assert masses(tokens, value, scale) == found


@pytest.mark.parametrize(
    ("tokens", "value", "scale", "found"),
    [
        ([tok('"'), tok("positive", negative=0.2, neut=0.1, ne=0.1), tok('"')], "positive", TONE,
         {"negative": 0.2, "neutral": 0.1, "positive": 0.6}),
        ([tok('"pos', **{'"neg': 0.3, " null": 0.1}), tok("itive", x=0.5), tok('"')], "positive", TONE,
         {"negative": 0.3, "positive": 0.6}),
        ([tok('"very', **{'"good': 0.2}), tok(" good", **{" bad": 0.5}), tok('"')], "very good", GOOD,
         {"very bad": 0.4, "very good": 0.4}),
        ([tok('"'), tok("good"), tok('"', ish=0.3)], "good", GOOD, {"goodish": 0.3, "good": 0.7}),
        ([tok('"'), tok('good"', goodish=0.2, good=0.2), tok("}")], "good", GOOD, {"goodish": 0.2, "good": 0.6}),
        ([tok("Positive", Negative=0.3), tok(".")], "Positive", TONE, {"negative": 0.3, "positive": 0.7}),
        ([tok('"meh"')], "meh", TONE, {}),
    ],
    ids=["whole words", "merged quote", "shared beginning", "longer label", "closed by its token", "case", "no label"],
)  # fmt: skip
def test_a_label_is_known_by_what_only_it_begins_with(tokens, value, scale, found):
    assert masses(tokens, value, scale) == found


@given(
    st.sampled_from(TEN.points), st.lists(st.integers(0, 40), max_size=6), st.booleans(),
    st.text(alphabet='a"\\é😀 19{}:,', max_size=10),
)  # fmt: skip
def test_however_a_reply_is_cut_into_tokens_a_sure_score_is_read_as_it_stands(score, cuts, spaced, reason):
    text = json.dumps({"reason": reason, "score": score}, ensure_ascii=False, separators=None if spaced else (",", ":"))
    ends = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    tokens = [tok(text[a:b]) for a, b in itertools.pairwise(ends)]
    start = text.rindex(":") + 1 + spaced
    assert masses_at(tokens, (start, len(text) - 1), TEN) == {str(score): pytest.approx(1.0)}


def test_a_place_outside_the_tokens_has_no_mass():
    assert masses_at([tok("4")], (5, 6), FIVE) == {}
    assert masses_at([], (0, 1), FIVE) == {}


@pytest.mark.parametrize(
    ("masses", "scale", "value", "unseen"),
    [
        ({"4": 0.6, "5": 0.4}, FIVE, 4.4, 0.0),
        ({"4": 0.3, "5": 0.3}, FIVE, 4.5, 0.4),
        ({"10": 0.5, "2": 0.5}, TEN, 6.0, 0.0),
        ({"4": 1.0000000002}, FIVE, 4.0, 0.0),
        ({"positive": 0.5}, TONE, None, 0.5),
    ],
)
def test_a_weighted_score_is_renormalised_and_the_unseen_kept(masses, scale, value, unseen):
    found = expected(masses, scale)
    assert (found.value, found.unseen) == (value and pytest.approx(value), pytest.approx(unseen))
    assert sum(found.distribution.values()) == pytest.approx(1)


@pytest.mark.parametrize("masses", [{}, {"4": 0.49}, {"4": 0.2, "5": 0.29999}])
def test_less_than_half_of_the_probability_is_no_score(masses):
    assert expected(masses, FIVE) is None


@pytest.mark.parametrize("masses", [{"4": 1.02}, {"4": 0.9, "5": 0.9}, {"4": math.nan}, {"4": math.inf}])
def test_more_than_one_in_all_is_no_score(masses):
    assert expected(masses, FIVE) is None


@pytest.mark.parametrize(
    ("tops", "sound"),
    [
        ([{"4": math.log(0.6), "5": math.log(0.4)}], True),
        ([{"4": math.log(0.6), "5": math.log(0.405)}], True),  # rounding
        ([dict.fromkeys("12345", -0.1)], False),
        ([{"4": -0.1, "x": -0.1}], False),  # also where what stands beside is no point
        ([{"1": -0.1}, {"0": -0.1, "1": -0.1}], False),  # "10"
        ([{}], False),
    ],
)
def test_alternatives_that_hold_more_than_one_together_are_no_distribution(tops, sound):
    tokens = [tok("Score: "), *(Token(next(iter(top), "4"), top) for top in tops), Token("!", {"!": 0.0, "?": 0.0})]
    end = 7 + sum(len(token.text) for token in tokens[1:-1])
    why = unsound(tokens, (7, end))
    assert (why == "") == sound
    assert sound or "no distribution" in why


@given(st.dictionaries(st.sampled_from("12345"), st.floats(1e-300, 0.2), min_size=1))
def test_a_weighted_score_stays_on_its_scale(masses):
    found = expected(masses, FIVE, floor=0)
    assert min(map(int, masses)) <= found.value + 1e-9
    assert 1 <= found.value <= 5


def test_a_distribution_is_in_the_order_of_the_scale():
    assert list(expected({"10": 0.4, "2": 0.3, "1": 0.3}, TEN).distribution) == ["1", "2", "10"]


@pytest.mark.parametrize(
    ("texts", "reply", "at"),
    [
        (["a", "b"], "ab", 0), ([" a", "b"], "ab", 1), (["ab", "<|end|>"], "ab", 0),
        (["4", "4"], "4", None), (["a"], "b", None), (["a"], "", None), ([], "a", None),
    ],
)  # fmt: skip
def test_tokens_that_do_not_hold_the_reply_once_are_not_used(texts, reply, at):
    assert offset([tok(t) for t in texts], reply) == at
