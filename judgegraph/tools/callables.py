"""Plain functions, LangChain tools, graphs and judges as assistants."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, get_type_hints

from langchain_core.messages import ToolMessage
from typing_extensions import TypedDict

from judgegraph.answers import answer_keys, several
from judgegraph.calls.budget import Budget, BudgetTracker, PartBudget, part_budget
from judgegraph.calls.context import context
from judgegraph.errors import ConfigError, one_line
from judgegraph.models.judges import Endpoint
from judgegraph.prompts.template import finding_text
from judgegraph.registry.lookup import factory
from judgegraph.tools.catalogue import About, Assistant, Metric, Unmeasurable, find
from judgegraph.tools.prose import parsed
from judgegraph.types import Criterion, Finding, Json, Sample, Score, Status, sample_of, text_of

if TYPE_CHECKING:
    from langchain_core.tools import StructuredTool


# Any graph as an assistant: a planner calls SAGEval or a metric alike.


_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]+")


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
        from judgegraph.trace.record import watched

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
    alone = graph.copy(update={"checkpointer": False})  # else it would write into that of the graph that asks
    own = name or _NOT_IN_NAMES.sub("-", graph.get_name())[:64]
    return GraphAssistant(graph=alone, name=own, about=about, criterion=criterion, budget=budget)


def _is_judge(thing: Any) -> bool:
    """A judge's name, an endpoint or a chat model."""
    if isinstance(thing, str):
        return thing == "embedded" or ":" in thing
    return isinstance(thing, Endpoint) or (hasattr(thing, "bind_tools") and not hasattr(thing, "builder"))


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


FIELDS = ("output", "source", "reference", "query", "rival")  # of a sample, that an argument may be named by
SAMPLE = "sample"
VALUES = ("score", "value")  # where a mapping that was given holds its value


def assistant_of(thing: Any) -> Assistant | None:
    """An assistant made of a function, a LangChain tool or a graph; None of anything else.

    A function is named as it is, and described by its docstring. Its arguments are fields of the sample by their names
    (`output`, `source`, `reference`, `query`, `rival`), as text unless they are annotated with `dict` or `list`; a
    single argument of another name is the sample. One that has a default is left out where the sample lacks it.

    Raises:
        ConfigError: no name, no docstring, or an argument that is no field of a sample.
    """
    if inspect.isroutine(thing):
        return of_function(thing)
    if hasattr(thing, "args_schema") and hasattr(thing, "ainvoke"):
        return of_tool(thing)
    if hasattr(thing, "compile") or (hasattr(thing, "ainvoke") and hasattr(thing, "builder")):
        graph = thing if hasattr(thing, "ainvoke") else thing.compile()
        about = f"The answer of the graph {one_line(graph.get_name(), 60)}, in the units of its own scale; high is good"
        return as_assistant(graph, about=about)
    return None


def of_function(function: Callable[..., Any], name: str = "", about: str = "") -> Metric:
    """A function as an assistant, under another name and description where they are given."""
    name = name or getattr(function, "__name__", "")
    about = about or inspect.getdoc(function) or ""
    if name == "<lambda>":
        raise ConfigError("a lambda has no name that a plan could call it by: write a function with a docstring")
    if not about:
        raise ConfigError(
            f"assistant '{one_line(name, 80)}': its docstring is what a planner is told: say what it measures, on what "
            "range, and what a high value means"
        )
    return Metric(name=name, about=about, measure=measured_by(function, name))


Measure = Callable[[Sample], Any]


def measured_by(function: Callable[..., Any], name: str) -> Measure:
    """The function as one of a sample: as it is where its only argument is the sample, else filled by field."""
    wanted = _arguments(function)
    if len(wanted) == 1 and (wanted[0].field == SAMPLE or wanted[0].name not in FIELDS):
        return function
    _refuse_unknown(name, wanted)

    def measure(sample: Sample) -> Any:
        return _as_value(function(**_filled(wanted, sample)), name)

    async def measure_async(sample: Sample) -> Any:
        return _as_value(await function(**_filled(wanted, sample)), name)

    return measure_async if inspect.iscoroutinefunction(function) else measure


@dataclass(frozen=True)
class Argument:
    """One that is filled from a sample: its name, "text" or "json" or "sample", and whether it must be there."""

    name: str
    field: str
    required: bool


def _arguments(function: Callable[..., Any]) -> list[Argument]:
    try:
        hints = get_type_hints(function)
    except Exception:  # whatever stands in a user's annotations
        hints = {}
    found = inspect.signature(function).parameters.values()
    named = [p for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    listed = [Argument(p.name, _kind(p.name, hints.get(p.name)), p.default is p.empty) for p in named]
    return [one for one in listed if one.required or one.name in (*FIELDS, SAMPLE)]


def _kind(name: str, hint: Any) -> str:
    if hint is Sample or name == SAMPLE:
        return SAMPLE
    wanted = str(getattr(hint, "__origin__", hint))
    return "json" if any(word in wanted for word in ("dict", "list", "Mapping", "Sequence")) else "text"


def _refuse_unknown(name: str, wanted: Sequence[Argument]) -> None:
    """An argument that no sample can fill."""
    if unknown := [one.name for one in wanted if one.field != SAMPLE and one.name not in FIELDS]:
        raise ConfigError(
            f"assistant '{one_line(name, 80)}': no sample has a field '{one_line(unknown[0], 60)}' for its argument of "
            f"that name; known: {', '.join(FIELDS)}, sample. Give it a default, or wrap it in a function"
        )
    if not wanted:
        raise ConfigError(f"assistant '{one_line(name, 80)}': it takes nothing of a sample; name an argument 'output'")


def _filled(wanted: Sequence[Argument], sample: Sample) -> dict[str, Any]:
    """The arguments of one sample.

    Raises:
        Unmeasurable: it lacks one that is needed.
    """
    given: dict[str, Any] = {}
    for one in wanted:
        if one.field == SAMPLE:
            given[one.name] = sample
            continue
        value: Json | None = getattr(sample, one.name)
        if value is None or not text_of(value).strip():
            if one.required:
                raise Unmeasurable(f"the sample has no {one.name}")
            continue
        given[one.name] = text_of(value) if one.field == "text" else _json(value, one.name)
    return given


def _json(value: Json, name: str) -> Json:
    held = parsed(value)
    if held is None:
        raise Unmeasurable(f"the {name} is no JSON")
    return held


def _as_value(given: Any, name: str) -> Any:
    """A number or a finding as it is; of a mapping its score, with its reason."""
    if not isinstance(given, Mapping):
        return given
    value = next((given[key] for key in VALUES if key in given), None)
    if not isinstance(value, int | float | str):
        return given
    value = value if isinstance(value, str) else float(value)
    return Finding(assistant=name, value=value, reason=one_line(given.get("reason", ""), 500))


def of_tool(tool: Any) -> Metric:
    """A LangChain tool as an assistant: its arguments are filled as those of a function, what it says is read.

    A number is its value, also one written as text or under "score" or "value" in a mapping (or its JSON); any other
    text is a finding in words. A tool that handles its own error says so with the status "error", and is no value.

    Raises:
        ConfigError: no description, or an argument without a default that is no field of a sample.
    """
    name, about = str(tool.name), str(tool.description or "")
    if not about.strip():
        raise ConfigError(f"assistant '{one_line(name, 80)}': the tool has no description, all that a planner is told")
    wanted = _of_schema(tool)
    _refuse_unknown(name, wanted)

    async def measure(sample: Sample) -> Any:
        call = {"type": "tool_call", "name": name, "id": name, "args": _filled(wanted, sample)}
        return _spoken(await tool.ainvoke(call), name)

    return Metric(name=name, about=about, measure=measure)


def _of_schema(tool: Any) -> list[Argument]:
    fields = tool.get_input_schema().model_fields
    listed = [Argument(key, _kind(key, field.annotation), field.is_required()) for key, field in fields.items()]
    return [one for one in listed if one.required or one.name in (*FIELDS, SAMPLE)]


def _spoken(message: Any, name: str) -> Any:
    """What a tool's message says."""
    content, artifact = getattr(message, "content", message), getattr(message, "artifact", None)
    if getattr(message, "status", "success") == "error":
        return Finding(assistant=name, status="agent_error", reason=one_line(content, 500))
    if isinstance(artifact, int | float | Finding) and not isinstance(artifact, bool):
        return artifact
    text = content if isinstance(content, str) else text_of(content)
    held = parsed(text)
    if isinstance(held, Mapping):
        return _as_value(held, name)
    try:
        return float(text)
    except ValueError:
        return Finding(assistant=name, value=text.strip()[:500])


# Assistants as LangChain tools, and the node that answers the tool calls of a consulting model.


# An assistant as a LangChain tool that a model can call without copying the sample's text.


DESCRIPTION_CHARS = 1024  # characters of a tool's description: OpenAI takes no more


def as_tool(assistant: Assistant) -> StructuredTool:
    """The assistant as a tool without arguments for the model; for any LangGraph `ToolNode`.

    The sample comes from the state's key "sample" (`InjectedState`); called by hand, it is given as `{"sample": ...}`.
    It is awaited (`ainvoke`). Its message says the value or why it is absent, and carries the Finding as its artifact;
    it does not raise.
    """
    from langchain_core.tools import StructuredTool
    from langgraph.prebuilt import InjectedState
    from pydantic import create_model

    async def ask(sample: Sample) -> tuple[str, Finding]:
        finding = await find(assistant, sample)
        return spoken(finding), finding

    injected: Any = Annotated[Sample, InjectedState("sample")]
    return StructuredTool.from_function(
        coroutine=ask,
        name=assistant.name,
        description=_cut(str(assistant.about)),
        args_schema=create_model(assistant.name, sample=(injected, ...)),
        response_format="content_and_artifact",
    )


def _cut(about: str) -> str:
    return about if len(about) <= DESCRIPTION_CHARS else about[: DESCRIPTION_CHARS - 1] + "…"


def as_dict(assistant: Assistant) -> dict[str, Any]:
    """The tool in OpenAI's shape, as a model is offered it."""
    from langchain_core.utils.function_calling import convert_to_openai_tool

    return convert_to_openai_tool(as_tool(assistant))


def spoken(finding: Finding) -> str:
    """What a model is told: "rouge-l: 0.35", or "nli: absent (why)"."""
    return finding_text(finding).removeprefix("- ")


# Answer the tool calls of a consulting model: each assistant once, mistakes handed back as text.


class Called(TypedDict):  # what it reads
    sample: Sample
    calls: list[dict[str, Any]]  # {"name", "id"}, as the model asked
    messages: list[Any]
    findings: NotRequired[dict[str, Finding]]


class Answered(TypedDict):  # what it writes
    findings: dict[str, Finding]
    messages: list[Any]  # those it read, with an answer to every call behind them


@dataclass(frozen=True, kw_only=True)
class ToolCalls:
    """Runs the assistants that were called. Assistants take no arguments, so equal calls have one answer."""

    assistants: Sequence[Assistant]
    name: str = "tool-calls"

    async def __call__(self, state: Called) -> Answered:
        known, findings = {a.name: a for a in self.assistants}, state.get("findings") or {}
        new = dict.fromkeys(c["name"] for c in state["calls"] if c["name"] in known and c["name"] not in findings)
        asked = [_asked(known[name], sample_of(state)) for name in new]
        found = {finding.assistant: finding for finding in await asyncio.gather(*asked)}
        answers = [self._answer(call, {**findings, **found}) for call in state["calls"]]
        return {"findings": found, "messages": [*state["messages"], *answers]}

    def _answer(self, call: dict[str, Any], findings: dict[str, Finding]) -> ToolMessage:
        name, finding = call["name"], findings.get(call["name"])
        if finding is None:
            known = ", ".join(a.name for a in self.assistants)
            text = f"no assistant '{one_line(name, 80)}'; there are: {known}"
            return ToolMessage(text, tool_call_id=call["id"], status="error")
        status: Any = "success" if finding.status == "ok" else "error"
        return ToolMessage(spoken(finding), tool_call_id=call["id"], name=name, status=status)


async def _asked(assistant: Assistant, sample: Sample) -> Finding:
    """By way of the tool, so that callbacks and tracers see the call."""
    call = {"type": "tool_call", "name": assistant.name, "id": assistant.name, "args": {"sample": sample}}
    message = await as_tool(assistant).ainvoke(call)
    finding: Finding = message.artifact
    return finding
