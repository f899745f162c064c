"""`judgegraph probe`."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from judgegraph.cli.check import refuse_unwired
from judgegraph.cli.main import FAILURE, OVER_BUDGET, printable
from judgegraph.cli.options import graph_of, judge_of
from judgegraph.cli.plan import as_run
from judgegraph.cli.run_options import COST, PACE, SUBJECT, Grouped, check, columns, evaluation, folder
from judgegraph.cli.table import counted

NAMES, PADDINGS = ("swap", "padded", "self"), ("repeated", "polite", "restated")


@click.command(cls=Grouped, context_settings={"show_default": True})
@click.argument("method")
@click.argument("data", type=click.Path(exists=True, dir_okay=False))
@as_run(*SUBJECT)
@click.option(
    "-p", "--probe", "probes", multiple=True, type=click.Choice(NAMES), help="Which; repeat for more.  [default: all]"
)
@click.option(
    "--padding", "kinds", multiple=True, type=click.Choice(PADDINGS), help="Of padded copies.  [default: all]"
)
@click.option("--own", multiple=True, metavar="SYSTEM", help="A meta.system that is the judge's own model.")
@click.option("--confidence", type=click.FloatRange(0.5, 0.999), default=0.95, help="Of intervals.")
@click.option("--resamples", metavar="N", type=click.IntRange(100), default=1000, help="Of the bootstrap.")
@click.option(
    "-o", "--out", type=click.Path(file_okay=False), callback=folder,
    help="A folder for the run; the same command goes on where it was stopped.",
)  # fmt: skip
@click.option("--ledger", type=click.Path(dir_okay=False), help="A file of model calls that are not paid for again.")
@as_run(*PACE, *COST)
@click.option("--strict", is_flag=True, help="Stop at the first bad row.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def probe(method: str, data: str, **given: Any) -> None:
    """Measure how far METHOD's judge is moved by what should not move it, on the samples of DATA.

    \b
    swap    pairs with their two sides exchanged: does the verdict stay?
    padded  copies that are longer and say no more: do they score higher, or win against their original?
    self    outputs of the judge's own model (meta.system): higher than others that people (human) score alike?

    METHOD, DATA and options are those of `judgegraph run`. Each sample is judged once as it is, and once more for each
    copy: a single output once for each kind of padding, a pair once exchanged and twice for each kind.

    Exit codes: 0, 1 failure or nothing judged, 2 usage, 3 the budget ended it.
    """
    from judgegraph.cli.print_probes import print_probes
    from judgegraph.meta.probes import probe as measured
    from judgegraph.runtime.load import load

    check(given | {"retry_failed": False, "gate": None})
    samples = load(data, fields=columns(given), limit=given["limit"], strict=given["strict"])
    judge = judge_of(given["judge"], given["base_url"], given["temperature"], given["max_tokens"])
    graph = graph_of(
        method, criteria=given["criteria"], judge=judge, settings=given["settings"], critic=given["critic"]
    )  # fmt: skip
    refuse_unwired(graph)
    found = measured(
        graph, samples, given["probes"] or NAMES, kinds=given["kinds"] or PADDINGS, own=given["own"],
        confidence=given["confidence"], resamples=given["resamples"], **_settings(given),
    )  # fmt: skip
    if given["as_json"]:
        click.echo(json.dumps(found.to_dict() | {"rejected": [r.model_dump() for r in samples.rejected]}, indent=1))
    else:
        print_probes(found)
        if samples.rejected:
            click.echo(f"{counted(len(samples.rejected), 'row')} rejected; judgegraph run says which", err=True)
    if found.state == "over_budget":
        sys.exit(OVER_BUDGET)
    if not found.judged:
        click.echo(printable(f"nothing was judged: {found.why}"), err=True)
        sys.exit(FAILURE)


def _settings(given: dict[str, Any]) -> dict[str, Any]:
    settings = evaluation(given | {"retry_failed": False})
    del settings["retry_failed"]
    return settings
