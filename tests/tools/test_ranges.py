"""From an assistant's description to its worst and best value."""

import time

import pytest

from judgegraph.registry.shipped import ASSISTANTS
from judgegraph.tools import Metric, assistants
from judgegraph.tools.catalogue import worst_and_best

OURS = {
    **dict.fromkeys(
        ("rouge-1", "rouge-2", "rouge-l", "rouge-l-sum", "meteor", "form-schema", "nli", "bleurt", "comet", "mover"),
        (0, 1),
    ),
    **dict.fromkeys(("sumbleurt", "unieval"), (0, 1)),
    **dict.fromkeys(("embedding-similarity", "token-matching", "bertscore"), (-1, 1)),
    "bartscore": (-10, 0),
    **dict.fromkeys(("chrf", "bleu"), (0, 100)),
    **dict.fromkeys(("form-duplicates", "form-overlaps", "form-exits"), (1, 0)),
}


@pytest.mark.parametrize("name", ASSISTANTS)
def test_of_ours_those_have_a_worst_and_a_best_value_that_say_which_end_is_better(name):
    (assistant,) = assistants([name])
    assert worst_and_best(assistant) == OURS.get(name)


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        ("Measures: x\nRange: 1 to 5; higher = better", (1, 5)),
        ("entailment, range 0-1, higher is better", (0, 1)),
        ("log-likelihood, range: -10 to 0; high = good", (-10, 0)),
        ("errors, range: 0 to 20; lower is better", (20, 0)),
        ("range: 0.5 to 2.25; more is better", (0.5, 2.25)),
        ("Range: 0 or more; higher = better", None),
        ("Range: 0 to 1; neither good nor bad", None),
        ("Range: 5 to 5", None),
        ("Range: 0 to 1e3", None),
        ("how good it is", None),
    ],
)
def test_a_description_in_words_is_read_alike(about, expected):
    assert worst_and_best(Metric(name="m", about=about, measure=lambda sample: 1.0)) == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("0 to 1. Higher is better.", (0, 1)),
        ("[0, 1]; higher is better", (0, 1)),
        ("(0, 1]; higher is better", (0, 1)),
        ("0..1; higher is better", (0, 1)),
        ("between 0 and 1; higher is better", (0, 1)),
        ("−1 to +1; higher is better", (-1, 1)),
        ("0 to 1,000; higher is better", (0, 1000)),
        ("[0,1,000,000]; higher is better", (0, 1_000_000)),
        ("[0,100]; higher is better", (0, 100)),
        ("0 to 1,5; higher is better", None),
        ("0 to 100%; higher is better", None),
        ("0 to 1 or more; higher is better", None),
        ("0 to 1; higher is better. Range: 0 to 5", None),
        ("0 to " + "9" * 400 + "; higher is better", None),
        ("0 (worst) to 1 (best)", (0, 1)),
        ("0 (best) to 1 (worst)", (1, 0)),
    ],
)
def test_numbers_are_read_whole_or_not_at_all(said, expected):
    assert worst_and_best(Metric(name="m", about=f"Range: {said}", measure=lambda sample: 1.0)) == expected


UP, DOWN = (0, 5), (5, 0)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("", None),
        ("higher = more toxic", None),
        ("higher values are better", UP),
        ("higher-is-better", UP),
        ("smaller = worse", UP),
        ("the more, the better", UP),
        ("better the higher it is", UP),
        ("5 is best", UP),
        ("0 is worst", UP),
        ("lower is better", DOWN),
        ("the lower the better", DOWN),
        ("the fewer errors, the better", DOWN),
        ("higher is worse", DOWN),
        ("0 is best", DOWN),
        ("0 = perfect", DOWN),
        ("best when low", DOWN),
        ("lower values indicate better text", DOWN),
        ("fewer is better", DOWN),
        ("3 is best", None),
        ("near 3 is best", None),
        ("neither higher nor lower is better", None),
        ("higher is not always better", None),
        ("higher never means better", None),
        ("it is not that lower is better", None),
        ("higher is better until 3", None),
        ("lower is better; of long texts higher is better", None),
    ],
)
def test_a_direction_is_said_in_known_words_and_never_guessed(said, expected):
    about = f'Measures: errors\nRange: 0 to 5; {said}\nExample: the output "higher is better" has the value 1'
    assert worst_and_best(Metric(name="m", about=about, measure=lambda sample: 1.0)) == expected


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", ["more ", "the more ", "1,111", "range 0 ", "best is 1 ", "9", "-", "\n"])
def test_a_long_description_is_read_in_time(text):
    about = text * (200_000 // len(text))
    started = time.perf_counter()
    worst_and_best(Metric(name="m", about=about, measure=lambda sample: 1.0))
    assert time.perf_counter() - started < 5
