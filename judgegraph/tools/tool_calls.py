"""Answer the tool calls of a consulting model: each assistant once, mistakes handed back as text."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NotRequired

from langchain_core.messages import ToolMessage
from typing_extensions import TypedDict

from judgegraph.errors import one_line
from judgegraph.tools.finding import Assistant
from judgegraph.tools.langchain_tool import as_tool, spoken
from judgegraph.types import Finding, Sample, sample_of


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
        known, said = {a.name: a for a in self.assistants}, state.get("findings") or {}
        new = dict.fromkeys(c["name"] for c in state["calls"] if c["name"] in known and c["name"] not in said)
        asked = [_asked(known[name], sample_of(state)) for name in new]
        found = {finding.assistant: finding for finding in await asyncio.gather(*asked)}
        answers = [self._answer(call, {**said, **found}) for call in state["calls"]]
        return {"findings": found, "messages": [*state["messages"], *answers]}

    def _answer(self, call: dict[str, Any], said: dict[str, Finding]) -> ToolMessage:
        name, finding = call["name"], said.get(call["name"])
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
