"""`judgegraph bench`."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgegraph.cli.main import BELOW_COVERAGE, FAILURE, OVER_BUDGET
from judgegraph.cli.options import GROUPS, Command, Grouped, check, graph_of, judge_of, refuse_unwired, run_options
from judgegraph.cli.run import evaluated
from judgegraph.errors import printable

if TYPE_CHECKING:
    from judgegraph.bench.files import Collection
    from judgegraph.bench.table import MeasuredJudge
    from judgegraph.meta.cells import Judgements
    from judgegraph.meta.conventions import Conventions
    from judgegraph.runs.run import Run
    from judgegraph.types import Sample


# The options of `judgegraph bench`: those of `run` without what its data needs, and its own.


NOT_HERE = ("fields", "strict")  # of `run`: its data is a table of unknown columns
_OWN = (
    click.option(
        "-d", "--data", type=click.Path(exists=True, file_okay=False), help="The folder of the collections, or of one."
    ),
    click.option("-m", "--method", help="A method, graph file or file.py:factory.  [default: the collection's]"),
    click.option("--recorded", is_flag=True, help="Score recorded replies instead of asking; nothing is spent."),
    click.option(
        "--reading", type=click.Choice(["ours", "authors"]), default="ours",
        help="Read recorded replies by our readers, or by the rules of those who recorded them.",
    ),
    click.option("--preset", metavar="NAME", help="Conventions of a paper.  [default: the collection's]"),
    click.option(
        "--resamples", metavar="N", type=click.IntRange(0), help="Of the bootstrap; 0 for no intervals."
        "  [default: 1000]",
    ),
    click.option("--seed", metavar="N", type=click.IntRange(0), help="Of the bootstrap.  [default: 0]"),
)  # fmt: skip
_ASKING = {
    "method": "--method", "judge": "--judge", "base_url": "--base-url", "temperature": "--temperature",
    "max_tokens": "--max-tokens",
    "criteria": "--criteria", "critic": "--critic", "limit": "--limit", "out": "--out", "ledger": "--ledger",
    "gate": "--coverage", "budget_calls": "--budget-calls", "budget_tokens": "--budget-tokens",
    "budget_usd": "--budget-usd", "prices": "--prices", "rpm": "--rpm", "tpm": "--tpm",
    "max_prompt": "--max-prompt", "patience": "--patience",
}  # fmt: skip


class BenchCommand(Grouped):
    """A run's headings, with the options of its own under the first ones."""

    groups = {
        "What is judged, and by whom": ("data", "method", *GROUPS["What is judged, and by whom"]),
        "What it is held against": ("recorded", "reading", "preset", "resamples", "seed"),
        **{heading: names for heading, names in GROUPS.items() if heading != "What is judged, and by whom"},
    }


def bench_options(command: Command) -> Command:
    """Decorates a command with all of them."""
    command = run_options(command)
    kept: list[click.Option] = command.__click_params__  # type: ignore[attr-defined]
    kept[:] = [option for option in kept if option.name not in NOT_HERE]
    for option in reversed(_OWN):
        command = option(command)
    return command


def refuse_idle(given: Mapping[str, Any]) -> None:
    """With --recorded nothing is asked, so that an option for asking is a mistake.

    Raises:
        UsageError: with the options to leave out.
    """
    idle = [option for name, option in _ASKING.items() if given[name] is not None]
    idle += ["--setting"] if given["settings"] else []
    idle += ["--retry-failed"] if given["retry_failed"] else []
    if idle:
        raise click.UsageError(f"--recorded asks no judge: leave {', '.join(idle)} out")


@click.command(cls=BenchCommand, context_settings={"show_default": True})
@click.argument("name", required=False)
@bench_options
def bench(name: str | None, **given: Any) -> None:
    """Hold a method, or recorded judges, beside a benchmark's published figures.

    NAME is a collection of human judgements; without it they are listed. Nothing of them is shipped: --data names a
    folder of yours (docs/bench.md says where the originals are and how they lie). The method's own prompts are asked,
    so a figure beside a published one compares judges with their prompts, not models alone.

    Exit codes: 0, 1 failure or nothing judged, 2 usage, 3 the budget ended it, 4 coverage below the gate, 130 or 143
    stopped.
    """
    from judgegraph.bench.files import COLLECTIONS, collection, folder_of

    if name is None:
        _list([collection(known) for known in COLLECTIONS], given["as_json"])
        return
    known = collection(name)
    if given["data"] is None:
        raise click.UsageError(f"--data names the folder with {known.files[0]}; the original is {known.origin}")
    folder = folder_of(Path(given["data"]), known)
    conventions = _conventions(known, given)
    if given["recorded"]:
        refuse_idle(given)
        sys.exit(_recorded(known, folder, conventions, given))
    check(given)
    sys.exit(_run(known, folder, conventions, given))


def _list(known: list[Collection], as_json: bool) -> None:
    if as_json:
        keys = ("name", "title", "items", "criteria", "judges", "origin", "files", "preset", "method")
        click.echo(json.dumps([{key: getattr(one, key) for key in keys} for one in known], indent=1, allow_nan=False))
    else:
        from judgegraph.views.agreement import shelf
        from judgegraph.views.terminal import show

        show(shelf(known))


def _conventions(known: Collection, given: dict[str, Any]) -> Conventions:
    from judgegraph.meta.conventions import chosen

    choices = {key: given[key] for key in ("resamples", "seed") if given[key] is not None}
    return chosen(given["preset"] or known.preset, **choices)


def _recorded(known: Collection, folder: Path, conventions: Conventions, given: dict[str, Any]) -> int:
    """Recorded replies beside published figures; gives the exit code."""
    from judgegraph.bench.table import measured

    read = known.recorded if given["reading"] == "ours" or known.authors is None else known.authors
    found = measured(read(folder), known, conventions)
    about = {"recorded": True, "reading": given["reading"] if known.authors is not None else "ours"}
    nothing = not any(cell.measured for cell in found.cells)
    if given["as_json"] or not nothing:
        _print(known, found, conventions, about, given)
    if nothing:
        told = f"nothing is recorded in {folder}; without --recorded a judge of yours is asked"
        click.echo(printable(told), err=True)
        return FAILURE
    return 0


def _run(known: Collection, folder: Path, conventions: Conventions, given: dict[str, Any]) -> int:
    """A method beside published figures; gives the exit code."""
    from judgegraph.bench.table import measured, part_of, under_headings, with_baselines
    from judgegraph.calls.budget import priced
    from judgegraph.runs.item import nothing_judged
    from judgegraph.runs.summary import coverage

    part = part_of(known, known.samples(folder), given["limit"])
    method, result = _evaluated(known, part.samples, given)
    found, unmet = _judgements(known, method, result)
    found = with_baselines(found, known, part.samples)
    summary = result.summary()
    share, weakest = coverage(summary, 0, 0)
    state = {key: result.manifest.get(key) for key in ("state", "budget")}
    state |= {key: priced(result.manifest.get(key) or {}) for key in ("calls", "spent")}
    about = {
        "recorded": False, "run": result.signature, **state, "coverage": {"share": share, "weakest": weakest},
        "part": "; ".join(filter(None, (part.told, known.chance(part.samples) if known.chance else ""))),
        "out": str(result.folder.path) if result.folder else None,
    }  # fmt: skip
    sets = under_headings(found, known)
    _print(known, measured(sets, known, conventions, ours=True), conventions, about, given)
    if not given["as_json"]:
        from judgegraph.views.agreement import run_end
        from judgegraph.views.terminal import show

        show(run_end(result, summary, given["gate"]))
    if result.manifest.get("state") == "over_budget":
        return OVER_BUDGET
    if summary.judged <= summary.drafts:
        unmet = f"nothing was judged: {nothing_judged(result.items, (), result.manifest.get('state'))}"
    if unmet:
        click.echo(printable(unmet), err=True)
        return FAILURE
    return BELOW_COVERAGE if given["gate"] is not None and share < given["gate"] else 0


def _judgements(known: Collection, method: str, result: Run) -> tuple[list[Judgements], str]:
    """What people and the run judged, and why it is nothing; what was paid for is told in either case."""
    from judgegraph.bench.table import in_columns, named
    from judgegraph.meta.cells import Unjudged
    from judgegraph.meta.judgements import of_run
    from judgegraph.registry.lookup import is_file

    name = result.signature.partition("|")[0] if is_file(method) else method
    try:
        found = named(of_run(result), name)
    except Unjudged as error:
        return [], str(error)
    return in_columns(found, known), ""


def _evaluated(known: Collection, samples: list[Sample], given: dict[str, Any]) -> tuple[str, Run]:
    """The method that was run, as it was asked for, and what came of it."""
    from judgegraph.bench.table import criteria_of

    method, settings = given["method"], given["settings"]
    if method is None:
        own = {text.partition("=")[0] for text in settings}
        method, left = known.method, [text for text in known.settings if text.partition("=")[0] not in own]
        settings = (*left, *settings)
    judge = judge_of(given["judge"], given["base_url"], given["temperature"], given["max_tokens"])
    graph = graph_of(
        method, criteria=given["criteria"], judge=judge, settings=settings, critic=given["critic"],
        judged=lambda build: criteria_of(known, samples, build),
    )  # fmt: skip
    refuse_unwired(graph)
    return method, evaluated(graph, samples, known.title, lambda: len(samples), given)


def _print(
    known: Collection, found: MeasuredJudge, conventions: Conventions, about: dict[str, Any], given: dict[str, Any]
) -> None:
    if given["as_json"]:
        from judgegraph.bench.table import finite, to_dict

        told = finite({**about, **to_dict(found, known, conventions)})
        click.echo(json.dumps(told, indent=1, allow_nan=False))
    else:
        from judgegraph.views.agreement import bench as laid_out
        from judgegraph.views.terminal import show

        show(laid_out(known, found, conventions, str(about.get("reading", "")), str(about.get("part", ""))))
