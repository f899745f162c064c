"""`judgegraph methods`."""

from __future__ import annotations

import json

import click

from judgegraph.registry import ABOUT, METHODS


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def methods(as_json: bool) -> None:
    """List the methods, one a line."""
    if as_json:
        click.echo(json.dumps(ABOUT, indent=1))
        return
    width = max(map(len, METHODS))
    for name in METHODS:
        click.echo(f"{name:<{width}}  {ABOUT[name]}")
