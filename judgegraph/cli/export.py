"""`judgegraph export`."""

from __future__ import annotations

from pathlib import Path

import click

from judgegraph.cli.main import printable


@click.command()
@click.argument("run", type=click.Path(exists=True, file_okay=False))
@click.option("-o", "--out", metavar="FILE", type=click.Path(dir_okay=False), help="The file that is written.")
@click.option("--otlp", metavar="URL", help="Send the traces to an OpenTelemetry collector (OTLP over HTTP).")
@click.option("--sample", "samples", metavar="ID", multiple=True, help="Of --otlp: only this one; may be repeated.")
@click.option("--redact", type=click.Choice(["texts"]), multiple=True, help="Of --otlp: send no text.")
def export(run: str, out: str | None, otlp: str | None, samples: tuple[str, ...], redact: tuple[str, ...]) -> None:
    """Write what came of RUN, a folder, as a table of scores (FILE.csv) or as its items (FILE.jsonl).

    Both stand in the order of the dataset and without times, so that equal results make equal files. In the table a
    text that a spreadsheet would calculate has a ' before it; `judgegraph meta FILE.csv` and `jg.load` take it away.

    Or send its traces to Phoenix, Langfuse, Jaeger, LangSmith or another collector: --otlp URL, with the headers of
    OTEL_EXPORTER_OTLP_HEADERS. RUN may be a folder that `jg.tracing` wrote then.
    """
    if (out is None) == (otlp is None):
        raise click.UsageError("say where it goes: -o FILE or --otlp URL")
    if otlp is not None:
        from judgegraph.cli.otlp import send

        click.echo(printable(send(run, otlp, samples, bool(redact))))
        return
    if samples or redact:
        raise click.UsageError("--sample and --redact go with --otlp")
    _write(run, out or "")


def _write(run: str, out: str) -> None:
    from judgegraph.cli.table import counted
    from judgegraph.runtime.run import Run

    ending = Path(out).suffix.lower()
    if ending not in (".csv", ".jsonl"):
        raise click.UsageError(f"--out {out}: it ends in .csv (scores) or .jsonl (items)")
    found = Run.load(run)
    said = counted(found.export_scores(out), "score") if ending == ".csv" else counted(found.export(out), "item")
    damaged = found.damaged
    left = f"; left out: {counted(damaged, 'damaged line')}" if damaged else ""
    click.echo(printable(f"{out}: {said}{left}"))
