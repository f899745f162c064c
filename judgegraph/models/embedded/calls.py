"""Tool calls: each offered tool that fits what is asked, once, its needed arguments filled like a form."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from judgegraph.models.embedded.case import Case
from judgegraph.models.embedded.planning import worth_calling
from judgegraph.models.embedded.sections import Prompt
from judgegraph.models.embedded.tokens import plain
from judgegraph.models.embedded.view import At
from judgegraph.models.embedded.walk import fill


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
