"""A graph file as plain data that still knows its lines: whatever is wrong is named by file, line and key."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, NoReturn, TypeAlias

import yaml

from judgegraph.errors import ConfigError, one_line
from judgegraph.prompts.criteria_file import listed_criteria
from judgegraph.prompts.marked_file import MarkedFile, kind_of, line_of, shown

Place: TypeAlias = tuple[str | int, ...]  # of keys and places in lists, such as ("nodes", "critique", "use")
DEEPEST, MOST_ERRORS = 30, 20
MERGE = "tag:yaml.org,2002:merge"
_WHOLE = re.compile(r"[+-]?(0|[1-9]\d{0,17})")
_NUMBER = re.compile(r"[+-]?((0|[1-9]\d*)\.?\d*|\.\d+)(e[+-]?\d{1,3})?", re.IGNORECASE)


class GraphFileError(ConfigError):
    """A graph file is malformed, or its graph is: a line for each mistake, which names file, line and key.

    Attributes:
        line: where the first mistake is, from 1; 0 where the file as a whole is meant.
        graph: the compiled graph where its wiring alone is wrong, for who shows what was found.
    """

    line = 0
    graph: Any = None


class _Loader(yaml.SafeLoader):
    """No aliases, which could make a small file huge or endless, and nothing nested without end."""

    depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
        if self.check_event(yaml.AliasEvent):
            raise yaml.MarkedYAMLError(problem="an alias (*name) is refused; write it out", problem_mark=mark)
        if self.depth >= DEEPEST:
            raise yaml.MarkedYAMLError(problem=f"over {DEEPEST} levels deep", problem_mark=mark)
        self.depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1


class GraphText(MarkedFile):
    """The file as it is read."""

    what: ClassVar[str] = "graph file"
    error: ClassVar[type[ConfigError]] = GraphFileError
    loader: ClassVar[type[yaml.SafeLoader]] = _Loader
    most_bytes: ClassVar[int] = 100_000

    def root(self) -> yaml.Node:
        """The document's outermost node; the mistake that YAML makes easy is named."""
        try:
            return super().root()
        except GraphFileError as error:
            lines = self._text().splitlines()
            if 0 < error.line <= len(lines) and re.match(r"\s*-\s*\[.*\]\s*->", lines[error.line - 1]):
                self.fail(error.line, "", "several nodes of an edge stand without brackets: a, b -> c")
            raise

    def fail(self, line: int, key: str, reason: str) -> NoReturn:
        """Raise, naming the file, the line and the key ("" for none)."""
        try:
            super().fail(line, key, reason)
        except GraphFileError as error:
            error.line = line
            raise


@dataclass
class Source:
    """One graph file: its data, where each part of it stands, and what was found wrong so far.

    Attributes:
        data: mappings, lists, texts, numbers, switches and None; a list under `criteria` is a tuple of Criterion.
        at: path -> the node that stands there; keys: path -> its key.
        faults: (line, message) of each mistake. unread: places where no value could be read.
    """

    file: GraphText
    data: Any = None
    at: dict[Place, yaml.Node] = field(default_factory=dict)
    keys: dict[Place, yaml.Node] = field(default_factory=dict)
    faults: list[tuple[int, str]] = field(default_factory=list)
    unread: set[Place] = field(default_factory=set)

    def read(self) -> Source:
        """Itself with its data; broken syntax is an error at once, wrong values join the faults."""
        self.data = self._plain(self.file.root(), ())
        return self

    def line(self, path: Place) -> int:
        """Of a key, else of a value, else of the nearest part around it."""
        while path and path not in self.at:
            path = path[:-1]
        return line_of(self.keys.get(path) or self.at[path])

    def shown(self, path: Place) -> str:
        """What stands there, in words."""
        if (node := self.at.get(path)) is None:
            return "nothing"
        number = self.text(path) is not None and kind_of(node) == "text" and _NUMBER.fullmatch(str(node.value))
        return f"a number{shown(node).removeprefix('text')}" if number else shown(node)  # as it was read

    def text(self, path: Place) -> str | None:
        """What stands there as it would be in quotes, None where it is no single value or in quotes already."""
        node = self.at.get(path)
        return str(node.value) if isinstance(node, yaml.ScalarNode) and node.style is None else None

    def is_split(self, path: Place) -> bool:
        """Whether a list stands there in brackets with texts without quotes, which commas end."""
        node = self.at.get(path)
        listed = node.value if isinstance(node, yaml.SequenceNode) and node.flow_style else []
        return any(isinstance(one, yaml.ScalarNode) and one.style is None for one in listed)

    def is_scalar(self, path: Place) -> bool:
        """Whether a single value stands there, not a list or a mapping."""
        return isinstance(self.at.get(path), yaml.ScalarNode)

    def fault(self, path: Place, reason: str) -> None:
        """Keep a mistake, by the line and the key of its place; what could not be read has one already."""
        with self.caught():
            if path not in self.unread:
                self.file.fail(self.line(path), _named(path), reason)

    @contextmanager
    def caught(self) -> Iterator[None]:
        """An error of reading joins the faults, and reading goes on."""
        try:
            yield
        except GraphFileError as error:
            self.faults.append((error.line, str(error)))

    def settle(self) -> None:
        """Raise GraphFileError with all faults in the order of their lines, if there are any."""
        said = list(dict.fromkeys(message for _, message in sorted(self.faults, key=lambda f: f[0])))
        more = [f"and {len(said) - MOST_ERRORS} more"] if len(said) > MOST_ERRORS else []
        if said:
            raise GraphFileError("\n".join(said[:MOST_ERRORS] + more))

    def _plain(self, node: yaml.Node, path: Place) -> Any:
        self.at[path] = node
        with self.caught():
            if isinstance(node, yaml.ScalarNode) or kind_of(node) not in ("a mapping", "a list"):
                return self._scalar(node, _named(path))
            if isinstance(node, yaml.MappingNode):
                return self._mapping(node, path)
            if path and path[-1] == "criteria":
                return listed_criteria(self.file, node)
            return [self._plain(item, (*path, place)) for place, item in enumerate(node.value)]
        self.unread.add(path)
        return None

    def _mapping(self, node: yaml.MappingNode, path: Place) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in node.value:
            name = one_line(key.value, 60) if isinstance(key, yaml.ScalarNode) else kind_of(key)
            if kind_of(key) != "text":
                quote = "; write out what it would merge" if key.tag == MERGE else "; put it in quotes"
                hint = quote if isinstance(key, yaml.ScalarNode) else ""
                self.unread.add(path)  # so that nothing is said of how many entries there are
                with self.caught():
                    self.file.fail(line_of(key), name, f"expected text as a key, got {shown(key)}{hint}")
            elif name in found:
                with self.caught():
                    self.file.fail(line_of(key), name, f"given twice, first in line {self.line((*path, name))}")
            else:
                self.keys[*path, name] = key
                found[name] = self._plain(value, (*path, name))
        return found

    def _scalar(self, node: yaml.Node, key: str) -> Any:
        """A text, a number, a switch or None; a number is what a reader of the file would take for one."""
        kind, text = kind_of(node), str(node.value)
        if kind == "nothing":
            return None
        if kind == "true or false":
            return text.lower() in ("true", "yes", "on")
        plain = getattr(node, "style", None) is None  # not in quotes
        if kind == "a number" or (kind == "text" and plain and _NUMBER.fullmatch(text)):
            if _WHOLE.fullmatch(text):
                return int(text)
            if _NUMBER.fullmatch(text) and math.isfinite(number := float(text)):
                return number
            self.file.fail(line_of(node), key, f"expected a plain number such as 10 or 0.5, got {shown(node)}")
        return self.file.text(node, key)


def _named(path: Place) -> str:
    """A place for people, "edges.2.to": an entry of a list is counted from 1."""
    return one_line(".".join(str(part + 1 if isinstance(part, int) else part) for part in path), 80)
