"""What the settings of a method may be: its builder's annotations say it, and are checked before anything is built."""

from __future__ import annotations

import functools
import inspect
import json
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from types import NoneType
from typing import (
    Annotated,
    Any,
    ParamSpec,
    TypeAlias,
    TypeVar,
    cast,
    get_origin,
    get_type_hints,
)

from langgraph.graph import StateGraph
from pydantic import Field, TypeAdapter, ValidationError

from judgegraph import registry
from judgegraph.agents.under_review import informed
from judgegraph.calls import Endpoint
from judgegraph.errors import ConfigError, PromptError, expected, is_plain, leaves, meant_of, one_line, scrubbed
from judgegraph.prompts.template import JUDGED, MAY_HAVE, load

Samples = Annotated[int, Field(ge=1)]
UpToFifty = Annotated[int, Field(ge=1, le=50)]
UpToHundred = Annotated[int, Field(ge=1, le=100)]
Temperature = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]
OneToFive = Annotated[float, Field(ge=1, le=5)]

FROM_AGENTS = (  # a signature takes these from the agents
    "name", "criteria", "assistants", "task", "temperature", "top_p", "samples", "predictions", "first_digit",
    "prompts",
)  # fmt: skip
OwnPrompts: TypeAlias = Mapping[str, str | os.PathLike[str]] | str
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
                told = meant_of(unknown[0], parameters.parameters)
                raise ConfigError(f"{method} has no setting {', '.join(unknown)}{told}")
            given = parameters.bind(*args, **kwargs).arguments
            chosen = {k: v for k, v in given.items() if v is not parameters.parameters[k].default}
            if chosen and (wrong := faults(method, hints_of(builder), chosen)):  # hints are dear: they name chat models
                raise ConfigError("\n".join(wrong))
            graph: Any = builder(*args, **kwargs)
            spec = registry.spec_of(graph) or registry.MethodSpec()
            registry.declare(
                graph,
                settings={**_for_signature(parameters, given), **spec.settings},
                own_nodes=frozenset(graph.nodes) - spec.given_nodes - _given_nodes(graph, given),
            )
            return cast(R, graph)

        return build

    return around


def _given_nodes(graph: Any, given: Mapping[str, Any]) -> set[str]:
    """Nodes whose agent is one of the settings: the signature of a run has that agent's own settings beside them."""
    agents = {id(value) for value in given.values() if callable(value)}
    runs = {name: spec.runnable for name, spec in graph.nodes.items()}
    return {n for n, run in runs.items() if agents & {id(getattr(run, k, None)) for k in ("func", "afunc")}}


def _for_signature(parameters: inspect.Signature, given: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that are not their defaults, without those that a signature takes from the graph's agents."""
    found = {}
    for name, value in given.items():
        if name in FROM_AGENTS or name.endswith("judge") or value == parameters.parameters[name].default:
            continue
        if callable(value) or hasattr(value, "ainvoke"):  # an agent, or a graph
            value = getattr(value, "name", None) or getattr(value, "__name__", None) or type(value).__name__
        found[name] = value
    return found


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


SHAPES: Mapping[str, frozenset[str]] = {  # in words -> names of annotations
    "text": frozenset({"str"}), "a mapping": frozenset({"dict", "Mapping"}),
    "a list": frozenset({"list", "tuple", "Sequence", "Iterable", "Collection"}),
}  # fmt: skip


def misshapen(kinds: tuple[Any, ...], raw: Any) -> str:
    """Why a value of a file is none of these: a mapping or a list where none can be, or none where one must; "" if not.

    The rest is looked at by what it is given to.
    """
    origins = {getattr(get_origin(kind) or kind, "__name__", "") for kind in kinds}
    wants = [word for word, names in SHAPES.items() if origins & names]
    if isinstance(raw, dict | list | tuple):
        wrong = ("a mapping" if isinstance(raw, dict) else "a list") not in wants
    else:
        only = origins <= set().union(*SHAPES.values())  # no number, and not nothing
        wrong = only and not (isinstance(raw, str) and "text" in wants)
    return f"expected {' or '.join(wants) or 'one value'}, got another" if wrong and "Any" not in origins else ""


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


# Templates of the user's own, in the place of a method's.


class Templates:
    """What the setting `prompts` names: a template of the user's for some of a method's own.

    A builder asks it for each agent (`of`) and at the end whether anything is left over (`refuse_unused`).
    """

    def __init__(self, method: str, given: OwnPrompts | None) -> None:
        """
        Args:
            given: template or node -> path of a .md file; also as a text, "evaluate=mine.md,critique=other.md".

        Raises:
            ConfigError: it is no such mapping.
        """
        self.method = method
        self._given = _paths(method, given)
        self._known: list[str] = []
        self._used: set[str] = set()

    def of(self, template: str, *others: str, setting: str = "prompt") -> dict[str, Any]:
        """The setting of an agent that asks by a template of ours: {"prompt": "mine.md"}, {} where none was given.

        Args:
            template: its name, by which the user may call it. others: further names for it: of its node, of templates
                in its place under other settings. setting: what the agent calls it.

        Raises:
            ConfigError: two names of one template were given. PromptError: the file is not there, is malformed, has a
                field that nobody fills, or none for what is judged.
        """
        names = tuple(dict.fromkeys((template, *others)))
        self._known.append(template)
        named = [name for name in names if name in self._given]
        self._used.update(named)
        if not named:
            return {}
        if len(named) > 1:
            raise ConfigError(f"{self.method}: prompts: {' and '.join(named)} are one template; name it once")
        path = self._given[named[0]]
        has, wants = load(path).fields, load(template).fields
        where = f"{self.method}: prompts: {named[0]}: {one_line(path, 120)}"
        if more := has - wants - MAY_HAVE - {"name"}:
            known = _dollars(wants | MAY_HAVE)
            raise PromptError(f"{where} has {_dollars(more)}, which nobody fills; its fields are {known}")
        if unseen := (wants & JUDGED) - has:
            raise PromptError(f"{where} lacks {_dollars(unseen)}: what is judged must stand in it")
        return {setting: path}

    def refuse_unused(self) -> None:
        """
        Raises:
            ConfigError: a name is no template of this method under these settings.
        """
        if left := [name for name in self._given if name not in self._used]:
            known = ", ".join(dict.fromkeys(self._known))
            raise ConfigError(
                f"{self.method}: prompts: there is no template '{one_line(left[0], 60)}' here; it asks by: {known}"
            )


def _dollars(names: Iterable[str]) -> str:
    return ", ".join(f"${name}" for name in sorted(names))


def _paths(method: str, given: Any) -> dict[str, str]:
    """Template -> path.

    Raises:
        ConfigError: it is no mapping of names to .md files.
    """
    if isinstance(given, str) and given.lstrip().startswith("{"):
        with suppress(ValueError):
            given = json.loads(given)
    elif isinstance(given, str):
        parts = [part.partition("=") for part in given.split(",") if part.strip()]
        given = {name.strip(): path.strip() for name, _, path in parts}
    found = given if isinstance(given, Mapping) else {} if given is None else {"": given}
    for name, path in found.items():
        if not (isinstance(name, str) and name and isinstance(path, str | os.PathLike) and str(path).endswith(".md")):
            got = f"{name}: {one_line(repr(path), 60)}" if name and path else one_line(repr(given), 60)
            raise ConfigError(
                f"{method}: prompts: expected template -> path of a .md file, such as {{'evaluate': 'mine.md'}}, on "
                f"the command line -s prompts=evaluate=mine.md; got {got}"
            )
    return {name: str(path) for name, path in found.items()}


# The critic of a method: SAGE, one by name, or an agent that was passed in.


UNNAMED = ("LangGraph", "<lambda>", "")  # what a graph or a function is called that nobody named


def critic_of(
    method: str, which: Any, name: str, own: Mapping[str, Any] | None = None, **offered: Any
) -> tuple[Any, str]:  # fmt: skip
    """(the critic, the name that the final scores have).

    Args:
        method: for messages. which: a critic's name, an agent or a graph. name: put before the critic's own.
        own: what the user set for the critic alone: it must take that.
        offered: what one by name is given where it takes it: judge, criteria, task, reader, stage; an agent that has
            no criteria of its own is given the criteria.

    Raises:
        ConfigError: no such critic, nothing that can be a node, or a setting that the critic does not take.
    """
    if not isinstance(which, str):
        if inspect.isclass(which) or not registry.usable(which):
            got = f"the class {which.__name__}" if inspect.isclass(which) else type(which).__name__
            raise ConfigError(f"{method}: critic: expected a critic's name or an agent, got {got}")
        return informed(which, offered.get("criteria") or ()), named(name, name_of(which) or "critic")
    try:
        takes, _ = registry.settings_of(registry.load("critic", which))
        if missing := [key for key in own or {} if key not in takes]:
            raise ConfigError(f"'{one_line(which, 80)}' takes no {missing[0]}: leave critic_{missing[0]} out")
        default = takes["name"].default if "name" in takes else None
        called = default if isinstance(default, str) and default else which.rpartition(":")[2]
        critic = registry.make("critic", which, own, **{**offered, "name": named(name, called)})
    except ConfigError as error:
        raise ConfigError(f"{method}: critic: {error}") from error.__cause__
    said = name_of(critic) if not inspect.isroutine(critic) else ""
    return critic, said if said and "name" in takes else named(name, said or called)


def name_of(agent: Any) -> str:
    """What an agent, a graph or a function is called, "" where nobody named it."""
    found = getattr(agent, "name", None) or getattr(agent, "__name__", None)
    return found if isinstance(found, str) and found not in UNNAMED else ""


# A method on its own needs no more of the shared state than its nodes touch; every further key costs each run.


G = TypeVar("G", bound="StateGraph[Any, Any, Any, Any]")


def narrowed(graph: G) -> G:
    """The same graph without the keys of its state that no node of it reads, that are no input and no output.

    For a graph that is compiled as it is: whoever goes on building with one wants all keys. A node or a branch that
    reads the whole state keeps all of it.
    """
    whole = graph.state_schema
    reads_all = any(spec.input_schema is whole for spec in graph.nodes.values()) or any(graph.branches.values())
    if reads_all or whole in (graph.input_schema, graph.output_schema):
        return graph
    used = {key for schema, keys in graph.schemas.items() if schema is not whole for key in keys}
    for key in set(graph.channels) - used:
        del graph.channels[key]
        graph.schemas[whole].pop(key, None)
    return graph
