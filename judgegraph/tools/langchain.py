"""Assistants as LangChain tools, and the node that answers the tool calls of a consulting model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NotRequired

from langchain_core.messages import ToolMessage
from typing_extensions import TypedDict

from judgegraph.errors import one_line
from judgegraph.prompts.template import finding_text
from judgegraph.tools.catalogue import Assistant, find
from judgegraph.types import Finding, Sample, sample_of

if TYPE_CHECKING:
    from langchain_core.tools import StructuredTool


# An assistant as a LangChain tool that a model can call without copying the sample's text.


DESCRIPTION_CHARS = 1024  # characters of a tool's description: OpenAI takes no more


def as_tool(assistant: Assistant) -> StructuredTool:
    """The assistant as a tool without arguments for the model; for any LangGraph `ToolNode`.

    The sample comes from the state's key "sample" (`InjectedState`); called by hand, it is given as `{"sample": ...}`.
    It is awaited (`ainvoke`). Its message says the value or why it is absent, and carries the Finding as its artifact;
    it does not raise.
    """
    from langchain_core.tools import StructuredTool
    from langgraph.prebuilt import InjectedState
    from pydantic import create_model

    async def ask(sample: Sample) -> tuple[str, Finding]:
        finding = await find(assistant, sample)
        return spoken(finding), finding

    injected: Any = Annotated[Sample, InjectedState("sample")]
    return StructuredTool.from_function(
        coroutine=ask,
        name=assistant.name,
        description=_cut(str(assistant.about)),
        args_schema=create_model(assistant.name, sample=(injected, ...)),
        response_format="content_and_artifact",
    )


def _cut(about: str) -> str:
    return about if len(about) <= DESCRIPTION_CHARS else about[: DESCRIPTION_CHARS - 1] + "…"


def as_dict(assistant: Assistant) -> dict[str, Any]:
    """The tool in OpenAI's shape, as a model is offered it."""
    from langchain_core.utils.function_calling import convert_to_openai_tool

    return convert_to_openai_tool(as_tool(assistant))


def spoken(finding: Finding) -> str:
    """What a model is told: "rouge-l: 0.35", or "nli: absent (why)"."""
    return finding_text(finding).removeprefix("- ")


# Answer the tool calls of a consulting model: each assistant once, mistakes handed back as text.


class Called(TypedDict):  # what it reads
    sample: Sample
    calls: list[dict[str, Any]]  # {"name", "id"}, as the model asked
    messages: list[Any]
    findings: NotRequired[dict[str, Finding]]


class Answered(TypedDict):  # what it writes
    findings: dict[str, Finding]
    messages: list[Any]  # those it read, with an answer to every call behind them


@dataclass(frozen=True, kw_only=True)
class ToolCalls:
    """Runs the assistants that were called. Assistants take no arguments, so equal calls have one answer."""

    assistants: Sequence[Assistant]
    name: str = "tool-calls"

    async def __call__(self, state: Called) -> Answered:
        known, findings = {a.name: a for a in self.assistants}, state.get("findings") or {}
        new = dict.fromkeys(c["name"] for c in state["calls"] if c["name"] in known and c["name"] not in findings)
        asked = [_asked(known[name], sample_of(state)) for name in new]
        found = {finding.assistant: finding for finding in await asyncio.gather(*asked)}
        answers = [self._answer(call, {**findings, **found}) for call in state["calls"]]
        return {"findings": found, "messages": [*state["messages"], *answers]}

    def _answer(self, call: dict[str, Any], findings: dict[str, Finding]) -> ToolMessage:
        name, finding = call["name"], findings.get(call["name"])
        if finding is None:
            known = ", ".join(a.name for a in self.assistants)
            text = f"no assistant '{one_line(name, 80)}'; there are: {known}"
            return ToolMessage(text, tool_call_id=call["id"], status="error")
        status: Any = "success" if finding.status == "ok" else "error"
        return ToolMessage(spoken(finding), tool_call_id=call["id"], name=name, status=status)


async def _asked(assistant: Assistant, sample: Sample) -> Finding:
    """By way of the tool, so that callbacks and tracers see the call."""
    call = {"type": "tool_call", "name": assistant.name, "id": assistant.name, "args": {"sample": sample}}
    message = await as_tool(assistant).ainvoke(call)
    finding: Finding = message.artifact
    return finding
