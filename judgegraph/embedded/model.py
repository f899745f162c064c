"""The embedded judge as a LangChain chat model: no key, no network, the same answer every time."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from judgegraph.embedded import leaves as rating
from judgegraph.embedded.evidence_answers import corrected
from judgegraph.embedded.fill import aspects, compared, fill, guideline, winner
from judgegraph.embedded.leaves import At, Token, logprobs_of, plain, plan_text, tokens_of, worth_calling
from judgegraph.embedded.prompt_view import OUTPUT, RIVAL, SOURCE, Case, Prompt, case_of, first_of, read_sections

# Tool calls: each offered tool that fits what is asked, once, its needed arguments filled like a form.


def _wanted(choice: Any, tools: list[Mapping[str, Any]], prompt: Prompt) -> Iterator[Mapping[str, Any]]:
    forced = choice.get("function", {}).get("name") if isinstance(choice, Mapping) else None
    names = {t["name"] for t in tools}
    if isinstance(choice, str) and choice in names:
        forced = choice
    if forced:
        yield from (t for t in tools if t["name"] == forced)
        return
    fitting = [t for t in tools if worth_calling(t["name"], t.get("description", ""), prompt)]
    must = choice in ("required", "any", True)
    yield from fitting or (tools[:1] if must else [])


def calls_of(
    messages: Sequence[BaseMessage], prompt: Prompt, case: Case, rival: Case | None, kwargs: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Each offered tool that fits, once: never one that has answered since the last user message."""
    tools = [t.get("function", t) for t in kwargs.get("tools") or [] if isinstance(t, Mapping)]
    choice = kwargs.get("tool_choice")
    if not tools or choice == "none":
        return []
    tail = messages[max((i for i, m in enumerate(messages) if isinstance(m, HumanMessage)), default=0) :]
    answered = {m.name for m in tail if isinstance(m, ToolMessage)}
    answered |= {c["name"] for m in tail if isinstance(m, AIMessage) for c in m.tool_calls}
    calls = []
    for i, tool in enumerate(_wanted(choice, tools, prompt)):
        if tool["name"] in answered:
            continue
        schema = dict(tool.get("parameters") or {"type": "object", "properties": {}})
        needed = {k: v for k, v in schema.get("properties", {}).items() if k in schema.get("required", [])}
        args = plain(fill({**schema, "properties": needed}, At(prompt, case, rival, schema)))
        name = re.sub(r"\W", "_", tool["name"])
        calls.append(
            {
                "name": tool["name"],
                "args": json.loads(json.dumps(args)),
                "id": f"call_{i + 1}_{name}",
                "type": "tool_call",
            }
        )
    return calls


# Replies without a form: a rating, a label or a verdict on a line of its own; or the text that was asked for.
#
# What is asked is told by the sections: a text to judge, a rival beside it, a text to correct, or, with none of
# these, a target whose aspects are wanted, a criterion whose guideline is wanted, a query whose criteria are wanted.


_ASPECTS = 10  # written where the prompt states no number


def free_reply(prompt: Prompt, case: Case, rival: Case | None) -> list[Token]:
    """What the sections ask for, as tokens; a value that was chosen is a token of its own."""
    at = At(prompt, case, rival, {})
    if not prompt.sections:
        return [Token("No evidence: the message holds no tagged section to read.")]
    if written := _written(at):
        return [Token(written)]
    if rival is not None:
        return _pair(at)
    labels = prompt.single.labels if prompt.single else ()
    return _label(at, labels) if labels else _number(at)


def _written(at: At) -> str:
    """The text asked for where nothing is to be judged, "" where something is."""
    held = at.prompt.sections
    if "judgements" in held and "response" in held:
        return corrected(held["response"], at.case) or "There is nothing to correct: the response is empty."
    if any(name in held for name in OUTPUT) or first_of(held, SOURCE):
        return ""
    if "assistants" in held:
        return plan_text(at.prompt)
    if "target" in held or not at.prompt.criteria:
        listed = aspects(at, at.prompt.count or _ASPECTS)
        return "\n".join(f"{i}. {row['name']}: {row['definition']}" for i, row in enumerate(listed, 1))
    return guideline(at) if at.prompt.single else ""


def _bounds(at: At) -> tuple[float, float, bool]:
    """Ends of the scale in force, and whether it is one of whole points; 1-5 where none is shown."""
    shown = at.criterion
    low = shown.low if shown and shown.low is not None else 1.0
    high = shown.high if shown and shown.high is not None else 5.0
    return low, high, shown is None or shown.whole


def _value(at: At) -> list[Token] | None:
    """The score of the text at this place, None without evidence."""
    seen, (low, high, whole) = at.evidence(), _bounds(at)
    if seen is None:
        return None
    return list(tokens_of(rating.number({"type": "integer" if whole else "number"}, seen.quality, low, high)))


def _number(at: At) -> list[Token]:
    value = _value(at)
    if value is None:
        return [Token(at.reason())]
    return [Token("Rating: "), *value, Token("\n" + at.reason())]


def _label(at: At, labels: tuple[str, ...]) -> list[Token]:
    found = at.tone(list(labels))
    seen = at.evidence()
    if not found and not seen:
        return [Token(at.reason())]
    leaf = rating.label(labels, seen.quality if seen else None, found[0] if found else None)
    if not found and not rating.informed(leaf):
        return [Token("No evidence: what I measure speaks for none of these labels more than for another.")]
    pieces = [t for t in tokens_of(leaf) if t.text != '"']
    return [Token("Label: "), *pieces, Token("\n" + at.reason(list(labels)))]


def _pair(at: At) -> list[Token]:
    """A score and an explanation for each of two texts, what sets them apart, and the verdict."""
    sides = {"A": replace(at, second=False), "B": replace(at, second=True)}
    values = {label: _value(side) for label, side in sides.items()}
    best = winner(at, ["A", "B", "tie"])
    if best is None or None in values.values():
        return [Token(at.reason())]
    tokens: list[Token] = []
    for label, side in sides.items():
        tokens += [Token(f"Response {label} Score: "), *(values[label] or [])]
        tokens.append(Token(f"\nExplanation: {side.reason()}\n"))
    pieces = [t for t in tokens_of(rating.label(["A", "B", "tie"], None, tuple(best[1].values()))) if t.text != '"']
    return [*tokens, Token(f"Comparison: {compared(at)}\nVerdict: [["), *pieces, Token("]]")]


NAME = "offline-features-1"


class EmbeddedJudge(BaseChatModel):
    """Answers forms about tagged text from fixed, published text features.

    It reads only the tagged sections of the last user message (of a system message where no user message has any)
    and the requested form. It rewards what is copied
    from the source and checks no facts; `benchmarks/embedded.py` prints how far it agrees with people.

    Keyword arguments are those of OpenAI's chat API: `response_format`, `logprobs`, `top_logprobs`, `n`, `tools`,
    `tool_choice`, `max_tokens`; `temperature` and `seed` are taken and change nothing.
    """

    model_name: str = NAME

    @property
    def _llm_type(self) -> str:
        return "judgegraph-embedded"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model_name": self.model_name}

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return self._answer(messages, kwargs)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return self._answer(messages, kwargs)  # a few milliseconds: a thread would cost more

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Offer tools; the judge calls each that fits a criterion once, all in one round."""
        made = [convert_to_openai_tool(tool) for tool in tools]
        return self.bind(tools=made, **({"tool_choice": tool_choice} if tool_choice else {}), **kwargs)

    def _answer(self, messages: list[BaseMessage], kwargs: Mapping[str, Any]) -> ChatResult:
        prompt = prompt_of(messages)
        case, rival = cases_of(prompt)
        calls = calls_of(messages, prompt, case, rival, kwargs)
        schema = form_of(kwargs.get("response_format"))
        if calls:
            tokens = [Token("")]
        elif schema is not None:
            tokens = list(tokens_of(fill(schema, At(prompt, case, rival, schema))))
        else:
            tokens = free_reply(prompt, case, rival)
        return self._result(messages, tokens, calls, kwargs)

    def _result(
        self, messages: list[BaseMessage], tokens: list[Token], calls: list[dict[str, Any]], kwargs: Mapping[str, Any]
    ) -> ChatResult:
        text, reason = "".join(t.text for t in tokens), "tool_calls" if calls else "stop"
        most = kwargs.get("max_tokens") or kwargs.get("max_completion_tokens")
        if most and len(text.split()) > int(most) * 2 + 64:  # a reply is never cut short of what a model would need
            text, reason = text[: int(most) * 8], "length"
        words = len(text.split()) + sum(len(str(c["args"]).split()) for c in calls)
        asked = sum(len(_text(m).split()) for m in messages)
        usage = {"input_tokens": asked, "output_tokens": words, "total_tokens": asked + words}
        meta: dict[str, Any] = {"finish_reason": reason, "model_name": self.model_name}
        if kwargs.get("logprobs"):
            meta["logprobs"] = logprobs_of(tokens, int(kwargs.get("top_logprobs") or 0))
        count = int(kwargs.get("n") or 1)
        generations = [
            ChatGeneration(
                message=AIMessage(content=text, tool_calls=calls, response_metadata=dict(meta), usage_metadata=usage),
                generation_info=dict(meta),
            )
            for _ in range(count)
        ]
        spent = {"prompt_tokens": asked, "completion_tokens": words * count, "total_tokens": asked + words * count}
        return ChatResult(generations=generations, llm_output={"token_usage": spent, "model_name": self.model_name})


def _text(message: BaseMessage) -> str:
    content = message.content
    if isinstance(content, str):
        return content
    return "\n".join(p if isinstance(p, str) else str(p.get("text", "")) for p in content)


def prompt_of(messages: Sequence[BaseMessage]) -> Prompt:
    """The sections of the last user message; of the last system message where no user message has any."""
    read = {
        kind: [Prompt(*read_sections(_text(m))) for m in messages if isinstance(m, kind)]
        for kind in (HumanMessage, SystemMessage)
    }
    users, systems = read[HumanMessage], [p for p in read[SystemMessage] if p.sections]
    if systems and not any(p.sections for p in users):
        return systems[-1]
    return users[-1] if users else Prompt()


def cases_of(prompt: Prompt) -> tuple[Case, Case | None]:
    """What is judged, and the second text of a pair where one stands."""
    case, second = case_of(prompt.sections), first_of(prompt.sections, RIVAL)
    return case, case_of(prompt.sections, second) if second else None


def form_of(response_format: Any) -> dict[str, Any] | None:
    """The JSON schema in a response format, {} for any JSON, None for free text."""
    if not isinstance(response_format, Mapping):
        return None
    if response_format.get("type") == "json_schema":
        held = response_format.get("json_schema", {})
        return dict(held.get("schema", held))
    return {"type": "object", "properties": {}} if response_format.get("type") == "json_object" else None
