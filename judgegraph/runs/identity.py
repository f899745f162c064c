"""What a run is: the configuration that a resume compares, and the signature that stands beside every number."""

from __future__ import annotations

import inspect
import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import lru_cache, partial
from hashlib import blake2b
from operator import attrgetter, itemgetter, methodcaller
from pathlib import Path, PurePath
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from pydantic import BaseModel

from judgegraph import __version__, prompts
from judgegraph.calls import Endpoint, Reader, name_of
from judgegraph.compiled import MethodSpec, agents_of, function_of, is_ours, several_of, spec_of, unwrapped
from judgegraph.errors import bare, credentials, one_line, scrubbed, secrets_of
from judgegraph.evidence import EVIDENCE
from judgegraph.models.judges import host_of
from judgegraph.prompts.criteria import CriteriaSet, criteria_set, known_sets
from judgegraph.registry.shipped import brought_by
from judgegraph.types import Criterion

# What a function or class of the caller's own does, as a digest of its source: another code, other results.


SKIPPED = (FunctionType, type, ModuleType)  # followed where they are of the same module, else told by the source


def digest(text: str) -> str:
    """8 hex digits."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


def brief(value: Any) -> Any:
    """A plain value as it is, of any other its class."""
    return value if isinstance(value, bool | int | float | str | None) else type(value).__name__


def code_of(thing: Any, told: Callable[[Any], Any] = brief) -> str | None:
    """8 hex digits of a function, class or object from outside this package; None for ours.

    They cover its source, its defaults, the values that it closes over or names in its module, and the same of the
    functions and classes of that module that it uses. Where there is no source (a prompt of Python) the compiled code
    stands in.

    Args:
        told: how such a value is told: as JSON that is the same in every process, without keys.
    """
    found = [part for one in _outside(thing) for part in _parts(one, told)]
    return digest(json.dumps(found, ensure_ascii=False)) if found else None


def _outside(thing: Any) -> list[Any]:
    """A function or class, and all of its own module that it leads to; in the order it is met."""
    met: list[Any] = []
    open_ = [unwrapped(thing)]
    while open_:
        one = open_.pop(0)
        if one in met or is_ours(one):
            continue
        met.append(one)
        open_ += [unwrapped(found) for found in _used(one)]
    return met


def _used(one: Any) -> Iterator[Any]:
    """Functions and classes of its own module: named in its code, closed over, or its base classes."""
    module = sys.modules.get(one.__module__)
    for function in _functions(one):
        reached = [getattr(module, name, None) for name in sorted(_names(function.__code__))]
        for found in (*reached, *_closed(function)):
            if isinstance(found, FunctionType | type) and found.__module__ == one.__module__:
                yield found
    package = str(one.__module__).partition(".")[0]
    if isinstance(one, type):
        yield from (kind for kind in one.__mro__[1:] if str(kind.__module__).partition(".")[0] == package)


def _functions(one: Any) -> Iterator[FunctionType]:
    for found in vars(one).values() if isinstance(one, type) else [one]:
        found = getattr(found, "fget", None) or getattr(found, "__func__", found)
        if isinstance(found := inspect.unwrap(found) if callable(found) else found, FunctionType):
            yield found


def _parts(one: Any, told: Callable[[Any], Any]) -> Iterator[Any]:
    yield _source(one)
    module = sys.modules.get(one.__module__)
    for function in _functions(one):
        yield [told(v) for v in function.__defaults__ or ()]
        yield [[k, told(v)] for k, v in sorted((function.__kwdefaults__ or {}).items())]
        yield [told(v) for v in _closed(function) if not isinstance(v, SKIPPED)]
        named = {name: getattr(module, name, None) for name in sorted(_names(function.__code__))}
        yield [[k, told(v)] for k, v in named.items() if v is not None and not isinstance(v, SKIPPED)]


def _closed(function: FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not filled yet
            continue


def _names(code: CodeType) -> set[str]:
    inner = [_names(const) for const in code.co_consts if isinstance(const, CodeType)]
    return set(code.co_names).union(*inner)


@lru_cache(maxsize=512)
def _source(one: Any) -> str:
    """Its source; reading it takes a while, and what is imported does not change."""
    compiled = "\n".join(_compiled(function.__code__) for function in _functions(one))
    try:
        source = inspect.getsource(one)
    except (OSError, TypeError, IndentationError):
        return compiled
    return source + compiled if one.__name__ == "<lambda>" else source  # two of them may stand in one line


def _compiled(code: CodeType) -> str:
    consts = [_compiled(c) if isinstance(c, CodeType) else _const(c) for c in code.co_consts]
    return repr((code.co_name, code.co_code.hex(), code.co_names, consts))


def _const(value: Any) -> str:
    return repr(sorted(map(repr, value))) if isinstance(value, frozenset) else repr(value)


# A judge in a signature: its name, the settings that go into its calls, and where it is; never a login or a key.


MARKS = {"temperature": "t", "top_p": "p", "max_tokens": "max", "seed": "seed"}  # a judge's setting -> its mark
SECRET = re.compile(r"(?:.*[_-])?(?:key|token|secret|password|credentials|authorization)", re.I)  # a key by its name
_NO_SETTING = re.compile(  # stands elsewhere in the line, or changes no reply; `script`: a test's replies
    r"model|model_name|.*base_url|.*api_base|temperature|top_p|max_tokens|seed"
    r"|.*client|callbacks|callback_manager|metadata|tags|profile|name|verbose|cache|max_retries|.*timeout|.*streaming"
    r"|.*organization|rate_limiter|stream_usage|script"
)


def judge_line(judge: Any, own: float | None) -> str:
    """Such as "openai:m@t0.7@host:8000/v1", or "ChatOpenAI:m@t0@set1a2b3c4d".

    Args:
        own: the agent's own temperature, which comes before the judge's.
    """
    settings = {name: getattr(judge, name, None) for name in MARKS}
    if own is not None:
        settings["temperature"] = own
    said = [f"{MARKS[k]}{v:g}" for k, v in settings.items() if isinstance(v, int | float)]
    said += [f"effort-{effort}"] if isinstance(judge, Endpoint) and (effort := judge.effort) else []
    return "@".join([name_of(judge), *said, *_digest_in_identity(judge), *host_of(judge)])


def _digest_in_identity(judge: Any) -> list[str]:
    """8 hex digits of what else was set on a chat model object, where anything was."""
    names = [n for n in getattr(judge, "model_fields_set", ()) if not (_NO_SETTING.fullmatch(n) or SECRET.fullmatch(n))]
    known = type(judge).model_fields if names else {}
    values = {n: getattr(judge, n, None) for n in sorted(names)}
    given = {n: v for n, v in values.items() if n not in known or v != known[n].get_default(call_default_factory=True)}
    told = {n: text for n, value in given.items() if (text := _plain(value)) is not None}
    if not told:
        return []
    text = scrubbed(repr(told), secrets_of(judge))
    return [f"set{blake2b(text.encode(), digest_size=4).hexdigest()}"]


def _plain(value: Any) -> str | None:
    """A setting as text that is the same in every process; None for objects, such as clients and keys."""
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    if isinstance(value, Mapping):
        return repr(sorted((str(k), _plain(v)) for k, v in value.items() if not SECRET.fullmatch(str(k))))
    if isinstance(value, list | tuple):
        return repr([_plain(v) for v in value])
    if isinstance(value, set | frozenset):
        return repr(sorted(str(_plain(v)) for v in value))
    return None


DEEPEST = 8  # levels of a nested setting
MOST = 50  # objects of one setting that are told by their fields: a model or a data frame may hold any number
_OPERATIONAL = re.compile(  # how fast, how patiently and where, never what
    r"(?:.*_)?(?:concurrency|timeout|deadline|attempts|retries|limiter|cache|cache_dir|callbacks|verbose|client)"
)
_SECRETIVE = re.compile(r".*(?:header|cookie|passw|(?:^|_)auth(?:$|_)).*", re.I)
_URL = re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.I)


def changes_result(name: str) -> bool:
    """Whether a setting of this name may change a result, and is no key."""
    return not (_OPERATIONAL.fullmatch(name) or SECRET.fullmatch(name) or _SECRETIVE.fullmatch(name))


def is_judge(value: Any) -> bool:
    """Whether it is an endpoint or a chat model object."""
    return isinstance(value, Endpoint) or (hasattr(value, "_llm_type") and hasattr(type(value), "model_fields"))


def serialise_setting(value: Any) -> Any:
    """A judge by its line, a file by its name, a function by its name and code and what it closes over.

    A `partial` has its arguments beside that, a bound method its object, an object of the caller's own its fields.
    """
    return _Teller(whole=True).serialise(value)


def closed_over(value: Any) -> Any:
    """The same of what code names or closes over: an object by its class, as it may be where results are gathered."""
    return _Teller(whole=False).serialise(value)


def brief_setting(value: Any) -> str:
    """In a few words, without what is not set: "Fluency", "calls 9"."""
    said = serialise_setting(value)
    if not isinstance(said, dict):
        return str(said)
    return ", ".join(f"{name} {one}" for name, one in said.items() if name != "is" and one is not None)


def code_set(thing: Any) -> str | None:
    """8 hex digits of code of the caller's own with what it is set to: a partial's arguments, an object's fields."""
    code, carried = code_of(thing, closed_over), serialise_setting(thing)
    return digest(f"{code} {json.dumps(carried, sort_keys=True)}") if code and isinstance(carried, dict) else code


def fields_of(value: Any) -> Iterator[tuple[str, Any]]:
    """(name, value) of what an object holds, as a dataclass, in its `__dict__` or in slots."""
    if is_dataclass(value):
        yield from ((f.name, getattr(value, f.name)) for f in fields(value))
        return
    slots = [getattr(kind, "__slots__", ()) for kind in type(value).__mro__]
    named = [name for own in slots for name in ([own] if isinstance(own, str) else own)]
    yield from ((name, getattr(value, name)) for name in named if name != "__dict__" and hasattr(value, name))
    yield from getattr(value, "__dict__", {}).items()


def _is_written(about: Any, value: BaseModel, name: str) -> bool:
    """Whether a field is written: one that came later, and is as it was before it, changes no configuration."""
    left_out = getattr(about, "exclude_if", None)
    return left_out is None or not left_out(getattr(value, name))


class _Teller:
    """Tells one setting; it remembers the objects it met, which may lead back to one another."""

    def __init__(self, *, whole: bool) -> None:
        self.whole = whole
        self.met: set[int] = set()

    def serialise(self, value: Any, depth: int = 0) -> Any:
        if value is None or (isinstance(value, bool | int | float | str) and not isinstance(value, Enum)):
            return _scalar(value)
        if is_judge(value):
            return judge_line(value, None)
        if depth == DEEPEST or isinstance(value, type) or hasattr(value, "get_secret_value"):
            return _named(value)
        if isinstance(value, Enum):
            return f"{type(value).__name__}.{value.name}"
        if isinstance(value, PurePath | re.Pattern):
            return value.name if isinstance(value, PurePath) else str(value.pattern)
        if isinstance(value, Mapping):
            return {str(k): self.serialise(v, depth + 1) for k, v in value.items() if changes_result(str(k))}
        if isinstance(value, list | tuple):
            return [self.serialise(v, depth + 1) for v in value]
        if isinstance(value, set | frozenset):
            return sorted((self._apart().serialise(v, depth + 1) for v in value), key=json.dumps)
        return self._object(value, depth)

    def _apart(self) -> _Teller:
        """For an element of a set, whose order is another in every process: what was met in others does not count."""
        teller = _Teller(whole=self.whole)
        teller.met = {*self.met}
        return teller

    def _object(self, value: Any, depth: int) -> Any:
        if hasattr(value, "ainvoke"):  # a chain of LangChain: its steps, or what is bound
            inner = [getattr(value, name, None) for name in ("steps", "steps__", "func", "afunc", "bound")]
            if any(one is not None for one in inner):
                found = next(one for one in inner if one is not None)
                return self.serialise([found, getattr(value, "kwargs", {})] if inner[-1] is found else found, depth + 1)
        if isinstance(value, BaseModel):
            fields = type(value).model_fields.items()
            told = {name: getattr(value, name) for name, about in fields if _is_written(about, value, name)}
            return self.serialise(told, depth)
        if is_dataclass(value):
            return {"is": _named(value), **self.serialise(dict(fields_of(value)), depth)}
        return self._carrying(value, depth)

    def _carrying(self, value: Any, depth: int) -> Any:
        """What does something, with all that it does it by."""
        if isinstance(value, partial):
            more = {"args": list(value.args), "keywords": dict(value.keywords)}
            return {
                "is": self.serialise(value.func, depth + 1),
                **self.serialise({k: v for k, v in more.items() if v}, depth),
            }
        if isinstance(value, itemgetter | attrgetter | methodcaller):
            return {"is": type(value).__name__, "args": self.serialise(list(value.__reduce__()[1:]), depth + 1)}
        if not self.whole:
            return _named(value)
        if isinstance(value, MethodType):
            return {"is": _named(value, closed_over), "of": self.serialise(value.__self__, depth + 1)}
        if callable(value) and hasattr(value, "__code__"):
            return _named(value, closed_over)
        own = {} if is_ours(type(value)) or id(value) in self.met or len(self.met) >= MOST else dict(fields_of(value))
        self.met.add(id(value))
        return {"is": _named(value), **self.serialise(own, depth)} if own else _named(value)


def _scalar(value: Any) -> Any:
    if isinstance(value, str):
        return scrubbed(bare(value) if _URL.fullmatch(value) else value)
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _named(value: Any, tell: Callable[[Any], Any] = brief) -> str:
    if hasattr(value, "get_secret_value"):
        return "a secret"
    name = getattr(value, "__name__", None) or type(value).__name__
    code = code_of(value, tell)
    return f"{name}@{code}" if code else str(name)


# The installed packages that the code of a node comes from: with another version of one, results are others.


DEEPEST_IMPORT = 6  # a node's agent, its list of assistants, one of them, what it measures by


def packages_of(thing: Any) -> str:
    """ "acritics 1.0" of what runs in a node, and "acritics 1.0, tools 2.1" with what it is set to; "" of all others.

    Packages are those with an entry point of ours. What is ours or the caller's own is in none of them.
    """
    modules = {str(getattr(one, "__module__", None) or "") for one in _code(thing, DEEPEST_IMPORT) if not is_ours(one)}
    return ", ".join(sorted({*map(brought_by, modules)} - {""}))


def _code(thing: Any, depth: int) -> Iterator[Any]:
    """The functions and classes of a thing and of what it holds: a panel's critics, a critic's assistants."""
    if depth == 0 or thing is None or isinstance(thing, str | int | float) or is_judge(thing):
        return
    if isinstance(thing, Mapping):
        held: list[Any] = list(thing.values())
    elif isinstance(thing, list | tuple | set | frozenset):
        held = list(thing)
    elif isinstance(thing, partial):
        held = [thing.func, thing.args, thing.keywords]
    elif isinstance(thing, MethodType):
        held = [thing.__self__]
    else:
        yield thing if hasattr(thing, "__qualname__") else type(thing)
        held = _held(thing)
    for one in held:
        yield from _code(one, depth - 1)


def _held(thing: Any) -> list[Any]:
    if isinstance(thing, type) or not is_dataclass(thing):
        return []
    return [getattr(thing, "members", None), *(getattr(thing, field.name, None) for field in fields(thing))]


# The line that says all that a result depends on, and the agents of a graph it is read from.


# The shape of a compiled graph: its nodes, its edges, and how its state is joined; subgraphs included.


ENDS = {"__start__": "START", "__end__": "END"}


def nodes(graph: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """(name, what runs there) of every node, an inner one as "weigh/judge"; a subgraph stands before its nodes."""
    for name, node in getattr(getattr(graph, "builder", None), "nodes", {}).items():
        runs = function_of(node.runnable)
        yield f"{path}{name}", runs
        yield from nodes(runs, f"{path}{name}/")


def edges(graph: Any, path: str = "") -> list[str]:
    """Lines such as "weigh/guide -> weigh/judge", sorted: a choice with its function, a join with all it awaits."""
    builder = getattr(graph, "builder", None)
    if builder is None:
        return []

    def named(node: str) -> str:
        return ENDS.get(node, node) if not path else f"{path}{ENDS.get(node, node)}"

    found = [f"{named(a)} -> {named(b)}" for a, b in builder.edges]
    found += [f"{' and '.join(named(a) for a in sorted(many))} -> {named(b)}" for many, b in builder.waiting_edges]
    for source, branches in builder.branches.items():
        for branch in branches.values():
            to = " or ".join(_labelled(label, named(end)) for label, end in sorted((branch.ends or {}).items()))
            found.append(f"{named(source)} -> {to or 'any'} by {_function(function_of(branch.path))}")
    for name, node in builder.nodes.items():
        found += [f"{named(name)} awaits all"] if node.defer else []
        found += [f"{named(name)} -> {named(end)} by its command" for end in sorted(node.ends or ())]
        found += edges(node.runnable, f"{path}{name}/")
    return sorted(found)


def fan_outs(graph: Any, path: str = "") -> list[str]:
    """Of a graph's edges those that may be taken many times at once, each as "weigh/guide -> weigh/judge", sorted."""
    from judgegraph.wiring.functions import way_of  # which imports LangGraph: what compares signatures alone needs none

    builder = getattr(graph, "builder", None)
    if builder is None:
        return []
    found: list[str] = []
    for source, branches in builder.branches.items():
        for branch in branches.values():
            sent = way_of(source, branch, builder.nodes).sent
            found += [f"{path}{ENDS.get(source, source)} -> {path}{ENDS.get(end, end)}" for end in sent]
    for name, node in builder.nodes.items():
        found += fan_outs(function_of(node.runnable), f"{path}{name}/")
    return sorted(set(found))


def _labelled(label: Any, end: str) -> str:
    return end if end.endswith(ENDS.get(str(label), str(label))) else f"{end} ({label})"


def reducers(graph: Any, path: str = "") -> list[str]:
    """Lines such as "scores: merged", sorted: keys of the state that several nodes may write, and what joins them."""
    builder = getattr(graph, "builder", None)
    channels = getattr(builder, "channels", {})
    found = [f"{path}{key}: {_function(c.operator)}" for key, c in channels.items() if hasattr(c, "operator")]
    for name, node in getattr(builder, "nodes", {}).items():
        found += reducers(node.runnable, f"{path}{name}/")
    return sorted(found)


def _function(function: Any) -> str:
    name, code = getattr(function, "__name__", None) or type(function).__name__, code_set(function)
    if code is None and isinstance(function, partial):  # of a function that is not the caller's
        code = digest(json.dumps(serialise_setting(function), sort_keys=True))
    return f"{name}@{code}" if code else str(name)


ELSEWHERE = ("judge", "judge_name", "comparer", "prompt", "name", "task", "stage", "temperature")  # or names only


def details(graph: Any) -> dict[str, Any]:
    """What a manifest keeps of a graph: per node its agent, judge, prompt with digest, and reader; criteria once."""
    nodes: dict[str, Any] = {}
    criteria: list[Criterion] = []
    for node, agent in agents_of(graph):
        about: dict[str, Any] = {"agent": type(agent).__name__}
        about |= {key: ",".join(lines) for key, lines in _asking(agent).items() if lines}
        assistants = getattr(agent, "assistants", None)
        if isinstance(assistants, Sequence | Mapping):
            about["assistants"] = [str(getattr(a, "name", a)) for a in assistants]
        if seats := _seats(agent):
            about["critics"] = seats
        if options := _options(agent):
            about["options"] = options
        nodes[node] = about
        criteria += [c for c in getattr(agent, "criteria", None) or () if c not in criteria]
    return {"nodes": nodes, "criteria": criteria}


def signature(graph: Any, *, without: Sequence[str] = (), evidence: Sequence[str] = ()) -> str:
    """One line, such as `sageval|v:0.1.0|judge:openai:m@t0.7@host:8000/v1|prompts:evaluate@3f9c1e07|criteria:1a2b3c4d`.

    A judge has its temperature ("@t0", the agent's own before the endpoint's), seed, and the host and path of its base
    URL, a chat model object a digest of what else was set on it; a reader that samples the temperature of its samples.
    Settings are those that differ from their defaults, of an agent that was passed in its own.

    Args:
        without: evidence of samples that is not shown; the line says so ("reference:left-out").
        evidence: what was shown beside query, source, reference and output ("evidence:contexts,facts").
    """
    about = details(graph)
    nodes: Mapping[str, Any] = about["nodes"]
    parts = [graph.get_name(), f"v:{__version__}"]
    asking = [_asking(agent) for _, agent in agents_of(graph)]
    for key, plural in (("judge", "judge"), ("prompt", "prompts"), ("reader", "reader")):
        found = dict.fromkeys(line for lines in asking for line in lines[key])
        parts += [f"{plural}:{','.join(found)}"] if found else []
    assistants = dict.fromkeys(name for node in nodes.values() for name in node.get("assistants", ()))
    parts += [f"assistants:{','.join(assistants)}"] if assistants else []
    parts += [f"{name}:{_shown(value)}" for name, value in _settings(graph, nodes).items()]
    parts += [f"{name}:left-out" for name in ("reference", *EVIDENCE) if name in without]
    parts += [f"evidence:{','.join(evidence)}"] if evidence else []
    parts += _judged_by(about["criteria"], [str(a.task) for _, a in agents_of(graph) if hasattr(a, "task")])
    return "|".join(one_line(part.replace("|", "/"), 1000) for part in parts)


def _asking(agent: Any) -> dict[str, list[str]]:
    """Whom an agent asks, by which templates with their digests, and how it reads the replies.

    One that says so itself, as a panel of critics does, by its "judges" and "prompts"; any other by its own settings.
    """
    temperature, reader = getattr(agent, "temperature", None), getattr(agent, "reader", None)
    judges = [judge_line(judge, temperature) for judge in several_of(agent, "judge", object)]
    asked = [f"{Path(prompt).name}@{prompts.load(prompt).digest}" for prompt in several_of(agent, "prompt", str)]
    samples = isinstance(reader, Reader) and reader.samples > 1
    read = [f"{reader}@t{reader.temperature:g}" if samples else str(reader)] if reader else []
    return {"judge": list(dict.fromkeys(judges)), "prompt": asked, "reader": read}


def _seats(agent: Any) -> list[str]:
    """Names of a panel's critics, and a digest of what was given for them beside names."""
    members = getattr(agent, "members", None)
    if not isinstance(members, Mapping):
        return []
    given = [getattr(agent, "roles", None), getattr(agent, "critics", None)]
    plain = given[0] is None and all(isinstance(one, str) for one in given[1] or ())
    return [*map(str, members), *([] if plain else [digest(json.dumps(serialise_setting(given), sort_keys=True))])]


def _options(agent: Any) -> dict[str, Any]:
    """An agent's plain settings that are not their defaults; what stands elsewhere or only names things is left out."""
    settings = {f.name: (getattr(agent, f.name), f.default) for f in fields(agent) if f.name not in ELSEWHERE}
    plain = {k: v for k, v in settings.items() if isinstance(v[0], bool | int | float | str)}
    read = {"reads": ",".join(agent.reads) or "output"} if isinstance(getattr(agent, "reads", None), tuple) else {}
    return {key: value for key, (value, default) in plain.items() if value != default} | read


def _settings(graph: Any, nodes: Mapping[str, Any]) -> dict[str, Any]:
    """Of a method what its builder was given, which the rest follows from; of agents from elsewhere their own."""
    found, told = {}, []
    for path, method in _methods(graph):
        found.update({f"{path}{name}": value for name, value in method.settings.items()})
        told += [f"{path}{node}/" for node in method.own_nodes]
    for node, about in nodes.items():
        if not f"{node}/".startswith(tuple(told)):
            found.update({f"{node}.{name}": value for name, value in about.get("options", {}).items()})
    found |= {f"{node}.critics": ",".join(about["critics"]) for node, about in nodes.items() if "critics" in about}
    return found | dict(_deciding(graph))


def _deciding(graph: Any) -> Iterator[tuple[str, str]]:
    """(place, digest) of nodes and conditions that are not ours: no judge and no prompt says what they do."""
    for node, thing in nodes(graph):
        code = None if hasattr(thing, "ainvoke") else code_of(thing)
        if code is not None:
            name = getattr(thing, "__name__", None) or type(thing).__name__
            yield f"{node}.code", f"{name}@{code}"
    for node, agent in agents_of(graph):
        when = getattr(agent, "when", None)
        if getattr(when, "own", False):
            place, _, _ = node.rpartition("/")
            yield f"{place}/when.code".lstrip("/"), digest(json.dumps(serialise_setting(when), sort_keys=True))


def _methods(graph: Any, path: str = "") -> Iterator[tuple[str, MethodSpec]]:
    """(path, what it declares) of every method in a compiled graph, itself first."""
    builder = getattr(graph, "builder", None)
    if (spec := spec_of(builder)) is not None:
        yield path, spec
    for name, node in getattr(builder, "nodes", {}).items():
        yield from _methods(node.runnable, f"{path}{name}/")


def criteria_name(graph: Any) -> str:
    """The criteria set in use, such as "forms"; "5 of forms" of a part of it; "own" for criteria of the caller's own.

    "" for a graph that judges by none it knows beforehand.
    """
    asked: list[Criterion] = details(graph)["criteria"]
    if not asked:
        return ""
    for name in known_sets():
        ours = criteria_set(name).criteria
        if all(one in ours for one in asked):
            return name if len(asked) == len(ours) else f"{len(asked)} of {name}"
    return "own"


def _judged_by(criteria: Sequence[Criterion], tasks: Sequence[str]) -> list[str]:
    """Digests of tasks and criteria (of one set the set's own), and the scales."""
    task = "\n".join(dict.fromkeys(tasks))
    if not criteria:
        return [f"task:{blake2b(task.encode(), digest_size=4).hexdigest()}"] if task else []
    digest = CriteriaSet.model_construct(name="", task=task, criteria=tuple(criteria)).digest
    scales = dict.fromkeys(str(c.scale).replace(" ", "") for c in criteria)
    return [f"criteria:{digest}", f"scale:{','.join(scales)}"]


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


# How two configurations differ, in lines for people.


ABSENT = "not there"
LONGEST = 80  # characters of a value in a line
LISTED = ("edges", "state")  # a line for each that came or went


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """A readable line for each thing that is not the same: "nodes.critique.prompt: sage@1111aaaa -> sage@2222bbbb".

    What came or went as a whole (a node, a criterion) is one line: "nodes.extra: not there -> Judge". None where
    two configurations mean the same, whatever the order of their keys.
    """
    lines: list[str] = []
    for key in [*old, *(key for key in new if key not in old)]:
        if not (_inside(key, old, new) or _inside(key, new, old)):
            lines += _changed(key, old.get(key, ABSENT), new.get(key, ABSENT))
    return lines


def _inside(key: str, lacking: Mapping[str, Any], having: Mapping[str, Any]) -> bool:
    """Whether it is a part of something that is lacking as a whole, which has a line of its own."""
    ends = [place for place, sign in enumerate(key) if sign in "./"]
    return any(key[:end] in having and key[:end] not in lacking for end in ends)


def _changed(key: str, old: Any, new: Any) -> list[str]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        names = [*old, *(name for name in new if name not in old)]
        lines = [line for n in names for line in _changed(f"{key}.{n}", old.get(n, ABSENT), new.get(n, ABSENT))]
        return lines if lines or list(old) == list(new) else _changed(f"{key}, in order", list(old), list(new))
    if old == new:
        return []
    if key in LISTED and isinstance(old, list) and isinstance(new, list):
        gone = [f"{key}: no more: {one_line(one)}" for one in old if one not in new]
        return gone + [f"{key}: new: {one_line(one)}" for one in new if one not in old]
    before, after = _cut(_text(old), _text(new))
    return [f"{one_line(key, 120)}: {before} -> {after}"]


def _cut(old: str, new: str) -> tuple[str, str]:
    """Both in short; where they begin alike beyond that, from shortly before they part."""
    same = next((place for place, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    start = same - LONGEST // 4 if same > LONGEST // 2 and max(len(old), len(new)) > LONGEST else 0
    before, after = (("…" if start else "") + one_line(text[start:], LONGEST) for text in (old, new))
    return (before, after) if before != after else (before, f"{after} (other white space)")


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False)


# What the results of a run depend on, as a flat table, and how two of them differ.


ASKED = ("criterion", "budget")  # of a graph that is an assistant
OWN = ("judge", "prompt", "duty_prompts", "reader", "criteria", "assistants", "tools")  # have a key of their own


def configuration(graph: Any, *, without: Sequence[str] = ()) -> dict[str, Any]:
    """All that a run's replies and scores depend on, and nothing else: keys in dots, values that JSON can hold.

    Such as {"method": "sageval", "version": "0.1.0", "nodes.evaluate": "Evaluator", "nodes.evaluate.judge":
    "openai:m@t0", "nodes.evaluate.prompt": "evaluate@3f9c1e07", "nodes.critique.options.calls": "three",
    "criteria.Coherence": {"scale": "1-5", "definition": "..."}, "edges": ["evaluate -> critique", ...],
    "nodes.foo.code": "1a2b3c4d", "nodes.foo.package": "foos 1.0"}. Code of the caller's own is told by a digest, a
    plug-in's by its version too, ours by ours. How fast and how patiently it runs is no part of it, no key ever is.
    Evidence of samples that is not shown is "left out": {"reference": "left out"}.

    Raises:
        ConfigError: an agent names a prompt that cannot be read.
    """
    found: dict[str, Any] = {"method": graph.get_name(), "version": __version__}
    about, agents = details(graph)["nodes"], dict(agents_of(graph))
    criteria: dict[str, Criterion] = {}
    for name, thing in nodes(graph):
        key = f"nodes.{name.replace('.', '%2E')}"
        found[key] = _kind(thing)
        said = _agent(agents[name], about[name], criteria) if name in agents else _other(thing)
        found |= {f"{key}.{what}": value for what, value in said}
        if packages := packages_of(thing):
            found[f"{key}.package"] = packages
        if not hasattr(thing, "ainvoke") and (code := code_of(thing, closed_over)):
            found[f"{key}.code"] = code
    found |= {f"criteria.{name}": _criterion(one) for name, one in criteria.items()}
    found |= {"edges": edges(graph), "state": reducers(graph)} | dict.fromkeys(without, "left out")
    clean: dict[str, Any] = _without(found, _secrets(agents.values()))
    return clean


def plain(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """As it comes back from a manifest."""
    found: dict[str, Any] = json.loads(json.dumps(configuration))
    return found


def _kind(thing: Any) -> str:
    if hasattr(thing, "builder"):
        return f"graph {thing.get_name()}"
    while isinstance(thing, partial):
        thing = thing.func
    name = getattr(thing, "__name__", None)
    return f"function {name}" if name else type(thing).__name__


def _agent(agent: Any, about: Mapping[str, Any], criteria: dict[str, Criterion]) -> Iterator[tuple[str, Any]]:
    """(key, value) of all that one agent is set to; its criteria join the others."""
    if "judge" in about:
        yield "judge", about["judge"]
    if "prompt" in about:
        yield "prompt", _prompts(agent, about["prompt"])
    if "reader" in about:
        yield "reader", about["reader"]
    if asked := getattr(agent, "criteria", None):
        yield "criteria", [_known(c, criteria) if isinstance(c, Criterion) else serialise_setting(c) for c in asked]
    if (offered := getattr(agent, "assistants", None)) is not None:
        yield "assistants", _assistants(offered)
    if (tools := getattr(agent, "tools", None)) is not None:
        yield "tools", _tools(tools)
    own = {*OWN, *(["temperature"] if "judge" in about else [])}  # the judge's line has it
    for field in fields(agent):
        if field.name not in own and changes_result(field.name):
            yield f"options.{field.name}", serialise_setting(getattr(agent, field.name))


def _other(thing: Any) -> Iterator[tuple[str, Any]]:
    """What is told of a node that is no agent: the steps of a chain, the fields of an object with a call."""
    if hasattr(thing, "ainvoke"):
        yield from () if hasattr(thing, "builder") else [("runs", serialise_setting(thing))]
        return
    while isinstance(thing, partial):
        yield from [("options.args", serialise_setting(list(thing.args)))] if thing.args else []
        yield from (
            (f"options.{name}", serialise_setting(value))
            for name, value in thing.keywords.items()
            if changes_result(name)
        )
        thing = thing.func
    owner = getattr(thing, "__self__", thing)
    if not isinstance(owner, FunctionType | type | ModuleType):
        for name, value in fields_of(owner):
            if changes_result(name):
                yield f"options.{name}", serialise_setting(value)


def _tools(tools: Any) -> Any:
    """Name -> what a model is told of it, for tools as OpenAI's interface takes them."""
    listed = [t.get("function", t) if isinstance(t, Mapping) else t for t in tools]
    if all(isinstance(t, Mapping) and "name" in t for t in listed):
        return {str(t["name"]): serialise_setting({k: v for k, v in t.items() if k != "name"}) for t in listed}
    return serialise_setting(listed)


def _prompts(agent: Any, first: str) -> Any:
    """A template with its digest, or several with theirs; of a file the name alone, wherever it lies."""
    from judgegraph import prompts

    named = [str(name) for name in getattr(agent, "prompts", None) or ()]
    if len(named) < 2:
        return Path(first).name
    return {Path(name).name: prompts.load(name).digest for name in named}


def _known(criterion: Criterion, criteria: dict[str, Criterion]) -> str:
    """The name by which a criterion stands in the table: two of one name are told apart."""
    name, number = criterion.name, 1
    while criteria.setdefault(name, criterion) != criterion:
        number += 1
        name = f"{criterion.name} ({number})"
    return name


def _criterion(criterion: Criterion) -> dict[str, Any]:
    rest = criterion.model_dump(mode="json", exclude={"name", "scale"}, exclude_defaults=True)
    return {"scale": str(criterion.scale), **rest}


def _assistants(offered: Any) -> Any:
    """Name -> what a model is told of it, with a digest of its code where it is the caller's own."""
    if isinstance(offered, Mapping) or not isinstance(offered, Iterable) or isinstance(offered, str):
        return serialise_setting(offered)
    found = {}
    for one in offered:
        code = code_set(one) or code_set(getattr(one, "measure", None))
        text = str(serialise_setting(str(getattr(one, "about", "")))) or type(one).__name__
        if hasattr(inner := getattr(one, "graph", None), "builder"):
            text = f"{text} (graph {_digest(configuration(inner))})"
        text += "".join(
            f" ({what} {brief_setting(v)})" for what in ASKED if (v := getattr(one, what, None)) is not None
        )
        found[str(getattr(one, "name", one))] = f"{text} (code {code})" if code else text
    return found


def _digest(table: Mapping[str, Any]) -> str:
    return digest(json.dumps(table, sort_keys=True))


def _secrets(agents: Iterable[Any]) -> tuple[str, ...]:
    """What must stand nowhere: keys, headers and logins of all judges that agents hold."""
    found: set[str] = set()
    for agent in agents:
        for value in [getattr(agent, field.name, None) for field in fields(agent)]:
            endpoint = Endpoint(model=value) if isinstance(value, str) and value.startswith("openai:") else value
            if isinstance(endpoint, Endpoint):
                key = os.environ.get(endpoint.api_key_env, "")
                found |= {*credentials(endpoint.base_url or os.environ.get("OPENAI_BASE_URL", "")), key}
            elif is_judge(value):
                found |= {*secrets_of(value)}
    return tuple(sorted((s for s in found if len(s) >= 8), key=len, reverse=True))


def _without(value: Any, secrets: tuple[str, ...]) -> Any:
    if isinstance(value, str):
        return scrubbed(value, secrets)
    if isinstance(value, Mapping):
        return {key: _without(inner, secrets) for key, inner in value.items()}
    return [_without(inner, secrets) for inner in value] if isinstance(value, list) else value
