"""What a model is asked to return: a JSON schema that we send, and how we read what comes back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from judgegraph.calls.length import TEXTS
from judgegraph.errors import ScaleError
from judgegraph.types import Criterion, Scale

T = TypeVar("T")
Schema = dict[str, Any]
_NAMED = ("properties", "$defs", "definitions")
_DECIMAL = re.compile(r"\s*[+-]?[0-9]{1,15}(?:\.[0-9]{1,15})?\s*")


class Incomplete(ValueError):
    """A reply that lacks a part; `value` is what could be read, used when asking again does not help."""

    def __init__(self, message: str, value: Any, got: int) -> None:
        super().__init__(message)
        self.value = value
        self.got = got  # parts that could be read: of several tries the richest is kept


@dataclass(frozen=True)
class Form(Generic[T]):
    """What is asked for.

    Attributes:
        name: of the form, letters, digits, "_" and "-".
        schema: a JSON Schema object in strict style; None asks for free text.
        read: parsed JSON (or the text) -> value; raises ValueError with a message the model can act on.
        texts: property -> characters that a judge may write there, for servers that heed such bounds.
        tokens: of a text reply at most, 0 where that is not known; asked for where nobody sets max_tokens.
        again: of a form for text, the schema that is asked for once the text could not be read: as text, its JSON is
            read by `read` too.
        shorter: whether one that was cut off is worth having shorter. A corrected text is not.
    """

    name: str
    schema: Schema | None
    read: Callable[[Any], T]
    texts: Mapping[str, int] = field(default_factory=lambda: TEXTS, compare=False)
    tokens: int = field(default=0, compare=False)
    again: Schema | None = field(default=None, compare=False)
    shorter: bool = field(default=True, compare=False)

    @staticmethod
    def of(model: type[BaseModel]) -> Form[Any]:
        """The form of a pydantic class."""
        return _form_of(model)


@lru_cache(maxsize=256)
def _form_of(model: type[BaseModel]) -> Form[Any]:
    def read(data: Any) -> BaseModel:
        try:
            return model.model_validate(data)
        except ValidationError as error:
            raise ValueError(complaint(error)) from None

    name = re.sub(r"[^A-Za-z0-9_-]", "_", model.__name__)[:64]  # servers refuse others: a generic class has brackets
    return Form(name, strict(model.model_json_schema()), read, texts={})  # of what they mean nothing is known


def complaint(error: ValidationError) -> str:
    """Pydantic's findings in one line each, without its links and the input's text."""
    rows = error.errors(include_url=False, include_input=False)
    return "; ".join(f"{'.'.join(map(str, row['loc'])) or 'reply'}: {row['msg']}" for row in rows[:5])


def strict(schema: Any) -> Any:
    """The schema with every property required, no others allowed and no defaults, as strict servers want it."""
    if isinstance(schema, list):
        return [strict(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    tidy = {k: _named(v) if k in _NAMED else strict(v) for k, v in schema.items() if k != "default"}
    if isinstance(tidy.get("properties"), dict):
        tidy["required"] = list(tidy["properties"])
        tidy["additionalProperties"] = False
    return tidy


def _named(schemas: Any) -> Any:
    """A mapping of names to schemas: a property may be called "default", or "properties"."""
    return {name: strict(s) for name, s in schemas.items()} if isinstance(schemas, Mapping) else schemas


def record(properties: Mapping[str, Schema], **extra: Any) -> Schema:
    """A strict object schema."""
    return {
        "type": "object",
        **extra,
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


STRING: Schema = {"type": "string"}


def answer_schema(scale: Scale, *, nullable: bool = True) -> Schema:
    """A value on the scale, or null where the criterion cannot be judged."""
    kind: Schema
    if scale.labels:
        kind = {"type": "string", "enum": list(scale.labels)}
    elif scale.points and len(scale.points) <= 21:
        kind = {"type": "integer", "enum": list(scale.points)}
    else:
        kind = {"type": "integer" if scale.whole else "number", "minimum": scale.low, "maximum": scale.high}
    return {"anyOf": [kind, {"type": "null"}]} if nullable else kind


def bare_schema(scale: Scale) -> Schema:
    """The answer alone: asked for where a free text could not be read, and read as text."""
    return record({answer_key(scale): answer_schema(scale, nullable=not scale.labels)})


def answer_key(scale: Scale) -> str:
    """The property that holds the answer: "label" on a label scale, else "score"."""
    return "label" if scale.labels else "score"


def rating_schema(criterion: Criterion, *, thoughts: bool = False, **before: Schema) -> Schema:
    """Reason first, then the answer: the model explains, then commits; with `thoughts` it thinks before either."""
    answer = {answer_key(criterion.scale): answer_schema(criterion.scale)}
    first = {"thoughts": STRING} if thoughts else {}
    return record({**first, "reason": STRING, **before, **answer}, title=criterion.name)


def answer_of(data: Any, scale: Scale) -> float | str | None:
    """The stated value or label in one entry of a form; None where the model abstained.

    Raises:
        ValueError: the entry is no object, lacks the answer, or the answer is not on the scale.
    """
    if not isinstance(data, Mapping):
        raise ValueError(f"expected an object with {answer_key(scale)!r}, got {type(data).__name__}")
    if answer_key(scale) not in data:
        raise ValueError(f"{answer_key(scale)!r} is missing")
    answer = data[answer_key(scale)]
    if answer is None:
        return None
    if scale.labels:
        return scale.check_label(answer)
    if isinstance(answer, str):
        if not _DECIMAL.fullmatch(answer):
            raise ScaleError(f"{answer[:40]!r} is no number on the scale {scale}")
        answer = float(answer)
    return scale.check(answer)


def off_points(value: float, scale: Scale) -> tuple[str, ...]:
    """A note where a value lies between the points of a whole scale: it is kept as it was stated."""
    return (f"{value:g} is no point of the scale {scale}",) if scale.whole and not scale.labels and value % 1 else ()


def read_entries(data: Any, criteria: Mapping[str, Criterion]) -> dict[str, Any]:
    """The entries of a keyed form that can be read: key -> entry.

    Raises:
        Incomplete: some key is missing or off its scale; carries the others.
    """
    entries: Mapping[str, Any] = data if isinstance(data, Mapping) else {}
    good, bad = {}, []
    for key, criterion in criteria.items():
        try:
            answer_of(entries.get(key), criterion.scale)
            good[key] = entries[key]
        except (ValueError, KeyError) as error:
            bad.append(f"{key}: {error}")
    if bad:
        raise Incomplete("; ".join(bad), good, len(good))
    return good


def ratings_form(
    criteria: Mapping[str, Criterion], name: str = "ratings", *, thoughts: bool = False
) -> Form[dict[str, Any]]:  # fmt: skip
    """One entry per criterion, each with a reason and an answer, with `thoughts` with room to think before them."""
    schema = record({key: rating_schema(c, thoughts=thoughts) for key, c in criteria.items()})
    return Form(name, schema, lambda data: read_entries(data, criteria))


def enum_of(names: Iterable[str]) -> Schema:
    """One of the names; any text where there are none."""
    listed = list(names)
    return {"type": "string", "enum": listed} if listed else STRING
