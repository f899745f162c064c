"""What an assistant evaluator is, and what comes of asking one: a finding, never an exception."""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from judgegraph.errors import JudgegraphError, one_line
from judgegraph.prompts.sections import MOST_SAID
from judgegraph.trace.record import span
from judgegraph.types import Finding, Sample


class Unmeasurable(JudgegraphError, ValueError):
    """The sample lacks what an assistant reads (a source, a reference, words it can see); the message says what."""


class Unusable(Exception):
    """What an assistant gave is no finding."""


class Assistant(Protocol):
    """An assistant evaluator: anything with a name, a description and one verb, `assistant(sample) -> float`.

    The verb is pure, and raises `Unmeasurable` where the sample lacks an input. A plain one runs in a thread of its
    own; one that asks models is `async`, or gives something to await. Either may give a `Finding` instead of a number,
    to say more. An assistant may also have `detail(sample) -> str`, which says what a value was measured against.
    """

    @property
    def name(self) -> str:
        """Unique among its fellows: 1 to 64 letters, digits, "_" or "-"."""
        ...

    @property
    def about(self) -> object:
        """An `About`, or a text: what it measures, what it reads, its range and direction, an example."""
        ...

    def __call__(self, sample: Sample, /) -> float | Finding | Awaitable[float | Finding]:
        """The value of one sample, finite."""
        ...


@dataclass(frozen=True, kw_only=True)
class About:
    """What a planner and a judge are told of an assistant.

    Attributes:
        measures: what the value says. reads: the fields of the sample it looks at.
        range: its least and greatest value. direction: what a high and a low value mean.
        example: (output, the text it is compared with, the value of that).
    """

    measures: str
    reads: str
    range: str
    direction: str
    example: tuple[str, str, float]

    def __str__(self) -> str:
        output, other, value = self.example
        return (
            f"Measures: {self.measures}\nReads: {self.reads}\nRange: {self.range}; {self.direction}\n"
            f'Example: the output "{output}" beside "{other}" has the value {value:g}'
        )


@dataclass(frozen=True, kw_only=True)
class Metric:
    """An assistant made of a function.

    Attributes:
        measure: sample -> finite number, also an async function; raises Unmeasurable.
        against: sample -> the name of the text it compares the output with, None where there is none.
    """

    name: str
    about: About | str
    measure: Callable[[Sample], float | Awaitable[float]]
    against: Callable[[Sample], str] | None = None

    def __call__(self, sample: Sample, /) -> float | Awaitable[float]:
        return self.measure(sample)

    def detail(self, sample: Sample) -> str:
        """What the value was measured against, "" where that is nothing."""
        return f"against the {self.against(sample)}" if self.against else ""


async def find(assistant: Assistant, sample: Sample) -> Finding:
    """Ask one assistant, off the event loop: its value, or why there is none.

    Returns:
        status "ok" with the value as it came; "skipped" where the sample lacks an input; "agent_error" where the
        assistant failed or gave no finite number. Never an exception, never a zero in place of a value.
    """
    name = assistant.name
    with span("tool", name) as about:
        finding = await _found(assistant, sample, name)
        if isinstance(finding.value, float):
            about["value"] = finding.value
        about["status"] = finding.status
    return finding


async def _found(assistant: Assistant, sample: Sample, name: str) -> Finding:
    try:
        value, said = await _asked(assistant, sample)
        if isinstance(value, Finding):
            return _whole(value, name)
        if not _is_number(value):
            raise Unusable(f"gave {one_line(repr(value), 60)}, which is no finite number")
        return Finding(assistant=name, value=float(value), reason=one_line(said))
    except Unusable as error:
        return Finding(assistant=name, status="agent_error", reason=str(error))
    except Unmeasurable as error:
        return Finding(assistant=name, status="skipped", reason=one_line(error))
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        return Finding(assistant=name, status="agent_error", reason="CancelledError: it cancelled itself")
    except Exception as error:
        if getattr(error, "ends_run", False):  # a judge that cannot be made: it would meet every sample alike
            raise
        return Finding(assistant=name, status="agent_error", reason=_why(error))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _whole(said: Finding, name: str) -> Finding:
    """A finding under its assistant's own name: one that has no status of failure has a value."""
    if said.status == "ok" and not (_is_number(said.value) or (isinstance(said.value, str) and said.value.strip())):
        raise Unusable(f"gave {one_line(repr(said.value), 60)}, which is neither a finite number nor a text")
    value = said.value if said.status == "ok" else None
    told = {"assistant": name, "value": value, "status": said.status, "reason": one_line(said.reason, MOST_SAID)}
    return Finding.model_validate(told)


def _why(error: Exception) -> str:
    """What an assistant's error says; its message may be code too, and may fail."""
    try:
        return one_line(f"{type(error).__name__}: {error}")
    except Exception:
        return type(error).__name__


async def _asked(assistant: Assistant, sample: Sample) -> tuple[Any, str]:
    """What it gives, and what it says that was measured against."""
    if _is_async(assistant):
        verb: Any = assistant
        return await verb(sample), _detail(assistant, sample)

    def measured() -> tuple[Any, str]:
        value = assistant(sample)
        return value, "" if inspect.isawaitable(value) else _detail(assistant, sample)

    value, said = await asyncio.to_thread(measured)
    if inspect.isawaitable(value):  # a plain function that hands on what an async one gave
        value = await value
    return value, said


def _is_async(assistant: Any) -> bool:
    verb = assistant.measure if type(assistant) is Metric else assistant
    return inspect.iscoroutinefunction(verb) or inspect.iscoroutinefunction(type(verb).__call__)


def _detail(assistant: Any, sample: Sample) -> str:
    detail = getattr(assistant, "detail", None)
    return str(detail(sample)) if callable(detail) else ""


async def find_all(assistants: Iterable[Assistant], sample: Sample) -> dict[str, Finding]:
    """Ask several, side by side: name -> what it said, in their order."""
    found = await asyncio.gather(*(find(one, sample) for one in assistants))
    return {finding.assistant: finding for finding in found}
