"""Which keys are surely there: held against all paths written out, and against real runs."""

from __future__ import annotations

from random import Random
from typing import Any

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langgraph.graph import END, START, StateGraph
from random_graphs import NAMES, Picture, built, pictures
from typing_extensions import TypedDict

from judgegraph.wiring.drawn import drawn, lacking

KEYS = ("k0", "k1", "k2")
SOME = settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow])
Uses = dict[str, tuple[frozenset[str], frozenset[str]]]  # node -> keys it reads, keys it writes

subsets = st.frozensets(st.sampled_from(KEYS), max_size=2)
uses = st.fixed_dictionaries({name: st.tuples(subsets, subsets) for name in NAMES})


def annotated(name: str, reads: frozenset[str], writes: frozenset[str], met: set[tuple[str, str]] | None = None) -> Any:
    """A node of this signature; it tells of keys that it lacks, and makes up for them as a checker does."""

    def node(state: Any) -> Any:
        lost = set() if "sent" in state else reads - set(state)
        if met is not None:
            met.update((name, key) for key in lost)
        return dict.fromkeys(writes | lost, "")

    node.__annotations__ = {
        "state": TypedDict(f"Reads_{name}", dict.fromkeys(reads, str)) if reads else dict,  # type: ignore[operator]
        "return": TypedDict(f"Writes_{name}", dict.fromkeys(writes, str)) if writes else None,  # type: ignore[operator]
    }
    return node


@st.composite
def choices(draw: Any) -> dict[str, tuple[str, ...]]:
    """A graph without cycles in which every node leads to one of several: its paths are all that may happen."""
    names = NAMES[: draw(st.integers(2, 6))]
    found = {START: draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True))}
    for place, name in enumerate(names):
        found[name] = draw(st.lists(st.sampled_from([*names[place + 1 :], END]), min_size=1, max_size=3, unique=True))
    return {name: tuple(ends) for name, ends in found.items()}


def lacking_on_some_path(leads: dict[str, tuple[str, ...]], use: Uses) -> set[tuple[str, str]]:
    """By brute force: every path from START to every node; who lacks a key is the first on the path to do so."""
    arrows = nx.DiGraph([(a, b) for a, ends in leads.items() for b in ends])
    found = set()
    for node in set(leads) - {START}:
        for path in nx.all_simple_paths(arrows, START, node) if node in arrows else ():
            there = frozenset(key for before in path[1:-1] for key in use[before][0] | use[before][1])
            found |= {(node, key) for key in use[node][0] - there}
    return found


@pytest.mark.long
@SOME
@given(choices(), uses)
def test_a_key_is_lacking_where_some_path_does_not_write_it(leads: dict[str, tuple[str, ...]], use: Uses):
    graph = StateGraph(TypedDict("State", dict.fromkeys(KEYS, str), total=False))  # type: ignore[operator]
    for name in set(leads) - {START}:
        graph.add_node(name, annotated(name, *use[name]))
    for name, ends in leads.items():
        graph.add_conditional_edges(name, lambda state: END, list(ends))
    assert set(lacking(drawn(graph), frozenset())) == lacking_on_some_path(leads, use)


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(pictures(size=5), uses)
def test_and_side_by_side_where_some_real_run_lacks_it(picture: Picture, use: Uses):
    met: set[tuple[str, str]] = set()
    foreseen = set(lacking(drawn(built(picture, keys=KEYS, node=lambda n: annotated(n, *use[n]))), frozenset()))
    for seed in range(150):
        graph = built(picture, Random(seed), keys=KEYS, node=lambda n: annotated(n, *use[n], met))
        graph.compile().invoke({"seen": []})
        assert met <= foreseen
        if met == foreseen:
            return
    assert met == foreseen
