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

from judgegraph.agent_runs.messages import ROLES, message_text, turn_of
from judgegraph.evidence import Passage, ToolCall, Turn, compact

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
            return turn_of(got).content
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
    if value is None or value == "":
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
        return [turn_of(value)]
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
