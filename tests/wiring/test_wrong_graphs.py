"""Mistakes people make, each refused with a message of its own; and of each the graph as it should be, which passes."""

from __future__ import annotations

import operator
from collections.abc import Callable
from itertools import pairwise
from typing import Annotated, Any

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from typing_extensions import TypedDict

import judgegraph as jg
from judgegraph.agents.evaluator import Case, Evaluator
from judgegraph.agents.sage import Rectify, Sage
from judgegraph.types import Asked, EvalState, Sample, Score, Scores

CRITERIA = jg.criteria_set("forms").criteria


class Wrote(TypedDict):
    scores: Scores


class Overall(TypedDict):
    overall: float | None


class Counted(TypedDict):
    rounds: int
    scores: Scores


class Looping(EvalState, total=False):
    rounds: int


class Mistaken(TypedDict):
    score: Scores


class Listed(TypedDict, total=False):
    sample: Sample
    scores: Annotated[list[Score], operator.add]


class ListedWrites(TypedDict):
    scores: list[Score]


class Bare(TypedDict, total=False):
    sample: Sample
    scores: Scores


class Answer(TypedDict):
    answer: str


class Answering(EvalState, total=False):
    answer: str


class Tagged(EvalState, total=False):
    tags: Annotated[dict[str, str], jg.merged]


class Mistagged(EvalState, total=False):
    tags: Annotated[list[str], jg.merged]


def evaluator(**settings: Any) -> Evaluator:
    return Evaluator(criteria=CRITERIA, **settings)


def sage(**settings: Any) -> Sage:
    return Sage(criteria=CRITERIA, **settings)


async def metric(state: Asked) -> Wrote:
    return {"scores": {}}


async def sum_up(state: Wrote) -> Overall:
    return {"overall": None}


def low(state: EvalState) -> str:
    return "critique" if state.get("scores") else END


def chain(*nodes: tuple[str, Any], state: Any = EvalState) -> StateGraph[Any, None, Any, Any]:
    """START -> each in its order -> END."""
    graph = StateGraph(state)
    for name, node in nodes:
        graph.add_node(name, node)
    names = [START, *(name for name, _ in nodes), END]
    for one, other in pairwise(names):
        graph.add_edge(one, other)
    return graph


def missing_writer(right: bool) -> Any:
    writer = [("evaluate", evaluator())] if right else []
    return chain(*writer, ("critique", sage()), ("rectify", Rectify()))


def missing_on_one_path(right: bool) -> Any:
    graph = StateGraph(EvalState)
    graph.add_node("evaluate", evaluator())
    graph.add_node("critique", sage())
    graph.add_node("rectify", Rectify())
    graph.add_edge(START, "evaluate")
    graph.add_conditional_edges("evaluate", low, {"critique": "critique", END: END if right else "rectify"})
    graph.add_edge("critique", "rectify")
    graph.add_edge("rectify", END)
    return graph


def join_never_runs(right: bool) -> Any:
    graph = StateGraph(EvalState)
    graph.add_node("evaluate", evaluator())
    graph.add_node("critique", sage())
    graph.add_node("metric", metric)
    graph.add_node("sum", sum_up, defer=right)
    graph.add_node("rectify", Rectify())
    graph.add_edge(START, "evaluate")
    graph.add_edge(START, "metric")
    graph.add_conditional_edges("evaluate", low, ["critique", END])
    graph.add_edge("critique", "rectify")
    if right:
        graph.add_edge("rectify", "sum")
        graph.add_edge("metric", "sum")
    else:
        graph.add_edge(["rectify", "metric"], "sum")
    graph.add_edge("sum", END)
    return graph


def double_join(right: bool) -> Any:
    graph = chain(("evaluate", evaluator()), ("critique", sage()), ("rectify", Rectify()))
    graph.add_node("metric", metric)
    graph.add_node("sum", sum_up, defer=right)
    graph.add_edge(START, "metric")
    graph.add_edge("metric", "sum")
    graph.add_edge("rectify", "sum")
    graph.add_edge("sum", END)
    return graph


def unbounded_loop(right: bool) -> Any:
    async def again(state: Looping) -> Counted:
        return {"rounds": state.get("rounds", 0) + 1, "scores": {}}

    def enough(state: Looping) -> str:
        return END if state.get("scores") or (right and state.get("rounds", 0) >= 3) else "again"

    def unsure(state: Looping) -> str:
        return "again" if state.get("notes") else END

    graph = StateGraph(Looping)
    graph.add_node("again", again)
    graph.add_edge(START, "again")
    graph.add_conditional_edges("again", enough if right else unsure, ["again", END])
    return graph


def endless_loop(right: bool) -> Any:
    graph = chain(("evaluate", evaluator()), ("critique", sage()), ("rectify", Rectify()))
    if not right:
        graph.add_edge("rectify", "critique")
    return graph


def unreachable(right: bool) -> Any:
    graph = chain(("evaluate", evaluator()))
    graph.add_node("critique", jg.critique(sage()))
    if right:
        graph.add_edge("evaluate", "critique")
    graph.add_edge("critique", END)
    return graph


def misspelt_write(right: bool) -> Any:
    async def one(state: Asked) -> Mistaken:
        return {"score": {}}

    return chain(("mine", metric if right else one))


def misspelt_read(right: bool) -> Any:
    async def one(state: Mistaken) -> Overall:
        return {"overall": None}

    return chain(("evaluate", evaluator()), ("sum", sum_up if right else one))


def two_writers(right: bool) -> Any:
    async def answer(state: Asked) -> Answer:
        return {"answer": ""}

    if right:
        return chain(("a", answer), ("b", answer), state=Answering)
    graph = StateGraph(Answering)
    for name in "ab":
        graph.add_node(name, answer)
        graph.add_edge(START, name)
        graph.add_edge(name, END)
    return graph


def one_writer_sent_often(right: bool) -> Any:
    graph = StateGraph(EvalState if right else Bare)

    def each(state: Any) -> list[Send] | str:
        return [Send("judge", Case(sample=state["sample"], criteria=[c])) for c in CRITERIA] or END

    async def judge(state: Case) -> Wrote:
        return {"scores": {}}

    graph.add_node("judge", judge)
    graph.add_conditional_edges(START, each, ["judge", END])
    graph.add_edge("judge", END)
    return graph


def empty_fan_out(right: bool) -> Any:
    def each(state: EvalState) -> list[Send]:
        return [Send("evaluate", Case(sample=state["sample"], criteria=[c])) for c in state.get("criteria", ())]

    def each_or_on(state: EvalState) -> list[Send] | str:
        return each(state) or "done"

    graph = StateGraph(EvalState)
    graph.add_node("evaluate", evaluator())
    graph.add_node("done", metric, defer=True)
    if right:
        graph.add_conditional_edges(START, each_or_on, ["evaluate", "done"])
    else:
        graph.add_conditional_edges(START, each, ["evaluate"])
    graph.add_edge("evaluate", "done")
    graph.add_edge("done", END)
    return graph


def wrong_reducer(right: bool) -> Any:
    if right:
        return chain(("inner", chain(("a", metric)).compile()), ("b", metric))

    async def judge(state: Asked) -> ListedWrites:
        return {"scores": []}

    return chain(("a", judge), ("inner", chain(("b", judge), state=Listed).compile()), state=Listed)


def unfit_reducer(right: bool) -> Any:
    return chain(("evaluate", evaluator()), state=Tagged if right else Mistagged)


def no_reducer(right: bool) -> Any:
    return chain(("a", metric), ("b", metric), state=EvalState if right else Bare)


class Merging(TypedDict, total=False):
    sample: Sample
    scores: Annotated[Scores, lambda old, new: {**old, **new}]


class Adding(TypedDict, total=False):
    sample: Sample
    scores: Annotated[Scores, lambda old, new: old + new]


class Keeping(TypedDict, total=False):
    sample: Sample
    scores: Annotated[Scores, lambda old, new: new]


class Listing(EvalState, total=False):
    rectifications: Annotated[list[Any], operator.add]  # type: ignore[misc]


def added_mappings(right: bool) -> Any:
    return chain(("a", metric), state=Merging if right else Adding)


def mappings_for_a_list(right: bool) -> Any:
    """A list of verdicts, and a critic that writes them as a mapping."""
    return chain(
        ("evaluate", evaluator()), ("critique", sage()), ("rectify", Rectify()), state=EvalState if right else Listing
    )


def keeps_the_last(right: bool) -> Any:
    return chain(("a", metric), ("b", metric), state=Merging if right else Keeping)


class Sent(TypedDict):
    sample: Sample
    criterion: jg.Criterion


def sends_too_little(right: bool) -> Any:
    async def one(state: Sent) -> Wrote:
        return {"scores": {}}

    def whole(state: EvalState) -> list[Send] | str:
        return [Send("one", {"sample": state["sample"], "criterion": c}) for c in state.get("criteria", ())] or END

    def part(state: EvalState) -> list[Send] | str:
        return [Send("one", {"criterion": c}) for c in state.get("criteria", ())] or END

    graph = StateGraph(EvalState)
    graph.add_node("one", one)
    graph.add_conditional_edges(START, whole if right else part, ["one", END])
    graph.add_edge("one", END)
    return graph


def fan_out_with_a_filter(right: bool) -> Any:
    """Over what is never empty, but with an `if` that may leave nothing."""

    def some(state: Any) -> Any:
        return [Send("judge", dict(state)) for c in CRITERIA if c.name in state["scores"]]

    def all_of_them(state: Any) -> Any:
        return [Send("judge", dict(state)) for c in CRITERIA]

    return sending(all_of_them if right else some)


def fan_out_with_a_way_past(right: bool) -> Any:
    def sometimes(state: Any) -> Any:
        if not state.get("criteria"):
            return []
        return [Send("judge", dict(state)), Send("judge", dict(state))]

    def always(state: Any) -> Any:
        return [Send("judge", dict(state)), Send("judge", dict(state))]

    return sending(always if right else sometimes)


def sending(decide: Any) -> Any:
    graph = StateGraph(EvalState)
    graph.add_node("judge", metric)
    graph.add_conditional_edges(START, decide, ["judge"])
    graph.add_edge("judge", END)
    return graph


def assistant_without_a_judge(right: bool) -> Any:
    inner = chain(("evaluate", evaluator(judge="openai:gpt-4.1-mini" if right else "gpt-4.1-mini")))
    return chain(("ask", jg.metric_node(jg.as_assistant(inner, about="quality, 1 to 5", name="inner"))))


def assistant_that_is_not_wired(right: bool) -> Any:
    return chain(("ask", jg.metric_node(jg.as_assistant(missing_writer(right), about="quality", name="inner"))))


def no_judge(right: bool) -> Any:
    return chain(("evaluate", evaluator(judge="openai:gpt-4.1-mini" if right else "gpt-4.1-mini")))


MISTAKES: list[tuple[str, Callable[[bool], Any], str, str, tuple[str, ...]]] = [
    (
        "missing-writer", missing_writer, "critique", "scores",
        ("no node writes before it", "add a node before 'critique'"),
    ),
    (
        "missing-writer", missing_on_one_path, "rectify", "rectifications",
        ("'critique' writes", "START -> evaluate -> rectify", "NotRequired"),
    ),
    ("join-never-runs", join_never_runs, "sum", "", ("'rectify' does not run", "defer=True")),
    ("double-join", double_join, "sum", "", ("runs twice", "'metric' and 'rectify'", "defer=True")),
    ("unbounded-loop", unbounded_loop, "again", "", ("again -> again", "rounds: int", "jg.bounded")),
    ("unbounded-loop", endless_loop, "critique", "", ("critique -> rectify -> critique", "no way out")),
    ("unreachable", unreachable, "critique", "", ("never runs", "add_edge(..., 'critique')")),
    ("misspelt-key", misspelt_write, "mine", "score", ("writes 'score'", "did you mean 'scores'?")),
    ("misspelt-key", misspelt_read, "sum", "score", ("reads 'score'", "did you mean 'scores'?")),
    ("two-writers", two_writers, "b", "answer", ("'a' and 'b'", "no reducer", "jg.merged")),
    ("two-writers", one_writer_sent_often, "judge", "scores", ("sent to several times", "jg.merged")),
    ("empty-fan-out", empty_fan_out, "START", "", ("sends nothing", "or 'next'", "jg.never_empty")),
    ("wrong-reducer", wrong_reducer, "inner", "scores", ("stands twice", "jg.merged")),
    ("wrong-reducer", unfit_reducer, "", "tags", ("is a list", "merged joins dict", "use one that")),
    ("wrong-reducer", no_reducer, "b", "scores", ("later one's stands alone", "jg.merged")),
    ("wrong-reducer", added_mappings, "a", "scores", ("cannot join dict", "written by 'a'", "jg.merged")),
    (
        "wrong-reducer", mappings_for_a_list, "critique", "rectifications",
        ("is a list", "cannot join dict", "jg.EvalState"),
    ),
    ("wrong-reducer", keeps_the_last, "b", "scores", ("keeps one of two", "later one's stands alone", "jg.merged")),
    ("missing-writer", sends_too_little, "one", "sample", ("'START' sends it holds 'criterion' alone", "Send('one'")),
    ("empty-fan-out", fan_out_with_a_filter, "START", "", ("sends nothing",)),
    ("empty-fan-out", fan_out_with_a_way_past, "START", "", ("sends nothing",)),
    ("no-judge", assistant_without_a_judge, "ask/inner/evaluate", "", ("no model to ask",)),
    ("missing-writer", assistant_that_is_not_wired, "ask/inner/critique", "scores", ("no node writes before it",)),
    ("no-judge", no_judge, "evaluate", "", ("no model to ask", "'gpt-4.1-mini'", "PROVIDER:MODEL")),
]  # fmt: skip
BY_NAME = pytest.mark.parametrize(
    ("code", "graph", "node", "key", "said"), MISTAKES, ids=[mistake[1].__name__ for mistake in MISTAKES]
)


@BY_NAME
def test_a_wrong_graph_is_refused_with_node_key_and_cure(code: str, graph: Any, node: str, key: str, said: Any):
    with pytest.raises(jg.WiringError) as refused:
        jg.check(graph(False))
    (finding,) = refused.value.findings
    assert (finding.code, finding.node, finding.key) == (code, node, key)
    assert [part for part in said if part not in finding.message] == []
    assert "\n" not in finding.message


@BY_NAME
def test_its_right_twin_passes_without_a_word(code: str, graph: Any, node: str, key: str, said: Any):
    assert jg.check(graph(True)).findings == ()


@BY_NAME
def test_a_compiled_graph_and_a_graph_within_one_are_looked_at_alike(
    code: str, graph: Any, node: str, key: str, said: Any
):
    compiled = jg.check(graph(False).compile(), strict=False)
    assert [finding.code for finding in compiled.findings] == [code]
    outer = StateGraph(EvalState)
    outer.add_node("method", graph(False).compile())
    outer.add_edge(START, "method")
    outer.add_edge("method", END)
    within = jg.check(outer, strict=False).findings
    assert code in [finding.code for finding in within]
    assert within[0].node.startswith("method")


def test_every_mistake_is_told_at_once():
    graph = missing_writer(False)
    graph.add_node("forgotten", metric)
    with pytest.raises(jg.WiringError) as refused:
        jg.check(graph)
    lines = str(refused.value).splitlines()
    assert len(lines) == len(refused.value.findings) == 2
    assert {f.code for f in refused.value.findings} == {"missing-writer", "unreachable"}
