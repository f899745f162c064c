"""Graphs to draw: all that comes with the package, those of the helpers, and some that nobody should build."""

from collections.abc import Callable, Iterable
from functools import cache, partial
from itertools import pairwise
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

import judgegraph as jg
from judgegraph.graphs import coascore, fennec, fusion_eval
from judgegraph.registry import METHODS, VARIANTS, factory

HOSTILE = (
    "<script>alert(1)</script>", "a\"b'c&d", "red\x1b[31m\x07", "\u202eevil\u2066", "n" * 5000, "裁判" * 60,
    "two\nlines\r\x00", "]]><!--", "onload=alert(1)", "</svg></title></desc></style>",
)  # fmt: skip


async def nothing(state: jg.EvalState) -> jg.EvalState:
    return {}


def somewhere(state: jg.EvalState) -> str:
    return ""


def everywhere(state: jg.EvalState) -> list[Send]:
    return [Send("g", state)]


def graph(names: Iterable[str], *edges: tuple[Any, str], **ways: Any) -> Any:
    """Nodes that do nothing, and edges; a way is a node's name with what its answers lead to."""
    g: Any = StateGraph(jg.EvalState)
    for name in names:
        g.add_node(name, nothing)
    for source, target in edges:
        g.add_edge(source, target)
    for name, targets in ways.items():
        g.add_conditional_edges(name, everywhere if name == "f" else somewhere, targets)
    return g


def line(**nodes: Any) -> Any:
    g = StateGraph(jg.EvalState)
    before = START
    for name, node in nodes.items():
        g.add_node(name, node)
        g.add_edge(before, name)
        before = name
    g.add_edge(before, END)
    return g.compile(name="mine")


def loops() -> Any:
    edges = [(START, "a"), ("a", "b"), ("a", "c"), (["b", "c"], "d"), ("e", "g")]
    d = {"again from the top": "a", "self": "d", True: "e", False: "f", "stop": END}
    return graph("abcdefg", *edges, d=d, f={"rounds left": "b", "g": "g"}, g=["g", "c", END]).compile(name="loops")


def wide() -> Any:
    names = [f"metric-{i}" for i in range(14)]
    g = graph(names, *((START, n) for n in names), *((n, "join") for n in names), ("join", END))
    g.add_node("join", nothing, defer=True)
    return g.compile(name="wide")


def hostile() -> Any:
    chain = [START, *HOSTILE]
    g = graph(HOSTILE, *pairwise(chain))
    g.add_conditional_edges(
        HOSTILE[-1], somewhere, {"</style>\x1b[2J": HOSTILE[0], "\u202e<b>": END, "stay": HOSTILE[-1]}
    )
    return g.compile(name="<b>\x1b]0;evil\x07")


def nested() -> Any:
    return line(
        chain=coascore(criteria="summary", aspects=3), judge=fennec(correct="off"),
        each=jg.each("fennec", criteria="summary"), fusion=fusion_eval(),
    )  # fmt: skip


def jury() -> Any:
    return line(
        jury=jg.panel("embedded", "g-eval", "coascore", "fennec", "sageval", criteria="summary"),
        critique=jg.critique("devils-advocate", when=jg.low(below=3.4), criteria="summary"),
        refine=jg.refine("devils-advocate", rounds=3, criteria="summary"),
        judge=jg.escalate("embedded", "embedded", when=jg.low(below=3.4), criteria="summary"),
        gate=jg.gate(jg.metric_node("rouge-l"), jg.low(below=3.3)),
    )  # fmt: skip


def any_way() -> Any:
    g = graph("abcdef", (START, "a"))
    for name in "abc":
        g.add_conditional_edges(name, lambda state: state["notes"])
    return g.compile(name="any-way")


def apart() -> Any:
    return graph("ab", (START, "a"), ("a", END), ("b", END)).compile(name="apart")


def of(name: str) -> Callable[[], Any]:
    if "corrw" not in name:
        return factory(name)
    weights = {c.name: dict.fromkeys(("rouge-l", "llm-score"), 1.0) for c in jg.criteria_set("summary").criteria}
    return partial(factory(name), criteria="summary", assistants=["rouge-l"], weights=weights)


OWN: dict[str, Callable[[], Any]] = {f.__name__: f for f in (loops, wide, hostile, nested, jury, any_way, apart)}
EVERY: dict[str, Callable[[], Any]] = {name: of(name) for name in (*METHODS, *VARIANTS)} | OWN
SHIPPED = tuple(name for name in EVERY if name not in OWN)


@cache
def built(name: str) -> Any:
    """Its graph, made once: none of the tests changes it."""
    return EVERY[name]()
