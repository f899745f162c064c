"""Novelty: worked by hand."""

import pytest

from judgegraph.tools import Unmeasurable, assistant
from judgegraph.types import Sample


@pytest.mark.parametrize(
    ("source", "output", "value"),
    [
        ("a b c d", "a b c", 0),
        ("a b c d", "a c", 1),
        ("a b c d", "a b d", 1 / 2),
        ("a b c d", "A b. B, c x", 2 / 4),  # ab, bb, bc, cx
        ("a b", "x y x y x y", 1),  # pairs xy, yx, each once
    ],
    ids=["copied", "its own", "half", "case and marks aside", "different pairs"],
)
def test_novelty_is_the_share_of_different_pairs_that_the_source_lacks(source, output, value):
    assert assistant("novelty")(Sample(id="s", source=source, output=output)) == pytest.approx(value)


def test_a_single_word_has_no_pairs():
    with pytest.raises(Unmeasurable, match="single word"):
        assistant("novelty")(Sample(id="s", source="a b", output="a"))
