"""`judgegraph check`."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from judgegraph.cli.main import FAILURE, printable
from judgegraph.cli.options import CRITIC_HELP, SETTING_HELP, graph_of
from judgegraph.errors import ConfigError

SENDS_NOTHING = "every judge here is embedded and sends nothing"


@click.command()
@click.argument("method")
@click.option("--critic", metavar="NAME", help=CRITIC_HELP)
@click.option("-s", "--setting", "settings", multiple=True, metavar="KEY=VALUE", help=SETTING_HELP)
@click.option("--calls/--no-calls", default=True, help="Count its model calls too, by invented replies.")
@click.option("--json", "as_json", is_flag=True, help="Nodes, findings and calls as one JSON object.")
def check(method: str, critic: str | None, settings: tuple[str, ...], calls: bool, as_json: bool) -> None:
    """Prove that METHOD's graph is wired, before anything is asked, and count what it will ask.

    Every key that a node reads is written before, on every path; every node is reached; joins run once; loops have a
    bound; no two nodes of one step write a key that nothing joins.

    METHOD is a name (see `judgegraph methods`), a graph file, or file.py:factory.

    Model calls are counted by running the graph with invented replies; nothing is sent. Each node is told with the
    fields of its template that make a call anew for a sample, and with those that all samples share.

    Exit codes: 0 wired, 1 not, with a line for each mistake: node, key and cure.
    """
    from judgegraph.runtime.check import check as checked
    from judgegraph.runtime.signature import destinations

    try:
        graph = graph_of(method, criteria=None, judge=None, settings=settings, critic=critic)
    except ConfigError as error:
        graph = getattr(error, "graph", None)  # of a graph file whose wiring alone is wrong
        if not as_json or graph is None:
            raise
    wiring = checked(graph, strict=False)
    counts = wiring.calls if calls and wiring.ok else None
    if as_json:
        from judgegraph.runtime.anatomy import to_dict

        sent = {"destinations": destinations(graph)}
        click.echo(json.dumps(wiring.to_dict() | sent | ({"calls": to_dict(counts)} if counts else {}), indent=1))
    elif wiring.ok:
        click.echo(printable("\n".join(map(str, (wiring, counts) if counts else (wiring,)))))
        click.echo(printable("\n".join(destinations(graph) or [SENDS_NOTHING])))
    else:
        for finding in wiring.findings:
            click.echo(printable(f"{finding.severity}: {finding}"), err=True)
    sys.exit(0 if wiring.ok else FAILURE)


def refuse_unwired(graph: Any) -> None:
    """Before a run: a graph that is not wired is refused, and a warning is told on stderr.

    Raises:
        WiringError: it is not wired.
    """
    from judgegraph.runtime.check import refuse

    for finding in refuse(graph):
        click.echo(printable(f"warning: {finding}"), err=True)
