"""A sample's trace as OpenTelemetry has it: flat spans with ids that follow from what they are of, and real times.

Needs no package of OpenTelemetry's; `traces.otel` makes its objects of these, and sends them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from judgegraph.errors import one_line
from judgegraph.trace.record import Step
from judgegraph.types import Score

# What a span says of itself: by the GenAI semantic conventions, by OpenInference, and by `judgegraph.*` for the rest.
#
# Phoenix, Langfuse and LangSmith read one or the other of the first two; the third is what neither has a word for.


CONVENTIONS = "https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev"  # the version of gen_ai.* that is meant here
KINDS = {"graph": "CHAIN", "node": "CHAIN", "agent": "AGENT", "model": "LLM", "tool": "TOOL"}  # OpenInference
TOLD = {  # of a step's `about` -> how it is called
    "place": "judgegraph.place", "prompt": "judgegraph.prompt", "address": "judgegraph.address",
    "from": "judgegraph.from", "requests": "judgegraph.requests", "usd": "judgegraph.usd", "form": "judgegraph.form",
    "repeat": "judgegraph.repeat", "reader": "judgegraph.reader", "judge": "judgegraph.judge",
    "class": "judgegraph.agent.class", "value": "judgegraph.value",
}  # fmt: skip
PROVIDERS = {  # a LangChain class, or what begins the name of a model -> as the conventions call who runs it
    "ChatOpenAI": "openai", "AzureChatOpenAI": "azure.ai.openai", "azure_openai": "azure.ai.openai",
    "AzureAIChatCompletionsModel": "azure.ai.inference", "azure_ai": "azure.ai.inference",
    "ChatAnthropic": "anthropic", "ChatBedrock": "aws.bedrock", "ChatBedrockConverse": "aws.bedrock",
    "bedrock": "aws.bedrock", "bedrock_converse": "aws.bedrock", "ChatAnthropicBedrock": "aws.bedrock",
    "ChatGoogleGenerativeAI": "gcp.gemini", "google_genai": "gcp.gemini", "ChatVertexAI": "gcp.vertex_ai",
    "google_vertexai": "gcp.vertex_ai", "ChatAnthropicVertex": "gcp.vertex_ai", "ChatMistralAI": "mistral_ai",
    "mistralai": "mistral_ai", "ChatCohere": "cohere", "ChatDeepSeek": "deepseek", "ChatGroq": "groq",
    "ChatXAI": "x_ai", "xai": "x_ai", "ChatPerplexity": "perplexity", "ChatWatsonx": "ibm.watsonx.ai",
    "ibm": "ibm.watsonx.ai", "ChatOllama": "ollama",
}  # fmt: skip
SESSION = ("session.id", "langsmith.metadata.session_id")  # a run is one: by Phoenix and Langfuse, and by LangSmith
SETTINGS = ("temperature", "seed", "top_p", "max_tokens", "frequency_penalty", "presence_penalty")
NAMED = re.compile(r"(?:[^:@]*:)?@?[^@]*")  # of a judge's line what stands before its settings and its address
Attributes = dict[str, Any]


def clean(text: str) -> str:
    """As protocol buffers can hold it and servers' databases too: no lone surrogates, no NUL."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def name_of(step: Step) -> str:
    """By the conventions, such as "chat gpt-4.1-mini"; a node has its own."""
    if step.kind == "model":
        return clean(f"chat {_model(step.name)[1]}")
    verb = {"graph": "invoke_workflow ", "agent": "invoke_agent ", "tool": "execute_tool "}.get(step.kind, "")
    return clean(verb + step.name)


def attributes(step: Step, texts: bool) -> Attributes:
    """All of a step's; without `texts` nothing that was judged or said."""
    told: Attributes = {"openinference.span.kind": _kind(step), "judgegraph.status": step.status}
    if step.kind == "model":
        told |= _call(step) | (_content_attributes(step) if texts else {})
    elif step.kind == "agent":
        told |= _agent(step)
    elif step.kind == "tool":
        told |= {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": step.name, "tool.name": step.name}
        told |= {"output.value": str(step.about["value"])} if texts and "value" in step.about else {}
    elif step.kind == "graph":
        told |= {"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": step.name}
    else:
        told |= {"graph.node.id": step.about.get("place"), "judgegraph.reads": _json_or_none(step.about.get("reads"))}
        told |= {"judgegraph.writes": _json_or_none(step.about.get("writes"))}
    if step.status not in ("ok", "abstained", "skipped"):
        told["error.type"] = step.status
    told |= {name: step.about.get(key) for key, name in TOLD.items()}
    if not texts and isinstance(told["judgegraph.value"], str):
        del told["judgegraph.value"]
    return {key: _value(value) for key, value in told.items() if value is not None}


def _kind(step: Step) -> str:
    """An agent that gave scores is one that evaluates."""
    return "EVALUATOR" if step.kind == "agent" and step.scores else KINDS[step.kind]


def _agent(step: Step) -> Attributes:
    told: Attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": step.name}
    told["agent.name"] = step.name
    if isinstance(judge := step.about.get("judge"), str):
        asked = {_model(_called(line, step)) for line in judge.split(",")}
        providers, models = ({one[at] for one in asked} for at in (0, 1))
        told |= {"gen_ai.provider.name": providers.pop()} if len(providers) == 1 else {}
        told |= {"gen_ai.request.model": models.pop()} if len(models) == 1 else {}  # of a panel's several none is it
    return told


def _called(judge: str, step: Step) -> str:
    """A judge's line as its calls are called, such as "openai:m" of "openai:m@t0.7@host:8000/v1".

    The calls know best, as a model's own name may hold an "@"; without any it ends there.
    """
    names = (one.name for one in step.walk() if one.kind == "model" and f"{judge}@".startswith(f"{one.name}@"))
    known = NAMED.match(judge)
    return max(names, key=len, default=known[0] if known else "")


def _model(name: str) -> tuple[str, str]:
    """(provider, model): of "openai:gpt-4.1-mini" these two; what runs in this process is our own."""
    provider, _, model = name.partition(":")
    if model:
        return PROVIDERS.get(provider, provider.lower()), model
    return ("judgegraph.embedded" if name.startswith("embedded") else "judgegraph"), name


def _call(step: Step) -> Attributes:
    """Of a model call, without its texts."""
    about = step.about
    provider, model = _model(step.name)
    prompt, said = about.get("prompt_tokens"), about.get("completion_tokens")
    told = {
        "gen_ai.operation.name": "chat", "gen_ai.provider.name": provider, "gen_ai.request.model": model,
        "llm.provider": provider, "llm.model_name": model,
        "gen_ai.usage.input_tokens": prompt, "gen_ai.usage.output_tokens": said, "llm.cost.total": about.get("usd"),
        "llm.token_count.prompt": prompt, "llm.token_count.completion": said,
        "gen_ai.output.type": "text" if about.get("form") == "text" else "json",
    }  # fmt: skip
    if isinstance(prompt, int) and isinstance(said, int):
        told["llm.token_count.total"] = prompt + said
    if isinstance(about.get("n"), int) and about["n"] > 1:
        told["gen_ai.request.choice.count"] = about["n"]
    if finish := [str(one) for one in about.get("finish") or () if one]:
        told["gen_ai.response.finish_reasons"] = finish
    return told | _settings(about.get("settings"))


def _settings(given: Any) -> Attributes:
    known = given if isinstance(given, Mapping) else {}
    told = {f"gen_ai.request.{name}": known[name] for name in SETTINGS if isinstance(known.get(name), int | float)}
    return told | ({"llm.invocation_parameters": as_json(known)} if known else {})


def _content_attributes(step: Step) -> Attributes:
    """What was asked and answered, in the conventions' JSON, and the last of each for a glance.

    System messages were part of the chat, so they stand in it, as the conventions want.
    """
    told: Attributes = {}
    if step.messages:
        asked = [{"role": role, "parts": [_text(text)]} for role, text in step.messages]
        told |= {"gen_ai.input.messages": as_json(asked), "input.value": step.messages[-1][1]}
    if step.replies:
        ends = [str(one) for one in step.about.get("finish") or ()]
        ends += [""] * (len(step.replies) - len(ends))
        said = [
            {"role": "assistant", "parts": [*_thought(step.thought(at)), _text(text)], "finish_reason": end or "stop"}
            for at, (text, end) in enumerate(zip(step.replies, ends, strict=False))
        ]
        told |= {"gen_ai.output.messages": as_json(said), "output.value": step.replies[0]}
    return told


def _thought(text: str) -> list[Attributes]:
    return [{"type": "reasoning", "content": text}] if text else []


def _text(text: str) -> Attributes:
    return {"type": "text", "content": text}


def as_json(value: Any) -> str:
    """JSON that stays clean: in it a NUL would be an escape, which databases refuse too."""
    return json.dumps(_cleaned(value), ensure_ascii=False, separators=(",", ":"), default=lambda one: clean(str(one)))


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {clean(str(key)): _cleaned(one) for key, one in value.items()}
    return [_cleaned(one) for one in value] if isinstance(value, list | tuple) else value


def _json_or_none(value: Any) -> str | None:
    return as_json(value) if value else None


def _value(value: Any) -> Any:
    """As an attribute can be: a text, a number, a truth value or several texts."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return max(-(2**63), min(2**63 - 1, value))
    if isinstance(value, Sequence):
        return [clean(str(one)) for one in value]
    return value if isinstance(value, bool | float) else clean(str(value))


# Scores as the GenAI conventions have them: `gen_ai.evaluation.result` on the span that gave them.


RESULT = "gen_ai.evaluation.result"
Event = tuple[str, dict[str, Any]]


def results(step: Step, texts: bool) -> tuple[Event, ...]:
    """One for each score that a step wrote and nothing below it: of a node that is an agent they are the agent's."""
    below = {score.key for inner in step.steps for one in inner.walk() for score in one.scores}
    return tuple((RESULT, result(score, texts)) for score in step.scores if score.key not in below)


def result(score: Score, texts: bool) -> dict[str, Any]:
    """One score; without a value where it has none, and never a number in place of a failure."""
    told: dict[str, Any] = {
        "gen_ai.evaluation.name": score.criterion,
        "gen_ai.evaluation.score.value": score.value,
        "gen_ai.evaluation.score.label": score.label,
        "gen_ai.evaluation.explanation": score.reason if texts and score.reason else None,
        "error.type": score.status if score.status not in ("ok", "abstained", "skipped") else None,
        "judgegraph.score.key": score.key,
        "judgegraph.score.agent": score.agent,
        "judgegraph.score.stage": score.stage,
        "judgegraph.score.status": score.status,
        "judgegraph.score.scale": str(score.scale) if score.scale is not None else None,
        "judgegraph.score.reader": score.reader or None,
        "judgegraph.score.distribution": as_json(score.distribution) if score.distribution else None,
        "judgegraph.score.unseen": score.unseen,
        "judgegraph.score.draft": score.draft,
    }
    return {key: clean(value) if isinstance(value, str) else value for key, value in told.items() if value is not None}


FINE = ("ok", "abstained", "skipped")  # what is no error


@dataclass(frozen=True)
class OtelSpan:
    """One span.

    Attributes:
        trace_id: 128 bits. span_id, parent_id: 64 bits; None for the first. start, end: nanoseconds since 1970.
        client: it asked a model, in another process or not; else it is internal.
        error: how it failed, in a line; "" where it did not. events: (name, attributes), at its end.
    """

    trace_id: int
    span_id: int
    parent_id: int | None
    name: str
    start: int
    end: int
    client: bool = False
    error: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    events: tuple[Event, ...] = ()

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        said = [self.attributes, *(about for _, about in self.events)]
        return 200 + sum(_size(str(value)) + len(key) + 8 for about in said for key, value in about.items())


@dataclass(frozen=True)
class Whose:
    """What a trace is of.

    Attributes:
        run: id of the run, "" for none. sample: its id. started: seconds since 1970. texts: send what was judged and
            said. about: attributes of the first span alone. error: how the sample failed, "" where it did not.
    """

    run: str
    sample: str
    started: float
    texts: bool = True
    about: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""

    @property
    def trace_id(self) -> int:
        """The same whenever the same journey is sent."""
        return _digest(f"{self.run}\0{self.sample}\0{self.started!r}".encode("utf-8", "surrogatepass"), 16)


def otel_spans(root: Step, whose: Whose) -> Iterator[OtelSpan]:
    """Every step as a span, each before those below it."""
    session = dict.fromkeys(SESSION, clean(whose.run)) if whose.run else {}
    trace, numbers, start = whose.trace_id, iter(range(1 << 62)), round(whose.started * 1e6) * 1000
    waiting: list[tuple[Step, int | None, str]] = [(root, None, "")]
    while waiting:
        step, parent, around = waiting.pop()
        number = next(numbers)
        span_id = _digest(trace.to_bytes(16, "big") + number.to_bytes(8, "big"), 8)
        why = str(step.about.get("error") or around)
        waiting += [(below, span_id, why if below.kind == "agent" else "") for below in reversed(step.steps)]
        began = start + round(step.start * 1e6)
        told = attributes(step, whose.texts) | {"judgegraph.sample.id": clean(whose.sample)} | session
        yield OtelSpan(
            trace, span_id, parent, _name(step, parent, whose), began, began + max(0, round(step.ms * 1e6)),
            step.kind == "model", _error(step, why if whose.texts else "") or ("" if parent else whose.error),
            told if parent else {**told, **whose.about}, results(step, whose.texts),
        )  # fmt: skip


def _name(step: Step, parent: int | None, whose: Whose) -> str:
    """The first span names its sample, by which people look for it in a list of traces."""
    return name_of(step) if parent else f"{name_of(step)} {one_line(clean(whose.sample), 200)}"


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def _error(step: Step, why: str) -> str:
    """An agent has the reason of the node that it is."""
    if step.status in FINE:
        return ""
    return clean(f"{step.status}: {why}") if why else step.status


def _digest(data: bytes, size: int) -> int:
    return int.from_bytes(blake2b(data, digest_size=size).digest(), "big") or 1  # 0 is no id
