"""What a model is asked to return: a JSON schema that we send, and how we read what comes back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from judgegraph.calls.types import TEXTS, Choice, message_of
from judgegraph.errors import ReplyError, ScaleError
from judgegraph.replies.json_text import Declined, parse
from judgegraph.replies.quotation import parts
from judgegraph.replies.tokens import Token
from judgegraph.trace.record import ReplyStatus
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


# A choice becomes a reply by its form, or ends in a status that keeps its text.

EMPTY = "the reply is empty"


@dataclass(frozen=True)
class Reply(Generic[T]):
    """A reply that could be read.

    Attributes:
        value: what the form made of it. data: the parsed JSON, or the answer where no form was asked for.
        text: as it came. tokens: with log-probabilities, None where the judge gave none.
        notes: what had to be mended. tool_calls: asked for by the model. given, ends: as of a `Choice`.
        reasoning: what the model thought, in the text or beside it; no part of what is read.
        missing: of the first of several, why there are no more, where a request for them came to nothing.
    """

    value: T
    data: Any
    text: str
    tokens: tuple[Token, ...] | None = None
    notes: tuple[str, ...] = ()
    tool_calls: tuple[dict[str, Any], ...] = ()
    given: Any = None
    reasoning: str = ""
    missing: ReplyError | None = field(default=None, compare=False, repr=False)
    ends: ReplyStatus | None = field(default=None, compare=False, repr=False)

    @property
    def answer(self) -> str:
        """The text with blanks in the place of thoughts: every character stands where it stood."""
        return parts(self.text).answer

    @property
    def message(self) -> Any:
        """A LangChain message to continue a conversation by."""
        return self.given if self.given is not None else message_of(self.text, self.tool_calls)


def read(choice: Choice, form: Form[Any], *, tools: bool = False, judged: Callable[[], str] = str) -> Reply[Any]:
    """One choice through a form; where tools were offered, an empty reply is one: it calls no more of them.

    Thoughts are set apart first: nothing of them is read.

    Args:
        judged: gives the texts that the judge was shown, where they are known.

    Raises:
        ReplyError: refused, filtered, truncated or unreadable, with the text.
        Incomplete: carries a Reply with what could be read.
    """
    text = choice.text
    if choice.refusal:
        raise ReplyError(f"the model refused: {choice.refusal[:200]}", "refused", text or choice.refusal)
    if choice.finish == "content_filter":
        raise ReplyError("the provider's content filter stopped the reply", "filtered", text)
    if choice.finish == "error":
        raise ReplyError("the provider stopped the reply with an error", "provider_error", text)
    if choice.finish in ("length", "max_tokens"):
        raise ReplyError("the reply was cut off at its token limit", "truncated", text)
    found = parts(text)
    thought = "\n".join(filter(None, (choice.reasoning, found.reasoning)))

    def reply(value: Any, data: Any, notes: tuple[str, ...] = ()) -> Reply[Any]:
        return Reply(value, data, text, choice.tokens, notes, choice.tool_calls, choice.given, thought)

    said = found.answer_text
    if choice.tool_calls or (tools and not said.strip()):
        return reply("", None)
    if not said.strip() and thought:
        raise ReplyError("the reply is all thought, and holds no answer", "unreadable", text)
    if not said.strip():
        raise ReplyError(EMPTY, "unreadable", text)
    data, notes = (said, ()) if form.schema is None else _parsed(found.answer, form, judged, text)
    try:
        value = form.read(data)
    except Incomplete as error:
        raise Incomplete(str(error), reply(error.value, data, notes), error.got) from None
    except ValueError as error:
        raise ReplyError(str(error) or "the reply does not fit the form", "unreadable", text) from None
    return reply(value, data, notes)


def read_of(
    choice: Choice, form: Form[Any], *, tools: bool = False, judged: Callable[[], str] = str
) -> Reply[Any]:  # fmt: skip
    """As `read`; where spans are recorded, a reply that comes to nothing is the end of its call."""
    ends = choice.ends
    if ends is None:
        return read(choice, form, tools=tools, judged=judged)
    try:
        return replace(read(choice, form, tools=tools, judged=judged), ends=ends)
    except ReplyError as error:
        ends.end(error.status)
        raise
    except Incomplete as error:
        ends.end("unreadable")
        raise Incomplete(str(error), replace(error.value, ends=ends), error.got) from None


def _parsed(
    answer: str, form: Form[Any], judged: Callable[[], str], text: str
) -> tuple[Any, tuple[str, ...]]:  # fmt: skip
    try:
        return parse(answer, frozenset((form.schema or {}).get("properties", ())), judged)
    except Declined as error:
        raise ReplyError(str(error), "refused", text) from None
    except ValueError as error:
        from judgegraph.replies.text import refuses  # many expressions: no part of an import

        if "{" not in answer and refuses(answer):
            raise ReplyError("the model declined to answer", "refused", text) from None
        raise ReplyError(str(error), "unreadable", text) from None
