"""What the settings of a method may be: its builder's annotations say it, and are checked before anything is built."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, ParamSpec, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from pydantic import Field, TypeAdapter, ValidationError

from judgegraph.calls import Endpoint
from judgegraph.errors import ConfigError, one_line
from judgegraph.models.secrets import scrubbed

Samples = Annotated[int, Field(ge=1)]
UpToFifty = Annotated[int, Field(ge=1, le=50)]
UpToHundred = Annotated[int, Field(ge=1, le=100)]
Temperature = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]
OneToFive = Annotated[float, Field(ge=1, le=5)]

TOLD = ("name", "criteria", "assistants", "task", "temperature", "top_p", "samples", "predictions",
        "first_digit")  # fmt: skip
NAMES = {
    "integer": "a whole number", "number": "a number", "boolean": "true or false", "string": "text", "null": "none",
}  # fmt: skip
PLAIN = (bool, int, float, str, NoneType)
P = ParamSpec("P")
R = TypeVar("R")


def named(name: str, role: str) -> str:
    """An agent's name in a graph that was given a name: "a-evaluator"."""
    return f"{name}-{role}" if name else role


def checked(method: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """For a builder: refuse settings that its annotations do not allow, and record on the graph those that were set.

    Raises, from the builder:
        ConfigError: an unknown setting, or a wrong value; a line for each of them.
    """

    def around(builder: Callable[P, R]) -> Callable[P, R]:
        parameters = inspect.signature(builder)

        @functools.wraps(builder)
        def build(*args: P.args, **kwargs: P.kwargs) -> R:
            if unknown := sorted(set(kwargs) - set(parameters.parameters)):
                known = ", ".join(parameters.parameters)
                raise ConfigError(f"{method} has no setting {', '.join(unknown)}; known: {known}")
            given = parameters.bind(*args, **kwargs).arguments
            chosen = {k: v for k, v in given.items() if v is not parameters.parameters[k].default}
            if chosen and (wrong := faults(method, hints_of(builder), chosen)):  # hints are dear: they name chat models
                raise ConfigError("\n".join(wrong))
            graph: Any = builder(*args, **kwargs)
            told = getattr(graph, "told", {})  # what a builder read from a file, by a digest
            graph.method_settings = _telling(parameters, given) | told  # for a run's signature
            graph.method_nodes = frozenset(set(graph.nodes) - _brought(graph, given))
            return cast(R, graph)

        return build

    return around


def _brought(graph: Any, given: Mapping[str, Any]) -> set[str]:
    """Nodes whose agent was passed in: its settings are not the builder's, and it tells them itself."""
    agents = {id(value) for value in (*given.values(), *getattr(graph, "informed", ())) if callable(value)}
    runs = {name: spec.runnable for name, spec in graph.nodes.items()}
    return {n for n, run in runs.items() if agents & {id(getattr(run, k, None)) for k in ("func", "afunc")}}


def _telling(parameters: inspect.Signature, given: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that are not their defaults, without what a graph's agents tell themselves."""
    told = {}
    for name, value in given.items():
        if name in TOLD or name.endswith("judge") or value == parameters.parameters[name].default:
            continue
        if callable(value) or hasattr(value, "ainvoke"):  # an agent, or a graph
            value = getattr(value, "name", None) or getattr(value, "__name__", None) or type(value).__name__
        told[name] = value
    return told


def hints_of(function: Any) -> dict[str, Any]:
    """The annotations of a function's parameters; without those that cannot be resolved."""
    from langchain_core.language_models import BaseChatModel

    judge = str | Endpoint | BaseChatModel  # models.JudgeLike, whose name stands for a text there
    try:
        found = get_type_hints(function, localns={"JudgeLike": judge}, include_extras=True)
    except Exception:  # whatever stands in a user's annotations
        return {}
    return {name: hint for name, hint in found.items() if name != "return"}


def faults(method: str, hints: Mapping[str, Any], values: Mapping[str, Any]) -> list[str]:
    """A line for every value that its annotation refuses."""
    said = ((name, fault(hints[name], value)) for name, value in values.items() if name in hints)
    return [f"{method}: {name}: {why}" for name, why in said if why]


def fault(hint: Any, value: Any) -> str:
    """Why an annotation refuses a value, "" where it does not; only judges and plain values are looked at."""
    kinds = leaves(hint)
    if Endpoint in kinds:
        return "" if value is None and NoneType in kinds else _no_judge(value, kinds)
    if not is_plain(hint) or (isinstance(value, Endpoint) and str in kinds):
        return ""  # a judge with an address stands where its name may, as in a factory's `judge: str`
    try:
        TypeAdapter(hint).validate_python(value, strict=True)
    except ValidationError:
        return f"expected {expected(hint)}, got {one_line(repr(value), 80)}"
    return ""


def leaves(hint: Any) -> tuple[Any, ...]:
    """The members of a union, without what is annotated to them."""
    if get_origin(hint) is Annotated:
        return leaves(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        return tuple(leaf for member in get_args(hint) for leaf in leaves(member))
    return (hint,)


def is_plain(hint: Any) -> bool:
    """Numbers, texts, switches, listed values, and none."""
    return all(leaf in PLAIN or get_origin(leaf) is Literal for leaf in leaves(hint))


def expected(hint: Any) -> str:
    """What an annotation takes, in words: "a whole number from 1 to 50", "'one' or 'three'"."""
    schema = TypeAdapter(hint).json_schema()
    said = [word for option in schema.get("anyOf", [schema]) for word in _words(option)]
    if len(said) < 2:
        return said[0]
    return f"{', '.join(said[:-1])}{', or' if ',' in said[0] else ' or'} {said[-1]}"


def _words(schema: Mapping[str, Any]) -> list[str]:
    if "enum" in schema or "const" in schema:
        return [repr(value) for value in schema.get("enum", [schema.get("const")])]
    kind = str(schema.get("type", "something else"))
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        limits = f" from {low} to {high}"
    else:
        limits = f", {low} or more" if low is not None else f", {high} or less" if high is not None else ""
    return [NAMES.get(kind, kind) + limits]


def _no_judge(judge: Any, kinds: tuple[Any, ...]) -> str:
    if not isinstance(judge, kinds):
        return f"expected the name of a judge, an Endpoint or a LangChain chat model, got {type(judge).__name__}"
    model = judge.model if isinstance(judge, Endpoint) else judge
    if not isinstance(model, str) or model == "embedded":
        return ""
    provider, _, name = model.partition(":")
    if provider.strip() and name.strip():
        return ""
    return f"no judge '{one_line(scrubbed(model), 80)}'; write 'embedded', 'openai:MODEL' or 'PROVIDER:MODEL'"
