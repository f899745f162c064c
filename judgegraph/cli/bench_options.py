"""The options of `judgegraph bench`: those of `run` without what its data needs, and its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from judgegraph.cli.run_options import GROUPS, Command, Grouped, run_options

NOT_HERE = ("fields", "strict")  # of `run`: its data is a table of unknown columns
_OWN = (
    click.option(
        "-d", "--data", type=click.Path(exists=True, file_okay=False), help="The folder of the collections, or of one."
    ),
    click.option("-m", "--method", help="A method, graph file or file.py:factory.  [default: the collection's]"),
    click.option("--recorded", is_flag=True, help="Score recorded replies instead of asking; nothing is spent."),
    click.option(
        "--reading", type=click.Choice(["ours", "authors"]), default="ours",
        help="Read recorded replies by our readers, or by the rules of those who recorded them.",
    ),
    click.option("--preset", metavar="NAME", help="Conventions of a paper.  [default: the collection's]"),
    click.option(
        "--resamples", metavar="N", type=click.IntRange(0), help="Of the bootstrap; 0 for no intervals."
        "  [default: 1000]",
    ),
    click.option("--seed", metavar="N", type=click.IntRange(0), help="Of the bootstrap.  [default: 0]"),
)  # fmt: skip
_ASKING = {
    "method": "--method", "judge": "--judge", "base_url": "--base-url", "temperature": "--temperature",
    "max_tokens": "--max-tokens",
    "criteria": "--criteria", "critic": "--critic", "limit": "--limit", "out": "--out", "ledger": "--ledger",
    "gate": "--coverage", "budget_calls": "--budget-calls", "budget_tokens": "--budget-tokens",
    "budget_usd": "--budget-usd", "prices": "--prices", "rpm": "--rpm", "tpm": "--tpm",
    "max_prompt": "--max-prompt", "patience": "--patience",
}  # fmt: skip


class BenchCommand(Grouped):
    """A run's headings, with the options of its own under the first ones."""

    groups = {
        "What is judged, and by whom": ("data", "method", *GROUPS["What is judged, and by whom"]),
        "What it is held against": ("recorded", "reading", "preset", "resamples", "seed"),
        **{heading: names for heading, names in GROUPS.items() if heading != "What is judged, and by whom"},
    }


def bench_options(command: Command) -> Command:
    """Decorates a command with all of them."""
    command = run_options(command)
    kept: list[click.Option] = command.__click_params__  # type: ignore[attr-defined]
    kept[:] = [option for option in kept if option.name not in NOT_HERE]
    for option in reversed(_OWN):
        command = option(command)
    return command


def refuse_idle(given: Mapping[str, Any]) -> None:
    """With --recorded nothing is asked, so that an option for asking is a mistake.

    Raises:
        UsageError: with the options to leave out.
    """
    idle = [option for name, option in _ASKING.items() if given[name] is not None]
    idle += ["--setting"] if given["settings"] else []
    idle += ["--retry-failed"] if given["retry_failed"] else []
    if idle:
        raise click.UsageError(f"--recorded asks no judge: leave {', '.join(idle)} out")
