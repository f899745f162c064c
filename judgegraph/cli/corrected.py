"""`judgegraph corrected`."""

from __future__ import annotations

from pathlib import Path

import click

from judgegraph.cli.main import printable


@click.command()
@click.argument("run", type=click.Path(exists=True, file_okay=False))
@click.option(
    "-o", "--out", required=True, metavar="FILE.jsonl", type=click.Path(dir_okay=False), help="Where they go."
)
def corrected(run: str, out: str) -> None:
    """Write the corrections of RUN, a folder, as samples: `output` is the correction, `rival` the original.

    Judge them to see what they gained: `judgegraph run fennec-both FILE.jsonl` side by side in both orders, or
    `judgegraph run fennec-apart FILE.jsonl` each alone. What they were corrected by stands in `meta.corrected`.
    """
    from judgegraph.cli.table import counted
    from judgegraph.errors import ConfigError
    from judgegraph.runtime.run import Run

    if Path(out).suffix != ".jsonl":
        raise click.UsageError(f"--out {out}: it ends in .jsonl")
    found = Run.load(run)
    statuses = found.summary().corrections
    if not statuses["ok"]:
        raise ConfigError(f"{run}: no response was corrected{_said(statuses)}")
    written = found.export_corrected(out)
    click.echo(printable(f"{out}: {counted(written, 'correction')}{_said(statuses)}"))


def _said(statuses: dict[str, int]) -> str:
    failed = ", ".join(f"{count} {status}" for status, count in statuses.items() if status != "ok")
    return f"; left out: {failed}" if failed else ""
