"""`judgegraph`: commands are imported when they are called, so that --help is quick."""

from __future__ import annotations

import atexit
import importlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

import click

from judgegraph import __version__
from judgegraph.errors import (
    JudgegraphError,
    damaged_lines,
    printable,  # which the commands take from here
)
from judgegraph.shown import whole_tables

COMMANDS = {  # name -> module, one line for --help
    "init": ("judgegraph.cli.new", "Look at a data file, and propose columns, criteria and the command to run."),
    "run": ("judgegraph.cli.run", "Run a method over a dataset and print what came of it."),
    "plan": ("judgegraph.cli.plan", "Say what a run will ask for and cost, before anything is spent."),
    "bridge": ("judgegraph.cli.bridge", "Make training data for a judge of other projects' judgements."),
    "corrected": ("judgegraph.cli.bridge", "Judge what a run's corrections gained, or write them as samples."),
    "export": ("judgegraph.cli.export", "Write a run's scores or comparisons as CSV, or its items as JSON lines."),
    "trace": ("judgegraph.cli.folder", "Say what was done for a run's samples, step by step."),
    "check": ("judgegraph.cli.check", "Prove that a method's graph is wired; nothing is asked."),
    "doctor": ("judgegraph.cli.check", "Measure what a judge's endpoint really does; runs use what was found."),
    "probe": ("judgegraph.cli.plan", "Measure a judge's biases: exchanged order, padded copies, its own outputs."),
    "methods": ("judgegraph.cli.lists", "List the methods."),
    "agents": ("judgegraph.cli.lists", "List the agents and critics, with what they read and write."),
    "tools": ("judgegraph.cli.lists", "List the assistant evaluators."),
    "criteria": ("judgegraph.cli.lists", "List the criteria sets, or print one."),
    "prompts": ("judgegraph.cli.plan", "Print a method's prompts, as templates or as a sample gets them."),
    "show": ("judgegraph.cli.check", "Draw a method's graph: Mermaid, text or SVG."),
    "meta": ("judgegraph.cli.meta", "Say how far a run's scores, or a table's, agree with people."),
    "diff": ("judgegraph.cli.export", "Say which scores moved between two runs, and why."),
    "compare": ("judgegraph.cli.export", "Hold several runs beside one another: means, agreement, cost."),
    "report": ("judgegraph.cli.export", "Write a run as one HTML file that opens anywhere."),
    "view": ("judgegraph.cli.folder", "Look at runs in a browser: search, sort, compare, mark samples."),
    "rank": ("judgegraph.cli.meta", "Rank systems by people and by metrics, from scores or from pairs."),
    "bench": ("judgegraph.cli.bench", "Hold a method beside a benchmark's published figures."),
    "suggestions": (
        "judgegraph.cli.folder",
        "Say which criteria critics suggest, by topic, and whether one is worth it.",
    ),
    "review": ("judgegraph.cli.review", "Decide on the criteria that critics suggest, sample by sample or of a run."),
    "schema": ("judgegraph.cli.lists", "Print the JSON Schema of graph files, or one of ours to copy."),
    "repair": ("judgegraph.cli.folder", "Say what is sound of a damaged run or ledger, and salvage it."),
    "new": ("judgegraph.cli.new", "Write a plug-in to start from, as a package of your own."),
    "prices": ("judgegraph.cli.lists", "Print the table of prices, to edit and give back as --prices FILE."),
}
MOST_DAMAGED = 20  # lines that are named
FAILURE, USAGE, OVER_BUDGET, BELOW_COVERAGE, NOT_MET, STOPPED = 1, 2, 3, 4, 5, 130


# An option of every command that prints tables.


def _whole(ctx: click.Context, _: click.Parameter, value: bool) -> bool:
    before = whole_tables.set(value)
    ctx.call_on_close(lambda: whole_tables.reset(before))
    return value


wide = click.option(
    "--wide", is_flag=True, expose_value=False, callback=_whole,
    help="Every column of a table that has no room, in parts below one another.",
)  # fmt: skip


# Ctrl-C and SIGTERM: the first one ends a command in order, the second at once.


SIGNALS = (signal.SIGINT, signal.SIGTERM)
LATE = "stopped after %g s: %s; what was finished by then is kept"
SHOW_CURSOR = b"\x1b[?25h\n"  # a progress bar hides it

_told: list[tuple[Callable[[], None], float]] = []


class Stopped(KeyboardInterrupt):
    """A signal asks the command to end; `code` is the exit code that says which: 130 or 143."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.code = 128 + number


@contextmanager
def stoppable(to_the_end: bool = False) -> Generator[None]:
    """Within, the first signal raises `Stopped`; one that is ignored here (nohup, a background job) stays ignored.

    After a first signal the handlers stay: an end in order may take its time, and a second signal cuts it short.

    Args:
        to_the_end: the process ends afterwards, and up to its end a signal stops it at once, with our exit code.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    heard = {number: handler for number, handler in before.items() if handler not in (signal.SIG_IGN, None)}

    def first(number: int, _: Any) -> NoReturn:
        for each in heard:
            signal.signal(each, _at_once)
        for tell, within in _told:
            with suppress(Exception):
                tell()
            _late(number, within)
        raise Stopped(number)

    for number in heard:
        signal.signal(number, first)
    if to_the_end:
        atexit.register(_deaf, tuple(heard))  # first here, so that it is called last
    try:
        yield
    finally:
        if to_the_end:
            _flush()
        if not to_the_end:
            _late(0, 0)
        for number, handler in heard.items():
            if signal.getsignal(number) is first:
                signal.signal(number, _at_once if to_the_end else handler)


@contextmanager
def announced_stop(tell: Callable[[], None], within: float) -> Generator[None]:
    """Within, the first signal calls `tell` before it raises: an end in order takes its time, and people want a word.

    Args:
        tell: called inside of a signal handler: it may wait for no lock that the main thread holds.
        within: seconds after the signal by which the process has ended, whatever holds it up.
    """
    _told.append((tell, within))
    try:
        yield
    finally:
        _told.remove((tell, within))


def _late(number: int, seconds: float) -> None:
    """Where an end in order does not come in time, as a node blocks, the process ends without; 0 s takes it back."""
    if not hasattr(signal, "setitimer"):
        return

    def late(_: int, frame: Any) -> NoReturn:
        os.write(2, f"\n{LATE % (seconds, _open())}\n".encode())
        _at_once(number, frame)

    if seconds:
        signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)


def _open() -> str:
    """What did not end: requests that were sent, or else a node's own code."""
    limits = sys.modules.get("judgegraph.calls.limits")
    sent = limits.in_flight() if limits else {}
    if not sent:
        return "code of a node did not end"
    named = ", ".join(f"{count:,} to {judge}" for judge, count in sent.items())
    return f"requests were still open ({printable(named)})"


def _flush() -> None:
    """What was printed is printed, whatever comes; Python tells of what cannot be written at its own end."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            if stream is not None:
                stream.flush()


def _deaf(numbers: tuple[int, ...]) -> None:
    """Modules are taken apart from here on, which takes a moment; Python would give the signals back meanwhile."""
    for number in numbers:
        signal.signal(number, signal.SIG_IGN)


def _at_once(number: int, _: Any) -> NoReturn:
    """No farewell: a thread or an open connection may be what holds the first one up."""
    if os.isatty(2):
        os.write(2, SHOW_CURSOR)
    os._exit(128 + number)


# The commands by name.


class Lazy(click.Group):
    """A group that knows its commands by name and imports one when it is wanted."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(importlib.import_module(COMMANDS[cmd_name][0]), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in COMMANDS.items()])

    def main(self, args: Any = None, *more: Any, **extra: Any) -> Any:
        of_process = args is None  # else a function that somebody calls, such as a test
        if of_process:
            _open_streams()
        with stoppable(to_the_end=of_process):
            try:
                return super().main(args, *more, **extra)
            except OSError as error:  # a full disk under stdout, say; click itself sees to a closed pipe
                click.echo(f"{type(error).__name__}: {printable(str(error))}", err=True)
                _drop_stdout()
                sys.exit(FAILURE)

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with _inert_usage():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        told: dict[str, None] = {}
        before = damaged_lines.set(told)
        try:
            return self._invoke(ctx)
        finally:
            damaged_lines.reset(before)
            _tell_damaged(list(told))

    def _invoke(self, ctx: click.Context) -> Any:
        try:
            with _inert_usage():
                return super().invoke(ctx)
        except JudgegraphError as error:
            click.echo(f"{type(error).__name__}: {printable(str(error))}", err=True)
            sys.exit(FAILURE)
        except (KeyboardInterrupt, click.Abort) as stop:
            notes = "; ".join(getattr(stop, "__notes__", ()))
            click.echo(printable(f"stopped: {notes}" if notes else "stopped"), err=True)
            sys.exit(getattr(stop, "code", STOPPED))


def _tell_damaged(lines: list[str]) -> None:
    """What could not be used of the files that a command read: their numbers are of the others."""
    for line in lines[:MOST_DAMAGED]:
        click.echo(printable(line), err=True)
    if len(lines) > MOST_DAMAGED:
        click.echo(f"and {len(lines) - MOST_DAMAGED:,} damaged lines more", err=True)
    if any(line.startswith("left out") for line in lines):
        again = "the same `judgegraph run` command judges what was left out again, from its ledger"
        click.echo(f"{again}; `judgegraph repair RUN` says what is sound", err=True)


@contextmanager
def _inert_usage() -> Generator[None]:
    """What click says of a wrong argument repeats it, and an argument may be the name of a foreign file."""
    try:
        yield
    except click.ClickException as error:
        error.message = printable(error.message)  # type: ignore[misc]  # Final for subclasses; there is no other way
        raise


def _open_streams() -> None:
    """Of a process that was started without (2>&-): nothing else may get their numbers, and be written to as them."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - as long as the process


def _drop_stdout() -> None:
    """What is still buffered goes nowhere, or Python would fail again when it flushes at its end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.group(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="judgegraph")
def main() -> None:
    """Compose, trace and test graphs of LLM judges.

    Exit codes: 0, 1 failure or nothing judged, 2 usage, 3 the budget ended the run, 4 coverage below the gate, or
    another gate that was not passed, 5 a requirement that is not met, 130 or 143 stopped.
    """
