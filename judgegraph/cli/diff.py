"""`judgegraph diff`."""

from __future__ import annotations

import json

import click


@click.command()
@click.argument("run_a")
@click.argument("run_b")
@click.option("--criterion", metavar="NAME", help="This one alone.")
@click.option(
    "--limit", metavar="N", type=click.IntRange(0), default=10, show_default=True, help="Samples in the list."
)
@click.option("--all", "every", is_flag=True, help="List every sample that moved.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def diff(run_a: str, run_b: str, criterion: str | None, limit: int, every: bool, as_json: bool) -> None:
    """Say which scores moved from RUN_A to RUN_B, the folders of two runs, and why.

    Samples are matched by id. A move is put to what changed of the things its score depends on: data, prompt, model,
    reader, criteria, critic, graph or version; to noise where nothing did. What changed together is told as "prompt or
    model": the runs cannot tell them apart. Differences are no failure: the exit code is 0.
    """
    from judgegraph.cli.run_folder import refuse_traces
    from judgegraph.meta.run_diff import diff_runs

    for run in (run_a, run_b):
        refuse_traces(run)
    found = diff_runs(run_a, run_b, criterion=criterion, limit=None if every else limit)
    if as_json:
        click.echo(json.dumps(found.to_dict(), indent=1, allow_nan=False))
        return
    from judgegraph.cli.print_diff import print_diff

    print_diff(found)
