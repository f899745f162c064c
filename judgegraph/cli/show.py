"""`judgegraph show`."""

from __future__ import annotations

import json

import click

from judgegraph.cli.options import CRITIC_HELP, SETTING_HELP, graph_of


@click.command()
@click.argument("method")
@click.option("--critic", metavar="NAME", help=CRITIC_HELP)
@click.option("-s", "--setting", "settings", multiple=True, metavar="KEY=VALUE", help=SETTING_HELP)
@click.option("--json", "as_json", is_flag=True, help="Nodes and edges as one JSON object.")
def show(method: str, critic: str | None, settings: tuple[str, ...], as_json: bool) -> None:
    """Print METHOD's graph as Mermaid, to hold beside the paper's figure.

    METHOD is a name (see `judgegraph methods`), a graph file, or file.py:factory.
    """
    graph = graph_of(method, criteria=None, judge=None, settings=settings, critic=critic).get_graph(xray=True)
    click.echo(json.dumps(graph.to_json(), indent=1, default=str) if as_json else graph.draw_mermaid())
