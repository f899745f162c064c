"""Functions of one's own: by their source which keys they take and write and where they lead; reducers, by trying."""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from enum import Enum
from types import BuiltinFunctionType
from typing import Annotated, Any, Literal, NotRequired, Required, get_args, get_origin

from langgraph.graph import END
from langgraph.types import Command, Send
from pydantic import BaseModel

from judgegraph.compiled import function_of
from judgegraph.wiring.code import (
    COMPREHENSIONS,
    GROWING,
    ORDERING,
    UNKNOWN,
    Keys,
    Source,
    functions,
    hints_of,
    may_send_nothing,
    members,
    mentions,
    repeats,
    returns,
    sends,
    source_of,
)

# Functions of one's own as nodes: the keys that their source takes and writes, beside what annotations say.


DEPTH = 2  # of functions that give what another one gives
CONDITIONAL = {  # of a statement or an expression those parts that always run
    ast.If: {"test"}, ast.While: {"test"}, ast.For: {"iter"}, ast.AsyncFor: {"iter"}, ast.IfExp: {"test"},
    ast.Try: {"finalbody"}, ast.Match: {"subject"}, ast.ListComp: set(), ast.SetComp: set(), ast.DictComp: set(),
    ast.GeneratorExp: set(), ast.BoolOp: set(),
}  # fmt: skip


@dataclass
class Given:
    """Keys of the mappings that a function returns; whole: all of them could be seen."""

    keys: set[str] = field(default_factory=set)
    whole: bool = True


@dataclass(frozen=True)
class Taken:
    """Keys that a function takes of its state: surely, in some cases, and those that it does without."""

    sure: Keys = frozenset()
    some: Keys = frozenset()
    asked: Keys = frozenset()


def taken(function: Any) -> Taken:
    """`state["key"]` and `state.get("key")`, as far as its source shows what its state is."""
    source = source_of(function)
    if source is None or not source.state:
        return Taken()
    subscripts, asked = list[ast.Subscript](), set[str]()
    others = set[str]()
    for node in source.inside:
        key = _key(node, source.state)
        if isinstance(node, ast.Subscript) and key:
            subscripts.append(node)
        elif isinstance(node, ast.Call) and key:
            asked.add(key)
        elif isinstance(node, ast.Compare) and isinstance(node.left, ast.Constant):
            others.add(str(node.left.value))
    always = {id(node) for node in _always(source)}
    keys = {_key(node, source.state) for node in subscripts} - asked - others
    sure = {_key(node, source.state) for node in subscripts if id(node) in always} & keys
    return Taken(frozenset(sure), frozenset(keys - sure), frozenset(asked))


def _key(node: ast.AST, state: str) -> str:
    """The key that an expression takes of the state, "" where it takes none."""
    key: Any = None
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and _is(node.value, state):
        key = node.slice
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is(node.func.value, state):
        key = node.args[0] if node.func.attr == "get" and node.args else None
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


# What is taken of the values that stand in a state: a Score has `value`, and no `values`.


SAME = ("list", "tuple", "sorted", "reversed", "set")  # of the same entries
GROWN = ("append", "extend", "insert", "setdefault", "update")  # what gives a list or a mapping further entries
ALIKE = 0.7  # two names, of 1, one of which may be meant: "score" is not "scale"
ITEM = "?"  # stands for the place of some item: see `Source.assigned`


def wrong_attributes(source: Source, hints: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """(key, what is wrong, cure) of attributes that a function takes of values of its state and that these lack.

    Only what is certain: an attribute that the function names as a text too (`hasattr`), or takes where an error is
    caught, may be there, and so may one of a value that it asks something of (`isinstance`) or puts there itself.

    Args:
        hints: key of the state -> its annotation.
    """
    unsure = _asked_of(source, hints)
    named = source.texts
    for node in source.inside:
        if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
            continue
        key, kind = _value_of(source, hints, node.value, DEPTH) or ("", None)
        if kind is None or key in unsure or node.attr in named or id(node) in source.caught:
            continue
        if kind is str and not hasattr(str, node.attr) and _has(_kinds_of(hints[key])[1], node.attr):
            yield key, f"takes '{node.attr}' of the keys of '{key}'", f"go over {source.state}['{key}'].values()"
        elif issubclass(kind, BaseModel) and not any(_has(one, node.attr) for one in _with_subclasses(kind)):
            names = [*kind.model_fields]
            near = get_close_matches(node.attr, names, 1, ALIKE)
            cure = f"did you mean '{near[0]}'?" if near else f"it has {', '.join(names[:8])}"
            yield key, f"takes '{node.attr}' of a {kind.__name__} of '{key}', which has no such attribute", cure


def _has(kind: type[BaseModel] | None, name: str) -> bool:
    """Whether objects of a class may have an attribute."""
    return kind is None or hasattr(kind, name) or name in kind.model_fields or kind.model_config.get("extra") == "allow"


def _with_subclasses(kind: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """A class and those made of it: a function may have put one of theirs in the state."""
    yield kind
    for one in kind.__subclasses__():
        yield from _with_subclasses(one)


def _asked_of(source: Source, hints: Mapping[str, Any]) -> set[str]:
    """Keys of the state whose values a function asks what they are, or adds to: these may be of any class."""
    found = set[str]()
    for node in source.inside:
        if isinstance(node, ast.Match):
            found |= {(_value_of(source, hints, node.subject, DEPTH) or ("",))[0]}
        elif isinstance(test := getattr(node, "test", None), ast.expr):
            found |= _handed(source, hints, test)
        elif isinstance(node, ast.comprehension | ast.BoolOp):
            for part in node.ifs if isinstance(node, ast.comprehension) else node.values:
                found |= _handed(source, hints, part)
        elif isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
            found |= {_of_state(source, node.value, DEPTH)}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in GROWN:
            found |= {_of_state(source, node.func.value, DEPTH)}
        elif isinstance(node, ast.AugAssign):
            found |= {_of_state(source, node.target, DEPTH)}
    return found


def _handed(source: Source, hints: Mapping[str, Any], test: ast.expr) -> set[str]:
    """Keys of the values that a test hands to what it calls, or whose class it takes."""
    calls = (node for node in ast.walk(test) if isinstance(node, ast.Call))
    asked = [one for call in calls for one in (*call.args, *(word.value for word in call.keywords))]
    asked += [node.value for node in ast.walk(test) if isinstance(node, ast.Attribute) and node.attr == "__class__"]
    return {found[0] for one in asked if (found := _value_of(source, hints, one, DEPTH)) is not None}


def compared(source: Source, hints: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(attribute, text) that a function compares its state's scores by, as in `score.agent == "evaluator"`."""
    for node in source.inside:
        if not isinstance(node, ast.Compare) or not isinstance(node.left, ast.Attribute):
            continue
        if (_value_of(source, hints, node.left.value, DEPTH) or ("",))[0] == "scores":
            found = [value for one in node.comparators for value in source.values(one)]
            found += [one for value in found if isinstance(value, list | tuple | set) for one in value]
            yield from ((node.left.attr, value) for value in found if isinstance(value, str))


def _value_of(source: Source, hints: Mapping[str, Any], node: ast.expr, depth: int) -> tuple[str, type] | None:
    """The key of the state under which a value stands, and its class; str of a key of a mapping."""
    if isinstance(node, ast.Name) and depth:
        given = source.bound(node.id)
        found = {_value_of(source, hints, one, depth - 1) if one is not None else None for one in given}
        return found.pop() if len(found) == 1 else None
    if (key := _whole(node, source.state)) in hints:
        outer, kind = _kinds_of(hints[key])
        return (key, kind) if outer is None and kind is not None else None
    return _entry_of(source, hints, node) if isinstance(node, ast.Subscript) else None


def _entry_of(source: Source, hints: Mapping[str, Any], node: ast.Subscript) -> tuple[str, type] | None:
    """Of `state["scores"][name]`, `list(state["scores"].values())[0]` and the like; a slice is no entry."""
    whole, item = node.value, isinstance(node.slice, ast.Name) and node.slice.id == ITEM
    numbered, listed = item or _is_number(node.slice), False
    if isinstance(whole, ast.Call) and whole.args and source.is_builtin(whole, SAME):
        whole, item, listed = whole.args[0], True, True
    values = isinstance(whole, ast.Call) and isinstance(whole.func, ast.Attribute) and whole.func.attr == "values"
    if isinstance(whole, ast.Call) and isinstance(whole.func, ast.Attribute) and values:
        whole = whole.func.value
    key = _of_state(source, whole, DEPTH)
    outer, kind = _kinds_of(hints.get(key))
    if outer is None or kind is None or (outer is list and values) or isinstance(node.slice, ast.Slice):
        return None
    if (outer is list or listed) and not numbered:  # by a name, which may stand for a slice
        return None
    return key, str if outer is dict and item and not values else kind


def _is_number(node: ast.expr) -> bool:
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, ast.Constant) and isinstance(inner.value, int)


def _of_state(source: Source, node: ast.AST, depth: int) -> str:
    """The key whose whole value an expression is: `state["scores"]`, `state.get("scores") or {}`, or a name for it."""
    if isinstance(node, ast.BoolOp):
        plain = isinstance(node.op, ast.Or) and all(map(_is_empty, node.values[1:]))
        return _of_state(source, node.values[0], depth) if plain else ""
    if isinstance(node, ast.Name) and depth and len(given := source.bound(node.id)) == 1:
        return _of_state(source, given[0], depth - 1) if given[0] is not None else ""
    return _whole(node, source.state)


def _whole(node: ast.AST, state: str) -> str:
    """The key that an expression takes of the state, "" where something else may come in its place."""
    others = node.args[1:] if isinstance(node, ast.Call) else []
    return _key(node, state) if all(map(_is_empty, others)) else ""


def _is_empty(node: ast.expr) -> bool:
    """Whether it is `{}`, `[]`, `()` or None."""
    entries = getattr(node, "keys", getattr(node, "elts", None))
    return not entries if isinstance(entries, list) else isinstance(node, ast.Constant) and node.value is None


def _kinds_of(hint: Any) -> tuple[type | None, type | None]:
    """Of an annotation dict or list, and what is in it; of anything else None and the class."""
    while get_origin(hint) in (Annotated, NotRequired, Required):
        hint = get_args(hint)[0]
    kind = get_origin(hint)
    inner = get_args(hint)[-1] if kind in (dict, list) and get_args(hint) else hint
    if kind is dict and get_args(hint)[0] is not str:
        inner = None
    plain = inner if isinstance(inner, type) and issubclass(inner, BaseModel) else None
    return (kind if kind in (dict, list) else None), plain


def _always(source: Source) -> Iterator[ast.AST]:
    """Expressions that every call comes by: those before a way out that only some calls take."""
    body = [source.tree.body] if isinstance(source.tree, ast.Lambda) else source.tree.body
    for statement in body:
        yield from _sure(statement)
        if any(isinstance(one, ast.Return | ast.Raise) for one in ast.walk(statement)):
            return


def _sure(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    parts = next((parts for kind, parts in CONDITIONAL.items() if isinstance(node, kind)), None)
    if isinstance(node, ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return
    if isinstance(node, ast.BoolOp):
        yield from _sure(node.values[0])
    elif isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        yield from _sure(node.generators[0].iter)
    else:
        for name, value in ast.iter_fields(node):
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, ast.AST) and (parts is None or name in parts):
                    yield from _sure(one)


def given(function: Any) -> Given:
    """The keys of what a node returns, as `{"key": ...}`, `dict(key=...)`, or a command's update."""
    found = Given()
    _returned(source_of(function), found, DEPTH)
    return found


def _returned(source: Source | None, found: Given, depth: int) -> None:
    if source is None or source.yields or depth < 0:
        found.whole = False
        return
    for node in source.returned:
        if node is not None:
            _collect(source, node, found, depth)


def _collect(source: Source, node: ast.expr | None, found: Given, depth: int) -> None:
    if isinstance(node, ast.Dict):
        _display(source, node, found, depth)
    elif isinstance(node, ast.IfExp):
        _collect(source, node.body, found, depth)
        _collect(source, node.orelse, found, depth)
    elif isinstance(node, ast.BinOp):
        _collect(source, node.left, found, depth)
        _collect(source, node.right, found, depth)
    elif isinstance(node, ast.BoolOp):
        for one in node.values:
            _collect(source, one, found, depth)
    elif isinstance(node, ast.Name) and node.id in source.assigned:
        _variable(source, node.id, found, depth)
    elif isinstance(node, ast.Call):
        _call(source, node, found, depth)
    elif not (isinstance(node, ast.Constant) and node.value is None):
        found.whole = False


def _display(source: Source, node: ast.Dict, found: Given, depth: int) -> None:
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None and not _is(value, source.state or "?"):  # {**more}; what came in is known
            _collect(source, value, found, depth - 1)
        elif key is not None:
            names = source.values(key)
            found.keys |= {name for name in names if isinstance(name, str)}
            found.whole = found.whole and all(isinstance(name, str) for name in names)


def _variable(source: Source, name: str, found: Given, depth: int) -> None:
    for one in source.assigned[name] if depth > 0 else [None]:
        if one is None:
            found.whole = False
        else:
            _collect(source, one, found, depth - 1)
    for node in source.inside:
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and _is(node.value, name):
            names = source.values(node.slice)
            found.keys |= {key for key in names if isinstance(key, str)}
            found.whole = found.whole and all(isinstance(key, str) for key in names)
    if source.calls_on(name):
        found.whole = False


def _call(source: Source, node: ast.Call, found: Given, depth: int) -> None:
    called, words = source.called(node), {word.arg: word.value for word in node.keywords}
    if called is Command:
        if "graph" not in words and "update" in words:
            _collect(source, words["update"], found, depth)
    elif called is dict or (isinstance(called, type) and hasattr(called, "__total__")):
        for one in node.args:
            _collect(source, one, found, depth)
        found.keys |= {name for name in words if name}
        found.whole = found.whole and None not in words
    elif inspect.isfunction(called):
        _returned(source_of(called), found, depth - 1)
    else:
        found.whole = False


ROUTES_DEPTH = 3  # of functions that give what another one gives
LISTS = (list, tuple, set, sorted)


@dataclass
class Targets:
    """Where code may lead.

    Attributes:
        names: what it gives: nodes, END, labels of a path map. sent: nodes that it sends to.
        whole: all of it could be seen. nothing: it may give None, which leads nowhere. outside: it may lead to a node
            of the graph around.
    """

    names: set[Any] = field(default_factory=set)
    sent: set[str] = field(default_factory=set)
    whole: bool = True
    nothing: bool = False
    outside: bool = False

    def add(self, values: Iterable[Any], *, sent: bool = False) -> None:
        """What was named."""
        for value in values:
            if isinstance(value, Enum) and isinstance(value, str):
                value = value.value
            if value is UNKNOWN or isinstance(value, dict | set):
                self.whole = False
            elif isinstance(value, list | tuple | frozenset):
                self.add(value, sent=sent)
            elif value is None:
                self.nothing = True
            else:
                (self.sent if sent else self.names).add(value)


def targets_of(function: Any) -> Targets:
    """Where a conditional edge's function may lead."""
    found = Targets()
    _returned_in_routes(source_of(function), found, ROUTES_DEPTH)
    return found


def _returned_in_routes(source: Source | None, found: Targets, depth: int) -> None:
    if source is None or source.yields or depth < 0:
        found.whole = False
        return
    for node in source.returned:
        if node is None:
            found.nothing = True
        else:
            _collect_in_routes(source, node, found, depth)


def _collect_in_routes(source: Source, node: ast.expr | None, found: Targets, depth: int) -> None:
    """What one expression may lead to."""
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        for one in node.elts:
            _collect_in_routes(source, one, found, depth)
    elif isinstance(node, ast.Starred):
        _collect_in_routes(source, node.value, found, depth)
    elif isinstance(node, ast.IfExp | ast.BoolOp | ast.BinOp):
        for one in _parts(node):
            _collect_in_routes(source, one, found, depth)
    elif isinstance(node, COMPREHENSIONS) and not isinstance(node, ast.DictComp):
        _collect_in_routes(source, node.elt, found, depth)
    elif isinstance(node, ast.Name) and node.id in source.assigned:
        _variable_in_routes(source, node.id, found, depth)
    elif isinstance(node, ast.Call):
        _call_in_routes(source, node, found, depth)
    else:
        found.add(source.values(node))


def _parts(node: ast.IfExp | ast.BoolOp | ast.BinOp) -> list[ast.expr]:
    """What an expression may come to: either side of it."""
    if isinstance(node, ast.BoolOp):
        return node.values
    return [node.body, node.orelse] if isinstance(node, ast.IfExp) else [node.left, node.right]


def _variable_in_routes(source: Source, name: str, found: Targets, depth: int) -> None:
    """A name of its own: what is assigned to it, and what is put into the list that it stands for."""
    for one in source.assigned[name] if depth > 0 else [None]:
        if one is None:
            found.whole = False
        else:
            _collect_in_routes(source, one, found, depth - 1)
    for call in source.calls_on(name):
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if method in GROWING and call.args:
            _collect_in_routes(source, call.args[0], found, depth - 1)
        elif method not in ORDERING:
            found.whole = False


def _call_in_routes(source: Source, node: ast.Call, found: Targets, depth: int) -> None:
    called = source.called(node)
    if called is Send:
        first = next(iter(node.args), None) or next((k.value for k in node.keywords if k.arg == "node"), None)
        found.add(source.values(first), sent=True)
    elif called in LISTS and len(node.args) == 1:
        _collect_in_routes(source, node.args[0], found, depth)
    elif called is UNKNOWN or isinstance(called, type):
        found.add(source.values(node))
    else:
        _returned_in_routes(source_of(called), found, depth - 1)


def gone_to(function: Any) -> Targets:
    """Where a node's commands may lead: `Command(goto=...)`, but not those to a graph around."""
    source, found = source_of(function), Targets()
    if source is None:
        return Targets(whole=False)
    calls = [node for node in source.inside if isinstance(node, ast.Call) and source.called(node) is Command]
    found.whole = bool(calls)
    for node in calls:
        given = {word.arg: word.value for word in node.keywords}
        found.outside = found.outside or "graph" in given
        if "graph" not in given and "goto" in given:
            _collect_in_routes(source, given["goto"], found, ROUTES_DEPTH)
    return found


# Where a node may lead: what a conditional edge, or a command, chooses between.


Kind = Literal["one", "many", "send"]


@dataclass(frozen=True)
class Choice:
    """One thing that may happen: nodes that are led to, nodes that are sent to, and fan-outs that sent nothing."""

    to: frozenset[str] = frozenset()
    sent: frozenset[str] = frozenset()
    empty: frozenset[str] = frozenset()

    def __or__(self, other: Choice) -> Choice:
        return Choice(self.to | other.to, self.sent | other.sent, self.empty | other.empty)


@dataclass(frozen=True)
class Way:
    """A conditional edge.

    Attributes:
        ends: all nodes that it may lead to, END among them. sent: those that its code sends to.
        several: it may send to one node more than once. mapped: its targets are listed where the edge is added.
        at_most: rounds, by `bounded`.
        never_empty: it always sends something, as it says or as its code shows. opaque: its code cannot be seen, so it
            may send too. unsure: whether it names one node or several cannot be seen.
        outcomes: the sets of nodes that it chooses between, where its function has an attribute of that name.
        goto: it is a node's command. reads: every name that its code mentions.
        labels: what its function may give where it has a path map; None without one.
    """

    source: str
    kind: Kind
    ends: tuple[str, ...]
    function: Any = None
    sent: frozenset[str] = frozenset()
    several: bool = False
    mapped: bool = True
    at_most: int | None = None
    never_empty: bool = False
    opaque: bool = False
    unsure: bool = False
    outcomes: tuple[tuple[str, ...], ...] = ()
    goto: bool = False
    reads: frozenset[str] = frozenset()
    labels: tuple[Any, ...] | None = None

    def choices(self) -> list[Choice]:
        """What it may do. Of several names or targets at once all are taken: what is left out cannot be seen.

        A function that lists its `outcomes`, the nodes of each, is believed.
        """
        if (told := getattr(self.function, "outcomes", None)) is not None:
            return [Choice(to=_nodes(ends)) for ends in told]
        if self.outcomes:
            return [Choice(to=_nodes(ends)) for ends in self.outcomes]
        if self.kind == "many":
            return [Choice(to=_nodes(self.ends))]
        named = [Choice(to=_nodes([end])) for end in self.ends if end not in self.sent]
        if self.kind == "one":
            return named
        nothing = [] if named or self.never_empty else [Choice(empty=frozenset({self.source}))]
        return [Choice(sent=self.sent), *named, *nothing]


def other_way(way: Way) -> Way:
    """It as it may be instead, where it cannot be seen whether it names one node or several."""
    return replace(way, kind="many" if way.kind == "one" else "one") if way.unsure else way


def _nodes(ends: Collection[str]) -> frozenset[str]:
    return frozenset(ends) - {END}


def way_of(source: str, branch: Any, nodes: Collection[str]) -> Way:
    """What LangGraph keeps of `add_conditional_edges`."""
    function = function_of(branch.path)
    said, mapped = mentions(function), branch.ends is not None
    ends = tuple(dict.fromkeys(branch.ends.values())) if mapped else _guessed(said, nodes, targets_of(function))
    makes, to = sends(function)
    kind, unsure = kind_of(function, makes)
    to &= set(ends)
    if kind == "send" and not to:
        to = _nodes(ends)
    return Way(
        source, kind, ends, function, sent=to if kind == "send" else frozenset(), mapped=mapped, reads=said,
        at_most=getattr(function, "at_most", None), never_empty=_never_empty(function) if kind == "send" else False,
        outcomes=tuple(map(tuple, getattr(function, "outcomes", ()))), unsure=unsure,
        opaque=unsure and next(functions(function), None) is None,
        several=kind == "send" and repeats(function), labels=tuple(branch.ends) if mapped else None,
    )  # fmt: skip


def command_of(source: str, function: Any, ends: Any, nodes: Collection[str], alone: bool) -> Way | None:
    """What a node's `Command(goto=...)` may do; None where it gives none, as far as can be seen.

    Args:
        ends: as the node declares them. alone: no other edge leads on from here.
    """
    said = mentions(function)
    hint = hints_of(function).get("return")
    commands = any(get_origin(leaf) is Command or leaf is Command for leaf in members(hint))
    if not ends and not commands and not {"Command", "goto"} <= said:
        return None
    gone = gone_to(function)
    if not ends and gone.outside and not (gone.names or gone.sent):
        return None
    where = tuple(ends) if ends else _guessed(said, nodes, gone)
    where = where if alone else (*where, END)  # it need not give one
    return Way(source, "one", tuple(dict.fromkeys(where)), function, mapped=bool(ends), goto=True, reads=said)


def _guessed(said: Collection[str], nodes: Collection[str], seen: Targets) -> tuple[str, ...]:
    """Nodes that a function gives, as its source says; else those that it names; else it may lead anywhere."""
    if seen.whole and (seen.names or seen.sent):
        given = [*nodes, END]
        return tuple(end for end in given if end in seen.names | seen.sent)
    found = [node for node in nodes if node in said]
    return (*found, END) if found and {"END", END} & set(said) else tuple(found) or (*nodes, END)


def _never_empty(function: Any) -> bool:
    return bool(getattr(function, "never_empty", False)) or not may_send_nothing(function)


def kind_of(function: Any, makes_sends: bool) -> tuple[Kind, bool]:
    """Whether it chooses one name, names several, or sends; and whether it may as well be several for one."""
    leaves = members(hints_of(function).get("return"))
    if any(Send in (leaf, *members(get_args(leaf)[0] if get_args(leaf) else None)) for leaf in leaves):
        return "send", False
    if leaves and all(_is_name(leaf) for leaf in leaves):
        return "one", False
    if makes_sends:
        return "send", False
    if leaves and all(_is_list(leaf) for leaf in leaves):
        return "many", False
    returned = returns(function)
    return ("many" if returned == {"list"} else "one"), returned not in ({"list"}, {"name"})


def _is_name(leaf: Any) -> bool:
    if get_origin(leaf) is Literal:
        return True
    return isinstance(leaf, type) and not _is_list(leaf) and issubclass(leaf, str | int | Enum)


def _is_list(leaf: Any) -> bool:
    kind = get_origin(leaf) or leaf
    return isinstance(kind, type) and (issubclass(kind, list | tuple | set) or kind is Sequence)


# Lists: what stands in those that a function writes out.


def named_texts(source: Source | None) -> set[str]:
    """Texts in the lists that a function writes out, and keys of its mappings: of a condition the criteria it names."""
    found: set[str] = set()
    if source is None or source.yields:
        return found
    for node in source.returned:
        for one in _lists(source, node, 3):
            items = [key for key in one.keys if key] if isinstance(one, ast.Dict) else getattr(one, "elts", [])
            if isinstance(one, ast.ListComp | ast.SetComp | ast.GeneratorExp):
                items = [one.elt]
            elif isinstance(one, ast.DictComp):
                items = [one.key]
            for item in items:
                found |= {value for value in source.values(item) if isinstance(value, str)}
    return found


def _lists(source: Source, node: ast.expr | None, depth: int) -> Iterator[ast.expr]:
    """The lists and mappings that an expression may come to."""
    if node is None or depth < 0:
        return
    if isinstance(node, ast.IfExp):
        parts: Sequence[Any] = [node.body, node.orelse]
    elif isinstance(node, ast.BoolOp):
        parts = node.values
    elif isinstance(node, ast.Name):
        parts = source.assigned.get(node.id, [])
    elif isinstance(node, ast.Call) and source.called(node) in (list, tuple, set, sorted, dict) and node.args:
        parts = node.args[:1]
    else:
        yield node
        return
    for one in parts:
        yield from _lists(source, one, depth - 1)


# A reducer by itself: it is tried on empty values and on values of one entry, as LangGraph would call it.


PLAIN = (dict, list, tuple, set, frozenset, str, int, float, bool)  # classes with an empty value
NUMBERS = {int, float, complex, bool}


def fits(kind: Any, made: Any) -> bool:
    """Whether what a reducer says it returns may be a key's value; made: None where it does not say."""
    if made is None or {kind, made} <= NUMBERS:
        return True
    try:
        return issubclass(made, kind) or issubclass(kind, made)
    except TypeError:  # a protocol, which has no subclasses to ask for
        return True


def fails(channel: Any, kind: Any, given: Collection[Any]) -> list[Any]:
    """Classes of updates, of those that are written, whose empty value a reducer cannot join with a key's first value.

    Args:
        kind: the class of the key. given: of what nodes write; without any, an operator is tried with the key's own.
    """
    if not channel.is_available():  # it has no first value: LangGraph joins nothing with the first update
        return []
    known = list(given) or ([kind] if isinstance(channel.operator, BuiltinFunctionType) else [])
    return [one for one in known if one in (kind, *PLAIN) and _raises(channel, kind, one)]


def _raises(channel: Any, kind: Any, given: Any) -> bool:
    first = copy.copy(channel.value)
    update = copy.copy(channel.value) if given is kind else given()
    try:
        channel.operator(first, update)
    except (TypeError, AttributeError):
        return True
    except Exception:  # it wants more than an empty value
        return False
    return False


def doubles(reducer: Any, kind: Any) -> bool:
    """Whether joining a list of one with itself makes it longer."""
    one = kind([object()])
    try:
        return len(reducer(kind(one), kind(one))) > 1
    except Exception:  # it wants values of its own kind
        return False


def keeps_one(channel: Any) -> bool:
    """Whether of two mappings, or two lists, one is lost."""
    pairs: dict[type, Any] = {dict: ({"a": object()}, {"b": object()}), list: ([object()], [object()])}
    one, other = pairs.get(type(getattr(channel, "value", None)), (None, None))
    if one is None:
        return False
    try:
        return channel.operator(copy.copy(one), copy.copy(other)) in (one, other)
    except Exception:  # it wants values of its own kind
        return False
