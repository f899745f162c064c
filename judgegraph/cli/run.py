"""`judgegraph run`."""

from __future__ import annotations

import json
import math
import re
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgegraph.cli.options import SETTING_HELP, graph_of, judge_of
from judgegraph.cli.progress import progress

if TYPE_CHECKING:
    from judgegraph.runtime.run import Run
    from judgegraph.runtime.samples import Samples

CONTEXT = {"show_default": True}


class Finite(click.FloatRange):
    """A range without nan and infinity, which compare with no bound as one expects."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is no finite number.", param, ctx)
        return number


def _address(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is not None and not re.match(r"https?://[^/]", value, re.IGNORECASE):
        raise click.BadParameter("it starts with http:// or https://, such as http://localhost:8000/v1", ctx, param)
    return value


def _folder(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is not None and not value.strip():
        raise click.BadParameter("it is empty; name a folder", ctx, param)
    return value


@click.command(context_settings=CONTEXT)
@click.argument("method")
@click.argument("data", type=click.Path(exists=True, dir_okay=False))
@click.option("-c", "--criteria", metavar="SET", help="A criteria set: a built-in name or a YAML or JSON file.")
@click.option("-j", "--judge", help="embedded, openai:MODEL, or PROVIDER:MODEL.  [default: embedded]")
@click.option(
    "--base-url", metavar="URL", callback=_address, help="Of any OpenAI-compatible server; then --judge openai:MODEL."
)
@click.option("--temperature", type=Finite(0), help="Of agents that do not name their own.")
@click.option("-s", "--setting", "settings", multiple=True, metavar="KEY=VALUE", help=SETTING_HELP)
@click.option("-f", "--field", "fields", multiple=True, metavar="FIELD=COLUMN", help="Read FIELD from COLUMN.")
@click.option(
    "-o", "--out", type=click.Path(file_okay=False), callback=_folder,
    help="A new folder for items.jsonl and manifest.json.",
)  # fmt: skip
@click.option(
    "--ledger", type=click.Path(dir_okay=False),
    help="A file of all model calls, which runs may share: what it holds is not paid for again."
    "  [default: ledger.sqlite in --out]",
)  # fmt: skip
@click.option("-n", "--limit", type=click.IntRange(1), help="At most so many samples.")
@click.option("--concurrency", type=click.IntRange(1), default=64, help="Samples and calls in flight at once.")
@click.option(
    "--timeout", type=Finite(0, min_open=True), default=600.0, help="Seconds for one sample, retries included."
)
@click.option("--strict", is_flag=True, help="Stop at the first bad row, before any call.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON object.")
def run(
    method: str, data: str, criteria: str | None, judge: str | None, base_url: str | None, temperature: float | None,
    settings: tuple[str, ...], fields: tuple[str, ...], out: str | None, ledger: str | None, limit: int | None,
    concurrency: int, timeout: float, strict: bool, as_json: bool,
) -> None:  # fmt: skip
    """Run METHOD over DATA and print what came of it.

    METHOD is a name (see `judgegraph methods`) or file.py:factory. DATA is JSONL, JSON, CSV, TSV or Parquet with the
    fields id, query, source, output, rival, reference, human.
    """
    from judgegraph.runtime.load import load

    if base_url is not None and judge in (None, "embedded"):
        raise click.UsageError("--base-url names a server for a model: give it too, as --judge openai:MODEL")
    samples = load(data, fields=dict(map(_field, fields)), limit=limit, strict=strict)
    bar = not as_json and sys.stderr.isatty()
    total = samples.count() if strict or bar else None
    graph = graph_of(method, criteria=criteria, judge=judge_of(judge, base_url, temperature), settings=settings)
    with progress(total) if bar else nullcontext() as tick:
        result = _run(graph, samples, out, ledger=ledger, concurrency=concurrency, timeout=timeout, on_item=tick)
    _print(result, samples, as_json)


def _run(graph: Any, samples: Samples, out: str | None, **settings: Any) -> Run:
    from judgegraph.runtime.evaluate import evaluate

    try:
        return evaluate(graph, samples, out=out, **settings)
    except KeyboardInterrupt as stop:
        items = Path(out) / "items.jsonl" if out else None
        kept = items is not None and items.exists() and items.stat().st_size > 0
        stop.add_note(
            f"what was finished is in {out}" if kept else "nothing was saved; --out FOLDER keeps what is finished"
        )
        raise


def _print(result: Run, samples: Samples, as_json: bool) -> None:
    summary = result.summary()
    if as_json:
        rejected = [r.model_dump() for r in samples.rejected]
        out = str(result.folder.path) if result.folder else None
        click.echo(json.dumps({**summary.to_dict(), "rejected": rejected, "out": out}, indent=1))
    else:
        from judgegraph.cli.print_run import print_run

        print_run(result, summary, samples.rejected)
    if not summary.judged:
        click.echo("nothing was judged: no score and no comparison could be read", err=True)
        sys.exit(1)


def _field(text: str) -> tuple[str, str]:
    name, equals, column = text.partition("=")
    if not equals:
        raise click.UsageError(f"--field takes FIELD=COLUMN, got {text!r}")
    return name, column
