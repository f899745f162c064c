"""TER's edits: the number that sacrebleu counts."""

import gzip
import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgegraph.tools.edit_rate import edits

WORDS = st.lists(st.sampled_from("abcdef"), max_size=40)


def by_library(output, reference):
    from sacrebleu.metrics.lib_ter import translation_edit_rate

    return translation_edit_rate(output, reference)[0]


@settings(max_examples=150, deadline=None)
@given(WORDS, WORDS)
def test_the_number_is_that_of_the_library(output, reference):
    assert edits(output, reference) == by_library(output, reference)


@pytest.mark.parametrize(
    ("output", "reference"),
    [
        ("a b c d e f g h", "e f g h a b c d"),  # one shift
        ("a " * 12, "a b " * 6),
        ("x " * 3, "y " * 90),  # lengths so far apart that the beam is widened
        ("y " * 90, "x " * 3),
        ("a b c d " * 30, "d c b a " * 30),  # more shifts than are tried
        ("", "a b"),
        ("a b", ""),
    ],
)
def test_its_limits_are_those_of_the_library(output, reference):
    assert edits(output.split(), reference.split()) == by_library(output.split(), reference.split())


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_of_summaries_it_is_the_same_number_in_less_than_half_the_time(shared):
    path = shared / "data/summeval/annotations_12systems.jsonl.gz"
    with gzip.open(path, "rt") as file:
        rows = [json.loads(line) for line in file][::6]
    pairs = [(row["decoded"].split(), row["references"][0].lower().split()) for row in rows]
    started = time.process_time()
    ours = [edits(*pair) for pair in pairs]
    between = time.process_time()
    assert ours == [by_library(*pair) for pair in pairs]
    assert between - started < (time.process_time() - between) / 2
