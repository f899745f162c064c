"""`judgegraph show`."""

from __future__ import annotations

import click

from judgegraph.cli.options import SETTING_HELP, graph_of


@click.command()
@click.argument("method")
@click.option("-s", "--setting", "settings", multiple=True, metavar="KEY=VALUE", help=SETTING_HELP)
def show(method: str, settings: tuple[str, ...]) -> None:
    """Print METHOD's graph as Mermaid, to hold beside the paper's figure. METHOD is a name or file.py:factory."""
    click.echo(graph_of(method, criteria=None, judge=None, settings=settings).get_graph(xray=True).draw_mermaid())
