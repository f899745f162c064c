"""Plain functions, LangChain tools, graphs and judges as assistants."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_type_hints

from judgegraph.errors import ConfigError, meant_of, one_line
from judgegraph.tools.catalogue import Assistant, Metric, Unmeasurable
from judgegraph.tools.graph_assistant import as_assistant
from judgegraph.tools.prose import parsed
from judgegraph.types import Finding, Json, Sample, text_of

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
    alone = wanted[0] if len(wanted) == 1 else None
    if alone and (alone.field == SAMPLE or (alone.name not in FIELDS and not _is_of_text(function, alone.name))):
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


def _is_of_text(function: Callable[..., Any], name: str) -> bool:
    """Whether an argument is annotated as a text, which no sample is: its name is a field's, or misspelt."""
    return getattr(function, "__annotations__", {}).get(name) in (str, "str")


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
            f"that name{meant_of(unknown[0], (*FIELDS, SAMPLE))}. Give it a default, or wrap it in a function"
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
