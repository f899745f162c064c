"""`judgegraph methods`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import click

from judgegraph.cli import parts as listing
from judgegraph.registry import ABOUT, VARIANTS, Part, Variant, builder_of, keys_of, part_of, parts


@click.command()
@click.option("-v", "--verbose", is_flag=True, help="Also what each reads and writes, which builds its graph.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text, with what -v says.")
def methods(verbose: bool, as_json: bool) -> None:
    """List the methods, ours and those that other packages bring, then the variants of ours.

    A variant is a method with settings of its own, a row of its paper: with -v the settings and where it stands there.
    What a package brings and cannot be used is listed with the reason.
    """
    deep = verbose or as_json
    found = listing.rows(parts("method"), _wired if deep else _told)
    if as_json:
        click.echo(listing.as_json(found, _varied))
        return
    plain = [row for row in found if _variant(row) is None]
    listing.print_rows(plain, headings=deep or any(row.package != "judgegraph" for row in plain))
    click.echo("variants")
    listing.print_rows(_as_text(found, verbose), headings=False, margin="  ")


def _told(part: Part) -> dict[str, Any]:
    """The line of one of ours is known without its graph."""
    if part.variant:
        return {"about": VARIANTS[part.name].about}
    if part.ours:
        return {"about": ABOUT[part.name]}
    return {"about": listing.first_line(part.load())}


def _wired(part: Part) -> dict[str, Any]:
    """A variant reads and writes what its method does."""
    if part.variant:
        part, said = part_of("method", f"judgegraph:{VARIANTS[part.name].method}"), _told(part)
        return {**_wired(part), **said}
    reads, writes = _keys(part)
    return {**_told(part), "reads": reads, "writes": writes}


@cache
def _keys(part: Part) -> tuple[Any, Any]:
    from judgegraph.cli.options import compiled

    return keys_of(compiled(part.exact, builder_of(part), {}))


def _variant(row: listing.Row) -> Variant | None:
    return VARIANTS.get(row.name.rpartition(":")[2]) if row.package == "judgegraph" else None


def _varied(row: listing.Row) -> dict[str, Any]:
    """What a variant is of which method, and where the paper names it."""
    variant = _variant(row)
    if variant is None:
        return {}
    return {"method": variant.method, "settings": dict(variant.settings), "source": variant.source}


def _as_text(found: Sequence[listing.Row], verbose: bool) -> list[listing.Row]:
    """The variants alone: what is different, and with `verbose` by which settings."""
    rows = []
    for row in found:
        if (variant := _variant(row)) is not None:
            given = ", ".join(f"{name}={value}" for name, value in variant.settings.items())
            more = f" ({variant.method}, {given}; {variant.source})" if verbose else ""
            rows.append(replace(row, about=row.about + more, reads=None, writes=None))
    return rows
