"""`judgegraph meta`."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgegraph.cli.main import FAILURE, printable
from judgegraph.cli.meta_options import Sections, choices, columns, meta_options
from judgegraph.errors import ConfigError

if TYPE_CHECKING:
    from judgegraph.meta.conventions import Conventions
    from judgegraph.meta.critic import CriticWorth
    from judgegraph.meta.result import Agreement
    from judgegraph.runtime.run import Run

OF_TABLES = ("human", "id", "criterion", "exchanged", "kind", "swap_back")
OF_RUNS = ("stages", "assistants", "aggregates", "weights_out")


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

    conventions = chosen(given["preset"], **choices(given))
    if Path(source).is_dir():
        found, worth = _of_run(source, conventions, given)
    else:
        found, worth = _of_table(source, conventions, given), None
    _print(found, worth, given)
    if found and all(math.isnan(row.value) for row in found.rows):
        click.echo("no agreement with people: every statistic is undefined", err=True)
        if worth is None:
            click.get_current_context().exit(FAILURE)


def _print(found: Agreement | None, worth: CriticWorth | None, given: Mapping[str, Any]) -> None:
    if given["as_json"]:
        whole = {**(found.to_dict() if found else {}), "preset": given["preset"]}
        whole["critic"] = worth.to_dict() if worth else None
        click.echo(json.dumps(whole, indent=1, allow_nan=False))
        return
    if found:
        from judgegraph.cli.print_meta import print_meta

        print_meta(found, given["preset"])
    if worth:
        from judgegraph.cli.print_critic import print_critic

        print_critic(worth)


def _of_table(source: str, conventions: Conventions, given: Mapping[str, Any]) -> Agreement:
    from judgegraph.meta.agreement import agreement
    from judgegraph.meta.table import read_table

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
    from judgegraph.meta.critic import critic_worth
    from judgegraph.meta.judgements import Unjudged
    from judgegraph.runtime.run import Run

    _refuse(given, OF_TABLES, "names columns of a table, and this is a run: its samples hold people's judgements")
    run = Run.load(source)
    worth = critic_worth(run, conventions, group=given["group"] or "group", system=given["system"] or "system")
    try:
        return _agreement(run, conventions, given), worth
    except Unjudged as error:
        if worth is None or given["metrics"]:
            raise
        click.echo(printable(f"no agreement with people: {error}"), err=True)
        return None, worth


def _agreement(run: Run, conventions: Conventions, given: Mapping[str, Any]) -> Agreement:
    from judgegraph.meta.aggregate import aggregates_of
    from judgegraph.meta.agreement import agreement
    from judgegraph.meta.of_run import read_run
    from judgegraph.meta.weights import write_weights

    named = columns(given)
    read = read_run(
        run, group=given["group"], system=given["system"], agents=given["metrics"],
        stages=given["stages"] or None, assistants=given["assistants"] or given["aggregates"],
        verdicts=named["verdicts"], order=named["order"],
    )  # fmt: skip
    if given["weights_out"]:
        write_weights(run, conventions, given["weights_out"], group=given["group"], system=given["system"])
    judged = aggregates_of(run, read.judgements, conventions) if given["aggregates"] else read.judgements
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
