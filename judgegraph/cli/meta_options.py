"""The options of `judgegraph meta`, in groups, and what is made of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

import click

from judgegraph.cli.run_options import Finite
from judgegraph.errors import one_line

Command = TypeVar("Command", bound=Callable[..., Any])
GROUPS = {  # heading of --help -> options; what stands nowhere comes last
    "What is compared": ("human", "metrics", "id", "group", "system", "criterion", "exchanged"),
    "What the cells say": ("kind", "verdicts", "order", "swap_back"),
    "Of a run": ("stages", "assistants", "aggregates", "weights_out"),
    "How it is counted": (
        "preset", "level", "coefficients", "unreadable", "constant", "duplicates", "annotators", "orders",
        "unread_equal",
    ),
    "How sure it is": (
        "unit", "resamples", "permutations", "confidence", "correction", "seed", "against", "tests",
    ),
}  # fmt: skip
CHOICES = (
    "coefficients", "unreadable", "constant", "duplicates", "unit", "resamples", "permutations", "confidence",
    "correction", "seed", "orders", "unread_equal",
)  # fmt: skip
LEVELS = ("dataset", "group", "system")
COEFFICIENTS = ("pearson", "spearman", "kendall-b", "kendall-c")
SIDES = {"a": "A", "b": "B", "tie": "tie"}


class Sections(click.Command):
    """A command with so many options that --help has them under headings."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = [p for p in self.get_params(ctx) if isinstance(p, click.Option)]
        records = {p.name: record for p in options if (record := p.get_help_record(ctx)) is not None}
        for heading, names in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([records.pop(name) for name in names])
        with formatter.section("What is printed"):
            formatter.write_dl(list(records.values()))


_COLUMNS = (
    click.option("--human", multiple=True, metavar="COLUMN", help="People's judgement; repeat for several annotators."),
    click.option("--metric", "metrics", multiple=True, metavar="NAME",
                 help="A column that is compared with it; of a run an agent. Repeat for more."),
    click.option("--id", metavar="COLUMN", help="Of the item."),
    click.option("--group", metavar="COLUMN", help="Its document or dialogue; of a run a key of meta."),
    click.option("--system", metavar="COLUMN", help="What wrote it; of a run a key of meta."),
    click.option("--criterion", metavar="COLUMN", help="What is judged, where a row is of one criterion."),
    click.option("--exchanged", multiple=True, metavar="METRIC=COLUMN", help="Its verdicts in the exchanged order."),
)  # fmt: skip
_CELLS = (
    click.option("--kind", type=click.Choice(("number", "label", "verdict")),
                 help="What answers are; else told by what people wrote."),
    click.option("--verdicts", metavar="A=1,B=2,tie=0", help="How verdicts on pairs are written."),
    click.option("--order", metavar="LABEL,LABEL", help="Of ordinal labels, least first."),
    click.option("--swap-back", is_flag=True, help="Exchanged verdicts name the place: first there is the second."),
)  # fmt: skip
_RUN = (
    click.option("--stage", "stages", multiple=True, metavar="STAGE",
                 help="Whose scores count: final, draft, ballot; repeat for more.  [default: the answers]"),
    click.option("--assistants", is_flag=True, help="Findings of assistants are compared, too."),
    click.option("--aggregates", is_flag=True,
                 help="Their means are, too: plain (AVG), of those that a plan chose (LLMSel), weighted by agreement "
                      "with people on other items (CorrW)."),
    click.option("--weights-out", type=click.Path(dir_okay=False), metavar="FILE",
                 help="Write the assistants' weights by agreement, for fusion-corrw -s weights=FILE on other data."),
)  # fmt: skip
_HOW = (
    click.option("--preset", metavar="NAME",
                 help="A paper's conventions (--presets lists them); other options come first."),
    click.option("--level", "level", multiple=True, metavar="LEVEL",
                 help="dataset, group or system, or COEFFICIENT=LEVEL for one of them.  [default: dataset]"),
    click.option("--coefficient", "coefficients", multiple=True, type=click.Choice(COEFFICIENTS),
                 help="Repeat for more.  [default: the first three]"),
    click.option("--unreadable", type=click.Choice(("drop", "zero", "tie")),
                 help="What has no answer is left out, counts as 0 (a label as wrong), or as a tie.  [default: drop]"),
    click.option("--constant", type=click.Choice(("skip", "zero")),
                 help="A group where one side is constant is left out, or counts as 0.  [default: skip]"),
    click.option("--duplicates", type=click.Choice(("refuse", "last", "first", "mean")),
                 help="Of records with one id and system.  [default: refuse]"),
    click.option("--annotators", metavar="RULE",
                 help="Several count by mean, median or majority, or only the N-th does.  [default: mean]"),
    click.option("--orders", type=click.Choice(("apart", "agree")),
                 help="Of pairs judged in both orders: the exchanged verdict beside the first, or one verdict: what "
                      "both say, else a tie.  [default: apart]"),
    click.option("--unread-equal", is_flag=True, default=None,
                 help="Pairs that could be read in neither order count as judged alike."),
)  # fmt: skip
_SURE = (
    click.option("--unit", type=click.Choice(("item", "group", "system", "both")),
                 help="What the bootstrap draws.  [default: groups where there are some; at system level both]"),
    click.option("--resamples", type=click.IntRange(0), metavar="N", help="0 for no intervals.  [default: 1000]"),
    click.option("--permutations", type=click.IntRange(1), metavar="N", help="[default: 2000]"),
    click.option("--confidence", type=Finite(0, 1, min_open=True, max_open=True), metavar="SHARE",
                 help="Of intervals.  [default: 0.95]"),
    click.option("--correction", type=click.Choice(("holm", "bh", "none")),
                 help="Of p values for many comparisons.  [default: holm]"),
    click.option("--seed", type=click.IntRange(0), metavar="N", help="[default: 0]"),
    click.option("--against", metavar="METRIC", help="Compare the others with this one only."),
    click.option("--no-tests", "tests", is_flag=True, flag_value=False, default=True, help="Compare no two metrics."),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object with everything."),
)  # fmt: skip


def meta_options(command: Command) -> Command:
    """Decorates a command with all of them."""
    for option in reversed((*_COLUMNS, *_CELLS, *_RUN, *_HOW, *_SURE)):
        command = option(command)
    return command


def choices(given: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of `Conventions` that the command line names.

    Raises:
        UsageError: a level or a rule for annotators that is none.
    """
    found = {name: given[name] for name in CHOICES if given[name] not in (None, ())}
    levels = []
    for text in given["level"]:
        coefficient, equals, level = text.rpartition("=")
        if level not in LEVELS or (equals and coefficient not in COEFFICIENTS):
            raise click.UsageError(
                f"--level takes {', '.join(LEVELS)} or COEFFICIENT=LEVEL, got '{one_line(text, 60)}'"
            )
        if equals:
            levels.append((coefficient, level))
        else:
            found["level"] = level
    if levels:
        found["levels"] = tuple(levels)
    if (rule := given["annotators"]) is not None:
        if rule not in ("mean", "median", "majority") and not re.fullmatch("[0-9]{1,5}", rule):
            raise click.UsageError(
                f"--annotators takes mean, median, majority, or a number from 1, got '{one_line(rule, 60)}'"
            )
        found["annotators"] = int(rule) if rule.isdecimal() else rule
    return found


def pairs(option: str, texts: Sequence[str]) -> dict[str, str]:
    """KEY=VALUE of an option.

    Raises:
        UsageError: one of them is none, or a key is given twice.
    """
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = map(str.strip, text.partition("="))
        if not (name and equals and value):
            raise click.UsageError(f"{option} takes NAME=VALUE, got '{one_line(text, 60)}'")
        if name in found:
            raise click.UsageError(f"{option} '{one_line(name, 60)}' is given twice")
        found[name] = value
    return found


def words(text: str | None) -> dict[str, str]:
    """Word -> "A", "B" or "tie", of --verdicts; one side may have several words.

    Raises:
        UsageError: no such side, or a word that is given twice.
    """
    found: dict[str, str] = {}
    for part in (text or "").split(",") if text is not None else ():
        ((side, word),) = pairs("--verdicts", [part]).items()
        if side.casefold() not in SIDES or word in found:
            why = "is given twice" if word in found else f"'{one_line(side, 30)}' is none of A, B, tie"
            raise click.UsageError(f"--verdicts takes such as A=1,B=2,tie=0; in '{one_line(part, 60)}' {why}")
        found[word] = SIDES[side.casefold()]
    return found


def order(text: str | None) -> tuple[str, ...]:
    """Labels of --order.

    Raises:
        UsageError: fewer than two different ones.
    """
    found = tuple(label.strip() for label in text.split(",")) if text is not None else ()
    if text is not None and (len(found) < 2 or not all(found) or len({f.casefold() for f in found}) < len(found)):
        raise click.UsageError(f"--order takes two or more labels, such as poor,fair,good; got '{one_line(text, 60)}'")
    return found


def columns(given: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of `Columns` that the command line names."""
    plain = ("id", "human", "metrics", "group", "system", "criterion", "kind", "swap_back")
    return {
        **{name: given[name] for name in plain}, "exchanged": pairs("--exchanged", given["exchanged"]),
        "verdicts": cast(Any, words(given["verdicts"])), "order": order(given["order"]),
    }  # fmt: skip
