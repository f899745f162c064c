"""`judgegraph report`."""

from __future__ import annotations

from pathlib import Path

import click

from judgegraph.cli.main import printable


@click.command()
@click.argument("run", type=click.Path(exists=True, file_okay=False))
@click.option("-o", "--out", required=True, metavar="FILE.html", type=click.Path(dir_okay=False), help="Where it goes.")
@click.option("--most", type=click.IntRange(1, 100), default=10, show_default=True, metavar="N",
              help="Samples in each list: most moved, most uncertain, failed, dearest.")  # fmt: skip
@click.option("--redact", type=click.Choice(["texts"]), help="Leave out judged and generated texts.")
def report(run: str, out: str, most: int, redact: str | None) -> None:
    """Write RUN, a folder, as one HTML file that opens anywhere: no network, no script, at most 3 MB.

    It shows the graph with time and money per node, the scores, what the critic changed, agreement with people where
    there are labels, and the samples worth reading with their whole trace. Of a run too large for it, it shows every
    k-th sample and says so. The file is readable by its owner alone: it holds what was judged.
    """
    from judgegraph.cli.run_folder import refuse_traces
    from judgegraph.report.write import write_report

    if Path(out).suffix not in (".html", ".htm"):
        raise click.UsageError(f"--out {out}: it ends in .html")
    refuse_traces(run)
    written = write_report(run, out, most=most, redact=(redact,) if redact else ())
    click.echo(printable(f"{out}: {written.stat().st_size / 1e6:.1f} MB"))
