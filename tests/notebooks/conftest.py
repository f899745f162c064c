"""Samples of the examples, for what is shown."""

from collections.abc import Callable
from pathlib import Path

import pytest

import judgegraph as jg

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def examples() -> Callable[[str, int], list[jg.Sample]]:
    """The first samples of a file."""
    return lambda name, count: list(jg.load(EXAMPLES / f"{name}.jsonl", limit=count))
