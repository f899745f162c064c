"""`judgegraph criteria`."""

from __future__ import annotations

import json

import click

from judgegraph.cli.main import printable
from judgegraph.prompts.criteria_sets import as_yaml, criteria_set, known_sets


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of YAML.")
def criteria(name: str | None, as_json: bool) -> None:
    """List the criteria sets, or print the set NAME as a criteria file.

    NAME is a built-in name or the path of a YAML or JSON file.
    """
    if name is None:
        sets = known_sets()
        lines = [f"{key:<14}{task}" for key, task in sets.items()]
        click.echo(json.dumps(sets, indent=1) if as_json else "\n".join(lines))
        return
    chosen = criteria_set(name)
    if as_json:
        click.echo(json.dumps(chosen.model_dump(mode="json", exclude_defaults=True), indent=1))
    else:
        click.echo(printable(as_yaml(chosen)), nl=False)
