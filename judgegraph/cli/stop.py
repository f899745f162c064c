"""Ctrl-C and SIGTERM: the first one ends a command in order, the second at once."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    pass


SIGNALS = (signal.SIGINT, signal.SIGTERM)
LATE = "stopped after %g s: code of a node did not end; what was finished by then is kept"
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
def told_of_a_stop(tell: Callable[[], None], within: float) -> Generator[None]:
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
        os.write(2, f"\n{LATE % seconds}\n".encode())
        _at_once(number, frame)

    if seconds:
        signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)


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
