"""`judgegraph agents`."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import click

from judgegraph.cli import parts as listing
from judgegraph.registry import Part, is_made, keys_of, parts

BY_SETTINGS = "what its settings say"  # of a gate: which node it opens to


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def agents(as_json: bool) -> None:
    """List agents and critics by package: what each is for, and which keys of the state it reads and writes.

    "criteria?" may be missing. A critic is named by --critic NAME; both kinds are nodes of graph files. What a package
    brings and cannot be used is listed with the reason.
    """
    found = listing.rows((*parts("critic"), *parts("agent")), _told)
    if as_json:
        click.echo(listing.as_json(found))
    else:
        listing.print_rows(found, headings=True, kinds=True)


def _told(part: Part) -> dict[str, Any]:
    thing = part.load()
    reads, writes = _keys(thing)
    return {"about": listing.first_line(thing), "reads": reads, "writes": writes}


def _keys(thing: Any) -> tuple[Sequence[str] | str | None, Sequence[str] | str | None]:
    """What the annotations of the agent say: of a function that builds one, of what it builds of no settings."""
    if inspect.isclass(thing) or is_made(thing):
        return keys_of(thing)
    try:
        made = thing()
    except Exception:  # it needs settings, and nothing is known before
        return BY_SETTINGS, BY_SETTINGS
    return keys_of(made)
