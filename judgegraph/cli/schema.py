"""`judgegraph schema`."""

from __future__ import annotations

import json
from importlib.resources import files

import click

EXAMPLES = ("sageval", "coascore", "panel-with-gate")  # graph files that come with the package


@click.command()
@click.option(
    "--example", type=click.Choice(EXAMPLES),
    help="Print a graph file instead, to copy and change: --example sageval > mine.yaml",
)  # fmt: skip
def schema(example: str | None) -> None:
    """Print the JSON Schema of graph files, for an editor; or one of the graph files that come with this package.

    With `# yaml-language-server: $schema=graph.schema.json` in its first line a YAML file is checked while it is
    written. `judgegraph check my.yaml` says more: it knows every name, setting and edge.
    """
    if example is not None:
        text = files("judgegraph.graph_files").joinpath("shipped", f"{example}.yaml").read_text(encoding="utf-8")
        click.echo(text, nl=False)
        return
    from judgegraph.graph_files.schema import json_schema

    click.echo(json.dumps(json_schema(), indent=1))
