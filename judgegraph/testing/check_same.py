"""Whether an agent does the same twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from judgegraph.testing.asked import plain
from judgegraph.testing.conformance import Breach
from judgegraph.testing.trial import Trial


def differences(first: Trial, again: Trial) -> Iterator[Breach]:
    """Of two runs with one state and one judge: other prompts, or another result."""
    if first.error is not None or again.error is not None:
        return
    prompts, others = (Counter(asked.key for asked in trial.asked) for trial in (first, again))
    if prompts != others:
        yield Breach("prompt-differs", "the same state was asked for in other words the second time", first.case)
    elif _plain(first.written) != _plain(again.written):
        yield Breach("not-deterministic", "the same state and replies gave another result", first.case)


def _plain(written: Any) -> Any:
    dumped = {key: _dumped(value) for key, value in written.items()}
    return plain(dumped)


def _dumped(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(exclude={"id"})
    if isinstance(value, Mapping):
        return {key: _dumped(inner) for key, inner in value.items()}
    return [_dumped(inner) for inner in value] if isinstance(value, list | tuple) else value
