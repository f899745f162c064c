"""`judgegraph export`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from judgegraph.cli.main import printable

if TYPE_CHECKING:
    from judgegraph.runtime.run import Run

TABLES = ("scores", "comparisons")


@click.command()
@click.argument("run", type=click.Path(exists=True, file_okay=False))
@click.option("-o", "--out", metavar="FILE", type=click.Path(dir_okay=False), help="The file that is written.")
@click.option("--what", type=click.Choice(TABLES), help="Of FILE.csv: what its rows are; scores unless said.")
@click.option("--otlp", metavar="URL", help="Send the traces to an OpenTelemetry collector (OTLP over HTTP).")
@click.option("--sample", "samples", metavar="ID", multiple=True, help="Of --otlp: only this one; may be repeated.")
@click.option("--redact", type=click.Choice(["texts"]), multiple=True, help="Of --otlp: send no text.")
def export(
    run: str, out: str | None, what: str | None, otlp: str | None, samples: tuple[str, ...], redact: tuple[str, ...]
) -> None:
    """Write what came of RUN, a folder: a table (FILE.csv) of its scores or comparisons, or its items (FILE.jsonl).

    A comparison is a verdict on a pair, by one criterion in one order (AB: output stood first, BA: rival did), or
    merged over all criteria ("overall"). Items hold all of a sample in one line: scores, comparisons, verdict,
    corrections, notes.

    All stand in the order of the dataset and without times, so that equal results make equal files. In a table a
    text that a spreadsheet would calculate has a ' before it; `judgegraph meta FILE.csv` and `jg.load` take it away.

    Or send its traces to Phoenix, Langfuse, Jaeger, LangSmith or another collector: --otlp URL, with the headers of
    OTEL_EXPORTER_OTLP_HEADERS. RUN may be a folder that `jg.tracing` wrote then.
    """
    if (out is None) == (otlp is None):
        raise click.UsageError("say where it goes: -o FILE or --otlp URL")
    ending = Path(out or "").suffix.lower()
    if what and ending != ".csv":
        raise click.UsageError("--what goes with -o FILE.csv; items hold scores and comparisons")
    if otlp is not None:
        from judgegraph.cli.otlp import send

        click.echo(printable(send(run, otlp, samples, bool(redact))))
        _tell_unfinished(run)
        return
    if samples or redact:
        raise click.UsageError("--sample and --redact go with --otlp")
    if ending not in (".csv", ".jsonl"):
        raise click.UsageError(f"--out {out}: it ends in .csv (scores or comparisons) or .jsonl (items)")
    _write(run, out or "", "items" if ending == ".jsonl" else what or "scores")


def _write(run: str, out: str, what: str) -> None:
    from judgegraph.cli.table import counted
    from judgegraph.runtime.run import Run

    found = Run.load(run)
    writes = {"scores": found.export_scores, "comparisons": found.export_comparisons, "items": found.export}
    count = writes[what](out)
    damaged, compared = _passed(found)
    left = f"; left out: {counted(damaged, 'damaged line')}" if damaged else ""
    click.echo(printable(f"{out}: {counted(count, what.removesuffix('s'))}{left}"))
    if what == "scores" and compared:
        told = f"this run has {counted(compared, 'comparison')} too (verdicts on pairs): --what comparisons writes them"
        click.echo(told, err=True)
    if what == "comparisons" and not count:
        click.echo("no comparisons: no pairs were judged in this run, so the table has no rows", err=True)
    _tell_unfinished(run)


def _passed(run: Run) -> tuple[int, int]:
    """How many damaged lines a run has, and how many comparisons, in one pass."""
    from judgegraph.runtime.pair_rows import pair_rows

    damaged: list[str] = []
    items = run.folder.items(damaged.append) if run.folder else run.items
    compared = sum(1 for item in items for _ in pair_rows(item))
    return len(damaged), compared


def _tell_unfinished(run: str) -> None:
    """One line where the run did not come to its end; a folder of `jg.tracing` has none to come to."""
    from judgegraph.runtime.run import Run
    from judgegraph.runtime.unfinished import unfinished

    if (Path(run) / "manifest.json").exists() and (said := unfinished(Run.load(run))):
        click.echo(printable(said), err=True)
