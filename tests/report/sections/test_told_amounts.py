"""What a section says of amounts and intervals: what was paid, what would have been, what groups leave to doubt."""

import re

import pytest
from section_runs import item, labelled, reviewed, run_of

from judgegraph.meta.critic import cost_of
from judgegraph.report.answers import biases, scores
from judgegraph.report.figures import length_effects
from judgegraph.report.findings import rectification
from judgegraph.report.sections_run import tally_of
from judgegraph.types import Scale, Score
from judgegraph.views.blocks import Grid, Para, Picture, number, share


def text_of(section) -> str:
    return "\n".join(block.text for block in section.blocks if isinstance(block, Para))


def bill(calls: int, found: int) -> dict:
    amounts = {"prompt_tokens": 1000 * calls, "completion_tokens": 100 * calls, "usd": 0.5 * calls, "unpriced": 0}
    return {"critics": {"sage": ["critique"]}, "calls": {"by_node": {
        "critique": {"calls": calls, "found": found, **amounts}, "judge": {"calls": 8, "found": 0}}}}  # fmt: skip


@pytest.mark.parametrize(
    ("calls", "found", "said"),
    [
        (8, 0, "Cost of sage: 8 calls, 8,800 tokens, $4.00 (50 % of the run's paid calls)."),
        (8, 2, "Cost of sage: 8 calls, 8,800 tokens, $4.00 paid here (50 % of the run's paid calls); the replies to "
         "2 more were there already, without which it would be about 10 calls, 11,000 tokens, $5.00."),
        (0, 0, "Cost of sage: nothing, as it made no model call."),
        (0, 3, "Cost of sage: nothing paid here, as the replies to all of its 3 calls were there already."),
    ],
)  # fmt: skip
def test_what_a_critic_cost_is_what_was_paid(calls: int, found: int, said: str):
    run = run_of([item(0, reviewed("Depth", 4.0, 3.0))], **bill(calls, found))
    assert said in text_of(rectification(run)).splitlines()


def test_what_was_paid_and_what_all_would_cost_are_told_apart():
    cost = cost_of(bill(8, 2), "sage")
    assert cost is not None
    spent = cost.spent
    assert (cost.calls, cost.prompt_tokens, cost.usd) == (10, 10_000, 5.0)
    assert (spent.calls, spent.found) == (8, 0)
    assert (spent.prompt_tokens, spent.usd) == pytest.approx((8_000, 4.0))


def test_no_row_tells_how_far_a_p_can_fall_that_is_not_shown():
    section = rectification(run_of(labelled(4)))
    grids = [block for block in section.blocks if isinstance(block, Grid)]
    assert any(grid.caption.endswith("against people") for grid in grids)
    assert "p cannot fall" not in " ".join(cell for grid in grids for row in grid.rows for cell in row)


@pytest.mark.parametrize("many", [30, 5001])
def test_of_a_scale_of_many_labels_the_commonest_are_drawn(many: int):
    scale = Scale(labels=tuple(f"label {k}" for k in range(many)))
    met = [0, 0, *range(many - 45 if many > 45 else 0, many)]
    found = [
        item(k, [Score(criterion="Tone", agent="judge", scale=scale, label=f"label {at}")]) for k, at in enumerate(met)
    ]
    (chart,) = (block for block in scores(run_of(found)).blocks if isinstance(block, Picture))
    rows = re.findall(r"<text[^>]*>(\d+ \(|0<)", chart.svg)
    assert len(rows) == (30 if many == 30 else 31)
    assert sum(int(row[:-2]) for row in rows if "(" in row) == len(met)
    assert ("4,971 others" in chart.svg) == (many > 30)


def grouped(same: int, told: bool = True) -> list:
    """Twenty documents, each judged so many times alike."""
    return [
        item(k, [Score(criterion="Depth", agent="judge", scale=Scale.of("1-5"), value=5.0 - (k // same * 7 % 5))],
             output="word " * (k // same * 3 % 11 + 4), **({"meta": {"group": f"g{k // same}"}} if told else {}))
        for k in range(20 * same)
    ]  # fmt: skip


def wide(section) -> float:
    (grid,) = (block for block in section.blocks if isinstance(block, Grid) and block.caption == "Leniency")
    low, high = map(int, re.findall(r"(\d+) %", grid.rows[0][3])[1:])
    return high - low


def test_what_shares_a_group_is_drawn_as_one():
    apart, together = (run_of(grouped(10, told)) for told in (False, True))
    alone, whole = (length_effects(tally_of(run).some)[0] for run in (apart, together))
    assert alone.value == whole.value
    assert whole.high - whole.low > 2 * (alone.high - alone.low)
    assert wide(biases(together)) > 2 * wide(biases(apart))


@pytest.mark.parametrize(
    ("part", "said"),
    [(0, "0 %"), (0.005, "0.50 %"), (0.00001, "<0.01 %"), (0.984, "98 %"), (0.995, "99.50 %"), (0.99999, ">99.99 %"),
     (1, "100 %")],
)  # fmt: skip
def test_a_share_is_never_rounded_to_nothing_or_to_all(part: float, said: str):
    assert share(part) == said


@pytest.mark.parametrize(
    ("value", "said"), [(None, ""), (3.0, "3"), (0.5, "0.50"), (0.651, "0.65"), (-1.5, "-1.50"), (2.999, "3")]
)
def test_a_fraction_has_two_decimals(value: float | None, said: str):
    assert number(value) == said


def test_more_decimals_are_told_where_there_are_any():
    assert (number(0.1234, 4), number(0.5, 4), number(2.0, 4)) == ("0.1234", "0.50", "2")
