"""Coverage and density: worked by hand."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgegraph.tools import assistant
from judgegraph.tools.metrics import fragments
from judgegraph.types import Sample


@pytest.mark.parametrize(
    ("source", "output", "lengths", "coverage", "density"),
    [
        ("a b c d e", "a b c d e", [5], 1, 5),
        ("a b c d e", "a b x d e", [2, 2], 4 / 5, 8 / 5),
        ("a b c d e", "e d c b a", [1, 1, 1, 1, 1], 1, 1),
        ("a b c", "x y z", [], 0, 0),
        ("a b a b c", "a b c a b", [3, 2], 1, 13 / 5),
        ("a a a b", "a a b", [3], 1, 3),
        ("x a b y a b c z", "q a b c q a b", [3, 2], 5 / 7, 13 / 7),
    ],
    ids=["copied", "one changed", "reversed", "own words", "two runs", "overlapping runs", "the longest of several"],
)
def test_fragments_are_the_longest_copied_runs(source, output, lengths, coverage, density):
    sample = Sample(id="s", source=source, output=output, reference="never read")
    assert fragments(source.split(), output.split()) == lengths
    assert assistant("coverage")(sample) == pytest.approx(coverage)
    assert assistant("density")(sample) == pytest.approx(density)


def slowly(source, output):
    """The definition, word for word."""
    runs = {tuple(source[i:j]) for i in range(len(source)) for j in range(i + 1, len(source) + 1)}
    lengths, at = [], 0
    while at < len(output):
        size = max((n for n in range(len(output) - at + 1) if not n or tuple(output[at : at + n]) in runs), default=0)
        lengths += [size] * bool(size)
        at += max(size, 1)
    return lengths


@settings(max_examples=200)
@given(st.lists(st.sampled_from("abc"), max_size=14), st.lists(st.sampled_from("abcx"), max_size=14))
def test_the_quick_way_finds_what_the_definition_does(source, output):
    assert fragments(source, output) == slowly(source, output)


def test_repetition_does_not_make_it_slow():
    start = time.monotonic()
    fragments(["a", "b"] * 10_000, ["a", "a", "b"] * 7_000)
    assert time.monotonic() - start < 3
