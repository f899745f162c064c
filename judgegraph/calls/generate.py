"""What one request gives back: by the fast way, by langchain-openai, or by any other chat model of LangChain's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from judgegraph.calls.exchange import Call, Choice, choice_of
from judgegraph.calls.features import described, learn_schema, past_the_parser, unbound, with_settings
from judgegraph.calls.native import callbacks_here, choices_of, door_of, told, usage_of
from judgegraph.models.resolve import Judge

Usage: TypeAlias = tuple[int, int]  # prompt and completion tokens; zeros where the reply does not say
Answer: TypeAlias = tuple[list[Choice], Usage]


async def generate(judge: Judge, call: Call, sent: dict[str, Any]) -> Answer:
    """Ask once.

    Args:
        sent: what goes with the messages to an endpoint that speaks OpenAI's language.

    Raises:
        Exception: whatever the client raises.
    """
    if not judge.speaks_openai:
        return await _generate_other(judge, call)
    callbacks = callbacks_here()  # so that astream_events and tracers see the call
    messages, keywords = described(judge, call), past_the_parser(judge.model, sent)
    if (complete := door_of(judge, callbacks, keywords)) is not None:
        answer = await complete(messages, **keywords)
        return choices_of(answer), usage_of(answer)
    result = await judge.model.agenerate([messages], callbacks=callbacks, **keywords)
    choices = [choice_of(g.message, g.generation_info) for g in result.generations[0]]  # type: ignore[union-attr]
    usage = (result.llm_output or {}).get("token_usage") or {}  # once for all choices: each repeats it
    if usage or not choices:
        return choices, _usage(usage, "prompt_tokens", "completion_tokens")
    of_one = getattr(choices[0].message, "usage_metadata", None) or {}  # of the first: each choice has the whole usage
    return choices, _usage(of_one, "input_tokens", "output_tokens")


def _usage(usage: Any, *names: str) -> Usage:
    return told(*(usage.get(name) for name in names)) if isinstance(usage, Mapping) else (0, 0)


async def _generate_other(judge: Judge, call: Call) -> Answer:
    """Any other LangChain chat model: by its own structured output, or the schema in the prompt."""
    model, rest = with_settings(judge, call), unbound(judge, call)
    if call.tools:
        model = model.bind_tools([dict(tool) for tool in call.tools], **rest)
    elif call.schema is not None and judge.support.json_schema is not False:
        titled = {"title": call.form, "description": f"The {call.form} asked for.", **call.schema}
        try:
            model = model.with_structured_output(titled, include_raw=True)
        except (NotImplementedError, ValueError):
            judge.support.json_schema = False
            return await _generate_other(judge, call)
    elif rest:
        model = model.bind(**rest)
    answer = await model.ainvoke(described(judge, call))
    message = answer["raw"] if isinstance(answer, dict) else answer
    usage = getattr(message, "usage_metadata", None) or {}
    choice = choice_of(message, None)
    if isinstance(answer, dict):
        choice = _from_tool(choice)
        learn_schema(judge.support, [choice])
    return [choice], _usage(usage, "input_tokens", "output_tokens")


def _from_tool(choice: Choice) -> Choice:
    """Structured output by a tool call: its arguments are the reply, also where they are no JSON."""
    if choice.tool_calls:
        return replace(choice, text=json.dumps(choice.tool_calls[0]["args"]), tool_calls=())
    broken = getattr(choice.message, "invalid_tool_calls", None)
    return replace(choice, text=str(broken[0].get("args") or "")) if broken else choice
