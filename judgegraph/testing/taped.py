"""What a judge that is recorded and one that is played have in common: the ways to ask a chat model."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult
from langchain_core.runnables import RunnableLambda
from langchain_core.utils.function_calling import convert_to_openai_tool

from judgegraph.calls import Endpoint

SETTINGS = ("temperature", "top_p", "max_tokens", "seed")
FORM = "judgegraph_form"  # the keyword by which a schema is asked of a model that does not speak OpenAI's


class Taped(BaseChatModel):
    """A chat model of the recorded judge's name, features and settings.

    In messages, prices and a run's figures it has the judge's own name, so that nothing that a prompt shows depends on
    who answers. In a signature and a ledger it is "Recording:NAME" or "Playing:NAME", never NAME alone: what was played
    must not pass for what was asked.

    Attributes:
        model_name: of the judge that is or was recorded. judge_id: digest of who it is, its settings included.
    """

    model_name: str
    judge_id: str
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None

    @property
    def judgegraph_name(self) -> str:
        """The judge's."""
        return self.model_name

    @property
    def judgegraph_endpoint(self) -> Endpoint:
        """The settings that go into every call, and how often one is tried."""
        raise NotImplementedError

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        """Offer tools, in OpenAI's shape."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def with_structured_output(self, schema: Any, *, include_raw: bool = False, **kwargs: Any) -> Any:
        """Ask for a form; with `include_raw` the reply comes as {"raw": message, ...}."""
        if not include_raw or getattr(self, "speaks_openai", False):
            return super().with_structured_output(schema, include_raw=include_raw, **kwargs)
        return self.bind(**{FORM: schema}) | RunnableLambda(_raw)

    def _settings(self, kwargs: Mapping[str, Any], stop: list[str] | None) -> dict[str, Any]:
        own = {name: getattr(self, name) for name in SETTINGS}
        given = {**own, "stop": stop, **kwargs}
        return {name: value for name, value in given.items() if value is not None}

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None, **kwargs: Any,
    ) -> ChatResult:  # fmt: skip
        """In a thread with a loop of its own, so that it works where a loop is running too."""
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(lambda: asyncio.run(self._agenerate(messages, stop, **kwargs))).result()


def _raw(message: Any) -> dict[str, Any]:
    return {"raw": message, "parsed": None, "parsing_error": None}
