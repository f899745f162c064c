"""Replies that arrive well and mean nothing: a status with its reason, never a silent null, zero or guess."""

import pytest

from judgegraph.calls import Reader, Slot, rate
from judgegraph.calls.asking import ratings_form
from judgegraph.prompts.template import slugs
from judgegraph.testing import scripted
from judgegraph.types import Criterion, Scale

FORM = ratings_form(slugs([Criterion(name="A")]))
SLOTS = {"a": Slot(Scale.of("1-5"), ("a",))}
READERS = {
    "stated": Reader(), "weighted": Reader("weighted", samples=3), "mean": Reader("mean", samples=3),
}  # fmt: skip
WRONG = [
    "NaN", "Infinity", "-Infinity", "1e999", "-1e999", "0", "6", "-1", "99999999999999999999", "null", "true",
    '"eight"', "[]", "[4]", "{}", '{"score": 4}',
]  # fmt: skip


def reply(score):
    return f'{{"a": {{"reason": "because", "score": {score}}}}}'


async def rated(reader, *script):
    return (await rate(scripted(*script), [("user", "Judge.")], FORM, SLOTS, reader)).answers["a"]


@pytest.mark.parametrize("kind", READERS)
@pytest.mark.parametrize("score", WRONG)
async def test_what_is_no_number_on_the_scale_is_no_score(kind, score):
    found = await rated(READERS[kind], *[reply(score)] * 40)
    assert found.status in ("unreadable", "abstained")
    assert (found.value, found.label, found.distribution) == (None, None, None)
    assert found.reason
    assert found.status == "unreadable" or score == "null"


@pytest.mark.parametrize("score", [wrong for wrong in WRONG if wrong != "null"])
async def test_asked_again_a_right_reply_counts_and_the_wrong_one_leaves_no_trace(score):
    found = await rated(READERS["stated"], reply(score), reply(3))
    assert (found.status, found.value) == ("ok", 3.0)


@pytest.mark.parametrize("score", ["NaN", "1e999", "6", "true"])
async def test_among_samples_it_is_left_out_and_told(score):
    found = await rated(READERS["mean"], [reply(2), reply(4), reply(score)])
    assert (found.status, found.value) == ("ok", 3.0)
    assert found.notes
