"""Ask a judge for a form: what it is to return, how that is read, and asking again until it can be read.

What makes a call (ledger, limits, budget) is imported by the first one, as a graph is built without it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cache, lru_cache
from typing import Any, Generic, TypeVar, overload

from pydantic import BaseModel, ValidationError

from judgegraph.calls.context import context
from judgegraph.calls.types import (
    COMPLAINT,
    TEXTS,
    Call,
    Choice,
    ReplyBounds,
    Settled,
    Token,
    address_of,
    bounds_for,
    message_of,
    prompt_tokens,
    texts_of_many,
    utf8_size,
)
from judgegraph.errors import ConfigError, ReplyError, ScaleError, counted, one_line
from judgegraph.evidence import Image, content_text, image_count
from judgegraph.models.judges import Judge, JudgeLike, resolve
from judgegraph.models.prices import sees
from judgegraph.prompts import Rendered
from judgegraph.prompts.template import section
from judgegraph.replies.reply import Declined, declines, other_name, parse, parts, refuses, unjudged
from judgegraph.trace.record import ReplyStatus
from judgegraph.types import Criterion, Scale

# What a model is asked to return: a JSON schema that we send, and how we read what comes back.


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
        tokens: of a text reply, or of the texts in one, at most; 0 where that is not known. They are asked for where
            nobody sets max_tokens.
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
    """A strict object schema; who wants to change it makes a copy."""
    return Settled(
        type="object", **extra, properties=dict(properties), required=list(properties), additionalProperties=False
    )


STRING: Schema = {"type": "string"}


def answer_schema(scale: Scale, *, nullable: bool = True) -> Schema:
    """A value on the scale, or null where the criterion cannot be judged."""
    kind: Schema
    if scale.labels:
        kind = {"type": "string", "enum": list(scale.labels)}
    elif scale.halves and len(scale.steps) <= 21:
        kind = {"type": "number", "enum": list(scale.steps)}
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


def answer_of(data: Any, scale: Scale, name: str = "") -> float | str | None:
    """The stated value or label in one entry of a form; None where the model abstained.

    Args:
        name: of the criterion that was asked about, where it is known; an entry may call itself by no other.

    Raises:
        ValueError: it is no object, lacks the answer, or has one off the scale, or of another criterion.
    """
    if not isinstance(data, Mapping):
        raise ValueError(f"expected an object with {answer_key(scale)!r}, got {type(data).__name__}")
    if answer_key(scale) not in data:
        raise ValueError(f"{answer_key(scale)!r} is missing")
    answer = data[answer_key(scale)]
    if answer is None:
        return None
    plain = data.keys() <= PLAIN
    if not plain:
        _refuse_other(data, name)
    if scale.labels:
        return scale.check_label(answer)
    if isinstance(answer, str):
        answer = _number_of(answer, scale)
    if not plain:
        _refuse_contrary(data, answer, scale)
    else:
        _refuse_unjudged(data)
    return scale.check(answer)


def _number_of(said: str, scale: Scale) -> float:
    """A number that is given as text: "4", "four", "4/5", and nothing else beside it."""
    if _DECIMAL.fullmatch(said):
        return float(said)
    from judgegraph.replies.text import VALUE, valued  # many expressions: no part of an import

    found = re.fullmatch(VALUE, said.strip(), re.I) if len(said) < 40 and said.isascii() else None
    if found is None or (value := valued(found, scale)) is None:
        raise ScaleError(f"{said[:40]!r} is no number on the scale {scale}")
    return value


def _refuse_other(entry: Mapping[str, Any], name: str) -> None:
    """A score that says itself which criterion it is of, and means another one than was asked about."""

    if (said := other_name(entry.items(), name)) is not None:
        raise ValueError(f"the score is of {said[:60]!r}, and {name[:60]!r} was asked for")


PLAIN = frozenset({"reason", "score", "label"})  # what nearly every entry has, and nothing else
OUT_OF = ("out_of", "max", "max_score", "maximum")
UNGIVEN = frozenset({"error", "refusal", "refused", "declined", "abstained", "failed", "skipped"})  # say: no score
UNTOLD = ("", "none", "no", "n/a", "null", "false", "0", "[]", "{}")
_ENDS = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*(?:-|–|to)\s*(-?\d+(?:\.\d+)?)\s*")
_UNABLE = re.compile(r"\b(?:cannot|could[ ]not|can[ ]not|unable|impossible|refuse|decline|not|no)\b|n['’]t\b", re.I)
_FIRST = re.compile(r"[^.!?;\n]{0,200}[.!?;\n]?")
FINALLY = ("final_score", "final", "overall_score", "adjusted_score", "revised_score")


def _refuse_contrary(entry: Mapping[str, Any], answer: Any, scale: Scale) -> None:
    """What nobody asked for beside a score, and says that it is on another scale, another one, or none."""
    if len(entry) < 2:
        return
    said = entry.get("scale")
    ends = _ENDS.fullmatch(said) if isinstance(said, str) else None
    best = float(ends[2]) if ends else said if isinstance(said, int | float) else scale.high
    if best != scale.high:
        raise ScaleError(f"{answer!r:.20} is given on a scale of {said!s:.20}: the scale is {scale}")
    _refuse_unjudged(entry)
    for key, told in entry.items():
        if key.casefold() in UNGIVEN and str(told).strip().casefold() not in UNTOLD:
            raise ValueError(f"a score beside {key!r}: {str(told)[:60]!r}")
    if str(entry.get("status")).casefold() in ("error", "failed", "failure", "refused", "unrated", "skipped"):
        raise ValueError(f"a score beside the status {entry['status']!r:.20}")
    for key in OUT_OF:
        if isinstance(best := entry.get(key), int | float) and not isinstance(best, bool) and best != scale.high:
            raise ScaleError(f"{answer!r:.20} is given as out of {best:g}: the scale is {scale}")
    for key in FINALLY:
        if isinstance(other := entry.get(key), int | float) and not isinstance(other, bool) and other != answer:
            raise ValueError(f"two scores: 'score' is {answer!r:.20}, and {key!r} {other:g}")


def _refuse_unjudged(entry: Mapping[str, Any]) -> None:
    """A reason that begins by saying that there is no score: "I cannot rate this; 4 is a placeholder"."""
    why = entry.get("reason")
    first = _FIRST.match(why) if isinstance(why, str) else None
    if first is None or not _UNABLE.search(first[0]):
        return
    if declines(first[0]) or unjudged(first[0]):
        raise ValueError(f"a score beside a reason that declines to give one: {first[0][:60]!r}")


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
            answer_of(entries.get(key), criterion.scale, criterion.name)
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
    return Form(name, schema, lambda data: read_entries(data, criteria), texts=texts_of_many(len(criteria)))


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


DECLINED = "the model declined to answer"  # in words, without a mark of the provider


def _parsed(
    answer: str, form: Form[Any], judged: Callable[[], str], text: str
) -> tuple[Any, tuple[str, ...]]:  # fmt: skip
    try:
        schema = form.schema or {}
        return parse(answer, frozenset(schema.get("properties", ())), judged, schema, objects=_objection)
    except Declined as error:
        raise ReplyError(str(error), "refused", text) from None
    except ValueError as error:
        if "{" not in answer and refuses(answer):
            raise ReplyError(DECLINED, "refused", text) from None
        raise ReplyError(str(error), "unreadable", text) from None


def _objection(*about: Any) -> str:
    from judgegraph.replies.free_text import objection  # many expressions: no part of an import

    return objection(*about)


M = TypeVar("M", bound=BaseModel)
Messages = Rendered | Sequence[Any]  # a text is one message
__all__ = ["Messages", "Reply", "ask", "replies"]
NOTHING: Form[str] = Form("text", None, str)


@overload
async def ask(judge: JudgeLike, messages: Messages, form: type[M], **settings: Any) -> M: ...
@overload
async def ask(judge: JudgeLike, messages: Messages, form: Form[T], **settings: Any) -> T: ...
@overload
async def ask(judge: JudgeLike, messages: Messages, form: None = None, **settings: Any) -> str: ...
async def ask(judge: JudgeLike, messages: Messages, form: Any = None, **settings: Any) -> Any:
    """Ask one judge for one form; see `replies` for arguments and errors.

    Args:
        judge: "embedded", "openai:MODEL", an Endpoint, or a LangChain chat model.
        messages: a rendered prompt, LangChain messages, or a text.
        form: a pydantic class or a Form; None asks for free text.
        settings: temperature, top_p, max_tokens, seed; a value of None is not sent. Where nobody sets max_tokens, a
            generous one is sent that follows from the form; 0 sends none.
    """
    return (await replies(judge, messages, form, **settings))[0].value


async def replies(
    judge: JudgeLike, messages: Messages, form: Any = None, *, n: int = 1, logprobs: bool = False,
    tools: Sequence[Any] = (), **settings: Any,
) -> list[Reply[Any]]:  # fmt: skip
    """Ask for n replies. What cannot be read is asked for again, with what was wrong with it.

    Args:
        n: replies wanted, 1 or more. Of several, those that cannot be read are left out, and asked for again only
            where fewer than half of them could be read in full.
        logprobs: token log-probabilities, if the judge has them (`Reply.tokens` is None if not).
        tools: OpenAI-shaped dicts the model may call.

    Returns:
        One reply or more.

    Raises:
        ReplyError: not one could be read; its status is "unreadable", "truncated", "refused", "filtered",
            "timeout" or "provider_error".
        AuthError: the endpoint refuses our key.
        ConfigError: the judge cannot be made.
    """
    from judgegraph.calls.send import unheeded

    if n < 1:
        raise ConfigError(f"n is the number of replies wanted, 1 or more, got {n}")
    known = _made(judge)
    call, shape = _call_and_form(known, messages, form, settings, n=n, logprobs=logprobs, tools=tuple(tools))
    _refuse_unseen(known, call)
    found = [await one_reply(known, call, shape)] if n == 1 else await several_replies(known, call, shape)
    notes = unheeded(known, call)
    return [replace(reply, notes=(*reply.notes, *notes)) for reply in found] if notes else found


def _refuse_unseen(judge: Judge, call: Call) -> None:
    """Pictures for a judge that is known to see none: before anything is looked up or paid for."""
    count = sum(image_count(said) for message in call.messages if not isinstance(said := message.content, str))
    if count and sees(judge) is False:
        if (run := context.get()) is not None:
            run.blind[judge.name] = run.blind.get(judge.name, 0) + 1
        raise ReplyError(
            f"{judge.name} sees no images, and the prompt has {count}: name a judge that does (Endpoint(vision=True) "
            "where it is not known to), or leave them out: --no-images, without=['images']",
            "skipped",
        )


def is_in_ledger(judge: JudgeLike, messages: Messages, form: Any = None, *, n: int = 1, logprobs: bool = False,
             **settings: Any) -> bool:  # fmt: skip
    """Whether the run's ledger has what `replies` would ask for first."""
    known = _made(judge)
    return held(known, _call_and_form(known, messages, form, settings, n=n, logprobs=logprobs)[0])


def _made(judge: JudgeLike) -> Judge:
    try:
        return resolve(judge)
    except ConfigError as error:
        error.ends_run = True
        raise


def _call_and_form(
    judge: Judge, messages: Messages, form: Any, settings: dict[str, Any], **asked: Any
) -> tuple[Call, Form[Any]]:
    """The call, and what its replies are read by."""
    shape = form if isinstance(form, Form) else Form.of(form) if form is not None else NOTHING
    own = _settings(judge, settings)
    prompt = f"{messages.prompt}@{messages.digest}" if isinstance(messages, Rendered) else ""
    said = _messages(messages)
    _count_unshown(messages)
    given = settings.get("max_tokens")
    if (judge.endpoint.max_tokens if given is None else given) is None:
        room = bounds_for(shape.schema, shape.texts, prompt_tokens(said), shape.tokens, bool(asked.get("tools")))
    else:
        room = ReplyBounds(0, shape.texts) if shape.texts else ReplyBounds()
    return Call(said, schema=shape.schema, form=shape.name, settings=own, prompt=prompt, room=room, **asked), shape


def _count_unshown(messages: Messages) -> None:
    """What a sample has and the template has no place for is counted, where a run counts."""
    if isinstance(messages, Rendered) and messages.left_out and (run := context.get()) is not None:
        for name in messages.left_out:
            key = f"${name} in {messages.prompt}"
            run.unshown[key] = run.unshown.get(key, 0) + 1


SENT = frozenset(("temperature", "top_p", "max_tokens", "seed", "reasoning_effort"))  # others are a provider's own


def _settings(judge: Judge, settings: dict[str, Any]) -> dict[str, Any]:
    """The agent's settings over the endpoint's; zero is a setting, None is not. A max_tokens of 0 is no limit."""
    for key in settings.keys() - SENT:
        if near := get_close_matches(key, SENT, 1, 0.85):
            raise ConfigError(f"ask has no setting '{one_line(key, 60)}'; did you mean '{near[0]}'?")
    endpoint = judge.endpoint
    found = {
        "temperature": endpoint.temperature, "top_p": endpoint.top_p, "max_tokens": endpoint.max_tokens,
        "seed": endpoint.seed, "reasoning_effort": endpoint.effort,
        **{k: v for k, v in settings.items() if v is not None},
    }  # fmt: skip
    return {k: v for k, v in found.items() if v is not None and (v or k != "max_tokens")}


def _messages(messages: Messages) -> tuple[Any, ...]:
    if isinstance(messages, Rendered):
        kinds = _kinds()
        said = [_constant(text) if role == "system" else kinds[role](text) for role, text in messages.messages]
        return tuple(_with_images(said, messages.images) if messages.images else said)
    from langchain_core.messages.utils import convert_to_messages

    pairs: Any = messages
    return tuple(convert_to_messages([("user", pairs)] if isinstance(pairs, str) else list(pairs)))


def _with_images(said: list[Any], images: Sequence[Image]) -> list[Any]:
    """Messages with pictures behind the text of the last one of the user's, as content parts."""
    at = max(i for i, message in enumerate(said) if message.type == "human")
    content = [{"type": "text", "text": said[at].content}, *(image.part() for image in images)]
    return [*said[:at], _kinds()["user"](content), *said[at + 1 :]]


@cache
def _kinds() -> dict[str, Any]:
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

    return {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}


@lru_cache(maxsize=256)
def _constant(text: str) -> Any:
    """A system message; what a method tells every judge alike."""
    return _kinds()["system"](text)


# Ask until a reply can be read, or enough of several can: with what was wrong, as often as the endpoint allows.


CUT = Choice("", finish="length")
EXCERPT = 1000  # characters of a bad reply that are sent back
BEGINNING = 200  # the same of one that was cut off: it may be one word without end, which shown at length goes on
SHORTER = "Be much shorter this time: one short sentence where a reason is asked for.\n"
NO_JSON = "the reply is no JSON: Expecting value: line 1 column 1 (char 0)"  # of an empty reply, to its judge
NEVER_CAME = ("provider_error", "timeout", "over_budget")
_SECTION = re.compile(r"<([a-z_]+)-([0-9a-f]{8})>\n(.*?)\n</\1-\2>", re.S)
_Got = tuple[list[Choice], ReplyError | None]  # choices, and why there are no more


async def one_reply(judge: Judge, call: Call, form: Form[Any]) -> Reply[Any]:
    """Ask, and ask again with the error while the reply cannot be read.

    In a run that takes up what failed, replies that came to nothing may all have lain in the ledger: then once anew.
    """
    reply, problem = await _one(judge, call, form)
    if problem is not None and _old(problem):
        again, still = await _one(judge, call, form, anew=True)
        if still is None or reply is None:
            reply, problem = again, still
    if reply is None:  # what was read is kept, whatever became of asking for the rest
        raise problem if isinstance(problem, ReplyError) else ReplyError("no reply could be read")
    return reply


def _old(problem: Exception) -> bool:
    """Whether the replies behind it may have been found in the ledger: one that never came is not kept there."""
    run = context.get()
    return run is not None and run.anew and getattr(problem, "status", "") not in NEVER_CAME


async def _one(
    judge: Judge, call: Call, form: Form[Any], *, anew: bool = False
) -> tuple[Reply[Any] | None, Exception | None]:
    """The reply or the richest part of one, and what kept it from being whole."""
    from judgegraph.calls.call import send
    from judgegraph.calls.send import learn_length, learn_logprobs

    best: Incomplete | None = None
    last: ReplyError | None = None
    asked, cut = call, False
    for ask in range(1, judge.endpoint.asks + 1):
        choice = CUT  # an SDK may raise on a reply that was cut off, and keep its text
        try:
            choice = (await send(judge, asked, anew=anew))[0]
            learn_logprobs(judge, asked, choice)
            learn_length(judge, asked, choice)
            return read_of(choice, form, tools=bool(call.tools), judged=lambda: _judged(call)), None
        except Incomplete as error:
            best = error if best is None or error.got > best.got else best
            problem = str(error)
        except ReplyError as error:
            last = _with_cap(judge, asked, error)
            if error.status == "truncated" and not cut and _mends(judge, form):
                cut = True
            elif error.status != "unreadable":
                break
            problem = str(error)
        asked = _again(judge, call, form, choice, problem, ask, anew=anew)
    return (best.value, last or best) if best is not None else (None, last)


@dataclass(frozen=True)
class _Round:
    """What came of asking once for several replies: read in full, in part, and what was wrong with the last bad one.

    `bad` could not be read, `cut` was cut off; `lost` is a request that came to nothing.
    """

    whole: list[Reply[Any]]
    parts: list[Reply[Any]]
    bad: tuple[Choice, str] | None
    cut: tuple[Choice, str] | None
    last: ReplyError | None
    lost: ReplyError | None


async def several_replies(judge: Judge, call: Call, form: Form[Any]) -> list[Reply[Any]]:
    """n replies, fewer where some cannot be read; the missing are asked for again while they are more than half.

    Where more than half cannot be read in the end, a run that takes up what failed asks anew, as `one_reply` does.
    """
    whole, parts, last = await _many(judge, call, form)
    if 2 * len(whole) < call.n and _old(last or ReplyError("incomplete")):
        more, rest, still = await _many(judge, call, form, anew=True)
        if len(more) > len(whole) or not (whole or parts):
            whole, parts, last = more, rest, still
    if whole or parts:
        return (whole + parts)[: call.n]
    raise last or ReplyError("no reply could be read")


async def _many(
    judge: Judge, call: Call, form: Form[Any], *, anew: bool = False
) -> tuple[list[Reply[Any]], list[Reply[Any]], ReplyError | None]:
    """Replies read in full, those read in part, and the last failure."""
    whole: list[Reply[Any]] = []
    parts: list[Reply[Any]] = []
    last: ReplyError | None = None
    asked, rounds, cut, lost = call, 0, False, None
    while rounds < judge.endpoint.asks:
        got = await _round(judge, asked, form, anew)
        whole, parts, last = whole + got.whole, parts + got.parts, got.last or last
        lost = got.lost
        bad = got.bad or (got.cut if not cut and _mends(judge, form) else None)
        if 2 * len(whole) >= call.n or bad is None:
            break
        cut = cut or got.cut is not None
        rounds += 1
        wanted = replace(call, n=call.n - len(whole))
        asked = _again(judge, wanted, form, *bad, rounds * call.n, anew=anew)
    if lost is not None and len(whole) + len(parts) < call.n:
        (whole or parts)[:1] = [replace(one, missing=lost) for one in (whole or parts)[:1]]
    return whole, parts, last


async def _round(judge: Judge, call: Call, form: Form[Any], anew: bool) -> _Round:
    from judgegraph.calls.send import learn_length, learn_logprobs

    choices, last = await _choices(judge, call, anew)
    lost = last
    whole: list[Reply[Any]] = []
    parts: list[Reply[Any]] = []
    bad, cut = None, None
    if last is not None and last.status == "truncated":
        last = _with_cap(judge, call, last)
        cut = CUT, str(last)
    for choice in choices:
        learn_logprobs(judge, call, choice)
        learn_length(judge, call, choice)
        try:
            whole.append(read_of(choice, form, judged=lambda: _judged(call)))
        except Incomplete as error:
            parts.append(error.value)
            bad = choice, str(error)
        except ReplyError as error:
            last = _with_cap(judge, call, error)
            bad = (choice, str(error)) if error.status == "unreadable" else bad
            cut = (choice, str(error)) if error.status == "truncated" else cut
    return _Round(whole, parts, bad, cut, last, lost)


async def _choices(judge: Judge, call: Call, anew: bool) -> _Got:
    """n choices, fewer where requests failed, with the last failure.

    The first request is stored as a call for n, whatever is known of the judge, and each further one under an address
    of its own: so a rerun finds them all, whoever filled the ledger and in whatever order. It is sent alone: where
    the text itself is refused, so would each of the others be.
    """
    choices, last = await _request(judge, call, anew)
    if last is not None and (last.final or judge.support.n is not False):
        return choices, last
    if call.n > 1 and judge.support.n is not False:
        judge.support.n = len(choices) > 1
    left = _left(judge, call, max(1, len(choices)))
    _count_further(judge, left)
    rest = await asyncio.gather(*(_request(judge, asked, anew) for asked in left))
    more, lost = _gathered(choices[: call.n], [(got[: one.n], why) for one, (got, why) in zip(left, rest, strict=True)])
    return more, lost or last


def _count_further(judge: Judge, left: Sequence[Call]) -> None:
    """Of choices that a server does not give at once: each is a call more to be paid, which nobody would expect."""
    run = context.get()
    if run is not None and run.stand_in is None and (more := sum(not held(judge, one) for one in left)):
        run.further[judge.name] = run.further.get(judge.name, 0) + more


def _singles(call: Call, start: int) -> list[Call]:
    """Of n choices those from `start` on, one at a time."""
    return [replace(call, n=1, repeat=call.repeat + index) for index in range(start, call.n)]


def _left(judge: Judge, call: Call, got: int) -> list[Call]:
    """For the choices that a first request left out: as many at once as it gave, which share a prompt.

    Until lately each was a request of its own: so they are where a ledger holds them.
    """
    singles = _singles(call, got)
    if got < 2 or not singles or held(judge, singles[0]):
        return singles
    starts = range(got, call.n, got)
    return [replace(call, n=min(got, call.n - start), repeat=call.repeat + start) for start in starts]


def _gathered(choices: list[Choice], rest: list[_Got]) -> _Got:
    """With those of each request in `rest`."""
    last: ReplyError | None = None
    for more, error in rest:
        choices, last = choices + more, error or last
    return choices, last


def held(judge: Judge, call: Call) -> bool:
    """Whether the run's ledger has a reply to it; in a plan, the ledger that the plan looks into."""
    run = context.get()
    if run is None:
        return False
    address = address_of(judge, call)
    if run.kept is not None:
        return run.kept(address) is not None
    return run.ledger is not None and run.ledger.get(address) is not None


async def _request(judge: Judge, call: Call, anew: bool) -> _Got:
    from judgegraph.calls.call import send

    try:
        return await send(judge, call, anew=anew), None
    except ReplyError as error:
        return [], error


def _judged(call: Call) -> str:
    """What stands in the sections of a call's prompt."""
    texts = [content_text(message.content) for message in call.messages]
    return "\n".join(found[3] for text in texts for found in _SECTION.finditer(text) if found[1] != "problem")


def _with_cap(judge: Judge, call: Call, error: ReplyError) -> ReplyError:
    """The reason of a reply that was cut off names the limit that was sent, and how to give more room."""
    from judgegraph.calls.send import cap_of

    if error.status != "truncated":
        return error
    cap = cap_of(judge, call)
    if cap and utf8_size(error.text) < cap and judge.support.thinks is not True:  # a token is a byte at least
        return ReplyError(
            f"the reply was cut off by the server after {len(error.text):,} characters, before the limit of {cap:,}"
            " tokens that was sent: its context may be full",
            "truncated", error.text,
        )  # fmt: skip
    where = f"at the limit of {cap:,} tokens" if cap else "by the server, at a limit of its own"
    more = "" if not cap else "; max_tokens (--max-tokens N) gives it more room, 0 sends no limit"
    return ReplyError(f"the reply was cut off {where}{more}", "truncated", error.text)


def _mends(judge: Judge, form: Form[Any]) -> bool:
    """Whether asking again may help where a reply was cut off: it can be shorter, or has more room beside thoughts."""
    return form.shorter or judge.support.thinks is True


def _again(
    judge: Judge, call: Call, form: Form[Any], choice: Choice, problem: str, repeat: int, *, anew: bool
) -> Call:  # fmt: skip
    """The call that asks once more, with what was wrong; it is answered anew, also where the same was said again.

    Until lately a reply was sent back whole. Where a ledger holds what came of that, it is taken and not paid for
    again.
    """
    cut = choice.finish in ("length", "max_tokens")
    if problem == EMPTY and call.schema is not None:  # the words are part of an address
        problem = NO_JSON
    whole = _complaint(call, choice.text, problem)
    before = replace(call, messages=(*call.messages, *whole), repeat=repeat)
    if not cut and not anew and held(judge, before):
        return before
    schema = call.schema if call.schema is not None else form.again
    asked = replace(
        call, schema=schema, repeat=repeat, room=call.room.shorter() if cut else replace(call.room, steps=True)
    )
    wanted = SHORTER if cut and form.shorter else ""
    said = excerpt(choice.text, BEGINNING if cut else EXCERPT)
    return replace(asked, messages=(*call.messages, *_complaint(asked, said, problem, wanted)))


def excerpt(text: str, most: int = EXCERPT) -> str:
    """A text's head and tail, with how much was left out between them; a reply may be as long as a context."""
    if len(text) <= most:
        return text
    head, tail = text[: most * 2 // 3], text[-(most // 3) :]
    return f"{head}\n[... {counted(len(text) - len(head) - len(tail), 'character')} left out ...]\n{tail}"


def _complaint(call: Call, said: str, problem: str, wanted: str = "") -> tuple[Any, ...]:
    """What was said and what is wrong with it, with the schema in words, whether or not the judge needs them.

    A rerun must ask for the same, whatever it knows of the judge by then.
    """
    from langchain_core.messages import AIMessage, HumanMessage

    from judgegraph.calls.send import in_words

    why = section("problem", one_line(problem, 500))  # it may quote the reply, and that the judged text
    told = f"{COMPLAINT}\n{why}\n{wanted}Reply again, in the form asked for and nothing else."
    words = f"{told}\n{in_words(call)}" if call.schema is not None else told
    return AIMessage(said or "(nothing)"), HumanMessage(words)
