"""The consultant: calls assistants as tools, round by round, until it knows enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NotRequired

from typing_extensions import TypedDict

from judgegraph import prompts
from judgegraph.agents.plan_form import plain, plan_text
from judgegraph.calls import JudgeLike, Reply, replies
from judgegraph.errors import ReplyError, one_line
from judgegraph.prompts.sections import criteria_text
from judgegraph.types import Criterion, Finding, Note, Notes, Plan, Sample, given_criteria, keyed, sample_of, text_of

ToolCall = dict[str, Any]  # {"name", "id"}; assistants take no arguments


class Brief(TypedDict):  # what a consultant reads
    sample: Sample  # only which fields it has: its text does not go through the model
    criteria: NotRequired[list[Criterion]]  # else its own
    plan: NotRequired[Plan]
    findings: NotRequired[dict[str, Finding]]
    messages: NotRequired[list[Any]]  # the conversation so far
    rounds: NotRequired[int]


class Wish(TypedDict):  # what it writes
    messages: list[Any]
    calls: list[ToolCall] | None  # what to call now; None: it could not be asked, call what the plan names
    rounds: int  # replies that called, so far
    notes: Notes


@dataclass(frozen=True, kw_only=True)
class Consultant:
    """Asks the model which assistants to call, offering them as tools.

    Source: Fusion-Eval (arXiv:2311.09204) hands the judge all scores; letting the planning model call them is ours.
    The first question depends on a sample only by the fields it has, so it is paid for once by a ledger.

    Attributes:
        tools: OpenAI-shaped dicts, one per assistant. rounds: replies with calls at most, 1 or more.
    """

    judge: JudgeLike = "embedded"
    tools: Sequence[Mapping[str, Any]]
    criteria: Sequence[Criterion] = ()
    task: str = "a generated text"
    rounds: int = 4
    prompt: str = "fusion_consult"
    name: str = "consultant"

    async def __call__(self, state: Brief) -> Wish:
        messages, turn = state.get("messages") or self._opening(state), state.get("rounds", 0) + 1
        try:
            (reply,) = await replies(self.judge, messages, tools=self.tools)
        except ReplyError as error:
            return self._fall_back(messages, f"could not call assistants ({error})", error.status)
        calls = calls_of(reply, turn)
        if not calls and turn == 1 and _wanted(state.get("plan")):
            return self._fall_back(messages, "the model called no assistant", "ok")
        said = [message_of(reply, calls)] if calls else []
        notes = keyed(*self._capped(state, turn, calls))
        return {"messages": [*messages, *said], "calls": calls, "rounds": turn, "notes": notes}

    def _opening(self, state: Brief) -> list[Any]:
        criteria, sample = given_criteria(state) or self.criteria, sample_of(state)
        held = [f for f in ("query", "source", "output", "reference") if text_of(getattr(sample, f) or "").strip()]
        rendered = prompts.load(self.prompt).render(
            task=self.task, criteria=criteria_text(criteria), plan=plan_text(state.get("plan")),
            fields=plain(held) if held else "an empty output",
        )  # fmt: skip
        return list(rendered.messages)

    def _fall_back(self, messages: list[Any], why: str, status: Any) -> Wish:
        note = Note(
            agent=self.name,
            text=f"{why}; what the plan names was called instead",
            status=status,
            kind="consultation-failed",
        )
        return {"messages": messages, "calls": None, "rounds": self.rounds, "notes": keyed(note)}

    def _capped(self, state: Brief, turn: int, calls: Sequence[ToolCall]) -> list[Note]:
        """A note where the last round leaves assistants uncalled: the model may have wanted more."""
        names = {tool["function"]["name"] for tool in self.tools}
        left = names - set(state.get("findings") or {}) - {call["name"] for call in calls}
        if turn < self.rounds or not calls or not left:
            return []
        text = f"stopped after {self.rounds} rounds of calls, its cap"
        return [Note(agent=self.name, text=text, kind="consultation-capped")]


def _wanted(plan: Plan | None) -> bool:
    """Some assistant should be called: the plan names one, or there is no plan to say otherwise."""
    return plan is None or plan.status != "ok" or any(plan.alignment.values())


def calls_of(reply: Reply[Any], turn: int) -> list[ToolCall]:
    """The calls in a reply, each with an id; broken arguments do not matter, as there are none to give."""
    broken = getattr(reply.message, "invalid_tool_calls", None) or ()
    asked = [*reply.tool_calls, *broken]
    return [
        {"name": one_line(call.get("name") or "", 80), "id": call.get("id") or f"call-{turn}-{i}"}
        for i, call in enumerate(asked)
    ]


def message_of(reply: Reply[Any], calls: Sequence[ToolCall]) -> Any:
    """The reply as a message to go on from: as it came where it can be sent back, else made anew."""
    from langchain_core.messages import AIMessage

    whole = [call.get("id") for call in reply.tool_calls] == [call["id"] for call in calls]
    if whole and reply.message is not None:
        return reply.message
    return AIMessage(reply.text, tool_calls=[{"name": c["name"], "args": {}, "id": c["id"]} for c in calls])
