"""Any graph as an assistant: a planner calls SAGEval or a metric alike."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from statistics import fmean
from typing import Any

from judgegraph.answers import answer_keys, several
from judgegraph.calls.budget import Budget, BudgetTracker, PartBudget, part_budget
from judgegraph.calls.context import context
from judgegraph.compiled import agents_of
from judgegraph.errors import ConfigError, one_line, settings_checked
from judgegraph.models.judges import Endpoint
from judgegraph.registry.lookup import factory
from judgegraph.tools.catalogue import About
from judgegraph.types import Criterion, Finding, Sample, Score, Status

ALIKE = 0.75  # how alike two names are of which one may be meant, of 1
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]+")


@settings_checked
@dataclass(frozen=True, kw_only=True)
class GraphAssistant:
    """Judges a sample by a graph; its answer is one value.

    The value is that of `criterion` where one is named, else the graph's `overall`, else its verdict, else the mean of
    its answers (`judgegraph.answers`), in the units of their scale; a label is given as it is. What the graph wrote
    goes no further: only the value and the scores it is made of are told.

    Attributes:
        graph: compiled, reads "sample". name: as models call it. about: what a planner is told of it.
        criterion: whose final score is the value. budget: for one sample; what goes over it is not asked, and a
            finding without any value has the status "over_budget". It counts what the graph asks: a reply that lies
            in the ledger, or that a neighbour pays for, like any other, so that it does not matter who was first. Where
            it caps tokens or USD, its calls are made one after the other. It holds without a run too, in a plan, and
            beside the run's own and that of an assistant around this one.
    """

    graph: Any
    name: str
    about: About | str
    criterion: str | None = None
    budget: Budget | None = None

    async def __call__(self, sample: Sample, /) -> Finding:
        from judgegraph.trace.watched import watched

        around = part_budget.get()
        before = part_budget.set(PartBudget(_tracker(self.budget), around) if self.budget else around)
        try:
            state = await watched(self.graph).ainvoke({"sample": sample})
        finally:
            part_budget.reset(before)
        return self._finding(state)

    def _finding(self, state: Mapping[str, Any]) -> Finding:
        scores = state.get("scores") or {}
        answers = answer_keys(scores.values())
        finals = [s for s in scores.values() if s.key in answers and s.of == "output"]
        if self.criterion is not None:
            finals = [s for s in finals if s.criterion == self.criterion]
        values = [s.value for s in finals if s.value is not None]
        labels = [s.label for s in finals if s.label is not None]
        if self.criterion is None and state.get("overall") is not None:
            return self._scored(float(state["overall"]), finals)
        if self.criterion is None and state.get("verdict") is not None:
            return self._scored(str(state["verdict"]), finals)
        if agents := several(finals):
            why = f"{len(agents)} of its agents answer side by side ({', '.join(agents)}): join them, as jg.panel does"
            return Finding(assistant=self.name, status="skipped", reason=one_line(why))
        if values and len({s.scale for s in finals if s.value is not None}) == 1:
            return self._scored(values[-1] if self.criterion else fmean(values), finals)
        if labels and not values:
            return self._scored(labels[-1] if len(labels) == 1 else ", ".join(labels), finals)
        return self._without(finals)

    def _scored(self, value: float | str, finals: Sequence[Score]) -> Finding:
        reason = ", ".join(f"{s.criterion} {_shown(s)}" for s in finals[:12])
        return Finding(assistant=self.name, value=value, reason=one_line(reason, 500))

    def _without(self, finals: Sequence[Score]) -> Finding:
        failed: list[Status] = [s.status for s in finals if s.status != "ok"]
        status: Status = Counter(failed).most_common(1)[0][0] if failed else "skipped"
        if any(s.value is not None for s in finals):
            why = "its scores have several scales, which have no mean; name one criterion"
        elif failed:
            why = next(s.reason for s in finals if s.status == status)
        else:
            why = f"it gave no final score{f' of {self.criterion}' if self.criterion else ''}"
        return Finding(assistant=self.name, status=status, reason=one_line(why))


@settings_checked
def as_assistant(
    graph: Any, *, about: About | str, name: str | None = None, criterion: str | None = None,
    budget: Budget | None = None,
) -> GraphAssistant:  # fmt: skip
    """A graph as an assistant for `fusion_eval(assistants=[...])`, `jg.metric_node` or any tool-calling model.

    Args:
        graph: a compiled LangGraph, or a StateGraph, that reads "sample"; or a judge ("openai:gpt-4.1-mini", an
            `Endpoint`, a chat model), asked for one score of 1 to 5 by `about`.
        about: what it measures, on what range, what a high value means: the planner knows no more of it.
        name: 1 to 64 letters, digits, "_" or "-"; None is the graph's own.
        criterion: whose final score is the value; None: the graph's overall, its verdict, or the mean.
        budget: for one sample. It counts each call that the graph asks for, also one that the ledger answers or that
            somebody else pays for (such a call takes nothing from the run's own budget): what is over it does not hang
            on who was first. With a cap in tokens or USD calls are made one after the other. See `GraphAssistant`.

    Raises:
        ConfigError: no graph, nothing told about it, or no budget where one was given.
    """
    if _is_judge(graph):
        graph, name = _judged_by(graph, str(about), criterion), name or "judge"
    if hasattr(graph, "compile") and not hasattr(graph, "ainvoke"):
        graph = graph.compile()
    if not hasattr(graph, "ainvoke") or not hasattr(graph, "copy"):
        raise ConfigError(f"as_assistant: expected a compiled LangGraph or a StateGraph, got {type(graph).__name__}")
    if not str(about).strip():
        raise ConfigError("as_assistant: about: say what it measures, on what range, and what a high value means")
    if budget is not None and not isinstance(budget, Budget):
        raise ConfigError(f"as_assistant: budget: expected a judgegraph.Budget, got {type(budget).__name__}")
    _refuse_misspelt(graph, criterion)
    alone = graph.copy(update={"checkpointer": False})  # else it would write into that of the graph that asks
    own = name or _NOT_IN_NAMES.sub("-", graph.get_name())[:64]
    return GraphAssistant(graph=alone, name=own, about=about, criterion=criterion, budget=budget)


def _is_judge(thing: Any) -> bool:
    """A judge's name, an endpoint or a chat model."""
    if isinstance(thing, str):
        return thing == "embedded" or ":" in thing
    return isinstance(thing, Endpoint) or (hasattr(thing, "bind_tools") and not hasattr(thing, "builder"))


def _refuse_misspelt(graph: Any, criterion: str | None) -> None:
    """A criterion that is none of the graph's and is nearly spelt as one; a node of one's own may judge by another."""
    held = (getattr(agent, "criteria", None) for _, agent in agents_of(graph))
    known = {one.name for listed in held if isinstance(listed, list | tuple) for one in listed if hasattr(one, "name")}
    if criterion not in (None, *known) and (near := get_close_matches(str(criterion), known, 1, ALIKE)):
        told = f"no '{one_line(criterion, 60)}' in the graph: did you mean '{one_line(near[0], 60)}'?"
        raise ConfigError(f"as_assistant: criterion: {told}")


def _judged_by(judge: Any, about: str, criterion: str | None) -> Any:
    """LLM-Score with one criterion, whose definition is what is said of the assistant."""
    asked = Criterion(name=criterion or "Quality", definition=about)
    return factory("llm-score")(judge, criteria=[asked])


def _tracker(budget: Budget) -> BudgetTracker:
    run = context.get()
    return BudgetTracker(budget, prices=run.purse.prices) if run else BudgetTracker(budget)


def _shown(score: Score) -> str:
    answer = score.answer
    return score.status if answer is None else f"{answer:.4g}" if isinstance(answer, float) else answer
