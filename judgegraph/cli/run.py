"""`judgegraph run`."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgegraph.cli.main import BELOW_COVERAGE, FAILURE, NOT_MET, OVER_BUDGET, announced_stop
from judgegraph.cli.options import (
    Grouped,
    check,
    columns,
    criteria_of,
    data_format,
    evaluation,
    examples,
    graph_of,
    judge_of,
    refuse_unwired,
    run_options,
)
from judgegraph.errors import printable
from judgegraph.views.blocks import counted
from judgegraph.views.run import Pace, details, state_line

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import Progress as Bar

    from judgegraph.data.samples import Rejection, Samples
    from judgegraph.meta.requirements import Outcome, Requirement
    from judgegraph.runs.run import Run
    from judgegraph.runs.worker import Progress
    from judgegraph.types import Sample


SLACK = 3.5  # seconds for the end in order after a stop's grace; a node that blocks is not waited for any longer
SOON = 0.2  # seconds that the first line waits for the number of samples


@click.command(cls=Grouped, context_settings={"show_default": True})
@click.argument("method")
@click.argument("data", type=click.Path(exists=True, dir_okay=False))
@run_options
@examples
@data_format
@click.option(
    "--require", "required", multiple=True, metavar="TEST",
    help='Exit code 5 where it is not met, by the end of its 95 % interval: "Clarity >= 4", of the mean, or '
    '"share(Clarity >= 4) >= 0.95", of samples; "thresholds": those of the criteria. Repeat for more.',
)  # fmt: skip
def run(method: str, data: str, **given: Any) -> None:
    """Run METHOD over DATA and print what came of it.

    METHOD is a name (see `judgegraph methods`), a graph file, or file.py:factory. DATA is JSONL, JSON, CSV, TSV or
    Parquet with the fields id, query, source, output, rival, reference, references, contexts, turns, images, facts,
    human; or, with --format, runs of agents.

    Ctrl-C once (or SIGTERM) gives the samples in flight 10 s (--grace) to finish, twice stops at once; what is
    finished is kept either way, and the same command goes on with the rest. Exit codes: 0, 1 failure or nothing
    judged, 2 usage, 3 the budget ended it, 4 coverage below the gate, 5 a requirement is not met, 130 or 143 stopped.
    """
    from judgegraph.data.load import load
    from judgegraph.meta.cells import before_a_run
    from judgegraph.runs.identity import details
    from judgegraph.wiring.check import destinations

    check(given)
    thresholds = "thresholds" in given["required"]
    given["required"] = _required([text for text in given["required"] if text != "thresholds"])
    samples = load(
        data, fields=columns(given), limit=given["limit"], strict=given["strict"], format=given["data_format"]
    )
    total = _total(samples, given)
    judge = judge_of(given["judge"], given["base_url"], given["temperature"], given["max_tokens"])
    graph = graph_of(
        method, criteria=criteria_of(given), judge=judge, settings=given["settings"], critic=given["critic"]
    )  # fmt: skip
    refuse_unwired(graph)
    given["required"] += _thresholds(thresholds, graph)
    _refuse_unknown(given["required"], graph)
    for line in destinations(graph):
        click.echo(printable(line), err=True)
    for line in before_a_run(samples, details(graph)["criteria"]):
        click.echo(printable(line), err=True)
    result = evaluated(graph, samples, samples.name, total, given)
    sys.exit(_print(result, samples, total(), given))


def _required(texts: Sequence[str]) -> list[Requirement]:
    """Of --require; what can be read of them is read before anything is paid for."""
    if not texts:
        return []
    from judgegraph.meta.requirements import Requirement

    return [Requirement.of(text) for text in texts]


def _thresholds(wanted: bool, graph: Any) -> list[Requirement]:
    """Of `--require thresholds`.

    Raises:
        ClickException: no criterion has one.
    """
    if not wanted:
        return []
    from judgegraph.meta.requirements import thresholds_of
    from judgegraph.runs.identity import details

    if found := thresholds_of(details(graph)["criteria"]):
        return found
    raise click.ClickException("--require thresholds: no criterion of this run has a threshold (threshold: 4)")


def _refuse_unknown(required: Sequence[Requirement], graph: Any) -> None:
    """Criteria that the graph does not judge by, and bounds that are on no scale of theirs, as far as it knows them."""
    if not required:
        return
    from judgegraph.meta.requirements import unfit
    from judgegraph.runs.identity import details

    if told := unfit(required, details(graph)["criteria"]):
        raise click.UsageError(f"--require {printable(told)}")


def _total(samples: Samples, given: dict[str, Any]) -> Callable[[], int | None]:
    """Gives the number of samples as far as it is known; with --strict each row was looked at before."""
    if given["strict"]:
        found = samples.count()
        return lambda: found
    from judgegraph.data.load import RowCount

    if samples.path is None:
        return lambda: None
    limit, rows = given["limit"], RowCount(samples.path, samples.format, given["limit"])
    rows.within(SOON)

    def total() -> int | None:
        found = rows.within(0)
        return found if found is None or found == limit else found - len(samples.rejected)

    samples.counted = total
    return total


def evaluated(
    graph: Any, samples: Iterable[Sample], name: str, total: Callable[[], int | None], given: dict[str, Any]
) -> Run:
    """What comes of the samples, which are called `name`, with progress on stderr and a word on how to go on."""
    from judgegraph.runs.evaluate import evaluate

    settings = evaluation(given)
    _refuse_unpriced(graph, settings)
    count, width = total(), given["concurrency"]
    many = f"{count:,} " if count is not None else ""
    once = width if count is None else min(width, count)
    start = f"judging {many}{'sample' if count == 1 else 'samples'} of {name}, {once:,} at once"
    if given["retry_failed"]:
        start = f"judging again what failed of {name}, {once:,} at once"
    cut = given["limit"] is not None
    with progress(start, total, cut=cut) as teller, announced_stop(
        lambda: teller.say(_draining(teller, width, given["grace"])), given["grace"] + SLACK
    ):  # fmt: skip
        try:
            return evaluate(graph, samples, on_progress=teller, **settings)
        except KeyboardInterrupt as stop:
            stop.add_note(_what_is_saved(teller, given["out"]))
            raise


def _refuse_unpriced(graph: Any, settings: Mapping[str, Any]) -> None:
    """A budget in USD that a judge's price lacks for: told before anything is said to begin."""
    if settings["budget"] is None or settings["budget"].usd is None:
        return
    from judgegraph.calls.budget import BudgetTracker, PriceUnknown
    from judgegraph.compiled import run_sync
    from judgegraph.models.prices import Prices
    from judgegraph.runs.evaluate import resolve_judges

    async def looked_up() -> None:  # where the run will be: a judge belongs to a loop
        resolve_judges(graph, BudgetTracker(settings["budget"], prices=Prices.load(settings["prices"])))

    try:
        run_sync(looked_up())
    except PriceUnknown as error:
        raise click.UsageError(printable(str(error))) from None


def _draining(teller: Teller, width: int, grace: float) -> str:
    """What the first signal is answered with; before the first word of progress it is how many there may be."""
    total = teller.total()
    left = teller.now.in_flight if teller.now else width if total is None else min(width, total)
    what = f"{left:,} {'sample' if left == 1 else 'samples'} in flight, for {grace:g} s at most"
    return f"finishing {what}; once more stops at once"


def _what_is_saved(teller: Teller, out: str | None) -> str:
    """What is left of a run that was stopped, and how to go on."""
    now, items = teller.now, Path(out) / "items.jsonl" if out else None
    left = f"; {now.left:,} in flight {'was' if now.left == 1 else 'were'} left" if now and now.left else ""
    if items is None or not items.exists() or not items.stat().st_size:
        return "nothing was saved; --out FOLDER keeps what is finished" if out is None else f"nothing is finished{left}"
    total = teller.total()
    if now is None:
        return f"what is finished is in {out}; the same command goes on"
    done = now.done - now.by_status.get("over_budget", 0)
    of = f" of {total:,}" if total is not None else ""
    if now.again is not None:
        many = "sample" if (total or done) == 1 else "samples"
        return f"{done:,}{of} failed {many} judged again in {out}{left}; the same command goes on"
    many, verb = ("sample", "is") if (total or done) == 1 else ("samples", "is" if done == 1 else "are")
    return f"{done:,}{of} {many} {verb} finished in {out}{left}; the same command goes on"


def _unjudged(total: int | None, items: int, rejected: int, limit: int | None) -> int | None:
    """How many samples have no item, at least; a limit may have met the end of the data before its last sample."""
    if total is None:
        return None
    return max(0, total - (rejected if total == limit else 0) - items)


def _print(result: Run, samples: Samples, total: int | None, given: dict[str, Any]) -> int:
    """What came of it; gives the exit code."""
    from judgegraph.calls.budget import priced
    from judgegraph.data.samples import not_to_its_end, unread
    from judgegraph.runs.item import nothing_judged
    from judgegraph.runs.summary import covered

    summary = result.summary()
    unjudged = _unjudged(total, summary.samples.total(), len(samples.rejected), given["limit"])
    nothing = summary.judged <= summary.drafts  # a draft alone is no answer
    why = "" if not nothing else nothing_judged(result.items, samples.rejected, result.manifest.get("state"))
    why += _known_features(why)
    part = covered(summary, unread(samples.rejected), unjudged or 0)
    cut = not_to_its_end(samples.rejected)
    absent = unread(samples.rejected) + (unjudged or 0)
    held = _outcomes(result, given["required"], absent, _a_part(unjudged, total, cut))
    if given["as_json"]:
        about = {key: result.manifest.get(key) for key in ("state", "calls", "spent", "budget")}
        about |= {key: priced(about[key] or {}) for key in ("spent", "calls")}
        read = {"share": part.share, "weakest": part.name, "gate": given["gate"], "unjudged": unjudged}
        read |= {"ok": part.ok, "n": part.n, "absent": part.absent, "read_to_end": cut is None}
        rejected = [r.model_dump() for r in samples.rejected]
        out = str(result.folder.path) if result.folder else None
        whole = {**summary.to_dict(), **about, "coverage": read, "rejected": rejected, "out": out}
        whole |= {"nothing_judged": why} if why else {}
        whole |= {"required": [one.to_dict() for one in held]} if held else {}
        click.echo(json.dumps(whole, indent=1))
    else:
        from judgegraph.views.run import print_run

        print_run(result, summary, samples.rejected, gate=given["gate"], unjudged=unjudged)
        for one in held:
            click.echo(printable(str(one)))
    if result.manifest.get("state") == "over_budget":
        return OVER_BUDGET
    if result.manifest.get("unreachable"):
        return FAILURE
    if nothing:
        click.echo(printable(f"nothing was judged: {why}"), err=True)
        return FAILURE
    if given["gate"] is None and not held:
        return 0
    unknown = BELOW_COVERAGE if given["gate"] is not None else NOT_MET
    if unjudged or result.manifest.get("state") == "stopped":
        many = f"{unjudged:,} of {counted(total or 0, 'sample')}" if unjudged else "some samples"
        click.echo(
            f"coverage: {many} {'was' if unjudged == 1 else 'were'} not judged yet, so no gate is passed", err=True
        )
        return unknown
    if cut is not None:
        where = f"from {cut.unit} {cut.line} on"
        text = f"coverage: {cut.file} could not be read {where}, and nobody knows how many rows it lacks"
        click.echo(printable(f"{text}, so no gate is passed"), err=True)
        return unknown
    if given["gate"] is not None and part.share < given["gate"]:
        return BELOW_COVERAGE
    return 0 if all(one.met for one in held) else NOT_MET


def _known_features(why: str) -> str:
    """What the embedded judge could judge by, where it abstained for want of features; "" elsewhere."""
    if "none of my text features belongs to" not in why:
        return ""
    from judgegraph.embedded.families import KNOWN

    return (
        f" The embedded judge has features of {', '.join(KNOWN)}: call the criterion so, or define it by such words; "
        "or ask a language model (--judge)."
    )


def _a_part(unjudged: int | None, total: int | None, cut: Rejection | None) -> str:
    """Why what was judged is a part of the data, "" where it is all of it as far as is known."""
    if unjudged:
        return f"unfinished: {unjudged:,} of {counted(total or 0, 'sample')} not judged yet"
    return f"of a part: {cut.file} could not be read from {cut.unit} {cut.line} on" if cut is not None else ""


def _outcomes(result: Run, required: Sequence[Requirement], absent: int, part: str) -> list[Outcome]:
    if not required:
        return []
    from judgegraph.meta.requirements import outcomes
    from judgegraph.runs.run import incomplete_run

    return outcomes(result.items, required, absent, incomplete_run(result) or part)


# How far a run is, on stderr: a bar on a terminal, a line now and then elsewhere.


EVERY = 10.0  # seconds between two plain lines at least
BAR = 24  # columns; the words need the rest


class Teller:
    """Told of every step of a run, tells people now and then. What cannot be written must not end the run.

    Attributes:
        now: the latest that is known, None before the first; in a retry without what it leaves as it is.
        cut: a limit may leave out some of the samples that failed.
    """

    def __init__(self, total: Callable[[], int | None], cut: bool = False) -> None:
        self._total, self.cut = total, cut
        self.now: Progress | None = None
        self.pace = Pace()

    def __call__(self, now: Progress) -> None:
        """The run has come so far."""
        if now.again is not None:
            now = replace(now, done=now.done - now.resumed, resumed=0)
        self.now = now
        self.pace.add(now.seconds, now.done)

    def total(self) -> int | None:
        """How many samples there are; None where the folder has finished ones that are not among them."""
        if self.now is None:
            return self._total()
        found = self._total() if self.now.again is None else None if self.cut else self.now.again
        return found if found is not None and found >= self.now.done else None

    def say(self, text: str) -> None:
        """A line of its own, at once."""
        with suppress(OSError, ValueError, RuntimeError):  # a full disk, a closed pipe, or a signal amid a write
            click.echo(text, err=True)

    def end(self) -> None:
        """The last line, where there was a first."""
        if self.now is not None:
            self.say(state_line(self.now, self.total(), self.pace, ended=True))


class Lines(Teller):
    """A plain line every `EVERY` seconds at most."""

    def __init__(self, total: Callable[[], int | None], cut: bool = False) -> None:
        super().__init__(total, cut)
        self._told = time.monotonic()
        self._out = False

    def __call__(self, now: Progress) -> None:
        super().__call__(now)
        out, self._out = self._out, bool(now.outages)
        if self.now is not None and ((self._out and not out) or time.monotonic() - self._told >= EVERY):
            self._told = time.monotonic()
            self.say(state_line(self.now, self.total(), self.pace))


class Live(Teller):
    """A bar, drawn anew four times a second from the latest that is known."""

    def __init__(self, total: Callable[[], int | None], cut: bool = False) -> None:
        super().__init__(total, cut)
        self.bar = _bar(self)

    def say(self, text: str) -> None:
        with suppress(OSError, ValueError, RuntimeError):
            self.bar.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def words(self) -> list[str]:
        """What stands behind the number of samples."""
        return details(self.now, self.total(), self.pace) if self.now else []


@contextmanager
def progress(start: str, total: Callable[[], int | None], *, cut: bool = False) -> Iterator[Teller]:
    """Gives what to call with a run's `Progress`; the bar is gone afterwards.

    Args:
        start: the first line. total: the number of samples as far as it is known, None before. cut: as `Teller` has it.
    """
    live = sys.stderr is not None and sys.stderr.isatty()
    teller: Teller = Live(total, cut) if live else Lines(total, cut)
    if not live:
        teller.say(start)
    try:
        with teller.bar if isinstance(teller, Live) else nullcontext():
            yield teller
    finally:
        if not live:
            teller.end()


def _bar(teller: Live) -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task
    from rich.table import Column
    from rich.text import Text

    class Drawn(Progress):
        def get_renderables(self) -> Iterable[RenderableType]:
            done = teller.now.done if teller.now else 0
            for task in self.task_ids:  # the one, once it is there
                self.update(task, completed=done, total=teller.total())
            return super().get_renderables()

    class Words(ProgressColumn):
        def render(self, task: Task) -> Text:
            of = f"/{task.total:,.0f}" if task.total is not None else ""
            words = ", ".join([f"{task.completed:,.0f}{of}", *teller.words()])
            return Text(words, no_wrap=True, overflow="ellipsis")

    console = Console(stderr=True)
    wide = min(BAR, console.width // 5)
    bar = Drawn(
        BarColumn(wide, table_column=Column(min_width=wide)), Words(Column(no_wrap=True, overflow="ellipsis")),
        console=console, transient=True, refresh_per_second=4,
    )  # fmt: skip
    bar.add_task("", total=None)
    return bar
