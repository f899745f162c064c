"""The paper's table: what stands in a cell, and in which order the lines stand."""

import math
from dataclasses import replace

import pytest

from judgegraph.bench.files import Collection, Published
from judgegraph.bench.table import (
    Cell,
    against,
    by_group,
    counts_line,
    figure,
    finite,
    in_columns,
    measured,
    named,
    of_published,
    sections,
    shown,
)
from judgegraph.meta.cells import Judgements
from judgegraph.meta.conventions import Conventions

PUBLISHED = (
    Published("theirs", "Coherence", "spearman", 0.575, "a paper", "dataset"),
    Published("rec", "Coherence", "spearman", 1.0, "a paper", "dataset"),
    Published("rec", "Coherence", "spearman", 0.9, "another level", "group"),
    Published("rec", "Fluency", "spearman", 0.5, "a paper", "dataset"),
)
ONE = Judgements(
    criterion="Coherence", kind="number", ids=tuple("abcdef"), human=((1,), (2,), (3,), (4,), (5,), (6,)),
    metrics={"rec": (1.0, 2.0, 3.0, 4.0, 5.0, 6.0), "new": (2.0, 1.0, 3.0, 4.0, 5.0, None)}, groups=tuple("aaabbb"),
)  # fmt: skip
KNOWN = Collection(
    name="x", title="X", origin="o", files=("f",), criteria="summary", preset="unieval", samples=lambda _: (),
    recorded=lambda _: {"": [ONE]}, published=PUBLISHED,
)  # fmt: skip
PLAIN = Conventions(coefficients=("spearman",), resamples=0)


def cell(value: float, printed: float | None = None, digits: int = 3, **more) -> Cell:
    figure = Published("j", "c", "spearman", printed, "s", "dataset", digits) if printed is not None else None
    return Cell(judge="j", criterion="c", statistic="spearman", level="dataset", value=value, published=figure, **more)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (cell(0.44799, 0.448), ".448 ="),
        (cell(0.4474, 0.448), ".447 (.448)"),
        (cell(0.2816, 0.234), ".282 (.234)"),
        (cell(0.4436659, 0.443666, 6), ".443666 ="),
        (cell(0.4579, 0.46, 2), ".46 ="),
        (cell(-0.0301), "-.030"),
        (cell(1.0), "1.000"),
        (cell(math.nan, 0.575), "(.575)"),
        (cell(math.nan), "-"),
    ],
)
def test_a_cell_says_whether_it_is_the_published_figure(given, text):
    assert shown(given) == text


def test_a_share_of_pairs_is_told_as_a_count():
    assert (
        shown(Cell(judge="j", criterion="c", statistic="pairs", level="system", value=54 / 66, units=66)) == "54 of 66"
    )


@pytest.mark.parametrize(
    ("ends", "text"), [((0.4, 0.49), "[.40,.49]"), ((-1.0, 1.0), "[-1.00,1.00]"), ((math.nan, 1), "")]
)
def test_an_interval_is_short(ends, text):
    assert counts_line(cell(0.5, interval=ends)) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.5, ".500"), (-0.5, "-.500"), (0.9996, "1.000"), (10.5, "10.500"), (0.0, ".000")]
)
def test_a_figure_has_no_zero_before_its_point(value, text):
    assert figure(value) == text


def test_recorded_judges_meet_their_published_figures_at_each_level():
    found = measured({"": [ONE]}, KNOWN, PLAIN)
    cells = {(c.judge, c.criterion, c.level): c for c in found.cells}
    assert cells["rec", "Coherence", "dataset"].equal is True
    assert cells["rec", "Coherence", "group"].equal is False  # 1.0 where 0.9 is printed
    assert cells["new", "Coherence", "dataset"].equal is None
    assert cells["new", "Coherence", "dataset"].value == pytest.approx(0.9)
    assert (cells["new", "Coherence", "dataset"].n, cells["new", "Coherence", "dataset"].judged) == (5, 6)
    assert cells["theirs", "Coherence", "dataset"] == of_published(PUBLISHED[0])
    assert [c.judge for c in found.unequal] == ["rec"]


def test_a_run_s_metric_is_never_taken_for_a_published_judge_of_its_name():
    found = measured({"": [ONE]}, KNOWN, PLAIN, ours=True)
    lines = {(line.judge, line.ours): line for s in sections(found.cells) if s.level == "dataset" for line in s.lines}
    assert lines["rec", True].cells["Coherence"].published is None
    assert lines["rec", False].cells["Coherence"].value != lines["rec", True].cells["Coherence"].value


def test_the_run_s_own_line_stands_last():
    first = sections(measured({"": [ONE]}, KNOWN, PLAIN, ours=True).cells)[0]
    assert [line.ours for line in first.lines] == [False, False, True, True]
    assert first.criteria == ("Coherence", "Fluency")
    assert first.title == "Spearman, over all items"


def test_a_table_whose_columns_are_sets_of_items_splits_the_run_by_group():
    first, second = by_group([ONE])
    assert (first.criterion, second.criterion) == ("a", "b")
    assert second.ids == ("d", "e", "f")
    assert second.metrics["new"] == (4.0, 5.0, None)
    assert second.groups is None


def test_over_all_sets_a_run_is_measured_where_a_figure_is_published_for_them():
    sets = replace(KNOWN, columns="groups")
    assert [one.criterion for one in in_columns([ONE], sets)] == ["Coherence", "a", "b"]
    assert in_columns([ONE], sets)[0].groups is None
    assert [one.criterion for one in in_columns([ONE], replace(sets, published=()))] == ["a", "b"]
    assert in_columns([ONE], KNOWN) == [ONE]


THREE = Judgements(
    criterion="overall", kind="verdict", ids=tuple("abcd"),
    human=(("A", "A", "B"), ("B", "A", "B"), ("tie", "tie", "tie"), ("B", "A", "A")),
    metrics={"m": ("A", "B", "tie", "B")}, exchanged={"m": ("A", "B", "tie", "B")},
)  # fmt: skip


@pytest.mark.parametrize(
    ("alone", "rule", "accuracies"),
    [
        (1, "majority", {"m": 0.75, "m, against annotator 1": 1.0}),
        (1, 1, {"m": 1.0}),
        (None, "majority", {"m": 0.75}),
    ],
)
def test_a_run_is_held_to_the_one_annotator_of_a_published_figure_too(alone, rule, accuracies):
    conventions = Conventions(resamples=0, annotators=rule)
    found = measured({"": [THREE]}, replace(KNOWN, alone=alone), conventions, ours=True)
    assert {c.judge: c.value for c in found.cells if c.statistic == "accuracy" and c.measured} == accuracies
    assert against([ONE], 1) == []


def test_annotators_are_compared_two_by_two_and_their_judgement_is_split():
    (told,) = measured({"": [THREE, ONE]}, KNOWN, Conventions(resamples=0, annotators="majority")).among
    assert (told.annotators, told.n, told.split) == (3, 4, {"A": 2, "B": 1, "tie": 1})
    by_hand = [(0.5 - 4 / 16) / (1 - 4 / 16), (0.5 - 6 / 16) / (1 - 6 / 16), (0.5 - 4 / 16) / (1 - 4 / 16)]
    assert told.pairs["kappa"] == pytest.approx(by_hand)
    assert told.means["kappa"] == pytest.approx(sum(by_hand) / 3)


def test_what_is_no_number_is_null_however_deep_it_stands():
    deep = {"a": (math.nan, [math.inf, {"b": (1.0, -math.inf)}]), "c": "NaN", "d": True}
    assert finite(deep) == {"a": [None, [None, {"b": [1.0, None]}]], "c": "NaN", "d": True}


def test_levels_that_the_items_have_not_are_left_out():
    alone = Judgements(criterion="Coherence", kind="number", ids=ONE.ids, human=ONE.human, metrics=ONE.metrics)
    cells = measured({"": [alone]}, KNOWN, PLAIN).cells
    assert {c.level for c in cells if c.measured} == {"dataset"}
    assert [c.published.source for c in cells if c.level == "group"] == ["another level"]


def test_a_run_s_metric_is_called_as_its_method():
    (alone,) = named([by_group([ONE])[0]], "mine")
    assert set(alone.metrics) == {"mine: rec", "mine: new"}
    assert set(named([Judgements("c", "number", ("a",), ((1,),), {"merge": (1.0,)})], "mine")[0].metrics) == {"mine"}
    both = Judgements("c", "verdict", ("a",), (("A",),), {"merge": ("A",), "merge (both orders)": ("A",)})
    assert set(named([both], "mine")[0].metrics) == {"mine", "mine (both orders)"}
