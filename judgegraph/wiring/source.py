"""What a function's source says, without being run: its names, and what it may return.

Only what is written out is told: constants, names that stand for constants, what is picked from a written mapping. A
function whose source is not at hand (made by `exec`, say) says nothing.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Collection, Iterator, Mapping
from enum import Enum
from functools import cached_property, lru_cache, partial
from types import FunctionType, MethodType
from typing import Any, TypeAlias

from judgegraph.wiring.code import UNKNOWN, held, plain_function

Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
VALUES = (str, bool, int, Enum, Mapping, list, tuple, set, frozenset, type(None))  # that a name may stand for
GROWING, QUIET = {"append", "add"}, {"sort", "reverse"}


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

    @cached_property
    def inside(self) -> list[ast.AST]:
        """All of its nodes, without those of functions within."""
        return [*_inside(self.tree)]

    @cached_property
    def assigned(self) -> dict[str, list[ast.expr | None]]:
        """Name -> what is assigned to it, None where that cannot be seen."""
        found: dict[str, list[ast.expr | None]] = {}
        for node in self.inside:
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
        for name in self._given_elsewhere & found.keys():
            found[name].append(None)
        return found

    @property
    def _given_elsewhere(self) -> set[str]:
        """Names that a call brings, and those that functions within give values to."""
        args = self.tree.args
        more = [arg for arg in (args.vararg, args.kwarg) if arg is not None]
        taken = {arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs, *more)}
        return taken.union(*(node.names for node in ast.walk(self.tree) if isinstance(node, ast.Nonlocal)))

    def bound(self, name: str) -> list[ast.expr | None]:
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


def _tree(function: FunctionType) -> Definition | None:
    code = function.__code__
    text = "".join(linecache.getlines(code.co_filename, function.__globals__))
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
