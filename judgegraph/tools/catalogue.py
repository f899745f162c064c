"""What an assistant evaluator is, and what comes of asking one: a finding, never an exception."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import math
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NotRequired, Protocol, TypeAlias

from typing_extensions import TypedDict

from judgegraph import registry
from judgegraph.compiled import run_sync
from judgegraph.errors import ConfigError, JudgegraphError, one_line, settings_checked
from judgegraph.prompts.template import MOST_SAID
from judgegraph.registry.lookup import is_file
from judgegraph.trace.record import span
from judgegraph.types import Finding, Json, Plan, Sample, sample_of


class Unmeasurable(JudgegraphError, ValueError):
    """The sample lacks what an assistant reads (a source, a reference, words it can see); the message says what."""


class Unusable(Exception):
    """What an assistant gave is no finding."""


class Assistant(Protocol):
    """An assistant evaluator: anything with a name, a description and one verb, `assistant(sample) -> float`.

    The verb is pure, and raises `Unmeasurable` where the sample lacks an input. A plain one runs in a thread of its
    own; one that asks models is `async`, or gives something to await. Either may give a `Finding` instead of a number,
    to say more. An assistant may also have `detail(sample) -> str`, which says what a value was measured against.
    """

    @property
    def name(self) -> str:
        """Unique among its fellows: 1 to 64 letters, digits, "_" or "-"."""
        ...

    @property
    def about(self) -> object:
        """An `About`, or a text: what it measures, what it reads, its range and direction, an example."""
        ...

    def __call__(self, sample: Sample, /) -> float | Finding | Awaitable[float | Finding]:
        """The value of one sample, finite."""
        ...


@settings_checked
@dataclass(frozen=True, kw_only=True)
class About:
    """What a planner and a judge are told of an assistant.

    Attributes:
        measures: what the value says. reads: the fields of the sample it looks at, in words.
        range: its least and greatest value. direction: what a high and a low value mean.
        example: (output, the text it is compared with, the value of that); None where none is short.
        inputs: the fields that it cannot do without; "reference or source" is the first of the two that is there.
        cost: what a value takes. licence: of the library and of the model. source: who defined it.
        extra: what it needs beside this package: "semantic", an extra of it; "library", one of its own, or "endpoint",
            a server; "" for nothing.

    A planner is told the first five, as `str(about)`, a judge that follows its plan the first, the third and the
    fourth, as `about.brief`; the rest is for people who choose.
    """

    measures: str
    reads: str
    range: str
    direction: str
    example: tuple[str, str, float] | None = None
    inputs: tuple[str, ...] = ("output",)
    cost: str = ""
    licence: str = ""
    source: str = ""
    extra: str = ""

    @property
    def brief(self) -> str:
        """For a judge that has a plan, beside values that say what they were compared with."""
        return f"Measures: {self.measures}\nRange: {self.range}; {self.direction}"

    def __str__(self) -> str:
        told = f"Measures: {self.measures}\nReads: {self.reads}\nRange: {self.range}; {self.direction}"
        if self.example is None:
            return told
        output, other, value = self.example
        beside = f' beside "{other}"' if other else ""
        return f'{told}\nExample: the output "{output}"{beside} has the value {value:g}'


@settings_checked
@dataclass(frozen=True, kw_only=True)
class Metric:
    """An assistant made of a function.

    Attributes:
        measure: sample -> finite number, or a Finding that says more; also an async function; raises Unmeasurable.
        against: sample -> the name of the text it compares the output with, None where there is none.
    """

    name: str
    about: About | str
    measure: Callable[[Sample], float | Finding | Awaitable[float | Finding]]
    against: Callable[[Sample], str] | None = None

    def __call__(self, sample: Sample, /) -> float | Finding | Awaitable[float | Finding]:
        return self.measure(sample)

    def detail(self, sample: Sample) -> str:
        """What the value was measured against, "" where that is nothing."""
        return f"against the {self.against(sample)}" if self.against else ""


async def find(assistant: Assistant, sample: Sample) -> Finding:
    """Ask one assistant, off the event loop: its value, or why there is none.

    Returns:
        status "ok" with the value as it came; "skipped" where the sample lacks an input; "agent_error" where the
        assistant failed or gave no finite number. Never an exception, never a zero in place of a value.
    """
    name = assistant.name
    with span("tool", name) as about:
        finding = await _found(assistant, sample, name)
        if isinstance(finding.value, float):
            about["value"] = finding.value
        elif finding.value is None and finding.reason:
            about["error"] = one_line(finding.reason, 200)
        about["status"] = finding.status
    return finding


async def _found(assistant: Assistant, sample: Sample, name: str) -> Finding:
    try:
        value, finding = await _asked(assistant, sample)
        if isinstance(value, Finding):
            return _whole(value, name)
        if not _is_number(value):
            raise Unusable(f"gave {one_line(repr(value), 60)}, which is no finite number")
        return Finding(assistant=name, value=float(value), reason=one_line(finding))
    except Unusable as error:
        return Finding(assistant=name, status="agent_error", reason=str(error))
    except Unmeasurable as error:
        return Finding(assistant=name, status="skipped", reason=one_line(error))
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        return Finding(assistant=name, status="agent_error", reason="CancelledError: it cancelled itself")
    except Exception as error:
        if getattr(error, "ends_run", False):  # a judge that cannot be made: it would meet every sample alike
            raise
        return Finding(assistant=name, status="agent_error", reason=_why(error))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _whole(finding: Finding, name: str) -> Finding:
    """A finding under its assistant's own name: one that has no status of failure has a value."""
    if finding.status == "ok" and not (
        _is_number(finding.value) or (isinstance(finding.value, str) and finding.value.strip())
    ):
        raise Unusable(f"gave {one_line(repr(finding.value), 60)}, which is neither a finite number nor a text")
    value = finding.value if finding.status == "ok" else None
    values = {
        "assistant": name,
        "value": value,
        "status": finding.status,
        "reason": one_line(finding.reason, MOST_SAID),
    }
    return Finding.model_validate(values)


def _why(error: Exception) -> str:
    """What an assistant's error says; its message may be code too, and may fail."""
    try:
        return one_line(f"{type(error).__name__}: {error}")
    except Exception:
        return type(error).__name__


async def _asked(assistant: Assistant, sample: Sample) -> tuple[Any, str]:
    """What it gives, and what it says that was measured against."""
    if _is_async(assistant):
        verb: Any = assistant
        return await verb(sample), _detail(assistant, sample)

    def measured() -> tuple[Any, str]:
        value = assistant(sample)
        return value, "" if inspect.isawaitable(value) else _detail(assistant, sample)

    value, finding = await asyncio.to_thread(measured)
    if inspect.isawaitable(value):  # a plain function that hands on what an async one gave
        value = await value
    return value, finding


def _is_async(assistant: Any) -> bool:
    verb = assistant.measure if type(assistant) is Metric else assistant
    return inspect.iscoroutinefunction(verb) or inspect.iscoroutinefunction(type(verb).__call__)


def _detail(assistant: Any, sample: Sample) -> str:
    detail = getattr(assistant, "detail", None)
    return str(detail(sample)) if callable(detail) else ""


async def find_all(assistants: Iterable[Assistant], sample: Sample) -> dict[str, Finding]:
    """Ask several, side by side: name -> what it said, in their order."""
    found = await asyncio.gather(*(find(one, sample) for one in assistants))
    return {finding.assistant: finding for finding in found}


@settings_checked
def measure(which: AssistantLike, output: Json, **fields: Any) -> Finding:
    """One value of one text, in plain Python: `measure("rouge-l", "A summary.", source="An article.").value`.

    Args:
        which: a name, or an assistant. output: the text, or a form as JSON. fields: source, reference, query, meta.

    Returns:
        As `find`: a missing input is the status "skipped" with the reason, never a number.

    Raises:
        ConfigError: no such assistant, or fields that no sample has.
    """
    if unknown := sorted(set(fields) - set(Sample.model_fields)):
        raise ConfigError(f"a sample has no field {unknown[0]!r}; known: {', '.join(Sample.model_fields)}")
    asked = assistant(which)
    return run_sync(find(asked, Sample(**{"id": "text", "output": output, **fields})))


# Which assistants there are, by name; nothing is imported before one is asked for.


OF_TEXT = ("rouge-l", "chrf", "coverage", "novelty", "length-ratio", "repetition", "distinct-2", "readability")
OF_FORMS = (
    "form-schema", "form-duplicates", "form-overlaps", "form-exits", "form-reading-level", "self-bleu", "readability",
)  # fmt: skip
DEFAULTS = tuple(f"judgegraph:{name}" for name in OF_TEXT)  # ours, whatever a plug-in is called
FORM_DEFAULTS = tuple(f"judgegraph:{name}" for name in OF_FORMS)

AssistantLike: TypeAlias = str | Assistant | Callable[..., Any]  # a LangChain tool and a graph too
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")  # what an OpenAI-compatible server takes for the name of a tool
_made: dict[str, tuple[Any, Assistant]] = {}  # name -> what stood in the registry, and what came of it


@settings_checked
def assistant(which: AssistantLike) -> Assistant:
    """An assistant by its name, an object that is one, or one made of a function, a LangChain tool or a graph.

    Raises:
        ConfigError: no such name, or an object without name, about and a call, or a name no tool can have; a function
            or a tool without a description, or with an argument that no sample can fill.
    """
    if isinstance(which, str):
        return _registered(which)
    made: Any = which if _is_assistant(which) else _callables().assistant_of(which)
    name = getattr(made, "name", None)
    if not _is_assistant(made):
        raise ConfigError(
            "an assistant is a name, a function with a docstring, a LangChain tool, a graph, or an object with name, "
            f"about and assistant(sample); got {one_line(repr(which), 80)}"
        )
    if not _NAME.fullmatch(str(name)):
        raise ConfigError(
            f"assistant {one_line(name, 80)!r}: a name is 1 to 64 letters, digits, '_' or '-'; models call it by that"
        )
    found: Assistant = made
    return found


@settings_checked
def assistants(which: AssistantLike | Sequence[AssistantLike]) -> tuple[Assistant, ...]:
    """One or more assistants, in order.

    Raises:
        ConfigError: as `assistant`; none at all, or two of one name.
    """
    listed = which if isinstance(which, Sequence) and not isinstance(which, str) else [which]
    found = tuple(map(assistant, listed))
    if not found:
        raise ConfigError(f"no assistants given; known: {', '.join(registry.names('assistant'))}")
    twice = [name for name, n in Counter(a.name for a in found).items() if n > 1]
    if twice:
        raise ConfigError(f"two assistants are called '{twice[0]}'; a plan could not tell them apart")
    return found


def _callables() -> Any:
    """How a function, a tool or a graph becomes an assistant: by name, as that file stands on this one."""
    return importlib.import_module("judgegraph.tools.callables")


def _is_assistant(thing: Any) -> bool:
    return isinstance(getattr(thing, "name", None), str) and hasattr(thing, "about") and callable(thing)


def _registered(name: str) -> Assistant:
    """What a name stands for, made once: an object as it is, a class or a factory called, a function of a sample."""
    part = registry.part_of("assistant", name, _of_a_method(name))
    thing = part.load()
    known = _made.get(name)
    if known is not None and known[0] is thing:
        return known[1]
    if _measures(thing):
        about = (inspect.getdoc(thing) or part.name).splitlines()[0]
        made: Any = _callables().of_function(thing, part.name, about)
    elif _is_assistant(thing) and not inspect.isclass(thing):
        made = thing
    elif not inspect.isclass(thing) and not inspect.isroutine(thing) and hasattr(thing, "ainvoke"):
        made = _callables().assistant_of(thing)
    else:
        made = registry.make("assistant", name)
    if inspect.isclass(made) or not _is_assistant(made):
        raise ConfigError(
            f"assistant '{part.name}', {part.origin}: expected an object with name, about and assistant(sample), "
            f"got {one_line(repr(made), 80)}"
        )
    _made[name] = thing, assistant(made)
    return _made[name][1]


def _of_a_method(name: str) -> str:
    """What to say where no assistant, but a method has the name."""
    method = name.rpartition(":")[2] in registry.names("method") or is_file(name)
    return f"; '{one_line(name, 80)}' is a method: jg.as_assistant makes an assistant of its graph" if method else ""


def _measures(thing: Any) -> bool:
    """Whether it is a function of a sample itself: one that makes an assistant can be called without arguments."""
    if not inspect.isfunction(thing) or _is_assistant(thing):
        return False
    wanted = [p for p in inspect.signature(thing).parameters.values() if p.default is p.empty]
    return any(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in wanted)


# The panel: all assistants that a plan names, asked without a model.


class Named(TypedDict):  # what the panel reads
    sample: Sample
    plan: NotRequired[Plan]
    findings: NotRequired[dict[str, Finding]]


class Found(TypedDict):  # what it writes
    findings: dict[str, Finding]  # assistant -> what it said


@dataclass(frozen=True, kw_only=True)
class Panel:
    """Asks every assistant that some criterion is aligned to, the paper's way; without a plan, all of them.

    Source: Fusion-Eval (arXiv:2311.09204), figure 1: the plan's template is filled with the assistants' scores.
    An assistant that was asked before is not asked again.
    """

    assistants: Sequence[Assistant]
    name: str = "panel"

    async def __call__(self, state: Named) -> Found:
        findings, plan = state.get("findings") or {}, state.get("plan")
        named = {name for serving in plan.alignment.values() for name in serving} if plan else set()
        asked = [
            a
            for a in self.assistants
            if a.name not in findings and (plan is None or plan.status != "ok" or a.name in named)
        ]
        return {"findings": await find_all(asked, sample_of(state))}


# From the worst value of an assistant to its best, as its description says.


SAYING = '"Range: 0 to 1; higher = better", or "lower = better"'  # how a description says both


def worst_and_best(assistant: Assistant) -> tuple[float, float] | None:
    """(worst, best) of an assistant whose `about` says a range of two numbers and which end of it is better.

    None where the range is open ("0 or more"), where neither end is better ("1 = copied, 0 = its own words"), and
    where either is not said, or not in words that are known: nothing is guessed.
    """
    from judgegraph.embedded.families import stated_direction, stated_range  # the embedded judge comes with it

    about = str(assistant.about)
    ends, way = stated_range(about), stated_direction(about)
    if ends is None or not way:
        return None
    return ends if way > 0 else (ends[1], ends[0])
