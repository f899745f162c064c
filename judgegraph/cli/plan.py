"""`judgegraph plan`."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from judgegraph.cli.main import FAILURE
from judgegraph.cli.options import graph_of, judge_of
from judgegraph.cli.run_options import SUBJECT, Command, check, columns, folder

EVERY = 5.0  # seconds between two lines of progress


def _subject(command: Command) -> Command:
    """What is judged, and by whom: as `judgegraph run` has it."""
    for option in reversed(SUBJECT):
        command = option(command)
    return command


@click.command(context_settings={"show_default": True})
@click.argument("method")
@click.argument("data", type=click.Path(exists=True, dir_okay=False))
@_subject
@click.option(
    "-o", "--out", type=click.Path(file_okay=False), callback=folder,
    help="A run's folder, whose ledger is looked into; only a pilot writes there.",
)  # fmt: skip
@click.option("--ledger", type=click.Path(dir_okay=False), help="A file of model calls.  [default: the one in --out]")
@click.option("--prices", type=click.Path(exists=True, dir_okay=False), help="A price table of your own, by model.")
@click.option("--strict", is_flag=True, help="Stop at the first bad row.")
@click.option(
    "--pilot", metavar="N", type=click.IntRange(1),
    help="Judge the first N samples, which is paid for, and project the rest; needs --ledger or --out.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def plan(method: str, data: str, pilot: int | None, as_json: bool, **given: Any) -> None:
    """Say what running METHOD over DATA will ask for and cost, before anything is spent.

    METHOD, DATA and options are those of `judgegraph run`. Calls that depend on no reply are exact; for the others it
    says the lowest and the highest number. What the ledger holds is not counted as cost. Without --pilot nothing is
    sent, no key is needed, and no file is written.
    """
    from judgegraph.runtime.load import load
    from judgegraph.runtime.plan import plan as planned

    check({**given, "retry_failed": False})
    ledger = _ledger(given, pilot)
    samples = load(data, fields=columns(given), limit=given["limit"], strict=given["strict"])
    judge = judge_of(given["judge"], given["base_url"], given["temperature"])
    graph = graph_of(method, criteria=given["criteria"], judge=judge, settings=given["settings"])
    forecast = planned(
        graph, samples, ledger=ledger, prices=given["prices"], pilot=pilot or 0, on_sample=_teller(as_json)
    )
    if as_json:
        rejected = [rejection.model_dump() for rejection in samples.rejected]
        click.echo(json.dumps({**forecast.to_dict(), "rejected": rejected}, indent=1))
    else:
        from judgegraph.cli.print_plan import print_plan

        print_plan(forecast, len(samples.rejected))
    sys.exit(0 if forecast.complete else FAILURE)


def _ledger(given: dict[str, Any], pilot: int | None) -> Path | None:
    """Where a run with the same options would keep its calls."""
    found = given["ledger"] or (Path(given["out"]) / "ledger.sqlite" if given["out"] else None)
    if pilot and found is None:
        raise click.UsageError(
            "--pilot pays for its calls: name --ledger FILE or --out FOLDER for them, where the run will find them"
        )
    if pilot and not given["ledger"]:
        Path(given["out"]).mkdir(parents=True, exist_ok=True)
    return Path(found) if found else None


def _teller(quiet: bool) -> Callable[[int], None] | None:
    """A line now and then, for a plan that takes long."""
    if quiet:
        return None
    last = time.monotonic()

    def tell(done: int) -> None:
        nonlocal last
        if time.monotonic() - last >= EVERY:
            last = time.monotonic()
            click.echo(f"planned {done:,} samples so far", err=True)

    return tell
