"""A choice becomes a reply by its form, or ends in a status that keeps its text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from judgegraph.calls import repair
from judgegraph.calls.exchange import Choice, message_of
from judgegraph.calls.form import Form, Incomplete
from judgegraph.calls.reasoning import parts
from judgegraph.calls.tokens import Token
from judgegraph.errors import ReplyError
from judgegraph.trace.record import ReplyStatus

T = TypeVar("T")
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

    said = found.said
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
        return repair.parse(answer, frozenset((form.schema or {}).get("properties", ())), judged)
    except ValueError as error:
        raise ReplyError(str(error), "unreadable", text) from None
