"""A chat request and its reply as OpenAI-compatible servers know them, to and from LangChain's messages."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.messages.ai import InputTokenDetails, OutputTokenDetails, UsageMetadata
from langchain_core.messages.utils import convert_to_openai_messages
from langchain_core.output_parsers.openai_tools import make_invalid_tool_call, parse_tool_call
from langchain_core.outputs import ChatGeneration, ChatResult

_ROLES = {"human": "user", "system": "system", "ai": "assistant", "tool": "tool"}
REASONING = ("reasoning_content", "reasoning")  # where servers put what a model thought
_SERIES_O = re.compile(r"o\d")


def body_of(model: str, messages: Sequence[BaseMessage], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The request's body, as langchain-openai writes it.

    The token limit goes out as `max_completion_tokens`; "extra_body" is merged into the body last.
    """
    body: dict[str, Any] = {"model": model, "stream": False, **settings}
    extra = body.pop("extra_body", None)
    if "max_tokens" in body:
        body["max_completion_tokens"] = body.pop("max_tokens")
    body["messages"] = [message_out(message) for message in messages]
    if _SERIES_O.match(model):  # they call it so
        for message in body["messages"]:
            message["role"] = "developer" if message["role"] == "system" else message["role"]
    return {**body, **extra} if extra else body


def message_out(message: BaseMessage) -> dict[str, Any]:
    """One message, with the tool calls it makes or the one it answers."""
    role = _ROLES.get(message.type)
    if role is None or not isinstance(message.content, str):
        made: Any = convert_to_openai_messages(message, text_format="block")
        return dict(made)
    out: dict[str, Any] = {"content": message.content, "role": role}
    if isinstance(message, ToolMessage):
        return {**out, "tool_call_id": message.tool_call_id}
    if message.name is not None:
        out["name"] = message.name
    if isinstance(message, AIMessage) and (message.tool_calls or message.invalid_tool_calls):
        good = [_call(c["id"], c["name"], json.dumps(c["args"], ensure_ascii=False)) for c in message.tool_calls]
        broken = [_call(c["id"], c["name"], c["args"]) for c in message.invalid_tool_calls]
        out |= {"content": message.content or None, "tool_calls": good + broken}
    return out


def _call(id: str | None, name: str | None, arguments: str | None) -> dict[str, Any]:
    return {"type": "function", "id": id, "function": {"name": name, "arguments": arguments}}


def message_in(message: Mapping[str, Any]) -> AIMessage:
    """A choice's message; tool calls whose arguments are no JSON are among the invalid ones."""
    calls: list[Any] = []
    broken: list[Any] = []
    for call in message.get("tool_calls") or ():
        try:
            calls += [made] if (made := parse_tool_call(call, return_id=True)) else []
            broken += [] if made else [_shapeless(call)]
        except OutputParserException as error:
            broken.append(make_invalid_tool_call(call, str(error)))
        except (TypeError, LookupError, AttributeError):
            broken.append(_shapeless(call))
    refusal = message.get("refusal")
    about = {"refusal": refusal} if refusal else {}
    about |= {name: message[name] for name in REASONING if isinstance(message.get(name), str) and message[name]}
    text = text_in(message.get("content"))
    return AIMessage(text, tool_calls=calls, invalid_tool_calls=broken, additional_kwargs=about)


def _shapeless(call: Any) -> Any:
    return {"name": None, "args": repr(call)[:200], "id": None, "error": "no tool call", "type": "invalid_tool_call"}


def text_in(content: Any) -> str:
    """A text, or the texts in a list of parts."""
    if isinstance(content, list):
        texts = [part.get("text") if _is_text(part) else part for part in content]
        return "".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) else ""


def _is_text(part: Any) -> bool:
    return isinstance(part, Mapping) and part.get("type") not in ("thinking", "reasoning")


def usage_in(usage: Any) -> UsageMetadata | None:
    """Tokens as LangChain counts them; None where the reply does not say."""
    if not isinstance(usage, Mapping):
        return None
    asked, said = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    read = _counts(usage, "prompt_tokens_details", audio="audio_tokens", cache_read="cached_tokens")
    written = _counts(usage, "completion_tokens_details", audio="audio_tokens", reasoning="reasoning_tokens")
    return UsageMetadata(
        input_tokens=asked, output_tokens=said, total_tokens=_count(usage, "total_tokens") or asked + said,
        input_token_details=cast(InputTokenDetails, read), output_token_details=cast(OutputTokenDetails, written),
    )  # fmt: skip


def _counts(usage: Mapping[str, Any], part: str, **names: str) -> Any:
    told = usage.get(part)
    found = {ours: told.get(theirs) for ours, theirs in names.items()} if isinstance(told, Mapping) else {}
    return {name: count for name, count in found.items() if isinstance(count, int)}


def _count(usage: Mapping[str, Any], name: str) -> int:
    count = usage.get(name)
    return count if isinstance(count, int) else 0


def result_in(data: Mapping[str, Any], model: str) -> ChatResult:
    """LangChain's form of an answer; each message tells finish_reason, log-probabilities and the usage of them all."""
    usage, generations = usage_in(data.get("usage")), []
    about = {"model_name": data.get("model") or model, "model_provider": "openai", "id": data.get("id")}
    for choice in data["choices"]:
        message = message_in(choice["message"])
        message.usage_metadata = usage
        info = {"finish_reason": choice.get("finish_reason"), "logprobs": choice.get("logprobs")}
        message.response_metadata = {**about, "token_usage": data.get("usage"), **info}
        generations.append(ChatGeneration(message=message, generation_info=info))
    return ChatResult(generations=generations, llm_output={"token_usage": data.get("usage"), **about})
