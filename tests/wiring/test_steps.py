"""The steps that are played are those that LangGraph takes: held against real runs of random graphs."""

from __future__ import annotations

from collections import defaultdict
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langgraph.errors import GraphRecursionError
from random_graphs import Picture, built, pictures

from judgegraph.wiring.drawn import FIRST, Run, Step, drawn

SOME = settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow])


def taken(graph: Any, most: int = 14) -> tuple[list[frozenset[Run]], bool]:
    """The nodes of every step of one real run, and whether it came to its end."""
    steps: dict[int, set[Run]] = defaultdict(set)
    try:
        for event in graph.compile().stream({"seen": []}, {"recursion_limit": most}, stream_mode="debug"):
            if event["type"] == "task":
                sent = "__pregel_push" in event["payload"]["triggers"]
                steps[event["step"]].add(Run(event["payload"]["name"], sent))
    except GraphRecursionError:
        return [frozenset(steps[number]) for number in sorted(steps)], False
    return [frozenset(steps[number]) for number in sorted(steps)], True


def assert_foreseen(picture: Picture, seed: int) -> None:
    graph = built(picture, Random(seed))
    (steps, ended), foreseen = taken(graph), drawn(graph).steps
    assert foreseen.whole
    at: set[Step] = {FIRST}
    for runs in steps:
        at = {later for step in at for later in foreseen.graph.successors(step) if later.runs == runs}
        assert at, f"LangGraph ran {sorted(runs)}, which no foreseen step does"
    if ended:
        assert any(not later.runs for step in at for later in foreseen.graph.successors(step))


@pytest.mark.long
@SOME
@given(pictures(), st.integers(0, 9))
def test_every_step_that_langgraph_takes_was_foreseen(picture: Picture, seed: int):
    assert_foreseen(picture, seed)


@pytest.mark.long
@SOME
@given(pictures(back=True), st.integers(0, 9))
def test_and_in_graphs_with_loops(picture: Picture, seed: int):
    assert_foreseen(picture, seed)


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(pictures(size=4))
def test_no_step_is_foreseen_that_langgraph_never_takes(picture: Picture):
    graph = built(picture)
    foreseen = {step.runs for step in drawn(graph).steps.graph if step.runs} - {FIRST.runs}
    met: set[frozenset[Run]] = set()
    for seed in range(400):
        met |= set(taken(built(picture, Random(seed)))[0])
        if met >= foreseen:
            return
    assert met >= foreseen, f"never met: {[sorted(runs) for runs in foreseen - met]}"
