"""`judgegraph prices`."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from judgegraph.models.prices import Prices


@click.command()
@click.option("--prices", "path", metavar="FILE", help="A price file of your own, YAML or JSON; it comes first.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of YAML.")
def prices(path: str | None, as_json: bool) -> None:
    """Print the table of prices, USD per million tokens, as a file to save, edit and pass as --prices FILE."""
    known = Prices.load(path)
    if as_json:
        rows = {key: asdict(price) for key, price in known.table.items()}
        click.echo(json.dumps({"as_of": known.as_of, "prices": rows}, indent=1))
    else:
        click.echo(known.text(), nl=False)
