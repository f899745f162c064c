"""Lists of messages as turns, and turns as messages again: OpenAI's shape, and LangChain's in its three spellings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from judgegraph.evidence import ToolCall, Turn, parts_text, turn_fields

RECORD = "record"  # key of `more`: the whole record, of one that our fields could not be turned back into
ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "function"}
KINDS = {"HumanMessage": "human", "AIMessage": "ai", "SystemMessage": "system", "ToolMessage": "tool",
         "FunctionMessage": "function", "ChatMessage": "chat", "AIMessageChunk": "ai"}  # fmt: skip


def openai_turn(record: Mapping[str, Any]) -> Turn:
    """A message of OpenAI's shape; one that could not be written again as it was is kept whole beside it."""
    turn = Turn.model_validate(turn_fields(record))
    if openai_message(turn) == dict(record):
        return turn
    return turn.model_copy(update={"more": {**turn.more, RECORD: dict(record)}})


def openai_message(turn: Turn) -> dict[str, Any]:
    """The message that a turn was read from, or one of OpenAI's shape for any other turn."""
    if isinstance(record := turn.more.get(RECORD), dict):
        return dict(record)
    found: dict[str, Any] = {"role": turn.role}
    rest = dict(turn.more)
    if "content" in rest:
        found["content"] = rest.pop("content")
    elif turn.content != "" or not turn.calls:
        found["content"] = turn.content
    if turn.name:
        found["name"] = turn.name
    if turn.calls:
        found["tool_calls"] = [_openai_call(call) for call in turn.calls]
    if turn.call_id:
        found["tool_call_id"] = turn.call_id
    if turn.reasoning:
        found["reasoning_content"] = turn.reasoning
    return found | rest


def _openai_call(call: ToolCall) -> dict[str, Any]:
    rest = {key: value for key, value in call.more.items() if key != "function"}
    inner = call.more.get("function")
    said = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments, ensure_ascii=False)
    function = {"name": call.name, "arguments": said, **(inner if isinstance(inner, dict) else {})}
    return {"id": call.id, "type": "function", **rest, "function": function}


# LangChain's: {"type", "data"} of `messages_to_dict`, {"lc", "type": "constructor", "id", "kwargs"} of `dumps`,
# and the fields of a message side by side, as `model_dump` and LangSmith write them.


def is_langchain(record: Any) -> bool:
    """Whether a record is one of LangChain's messages."""
    if not isinstance(record, Mapping):
        return False
    if record.get("type") == "constructor":
        return isinstance(record.get("kwargs"), Mapping) and bool(record.get("id"))
    if isinstance(record.get("data"), Mapping):
        return record.get("type") in {*ROLES, "chat"}
    return record.get("type") in ROLES and "content" in record and "role" not in record


def langchain_turn(record: Mapping[str, Any]) -> Turn:
    """A message of LangChain's with ids, usage, errors, artifacts and calls that could not be read; kept whole too."""
    kind, data = _parts(record)
    usage = data.get("usage_metadata")
    calls = [*(_call(one) for one in data.get("tool_calls") or ()),
             *(_call(one, invalid=True) for one in data.get("invalid_tool_calls") or ())]  # fmt: skip
    thought = (data.get("additional_kwargs") or {}).get("reasoning_content")
    return Turn(
        role=str(data.get("role") or "") if kind == "chat" else ROLES.get(kind, kind),
        content=_content(data.get("content")), name=str(data.get("name") or ""), calls=tuple(calls),
        call_id=str(data.get("tool_call_id") or ""), status="error" if data.get("status") == "error" else "",
        id=str(data.get("id") or ""), usage=dict(usage) if isinstance(usage, Mapping) else {},
        reasoning=thought if isinstance(thought, str) else "", more={RECORD: dict(record)},
    )  # fmt: skip


def _parts(record: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Its kind ("human", "ai", ...) and its fields."""
    if record.get("type") == "constructor":
        data = record["kwargs"]
        name = str(list(record["id"])[-1])
        return KINDS.get(name, str(data.get("type") or name)), data
    data = record["data"] if isinstance(record.get("data"), Mapping) else record
    return str(record["type"]), data


def _content(content: Any) -> Any:
    """Texts and parts as they are; a part of a call stands among the calls already."""
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list):
        return [
            one for one in content if not (isinstance(one, Mapping) and one.get("type") in ("tool_use", "tool_call"))
        ]
    return content


def _call(one: Any, *, invalid: bool = False) -> ToolCall:
    given = one if isinstance(one, Mapping) else {}
    more = {key: value for key, value in given.items() if key not in ("name", "args", "id", "type")}
    arguments = given.get("args", "" if invalid else {})
    return ToolCall(
        name=str(given.get("name") or ""), arguments=arguments if arguments is not None else "",
        id=str(given.get("id") or ""), more=more | ({"invalid": True} if invalid else {}),
    )  # fmt: skip


def langchain_records(messages: Sequence[Any]) -> list[dict[str, Any]]:
    """Message objects of LangChain's as `messages_to_dict` writes them."""
    from langchain_core.messages import messages_to_dict

    return messages_to_dict(list(messages))


def turn_of(record: Any) -> Turn:
    """A message of either kind."""
    return langchain_turn(record) if is_langchain(record) else openai_turn(record)


# A run as a sample: what was asked, what was answered.


def asked_of(turns: Sequence[Turn]) -> str:
    """The first request of the user's."""
    return next((turn.text for turn in turns if turn.role in ("user", "human") and turn.text.strip()), "")


def answer_of(turns: Sequence[Turn]) -> str:
    """What the agent said last in words; "" where it only called tools."""
    spoken = (turn for turn in reversed(turns) if turn.role not in ("user", "human", "system", "tool", "function"))
    return next((turn.text for turn in spoken if turn.text.strip()), "")


def message_text(value: Any) -> str:
    """Text of what a span holds as its input or output: messages, parts, an object with one text, or any JSON."""
    if isinstance(value, str) or value is None:
        return value or ""
    return parts_text(value)
