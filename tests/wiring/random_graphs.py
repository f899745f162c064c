"""Random small graphs: how they are drawn, and the StateGraph of each."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection
from dataclasses import dataclass
from random import Random
from typing import Annotated, Any, Literal

from hypothesis import strategies as st
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from typing_extensions import TypedDict

from judgegraph.types import latest

NAMES = "abcdef"


class State(TypedDict, total=False):
    seen: Annotated[list[str], operator.add]


@dataclass(frozen=True)
class Node:
    """kind: "plain" leads to all of `to`, "one" to one of them, "send" sends to all, some or none."""

    name: str
    kind: str
    to: tuple[str, ...]
    defer: bool = False


@dataclass(frozen=True)
class Picture:
    nodes: tuple[Node, ...]  # the first is START
    joins: tuple[tuple[tuple[str, ...], str], ...] = ()


@st.composite
def pictures(draw: Any, *, back: bool = False, size: int = 6) -> Picture:
    """Any graph of a few nodes: plain edges, conditions, fan-outs, joins, deferred nodes; `back`: loops too."""
    names = NAMES[: draw(st.integers(2, size))]
    nodes = [Node(START, *draw(st.sampled_from([("plain",), ("one",)])), draw(ends(names, least=1)))]
    for place, name in enumerate(names):
        kind = draw(st.sampled_from(["plain", "plain", "one", "send"]))
        later = names if back and kind == "one" else names[place + 1 :]
        to = draw(ends(later, least=0)) if later else ()
        nodes.append(Node(name, kind if to else "plain", to or (END,), draw(st.booleans())))
    joins = [draw(join(names)) for _ in range(draw(st.integers(0, 2)))] if len(names) > 2 else []
    return Picture(tuple(nodes), tuple(dict.fromkeys(joins)))


@st.composite
def join(draw: Any, names: str) -> tuple[tuple[str, ...], str]:
    end = draw(st.integers(2, len(names) - 1))
    pair = draw(st.lists(st.sampled_from(names[:end]), min_size=2, max_size=2, unique=True))
    return tuple(sorted(pair)), names[end]


def ends(names: str, *, least: int) -> Any:
    return st.lists(st.sampled_from(names), min_size=least, max_size=3, unique=True).map(tuple)


def built(
    picture: Picture, random: Random | None = None, *, keys: Collection[str] = (),
    node: Callable[[str], Any] | None = None,
) -> Any:  # fmt: skip
    """The graph; conditions choose by `random`. keys: more of the state, of which the later value stands."""
    more = dict.fromkeys(keys, Annotated[Literal["there"], latest])  # a type without an empty value
    graph = StateGraph(TypedDict("Wider", {"seen": Annotated[list[str], operator.add], **more}, total=False))
    for one in picture.nodes:
        if one.name != START:
            graph.add_node(one.name, node(one.name) if node else noted(one.name), defer=one.defer)
    for one in picture.nodes:
        if one.kind == "plain":
            for end in one.to:
                graph.add_edge(one.name, end)
        elif one.kind == "one":
            graph.add_conditional_edges(one.name, choosing((*one.to, END), random), [*one.to, END])
        else:
            graph.add_conditional_edges(one.name, sending(one.to[0], random), [one.to[0]])
    for many, end in picture.joins:
        graph.add_edge(list(many), end)
    return graph


def noted(name: str) -> Any:
    def node(state: State) -> State:
        return {"seen": [name]}

    return node


def choosing(ends: tuple[str, ...], random: Random | None) -> Any:
    def choose(state: State) -> str:
        return random.choice(ends) if random else ends[0]

    return choose


def sending(end: str, random: Random | None) -> Any:
    def send(state: State) -> list[Send]:
        return [Send(end, {"sent": True}) for _ in range(random.randint(0, 2) if random else 1)]

    return send
