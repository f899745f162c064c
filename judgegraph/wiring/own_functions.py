"""Functions of one's own as nodes: the keys that their source takes and writes, beside what annotations say."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from langgraph.types import Command

from judgegraph.wiring.code import hints_of
from judgegraph.wiring.finding import Finding, listed
from judgegraph.wiring.signatures import Keys, keys_of, members
from judgegraph.wiring.source import Source, source_of

if TYPE_CHECKING:
    from judgegraph.wiring.drawn import Drawn, Part

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


def made(drawn: Drawn) -> Iterator[Finding]:
    """Classes in the place of agents: LangGraph would make one of each state."""
    for name, part in drawn.parts.items():
        if isinstance(part.runs, type):
            kind, node = part.runs.__name__, drawn.at(name)
            text = f"node '{node}' is the class {kind}, not an agent: make one, add_node('{name}', {kind}(...))"
            yield Finding("not-made", node, "", text)


def lies(drawn: Drawn) -> Iterator[Finding]:
    """Keys that a node's annotation says it always writes, where its source shows that it never does."""
    for name, part in drawn.parts.items():
        if part.inside is not None or part.writes is None or isinstance(part.runs, type):
            continue
        wrote = given(part.runs)
        if not wrote.whole or not wrote.keys:
            continue
        hint = hints_of(part.runs).get("return")
        promised = keys_of(hint)[0] if len(members(hint)) == 1 else frozenset()
        for key in sorted(promised - wrote.keys):
            node = drawn.at(name)
            text = f"node '{node}' says that it writes '{key}', and what it returns holds {listed(sorted(wrote.keys))}"
            yield Finding("unwritten-key", node, key, f"{text}: return '{key}', or take it out of the annotation")


def unhanded(drawn: Drawn) -> Iterator[Finding]:
    """Keys that a node takes of its state and is not handed: LangGraph hands it what its annotation names."""
    sent = {name for ways in drawn.ways.values() for way in ways for name in way.sent}
    for name, part in drawn.parts.items():
        if part.inside is not None or name in sent or isinstance(part.runs, type) or not part.handed:
            continue
        wanted = taken(part.runs)
        for key in sorted((wanted.sure | wanted.some) & drawn.channels.keys() - part.handed - drawn.managed):
            node = drawn.at(name)
            text = f"node '{node}' reads '{key}', and the annotation of its state does not name it, so it is not there"
            yield Finding("not-handed", node, key, f"{text}: add '{key}' to that TypedDict")


def misused(drawn: Drawn) -> Iterator[Finding]:
    """What functions of one's own take of a state as it is not: by attribute, scores by their criterion, conditions."""
    nodes = [(drawn.at(name), part.runs, True) for name, part in drawn.parts.items() if part.inside is None]
    routes = [(drawn.at(source), way.function, False) for source, ways in drawn.ways.items() for way in ways]
    for node, function, is_node in [*nodes, *(one for one in routes if one[1] is not None)]:
        decide = getattr(getattr(function, "when", None), "decide", None)
        source = source_of(decide or function) if not isinstance(function, type) else None
        ours = getattr(decide or function, "__module__", "") or ""
        if source is None or not source.state or ours.startswith("judgegraph."):
            continue
        at = node.rpartition("/")[0] or node if decide else node
        who = f"node '{at}'" if is_node else f"the conditional edge from '{at}'"
        for one in source.inside:
            yield from _by_attribute(drawn, at, who, source, one)
            yield from _by_criterion(at, who, source, one)
            yield from _unasked(at, who, source, one)


def _by_attribute(drawn: Drawn, node: str, who: str, source: Source, one: ast.AST) -> Iterator[Finding]:
    """`state.sample`, of a state that is a mapping."""
    taken_so = isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Load) and _is(one.value, source.state)
    if not isinstance(one, ast.Attribute) or not taken_so or hasattr(dict, one.attr) or one.attr not in drawn.channels:
        return
    hint = hints_of(source.function).get(source.state)
    if (hint is None and drawn.mapped) or getattr(hint, "__total__", None) is not None:
        text = f"{who} takes '{one.attr}' of its state as an attribute, and the state is a mapping"
        yield Finding("misread-state", node, one.attr, f"{text}: write {source.state}['{one.attr}']")


def _by_criterion(node: str, who: str, source: Source, one: ast.AST) -> Iterator[Finding]:
    """`state["scores"]["Fluency"]`: scores stand under "criterion/agent/stage/repeat"."""
    key = whole = None
    if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Load):
        key, whole = one.slice, one.value
    elif isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr == "get" and one.args:
        key, whole = one.args[0], one.func.value
    if isinstance(whole, ast.BoolOp):  # (state.get("scores") or {})["Fluency"]
        whole = whole.values[0]
    name = key.value if isinstance(key, ast.Constant) else None
    if (
        isinstance(whole, ast.AST)
        and _key(whole, source.state) == "scores"
        and isinstance(name, str)
        and "/" not in name
    ):
        text = f"{who} looks for '{name}' in 'scores', whose keys are 'criterion/agent/stage/repeat'"
        cure = f"look through {source.state}['scores'].values() for criterion == '{name}'"
        yield Finding("misread-scores", node, "scores", f"{text}: {cure}")


def _unasked(node: str, who: str, source: Source, one: ast.AST) -> Iterator[Finding]:
    """`if jg.low(below=3):` for `if jg.low(below=3)(state):`, which is true whatever the scores are."""
    tests: list[ast.expr] = []
    if isinstance(one, ast.If | ast.IfExp | ast.While):
        tests = [one.test]
    elif isinstance(one, ast.BoolOp):
        tests = one.values
    elif isinstance(one, ast.UnaryOp) and isinstance(one.op, ast.Not):
        tests = [one.operand]
    for test in tests:
        called = source.called(test) if isinstance(test, ast.Call) else None
        if hasattr(called, "remarks"):
            name = ast.unparse(test)
            text = f"{who} takes the condition {name} for true, and never asks it about 'scores'"
            yield Finding("unasked-condition", node, "scores", f"{text}: write {name}({source.state})")


def asked_keys(part: Part) -> Keys:
    """Keys that a function's source takes in some cases, or does without."""
    if isinstance(part.runs, type) or part.inside is not None:
        return frozenset()
    wanted = taken(part.runs)
    return wanted.some | wanted.asked


def written_keys(part: Part) -> Keys:
    """Keys that a function's source writes."""
    if isinstance(part.runs, type) or part.inside is not None:
        return frozenset()
    return frozenset(given(part.runs).keys)
