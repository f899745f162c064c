"""Asking an assistant ends in a finding, never in an exception or a made-up zero."""

import asyncio
import functools
import math

import pytest

from judgegraph.tools import About, Metric, Unmeasurable, find
from judgegraph.types import Sample

SAMPLE = Sample(id="s", output="It rains.")


def metric(measure, **fields):
    return Metric(name="m", about="a metric", measure=measure, **fields)


def raises(error):
    def measure(sample):
        raise error

    return measure


@pytest.mark.parametrize(
    ("measure", "status", "said"),
    [
        (raises(Unmeasurable("the sample has no source")), "skipped", "the sample has no source"),
        (raises(RuntimeError("out of\nmemory")), "agent_error", "RuntimeError: out of memory"),
        (lambda s: math.nan, "agent_error", "gave nan, which is no finite number"),
        (lambda s: math.inf, "agent_error", "gave inf, which is no finite number"),
        (lambda s: None, "agent_error", "gave None, which is no finite number"),
        (lambda s: "0.5", "agent_error", "gave '0.5', which is no finite number"),
        (lambda s: True, "agent_error", "gave True, which is no finite number"),
    ],
    ids=["no input", "failure", "nan", "infinite", "nothing", "text", "truth value"],
)
async def test_what_is_no_number_is_absent_with_its_reason(measure, status, said):
    finding = await find(metric(measure), SAMPLE)
    assert (finding.assistant, finding.value, finding.status, finding.reason) == ("m", None, status, said)


async def test_a_value_stands_as_it_came():
    finding = await find(metric(lambda s: 0.3501637578010559), SAMPLE)
    assert (finding.value, finding.status, finding.reason) == (0.3501637578010559, "ok", "")


async def test_zero_is_a_value():
    assert (await find(metric(lambda s: 0), SAMPLE)).value == 0.0


async def test_a_finding_says_what_was_compared_with():
    assert (await find(metric(lambda s: 1.0, against=lambda s: "source"), SAMPLE)).reason == "against the source"


def test_a_description_tells_measure_inputs_range_direction_and_example():
    about = About(
        measures="overlap", reads="the output", range="0 to 1", direction="higher = more", example=("a", "b", 0.0)
    )
    assert str(about).splitlines() == [
        "Measures: overlap",
        "Reads: the output",
        "Range: 0 to 1; higher = more",
        'Example: the output "a" beside "b" has the value 0',
    ]


async def later(sample):
    await asyncio.sleep(0)
    return 0.25


class Handing:
    """Plain, but hands on what an async function gives."""

    name, about = "m", "x"

    def __call__(self, sample):
        return later(sample)


class Verb:
    async def __call__(self, sample):
        return await later(sample)


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (metric(later), ""),
        (metric(later, against=lambda s: "source"), "against the source"),
        (metric(Verb()), ""),
        (metric(functools.partial(later)), ""),
        (metric(lambda s: later(s)), ""),
        (Handing(), ""),
    ],
    ids=["async", "async, against a text", "an object", "a partial", "a lambda", "a coroutine"],
)
async def test_what_is_to_be_awaited_is_awaited(one, said):
    finding = await find(one, SAMPLE)
    assert (finding.value, finding.status, finding.reason) == (0.25, "ok", said)


async def cancels(sample):
    raise asyncio.CancelledError


async def waits_for_a_cancelled_one(sample):
    task = asyncio.ensure_future(asyncio.sleep(9))
    task.cancel()
    return await task


@pytest.mark.parametrize("measure", [cancels, waits_for_a_cancelled_one, raises(asyncio.CancelledError())])
async def test_an_assistant_that_cancels_itself_has_failed(measure):
    finding = await find(metric(measure), SAMPLE)
    assert (finding.value, finding.status) == (None, "agent_error")
    assert "CancelledError" in finding.reason


async def test_who_is_cancelled_from_outside_is_cancelled():
    async def sleeps(sample):
        await asyncio.sleep(9)

    task = asyncio.ensure_future(find(metric(sleeps), SAMPLE))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await find(metric(sleeps), SAMPLE)
