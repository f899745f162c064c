"""What a judge was found to take and to give: tried once, learnt from its answer, never assumed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from judgegraph.calls.exchange import Call, Choice
from judgegraph.models.resolve import Judge, Support

FEW = 5  # top log-probabilities that servers with a lower limit than OpenAI's 20 take
_N = re.compile(r"['\"`]n['\"`]|\bn\s*(?:>|=|!=|must|should|greater)|\bbest_of\b|multiple (?:choices|completions)")
_TOOLS = re.compile(r"tool[_ ]choice|tool-call-parser|\b(?:tools?|function call\w*)\b.*\bsupport|\bsupport.*\btools?\b")


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
    if call.tools and support.tools is not False:
        sent["tools"] = [dict(tool) for tool in call.tools]
    elif call.tools:
        sent.pop("tool_choice", None)
    if "max_tokens" in sent:
        sent[limit_name(judge)] = sent.pop("max_tokens")
    return sent


def limit_name(judge: Judge) -> str:
    """The name under which a limit of a reply's length is sent: the one that is heeded, else what the SDK sends."""
    newer = not judge.given or _renames(judge.model)
    return judge.support.max_tokens or ("max_completion_tokens" if newer else "max_tokens")


def _renames(model: Any) -> bool:
    """ChatOpenAI sends, and so does our fast path, max_tokens as max_completion_tokens, whatever the server heeds."""
    kind: Any = type(model)
    return _is_one(kind)


@cache
def _is_one(kind: type) -> bool:
    return any(parent.__name__ in ("ChatOpenAI", "FastOpenAI") for parent in kind.__mro__)


def past_the_parser(model: Any, sent: dict[str, Any]) -> dict[str, Any]:
    """What is sent, with the form where the SDK does not parse it, and max_tokens where it does not rename it.

    The SDK raises on a parsed reply that was cut off or filtered, and its text and usage are lost.
    """
    responses = getattr(model, "use_responses_api", None)
    names = {"response_format"} if responses is False else set()
    names |= {"max_tokens"} if _renames(model) and responses is not True else set()
    past = {name: sent[name] for name in names & set(sent)}
    if not past:
        return sent
    rest = {name: value for name, value in sent.items() if name not in past}
    return {**rest, "extra_body": {**(getattr(model, "extra_body", None) or {}), **past}}


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
    if "tools" in sent and _TOOLS.search(said):
        support.tools = False
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
    if call.logprobs and (support.logprobs is None or "logprobs" in support.presumed):
        support.logprobs = choice.tokens is not None
        support.presumed.discard("logprobs")
    unsure = support.json_schema is None or "json_schema" in support.presumed
    if call.schema is not None and unsure and choice.finish in ("", "stop"):
        support.json_schema = "{" in choice.text
        support.presumed.discard("json_schema")


def unheeded(judge: Judge, call: Call) -> tuple[str, ...]:
    """Notes on what was asked for and not sent."""
    refused = judge.support.refused & set(call.settings)
    lacking = {"tools"} if call.tools and judge.support.tools is False else set()
    return tuple(f"the judge takes no {name}" for name in sorted(refused | lacking))


def with_settings(judge: Judge, call: Call) -> Any:
    """Any other LangChain chat model with the call's settings: in its own fields, else bound to it."""
    model: Any = judge.model
    fields = {k: v for k, v in call.settings.items() if k in type(model).model_fields}
    return model.model_copy(update=fields) if fields else model


def unbound(judge: Judge, call: Call) -> dict[str, Any]:
    """The settings that are no field of such a model."""
    return {k: v for k, v in call.settings.items() if k not in type(judge.model).model_fields}
