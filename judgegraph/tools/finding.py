"""What an assistant evaluator is, and what comes of asking one: a finding, never an exception."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from judgegraph.errors import JudgegraphError, one_line
from judgegraph.types import Finding, Sample


class Unmeasurable(JudgegraphError, ValueError):
    """The sample lacks what an assistant reads (a source, a reference, words it can see); the message says what."""


class Assistant(Protocol):
    """An assistant evaluator: anything with a name, a description and one verb, `assistant(sample) -> float`.

    The verb is synchronous and pure. It raises `Unmeasurable` where the sample lacks an input. An assistant may
    also have `detail(sample) -> str`, which says what a value was measured against.
    """

    @property
    def name(self) -> str:
        """Unique among its fellows: 1 to 64 letters, digits, "_" or "-"."""
        ...

    @property
    def about(self) -> object:
        """An `About`, or a text: what it measures, what it reads, its range and direction, an example."""
        ...

    def __call__(self, sample: Sample, /) -> float:
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
        measure: sample -> finite number; raises Unmeasurable.
        against: sample -> the name of the text it compares the output with, None where there is none.
    """

    name: str
    about: About | str
    measure: Callable[[Sample], float]
    against: Callable[[Sample], str] | None = None

    def __call__(self, sample: Sample, /) -> float:
        return self.measure(sample)

    def detail(self, sample: Sample) -> str:
        """What the value was measured against, "" where that is nothing."""
        return f"against the {self.against(sample)}" if self.against else ""


def find(assistant: Assistant, sample: Sample) -> Finding:
    """Ask one assistant: its value, or why there is none.

    Returns:
        status "ok" with the value as it came; "skipped" where the sample lacks an input; "agent_error" where the
        assistant failed or gave no finite number. Never an exception, never a zero in place of a value.
    """
    try:
        value = assistant(sample)
        detail: Any = getattr(assistant, "detail", None)
        said = str(detail(sample)) if callable(detail) else ""
    except Unmeasurable as error:
        return Finding(assistant=assistant.name, status="skipped", reason=one_line(error))
    except Exception as error:
        reason = one_line(f"{type(error).__name__}: {error}")
        return Finding(assistant=assistant.name, status="agent_error", reason=reason)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        reason = f"gave {one_line(repr(value), 60)}, which is no finite number"
        return Finding(assistant=assistant.name, status="agent_error", reason=reason)
    return Finding(assistant=assistant.name, value=float(value), reason=one_line(said))
