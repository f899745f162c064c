"""Numbers, money, times and intervals have one form each, in every view."""

import math
import re
from pathlib import Path

import pytest

import judgegraph
from judgegraph.views.blocks import (
    chance,
    duration,
    in_words_of,
    money,
    number_text,
    portion,
    signed,
    valued,
    whole_seconds,
    within,
)

NAN = math.nan
VIEWS = [path for room in ("views", "report", "webview", "cli") for path in
         (Path(judgegraph.__file__).parent / room).rglob("*.py") if path.name != "blocks.py"]  # fmt: skip


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.2, "0 s"), (59.4, "59 s"), (59.6, "1 min"), (106, "1 min 46 s"), (3599, "59 min 59 s"), (3600, "1 h"),
        (7380, "2 h 3 min"), (86_399, "23 h 59 min"), (86_400, "1 d"), (273_600, "3 d 4 h"),
    ],
)  # fmt: skip
def test_whole_times_are_told_in_two_units(seconds: float, said: str):
    assert whole_seconds(seconds) == said


@pytest.mark.parametrize(
    ("ms", "said"),
    [
        (None, ""), (0.4, "0.4 ms"), (9.94, "9.9 ms"), (9.96, "10 ms"), (999.4, "999 ms"), (999.6, "1.0 s"),
        (119_940, "119.9 s"), (119_960, "2 min"), (200_000, "3 min 20 s"), (7_380_000, "2 h 3 min"),
    ],
)  # fmt: skip
def test_times_are_told_in_units_that_can_be_read(ms: float | None, said: str):
    assert duration(ms) == said


@pytest.mark.parametrize(
    ("p", "least", "said"),
    [(0.0021, False, "0.002"), (0.0002, False, "< 0.001"), (2 / 1001, True, "< 0.002"), (0.0041, True, "< 0.005"),
     (1 / 10_001, True, "< 0.001"), (1.0, True, "1.000"), (NAN, True, "-")],
)  # fmt: skip
def test_a_p_that_resamples_cannot_make_smaller_is_told_as_a_bound(p: float, least: bool, said: str):
    assert chance(p, least) == said


@pytest.mark.parametrize(
    ("usd", "said"),
    [
        (None, "price unknown"), (0.0, "$0.00"), (0.00312, "$0.0031"), (0.00001, "under $0.0001"), (0.314, "$0.31"),
        (12.345, "$12.35"), (1234.5, "$1,234.50"), (-0.5, "-$0.50"),
    ],
)  # fmt: skip
def test_money_has_as_many_digits_as_it_needs(usd: float | None, said: str):
    assert money(usd) == said


@pytest.mark.parametrize(
    ("part", "below", "said"),
    [
        (29 / 30, None, "0.967"), (1 / 6, None, "0.167"), (2 / 7, None, "0.286"), (0.9996, None, "0.9996"),
        (1 - 1e-7, None, "0.9999999"), (0.0004, None, "0.0004"), (0.0, None, "0.000"), (1.0, None, "1.000"),
        (0.9799, 0.98, "0.9799"), (0.97, 0.98, "0.970"), (0.5, None, "0.500"),
    ],
)  # fmt: skip
def test_a_portion_is_rounded_but_never_to_all_nothing_or_a_bound(part: float, below: float | None, said: str):
    assert portion(part, below) == said


def test_numbers_are_never_minus_nothing_and_say_where_they_are_none():
    assert [number_text(x) for x in (-0.001, NAN, None, 3)] == ["0.00", "-", "-", "3.00"]
    assert [signed(x) for x in (0.25, -0.001, -1, NAN)] == ["+0.25", "0.00", "-1.00", "-"]
    assert [within(0.1, 0.32), within(-0.1, 0.3, sign=True), within(NAN, 1)] == ["[0.10, 0.32]", "[-0.10, +0.30]", ""]
    assert [valued(1, 0.5, 2), valued(1, NAN, NAN), valued(NAN, 0, 1)] == ["1.00 [0.50, 2.00]", "1.00", "-"]
    assert [chance(p) for p in (0.0001, 0.0496, 0.0504, 0.5, NAN)] == ["< 0.001", "0.0496", "0.0504", "0.500", "-"]


def test_no_view_writes_money_in_a_form_of_its_own():
    wrong = [
        f"{path.name}:{number}"
        for path in VIEWS
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(r"\} USD|\$\{\w*usd|usd:,?\.", line)
    ]
    assert not wrong


def test_a_reason_is_not_cut_within_a_word():
    text = "No connection could be had: the server refused it for a whole hour"
    assert [in_words_of(text, most) for most in (14, 17, 20)] == [
        "No connection…",
        "No connection …",
        "No connection could…",
    ]
    assert in_words_of(text, 400) == text
    assert in_words_of("x" * 50, 20) == "x" * 19 + "…"
