"""Where a value stands in the text of a reply, in characters."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgegraph.replies.reply import spans


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"score": 4}', {("score",): "4"}),
        ('{"reason": "I gave 4 of 5", "score": 3}', {("reason",): "I gave 4 of 5", ("score",): "3"}),
        ('{"a": {"reason": "\\"score\\": 5", "score": 2}}', {("a", "reason"): '\\"score\\": 5', ("a", "score"): "2"}),
        ('{"reason": "😀 é \\u00e9", "score": 4}', {("reason",): "😀 é \\u00e9", ("score",): "4"}),
        ('{"l": [1, {"x": 2}]}', {("l", "0"): "1", ("l", "1", "x"): "2"}),
        ('Sure, {braces} first.\n```json\n{"score": 4,}\n``` ok', {("score",): "4"}),
        ('{"result": {"score": -1.5e2}}', {("result", "score"): "-1.5e2"}),
        ('{"a": null, "b": true, "c": ""}', {("a",): "null", ("b",): "true", ("c",): ""}),
        ('{"k\\u00e9y": 1}', {("kéy",): "1"}),
        ('{"a": 1, "a": 2}', {}),
        ('{"score": 4} {"score": 5}', {}),
        ('{"n": {"score": 1}} {"score": 4}', {("n", "score"): "1", ("score",): "4"}),
        ('{"a": 1, "b": ', {("a",): "1"}),
        ('{"a": "', {("a",): ""}),
        ("no object", {}),
        ("", {}),
    ],
)
def test_every_scalar_has_its_place(text, found):
    assert {path: text[slice(*span)] for path, span in spans(text).items()} == found


@given(
    st.dictionaries(st.text(max_size=6), st.integers() | st.booleans() | st.text(max_size=8), max_size=4), st.booleans()
)
def test_the_place_of_a_value_holds_it(value, ascii_only):
    text = json.dumps(value, ensure_ascii=ascii_only)
    found = spans(text)
    assert set(found) == {(key,) for key in value}
    for (key,), (start, end) in found.items():
        written = text[start:end]
        assert json.loads(f'"{written}"' if isinstance(value[key], str) else written) == value[key]


@given(st.text(alphabet='{}[]",:\\ 1a', max_size=40))
def test_any_text_has_places_inside_it(text):
    assert all(0 <= start <= end <= len(text) for start, end in spans(text).values())


@pytest.mark.parametrize("text", ["[" * 99_999, '{"a":' * 50_000, "{" * 99_999, '{"' * 50_000, '{"a":[' * 30_000])
def test_a_bomb_of_brackets_costs_no_time(text):
    start = time.perf_counter()
    spans(text)
    assert time.perf_counter() - start < 1
