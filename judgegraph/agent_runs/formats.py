"""Each format of an agent's run: how it is known, and how one record of it becomes a sample."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgegraph.agent_runs.spans import (
    RECORD,
    ROLES,
    Span,
    answer_of,
    asked_of,
    is_langchain,
    langchain_records,
    langchain_turn,
    message_text,
    messages_in,
    openai_message,
    openai_turns,
    parsed,
    passages_in,
    turns_of_spans,
)
from judgegraph.errors import DataError, ValueRefused, one_line, settings_checked
from judgegraph.evidence import Passage, ToolCall, Turn, compact
from judgegraph.types import Human, Sample

META = "trajectory"  # key of `Sample.meta`: format, and what the document held beside its turns


@dataclass(frozen=True)
class Run:
    """A run as it was read.

    Attributes:
        turns: in their order. query, output: what was asked and answered, "" for what the turns say. error: of the run.
        tools: definitions of those that were offered. human: judgements of people that came with it.
        rest: what the document held beside: kept in `meta`, so that it can be written as it was.
    """

    id: str
    turns: Sequence[Turn]
    rest: Any
    query: str = ""
    output: str = ""
    contexts: Sequence[Passage] = ()
    tools: Any = None
    human: Human | None = None
    error: str = ""

    def sample(self, format: str) -> Sample:
        """As a sample."""
        output = self.output or answer_of(self.turns) or self.error
        facts = {"tools": self.tools} if self.tools else {}
        return Sample(
            id=self.id, query=self.query or asked_of(self.turns), output=output, turns=tuple(self.turns),
            contexts=tuple(self.contexts), facts=facts, human=self.human or {},
            meta={META: {"format": format, "rest": self.rest, **({"error": self.error} if self.error else {})}},
        )  # fmt: skip


# Messages.


def from_openai(document: Any, id: str) -> Iterator[Run]:
    """A list of messages, or an object with "messages" and, where it has some, "tools"."""
    messages, rest = (
        (document, None) if isinstance(document, list) else (document["messages"], _but(document, "messages"))
    )
    tools = rest.get("tools") if isinstance(rest, dict) else None
    name = rest.get("id") if isinstance(rest, dict) else None
    yield Run(str(name or id), [turn for one in messages for turn in openai_turns(one)], rest, tools=tools)


def from_langchain(document: Any, id: str) -> Iterator[Run]:
    """A list of LangChain's messages, or a state with "messages"."""
    messages, rest = (
        (document, None) if isinstance(document, list) else (document["messages"], _but(document, "messages"))
    )
    name = rest.get("id") or rest.get("thread_id") if isinstance(rest, dict) else None
    yield Run(str(name or id), [langchain_turn(one) for one in messages], rest)


def _but(document: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key not in names}


# ATIF: a document of steps; what a step's tools gave stands in the step.


def from_atif(document: Mapping[str, Any], id: str) -> Iterator[Run]:
    """Versions 1.0 to 1.8; a run that was handed to another agent is a run of its own, named in `rest`."""
    turns: list[Turn] = []
    names = {"user": "user", "system": "system", "agent": "assistant"}
    agent = document.get("agent") or {}
    for step in document["steps"]:
        at, source = str(step.get("timestamp") or ""), str(step.get("source"))
        calls = [
            ToolCall(
                name=str(one.get("function_name")), arguments=one.get("arguments", {}), id=str(one["tool_call_id"])
            )
            for one in step.get("tool_calls") or ()
        ]
        metrics = step.get("metrics")
        if "message" not in step and not calls and not step.get("observation"):
            raise ValueError(f"step {len(turns) + 1} has no message; its keys are {', '.join(map(str, step))}")
        turns.append(Turn(
            role=names.get(source, source), content=_atif_content(step.get("message")), calls=tuple(calls), at=at,
            id=str(step.get("step_id")), reasoning=str(step.get("reasoning_content") or ""),
            usage=dict(metrics) if isinstance(metrics, Mapping) else {},
            agent=str(agent.get("name") or "") if source == "agent" else "",
        ))  # fmt: skip
        by_id = {call.id: call.name for call in calls}
        for one in (step.get("observation") or {}).get("results") or ():
            call_id = str(one.get("source_call_id") or "")
            content = _atif_content(one.get("content"))
            if not content and one.get("subagent_trajectory_ref"):
                content = compact(one["subagent_trajectory_ref"])
            about = {"name": by_id.get(call_id, ""), "parent": str(step.get("step_id")), "call_id": call_id}
            turns.append(Turn(role="tool", content=content, at=at, **about))
    name = str(document.get("trajectory_id") or document.get("session_id") or id)
    yield Run(name, turns, dict(document), tools=agent.get("tool_definitions"))
    for inner in document.get("subagent_trajectories") or ():
        yield from from_atif(inner, f"{name}/sub")


def _atif_content(content: Any) -> Any:
    return content if isinstance(content, str | list) else "" if content is None else compact(content)


# LangSmith: runs with their parents, flat or as a tree.


_SMITH: Mapping[str, Any] = {"llm": "model", "chat_model": "model", "tool": "tool", "retriever": "retriever"}


def from_langsmith(document: Any, id: str) -> Iterator[Run]:
    """Runs of one or several traces; feedback of people's on the root becomes `human`."""
    runs = [one for run in (document if isinstance(document, list) else [document]) for one in _unfolded(run)]
    for name, group in _grouped(runs, lambda run: str(run.get("trace_id") or run.get("id") or id)).items():
        root = _root(group, "id", "parent_run_id")
        spans = [_smith_span(run) for run in group]
        tools = next((t for run in group if (t := _smith_tools(run))), None)
        yield Run(
            name, turns_of_spans(spans), group, contexts=passages_in(spans), tools=tools,
            error=str(root.get("error") or ""),
            query=asked_of(messages_in(root.get("inputs"), "user")), human=_smith_feedback(root),
            output=answer_of(messages_in(root.get("outputs"), "assistant")),
        )  # fmt: skip


def _unfolded(run: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    yield dict(run)
    for child in run.get("child_runs") or ():
        yield from _unfolded(child)


def _smith_span(run: Mapping[str, Any]) -> Span:
    kind = _SMITH.get(str(run.get("run_type")), "other")
    metadata = ((run.get("extra") or {}).get("metadata") or {}) if isinstance(run.get("extra"), Mapping) else {}
    usage = {n: run[n] for n in ("prompt_tokens", "completion_tokens", "total_tokens", "total_cost") if run.get(n)}
    inputs, outputs = run.get("inputs") or {}, run.get("outputs") or {}
    return Span(
        id=str(run.get("id")), parent=str(run.get("parent_run_id") or ""), kind=kind, name=str(run.get("name") or ""),
        agent=str(metadata.get("lc_agent_name") or metadata.get("langgraph_node") or "") if kind == "model" else "",
        asked=messages_in(inputs, "user") if kind == "model" else [],
        said=messages_in(outputs, "assistant") if kind == "model" and outputs else [],
        given=inputs, got=outputs, at=str(run.get("start_time") or ""), usage=usage, error=str(run.get("error") or ""),
        order=str(run.get("dotted_order") or ""),
    )  # fmt: skip


def _smith_tools(run: Mapping[str, Any]) -> Any:
    extra = run.get("extra")
    return (extra.get("invocation_params") or {}).get("tools") if isinstance(extra, Mapping) else None


def _smith_feedback(root: Mapping[str, Any]) -> Human:
    found: Human = {}
    for one in root.get("feedback") or ():
        if isinstance(one, Mapping) and one.get("key") and one.get("score", one.get("value")) is not None:
            score = one.get("score") if one.get("score") is not None else one.get("value")
            if isinstance(score, int | float | str):
                found[str(one["key"])] = float(score) if isinstance(score, bool | int) else score
    return found


# OpenTelemetry: GenAI conventions and OpenInference, as OTLP's JSON or as the SDK writes a span.


def from_otel(document: Any, id: str) -> Iterator[Run]:
    """Spans of one or several traces, by either convention, span by span."""
    spans = list(_otel_spans(document))
    for name, group in _grouped(spans, lambda span: str(span["trace"] or id)).items():
        told = [_otel_span(span) for span in group]
        root = _root(group, "id", "parent")
        about = root["attributes"]
        contexts = passages_in(told)
        asked = messages_in(about.get("input.value") or about.get("gen_ai.input.messages"), "user")
        said = messages_in(about.get("output.value") or about.get("gen_ai.output.messages"), "assistant")
        tools = next((span.tools for span in told if span.tools), None)
        yield Run(
            name, turns_of_spans(told), [span["raw"] for span in group], contexts=contexts, tools=tools,
            query=asked_of(asked), output=answer_of(said), error=_otel_error(root),
        )  # fmt: skip


def _otel_spans(document: Any) -> Iterator[dict[str, Any]]:
    for one in document if isinstance(document, list) else [document]:
        if "resourceSpans" in one:
            for resource in one["resourceSpans"]:
                for scope in resource.get("scopeSpans") or ():
                    for span in scope.get("spans") or ():
                        yield _otlp(span)
        elif "resource_spans" in one:
            raise DataError("OTLP in JSON has resourceSpans; these names are those of protobuf's text")
        else:
            context = one.get("context") or {}
            yield {
                "id": str(context.get("span_id") or one.get("span_id") or one.get("spanId") or ""),
                "trace": str(context.get("trace_id") or one.get("trace_id") or one.get("traceId") or ""),
                "parent": str(one.get("parent_id") or one.get("parentSpanId") or ""),
                "name": str(one.get("name") or ""),
                "attributes": _attributes(one.get("attributes")), "at": str(one.get("start_time") or ""),
                "status": one.get("status") or {}, "events": one.get("events") or [], "raw": one,
            }  # fmt: skip


def _otlp(span: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": str(span.get("spanId") or ""), "trace": str(span.get("traceId") or ""),
        "parent": str(span.get("parentSpanId") or ""), "name": str(span.get("name") or ""),
        "attributes": _attributes(span.get("attributes")), "at": str(span.get("startTimeUnixNano") or "").zfill(20),
        "status": span.get("status") or {}, "events": span.get("events") or [], "raw": dict(span),
    }  # fmt: skip


def _attributes(given: Any) -> dict[str, Any]:
    """Attributes as a mapping: of OTLP's list of key and value, of a mapping, or of one that is nested by dots."""
    if isinstance(given, list):
        return {str(one.get("key")): _otlp_value(one.get("value")) for one in given}
    found: dict[str, Any] = {}
    for key, value in (given or {}).items():
        found |= _flat(str(key), value)
    return found


_NESTED = ("llm", "openinference", "tool", "input", "output", "retrieval", "gen_ai", "agent", "session")


def _flat(key: str, value: Any) -> dict[str, Any]:
    """Phoenix exports attributes as nested objects; lists of objects get their numbers as names."""
    if isinstance(value, Mapping) and value and key in _NESTED:
        return {f"{key}.{name}": one for inner, held in value.items() for name, one in _deep(str(inner), held).items()}
    return {key: value}


def _deep(key: str, value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping) and value:
        return {f"{key}.{name}": one for inner, held in value.items() for name, one in _deep(str(inner), held).items()}
    if isinstance(value, list) and value and all(isinstance(one, Mapping) for one in value):
        return {f"{key}.{name}": one for at, held in enumerate(value) for name, one in _deep(str(at), held).items()}
    return {key: value}


def _otlp_value(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    for name, held in value.items():
        if name == "arrayValue":
            return [_otlp_value(one) for one in (held or {}).get("values") or ()]
        if name == "kvlistValue":
            return {one["key"]: _otlp_value(one.get("value")) for one in (held or {}).get("values") or ()}
        return int(held) if name == "intValue" else held
    return None


_OPERATIONS: Mapping[str, Any] = {
    "chat": "model", "text_completion": "model", "generate_content": "model", "execute_tool": "tool",
    "invoke_agent": "agent", "create_agent": "agent", "retrieval": "retriever",
    "LLM": "model", "TOOL": "tool", "AGENT": "agent", "RETRIEVER": "retriever",
}  # fmt: skip


def _otel_span(span: Mapping[str, Any]) -> Span:
    about = span["attributes"]
    kind = _OPERATIONS.get(
        str(about.get("openinference.span.kind") or about.get("gen_ai.operation.name") or ""), "other"
    )
    error = _otel_error(span)
    found = Span(
        id=span["id"], parent=span["parent"], kind=kind, at=span["at"], error=error,
        name=str(about.get("gen_ai.tool.name") or about.get("tool.name") or span["name"]),
        agent=str(about.get("gen_ai.agent.name") or about.get("agent.name") or ""),
        usage={k.split(".", 2)[-1]: v for k, v in about.items()
               if k.startswith(("gen_ai.usage.", "llm.token_count."))},
        given=_first(about, "gen_ai.tool.call.arguments", "tool.parameters", "input.value"),
        got=_first(about, "gen_ai.tool.call.result", "output.value"),
        call_id=str(about.get("gen_ai.tool.call.id") or ""),
        tools=parsed(about.get("gen_ai.tool.definitions")),
    )  # fmt: skip
    if kind == "model":
        found.asked = _genai(about, "input") or _numbered(about, "llm.input_messages") or _events(span, "input")
        found.said = _genai(about, "output") or _numbered(about, "llm.output_messages") or _events(span, "output")
        if not found.asked and not found.said:
            found.asked = messages_in(about.get("input.value"), "user")
            found.said = messages_in(about.get("output.value"), "assistant")
        if not found.tools:
            found.tools = _numbered_tools(about) or None
    elif kind == "tool":
        found.given, found.got = parsed(found.given), parsed(found.got)
    elif kind == "retriever":
        found.got = _numbered_documents(about) or parsed(found.got)
    return found


def _first(about: Mapping[str, Any], *names: str) -> Any:
    return next((about[name] for name in names if about.get(name) not in (None, "")), None)


def _otel_error(span: Mapping[str, Any]) -> str:
    status = span["status"]
    code = str(status.get("status_code") or status.get("code") or "")
    if code not in ("ERROR", "STATUS_CODE_ERROR", "2"):
        return ""
    told = status.get("description") or status.get("message")
    for event in span["events"]:
        about = _attributes(event.get("attributes"))
        told = told or about.get("exception.message")
    return str(told or span["attributes"].get("error.type") or "error")


def _genai(about: Mapping[str, Any], side: str) -> list[Turn]:
    """Messages of the GenAI conventions: a role and parts, as JSON or as they are; instructions come first."""
    found = []
    instructions = parsed(about.get("gen_ai.system_instructions")) if side == "input" else None
    if instructions:
        parts = instructions if isinstance(instructions, list) else [{"type": "text", "content": str(instructions)}]
        found.append(_of_parts({"role": "system", "parts": parts}))
    value = parsed(about.get(f"gen_ai.{side}.messages"))
    older = parsed(about.get("gen_ai.prompt" if side == "input" else "gen_ai.completion"))
    if value is None and older is not None:
        return found + messages_in(older, "user" if side == "input" else "assistant")
    for message in value if isinstance(value, list) else []:
        found += _split(message) if isinstance(message, Mapping) else []
    return found


def _split(message: Mapping[str, Any]) -> list[Turn]:
    """A message of parts: each result of a tool is a turn of its own."""
    if not isinstance(message.get("parts"), list):
        return messages_in(message, str(message.get("role") or "user"))
    results = [p for p in message["parts"] if isinstance(p, Mapping) and p.get("type") == "tool_call_response"]
    rest = [p for p in message["parts"] if p not in results]
    found = [_of_parts({**message, "parts": rest})] if rest or not results else []
    for part in results:
        given = part.get("response", part.get("result", ""))
        content = given if isinstance(given, str | list) else compact(given)
        found.append(
            Turn(role="tool", content=content, call_id=str(part.get("id") or ""), name=str(part.get("name") or ""))
        )
    return found


def _of_parts(message: Mapping[str, Any]) -> Turn:
    texts, calls, thoughts, others = [], [], [], []
    for part in message["parts"]:
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind == "text":
            texts.append(str(part.get("content") or ""))
        elif kind == "reasoning":
            thoughts.append(str(part.get("content") or ""))
        elif kind in ("tool_call", "server_tool_call"):
            calls.append(ToolCall(name=str(part.get("name") or ""), arguments=part.get("arguments") or {},
                                  id=str(part.get("id") or "")))  # fmt: skip
        else:
            others.append(part)
    content: Any = "\n".join(texts)
    if others:
        content = [*({"type": "text", "text": text} for text in texts), *others]
    role = str(message.get("role") or "assistant")
    return Turn(
        role=ROLES.get(role, role), content=content, calls=tuple(calls), reasoning="\n".join(thoughts),
        name=str(message.get("name") or ""),
    )  # fmt: skip


def _events(span: Mapping[str, Any], side: str) -> list[Turn]:
    """Messages as events of a span, as earlier conventions had them."""
    roles = {"gen_ai.system.message": "system", "gen_ai.user.message": "user", "gen_ai.assistant.message": "assistant",
             "gen_ai.tool.message": "tool"}  # fmt: skip
    found = []
    for event in span["events"]:
        name, about = str(event.get("name")), _attributes(event.get("attributes"))
        if side == "input" and name in roles:
            found.append(
                Turn(role=roles[name], content=message_text(about.get("content")), call_id=str(about.get("id") or ""))
            )
        elif side == "output" and name == "gen_ai.choice":
            found += messages_in(about.get("message") or about.get("content"), "assistant")
    return found


def _at_numbers(about: Mapping[str, Any], prefix: str) -> list[dict[str, Any]]:
    """Of "PREFIX.0.a", "PREFIX.0.b", "PREFIX.1.a": the fields of each number."""
    rows: dict[int, dict[str, Any]] = {}
    for key, value in about.items():
        if key.startswith(f"{prefix}."):
            number, _, name = key[len(prefix) + 1 :].partition(".")
            if number.isdigit() and name:
                rows.setdefault(int(number), {})[name] = value
    return [rows[at] for at in sorted(rows)]


def _numbered(about: Mapping[str, Any], prefix: str) -> list[Turn]:
    """Messages of OpenInference: flattened, numbered attributes."""
    found = []
    for row in _at_numbers(about, prefix):
        message = {key.removeprefix("message."): value for key, value in row.items()}
        calls = [
            ToolCall(
                name=str(one.get("tool_call.function.name") or ""), id=str(one.get("tool_call.id") or ""),
                arguments=parsed(one.get("tool_call.function.arguments")) or {},
            )
            for one in _at_numbers(message, "tool_calls")
        ]  # fmt: skip
        parts = [one.get("message_content.text") for one in _at_numbers(message, "contents")]
        content = message.get("content") or "\n".join(part for part in parts if isinstance(part, str))
        role = str(message.get("role") or "user")
        found.append(Turn(
            role=ROLES.get(role, role), content=content or "", calls=tuple(calls), name=str(message.get("name") or ""),
            call_id=str(message.get("tool_call_id") or ""),
        ))  # fmt: skip
    return found


def _numbered_tools(about: Mapping[str, Any]) -> list[Any]:
    return [parsed(one.get("tool.json_schema")) for one in _at_numbers(about, "llm.tools")]


def _numbered_documents(about: Mapping[str, Any]) -> list[Any]:
    rows = _at_numbers(about, "retrieval.documents")
    return [{k.removeprefix("document."): v for k, v in row.items()} for row in rows]


# Langfuse: observations of a trace, with its scores.


_FUSE: Mapping[str, Any] = {"GENERATION": "model", "TOOL": "tool", "AGENT": "agent", "RETRIEVER": "retriever"}


def from_langfuse(document: Any, id: str) -> Iterator[Run]:
    """A trace with "observations", several of them, or observations alone; scores of source ANNOTATION are people's.

    Names are those of the API ("traceId") or of the Python client ("trace_id").
    """
    traces = document if isinstance(document, list) else [document]
    if traces and "observations" not in traces[0]:
        groups = _grouped(traces, lambda one: str(_fuse(one, "traceId") or id))
        traces = [{"id": name, "observations": group} for name, group in groups.items()]
    for trace in traces:
        observations = trace["observations"]
        spans = [_fuse_span(one) for one in observations]
        ids = {span.id for span in spans}
        root: Mapping[str, Any] = next(
            (one for one, span in zip(observations, spans, strict=True) if span.parent not in ids), {}
        )
        asked, said = trace.get("input") or root.get("input"), trace.get("output") or root.get("output")
        yield Run(
            str(trace.get("id") or id), turns_of_spans(spans), trace, human=_fuse_scores(trace),
            contexts=passages_in(spans), query=asked_of(messages_in(asked, "user")),
            output=answer_of(messages_in(said, "assistant")),
        )  # fmt: skip


def _fuse(one: Mapping[str, Any], name: str) -> Any:
    """A field by the API's name, or by the client's."""
    snake = "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in name)
    return one[name] if name in one else one.get(snake)


def _fuse_scores(trace: Mapping[str, Any]) -> Human:
    found: Human = {}
    for one in trace.get("scores") or ():
        value = one.get("value")
        if one.get("source") == "ANNOTATION" and value is not None and one.get("name"):
            found[str(one["name"])] = value if isinstance(value, str) else float(value)
    return found


def _fuse_span(one: Mapping[str, Any]) -> Span:
    kind = _FUSE.get(str(one.get("type") or "").upper(), "other")
    usage = _fuse(one, "usageDetails") or one.get("usage")
    failed = str(one.get("level") or "").rpartition(".")[2].upper() == "ERROR"
    return Span(
        id=str(one.get("id")), parent=str(_fuse(one, "parentObservationId") or ""), kind=kind,
        name=str(one.get("name") or ""),
        asked=messages_in(one.get("input"), "user") if kind == "model" else [],
        said=messages_in(one.get("output"), "assistant") if kind == "model" else [],
        given=parsed(one.get("input")), got=parsed(one.get("output")), at=str(_fuse(one, "startTime") or ""),
        usage=dict(usage) if isinstance(usage, Mapping) else {},
        error=str(_fuse(one, "statusMessage") or "error") if failed else "",
    )  # fmt: skip


# What they share.


def _grouped(rows: Sequence[Any], key: Any) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found


def _root(rows: Sequence[Mapping[str, Any]], id: str, parent: str) -> Mapping[str, Any]:
    """The row that stands in none of the others."""
    ids = {str(row.get(id)) for row in rows}
    return next((row for row in rows if str(row.get(parent) or "") not in ids), rows[0])


FORMATS: Mapping[str, Any] = {
    "openai": from_openai, "langchain": from_langchain, "langsmith": from_langsmith, "otel": from_otel,
    "openinference": from_otel, "langfuse": from_langfuse, "atif": from_atif,
}  # fmt: skip


SHAPES: Mapping[str, str] = {  # format -> what a document of it holds
    "openai": "a list of messages with role and content, or an object with messages",
    "langchain": "a list of LangChain's messages, or a state with messages",
    "langsmith": "runs with run_type, inputs and outputs, of models (llm) or tools",
    "otel": "spans with attributes gen_ai.*, of chats or of tools",
    "openinference": "spans with openinference.span.kind LLM or TOOL and their messages",
    "langfuse": "observations of type GENERATION or TOOL with input and output",
    "atif": "an object with steps, each with source and message",
}


def format_of_document(document: Any) -> str:
    """Which format a document is of, "" where it shows the marks of none."""
    first = document[0] if isinstance(document, list) and document else document
    if not isinstance(first, Mapping):
        return ""
    if "steps" in first and ("schema_version" in first or "agent" in first):
        return "atif"
    if "run_type" in first:
        return "langsmith"
    if "resourceSpans" in first or ("attributes" in first and ("context" in first or "spanId" in first)):
        return "openinference" if "openinference.span.kind" in str(document) else "otel"
    if "observations" in first or "traceId" in first or ("trace_id" in first and "type" in first):
        return "langfuse"
    messages = document if isinstance(document, list) else first.get("messages")
    if isinstance(messages, list) and messages and isinstance(messages[0], Mapping):
        if is_langchain(messages[0]):
            return "langchain"
        if "role" in messages[0]:
            return "openai"
    return ""


# Files and objects that hold agents' runs, as samples; and back to what they were.


MOST_BYTES = 512 * 1024 * 1024  # of a file of runs: it is read whole, as a run's spans stand anywhere in it


@settings_checked
def trajectories(given: Any, format: str = "", *, id: str = "run-1") -> list[Sample]:
    """Runs of agents as samples: each message, call and result is a turn, what was asked is the query, and what was
    answered last is the output.

    Args:
        given: what `json.load` makes of an export, a list of OpenAI-style messages, LangChain's message objects or
            their dicts, a LangGraph state with "messages", or spans.
        format: "openai", "langchain", "langsmith", "otel", "openinference", "langfuse" or "atif"; "" finds out.
        id: of a run whose record has none.

    Returns:
        A sample for each run; what the format holds and a turn does not name is kept in its `more`, and in
        `meta["trajectory"]`, so that `as_records` writes it as it was. Definitions of tools are the fact "tools".

    Raises:
        DataError: no format fits, or a record lacks what its format demands.
    """
    document = _plain(given)
    found = format or format_of_document(document)
    if found not in FORMATS:
        named = f"'{one_line(format, 40)}' is no format of runs" if format else "no format of runs fits"
        raise DataError(f"trajectory: {named}; known: {', '.join(FORMATS)}")
    try:
        runs = list(FORMATS[found](document, id))
        if why := next(filter(None, map(_nothing_in, runs)), "" if runs else "it holds no run"):
            raise DataError(f"trajectory ({found}): {why}; expected {SHAPES[found]}")
        return [run.sample(found) for run in runs]
    except ValueRefused as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise DataError(f"trajectory ({found}): {place}: {one_line(first['msg'], 200)}") from None
    except ValueError as error:
        raise DataError(f"trajectory ({found}): {one_line(error, 200)}") from None
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise DataError(
            f"trajectory: no run in the format {found}: {type(error).__name__}: {one_line(error)}; "
            f"expected {SHAPES[found]}"
        ) from None


def _nothing_in(run: Run) -> str:
    """Why there is nothing of an agent's to judge in a run, "" where there is."""
    if run.output or run.error:
        return ""
    own = [turn for turn in run.turns if turn.role not in ("user", "human", "system", "developer")]
    calls = [call for turn in own for call in turn.calls]
    told = any(turn.text.strip() or turn.content for turn in run.turns) or any(call.arguments for call in calls)
    if told and (calls or any(turn.text.strip() or turn.content for turn in own)):
        return ""
    if calls:
        met = "it has names of calls alone: no text, no argument and no result was exported"
    elif run.turns:
        met = f"of {len(run.turns):,} messages none is an agent's answer or call"
    else:
        met = "no message and no step could be read, so nothing is an agent's answer or call"
    return f"run '{one_line(run.id, 60)}': {met}"


@settings_checked
def trajectory(given: Any, format: str = "", *, id: str = "run-1") -> Sample:
    """The one run in what is given; arguments and errors as `trajectories`, and DataError where there are several."""
    found = trajectories(given, format, id=id)
    if len(found) != 1:
        raise DataError(f"trajectory: {len(found)} runs stand there; jg.trajectories(...) gives all of them")
    return found[0]


def _plain(given: Any) -> Any:
    """Message objects of LangChain's as dicts; a state's, too."""
    if isinstance(given, Mapping) and isinstance(given.get("messages"), list):
        return {**given, "messages": _plain(given["messages"])}
    if isinstance(given, list | tuple) and given and hasattr(given[0], "content") and hasattr(given[0], "type"):
        return langchain_records(given)
    return given


@settings_checked
def as_records(sample: Sample) -> Any:
    """What a sample of `trajectories` was read from, as it was; of any other sample OpenAI-style messages."""
    about = sample.meta.get(META)
    if not isinstance(about, Mapping):
        return [openai_message(turn) for turn in sample.turns]
    if about["format"] not in ("openai", "langchain"):
        return about["rest"]
    records = [turn.more[RECORD] if RECORD in turn.more else openai_message(turn) for turn in sample.turns]
    messages = [record for record in records if record is not None]  # None: it stands in the message before
    return messages if about["rest"] is None else {**about["rest"], "messages": messages}


def read_trajectories(path: str | os.PathLike[str], format: str = "") -> Iterator[Sample]:
    """Samples of a file: JSON (one document, or a list of runs or spans), or JSON lines with a document each.

    Raises:
        DataError: as `trajectories`, with file and line; no JSON, or a file of over 512 MB.
    """
    path = Path(path)
    known = set[str]()
    for line, document in _documents(path):
        try:
            found = trajectories(document, format, id=f"run-{line}")
        except DataError as error:
            raise DataError(f"{one_line(path)}, line {line}: {error}") from None
        for sample in found:
            name, number = sample.id, 2
            while sample.id in known:
                sample, number = sample.model_copy(update={"id": f"{name}#{number}"}), number + 1
            known.add(sample.id)
            yield sample


def _documents(path: Path) -> Iterator[tuple[int, Any]]:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise DataError(f"{one_line(path)}: over {MOST_BYTES >> 20} MB; give it in parts")
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{one_line(path)}: is not UTF-8; save the file as UTF-8") from None
    except OSError as error:
        raise DataError(f"{one_line(path)}: {error.strerror}") from None
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        yield from _lines(path, text)
        return
    if isinstance(whole, list) and whole and all(isinstance(one, list) for one in whole):
        yield from enumerate(whole, 1)  # lists of messages
    elif isinstance(whole, list) and whole and all(isinstance(one, Mapping) and "messages" in one for one in whole):
        yield from enumerate(whole, 1)
    else:
        yield 1, whole


def _lines(path: Path, text: str) -> Iterator[tuple[int, Any]]:
    """Documents of JSON lines; spans of one run, a line each, are one document."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                found.append((number, json.loads(line)))
            except (ValueError, RecursionError) as error:
                raise DataError(f"{one_line(path)}, line {number}: no JSON: {one_line(error, 100)}") from None
    if (found and format_of_document([found[0][1]]) in ("langsmith", "otel", "openinference")) or (
        found and isinstance(found[0][1], Mapping) and "traceId" in found[0][1] and "observations" not in found[0][1]
    ):  # fmt: skip
        yield 1, [document for _, document in found]
        return
    yield from found
