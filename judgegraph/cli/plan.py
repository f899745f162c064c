"""`judgegraph plan`."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from judgegraph.cli.check import refuse_unwired
from judgegraph.cli.main import FAILURE, OVER_BUDGET, printable
from judgegraph.cli.options import graph_of, judge_of
from judgegraph.cli.run_options import COST, PACE, SUBJECT, Command, Grouped, check, columns, evaluation, folder

if TYPE_CHECKING:
    from judgegraph.runtime.forecast import Forecast
    from judgegraph.runtime.samples import Samples

EVERY = 5.0  # seconds between two lines of progress


def as_run(*options: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Options that `judgegraph run` has too."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


@click.command(cls=Grouped, context_settings={"show_default": True})
@click.argument("method")
@click.argument("data", type=click.Path(exists=True, dir_okay=False))
@as_run(*SUBJECT)
@click.option(
    "-o", "--out", type=click.Path(file_okay=False), callback=folder,
    help="A run's folder: what it has finished and what its ledger holds is left out. Only a pilot writes there.",
)  # fmt: skip
@click.option("--ledger", type=click.Path(dir_okay=False), help="A file of model calls.  [default: the one in --out]")
@as_run(*PACE, *COST)
@click.option("--strict", is_flag=True, help="Stop at the first bad row.")
@click.option(
    "--pilot", metavar="N", type=click.IntRange(1),
    help="Judge the first N samples, which is paid for, and project the rest; needs --ledger or --out.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def plan(method: str, data: str, pilot: int | None, as_json: bool, **given: Any) -> None:
    """Say what running METHOD over DATA will ask for and cost, before anything is spent.

    METHOD is a name (see `judgegraph methods`), a graph file, or file.py:factory. It, DATA and options are those of
    `judgegraph run`; what says how fast it goes and how much it may cost binds
    a pilot. Calls that depend on no reply are exact; for the others it says the lowest and the highest number. Where
    code of your own decides what is asked, both hold as far as several kinds of invented replies show. What the
    ledger holds is not counted as cost. Without --pilot nothing is sent for the calls of agents, and of nodes that
    ask with jg.ask, no key is needed, and no file is written; the nodes of a graph of your own do run, so one that
    calls a model some other way really calls it.

    Exit codes: 0, 1 failure, an incomplete plan or a pilot without any score, 2 usage, 3 the budget ended the pilot.
    """
    from judgegraph.runtime.load import load
    from judgegraph.runtime.plan import plan as planned

    given["retry_failed"] = False
    check(given)
    if pilot and not (given["ledger"] or given["out"]):
        raise click.UsageError(
            "--pilot pays for its calls: name --ledger FILE or --out FOLDER for them, where the run will find them"
        )
    run = evaluation(given)
    del run["retry_failed"]
    samples = load(data, fields=columns(given), limit=given["limit"], strict=given["strict"])
    judge = judge_of(given["judge"], given["base_url"], given["temperature"], given["max_tokens"])
    graph = graph_of(
        method, criteria=given["criteria"], judge=judge, settings=given["settings"], critic=given["critic"]
    )  # fmt: skip
    refuse_unwired(graph)
    forecast = planned(graph, samples, **run, pilot=pilot or 0, on_sample=_teller(as_json))
    if as_json:
        rejected = [rejection.model_dump() for rejection in samples.rejected]
        click.echo(json.dumps({**forecast.to_dict(), "rejected": rejected}, indent=1))
    elif not _only_bad(forecast, samples):
        from judgegraph.cli.print_plan import print_plan

        print_plan(forecast, samples.rejected, given["out"])
    sys.exit(_ended(forecast, samples))


def _only_bad(forecast: Forecast, samples: Samples) -> bool:
    return bool(samples.rejected) and not (forecast.samples or forecast.finished)


def _ended(forecast: Forecast, samples: Samples) -> int:
    """The exit code; data without a single sample is told."""
    if _only_bad(forecast, samples):
        rows = len(samples.rejected)
        few = "the only row is" if rows == 1 else f"all {rows:,} rows are"
        click.echo(printable(f"{samples.rejected[0]} ({few} bad: there is nothing to plan)"), err=True)
        return FAILURE
    pilot = forecast.pilot
    if pilot is not None and pilot.over_budget:
        return OVER_BUDGET
    return 0 if forecast.complete and not (pilot and pilot.failure) else FAILURE


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
