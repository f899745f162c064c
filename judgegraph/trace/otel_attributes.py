"""What a span says of itself: by the GenAI semantic conventions, by OpenInference, and by `judgegraph.*` for the rest.

Phoenix, Langfuse and LangSmith read one or the other of the first two; the third is what neither has a word for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from judgegraph.trace.step import Step

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
        told |= _call(step) | (_said(step) if texts else {})
    elif step.kind == "agent":
        told |= _agent(step)
    elif step.kind == "tool":
        told |= {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": step.name, "tool.name": step.name}
        told |= {"output.value": str(step.about["value"])} if texts and "value" in step.about else {}
    elif step.kind == "graph":
        told |= {"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": step.name}
    else:
        told |= {"graph.node.id": step.about.get("place"), "judgegraph.reads": _told(step.about.get("reads"))}
        told |= {"judgegraph.writes": _told(step.about.get("writes"))}
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


def _said(step: Step) -> Attributes:
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


def _told(value: Any) -> str | None:
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
