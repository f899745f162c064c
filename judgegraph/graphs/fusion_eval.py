"""Fusion-Eval: a plan says how to use assistant evaluators, they are consulted, a judge fuses what they said.

    START -> plan -> consult -> judge -> END

The plan sees no sample. By default `consult` is a graph of its own, in which a model calls assistants as tools:
`judgegraph/graphs/fusion_eval.py`. With `consult="all"` what the plan names is called, without a model, which is the
paper's way. With `plan=False` there is no `plan`: START goes to consult.

With `fuse` "average", "selected" or "weighted", the paper's baselines, `judge` is `blend`: plain code, no model. Only
"selected" makes a plan. A direct score is one more voice, asked for beside the assistants:

    START -> plan -> consult -> blend -> END
    START -> direct -> blend

Source: Shu et al. 2023, arXiv:2311.09204, figure 1, tables 2 and 3.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Annotated, Any, Literal, TypeAlias

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from typing_extensions import TypedDict

from judgegraph.agents.fusion import Blend, FusionJudge
from judgegraph.agents.planner import Consultant, Planner, ToolCall, named_by, wanted
from judgegraph.agents.scorer import Scorer
from judgegraph.calls import JudgeLike, Reader
from judgegraph.compiled import declare
from judgegraph.errors import ConfigError
from judgegraph.graphs.fusion_baselines import Direct, Fuse, Ranges, Weights, blend, direct_scorer, known_ranges
from judgegraph.graphs.settings import OwnPrompts, Temperature, Templates, UpToFifty, checked, named
from judgegraph.prompts.criteria import CriteriaLike, CriteriaSet, criteria_set
from judgegraph.tools import catalogue
from judgegraph.tools.catalogue import DEFAULTS, FORM_DEFAULTS, About, Assistant, AssistantLike, Panel
from judgegraph.tools.langchain import ToolCalls, as_dict
from judgegraph.types import Asked, Criterion, EvalState, Finding, Notes, Plan, Sample, Scores, latest, merged

# Fusion-Eval's consultation: a model calls assistants as tools, in bounded rounds.
#
#     START -> ask -> call -> ask
#              ask -> END
#              ask -> call_all -> END
#                     call -> call_all
#                     call -> END
#
# `ask` goes on where the plan was written: its author calls assistants, several at once. `call` ends it when all that
# the plan names has been asked (without a plan: all), `call_all` calls what of that is left where the model cannot be
# asked, stops before, or has had its rounds. It is ours: the paper hands the judge all scores.


class Question(TypedDict, total=False):  # what consult is given
    sample: Sample
    criteria: list[Criterion]
    plan: Plan
    findings: Annotated[dict[str, Finding], merged]


class Answer(TypedDict, total=False):  # what it gives back
    findings: Annotated[dict[str, Finding], merged]
    notes: Annotated[Notes, merged]


class Consultation(Question, total=False):
    notes: Annotated[Notes, merged]
    messages: list[Any]  # of this sample's conversation; it stays in here
    calls: list[ToolCall] | None
    rounds: int


def consultation(
    judge: JudgeLike,
    offered: Sequence[Assistant],
    chosen: CriteriaSet,
    rounds: int = 4,
    name: str = "",
    own: Mapping[str, Any] | None = None,
) -> StateGraph[Consultation, None, Question, Answer]:
    """The loop in which a model calls assistants as tools, for any graph with a sample in its state.

    Args:
        own: further settings of the consultant, such as a template of the user's own.
    """
    names = [a.name for a in offered]
    tools = [as_dict(a) for a in offered]

    def after_ask(state: Consultation) -> str:
        calls = state.get("calls")
        return "call_all" if calls is None else "call" if calls else END

    def after_call(state: Consultation) -> str:
        asked, plan = set(state.get("findings") or {}), state.get("plan")
        if not wanted(plan, names) - asked:
            return END
        if state.get("rounds", 0) < rounds:
            return "ask"
        return "call_all" if named_by(plan, names) - asked else END

    loop = StateGraph(Consultation, input_schema=Question, output_schema=Answer)
    asks = Consultant(
        judge=judge, tools=tools, criteria=chosen.criteria, task=chosen.task, rounds=rounds,
        assistants={a.name: str(a.about) for a in offered}, name=named(name, "consultant"),
        **(own or {}),
    )  # fmt: skip
    loop.add_node("ask", asks)
    loop.add_node("call", ToolCalls(assistants=offered, name=named(name, "tool-calls")))
    loop.add_node("call_all", Panel(assistants=offered, name=named(name, "panel")))
    loop.add_edge(START, "ask")
    loop.add_conditional_edges("ask", after_ask, ["call", "call_all", END])
    loop.add_conditional_edges("call", after_call, ["ask", "call_all", END])
    loop.add_edge("call_all", END)
    return loop


class Result(TypedDict, total=False):
    """What the graph writes, and no more: so two methods can stand side by side in one graph."""

    scores: Annotated[Scores, merged]  # from judge, or from blend and direct
    overall: Annotated[float | None, latest]
    plan: Annotated[Plan, latest]
    findings: Annotated[dict[str, Finding], merged]  # from consult
    notes: Annotated[Notes, merged]


class Planned(Asked, total=False):  # what is read where no plan is made
    plan: Plan


Builder: TypeAlias = StateGraph[EvalState, None, Asked, Result]
Compiled: TypeAlias = CompiledStateGraph[EvalState, None, Asked, Result]


@checked("fusion-eval")
def builder(
    judge: JudgeLike = "embedded", *, criteria: CriteriaLike = "summary",
    assistants: AssistantLike | Sequence[AssistantLike] = DEFAULTS, plan: bool = True,
    consult: Literal["tools", "all"] | None = None, rounds: UpToFifty = 4,
    planner_judge: JudgeLike | None = None, predictions: UpToFifty = 8, temperature: Temperature = 1.0,
    fuse: Fuse = "judge", direct: Direct | None = None, ranges: Ranges | None = None,
    weights: Weights | str | os.PathLike[str] | None = None, prompts: OwnPrompts | None = None, name: str = "",
) -> Builder:  # fmt: skip
    """Fusion-Eval as a graph to go on building with.

    Args:
        judge: of all agents; planner_judge: of planner and consultant, where not None.
        criteria: name of a set, a file, or criteria; an overall one is added where there is none.
        assistants: names or objects, one or more (`judgegraph.tools.ASSISTANTS`). The default ones are eight surface
            metrics, of which three need no source; of the criteria "forms" those that read a form's structure.
        plan: False leaves the plan out (the paper's NoPlan); a plan handed in with the sample is used then.
        consult: "tools": a model calls the assistants, in at most `rounds` rounds (1 to 50); "all": exactly those
            that the plan names are called, or all without a plan. None: "tools" with a plan, "all" without.
        predictions: replies whose mean is a score, 1 to 50; the paper has eight.
        temperature: of these replies; the paper does not say.
        fuse: "judge" is the method. Baselines, without a model: the "average" of the assistants' values (the paper's
            AVG), of those "selected" by the plan for a criterion (LLMSel), or "weighted" by agreement with people
            (CorrW). They ask every assistant, of "selected" those that the plan names. Where `assistants` is not
            given, they take those of the default ones whose worst and best value are known.
        direct: with a baseline, a direct score of each criterion that joins its mean: "llm-score" asks once, "g-eval"
            reads probabilities or takes 20 samples.
        ranges: with a baseline, assistant -> [worst, best value], where it does not say so itself.
        weights: of "weighted": criterion -> assistant, or `direct`'s own name -> 0 or more; or a file of such. A
            criterion with {} is skipped. Fitted on the same items they flatter: see `judgegraph.meta.aggregate`.
        prompts: templates of your own in the place of the method's: {"fusion_judge": "mine.md"}, by the names that
            `judgegraph prompts fusion-eval` prints.
        name: put before the agents' names, for two of these in one graph: "a-planner", "a-fusion-judge".

    Raises:
        ConfigError: an unknown assistant, none at all, or a setting has none of its values; with a baseline, an
            assistant without a range, or weights that are missing.
        CriteriaError: no such criteria.
    """
    chosen = criteria_set(criteria)
    given = FORM_DEFAULTS if assistants is DEFAULTS and chosen.name == "forms" else assistants
    offered = catalogue.assistants(given)
    _refuse(fuse, consult, {"direct": direct, "ranges": ranges, "weights": weights})
    if fuse != "judge" and assistants is DEFAULTS:
        offered = known_ranges(offered, ranges)
    told: dict[str, Any] = {"assistants": {a.name: str(a.about) for a in offered}}
    told |= {"criteria": chosen.criteria, "task": chosen.task}
    templates = Templates("fusion-eval", prompts)
    last: FusionJudge | Blend
    if fuse == "judge":
        reader = Reader("mean", samples=predictions, temperature=temperature)
        briefly = {a.name: a.about.brief if plan and isinstance(a.about, About) else str(a.about) for a in offered}
        last = FusionJudge(
            judge=judge, reader=reader, name=named(name, "fusion-judge"), **told | {"assistants": briefly},
            **templates.of("fusion_judge"),
        )  # fmt: skip
    else:
        last = blend(fuse, offered, chosen, ranges=ranges, weights=weights, direct=direct, name=name)
    planner, planning = None, {}
    if plan and fuse in ("judge", "selected"):
        planning = templates.of("fusion_plan", "plan")
        planner = Planner(judge=planner_judge or judge, name=named(name, "planner"), **told, **planning)
    if consult == "all" or fuse != "judge" or (consult is None and not plan):
        asks: Any = Panel(assistants=offered, name=named(name, "panel"))
    else:
        own = templates.of("fusion_consult", "consult", "ask")
        own |= {"plan_prompt": planning["prompt"]} if planning else {}
        asks = consultation(planner_judge or judge, offered, chosen, rounds, name, own).compile()
    side = direct_scorer(direct, judge, chosen, name, templates) if direct else None
    templates.refuse_unused()
    return _wired(planner, asks, last, side)


def _refuse(fuse: Fuse, consult: str | None, given: dict[str, Any]) -> None:
    """Settings that have nothing to say beside another."""
    if fuse != "judge" and consult == "tools":
        raise ConfigError("fusion-eval: consult='tools' is the judge's: a baseline asks all, or those of the plan")
    wrong = [name for name, value in given.items() if value is not None and fuse == "judge"]
    wrong += ["weights"] if fuse not in ("judge", "weighted") and given["weights"] is not None else []
    if wrong:
        wanted = "'weighted'" if wrong[0] == "weights" else "'average', 'selected' or 'weighted'"
        raise ConfigError(f"fusion-eval: {wrong[0]} goes with fuse={wanted}, not with '{fuse}'")


def _wired(planner: Planner | None, asks: Any, last: FusionJudge | Blend, side: Scorer | None) -> Builder:
    """The figures; an average does not read a plan that is handed in with the sample."""
    averages = isinstance(last, Blend) and last.rule != "selected"
    reads_plan = planner is None and not averages
    graph = StateGraph(EvalState, input_schema=Planned if reads_plan else Asked, output_schema=Result)
    if planner is not None:
        graph.add_node("plan", planner)
        graph.add_edge(START, "plan")
    graph.add_node("consult", asks)
    graph.add_edge(START if planner is None else "plan", "consult")
    end = "blend" if isinstance(last, Blend) else "judge"
    graph.add_node(end, last)
    if isinstance(last, Blend) and last.weights:  # a file of them may change under its name
        text = json.dumps(last.weights, sort_keys=True).encode()
        declare(graph, settings={"weights": blake2b(text, digest_size=4).hexdigest()})
    graph.add_edge(end, END)
    if side is None:
        graph.add_edge("consult", end)
        return graph
    graph.add_node("direct", side)
    graph.add_edge(START, "direct")
    graph.add_edge(["consult", "direct"], end)  # waits for both
    return graph


def fusion_eval(judge: JudgeLike = "embedded", **settings: Any) -> Compiled:
    """Fusion-Eval, compiled; settings as `builder` takes them."""
    return builder(judge, **settings).compile(name="fusion-eval")
