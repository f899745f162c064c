"""A chat model that answers from a script."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

__all__ = ["Scripted", "scripted"]

Scene = str | Mapping[str, Any] | AIMessage | Exception | Callable[[list[BaseMessage]], Any]


class Scripted(BaseChatModel):
    """Answers call by call from its script, and keeps what it was asked.

    Attributes:
        script: text, a mapping (sent as JSON), a message, an exception to raise, or a function of the
            messages that gives one of these. A list stands for the choices of one call with n > 1.
        calls: the messages of every call so far, in the order of arrival.
        asked: the keyword arguments of every call so far.
    """

    script: list[Any]
    speaks_openai: bool = True
    _calls: list[list[BaseMessage]] = PrivateAttr(default_factory=list)
    _asked: list[dict[str, Any]] = PrivateAttr(default_factory=list)

    @property
    def calls(self) -> list[list[BaseMessage]]:
        """The messages of every call so far."""
        return self._calls

    @property
    def asked(self) -> list[dict[str, Any]]:
        """The keyword arguments of every call so far."""
        return self._asked

    @property
    def _llm_type(self) -> str:
        return "judgegraph-scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        """Tools are offered, the script decides."""
        return self.bind(tools=list(tools), **kwargs)

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None, **kwargs: Any,
    ) -> ChatResult:  # fmt: skip
        number = len(self._calls)
        self._calls.append(messages)
        self._asked.append(kwargs)
        if number >= len(self.script):
            raise AssertionError(f"the script has {len(self.script)} replies, call {number + 1} came")
        scene = self.script[number]
        scenes = scene if isinstance(scene, list) else [scene] * int(kwargs.get("n") or 1)
        return ChatResult(generations=[_generation(one, messages) for one in scenes])

    async def _agenerate(
        self, messages: list[BaseMessage], stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None, **kwargs: Any,
    ) -> ChatResult:  # fmt: skip
        return self._generate(messages, stop, None, **kwargs)


def _generation(scene: Any, messages: list[BaseMessage]) -> ChatGeneration:
    if callable(scene) and not isinstance(scene, AIMessage):
        scene = scene(messages)
    if isinstance(scene, Exception):
        raise scene
    if isinstance(scene, AIMessage):
        return ChatGeneration(message=scene, generation_info=dict(scene.response_metadata))
    text = scene if isinstance(scene, str) else json.dumps(scene)
    return ChatGeneration(message=AIMessage(text), generation_info={"finish_reason": "stop"})


def scripted(*replies: Scene | list[Scene]) -> Scripted:
    """A judge that gives these replies, one per call; one call more is an error of the test."""
    return Scripted(script=list(replies))
