"""Asking an assistant ends in a finding, never in an exception or a made-up zero."""

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
