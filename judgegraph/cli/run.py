"""`judgegraph run`."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext

import click

from judgegraph.cli.options import SETTING_HELP, graph_of, judge_of
from judgegraph.cli.progress import progress

CONTEXT = {"show_default": True}


@click.command(context_settings=CONTEXT)
@click.argument("method")
@click.argument("data", type=click.Path(exists=True, dir_okay=False))
@click.option("-c", "--criteria", metavar="SET", help="A criteria set: a built-in name or a YAML or JSON file.")
@click.option("-j", "--judge", default="embedded", help="embedded, openai:MODEL, or PROVIDER:MODEL.")
@click.option("--base-url", metavar="URL", help="Of any OpenAI-compatible server; then --judge openai:MODEL.")
@click.option("--temperature", type=float, help="Of agents that do not name their own.")
@click.option("-s", "--setting", "settings", multiple=True, metavar="KEY=VALUE", help=SETTING_HELP)
@click.option("-f", "--field", "fields", multiple=True, metavar="FIELD=COLUMN", help="Read FIELD from COLUMN.")
@click.option("-o", "--out", type=click.Path(file_okay=False), help="A new folder for items.jsonl and manifest.json.")
@click.option("-n", "--limit", type=click.IntRange(1), help="At most so many samples.")
@click.option("--concurrency", type=click.IntRange(1), default=64, help="Samples and calls in flight at once.")
@click.option("--timeout", type=float, default=600.0, help="Seconds for one sample, retries included.")
@click.option("--strict", is_flag=True, help="Stop at the first bad row, before any call.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON object.")
def run(
    method: str, data: str, criteria: str | None, judge: str, base_url: str | None, temperature: float | None,
    settings: tuple[str, ...], fields: tuple[str, ...], out: str | None, limit: int | None, concurrency: int,
    timeout: float, strict: bool, as_json: bool,
) -> None:  # fmt: skip
    """Run METHOD over DATA and print what came of it.

    METHOD is a name (see `judgegraph methods`) or file.py:factory. DATA is JSONL, JSON, CSV, TSV or Parquet with the
    fields id, query, source, output, rival, reference, human.
    """
    from judgegraph.runtime.evaluate import evaluate
    from judgegraph.runtime.load import load

    samples = load(data, fields=dict(map(_field, fields)), limit=limit, strict=strict)
    bar = not as_json and sys.stderr.isatty()
    total = samples.count() if strict or bar else None
    graph = graph_of(method, criteria=criteria, judge=judge_of(judge, base_url, temperature), settings=settings)
    with progress(total) if bar else nullcontext() as tick:
        try:
            result = evaluate(graph, samples, out=out, concurrency=concurrency, timeout=timeout, on_item=tick)
        except KeyboardInterrupt:
            where = f"; what was finished is in {out}" if out else ""
            click.echo(f"stopped{where}", err=True)
            sys.exit(130)
    if as_json:
        rejected = [r.model_dump() for r in samples.rejected]
        click.echo(json.dumps({**result.summary().to_dict(), "rejected": rejected, "out": out}, indent=1))
    else:
        from judgegraph.cli.print_run import print_run

        print_run(result, samples.rejected)
    counts = result.manifest["samples"]
    if counts["failed"] == counts["done"]:  # nothing was judged, of however many
        sys.exit(1)


def _field(text: str) -> tuple[str, str]:
    name, equals, column = text.partition("=")
    if not equals:
        raise click.UsageError(f"--field takes FIELD=COLUMN, got {text!r}")
    return name, column
