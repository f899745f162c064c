"""What a graph file may say: its keys and their values, for the reader and for the JSON Schema of editors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, WithJsonSchema

from judgegraph.types import Criterion

MOST_NODES, MOST_EDGES = 100, 300
NAME = r"[A-Za-z][A-Za-z0-9_-]{0,59}"
CRITERION = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "definition": {"type": "string"},
        "steps": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "scale": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 2}]},
        "guideline": {"type": "string"},
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
