"""`judgegraph corrected`."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from judgegraph.cli.main import FAILURE, OVER_BUDGET
from judgegraph.cli.options import COST, PACE, SUBJECT, Grouped, check, folder, judge_of
from judgegraph.cli.plan import as_run
from judgegraph.cli.run import evaluated
from judgegraph.errors import printable


class Correcting(Grouped):
    """Its options under headings."""

    groups = {
        "As samples": ("out",),
        "By whom they are judged": ("judge", "base_url", "max_tokens", "criteria", "same_judge"),
        "Where it is kept": ("to", "ledger", "retry_failed"),
        "How fast": ("concurrency", "rpm", "tpm", "timeout", "patience", "max_prompt"),
        "How much it may cost": ("budget_calls", "budget_tokens", "budget_usd", "prices"),
    }  # fmt: skip


@click.command(cls=Correcting, context_settings={"show_default": True})
@click.argument("run", type=click.Path(exists=True, file_okay=False))
@click.option("-o", "--out", metavar="FILE.jsonl", type=click.Path(dir_okay=False), help="Write them as samples.")
@click.option(
    "-j", "--judge", help="Judge each correction and its original: another judge than the one that corrected."
)
@as_run(SUBJECT[0], SUBJECT[2], SUBJECT[4])
@click.option("--same-judge", is_flag=True, help="Let the judge that corrected judge its own work; the result says so.")
@click.option("--to", metavar="FOLDER", type=click.Path(file_okay=False), callback=folder, help="A folder for the "
              "judgements and gain.json; the same command goes on where it was stopped.")  # fmt: skip
@click.option("--ledger", type=click.Path(dir_okay=False), help="A file of model calls that are not paid for again.")
@click.option("--retry-failed", is_flag=True, help="Judge again what failed in the run in --to, and nothing else.")
@as_run(*PACE, *COST)
@click.option("--confidence", type=click.FloatRange(0.5, 0.999), default=0.95, help="Of intervals.")
@click.option("--resamples", metavar="N", type=click.IntRange(100), default=1000, help="Of the bootstrap.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def corrected(run: str, **given: Any) -> None:
    """Judge what the corrections of RUN, a folder, gained; or write them as samples.

    With --judge each correction and its original are scored, each alone, by the criteria that the original was judged
    by (or those of --criteria): the gain overall and per criterion, with intervals and a sign test. Responses that came
    back unchanged are counted apart. What people said of the original does not travel along. The judge that corrected
    is refused, as it would judge its own work.

    With --out they become samples, `output` the correction and `rival` the original, with what they were corrected by
    in `meta.corrected`: judge them with `judgegraph run fennec-both FILE.jsonl` side by side in both orders, or
    fennec-apart each alone.

    Exit codes: 0, 1 failure, nothing was corrected or nothing scored, 2 usage, 3 the budget ended it.
    """
    from judgegraph.runs.run import Run

    _check(given)
    found = Run.load(run)
    if given["out"]:
        _write(run, found, given["out"], quiet=given["as_json"])
    if given["judge"]:
        sys.exit(_judge(run, found, given))


def _check(given: dict[str, Any]) -> None:
    if not given["out"] and not given["judge"]:
        raise click.UsageError("--judge NAME says what was gained, --out FILE.jsonl writes samples: give one or both")
    if given["out"] and Path(given["out"]).suffix != ".jsonl":
        raise click.UsageError(f"--out {given['out']}: it ends in .jsonl")
    idle = [f"--{name.replace('_', '-')}" for name in ("criteria", "base_url", "to", "ledger", "same_judge")
            if given[name]] if not given["judge"] else []  # fmt: skip
    if idle:
        raise click.UsageError(f"{', '.join(idle)} would do nothing without --judge")
    check({**given, "out": given["to"]})


def _write(run: str, found: Any, out: str, *, quiet: bool) -> None:
    from judgegraph.errors import ConfigError
    from judgegraph.views.amounts import counted

    statuses = found.summary().corrections
    if not statuses["ok"]:
        raise ConfigError(f"{run}: no response was corrected{_statuses_in_words(statuses)}")
    written = found.export_corrected(out)
    line = printable(f"{out}: {counted(written, 'correction')}{_statuses_in_words(statuses)}")
    click.echo(line, err=quiet)


def _statuses_in_words(statuses: Mapping[str, int]) -> str:
    failed = ", ".join(f"{count} {status}" for status, count in statuses.items() if status != "ok")
    return f"; left out: {failed}" if failed else ""


def _judge(path: str, run: Any, given: dict[str, Any]) -> int:
    """Judges, prints, saves; gives the exit code."""
    from judgegraph.graphs.regrade import regrade
    from judgegraph.meta.corrected import corrections_of, gain_of, judge_of_graph, refuse_same
    from judgegraph.views.corrected import correction_gain
    from judgegraph.views.terminal import show
    from judgegraph.wiring.check import destinations

    judge = judge_of(given["judge"], given["base_url"], None, given["max_tokens"])
    graph = regrade(judge, criteria=given["criteria"])
    same = refuse_same(run, graph, allowed=given["same_judge"])
    samples = corrections_of(run)
    for line in destinations(graph):
        click.echo(printable(line), err=True)
    settings = {**given, "out": given["to"], "grace": 10.0, "trace": True, "redact": (), "limit": None}
    judged = evaluated(graph, samples, f"corrections in {Path(path).name}", lambda: len(samples), settings)
    found = gain_of(
        run, judged, judge=judge_of_graph(graph), same_judge=same, confidence=given["confidence"],
        resamples=given["resamples"],
    )  # fmt: skip
    saved = found.save(given["to"]) if given["to"] else None
    if given["as_json"]:
        shown = json.dumps({**found.to_dict(), "saved": str(saved) if saved else None}, indent=1)
        click.echo(shown.replace("\x7f", "\\u007f"))
    else:
        show(correction_gain(found))
        if saved:
            click.echo(printable(f"saved in {saved}"))
    if judged.manifest.get("state") == "over_budget":
        return OVER_BUDGET
    return 0 if found.overall is not None and found.overall.n else FAILURE
