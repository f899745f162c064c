"""`judgegraph new`: a plug-in to start from, as a package of one's own."""

from __future__ import annotations

from pathlib import Path

import click

from judgegraph.cli.main import printable
from judgegraph.scaffold import KINDS, PackageName, write


@click.command()
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("name")
@click.option("--into", type=click.Path(file_okay=False, path_type=Path), default=Path(), help="Where; default: here.")
def new(kind: str, name: str, into: Path) -> None:
    """Write a package NAME with a small plug-in of a KIND, its prompt and its tests.

    It can be installed as it is, is then found by its name (`judgegraph agents`), and is yours to change.
    """
    package = PackageName.of(name)
    folder = write(kind, package, into)
    click.echo(
        printable(
            f"{folder}: a {kind} '{package.name}'. Next:\n"
            f"  cd {folder}\n"
            f"  pip install -e .\n"
            f"  python -m pytest\n"
            f"  judgegraph agents\n"
            f"  judgegraph run sageval DATA --critic {package.name}\n"
            f"What the judge is told is in {package.module}/critique.md, what is done in {package.module}/critic.py."
        )
    )
