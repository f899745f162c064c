"""`judgegraph methods`."""

from __future__ import annotations

from typing import Any

import click

from judgegraph.cli import parts as listing
from judgegraph.registry import ABOUT, Part, builder_of, keys_of, parts


@click.command()
@click.option("-v", "--verbose", is_flag=True, help="Also what each reads and writes, which builds its graph.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text, with what -v says.")
def methods(verbose: bool, as_json: bool) -> None:
    """List the methods, ours and those that other packages bring.

    What a package brings and cannot be used is listed with the reason.
    """
    deep = verbose or as_json
    found = listing.rows(parts("method"), _wired if deep else _told)
    if as_json:
        click.echo(listing.as_json(found))
    else:
        listing.print_rows(found, headings=deep or any(row.package != "judgegraph" for row in found))


def _told(part: Part) -> dict[str, Any]:
    """The line of one of ours is known without its graph."""
    if part.ours:
        return {"about": ABOUT[part.name]}
    return {"about": listing.first_line(part.load())}


def _wired(part: Part) -> dict[str, Any]:
    from judgegraph.cli.options import compiled

    reads, writes = keys_of(compiled(part.exact, builder_of(part), {}))
    return {**_told(part), "reads": reads, "writes": writes}
