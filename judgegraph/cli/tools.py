"""`judgegraph tools`."""

from __future__ import annotations

from typing import Any

import click

from judgegraph.cli import parts as listing
from judgegraph.registry import Part, parts


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def tools(as_json: bool) -> None:
    """List assistant evaluators by package: what each measures, what it reads of a sample, and its range.

    They are named in -s assistants=NAME,NAME of fusion-eval, and are nodes of graph files. What a package brings and
    cannot be used is listed with the reason.
    """
    found = listing.rows(parts("assistant"), _told)
    if as_json:
        click.echo(listing.as_json(found))
    else:
        listing.print_rows(found, headings=True)


def _told(part: Part) -> dict[str, Any]:
    from judgegraph.tools.catalogue import assistant

    about: Any = assistant(part.exact).about
    if not hasattr(about, "measures"):
        return {"about": str(about).strip().partition("\n")[0], "writes": "a number"}
    return {"about": about.measures, "reads": about.reads, "writes": f"a number, {about.range} ({about.direction})"}
