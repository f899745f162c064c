"""The embedded judge as a LangChain chat model: no key, no network, the same answer every time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from judgegraph.models.embedded.calls import calls_of
from judgegraph.models.embedded.case import Case, case_of
from judgegraph.models.embedded.free import free_reply
from judgegraph.models.embedded.kinds import RIVAL, first_of
from judgegraph.models.embedded.sections import Prompt, read_sections
from judgegraph.models.embedded.tokens import Token, logprobs_of, tokens_of
from judgegraph.models.embedded.view import At
from judgegraph.models.embedded.walk import fill

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
        said = len(text.split()) + sum(len(str(c["args"]).split()) for c in calls)
        asked = sum(len(_text(m).split()) for m in messages)
        usage = {"input_tokens": asked, "output_tokens": said, "total_tokens": asked + said}
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
        spent = {"prompt_tokens": asked, "completion_tokens": said * count, "total_tokens": asked + said * count}
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
