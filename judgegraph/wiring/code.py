"""What a function says without being run: its code the names it mentions, its source what it returns."""

from __future__ import annotations

import ast
import dataclasses
import dis
import inspect
import linecache
import types
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, lru_cache, partial
from types import CodeType, FunctionType, MethodType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import typing_extensions
from langgraph.types import Command
from pydantic import BaseModel

from judgegraph.types import EvalState

DEPTH = 3  # of functions that call functions


def hints_of(function: Any) -> dict[str, Any]:
    """Annotations of a function, or of an object's `__call__`; none where they cannot be resolved."""
    if isinstance(function, partial):
        return {}
    plain = isinstance(function, FunctionType | MethodType)
    try:
        return get_type_hints(function if plain else type(function).__call__, include_extras=True)
    except Exception:  # whatever stands in a user's annotations
        return {}


def functions(thing: Any, depth: int = DEPTH, known: set[int] | None = None) -> Iterator[FunctionType]:
    """A function, or the methods of an object, and what they hold or call in their own module."""
    known = set() if known is None else known
    if depth < 0 or id(thing) in known:
        return
    known.add(id(thing))
    if isinstance(thing, partial):
        inner: list[Any] = [thing.func, *thing.args, *thing.keywords.values()]
    elif isinstance(thing, MethodType):
        inner = [thing.__func__, thing.__self__]
    elif isinstance(thing, FunctionType):
        yield thing
        inner = [*held(thing).values()]
    else:
        ours = [vars(c) for c in type(thing).__mro__ if c.__module__ not in ("builtins", "abc", "typing")]
        inner = [value for members in ours for value in members.values() if isinstance(value, FunctionType)]
        inner += [value for value in getattr(thing, "__dict__", {}).values() if callable(value)]
    for one in inner:
        if callable(one) and not isinstance(one, type):
            yield from functions(one, depth - 1, known)


def held(function: FunctionType) -> dict[str, Any]:
    """What a function's closure holds by name, and functions of its module that it names."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not filled yet
            continue
    for name in {name for code in codes(function.__code__) for name in code.co_names}:
        value = function.__globals__.get(name)
        if isinstance(value, FunctionType) and value.__module__ == function.__module__:
            found.setdefault(name, value)
    return found


def codes(code: CodeType) -> Iterator[CodeType]:
    """A function's code and that of the functions inside it."""
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from codes(const)


def mentions(thing: Any) -> frozenset[str]:
    """Every text and name in the code of a function or an object: whoever reads a key names it."""
    found: set[str] = set()
    for function in functions(thing):
        for code in codes(function.__code__):
            found |= {*code.co_names, *(text for const in code.co_consts for text in _texts(const))}
        found |= {value for value in held(function).values() if isinstance(value, str)}
    values = getattr(thing, "__dict__", {}).values() if not isinstance(thing, FunctionType) else ()
    return frozenset(found | {value for value in values if isinstance(value, str)})


def _texts(const: Any) -> Iterator[str]:
    if isinstance(const, str):
        yield const
    elif isinstance(const, tuple | frozenset):
        for one in const:
            yield from _texts(one)


def sends(thing: Any) -> tuple[bool, frozenset[str]]:
    """Whether code makes a `Send`, and to which nodes as far as it says."""
    makes, to = False, set()
    for function in functions(thing):
        inside, around = held(function), function.__globals__
        for code in codes(function.__code__):
            steps = list(dis.get_instructions(code))
            for at, step in enumerate(steps):
                if step.argval != "Send" or not step.opname.startswith("LOAD_"):
                    continue
                makes = True
                target = _loaded(steps[at + 1 : at + 4], {**around, **inside})
                to |= {target} if isinstance(target, str) else set()
    return makes, frozenset(to)


def _loaded(steps: list[dis.Instruction], names: Mapping[str, Any]) -> Any:
    """The first value that is loaded: a constant, or what a name stands for."""
    for step in steps:
        if step.opname == "LOAD_CONST":
            return step.argval
        if step.opname.startswith("LOAD_"):
            return names.get(str(step.argval))
    return None


def repeats(thing: Any) -> bool:
    """Whether code goes over something, item by item."""
    return any(
        step.opname == "FOR_ITER" or step.argval == "map"
        for function in functions(thing)
        for code in codes(function.__code__)
        for step in dis.get_instructions(code)
    )


# The ways through a function's code: what may run after each step, and what the function may return.


UNKNOWN = object()
LISTS = ("BUILD_LIST", "BUILD_TUPLE", "BUILD_SET", "LIST_EXTEND", "SET_UPDATE", "LIST_APPEND")
FACTS = ("COMPARE_OP", "CONTAINS_OP", "IS_OP", "UNARY_NOT")  # true or false
TEXTS = ("FORMAT_VALUE", "BUILD_STRING", "FORMAT_SIMPLE")
OVER = ("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE")
QUIET = ("PRECALL", "CACHE", "PUSH_NULL", "EXTENDED_ARG")
JUMPS = {*dis.hasjrel, *dis.hasjabs}


class Flow:
    """A function's code as steps, each with those that may run after it and before it."""

    def __init__(self, code: CodeType, names: Mapping[str, Any]) -> None:
        self.steps, self.names = list(dis.get_instructions(code)), names
        at = {step.offset: place for place, step in enumerate(self.steps)}
        self.after = [[*self._next(place), *self._jump(step, at)] for place, step in enumerate(self.steps)]
        self.before: list[list[int]] = [[] for _ in self.steps]
        for place, later in enumerate(self.after):
            for one in later:
                self.before[one].append(place)

    def _next(self, place: int) -> list[int]:
        name = self.steps[place].opname
        stops = name in OVER or (name.startswith("JUMP_") and "IF" not in name)
        return [] if stops or place + 1 == len(self.steps) else [place + 1]

    @staticmethod
    def _jump(step: dis.Instruction, at: Mapping[int, int]) -> list[int]:
        return [at[step.argval]] if step.opcode in JUMPS and step.argval in at else []

    def loaded(self, step: dis.Instruction) -> Any:
        """What a step loads: a constant, or what a name stands for."""
        if step.opname in ("LOAD_CONST", "LOAD_SMALL_INT", "RETURN_CONST"):
            return step.argval
        known = step.opname.startswith(("LOAD_GLOBAL", "LOAD_DEREF", "LOAD_NAME"))
        return self.names.get(str(step.argval), UNKNOWN) if known else UNKNOWN

    def sources(self, place: int) -> Iterator[int]:
        """The steps whose value a step finds, one for each way to it."""
        for one in self.before[place]:
            name = self.steps[one].opname
            passes = "OR_POP" in name or (name.startswith("JUMP_") and "IF" not in name)  # `a or b`: a's value
            yield from self.sources(one) if passes else (one,)

    def is_filled(self, loop: int) -> bool:
        """Whether what a FOR_ITER goes over is surely not empty, as far as its code shows."""
        over = next((at for at in range(loop, -1, -1) if self.steps[at].opname == "GET_ITER"), None)
        if over is None:
            return True  # a comprehension's code: whoever calls it knows
        return all(self._filled(one) or self._passed(one, over) for one in self.before[over])

    def _filled(self, place: int) -> bool:
        step = self.steps[place]
        if step.opname.startswith("BUILD_"):
            return bool(step.arg)
        if step.opname in ("LIST_EXTEND", "SET_UPDATE"):  # a display of constants
            return _has_items(self.loaded(self.steps[place - 1]))
        if step.opname == "CALL":
            return self._called(place)
        if step.opname.startswith("LOAD_FAST"):
            stored = [at for at, s in enumerate(self.steps) if s.opname == "STORE_FAST" and s.argval == step.argval]
            return len(stored) == 1 and self._filled(stored[0] - 1)
        return _has_items(self.loaded(step))

    def _called(self, place: int) -> bool:
        """`range(3)`, `sorted(ALL)`, `ALL.items()`."""
        on, what = [step for step in self.steps[max(0, place - 4) : place] if step.opname not in QUIET][-2:]
        if what.argval in ("items", "keys", "values"):
            return _has_items(self.loaded(on))
        value = self.loaded(what)
        if on.argval == "range":
            return isinstance(value, int) and value > 0
        return on.argval in ("enumerate", "list", "reversed", "set", "sorted", "tuple") and _has_items(value)

    def _passed(self, place: int, over: int) -> bool:
        """`state["x"] or ALL`: what is true is not empty."""
        return "IF_TRUE" in self.steps[place].opname and over in self.after[place]


def _has_items(value: Any) -> bool:
    return isinstance(value, Sized) and not isinstance(value, type) and len(value) > 0


def plain_function(thing: Any) -> FunctionType | None:
    """The function that runs where a thing is called; None where its code cannot be seen."""
    if isinstance(thing, partial):
        return plain_function(thing.func)
    if isinstance(thing, MethodType):
        return plain_function(thing.__func__)
    if isinstance(thing, FunctionType):
        return thing
    found = next((vars(c)["__call__"] for c in type(thing).__mro__ if "__call__" in vars(c)), None)
    return found if isinstance(found, FunctionType) else None


def flow_of(function: FunctionType, code: CodeType | None = None) -> Flow:
    """Of a function, or of a piece of code inside it."""
    return Flow(code or function.__code__, {**function.__globals__, **held(function)})


def returns(thing: Any) -> set[str]:
    """The kinds of what a function may return, as its code shows: "name", "list" and "unknown"."""
    function = plain_function(thing)
    if function is None:
        return {"unknown"}
    flow = flow_of(function)
    found = {
        kind
        for place, step in enumerate(flow.steps)
        for kind in ([_kind(step, flow)] if step.opname == "RETURN_CONST" else _kinds(place, flow))
    }
    return found or {"unknown"}


def _kinds(place: int, flow: Flow) -> list[str]:
    if flow.steps[place].opname != "RETURN_VALUE":
        return []
    return [_kind(flow.steps[source], flow) for source in flow.sources(place)] or ["unknown"]


def _kind(step: dis.Instruction, flow: Flow) -> str:
    value = flow.loaded(step)
    if isinstance(value, str | int) or step.opname in FACTS + TEXTS:
        return "name"
    if isinstance(value, list | tuple | set | frozenset) or step.opname in LISTS:
        return "list"
    return "unknown"


# Mappings that code writes out: their keys, and the constants under them.


def only_value(thing: Any, key: str) -> int | None:
    """The one whole number that a function writes under a key, as `{"n": 0}`; None where it does anything else.

    It must name the key nowhere else, and hand nothing on to code of its own.
    """
    function = plain_function(thing)
    if function is None or [*functions(thing)] != [function] or key in function.__code__.co_names:
        return None
    flow = flow_of(function)
    found = {_set_to(flow, place, key) for place, step in enumerate(flow.steps) if _is_key(step.argval, key)}
    return found.pop() if len(found) == 1 else None


def _is_key(value: Any, key: str) -> bool:
    return value == key if isinstance(value, str) else isinstance(value, tuple) and key in value


def _set_to(flow: Flow, place: int, key: str) -> int | None:
    """The number behind a key, where a step names it in a mapping like `{"n": 0, "seen": True}`."""
    step, later = flow.steps[place], flow.steps[place + 1 : place + 3]
    if isinstance(step.argval, tuple) and later and later[0].opname == "BUILD_CONST_KEY_MAP":
        behind = flow.steps[max(0, place - len(step.argval)) : place]
        plain = all(one.opname.startswith("LOAD_") and one.opname != "LOAD_ATTR" for one in behind)
        value = flow.loaded(behind[step.argval.index(key)]) if plain and len(behind) == len(step.argval) else None
    elif len(later) == 2 and later[1].opname == "BUILD_MAP" and later[1].arg == 1:
        value = flow.loaded(later[0]) if later[0].opname in ("LOAD_CONST", "LOAD_SMALL_INT") else None
    else:
        return None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def written_keys(steps: list[dis.Instruction]) -> list[str] | None:
    """The keys of a mapping whose making these steps are, in their order; None where they make anything else."""
    last = steps[-1] if steps else None
    keys: Any = None
    if last is not None and last.opname == "BUILD_CONST_KEY_MAP":
        keys = steps[-2].argval
    elif last is not None and last.opname == "BUILD_MAP" and last.arg == 1 and _is_constant_return(steps):
        keys = [steps[0].argval]
    return [*keys] if keys is not None and all(isinstance(key, str) for key in keys) else None


def _is_constant_return(steps: list[dis.Instruction]) -> bool:
    """Whether the first step loads a constant, and nothing but the last takes it."""
    depth = [0]
    for step in steps[:-1]:
        depth.append(depth[-1] + dis.stack_effect(step.opcode, step.arg))
    return steps[0].opname == "LOAD_CONST" and min(depth[2:], default=0) > 1


# What a node reads and writes, from the annotations of what it calls. What is not annotated is not claimed.


Keys = frozenset[str]
OPTIONAL = {NotRequired, typing_extensions.NotRequired}
DEMANDED = {Required, typing_extensions.Required}


def reads_of(function: Any, schema: Any, whole: Any) -> tuple[Keys, Keys]:
    """Keys that a node must find and keys that it may find; of the whole state nothing definite is read.

    Args:
        schema: what LangGraph hands it. whole: the schema of the graph's state.
    """
    own = _first(function) if schema is whole else schema
    if own is None or own is whole or own is EvalState:
        return frozenset(), frozenset()
    return keys_of(own)


def _first(function: Any) -> Any:
    """The annotation of the state, where it names keys."""
    hints = {name: hint for name, hint in hints_of(function).items() if name != "return"}
    try:
        parameters = [p for p in inspect.signature(function).parameters if p != "self"]
    except (TypeError, ValueError):
        return None
    return hints.get(parameters[0]) if parameters else None


def keys_of(schema: Any) -> tuple[Keys, Keys]:
    """Keys of a TypedDict, a dataclass or a pydantic model: those that must be there, and those that may be."""
    if not isinstance(schema, type):
        return frozenset(), frozenset()
    if issubclass(schema, BaseModel):
        needed = {name for name, field in schema.model_fields.items() if field.is_required()}
        return frozenset(needed), frozenset(set(schema.model_fields) - needed)
    if dataclasses.is_dataclass(schema):
        plain = {f.name: (f.default, f.default_factory) for f in dataclasses.fields(schema)}
        needed = {name for name, given in plain.items() if set(given) == {dataclasses.MISSING}}
        return frozenset(needed), frozenset(set(plain) - needed)
    return _of_typed_dict(schema)


def _of_typed_dict(schema: Any) -> tuple[Keys, Keys]:
    optional = getattr(schema, "__optional_keys__", None)
    if optional is None:
        return frozenset(), frozenset()
    try:
        hints = get_type_hints(schema, include_extras=True)
    except Exception:  # whatever stands in a user's annotations
        return frozenset(), frozenset(schema.__annotations__)
    # as text (`from __future__ import annotations`) a TypedDict does not see its own NotRequired
    needed = {
        k for k, hint in hints.items() if _hints_at(hint, DEMANDED) or not (k in optional or _hints_at(hint, OPTIONAL))
    }
    return frozenset(needed), frozenset(set(hints) - needed)


def _hints_at(hint: Any, what: set[Any]) -> bool:
    origin = get_origin(hint)
    return origin in what or (origin is Annotated and _hints_at(get_args(hint)[0], what))


def writes_of(function: Any, whole: Any) -> Keys | None:
    """Keys that a node may write; None where its annotation does not say."""
    return _written(hints_of(function).get("return"), whole)


def _written(hint: Any, whole: Any) -> Keys | None:
    if hint is type(None):
        return frozenset()
    if len(members(hint)) > 1:
        parts = [_written(part, whole) for part in members(hint)]
        return None if None in parts else frozenset(key for part in parts for key in part or ())
    if hint is None or hint is whole or hint is EvalState or _is_command(hint):
        return None
    needed, optional = keys_of(hint)
    return needed | optional or None


def _is_command(hint: Any) -> bool:
    kind = get_origin(hint) or hint
    return isinstance(kind, type) and issubclass(kind, Command)


def members(hint: Any) -> tuple[Any, ...]:
    """Of a union its parts; none where nothing is annotated."""
    if hint is None:
        return ()
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def plain_type(hint: Any) -> Any:
    """The class behind an annotation: of `NotRequired[Annotated[dict[str, Score], merged]]` it is dict; else None."""
    while get_origin(hint) is Annotated or get_origin(hint) in OPTIONAL | DEMANDED:
        hint = get_args(hint)[0]
    kind = get_origin(hint) or hint
    if kind in (Union, types.UnionType, Any, object, type(None)) or not isinstance(kind, type):
        return None  # Any is a class
    return dict if kind is not dict and issubclass(kind, Mapping) else kind


# Fan-outs: whether one may send nothing.


def may_send_nothing(thing: Any) -> bool:
    """Whether some way through the code that makes a `Send` makes none; False where that code cannot be seen."""
    return any(_skips(function, function.__code__) for function in functions(thing) if _makes(function.__code__))


def _makes(code: CodeType) -> bool:
    return any("Send" in one.co_names or "Send" in one.co_freevars for one in codes(code))


def _skips(function: FunctionType, code: CodeType) -> bool:
    """Whether its end can be reached without a `Send`; a loop over what is never empty is gone through first."""
    flow = flow_of(function, code)
    todo, known = [(0, -1)], set()
    while todo:
        place, came = todo.pop()
        step = flow.steps[place]
        if _sends_here(function, flow, place):
            continue
        if step.opname in ("RETURN_VALUE", "RETURN_CONST"):
            return True
        later = flow.after[place]
        if step.opname == "FOR_ITER" and came < place and flow.is_filled(place):
            later = later[:1]
        for one in later:
            if (place, one) not in known:
                known.add((place, one))
                todo.append((one, place))
    return False


def _sends_here(function: FunctionType, flow: Flow, place: int) -> bool:
    """A step that names `Send`, or a comprehension over what is never empty that makes one for each."""
    step = flow.steps[place]
    if step.argval == "Send" and step.opname.startswith("LOAD_"):
        return True
    if (
        not isinstance(step.argval, CodeType)
        or not step.argval.co_name.endswith(("comp>", "genexpr>"))
        or not _makes(step.argval)
    ):
        return False
    over = next((at for at in range(place, len(flow.steps)) if flow.steps[at].opname == "GET_ITER"), None)
    plain = over is not None and flow.is_filled(over)
    return plain and not _skips(function, step.argval)


# What a check finds: a code, where it is, and a message with its cure.


Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a graph's wiring.

    Attributes:
        code: its kind, such as "missing-writer". node: its name, an inner one as "weigh/judge".
        key: of the state; "" where none is concerned. message: one line: node, key and cure.
        severity: an "error" refuses the graph, a "warning" is shown.
    """

    code: str
    node: str
    key: str
    message: str
    severity: Severity = "error"

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"

    def to_dict(self) -> dict[str, str]:
        """All of it, for JSON."""
        about = {"code": self.code, "node": self.node, "key": self.key}
        return {**about, "severity": self.severity, "message": self.message}


def listed(names: Iterable[str]) -> str:
    """Names in words: "'a', 'b' and 'c'"."""
    *most, last = [f"'{name}'" for name in names] or ["nothing"]
    return f"{', '.join(most)} and {last}" if most else last


# What a function's source says, without being run: its names, and what it may return.


Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
VALUES = (str, bool, int, Enum, Mapping, list, tuple, set, frozenset, type(None))  # that a name may stand for
MOST_TREES = 1000  # functions whose definition is kept
GROWING, ORDERING = {"append", "add"}, {"sort", "reverse"}


class Source:
    """A function and its source.

    Attributes:
        tree: its definition. function: it itself. names: what stands around it by name: its closure, its module.
        parameters: of the call, without `self` and what a partial has given already.
    """

    def __init__(self, function: FunctionType, tree: Definition, skipped: int, given: frozenset[str]) -> None:
        self.tree, self.function = tree, function
        self.names = {**function.__globals__, **held(function)}
        listed = [arg.arg for arg in (*tree.args.posonlyargs, *tree.args.args)]
        self.parameters = [name for name in listed[skipped:] if name not in given]

    @property
    def state(self) -> str:
        """The name under which it takes the state; "" where it gives that name to something else, too."""
        name = self.parameters[0] if self.parameters else ""
        return "" if name in self.assigned else name

    @property
    def inside(self) -> Sequence[ast.AST]:
        """All of its nodes, without those of functions within."""
        return _nodes(self.tree)

    @property
    def assigned(self) -> Mapping[str, Sequence[ast.expr | None]]:
        """Name -> what is assigned to it, None where that cannot be seen."""
        return _assigned(self.tree)

    def bound(self, name: str) -> Sequence[ast.expr | None]:
        """What is assigned to a name, None where that cannot be seen or an annotation says more of it."""
        targets = [node.target for node in self.inside if isinstance(node, ast.AnnAssign)]
        said = any(isinstance(one, ast.Name) and one.id == name for one in targets)
        return [None] if said else self.assigned.get(name) or [None]

    @cached_property
    def texts(self) -> frozenset[str]:
        """Every text that is written in it."""
        constants = (node.value for node in ast.walk(self.tree) if isinstance(node, ast.Constant))
        return frozenset(value for value in constants if isinstance(value, str))

    @cached_property
    def caught(self) -> frozenset[int]:
        """The ids of its nodes whose errors may go no further: those of a `try` with a handler, and of a `with`."""
        around = [
            node for node in self.inside
            if isinstance(node, ast.With | ast.AsyncWith) or (isinstance(node, ast.Try | ast.TryStar) and node.handlers)
        ]  # fmt: skip
        return frozenset(id(one) for node in around for part in node.body for one in ast.walk(part))

    def is_builtin(self, call: ast.Call, names: Collection[str]) -> bool:
        """Whether one of Python's own functions is called, by one of these names that stands for nothing else."""
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        return name in names and name not in self.assigned and name not in self.names

    @cached_property
    def returned(self) -> list[ast.expr | None]:
        """What it may return: an expression, or None for nothing."""
        if isinstance(self.tree, ast.Lambda):
            return [self.tree.body]
        found = [node.value for node in self.inside if isinstance(node, ast.Return)]
        return [*found, *([None] if _falls_through(self.tree.body) else [])]

    @property
    def yields(self) -> bool:
        """Whether it is a generator, whose value is none of what it returns."""
        return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in self.inside)

    def calls_on(self, name: str) -> list[ast.Call]:
        """Calls of methods of what a name stands for."""
        return [
            node for node in self.inside
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name) and node.func.value.id == name
        ]  # fmt: skip

    def values(self, node: ast.expr | None, depth: int = 4) -> list[Any]:
        """What an expression may stand for; `UNKNOWN` among it where that cannot be seen."""
        if node is None or depth < 0:
            return [UNKNOWN]
        if isinstance(node, ast.Constant):
            return [node.value]
        if isinstance(node, ast.IfExp):
            return [*self.values(node.body, depth), *self.values(node.orelse, depth)]
        if isinstance(node, ast.BoolOp):
            return [value for one in node.values for value in self.values(one, depth)]
        if isinstance(node, ast.Name):
            return self._of_name(node.id, depth)
        if isinstance(node, ast.Attribute):
            return [_plain(_attribute(owner, node.attr)) for owner in self._owners(node.value)]
        if isinstance(node, ast.Subscript):
            return self._picked(node.value, node.slice, depth)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            default = self.values(node.args[1], depth) if len(node.args) == 2 else []
            return [*(self._picked(node.func.value, node.args[0], depth) if node.args else [UNKNOWN]), *default]
        return self._display(node, depth)

    def _of_name(self, name: str, depth: int) -> list[Any]:
        if name in self.assigned:
            return [value for one in self.assigned[name] for value in self.values(one, depth - 1)]
        own = self.tree.args
        taken = {arg.arg for arg in (*own.posonlyargs, *own.args, *own.kwonlyargs)}
        return [UNKNOWN] if name in taken else [_plain(self.names.get(name, UNKNOWN))]

    def _owners(self, node: ast.expr) -> list[Any]:
        """A class or a module behind a dot."""
        known = isinstance(node, ast.Name) and node.id not in self.assigned
        return [self.names.get(node.id, UNKNOWN) if known and isinstance(node, ast.Name) else UNKNOWN]

    def _picked(self, mapping: ast.expr, key: ast.expr, depth: int) -> list[Any]:
        """What stands in a mapping, or a list, under a key; all of it where the key is not known."""
        keys = self.values(key, depth - 1)
        found: list[Any] = []
        for value in self.values(mapping, depth - 1):
            if isinstance(value, Mapping):
                some = [value[k] for k in keys if k is not UNKNOWN and _hashable(k) and k in value]
                found += map(_plain, [*value.values()] if UNKNOWN in keys else some)
            elif isinstance(value, list | tuple) and value:
                known = all(isinstance(k, int) and -len(value) <= k < len(value) for k in keys)
                found += map(_plain, [value[k] for k in keys] if known else value)
            else:
                found.append(UNKNOWN)
        return found

    def _display(self, node: ast.expr, depth: int) -> list[Any]:
        """A mapping or a list that is written out, of constants alone."""
        if isinstance(node, ast.List | ast.Tuple):
            items = [self.values(one, depth - 1) for one in node.elts]
            return [[one for values in items for one in values]]
        if isinstance(node, ast.Dict) and all(node.keys):
            keys, items = [self.values(k, depth - 1) for k in node.keys], [self.values(v, depth) for v in node.values]
            if all(len(key) == 1 and key[0] is not UNKNOWN for key in keys) and all(len(v) == 1 for v in items):
                return [dict(zip([k[0] for k in keys], [v[0] for v in items], strict=True))]
        return [UNKNOWN]

    def called(self, node: ast.Call) -> Any:
        """What is called: a class, a function; `UNKNOWN` where it cannot be seen."""
        if isinstance(node.func, ast.Name) and node.func.id not in self.assigned:
            builtin = {"list": list, "tuple": tuple, "sorted": sorted, "set": set, "dict": dict}
            return self.names.get(node.func.id, builtin.get(node.func.id, UNKNOWN))
        if isinstance(node.func, ast.Attribute):
            return _attribute(self._owners(node.func.value)[0], node.func.attr)
        return UNKNOWN


def source_of(thing: Any) -> Source | None:
    """Of whatever is called: a function, a method, a partial, an object with `__call__`; None where it is not at hand.

    What is decorated is its wrapper, which says nothing of the function within.
    """
    function = plain_function(thing)
    if function is None or not (tree := _tree(function)):
        return None
    skipped, given, one = 0, frozenset[str](), thing
    while isinstance(one, partial):
        skipped, given, one = skipped + len(one.args), given | one.keywords.keys(), one.func
    bound = isinstance(one, MethodType) or not isinstance(one, FunctionType)
    return Source(function, tree, skipped + bound, given)


_trees: dict[int, tuple[CodeType, list[str], Definition | None]] = {}  # id of a code -> it, its file, its definition


def _tree(function: FunctionType) -> Definition | None:
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    known = _trees.get(id(code))
    if known is None or known[0] is not code or known[1] is not lines:
        if len(_trees) >= MOST_TREES:
            _trees.clear()
        known = _trees[id(code)] = code, lines, _definition(code, "".join(lines))
    return known[2]


def _definition(code: CodeType, text: str) -> Definition | None:
    found = [
        tree for tree in _definitions(text)
        if _first_line(tree) == code.co_firstlineno and getattr(tree, "name", "<lambda>") == code.co_name
    ]  # fmt: skip
    if len(found) > 1:  # lambdas of one line
        places = {(line, column) for line, _, column, _ in code.co_positions()}
        found = [t for t in found if isinstance(t, ast.Lambda) and (t.body.lineno, t.body.col_offset) in places]
    return found[0] if len(found) == 1 else None


@lru_cache(maxsize=64)
def _definitions(text: str) -> tuple[Definition, ...]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    return tuple(node for node in ast.walk(tree) if isinstance(node, kinds))


def _first_line(tree: Definition) -> int:
    decorators = () if isinstance(tree, ast.Lambda) else tree.decorator_list
    return min(tree.lineno, *(one.lineno for one in decorators), tree.lineno)


@lru_cache(maxsize=512)  # of a tree, which nobody changes; the five judges of a panel are one function
def _nodes(tree: Definition) -> tuple[ast.AST, ...]:
    return (*_inside(tree),)


@lru_cache(maxsize=512)
def _assigned(tree: Definition) -> dict[str, list[ast.expr | None]]:
    found: dict[str, list[ast.expr | None]] = {}
    for node in _nodes(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                for name in _names(target):
                    found.setdefault(name, []).append(node.value if isinstance(target, ast.Name) else None)
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            for name in _names(node.target):
                item = ast.Subscript(node.iter, ast.Name("?", ast.Load()), ast.Load())  # some item of it
                found.setdefault(name, []).append(item if isinstance(node.target, ast.Name) else None)
        else:
            for name in _stored(node):
                found.setdefault(name, []).append(None)
    for name in _given_elsewhere(tree) & found.keys():
        found[name].append(None)
    return found


def _given_elsewhere(tree: Definition) -> set[str]:
    """Names that a call brings, and those that functions within give values to."""
    args = tree.args
    more = [arg for arg in (args.vararg, args.kwarg) if arg is not None]
    taken = {arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs, *more)}
    return taken.union(*(node.names for node in ast.walk(tree) if isinstance(node, ast.Nonlocal)))


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    body = node.body if isinstance(node, ast.Lambda) else None
    for child in [body] if body is not None else _children(node):
        yield child
        if not isinstance(child, NESTED):
            yield from _inside(child)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Of a definition its body alone: defaults and annotations are not run with it."""
    yield from node.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else ast.iter_child_nodes(node)


def _names(target: ast.AST, contexts: Any = ast.Store) -> list[str]:
    return [node.id for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, contexts)]


def _stored(node: ast.AST) -> list[str]:
    """Names to which a statement or a pattern gives what cannot be seen."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [(one.asname or one.name).partition(".")[0] for one in node.names]
    if isinstance(node, ast.Global | ast.Nonlocal):
        return node.names
    if isinstance(node, ast.MatchMapping):
        return [node.rest] if node.rest else []
    kinds = (ast.ExceptHandler, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.MatchAs, ast.MatchStar)
    if isinstance(node, kinds):
        return [node.name] if node.name else []
    if isinstance(node, ast.With | ast.AsyncWith):
        return [name for item in node.items if item.optional_vars is not None for name in _names(item.optional_vars)]
    return _names(node, ast.Store | ast.Del) if isinstance(node, ast.AugAssign | ast.Delete) else []


def _falls_through(body: list[ast.stmt]) -> bool:
    """Whether the end of some statements can be reached."""
    last = body[-1] if body else None
    if isinstance(last, ast.If):
        return not last.orelse or _falls_through(last.body) or _falls_through(last.orelse)
    if isinstance(last, ast.With | ast.AsyncWith):
        return _falls_through(last.body)
    if isinstance(last, ast.Try):
        ways = [last.orelse or last.body, *(one.body for one in last.handlers)]
        return not (last.finalbody and not _falls_through(last.finalbody)) and any(map(_falls_through, ways))
    if isinstance(last, ast.Match):
        return not _catches_all(last) or any(_falls_through(case.body) for case in last.cases)
    forever = isinstance(last, ast.While) and isinstance(last.test, ast.Constant) and bool(last.test.value)
    return not (isinstance(last, ast.Return | ast.Raise | ast.Assert) or forever)


def _catches_all(match: ast.Match) -> bool:
    pattern, guard = match.cases[-1].pattern, match.cases[-1].guard
    return isinstance(pattern, ast.MatchAs) and pattern.pattern is None and guard is None


def _attribute(owner: Any, name: str) -> Any:
    """What a class or a module has by a name."""
    plain = isinstance(owner, type) or type(owner).__name__ == "module"
    if type(owner).__name__ == "module" and owner.__name__ == "judgegraph":
        return getattr(owner, name, UNKNOWN)  # it loads its names when they are first asked for
    return vars(owner).get(name, UNKNOWN) if plain else UNKNOWN


def _plain(value: Any) -> Any:
    return value if isinstance(value, VALUES) else UNKNOWN


def _hashable(value: Any) -> bool:
    return not isinstance(value, list | dict | set)


# Payloads: what is sent to a node, where it is written out as a mapping.


def payloads(thing: Any) -> set[tuple[str, Keys]]:
    """(node, keys) of every `Send("node", {"key": ...})` in some code; of other payloads nothing is told."""
    found: set[tuple[str, Keys]] = set()
    for function in functions(thing):
        for code in codes(function.__code__):
            flow = flow_of(function, code)
            for place, step in enumerate(flow.steps):
                if step.argval == "Send" and step.opname.startswith("LOAD_"):
                    sent = _sent(flow, place + 1)
                    found |= {sent} if sent else set()
    return found


def _sent(flow: Flow, place: int) -> tuple[str, Keys] | None:
    """The arguments of a call that starts at a step, where they are a name and a mapping of written keys."""
    while place < len(flow.steps) and flow.steps[place].opname == "PUSH_NULL":
        place += 1
    if place >= len(flow.steps):
        return None
    to, steps = flow.loaded(flow.steps[place]), _argument(flow, place + 1)
    keys = written_keys(steps)
    return (to, frozenset(keys)) if isinstance(to, str) and keys is not None else None


def _argument(flow: Flow, place: int) -> list[dis.Instruction]:
    """The steps that make the second and last argument; none where the code branches in it."""
    depth, found = 0, list[dis.Instruction]()
    for at in range(place, len(flow.steps)):
        step = flow.steps[at]
        if step.opname in ("PRECALL", "CALL") and depth == 1:
            return found if step.arg == 2 else []
        if len(flow.after[at]) != 1 or (step.opname == "KW_NAMES" and depth == 1):
            return []
        depth += dis.stack_effect(step.opcode, step.arg)
        found.append(step)
    return []
