"""The panel asks exactly those that a plan names."""

import pytest

from judgegraph.tools import Metric
from judgegraph.tools.catalogue import Panel
from judgegraph.types import Finding, Plan, Sample

SAMPLE = Sample(id="s", output="x")
OFFERED = tuple(Metric(name=name, about=name, measure=lambda s: 1.0) for name in "abc")


@pytest.mark.parametrize(
    ("plan", "asked"),
    [
        (Plan(text="p", alignment={"X": ("a",), "Y": ("c", "a"), "Z": ()}), ["a", "c"]),
        (Plan(text="p", alignment={"X": ()}), []),
        (Plan(text="", status="unreadable"), ["a", "b", "c"]),
        (None, ["a", "b", "c"]),
    ],
    ids=["what it names", "it names none", "planning failed", "no plan"],
)
async def test_the_plan_decides_who_is_asked(plan, asked):
    state = {"sample": SAMPLE} | ({"plan": plan} if plan else {})
    assert list((await Panel(assistants=OFFERED)(state))["findings"]) == asked


async def test_nobody_is_asked_twice():
    said = {"b": Finding(assistant="b", value=0.5)}
    found = await Panel(assistants=OFFERED)({"sample": SAMPLE, "findings": said})
    assert list(found["findings"]) == ["a", "c"]
