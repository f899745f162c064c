"""No false alarm: everyday LangGraph, in states, conditions and nodes of people's own, has no finding at all."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Annotated, Any, Literal, Optional

import pytest
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.managed import RemainingSteps
from langgraph.types import Command, Send
from pydantic import BaseModel
from typing_extensions import TypedDict

import judgegraph as jg
from judgegraph.agents.evaluator import Evaluator
from judgegraph.agents.sage import Rectify, Sage
from judgegraph.types import EvalState, Rectification, Sample, Scores

BOTH = ["a", "b"]
SPLIT = {"a": 1, "b": 2}


class Case(TypedDict):
    sample: Sample


class Wrote(TypedDict):
    scores: Scores


class Topical(TypedDict):
    sample: Sample
    topic: str


class Talk(TypedDict):
    messages: list[Any]


class Chat(MessagesState):
    sample: Sample


class Loose(TypedDict, total=False):
    sample: Sample
    topic: str
    scores: Annotated[Scores, jg.merged]


class Strict(Topical):
    scores: Annotated[Scores, jg.merged]


class Joining(TypedDict, total=False):
    sample: Sample
    names: Annotated[Sequence[str], operator.add]
    total: Annotated[float, operator.add]
    best: Annotated[float | None, lambda old, new: new]
    tags: Annotated[set[str], operator.or_]
    items: Annotated[list[str], lambda old, new: [*old, new.strip()]]


class Wrapping(TypedDict):
    names: list[str]
    total: float
    items: str


class Stepping(TypedDict, total=False):
    sample: Sample
    remaining_steps: RemainingSteps


class Trying(TypedDict, total=False):
    tries: Annotated[list[int], operator.add]
    rounds: int | None


class Tried(TypedDict):
    tries: list[int]


class Rounded(TypedDict):
    rounds: Optional[int]  # noqa: UP045


class Model(BaseModel):
    rounds: int = 0

    @staticmethod
    def counter() -> str:
        return "rounds"

    def later(self) -> Model:
        return self.model_copy(update={self.counter(): self.rounds + 1})


def nothing(state: Any) -> Any:
    return {}


def metric(state: Case) -> Wrote:
    return {"scores": {}}


def by_topic(state: Topical) -> Wrote:
    return {"scores": {}}


def talk(state: Talk) -> Talk:
    return {"messages": []}


def wrap(state: Case) -> Wrapping:
    return {"names": [], "total": 0, "items": ""}


def lead(state: EvalState) -> Command:  # type: ignore[type-arg]
    return Command(goto="b")


def one(node: Any, state: Any = EvalState, **settings: Any) -> Any:
    graph = StateGraph(state)
    graph.add_node("a", node, **settings)
    graph.add_edge(START, "a")
    graph.add_edge("a", END)
    return graph


def commanded() -> Any:
    graph = StateGraph(EvalState)
    graph.add_node("a", lead, destinations=("b",))
    graph.add_node("b", nothing)
    graph.add_edge(START, "a")
    graph.add_edge("b", END)
    return graph


def joined(decide: Any) -> Any:
    """Both of two, and what waits for both."""
    graph = StateGraph(EvalState)
    for name in "abc":
        graph.add_node(name, metric)
    graph.add_conditional_edges(START, decide, ["a", "b"])
    graph.add_edge(["a", "b"], "c")
    graph.add_edge("c", END)
    return graph


def chosen_then_read(decide: Any) -> Any:
    """A critic behind two nodes, one of which judges."""
    graph = StateGraph(EvalState)
    graph.add_node("a", Evaluator())
    graph.add_node("b", nothing_written)
    graph.add_node("critique", Sage(), defer=True)
    graph.add_conditional_edges(START, decide, ["a", "b"])
    graph.add_node("rectify", Rectify())
    for name in "ab":
        graph.add_edge(name, "critique")
    graph.add_edge("critique", "rectify")
    graph.add_edge("rectify", END)
    return graph


def nothing_written(state: Case) -> None:
    return None


def sent(decide: Any) -> Any:
    graph = StateGraph(EvalState)
    for name in "abc":
        graph.add_node(name, metric)
    graph.add_conditional_edges(START, decide, ["a", "b"])
    for name in "ab":
        graph.add_edge(name, "c")
    graph.add_edge("c", END)
    return graph


def tuple_of_two(state: Any) -> Any:
    return "a", "b"


def constant_list(state: Any) -> Any:
    return BOTH


def sorted_names(state: Any) -> Any:
    return sorted(name for name in ("b", "a"))


def kept_in_a_name(state: Any) -> Any:
    names = [name for name in BOTH if name]
    names.sort()
    return names


def two_sends(state: Any) -> Any:
    return [Send("a", dict(state)), Send("b", dict(state))]


def sends_over_a_constant(state: Any) -> Any:
    return [Send(name, dict(state)) for name in BOTH]


def sends_over_a_local(state: Any) -> Any:
    names = ["a", "b"]
    return [Send(name, dict(state)) for name in names]


def sends_over_a_call(state: Any) -> Any:
    return [Send(name, dict(state)) for name, _ in SPLIT.items()] + [Send(BOTH[at], state) for at in range(2)]


def sends_with_a_choice(state: Any) -> Any:
    return [Send("a" if state["criteria"] else "b", dict(state)) for name in BOTH]


def sends_or_all(state: Any) -> Any:
    return [Send(name, dict(state)) for name in state.get("names") or BOTH]


def sends_one_by_one(state: Any) -> Any:
    made = []
    for name in BOTH:
        made.append(Send(name, dict(state)))
    return made


def looped(node: Any, condition: Any, state: Any) -> Any:
    graph = StateGraph(state)
    graph.add_node("a", node)
    graph.add_edge(START, "a")
    graph.add_conditional_edges("a", condition, ["a", END])
    return graph


def steps_left(state: Stepping) -> Literal["a", "__end__"]:
    return "a" if state["remaining_steps"] > 3 else END


def once_more(state: Trying) -> Tried:
    return {"tries": [1]}


def counted(state: Trying) -> Rounded:
    return {"rounds": (state.get("rounds") or 0) + 1}


def fewer_than_three(state: Trying) -> str:
    return "a" if len(state["tries"]) < 3 else END


def below_three(state: Trying) -> str:
    return "a" if (state["rounds"] or 0) < 3 else END


def model_later(state: Model) -> Model:
    return state.later()


def model_below_three(state: Model) -> str:
    return "a" if state.rounds < 3 else END


def sequence() -> Any:
    graph = StateGraph(EvalState)
    graph.add_sequence([("evaluate", Evaluator()), ("critique", Sage()), ("rectify", Rectify())])
    graph.add_edge(START, "evaluate")
    return graph


def metrics(*names: tuple[str, ...]) -> Any:
    graph = one(jg.metric_node(*names[0]))
    graph.add_node("b", jg.metric_node(*names[1]))
    graph.add_edge(START, "b")
    graph.add_edge("b", END)
    return graph


def sent_more(payload: Callable[[Any], Any]) -> Any:
    def spread(state: EvalState) -> list[Send] | str:
        return [Send("a", payload(state)) for _ in state.get("criteria", ())] or END

    def widened(state: EvalState) -> list[Send] | str:
        return [Send("b", {**state, "criteria": [c]}) for c in state.get("criteria", ())] or END

    graph = one(by_topic)
    graph.add_node("b", metric)
    graph.add_edge("b", END)
    graph.add_conditional_edges(START, spread, ["a", END])
    graph.add_conditional_edges(START, widened, ["b", END])
    graph.edges.discard((START, "a"))
    return graph


def guarded(state):  # type: ignore[no-untyped-def]
    if "verdict" in state:
        return {"overall": float(state["verdict"] == "A")}
    return {"overall": None}


def early(state):  # type: ignore[no-untyped-def]
    if state.get("topic") is None:
        return None
    return {"overall": float(len(state["scores"]))}


def built_up(state):  # type: ignore[no-untyped-def]
    found = {}
    found.update(overall=1.0)
    for key in ("notes", "scores"):
        found[key] = {}
    return {**state, **found}


def wrapped(function: Any) -> Any:
    def around(*given: Any, **more: Any) -> Any:
        return function(*given, **more)

    return around


def of_a_map(state):  # type: ignore[no-untyped-def]
    return bool(state.get("scores"))


def by_number(state: EvalState) -> str:
    return f"{'ab'[len(state.get('scores', {})) % 2]}"


def of_an_enum(state: EvalState) -> Side:
    return Side.A if state.get("scores") else Side.B


class Side(StrEnum):
    A = "a"
    B = "b"


def mapped(decide: Any, targets: Any) -> Any:
    graph = StateGraph(EvalState)
    for name in BOTH:
        graph.add_node(name, metric)
        graph.add_edge(name, END)
    graph.add_conditional_edges(START, decide, targets)
    return graph


def of_verdicts() -> Any:
    """A graph whose output is what a critic says."""
    graph = StateGraph(EvalState, output_schema=Verdicts)
    graph.add_sequence([("evaluate", Evaluator()), ("critique", Sage())])
    graph.add_edge(START, "evaluate")
    return graph


class Verdicts(TypedDict):
    rectifications: dict[str, Rectification]


RIGHT: dict[str, Callable[[], Any]] = {
    "a command without its targets in the annotation": commanded,
    "reducers of sequences, numbers, sets and single items": lambda: one(wrap, Joining),
    "a key that the caller brings, optional": lambda: one(by_topic, Loose),
    "a key that the caller brings, required": lambda: one(by_topic, Strict),
    "messages, beside a sample": lambda: one(talk, Chat),
    "messages, in a graph of a graph": lambda: one(one(talk, Chat).compile()),
    **{f"both, by {decide.__name__}": lambda decide=decide: joined(decide)
       for decide in (tuple_of_two, constant_list, sorted_names, kept_in_a_name)},
    "read after both": lambda: chosen_then_read(sorted_names),
    **{f"sends, by {decide.__name__}": lambda decide=decide: sent(decide)
       for decide in (two_sends, sends_over_a_constant, sends_over_a_local, sends_over_a_call, sends_with_a_choice,
                      sends_or_all, sends_one_by_one)},
    "a loop by the steps that are left": lambda: looped(nothing_written, steps_left, Stepping),
    "a loop by the length of a list": lambda: looped(once_more, fewer_than_three, Trying),
    "a loop by a number or None": lambda: looped(counted, below_three, Trying),
    "a loop over a pydantic state": lambda: looped(model_later, model_below_three, Model),
    "two metric nodes": lambda: metrics(("rouge-l",), ("chrf",)),
    "two metric nodes that share a metric": lambda: metrics(("rouge-l",), ("chrf", "rouge-l")),
    "a sequence that ends without saying so": sequence,
    "a payload that another function makes": lambda: sent_more(dict),
    **{f"a function without annotations: {node.__name__}": lambda node=node: one(node)
       for node in (guarded, early, built_up, wrapped(metric))},
    "a map of truth values": lambda: mapped(of_a_map, {True: "a", False: "b"}),
    "a name that is put together": lambda: mapped(by_number, BOTH),
    "names of an enum": lambda: mapped(of_an_enum, BOTH),
    "a lambda between others": lambda: mapped(lambda state: "a" if state else "b", {"a": "a", "b": "b"}),
    "a critic whose verdicts are the output": of_verdicts,
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_everyday_graphs_have_no_finding(name: str):
    found = jg.check(RIGHT[name](), strict=False).findings
    assert found == (), "\n".join(map(str, found))
