"""`judgegraph trace`."""

from __future__ import annotations

import ipaddress
import json
import secrets
import socket
import sys
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from judgegraph.cli.main import FAILURE, wide
from judgegraph.errors import ConfigError, ExtraError, counted, one_line, printable
from judgegraph.types import Status

if TYPE_CHECKING:
    from judgegraph.runs.repair import Part, Repair
    from judgegraph.runs.run import Run


ORDERS = ("score", "change", "doubt", "cost", "time", "failures")
OF_A_RUN = ("score", "change", "doubt")


@click.command()
@click.argument("run", type=click.Path(exists=True, file_okay=False))
@click.option("--by", type=click.Choice(ORDERS), help="What the samples are ordered by: the most moved from their "
              "drafts first, by a critic or a stronger judge; else those that scored least, unless said. "
              "An order that says nothing of these samples is told, and gives way to that.")  # fmt: skip
@click.option("--limit", type=click.IntRange(min=1), help="How many samples are listed; 20, and with --json all.")
@click.option("--sample", metavar="ID", help="Show what was done for this sample.")
@click.option("--status", type=click.Choice(get_args(Status)), help="Only samples that ended so, or have "
              "a final score or comparison that did.")  # fmt: skip
@click.option("--criterion", metavar="NAME", help="Score, change and doubt of this criterion alone.")
@click.option("--redact", type=click.Choice(["texts"]), multiple=True, help="Show the lengths of texts, not the texts.")
@click.option("--full", is_flag=True, help="Show all texts to their ends, with --sample.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@wide
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
    from judgegraph.traces.read import ranked_samples, untold
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
    from judgegraph.errors import DataError
    from judgegraph.traces.read import near

    names = [score.criterion for item in run.items for score in item.scores]
    if criterion not in names:
        raise DataError(f"no sample has a score of {one_line(criterion, 80)!r}{near(criterion, names)}")


def _refuse_other(sample: str, criterion: str, names: list[str]) -> None:
    from judgegraph.errors import DataError
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
    from judgegraph.traces.read import ranked_traces
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
    from judgegraph.errors import DataError
    from judgegraph.traces.read import near, ranked_traces, traces_in
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


# `judgegraph repair`.


NAMED = 20  # damaged lines of a file


@click.command()
@click.argument("run", type=click.Path(exists=True))
@click.option("-o", "--out", metavar="DIR", type=click.Path(), help="Write what is sound as a new folder; of a ledger, "
              "as a new file.")  # fmt: skip
@click.option("--in-place", is_flag=True, help="Put what is sound in the place of what is damaged, which is moved to "
              "damaged-1 beside it; sound files stay as they are.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def repair(run: str, out: str | None, in_place: bool, as_json: bool) -> None:
    """Say what is sound of RUN, the folder of a run or a ledger's file; with --out or --in-place salvage it.

    Items, journeys and prompts are looked at line by line, and replies row by row: each has a checksum. Lines of items
    that are copies, lack the checksum that others have, or are gone are named too. What SQLite cannot reach of a
    damaged ledger is taken from its pages. The index of the items is made again. Nothing is lost: damaged files stay
    where they are, or are moved.

    The same `judgegraph run` command goes on then (with --out DIR, in DIR), and pays for what was lost alone. Without
    a manifest it begins anew, and finds its replies in the ledger. A ledger that several runs share is repaired by its
    own name, while no run uses it.

    Exit codes: 0 all is sound or what is sound was written, 1 something is damaged and nothing was written, or failure,
    2 usage.
    """
    from judgegraph.runs.repair import repair as repaired

    if out is not None and in_place:
        raise click.UsageError("--out writes a new folder, --in-place changes this one: give one of the two")
    found = repaired(run, out=out, in_place=in_place)
    if as_json:
        click.echo(json.dumps(found.to_dict(), indent=1).replace("\x7f", "\\u007f"))
    else:
        _print(found)
    if not found.sound and found.written is None:
        click.get_current_context().exit(FAILURE)


def _print(found: Repair) -> None:
    for part in found.parts:
        click.echo(printable(f"{part.name}: {_counts(part)}"))
        for note in part.notes[:NAMED]:
            click.echo(printable(f"  {note}"))
        if len(part.notes) > NAMED:
            click.echo(f"  and {len(part.notes) - NAMED:,} more; --json names them")
    click.echo(printable(_end(found)))


def _counts(part: Part) -> str:
    """Such as "sound, 32 lines" and "damaged; 31 of 32 lines are sound, 2 lines are gone"."""
    if part.sound is None:
        return part.state
    if part.state == "sound":
        return f"sound, {part.sound:,} {part.what}"
    of = f" of {part.sound + part.lost - part.gone:,}" if part.lost is not None else ""
    gone = f", {part.gone:,} {'line is' if part.gone == 1 else 'lines are'} gone" if part.gone else ""
    return f"{part.state}; {part.sound:,}{of} {part.what} are sound{gone}"


def _end(found: Repair) -> str:
    if found.written is not None:
        moved = f"; the damaged files are in {found.backup}" if found.backup else ""
        goes = "goes on" if found.goes_on else "begins anew, from the ledger's replies"
        return f"what is sound is in {found.written}{moved}. The same `judgegraph run` command {goes} there"
    if found.sound:
        return "all is sound; nothing was written"
    return "nothing was written: --in-place puts what is sound in its place, --out DIR writes it elsewhere"


# `judgegraph view`.


PORT = 8730


@click.command(context_settings={"show_default": True})
@click.argument("runs", nargs=-1, required=True, metavar="RUN [RUN...]", type=click.Path(exists=True, file_okay=False))
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, help="Where it listens; 0 takes a free one.")
@click.option("--host", default="127.0.0.1", help="Any but this machine's own asks browsers for a token.")
@click.option(
    "--labels", metavar="FILE.jsonl", type=click.Path(dir_okay=False),
    help="Where your judgements go.  [default: RUN.labels.jsonl, beside the run]",
)  # fmt: skip
def view(runs: tuple[str, ...], port: int, host: str, labels: str | None) -> None:
    """Look at RUNs, folders, in a browser: a local web app, until Ctrl-C.

    A table of the samples is searched, filtered and sorted; a sample shows what was judged beside the scores and their
    reasons, and the trace below. Several runs are held beside one another, sample by sample. A run that goes on is
    followed. Scores of your own are written to a file that `judgegraph meta RUN --labels FILE` reads.

    It listens to this machine alone, and has no script; nothing is written to a run. It needs the extra 'view'.
    """
    for run in runs:
        _refuse_no_run(run)
    for at, run in enumerate(runs):
        if Path(run).resolve() in map(Path.resolve, map(Path, runs[:at])):
            raise click.UsageError(f"run {one_line(run, 200)} is given twice: give it once")
    try:
        from judgegraph.webview.app import LOOPBACK, View
    except ImportError:
        raise ExtraError("judgegraph view", "view") from None
    token = "" if _is_own(host) else secrets.token_urlsafe(24)
    with (
        closing(_listening(host, port)) as listener,
        closing(View(runs, labels=labels, token=token, hosts=(*LOOPBACK, host))) as app,
    ):
        number = listener.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        click.echo(printable(f"http://{shown}:{number}/{f'?token={token}' if token else ''}  (Ctrl-C ends it)"))
        for file in (one.index.file for one in app.runs if one.index.file.kept):
            again = f", {file.path.stat().st_size / 1e6:,.0f} MB" if file.found else ": the next view begins at once"
            click.echo(printable(f"what samples are found by is kept in {file.path}{again}; remove it as you like"))
        app.start()
        with suppress(KeyboardInterrupt):
            _serve(app.guarded, listener)


def _refuse_no_run(run: str) -> None:
    from judgegraph.cli.options import refuse_traces

    refuse_traces(run)


def _is_own(host: str) -> bool:
    """Whether an address is of this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens.

    Raises:
        ConfigError: the address is another's, or taken.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except OSError as error:
        cure = "; another runs there: --port 0 takes a free one" if port else ""
        raise ConfigError(f"--host {host} --port {port}: {error.strerror or error}{cure}") from None


def _serve(app: Any, listener: socket.socket) -> None:
    import uvicorn

    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False, lifespan="off")
    uvicorn.Server(config).run(sockets=[listener])


# `judgegraph suggestions`.


@click.command(context_settings={"show_default": True})
@click.argument("run", type=click.Path(exists=True, file_okay=False))
@click.option(
    "--by", type=click.Choice(["auto", "embeddings", "letters"]), default="auto",
    help="How alike suggestions are: by embeddings (extra semantic), by their letters, or by what is installed.",
)  # fmt: skip
@click.option("--all", "every", is_flag=True, help="List every topic.")
@click.option("--worth", is_flag=True, help="Say of every criterion of the run whether it earns its place.")
@click.option("--criterion", "criteria", multiple=True, metavar="NAME", help="Say it of this one; repeat for more.")
@click.option("--labels", metavar="FILE.jsonl", type=click.Path(exists=True, dir_okay=False),
              help="People's judgements, as judgegraph view writes them; then --worth.")  # fmt: skip
@click.option("--target", metavar="NAME", help="People's criterion that agreement is with.  [default: overall, or all]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@wide
def suggestions(run: str, **given: Any) -> None:
    """Say what the critics of RUN, a folder, suggest, by topic; and whether criteria earn their place.

    Near-duplicates are one suggestion, and what is alike is one topic with the name of its most central one. A
    suggestion changes no score of its run; `judgegraph review RUN` takes topics into a new criteria set.

    With --worth, --criterion or --labels: of criteria that RUN was judged by, what each adds to agreement with people,
    beside all others of the set, fitted on other samples than it is held against ("earned", "not shown"); without
    labels, how far the others say the same ("redundant with X").
    """
    from judgegraph.runs.run import Run

    found = Run.load(run)
    if given["worth"] or given["criteria"] or given["labels"] or given["target"]:
        _worth(found, given)
        return
    from judgegraph.views.critic import suggestions as laid_out
    from judgegraph.views.terminal import show

    topics = found.suggestions(given["by"])
    if given["as_json"]:
        click.echo(json.dumps(topics.to_dict(), indent=1))
    else:
        show(laid_out(topics, given["every"]), more="; --all lists them, --json has {}")


def _worth(run: Run, given: dict[str, Any]) -> None:
    from judgegraph.meta.criterion_worth import criteria_worth
    from judgegraph.runs.labels import LabelledRun, Labels
    from judgegraph.views.critic import criteria_worth as laid_out
    from judgegraph.views.terminal import show

    if given["labels"]:
        run = LabelledRun.of(run, Labels.load(given["labels"]))
        if run.unknown:
            click.echo(f"labels of {counted(run.unknown, 'sample')} that the run has not: left out", err=True)
    found = criteria_worth(run, given["criteria"], target=given["target"])
    if given["as_json"]:
        click.echo(json.dumps(found.to_dict(), indent=1))
    else:
        show(laid_out(found))
