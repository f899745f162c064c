"""`judgegraph doctor`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from judgegraph.cli.options import Finite, address
from judgegraph.views.terminal import screen

if TYPE_CHECKING:
    from rich.table import Table

    from judgegraph.doctor import Diagnosis

MARKS = {True: "ok", False: "differs", None: "-"}


@click.command(context_settings={"show_default": True})
@click.option("-j", "--judge", default="embedded", help="embedded, openai:MODEL, or PROVIDER:MODEL.")
@click.option(
    "--base-url", metavar="URL", callback=address, help="Of any OpenAI-compatible server; then --judge openai:MODEL."
)
@click.option("--api-key-env", metavar="NAME", default="OPENAI_API_KEY", help="The variable that holds the key.")
@click.option("--timeout", metavar="SECONDS", type=Finite(0, min_open=True), default=30.0, help="For one request.")
@click.option("--no-save", is_flag=True, help="Do not keep what was found; runs will learn it by themselves.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON object.")
def doctor(
    judge: str, base_url: str | None, api_key_env: str, timeout: float, no_save: bool, as_json: bool
) -> None:  # fmt: skip
    """Measure what a judge's endpoint really does, by about twenty small requests, and name what differs.

    What was found of an endpoint is kept for 30 days in the user's cache folder ($JUDGEGRAPH_CACHE), without any key;
    runs use it instead of finding it out by failing. Exit code 1 where the endpoint cannot be used at all.
    """
    from judgegraph.calls import Endpoint
    from judgegraph.doctor import examine
    from judgegraph.sync import run_sync

    if base_url is not None and judge == "embedded":
        raise click.UsageError("--base-url names a server for a model: give it too, as --judge openai:MODEL")
    endpoint = Endpoint(model=judge, base_url=base_url, api_key_env=api_key_env)
    found = run_sync(examine(endpoint, timeout=timeout, save=not no_save))
    if as_json:
        click.echo(json.dumps(found.to_dict(), indent=1))
    else:
        _print(found)


def _print(found: Diagnosis) -> None:

    from judgegraph.views.terminal import plain

    console = screen()
    where = f" at {found.address}" if found.address else ""
    console.print(plain(f"{found.judge}{where}"), style="bold")
    console.print(_table(found))
    if found.deviations:
        console.print("\nwhat this means for a run:")
    for probe in found.deviations:
        console.print(plain(f"  {probe.name}: {probe.deviation}"), style="yellow", soft_wrap=True)
    console.print(plain("\n" + _cost(found)), soft_wrap=True)  # a path stays in one piece


def _table(found: Diagnosis) -> Table:
    from rich.table import Table

    from judgegraph.views.terminal import plain

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("probe", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("found", overflow="fold")
    styles: dict[Any, str] = {True: "green", False: "yellow", None: "dim"}
    for probe in found.probes:
        table.add_row(plain(probe.name), f"[{styles[probe.ok]}]{MARKS[probe.ok]}", plain(probe.found))
    return table


def _cost(found: Diagnosis) -> str:
    """How many requests it took, how long one takes, what was written where."""
    from judgegraph.views.amounts import counted, money

    parts = [counted(found.requests, "request")]
    tokens = found.prompt_tokens + found.completion_tokens
    if tokens and found.replies:
        parts.append(f"{counted(tokens, 'token')}, {tokens / found.replies:.0f} a reply")
    if found.usd and found.replies:
        parts.append(f"{money(found.usd)}, {money(found.usd / found.replies)} a reply")
    if found.latency is not None:
        parts.append(f"a call takes {found.latency:.2g} s (median)")
    kept = f"kept in {found.saved}" if found.saved else f"nothing was kept: {found.unsaved}"
    return f"{', '.join(parts)}; {kept}"
