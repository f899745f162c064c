"""What a judge was found to take and to give: tried once, learnt from its answer, never assumed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from judgegraph.calls.exchange import Call, Choice
from judgegraph.models.resolve import Judge, LimitName, Support

FEW = 5  # top log-probabilities that servers with a lower limit than OpenAI's 20 take
LIMITS: tuple[LimitName, LimitName] = ("max_tokens", "max_completion_tokens")
_NO_SUCH = re.compile(
    r"\b(?:un(?:supported|known|recogni[sz]ed|expected)|extra|invalid) (?:parameter|field|argument|key|input)"
    r"|not permitted|not allowed|is not supported"
)
_N = re.compile(r"['\"`]n['\"`]|\bn\s*(?:>|=|!=|must|should|greater)|\bbest_of\b|multiple (?:choices|completions)")
_TOOLS = re.compile(r"tool[_ ]choice|tool-call-parser|\b(?:tools?|function call\w*)\b.*\bsupport|\bsupport.*\btools?\b")


TEACHES = (400, 404, 422, 501)  # HTTP statuses of a server that does not take what was sent
BREAKS = (500, 503)


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


def as_sent(judge: Judge, call: Call) -> Call:
    """A call for several choices is one for one choice where the judge is known to give no more."""
    return replace(call, n=1) if call.n > 1 and judge.support.n is False else call


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

    last, words = messages[-1] if messages else None, in_words(call)
    if isinstance(last, HumanMessage) and isinstance(last.content, str):
        if last.content.endswith(words):
            return messages  # it asks again, and says so by itself
        return [*messages[:-1], HumanMessage(f"{last.content}\n\n{words}")]
    return [*messages, HumanMessage(words)]


def in_words(call: Call) -> str:
    """The form asked for, for a model that is sent no schema or was seen to ignore it."""
    return f"Reply with one JSON object and nothing else. Its JSON Schema:\n{json.dumps(call.schema)}"


def step_down(support: Support, sent: Mapping[str, Any], error: BaseException) -> bool:
    """Learn from an error that names a feature that was sent; True if a call without may do.

    An error that may pass teaches nothing (it may only repeat the prompt), but that a schema is what some servers
    break of: where such errors name it twice on end, it is no chance.

    It looks at what this request held, not at what is known by now: of a hundred calls in flight at once each
    may be refused, and each goes on.
    """
    code, said = getattr(error, "status_code", None), str(error).lower()
    if code in BREAKS:
        return _broken(support, sent, error, said)
    if code not in TEACHES:
        return False
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
    return _limit(support, sent, error, said) or _setting(support, sent, said)


def _broken(support: Support, sent: Mapping[str, Any], error: BaseException, said: str) -> bool:
    named = getattr(error, "param", None) == "response_format" or "response_format" in said or "json_schema" in said
    if not named or "response_format" not in sent:
        return False
    support.doubts += 1
    if support.doubts < 2:
        return False
    support.json_schema = False
    return True


def _limit(support: Support, sent: Mapping[str, Any], error: BaseException, said: str) -> bool:
    """A limit of a reply's length is taken under the other name, which is tried once.

    "max_tokens is too large" names the parameter too, and is no refusal of it.
    """
    for name, other in (LIMITS, LIMITS[::-1]):
        named = getattr(error, "param", None) == name or re.search(rf"\b{name}\b", said)
        refused = _NO_SUCH.search(said) or re.search(rf"\buse\W+{other}\b", said)
        if name not in sent or not named or not refused:
            continue
        if support.max_tokens == other:
            return True  # another call has learnt it since this one was sent
        if support.max_tokens is None or "max_tokens" in support.presumed:
            support.max_tokens = other
            support.presumed.discard("max_tokens")
            return True
    return False


def _setting(support: Support, sent: Mapping[str, Any], said: str) -> bool:
    """Some models take no temperature at all; the reply then carries a note."""
    if "support" not in said:
        return False
    named = [name for name in ("temperature", "top_p", "seed") if name in sent and f"'{name}'" in said]
    support.refused.update(named)
    return bool(named)


def learn_logprobs(judge: Judge, call: Call, choice: Choice) -> None:
    """From the first reply, also one of a ledger: log-probabilities given or null."""
    support = judge.support
    if not call.logprobs or (support.logprobs is not None and "logprobs" not in support.presumed):
        return
    if _said(choice):
        support.logprobs = choice.tokens is not None
        support.presumed.discard("logprobs")


def learn_schema(support: Support, choices: Iterable[Choice]) -> None:
    """From the first reply to a request that held a schema: heeded or ignored.

    A reply to the schema in words says nothing of it, and nobody knows of a reply in a ledger how it was asked for.
    """
    support.doubts = 0
    if support.json_schema is not None and "json_schema" not in support.presumed:
        return
    for choice in choices:
        if _said(choice) and choice.finish in ("", "stop"):
            support.json_schema = "{" in choice.text
            support.presumed.discard("json_schema")
            return


def _said(choice: Choice) -> bool:
    return not choice.refusal and not choice.tool_calls and bool(choice.text.strip())


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
