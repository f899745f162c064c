"""Trees of spans as turns: LangSmith, OpenTelemetry GenAI, OpenInference and Langfuse, told in one shape.

A model's span holds the whole conversation before it, so what is told already is not told twice; a result of a tool
may be a span of its own, a message of the next model's input, or both.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from judgegraph.evidence import Passage, ToolCall, Turn, compact, parts_text, turn_fields, without_results

# Lists of messages as turns, and turns as messages again: OpenAI's shape, and LangChain's in its three spellings.


RECORD = "record"  # key of `more`: the whole record, of one that our fields could not be turned back into
ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "function"}
KINDS = {"HumanMessage": "human", "AIMessage": "ai", "SystemMessage": "system", "ToolMessage": "tool",
         "FunctionMessage": "function", "ChatMessage": "chat", "AIMessageChunk": "ai"}  # fmt: skip


def openai_turns(record: Mapping[str, Any]) -> list[Turn]:
    """A message of OpenAI's shape, or of Anthropic's, whose results of tools are turns of their own.

    One that could not be written again as it was is kept whole beside its first turn, and None beside the others.
    """
    first, *others = [Turn.model_validate(turn_fields(one)) for one in without_results(record)]
    if not others and openai_message(first) == dict(record):
        return [first]
    beside = [(first, dict(record)), *((turn, None) for turn in others)]
    return [turn.model_copy(update={"more": {**turn.more, RECORD: whole}}) for turn, whole in beside]


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
    if "content" not in data and not calls:
        raise ValueError(f"a message of {kind} has no content; its keys are {', '.join(map(str, data)) or 'none'}")
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


def turns_of_message(record: Any) -> list[Turn]:
    """A message of either kind."""
    return [langchain_turn(record)] if is_langchain(record) else openai_turns(record)


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


Kind = Literal["model", "tool", "retriever", "agent", "other"]


@dataclass
class Span:
    """A span, whatever format it came in.

    Attributes:
        kind: what ran. asked, said: messages in and out, of a model. given, got: of a tool or a retriever.
        at: by what spans are ordered. usage: tokens, as the format counts them. error: why it failed, "".
    """

    id: str
    parent: str = ""
    kind: Kind = "other"
    name: str = ""
    agent: str = ""
    asked: list[Turn] = field(default_factory=list)
    said: list[Turn] = field(default_factory=list)
    given: Any = None
    got: Any = None
    call_id: str = ""
    at: str = ""
    order: str = ""
    usage: dict[str, Any] = field(default_factory=dict)
    error: str = ""
    tools: Any = None


def turns_of_spans(spans: Sequence[Span]) -> list[Turn]:
    """The steps of a run, in the order in which its spans began."""
    told = _RunTurns()
    for span in sorted(spans, key=lambda one: one.order or one.at):
        agent = span.agent or _agent_of(span, spans)
        if span.kind == "model":
            told.model(span, agent)
        elif span.kind in ("tool", "retriever"):
            told.tool(span, agent)
    return told.turns


def _agent_of(span: Span, spans: Iterable[Span]) -> str:
    """The agent whose span is around it."""
    by_id = {one.id: one for one in spans}
    seen = {span.id}
    above = by_id.get(span.parent)
    while above is not None and above.id not in seen:
        if above.kind == "agent":
            return above.agent or above.name
        seen.add(above.id)
        above = by_id.get(above.parent)
    return ""


class _RunTurns:
    """Turns told so far, and which messages of a later input are told already."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self._seen: Counter[tuple[str, ...]] = Counter()

    def _add(self, turn: Turn) -> None:
        self.turns.append(turn)
        self._seen[_key(turn)] += 1

    def model(self, span: Span, agent: str) -> None:
        """What was new in its input, then what it said; an error where it said nothing."""
        met: Counter[tuple[str, ...]] = Counter()
        for turn in span.asked:
            if (turn.role == "tool" and self._seen_before(turn)) or (PROMPTS in turn.more and self.turns):
                continue
            met[_key(turn)] += 1
            if met[_key(turn)] > self._seen[_key(turn)]:
                self._add(turn)
        about = {"agent": agent, "parent": span.id, "at": span.at}
        for place, turn in enumerate(span.said):
            own = {name: value for name, value in about.items() if value and not getattr(turn, name)}
            usage = {"usage": span.usage} if span.usage and not place and not turn.usage else {}
            self._add(turn.model_copy(update={**own, **usage}))
        if span.error and not span.said:
            self._add(Turn(role="assistant", content=span.error, status="error", **_filled(about)))

    def _seen_before(self, turn: Turn) -> bool:
        """Whether a message is a result that a span told; of a failed one the agent saw what the message says."""
        for at, known in enumerate(self.turns):
            if turn.call_id and known.call_id == turn.call_id and known.role == "tool":
                if known.status == "error" and known.content != turn.content:
                    more = {**known.more, "error": known.content}
                    self.turns[at] = known.model_copy(update={"content": turn.content, "more": more})
                return True
        return False

    def tool(self, span: Span, agent: str) -> None:
        """The call, where no model made it, and the result."""
        call_id = span.call_id
        opened = [call for turn in self.turns for call in turn.calls if call.name == span.name]
        answered = {turn.call_id for turn in self.turns if turn.call_id}
        if not call_id:
            call_id = next((call.id for call in opened if call.id and call.id not in answered), "")
        results = sum(turn.role == "tool" and turn.name == span.name for turn in self.turns)
        if not any(call.id == call_id for call in opened if call_id) and len(opened) <= results:
            call = ToolCall(name=span.name, arguments=_arguments(span.given), id=call_id)
            self._add(
                Turn(role="assistant", calls=(call,), **_filled({"agent": agent, "parent": span.id, "at": span.at}))
            )
        if any(turn.role == "tool" and turn.call_id == call_id for turn in self.turns if call_id):
            return  # a message told it
        text = span.error or message_text(_result(span.got))
        about = _filled({"name": span.name, "call_id": call_id, "id": span.id, "parent": span.parent, "at": span.at})
        self._add(Turn(role="tool", content=text, status="error" if span.error else "", **about))


def _filled(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}


def _key(turn: Turn) -> tuple[str, ...]:
    """What makes two tellings of one message the same: who, what, which calls."""
    if turn.role in ("tool", "function"):
        return ("tool", " ".join(turn.text.split()))
    calls = [f"{call.name}({_plain_arguments(call.arguments)})" for call in turn.calls]
    return (turn.role, " ".join(turn.text.split()), *calls)


def _plain_arguments(arguments: Any) -> str:
    parsed = _arguments(arguments)
    return json.dumps(parsed, sort_keys=True, ensure_ascii=False, default=str)


def _arguments(given: Any) -> Any:
    """Arguments as an object where they can be read as one."""
    if isinstance(given, str) and given.lstrip()[:1] == "{":
        try:
            return json.loads(given)
        except (ValueError, RecursionError):
            return given
    if isinstance(given, Mapping) and set(given) == {"input"}:
        return _arguments(given["input"])
    return given if given is not None else {}


def _result(got: Any) -> Any:
    """What a tool gave, out of the frames that tracers put around it."""
    if isinstance(got, Mapping):
        if set(got) <= {"output", "result"} and got:
            return _result(next(iter(got.values())))
        if got.get("type") == "constructor" or isinstance(got.get("data"), Mapping) or got.get("type") == "tool":
            return turns_of_message(got)[-1].content
        return compact(dict(got))
    return got if isinstance(got, str | list) or got is None else compact(got)


def passages_in(spans: Iterable[Span]) -> list[Passage]:
    """Documents that retrievers gave."""
    found = []
    for span in spans:
        if span.kind != "retriever":
            continue
        got = span.got.get("documents", span.got.get("output", [])) if isinstance(span.got, Mapping) else span.got
        for one in got if isinstance(got, list) else []:
            record = one.get("document", one) if isinstance(one, Mapping) else one
            if isinstance(record, Mapping) and isinstance(record.get("kwargs"), Mapping):
                record = record["kwargs"]
            try:
                found.append(Passage.model_validate(record))
            except ValueError:
                continue
    return [one if one.id else one.model_copy(update={"id": str(at)}) for at, one in enumerate(found, 1)]


def parsed(value: Any) -> Any:
    """A text that holds JSON, as what it holds."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


PROMPTS = "prompts"  # key of `more`: the text is a whole conversation, as completions were asked for
_ROLES = {*ROLES, *ROLES.values()}


def _is_pair(value: Any) -> bool:
    """["user", text], as LangChain takes a message."""
    return len(value) == 2 and value[0] in _ROLES and isinstance(value[1], str) if isinstance(value, list) else False


def messages_in(value: Any, role: str) -> list[Turn]:
    """Messages in what a span holds as its input or output, in any of the usual frames; a text is one message."""
    value = parsed(value)
    if value in (None, "", [], {}):
        return []
    if isinstance(value, str):
        return [Turn(role=role, content=value)]
    if isinstance(value, Mapping):
        return _in_object(value, role)
    if _is_pair(value):
        return [Turn(role=ROLES.get(value[0], value[0]), content=value[1])]
    flat = [one for item in value for one in (item if isinstance(item, list) and not _is_pair(item) else [item])]
    found = []
    for one in flat:
        found += messages_in(one, role)
    return found


def _in_object(value: Mapping[str, Any], role: str) -> list[Turn]:
    if "role" in value or value.get("type") in ("human", "ai", "system", "tool", "constructor"):
        return turns_of_message(value)
    if isinstance(value.get("generations"), list):  # LangChain's result of a model
        rows = [one for item in value["generations"] for one in (item if isinstance(item, list) else [item])]
        return [turn for row in rows for turn in messages_in(row.get("message") or row.get("text"), role)]
    if isinstance(value.get("choices"), list):  # OpenAI's
        return [turn for one in value["choices"] for turn in messages_in(one.get("message"), role)]
    if isinstance(value.get("prompts"), list):  # the conversation so far, as one text
        return [Turn(role=role, content="\n".join(map(str, value["prompts"])), more={PROMPTS: True})]
    for name in ("messages", "message", "output", "input", "question", "query", "content", "text", "answer"):
        if value.get(name):
            return messages_in(value[name], role)
    return [Turn(role=role, content=compact(dict(value)))]
