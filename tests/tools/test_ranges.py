"""From an assistant's description to its worst and best value."""

import pytest

from judgegraph.tools import Metric, assistants
from judgegraph.tools.catalogue import ASSISTANTS
from judgegraph.tools.ranges import worst_and_best

OURS = {"rouge-1": (0, 1), "rouge-2": (0, 1), "rouge-l": (0, 1), "chrf": (0, 100)}


@pytest.mark.parametrize("name", ASSISTANTS)
def test_of_ours_those_have_a_worst_and_a_best_value_that_say_which_end_is_better(name):
    (assistant,) = assistants([name])
    assert worst_and_best(assistant) == OURS.get(name)


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        ("Measures: x\nRange: 1 to 5; higher = better", (1, 5)),
        ("entailment, range 0-1", (0, 1)),
        ("log-likelihood, range: -10 to 0", (-10, 0)),
        ("errors, range: 0 to 20; lower is better", (20, 0)),
        ("range: 0.5 to 2.25", (0.5, 2.25)),
        ("Range: 0 or more; higher = better", None),
        ("Range: 0 to 1; neither good nor bad", None),
        ("Range: 5 to 5", None),
        ("Range: 0 to 1e3", None),
        ("how good it is", None),
    ],
)
def test_a_description_in_words_is_read_alike(about, expected):
    assert worst_and_best(Metric(name="m", about=about, measure=lambda sample: 1.0)) == expected
