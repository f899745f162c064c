"""SAGEval: an evaluator scores every criterion, a critic reviews the scores and the criteria.

    START -> evaluate -> critique -> rectify -> END

With `each=True` one evaluator call per criterion, side by side: START sends each criterion to evaluate, which
the critic awaits.

Source: Ghosh et al. 2024, arXiv:2411.16077, section 4.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Send
from typing_extensions import TypedDict

from judgegraph.agents.evaluator import Case, Evaluator
from judgegraph.agents.sage import PROMPTS as DUTIES
from judgegraph.agents.sage import Rectify, Sage
from judgegraph.agents.under_review import Critic
from judgegraph.calls import JudgeLike, Reader
from judgegraph.compiled import declare
from judgegraph.compose.conditions import never_empty
from judgegraph.graphs.settings import OwnPrompts, Samples, Templates, checked, critic_of, named
from judgegraph.prompts.criteria import CriteriaLike, criteria_set
from judgegraph.types import (
    Asked,
    EvalState,
    Notes,
    Rectification,
    Scores,
    Suggestion,
    given_criteria,
    joined,
    merged,
    sample_of,
)

TEMPLATES = {  # critic by name -> what it asks by
    "self-reflection": "self_reflection", "devils-advocate": "devils_advocate", "critic-panel": "panel_critique",
}  # fmt: skip


class Result(TypedDict, total=False):
    """What the graph writes, and no more: so two methods can stand side by side in one graph."""

    scores: Annotated[Scores, merged]  # from evaluate (drafts) and rectify (finals)
    rectifications: Annotated[dict[str, Rectification], merged]  # from critique
    suggestions: Annotated[list[Suggestion], joined]  # from critique
    notes: Annotated[Notes, merged]


Builder: TypeAlias = StateGraph[EvalState, None, Asked, Result]
Compiled: TypeAlias = CompiledStateGraph[EvalState, None, Asked, Result]


@checked("sageval")
def builder(
    judge: JudgeLike = "embedded", *, criteria: CriteriaLike = "forms",
    critic: str | Critic | None = None, critic_judge: JudgeLike | None = None, each: bool = False,
    critic_calls: Literal["one", "three"] = "one", cot: bool = False, samples: Samples = 5,
    prompts: OwnPrompts | None = None, name: str = "",
) -> Builder:  # fmt: skip
    """SAGEval as a graph to go on building with.

    Args:
        judge: of the evaluator, and of the critic where `critic_judge` is None.
        criteria: name of a set, a file, or criteria.
        critic: a critic's name (`judgegraph agents`), or any agent that reads scores and writes rectifications; None is
            SAGE. One given by name gets the judge, the criteria and what else it takes of the settings here, and an
            agent the criteria where it has none. The final scores have the critic's name.
        each: one evaluator call per criterion instead of one for all.
        critic_calls: "one" asks the critic for its three lists at once, "three" gives each duty its own call.
        cot: evaluator and SAGE think step by step before each reason; a critic by name does where it can be told to.
        samples: replies per agent where a judge gives no log-probabilities; 1 takes the stated number.
        prompts: templates of your own in the place of the method's: {"evaluate": "mine.md"}, by the names that
            `judgegraph prompts sageval` prints.
        name: put before the agents' names, for two of these in one graph: "a-evaluator", "a-sage"; an agent that is
            given as `critic` keeps its own.

    Raises:
        ConfigError: a setting has none of its values, or no critic has that name. CriteriaError: no such criteria.
    """
    rubric = criteria_set(criteria)
    common: dict[str, Any] = {"criteria": rubric.criteria, "task": rubric.task}
    common["reader"] = Reader("weighted", samples=samples)

    graph = StateGraph(EvalState, input_schema=Asked, output_schema=Result)
    templates = Templates("sageval", prompts)
    template: dict[str, Any] = {"prompt": "evaluate_each" if each else "evaluate"}
    template |= templates.of("evaluate", "evaluate_each", "evaluate_cot", "evaluate_each_cot")
    graph.add_node("evaluate", Evaluator(judge=judge, cot=cot, name=named(name, "evaluator"), **template, **common))
    its_own: dict[str, Any] = {"judge": critic_judge} if critic_judge is not None else {}
    if critic_calls != "one":
        its_own["calls"] = critic_calls
    its_own |= _critic_templates(templates, critic, critic_calls)
    templates.refuse_unused()
    reviewer: Any = Sage(**{"judge": judge, "cot": cot, **common, **its_own, "name": named(name, "sage")})
    critic_name = reviewer.name
    if critic is not None:
        offered = {"judge": judge, "cot": cot, "stage": "draft", **common}
        reviewer, critic_name = critic_of("sageval", critic, name, its_own, **offered)
    graph.add_node("critique", reviewer, defer=each)
    if callable(critic):  # an agent; a graph shows its own nodes
        declare(graph, given_nodes=frozenset({"critique"}))
    graph.add_node("rectify", Rectify(name=critic_name))
    if each:

        @never_empty  # a set has one criterion at least
        def each_criterion(state: EvalState) -> list[Send]:
            asked = given_criteria(state) or rubric.criteria
            return [Send("evaluate", Case(sample=sample_of(state), criteria=[c])) for c in asked]

        graph.add_conditional_edges(START, each_criterion, ["evaluate"])
    else:
        graph.add_edge(START, "evaluate")
    graph.add_edge("evaluate", "critique")
    graph.add_edge("critique", "rectify")
    graph.add_edge("rectify", END)
    return graph


def _critic_templates(templates: Templates, critic: str | Critic | None, calls: str) -> dict[str, Any]:
    """Templates of the user's own that the critic asks by, as settings of the critic."""
    if critic is not None and not isinstance(critic, str):
        return {}
    called = critic.rpartition(":")[2] if critic else "sage"
    if called != "sage" or calls == "one":
        return templates.of(TEMPLATES.get(called, "critique"), "critique", "critique_cot")
    duties = {duty: templates.of(template, f"{template}_cot") for duty, template in DUTIES.items()}
    own = tuple((duty, found["prompt"]) for duty, found in duties.items() if found)
    return {"duty_prompts": own} if own else {}


def sageval(judge: JudgeLike = "embedded", **settings: Any) -> Compiled:
    """SAGEval, compiled; settings as `builder` takes them."""
    return builder(judge, **settings).compile(name="sageval")
