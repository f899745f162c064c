"""An assistant as a LangChain tool that a model can call without copying the sample's text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from judgegraph.prompts.sections import finding_text
from judgegraph.tools.finding import Assistant, find
from judgegraph.types import Finding, Sample

if TYPE_CHECKING:
    from langchain_core.tools import StructuredTool

MOST_TOLD = 1024  # characters of a tool's description: OpenAI takes no more


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
    return about if len(about) <= MOST_TOLD else about[: MOST_TOLD - 1] + "…"


def as_dict(assistant: Assistant) -> dict[str, Any]:
    """The tool in OpenAI's shape, as a model is offered it."""
    from langchain_core.utils.function_calling import convert_to_openai_tool

    return convert_to_openai_tool(as_tool(assistant))


def spoken(finding: Finding) -> str:
    """What a model is told: "rouge-l: 0.35", or "nli: absent (why)"."""
    return finding_text(finding).removeprefix("- ")
