"""The tally: one pass, memory that does not grow with the run, and names that cannot flood a page."""

import tracemalloc
from collections.abc import Iterator

import pytest
from section_runs import SCALE, advice, item, reviewed, run_of, sections_of

from judgegraph.report.figures import OTHERS, OWN, Commonest, Probed, SomeItems
from judgegraph.report.sections_run import Tally, tally_of
from judgegraph.runs.item import Item
from judgegraph.runs.run import Run
from judgegraph.runs.suggestions import Gathering
from judgegraph.runs.summary import summarise
from judgegraph.types import Comparison, Criterion, Note, Score
from judgegraph.views.blocks import Fold, Grid, Para, Picture, Section

pytestmark = pytest.mark.slow

HOSTILE = ["<script>alert(1)</script>", "]]>", "\"'>", "\u202eevil", "a\0b", "x" * 10_000, "\x1b[31mred", "</svg>"]


def texts(part) -> list[str]:
    if isinstance(part, Section | Fold):
        return [text for block in part.blocks for text in texts(block)]
    if isinstance(part, Para):
        return [part.text]
    if isinstance(part, Grid):
        return [part.caption, *part.head, *(cell for row in part.rows for cell in row if isinstance(cell, str))]
    assert isinstance(part, Picture)
    return [part.alt]


def test_a_run_is_read_once():
    class Counted(Run):
        read = 0

        @property
        def items(self):
            type(self).read += 1
            return super().items

    run = Counted(
        {"signature": "x"}, [item(k, reviewed("Depth", 3.0, 2.0), human={"Depth": k % 5 + 1}) for k in range(9)]
    )
    assert "agreement" in {one.key for one in sections_of(run)}
    assert Counted.read == 1


def test_items_may_come_from_another_reader_of_the_same_pass():
    items = [item(k, reviewed("Depth", 3.0, 2.0)) for k in range(4)]
    seen = []
    tally = tally_of(run_of([]), (seen.append(one.id) or one for one in items))
    assert (tally.samples, len(seen)) == (4, 4)


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: repr(name)[:20])
def test_no_name_or_text_floods_the_page_or_breaks_a_chart(name):
    scores = [*reviewed(name, 3.0, 2.0), Score(criterion=f"b{name}", agent="judge", status="refused", reason=name * 9)]
    items = [
        item(k, scores, human={name: k % 5 + 1}, suggestions=(advice(name[:900], reason=name),),
             notes=(Note(agent="merge", text=name),)) for k in range(8)
    ]  # fmt: skip
    sections = sections_of(run_of(items))
    assert {"scores", "rectification", "suggestions", "failures", "notes"} <= {one.key for one in sections}
    assert max(len(text) for one in sections for text in texts(one)) < 1500


def test_criteria_written_for_each_sample_are_taken_together():
    def one(place):
        names = [f"is it good at {place}-{k}" for k in range(3)]
        scores = [Score(criterion=name, agent="judge", scale=SCALE, value=4) for name in names]
        orders = [(order, name) for order in ("AB", "BA") for name in names]
        verdicts = [Comparison(criterion=name, agent="judge", order=order, verdict="A") for order, name in orders]
        return item(place, scores, branches={n: Criterion(name=n) for n in names}, comparisons=tuple(verdicts))

    tally = tally_of(run_of([one(k) for k in range(50)]))
    ((key, line),) = tally.summary.lines.items()
    assert (key[0], line.n, line.mean) == (OWN, 150, 4)
    assert tally.orders.flips == {OWN: {False: 150}}


def test_after_two_hundred_names_criteria_are_others():
    items = [item(k, reviewed(f"c{k}", 3.0, 2.0)) for k in range(250)]
    tally = tally_of(run_of(items))
    assert len({key[0] for key in tally.summary.lines}) == 201
    (others,) = [one for key, one in tally.critiques.reviews.items() if key[2] == OTHERS]
    assert (others.n, others.down) == (50, 50), "finals still find their drafts"


def flood(n: int) -> Iterator[Item]:
    """Items whose texts are all their own."""
    for k in range(n):
        about = {"notes": (Note(agent="merge", text=f"note {k}"),), "suggestions": (advice(f"criterion {k}"),)}
        yield item(k, reviewed(f"c{k}", 3.0, 2.0), human={"Depth": k % 5 + 1}, output="some words " * 200, **about)


def grown(n: int, most: int) -> int:
    """Bytes that a tally of so many items holds."""
    tracemalloc.start()
    tally = Tally()
    tally.labelled, tally.some = SomeItems(most), SomeItems(most, scored=False)
    tally.probed = Probed(most)
    tally.notes, tally.advice = Commonest(most), Gathering(most)
    tally.summary = summarise(tally.watch(flood(n)), "")
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert tally.samples == n
    return held


@pytest.mark.parametrize(
    ("few", "many", "most"), [(300, 2_000, 100), pytest.param(5_000, 20_000, 2_000, marks=pytest.mark.long)]
)
def test_memory_does_not_grow_with_the_number_of_items(few, many, most):
    assert grown(many, most) < 1.15 * grown(few, most) + 100_000


def test_the_items_that_are_held_are_the_same_in_whatever_order_they_come():
    items = [item(k) for k in range(300)]
    found = []
    for order in (items, items[::-1]):
        some = SomeItems(most=40)
        for one in order:
            some.offer(one, one)
        found.append([one.id for one in some.items])
    assert found[0] == found[1]
    assert len(found[0]) == 40
    assert some.counted == "40 of 300 samples (drawn by their ids)"


def test_of_more_labelled_samples_than_are_held_the_sections_say_so():
    items = [item(k, reviewed("Depth", 3.0 + k % 2, 2.0 + k % 3), human={"Depth": k % 5 + 1}) for k in range(2100)]
    sections = {one.key: one for one in sections_of(run_of(items))}
    assert "On 2,000 of 2,100 samples (drawn by their ids) that people judged" in " ".join(texts(sections["agreement"]))


def test_a_counter_that_is_full_says_how_many_it_left_out():
    found = Commonest(2)
    assert [found.add(word) for word in "aabcc"] == [True, True, True, False, False]
    assert (found.first(1), found.rest(1), found.beyond) == ([("a", 2)], 3, 2)


def test_criteria_that_the_run_was_given_are_no_sample_s_own():
    """A method that can write criteria stores what it was given as its branches: these keep their rows."""

    def one(place: int) -> Item:
        scores = [Score(criterion=name, agent="judge", scale=SCALE, value=4) for name in ("Given", "Mine")]
        verdicts = [Comparison(criterion="Given", agent="judge", order=order, verdict="A") for order in ("AB", "BA")]
        written = {name: Criterion(name=name) for name in ("Given", "Mine")}
        return item(place, scores, branches=written, comparisons=tuple(verdicts))

    tally = tally_of(run_of([one(k) for k in range(50)], criteria=[{"name": "Given"}]))
    assert [(key[0], line.n, line.own) for key, line in tally.summary.lines.items()] == [
        ("Given", 50, False), ("Mine", 50, True)
    ]  # fmt: skip
    assert tally.orders.flips == {"Given": {False: 50}}
