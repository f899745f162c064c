"""A choice becomes a reply by its form, or ends in a status that keeps its text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from judgegraph.calls import repair
from judgegraph.calls.exchange import Choice, message_of
from judgegraph.calls.form import Form, Incomplete
from judgegraph.calls.tokens import Token
from judgegraph.errors import ReplyError

T = TypeVar("T")


@dataclass(frozen=True)
class Reply(Generic[T]):
    """A reply that could be read.

    Attributes:
        value: what the form made of it. data: the parsed JSON, or the text where no form was asked for.
        text: as it came. tokens: with log-probabilities, None where the judge gave none.
        notes: what had to be mended. tool_calls: asked for by the model. given: as `Choice.given`.
    """

    value: T
    data: Any
    text: str
    tokens: tuple[Token, ...] | None = None
    notes: tuple[str, ...] = ()
    tool_calls: tuple[dict[str, Any], ...] = ()
    given: Any = None

    @property
    def message(self) -> Any:
        """A LangChain message to continue a conversation by."""
        return self.given if self.given is not None else message_of(self.text, self.tool_calls)


def read(choice: Choice, form: Form[Any], *, tools: bool = False) -> Reply[Any]:
    """One choice through a form; where tools were offered, an empty reply is one: it calls no more of them.

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
    if choice.tool_calls or (tools and not text.strip()):
        return Reply("", None, text, choice.tokens, (), choice.tool_calls, choice.given)
    if form.schema is None and not text.strip():
        raise ReplyError("the reply is empty", "unreadable", text)
    data, notes = _parsed(text, form)
    try:
        value = form.read(data)
    except Incomplete as error:
        partial = Reply(error.value, data, text, choice.tokens, notes, (), choice.given)
        raise Incomplete(str(error), partial, error.got) from None
    except ValueError as error:
        raise ReplyError(str(error) or "the reply does not fit the form", "unreadable", text) from None
    return Reply(value, data, text, choice.tokens, notes, (), choice.given)


def _parsed(text: str, form: Form[Any]) -> tuple[Any, tuple[str, ...]]:
    if form.schema is None:
        return text, ()
    try:
        return repair.parse(text, frozenset(form.schema.get("properties", ())))
    except ValueError as error:
        raise ReplyError(str(error), "unreadable", text) from None
