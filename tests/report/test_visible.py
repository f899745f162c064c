"""What cannot be seen is made visible, and nothing else is changed."""

import pytest
from markupsafe import Markup

from judgegraph.report.charts import finalize, visible
from judgegraph.views.blocks import Cut, cut, in_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, with\ttab\nand line", "plain, with\ttab\nand line"),
        ("a\r\nb", "a\nb"),
        ("a\rb", "a\u240db"),
        ("\x00\x1b[31m\x7f", "\u2400\u241b[31m\u2421"),
        ("\x9b\x85", "\ufffd\ufffd"),
        ("\u202egnp.exe\u2066", "\ufffdgnp.exe\ufffd"),
        ("\u200b\ufeff\u2028\u2029", "\ufffd" * 4),
        ("\U000e0041\U000e0042", "\ufffd\ufffd"),
        ("\ud800", "\ufffd"),
        ("café – 数 – \u200e", "café – 数 – \ufffd"),
        ("10\u00a0000", "10\u00a0000"),
        ("\U0001f469\u200d\U0001f52c", "\U0001f469\u200d\U0001f52c"),
        ("\u0646\u200c\u0627", "\u0646\u200c\u0627"),
    ],
)  # fmt: skip
def test_what_cannot_be_seen_is_made_visible(text: str, shown: str):
    assert visible(text) == shown
    assert finalize(text) == shown


def test_what_is_safe_already_stays_as_it_is():
    assert finalize(Markup("<b>\x00</b>")) == Markup("<b>\x00</b>")
    assert finalize(3) == 3


def test_a_cut_says_how_much_is_missing():
    assert cut("abcdef", 4) == Cut("abcd", 2)
    assert cut("abcd", 4) == Cut("abcd", 0)
    assert cut("abcd", 0) == Cut("", 4)
    assert not Cut("")


def test_a_line_is_one_line_of_its_length():
    assert in_line("a\n b\t c", 10) == "a b c"
    assert in_line("abcdefgh", 5) == "abcd…"
    assert len(in_line("x y " * 10_000, 50)) <= 50
