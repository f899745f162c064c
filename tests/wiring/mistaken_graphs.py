"""A corpus of wrong graphs, as a reader of docs/compose.md would write them; and of each the graph that was meant.

Each entry is a function of (right, folder): wrong and right differ by the mistake alone. `folder` is for files of the
graph's own, such as a template.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send
from typing_extensions import TypedDict

import judgegraph as jg
from judgegraph.agents.corrector import Corrector
from judgegraph.agents.evaluator import Evaluator
from judgegraph.agents.fusion import FusionJudge
from judgegraph.agents.panel import Consensus
from judgegraph.agents.sage import Rectify, Sage
from judgegraph.agents.scorer import Scorer
from judgegraph.graphs import fennec, sageval
from judgegraph.types import Criterion, EvalState, Plan, Sample, Scores, keyed

SUMMARY = jg.criteria_set("summary").criteria
TEN = [c.model_copy(update={"scale": jg.Scale.of("1-10")}) for c in SUMMARY]
TONE = [Criterion(name="Tone", definition="How it sounds.", scale=jg.Scale.of(["cold", "neutral", "warm"]))]


class Case(TypedDict):
    sample: Sample


class Planned(TypedDict):
    sample: Sample
    outline: str


class Outlined(TypedDict):
    outline: str


class Judged(TypedDict):
    scores: Scores


class Outlining(EvalState, total=False):
    outline: str


class Turned(TypedDict):
    rounds: int


class Turning(EvalState, total=False):
    rounds: int


def evaluator(**settings: Any) -> Evaluator:
    return Evaluator(**({"criteria": SUMMARY} | settings))


def sage(**settings: Any) -> Sage:
    return Sage(**({"criteria": SUMMARY} | settings))


def rated(value: float = 5.0) -> Scores:
    return keyed(jg.Score(criterion="Brevity", agent="brevity", value=value, scale=jg.Scale.of("1-5")))


async def brevity(state: Case) -> Judged:
    return {"scores": rated()}


def graph(*edges: tuple[str, str], state: Any = EvalState, **nodes: Any) -> Any:
    made = StateGraph(state)
    for name, node in nodes.items():
        made.add_node(name, node)
    for source, target in edges:
        made.add_edge(source, target)
    return made


def line(state: Any = EvalState, **nodes: Any) -> Any:
    """One node after the other."""
    return graph(*pairwise([START, *nodes, END]), state=state, **nodes)


def reviewed(**settings: Any) -> Any:
    """An evaluator, and a critique with these settings behind it."""
    return line(evaluate=evaluator(), critique=jg.critique("sage", criteria="summary", **settings))


def routed(decide: Callable[..., Any], targets: Any = None) -> Any:
    """An evaluator, and behind it a critique or the end, as a function decides."""
    made = graph(
        (START, "evaluate"), ("critique", END), evaluate=evaluator(), critique=jg.critique("sage", criteria="summary")
    )
    made.add_conditional_edges("evaluate", decide, targets)
    return made


# Edges and order


def no_way_in(right: bool, folder: Path) -> Any:
    edges = [(START, "evaluate")] if right else []
    return graph(*edges, ("evaluate", END), evaluate=evaluator())


def no_edge_to_the_critic(right: bool, folder: Path) -> Any:
    edges = [("evaluate", "critique"), ("rectify", END)] if right else [("evaluate", END), ("rectify", END)]
    nodes = {"evaluate": evaluator(), "critique": sage(), "rectify": Rectify()}
    return graph((START, "evaluate"), *edges, ("critique", "rectify"), **nodes)


def edge_to_a_misspelt_node(right: bool, folder: Path) -> Any:
    to = "critique" if right else "critik"
    nodes = {"evaluate": evaluator(), "critique": jg.critique("sage", criteria="summary")}
    return graph((START, "evaluate"), ("evaluate", to), ("critique", END), **nodes)


def critic_before_the_judge(right: bool, folder: Path) -> Any:
    nodes = {"critique": sage(), "rectify": Rectify()}
    return line(evaluate=evaluator(), **nodes) if right else line(**nodes, evaluate=evaluator())


def rectify_before_the_critic(right: bool, folder: Path) -> Any:
    nodes = [("critique", sage()), ("rectify", Rectify())]
    return line(evaluate=evaluator(), **dict(nodes if right else nodes[::-1]))


def unreachable_node(right: bool, folder: Path) -> Any:
    first = [(START, "second")] if right else []
    nodes = {"evaluate": evaluator(), "second": evaluator(name="second", cot=True)}
    return graph((START, "evaluate"), ("evaluate", END), *first, ("second", END), **nodes)


def endless_round(right: bool, folder: Path) -> Any:
    async def count(state: Turning) -> Turned:
        return {"rounds": state.get("rounds", 0) + 1}

    def at_most_twice(state: Turning) -> str:
        return "critique" if jg.low(below=2, stage="final")(state) and state["rounds"] < 2 else END

    def while_it_is_low(state: Turning) -> str:
        return "critique" if jg.low(below=2, stage="final")(state) else END

    nodes = {"evaluate": evaluator(), "critique": sage(), "rectify": Rectify(), "count": count}
    made = graph(*pairwise([START, *nodes]), state=Turning, **nodes)
    made.add_conditional_edges("count", at_most_twice if right else while_it_is_low, ["critique", END])
    return made


# Keys


def key_that_nobody_writes(right: bool, folder: Path) -> Any:
    async def outline(state: Case) -> Outlined:
        return {"outline": ""}

    async def judge(state: Planned) -> Judged:
        return {"scores": rated()}

    return line(**({"outline": outline} if right else {}), judge=judge)


def key_of_the_state_that_nobody_writes(right: bool, folder: Path) -> Any:
    async def outline(state: Case) -> Outlined:
        return {"outline": ""}

    async def judge(state: Outlining) -> Judged:
        return {"scores": rated(5.0 if state["outline"] else 1.0)}

    return line(Outlining, **({"outline": outline} if right else {}), judge=judge)


def two_writers(right: bool, folder: Path) -> Any:
    async def outline(state: Case) -> Outlined:
        return {"outline": ""}

    nodes = {"first": outline, "second": outline, "judge": brevity}
    if right:
        return line(Outlining, **nodes)
    edges = [(START, "first"), (START, "second"), ("first", "judge"), ("second", "judge"), ("judge", END)]
    return graph(*edges, state=Outlining, **nodes)


def two_judges_of_one_name(right: bool, folder: Path) -> Any:
    second = evaluator(cot=True, **({"name": "second"} if right else {}))
    return line(first=evaluator(), second=second)


def misspelt_key_in_a_plain_function(right: bool, folder: Path) -> Any:
    async def good(state):  # type: ignore[no-untyped-def]
        return {"scores": rated()}

    async def bad(state):  # type: ignore[no-untyped-def]
        return {"score": rated()}

    return line(judge=good if right else bad)


def misspelt_key_in_a_sync_function(right: bool, folder: Path) -> Any:
    def good(state: EvalState):  # type: ignore[no-untyped-def]
        found = {"notes": {}}
        found["scores"] = rated()
        return found

    def bad(state: EvalState):  # type: ignore[no-untyped-def]
        found = {"notes": {}}
        found["Scores"] = rated()
        return found

    return line(judge=good if right else bad)


def misspelt_key_that_is_read(right: bool, folder: Path) -> Any:
    def good(state):  # type: ignore[no-untyped-def]
        return {"overall": float(len(state["scores"]))}

    def bad(state):  # type: ignore[no-untyped-def]
        return {"overall": float(len(state["score"]))}

    return line(evaluate=evaluator(), sum=good if right else bad)


def misspelt_key_that_is_got(right: bool, folder: Path) -> Any:
    def good(state: EvalState):  # type: ignore[no-untyped-def]
        return {"overall": float(len(state.get("scores", {})))}

    def bad(state: EvalState):  # type: ignore[no-untyped-def]
        return {"overall": float(len(state.get("socres", {})))}  # type: ignore[typeddict-item]

    return line(evaluate=evaluator(), sum=good if right else bad)


def annotation_that_lies(right: bool, folder: Path) -> Any:
    async def good(state: Case) -> Judged:
        return {"scores": rated()}

    async def bad(state: Case) -> Judged:
        if not state["sample"].output:
            return {"scores": {}}
        return {"score": rated()}  # type: ignore[typeddict-item]

    return line(judge=good if right else bad)


def misspelt_key_in_a_lambda(right: bool, folder: Path) -> Any:
    if right:
        return line(judge=lambda state: {"scores": rated()})
    return line(judge=lambda state: {"score": rated()})


def misspelt_key_in_a_partial(right: bool, folder: Path) -> Any:
    def good(most, state):  # type: ignore[no-untyped-def]
        return {"scores": rated(most)}

    def bad(most, state):  # type: ignore[no-untyped-def]
        return {"scors": rated(most)}

    made = StateGraph(EvalState)
    made.add_node("judge", partial(good if right else bad, 4.0))
    made.add_edge(START, "judge")
    made.add_edge("judge", END)
    return made


@dataclass(frozen=True)
class Brief:
    most: int = 60

    async def __call__(self, state):  # type: ignore[no-untyped-def]
        return {"scores": rated()}


@dataclass(frozen=True)
class Breif:
    most: int = 60

    async def __call__(self, state):  # type: ignore[no-untyped-def]
        return {"scorse": rated()}


def misspelt_key_in_a_class(right: bool, folder: Path) -> Any:
    return line(judge=Brief() if right else Breif())


def misspelt_key_in_a_closure(right: bool, folder: Path) -> Any:
    def made(most: float) -> Any:
        async def good(state):  # type: ignore[no-untyped-def]
            return dict(scores=rated(most))  # noqa: C408

        async def bad(state):  # type: ignore[no-untyped-def]
            return dict(score=rated(most))  # noqa: C408

        return good if right else bad

    return line(judge=made(4.0))


def class_in_the_place_of_an_agent(right: bool, folder: Path) -> Any:
    return line(judge=evaluator() if right else Evaluator)


# Ways


def low_or_end(state: EvalState) -> str:
    return "critique" if jg.low(below=4)(state) else END


def route_to_no_node(right: bool, folder: Path) -> Any:
    def decide(state: EvalState) -> str:
        return "critique" if jg.low(below=4)(state) else "done"

    return routed(low_or_end if right else decide)


def route_off_its_list(right: bool, folder: Path) -> Any:
    def decide(state: EvalState) -> str:
        return "critique" if jg.low(below=4)(state) else "finish"

    return routed(low_or_end if right else decide, ["critique", END])


def route_that_forgets_a_case(right: bool, folder: Path) -> Any:
    def decide(state: EvalState):  # type: ignore[no-untyped-def]  # noqa: RET503
        if jg.low(below=4)(state):
            return "critique"

    return routed(low_or_end if right else decide, ["critique", END])


def key_that_is_not_handed(right: bool, folder: Path) -> Any:
    async def good(state: EvalState) -> Judged:
        return {"scores": rated(float(len(state["scores"])))}

    async def bad(state: Case) -> Judged:
        return {"scores": rated(float(len(state["scores"])))}  # type: ignore[typeddict-item]

    return line(evaluate=evaluator(), judge=good if right else bad)


def annotation_that_lies_of_a_known_key(right: bool, folder: Path) -> Any:
    async def good(state: Case) -> Judged:
        return {"scores": rated()}

    async def bad(state: Case) -> Judged:
        return {"notes": {}}  # type: ignore[typeddict-item, typeddict-unknown-key]

    return line(judge=good if right else bad)


def route_off_its_map(right: bool, folder: Path) -> Any:
    def good(state: EvalState) -> str:
        where = "bad"
        if not jg.low(below=4)(state):
            where = "good"
        return where

    def bad(state: EvalState) -> str:
        where = "bad"
        if not jg.low(below=4)(state):
            where = "fine"
        return where

    return routed(good if right else bad, {"bad": "critique", "good": END})


def map_to_no_node(right: bool, folder: Path) -> Any:
    def decide(state: EvalState) -> bool:
        return bool(jg.low(below=4)(state))

    return routed(decide, {True: "critique" if right else "critic", False: END})


def routes_that_are_made_up(right: bool, folder: Path) -> Any:
    step = {"low": "critique" if right else "critic", "high": END}

    def decide(state: EvalState) -> str:
        return step["low" if jg.low(below=4)(state) else "high"]

    return routed(decide)


def send_to_no_node(right: bool, folder: Path) -> Any:
    to = "judge" if right else "juge"

    def spread(state: EvalState) -> list[Send]:
        return [Send(to, {"sample": state["sample"], "criteria": [c]}) for c in SUMMARY]

    made = graph(("judge", END), judge=evaluator(stage="final"))
    made.add_conditional_edges(START, spread, ["judge"])
    return made


def send_to_no_node_without_a_list(right: bool, folder: Path) -> Any:
    def good(state: EvalState):  # type: ignore[no-untyped-def]
        return [Send("judge", {"sample": state["sample"], "criteria": [c]}) for c in SUMMARY]

    def bad(state: EvalState):  # type: ignore[no-untyped-def]
        return [Send("jugde", {"sample": state["sample"], "criteria": [c]}) for c in SUMMARY]

    made = graph(("judge", END), judge=evaluator(stage="final"))
    made.add_conditional_edges(START, good if right else bad, ["judge"] if right else None)
    return made


def command_to_no_node(right: bool, folder: Path) -> Any:
    def good(state: EvalState) -> Command[Literal["critique"]]:
        return Command(goto="critique")

    def bad(state: EvalState):  # type: ignore[no-untyped-def]
        return Command(goto="critic")

    nodes = {"evaluate": evaluator(), "lead": good if right else bad}
    nodes |= {"critique": jg.critique("sage", criteria="summary")}
    edges = [(START, "evaluate"), ("evaluate", "lead"), ("critique", END)]
    return graph(*edges, **nodes)


# Scales and thresholds


def threshold_off_the_scale(right: bool, folder: Path) -> Any:
    return reviewed(when=jg.low(below=3 if right else 7))


def threshold_of_a_gate_off_the_scale(right: bool, folder: Path) -> Any:
    gate = jg.gate(jg.metric_node("rouge-l"), jg.low(below=3 if right else 0.5))
    return line(evaluate=evaluator(), gate=gate)


def threshold_of_an_escalation_off_the_scale(right: bool, folder: Path) -> Any:
    return line(judge=jg.escalate("embedded", "embedded", when=jg.low(below=3 if right else 50), criteria="summary"))


def threshold_of_a_refinement_off_the_scale(right: bool, folder: Path) -> Any:
    refine = jg.refine("sage", when=jg.either(jg.failed(), jg.low(below=3 if right else 7)), criteria="summary")
    return line(evaluate=evaluator(), refine=refine)


def labels_in_the_place_of_numbers(right: bool, folder: Path) -> Any:
    when = jg.wide() if right else jg.low(below=3)
    return line(evaluate=evaluator(criteria=TONE), critique=jg.critique("sage", when=when, criteria=TONE))


def width_that_no_score_has(right: bool, folder: Path) -> Any:
    return reviewed(when=jg.wide(above=0.3 if right else 0.7, unknown=False))


def corrector_off_its_scale(right: bool, folder: Path) -> Any:
    return line(judge=evaluator(stage="final"), correct=Corrector(threshold=3 if right else 7))


def corrector_of_labels(right: bool, folder: Path) -> Any:
    return line(judge=evaluator(stage="final", criteria=SUMMARY if right else TONE), correct=Corrector())


def panel_of_two_scales(right: bool, folder: Path) -> Any:
    members = evaluator(name="five"), evaluator(name="ten", cot=True, criteria=SUMMARY if right else TEN)
    return line(jury=jg.panel(*members))


def critic_on_another_scale(right: bool, folder: Path) -> Any:
    return line(evaluate=evaluator(), critique=sage(criteria=SUMMARY if right else TEN), rectify=Rectify())


def critique_on_another_scale(right: bool, folder: Path) -> Any:
    return line(evaluate=evaluator(), critique=jg.critique("sage", criteria="summary" if right else "dialogue"))


def refinement_on_another_scale(right: bool, folder: Path) -> Any:
    return line(evaluate=evaluator(), refine=jg.refine("sage", criteria="summary" if right else "dialogue"))


def one_judge_that_disagrees(right: bool, folder: Path) -> Any:
    first = {"second": evaluator(name="second", cot=True)} if right else {}
    critique = jg.critique("sage", when=jg.disagree(), criteria="summary")
    return line(evaluate=evaluator(), **first, critique=critique)


# Names


def misspelt_member(right: bool, folder: Path) -> Any:
    return line(jury=jg.panel("embedded", "g-eval" if right else "g-evall", criteria="summary"))


def misspelt_member_of_a_consensus(right: bool, folder: Path) -> Any:
    nodes = {"one": evaluator(name="one"), "two": evaluator(name="two", cot=True)}
    jury = Consensus(members=("one", "two" if right else "tow"), ballots="draft", criteria=SUMMARY)
    return line(**nodes, jury=jury)


def misspelt_agent_under_review(right: bool, folder: Path) -> Any:
    critique = jg.critique("sage", stage="final", of="judge" if right else "judgee", criteria="summary")
    return line(fennec=fennec(criteria="summary", correct="off"), critique=critique)


def misspelt_stage_under_review(right: bool, folder: Path) -> Any:
    own = sageval(criteria="summary", name="own")
    critique = jg.critique("devils-advocate", stage="final" if right else "finale", criteria="summary")
    return line(own=own, critique=critique)


def stage_that_the_critic_does_not_look_at(right: bool, folder: Path) -> Any:
    judge = evaluator(**({} if right else {"stage": "final"}))
    return line(judge=judge, critique=sage(), rectify=Rectify())


def misspelt_stage_of_rectify(right: bool, folder: Path) -> Any:
    return line(evaluate=evaluator(), critique=sage(), rectify=Rectify(stage="draft" if right else "drafts"))


def misspelt_stage_of_a_condition(right: bool, folder: Path) -> Any:
    gate = jg.gate(jg.metric_node("rouge-l"), jg.low(below=3, stage="draft" if right else "drafft"))
    return line(evaluate=evaluator(), gate=gate)


def misspelt_agent_of_a_condition(right: bool, folder: Path) -> Any:
    return reviewed(when=jg.low(below=3, agent="evaluator" if right else "evalutor"))


def misspelt_agent_of_a_corrector(right: bool, folder: Path) -> Any:
    correct = Corrector(scored_by=("evaluator" if right else "evaluater",))
    return line(judge=evaluator(stage="final"), correct=correct)


def misspelt_critic(right: bool, folder: Path) -> Any:
    return line(evaluate=evaluator(), critique=jg.critique("sage" if right else "sgae", criteria="summary"))


def misspelt_metric(right: bool, folder: Path) -> Any:
    return line(metrics=jg.metric_node("rouge-l" if right else "rogue-l"))


def judge_for_a_critic(right: bool, folder: Path) -> Any:
    return line(evaluate=evaluator(), critique=jg.critique("sage" if right else "g-eval", criteria="summary"))


def plan_with_an_unknown_assistant(right: bool, folder: Path) -> Any:
    class Writes(TypedDict):
        plan: Plan

    name = "rouge-l" if right else "rogue-l"

    async def good(state: Case) -> Writes:
        return {"plan": Plan(text="as it is", alignment={"Fluency": (name,)})}

    judge = FusionJudge(criteria=SUMMARY, assistants={"rouge-l": "overlap"})
    from judgegraph.tools.catalogue import Panel, assistants

    return line(plan=good, consult=Panel(assistants=assistants(["rouge-l"])), judge=judge)


def judge_of_other_assistants(right: bool, folder: Path) -> Any:
    judge = FusionJudge(criteria=SUMMARY, assistants={"rouge-l" if right else "rogue-l": "overlap with the source"})
    return line(metrics=jg.metric_node("rouge-l"), judge=judge)


# Templates

HEAD = "---\nversion: 1\nsource: ours\n---\n# system\nYou judge $task.\n\n# user\n"
WHOLE = "<criteria>$criteria</criteria>\n<query?>$query</query>\n<source?>$source</source>\n<output>$output</output>\n"


def template(folder: Path, text: str) -> str:
    path = folder / "mine.md"
    path.write_text(HEAD + text, encoding="utf-8")
    return str(path)


def template_without_the_output(right: bool, folder: Path) -> Any:
    text = WHOLE if right else WHOLE.replace("<output>$output</output>\n", "")
    return line(evaluate=evaluator(prompt=template(folder, text)))


def template_with_a_field_too_many(right: bool, folder: Path) -> Any:
    text = WHOLE if right else WHOLE + "<rubric>$rubric</rubric>\n"
    return line(evaluate=evaluator(prompt=template(folder, text)))


def template_that_is_not_there(right: bool, folder: Path) -> Any:
    return line(evaluate=evaluator(prompt=template(folder, WHOLE) if right else str(folder / "mien.md")))


def template_of_an_assistants_judge(right: bool, folder: Path) -> Any:
    text = WHOLE if right else WHOLE.replace("$source", "$article")
    inner = line(evaluate=evaluator(prompt=template(folder, text), stage="final")).compile(name="inner")
    return line(ask=jg.metric_node(jg.as_assistant(inner, about="quality, 1 to 5", name="inner")))


# Verdicts


def critic_without_rectify(right: bool, folder: Path) -> Any:
    return line(evaluate=evaluator(), critique=sage(), **({"rectify": Rectify()} if right else {}))


def gated_critic_without_rectify(right: bool, folder: Path) -> Any:
    node = jg.critique("sage", criteria="summary") if right else sage()
    return line(evaluate=evaluator(), gate=jg.gate(node, jg.low(below=3)))


def verdicts_on_one_path_alone(right: bool, folder: Path) -> Any:
    """Rectify stands before the critic, and none behind it."""
    nodes = {"evaluate": evaluator(), "critique": sage(), "rectify": Rectify(), "again": sage(name="again", cot=True)}
    return line(**nodes, **({"settle": Rectify(name="again")} if right else {}))


# Criteria


def judge_without_criteria_it_could_have(right: bool, folder: Path) -> Any:
    return line(judge=Scorer(stage="final", **({"criteria": SUMMARY} if right else {})))


# What is read of a state, who is named, by what criteria


def misspelt_key_in_a_route(right: bool, folder: Path) -> Any:
    def good(state):  # type: ignore[no-untyped-def]
        return "critique" if state.get("scores") else END

    def bad(state):  # type: ignore[no-untyped-def]
        return "critique" if state.get("socres") else END

    return routed(good if right else bad, ["critique", END])


def unknown_key_in_a_route(right: bool, folder: Path) -> Any:
    def good(state: EvalState) -> str:
        return "critique" if state["scores"] else END

    def bad(state: EvalState) -> str:
        return "critique" if state["quality"] > 3 else END  # type: ignore[typeddict-item]

    return routed(good if right else bad, ["critique", END])


def key_of_a_route_that_nobody_writes(right: bool, folder: Path) -> Any:
    def good(state: EvalState) -> str:
        return "critique" if len(state["scores"]) > 2 else END

    def bad(state: EvalState) -> str:
        return "critique" if state["overall"] < 3 else END

    return routed(good if right else bad, ["critique", END])


def rectify_that_names_no_critic(right: bool, folder: Path) -> Any:
    return line(evaluate=evaluator(), critique=sage(), rectify=Rectify(name="sage" if right else "saeg"))


def critique_of_other_criteria(right: bool, folder: Path) -> Any:
    return line(evaluate=evaluator(), critique=jg.critique("sage", criteria="summary" if right else "forms"))


def critic_of_other_criteria(right: bool, folder: Path) -> Any:
    other = SUMMARY if right else [Criterion(name="fluency", definition="It reads well.")]
    return line(evaluate=evaluator(), critique=sage(criteria=other), rectify=Rectify())


def condition_of_no_criterion(right: bool, folder: Path) -> Any:
    return reviewed(when=(lambda s: ["Fluency"]) if right else (lambda s: ["Fluencyy"]))


def condition_that_maps_no_criterion(right: bool, folder: Path) -> Any:
    def good(state):  # type: ignore[no-untyped-def]
        return {"Fluency": "always"} if len(state["scores"]) else {}

    def bad(state):  # type: ignore[no-untyped-def]
        return {"fluency": "always"} if len(state["scores"]) else {}

    return line(evaluate=evaluator(), gate=jg.gate(jg.metric_node("rouge-l"), good if right else bad))


def two_panels_of_one_name(right: bool, folder: Path) -> Any:
    second = jg.panel("embedded", "coascore", criteria="summary", **({"name": "second"} if right else {}))
    return line(first=jg.panel("embedded", "g-eval", criteria="summary"), second=second)


def each_without_criteria(right: bool, folder: Path) -> Any:
    return line(judge=jg.each(Evaluator(stage="final"), **({"criteria": "summary"} if right else {})))


def critique_of_ballots(right: bool, folder: Path) -> Any:
    stage = "final" if right else "ballot"
    of = {"of": "panel"} if right else {}
    jury = jg.panel("embedded", "g-eval", criteria="summary")
    return line(jury=jury, critique=jg.critique("sage", stage=stage, criteria="summary", **of))


def critique_of_one_member(right: bool, folder: Path) -> Any:
    jury = jg.panel("embedded", "g-eval", criteria="summary")
    of = "panel" if right else "panel-g-eval"
    return line(jury=jury, critique=jg.critique("sage", stage="final", of=of, criteria="summary"))


def critique_of_what_it_writes_itself(right: bool, folder: Path) -> Any:
    stage = "draft" if right else "final"
    return line(judge=Evaluator(criteria=SUMMARY), critique=jg.critique("sage", stage=stage, criteria="summary"))


def rectify_of_what_it_writes_itself(right: bool, folder: Path) -> Any:
    stage = "draft" if right else "final"
    return line(judge=Evaluator(criteria=SUMMARY), critique=Sage(criteria=SUMMARY), rectify=Rectify(stage=stage))


def misspelt_stage_of_a_function(right: bool, folder: Path) -> Any:
    async def good(state: Case) -> Judged:
        return {"scores": keyed(jg.Score(criterion="Wit", agent="wit", value=3, stage="final", scale="1-5"))}

    async def bad(state: Case) -> Judged:
        return {"scores": keyed(jg.Score(criterion="Wit", agent="wit", value=3, stage="finale", scale="1-5"))}

    return line(judge=good if right else bad)


def misspelt_stage_of_a_judge(right: bool, folder: Path) -> Any:
    return line(judge=evaluator(stage="final" if right else "Final"))


def stage_that_holds_no_answer(right: bool, folder: Path) -> Any:
    return line(judge=evaluator(stage="final" if right else "answers"))


# Scores and conditions taken for what they are not


def score_looked_for_by_criterion(right: bool, folder: Path) -> Any:
    def good(state: EvalState) -> str:
        return "critique" if state["scores"]["Fluency/evaluator/draft/0"].value else END

    def bad(state: EvalState) -> str:
        return "critique" if state["scores"]["Fluency"].value else END

    return routed(good if right else bad, ["critique", END])


def score_got_by_criterion_in_a_condition(right: bool, folder: Path) -> Any:
    good, bad = (lambda s: len(s["scores"]) > 1), (lambda s: s.get("scores", {}).get("Fluency") is not None)
    return line(evaluate=evaluator(), gate=jg.gate(jg.metric_node("rouge-l"), good if right else bad))


def state_taken_by_attribute(right: bool, folder: Path) -> Any:
    def good(state: EvalState):  # type: ignore[no-untyped-def]
        return {"overall": float(len(state["scores"]))}

    def bad(state):  # type: ignore[no-untyped-def]
        return {"overall": float(len(state.scores))}

    return line(evaluate=evaluator(), sum=good if right else bad)


def condition_that_is_not_asked(right: bool, folder: Path) -> Any:
    def bad(state: EvalState) -> str:
        return "critique" if jg.low(below=4) else END

    return routed(low_or_end if right else bad, ["critique", END])


def condition_that_gives_a_misspelt_name(right: bool, folder: Path) -> Any:
    return reviewed(when=(lambda s: "Fluency") if right else (lambda s: "Fluencyy"))


def gate_before_the_judge(right: bool, folder: Path) -> Any:
    gate, judge = jg.gate(jg.metric_node("rouge-l"), jg.low(below=3)), evaluator()
    return line(evaluate=judge, gate=gate) if right else line(gate=gate, evaluate=judge)


def name_of_a_set_for_criteria(right: bool, folder: Path) -> Any:
    return line(evaluate=evaluator(criteria=SUMMARY if right else "summary"))


# What nobody could judge by, or call


class Unseeing(TypedDict, total=False):
    scores: Scores


class Summed(TypedDict, total=False):
    overall: float


def state_without_a_sample(right: bool, folder: Path) -> Any:
    async def judge(state: Unseeing) -> Judged:
        return {"scores": rated()}

    return line(EvalState if right else Unseeing, judge=judge)


def output_without_what_is_written(right: bool, folder: Path) -> Any:
    made = StateGraph(EvalState, output_schema=jg.Result if right else Summed)
    made.add_node("judge", evaluator(stage="final"))
    made.add_edge(START, "judge")
    made.add_edge("judge", END)
    return made


def graph_that_writes_no_result(right: bool, folder: Path) -> Any:
    async def aside(state: Case) -> Outlined:
        return {"outline": "as it is"}

    return line(Outlining, aside=aside, **({"judge": brevity} if right else {}))


def function_that_takes_more_than_the_state(right: bool, folder: Path) -> Any:
    async def good(state: Case, most: float = 4.0) -> Judged:
        return {"scores": rated(most)}

    async def bad(state: Case, most: float) -> Judged:
        return {"scores": rated(most)}

    return line(judge=good if right else bad)


def function_that_takes_no_state(right: bool, folder: Path) -> Any:
    async def bad() -> Judged:
        return {"scores": rated()}

    return line(judge=brevity if right else bad)


def two_critics_of_one_name_side_by_side(right: bool, folder: Path) -> Any:
    other = sage(cot=True) if not right else sage(cot=True, name="second")
    nodes = {"evaluate": evaluator(), "one": sage(), "two": other, "rectify": Rectify(name="sage")}
    last = {"settle": Rectify(name="second")} if right else {}
    edges = [(START, "evaluate"), ("evaluate", "one"), ("evaluate", "two"), ("one", "rectify"), ("two", "rectify")]
    return graph(*edges, *pairwise(["rectify", *last, END]), **nodes, **last)


CORPUS: list[tuple[Callable[[bool, Path], Any], str, str, str]] = [  # graph, node, key, cure
    (state_without_a_sample, "", "sample", "declare 'sample'"),
    (output_without_what_is_written, "", "scores", "output_schema=jg.Result"),
    (graph_that_writes_no_result, "", "scores", "judgegraph.keyed(jg.Score(...))"),
    (function_that_takes_more_than_the_state, "judge", "most", "give it a default"),
    (function_that_takes_no_state, "judge", "", "give it one argument, state"),
    (two_critics_of_one_name_side_by_side, "two", "rectifications", "Sage(name='sage-2')"),
    (no_way_in, "evaluate", "", "add_edge(..., 'evaluate')"),
    (no_edge_to_the_critic, "critique", "", "add_edge(..., 'critique')"),
    (edge_to_a_misspelt_node, "evaluate", "", "did you mean 'critique'"),
    (critic_before_the_judge, "critique", "scores", "lead that path through it first"),
    (rectify_before_the_critic, "rectify", "rectifications", "lead that path through it first"),
    (unreachable_node, "second", "", "add_edge(..., 'second')"),
    (endless_round, "critique", "", "jg.bounded"),
    (key_that_nobody_writes, "judge", "outline", "add a node before 'judge'"),
    (key_of_the_state_that_nobody_writes, "judge", "outline", "add a node before 'judge'"),
    (two_writers, "second", "outline", "jg.merged"),
    (two_judges_of_one_name, "second", "scores", "Evaluator(name='evaluator-2')"),
    (misspelt_key_in_a_plain_function, "judge", "score", "did you mean 'scores'"),
    (misspelt_key_in_a_sync_function, "judge", "Scores", "did you mean 'scores'"),
    (misspelt_key_that_is_read, "sum", "score", "did you mean 'scores'"),
    (misspelt_key_that_is_got, "sum", "socres", "did you mean 'scores'"),
    (annotation_that_lies, "judge", "score", "did you mean 'scores'"),
    (misspelt_key_in_a_lambda, "judge", "score", "did you mean 'scores'"),
    (misspelt_key_in_a_partial, "judge", "scors", "did you mean 'scores'"),
    (misspelt_key_in_a_class, "judge", "scorse", "did you mean 'scores'"),
    (misspelt_key_in_a_closure, "judge", "score", "did you mean 'scores'"),
    (class_in_the_place_of_an_agent, "judge", "", "Evaluator(...)"),
    (route_to_no_node, "evaluate", "", "add_node('done', ...)"),
    (route_off_its_list, "evaluate", "", "'finish'"),
    (route_that_forgets_a_case, "evaluate", "", "return END"),
    (key_that_is_not_handed, "judge", "scores", "add 'scores' to that TypedDict"),
    (annotation_that_lies_of_a_known_key, "judge", "scores", "return 'scores'"),
    (route_off_its_map, "evaluate", "", "one of 'bad' and 'good'"),
    (map_to_no_node, "evaluate", "", "did you mean 'critique'"),
    (routes_that_are_made_up, "evaluate", "", "did you mean 'critique'"),
    (send_to_no_node, "START", "", "did you mean 'judge'"),
    (send_to_no_node_without_a_list, "START", "", "did you mean 'judge'"),
    (command_to_no_node, "lead", "", "did you mean 'critique'"),
    (threshold_off_the_scale, "critique", "scores", "low(share=...)"),
    (threshold_of_a_gate_off_the_scale, "gate", "scores", "low(share=...)"),
    (threshold_of_an_escalation_off_the_scale, "judge", "scores", "low(share=...)"),
    (threshold_of_a_refinement_off_the_scale, "refine", "scores", "low(share=...)"),
    (labels_in_the_place_of_numbers, "critique", "scores", "jg.wide()"),
    (width_that_no_score_has, "critique", "scores", "below 0.5"),
    (corrector_off_its_scale, "correct", "scores", "the paper's is 3"),
    (corrector_of_labels, "correct", "scores", "a scale of numbers"),
    (panel_of_two_scales, "jury/consensus", "scores", "give both the same criteria"),
    (critic_on_another_scale, "critique", "scores", "give both the same criteria"),
    (critique_on_another_scale, "critique", "scores", "give both the same criteria"),
    (refinement_on_another_scale, "refine", "scores", "give both the same criteria"),
    (one_judge_that_disagrees, "critique", "scores", "add another judge"),
    (misspelt_member, "g-evall", "", "did you mean 'g-eval'"),
    (misspelt_member_of_a_consensus, "jury", "scores", "did you mean 'two'"),
    (misspelt_agent_under_review, "critique", "scores", "did you mean 'judge'"),
    (misspelt_stage_under_review, "critique", "scores", "did you mean 'final'"),
    (stage_that_the_critic_does_not_look_at, "critique", "scores", "there are scores at stage 'final'"),
    (misspelt_stage_of_rectify, "rectify", "scores", "did you mean 'draft'"),
    (misspelt_stage_of_a_condition, "gate", "scores", "did you mean 'draft'"),
    (misspelt_agent_of_a_condition, "critique", "scores", "did you mean 'evaluator'"),
    (misspelt_agent_of_a_corrector, "correct", "scores", "did you mean 'evaluator'"),
    (misspelt_critic, "sgae", "", "did you mean 'sage'"),
    (misspelt_metric, "rogue-l", "", "did you mean 'rouge-l'"),
    (judge_for_a_critic, "g-eval", "scores", "lists critics"),
    (plan_with_an_unknown_assistant, "plan", "findings", "did you mean 'rouge-l'"),
    (judge_of_other_assistants, "judge", "findings", "did you mean 'rouge-l'"),
    (template_without_the_output, "evaluate", "output", "lacks $output"),
    (template_with_a_field_too_many, "evaluate", "rubric", "has $rubric"),
    (template_that_is_not_there, "evaluate", "prompt", "give the path of a .md file"),
    (template_of_an_assistants_judge, "ask/inner/evaluate", "article", "has $article"),
    (critic_without_rectify, "critique", "rectifications", "add Rectify(name='sage')"),
    (gated_critic_without_rectify, "gate/ask", "rectifications", "add Rectify(name='sage')"),
    (verdicts_on_one_path_alone, "again", "rectifications", "add Rectify(name='again')"),
    (judge_without_criteria_it_could_have, "judge", "criteria", "give it some"),
    (misspelt_key_in_a_route, "evaluate", "socres", "did you mean 'scores'"),
    (unknown_key_in_a_route, "evaluate", "quality", "write it in a node before"),
    (key_of_a_route_that_nobody_writes, "evaluate", "overall", "add a node before it"),
    (rectify_that_names_no_critic, "rectify", "rectifications", "did you mean Rectify(name='sage')"),
    (critique_of_other_criteria, "critique", "scores", "give both the same criteria"),
    (critic_of_other_criteria, "critique", "scores", "did you mean 'Fluency'"),
    (condition_of_no_criterion, "critique", "scores", "did you mean 'Fluency'"),
    (condition_that_maps_no_criterion, "gate", "scores", "did you mean 'Fluency'"),
    (two_panels_of_one_name, "second", "scores", "jg.panel(..., name='panel-2')"),
    (each_without_criteria, "judge/run/ask", "criteria", "give it some"),
    (critique_of_ballots, "critique", "scores", "stage='final', of='panel'"),
    (critique_of_one_member, "critique", "scores", "stage='final', of='panel'"),
    (critique_of_what_it_writes_itself, "critique", "scores", "there are scores at stage 'draft'"),
    (rectify_of_what_it_writes_itself, "rectify", "scores", "there are scores at stage 'draft'"),
    (misspelt_stage_of_a_function, "judge", "scores", "did you mean 'final'"),
    (misspelt_stage_of_a_judge, "judge", "scores", "did you mean 'final'"),
    (stage_that_holds_no_answer, "judge", "scores", "stage='final'"),
    (score_looked_for_by_criterion, "evaluate", "scores", "criterion == 'Fluency'"),
    (score_got_by_criterion_in_a_condition, "gate", "scores", "criterion == 'Fluency'"),
    (state_taken_by_attribute, "sum", "scores", "state['scores']"),
    (condition_that_is_not_asked, "evaluate", "scores", "jg.low(below=4)(state)"),
    (condition_that_gives_a_misspelt_name, "critique", "scores", "did you mean 'Fluency'"),
    (gate_before_the_judge, "gate", "scores", "put it before 'gate'"),
    (name_of_a_set_for_criteria, "Evaluator", "criteria", "jg.criteria_set('summary').criteria"),
]
