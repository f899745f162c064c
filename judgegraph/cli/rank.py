"""`judgegraph rank`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from judgegraph.cli.main import printable
from judgegraph.cli.meta_options import pairs, words
from judgegraph.cli.rank_options import rank_options
from judgegraph.errors import ConfigError

OF_TABLES = ("human", "id", "criterion", "exchanged", "swap_back")
COUNTED = ("unreadable", "duplicates", "orders", "resamples", "confidence", "seed")


@click.command()
@click.argument("source", metavar="RUN_OR_TABLE")
@rank_options
def rank(source: str, as_json: bool, **given: Any) -> None:
    """Rank systems by people and by metrics.

    RUN_OR_TABLE is the folder of a run, or a table (CSV, TSV, JSON, JSONL, Parquet). Its rows are scores of systems'
    outputs, compared within each document; or, with --rival, verdicts on pairs. A run's samples name their systems in
    meta.system, and of pairs in meta.rival_system.

    Prints strengths (Bradley-Terry) and Elo ratings with intervals, cycles of preferences, and how far each metric's
    order is people's.
    """
    from judgegraph.meta.systems import rank_systems
    from judgegraph.stats.elo import EloRule

    rule = EloRule(k=given["elo_k"], scale=given["elo_scale"], start=given["elo_start"])
    found = rank_systems(*_entrants(source, given), rule=rule)
    if as_json:
        click.echo(json.dumps([one.to_dict() for one in found], indent=1, allow_nan=False))
        return
    from judgegraph.cli.print_ranking import print_rankings

    print_rankings(found)


def _entrants(source: str, given: Mapping[str, Any]) -> tuple[Any, Any]:
    """What is ranked, and the conventions.

    Raises:
        ConfigError: no such file; UsageError: an option that means nothing here.
    """
    from judgegraph.meta.conventions import Conventions
    from judgegraph.meta.entrants import of_run, of_table
    from judgegraph.runtime.run import Run

    conventions = Conventions().replaced(**{name: given[name] for name in COUNTED if given[name] is not None})
    if (by := given["annotators"]) is not None:
        conventions = replace(conventions, annotators=int(by) if by.isascii() and by.isdecimal() else by)
    where: dict[str, Any] = {name: given[name] for name in ("system", "rival", "group", "metrics")}
    if given["verdicts"]:
        where["verdicts"] = words(given["verdicts"])
    if not Path(source).is_dir():
        if not Path(source).exists():
            raise ConfigError(f"{printable(source)}: no such file, and no folder of a run")
        more = {name: given[name] for name in OF_TABLES}
        more["exchanged"] = pairs("--exchanged", given["exchanged"])
        return of_table(source, **where, **more), conventions
    for name in OF_TABLES:
        if given[name]:
            option = name.replace("_", "-")
            raise click.UsageError(f"--{option} names a column of a table, and this is a run: its samples hold it")
    return of_run(Run.load(source), **where), conventions
