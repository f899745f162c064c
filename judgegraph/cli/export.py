"""`judgegraph export`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from judgegraph.cli.main import wide
from judgegraph.errors import printable

if TYPE_CHECKING:
    from judgegraph.meta.compare import RunComparison
    from judgegraph.runs.run import Run


# `judgegraph diff`.


@click.command()
@click.argument("run_a")
@click.argument("run_b")
@click.option("--criterion", metavar="NAME", help="This one alone.")
@click.option(
    "--limit", metavar="N", type=click.IntRange(0), default=10, show_default=True, help="Samples in the list."
)
@click.option("--all", "every", is_flag=True, help="List every sample that moved.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@wide
def diff(run_a: str, run_b: str, criterion: str | None, limit: int, every: bool, as_json: bool) -> None:
    """Say which scores moved from RUN_A to RUN_B, the folders of two runs, and why.

    First whether B is closer to people, where samples hold their judgements, and which means differ for sure, as
    `judgegraph compare` tells it. Samples are matched by id. A move is put to what changed of the things its score
    depends on: data, prompt, model, reader, criteria, critic, graph or version; to noise where nothing did. What
    changed together is told as "prompt or model": the runs cannot tell them apart. Differences are no failure: the
    exit code is 0.
    """
    from judgegraph.cli.options import refuse_traces
    from judgegraph.meta.run_diff import diff_runs

    for run in (run_a, run_b):
        refuse_traces(run)
    found = diff_runs(run_a, run_b, criterion=criterion, limit=None if every else limit)
    both, why = _compared(run_a, run_b, criterion)
    if as_json:
        whole = {**found.to_dict(), "comparison": both.to_dict() if both else None, "not_compared": why}
        click.echo(json.dumps(whole, indent=1, allow_nan=False))
        return
    from judgegraph.views.comparison import NOT_TOLD, verdict_on_two
    from judgegraph.views.comparison import diff as laid_out
    from judgegraph.views.terminal import show

    show(laid_out(found, verdict_on_two(both) if both else [f"{NOT_TOLD}: {why}"]))


def _compared(a: str, b: str, criterion: str | None) -> tuple[RunComparison | None, str]:
    """The two runs as `compare` holds them, or None and why it refuses them."""
    from judgegraph.errors import ConfigError, one_line
    from judgegraph.meta.compare import compare as compared

    try:
        return compared([a, b], criteria=[criterion] if criterion else ()), ""
    except ConfigError as error:
        return None, one_line(error, 200)


# `judgegraph compare`.


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN RUN...")
@click.option("--criterion", "criteria", metavar="NAME", multiple=True, help="This one alone; may be repeated.")
@click.option("--group", metavar="COLUMN", help="Its document or dialogue, a key of meta: tested as a whole.")
@click.option("--csv", metavar="FILE.csv", type=click.Path(dir_okay=False), help="Write a row per run and criterion.")
@click.option("--as", "form", type=click.Choice(["latex", "markdown"]), help="Print a table for a paper or a page.")
@click.option(
    "--not-worse",
    is_flag=True,
    help="A gate: exit code 4 where a run is really below the first, or that cannot be tested.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@wide
def compare(
    runs: tuple[str, ...], criteria: tuple[str, ...], group: str | None, csv: str | None, form: str | None,
    not_worse: bool, as_json: bool,
) -> None:  # fmt: skip
    """Hold two to twelve RUNs, folders, over the same samples beside one another; the first is the baseline.

    Samples are matched by id; their query, source and reference are alike. Of one output two judges are compared, of
    two outputs (versions of a generator) what was judged.

    Prints which means really differ, the mean answer by each criterion, agreement with people where samples hold their
    judgements, coverage, calls, tokens, USD and the median time of a sample. Means are of the samples that every run
    with the criterion answers. Differences are tested sample by sample, groups whole where meta.group, or the column
    that --group names, is told, and corrected together (Holm). Runs that judge on several scales are told as shares of
    their scale.

    Exit codes: 0, 1 failure, 2 usage, 4 the gate --not-worse was not passed.
    """
    from judgegraph.cli.main import BELOW_COVERAGE
    from judgegraph.cli.options import refuse_traces
    from judgegraph.meta.compare import compare as compared

    if csv is not None and Path(csv).suffix.lower() != ".csv":
        raise click.UsageError(f"--csv {csv}: it ends in .csv")
    if form and as_json:
        raise click.UsageError("--as and --json: one of them")
    for run in runs:
        refuse_traces(run)
    found = compared(runs, criteria=criteria, group=group)
    if csv is not None:
        found.table().to_csv(csv)
    if as_json:
        click.echo(json.dumps(found.to_dict(), indent=1, allow_nan=False))
    else:
        from judgegraph.views.comparison import as_text, comparison
        from judgegraph.views.terminal import show

        if form:
            click.echo(printable(as_text(found, form)))
        else:
            show(comparison(found))
    if not_worse and (why := _refused(found)):
        click.echo(printable(f"gate: not passed: {why}"), err=True)
        raise click.exceptions.Exit(BELOW_COVERAGE)
    if not_worse:
        by = ", ".join(dict.fromkeys(one.criterion for one in found.differences if one.p == one.p))
        click.echo(printable(f"gate: passed: no run is really below {found.runs[0].name} (tested: {by})"), err=True)


def _refused(found: RunComparison) -> str:
    """Why the gate is not passed, "" where it is: a run is really below the first, or nobody knows whether it is."""
    first = found.runs[0].name
    if part := [f"{run.name} is {run.incomplete}" for run in found.runs if run.incomplete]:
        return f"{part[0]}; a part passes no gate"
    if worse := [f"{one.b} by {one.criterion}" for one in found.worse()]:
        return f"really below {first}: {', '.join(worse[:5])}" + (" …" if len(worse) > 5 else "")
    if unknown := found.untested():
        return f"no mean could be tested against {first}: {', '.join(unknown)}"
    return ""


TABLES = ("scores", "comparisons")


@click.command()
@click.argument("run", type=click.Path(exists=True, file_okay=False))
@click.option("-o", "--out", metavar="FILE", type=click.Path(dir_okay=False), help="The file that is written.")
@click.option("--what", type=click.Choice(TABLES), help="Of FILE.csv: what its rows are; scores unless said.")
@click.option(
    "--with",
    "more",
    metavar="COLUMN",
    multiple=True,
    help="Of FILE.csv: query, output, human, system or another of the samples' columns; may be repeated.",
)
@click.option(
    "--group",
    "groups",
    metavar="COLUMN",
    multiple=True,
    help="Of FILE.csv: means for each value of it, such as system.",
)
@click.option("--otlp", metavar="URL", help="Send the traces to an OpenTelemetry collector (OTLP over HTTP).")
@click.option("--sample", "samples", metavar="ID", multiple=True, help="Of --otlp: only this one; may be repeated.")
@click.option("--redact", type=click.Choice(["texts"]), multiple=True, help="Of --otlp: send no text.")
@click.option(
    "--scores",
    type=click.Choice(["phoenix", "langfuse", "none"]),
    help="Of --otlp: who takes the scores besides; found out unless said.",
)
def export(
    run: str, out: str | None, what: str | None, more: tuple[str, ...], groups: tuple[str, ...], otlp: str | None,
    samples: tuple[str, ...], redact: tuple[str, ...], scores: str | None,
) -> None:  # fmt: skip
    """Write what came of RUN, a folder: a table (FILE.csv) of its scores or comparisons, or its items (FILE.jsonl).

    A comparison is a verdict on a pair, by one criterion in one order (AB: output stood first, BA: rival did), or
    merged over all criteria ("overall"). Items hold all of a sample in one line: scores, comparisons, verdict,
    corrections, notes.

    --with adds what the samples hold: their texts, `human` (people's judgement by the row's criterion, of several
    numbers the mean), and whatever else their rows had. --group SYSTEM writes a row per system and criterion instead:
    how many answers, how many could be read, mean and sd; of comparisons how many verdicts were A, B and ties.

    All stand in the order of the dataset and without times, so that equal results make equal files. In a table a
    text that a spreadsheet would calculate has a ' before it; `judgegraph meta FILE.csv` and `jg.load` take it away.

    Or send its traces to Phoenix, Langfuse, Jaeger, LangSmith or another collector: --otlp URL, with the headers of
    OTEL_EXPORTER_OTLP_HEADERS. RUN may be a folder that `jg.tracing` wrote then. Phoenix shows the scores, verdicts
    and people's judgements as annotations, Langfuse as scores: which of them the address is, is found out, or said by
    --scores; then PHOENIX_API_KEY, or LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY, are used.
    """
    if (out is None) == (otlp is None):
        raise click.UsageError("say where it goes: -o FILE or --otlp URL")
    ending = Path(out or "").suffix.lower()
    if len(groups) > 1:
        raise click.UsageError("--group: one column; a second table takes a second command")
    group = groups[0] if groups else None
    for name, given in (("--what", what), ("--with", more), ("--group", group)):
        if given and ending != ".csv":
            raise click.UsageError(f"{name} goes with -o FILE.csv; items hold all of it")
    if more and group:
        raise click.UsageError("--with and --group: one of them; a row of a group is no sample's")
    if otlp is not None:
        click.echo(printable(send(run, otlp, samples, bool(redact), scores or "auto")))
        _warn_incomplete(run)
        return
    if samples or redact or scores:
        raise click.UsageError("--sample, --redact and --scores go with --otlp")
    if ending not in (".csv", ".jsonl"):
        raise click.UsageError(f"--out {out}: it ends in .csv (scores or comparisons) or .jsonl (items)")
    if group:
        _write_groups(run, out or "", what or "scores", group)
    else:
        _write(run, out or "", "items" if ending == ".jsonl" else what or "scores", more)


def _write_groups(run: str, out: str, what: str, group: str) -> None:
    from judgegraph.runs.run import Run
    from judgegraph.views.blocks import counted

    found = Run.load(run)
    table = found.pairs_by_group(group) if what == "comparisons" else found.by_group(group)
    table.to_csv(out)
    if what == "scores" and not table.rows:
        click.echo("no answers: the table has no rows; of verdicts on pairs --what comparisons", err=True)
    click.echo(printable(f"{out}: {counted(len(table), 'row')}"))
    _warn_incomplete(run)


def _write(run: str, out: str, what: str, more: Sequence[str] = ()) -> None:
    from judgegraph.runs.run import Run
    from judgegraph.views.blocks import counted

    found = Run.load(run)
    if what == "items":
        count = found.export(out)
    else:
        count = (found.export_scores if what == "scores" else found.export_comparisons)(out, more)
    damaged, compared = _passed(found)
    left = f"; left out: {counted(damaged, 'damaged line')}" if damaged else ""
    click.echo(printable(f"{out}: {counted(count, what.removesuffix('s'))}{left}"))
    if what == "scores" and compared:
        told = f"this run has {counted(compared, 'comparison')} too (verdicts on pairs): --what comparisons writes them"
        click.echo(told, err=True)
    if what == "comparisons" and not count:
        click.echo("no comparisons: no pairs were judged in this run, so the table has no rows", err=True)
    _warn_incomplete(run)


def _passed(run: Run) -> tuple[int, int]:
    """How many damaged lines a run has, and how many comparisons, in one pass."""
    from judgegraph.runs.run import pair_rows

    damaged: list[str] = []
    items = run.folder.items(damaged.append) if run.folder else run.items
    compared = sum(1 for item in items for _ in pair_rows(item))
    return len(damaged), compared


def _warn_incomplete(run: str) -> None:
    """One line where the run did not come to its end; a folder of `jg.tracing` has none to come to."""
    from judgegraph.runs.run import Run, incomplete_run

    if (Path(run) / "manifest.json").exists() and (said := incomplete_run(Run.load(run))):
        click.echo(printable(said), err=True)


# The traces of a run, sent to a collector.


def send(run: str, url: str, samples: Sequence[str], redact: bool, scores: str = "auto") -> str:
    """Send a run's traces, or those of a folder that `jg.tracing` wrote; gives what was done, in a line.

    Args:
        samples: ids of those that are sent, none for all. redact: no texts. scores: who takes them, as of
            `traces.otel.export_otel`.
    """
    from judgegraph.runs.run import Run
    from judgegraph.traces.annotations import WHAT
    from judgegraph.traces.otel import Scores, export_folder, export_otel
    from judgegraph.views.blocks import counted

    wanted, taker = list(samples) or None, cast(Scores, scores)
    if (Path(run) / "manifest.json").exists():
        sent = export_otel(Run.load(run), url, samples=wanted, redact=redact, scores=taker)
    else:
        sent = export_folder(run, url, samples=wanted, redact=redact, scores=taker)
    if sent.tool is None:
        return f"{counted(sent, 'span')} sent"
    if not sent.annotations:
        return f"{counted(sent, 'span')} sent, and no {WHAT[sent.tool]}s: there are no scores"
    return f"{counted(sent, 'span')} and {counted(sent.annotations, WHAT[sent.tool])} sent"


# `judgegraph report`.


@click.command()
@click.argument("run", type=click.Path(exists=True, file_okay=False))
@click.option("-o", "--out", required=True, metavar="FILE.html", type=click.Path(dir_okay=False), help="Where it goes.")
@click.option("--most", type=click.IntRange(1, 100), default=10, show_default=True, metavar="N",
              help="Samples in each list: lowest scores, most moved, most uncertain, failed, dearest.")  # fmt: skip
@click.option("--redact", type=click.Choice(["texts"]), help="Leave out judged and generated texts.")
@click.option("--labels", metavar="FILE.jsonl", type=click.Path(exists=True, dir_okay=False),
              help="People's judgements, as judgegraph view writes them; they come first.")  # fmt: skip
@click.option("--group", metavar="COLUMN", help="Its document or dialogue, a key of meta: intervals draw it whole.  "
              "[default: group]")  # fmt: skip
def report(run: str, out: str, most: int, redact: str | None, labels: str | None, group: str | None) -> None:
    """Write RUN, a folder, as one HTML file that opens anywhere: no network, no script, at most 3 MB.

    Of up to 1,000 samples it shows what was judged beside the reasons, and may have 10 MB then.

    It begins with what the run found, which is printed too: whether it finished, what failed, whether the critic
    helped, which criteria follow people, length or one another, and what to look at first. Below that are the failures
    by cause, the scores, what the critic changed, agreement with people where there are labels, the samples worth
    reading with their whole trace, and the graph with time and money per node. Of a run too large for it, it shows
    every k-th sample and says so. The file is readable by its owner alone: it holds what was judged.
    """
    from judgegraph.cli.options import refuse_traces
    from judgegraph.report.page import written_report
    from judgegraph.runs.run import Run
    from judgegraph.views.blocks import counted

    if Path(out).suffix not in (".html", ".htm"):
        raise click.UsageError(f"--out {out}: it ends in .html")
    refuse_traces(run)
    looked: Run | str = run
    if labels is not None:
        from judgegraph.runs.labels import LabelledRun, Labels

        looked = labelled = LabelledRun.of(Run.load(run), Labels.load(labels))
        if labelled.unknown:
            left = f"labels of {counted(labelled.unknown, 'sample')} that the run has not: left out"
            click.echo(printable(f"{labels}: {left}"), err=True)
    written, found = written_report(looked, out, most=most, redact=(redact,) if redact else (), group=group)
    for one in found:
        click.echo(printable(one.text))
        if one.command:
            click.echo(printable(f"  next: {one.command}"))
    click.echo(printable(f"{out}: {written.stat().st_size / 1e6:.1f} MB"))
