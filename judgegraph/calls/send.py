"""One request to a judge: what of a call it takes, what comes back, and what a failure says."""

from __future__ import annotations

import email.utils
import errno
import json
import math
import re
import socket
import ssl
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import UTC
from functools import cache
from typing import Any, Literal, TypeAlias

from judgegraph.calls.types import (
    THINKING,
    TIGHT,
    Bounded,
    Call,
    Choice,
    asks_openai,
    bounded,
    bounds_for,
    choice_of,
    prompt_tokens,
    thinks_by_name,
    thoughts_in,
    tokens_of,
    writable,
)
from judgegraph.errors import SHORTEST, bare, one_line, scrubbed
from judgegraph.evidence import image_count
from judgegraph.models.judges import FAMILIAR, Judge, LimitName, Support
from judgegraph.replies.reply import parts
from judgegraph.types import Status

# What a judge was found to take and to give: tried once, learnt from its answer, never assumed.


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
_OF_LLAMA_CPP = re.compile(r"fp_ollama|b[0-9]+-[0-9a-f]+")  # "system_fingerprint" of replies
TEACHES = (400, 404, 422, 501)  # HTTP statuses of a server that does not take what was sent
BREAKS = (500, 503)


def arguments(judge: Judge, call: Call) -> dict[str, Any]:
    """Keyword arguments of a chat model that speaks OpenAI's, without what this judge was found not to take."""
    support = judge.support
    sent = {name: value for name, value in call.settings.items() if name not in support.refused}
    if call.schema is not None and support.json_schema is not False:
        room = call.room.shorter() if support.runs_on(call.form) else call.room
        room = replace(room, steps=True) if support.beyond else room
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
    room = call.room.tokens
    if judge.support.keeps_to_schemas():
        room -= max(0, call.room.around - TIGHT)
    if judge.support.fills(call.form):  # it heeds the bounds of texts, which are the shorter ones then
        texts = call.room.shorter().texts
        room = min(room, bounds_for(call.schema, texts, prompt_tokens(call.messages), 0, bool(call.tools)).tokens)
    return room + THINKING * thinks(judge)


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


def learn_length(judge: Judge, call: Call, choice: Choice) -> None:
    """Whether replies come to their end; where one was cut off in thoughts, they took all of the room."""
    if choice.finish not in ("length", "max_tokens"):
        judge.support.whole += 1
        _learn_fullness(judge, call, choice)
        return
    text = choice.text.strip()
    judge.support.cut += 1
    learn_endless(judge, call)
    if not text or (text.startswith(("<think", "[THINK")) and not _THOUGHT.search(text)):
        judge.support.thinks = True


def learn_server(support: Support, fingerprint: object) -> None:
    """llama.cpp, and Ollama on top of it, make a grammar of a schema that leaves out the ends of a range."""
    if not support.beyond and isinstance(fingerprint, str) and _OF_LLAMA_CPP.fullmatch(fingerprint):
        support.beyond = True


def learn_endless(judge: Judge, call: Call) -> None:
    """A reply to a form was cut off, or did not come in its time; as `_learn_fullness`, of the first replies alone."""
    looked_at = judge.support.filled.get(call.form, (0, 0))[0]
    if call.schema is not None and call.room.texts and looked_at < FAMILIAR:
        judge.support.endless[call.form] = judge.support.endless.get(call.form, 0) + 1


def _learn_fullness(judge: Judge, call: Call, choice: Choice) -> None:
    """Whether a text of a reply goes on to its bound, where the server's grammar ended it; and a number beyond its."""
    looked_at, full = judge.support.filled.get(call.form, (0, 0))
    if call.schema is None or not call.room.texts or looked_at >= FAMILIAR or not takes_bounds(judge):
        return
    try:
        said = json.loads(choice.text)
        texts = [(key, text) for key, text in _texts(said) if text and key in call.room.texts]
    except (ValueError, RecursionError):
        return
    judge.support.beyond = judge.support.beyond or _beyond(said, call.schema)
    if texts:
        bounds = (call.room.texts, call.room.shorter().texts)
        fills = any(len(text) == bound.get(key) for key, text in texts for bound in bounds)
        judge.support.filled[call.form] = looked_at + 1, full + fills
        judge.support.together[call.form] = max(judge.support.together.get(call.form, 1), call.n)


def _texts(data: Any, key: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(data, str):
        yield key, data
    elif isinstance(data, Mapping):
        for name, value in data.items():
            yield from _texts(value, name)
    elif isinstance(data, list):
        for value in data:
            yield from _texts(value, key)


def _beyond(said: Any, schema: Mapping[str, Any]) -> bool:
    """Whether a number lies beyond the ends that its schema names: the server's grammar does not know them."""
    if isinstance(said, Mapping):
        inner = schema.get("properties") or {}
        return any(_beyond(value, inner[key]) for key, value in said.items() if key in inner)
    if isinstance(said, list):
        return any(_beyond(value, schema.get("items") or {}) for value in said)
    if isinstance(said, bool) or not isinstance(said, int | float):
        return False
    ends = [one for one in (schema, *schema.get("anyOf", ())) if "minimum" in one and "maximum" in one]
    return any(not one["minimum"] <= said <= one["maximum"] for one in ends)


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
    if isinstance(last, HumanMessage) and image_count(last.content):
        return [*messages[:-1], HumanMessage([*last.content, {"type": "text", "text": words}])]
    return [*messages, HumanMessage(words)]


def in_words(call: Call) -> str:
    """The form asked for, for a model that is sent no schema or was seen to ignore it."""
    return f"Reply with one JSON object and nothing else. Its JSON Schema:\n{json.dumps(call.schema)}"


def fall_back(support: Support, sent: Mapping[str, Any], error: BaseException) -> bool:
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


SETTINGS = ("temperature", "top_p", "seed", "reasoning_effort")
_FORMS = re.compile(
    r"tool_choice|tool use|response_?(?:json_?)?schema|response_format|output_(?:format|config)|\bformat\b"
)


def sent_to_others(judge: Judge, call: Call) -> dict[str, Any]:
    """What a request to a judge that LangChain's package speaks to holds, of what may be refused."""
    sent = {name: value for name, value in call.settings.items() if name not in judge.support.refused}
    return sent | ({"form": call.form} if call.schema is not None and judge.support.json_schema is not False else {})


def fall_back_of_others(judge: Judge, sent: Mapping[str, Any], error: BaseException) -> bool:
    """As `fall_back`, of a judge that LangChain's package speaks to: what it refuses is left out."""
    code, _ = _status_of(error)
    said, support = str(error).lower(), judge.support
    if code not in TEACHES:
        return False
    known = judge.provider.names if judge.provider else {}
    refused = [name for name in SETTINGS if name in sent and (name in said or str(known.get(name)) in said)]
    if refused:
        support.refused.update(refused)
        return True
    if "form" in sent and _FORMS.search(said):
        support.json_schema = False
        return True
    return False


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
    if _has_answer(choice):
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
        if _has_answer(choice) and choice.finish in ("", "stop"):
            support.json_schema = "{" in parts(choice.text).answer_text
            support.presumed.discard("json_schema")
            return


def _has_answer(choice: Choice) -> bool:
    return not choice.refusal and not choice.tool_calls and bool(parts(choice.text).answer_text.strip())


def unheeded(judge: Judge, call: Call) -> tuple[str, ...]:
    """Notes on what was asked for and not sent."""
    refused = judge.support.refused & set(call.settings)
    lacking = {"tools"} if call.tools and judge.support.tools is False else set()
    return tuple(f"the judge takes no {name}" for name in sorted(refused | lacking))


def with_settings(judge: Judge, call: Call) -> Any:
    """Any other LangChain chat model with the call's settings: in its own fields, else bound to it."""
    model: Any = judge.model
    fields = {k: v for k, v in _own_names(judge, call).items() if k in type(model).model_fields}
    return model.model_copy(update=fields) if fields else model


def unbound(judge: Judge, call: Call) -> dict[str, Any]:
    """The settings that are no field of such a model."""
    return {k: v for k, v in _own_names(judge, call).items() if k not in type(judge.model).model_fields}


def _own_names(judge: Judge, call: Call) -> dict[str, Any]:
    """A call's settings by the names that the provider's package has for them, without those that it does not take."""
    names: Mapping[str, str | None] = judge.provider.names if judge.provider else {}
    found = {names.get(k, k): v for k, v in call.settings.items() if k not in judge.support.refused}
    if cap := (cap_of(judge, call) if judge.provider else 0):
        found[names.get("max_tokens") or "max_tokens"] = cap
    return {k: v for k, v in found.items() if k is not None}


# The short way to a chat model that gives its server's answer as it came: without LangChain's layer of generations.


MOST = 10**12  # tokens: no call takes so many, and sums of such counts are still whole numbers of 64 bits
Door = Callable[..., Awaitable[dict[str, Any]]]


def direct_call_of(judge: Judge, callbacks: Any, settings: Mapping[str, Any]) -> Door | None:
    """The way that gives a server's answer as it came, if there is one and nobody is there to hear of the call.

    A tracer, a stream of events, a global cache or a rate limiter of the model's own would be passed by: then None.

    Args:
        callbacks: of the running config. settings: keyword arguments of the call.
    """
    model: Any = judge.model
    if judge.short is not None:
        door = judge.short.complete if judge.short.takes(settings) else None
    else:
        door = getattr(model, "complete", None)
    if door is None or model.rate_limiter is not None or model.callbacks or model.cache:
        return None
    return None if _is_observed(callbacks) or _langchain().cache() is not None else door


def _is_observed(callbacks: Any) -> bool:
    """Whether somebody hears of a call made now: those in the config, and those that the environment asks for.

    `configure` knows, but costs more than all else here; it is asked where it may find somebody.
    """
    known = _langchain()
    idle = known.hooks is not None and all(var.get() is None and name is None for var, _, _, name in known.hooks)
    if idle and not getattr(callbacks, "handlers", callbacks) and not known.tracing() and not known.debug():
        return False
    return any(not (one.ignore_llm and one.ignore_chat_model) for one in known.configure(callbacks).handlers)


def callbacks_here() -> Any:
    """Of the config that this runs under, such as a graph's node; None outside of one."""
    config = _langchain().config.get()
    return config.get("callbacks") if config else None


@dataclass(frozen=True)
class _LangChain:
    """What is needed of it at every call.

    Attributes:
        hooks: (variable, ..., name in the environment) of handlers that others registered; None where LangChain does
            not tell, and `configure` is asked each time.
    """

    configure: Callable[..., Any]
    tracing: Callable[[], Any]
    debug: Callable[[], bool]
    cache: Callable[[], Any]
    config: ContextVar[Any]
    hooks: list[Any] | None


@cache
def _langchain() -> _LangChain:
    """Imported at the first call."""
    from langchain_core.callbacks import AsyncCallbackManager
    from langchain_core.globals import get_debug, get_llm_cache
    from langchain_core.runnables.config import var_child_runnable_config
    from langchain_core.tracers import context as tracers

    tracing: Any = getattr(tracers, "_tracing_v2_is_enabled", None)  # not promised to stay
    hooks = getattr(tracers, "_configure_hooks", None) if tracing is not None else None
    return _LangChain(
        AsyncCallbackManager.configure, tracing, get_debug, get_llm_cache, var_child_runnable_config, hooks
    )


def choices_of(answer: dict[str, Any]) -> list[Choice]:
    """The choices of a chat completion whose shape was checked."""
    return [_choice(choice, choice["message"]) for choice in answer["choices"]]


def _choice(choice: dict[str, Any], said: dict[str, Any]) -> Choice:
    refusal, finish = str(said.get("refusal") or ""), str(choice.get("finish_reason") or "")
    tokens, text, thought = tokens_of(choice.get("logprobs")), said.get("content"), writable(thoughts_in(said))
    if isinstance(text, str) and not said.get("tool_calls"):  # as nearly all are
        return Choice(writable(text), finish, refusal, (), tokens, reasoning=thought)
    from judgegraph.models.http import message_in

    message = message_in(said)
    if not said.get("tool_calls"):
        return Choice(writable(str(message.content)), finish, refusal, (), tokens, reasoning=thought)
    calls = tuple(dict(call) for call in message.tool_calls)
    return Choice(writable(str(message.content)), finish, refusal, calls, tokens, message, thought)


def usage_of(answer: dict[str, Any]) -> tuple[int, int]:
    """Prompt and completion tokens of all choices together; zeros where it does not say."""
    usage = answer.get("usage")
    if not isinstance(usage, dict):
        return 0, 0
    return token_counts(usage.get("prompt_tokens"), usage.get("completion_tokens"))


def token_counts(prompt: Any, completion: Any) -> tuple[int, int]:
    """Tokens that a server may mean; zeros, as where it tells none, if either count makes no sense."""
    asked, said = prompt if prompt is not None else 0, completion if completion is not None else 0
    sane = type(asked) is int and type(said) is int and 0 <= asked <= MOST and 0 <= said <= MOST
    return (asked, said) if sane else (0, 0)


# What one request gives back: by the fast way, by langchain-openai, or by any other chat model of LangChain's.


Usage: TypeAlias = tuple[int, int]  # prompt and completion tokens; zeros where the reply does not say
Answer: TypeAlias = tuple[list[Choice], Usage]


async def generate(judge: Judge, call: Call, sent: dict[str, Any]) -> Answer:
    """Ask once.

    Args:
        sent: what goes with the messages to an endpoint that speaks OpenAI's language.

    Raises:
        Exception: whatever the client raises.
    """
    if not judge.speaks_openai:
        return await _generate_other(judge, call)
    callbacks = callbacks_here()  # so that astream_events and tracers see the call
    messages, keywords = described(judge, call), past_the_parser(judge.model, sent)
    if (complete := direct_call_of(judge, callbacks, keywords)) is not None:
        answer = await complete(messages, **keywords)
        learn_server(judge.support, answer.get("system_fingerprint"))
        return choices_of(answer), usage_of(answer)
    result = await judge.model.agenerate([messages], callbacks=callbacks, **keywords)
    choices = [choice_of(g.message, g.generation_info) for g in result.generations[0]]  # type: ignore[union-attr]
    learn_server(judge.support, (result.llm_output or {}).get("system_fingerprint"))
    usage = (result.llm_output or {}).get("token_usage") or {}  # once for all choices: each repeats it
    if usage or not choices:
        return choices, _usage(usage, "prompt_tokens", "completion_tokens")
    of_one = getattr(choices[0].message, "usage_metadata", None) or {}  # of the first: each choice has the whole usage
    return choices, _usage(of_one, "input_tokens", "output_tokens")


def _usage(usage: Any, *names: str) -> Usage:
    return token_counts(*(usage.get(name) for name in names)) if isinstance(usage, Mapping) else (0, 0)


async def _generate_other(judge: Judge, call: Call) -> Answer:
    """Any other LangChain chat model: by its own structured output, or the schema in the prompt."""
    model, rest = with_settings(judge, call), unbound(judge, call)
    if call.tools:
        forced = rest.get("tool_choice")
        if isinstance(forced, Mapping):  # as LangChain calls it, for every provider alike
            rest["tool_choice"] = forced["function"]["name"]
        model = model.bind_tools([dict(tool) for tool in call.tools], **rest)
    elif call.schema is not None and judge.support.json_schema is not False:
        judge.support.refused.update(rest)  # there is no way to send it beside a form: it is noted
        titled = {"title": call.form, "description": f"The {call.form} asked for.", **call.schema}
        try:
            model = model.with_structured_output(titled, include_raw=True)
        except (NotImplementedError, ValueError):
            judge.support.json_schema = False
            return await _generate_other(judge, call)
    elif rest:
        model = model.bind(**rest)
    answer = await model.ainvoke(described(judge, call))
    message = answer["raw"] if isinstance(answer, dict) else answer
    usage = getattr(message, "usage_metadata", None) or {}
    choice = choice_of(message, None)
    if isinstance(answer, dict):
        choice = _from_tool(choice)
        learn_schema(judge.support, [choice])
    return [choice], _usage(usage, "input_tokens", "output_tokens")


def _from_tool(choice: Choice) -> Choice:
    """Structured output by a tool call: its arguments are the reply, also where they are no JSON."""
    if choice.tool_calls:
        return replace(choice, text=json.dumps(choice.tool_calls[0]["args"]), tool_calls=())
    broken = getattr(choice.message, "invalid_tool_calls", None)
    return replace(choice, text=str(broken[0].get("args") or "")) if broken else choice


# What went wrong with a request, and whether sending it again can help.


LONGEST = 300  # characters of a server's message that we repeat
ADDRESS = "check the address, --base-url (base_url): judgegraph doctor tells what answers there"
SLOW = "; ask less at once (--concurrency N), for shorter replies (--max-tokens N), or wait longer, Endpoint(timeout=S)"
PATIENCE = 3600.0  # seconds: a server that asks for a longer wait is taken at its word, and not waited for
_BROKEN = {"APIConnectionError", "TransportError", "APIResponseValidationError", "JSONDecodeError", "ClientError"}
_UNREACHED = {"NoConnection", "ClientConnectorError", "ConnectionTimeoutError", "ConnectError", "ConnectTimeout"}
_NO_WAY = {errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EHOSTDOWN, errno.EADDRNOTAVAIL}
_TOO_LONG = re.compile(  # OpenAI, llama.cpp, vLLM, SGLang, Anthropic, Gemini, Bedrock
    "context_length_exceeded|maximum context length|exceeds? (the|model's) (available )?context|exceed context limit"
    "|context window|(prompt|input) is too long|too long to fit into the model|longer than the (maximum model length|"
    "model's context)|input token count.{0,40}exceeds|exceed_context_size|input is too large to process"
    "|request too large for"  # of tokens a minute: it never fits
)
_FILTERED = ("content_filter", "content management policy", "content policy", "moderation", "flagged")


@dataclass(frozen=True)
class Fault:
    """A failed request.

    Attributes:
        status: what a score ends with if this is the last try. message: one line.
        retry: the same request may succeed later. wait: seconds the server asked for, None if it did not.
        throttled: the server asks for less at once: a 429, or a 503 that names a time.
        fatal: every other call to this endpoint may fail alike (a wrong key, an unknown model).
        costs: what a request that met it is booked at: "nothing" where no server received it, "a call" where one
            refused it (HTTP 4xx), else its "estimate": it may be billed.
        answered: the server is there, and said so.
        outage: what the server lacks for anybody, such as "no connection"; "" where it may be this request alone.
        of_text: of a fatal one: a firewall may say it of one text, and answer others.
        code: its HTTP status, 0 without one.
        shapeless: an answer of status 200 that is no chat completion and tells no error, as of another kind of server.
    """

    status: Status
    message: str
    retry: bool
    wait: float | None = None
    fatal: bool = False
    throttled: bool = False
    costs: Literal["nothing", "a call", "estimate"] = "estimate"
    answered: bool = False
    outage: str = ""
    of_text: bool = False
    code: int = 0
    shapeless: bool = False


def classify(
    error: BaseException, clock: Callable[[], float] = time.time, *,
    secrets: Iterable[str] = (), timeout: float | None = None,
) -> Fault:  # fmt: skip
    """Judge an exception of an SDK by its HTTP status or its kind; SDKs are recognised, not imported.

    Args:
        clock: seconds since 1970, for a Retry-After that is a date in a reply without one.
        secrets: texts that must not stand in the message. timeout: seconds after which we gave up.
    """
    message = _message(error, secrets)
    if unreachable(error):
        return Fault("provider_error", message, retry=True, costs="nothing", outage="no connection")
    if _untrusted(error):
        return Fault("provider_error", message, retry=True, costs="nothing")
    code, answered = _status_of(error)
    if answered is not None:
        return _by_code(code, answered, message, clock)
    names = {kind.__name__ for kind in type(error).__mro__}
    if isinstance(error, TimeoutError) or "APITimeoutError" in names:
        return Fault("timeout", "no answer" + ("" if timeout is None else f" within {timeout:g} s{SLOW}"), retry=True)
    if "LengthFinishReasonError" in names:
        return Fault("truncated", "the reply was cut off at its token limit", retry=False)
    if "ContentFilterFinishReasonError" in names:
        return Fault("filtered", "the provider's content filter stopped the reply", retry=False)
    if "JSONDecodeError" in names and not str(getattr(error, "doc", "")).lstrip().startswith("{"):  # else cut off
        return _shapeless(one_line(scrubbed(str(getattr(error, "doc", ""))[:10_000], secrets), 120) or message)
    if isinstance(error, OSError) or names & _BROKEN:
        return Fault("provider_error", message, retry=True)
    # langchain-openai takes any 200 for a chat completion, and trips over what is missing in it
    shapeless = isinstance(error, TypeError | AttributeError | LookupError) and getattr(error, "response", None)
    plain = isinstance(error, ValueError) and "Unexpected response type" in str(error)  # a 200 that is no JSON
    error_in = isinstance(error, ValueError) and isinstance(next(iter(error.args), None), Mapping)  # {"error": {...}}
    empty = plain or error_in or (isinstance(error, TypeError) and "choices" in str(error))
    if error_in or getattr(error, "error", False):  # an error that may pass
        told = f"the server's answer is no chat completion ({message})"
        return Fault("provider_error", told, retry=True, answered=True)
    if shapeless or empty:
        return _shapeless(message)
    return Fault("provider_error", message, retry=False)


_HTML = re.compile("<(!doctype|html|head|body)", re.I)


def _shapeless(said: str) -> Fault:
    """What answers is no model, or not at this address: a login page, a proxy's page, another API."""
    html = _HTML.search(said) is not None
    what = "HTML, as of a login page or a proxy, and " if html else ""
    told = f"the server's answer is {what}no chat completion ({said})"
    return Fault(
        "provider_error", f"{told}; {ADDRESS}", retry=True, answered=True, costs="a call" if html else "estimate",
        shapeless=True,
    )  # fmt: skip


def _status_of(error: BaseException) -> tuple[int, BaseException | None]:
    """The HTTP status that an error or one behind it tells, and which: some SDKs call it `code`, and some wrap it."""
    for one in _chain(error):
        for name in ("status_code", "code"):
            code = getattr(one, name, None)
            if isinstance(code, int) and not isinstance(code, bool) and (name == "status_code" or 300 <= code < 600):
                return int(code), one
        answer = getattr(one, "response", None)  # httpx's of Mistral's client; botocore's is a mapping
        code = getattr(answer, "status_code", None)
        if isinstance(answer, Mapping):
            code = (answer.get("ResponseMetadata") or {}).get("HTTPStatusCode")
        if isinstance(code, int) and code >= 300:
            return code, one
    return 0, None


def _by_code(code: int, error: BaseException, message: str, clock: Callable[[], float]) -> Fault:
    said = f"{getattr(error, 'code', '')} {error}".lower()
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    refused = Fault("provider_error", message, retry=False, costs="a call", answered=True)
    if code < 300:
        return replace(refused, costs="estimate")
    filtered = any(name in said for name in _FILTERED) if code in (400, 403) else "content_filter" in said
    if filtered and code in (400, 401, 403, 404):
        return replace(refused, status="filtered")
    if code == 413 or (code in (400, 429, 500) and _TOO_LONG.search(said)):
        return replace(refused, status="too_large")
    if 300 <= code < 400:
        return replace(refused, message=_redirected(code, headers), fatal=True, of_text=True)
    if code in (401, 403, 404):
        return replace(refused, fatal=True, of_text=True, code=code)
    if code == 429 and "insufficient_quota" in said:
        return replace(refused, fatal=True)
    if code not in (408, 409, 429) and code < 500:
        return refused
    wait = retry_after(headers, clock)
    found = replace(refused, retry=True, wait=wait, costs="a call" if code < 500 else "estimate")
    if wait is not None and wait > PATIENCE:
        return replace(found, message=f"asked to wait {wait:.0f} s, which is too long: {message}", retry=False)
    if code in (502, 503, 504) and wait is None:
        return replace(found, answered=False, outage=f"HTTP {code}")
    return replace(found, throttled=code == 429 or (code == 503 and wait is not None))


def _redirected(code: int, headers: Mapping[str, Any]) -> str:
    """Where to, without anything that may be a key; a path alone stays on the server."""
    to = next((str(value) for name, value in headers.items() if str(name).lower() == "location"), "")
    try:
        where = f" to {one_line(scrubbed(bare(to)), 120)}" if to else ""
    except ValueError:  # no address
        where = ""
    return f"HTTP {code}: the server sends us on{where}, and no redirect is followed; give the right address (base_url)"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error and what it came from."""
    found: BaseException | None = error
    for _ in range(6):
        if found is None:
            return
        yield found
        found = found.__cause__


def _untrusted(error: BaseException) -> bool:
    """There is no encrypted connection, such as with a wrong certificate: nothing was sent, and it will not pass."""
    return any(isinstance(one, ssl.SSLError) or type(one).__name__ == "NoTrust" for one in _chain(error))


def unreachable(error: BaseException) -> bool:
    """There was no connection: it was refused, has no way, or the name of the server is not found."""
    if _status_of(error)[1] is not None or _untrusted(error):
        return False
    return any(
        isinstance(one, ConnectionRefusedError | socket.gaierror)
        or (type(one) is ConnectionError and "Failed to connect to" in str(one))  # as Ollama's client says it
        or {kind.__name__ for kind in type(one).__mro__} & _UNREACHED
        or (isinstance(one, OSError) and one.errno in _NO_WAY)
        for one in _chain(error)
    )


def retry_after(headers: Mapping[str, Any], clock: Callable[[], float] = time.time) -> float | None:
    """Seconds to wait by the Retry-After header, given in seconds or as an HTTP date; None without one.

    A date is measured against the reply's own Date, so that a clock that differs from the server's does not matter.
    Finer, where a server sends it: `retry-after-ms`, milliseconds.
    """
    lower = {str(name).lower(): str(value).strip() for name, value in headers.items()}
    if (finer := _seconds(lower.get("retry-after-ms", ""))) is not None:
        return finer / 1000
    text = lower.get("retry-after", "")
    if (seconds := _seconds(text)) is not None:
        return seconds
    if (date := _seconds_of(text)) is None:
        return None
    now = _seconds_of(lower.get("date", ""))
    return max(0.0, date - (clock() if now is None else now))


def _seconds_of(date: str) -> float | None:
    """Seconds since 1970 of an HTTP date."""
    try:
        found = email.utils.parsedate_to_datetime(date)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _message(error: BaseException, secrets: Iterable[str]) -> str:
    """Kind and text of the error, and of what it came from where an SDK says no more than "Connection error."."""
    secrets = tuple(secrets)
    text = f"{type(error).__name__}: {_uncut(str(error), secrets)}"
    cause = error.__cause__
    if cause is not None and _status_of(error)[1] is None:
        text += f" ({type(cause).__name__}: {cause})"
    return one_line(scrubbed(text, secrets), LONGEST)


def _uncut(text: str, secrets: Iterable[str]) -> str:
    """Where an SDK cut a server's words short in the middle of a key, what is left of the key goes too."""
    kept = text.removesuffix("...")
    if kept == text:
        return text
    for secret in secrets:
        for size in range(len(secret) - 1, SHORTEST - 1, -1):
            if kept.endswith(secret[:size]):
                return f"{kept[:-size]}***..."
    return text
