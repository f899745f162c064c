"""Doubled records, several annotators, unread answers: each rule by hand."""

import math

import pytest

import judgegraph as jg
from judgegraph.errors import ConfigError, DataError
from judgegraph.meta.answers import answers
from judgegraph.meta.cells import Judgements
from judgegraph.meta.conventions import PRESETS, Conventions, chosen

NAN = math.nan


def numbers(human, metric, **more) -> Judgements:
    ids = more.pop("ids", tuple(str(i) for i in range(len(human))))
    return Judgements("c", "number", ids, tuple(human), {"m": tuple(metric)}, **more)


@pytest.mark.parametrize(
    ("rule", "human", "metric"),
    [("last", (3.0, 2.0), (30.0, None)), ("first", (1.0, 2.0), (10.0, None)), ("mean", (2.0, 2.0), (20.0, None))],
)
def test_of_doubled_records_the_rule_says_which_counts(rule, human, metric):
    doubled = numbers([(1.0,), (2.0,), (3.0,)], [10.0, None, 30.0], ids=("a", "b", "a"))
    found = answers(doubled, Conventions(duplicates=rule))
    assert (found.human, found.metrics["m"], found.folded) == (human, metric, 1)


def test_doubled_records_are_refused_unless_a_rule_is_given_and_a_system_tells_them_apart():
    doubled = numbers([(1.0,), (2.0,)], [1.0, 2.0], ids=("a", "a"))
    with pytest.raises(DataError, match=r"c: 'a' stands there 2 times; .*--duplicates last, first or mean.*--system"):
        answers(doubled, Conventions())
    told = numbers([(1.0,), (2.0,)], [1.0, 2.0], ids=("a", "a"), systems=("s", "t"))
    assert len(answers(told, Conventions())) == 2


def test_labels_have_no_mean():
    doubled = Judgements("c", "label", ("a", "a"), (("x",), ("y",)), {"m": ("x", "y")})
    with pytest.raises(DataError, match="labels have no mean"):
        answers(doubled, Conventions(duplicates="mean"))


THREE = [(1.0, 1.0, 4.0), (2.0, NAN, 3.0), (), (NAN, 5.0, NAN)]


@pytest.mark.parametrize(
    ("rule", "human", "unjudged"),
    [
        ("mean", (2.0, 2.5, 5.0), 1),
        ("median", (1.0, 2.5, 5.0), 1),
        ("majority", (1.0, 5.0), 2),
        (2, (1.0, 5.0), 2),
        (3, (4.0, 3.0), 2),
    ],
)
def test_several_annotators_count_by_the_rule(rule, human, unjudged):
    found = answers(numbers(THREE, [1.0, 2.0, 3.0, 4.0]), Conventions(annotators=rule))
    assert (found.human, found.unjudged) == (human, unjudged)


def test_an_annotator_who_is_not_there_is_refused():
    with pytest.raises(ConfigError, match="the annotator 4 is wanted, and there are 3"):
        answers(numbers(THREE, [1.0] * 4), Conventions(annotators=4))


@pytest.mark.parametrize(("kind", "human"), [("verdict", ("tie", "A")), ("label", ("A",))])
def test_without_a_majority_a_verdict_is_a_tie_and_a_label_none(kind, human):
    split = Judgements("c", kind, ("1", "2"), (("A", "B"), ("A", "A")), {"m": ("A", "A")})
    assert answers(split, Conventions()).human == human


def test_unread_answers_are_counted_by_status():
    found = numbers([(1.0,), (2.0,), ()], [None, 1.0, None], statuses={"m": ("refused", "ok", "truncated")})
    assert answers(found, Conventions()).unread == {"m": {"refused": 1}}


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"level": "systems"}, "level: expected dataset, group, system; got 'systems'; did you mean 'system'"),
        ({"coefficients": ("kendall",)}, "coefficients: expected .* did you mean 'kendall-"),
        ({"coefficients": ()}, "expected at least one"),
        ({"annotators": 0}, "expected mean, median, majority, or 1, 2"),
        ({"annotators": "all"}, "annotators: expected mean, median, majority"),
        ({"resamples": -1}, "resamples: expected a whole number from 0"),
        ({"confidence": 1.0}, "confidence: expected more than 0 and less than 1"),
        ({"confidence": NAN}, "confidence"),
        ({"seeds": 1}, "a choice: expected .*did you mean 'seed'"),
    ],
)
def test_a_choice_that_is_none_is_refused(choices, said):
    with pytest.raises(ConfigError, match=said):
        chosen(**choices)


def test_a_preset_is_the_start_and_choices_come_first():
    assert chosen("g-eval").level == "group"
    assert chosen("g-eval", level="dataset").level == "dataset"
    look = chosen("closer-look")
    assert [look.level_of(name) for name in look.coefficients] == ["dataset", "group"]
    assert chosen("closer-look", level="group").level_of("pearson") == "group"
    with pytest.raises(ConfigError, match="no preset 'geval'; did you mean 'g-eval'"):
        chosen("geval")
    with pytest.raises(ConfigError, match="not both"):
        jg.agreement([], Conventions(), preset="g-eval")


def test_choices_may_be_given_as_python_writes_them():
    found = chosen(coefficients=["spearman", "kendall-c"], levels={"kendall-c": "group"})
    assert found == chosen(coefficients=("spearman", "kendall-c"), levels=(("kendall-c", "group"),))
    assert found.level_of("kendall-c") == "group"


def test_every_preset_names_its_source():
    assert {"g-eval", "unieval", "coascore", "fusion-eval-summeval", "fusion-eval-topicalchat", "closer-look",
            "summeval-llm", "auto-j", "fennec", "pandalm", "llmbar"} <= PRESETS.keys()  # fmt: skip
    assert all("arXiv:" in source for _, source in PRESETS.values())
