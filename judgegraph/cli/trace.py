"""`judgegraph trace`."""

from __future__ import annotations

import json
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from judgegraph.types import Status

if TYPE_CHECKING:
    from judgegraph.runs.run import Run

ORDERS = ("score", "change", "doubt", "cost", "time", "failures")
OF_A_RUN = ("score", "change", "doubt")


@click.command()
@click.argument("run", type=click.Path(exists=True, file_okay=False))
@click.option("--by", type=click.Choice(ORDERS), help="What the samples are ordered by: the most moved by the critic "
              "first, where it moved nothing those that scored least, unless said. An order that says nothing of "
              "these samples is told, and gives way to that.")  # fmt: skip
@click.option("--limit", type=click.IntRange(min=1), help="How many samples are listed; 20, and with --json all.")
@click.option("--sample", metavar="ID", help="Show what was done for this sample.")
@click.option("--status", type=click.Choice(get_args(Status)), help="Only samples that ended so, or have "
              "a final score or comparison that did.")  # fmt: skip
@click.option("--criterion", metavar="NAME", help="Score, change and doubt of this criterion alone.")
@click.option("--redact", type=click.Choice(["texts"]), multiple=True, help="Show the lengths of texts, not the texts.")
@click.option("--full", is_flag=True, help="Show all texts to their ends, with --sample.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def trace(
    run: str, by: str | None, limit: int | None, sample: str | None, status: str | None, criterion: str | None,
    redact: tuple[str, ...], full: bool, as_json: bool,
) -> None:  # fmt: skip
    """Say what was done for the samples of RUN, a folder: its steps, times, calls, prompts and replies.

    Lists the samples; --sample ID shows one: its scores with what the critic moved, then graph, nodes, agents, model
    calls and assistants as a tree. RUN may be a folder that `jg.tracing` wrote.
    """
    if sample is None and full:
        raise click.UsageError("--full goes with --sample ID")
    if sample is not None and (by or limit or status):
        raise click.UsageError("--by, --limit and --status list samples; leave them out with --sample ID")
    with _any_character():
        if not (Path(run) / "manifest.json").exists():
            _of_folder(run, by, limit, sample, status, criterion, bool(redact), full, as_json)
        elif sample is None:
            _list(run, by, limit, status, criterion, bool(redact), as_json)
        else:
            _show(run, sample, criterion, bool(redact), full, as_json)


@contextmanager
def _any_character() -> Generator[None]:
    """What the terminal's encoding has no character for is a question mark, and no error."""
    reconfigure: Any = getattr(sys.stdout, "reconfigure", None)
    before = sys.stdout.errors
    if reconfigure:
        reconfigure(errors="replace")
    try:
        yield
    finally:
        if reconfigure:
            reconfigure(errors=before)


def _list(
    run: str, by: str | None, limit: int | None, status: str | None, criterion: str | None, redact: bool, as_json: bool
) -> None:
    from judgegraph.report.page import RedactedRun
    from judgegraph.runs.run import Run, incomplete_run
    from judgegraph.traces.rank import ranked_samples
    from judgegraph.traces.read import untold
    from judgegraph.views.traces import SHOWN, listed, print_ranked_samples

    found = Run.load(run)
    found = RedactedRun(found.manifest, found.held, found.folder) if redact else found
    most = limit or (None if as_json else SHOWN)
    samples = listed(ranked_samples(found, status=status, criterion=criterion), by, most)
    if not samples.count and criterion is not None:
        _refuse_unknown(found, criterion)
    if as_json:
        _print_json([row.to_dict() for row in samples.rows])
        return
    all_of_them = status is None and criterion is None
    more = untold(found.manifest, samples.paid) if all_of_them else 0
    print_ranked_samples(run, samples, status, more, incomplete_run(found))


def _refuse_unknown(run: Run, criterion: str) -> None:
    """Refuse a criterion that no sample has a score of.

    Raises:
        DataError: naming those that there are.
    """
    from judgegraph.errors import DataError, one_line
    from judgegraph.traces.read import near

    names = [score.criterion for item in run.items for score in item.scores]
    if criterion not in names:
        raise DataError(f"no sample has a score of {one_line(criterion, 80)!r}{near(criterion, names)}")


def _refuse_other(sample: str, criterion: str, names: list[str]) -> None:
    from judgegraph.errors import DataError, one_line
    from judgegraph.traces.read import near

    if criterion not in names:
        what = f"sample {one_line(sample, 80)!r} has no score of {one_line(criterion, 80)!r}"
        raise DataError(f"{what}{near(criterion, names)}")


def _show(run: str, sample: str, criterion: str | None, redact: bool, full: bool, as_json: bool) -> None:
    from judgegraph.runs.run import Run
    from judgegraph.traces.read import trace_of
    from judgegraph.views.traces import print_trace

    loaded = Run.load(run)
    found = trace_of(loaded, sample, redact=redact)
    if criterion is not None and (found.item.scores or found.item.status == "ok"):
        _refuse_other(sample, criterion, [score.criterion for score in found.item.scores])
    elif criterion is not None and not redact:
        _refuse_unknown(loaded, criterion)
    if as_json:
        _print_json(found.to_dict())
    else:
        print_trace(found, loaded.signature, criterion=criterion, full=full)


def _of_folder(
    path: str, by: str | None, limit: int | None, sample: str | None, status: str | None, criterion: str | None,
    redact: bool, full: bool, as_json: bool,
) -> None:  # fmt: skip
    """As of a run, of a folder without items."""
    from judgegraph.traces.rank import ranked_traces
    from judgegraph.views.traces import SHOWN, listed, print_ranked_samples

    if by in OF_A_RUN or criterion is not None:
        raise click.UsageError(f"{path} is no run's folder: its journeys have no scores; order them by cost or time")
    if sample is not None:
        _show_recorded(path, sample, redact, full, as_json)
        return
    found = (one for one in ranked_traces(path) if status in (None, one.status))
    samples = listed(found, by, limit or (None if as_json else SHOWN), journeys=True)
    if as_json:
        _print_json([row.to_dict() for row in samples.rows])
    else:
        print_ranked_samples(path, samples, status)


def _show_recorded(path: str, sample: str, redact: bool, full: bool, as_json: bool) -> None:
    from judgegraph.errors import DataError, one_line
    from judgegraph.traces.rank import ranked_traces, traces_in
    from judgegraph.traces.read import near
    from judgegraph.views.traces import print_sample_trace

    found = list(traces_in(path, sample, redact=redact))
    if not found:
        names = (one.id for one in ranked_traces(path))
        raise DataError(f"{path} has no sample {one_line(sample, 80)!r}{near(sample, names)}")
    if as_json:
        _print_json([one.to_dict() for one in found])
        return
    for one in found:
        print_sample_trace(one, full=full)


def _print_json(told: Any) -> None:
    click.echo(json.dumps(told, indent=1, allow_nan=False).replace("\x7f", "\\u007f"))
