"""What a graph file may say: its keys and their values, for the reader and for the JSON Schema of editors."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, NoReturn, TypeAlias, TypeVar

import yaml
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
)

from judgegraph.errors import ConfigError, one_line
from judgegraph.prompts.criteria import MarkedFile, kind_of, line_of, listed_criteria, shown
from judgegraph.types import MOST_EXEMPLARS, Criterion

MOST_NODES, MOST_EDGES = 100, 300
NAME = r"[A-Za-z][A-Za-z0-9_-]{0,59}"
EXEMPLAR = {
    "type": "object",
    "properties": {
        "output": {"type": "string"},
        "score": {"type": ["number", "string"]},
        "reason": {"type": "string"},
    },
    "required": ["output", "score"],
    "additionalProperties": False,
}
CRITERION = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "definition": {"type": "string"},
        "steps": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "scale": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 2}]},
        "guideline": {"type": "string"},
        "examples": {"type": "array", "minItems": 1, "maxItems": MOST_EXEMPLARS, "items": EXEMPLAR},
    },
    "required": ["name", "definition"],
    "additionalProperties": False,
}
CRITERIA = {
    "description": "A set's name, a criteria file (its path from this file), or a list of criteria.",
    "anyOf": [{"type": "string"}, {"type": "array", "items": CRITERION, "minItems": 1}],
}


class Spec(BaseModel):
    """Base of all parts of a file."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


def _shape(value: Any) -> str:
    return "short" if isinstance(value, str) else "list" if isinstance(value, Sequence) else "long"


def _criteria(value: Any) -> Any:
    if isinstance(value, str) or (isinstance(value, tuple) and all(isinstance(c, Criterion) for c in value)):
        return value
    raise ValueError("expected the name of a set, a criteria file, or a list of criteria")


Name: TypeAlias = Annotated[str, Field(pattern=f"^{NAME}$")]
Criteria: TypeAlias = Annotated[Any, BeforeValidator(_criteria), WithJsonSchema(CRITERIA)]
Count: TypeAlias = Annotated[int, Field(ge=1)]


class JudgeSpec(Spec):
    """A judge with its settings; its key stays in the environment."""

    model: Annotated[str, Field(description="embedded, openai:MODEL or PROVIDER:MODEL")]
    base_url: str | None = None
    api_key_env: Annotated[str | None, Field(description="The environment variable that holds the key.")] = None
    temperature: Annotated[float, Field(ge=0)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    max_tokens: Annotated[int, Field(ge=0)] | None = None
    seed: int | None = None
    timeout: Annotated[float, Field(gt=0)] | None = None
    attempts: Count | None = None
    asks: Count | None = None
    rpm: Count | None = None
    tpm: Count | None = None
    in_flight: Count | None = None
    transport: Literal["auto", "fast", "langchain"] | None = None
    patience: Annotated[float, Field(ge=0)] | None = None
    effort: Annotated[
        Literal["none", "minimal", "low", "medium", "high", "xhigh"] | None, Field(description="How much it thinks.")
    ] = None


JudgeRef: TypeAlias = Annotated[
    Annotated[str, Tag("<short>")] | Annotated[JudgeSpec, Tag("<long>")],
    Discriminator(lambda value: "<short>" if isinstance(value, str) else "<long>"),
]


class NodeSpec(Spec):
    """What runs at a node, and its settings."""

    use: Annotated[str, Field(description="A registered name, another graph file, or file.py:name (which runs code).")]
    judge: Annotated[JudgeRef | None, Field(description="Who answers; else the file's judge.")] = None
    criteria: Annotated[Criteria | None, Field(description="What it judges by; else the file's criteria.")] = None
    each: Annotated[Literal["criteria"] | None, Field(description="One run for each criterion, side by side.")] = None
    settings: Annotated[dict[str, Any], Field(alias="with", description="Settings of what it uses.")] = {}


NodeRef: TypeAlias = Annotated[
    Annotated[str, Tag("<short>")] | Annotated[NodeSpec, Tag("<long>")],
    Discriminator(lambda value: "<short>" if isinstance(value, str) else "<long>"),
]
Places: TypeAlias = Annotated[
    Annotated[str, Tag("<short>")] | Annotated[list[str], Tag("<list>"), Field(min_length=1)],
    Discriminator(lambda value: "<list>" if isinstance(value, list) else "<short>"),
]
When: TypeAlias = Annotated[
    Annotated[str, Tag("<short>")]
    | Annotated[list[Any], Tag("<list>"), Field(min_length=1)]
    | Annotated[dict[str, Any], Tag("<long>"), Field(min_length=1, max_length=1)],
    Discriminator(lambda value: f"<{_shape(value)}>"),
]


class EdgeSpec(Spec):
    """An edge, or a choice between several."""

    source: Annotated[Places, Field(alias="from")]
    to: Places
    when: Annotated[
        When | None, Field(description="A condition: its name, {name: settings}, file.py:name; or any of a list.")
    ] = None
    otherwise: Annotated[Places | None, Field(alias="else", description="Where to go if not; else to the end.")] = None


EdgeRef: TypeAlias = Annotated[
    Annotated[str, Tag("<short>")] | Annotated[EdgeSpec, Tag("<long>")],
    Discriminator(lambda value: "<short>" if isinstance(value, str) else "<long>"),
]


class HeadSpec(Spec):
    """A graph file; its judges, nodes and edges are looked at one by one."""

    name: Annotated[Name, Field(description="Of the graph, in every result.")]
    about: Annotated[str, Field(description="What it is for, in one line.")] = ""
    criteria: Criteria | None = None
    task: Annotated[str, Field(description="One sentence: what kind of text is judged.")] = ""
    judge: Annotated[JudgeRef | None, Field(description="Of all nodes that have none of their own.")] = None
    judges: dict[Name, Any] = {}
    nodes: Annotated[dict[Name, Any], Field(min_length=1, max_length=MOST_NODES)]
    edges: Annotated[list[Any], Field(min_length=1, max_length=MOST_EDGES)]
    outputs: Annotated[list[str] | None, Field(min_length=1, description="Keys of the result; else all.")] = None


class GraphSpec(HeadSpec):
    """A graph file, whole."""

    judges: Annotated[dict[Name, JudgeRef], Field(description="Judges by names of this file's own.")] = {}
    nodes: Annotated[dict[Name, NodeRef], Field(min_length=1, max_length=MOST_NODES)]
    edges: Annotated[list[EdgeRef], Field(min_length=1, max_length=MOST_EDGES)]


TITLES: Mapping[type[Spec], str] = {
    HeadSpec: "a graph file", NodeSpec: "a node", EdgeSpec: "an edge", JudgeSpec: "a judge",
}  # fmt: skip


# A graph file as plain data that still knows its lines: whatever is wrong is named by file, line and key.


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
    loader: ClassVar[Any] = _Loader
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


# Plain data held to its shape: what is wrong is told in the words of a graph file.


T = TypeVar("T")
NAMES = "a name of letters, digits, - and _ that starts with a letter, 60 signs at most"
EXPECTED = {  # kind of error -> what was expected
    "string_type": "text", "int_type": "a whole number", "float_type": "a number", "bool_type": "true or false",
    "list_type": "a list", "dict_type": "a mapping", "model_type": "a mapping", "string_pattern_mismatch": NAMES,
    "int_from_float": "a whole number",
}  # fmt: skip


def shaped(adapter: TypeAdapter[T], source: Source, path: Place, data: Any, root: type[Spec] = HeadSpec) -> T | None:
    """The data as the adapter's type; None where something is wrong, which joins the source's faults.

    Args:
        path: where the data stands in the file. root: the part of a file that it is.
    """
    try:
        return adapter.validate_python(data)
    except ValidationError as error:
        for one in error.errors(include_url=False):
            place = tuple(part for part in one["loc"] if not str(part).startswith(("<", "[")))
            source.fault((*path, *place), _error_in_words(source, (*path, *place), one, _owner(place[:-1], root)))
        return None


def sound_part(adapter: TypeAdapter[T], source: Source, path: Place, data: Any, spec: type[Spec]) -> T | None:
    """What is left of a mapping that is wrong, so that the rest of it is looked at too: a key that is nearly spelt as
    one that is missing is taken for that one, what else is wrong is left out. None where too little is left.
    """
    if not isinstance(data, dict):
        return None
    kept: dict[str, Any] = dict(data)
    for key in [key for key in data if key not in keys_of(spec)]:
        near = difflib.get_close_matches(key, [name for name in keys_of(spec) if name not in kept], 1)
        value = kept.pop(key)
        if near:
            kept[near[0]] = value
            source.unread.add((*path, near[0]))
    for _ in range(2):
        try:
            return adapter.validate_python(kept)
        except ValidationError as error:
            wrong = {
                next((str(part) for part in one["loc"] if not str(part).startswith("<")), "") for one in error.errors()
            }
            kept = {key: value for key, value in kept.items() if key not in wrong}
            kept |= {"name": "unnamed"} if "name" in wrong else {}
    return None


NEAREST, MANY = 3, 30  # names that are listed where one is meant; from how many on the others are counted alone


def hint(name: str, known: Iterable[str], what: str = "Known") -> str:
    """ "; did you mean 'x'? Known: x, y": for a name that is none of those; of many names the nearest."""
    listed = list(known)
    near = difflib.get_close_matches(name, listed, NEAREST)
    meant = f"; did you mean '{near[0]}'?" if near else "."
    if near and len(listed) > MANY:
        return f"{meant} {what}: {', '.join(near)} and {len(listed) - len(near)} more"
    return f"{meant} {what}: {', '.join(listed) or 'none'}"


def keys_of(spec: type[Spec]) -> list[str]:
    """The keys of a part of a file, as they are written there."""
    return [field.alias or name for name, field in spec.model_fields.items()]


def _owner(place: Place, root: type[Spec]) -> type[Spec]:
    """Whose keys stand at a place: a judge may stand within any part."""
    return JudgeSpec if place[-1:] == ("judge",) else root


def _error_in_words(source: Source, place: Place, error: Mapping[str, Any], owner: type[Spec]) -> str:
    kind, context = error["type"], error.get("ctx") or {}
    if kind == "extra_forbidden":
        key = one_line(place[-1], 60)
        if owner is JudgeSpec and "key" in key and key != "api_key_env":
            return "a key stands in no file; name the environment variable that holds it: api_key_env: NAME"
        return f"unknown key of {TITLES[owner]}{hint(key, keys_of(owner))}"
    if kind == "missing":
        return f"missing in {TITLES[owner]}"
    if kind in ("too_long", "too_short"):
        low, high = context.get("min_length"), context.get("max_length")
        many = f"{low} or more entries" if kind == "too_short" else f"{high} at most" if high != 1 else "one entry"
        got = context.get("actual_length")
        return f"expected {many}{f', got {got}' if got is not None else ''}"
    if kind == "literal_error":
        return f"expected {context['expected']}, got {source.shown(place)}"
    if kind in EXPECTED:
        quote = "; put it in quotes" if kind == "string_type" and source.is_scalar(place) else ""
        if kind == "model_type" and owner is not HeadSpec:
            return f"expected text or a mapping, got {source.shown(place)}"
        return f"expected {EXPECTED[kind]}, got {source.shown(place)}{quote}"
    said = one_line(error["msg"]).removeprefix("Value error, ").removeprefix("Input should be ")
    return f"{said if said.startswith('expected') else f'expected {said}'}, got {source.shown(place)}"
