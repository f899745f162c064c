"""Length ratio: worked by hand."""

import pytest

from judgegraph.tools import assistant
from judgegraph.types import Sample


@pytest.mark.parametrize(
    ("output", "reference", "source", "value"),
    [
        ("a b", "a b c d", "a", 0.5),
        ("a b", None, "a", 2.0),
        ("", "a", "", 0.0),
        ("大桥", "four words are here", "", 0.5),
    ],
)
def test_length_is_counted_in_words(output, reference, source, value):
    sample = Sample(id="s", output=output, reference=reference, source=source)
    assert assistant("length-ratio")(sample) == value
