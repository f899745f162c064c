"""What a judge was found to take and to give: tried once, learnt from its answer, never assumed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from judgegraph.calls.address import asks_openai
from judgegraph.calls.exchange import Call, Choice
from judgegraph.calls.length import THINKING, Bounded, bounded, thinks_by_name
from judgegraph.calls.reasoning import parts
from judgegraph.models.resolve import Judge, LimitName, Support

FEW = 5  # top log-probabilities that servers with a lower limit than OpenAI's 20 take
LIMITS: tuple[LimitName, LimitName] = ("max_tokens", "max_completion_tokens")
_NO_SUCH = re.compile(
    r"\b(?:un(?:supported|known|recogni[sz]ed|expected)|extra|invalid) (?:parameter|field|argument|key|input)"
    r"|not permitted|not allowed|is not supported"
)
_N = re.compile(r"['\"`]n['\"`]|\bn\s*(?:>|=|!=|must|should|greater)|\bbest_of\b|multiple (?:choices|completions)")
_AT_MOST = re.compile(
    r"(?:<=|≤|at most|up to|less than or equal to|maximum(?: is| of)?)\s{0,3}(?:value <= )?(\d{1,3})\b"
)
_TOOLS = re.compile(r"tool[_ ]choice|tool-call-parser|\b(?:tools?|function call\w*)\b.*\bsupport|\bsupport.*\btools?\b")


_LENGTH = re.compile(r"max_(?:completion_)?tokens|in the completion")
_SCHEMA = re.compile(r"schema|grammar|response_format|max_?(?:length|items)|repetition", re.I)
_THOUGHT = re.compile(r"</think|\[/THINK\]")
TEACHES = (400, 404, 422, 501)  # HTTP statuses of a server that does not take what was sent
BREAKS = (500, 503)


def arguments(judge: Judge, call: Call) -> dict[str, Any]:
    """Keyword arguments of a chat model that speaks OpenAI's, without what this judge was found not to take."""
    support = judge.support
    sent = {name: value for name, value in call.settings.items() if name not in support.refused}
    if call.schema is not None and support.json_schema is not False:
        room = call.room.shorter() if support.runs_on else call.room
        schema = bounded(call.schema, room) if takes_bounds(judge) else call.schema
        form = {"name": call.form, "schema": schema, "strict": True}
        sent["response_format"] = {"type": "json_schema", "json_schema": form}
    if call.logprobs and support.logprobs is not False:
        sent |= {"logprobs": True, "top_logprobs": support.top_logprobs}
    if call.n > 1 and support.n is not False:
        sent["n"] = min(call.n, support.most_n or call.n)
    if call.tools and support.tools is not False:
        sent["tools"] = [dict(tool) for tool in call.tools]
    elif call.tools:
        sent.pop("tool_choice", None)
    if cap := cap_of(judge, call):
        sent["max_tokens"] = cap
    if "max_tokens" in sent:
        sent[limit_name(judge)] = sent.pop("max_tokens")
    return sent


def cap_of(judge: Judge, call: Call) -> int:
    """The limit of a reply's length that goes with a call: the one that was set, else what its form needs; 0 is none.

    A chat model of one's own that has a limit keeps it, and the embedded judge needs none.
    """
    if most := call.settings.get("max_tokens"):
        return int(most)
    if not call.room.tokens or judge.support.cap is False or not _ours(judge):
        return 0
    return call.room.tokens + THINKING * thinks(judge)


def thinks(judge: Judge) -> bool:
    """Whether it thinks before it answers: as was found, else by its name."""
    known = judge.support.thinks
    return thinks_by_name(judge.name) if known is None else known


def _ours(judge: Judge) -> bool:
    """Whether the limits of replies are ours to set: an endpoint's, or those of a ChatOpenAI without one."""
    if judge.given:
        return _renames(judge.model) and getattr(judge.model, "max_tokens", None) is None
    return judge.endpoint.model != "embedded"


def takes_bounds(judge: Judge) -> bool:
    """Whether a text's `maxLength` is worth sending: not to OpenAI, who refuses it; others are tried once."""
    known = judge.support.max_length
    return _ours(judge) and (not asks_openai(judge) if known is None else known)


def learn_length(judge: Judge, choice: Choice) -> None:
    """Whether replies come to their end; where one was cut off in thoughts, they took all of the room."""
    if choice.finish not in ("length", "max_tokens"):
        judge.support.whole += 1
        return
    text = choice.text.strip()
    judge.support.cut += 1
    if not text or (text.startswith(("<think", "[THINK")) and not _THOUGHT.search(text)):
        judge.support.thinks = True


def as_sent(judge: Judge, call: Call) -> Call:
    """A call for several choices is one for fewer where the judge is known to give no more."""
    support = judge.support
    most = 1 if support.n is False else support.most_n or call.n
    return replace(call, n=most) if call.n > most else call


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
    if _is_bounded(sent) and _SCHEMA.search(said) and not ("json_schema" in said and "not supported" in said):
        support.max_length = False  # the schema itself may be taken: it is tried without
        return True
    if "response_format" in sent and ("response_format" in said or "json_schema" in said):
        support.json_schema = False
        return True
    if "n" in sent and (getattr(error, "param", None) == "n" or _N.search(said)):
        if (most := _most(said, sent["n"])) is not None:
            support.most_n = most
        else:
            support.n = False
        return True
    if "tools" in sent and _TOOLS.search(said):
        support.tools = False
        return True
    return _limit(support, sent, error, said) or _setting(support, sent, said)


def _most(said: str, wanted: int) -> int | None:
    """How many choices a server says that it gives at once, fewer than were wanted and more than one."""
    found = [int(number) for number in _AT_MOST.findall(said)]
    return next((number for number in found if 1 < number < wanted), None)


def _broken(support: Support, sent: Mapping[str, Any], error: BaseException, said: str) -> bool:
    named = getattr(error, "param", None) == "response_format" or "response_format" in said or "json_schema" in said
    if not named or "response_format" not in sent:
        return False
    support.doubts += 1
    if support.doubts < 2:
        return False
    if _is_bounded(sent):
        support.max_length = False
    else:
        support.json_schema = False
    return True


def _is_bounded(sent: Mapping[str, Any]) -> bool:
    form = sent.get("response_format") or {}
    return isinstance((form.get("json_schema") or {}).get("schema"), Bounded)


def cap_refused(judge: Judge, call: Call, error: BaseException) -> bool:
    """Whether a call is refused for a limit that we put there: it then goes out again without.

    Where prompt and limit together are too long for the model's context, the next call's may fit; where the
    parameter is refused under both names, no call has one any more.
    """
    said = str(error).lower()
    ours = "max_tokens" not in call.settings and cap_of(judge, call) > 0
    if not ours or getattr(error, "status_code", None) not in TEACHES or not _LENGTH.search(said):
        return False
    if _NO_SUCH.search(said):
        judge.support.cap = False
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
            support.json_schema = "{" in parts(choice.text).said
            support.presumed.discard("json_schema")
            return


def _said(choice: Choice) -> bool:
    return not choice.refusal and not choice.tool_calls and bool(parts(choice.text).said.strip())


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
