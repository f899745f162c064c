"""A chat model's result, or the error it raised, as JSON and back."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult

PARTS = ("content", "tool_calls", "invalid_tool_calls", "additional_kwargs", "usage_metadata")
SAID = ("code", "param", "type")  # what an error of a server's says beside its text


def result_out(result: ChatResult) -> dict[str, Any]:
    """Choices with texts, tool calls, usage and all that is told beside them, such as log-probabilities."""
    return {"choices": [_choice_out(one) for one in result.generations], "output": result.llm_output or {}}


def _choice_out(choice: Any) -> dict[str, Any]:
    message = choice.message
    told = {**message.response_metadata, **(choice.generation_info or {})}
    return {**{name: value for name in PARTS if (value := getattr(message, name, None))}, "told": told}


def result_in(reply: Mapping[str, Any]) -> ChatResult:
    """The result again; what is told of a choice stands both in its message and beside it."""
    return ChatResult(generations=[_choice_in(one) for one in reply["choices"]], llm_output=dict(reply["output"]))


def _choice_in(choice: Mapping[str, Any]) -> ChatGeneration:
    parts = {name: value for name, value in choice.items() if name in PARTS}
    message = AIMessage(**{"content": "", **parts}, response_metadata=dict(choice["told"]))
    return ChatGeneration(message=message, generation_info=dict(choice["told"]))


def error_out(error: BaseException) -> dict[str, Any]:
    """What the one retry layer knows an error by: its kinds, its text, and what the server said."""
    if isinstance(error, Warning) and error.__context__ is not None:  # of the SDK's, where warnings are errors
        error = error.__context__
    kinds = [kind.__name__ for kind in type(error).__mro__ if issubclass(kind, Exception)]
    said = {name: getattr(error, name, None) for name in ("status_code", *SAID)}
    said["response"] = "there was one" if getattr(error, "response", None) is not None else None
    return {"kinds": kinds, "text": str(error), **{k: v for k, v in said.items() if isinstance(v, str | int)}}


def error_in(error: Mapping[str, Any]) -> Exception:
    """An error that is taken for the same."""
    kind: type[Exception] = Exception
    for name in reversed(error["kinds"]):
        known = getattr(builtins, name, None)
        fits = isinstance(known, type) and issubclass(known, kind)
        kind = known if fits else type(name, (kind,), {})  # type: ignore[assignment]
    try:
        raised = kind(error["text"])
    except TypeError:  # it is made of more than a text
        raised = Exception(error["text"])
    for name, value in error.items():
        if name not in ("kinds", "text"):
            setattr(raised, name, value)
    return raised
