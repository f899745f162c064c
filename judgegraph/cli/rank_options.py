"""The options of `judgegraph rank`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from judgegraph.cli.run_options import Finite

Command = TypeVar("Command", bound=Callable[..., Any])
_COLUMNS = (
    click.option("--system", metavar="COLUMN", help="What wrote the output; of a run a key of meta."),
    click.option("--rival", metavar="COLUMN",
                 help="What wrote the second output: rows are pairs then, judged by A, B, tie."),
    click.option("--group", metavar="COLUMN", help="The document: scores are compared within it; intervals draw it."),
    click.option("--human", multiple=True, metavar="COLUMN", help="People's judgement; repeat for several annotators."),
    click.option("--metric", "metrics", multiple=True, metavar="NAME",
                 help="A column, or an agent of a run; repeat for more."),
    click.option("--id", metavar="COLUMN", help="Of the item."),
    click.option("--criterion", metavar="COLUMN", help="What is judged, where a row is of one criterion."),
    click.option("--exchanged", multiple=True, metavar="METRIC=COLUMN", help="Its verdicts in exchanged order, too."),
    click.option("--swap-back", is_flag=True, help="Exchanged verdicts name the place: first there is the second."),
    click.option("--verdicts", metavar="A=1,B=2,tie=0", help="How verdicts on pairs are written."),
)  # fmt: skip
_HOW = (
    click.option("--annotators", metavar="RULE",
                 help="Several count by mean, median or majority, or only the N-th does.  [default: mean]"),
    click.option("--unreadable", type=click.Choice(("drop", "zero", "tie")),
                 help="A missing answer is left out; a score: 0; a verdict: a tie.  [default: drop]"),
    click.option("--duplicates", type=click.Choice(("refuse", "last", "first", "mean")),
                 help="Of scores with one id and system.  [default: refuse]"),
    click.option("--orders", type=click.Choice(("apart", "agree")),
                 help="Of pairs judged in both orders: each counts, or one verdict of both: what both say, "
                      "else a tie.  [default: apart]"),
    click.option("--elo-k", type=Finite(0, 10_000, min_open=True), default=16.0, show_default=True, metavar="POINTS",
                 help="How far one comparison moves a rating."),
    click.option("--elo-scale", type=Finite(0, 1e6, min_open=True), default=400.0, show_default=True, metavar="POINTS",
                 help="The difference at which the odds are 10 to 1."),
    click.option("--elo-start", type=Finite(-1e6, 1e6), default=1000.0, show_default=True, metavar="POINTS",
                 help="Everybody's rating before the first comparison."),
    click.option("--resamples", type=click.IntRange(0, 100_000), metavar="N",
                 help="0 for no intervals.  [default: 1000]"),
    click.option("--confidence", type=Finite(0, 1, min_open=True, max_open=True), metavar="SHARE",
                 help="Of intervals.  [default: 0.95]"),
    click.option("--seed", type=click.IntRange(0), metavar="N", help="[default: 0]"),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON list with everything."),
)  # fmt: skip


def rank_options(command: Command) -> Command:
    """Decorates a command with all of them."""
    for option in reversed((*_COLUMNS, *_HOW)):
        command = option(command)
    return command
