"""What a judge was found to take and to give: tried once, learnt from its answer, never assumed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from judgegraph.calls.exchange import Call, Choice
from judgegraph.models.resolve import Judge, Support

FEW = 5  # top log-probabilities that servers with a lower limit than OpenAI's 20 take
_N = re.compile(r"['\"`]n['\"`]|\bn\s*(?:>|=|!=|must|should|greater)|\bbest_of\b|multiple (?:choices|completions)")


def arguments(judge: Judge, call: Call) -> dict[str, Any]:
    """Keyword arguments of a chat model that speaks OpenAI's, without what this judge was found not to take."""
    support = judge.support
    sent = {name: value for name, value in call.settings.items() if name not in support.refused}
    if call.schema is not None and support.json_schema is not False:
        form = {"name": call.form, "schema": call.schema, "strict": True}
        sent["response_format"] = {"type": "json_schema", "json_schema": form}
    if call.logprobs and support.logprobs is not False:
        sent |= {"logprobs": True, "top_logprobs": support.top_logprobs}
    if call.n > 1 and support.n is not False:
        sent["n"] = call.n
    if call.tools:
        sent["tools"] = [dict(tool) for tool in call.tools]
    return sent


def past_the_parser(model: Any, sent: dict[str, Any]) -> dict[str, Any]:
    """What is sent, with the form where the SDK does not parse it.

    The SDK raises on a parsed reply that was cut off or filtered, and its text and usage are lost.
    """
    if "response_format" not in sent or getattr(model, "use_responses_api", None) is not False:
        return sent
    rest = {key: value for key, value in sent.items() if key != "response_format"}
    own = getattr(model, "extra_body", None) or {}
    return {**rest, "extra_body": {**own, "response_format": sent["response_format"]}}


def described(judge: Judge, call: Call) -> list[Any]:
    """The messages, with the schema in words where the judge takes none: in the last one, as roles must alternate."""
    messages = list(call.messages)
    if call.schema is None or judge.support.json_schema is not False:
        return messages
    from langchain_core.messages import HumanMessage

    last = messages[-1] if messages else None
    if isinstance(last, HumanMessage) and isinstance(last.content, str):
        return [*messages[:-1], HumanMessage(f"{last.content}\n\n{in_words(call)}")]
    return [*messages, HumanMessage(in_words(call))]


def in_words(call: Call) -> str:
    """The form asked for, for a model that is sent no schema or was seen to ignore it."""
    return f"Reply with one JSON object and nothing else. Its JSON Schema:\n{json.dumps(call.schema)}"


def step_down(support: Support, sent: Mapping[str, Any], error: BaseException) -> bool:
    """Learn from an error (400, 403, 500, ...) that names a feature that was sent; True if a call without may do.

    It looks at what this request held, not at what is known by now: of a hundred calls in flight at once each
    may be refused, and each goes on.
    """
    if not isinstance(getattr(error, "status_code", None), int):
        return False
    said = str(error).lower()
    if "logprobs" in sent and "logprobs" in said:
        if "top_logprobs" in said and sent["top_logprobs"] > FEW:
            support.top_logprobs = min(FEW, support.top_logprobs)
        else:
            support.logprobs = False
        return True
    if "response_format" in sent and ("response_format" in said or "json_schema" in said):
        support.json_schema = False
        return True
    if "n" in sent and (getattr(error, "param", None) == "n" or _N.search(said)):
        support.n = False
        return True
    return _setting(support, sent, said)


def _setting(support: Support, sent: Mapping[str, Any], said: str) -> bool:
    """Some models take no temperature at all; the reply then carries a note."""
    if "support" not in said:
        return False
    named = [name for name in ("temperature", "top_p", "seed") if name in sent and f"'{name}'" in said]
    support.refused.update(named)
    return bool(named)


def learn(judge: Judge, call: Call, choice: Choice) -> None:
    """From the first reply: log-probabilities given or null, a schema heeded or ignored."""
    support = judge.support
    if choice.refusal or choice.tool_calls or not choice.text.strip():
        return
    if call.logprobs and support.logprobs is None:
        support.logprobs = choice.tokens is not None
    if call.schema is not None and support.json_schema is None and choice.finish in ("", "stop"):
        support.json_schema = "{" in choice.text


def unheeded(judge: Judge, call: Call) -> tuple[str, ...]:
    """Notes on what was asked for and not sent."""
    return tuple(f"the judge takes no {name}" for name in sorted(judge.support.refused & set(call.settings)))


def with_settings(judge: Judge, call: Call) -> Any:
    """Any other LangChain chat model with the call's settings: in its own fields, else bound to it."""
    model: Any = judge.model
    fields = {k: v for k, v in call.settings.items() if k in type(model).model_fields}
    return model.model_copy(update=fields) if fields else model


def unbound(judge: Judge, call: Call) -> dict[str, Any]:
    """The settings that are no field of such a model."""
    return {k: v for k, v in call.settings.items() if k not in type(judge.model).model_fields}
