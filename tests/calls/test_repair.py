"""A reply that is nearly JSON is mended where only one reading is possible, and refused where there are two."""

import contextlib
import json
import time
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgegraph.replies import reply
from judgegraph.replies.free_text import objection
from judgegraph.replies.reply import MOST

parse = partial(reply.parse, objects=objection)
KEYS = frozenset({"reason", "score"})
GOOD = '{"reason": "r", "score": 4}'
VALUE = {"reason": "r", "score": 4}
PROSE, FENCE, COMMA, LEVEL = (
    "prose around the JSON removed", "code fence removed", "trailing comma removed", "surplus level removed",
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        (GOOD, ()),
        (f"\ufeff {GOOD}\n", ()),
        (f"```json\n{GOOD}\n```", (FENCE,)),
        (f"```\n{GOOD}\n  ```\nHope it helps.", (FENCE,)),
        (f"Here it is:\n```json\n{GOOD}\n```\nwith {{braces}} in prose", (FENCE,)),
        (f"```json\n{GOOD}", (PROSE,)),
        (f"Sure! {GOOD} Done.", (PROSE,)),
        (f"I use {{braces}} and [1]. Final score: {GOOD}", (PROSE,)),
        (f"{GOOD}}}", (PROSE,)),
        (f"{GOOD}\n{GOOD}", (PROSE,)),
        (f'Asked for {{"task": "x"}}. {GOOD}', (PROSE,)),
        ('{"reason": "r", "score": 4,}', (COMMA,)),
        ('```json\n{"reason": "r", "score": 4,\n}\n```', (FENCE, COMMA)),
        (f'{{"result": {GOOD}}}', (LEVEL,)),
        (f"[{GOOD}]", (LEVEL,)),
        ('{"reason": "r", "score": 4, "score": 4}', ()),
    ],
)
def test_one_reading_is_taken_and_the_mending_noted(text, notes):
    assert parse(text, KEYS) == (VALUE, notes)


@pytest.mark.parametrize(
    ("first", "told"),
    [
        ('{"reason": "r", "score": 5}', " (score 5)"),
        ('{"reason": "b", "score": 4}', ' (reason "b")'),
        ('{"reason": "all of its facts are right, and it is brief", "score": 5}', " (score 5)"),
        ('{"reason": "all of its facts are right, and it is brief", "score": 4}', ""),
        ('{"score": {"of\\n": [5]}}', " (score.of\\n.0 5)"),
    ],
)
def test_the_note_on_an_answer_that_is_taken_back_says_which(first, told):
    assert parse(f"{first} ... wait, no: {GOOD}", KEYS) == (VALUE, (f"an earlier answer taken back{told}", PROSE))


@pytest.mark.parametrize(
    "text",
    [
        "", "   ", "I would rather not.", "{", "}", '{"reason": "r", "score"', '{"score": 4, ', '"half',
        f'{GOOD}\n{{"reason": "r", "score": 5}}',
        f'First {{"reason": "r", "score": 2}}, then\n```json\n{GOOD}\n```',
        f"```\n{GOOD}\n```\n```\n{{\"reason\": \"\", \"score\": 1}}\n```",
        '{"reason": "r", "score": 4, "score": 5}',
        '{"reason": "r", "score": 1, "score": true}',
        f'{{"draft": {GOOD}, "reason": "b" "score": 2}}',
        f"{{draft: {GOOD}, reason: 'b', score: 2}}",
        f'{{"example": {GOOD}, "reason": "cut of',
        f"[{GOOD}, ",
        f'{GOOD} or rather {{"reason": "r", "sco',
        '{"reason": "r", "score": NaN}', '{"reason": "r", "score": Infinity}', '{"reason": "r", "score": 1e999}',
        '{"reason": "r", "score": -1e999}', "{" * 1000, "[" * 100_000, '{"a":' * 50_000, '{"reason": "r", "score": 04}',
        "9" * 5000, '{"reason": "r", "score": 4}' + " " * MOST,
    ],
    ids=lambda text: text[:50],
)  # fmt: skip
def test_two_readings_or_none_are_refused(text):
    with pytest.raises(ValueError, match=r"\w"):
        parse(text, KEYS)


@pytest.mark.parametrize("text", ["4", "null", '"text"', "[1, 2]", '{"other": 1}', '{"a": 1, "b": {"score": 4}}'])
def test_json_that_does_not_fit_is_left_for_the_form_to_refuse(text):
    assert parse(text, KEYS) == (json.loads(text), ())


def test_a_missing_bracket_is_closed_and_a_missing_value_is_not_made_up():
    assert parse('{"score": 4, "reason": "r"', KEYS) == (VALUE, ("missing closing bracket added",))
    assert parse('{"reason": "r"', KEYS)[0] == {"reason": "r"}  # left for the form to refuse


def test_commas_inside_a_text_are_kept():
    assert parse('{"reason": "a,} b,]", "score": 4,}', KEYS)[0]["reason"] == "a,} b,]"


def test_half_of_an_emoji_becomes_a_question_mark():
    value, _ = parse(r'{"reason": "\ud83d", "score": 4, "ok": "\ud83d\ude00"}', KEYS)
    assert (value["reason"], value["ok"]) == ("?", "😀")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=4), st.booleans())
def test_what_is_json_reads_as_it_was_written(value, ascii_only):
    assert parse(json.dumps(value, ensure_ascii=ascii_only)) == (value, ())


@given(st.dictionaries(st.text(max_size=5), JSON, min_size=1, max_size=4))
def test_a_fence_and_prose_change_nothing(value):
    text = json.dumps(value).replace("`", "'")
    assert parse(f"Here:\n```json\n{text}\n```\nBye.", frozenset(value))[0] == json.loads(text)


@given(st.text(alphabet='{}[]",:`\\\n 14ae-ü', max_size=60) | st.text(max_size=60))
def test_any_text_is_read_or_refused_and_nothing_else_happens(text):
    with contextlib.suppress(ValueError):
        parse(text, KEYS)


@pytest.mark.parametrize(
    "text",
    [
        "```\n" + " " * 190_000, "`" * 190_000, "{ " * 90_000, '{"' * 90_000, ", " * 90_000, ",]" * 90_000,
        '"' * 190_000,
        '"\\\n' * 60_000, "{}" * 90_000, '{"a": 1}' * 20_000, "[[[[" * 40_000, "\\u" * 90_000, '{"a":[' * 30_000,
        "{" + " " * 190_000, '{"a": "' + "x" * 190_000,
    ],
    ids=lambda text: repr(text[:8]),
)  # fmt: skip
def test_a_long_hostile_reply_costs_no_time(text):
    start = time.perf_counter()
    with contextlib.suppress(ValueError):
        parse(text, KEYS)
    assert time.perf_counter() - start < 2
