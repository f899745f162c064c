"""`judgegraph meta`."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from judgegraph.cli.main import FAILURE, wide
from judgegraph.cli.options import Finite
from judgegraph.errors import ConfigError, one_line, printable

if TYPE_CHECKING:
    from judgegraph.meta.conventions import Conventions
    from judgegraph.meta.critic import CriticWorth
    from judgegraph.meta.result import Agreement
    from judgegraph.runs.run import Run


# The options of `judgegraph meta`, in groups, and what is made of them.


Command = TypeVar("Command", bound=Callable[..., Any])
GROUPS = {  # heading of --help -> options; what stands nowhere comes last
    "What is compared": ("human", "metrics", "id", "group", "system", "criterion", "exchanged"),
    "What the cells say": ("kind", "verdicts", "order", "swap_back"),
    "Of a run": ("labels", "stages", "assistants", "aggregates", "weights_out"),
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
    click.option("--labels", metavar="FILE.jsonl", type=click.Path(exists=True, dir_okay=False),
                 help="People's judgements beside those of the data, as `judgegraph view` writes them."),
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
    click.option("--csv", metavar="FILE.csv", type=click.Path(dir_okay=False), help="Write a row per statistic."),
    click.option("--as", "form", type=click.Choice(["latex", "markdown"]), help="Print a table for a paper or a page."),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object with everything."),
    wide,
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


OF_TABLES = ("human", "id", "criterion", "exchanged", "kind", "swap_back")
OF_RUNS = ("labels", "stages", "assistants", "aggregates", "weights_out")


def _presets(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    """Print them, and end."""
    if value:
        from judgegraph.meta.conventions import PRESETS

        for name, (_, about) in PRESETS.items():
            click.echo(f"{name:24} {about}")
        ctx.exit()


@click.command(cls=Sections)
@click.argument("source", metavar="RUN_OR_TABLE")
@meta_options
@click.option("--presets", is_flag=True, is_eager=True, expose_value=False, callback=_presets, help="List the presets.")
def meta(source: str, **given: Any) -> None:
    """Say how far scores agree with people's.

    RUN_OR_TABLE is the folder of a run whose samples have human judgements, or a table (CSV, TSV, JSON, JSONL, Parquet)
    with a column of them and one per metric. Columns named id, human, group, system and criterion need no option.

    Numbers are correlated; labels and verdicts (A, B, tie) are counted. Every number comes with its interval (but for
    counts of pairs of systems), its n and every choice behind it. Two or more metrics are tested against one another
    on the items where both have an answer.
    """
    from judgegraph.meta.conventions import chosen

    if given["csv"] and Path(given["csv"]).suffix.lower() != ".csv":
        raise click.UsageError(f"--csv {given['csv']}: it ends in .csv")
    if given["form"] and given["as_json"]:
        raise click.UsageError("--as and --json: one of them")
    conventions = chosen(given["preset"], **choices(given))
    if Path(source).is_dir():
        found, worth = _of_run(source, conventions, given)
    else:
        found, worth = _of_table(source, conventions, given), None
    if found and given["csv"]:
        found.table().to_csv(given["csv"])
    _print(found, worth, given)
    if found and all(math.isnan(row.value) for row in found.rows):
        click.echo("no agreement with people: every statistic is undefined", err=True)
        found = None
    if found is None:
        click.get_current_context().exit(FAILURE)


def _print(found: Agreement | None, worth: CriticWorth | None, given: Mapping[str, Any]) -> None:
    if given["as_json"]:
        whole = {**(found.to_dict() if found else {}), "preset": given["preset"]}
        whole["critic"] = worth.to_dict() if worth else None
        click.echo(json.dumps(whole, indent=1, allow_nan=False))
        return
    if found and given["form"]:
        from judgegraph.views.agreement import agreement_text

        click.echo(printable(agreement_text(found, given["form"])))
        return
    if found:
        from judgegraph.views.agreement import agreement
        from judgegraph.views.terminal import show

        show(agreement(found, given["preset"]))
    if worth:
        from judgegraph.views.critic import critic_worth
        from judgegraph.views.terminal import show

        show(critic_worth(worth))


def _of_table(source: str, conventions: Conventions, given: Mapping[str, Any]) -> Agreement:
    from judgegraph.meta.agreement import agreement
    from judgegraph.meta.judgements import read_table

    _refuse(given, OF_RUNS, "is of runs, and this is a file")
    if not Path(source).exists():
        raise ConfigError(f"{source}: no such file, and no folder of a run")
    if (Path(source).parent / "manifest.json").exists() and Path(source).name == "items.jsonl":
        raise ConfigError(f"{source} is a file of a run; name the run's folder")
    named = columns(given)
    found = agreement(read_table(source, **named), conventions, tests=given["tests"], against=given["against"])
    cells = [f"verdicts:{given['verdicts']}"] if given["verdicts"] else []
    if named["exchanged"]:
        cells.append("exchanged:swapped back" if given["swap_back"] else "exchanged:as they are")
    return replace(found, source="|".join([f"table:{Path(source).name}", *cells]))


def _of_run(
    source: str, conventions: Conventions, given: Mapping[str, Any]
) -> tuple[Agreement | None, CriticWorth | None]:  # fmt: skip
    """Agreement with people, None where they judged nothing; and what the critic was worth, None without one."""
    from judgegraph.meta.cells import Unjudged
    from judgegraph.meta.critic import critic_worth
    from judgegraph.runs.run import Run

    _refuse(given, OF_TABLES, "names columns of a table, and this is a run: its samples hold people's judgements")
    run = Run.load(source)
    if given["labels"]:
        from judgegraph.runs.labels import LabelledRun, Labels
        from judgegraph.views.blocks import counted

        run = LabelledRun.of(run, Labels.load(given["labels"]))
        if run.unknown:
            left = f"labels of {counted(run.unknown, 'sample')} that the run has not: left out"
            click.echo(printable(f"{given['labels']}: {left}"), err=True)
    worth = critic_worth(run, conventions, group=given["group"] or "group", system=given["system"] or "system")
    try:
        return _agreement(run, conventions, given), worth
    except Unjudged as error:
        if worth is None or given["metrics"]:
            raise
        click.echo(printable(f"no agreement with people: {error}"), err=True)
        return None, worth


def _agreement(run: Run, conventions: Conventions, given: Mapping[str, Any]) -> Agreement:
    from judgegraph.meta.agreement import agreement
    from judgegraph.meta.judgements import read_run

    named = columns(given)
    read = read_run(
        run, group=given["group"], system=given["system"], agents=given["metrics"],
        stages=given["stages"] or None, assistants=given["assistants"] or given["aggregates"],
        verdicts=named["verdicts"], order=named["order"],
    )  # fmt: skip
    judged = read.judgements
    if given["weights_out"] or given["aggregates"]:
        from judgegraph.meta.aggregate import aggregates_of, write_weights
    if given["weights_out"]:
        write_weights(run, conventions, given["weights_out"], group=given["group"], system=given["system"])
    if given["aggregates"]:
        judged = aggregates_of(run, judged, conventions)
    found = agreement(judged, conventions, tests=given["tests"], against=given["against"])
    return replace(found, notes=(*read.notes, *found.notes), source=run.signature)


def _refuse(given: Mapping[str, Any], names: tuple[str, ...], why: str) -> None:
    """Refuse options that mean nothing here.

    Raises:
        UsageError: naming the first of them.
    """
    for name in names:
        if given[name]:
            option = {"stages": "stage"}.get(name, name).replace("_", "-")
            raise click.UsageError(f"--{option} {why}")


# The options of `judgegraph rank`.


RankCommand = TypeVar("RankCommand", bound=Callable[..., Any])
_RANK_OPTIONS_COLUMNS = (
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
_RANK_OPTIONS_HOW = (
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
    wide,
)  # fmt: skip


def rank_options(command: RankCommand) -> RankCommand:
    """Decorates a command with all of them."""
    for option in reversed((*_RANK_OPTIONS_COLUMNS, *_RANK_OPTIONS_HOW)):
        command = option(command)
    return command


# `judgegraph rank`.


RANK_OF_TABLES = ("human", "id", "criterion", "exchanged", "swap_back")
COUNTED = ("unreadable", "duplicates", "orders", "resamples", "confidence", "seed")


@click.command()
@click.argument("source", metavar="RUN_OR_TABLE")
@rank_options
def rank(source: str, as_json: bool, **given: Any) -> None:
    """Rank systems by people and by metrics.

    RUN_OR_TABLE is the folder of a run, or a table (CSV, TSV, JSON, JSONL, Parquet). Its rows are scores of systems'
    outputs, compared within each document; or, with --rival, verdicts on pairs. A run's samples name their systems in
    meta.system, and of pairs in meta.rival_system; pairs without either are ranked as two systems, A (output) and
    B (rival).

    Prints strengths (Bradley-Terry) and Elo ratings with intervals, cycles of preferences, and how far each metric's
    order is people's.
    """
    from judgegraph.meta.ranking import rank_systems
    from judgegraph.stats.ranking import EloRule

    rule = EloRule(k=given["elo_k"], scale=given["elo_scale"], start=given["elo_start"])
    found = rank_systems(*_entrants(source, given), rule=rule)
    if as_json:
        click.echo(json.dumps([one.to_dict() for one in found], indent=1, allow_nan=False))
        return
    from judgegraph.views.agreement import rankings
    from judgegraph.views.terminal import show

    show(rankings(found))


def _entrants(source: str, given: Mapping[str, Any]) -> tuple[Any, Any]:
    """What is ranked, and the conventions.

    Raises:
        ConfigError: no such file; UsageError: an option that means nothing here.
    """
    from judgegraph.meta.conventions import Conventions
    from judgegraph.meta.ranking import of_run, of_table
    from judgegraph.runs.run import Run

    conventions = Conventions().replaced(**{name: given[name] for name in COUNTED if given[name] is not None})
    if (by := given["annotators"]) is not None:
        conventions = replace(conventions, annotators=int(by) if by.isascii() and by.isdecimal() else by)
    where: dict[str, Any] = {name: given[name] for name in ("system", "rival", "group", "metrics")}
    if given["verdicts"]:
        where["verdicts"] = words(given["verdicts"])
    if not Path(source).is_dir():
        if not Path(source).exists():
            raise ConfigError(f"{printable(source)}: no such file, and no folder of a run")
        more = {name: given[name] for name in RANK_OF_TABLES}
        more["exchanged"] = pairs("--exchanged", given["exchanged"])
        return of_table(source, **where, **more), conventions
    for name in RANK_OF_TABLES:
        if given[name]:
            option = name.replace("_", "-")
            raise click.UsageError(f"--{option} names a column of a table, and this is a run: its samples hold it")
    return of_run(Run.load(source), **where), conventions
