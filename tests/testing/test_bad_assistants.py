"""Assistant evaluators that each make one mistake; what a check takes by name, and what it refuses."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from judgegraph.errors import ConfigError
from judgegraph.graphs import sageval
from judgegraph.registry import register
from judgegraph.registry.lookup import REGISTERED
from judgegraph.testing import check_agent, rules
from judgegraph.testing import conformance as trial
from judgegraph.testing.rules import name_of
from judgegraph.tools import ASSISTANTS, Metric, Unmeasurable
from judgegraph.tools import assistant as made
from judgegraph.types import Finding, Sample


def length(sample: Sample) -> float:
    """Measures: how long it is. Reads: output. Range: 0 and more; neither is better."""
    return float(len(str(sample.output)))


async def slowly(sample: Sample) -> float:
    """Measures: how long it is, on a wire."""
    await asyncio.sleep(0)
    return length(sample)


def shares(sample: Sample) -> float:
    """Measures: how long it is beside the reference."""
    if not sample.reference:
        raise Unmeasurable("there is no reference")
    return length(sample) / len(str(sample.reference))


def says_more(sample: Sample) -> Finding:
    """Measures: the tone, in a word."""
    return Finding(assistant="any", value="friendly", reason="it says please")


def divides_by_nothing(sample: Sample) -> float:
    """Measures: how long it is beside the reference."""
    return length(sample) / len(str(sample.reference or ""))


def is_no_number(sample: Sample) -> float:
    """Measures: nothing."""
    return float("nan")


def is_yes(sample: Sample) -> float:
    """Measures: whether it is long."""
    return length(sample) > 10


def is_undescribed(sample: Sample) -> float:
    return length(sample)


COUNT = itertools.count()


def counts(sample: Sample) -> float:
    """Measures: how often it was asked."""
    return next(COUNT)


def trims(sample: Sample) -> float:
    """Measures: how long it is, and changes it."""
    sample.meta["seen"] = True
    return length(sample)


async def waits(sample: Sample) -> float:
    """Measures: patience."""
    await asyncio.sleep(60)
    return 0.0


@dataclass(frozen=True, kw_only=True)
class Remembers:
    name: str = "remembers"
    about: str = "Measures: how long it is."
    seen: list[str] = field(default_factory=list)

    def __call__(self, sample: Sample) -> float:
        self.seen.append(sample.id)
        return length(sample)


BAD: list[tuple[Any, str]] = [
    (divides_by_nothing, "no-measure"),
    (is_no_number, "no-measure"),
    (is_yes, "no-measure"),
    (is_undescribed, "about"),
    (counts, "not-deterministic"),
    (trims, "mutates-state"),
    (waits, "hangs"),
    (Remembers, "mutates-itself"),
]


@pytest.mark.parametrize(("assistant", "code"), BAD, ids=lambda v: v if isinstance(v, str) else name_of(v))
def test_a_mistake_is_caught_by_its_own_finding(assistant, code, monkeypatch):
    if code == "hangs":
        monkeypatch.setattr(trial, "PATIENCE", 0.3)
        monkeypatch.setattr(rules, "PATIENCE", 0.3)
    report = check_agent(assistant)
    assert report.codes == {code}, str(report)


OURS = [one for one in ASSISTANTS if not made(one).about.extra]  # the others need weights or a server
GOOD: list[Callable[[Sample], float | Finding | Awaitable[float]]] = [length, slowly, shares, says_more]


@pytest.mark.parametrize("assistant", [*GOOD, *OURS], ids=lambda v: v if isinstance(v, str) else name_of(v))
@pytest.mark.sampled(6)
def test_an_honest_assistant_conforms(assistant):
    report = check_agent(assistant)
    assert report.ok, str(report)
    assert report.runs > 20


def test_what_no_sample_of_ours_can_show_is_noted():
    def never(sample: Sample) -> float:
        """Measures: what is not there."""
        raise Unmeasurable("the output cites no page")

    assert "give samples=" in check_agent(never).notes[0]
    metric = Metric(name="cited", about="how long what it cites is", measure=length)
    assert check_agent(metric, samples=[Sample(id="one", output="See [1].")]).notes == []


def test_an_assistant_has_no_state_and_no_judge_of_ours():
    with pytest.raises(ConfigError, match="an assistant reads no state and has no judge of ours; give samples="):
        check_agent(length, state={"plan": None})


@pytest.mark.parametrize("name", ["critic/sage", "judgegraph:evaluator"])
def test_a_part_is_checked_by_its_name(name):
    report = check_agent(name)
    assert report.ok, str(report)
    assert report.runs > 50


def test_a_part_of_ones_own_is_checked_by_its_name():
    try:
        register("assistant", "my-length")(length)
        report = check_agent("my-length")
        assert (report.agent, report.ok) == ("my-length", True)
    finally:
        del REGISTERED["assistant", "my-length"]


@pytest.mark.parametrize("which", ["sageval", sageval()], ids=["a method", "a graph"])
def test_of_graphs_it_is_said_what_checks_them(which):
    with pytest.raises(ConfigError, match=r"judgegraph\.check looks at its wiring .* its agents, one by one"):
        check_agent(which)


def test_a_name_that_nothing_has_is_refused():
    with pytest.raises(ConfigError, match="no agent, critic, method or assistant 'sagee'; did you mean 'sage'"):
        check_agent("sagee")
